# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loop under tables: every number is the float64 that Python reads, and odd rows are handed back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from gazeveil.gaze.fileio.numbers import MISSING
from gazeveil.gaze.fileio.tables import PlainRows, plain_rows
from gazeveil.gaze.fileio.text import TextBlock
from gazeveil.gaze.fileio.text_kernels import nearest


def rows(*lines: str, decimal: str = ".", delimiter: str = ",") -> PlainRows | None:
    """Read lines with a number, a text and a column that nobody wants."""

    def read_text(names: Sequence[str]) -> pl.DataFrame:
        return pl.DataFrame({name: [line.split(delimiter)[1] or None for line in lines] for name in names})

    block = TextBlock(7, "".join(f"{line}\n" for line in lines).encode(), len(lines))
    return plain_rows(block, (delimiter, decimal), ("a", "b", "c"), {"text": "b"}, {"number": "a"}, read_text)


def numbers_of(fields: Sequence[str], decimal: str = ".") -> list[float | None]:
    found = rows(*(f"{field};x;" for field in fields), decimal=decimal, delimiter=";")
    assert found is not None, fields
    return found.frame["number"].to_list()


def test_numbers_are_those_that_python_reads() -> None:
    rng = np.random.default_rng(0)
    fields = [repr(float(each)) for each in rng.normal(0, 1, 3000) * 10.0 ** rng.integers(-3, 16, 3000)]
    fields += [f"{each:.{digits}f}" for digits in range(16) for each in rng.uniform(-2000, 2000, 100)]
    fields += [f"{each:.{digits}e}" for digits in (0, 3, 16) for each in rng.normal(0, 1, 200)]
    fields += [str(each) for each in rng.integers(-(2**62), 2**62, 500)]
    fields += ["0", "-0", "-0.0", "0.0", "5.", ".5", "-.5", "007", "1E5", "1e+05", "0.00012345678901234567", "1e-22"]
    values = numbers_of(fields)
    assert [struct.pack("d", value) for value in values] == [struct.pack("d", float(each)) for each in fields]


def test_long_numbers_are_rounded_to_the_nearest() -> None:
    rng = np.random.default_rng(1)
    unknown = 0
    halves = [int(each) for each in rng.integers(2**52, 2**53, 500)]
    cases = list(zip(rng.integers(1, 2**63, 3000).tolist(), rng.integers(-40, 41, 3000).tolist(), strict=True))
    cases += [((2 * half + 1) * 5 + shift, -1) for half in halves for shift in (-1, 0, 1)]  # around the middle
    for whole, power in cases:
        value, bits, known = nearest(np.uint64(whole), power)
        unknown += not known
        found = struct.unpack("d", struct.pack("Q", int(bits)))[0] if bits else value
        assert not known or Fraction(found) == Fraction(float(f"{whole}e{power}")), (whole, power)
    assert unknown == 0


def test_missing_numbers_are_null_however_they_are_spelt() -> None:
    fields = [*MISSING, *(each.upper() for each in MISSING), " NaN ", "  ", "1.5 ", "\t2"]
    assert numbers_of(fields) == [None] * (2 * len(MISSING) + 2) + [1.5, 2.0]


def test_a_comma_may_be_the_decimal_mark() -> None:
    assert numbers_of(["1,5", "-0,25", "3"], decimal=",") == [1.5, -0.25, 3.0]
    assert rows("1.5;x;", decimal=",", delimiter=";") is None
    assert rows("1,5;x;", delimiter=";") is None


@pytest.mark.parametrize(
    "line",
    [
        *("1,x", "1,x,y,z", "one,x,y", "1e,x,y", "1.2.3,x,y", "--1,x,y", "+,x,y", "inf,x,y", "1 2,x,y", "0x1f,x,y"),
        *('"1,x,y', '1,"x""y",z', '1,x"y",z', '1,"x"y,z', "1e999,x,y", "12345678901234567890123,x,y"),
    ],
)
def test_odd_rows_are_left_to_others(line: str) -> None:
    assert rows("1,x,y") is not None
    assert rows("1,x,y", line) is None


def test_quoted_fields_are_what_stands_between_the_quotes() -> None:
    found = rows('"1.5","a,b","c"', '2,"a,b",', '3,a,"b,c"', '4,"",', "5,,")
    assert found is not None
    assert found.frame.rows() == [("a,b", 1.5), ("a,b", 2.0), ("a", 3.0), ("", 4.0), (None, 5.0)]


def test_empty_lines_are_no_rows_and_lines_keep_their_numbers() -> None:
    found = rows("", "1,x,", "", "", "2.5,y,", "")
    assert found is not None
    assert (found.lines.tolist(), found.has_decimals) == ([8, 11], True)
    assert found.frame.rows() == [("x", 1.0), ("y", 2.5)]


@pytest.mark.parametrize("every", [1, 2, 50])
def test_texts_come_back_whether_they_change_often_or_not(every: int) -> None:
    texts = [f"t{row // every}é" if row % 7 else "" for row in range(2000)]
    found = rows(*(f"{row},{text},0" for row, text in enumerate(texts)))
    assert found is not None
    assert not found.has_decimals
    assert found.frame["text"].to_list() == [text or None for text in texts]
    assert found.frame["number"].to_list() == list(range(2000))


def test_texts_of_which_one_begins_the_other_are_different() -> None:
    texts = ["ab", "a", "ab", "abc", "", "abc"]
    found = rows(*(f"1,{text},0" for text in texts))
    assert found is not None
    assert found.frame["text"].to_list() == [text or None for text in texts]
