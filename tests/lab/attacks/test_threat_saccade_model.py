# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Eyes that rest and jump: the model smooths exactly, and gets closer than filters that do not know it."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Knowledge
from gazeveil.lab.attacks import restoring_kernels as kernels
from tests.lab.attacks.veiled_people import attack_of, error, people, veil, veil_of


def test_smoothing_on_the_grid_is_exact() -> None:
    """Against the sum over all paths, for four samples and five places."""
    rng = np.random.default_rng(4)
    count, grain, drift, rate, size = 5, 1.0, 0.7, 2.0, 1.5
    elapsed = np.array([0.0, 0.2, 0.4, 0.1])
    kind = np.array([kernels.GAUSSIAN, kernels.LAPLACE, kernels.NOTHING, kernels.BETWEEN])
    a, b = np.array([1.0, 2.0, 0.0, 2.6]), np.array([1.0, 1.5, 1.0, 4.4])
    usual = rng.uniform(0.8, 1.0, count)
    path, fit = kernels.smoothed_jumps(elapsed, kind, a, b, 0.3, 0.0, grain, count, usual, drift, rate, size)
    steps = []
    for gap in elapsed:
        step = np.empty((count, count))
        out, work = np.empty(count), np.empty(count)
        for place in range(count):
            kernels._step(
                np.eye(count)[place],
                (drift / grain) ** 2 * gap,
                1 - np.exp(-rate * gap),
                np.exp(-grain / size),
                out,
                work,
            )
            step[place] = out
        assert np.allclose(step, step.T)
        steps.append(step)
    weights = []
    for n in range(4):
        weight = np.ones(count)
        if kind[n] != kernels.NOTHING:
            kernels._seen(kind[n], a[n], b[n], 0.3, 0.0, grain, weight)
        weights.append(weight * usual)
    whole = np.einsum(
        "i,ij,j,jk,k,kl,l->ijkl",
        weights[0] / count,
        steps[1],
        weights[1],
        steps[2],
        weights[2],
        steps[3],
        weights[3],
    )
    assert fit == pytest.approx(np.log(whole.sum()))
    for n in range(4):
        rest = tuple(axis for axis in range(4) if axis != n)
        assert path[n] == pytest.approx(np.arange(count) @ whole.sum(axis=rest) / whole.sum(), rel=1e-5)


def test_saccades_of_a_step_are_exponential() -> None:
    out, work = np.empty(41), np.empty(41)
    kernels._step(np.eye(41)[20], 0.0, 1.0, np.exp(-0.25), out, work)
    assert out.sum() == pytest.approx(1.0, abs=0.02)
    assert np.allclose(out[21:] / out[20:-1], np.exp(-0.25))
    assert np.allclose(out, out[::-1])


@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_independent_noise_is_taken_off_better_than_by_filters(sigma: float) -> None:
    mechanism = veil_of("gaussian", sigma=sigma)
    errors: dict[str, list[float]] = {}
    for number, raw in enumerate(people()):
        shown = veil(mechanism, raw, number)
        for attack in ("saccade-model", "kalman", "fixation-average"):
            guess = attack_of(attack).prepare(Knowledge(mechanism)).query(shown)
            errors.setdefault(attack, []).append(error(guess, raw))
        errors.setdefault("none", []).append(error(shown, raw))
    mean = {attack: np.mean(values) for attack, values in errors.items()}
    assert mean["saccade-model"] < 0.55 * mean["none"]
    assert mean["saccade-model"] < min(mean["kalman"], mean["fixation-average"])


def test_a_private_stream_is_smoothed_too_but_not_beyond_its_promise() -> None:
    weak = veil_of("clock", epsilon=3, window="0.5", radius="2.25")
    strong = veil_of("clock", epsilon="0.5", window=2, radius="11.25")
    for mechanism, least, most in ((weak, 0.2, 0.8), (strong, 0.7, 1.05)):
        # one draw of noise decides little behind a strong veil
        pairs = [
            (raw, veil(mechanism, raw, 10 * draw + number)) for draw in range(8) for number, raw in enumerate(people())
        ]
        ready = attack_of("saccade-model").prepare(Knowledge(mechanism))
        after = np.mean([error(ready.query(shown), raw) for raw, shown in pairs])
        assert least < after / np.mean([error(shown, raw) for raw, shown in pairs]) < most


def test_where_nothing_can_be_read_off_it_says_so() -> None:
    assert not attack_of("saccade-model").fits(veil_of("smoothing"))
    with pytest.raises(OptionError, match="nothing to do"):
        attack_of("saccade-model").prepare(Knowledge(veil_of("smoothing")))
