# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Both sides go through the veil and back, so that like is compared with like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Gallery, Knowledge, Recogniser, Trial
from gazeveil.lab.attacks.threats.mirrored import Mirrored
from tests.lab.attacks.veiled_people import attack_of, error, people, veil, veil_of


@dataclass(frozen=True)
class Learner(Recogniser):
    """A recogniser that only keeps what it was trained on."""

    known: tuple[Trial, ...] = ()

    @property
    def sees(self) -> frozenset[str]:
        return frozenset()

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        raise NotImplementedError

    def trained_on(self, strangers: Sequence[Trial], seed: int = 1) -> Recogniser:
        return replace(self, known=tuple(strangers))


def test_the_reference_is_as_far_from_raw_gaze_as_the_query() -> None:
    gaussian, raw = veil_of("gaussian", sigma=3.0), people()[0]
    ready = attack_of("mirrored", draws=2).prepare(Knowledge(gaussian))
    shown = veil(gaussian, raw)
    query, enrolled = ready.query(shown), ready.references(raw)
    assert len(enrolled) == 2
    assert {one.person for one in enrolled} == {raw.person}
    assert error(query, raw) < 0.6 * error(shown, raw)
    assert error(enrolled[0], raw) == pytest.approx(error(query, raw), rel=0.3)
    assert error(enrolled[0], enrolled[1]) > 0.1
    assert error(ready.reference(raw), enrolled[0]) == 0


def test_the_best_that_fits_does_the_guessing() -> None:
    for veil_name, best in (
        ("smoothing", "inverse-smoothing"),
        ("spatial", "spatial-dither"),
        ("gaussian", "saccade-model"),
    ):
        assert Mirrored().guesser(veil_of(veil_name)).name == best
    assert Mirrored().guesser(veil_of("random-smoothing")).name == "wiener"
    assert Mirrored(by="kalman").guesser(veil_of("gaussian")).name == "kalman"
    assert not Mirrored(by="kalman").fits(veil_of("spatial"))
    for bad in ("mirrored", "exemplars", "adaptive"):
        with pytest.raises(OptionError, match="cannot be mirrored"):
            Mirrored(by=bad)


def test_a_model_learns_from_strangers_who_went_through_the_same() -> None:
    gaussian = veil_of("gaussian", sigma=3.0)
    ready = attack_of("mirrored", by="fixation-average").prepare(Knowledge(gaussian))
    trained = ready.recogniser(Learner())
    assert isinstance(trained, Learner)
    assert len({trial.person for trial in trained.known}) > 2
    assert np.median(np.abs(np.diff(trained.known[0].x))) < 0.1
