# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from gazeveil import screen
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import counts
from gazeveil.lab.experiments.whole_study import Score, Viewed, measure_movie, measure_study, movie_table, study_table

GRID = Grid(8, 6, screen(800, 600, 80, 60, 573))


@pytest.fixture(scope="module")
def viewed() -> Viewed:
    """Sixty people, four stimuli, each with a hot spot in a corner of its own."""
    rng = np.random.default_rng(2)
    found = rng.poisson(0.3, (60, 4, 6, 8))
    for number, (row, column) in enumerate([(1, 1), (1, 6), (4, 1), (4, 6)]):
        found[:, number, row, column] += rng.poisson(12, 60)
    return Viewed(GRID, found.reshape(60, 4, 48))


def test_rows_hold_the_very_counts(viewed):
    rows = viewed.rows(5, [2, 0])
    for name, at in (("s0", 2), ("s1", 0)):
        mine = {column: rows[column][rows["stimulus"] == name] for column in ("x", "y", "valid")}
        assert np.array_equal(counts(GRID, mine), viewed.counts[5, at])


def test_different_seeds_take_different_people(viewed):
    one, other = viewed.some(20, 0), viewed.some(20, 1)
    assert len(set(one)) == len(set(other)) == 20
    assert set(one) != set(other)


def test_releasing_together_beats_releasing_apart_where_there_is_signal(viewed):
    row = measure_study(viewed, 4, 60, 6.0)
    assert row.together.beyond > row.apart.beyond
    assert row.together.cc > row.mean.cc
    assert abs(row.mean.beyond) < 0.3
    assert 0 < row.carried < 1


def test_bins_of_time_are_told_apart(viewed):
    row = measure_movie(viewed, 60, 6.0)
    assert row.score.cc > row.mean.cc
    assert row.score.beyond > 0.5


def test_tables_have_a_row_for_each_budget(viewed):
    table = study_table(viewed, (2,), (30,), (0,)).splitlines()
    assert len(table) == 2 + 3
    assert table[2].startswith("| 2 | 30 | 1 | ")
    assert movie_table([viewed], (30,)).splitlines()[-1].startswith("| 30 | 10 | ")
    assert str(Score.mean([Score(0.5, 0.1), Score(0.7, 0.3)])) == "0.60 (0.20)"
