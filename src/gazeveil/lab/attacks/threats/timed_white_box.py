# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box against a clocked mechanism, with what its clock gives away.

Gaze that was lost is missing again on both sides.

Like `white-box`, and what `late-releases` reads off the times of releases comes on top.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from gazeveil.lab.attacks.contract import ATTACKS, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.restoring import fitting
from gazeveil.lab.attacks.threats.late_releases import LateReleases, WithLosses, lost_of
from gazeveil.lab.attacks.threats.white_box import VeiledReference, WhiteBox
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
        return _Behind(fitting(self, knowledge), self.draws, seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Behind(VeiledReference):
    def recogniser(self, given: Recogniser) -> Recogniser:
        """Return the recogniser, as it sees gaze with losses."""
        return WithLosses(given, partial(_marked, self.mechanism))


def _marked(mechanism: SampleMechanism, veiled: Trial) -> Trial:
    lost = np.isnan(lost_of(mechanism, veiled).x)
    return replace(veiled, x=np.where(lost, np.nan, veiled.x), y=np.where(lost, np.nan, veiled.y), pupil=None)
