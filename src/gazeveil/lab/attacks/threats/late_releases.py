# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: not what a clocked mechanism releases, but when.

If releases wait for gaze, participants differ in how late they are.

Releases are read off the output exactly, so their delays are, too: blinks, and how often the tracker loses an eye. Our
`clock` once waited for gaze, and this attack identified participants behind it. It no longer does
(docs/proofs/gaze-stream.md), so the attack finds nothing there but where time stamps themselves have gaps. It is kept
to show that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.contract import ATTACKS, Gallery, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import ScoredGallery
from gazeveil.lab.attacks.recognisers.fisher import Fisher
from gazeveil.lab.attacks.restoring import (
    LEAST_SAMPLES,
    fitting,
    noisy_part,
    releases_of,
    undo_tail,
    unwound,
    without_gaps,
)
from gazeveil.lab.attacks.threats.white_box import VeiledReference, WhiteBox
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.mechanisms.clock import Clock


@ATTACKS.register("late-releases")
@dataclass(frozen=True, slots=True, kw_only=True)
class LateReleases(WhiteBox):
    """Participants are told apart by when releases are late, and by nothing else.

    No point that was released is looked at.

    The recogniser that is given is not used: how often and how long gaze is lost is compared as `fisher` compares it,
    on both sides of the mechanism as far as it shows there.

    Attributes:
        draws: How often each reference trial is veiled. Delays are the same each time unless releases cannot be
            reported; two draws make two rows of even a single window.
    """

    name: ClassVar[str] = "late-releases"
    threat_model: ClassVar[str] = "white box, times of releases alone"

    draws: int = 2

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether the mechanism releases by the clock and does not look back."""
        last = noisy_part(mechanism)
        return isinstance(last, Clock) and last.delay == 0

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        return _Behind(fitting(self, knowledge), self.draws, seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Behind(VeiledReference):
    def recogniser(self, given: Recogniser) -> Recogniser:
        """Return a recogniser that sees nothing but delays."""
        return WithLosses(Fisher(groups=("losses",)), partial(lost_of, self.mechanism))


@dataclass(frozen=True, slots=True, eq=False)
class WithLosses(Recogniser):
    """The given recogniser, shown trials that are marked where gaze was lost, as far as releases tell."""

    name: ClassVar[str] = "with losses"

    given: Recogniser
    marked: Callable[[Trial], Trial]

    @property
    def sees(self) -> frozenset[str]:
        """What the recogniser itself looks at."""
        return self.given.sees

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Enrol veiled gaze with losses."""
        gallery = self.given.enrol([self.marked(trial) for trial in reference], seed)
        return ScoredGallery(gallery.people, lambda query: gallery.windows(self.marked(query)))


def lost_of(mechanism: SampleMechanism, veiled: Trial) -> Trial:
    """Return a trial without gaze: 0 where nothing tells that gaze was lost, missing from when a release was due."""
    there = np.isfinite(veiled.x) & np.isfinite(veiled.y)
    lost = ~there
    if np.count_nonzero(there) >= LEAST_SAMPLES:
        left, x, y = undo_tail(mechanism, veiled.t, unwound(veiled.x, there), without_gaps(veiled.y, there))
        clock = left[-1]
        if isinstance(clock, Clock):
            at = releases_of(clock, veiled.t, x, y).at
            for begin, end in zip(_due(clock, veiled.t, at).tolist(), at[1:].tolist(), strict=True):
                lost[begin:end] = True
    tone = np.arange(len(veiled.t), dtype=np.float64)  # no two samples alike: a repeat would count as no news
    return replace(veiled, x=np.where(lost, np.nan, tone), y=np.where(lost, np.nan, tone), pupil=None)


def _due(clock: Clock, t: FloatArray, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the samples at which all releases but the first were due: a period after the last, and within budget."""
    plan = clock.plan()
    microseconds, ticks = np.rint(t * 1e6), plan.releases.cap // plan.loss
    when = microseconds[at]
    due = when[:-1] + plan.period_us
    due[ticks - 1 :] = np.maximum(due[ticks - 1 :], when[:-ticks] + plan.releases.window_us)
    return np.searchsorted(microseconds, due)
