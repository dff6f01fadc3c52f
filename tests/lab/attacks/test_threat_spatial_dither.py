# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A coarse grid gives away more than its cells: flicker at edges, and the way gaze goes from cell to cell."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Knowledge, Trial
from tests.lab.attacks.veiled_people import RATE, attack_of, error, people, veil, veil_of


def test_people_are_closer_than_the_grid_lets_them_be() -> None:
    for factor, share in ((48.0, 0.9), (144.0, 0.85)):
        grid = veil_of("spatial", factor=factor)
        before, after = [], []
        for raw in people():
            shown = veil(grid, raw)
            before.append(error(shown, raw))
            after.append(error(attack_of("spatial-dither").prepare(Knowledge(grid)).query(shown), raw))
        assert np.mean(after) < share * np.mean(before)


def test_the_bias_of_the_published_grid_is_undone() -> None:
    centred, published, raw = veil_of("spatial"), veil_of("spatial", centred=False), people()[0]
    guesses = [
        attack_of("spatial-dither").prepare(Knowledge(grid)).query(veil(grid, raw)) for grid in (centred, published)
    ]
    assert error(*guesses) < 1e-9
    assert error(guesses[1], raw) < 0.6 * error(veil(published, raw), raw)


def test_flicker_gives_the_edge_away() -> None:
    rng = np.random.default_rng(1)
    t = np.arange(400) / RATE
    still = Trial("", "1", "a", t, 4.05 + 0.15 * rng.normal(size=400), np.full(400, 2.0), RATE)
    grid = veil_of("spatial", factor=48.0)
    guess = attack_of("spatial-dither").prepare(Knowledge(grid)).query(veil(grid, still))
    assert np.abs(guess.x - 4.05).max() < 0.3
    assert error(veil(grid, still), still) > 1.5


def test_a_filter_behind_the_grid_does_not_help_it() -> None:
    grid, raw = veil_of("spatial"), people()[0]
    chain = veil_of("chain", members=(grid, veil_of("smoothing", window=30)))
    alone = attack_of("spatial-dither").prepare(Knowledge(grid)).query(veil(grid, raw))
    chained = attack_of("spatial-dither").prepare(Knowledge(chain)).query(veil(chain, raw))
    assert error(alone, chained) < 1e-6


def test_it_is_for_grids_alone() -> None:
    assert not attack_of("spatial-dither").fits(veil_of("gaussian"))
    with pytest.raises(OptionError, match="nothing to do"):
        attack_of("spatial-dither").prepare(Knowledge(veil_of("gaussian")))
    with pytest.raises(OptionError, match="dither"):
        attack_of("spatial-dither", dither=0.0)
