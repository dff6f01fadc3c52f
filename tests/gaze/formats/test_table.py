# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The engine under the table formats: rows, quotes, numbers, line numbers."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.fileio.columns import Columns, parse_name
from gazeveil.gaze.fileio.numbers import look_for_decimal, parse_numbers
from gazeveil.gaze.fileio.row_assembly import combined, guess_time_unit
from gazeveil.gaze.fileio.tables import Fault, Table, check_delimiter, rows_of
from gazeveil.gaze.fileio.text import TextBlock
from gazeveil.gaze.formats.base import ReadOptions, ReadReport


def table_of(
    folder: Path, text: str | bytes, *, skip_bad: bool = False, chunk_rows: int = 1000, **options: str
) -> tuple[Table, ReadReport]:
    path = folder / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    report = ReadReport(skip_bad=skip_bad)
    return Table(path, ReadOptions(chunk_rows=chunk_rows, **options), report, comments=True), report  # type: ignore[arg-type]


def numbers_of(folder: Path, text: str | bytes, **how: object) -> tuple[list[dict[str, object]], ReadReport]:
    table, report = table_of(folder, text, **how)  # type: ignore[arg-type]
    names = {name: name for name in table.columns.names if name}
    rows: list[dict[str, object]] = []
    for batch in table.batches({}, names):
        rows += [{**row, "line": int(line)} for row, line in zip(batch.frame.to_dicts(), batch.lines, strict=True)]
    return rows, report


def test_rows_keep_the_number_of_the_line_they_stood_on(tmp_path: Path) -> None:
    rows, _ = numbers_of(tmp_path, "\n# made by hand\n\na,b\n1,2\n\n3,4\r\n5,6\r7,8")
    assert [row["line"] for row in rows] == [5, 7, 8, 9]
    assert [row["b"] for row in rows] == [2, 4, 6, 8]


@pytest.mark.parametrize(
    ("line", "found"), [("1", "1"), ("1,2,3", "3"), ('"1,2"', "1"), ('"1",2,3', "3")], ids=["short", "long", "q", "q3"]
)
def test_a_line_with_other_columns_is_named(tmp_path: Path, line: str, found: str) -> None:
    text = f"a,b\n1,2\n{line}\n5,6\n"
    with pytest.raises(FileFormatError, match=rf"line 3: expected 2 columns, found {found}"):
        numbers_of(tmp_path, text)
    rows, report = numbers_of(tmp_path, text, skip_bad=True)
    assert [row["line"] for row in rows] == [2, 4]
    assert report.bad_lines == 1


def test_a_short_and_a_long_line_do_not_make_up_for_each_other(tmp_path: Path) -> None:
    rows, report = numbers_of(tmp_path, "a,b\n1,2\n1\n1,2,3\n7,8\n", skip_bad=True)
    assert [row["a"] for row in rows] == [1, 7]
    assert report.bad_lines == 2


def test_a_quoted_line_break_is_a_bad_line_and_not_glued(tmp_path: Path) -> None:
    text = 'a,b\n1,"2\n3",4\n5,6\n'
    with pytest.raises(FileFormatError, match="line 2: expected quoted fields that end on their line"):
        numbers_of(tmp_path, text)
    rows, report = numbers_of(tmp_path, text, skip_bad=True)
    assert rows == [{"a": 5.0, "b": 6.0, "line": 4}]
    assert report.bad_lines == 2


def test_a_quote_inside_a_field_is_only_a_quote(tmp_path: Path) -> None:
    table, _ = table_of(tmp_path, 'who;x\n5" screen;1\nsay "hi;2\n"a ""b"";c";3\n')
    [batch] = table.batches({"who": "who"}, {"x": "x"})
    assert batch.frame["who"].to_list() == ['5" screen', 'say "hi', 'a "b";c']


@pytest.mark.parametrize("token", ["x", "1_0", "0x1", "--1", "1 2", "inf", "-Infinity", "1e400", "true", "1;2"])
def test_a_field_that_is_no_number_is_named(tmp_path: Path, token: str) -> None:
    text = f"a,b\n1,2\n3,{token}\n5,6\n"
    with pytest.raises(FileFormatError) as caught:
        numbers_of(tmp_path, text)
    error = caught.value
    assert (error.line, error.column, error.expected, error.found) == (3, "b", "a number", repr(token))
    assert "--skip-bad" in error.hint
    rows, report = numbers_of(tmp_path, text, skip_bad=True)
    assert [row["line"] for row in rows] == [2, 4]
    assert report.bad_lines == 1


@pytest.mark.parametrize("token", ["", "nan", "NaN", "NA", "n/a", "N/A", "null", ".", " ", " nan "])
def test_a_missing_number_is_null(tmp_path: Path, token: str) -> None:
    rows, report = numbers_of(tmp_path, f"a,b\n1,2.5\n3,{token}\n")
    assert rows[1]["b"] is None
    assert report.bad_lines == 0


def test_space_around_a_number_is_no_fault(tmp_path: Path) -> None:
    rows, _ = numbers_of(tmp_path, "a,b\n 1 , -2.5\n")
    assert rows[0]["b"] == -2.5


def test_a_required_number_may_not_be_missing(tmp_path: Path) -> None:
    table, _ = table_of(tmp_path, "t,x\n1,2\n,4\n")
    with pytest.raises(FileFormatError, match="line 3, column t: expected a number, found nothing"):
        list(table.batches({}, {"t": "t", "x": "x"}, required=("t",)))


def test_many_bad_lines_are_all_counted_and_the_first_told(tmp_path: Path) -> None:
    text = "a,b\n" + "1,2\n3,x\n" * 500
    rows, report = numbers_of(tmp_path, text, skip_bad=True, chunk_rows=64)
    assert len(rows) == 500
    assert report.bad_lines == 500
    assert len(report.first_bad) == 10
    assert report.first_bad[0].line == 3


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "\n\na,b\n\n \n"])
def test_a_header_alone_is_no_table(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileFormatError, match="expected samples, found only a header"):
        numbers_of(tmp_path, text)


def test_only_bad_lines_are_no_table(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="found only bad lines"):
        numbers_of(tmp_path, "a,b\nx,y\n", skip_bad=True)


def test_only_blank_lines_are_no_table(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="found only blank lines"):
        numbers_of(tmp_path, "\n \n\n")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="2 columns called 'a'"):
        table_of(tmp_path, "a,b,a\n1,2,3\n")


def test_a_header_that_cannot_be_decoded_is_not_skipped(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="line 1: expected text in utf-8"):
        table_of(tmp_path, b"t,x [\xb5m]\n1,2\n", skip_bad=True)


def test_a_later_line_that_cannot_be_decoded_is_skipped(tmp_path: Path) -> None:
    rows, report = numbers_of(tmp_path, b"t,x\n1,2\n3,\xb5\n5,6\n", skip_bad=True)
    assert [row["line"] for row in rows] == [2, 4]
    assert report.bad_lines == 1


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a\tb\n1,5\t2\n", "\t"),
        ("a;b\n1,5;2\n", ";"),
        ("a,b\n1,2\n", ","),
        ("a|b\n1|2\n", "|"),
        ("  a   b\n 1  2 \n", " "),
        ("a, b; c\n1,2\n", ","),
    ],
)
def test_the_delimiter_is_found_by_looking(tmp_path: Path, text: str, delimiter: str) -> None:
    table, _ = table_of(tmp_path, text)
    assert table.delimiter == delimiter


def test_one_column_has_no_delimiter(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="columns separated by tab"):
        table_of(tmp_path, "gaze\n1\n")


@pytest.mark.parametrize("delimiter", ["", ",,", "a", "1", '"', "\n", "é"])
def test_a_delimiter_that_cannot_be_one_is_refused(delimiter: str) -> None:
    with pytest.raises(InputError, match="a delimiter is one character"):
        check_delimiter(delimiter)


def test_decimal_commas_are_found_by_looking(tmp_path: Path) -> None:
    rows, _ = numbers_of(tmp_path, "a\tb\n1\t2\n2\t-3,25\n")
    assert rows[1]["b"] == -3.25


def test_decimal_commas_are_found_when_they_first_come(tmp_path: Path) -> None:
    rows, _ = numbers_of(tmp_path, "a;b\n" + "1;2\n" * 3000 + "1;2,5\n", chunk_rows=64)
    assert rows[-1]["b"] == 2.5


def test_points_and_commas_do_not_mix(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="column b: expected a number, found '2,5'"):
        numbers_of(tmp_path, "a;b\n" + "1;2.5\n" * 3000 + "1;2,5\n", chunk_rows=64)
    with pytest.raises(FileFormatError, match=r"found '1\.234'"):
        numbers_of(tmp_path, "a;b\n1;2,5\n1;1.234\n", decimal=",")


def test_a_comma_that_may_group_thousands_is_not_guessed(tmp_path: Path) -> None:
    text = "a;b\n1;12,345\n"
    with pytest.raises(FileFormatError) as caught:
        numbers_of(tmp_path, text)
    assert "--decimal ," in caught.value.hint
    rows, _ = numbers_of(tmp_path, text, decimal=",")
    assert rows[0]["b"] == 12.345


def test_a_decimal_mark_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="decimal mark must be"):
        numbers_of(tmp_path, "a;b\n1;2\n", decimal="x")
    path = tmp_path / "table.csv"
    with pytest.raises(OptionError, match="cannot both be a comma"):
        Table(path, ReadOptions(decimal=","), ReadReport(), delimiter=",")


@pytest.mark.parametrize("text", ["a,b,\n1,2,\n3,4,\n", "a,b,\n1,2\n3,4\n", "a,b\n1,2,\n3,4,\n"])
def test_a_comma_at_the_end_of_lines_is_no_column(tmp_path: Path, text: str) -> None:
    rows, _ = numbers_of(tmp_path, text)
    assert [row["b"] for row in rows] == [2, 4]


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=6)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    rows=st.lists(
        st.lists(FIELD, min_size=1, max_size=4) | st.text(alphabet='a",;\t ', max_size=8), min_size=1, max_size=12
    ),
    delimiter=st.sampled_from(",;\t"),
    always_quote=st.booleans(),
)
def test_lines_are_rows_exactly_when_the_csv_module_reads_three_fields(
    rows: list[list[str] | str], delimiter: str, always_quote: bool
) -> None:
    """The vectorised checks agree with Python's csv module on every line, well formed or not."""
    lines = []
    for row in rows:
        if isinstance(row, str):
            lines.append(row)
        else:
            buffer = io.StringIO()
            writer = csv.writer(
                buffer,
                delimiter=delimiter,
                lineterminator="",
                quoting=csv.QUOTE_ALL if always_quote else csv.QUOTE_MINIMAL,
            )
            writer.writerow(row)
            lines.append(buffer.getvalue())
    expected: dict[int, list[str]] = {}
    faults: set[int] = set()
    for number, line in enumerate(lines, start=5):
        try:
            fields = next(csv.reader([line], delimiter=delimiter, strict=True), [])
        except csv.Error:
            fields = []
        if len(fields) == 3:
            expected[number] = fields
        elif line.strip():
            faults.add(number)
    complaints: list[Fault] = []
    found = rows_of(
        TextBlock(5, "".join(f"{line}\n" for line in lines).encode(), len(lines)), delimiter, 3, complaints.append
    )
    parsed = list(csv.reader(io.StringIO(found.data.decode(), newline=""), delimiter=delimiter, strict=True))
    assert dict(zip(found.lines.tolist(), parsed, strict=True)) == expected
    assert {fault.line for fault in complaints} == faults
    if found.lines.size:
        frame = pl.read_csv(
            found.data,
            has_header=False,
            separator=delimiter,
            quote_char='"' if found.quoted else None,
            schema=dict.fromkeys("abc", pl.String),
        )
        assert [[value or "" for value in row] for row in frame.iter_rows()] == list(expected.values())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    values=st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.none() | st.floats(-1e6, 1e6)),
        min_size=1,
        max_size=200,
    ),
    chunk_rows=st.integers(1, 100),
)
def test_numbers_read_back_exactly_whatever_the_chunk(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[float, float | None]], chunk_rows: int
) -> None:
    text = "a,b\n" + "".join(f"{a!r},{'' if b is None else repr(b)}\n" for a, b in values)
    rows, _ = numbers_of(tmp_path_factory.mktemp("numbers"), text, chunk_rows=chunk_rows)
    assert [(row["a"], row["b"]) for row in rows] == values


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet="0123456789.,eE+- naif", max_size=10))
def test_a_token_is_a_number_when_python_says_so(token: str) -> None:
    values, bad = parse_numbers(pl.Series([token]), ".")
    try:
        expected = float(token.strip())
    except ValueError:
        expected = math.nan
    if math.isfinite(expected):
        assert values[0] == expected
    else:
        assert values[0] is None
        is_missing = token.strip().lower() in {"", "nan", "-nan", "na", ".", "-"}
        assert bool(bad[0]) is not is_missing


def test_what_tells_a_decimal_mark() -> None:
    def mark(*tokens: str) -> str | None:
        return look_for_decimal(pl.DataFrame({"a": list(tokens)}), ["a"])

    assert mark("1", "2", "n/a") is None
    assert mark("1,234", "12,345") is None
    assert mark("1,234", "0,345") == ","
    assert mark("1,5") == ","
    assert mark("1,5", "2.5") == "."


@pytest.mark.parametrize(
    ("name", "words", "unit"),
    [
        ("Gaze point left X [DACS px]", "gazepointleftx", "dacspx"),
        ("GazePointLeftX (ADCSpx)", "gazepointleftx", "adcspx"),
        ("Recording timestamp [μs]", "recordingtimestamp", "us"),
        ("Recording timestamp [µs]", "recordingtimestamp", "us"),
        ("time_ms", "time", "ms"),
        ("t [s]", "t", "s"),
        ("x", "x", ""),
        ("TIME(2022/01/27 09:39:32.995)", "time", "20220127093932995"),
    ],
)
def test_names_are_split_into_words_and_unit(name: str, words: str, unit: str) -> None:
    assert parse_name(name) == (words, unit)


def test_a_missing_column_lists_those_there_are_and_the_nearest() -> None:
    columns = Columns(Path("a.csv"), ("Gaze pont X", "other"))
    error = columns.missing("'Gaze point X'", ("gazepointx",), "export it")
    assert "'Gaze pont X', 'other'" in error.found
    assert error.hint == "did you mean 'Gaze pont X'? export it"


@pytest.mark.parametrize(
    ("step", "unit"),
    [(0.001, "s"), (1.0, "ms"), (16.7, "ms"), (8333.0, "us"), (4e6, "ns"), (0.3, None), (250.0, None), (2e5, None)],
)
def test_the_unit_of_time_follows_from_the_step_or_is_not_guessed(step: float, unit: str | None) -> None:
    times = pl.int_range(0, 20, eager=True).cast(pl.Float64).to_numpy() * step
    assert guess_time_unit(times)[0] == unit
    assert guess_time_unit(times[:1])[0] is None


def test_combined_gaze_is_the_mean_of_the_eyes_that_see() -> None:
    eyes = pl.DataFrame(
        {
            "t": [0.0, 1.0, 2.0, 3.0],
            "left_x": [1.0, 1.0, None, 1.0],
            "left_y": [1.0, 1.0, 1.0, 1.0],
            "left_valid": [True, False, True, True],
            "right_x": [3.0, 3.0, None, None],
            "right_y": [5.0, 5.0, None, None],
            "right_pupil": [4.0, None, 4.0, 4.0],
        }
    )
    both = combined(eyes)
    assert both["x"].to_list() == [2.0, 3.0, None, 1.0]
    assert both["y"].to_list() == [3.0, 5.0, None, 1.0]
    assert both["valid"].to_list() == [True, True, False, True]
    assert both["pupil"].to_list() == [4.0, None, 4.0, 4.0]
    left = combined(eyes, "left")
    assert left["x"].to_list() == [1.0, 1.0, None, 1.0]
    assert left["valid"].to_list() == [True, False, False, True]
