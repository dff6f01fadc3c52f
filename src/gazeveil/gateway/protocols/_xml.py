# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One empty XML element with attributes, which is all that the Open Gaze API says; nothing else of XML is understood.

No document types, no entities of the other end's making, no nesting: what is not understood cannot do harm.
"""

from __future__ import annotations

import re
from typing import Final

from gazeveil.errors import WireError

_ATTRIBUTE: Final = r"""([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"([^"<]*)\""""
_ELEMENT: Final = re.compile(rf"<([A-Za-z]+)((?:\s+{_ATTRIBUTE})*)\s*/>")
_ATTRIBUTES: Final = re.compile(_ATTRIBUTE)
_REFERENCE: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")


def element(line: bytes) -> tuple[str, dict[str, str]]:
    """Return an element's name and attributes, both in capitals; values stay as they were written, references too.

    Raises:
        WireError: If the line is anything but one empty element.
    """
    try:
        found = _ELEMENT.fullmatch(line.decode())
    except UnicodeDecodeError:
        found = None
    if found is None:
        raise WireError("expected one XML element without content on a line, found something else")
    return found[1].upper(), {name.upper(): value for name, value in _ATTRIBUTES.findall(found[2])}


def may_be_repeated(value: str, most: int) -> bool:
    """Whether a value as written may be sent back as it is: short, printable, and only XML's own five references."""
    return len(value) <= most and value.isprintable() and _REFERENCE.search(value) is None


def escaped(text: str) -> str:
    """Return a text as the value of an attribute."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
