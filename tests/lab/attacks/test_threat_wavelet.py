# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Wavelet denoising: it takes noise away, leaves what has none, and copes with yaw that comes round."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Knowledge
from gazeveil.samples.space import Sphere
from tests.lab.attacks.veiled_people import attack_of, error, fixations, people, veil, veil_of

pytest.importorskip("skimage")
pytest.importorskip("pywt")


def test_independent_noise_is_mostly_taken_away() -> None:
    raw = people()[0]
    shown = veil(veil_of("gaussian", sigma=3.0), raw)
    guess = attack_of("wavelet").prepare(Knowledge()).query(shown)
    assert error(guess, raw) < 0.6 * error(shown, raw)


def test_it_is_scikit_image_with_its_own_defaults() -> None:
    from skimage.restoration import denoise_wavelet

    shown = veil(veil_of("gaussian", sigma=1.0), people()[0])
    guess = attack_of("wavelet").prepare(Knowledge()).query(shown)
    assert np.array_equal(guess.x, denoise_wavelet(shown.x))
    assert np.array_equal(guess.y, denoise_wavelet(shown.y))


def test_smoothed_gaze_is_left_as_it_is() -> None:
    raw = people()[0]
    shown = veil(veil_of("smoothing", window=50), raw)
    guess = attack_of("wavelet").prepare(Knowledge()).query(shown)
    assert error(guess, raw) > 0.95 * error(shown, raw)


def test_gaze_without_any_noise_comes_back() -> None:
    still = fixations(40, 10)
    guess = attack_of("wavelet").prepare(Knowledge()).query(still)
    assert np.array_equal(guess.x, still.x)


def test_noise_across_the_back_of_the_head_is_not_taken_for_saccades() -> None:
    raw = fixations(200, 1)
    behind = raw.with_gaze(np.full_like(raw.x, 179.9), raw.y)
    shown = veil(veil_of("gaussian", Sphere(), sigma=1.0), behind)
    assert np.ptp(shown.x) > 300
    guess = attack_of("wavelet").prepare(Knowledge()).query(shown)
    off = (guess.x - 179.9 + 180) % 360 - 180
    assert np.abs(off).max() < 1.5
    assert np.abs(guess.x).max() <= 180


def test_a_wavelet_that_does_not_exist_is_refused() -> None:
    with pytest.raises(OptionError):
        attack_of("wavelet", method="none")
    with pytest.raises(OptionError, match="wavelet"):
        attack_of("wavelet", wavelet="no such").prepare(Knowledge()).query(people()[0])
