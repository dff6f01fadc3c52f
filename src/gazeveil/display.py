# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How values are displayed: tables in notebooks, short lists, and pictures that are saved or drawn without a window."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from gazeveil.errors import needing
from gazeveil.files import replacing

MOST_ROWS = 30
_LONGEST = 48


def html_table(caption: str, rows: Iterable[tuple[object, ...]], *, most: int = MOST_ROWS) -> str:
    """Return a table of texts, the first column as headings; of many rows the first, and how many more there are."""
    shown = list(rows)
    more = len(shown) - most
    cells = "".join(_row(row) for row in shown[:most])
    end = f'<tr><td colspan="{max(map(len, shown))}">and {more:,} more</td></tr>' if more > 0 else ""
    return f"<table><caption>{escape(caption)}</caption>{cells}{end}</table>"


def _row(row: tuple[object, ...]) -> str:
    first, *others = (escape(str(cell)) for cell in row)
    return f'<tr><th align="left">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'


def a_few(names: Collection[object], most: int = 3) -> str:
    """Return names with commas between; of many the first ones, and how many more there are."""
    shown = ", ".join(str(name)[:60] for name in islice(names, most))
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def plain_number(number: float) -> str:
    """Return a number in its short form if that is exact, else in full."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(float(number))


def brief(self: Any) -> str:
    """Return what a dataclass holds, long fields cut short: for ``__repr__ = brief``."""
    shown = [f"{each.name}={_cut(repr(getattr(self, each.name)))}" for each in fields(self) if each.repr]
    return f"{type(self).__name__}({', '.join(shown)})"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2]} …"


# --- Pictures.


BLUE, ORANGE, GREEN, RED = "#0258df", "#e09416", "#109d56", "#b7100e"
GREY, SKY, PINK, BLACK = "#55595f", "#4ed5ff", "#dfb4b8", "#000000"
COLOURS = (BLUE, ORANGE, GREEN, RED, GREY, SKY, PINK, BLACK)
"""Colours of categories, in the order to take them. They stay apart without red, green or blue cones (tested)."""
_DASHES = ("-", "--", ":", "-.")
_OVERHANG = 1.1
"""How much longer than its axes a title or label may be: there is a margin at both ends."""
_SHORTEST_LINE = 12
_LEGEND_CHARACTERS = 150
"""How much of a legend fits into one row of a wide picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG picture. A notebook shows it; `save` writes it."""

    png: bytes

    def save(self, path: Path | str) -> Path:
        """Write the picture to a file."""
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(self.png)
        return Path(path)

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"Picture({len(self.png) // 1024:,} kB PNG)"


def paper(width: float, height: float, layout: Any = None) -> Any:
    """Return a figure of this many inches; matplotlib's global state stays as it is.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    with needing("matplotlib", "plots", "drawing pictures"):
        from matplotlib.figure import Figure  # noqa: PLC0415
    return Figure(figsize=(width, height), layout=layout)


def canvas(width: float = 8.0, height: float = 4.5, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return a figure and its axes, laid out when it is drawn.

    ``mosaic`` gives the layout and the names of the axes.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    figure = paper(width, height, "constrained")
    axes = figure.subplot_mosaic(**options) if "mosaic" in options else figure.subplots(rows, columns, **options)
    for each in figure.axes:
        each.set_prop_cycle(color=COLOURS)
    return figure, axes


def line_style(number: int) -> dict[str, str]:
    """Return colour and dashes of a line; lines that share a colour differ in their dashes."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": _DASHES[number // len(COLOURS) % len(_DASHES)]}


def legend_below(figure: Any, axes: Any, **options: Any) -> None:
    """Put the legend of some axes below the picture, where it hides nothing; as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        fits = _LEGEND_CHARACTERS * figure.get_figwidth() / 11 / (max(len(label) for label in labels) + 8)
        columns = max(1, min(len(labels), int(fits)))
        figure.legend(handles, labels, **{"loc": "outside lower center", "ncols": columns, "fontsize": 8, **options})


def placed(figure: Any, left: float, bottom: float, width: float, height: float) -> Any:
    """Return axes at a place of a figure, in inches: an automatic layout takes longer than the drawing."""
    across, up = figure.get_size_inches()
    return figure.add_axes((left / across, bottom / up, width / across, height / up))


def break_titles(figure: Any) -> bool:
    """Break titles and labels into lines as long as what they belong to, or they would be cut off at the edge.

    Returns:
        Whether a line was broken.
    """
    broken = False
    across, up = figure.bbox.width, figure.bbox.height
    texts = [(figure._suptitle, across * 0.97)] if figure.get_suptitle() else []
    for each in figure.axes:
        place = each.get_position()
        texts += [(text, place.width * across * _OVERHANG) for text in (each.title, each.xaxis.label)]
        texts.append((each.yaxis.label, place.height * up * _OVERHANG))
    for text, most in texts:
        words = text.get_text()
        extent = text.get_window_extent() if words else None
        if extent is not None and (long := max(extent.width, extent.height)) > most:
            longest = max(len(line) for line in words.split("\n"))
            fits = max(int(longest * most / long), _SHORTEST_LINE)
            text.set_text("\n".join(textwrap.fill(line, fits) for line in words.split("\n")))
            broken = broken or text.get_text() != words
    return broken


def png(figure: Any, dpi: int = 110) -> bytes:
    """Return a figure as PNG bytes."""
    figure.set_dpi(dpi)
    break_titles(figure)
    if room := figure.get_layout_engine():
        room.execute(figure)  # saving would draw everything once more before the layout
        if break_titles(figure):  # axes are smaller now
            room.execute(figure)
        figure.set_layout_engine("none")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, pil_kwargs={"compress_level": 3})  # half the time, a tenth larger
    return buffer.getvalue()
