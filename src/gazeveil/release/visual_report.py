# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of maps, scanpaths and traces as PNG bytes, and the HTML report that holds them.

Matplotlib is imported on use.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, COLOURS, GREY, ORANGE, RED, canvas, legend_below, paper, placed, png
from gazeveil.files import replacing
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry

_MAP_WIDTH, _PART_WIDTH = 4.2, 4.1
"""Inches across of a map that is drawn alone, and of each of three in a row."""
_BARE_WIDTH = 480
"""Pixels across, at most, of a picture without axes."""
_BY_PALETTE, _LIKE_THE_LINE_ABOVE = 3, 2
"""The kind of colours, and the way a line is written, by the numbers of the PNG standard."""


def available() -> bool:
    """Return whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def heat(x: FloatArray, y: FloatArray, width: int, height: int, blur: float) -> FloatArray:
    """Return how much gaze lies around each pixel: counts blurred by a Gaussian of ``blur`` pixels.

    This is a picture of raw gaze: it guarantees nothing.
    """
    seen = np.isfinite(x) & np.isfinite(y)
    counts, _, _ = np.histogram2d(y[seen], x[seen], bins=(height, width), range=((0, height), (0, width)))
    return _blurred(_blurred(counts, blur, axis=0), blur, axis=1)


def heat_over_picture(picture: NDArray[np.uint8], warmth: FloatArray, title: str) -> bytes:
    """Draw a heatmap over the stimulus it belongs to."""
    height, width = picture.shape[:2]
    figure, axes = canvas(6.0, 6.0 * height / width + 0.3)
    axes.imshow(picture, extent=(0, width, height, 0))
    strength = warmth / max(float(warmth.max()), 1e-12)
    axes.imshow(strength, cmap="inferno", alpha=np.clip(strength * 1.6, 0, 0.75), extent=(0, width, height, 0))
    axes.set_title(title)
    axes.set_axis_off()
    return png(figure, dpi=90)


class MapPictures:
    """Pictures of maps of one screen, in its proportions, with a scale and what they show: all drawn in one figure."""

    def __init__(self, geometry: Geometry, scale: str = "share of gaze per cell") -> None:
        left, top, right, bottom = geometry.extent()
        height = _MAP_WIDTH * abs((bottom - top) / (right - left))
        figure = paper(_MAP_WIDTH + 2.1, height + 1.0)
        axes = placed(figure, 0.75, 0.55, _MAP_WIDTH, height)
        place = (left, right, bottom, top)
        self._image = axes.imshow(np.zeros((1, 1)), cmap="inferno", extent=place, interpolation="bilinear")
        beside = placed(figure, 0.9 + _MAP_WIDTH, 0.55 + 0.1 * height, 0.17, 0.8 * height)
        figure.colorbar(self._image, cax=beside, label=scale, format="{x:.3g}")
        axes.set_xlabel(f"x ({geometry.unit})")
        axes.set_ylabel(f"y ({geometry.unit})")
        self._figure, self._axes = figure, axes

    def draw(self, values: FloatArray, title: str) -> bytes:
        """Draw a map of cells."""
        self._image.set_data(values)
        self._image.autoscale()
        self._axes.set_title(title, fontsize=10)
        return png(self._figure, dpi=90)


def map_picture(values: FloatArray, geometry: Geometry, title: str, scale: str = "share of gaze per cell") -> bytes:
    """Draw a single map of cells: see `MapPictures`."""
    return MapPictures(geometry, scale).draw(values, title)


def parts_picture(
    prior: FloatArray, released: FloatArray, hot: NDArray[np.bool_] | None, geometry: Geometry, title: str
) -> bytes:
    """Draw what a released map is made of: prior, release, and what the data changed, all on one scale.

    Hot spots are outlined in the release.
    """
    left, top, right, bottom = geometry.extent()
    height = _PART_WIDTH * abs((bottom - top) / (right - left))
    figure = paper(3 * _PART_WIDTH + 0.8, height + 1.4)
    most = max(float(prior.max()), float(released.max()), 1e-300)
    outlined = "release, hot spots outlined" if hot is not None and hot.any() else "release"
    drawn = [
        (prior, "prior: what is shown without data", "inferno", 0.0),
        (released, outlined, "inferno", 0.0),
        (released - prior, "what the data changed", "RdBu_r", -most),
    ]
    panels = []
    for number, (values, words, colours, least) in enumerate(drawn):
        start = 0.2 + number * (_PART_WIDTH + 0.2)
        axes = placed(figure, start, 0.65, _PART_WIDTH, height)
        panels.append(axes)
        image = axes.imshow(
            values, cmap=colours, vmin=least, vmax=most, extent=(left, right, bottom, top), interpolation="nearest"
        )
        axes.set_title(words)
        axes.set_xticks([])
        axes.set_yticks([])
        below = placed(figure, start + 0.05 * _PART_WIDTH, 0.4, 0.9 * _PART_WIDTH, 0.15)
        figure.colorbar(image, cax=below, orientation="horizontal", format="{x:.2g}").ax.locator_params(nbins=5)
    if hot is not None:
        across, down = (right - left) / hot.shape[1], (bottom - top) / hot.shape[0]
        for (x0, y0), (x1, y1) in outlines(hot):
            ends = (left + x0 * across, left + x1 * across), (top + y0 * down, top + y1 * down)
            panels[1].plot(*ends, color="#7fe0ff", linewidth=1.2)
    figure.suptitle(f"{title} (share of gaze per cell; the three panels have the same scale)")
    return png(figure, dpi=80)


def outlines(cells: NDArray[np.bool_]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the borders between cells that are meant and cells that are not, as lines between corners (x, y)."""
    around = np.pad(cells, 1)
    down = np.argwhere(around[1:-1, 1:] != around[1:-1, :-1])
    across = np.argwhere(around[1:, 1:-1] != around[:-1, 1:-1])
    lines = [((int(x), int(y)), (int(x), int(y) + 1)) for y, x in down]
    return lines + [((int(x), int(y)), (int(x) + 1, int(y))) for y, x in across]


def bare_picture(values: FloatArray) -> bytes:
    """Draw a map of cells as squares of one colour, without axes and scale: many times as fast.

    The PNG has a palette, and of the lines of a row of cells only the first is written out; the others are like it.
    """
    side = max(1, _BARE_WIDTH // values.shape[1])
    low, high = float(values.min()), float(values.max())
    strength = (values - low) / (high - low) if high > low else np.zeros_like(values)
    colours = np.minimum(strength * 256, 255).astype(np.uint8)
    rows, columns = values.shape
    lines = np.zeros((rows, side, 1 + columns * side), dtype=np.uint8)
    lines[:, 1:, 0] = _LIKE_THE_LINE_ABOVE
    lines[:, 0, 1:] = colours.repeat(side, axis=1)
    header = struct.pack(">2I5B", columns * side, rows * side, 8, _BY_PALETTE, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", _palette()), (b"IDAT", zlib.compress(lines.tobytes(), 3)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


@cache
def _palette() -> bytes:
    from matplotlib import colormaps  # noqa: PLC0415  (part of the extra)

    return bytes(colormaps["inferno"](np.arange(256), bytes=True)[:, :3])


def scanpath_over_picture(picture: NDArray[np.uint8], fixations: pl.DataFrame, title: str) -> bytes:
    """Draw fixations as numbered discs, joined in order; larger discs lasted longer."""
    height, width = picture.shape[:2]
    figure, axes = canvas(6.0, 6.0 * height / width + 0.3)
    axes.imshow(picture, extent=(0, width, height, 0))
    x, y = fixations["x"].to_numpy(), fixations["y"].to_numpy()
    seconds = (fixations["offset"] - fixations["onset"]).to_numpy()
    axes.plot(x, y, color="white", linewidth=2.5, alpha=0.8)
    axes.plot(x, y, color=BLUE, linewidth=1.2)
    axes.scatter(x, y, s=seconds * 900, color=BLUE, alpha=0.55, edgecolor="white", zorder=3)
    for number, (across, down) in enumerate(zip(x, y, strict=True), start=1):
        axes.text(across, down, str(number), color="white", ha="center", va="center", fontsize=7, zorder=4)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_title(title)
    axes.set_axis_off()
    return png(figure, dpi=90)


def trace(recording: Recording, events: pl.DataFrame, title: str) -> bytes:
    """Draw gaze over time, with fixations shaded and blinks marked."""
    figure, axes = canvas(10, 3.6)
    start = float(recording.t[0]) if len(recording) else 0.0
    axes.plot(recording.t - start, recording.x, color=BLUE, linewidth=1, label="x")
    axes.plot(recording.t - start, recording.y, color=ORANGE, linewidth=1, label="y")
    for kind, colour, hatch in (("fixation", GREY, None), ("blink", RED, "//")):
        chosen = events.filter(pl.col("kind") == kind)
        for number, (onset, offset) in enumerate(chosen.select("onset", "offset").iter_rows()):
            label = kind if number == 0 else None
            look = {
                "facecolor": colour,
                "edgecolor": colour,
                "alpha": 0.15,
                "linewidth": 0,
                "hatch": hatch,
                "label": label,
            }
            axes.axvspan(onset - start, offset - start, **look)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(f"gaze ({recording.geometry.unit})")
    axes.set_title(title)
    legend_below(figure, axes)
    return png(figure)


def main_sequence(
    saccades_of: Mapping[str, pl.DataFrame], curves: Mapping[str, tuple[float, float]], title: str
) -> bytes:
    """Draw peak velocity over amplitude for some participants, with their fitted curves (ceiling, scale)."""
    figure, axes = canvas(7, 4.2)
    largest = 1.0
    for colour, marker, (name, saccades) in zip(COLOURS, "os^Dv*XP", saccades_of.items(), strict=False):
        amplitude, speed = saccades["amplitude"].to_numpy(), saccades["peak_velocity"].to_numpy()
        axes.scatter(amplitude, speed, s=9, color=colour, marker=marker, alpha=0.45, linewidth=0, label=name)
        if len(amplitude):
            largest = max(largest, float(np.nanmax(amplitude)))
        if name in curves:
            ceiling, scale = curves[name]
            along = np.linspace(0, largest, 100)
            axes.plot(along, ceiling * (1 - np.exp(-along / scale)), color=colour, linewidth=1.6)
    axes.set_xlabel("saccade amplitude (deg)")
    axes.set_ylabel("peak velocity (deg/s)")
    axes.set_title(title)
    legend_below(figure, axes)
    return png(figure)


def two_sessions(first: Sequence[float], second: Sequence[float], quantity: str, title: str) -> bytes:
    """Draw each participant's value in session one against session two: near the diagonal they can be re-identified."""
    figure, axes = canvas(4.6, 4.4)
    axes.scatter(first, second, color=BLUE, s=28, alpha=0.8)
    both = [*first, *second]
    if both:
        low, high = min(both), max(both)
        axes.plot([low, high], [low, high], color=GREY, linewidth=1, linestyle="--")
    axes.set_xlabel(f"{quantity}, session 1")
    axes.set_ylabel(f"{quantity}, session 2")
    axes.set_title(title)
    return png(figure)


def _blurred(values: FloatArray, blur: float, axis: int) -> FloatArray:
    reach = max(1, int(np.ceil(3 * blur)))
    taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / blur) ** 2)
    taps /= taps.sum()
    size = values.shape[axis] + len(taps) - 1
    spectrum = np.fft.rfft(values, size, axis=axis)
    shape = [1, 1]
    shape[axis] = -1
    smooth = np.fft.irfft(spectrum * np.fft.rfft(taps, size).reshape(shape), size, axis=axis)
    return np.clip(np.take(smooth, np.arange(reach, reach + values.shape[axis]), axis=axis), 0, None)


# --- Gaze before and after a mechanism, as a picture. It shows raw gaze: for whoever may see that, not for release.


def before_and_after(columns: Sequence[FloatArray], geometry: Geometry, title: str) -> bytes:
    """Draw x over time and the path, raw and veiled, from the columns t, raw x, raw y, veiled x, veiled y."""
    t, x, y, veiled_x, veiled_y = columns
    figure, (over_time, path) = canvas(11.0, 4.5, columns=2)
    seconds = t - t[0] if len(t) else t
    over_time.plot(seconds, x, color=BLUE, linewidth=1.0, label="raw", zorder=3)
    over_time.plot(seconds, veiled_x, color=ORANGE, linewidth=1.0, label="veiled")
    over_time.set_xlabel("time (s)")
    over_time.set_ylabel(f"x ({geometry.unit})")
    legend_below(figure, over_time)
    path.plot(x, y, color=BLUE, linewidth=0.8, zorder=3)
    path.plot(veiled_x, veiled_y, color=ORANGE, linewidth=0.8)
    path.set_xlabel(f"x ({geometry.unit})")
    path.set_ylabel(f"y ({geometry.unit})")
    path.invert_yaxis()
    path.set_aspect("equal", adjustable="datalim")
    figure.suptitle(f"{title} (shows raw gaze: not for release)")
    return png(figure)


# --- A report to look at: one HTML file with its pictures inside, so that it can be mailed and opened anywhere.


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A heading and what stands below it: pieces made with `words`, `picture`, `table`, `folded` or `warning`."""

    title: str
    pieces: tuple[str, ...]


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def html_warning(text: str) -> str:
    """Return a paragraph that nobody overlooks."""
    return f'<p class="warning" role="note">{escape(text)}</p>'


def html_picture(png: bytes, caption: str) -> str:
    """Return a picture with its caption, which is also what a screen reader says."""
    data = base64.b64encode(png).decode()
    told = escape(caption)
    return f'<figure><img alt="{told}" src="data:image/png;base64,{data}"><figcaption>{told}</figcaption></figure>'


def html_gallery(pieces: Sequence[str]) -> str:
    """Return pieces side by side."""
    return f'<div class="gallery">{"".join(pieces)}</div>'


def html_details(title: str, *pieces: str) -> str:
    """Return pieces that are shown when their title is clicked."""
    return f"<details><summary>{escape(title)}</summary>{''.join(pieces)}</details>"


def html_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; numbers stand right. Without any title of a column it has no head."""
    titles = "".join(f"<th>{escape(column)}</th>" for column in columns)
    head = f"<thead><tr>{titles}</tr></thead>" if any(columns) else ""
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def write_report(path: Path, title: str, lead: str, sections: Sequence[ReportSection]) -> None:
    """Write the report; it is there whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(html_page(title, lead, sections), encoding="utf-8", newline="\n")


def html_page(title: str, lead: str, sections: Sequence[ReportSection]) -> str:
    """Return the report as HTML."""
    style = files("gazeveil.release").joinpath("report.css").read_text(encoding="utf-8")
    contents = "".join(
        f'<li><a href="#s{number}">{escape(section.title)}</a></li>' for number, section in enumerate(sections, start=1)
    )
    body = "".join(
        f'<section id="s{number}"><h2>{escape(section.title)}</h2>{"".join(section.pieces)}</section>'
        for number, section in enumerate(sections, start=1)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>"
        f"<body><header><h1>{escape(title)}</h1><p>{escape(lead)}</p><nav><ol>{contents}</ol></nav></header>"
        f"<main>{body}</main></body></html>\n"
    )


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{escape(str(value))}</td>"
    if isinstance(value, int) or abs(value) >= 1000:
        text = f"{value:,.0f}"
    else:
        text = "–" if math.isnan(value) else f"{value:.3g}"
    return f'<td class="number">{text}</td>'
