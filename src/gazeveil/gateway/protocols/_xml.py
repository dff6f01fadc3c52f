# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One empty XML element with attributes, which is all that the Open Gaze API says; nothing else of XML is understood.

No document types, no entities of the other end's making, no nesting: what is not understood cannot do harm.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from gazeveil.errors import WireError

# names are short: they are remembered, so that the same ones need not be looked at with every record
_START: Final = re.compile(r"<([A-Z]{1,16})(\s{1,8}[A-Z_][A-Z0-9_]{0,63}\s{0,8}=\s{0,8})?", re.ASCII)
_NAME: Final = re.compile(r"\s{1,8}([A-Z_][A-Z0-9_]{0,63})\s{0,8}=\s{0,8}", re.ASCII)
_REFERENCE: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")


def element(line: bytes) -> tuple[str, dict[str, str]]:
    """Return an element's name and attributes; values stay as they were written, references too.

    Raises:
        WireError: If the line is anything but one empty element.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise _wrong() from None
    if text[-2:] != "/>" or text.count("<") != 1:
        raise _wrong()
    # quotes part names from values: the second, fourth … piece is a value, and the last one must be empty
    first, *pieces = text[:-2].rstrip().split('"')
    name, attribute = _started(first)
    if not attribute:
        if pieces:
            raise _wrong()
        return name, {}
    if not pieces or len(pieces) % 2 or pieces[-1]:
        raise _wrong()
    return name, dict(zip([attribute, *map(_named, pieces[1:-1:2])], pieces[::2], strict=True))


@functools.lru_cache(256)
def _started(text: str) -> tuple[str, str]:
    found = _START.fullmatch(text)
    if found is None:
        raise _wrong()
    return found[1], _named(found[2]) if found[2] else ""


@functools.lru_cache(1024)
def _named(text: str) -> str:
    found = _NAME.fullmatch(text)
    if found is None:
        raise _wrong()
    return found[1]


def _wrong() -> WireError:
    return WireError("expected one XML element without content on a line, found something else")


def may_be_repeated(value: str, most: int) -> bool:
    """Whether a value as written may be sent back as it is: short, printable, and only XML's own five references."""
    return len(value) <= most and value.isprintable() and _REFERENCE.search(value) is None


def escaped(text: str) -> str:
    """Return a text as the value of an attribute."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
