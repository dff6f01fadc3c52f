# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a sample line of an EyeLink file looks like, and one such line read with care.

A line is ``time, x, y, pupil`` (twice x, y, pupil for two eyes), then numbers we do not keep (velocity, resolution,
input, buttons), then a field of warning flags; in the remote setup the head target's three numbers and its own flags
follow. The SAMPLES line of a recording block declares this, but not every converter keeps to it, so the lines
themselves have the last word; after that every line of the block must look the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gazeveil.errors import FileFormatError

Eyes = tuple[str, ...]
"""``left``, ``right``, both, or one empty name for a single eye that the file does not name."""

UNNAMED_EYE: Eyes = ("",)
BOTH_EYES: Eyes = ("left", "right")

_POSITION_KINDS = {"GAZE", "HREF", "PUPIL", "RAW"}
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_FLAGS = re.compile(rb"[A-Z.]{2,}")
_SAMPLE = re.compile(r"(n+?)(f)?(?:(nnn)(t))?")
_EYES_OF_FLAGS = {0: (1, 2), 3: (1,), 5: (2,)}
_TARGET_FLAGS = {13, 17}


class Shape(NamedTuple):
    """How many fields of which kind a sample line has, in their order; a length of 0 means there is no such field."""

    numbers: int
    flags_length: int = 0
    target_numbers: int = 0
    target_flags_length: int = 0

    @property
    def fields(self) -> int:
        """How many fields there are."""
        return self.numbers + bool(self.flags_length) + self.target_numbers + bool(self.target_flags_length)

    def __str__(self) -> str:
        flags = f" and {self.flags_length} flags" if self.flags_length else ""
        return f"{self.numbers} numbers{flags}"


class Declared(NamedTuple):
    """What a SAMPLES line says."""

    kind: str
    eyes: Eyes
    columns: tuple[str, ...]
    rate_hz: float | None


class Layout(NamedTuple):
    """How to read the samples of one recording block; ``columns`` names the numbers."""

    eyes: Eyes
    shape: Shape
    columns: tuple[str, ...]
    remark: str = ""

    @property
    def kept(self) -> int:
        """How many of a line's numbers we keep: time, and three for each eye."""
        return 1 + 3 * len(self.eyes)


class Unfit(NamedTuple):
    """Why a line cannot be read: the column if one is to blame, what was expected and what was found."""

    column: str | None
    expected: str
    found: str

    def error(self, path: Path, line: int, hint: str = "") -> FileFormatError:
        """Return this as the error of a line."""
        return FileFormatError(path, line=line, column=self.column, expected=self.expected, found=self.found, hint=hint)


def shown(text: bytes, limit: int = 40) -> str:
    """Return a piece of a file as it can be shown in an error message."""
    readable = text[: 4 * limit].decode(errors="backslashreplace")
    return repr(readable if len(readable) <= limit else readable[: limit - 1] + "…")


def eyes_of(words: Sequence[str]) -> Eyes:
    """Return the eyes that a START or SAMPLES line names."""
    return tuple(eye for eye in BOTH_EYES if eye.upper() in words)


def columns_of(eyes: Eyes, extra: int = 0) -> tuple[str, ...]:
    """Return the names of the columns that we keep, and of this many more."""
    kept = [f"{eye} {what}".strip() for eye in eyes for what in ("x", "y", "pupil")]
    return ("time", *kept, *(f"extra {number + 1}" for number in range(extra)))


def declared_by(words: Sequence[str]) -> Declared | Unfit:
    """Read a SAMPLES line, given as its words after SAMPLES."""
    if not words or words[0] not in _POSITION_KINDS:
        return Unfit("position type", "GAZE, HREF or PUPIL", repr(words[0][:40]) if words else "nothing")
    eyes = eyes_of(words)
    if not eyes:
        return Unfit("eyes", "LEFT, RIGHT or both", repr(" ".join(words)[:40]))
    rate = None
    if "RATE" in words:
        text = [*words, ""][words.index("RATE") + 1]
        rate = parse_number(text.encode())
        if rate is None or not rate > 0:
            return Unfit("RATE", "a positive number", repr(text[:40]))
    columns = columns_of(eyes)
    if "VEL" in words:
        columns += tuple(f"{eye} velocity {axis}" for eye in eyes for axis in "xy")
    if "RES" in words:
        columns += ("resolution x", "resolution y")
    columns += tuple(word.lower() for word in ("INPUT", "BUTTONS") if word in words)
    return Declared(words[0], eyes, columns, rate)


def decide_layout(declared: Declared | None, started_with: Eyes, lines: Sequence[bytes]) -> Layout | Unfit | None:
    """Decide how to read a block from what its header says and its first sample lines, most of which must agree.

    If a line has as many numbers as the SAMPLES line declares, all is well. If not, there may be columns that the
    SAMPLES line forgot or names in vain, but then everything else must confirm which eyes there are.

    Returns:
        None if none of the lines is a sample at all; what does not fit together if the block cannot be read.
    """
    shapes = Counter(shape for line in lines if (shape := _shape_of(line)) is not None)
    if not shapes:
        return None
    promised = len(declared.columns) if declared is not None else 0
    shape = max(shapes, key=lambda shape: (shapes[shape], shape.numbers == promised))
    if declared is not None and shape.numbers == promised:
        return Layout(declared.eyes, shape, declared.columns)
    if declared is not None:
        remark, candidates = "sample lines have other columns than the SAMPLES line says", [declared.eyes]
    elif started_with:
        remark, candidates = "", [started_with]
    else:
        remark, candidates = "the file does not say which eyes were tracked", [UNNAMED_EYE, BOTH_EYES]
    for eyes in candidates:
        extra = shape.numbers - len(columns_of(eyes))
        certain = bool(started_with or declared or shape.flags_length or extra == 0)
        confirmed = started_with in ((), eyes) and len(eyes) in _EYES_OF_FLAGS.get(shape.flags_length, ())
        if extra >= 0 and certain and confirmed:
            return Layout(eyes, shape, columns_of(eyes, extra), remark)
    wanted = promised or " or ".join(str(len(columns_of(eyes))) for eyes in candidates)
    return Unfit(None, f"{wanted} numbers in a sample line", str(shape))


def read_sample(line: bytes, layout: Layout) -> list[float] | Unfit:
    """Read one sample line with care: also the long numbers and exponents that the quick reader leaves alone."""
    fields = _fields_of(line)
    shape, numbers = layout.shape, layout.shape.numbers
    if len(fields) != shape.fields:
        names = [*layout.columns, *["flags"] * bool(shape.flags_length)]
        names += ["head target"] * shape.target_numbers + ["its flags"] * bool(shape.target_flags_length)
        return Unfit(None, f"{shape.fields} fields ({', '.join(names)})", f"{len(fields)}: {shown(line)}")
    values = []
    for column, text in zip(layout.columns, fields, strict=False):
        value = parse_number(text)
        if value is None or (column == "time" and math.isnan(value)):
            return Unfit(column, "a number" if column == "time" else "a number or a dot", shown(text))
        values.append(value)
    rest = fields[numbers:]
    if shape.flags_length and not _is_flags(flags := rest.pop(0), shape.flags_length):
        return Unfit("flags", f"{shape.flags_length} dots or capitals", shown(flags))
    if shape.target_numbers:
        *target, flags = rest
        for text in target:
            if parse_number(text) is None:
                return Unfit("head target", "a number or a dot", shown(text))
        if not _is_flags(flags, shape.target_flags_length):
            return Unfit("head target flags", f"{shape.target_flags_length} dots or capitals", shown(flags))
    return [seconds_of(fields[0]), *values[1 : layout.kept]]


def parse_number(text: bytes) -> float | None:
    """Return a finite number, NaN for the marks of a missing value, None for anything else."""
    if text == b"." or text.lower() == b"nan":
        return math.nan
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def seconds_of(milliseconds: bytes) -> float:
    """Return a number of milliseconds as seconds, rounded once."""
    mantissa, _, exponent = milliseconds.decode().lower().partition("e")
    return float(f"{mantissa}e{int(exponent or 0) - 3}")


def _fields_of(line: bytes) -> list[bytes]:
    return [field for field in line.replace(b"\t", b" ").split(b" ") if field]


def _shape_of(line: bytes) -> Shape | None:
    fields = _fields_of(line)
    marks = "".join(map(_mark_of, fields))
    match = _SAMPLE.fullmatch(marks)
    if match is None:
        return None
    numbers = len(match[1])
    flags_length = len(fields[numbers]) if match[2] else 0
    return Shape(numbers, flags_length, 3, len(fields[-1])) if match[4] else Shape(numbers, flags_length)


def _mark_of(field: bytes) -> str:
    if parse_number(field) is not None:
        return "n"
    if _FLAGS.fullmatch(field) is None:
        return "?"
    return "t" if len(field) in _TARGET_FLAGS else "f"


def _is_flags(field: bytes, length: int) -> bool:
    return len(field) == length and _FLAGS.fullmatch(field) is not None
