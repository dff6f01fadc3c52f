# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature tables: what a row holds, files that say what they are, and files that are not what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import FileFormatError, InputError, OutputError
from gazeveil.features.feature_list import FEATURES, INFORMATIVE, NAMES, NEARLY_CONSTANT
from gazeveil.features.table import FIXED, METADATA_KEY, FeatureTable, Info

INFO = Info("windows", ("a", "b"), 30.0, 0.5, "deg", "mm", settings={"radius": 1.0})


def rows(observer: str = "p1", stimulus: str = "comic", count: int = 3) -> pl.DataFrame:
    start = np.arange(count) * 0.5
    fixed = {
        "observer": observer,
        "stimulus": stimulus,
        "session": "1",
        "trial": "1",
        "task": stimulus,
        "group": "",
        "start": start,
        "end": start + 30,
        "samples": np.full(count, 900),
        "covered": np.ones(count),
        "errors": np.zeros(count),
        "repeats": np.zeros(count),
        "usable": np.full(count, True),
    }
    return pl.DataFrame({**fixed, "a": start + 1, "b": np.full(count, np.nan)}, schema_overrides=dict(FIXED))


def test_there_are_52_features_of_different_names_and_four_of_them_say_next_to_nothing() -> None:
    assert len(NAMES) == len(set(NAMES)) == 52
    assert NAMES[8] == "large_share"  # the paper's correlation figure is about number 8
    assert [NAMES.index(name) for name in NEARLY_CONSTANT] == [30, 36, 42, 48]
    assert len(INFORMATIVE) == 48
    assert all(feature.meaning and feature.unit for feature in FEATURES)


def test_a_written_table_reads_back_the_same_with_nan_and_settings(tmp_path: Path) -> None:
    table = FeatureTable(rows(), INFO)
    back = FeatureTable.read(table.write(tmp_path / "f.parquet"))
    assert back.rows.equals(table.rows)
    assert back.info == INFO
    assert np.isnan(back.values[:, 1]).all()


def test_series_come_recording_by_recording() -> None:
    table = FeatureTable(pl.concat([rows("p2"), rows("p1", "news", 2)]), INFO)
    first, second = table.series()
    assert (first.key.observer, first.task, first.values.shape) == ("p2", "comic", (3, 2))
    assert (second.key.stimulus, second.start.tolist()) == ("news", [0.0, 0.5])
    assert table.observers == ["p1", "p2"]


def test_labels_can_be_given_afterwards() -> None:
    table = FeatureTable(pl.concat([rows("p2"), rows("p1", "news", 2)]), INFO)
    labelled = table.with_groups({"p1": "f"}).with_tasks({"comic": "light"})
    assert labelled.rows["group"].to_list() == ["", "", "", "f", "f"]
    assert labelled.rows["task"].to_list() == ["light"] * 3 + ["news"] * 2


def test_features_can_be_chosen_and_put_in_order() -> None:
    assert FeatureTable(rows(), INFO).only(["b", "a"]).names == ("b", "a")
    with pytest.raises(InputError, match="no feature c"):
        FeatureTable(rows(), INFO).only(["c"])


def test_tables_with_different_settings_do_not_go_together() -> None:
    one = FeatureTable(rows(), INFO)
    assert len(FeatureTable.concat([one, one])) == 6
    other = FeatureTable(rows(), Info("windows", ("a", "b"), 10.0, 0.5, "deg", "mm"))
    with pytest.raises(InputError, match="do not go together"):
        FeatureTable.concat([one, other])
    with pytest.raises(InputError, match="no feature table"):
        FeatureTable.concat([])


def test_a_table_that_is_there_is_not_overwritten_unasked(tmp_path: Path) -> None:
    table = FeatureTable(rows(), INFO)
    table.write(tmp_path / "f.parquet")
    with pytest.raises(OutputError, match="exists already"):
        table.write(tmp_path / "f.parquet")
    table.write(tmp_path / "f.parquet", overwrite=True)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="nothing there"):
        FeatureTable.read(tmp_path / "none.parquet")


def test_a_file_that_is_cut_off_says_so(tmp_path: Path) -> None:
    path = FeatureTable(rows(), INFO).write(tmp_path / "f.parquet")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FileFormatError, match="damaged"):
        FeatureTable.read(path)


def test_somebody_elses_parquet_file_is_refused(tmp_path: Path) -> None:
    rows().write_parquet(tmp_path / "f.parquet")
    with pytest.raises(FileFormatError, match="without its label"):
        FeatureTable.read(tmp_path / "f.parquet")


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"version": 1}', "damaged"),
        ('{"version": 9, "names": []}', "version 9"),
        ('{"version": 1, "names": ["a"], "colour": "red"}', "damaged"),
        ('{"version": 1, "kind": "years", "names": ["a"], "window": 1, "step": 1, "unit": "deg"}', "windows or bins"),
        ('{"version": 1, "kind": "windows", "names": [], "window": 1, "step": 1, "unit": "deg"}', "has features"),
        ('{"version": 1, "kind": "windows", "names": ["a"], "window": "x", "step": 1, "unit": "deg"}', "the window of"),
        ('{"version": 1, "kind": "bins", "names": ["a"], "window": 1, "step": 1, "unit": "", "reach": 0}', "the reach"),
    ],
)
def test_a_label_that_is_not_ours_is_refused(tmp_path: Path, label: str, says: str) -> None:
    rows().write_parquet(tmp_path / "f.parquet", metadata={METADATA_KEY: label})
    with pytest.raises(FileFormatError, match=says):
        FeatureTable.read(tmp_path / "f.parquet")


def test_a_file_whose_columns_are_not_as_its_label_says_is_refused(tmp_path: Path) -> None:
    path = FeatureTable(rows(), INFO).write(tmp_path / "f.parquet")
    metadata = {METADATA_KEY: pl.read_parquet_metadata(path)[METADATA_KEY]}
    for changed, says in (
        (rows().drop("b"), "no column b"),
        (rows().with_columns(pl.col("a").cast(pl.Float32)), "column a is Float32"),
        (rows().with_columns(a=pl.lit(None, dtype=pl.Float64)), "column a: expected a value in every row"),
        (rows().reverse(), "column start: expected each recording in order of time"),
        (pl.concat([rows(), rows()]), "a row that starts too early"),
    ):
        changed.write_parquet(path, metadata=metadata)
        with pytest.raises(FileFormatError, match=says):
            FeatureTable.read(path)


def test_rows_without_the_columns_of_the_contract_are_refused() -> None:
    with pytest.raises(InputError, match="no column usable"):
        FeatureTable(rows().drop("usable"), INFO)
    with pytest.raises(InputError, match="listed twice"):
        FeatureTable(rows(), Info("windows", ("a", "start"), 30.0, 0.5, "deg"))
