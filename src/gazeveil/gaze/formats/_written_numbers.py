# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as text that reads back exactly, in the plain digits that other programs take."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray

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


def milliseconds(seconds: FloatArray) -> pl.Series:
    """Return times in milliseconds as text: the digits of the seconds, with the point moved by three places."""
    whole = np.rint(seconds * 1000.0)
    is_whole = (whole / 1000.0 == seconds) & (np.abs(whole) < _MOST)
    text = pl.Series(np.where(is_whole, whole, 0.0)).cast(pl.Int64).cast(pl.String)
    odd = np.flatnonzero(~is_whole)
    if len(odd):
        text = text.scatter(odd, [f"{Decimal(repr(float(seconds[at]))).scaleb(3):f}" for at in odd.tolist()])
    return text
