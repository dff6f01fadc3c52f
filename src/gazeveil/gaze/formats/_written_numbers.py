# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as text that reads back exactly, in the plain digits that other programs take."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl

from gazeveil.types import FloatArray

_MOST = 2.0**62


def plain_numbers(values: pl.Series) -> pl.Series:
    """Return a column of numbers as text with the fewest digits that read back exactly, without exponents."""
    if values.dtype != pl.Float64:
        return values
    text = values.cast(pl.String)
    odd = np.flatnonzero(text.str.contains("e").fill_null(False).to_numpy())
    if len(odd):
        numbers = values.gather(odd).to_list()
        text = text.scatter(odd, [np.format_float_positional(number, trim="0") for number in numbers])
    return text


def scaled_times(seconds: FloatArray, per_second: float) -> tuple[pl.Series, int]:
    """Return times in another unit as text that gives the same seconds when it is divided, whole where that is so.

    Returns:
        The text, and for how many times no number of that unit gives the same seconds: those are off in the last digit.
    """
    exact = seconds * per_second
    whole = np.rint(exact)
    best = np.where(whole / per_second == seconds, whole, exact)
    for other in (np.nextafter(exact, -np.inf), np.nextafter(exact, np.inf)):
        best = np.where((best / per_second != seconds) & (other / per_second == seconds), other, best)
    is_whole = (best == np.rint(best)) & (np.abs(best) < _MOST)
    text = plain_numbers(pl.Series(best))
    short = pl.Series(np.where(is_whole, best, 0.0)).cast(pl.Int64).cast(pl.String)
    return short.zip_with(pl.Series(is_whole), text), int((best / per_second != seconds).sum())


def milliseconds(seconds: FloatArray) -> pl.Series:
    """Return times in milliseconds as text: the digits of the seconds, with the point moved by three places."""
    whole = np.rint(seconds * 1000.0)
    is_whole = (whole / 1000.0 == seconds) & (np.abs(whole) < _MOST)
    text = pl.Series(np.where(is_whole, whole, 0.0)).cast(pl.Int64).cast(pl.String)
    odd = np.flatnonzero(~is_whole)
    if len(odd):
        text = text.scatter(odd, [f"{Decimal(repr(float(seconds[at]))).scaleb(3):f}" for at in odd.tolist()])
    return text
