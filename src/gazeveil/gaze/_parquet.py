# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze tables as Parquet files that say what they hold: schema version, geometry, units, rate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze import schema
from gazeveil.gaze.veil_note import VeilNote
from gazeveil.geometry import Geometry

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
            "schema": schema.VERSION,
            "geometry": self.geometry.to_dict(),
            "rate_hz": self.rate_hz,
            "pupil_unit": self.pupil_unit,
            "units": schema.units(str(self.geometry.unit), self.pupil_unit),
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
        if version != schema.VERSION:
            raise FileFormatError(
                path,
                expected=f"gaze table schema {schema.VERSION}",
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
    """Run a polars read and turn its complaints into ours."""
    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:  # it panics at odd damage
        found = "nothing there" if not path.exists() else f"a damaged one ({str(error).splitlines()[0][:200]})"
        raise FileFormatError(
            path, expected="a Parquet file", found=found, hint="check the path, or copy the file again"
        ) from None


@contextmanager
def telling_os_errors() -> Iterator[None]:
    """Raise polars' complaints about writing as the `OSError` they come from: a full disk is no damaged table."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error).rpartition("IO error: ")[2]) from error
