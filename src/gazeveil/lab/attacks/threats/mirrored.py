# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: take the mechanism off the query, and put the reference through the same: veiled, then unveiled.

What is guessed is never quite raw gaze; it lacks tremor, or is too smooth. So a recogniser does better if everyone it
knows has been through the same mechanism and the same guessing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Gallery, Grant, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.restoring import in_degrees
from gazeveil.lab.attacks.threats.retrained import Retrained
from gazeveil.samples.mechanism import SampleMechanism

BEST_FIRST: Final = ("inverse-smoothing", "spatial-dither", "saccade-model", "wiener")
"""The first of these that fits a mechanism is used against it; the last fits all."""


@ATTACKS.register("mirrored")
@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored(Attack):
    """Another attack on both sides: on the query, and on several veiled draws of the reference.

    Attributes:
        by: Which attack guesses; empty takes the first of `BEST_FIRST` that fits. It must need the mechanism alone.
        draws: How often each reference trial is veiled.
    """

    name: ClassVar[str] = "mirrored"
    threat_model: ClassVar[str] = "white box, both sides unveiled"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    by: str = ""
    draws: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", whole_number(self.draws, "draws", at_least=1))
        if self.by == self.name or (self.by and not ATTACKS[self.by].grants <= self.grants):
            raise OptionError(f"{self.by} cannot be mirrored: it is this, or needs more than the mechanism")

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether the attack that guesses fits."""
        return self.guesser(mechanism).fits(mechanism)

    def guesser(self, mechanism: SampleMechanism) -> Attack:
        """Return the attack that guesses."""
        names = (self.by,) if self.by else BEST_FIRST
        made = [ATTACKS[name]() for name in names]
        return next((attack for attack in made if attack.fits(mechanism)), made[-1])

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        mechanism = in_degrees(knowledge.mechanism)
        behind = Retrained(draws=self.draws).prepare(knowledge, seed)
        return _Mirror(self.guesser(mechanism).prepare(knowledge, seed), behind)


@dataclass(frozen=True, slots=True, eq=False)
class _Mirror(Prepared):
    """One that unveils, and one that veils the reference."""

    unveils: Prepared
    veils: Prepared

    def query(self, veiled: Trial) -> Trial:
        """Return the guess."""
        return self.unveils.query(self.veils.query(veiled))

    def reference(self, raw: Trial) -> Trial:
        """Return the reference, veiled and unveiled."""
        return self._unveiled(self.veils.reference(raw))

    def references(self, raw: Trial) -> tuple[Trial, ...]:
        """Return the reference, veiled and unveiled, as often as asked."""
        return tuple(self._unveiled(drawn) for drawn in self.veils.references(raw))

    def recogniser(self, given: Recogniser) -> Recogniser:
        """Return the recogniser after training on strangers, veiled and unveiled."""
        if type(given).trained_on is Recogniser.trained_on:
            return given
        return self.veils.recogniser(_Through(given, self))

    def _unveiled(self, drawn: Trial) -> Trial:
        return replace(self.unveils.query(drawn), person=drawn.person)


@dataclass(frozen=True, slots=True, eq=False)
class _Through(Recogniser):
    """A recogniser whose strangers are unveiled before it learns from them."""

    name: ClassVar[str] = "unveiled"

    given: Recogniser
    mirror: _Mirror

    @property
    def sees(self) -> frozenset[str]:
        """What the recogniser itself looks at."""
        return self.given.sees

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Enrol as the recogniser itself does."""
        return self.given.enrol(reference, seed)

    def trained_on(self, strangers: Sequence[Trial], seed: int = 1) -> Recogniser:
        """Train the recogniser itself, on strangers who were unveiled."""
        return self.given.trained_on([self.mirror._unveiled(trial) for trial in strangers], seed)
