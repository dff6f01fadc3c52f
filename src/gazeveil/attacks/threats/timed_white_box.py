# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box against a clocked mechanism, with what its clock gives away.

Gaze that was lost is missing again on both sides.

Like `white-box`, and what `late-releases` reads off the times of releases comes on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gazeveil.attacks.contract import ATTACKS, Gallery, Knowledge, Prepared, Recogniser, Trial
from gazeveil.attacks.recognisers._galleries import ScoredGallery
from gazeveil.attacks.restoring.shared import fitting
from gazeveil.attacks.threats.late_releases import LateReleases, lost_of
from gazeveil.attacks.threats.white_box import VeiledReference, WhiteBox
from gazeveil.samples.mechanism import SampleMechanism


@ATTACKS.register("timed-white-box")
@dataclass(frozen=True, slots=True, kw_only=True)
class TimedWhiteBox(WhiteBox):
    """The query as it is, but missing where a release was late; the reference behind the same mechanism likewise.

    Attributes:
        draws: How often each reference trial is veiled.
    """

    name: ClassVar[str] = "timed-white-box"
    threat_model: ClassVar[str] = "white box, with times of releases"

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether the times of releases tell anything."""
        return LateReleases().fits(mechanism)

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        mechanism = fitting(self, knowledge)
        return _Behind(mechanism, self.draws, seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Behind(VeiledReference):
    def recogniser(self, given: Recogniser) -> Recogniser:
        """Return the recogniser, as it sees gaze with losses."""
        return _WithLosses(given, self.mechanism)


@dataclass(frozen=True, slots=True, eq=False)
class _WithLosses(Recogniser):
    """A recogniser that is shown where gaze was lost."""

    name: ClassVar[str] = "with losses"

    given: Recogniser
    mechanism: SampleMechanism

    @property
    def sees(self) -> frozenset[str]:
        """What the recogniser itself looks at."""
        return self.given.sees

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Enrol veiled gaze with losses."""
        gallery = self.given.enrol([self._marked(trial) for trial in reference], seed)
        return ScoredGallery(gallery.people, lambda query: gallery.windows(self._marked(query)))

    def _marked(self, veiled: Trial) -> Trial:
        lost = np.isnan(lost_of(self.mechanism, veiled).x)
        return replace(veiled, x=np.where(lost, np.nan, veiled.x), y=np.where(lost, np.nan, veiled.y), pupil=None)
