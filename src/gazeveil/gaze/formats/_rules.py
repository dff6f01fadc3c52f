# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of validity at work: which column of a file each means, and in which rows it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze.formats._columns import Columns, parse_name
from gazeveil.gaze.formats._numbers import is_one_of, parse_numbers
from gazeveil.gaze.formats.base import ReadReport
from gazeveil.gaze.validity import Rule

HOLDS: Final = "holds"
"""The column, after an eye's prefix, that says where all rules hold; `combined` takes it into account."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a rule holds, and which rows have a value it cannot be compared with."""

    holds: pl.Series
    unclear: BoolArray


def column_of(rule: Rule, columns: Columns) -> str:
    """Return the file's column that a rule means: the one of that name, else the one of these words.

    Raises:
        FileFormatError: If there is none, with the columns there are.
        OptionError: If several could be meant.
    """
    if rule.column in columns.names:
        return rule.column
    words = parse_name(rule.column).words
    fitting = [name for name in columns.names if name and parse_name(name).words == words]
    if len(fitting) > 1:
        raise OptionError(
            f"--valid {rule}: {rule.column!r} may be {' or '.join(map(repr, fitting))}",
            hint="write the column as the file does",
        )
    if not fitting:
        raise columns.missing(f"{rule.column!r} (for --valid)", (words,), "--valid names a column of the file")
    return fitting[0]


def verdict(rule: Rule, values: pl.Series, decimal: str = ".") -> Verdict:
    """Say where a rule holds. A missing number holds no rule; a missing text is the empty text.

    Raises:
        OptionError: If a text is compared with a column of numbers.
    """
    nothing_unclear = np.zeros(len(values), dtype=np.bool_)
    if values.dtype == pl.Boolean:
        values = values.cast(pl.Int8) if rule.is_of_numbers else values.cast(pl.String)
    if rule.is_of_numbers:
        unclear = nothing_unclear
        if values.dtype == pl.String:
            values, unclear = parse_numbers(values, decimal)
        else:
            values = values.cast(pl.Float64).fill_nan(None)
        return Verdict(_compared(rule, values).fill_null(False), unclear)
    if values.dtype.is_numeric():
        raise OptionError(
            f"--valid {rule}: {rule.column!r} is a column of numbers", hint="compare it with a number without quotes"
        )
    found = is_one_of(values.cast(pl.String).fill_null(""), rule.values.__contains__)
    return Verdict(~found if rule.sign == "!=" else found, nothing_unclear)


def _compared(rule: Rule, values: pl.Series) -> pl.Series:
    other = rule.values[0]
    match rule.sign:
        case "<":
            return values < other
        case "<=":
            return values <= other
        case ">":
            return values > other
        case ">=":
            return values >= other
        case "!=":
            return values != other
        case _:
            return values.is_in(list(rule.values))


def judge(frame: pl.DataFrame, columns: Mapping[Rule, str], path: Path, report: ReadReport) -> pl.DataFrame:
    """Return a table in our columns whose samples are valid only where all rules hold.

    Raises:
        FileFormatError: If a value cannot be compared, or a rule is about an eye that the table has not.
    """
    verdicts = [verdict(rule, frame[name]) for rule, name in columns.items()]
    for (rule, name), each in zip(columns.items(), verdicts, strict=True):
        if each.unclear.any():
            found = repr(frame[name][int(np.flatnonzero(each.unclear)[0])])
            raise FileFormatError(
                path, column=rule.column, expected=f"a number, to compare by --valid {rule}", found=found
            )
        if rule.eye and f"{rule.eye}_x" not in frame.columns:
            raise no_such_eye(rule.eye)
        note_lost(rule, each, report)
    report.rules_kept = True
    frame = frame.with_columns(held(list(columns), verdicts))
    stated = {
        f"{prefix}valid": pl.all_horizontal(
            pl.col(name).fill_null(False)
            for name in dict.fromkeys((f"{prefix}valid", HOLDS, f"{prefix}{HOLDS}"))
            if name in frame.columns
        )
        for prefix in ("", "left_", "right_")
        if not prefix or f"{prefix}x" in frame.columns
    }
    return frame.with_columns(**stated)


def note_lost(rule: Rule, each: Verdict, report: ReadReport) -> None:
    """Tell in how many rows a rule does not hold."""
    if lost := len(each.holds) - int(each.holds.sum()):
        report.remark(f"a row where --valid {rule} does not hold is not valid", lost)


def no_such_eye(eye: str) -> OptionError:
    """Return the error that says a rule is about an eye that is not there."""
    return OptionError(
        f"--valid has a rule about the {eye} eye, whose own gaze is not in the file",
        hint=f"without '{eye}:' the rule is about the sample",
    )


def held(rules: Sequence[Rule], verdicts: Sequence[Verdict]) -> list[pl.Series]:
    """Return the columns that say where all rules hold, one for the sample and one for each eye that has rules."""
    found: dict[str, pl.Series] = {}
    for rule, each in zip(rules, verdicts, strict=True):
        name = f"{rule.eye}_{HOLDS}" if rule.eye else HOLDS
        found[name] = (found[name] & each.holds if name in found else each.holds).alias(name)
    return list(found.values())
