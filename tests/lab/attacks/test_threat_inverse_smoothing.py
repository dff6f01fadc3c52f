# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Known filters are undone: exactly, in chains, and as well as can be behind rounding (erratum W3)."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Knowledge, Trial
from gazeveil.lab.attacks.threats.inverse_smoothing import quantum_of
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import Sphere
from tests.lab.attacks.veiled_people import attack_of, error, fixations, people, veil, veil_of


def undone(mechanism: SampleMechanism, shown: Trial, **options: float) -> Trial:
    return attack_of("inverse-smoothing", **options).prepare(Knowledge(mechanism)).query(shown)


def held(raw: Trial) -> Trial:
    """Gaze as a veil takes it: where it is missing, the last one again."""
    last = np.maximum.accumulate(np.where(np.isfinite(raw.x), np.arange(len(raw.x)), 0))
    return raw.with_gaze(raw.x[last], raw.y[last])


@pytest.mark.parametrize("window", [1, 2, 50, 150, 300])
@pytest.mark.parametrize("start", ["first", "zeros"])
def test_smoothing_is_undone_exactly(window: int, start: str) -> None:
    smoothing, raw = veil_of("smoothing", window=window, start_with=start), people()[0]
    guess = undone(smoothing, veil(smoothing, raw))
    assert np.nanmax(np.abs(guess.x - raw.x)) < 1e-9
    assert np.nanmax(np.abs(guess.y - raw.y)) < 1e-9


@pytest.mark.parametrize("start", ["first", "zeros"])
def test_whoever_comes_in_later_also_gets_gaze_back(start: str) -> None:
    smoothing, raw = veil_of("smoothing", window=50, start_with=start), held(people()[0])
    shown, late = veil(smoothing, raw), slice(200, None)
    heard = Trial("", "1", "a", shown.t[late], shown.x[late], shown.y[late], shown.rate_hz)
    guess = undone(smoothing, heard)
    off = np.hypot(guess.x - raw.x[late], guess.y - raw.y[late])
    assert np.nanmax(off[500:]) < 0.01
    assert np.nanmean(off) < 0.2 * np.mean(np.hypot(shown.x - raw.x, shown.y - raw.y))


def test_repeats_and_losses_look_as_they_did_before_the_veil() -> None:
    smoothing, raw = veil_of("smoothing", window=50), people()[0]
    twice = np.arange(len(raw.x)) // 2 * 2  # as a tracker that is slower than its log
    raw = raw.with_gaze(raw.x[twice], raw.y[twice])
    guess = undone(smoothing, veil(smoothing, raw))
    there, lost = np.isfinite(raw.x[1:]) & np.isfinite(raw.x[:-1]), np.isnan(raw.x)
    assert (np.diff(raw.x) == 0)[there].mean() > 0.45
    assert ((np.diff(guess.x) == 0) == (np.diff(raw.x) == 0))[there].mean() > 0.98  # but for repeats before a loss
    assert np.isfinite(guess.x[~lost]).mean() > 0.98
    assert np.isnan(guess.x[lost]).mean() > 0.9


def test_gaze_that_stands_still_is_not_taken_for_lost() -> None:
    smoothing, raw = veil_of("smoothing", window=50), fixations(length=20, count=20)
    guess = undone(smoothing, veil(smoothing, raw))
    assert np.abs(guess.x - raw.x).max() < 1e-9


def test_a_kalman_veil_is_undone_exactly_even_across_gaps() -> None:
    kalman, raw = veil_of("kalman", error=2.0, wander=4.0), people()[0]
    assert np.isnan(raw.x).any()
    shown = veil(kalman, raw)
    assert error(shown, raw) > 1
    assert np.nanmax(np.abs(undone(kalman, shown).x - raw.x)) < 1e-6


def test_of_a_chain_every_filter_at_its_end_is_undone() -> None:
    members = (veil_of("smoothing", window=30), veil_of("kalman"), veil_of("smoothing"))
    chain, raw = veil_of("chain", members=members), held(people()[0])
    assert error(undone(chain, veil(chain, raw)), raw) < 1e-5
    grid = veil_of("spatial")
    chain = veil_of("chain", members=(grid, members[0]))
    assert error(undone(chain, veil(chain, raw)), veil(grid, raw)) < 1e-9


def test_yaw_that_comes_round_is_undone_too() -> None:
    smoothing, raw = veil_of("smoothing", Sphere(), window=50), held(people()[0])
    behind = raw.with_gaze((raw.x + 360) % 360 - 180, raw.y)
    assert np.ptp(behind.x) > 300
    guess = undone(smoothing, veil(smoothing, behind))
    assert np.nanmax(np.abs((guess.x - behind.x + 180) % 360 - 180)) < 1e-9


@pytest.mark.parametrize(("window", "share"), [(50, 0.95), (150, 0.7), (300, 0.5)])
def test_rounded_output_still_gives_gaze_away(window: int, share: float) -> None:
    smoothing, raw = veil_of("smoothing", window=window), held(people()[0])
    shown = veil(smoothing, raw)
    rounded = shown.with_gaze(np.round(shown.x, 2), np.round(shown.y, 2))
    plain, robust = error(undone(smoothing, rounded, quantum=0.0), raw), error(undone(smoothing, rounded), raw)
    assert robust < share * plain
    assert robust < 0.1 * error(shown, raw)


def test_the_step_of_rounding_is_seen_in_the_numbers() -> None:
    values = people()[0].x[np.isfinite(people()[0].x)] * np.pi
    assert quantum_of(np.round(values, 2)) == 0.01
    assert quantum_of(np.round(values)) == 1.0
    assert quantum_of(values) == 0.0
    with pytest.raises(OptionError):
        attack_of("inverse-smoothing", quantum=-1.0)
