# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Text fields as numbers: what is missing, what is bad, and whether a comma is a decimal mark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
import polars as pl

from gazeveil.errors import OptionError
from gazeveil.gaze.recording import BoolArray

MISSING: Final = ("", "nan", "na", "n/a", "#n/a", "null", "none", ".", "-")
"""What stands for a missing number, in any case."""


def parse_numbers(tokens: pl.Series, decimal: str) -> tuple[pl.Series, BoolArray]:
    """Return text as numbers (null where missing) and which rows are neither a number nor missing."""
    if decimal == ",":
        # a point in such a file groups thousands or comes from elsewhere: not to be guessed
        plain = pl.DataFrame({"token": tokens}).select(
            pl.when(pl.col("token").str.contains(r"\d\.|\.\d"))
            .then(pl.lit("bad"))
            .otherwise(pl.col("token").str.replace(",", ".", literal=True))
        )
        tokens = plain.to_series()
    values = tokens.cast(pl.Float64, strict=False)
    odd = (tokens.is_not_null() & ~values.is_finite().fill_null(False)).to_numpy()
    if not odd.any():
        return values, odd
    stripped = tokens.filter(odd).str.strip_chars()
    again = stripped.cast(pl.Float64, strict=False)
    again = again.set(~again.is_finite().fill_null(False), None)
    missing = stripped.str.to_lowercase().is_in(MISSING)
    bad = odd.copy()
    bad[odd] = (again.is_null() & ~missing).to_numpy()
    return values.scatter(np.flatnonzero(odd), again), bad


def look_for_decimal(frame: pl.DataFrame, columns: Iterable[str]) -> str | None:
    """Return the decimal mark that numbers in these columns use; None if nothing tells so far.

    ``12,345`` does not tell: it may be twelve and a bit or twelve thousand.
    """
    commas = False
    for column in columns:
        tokens = frame[column].str.strip_chars()
        if tokens.str.contains(r"\d\.|\.\d").any():
            return "."
        with_comma = tokens.filter(tokens.str.contains(r"^[+-]?\d*,\d+(?:[eE][+-]?\d+)?$"))
        commas = commas or not with_comma.str.contains(r"^[+-]?[1-9]\d{0,2},\d{3}$").all()
    return "," if commas else None


def check_decimal(decimal: str | None, delimiter: str | None) -> str | None:
    """Return the user's decimal mark.

    Raises:
        OptionError: If it is neither point nor comma, or is the delimiter too.
    """
    if decimal is None:
        return None
    if decimal not in {".", ","}:
        raise OptionError(f"the decimal mark must be . or , not {decimal!r}")
    if decimal == delimiter:
        raise OptionError("the decimal mark and the delimiter cannot both be a comma")
    return decimal


def is_one_of(tokens: pl.Series, accepts: Callable[[str], bool]) -> pl.Series:
    """Whether each text, in lower case and without space around it, is one that ``accepts`` says; null is none.

    For columns with few different texts: each is looked at once.
    """
    fitting = [token for token in tokens.unique().drop_nulls().to_list() if accepts(token.strip().lower())]
    return tokens.is_in(fitting).fill_null(False)
