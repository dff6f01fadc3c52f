# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Log files that a headset's program is still writing: each line that is added is read as it comes."""

from __future__ import annotations

import csv
import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gazeveil import geometry
from gazeveil.errors import OptionError, WireError
from gazeveil.gateway.bridge import NOWHERE, Bridge, Point
from gazeveil.gateway.protocol import MOST_WAITING
from gazeveil.gateway.sample import EyeGeometry, RawSample
from gazeveil.gateway.tracker_fields import number
from gazeveil.gaze.fileio.columns import Columns
from gazeveil.gaze.fileio.row_assembly import AXES, VectorColumns

_DELIMITERS: Final = ",;\t"
_MOST_BYTES: Final = 1 << 20
"""Bytes that one poll reads at most."""
_TRIPLE: Final = re.compile(r"[(\[]([^,()\[\]]*),([^,()\[\]]*),([^,()\[\]]*)[)\]]")

Vector = tuple[float, float, float]


class Rows(ABC):
    """Reads the rows of one log.

    Args:
        columns: Its header.
        numbers: Where columns of numbers are, by our names.
        text: Where columns of text are, by our names.
    """

    def __init__(self, columns: Columns, vectors: VectorColumns, numbers: dict[str, str], text: dict[str, str]) -> None:
        self._place = {name: n for n, name in reversed(list(enumerate(columns.names)))}
        self._width = len(columns.names)
        self._numbers, self._text = {**vectors.numbers, **numbers}, {**vectors.text, **text}

    def read(self, cells: Sequence[str]) -> RawSample | None:
        """Return the sample of a row; None if it has no time or not as many cells as the header."""
        if len(cells) != self._width:
            return None
        t = self.number(cells, "t")
        return None if math.isnan(t) else RawSample(self.moment(t), *self.gaze(cells), eyes=self.eyes(cells))

    @abstractmethod
    def moment(self, t: float) -> float:
        """Return a time of the log in seconds."""

    @abstractmethod
    def gaze(self, cells: Sequence[str]) -> Point:
        """Return where a row's gaze is, in degrees to the right and down."""

    def eyes(self, cells: Sequence[str]) -> EyeGeometry | None:
        """Return where a row says the eyes are; asked after its gaze. None for logs that do not say."""
        return None

    def has(self, ours: str) -> bool:
        """Tell whether there is a column, or a vector, of this name."""
        return ours in self._numbers or ours in self._text or f"{ours}_x" in self._numbers

    def word(self, cells: Sequence[str], ours: str) -> str:
        """Return a cell of text in lower case."""
        return cells[self._place[self._text[ours]]].strip().lower()

    def number(self, cells: Sequence[str], ours: str) -> float:
        """Return a cell as a number, NaN for what is none."""
        return _number(cells[self._place[self._numbers[ours]]])

    def vector(self, cells: Sequence[str], ours: str) -> Vector:
        """Return a vector, from three cells or from one."""
        if ours in self._text:
            parts = _TRIPLE.fullmatch(cells[self._place[self._text[ours]]].strip())
            return (math.nan,) * 3 if parts is None else (_number(parts[1]), _number(parts[2]), _number(parts[3]))
        x, y, z = (self.number(cells, f"{ours}_{axis}") if f"{ours}_{axis}" in self._numbers else 0.0 for axis in AXES)
        return x, y, z


def angles(direction: Vector, right: float = 1.0) -> Point:
    """Return the angles of a direction, as `gazeveil.gaze.fileio.row_assembly.with_angles` does for tables."""
    across, up, ahead = direction
    if not (ahead > 0.0 and math.isfinite(across + up + ahead)):
        return NOWHERE
    return geometry.angles((across * right, -up, ahead))


class LogTail(Bridge):
    """A log that grows."""

    def __init__(self, title: str, device: str, make: Callable[[Columns], Rows]) -> None:
        if not device:
            raise OptionError(f"{title}: which log?", hint="--device FILE, the file that is being written")
        self._title, self._path = title, Path(device)
        try:
            self._file = self._path.open("rb")
        except OSError as error:
            raise WireError(f"{title}: {device} cannot be read: {error.strerror}") from error
        try:
            header = self._file.readline(MOST_WAITING)
            if not header.endswith(b"\n"):
                raise WireError(f"{title}: {device} has no header yet")
            self._delimiter, names = header_of(header)
            self._rows = make(Columns(self._path, names))
            self._waiting = b""
            self._skip_what_is_there()
        except BaseException:
            self._file.close()
            raise

    def poll(self) -> list[RawSample]:
        """Return the samples of all lines that were finished since the last time."""
        try:
            self._check_same_file()
            data = self._file.read(_MOST_BYTES)
        except OSError as error:
            raise WireError(f"{self._title}: the log cannot be read any more: {error.strerror}") from error
        *lines, self._waiting = (self._waiting + data).split(b"\n")
        if len(self._waiting) > MOST_WAITING:
            raise WireError(f"{self._title}: a line of the log does not end")
        return [sample for line in lines if (sample := self._sample(line)) is not None]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _skip_what_is_there(self) -> None:
        begin = self._file.tell()
        end = self._file.seek(0, os.SEEK_END)
        if end > begin:  # a line that is being written is finished later: only its beginning is lost
            self._file.seek(end - 1)
            self._torn = self._file.read(1) != b"\n"
        else:
            self._torn = False

    def _check_same_file(self) -> None:
        now = self._path.stat()
        mine = os.fstat(self._file.fileno())
        if (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino) or mine.st_size < self._file.tell():
            raise WireError(f"{self._title}: the log started again")

    def _sample(self, line: bytes) -> RawSample | None:
        if self._torn:
            self._torn = False
            return None
        return self._rows.read(cells_of(line, self._delimiter))


def header_of(line: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the columns of a header."""
    text = line.decode("utf-8-sig", "replace")
    delimiter = max(_DELIMITERS, key=text.count)
    return delimiter, tuple(cell.strip() for cell in cells_of(text.encode(), delimiter))


def cells_of(line: bytes, delimiter: str) -> list[str]:
    """Return the cells of a line; none if it cannot be parsed."""
    text = line.decode("utf-8", "replace").rstrip("\r\n").replace("\0", "").replace("\r", "")
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []


def _number(text: str) -> float:
    value = number(text) if len(text) < 60 else math.nan
    return value if math.isfinite(value) else math.nan
