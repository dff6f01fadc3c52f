# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of validity: what they say, and what they do to files."""

from __future__ import annotations

import operator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazeveil import read, screen
from gazeveil.errors import FileFormatError, GazeveilError, InputError, OptionError
from gazeveil.gaze.validity import SIGNS, ValidityRule, parse_rule

DESK = screen(1920, 1080)
NAMES = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="'"), min_size=1, max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
EYES = st.sampled_from(["", "left", "right"])


@given(NAMES, st.sampled_from(SIGNS), st.lists(NUMBERS, min_size=1, max_size=4), EYES)
def test_a_rule_about_numbers_says_itself(column: str, sign: str, values: list[float], eye: str) -> None:
    rule = ValidityRule(column, sign, tuple(values if sign == "in" else values[:1]), eye)
    assert parse_rule(str(rule)) == rule


@given(NAMES, st.sampled_from(["==", "!=", "in"]), st.lists(NAMES.map(str.lower), min_size=1, max_size=4), EYES)
def test_a_rule_about_texts_says_itself(column: str, sign: str, values: list[str], eye: str) -> None:
    rule = ValidityRule(column, sign, tuple(values if sign == "in" else values[:1]), eye)
    assert parse_rule(str(rule)) == rule


@given(st.text(max_size=30))
def test_any_text_is_a_rule_or_an_error_with_a_hint(text: str) -> None:
    try:
        rule = parse_rule(text)
    except OptionError as error:
        hint = error.hint
    else:
        hint = rule.column if rule.sign in SIGNS else ""
    assert hint


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("status==OK", ValidityRule("status", "==", ("ok",))),
        ("ValidityLeft<=1", ValidityRule("ValidityLeft", "<=", (1.0,))),
        ("Validity left <= 1", ValidityRule("Validity left", "<=", (1.0,))),
        ("[Gaze point X [DACS px]] != -1", ValidityRule("Gaze point X [DACS px]", "!=", (-1.0,))),
        ("'a==b' > 0.5", ValidityRule("a==b", ">", (0.5,))),
        ("state in open, half", ValidityRule("state", "in", ("open", "half"))),
        ("state in 'a, b', c", ValidityRule("state", "in", ("a, b", "c"))),
        ("code in 0,1", ValidityRule("code", "in", (0.0, 1.0))),
        ("code == '1'", ValidityRule("code", "==", ("1",))),
        ("error == ''", ValidityRule("error", "==", ("",))),
        ("left: ValidityLeft == 0", ValidityRule("ValidityLeft", "==", (0.0,), "left")),
        ("minute>3", ValidityRule("minute", ">", (3.0,))),
    ],
)
def test_rules_are_read_as_they_are_meant(text: str, rule: ValidityRule) -> None:
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("status=OK", "say == for equal"),
        ("status", "no sign"),
        ("==1", "no column"),
        ("status==", "no value"),
        ("a<b", "compares with a number"),
        ("a==b==c", "in quotes"),
        ("'a == 1", "closing quote"),
        ("a == 'b", "not one text in quotes"),
        ("a in 1,", "no value"),
        ("__import__('os').system('true')", "no sign"),
    ],
)
def test_what_is_no_rule_says_why(text: str, why: str) -> None:
    with pytest.raises(OptionError, match="is no rule") as refused:
        parse_rule(text)
    assert why in refused.value.message


def table(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def tracked(path: Path, *valid: str) -> list[bool]:
    return list(map(bool, read(path, geometry=DESK, valid=valid).recordings[0].tracked))


@pytest.fixture
def status(tmp_path: Path) -> Path:
    states = ["OK", "ok ", "LOST", "", "Half"]
    rows = [f"ann,{4 * k},{100 + k},50,{state},{k}" for k, state in enumerate(states)]
    return table(tmp_path / "a.csv", "observer,time_ms,x,y,Eye status,code", rows)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (["Eye status==OK"], [1, 1, 0, 0, 0]),
        (["EyeStatus==OK"], [1, 1, 0, 0, 0]),
        (["Eye status!=LOST"], [1, 1, 0, 1, 1]),
        (["Eye status in ok, half"], [1, 1, 0, 0, 1]),
        (["Eye status==''"], [0, 0, 0, 1, 0]),
        (["code<=2"], [1, 1, 1, 0, 0]),
        (["code in 0,4"], [1, 0, 0, 0, 1]),
        (["code!=2", "Eye status!=''"], [1, 1, 0, 0, 1]),
        (["x>101"], [0, 0, 1, 1, 1]),
    ],
)
def test_samples_are_valid_where_all_rules_hold(status: Path, rules: list[str], expected: list[int]) -> None:
    assert tracked(status, *rules) == list(map(bool, expected))
    frame = pl.read_csv(status)
    reading = read(frame, geometry=DESK, valid=rules, columns={"t": "time_ms"}, time_unit="ms")
    assert reading.recordings[0].tracked.tolist() == list(map(bool, expected))


@given(
    st.lists(st.none() | st.integers(-3, 3), min_size=1, max_size=20),
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.integers(-3, 3),
)
def test_numbers_are_compared_as_python_compares_them(values: list[int | None], sign: str, limit: int) -> None:
    signs = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
    compare = getattr(operator, signs[sign])
    frame = pl.DataFrame(
        {"t": np.arange(len(values)) / 100, "x": 1.0, "y": 1.0, "q": pl.Series(values, dtype=pl.Int64)}
    )
    reading = read(frame, geometry=DESK, observer="ann", valid=[f"q{sign}{limit}"])
    expected = [value is not None and compare(value, limit) for value in values]
    assert reading.recordings[0].tracked.tolist() == expected


def test_how_many_rows_a_rule_takes_is_reported(status: Path) -> None:
    report = read(status, geometry=DESK, valid=["code<=2"]).report
    assert report.remarks["a row where --valid code <= 2 does not hold is not valid"] == 2


def test_a_column_that_is_not_there_is_an_error_with_those_that_are(status: Path) -> None:
    with pytest.raises(FileFormatError, match="'Eye status', 'code'"):
        tracked(status, "state==OK")


def test_a_value_that_is_no_number_is_a_bad_line(status: Path) -> None:
    with pytest.raises(FileFormatError, match=r"a\.csv, line 2, column Eye status: expected a number.*found 'OK'"):
        tracked(status, "Eye status==1")
    assert read(status, geometry=DESK, valid=["Eye status==1"], skip_bad=True).report.bad_lines == 4


def test_a_text_is_not_compared_with_a_column_of_numbers(status: Path) -> None:
    with pytest.raises(OptionError, match="column of numbers"):
        tracked(status, "x==high")


def test_numbers_with_a_comma_are_compared_as_such(tmp_path: Path) -> None:
    rows = [f"ann;{4 * k};{k},5;1,5;0,{k}" for k in range(4)]
    path = table(tmp_path / "a.csv", "observer;time_ms;x;y;confidence", rows)
    assert tracked(path, "confidence>=0.2") == [False, False, True, True]


def test_a_rule_about_one_eye_leaves_the_other(tmp_path: Path) -> None:
    rows = ["ann,0,10,10,20,20,0,0", "ann,4,10,10,20,20,4,0", "ann,8,10,10,20,20,4,4"]
    path = table(tmp_path / "a.csv", "observer,time_ms,left_x,left_y,right_x,right_y,ValidityLeft,ValidityRight", rows)
    rules = ["left: ValidityLeft<=1", "right: ValidityRight<=1"]
    recording = read(path, geometry=DESK, valid=rules).recordings[0]
    assert recording.left is not None
    assert recording.left.tracked.tolist() == [True, False, False]
    np.testing.assert_array_equal(recording.x, [15, 20, np.nan])
    assert tracked(path, "ValidityLeft<=1") == [True, False, False]


def test_a_rule_about_an_eye_that_is_not_there_is_an_error(status: Path) -> None:
    with pytest.raises(OptionError, match="left eye"):
        tracked(status, "left: code==0")
    with pytest.raises(OptionError, match="left eye"):
        read(pl.read_csv(status), geometry=DESK, valid=["left: code==0"], columns={"t": "time_ms"}, time_unit="ms")


def test_a_format_without_columns_refuses_rules(tmp_path: Path) -> None:
    lines = ["** CONVERTED FROM a.edf", "MSG 1 GAZE_COORDS 0 0 1919 1079", "START 1 LEFT SAMPLES EVENTS"]
    lines += [
        "SAMPLES GAZE LEFT RATE 1000.00 TRACKING CR FILTER 2",
        "1 5.0 5.0 9.0 ...",
        "END 2 SAMPLES EVENTS RES 1 1",
    ]
    path = tmp_path / "a.asc"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="--valid is about columns, and eyelink-asc has none"):
        tracked(path, "x>0")


def test_a_mapped_column_and_a_raw_one_of_the_same_name_are_not_mixed_up() -> None:
    frame = pl.DataFrame({"t": [0.0, 0.01], "x": [1.0, 0.0], "y": [5.0, 5.0], "gx": [7.0, 8.0]})
    reading = read(frame, geometry=DESK, observer="ann", columns={"x": "gx"}, valid=["x==1"])
    assert reading.recordings[0].tracked.tolist() == [True, False]
    assert reading.recordings[0].x[0] == 7.0


def test_a_corpus_is_judged_by_its_own_columns(tmp_path: Path) -> None:
    from gazeveil import Recording, write_corpus

    recording = Recording(np.arange(3) / 100, np.ones(3), np.ones(3), DESK, "ann", pupil=np.array([0.0, 3.0, 4.0]))
    write_corpus([recording], tmp_path / "corpus")
    assert tracked(tmp_path / "corpus", "pupil>0") == [False, True, True]
    with pytest.raises(GazeveilError, match="'pupil'"):
        tracked(tmp_path / "corpus", "status==OK")
