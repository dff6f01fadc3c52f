# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A whole video: its scenes, the window and radii for it, and a contact sheet of its keyframes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gazeveil.arrays import Tell, silent
from gazeveil.display import Picture, canvas, png
from gazeveil.errors import InputError
from gazeveil.scene.context import Radii, SceneContext, weighted_median, window_of
from gazeveil.scene.frames import Pixels
from gazeveil.scene.regions import Regions

MOST_STILLS = 64
"""How many small pictures are kept of a film. In a long film every second, fourth, … scene has one."""
_STILL = 320


@dataclass(frozen=True, slots=True, eq=False)
class FilmScene:
    """From a keyframe to the next.

    Attributes:
        begins: Seconds at which it was seen first.
        ends: Seconds at which the next one was, or at which the film ends.
        regions: What can be looked at in the keyframe.
        radii: The radii for them.
        still: A small picture of the keyframe, of some scenes.
    """

    begins: float
    ends: float
    regions: Regions
    radii: Radii
    still: Pixels | None = None

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.ends - self.begins


@dataclass(frozen=True, slots=True, eq=False)
class Film:
    """A film's scenes, and the window and radii for it.

    Attributes:
        width: Pixels across of its frames.
        height: Pixels down.
        looks: How many frames were analysed.
        scenes: In the order of time.
        window_s: The window for the lengths of scenes; None for a single frame.
        radii: The radii over time: medians over scenes, weighted by their length.
    """

    width: int
    height: int
    looks: int
    scenes: tuple[FilmScene, ...]
    window_s: float | None
    radii: Radii

    def to_dict(self) -> dict[str, Any]:
        """Return all but the pictures as plain values."""
        return {
            "frame": {"width": self.width, "height": self.height},
            "looks": self.looks,
            "seconds": self.scenes[-1].ends - self.scenes[0].begins,
            "window_s": self.window_s,
            "r_small": self.radii.small,
            "r_large": self.radii.large,
            "scenes": [
                {
                    "begins_s": scene.begins,
                    "ends_s": scene.ends,
                    "r_small": scene.radii.small,
                    "r_large": scene.radii.large,
                    "regions": [list(box) for box in scene.regions],
                }
                for scene in self.scenes
            ],
        }


def survey(
    frames: Iterable[tuple[float, Pixels]],
    context: SceneContext,
    *,
    seconds: float | None = None,
    tell: Tell = silent,
) -> Film:
    """Analyse all frames of a film.

    Args:
        frames: Times and frames, in order.
        context: A fresh one, with a finder.
        seconds: How long the film says that it lasts.
        tell: Called with the seconds done, and how many there are.

    Raises:
        InputError: If there are no frames.
    """
    scenes: list[FilmScene] = []
    stills = _Stills()
    looks, last, shape = 0, 0.0, (0, 0)
    for t, frame in frames:
        state = context.add_frame(t, frame)
        if state is None:
            continue
        looks, last = looks + 1, t
        tell(t, seconds)
        if state.begins:
            shape = shape if scenes else (frame.shape[1], frame.shape[0])
            if scenes:
                scenes[-1] = replace(scenes[-1], ends=t)
            scenes.append(FilmScene(t, t, state.regions, state.radii))
            stills.offer(frame)
    if not scenes:
        raise InputError("there are no frames to look at")
    scenes[-1] = replace(scenes[-1], ends=max(last, seconds or 0.0))
    lengths = [scene.seconds for scene in scenes]
    window = window_of(lengths, shortest=context.detector.pace.every_s)
    return Film(*shape, looks, stills.attached_to(scenes), window, _typical(scenes))


def _typical(scenes: list[FilmScene]) -> Radii:
    found = {}
    for name in ("small", "large"):
        known = [(getattr(scene.radii, name), max(scene.seconds, 1e-9)) for scene in scenes]
        known = [(radius, weight) for radius, weight in known if radius is not None]
        found[name] = weighted_median(*np.array(known).T) if known else None
    return Radii(**found)


class _Stills:
    """Small pictures of every scene, or of every second, fourth, … if there are many."""

    def __init__(self) -> None:
        self._kept: dict[int, Pixels] = {}
        self._count = 0
        self._step = 1

    def offer(self, frame: Pixels) -> None:
        if self._count % self._step == 0:
            step = -(-max(frame.shape[:2]) // _STILL)
            self._kept[self._count] = frame[::step, ::step].copy()
        self._count += 1
        if len(self._kept) > MOST_STILLS:
            self._step *= 2
            self._kept = {number: still for number, still in self._kept.items() if number % self._step == 0}

    def attached_to(self, scenes: list[FilmScene]) -> tuple[FilmScene, ...]:
        return tuple(replace(scene, still=self._kept.get(number)) for number, scene in enumerate(scenes))


# --- The contact sheet: keyframes with regions and radii drawn in.


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


def _draw(axis: Any, number: int, scene: FilmScene, width: float, height: float, unit: str) -> None:
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
