# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace

from gazeveil.noise.source import NoiseSource
from gazeveil.privacy.composition import SEEDED, guarantee_after_noise, is_seeded
from gazeveil.privacy.guarantee import PureDP, Unproven
from gazeveil.privacy.protection import OneRecording


class Wrapped(NoiseSource):
    """Noise that could be anything, and says that it is secure."""


def test_noise_that_is_not_secure_keeps_no_guarantee() -> None:
    guarantee = PureDP(1, unit=OneRecording())
    assert guarantee_after_noise(guarantee, NoiseSource.secure()) is guarantee
    for noise in (NoiseSource.seeded(7), None, object(), SimpleNamespace(is_secure=True), Wrapped.secure()):
        kept = guarantee_after_noise(guarantee, noise)
        assert kept == Unproven(SEEDED, unit=OneRecording())
        assert is_seeded(kept)
    assert guarantee_after_noise(Unproven("as published"), None) == Unproven(["as published", SEEDED])
    assert not is_seeded(Unproven("as published"))
