# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What some exports say before their table: who, on which screen, at which rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gazeveil.gaze.formats._samples import completed
from gazeveil.gaze.formats._text import no_such_encoding, read_head
from gazeveil.geometry import Geometry, Unit


def lines_before(path: Path, is_header: Callable[[str], bool], encoding: str) -> list[str]:
    """Return the lines before the table's header; none if it is the first, or if no line is a header."""
    head = read_head(path)
    try:
        text = head.decode() if head.isascii() else head.decode(encoding, errors="replace")
    except LookupError:
        raise no_such_encoding(encoding) from None
    lines = [line for line in text.splitlines() if line.strip()]
    found = next((number for number, line in enumerate(lines) if is_header(line)), 0)
    return lines[:found]


def stated(preamble: Sequence[str], name: str) -> str | None:
    """Return what a preamble states under a name (``Participant:<tab> P106``), or None."""
    for line in preamble:
        key, colon, value = line.lstrip("# ").partition(":")
        if colon and key.strip().lower() == name.lower():
            return value.strip() or None
    return None


def stated_screen(preamble: Sequence[str], name: str, known: Geometry | None) -> Geometry | None:
    """Return the geometry that is known, with the pixels that a preamble states (``1920 x 1080``); they win."""
    across, _, down = (stated(preamble, name) or "").lower().partition("x")
    if across.strip().isdigit() and down.strip().isdigit():
        return completed(Geometry(Unit.PIXEL, float(across), float(down)), known)
    return known
