# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A report to look at: one HTML file with its pictures inside, so that it can be mailed and opened anywhere."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from gazeveil.files import replacing


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it: pieces made with `words`, `picture`, `table`, `folded` or `warning`."""

    title: str
    pieces: tuple[str, ...]


def words(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def warning(text: str) -> str:
    """Return a paragraph that nobody overlooks."""
    return f'<p class="warning" role="note">{escape(text)}</p>'


def picture(png: bytes, caption: str) -> str:
    """Return a picture with its caption, which is also what a screen reader says."""
    data = base64.b64encode(png).decode()
    told = escape(caption)
    return f'<figure><img alt="{told}" src="data:image/png;base64,{data}"><figcaption>{told}</figcaption></figure>'


def gallery(pieces: Sequence[str]) -> str:
    """Return pieces side by side."""
    return f'<div class="gallery">{"".join(pieces)}</div>'


def folded(title: str, *pieces: str) -> str:
    """Return pieces that are shown when their title is clicked."""
    return f"<details><summary>{escape(title)}</summary>{''.join(pieces)}</details>"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; numbers stand right. Without any title of a column it has no head."""
    titles = "".join(f"<th>{escape(column)}</th>" for column in columns)
    head = f"<thead><tr>{titles}</tr></thead>" if any(columns) else ""
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def write_report(path: Path, title: str, lead: str, sections: Sequence[Section]) -> None:
    """Write the report; it is there whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(page(title, lead, sections), encoding="utf-8", newline="\n")


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
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
