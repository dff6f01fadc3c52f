# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers from text and back: missing and bad fields, decimal commas, and plain digits that read back exactly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from typing import Final

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import OptionError

MISSING: Final = ("", "nan", "na", "n/a", "#n/a", "null", "none", ".", "-", "-nan", "nan(ind)", "-nan(ind)")
"""What stands for a missing number, in any case; the last three are how Windows spells what is no number."""


def parse_numbers(tokens: pl.Series, decimal: str) -> tuple[pl.Series, BoolArray]:
    """Return text as numbers (null where missing) and which rows are neither a number nor missing."""
    token = pl.col("token")
    if decimal == ",":
        # a point in such a file groups thousands or comes from elsewhere: not to be guessed
        has_point = token.str.contains(r"\d\.|\.\d")
        token = pl.when(has_point).then(pl.lit("bad")).otherwise(token.str.replace(",", ".", literal=True))
    value = token.cast(pl.Float64, strict=False)
    parsed = (
        tokens.alias("token")
        .to_frame()
        .select(
            token.alias("token"), value.alias("value"), odd=token.is_not_null() & ~value.is_finite().fill_null(False)
        )
    )
    odd = parsed["odd"].to_numpy()
    if not odd.any():
        return parsed["value"], odd
    stripped = pl.col("token").str.strip_chars()
    again = stripped.cast(pl.Float64, strict=False)
    looked_at = parsed.filter(odd).select(
        value=pl.when(again.is_finite()).then(again), missing=stripped.str.to_lowercase().is_in(MISSING)
    )
    bad = odd.copy()
    bad[odd] = (looked_at["value"].is_null() & ~looked_at["missing"]).to_numpy()
    return parsed["value"].scatter(np.flatnonzero(odd), looked_at["value"]), bad


def look_for_decimal(frame: pl.DataFrame, columns: Iterable[str]) -> str | None:
    """Return the decimal mark that numbers in these columns use; None if it is not clear yet.

    ``12,345`` is not clear: it may be a decimal number or twelve thousand.
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
    return which_are(tokens, accepts)[0]


def which_are(tokens: pl.Series, *kinds: Callable[[str], bool]) -> list[pl.Series]:
    """Return as `is_one_of` for several kinds of text at once."""
    different = _different(tokens)
    words = [token.strip().lower() for token in different]
    fitting = [[token for token, word in zip(different, words, strict=True) if kind(word)] for kind in kinds]
    return [tokens.is_not_null() if len(some) == len(different) else _are(tokens, some) for some in fitting]


def _different(tokens: pl.Series) -> list[str]:
    """Return the texts of a column, each once; equal ones mostly follow one another."""
    return [token for token in tokens.rle().struct.field("value").unique().to_list() if token is not None]


def _are(tokens: pl.Series, texts: Sequence[str]) -> pl.Series:
    if len(texts) == 1:
        return (tokens == texts[0]).fill_null(False)
    if not texts:
        return pl.Series(tokens.name, np.zeros(len(tokens), dtype=np.bool_))
    return tokens.is_in(texts).fill_null(False)


def as_flags(tokens: pl.Series, good: Collection[str], bad: Collection[str]) -> tuple[pl.Series, pl.Series]:
    """Return which texts are one of ``good``, and which are neither good nor ``bad`` nor missing."""
    known = {*good, *bad, *MISSING}
    fine, unclear = which_are(tokens, good.__contains__, lambda word: word not in known)
    return fine, unclear


# --- Numbers as text: plain digits that other programs take and that read back exactly.


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
