# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Golden copies: how they are kept, and what of a new copy is not as it was, in lines that one can read.

A copy is one text file for each scenario. Every file that the scenario wrote is a part of it, under a line with its
name. Texts and whole numbers are compared to the byte, long fractions to 1e-9, sums of pixels to one pixel.
"""

from __future__ import annotations

import re
from pathlib import Path

DATA = Path(__file__).parent / "data"
RELATIVE, ABSOLUTE = 1e-9, 1e-12
PIXELS = 100
"""By how much the sum of a block of pixels may differ: less than one pixel that changes its colour."""
MOST_LINES = 20
_LONG = 9
_PART = "===== "
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w.])|Σ\d+")

Copy = dict[str, str]


def path_of(name: str) -> Path:
    """Return where the golden copy of a scenario is kept."""
    return DATA / f"{name}.txt"


def as_text(copy: Copy) -> str:
    """Return a copy as the text of its file."""
    return "".join(
        f"{_PART}{name}\n{text}{'' if text.endswith(chr(10)) else chr(10) + '(no end of line)' + chr(10)}"
        for name, text in copy.items()
    )


def from_text(text: str) -> Copy:
    """Return the copy that a file holds."""
    parts = re.split(rf"^{re.escape(_PART)}(.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def differences(name: str, found: Copy) -> list[str]:
    """Return what of a new copy is not as it was."""
    path = path_of(name)
    if not path.is_file():
        return [f"there is no golden copy; make one with python -m tests.golden {name}"]
    return compared(from_text(path.read_bytes().decode("utf-8")), from_text(as_text(found)))


def compared(expected: Copy, found: Copy) -> list[str]:
    """Return what differs between two copies, one line each: file, line or number, expected, found."""
    lines = [f"{name}: expected, not found" for name in expected if name not in found]
    lines += [f"{name}: found, not expected" for name in found if name not in expected]
    for name in expected:
        if name in found and expected[name] != found[name]:
            lines += [f"{name}, {what}" for what in _lines(expected[name].split("\n"), found[name].split("\n"))]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"… and {len(lines) - MOST_LINES} more"]
    return lines


def _lines(expected: list[str], found: list[str]) -> list[str]:
    lines = []
    if len(expected) != len(found):
        lines.append(f"length: expected {len(expected) - 1} lines, found {len(found) - 1}")
    for number, (old, new) in enumerate(zip(expected, found, strict=False), 1):
        if old != new and (what := _line(old, new)):
            lines.append(f"line {number}: {what}")
    return lines


def _line(expected: str, found: str) -> str:
    if _NUMBER.sub("\0", expected) != _NUMBER.sub("\0", found):
        return _apart(expected, found)
    for old, new in zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=True):
        if old != new and not _close(old, new):
            return f"{_field(expected, old)}expected {old}, found {new}"
    return ""


def _close(old: str, new: str) -> bool:
    if old.startswith("Σ") or new.startswith("Σ"):
        return old[0] == new[0] and abs(int(old[1:]) - int(new[1:])) < PIXELS
    first, second = float(old), float(new)
    if max(abs(first), abs(second)) >= ABSOLUTE and max(map(_digits, (old, new))) < _LONG:
        return False  # it was written with few digits: then these are a text
    return abs(first - second) <= RELATIVE * max(abs(first), abs(second)) + ABSOLUTE


def _digits(number: str) -> int:
    return len(re.sub(r"e.*|\D", "", number).lstrip("0"))


def _field(line: str, number: str) -> str:
    """Return the name that stands before a number, if there is one."""
    before = re.search(r'"([^"]+)": *(?:\[.*)?$', line[: line.find(number)])
    return f"field {before[1]}: " if before else ""


def _apart(expected: str, found: str) -> str:
    """Show where two lines begin to differ, with what stands around it."""
    same = next(
        (n for n, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b), min(len(expected), len(found))
    )
    begin = max(same - 40, 0)
    old, new = expected[begin : same + 60], found[begin : same + 60]
    return f"from letter {same + 1}: expected {old!r}, found {new!r}"
