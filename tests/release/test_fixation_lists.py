# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of fixations as what participants recorded: declared, weighed, refused where samples are needed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, Recording, Study
from gazeveil.aggregate.aoi import STATISTICS, AoiStatistics
from gazeveil.aggregate.engine import LONGEST_S, MOST_ROWS, DurationKernel, rows_each
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.maps import NormalisedMap, sum_of_squares
from gazeveil.aggregate.movie import HeatmapMovie
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, GazeveilError, OptionError
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.noise import NoiseSource
from gazeveil.release.check import check
from gazeveil.release.plan import PRODUCTS, STATED_BY_LISTS
from gazeveil.release.study import Recordings
from gazeveil.release.study_proposal import propose
from tests.release import hostile
from tests.release.hostile import PLANE, a_list

AREAS = AreasOfInterest((Rectangle("left", 0, 0, 400, 600), Rectangle("right", 400, 0, 800, 600)), PLANE)
LISTS = hostile.list_study()


def lists(people: int = 8) -> list[Recording]:
    rng = np.random.default_rng(7)
    return [a_list(rng, f"p{k}", stimulus) for k in range(people) for stimulus in ("a", "b")]


def as_samples(recording: Recording) -> Recording:
    """Return samples at 1 kHz that dwell exactly as long as the fixations of a list."""
    assert recording.durations is not None
    times = np.rint(recording.durations * 1000).astype(int)
    within = np.concatenate([np.arange(count) / 1000 for count in times])
    t, x, y = (np.repeat(values, times) for values in (recording.t, recording.x, recording.y))
    return replace(recording, t=t + within, x=x, y=y, valid=None, durations=None)


def released(corpus: Corpus, mechanism: Any, **which: Any) -> pl.DataFrame:
    release = (
        Study.observed_in(corpus).plan(mechanism, **which).release(corpus, noise=NoiseSource.seeded(1), anyway=True)
    )
    return release.measurement.frame(release.value)


@pytest.mark.parametrize(
    ("mechanism", "which"),
    [
        (PrivateHeatmap(epsilon=2, cell_deg=4, blur_deg=4), {"stimulus": "a"}),
        (PrivateHeatmap(epsilon=2, cell_deg=4, blur_deg=4, strategy="bumps"), {"stimulus": "a"}),
        (PrivateHeatmaps(epsilon=3, cell_deg=4, blur_deg=4), {}),
        (HeatmapMovie(epsilon=3, bin_seconds=2, duration=6, cell_deg=4), {"stimulus": "a"}),
    ],
    ids=["heatmap", "bumps", "heatmaps", "movie"],
)
def test_a_list_is_released_as_samples_that_dwell_exactly_so(mechanism: Any, which: dict[str, str]) -> None:
    ours = lists()
    of_lists = released(Corpus.of(ours), mechanism, **which)
    of_samples = released(Corpus.of([as_samples(each) for each in ours]), mechanism, **which)
    assert of_lists.equals(of_samples)


def test_durations_count_and_without_them_each_fixation_does_once() -> None:
    x, lasted = np.array([100.0, 100, 700]), np.array([0.1, 0.1, 0.8])
    one = Recording(np.arange(3.0), x, np.full(3, 300.0), PLANE, "ann", "a", durations=lasted)
    share = {}
    for stated in (("duration",), ()):
        study = replace(Study.observed_in(Corpus.of([one]), number=1), recordings=Recordings(fixations=stated))
        asked = AoiStatistics({"a": AREAS}, STATISTICS["dwell" if stated else "transitions"](), epsilon=1000, delta=0)
        table = study.plan(asked).release(Corpus.of([one]), noise=NoiseSource.seeded(1), anyway=True).value
        share[stated] = table["estimate"].to_list()
        heat = study.plan(PrivateHeatmap(epsilon=1000, strategy="bumps", cell_deg=10), stimulus="a")
        grid = heat.release(Corpus.of([one]), noise=NoiseSource.seeded(1), anyway=True).value.map
        left, right = grid[:, : grid.shape[1] // 2].sum(), grid[:, grid.shape[1] // 2 :].sum()
        assert bool(right > left) is bool(stated)
    assert share[("duration",)] == pytest.approx([0.2, 0.8], abs=0.02)
    assert share[()] == pytest.approx([1.0, 0.0], abs=0.02)


def test_areas_take_starts_orders_and_durations_from_the_list() -> None:
    # in the file the second fixation stands last; starts order it
    t, x = np.array([10.0, 12.0, 10.5]), np.array([100.0, 150.0, 700.0])
    one = Recording(t, x, np.full(3, 300.0), PLANE, "ann", "a", durations=np.array([0.4, 0.1, 0.5]))
    corpus = Corpus.of([one])
    asked = AoiStatistics({"a": AREAS}, tuple(STATISTICS[name]() for name in STATISTICS.names()), epsilon=1_000_000)
    table = Study.observed_in(corpus).plan(asked).release(corpus, noise=NoiseSource.seeded(1), anyway=True).value
    found = {(row["statistic"], row["areas"]): row["estimate"] for row in table.iter_rows(named=True)}
    assert found["dwell", "left"] == pytest.approx(0.5, abs=0.01)
    assert found["fixations", "left"] == pytest.approx(2, abs=0.05)
    assert found["first-fixation", "right"] == pytest.approx(0.5, abs=0.02)
    assert [found[key] for key in found if key[0] == "transitions"] == pytest.approx([0.5, 0.5], abs=0.01)


def test_every_product_takes_lists_or_says_why_not() -> None:
    refused = {
        LiuMap(epsilon=1, columns=8, rows=6, samples=50): "counts samples up to a cap",
    }
    for mechanism, why in refused.items():
        with pytest.raises(OptionError, match=why):
            LISTS.plan(mechanism, stimulus="forest")
    for name in set(PRODUCTS.names()) - set(STATED_BY_LISTS):
        mechanism = type("Any", (), {"product": name})()
        with pytest.raises(OptionError, match=f"the product {name!r} needs gaze samples: ") as caught:
            LISTS.plan(mechanism)
        assert "heatmap" in caught.value.hint
    assert set(STATED_BY_LISTS) <= set(PRODUCTS.names())


@pytest.mark.parametrize(
    ("stated", "mechanism", "missing"),
    [
        ((), AoiStatistics({"forest": AREAS}, STATISTICS["dwell"](), epsilon=1), "the statistic 'dwell' needs the dur"),
        (("duration",), AoiStatistics({"forest": AREAS}, STATISTICS["reached"](), epsilon=1), "needs the start"),
        (("duration",), HeatmapMovie(epsilon=1, bin_seconds=1, duration=4), "the product 'movie' needs the start"),
    ],
)
def test_what_lists_do_not_state_is_asked_for_before_anything_is_spent(
    stated: tuple[str, ...], mechanism: Any, missing: str
) -> None:
    study = replace(LISTS, recordings=Recordings(fixations=stated))
    which = {} if isinstance(mechanism, AoiStatistics) else {"stimulus": "forest"}
    with pytest.raises(OptionError, match=missing) as caught:
        study.plan(mechanism, **which)
    assert "fixations = [" in caught.value.hint


def test_durations_that_are_none_do_not_count_and_long_ones_are_cut() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, -1.0, 0.0, 0.25, 1e300])
    assert rows_each(odd, np.ones(7, dtype=np.bool_)).tolist() == [0, 0, 0, 0, 0, 250, round(LONGEST_S * 1000)]
    assert rows_each(odd, np.zeros(7, dtype=np.bool_)).sum() == 0
    many = rows_each(np.full(1_000_000, 60.0), np.ones(1_000_000, dtype=np.bool_))
    assert MOST_ROWS // 2 < many.sum() <= MOST_ROWS


@pytest.mark.parametrize("name", hostile.LISTS)
def test_no_list_goes_beyond_the_bound_that_the_noise_relies_on(name: str) -> None:
    from gazeveil.aggregate.grid import Grid

    kernel = DurationKernel(NormalisedMap(Grid(8, 6, PLANE), bound=1 << 12))
    for recording in hostile.LISTS[name](np.random.default_rng(3)):
        durations = np.full(len(recording), np.nan) if recording.durations is None else recording.durations
        rows = {"x": recording.x, "y": recording.y, "valid": recording.tracked, "duration": durations}
        assert sum_of_squares(kernel(rows)) <= 1 << 24


def test_a_declaration_of_lists_is_written_and_read_and_stated_in_the_record(tmp_path: Path) -> None:
    path = LISTS.save(tmp_path / "study.toml")
    assert Study.open(path) == LISTS
    assert 'fixations = ["start", "duration"]' in path.read_text()
    [fact] = [fact for fact in LISTS.facts() if fact.name == "recordings"]
    assert fact.value["fixations"] == ["start", "duration"]
    assert fact.value["each_fixation_counts"] == f"by its duration, at most {LONGEST_S:g} s"
    assert fact.declared
    places_alone = replace(LISTS, recordings=Recordings(fixations=()))
    assert Study.open(places_alone.save(tmp_path / "other.toml")) == places_alone


@pytest.mark.parametrize(
    ("line", "found"),
    [('fixations = ["start", "length"]', "not 'length'"), ('fixations = ["start"]\nrate_hz = 60', "no sampling rate")],
)
def test_a_declaration_that_makes_no_sense_is_refused(tmp_path: Path, line: str, found: str) -> None:
    path = LISTS.save(tmp_path / "study.toml")
    path.write_text(path.read_text().replace('fixations = ["start", "duration"]', line))
    with pytest.raises(FileFormatError, match=found):
        Study.open(path)


def test_the_other_kind_of_rows_counts_as_absent_and_is_reported_to_the_holder(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    odd = replace(a_list(rng, "bo", "forest"), durations=np.r_[np.full(19, 0.2), np.nan])
    corpus = Corpus.of([a_list(rng, "anna", "forest"), odd, hostile.plain(rng, "carla", "forest")])
    found = check(LISTS, corpus).by_kind()
    assert [item.participant for item in found["other-rows"]] == ["carla"]
    assert "1 of 20 fixations" in found["durations"][0].sentence
    assert "carla" in {item.participant for item in found["participant-missing"]}
    assert [item.participant for item in check(hostile.study(), corpus).by_kind()["other-rows"]] == ["anna", "bo"]


def test_a_proposal_says_what_lists_state_and_no_rate() -> None:
    proposed, remarks = propose(Corpus.of(lists()))
    assert proposed.recordings.fixations == ("start", "duration")
    assert proposed.recordings.rate_hz is None
    assert "count\nby their durations" in remarks["recordings"]
    unstated = [replace(each, t=np.full(len(each), np.nan)) for each in lists()]
    assert propose(Corpus.of(unstated))[0].recordings.fixations == ("duration",)


def test_samples_and_lists_together_need_a_declaration() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(GazeveilError, match="both samples and lists"):
        Study.observed_in(Corpus.of([a_list(rng, "anna", "a"), hostile.plain(rng, "bo", "a")]))


def test_a_folder_of_tables_goes_through_the_whole_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GAZEVEIL_STATE", str(tmp_path / "state"))
    rng = np.random.default_rng(2)
    for person in range(6):
        rows = [f"{400 * k},{rng.uniform(0, 800):.1f},{rng.uniform(0, 600):.1f},{200 + 10 * k}" for k in range(10)]
        both = [f"{stimulus},{row}" for stimulus in ("forest", "harbour") for row in rows]
        text = "\n".join(["stimulus,start_ms,x_px,y_px,duration_ms", *both]) + "\n"
        (tmp_path / f"p{person}.csv").write_text(text)
    files = [f"p{person}.csv" for person in range(6)]
    where = ["--screen", "800x600", "--size-mm", "400x300", "--distance-mm", "600"]
    assert run(["convert", *files, *where, "--to", "parquet", "--out", "gaze"]) == 0
    assert run(["study", "init", "gaze", "--out", "study.toml"]) == 0
    assert run(["study", "check", "gaze", "--study", "study.toml"]) == 0
    hostile.write_areas(tmp_path / "areas.json")
    coarse = ["--cell-deg", "6", "--blur-deg", "6"]
    paid = ["--study", "study.toml", "--no-ledger", "--anyway"]
    assert run(["heatmap", "gaze", "--stimulus", "forest", "--epsilon", "2", "--out", "map", *coarse, *paid]) == 0
    areas = ["--stimulus", "forest", "--areas", "areas.json", "--statistic", "dwell", "--statistic", "visit-order"]
    assert run(["aoi", "gaze", *areas, "--epsilon", "2", "--out", "areas", *paid]) == 0
    record = json.loads((tmp_path / "map" / "release.json").read_text())
    [fact] = [fact for fact in record["public_facts"] if fact["name"] == "recordings"]
    assert fact["value"]["fixations"] == ["start", "duration"]
    assert fact["source"] == "declared"
    assert "which counts by its duration, at most 60 s" in (tmp_path / "map" / "methods.md").read_text()
    capsys.readouterr()
    assert run(["veil", "gaze", "--preset", "lphu", "--out", "veiled", *paid[:-1]]) != 0
    assert "the product 'veil' needs gaze samples" in capsys.readouterr().err
    assert not (tmp_path / "veiled").exists()
