# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A released heatmap says what it is made of: in its files, its record, its statement and its pictures."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, Recording, screen
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import Estimate
from gazeveil.release.map_files import arrays_of, map_table
from gazeveil.release.release import Release, Shares
from gazeveil.release.verify import verify
from gazeveil.release.visual_report import outlines, parts_picture
from tests.releasing import released

DESK = screen(1600, 1200, 400, 300, 600)


def estimate(**changes: object) -> Estimate:
    """An estimate by hand: two rows by three columns."""
    map_ = np.array([[0.5, 0.2, 0.1], [0.1, 0.06, 0.04]])
    spread = np.full((2, 3), 0.05)
    made = Estimate(
        map=map_,
        noise_sd=spread / 2,
        prior=np.array([[0.1, 0.3, 0.2], [0.2, 0.1, 0.1]]),
        data_share=0.36,
        picture_share=0.75,
        error_sd=spread,
        population_sd=2 * spread,
        hot_spots=map_ > 0.4,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def corpus() -> Corpus:
    rng = np.random.default_rng(5)
    return Corpus.of(
        [
            Recording(np.arange(40) / 60, rng.normal(500, 60, 40), rng.normal(400, 60, 40), DESK, f"p{k}", "a.png")
            for k in range(25)
        ]
    )


def a_release(epsilon: float = 1.5, **how: object) -> Release:
    return released(PrivateHeatmap(epsilon=epsilon, cell_deg=4, blur_deg=4, **how), corpus())  # type: ignore[arg-type]


def test_the_table_has_intervals_for_these_participants_and_for_everybody_which_end_at_zero() -> None:
    table = map_table(estimate())
    assert table["low"].to_list() == pytest.approx([0.402, 0.102, 0.002, 0.002, 0, 0])
    assert table["high"].to_list() == pytest.approx([0.598, 0.298, 0.198, 0.198, 0.158, 0.138])
    assert table["population_low"].to_list() == pytest.approx([0.304, 0.004, 0, 0, 0, 0])
    assert table["population_high"][0] == pytest.approx(0.696)
    assert table["hot_spot"].to_list() == [True, False, False, False, False, False]


def test_an_estimate_that_knows_the_noise_alone_has_no_intervals() -> None:
    bare = estimate(error_sd=None, population_sd=None, hot_spots=None)
    assert set(arrays_of(bare)) == {"map", "prior", "noise_sd"}
    assert map_table(bare).columns == ["row", "column", "value", "noise_sd", "prior", "hot_spot"]
    assert Shares.of(bare).hot_spots is None
    assert not any("hot spot" in sentence for sentence in Shares.of(bare).in_words())


def test_the_words_add_up_and_the_correlation_is_called_an_expectation() -> None:
    shares = Shares.of(estimate(), "picture model 1")
    first, second, third = shares.in_words()
    assert (
        first
        == "36% of this map comes from the data, 48% from the picture (picture model 1), 16% from the general prior."
    )
    assert "about 0.60; that is an expectation" in second
    assert third.startswith(
        "1 cell is flagged as hot spots: more than four times the gaze of an even map; at most one in ten"
    )
    assert Shares.from_record(shares.to_dict()) == shares
    assert Shares.from_record({"data_share": 0.4, "picture_share": 0.0}) is None  # an older record


@pytest.mark.parametrize(
    ("changes", "warns"),
    [
        ({}, False),
        ({"data_share": 0.049}, True),
        ({"data_share": 0.051}, False),
        ({"map": np.array([[0.1, 0.3, 0.2], [0.2, 0.1, 0.1]])}, True),
        ({"map": np.full((2, 3), 1 / 6)}, True),
    ],
)
def test_a_map_that_says_nothing_new_is_warned_of(changes: dict[str, object], warns: bool) -> None:
    shares = Shares.of(estimate(**changes))
    assert bool(shares.warnings()) is shares.is_uninformative is shares.to_dict()["says_nothing_new"] is warns


def test_files_record_and_statement_of_a_release_say_the_same(tmp_path: Path) -> None:
    picture = Saliency.of(np.random.default_rng(1).integers(0, 255, (60, 80, 3)).astype(np.uint8))
    release = a_release(picture=picture)
    folder = release.save(tmp_path / "map")
    with np.load(folder / "heatmap.npz") as stored:
        assert set(stored.files) == {"map", "prior", "noise_sd", "error_sd", "population_sd", "hot_spots"}
        assert stored["hot_spots"].dtype == np.bool_
        assert np.array_equal(stored["error_sd"], release.value.error_sd)
        assert (stored["population_sd"] >= stored["error_sd"]).all()
    table = pl.read_parquet(folder / "heatmap.parquet")
    assert {"error_sd", "low", "high", "population_sd", "population_low", "population_high"} <= set(table.columns)
    record = json.loads((folder / "release.json").read_text())
    shares = Shares.from_record(record["about_the_value"])
    assert shares == Shares.of(release.value, "picture model 1")
    page = (folder / "statement.html").read_text()
    for sentence in shares.in_words():
        assert sentence in record["statement"]
        assert sentence in (folder / "statement.txt").read_text()
        assert sentence in page
        assert sentence in (folder / "evidence.html").read_text()
    assert page.count("data:image/png;base64,") == 1
    assert "heatmap.parts.png" in record["files"]
    assert "95 % intervals are for the map of these participants without noise" in (folder / "methods.md").read_text()
    assert verify(folder).ok


def test_a_statement_that_says_more_of_the_map_is_data_is_found(tmp_path: Path) -> None:
    folder = a_release().save(tmp_path / "map")
    text = (folder / "statement.txt").read_text()
    share = text.split("% of this map")[0].split()[-1]
    (folder / "statement.txt").write_text(text.replace(f"{share}% of this map", "99% of this map"))
    assert not verify(folder).ok


def test_a_release_without_pictures_is_whole_and_can_be_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gazeveil.release.visual_report.available", lambda: False)
    folder = a_release().save(tmp_path / "map")
    assert not (folder / "heatmap.parts.png").exists()
    assert "data:image/png" not in (folder / "statement.html").read_text()
    assert verify(folder).ok


def test_what_is_made_of_a_map_later_has_no_shares() -> None:
    release = a_release()
    assert release.statement().shows
    assert not release.post_processed(release.value.map.sum(), "added up").statement().shows


def test_the_picture_of_parts_outlines_hot_spots() -> None:
    from matplotlib.image import imread

    made = estimate()
    flagged, plain = (
        imread(io.BytesIO(parts_picture(made.prior, made.map, hot, DESK, "map")))[..., :3]
        for hot in (made.hot_spots, None)
    )
    assert flagged.shape == plain.shape
    assert flagged.shape[1] > 2 * flagged.shape[0]
    edge = np.array([0x7F, 0xE0, 0xFF]) / 255
    assert (np.abs(flagged - edge).max(axis=2) < 0.05).any()
    assert not (np.abs(plain - edge).max(axis=2) < 0.05).any()


def test_outlines_run_around_cells_and_not_between_them() -> None:
    cells = np.array([[True, True], [False, False]])
    around = {
        ((0, 0), (0, 1)),
        ((2, 0), (2, 1)),
        ((0, 0), (1, 0)),
        ((1, 0), (2, 0)),
        ((0, 1), (1, 1)),
        ((1, 1), (2, 1)),
    }
    assert set(outlines(cells)) == around


def test_a_release_draws_and_shows_itself() -> None:
    release = a_release()
    drawn = release.plot()
    assert drawn is not None
    assert drawn.png.startswith(b"\x89PNG")
    assert "hot spots" in repr(release.value)
