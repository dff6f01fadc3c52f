# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From columns of numbers to samples: time in seconds, combined gaze, the viewing plane it lies on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.gaze.formats._rules import HOLDS, no_such_eye
from gazeveil.geometry import Geometry

PER_SECOND: Final[Mapping[str, float]] = MappingProxyType({"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9})
_IN_WORDS: Final = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

TYPICAL_STEP_S: Final = (0.0005, 0.1)
"""Trackers sample at 10 to 2000 Hz. These bounds do not overlap when scaled by 1000, so a unit follows from a step."""


def in_seconds(frame: pl.DataFrame, per_second: float, *columns: str) -> pl.DataFrame:
    """Return the table with columns of time turned into seconds, each correctly rounded."""
    if per_second == 1.0:
        return frame
    # numpy divides; polars would multiply by the inverse, which is off in the last digit
    divided = [pl.Series(name, frame[name].to_numpy() / per_second, nan_to_null=True) for name in columns]
    return frame.with_columns(divided)


def guess_time_unit(times: FloatArray, units: Sequence[str] = ("s", "ms", "us", "ns")) -> tuple[str | None, float]:
    """Return the unit in which the typical step is one of a tracker, or None; and the step."""
    with np.errstate(over="ignore"):
        steps = np.diff(times)
    steps = steps[steps > 0]
    if not len(steps):
        return None, float("nan")
    step = float(np.median(steps))
    shortest, longest = TYPICAL_STEP_S
    fitting = [unit for unit in units if shortest <= step / PER_SECOND[unit] <= longest]
    return (fitting[0] if fitting else None), step


def told_step(step: float) -> str:
    """Say a typical step in an error."""
    return "a single sample" if math.isnan(step) else f"a step of {step:g}"


def expect_unit(path: Path, times: FloatArray, column: str, unit: str) -> str:
    """Return the unit that a format's times are in; a file whose steps do not fit it was changed, nothing is guessed.

    Raises:
        FileFormatError: If the typical step is not one of a tracker in this unit.
    """
    found, step = guess_time_unit(times)
    if found != unit and len(times) > 1:
        raise FileFormatError(
            path,
            column=column,
            expected=f"steps of 10 to 2000 Hz in {_IN_WORDS[unit]}",
            found=told_step(step),
            hint="name the unit with --time-unit",
        )
    return unit


def completed(geometry: Geometry, known: Geometry | None) -> Geometry:
    """Return what a file says about the viewing plane, completed with what the user says; the file wins."""
    if known is None:
        return geometry
    missing = {
        item.name: getattr(known, item.name) for item in fields(geometry) if getattr(geometry, item.name) is None
    }
    return replace(geometry, **missing)


def no_samples() -> pl.DataFrame:
    """Return a sample table without rows, for chunks that carry events only."""
    return pl.DataFrame(schema=dict(schema.REQUIRED))


def combined(frame: pl.DataFrame, eye: Literal["both", "left", "right"] = "both") -> pl.DataFrame:
    """Return a table in `schema.SAMPLES` from whichever of its columns there are.

    A sample is valid where x and y are known and no column and no rule of the user says otherwise. Combined gaze is
    the file's own if it has one and both eyes are asked for, else the mean of the eyes that are valid, or the eye that
    is asked for.
    """
    sides = [side for side in ("left", "right") if f"{side}_x" in frame.columns]
    ruled = [side for side in ("left", "right") if f"{side}_{HOLDS}" in frame.columns]
    if absent := [side for side in ruled if side not in sides]:
        raise no_such_eye(absent[0])
    frame = frame.with_columns(_validity(frame, f"{side}_") for side in sides)
    if eye in sides:
        frame = frame.with_columns(pl.col(f"{eye}_{name}").alias(name) for name in ("x", "y", "valid"))
        if f"{eye}_pupil" in frame.columns:
            frame = frame.with_columns(pl.col(f"{eye}_pupil").alias("pupil"))
    elif "x" not in frame.columns:
        frame = frame.with_columns(_mean_of_valid(axis, sides) for axis in ("x", "y"))
    frame = frame.with_columns(_validity(frame, ""))
    pupils = [f"{side}_pupil" for side in ("left", "right") if f"{side}_pupil" in frame.columns]
    if "pupil" not in frame.columns and pupils:
        frame = frame.with_columns(pl.mean_horizontal(pupils).alias("pupil"))
    unknown = [f"{side}_{name}" for side in ("left", "right") if side not in sides for name in ("valid", "pupil")]
    return frame.select(name for name in schema.SAMPLES if name in frame.columns and name not in unknown)


def follows_from_eyes(samples: pl.DataFrame) -> bool:
    """Whether combined gaze is what reading the eyes alone gives, so that it need not be written."""
    both = [name for name in ("x", "y", "pupil") if name in samples.columns]
    eyes = samples.drop(*both, "valid")
    if not {"left_x", "right_x"} & set(eyes.columns):
        return False
    derived = combined(eyes)
    mine = [name for name in ("x", "y", "pupil") if name in derived.columns]
    return mine == both and derived.select(both).equals(samples.select(both))


def _validity(frame: pl.DataFrame, prefix: str) -> pl.Expr:
    known = pl.col(f"{prefix}x").is_not_null() & pl.col(f"{prefix}y").is_not_null()
    if f"{prefix}valid" in frame.columns:
        known = known & pl.col(f"{prefix}valid").fill_null(False)
    for name in dict.fromkeys((HOLDS, f"{prefix}{HOLDS}")):
        if name in frame.columns:
            known = known & pl.col(name)
    if not prefix and {f"left_{HOLDS}", f"right_{HOLDS}"} <= set(frame.columns):
        known = known & (pl.col(f"left_{HOLDS}") | pl.col(f"right_{HOLDS}"))
    return known.alias(f"{prefix}valid")


def _mean_of_valid(axis: str, sides: Sequence[str]) -> pl.Expr:
    valid_only = [pl.when(pl.col(f"{side}_valid")).then(pl.col(f"{side}_{axis}")) for side in sides]
    if len(valid_only) == 1:
        return valid_only[0].alias(axis)
    left, right = valid_only
    return ((left + right) / 2.0).fill_null(left).fill_null(right).alias(axis)
