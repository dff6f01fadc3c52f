# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import CountMap
from gazeveil.engines import engine_at
from gazeveil.errors import OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.as_published.liu_maps import NoiseFree, RandomSelection, _below
from gazeveil.noise import NoiseSource

GRID = Grid(2, 1, screen(40, 20, 40, 20, 600))
ENGINE = engine_at()


def people(*counts: list[int]) -> Corpus:
    """Return people who have so many samples in the left and the right cell."""
    recordings = []
    for number, looked in enumerate(counts):
        x = np.repeat([10.0, 30.0], looked)
        recordings.append(Recording(np.arange(len(x)) / 60, x, np.full(len(x), 10.0), GRID.geometry, f"p{number}", "s"))
    return Corpus.of(recordings)


def test_the_map_without_noise_gives_the_last_person_away_and_says_so() -> None:
    mean = NoiseFree(4).measure(people([2, 0], [1, 0], [0, 1], [0, 0]), CountMap(GRID), NoiseSource.seeded(1), ENGINE)
    assert mean.tolist() == [0.75, 0.25]
    assert "below 1" in NoiseFree(4).guarantee.reason


def test_who_is_drawn_without_replacement_bounds_delta_from_below_L11() -> None:
    some = RandomSelection(10, 5)
    assert some.least_delta == 0.5
    assert "below 0.5 (Liu 2019, theorem 3.2; L11)" in some.guarantee.reason


def test_who_is_drawn_with_replacement_bounds_delta_from_below_L11() -> None:
    some = RandomSelection(50_000, 25_000, replacement=True)
    assert some.least_delta == pytest.approx(1 - (1 - 1 / 50_000) ** 25_000, rel=1e-9)
    assert some.least_delta == pytest.approx(1 - math.exp(-0.5), abs=1e-5)
    assert "theorem 3.3" in some.guarantee.reason
    assert RandomSelection(1, 3, replacement=True).least_delta == 1


@pytest.mark.parametrize("replacement", [False, True])
def test_the_last_person_is_seen_as_often_as_the_theorem_says(replacement: bool) -> None:
    """The paper's own example, 4,000 times; two-sided exact test at a false-alarm rate of 1 in 10,000."""
    some = RandomSelection(8, 3, replacement)
    source = NoiseSource.seeded(3)
    seen = sum(some.draw(source)[-1] > 0 for _ in range(4000))
    assert stats.binomtest(int(seen), 4000, some.least_delta).pvalue > 1e-4


def test_a_selection_is_the_mean_of_those_who_were_drawn() -> None:
    corpus = people([4, 0], [0, 2])

    def mean(some: RandomSelection, cap: int | None = None) -> list[float]:
        found: list[float] = some.measure(corpus, CountMap(GRID, cap), NoiseSource.seeded(1), ENGINE).tolist()
        return found

    assert mean(RandomSelection(2, 2)) == [2, 1]
    assert mean(RandomSelection(2, 2), cap=1) == [0.5, 0.5]
    often = RandomSelection(2, 7, replacement=True)
    first, second = often.draw(NoiseSource.seeded(1)).tolist()
    assert mean(often) == [4 * first / 7, 2 * second / 7]
    assert sum(mean(RandomSelection(4, 4))) == 1.5  # two of four are absent, and count
    drawn = RandomSelection(30, 12).draw(NoiseSource.seeded(4))
    assert drawn.sum() == 12
    assert drawn.max() == 1
    assert RandomSelection(3, 50, replacement=True).draw(NoiseSource.seeded(4)).sum() == 50


def test_numbers_below_a_limit_are_equally_likely() -> None:
    """Chi-squared at a false-alarm rate of 1 in 10,000."""
    counts = np.bincount(_below(7, 70_000, NoiseSource.seeded(9)), minlength=7)
    assert len(counts) == 7
    assert stats.chisquare(counts).pvalue > 1e-4


def test_selections_that_cannot_be_are_refused() -> None:
    with pytest.raises(OptionError, match="without replacement"):
        RandomSelection(3, 4)
