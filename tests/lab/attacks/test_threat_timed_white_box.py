# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A recogniser behind the veil is shown where gaze was lost, on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks import Gallery, Knowledge, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import ScoredGallery
from tests.lab.attacks.test_threat_late_releases import waiting
from tests.lab.attacks.veiled_people import attack_of, people, veil, veil_of


@dataclass(frozen=True)
class Watcher(Recogniser):
    """Keeps what it is shown."""

    known: list[Trial] = field(default_factory=list)

    @property
    def sees(self) -> frozenset[str]:
        return frozenset({"position"})

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        self.known.extend(reference)

        def score(query: Trial) -> FloatArray:
            self.known.append(query)
            return np.zeros((1, 1))

        return ScoredGallery([reference[0].person], score)


def test_losses_are_shown_in_reference_and_query_and_nothing_else_changes() -> None:
    clock, raw = waiting(), people()[0]
    ready, watcher = attack_of("timed-white-box", draws=2).prepare(Knowledge(clock)), Watcher()
    shown = veil(clock, raw)
    recogniser = ready.recogniser(watcher)
    assert recogniser.sees == frozenset({"position"})
    gallery = recogniser.enrol(ready.references(raw))
    assert gallery.people == (raw.person,)
    gallery.windows(ready.query(shown))
    assert len(watcher.known) == 3
    blinks = np.isnan(raw.x)
    assert blinks.any()
    for seen in watcher.known:
        lost = np.isnan(seen.x)
        assert 0 < lost.sum() <= 1.5 * blinks.sum()
        assert blinks[lost].mean() > 0.6
    query = watcher.known[-1]
    there = np.isfinite(query.x)
    assert np.array_equal(query.x[there], shown.x[there])


def test_on_the_public_clock_it_is_the_white_box() -> None:
    clock, raw = veil_of("clock", epsilon=3, window="0.5", radius="2.25"), people()[0]
    ready, watcher = attack_of("timed-white-box", draws=1).prepare(Knowledge(clock)), Watcher()
    gallery = ready.recogniser(watcher).enrol(ready.references(raw))
    gallery.windows(ready.query(veil(clock, raw)))
    plain = attack_of("white-box", draws=1).prepare(Knowledge(clock))
    assert np.isnan(raw.x).any()
    for seen, without in zip(watcher.known, (*plain.references(raw), veil(clock, raw)), strict=True):
        assert np.array_equal(seen.x, without.x)
