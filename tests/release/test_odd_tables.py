# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""However one participant's table is typed, damaged or warned about, a release is made, and nobody hears of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, write_corpus
from gazeveil.errors import ReleaseFailed
from gazeveil.features.settings import extract_one
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Part
from gazeveil.lab.as_published.liu_maps import UnprotectedLiuMap
from gazeveil.release.data import READ_ERRORS
from gazeveil.release.products.maps import HeatmapMeasurement
from tests.test_front_door import SETTINGS, plans, recording, study

PLANS = ("heatmap", "aoi", "group", "own", "veil")
ODD = "p00007"


def _with(**columns: Any) -> Callable[[Part], Part]:
    return lambda part: replace(part, samples=part.samples.with_columns(**columns))


def _without(*columns: str) -> Callable[[Part], Part]:
    return lambda part: replace(part, samples=part.samples.drop(columns))


def _objects(part: Part) -> Part:
    rows = part.samples.collect()
    return replace(part, samples=rows.with_columns(pl.Series("x", [object()] * len(rows), dtype=pl.Object)).lazy())


def _cannot_be_read(part: Part) -> Part:
    return replace(part, samples=part.samples.map_batches(lambda _: 1 / 0))  # type: ignore[arg-type,return-value]


def _gaze_cannot_be_read(part: Part) -> Part:
    broken = pl.col("y").map_batches(lambda _: 1 / 0, return_dtype=pl.Float64)
    return replace(part, samples=part.samples.with_columns(broken))


ODDITIES: dict[str, Callable[[Part], Part]] = {
    "x is text": _with(x=pl.lit("here")),
    "x is of objects": _objects,
    "x is of lists": _with(x=pl.lit([1, 2])),
    "x is missing": _without("x"),
    "validity is a number": _with(valid=pl.lit(1)),
    "validity is text": _with(valid=pl.lit("yes")),
    "validity is missing": _without("valid"),
    "time is text": _with(t=pl.lit("noon")),
    "pupil is text": _with(pupil=pl.lit("wide")),
    "half an eye": _with(left_x=pl.lit(3.0)),
    "a participant who is a number": _with(observer=pl.lit(3)),
    "a participant who is a category": _with(observer=pl.lit(ODD).cast(pl.Categorical)),
    "a session that is a number": _with(session=pl.lit(3)),
    "no participant": _without("observer"),
    "no session and no trial": _without("session", "trial"),
    "columns that nobody knows": _with(extra=pl.lit([1, 2]), more=pl.lit("q")),
    "events without columns": lambda part: replace(part, events=pl.LazyFrame()),
    "a table that cannot be read": _cannot_be_read,
    "a column that cannot be read": _gaze_cannot_be_read,
}


@pytest.mark.parametrize("oddity", ODDITIES)
@pytest.mark.parametrize("name", PLANS)
def test_an_odd_table_stops_no_release(
    name: str, oddity: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    usual = Corpus.of([recording(f"p{number:05d}") for number in range(3)])
    odd = ODDITIES[oddity](Corpus.of([recording(ODD)]).parts[0])
    release = plans()[name].release(Corpus((*usual.parts, odd)), anyway=True)
    assert release.private is not None
    assert "p00001" in release.private.observers
    assert capfd.readouterr() == ("", "")


def test_a_file_whose_gaze_is_damaged_counts_as_absent(tmp_path: Path) -> None:
    folder = tmp_path / "gaze"
    write_corpus([recording("p00001"), replace(recording("p00002"), rate_hz=60.0)], folder)
    damaged, whole = sorted(folder.glob("stimulus=a/*.parquet"))
    _damage(damaged, "x")
    release = plans()["heatmap"].release(folder, anyway=True)
    assert release.private is not None
    assert any("counts as absent" in line and damaged.name in line for line in release.private.remarks)
    assert not any(whole.name in line for line in release.private.remarks)


def _damage(path: Path, column: str) -> None:
    """Break the compressed pages of one column; labels and footer stay whole, so the file still opens."""
    labels, content = ["observer", "session", "trial"], path.read_bytes()
    at = content.find(_FRAME)
    while at >= 0:
        path.write_bytes(content[: at + 4] + b"\xff" * 8 + content[at + 12 :])
        if _reads(path, labels) and not _reads(path, [column]):
            return
        at = content.find(_FRAME, at + 1)
    raise AssertionError("no such pages were found")


_FRAME = b"\x28\xb5\x2f\xfd"


def _reads(path: Path, columns: list[str]) -> bool:
    try:
        pl.read_parquet(path, columns=columns)
    except READ_ERRORS:
        return False
    return True


def test_nobody_hears_what_python_warns_of_while_data_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = HeatmapMeasurement.measure

    def warning(self: HeatmapMeasurement, *arguments: Any) -> Any:
        np.log(np.zeros(1))
        warnings.warn("the gaze of p00001 is odd", stacklevel=1)
        return measure(self, *arguments)

    monkeypatch.setattr(HeatmapMeasurement, "measure", warning)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        plans()["heatmap"].release(Corpus.of([recording("p00001")]), anyway=True)
    assert not heard


def test_a_failure_that_is_not_about_reading_is_not_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def fails(*_: Any) -> Any:
        tries.append(1)
        raise ArithmeticError

    monkeypatch.setattr(HeatmapMeasurement, "measure", fails)
    with pytest.raises(ReleaseFailed):
        plans()["heatmap"].release(Corpus.of([recording("p00001")]), anyway=True)
    assert len(tries) == 1


@pytest.mark.parametrize(
    "column", ["observer", "stimulus", "session", "trial", "task", "group", "usable", "start", "x"]
)
@pytest.mark.parametrize("name", ["group", "own"])
def test_an_empty_label_in_a_table_of_features_stops_no_release(name: str, column: str) -> None:
    tables = [extract_one(recording(f"p{number:05d}", samples=200), SETTINGS, 24) for number in range(3)]
    rows = pl.concat(table.rows for table in tables)
    empty = pl.when(pl.col("observer") != "p00002").then(pl.col(column))
    table = FeatureTable(rows.with_columns(empty.alias(column)), replace(tables[0].info, declared_by="front"))
    release = plans()[name].release(table, anyway=True)
    assert release.private is not None
    assert "p00001" in release.private.observers


def test_documents_do_not_praise_noise_that_is_not_there(tmp_path: Path) -> None:
    bare = study().plan(UnprotectedLiuMap(columns=4, rows=3), stimulus="a")
    folder = bare.release(Corpus.of([recording("p00001")])).save(tmp_path / "bare")
    for name in ("methods.md", "evidence.html"):
        text = (folder / name).read_text()
        assert "cryptographic generator" not in text
        assert "Nothing is proven about noise" in text
