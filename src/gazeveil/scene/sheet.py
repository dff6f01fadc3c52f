# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A contact sheet of a film: its keyframes with regions and radii drawn in."""

from __future__ import annotations

from typing import Any

import numpy as np

from gazeveil.display import Picture, canvas, png
from gazeveil.scene.film import Film, Scene

_COLUMNS = 4
_MOST = 24
_REGION, _SMALL, _LARGE = "#ffd400", "#00e5ff", "#ff5ccd"
"""Yellow, cyan and pink: apart for colour-blind eyes, and on light and dark frames with a dark rim."""


def contact_sheet(film: Film, width: float, height: float, unit: str) -> Picture:
    """Return a picture of up to 24 scenes, evenly chosen.

    Args:
        film: What was found.
        width: Width of a frame in the unit of the film's radii.
        height: Its height.
        unit: What that unit is called.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    shown = [(number, scene) for number, scene in enumerate(film.scenes) if scene.still is not None]
    if len(shown) > _MOST:
        shown = [shown[place] for place in np.linspace(0, len(shown) - 1, _MOST).round().astype(int)]
    columns = min(_COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    panel = 3.0
    figure, axes = canvas(columns * panel, rows * (panel * height / width + 0.5) + 0.5, rows, columns, squeeze=False)
    for axis in axes.ravel():
        axis.set_axis_off()
    for axis, (number, scene) in zip(axes.ravel(), shown, strict=False):
        _draw(axis, number, scene, width, height, unit)
    window = "" if film.window_s is None else f" · window {film.window_s:.3g} s"
    figure.suptitle(
        f"{_count(len(film.scenes), 'scene')}{window} · {_words(film.radii.small, film.radii.large, unit)}\n"
        "yellow: regions · cyan: r_small · pink, dashed: r_large",
        fontsize=9,
    )
    return Picture(png(figure))


def _draw(axis: Any, number: int, scene: Scene, width: float, height: float, unit: str) -> None:
    from matplotlib.patches import Circle, Rectangle  # noqa: PLC0415
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    axis.imshow(scene.still, extent=(0, width, height, 0), aspect="equal", interpolation="bilinear")
    rim = [withStroke(linewidth=2.5, foreground="black", alpha=0.7)]
    for x0, y0, x1, y1 in scene.regions:
        corner = (x0 * width, y0 * height)
        sides = ((x1 - x0) * width, (y1 - y0) * height)
        axis.add_patch(Rectangle(corner, *sides, fill=False, edgecolor=_REGION, path_effects=rim))
    for radius, colour, line in ((scene.radii.small, _SMALL, "-"), (scene.radii.large, _LARGE, "--")):
        if radius is not None:
            middle = (width / 2, height / 2)
            axis.add_patch(Circle(middle, radius, fill=False, edgecolor=colour, linestyle=line, path_effects=rim))
    axis.set_xlim(0, width)
    axis.set_ylim(height, 0)
    axis.set_title(
        f"{number + 1}: {scene.begins:.1f} s, {_count(len(scene.regions), 'region')}\n"
        f"{_words(scene.radii.small, scene.radii.large, unit)}",
        fontsize=7,
    )


def _words(small: float | None, large: float | None, unit: str) -> str:
    return f"r_small {_number(small)}, r_large {_number(large)} {unit}"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _number(radius: float | None) -> str:
    return "–" if radius is None else f"{radius:,.3g}"
