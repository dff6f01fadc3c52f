# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The columns of gaze tables, and the Parquet files that hold them with what they state about themselves.

Readers produce this schema, Parquet files hold it and engines read it. A Parquet file states its schema version,
geometry, units and rate, and by which mechanism its gaze was veiled, so that nobody takes it for raw gaze.

`SAMPLES` holds one row per tracker sample, `EVENTS` one row per fixation, saccade, blink or message. Both are
keyed by `KEYS`. Optional columns are absent when a tracker does not give them; the others are always there.

A table with the column `DURATION` is a list of fixations: each row is one of them, ``t`` is when it began, and either
is empty where a list does not say it. Nothing else tells lists from samples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import polars as pl

from gazeveil import __version__
from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.geometry import Geometry

VERSION: Final = 1

KEYS: Final[tuple[str, ...]] = ("observer", "stimulus", "session", "trial")

REQUIRED: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {"t": pl.Float64, "x": pl.Float64, "y": pl.Float64, "valid": pl.Boolean}
)

OPTIONAL: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "pupil": pl.Float64,
        "left_x": pl.Float64,
        "left_y": pl.Float64,
        "left_valid": pl.Boolean,
        "left_pupil": pl.Float64,
        "right_x": pl.Float64,
        "right_y": pl.Float64,
        "right_valid": pl.Boolean,
        "right_pupil": pl.Float64,
        "duration": pl.Float64,
    }
)

DURATION: Final = "duration"
"""How long a fixation lasted, in seconds: the column that makes a table a list of fixations."""

SAMPLES: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType({**REQUIRED, **OPTIONAL})

EVENTS: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "kind": pl.String,  # fixation, saccade, blink, message, …
        "source": pl.String,  # tracker, or the name of our detector
        "eye": pl.String,  # left, right, both
        "onset": pl.Float64,  # s
        "offset": pl.Float64,  # s
        "x": pl.Float64,  # fixation centre or saccade start, in the recording's unit
        "y": pl.Float64,
        "end_x": pl.Float64,  # saccade end
        "end_y": pl.Float64,
        "amplitude": pl.Float64,  # deg
        "peak_velocity": pl.Float64,  # deg/s
        "pupil": pl.Float64,
        "text": pl.String,  # of a message
    }
)


def units(gaze_unit: str, pupil_unit: str = "") -> dict[str, str]:
    """Return the unit of every column, for a file's metadata."""
    unit = {"t": "s", DURATION: "s", "onset": "s", "offset": "s", "amplitude": "deg", "peak_velocity": "deg/s"}
    for column in (*SAMPLES, *EVENTS):
        if column.endswith("pupil"):
            unit[column] = pupil_unit or "arbitrary"
        elif column in {"x", "y"} or column.endswith(("_x", "_y")):
            unit[column] = gaze_unit
    return unit


def keyed(columns: Mapping[str, type[pl.DataType]]) -> dict[str, type[pl.DataType]]:
    """Return the keys and these columns, for tables of many recordings."""
    return dict.fromkeys(KEYS, pl.String) | dict(columns)


def no_events() -> pl.DataFrame:
    """Return an event table without rows."""
    return pl.DataFrame(schema=dict(EVENTS))


def event_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ``rows`` with all event columns, in order and typed; missing ones are null."""
    return conform(rows, EVENTS)


def conform(table: pl.DataFrame, columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return a table with exactly these columns, in order and typed; those it lacks are null."""
    return table.select(
        (pl.col(name) if name in table.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in columns.items()
    )


# --- The note in files of veiled gaze, so that nobody takes them for raw gaze.


_SENTENCE = re.compile(r"Veiled gaze, not raw gaze\. Mechanism: (.*)\. Guarantee: (.*)\. By gazeveil (\S+)\.")


@dataclass(frozen=True, slots=True)
class VeilNote:
    """That gaze is veiled, by what, and what is guaranteed. It goes with the samples from file to file.

    Attributes:
        mechanism: The mechanism, in words.
        guarantee: What is guaranteed, in words; that nothing is proven, and why, where nothing is.
        details: The guarantee as a JSON object.
        version: The version of gazeveil that veiled.
    """

    mechanism: str
    guarantee: str
    details: str = "{}"
    version: str = __version__

    @property
    def sentence(self) -> str:
        """The note on one line, for the comments and messages of text files."""
        said = f"Veiled gaze, not raw gaze. Mechanism: {self.mechanism}. Guarantee: {self.guarantee}."
        return " ".join(f"{said} By gazeveil {self.version}.".split())

    def to_dict(self) -> dict[str, Any]:
        """Return the note as plain values."""
        return {
            "mechanism": self.mechanism,
            "guarantee": self.guarantee,
            "details": json.loads(self.details),
            "version": self.version,
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> VeilNote:
        """Build a note from what `to_dict` gave; what is missing is given as not known."""
        known = {name: str(values.get(name, "not known")) for name in ("mechanism", "guarantee", "version")}
        return VeilNote(**known, details=json.dumps(values.get("details", {}), sort_keys=True))

    @staticmethod
    def from_sentence(text: str) -> VeilNote | None:
        """Return the note that a message holds, or None if it is another message."""
        found = _SENTENCE.search(text)
        return None if found is None else VeilNote(found[1], found[2], version=found[3])


# --- Gaze tables as Parquet files that say what they hold: schema version, geometry, units, rate.


METADATA_KEY = "gazeveil"
MAGIC = b"PAR1"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableLabel:
    """What all rows of one Parquet file share."""

    geometry: Geometry
    rate_hz: float | None = None
    pupil_unit: str = ""
    veiled: VeilNote | None = None

    def to_metadata(self) -> dict[str, str]:
        """Return the label as Parquet key-value metadata."""
        label: dict[str, Any] = {
            "schema": VERSION,
            "geometry": self.geometry.to_dict(),
            "rate_hz": self.rate_hz,
            "pupil_unit": self.pupil_unit,
            "units": units(str(self.geometry.unit), self.pupil_unit),
        }
        if self.veiled is not None:
            label["veiled"] = self.veiled.to_dict()
        return {METADATA_KEY: json.dumps(label)}


def read_label(path: Path) -> TableLabel | None:
    """Return a file's label, or None if it is someone else's Parquet file.

    Raises:
        FileFormatError: If the file is damaged, or was written by a newer gazeveil.
    """
    text = guarded(path, lambda: pl.read_parquet_metadata(path)).get(METADATA_KEY)
    if text is None:
        return None
    try:
        label: dict[str, Any] = json.loads(text)
        version = label["schema"]
        if version != VERSION:
            raise FileFormatError(
                path,
                expected=f"gaze table schema {VERSION}",
                found=f"schema {version}",
                hint="read it with the gazeveil version that wrote it",
            )
        veiled = VeilNote.from_dict(label["veiled"]) if "veiled" in label else None
        return TableLabel(Geometry.from_dict(label["geometry"]), label["rate_hz"], label["pupil_unit"], veiled)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, FileFormatError):
            raise
        found = error.message if isinstance(error, GeometryError) else repr(error)
        raise FileFormatError(path, expected="gazeveil's label in the metadata", found=found) from None


def guarded(path: Path, read: Callable[[], T]) -> T:
    """Run a polars read and turn its errors into `FileFormatError`."""
    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:  # it panics at some damage
        found = "nothing there" if not path.exists() else f"a damaged one ({str(error).splitlines()[0][:200]})"
        raise FileFormatError(
            path, expected="a Parquet file", found=found, hint="check the path, or copy the file again"
        ) from None


@contextmanager
def os_errors_explained() -> Iterator[None]:
    """Raise polars' errors in writing as the `OSError` they come from: a full disk is no damaged table."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error).rpartition("IO error: ")[2]) from error
