# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of features from elsewhere: whoever takes a participant's place, only noisy numbers differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Study
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.features.external_tables import ExternalFeatures, frame_at, is_external, learn_ranges, read_external
from gazeveil.features.ranges import Range, Ranges
from gazeveil.features.series_release import ParticipantRelease, participant_mechanism
from gazeveil.noise import NoiseSource
from gazeveil.release.feature_settings import source_settings

COLUMNS = ("Fix Dur Mean (ms)", "SaccAmp_median", "start")
PEOPLE = [f"S_{number:04d}" for number in range(1, 9)]
STUDY = """\
format = "gazeveil-study"
version = 1
name = "lab"

[participants]
roster = [{roster}]

[features]
participant = "Subject"
{order}rows = {rows}

[features.ranges]
"Fix Dur Mean (ms)" = [100, 600]
SaccAmp_median = {{ low = 0.1, high = 40, log = true, why = "from a blink of an eye to a large screen" }}
start = [0, 1000]
"""

Rows = list[list[Any]]


def rows_of(person: str, rows: int) -> Rows:
    seed = int(person[-4:])
    return [[person, row, 250 + seed + row, 3 + seed / 10, 100 * row, "fine"] for row in range(rows)]


def write(path: Path, people: list[Rows], columns: tuple[str, ...] = COLUMNS, separator: str = ",") -> Path:
    lines = [["Subject", "Window", *columns, "Remark"], *(row for rows in people for row in rows)]
    path.write_text("\n".join(separator.join(map(str, line)) for line in lines) + "\n")
    return path


def declared(folder: Path, rows: int = 5, people: list[str] | None = None) -> Path:
    roster = ", ".join(f'"{name}"' for name in people or PEOPLE)
    order = 'order = "Window"\n' if rows > 1 else ""
    (folder / "study.toml").write_text(STUDY.format(roster=roster, rows=rows, order=order))
    return folder / "study.toml"


def as_strings(rows: Rows) -> Rows:
    return [[*row[:2], "long", "x y", "?", "odd"] for row in rows]


def not_numbers(rows: Rows) -> Rows:
    return [
        [*row[:2], value, value, value, ""]
        for row, value in zip(rows, ["nan", "inf", "-inf", "", "1e999"], strict=False)
    ]


def far_outside(rows: Rows) -> Rows:
    return [[*row[:2], 1e300, -5, 1e300, ""] for row in rows]


def too_many(rows: Rows) -> Rows:
    return [[row[0], number, *row[2:]] for number, row in enumerate(rows * 9)]


def backwards(rows: Rows) -> Rows:
    return rows[::-1]


def short_lines(rows: Rows) -> Rows:
    return [row[:3] for row in rows]


def unknown_order(rows: Rows) -> Rows:
    return [[row[0], "?", *row[2:]] for row in rows]


def absent(rows: Rows) -> Rows:
    return []


def somebody_else(rows: Rows) -> Rows:
    return [["stranger", *row[1:]] for row in rows]


NEIGHBOURS = (
    as_strings, not_numbers, far_outside, too_many, backwards, short_lines, unknown_order, absent, somebody_else
)  # fmt: skip


def release(data: Path, study: Path, out: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[Any, ...]:
    """Release everybody's own rows; return what the world sees beside noisy numbers, and the table."""
    command = ["features", "release", str(data), "--study", str(study), "--mechanism", "lpa", "--epsilon", "5"]
    code = run([*command, "--no-ledger", "--seed", "3", "--out", str(out), *more])
    told = capsys.readouterr()
    table = pl.read_parquet(out / "features.parquet")
    record = json.loads((out / "release.json").read_text())
    fixed = {key: record[key] for key in ("guarantee", "public_facts", "recipe", "conditional_on")}
    labels = table.select("observer", "stimulus", "session", "trial", "start", "end", "usable")
    shape = (code, told.out.replace(str(out), "OUT"), told.err, sorted(path.name for path in out.iterdir()))
    return shape, fixed, labels.rows(), table.columns, table


@pytest.mark.parametrize("rows", [5, 1])
@pytest.mark.parametrize("change", NEIGHBOURS, ids=lambda change: change.__name__)
def test_whoever_takes_a_place_the_release_keeps_its_shape(
    rows: int, change: Callable[[Rows], Rows], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = declared(tmp_path, rows)
    usual = [rows_of(person, rows) for person in PEOPLE]
    changed = [change(usual[0]), *usual[1:]]
    first = release(write(tmp_path / "a.csv", usual), study, tmp_path / "first", capsys)
    second = release(write(tmp_path / "b.csv", changed), study, tmp_path / "second", capsys)
    assert first[:4] == second[:4]
    table = second[4]
    assert table["observer"].to_list() == [person for person in PEOPLE for _ in range(rows)]
    assert first[4].filter(pl.col("observer") != PEOPLE[0]).equals(table.filter(pl.col("observer") != PEOPLE[0]))
    for name, low, high in (("Fix Dur Mean (ms)", 100, 600), ("SaccAmp_median", 0.1, 40), ("start (feature)", 0, 1000)):
        assert table[name].is_between(low - 1e-9, high + 1e-9).all()


def test_missing_values_and_columns_are_filled_with_the_public_value_and_the_rest_is_clipped() -> None:
    how = ExternalFeatures(
        declared=Ranges.of({"a": Range(0, 10), "b": Range(0, 1), "gone": Range(0, 1)}), participant="who", rows=3
    )
    remarks: list[str] = []
    table = read_external(
        pl.DataFrame({"who": [1.0, 1.0, 2.0], "a": ["7", "inf", " 3 "], "b": [[1], [2], [3]]}), how, "", remarks
    )
    assert table.rows["observer"].to_list() == ["1", "1", "2"]
    np.testing.assert_array_equal(table.rows["a"].to_numpy(), [7, np.nan, 3])
    assert table.rows["b"].is_nan().all()
    assert table.rows["gone"].is_nan().all()
    assert remarks == ["the table has no column gone"]


@pytest.mark.parametrize(
    "broken", [b"", b'\x00\xff\xfe\n\n"', b"PAR1 not really", b"Subject\n", b"a,b,c\n1\n2,3,4,5,6\n"]
)
def test_a_table_that_cannot_be_read_counts_as_absent_for_everybody(
    broken: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = declared(tmp_path, 2)
    usual = release(write(tmp_path / "a.csv", [rows_of(who, 2) for who in PEOPLE]), study, tmp_path / "first", capsys)
    (tmp_path / "b.csv").write_bytes(broken)
    assert release(tmp_path / "b.csv", study, tmp_path / "second", capsys)[:4] == usual[:4]


def test_a_folder_with_a_file_for_each_participant_is_read_by_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, folder, other = declared(tmp_path, 2), tmp_path / "each", tmp_path / "other"
    for place in (folder, other):
        place.mkdir()
        for person in PEOPLE:
            rows = [[row[1], *row[2:]] for row in rows_of(person, 2)]
            lines = [["Window", *COLUMNS, "Remark"], *rows]
            (place / f"{person}.csv").write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    (other / f"{PEOPLE[0]}.csv").write_text("Window,Something else\n0,1\n")  # columns are missing for one of them
    first = release(folder, study, tmp_path / "first", capsys)
    second = release(other, study, tmp_path / "second", capsys)
    assert first[:4] == second[:4]
    assert first[4].filter(pl.col("observer") != PEOPLE[0]).equals(second[4].filter(pl.col("observer") != PEOPLE[0]))
    one = write(tmp_path / "all.csv", [rows_of(who, 2) for who in PEOPLE])
    assert release(one, study, tmp_path / "third", capsys)[4].equals(first[4])


def test_the_order_column_decides_and_not_the_order_of_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, usual = declared(tmp_path, 5), [rows_of(person, 5) for person in PEOPLE]
    mixed = [row for rows in usual for row in rows][::-1]
    first = release(write(tmp_path / "a.csv", usual), study, tmp_path / "first", capsys)
    assert release(write(tmp_path / "b.csv", [mixed]), study, tmp_path / "second", capsys)[4].equals(first[4])


def test_a_table_with_semicolons_has_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\ufeffSubject;a;b\nS1;1,5;x,y\nS2;-2,25e3;3\n", encoding="utf-8")
    frame = frame_at(tmp_path / "t.csv")
    assert frame.columns == ["Subject", "a", "b"]
    assert frame["a"].to_list() == ["1.5", "-2.25e3"]
    assert frame["b"].to_list() == ["x,y", "3"]


def test_ranges_are_never_read_off_the_table_that_is_released(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(tmp_path / "private.csv", [rows_of(person, 5) for person in PEOPLE])
    command = ["features", "release", str(data), "--mechanism", "lpa", "--epsilon", "5", "--no-ledger", "--out"]
    assert run([*command, str(tmp_path / "out")]) != 0
    assert "declare" in capsys.readouterr().err
    made = str(tmp_path / "features.toml")
    learn = ["features", "declare", str(data), "--participant", "Subject", "--source", "oops", "--out", made]
    assert run(learn) == 0
    head = declared(tmp_path).read_text().split("[features]")[0]
    (tmp_path / "learnt.toml").write_text(head + Path(made).read_text())
    assert run([*command, str(tmp_path / "out"), "--study", str(tmp_path / "learnt.toml")]) != 0
    assert "learnt from this very table" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_ranges_learnt_from_public_people_are_a_declaration(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    public = pl.DataFrame(
        {
            "who": np.repeat(np.arange(50), 4),
            "around": rng.normal(10, 1, 200),
            "count": rng.poisson(1, 200),
            "tails": np.exp(rng.normal(0, 3, 200)),
            "same": np.ones(200),
            "text": ["a"] * 200,
        }
    )
    public.write_csv(tmp_path / "public.csv")
    found = learn_ranges(tmp_path / "public.csv", about="public participants", participant="who")
    assert found.declared.names == ("around", "count", "tails")
    assert found.rows == 4
    around, count, tails = found.declared.ranges
    assert 6 < around.low < 9
    assert 11 < around.high < 14
    assert count.low == 0
    assert tails.log
    assert not around.log


def test_a_study_file_says_again_what_it_declared(tmp_path: Path) -> None:
    study = Study.open(declared(tmp_path))
    study.save(tmp_path / "again.toml")
    assert Study.open(tmp_path / "again.toml") == study
    assert study.features is not None
    assert study.features.declared["SaccAmp_median"].log


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("start = [0, 1000]", "start = [0]", r"\[low, high\]"),
        ("start = [0, 1000]", "start = [5, 1]", "range"),
        ("start = [0, 1000]", 'start = ["0", 1]', r"\[low, high\]"),
        ("start = [0, 1000]", "Subject = [0, 1]", "label"),
        ("rows = 5", "rows = 0", "rows"),
        ("rows = 5", "lines = 5", "lines"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_place(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = declared(tmp_path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FileFormatError, match=reason):
        Study.open(path)


@pytest.mark.parametrize("rows", [4, 1])
def test_the_mean_of_a_group_comes_from_a_design_of_public_people(
    rows: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = [f"S_{number:04d}" for number in range(1, 41)]
    study = str(declared(tmp_path, rows, people))
    public = write(tmp_path / "public.csv", [rows_of(f"G_{number:04d}", rows) for number in range(100, 130)])
    private = write(tmp_path / "private.csv", [rows_of(person, rows) for person in people])
    made = str(tmp_path / "design.json")
    assert run(["features", "design", str(public), "--study", study, "--source", "public", "--out", made]) == 0
    command = ["features", "release", str(private), "--study", study, "--mechanism", "group", "--epsilon", "3"]
    out = tmp_path / "out"
    assert run([*command, "--design", made, "--no-ledger", "--seed", "2", "--anyway", "--out", str(out)]) == 0
    table = pl.read_parquet(out / "group.parquet")
    assert len(table) == rows * len(COLUMNS)
    assert run(["features", "describe", str(private), "--study", study, "--json"]) == 0
    capsys.readouterr()


def test_a_data_frame_is_released_in_python(tmp_path: Path) -> None:
    study = Study.open(declared(tmp_path, 1))
    frame = frame_at(write(tmp_path / "a.csv", [rows_of(person, 1) for person in PEOPLE]))
    assert is_external(frame)
    settings = source_settings(study, frame)
    ranges = settings.ranges()
    own = participant_mechanism("lpa", settings=settings, ranges=ranges, steps=1, epsilon="1000", delta="0")
    plan = study.plan(ParticipantRelease(mechanism=own), settings=settings, ranges=ranges)
    done = plan.release(frame, noise=NoiseSource.seeded(1))
    values = done.value.rows.sort("observer")["Fix Dur Mean (ms)"].to_numpy()
    np.testing.assert_allclose(values, [250 + number for number in range(1, 9)], atol=15)
    facts = {fact.name: fact.value for fact in plan.facts}
    assert facts["extraction"]["kind"] == "rows"
    (tmp_path / "corpus").mkdir()
    with pytest.raises(OptionError, match="another kind of data"):
        plan.measurement.check_source(tmp_path / "corpus")
