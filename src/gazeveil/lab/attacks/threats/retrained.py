# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: a recogniser that has learnt what participants look like behind the mechanism.

The reference goes through the mechanism many times, so the recogniser enrols what the mechanism leaves of a participant
and not what one draw of noise made of them. One with a model of its own is also trained further, on strangers behind
the mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.restoring import in_degrees, veiled_strangers
from gazeveil.lab.attacks.threats.white_box import VeiledReference

_USUAL_HZ = 90.0


@ATTACKS.register("retrained")
@dataclass(frozen=True, slots=True, kw_only=True)
class Retrained(Attack):
    """The query as it is, against many draws of the reference, with a recogniser trained behind the mechanism.

    Recognisers that learn from the reference alone (features with a discriminant, a forest or a network) are trained on
    veiled gaze by enrolling it. `Recogniser.trained_on` does it for those with a model.

    Attributes:
        draws: How often each reference trial is veiled.
        people: How many simulated strangers the model is trained further on.
        sessions: How many sessions each of them has.
        seconds: How long a session is.
    """

    name: ClassVar[str] = "retrained"
    threat_model: ClassVar[str] = "white box, recogniser trained on veiled gaze"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    draws: int = 8
    people: int = 40
    sessions: int = 2
    seconds: float = 40.0

    def __post_init__(self) -> None:
        for name in ("draws", "people", "sessions"):
            object.__setattr__(self, name, whole_number(getattr(self, name), name, at_least=1))
        if not (math.isfinite(self.seconds) and 1 <= self.seconds <= 3600):
            raise OptionError(f"seconds must lie between 1 and 3600, not at {self.seconds!r}")

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        return _Behind(in_degrees(knowledge.mechanism), self.draws, seed, self)


@dataclass(frozen=True, slots=True, eq=False)
class _Behind(VeiledReference):
    """Trains the recogniser for the rate of the gaze that it is asked about."""

    attack: Retrained
    rates: list[float] = field(default_factory=list)

    def query(self, veiled: Trial) -> Trial:
        """Return the query as it is, without a name."""
        if veiled.rate_hz not in self.rates:
            self.rates.append(veiled.rate_hz)
        return VeiledReference.query(self, veiled)

    def recogniser(self, given: Recogniser) -> Recogniser:
        """Return the recogniser after training on simulated strangers behind the mechanism."""
        if type(given).trained_on is Recogniser.trained_on:
            return given  # it has no model, so there is no need to simulate anybody
        rate = self.rates[0] if self.rates else _USUAL_HZ
        size = (self.attack.people, self.attack.sessions, self.attack.seconds)
        pairs = veiled_strangers(self.mechanism, rate, *size, self.seed)
        return given.trained_on([pair.veiled for pair in pairs], self.seed)
