# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A recogniser trained behind the veil: many draws of the reference, and strangers for a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks import Gallery, Knowledge, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import adapted
from gazeveil.lab.attacks.matching import EmbeddedGallery
from tests.lab.attacks.veiled_people import attack_of, people, veil, veil_of


@dataclass(frozen=True)
class Learner(Recogniser):
    """A recogniser that only keeps what it was trained on."""

    known: tuple[Trial, ...] = ()

    @property
    def sees(self) -> frozenset[str]:
        return frozenset()

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        raise NotImplementedError

    def trained_on(self, strangers: Sequence[Trial], seed: int = 1) -> Learner:
        return replace(self, known=tuple(strangers))


class Plain(Learner):
    """One without a model."""

    trained_on = Recogniser.trained_on  # type: ignore[assignment]


def test_a_model_is_trained_on_strangers_behind_the_veil() -> None:
    gaussian = veil_of("gaussian", sigma=2.0)
    attack = attack_of("retrained", draws=4, people=3, sessions=2, seconds=5.0)
    ready = attack.prepare(Knowledge(gaussian))
    ready.query(veil(gaussian, people()[0]))
    trained = ready.recogniser(Learner())
    assert isinstance(trained, Learner)
    assert len(trained.known) == 6
    assert {trial.rate_hz for trial in trained.known} == {people()[0].rate_hz}
    assert len({trial.person for trial in trained.known}) == 3
    assert np.median(np.abs(np.diff(trained.known[0].x))) > 1.5
    assert len(ready.references(people()[1])) == 4


def test_one_without_a_model_learns_by_enrolling() -> None:
    ready = attack_of("retrained").prepare(Knowledge(veil_of("gaussian")))
    plain = Plain()
    assert ready.recogniser(plain) is plain


def embedded(noise: float) -> Callable[[Trial], np.ndarray]:
    """People differ in one direction, and noise, the same for all, is larger or smaller in four others."""
    rng = np.random.default_rng(5)

    def embed(trial: Trial) -> np.ndarray:
        return np.stack([float(trial.name) + 0.1 * rng.normal(size=40), *(noise * rng.normal(size=(4, 40)))], axis=1)

    return embed


def crowd(names: Sequence[float]) -> list[Trial]:
    nothing = np.zeros(0)
    return [Trial(f"p{n}", day, str(n), nothing, nothing, nothing, 72.0) for n in names for day in ("1", "2")]


def right(gallery: Gallery, asked: Sequence[Trial]) -> float:
    return float(np.mean([gallery.windows(one).argmax(axis=1) == gallery.people.index(one.person) for one in asked]))


def test_a_layer_learnt_behind_the_veil_undoes_what_the_veil_does_to_embeddings() -> None:
    embed, two = embedded(8.0), crowd([-1.0, 1.0])
    layer = adapted(embed, crowd([-1.0, -0.9, 0.9, 1.0]))
    assert right(layer.enrol(two), two) > right(EmbeddedGallery(embed, two), two) + 0.1


def test_where_a_layer_does_not_help_everything_stays() -> None:
    layer = adapted(embedded(0.0), crowd([-1.0, -0.9, 0.9, 1.0]))
    assert np.allclose(layer.layer, np.eye(5))
    with pytest.raises(InputError, match="four participants"):
        adapted(embedded(1.0), crowd([1.0, 2.0]))


def test_nonsense_is_refused() -> None:
    for bad in ({"draws": 0}, {"seconds": 0.0}):
        with pytest.raises(OptionError):
            attack_of("retrained", **bad)
