# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Everything: an attacker who knows the policy, works out the state, has exemplars, and takes what works best.

Which one that is, is found out on the participants of the exemplars, never on those who are asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.exact import whole_number
from gazeveil.lab.attacks.contract import (
    ATTACKS,
    RECOGNISERS,
    Attack,
    Exemplar,
    Grant,
    Knowledge,
    Prepared,
    Recogniser,
    Trial,
)
from gazeveil.lab.attacks.restoring import in_degrees
from gazeveil.samples.mechanism import SampleMechanism


@ATTACKS.register("adaptive")
@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(Attack):
    """The strongest of all other attacks, as judged on the exemplars.

    The participants of the exemplars are parted in two halves. Each attack learns from one half and is tried on the
    other, and the reverse: participants are enrolled from one session and asked about in another. The attack that ranks
    the right participant highest (mean over windows of one over the rank, which tells more from few participants than
    hits do) is taken, and learns from all exemplars. If the exemplars do not have the same participants in two
    sessions, the attack that gets closest to their raw gaze is taken.

    The state of the mechanism is worked out from its output (`restoring.releases`), so it need not be granted.

    Attributes:
        candidates: Names of attacks to choose from; none means all others that fit. ``none`` is to do nothing.
        judge: The recogniser that participants of the exemplars are told apart with.
        most_trials: No more trials than this of each session are used for choosing, spread over participants.
    """

    name: ClassVar[str] = "adaptive"
    threat_model: ClassVar[str] = "white box with exemplars, the best of all"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM, Grant.EXEMPLARS})

    candidates: tuple[str, ...] = ()
    judge: str = "lda"
    most_trials: int = 24

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", tuple(self.candidates))
        object.__setattr__(self, "most_trials", whole_number(self.most_trials, "most_trials", at_least=1))
        if self.name in self.candidates:
            raise OptionError("the adaptive attack cannot choose itself")

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        mechanism = in_degrees(knowledge.mechanism)
        if not knowledge.exemplars:
            raise InputError("there are no exemplars to choose by")
        scores = self.scores(mechanism, knowledge.exemplars, seed)
        best = max(scores, key=lambda name: scores[name])
        attack = NOTHING if best == NOTHING.name else ATTACKS[best]()
        return attack.prepare(knowledge, seed)

    def scores(self, mechanism: SampleMechanism, exemplars: Sequence[Exemplar], seed: int = 1) -> dict[str, float]:
        """Return how well each candidate does on the exemplars, more is better.

        Those that lack a package, or cannot learn from exemplars so short or so few, are left out.

        Raises:
            InputError: If no candidate fits the mechanism, or none can be tried on these exemplars.
        """
        names = self.candidates or (NOTHING.name, *(name for name in ATTACKS.names() if name != self.name))
        trial = _Trials(mechanism, tuple(exemplars), self.judge, self.most_trials, seed)
        scores: dict[str, float] = {}
        failed: InputError | None = None
        for name in names:
            attack = NOTHING if name == NOTHING.name else ATTACKS[name]()
            if attack.fits(mechanism):
                try:
                    scores[name] = trial.score(attack)
                except MissingExtra:
                    continue
                except InputError as error:
                    failed = error
        if not scores:
            raise failed or InputError(f"no attack to choose from fits {mechanism.name}")
        return scores


@dataclass(frozen=True, slots=True)
class _DoNothing(Attack):
    """The veiled gaze as it is: sometimes nothing is better."""

    name: ClassVar[str] = "none"
    threat_model: ClassVar[str] = "black box"

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        return _AsItIs()


class _AsItIs(Prepared):
    def query(self, veiled: Trial) -> Trial:
        return veiled.anonymous()


NOTHING = _DoNothing()


@dataclass(frozen=True, slots=True, eq=False)
class _Trials:
    """Exemplars of participants, parted in halves, on which attacks are tried."""

    mechanism: SampleMechanism
    exemplars: tuple[Exemplar, ...]
    judge: str
    most: int
    seed: int

    def score(self, attack: Attack) -> float:
        """Return the mean of one over the right participant's rank.

        Without two sessions, minus the error in degrees.
        """
        people = sorted({exemplar.raw.person for exemplar in self.exemplars})
        halves = {person: number % 2 for number, person in enumerate(people)}
        parts = [[one for one in self.exemplars if halves[one.raw.person] == half] for half in (0, 1)]
        if Grant.EXEMPLARS not in attack.grants:
            ready = [attack.prepare(self._knowledge(()), self.seed)] * 2
        elif len(people) > 1:
            ready = [attack.prepare(self._knowledge(part), self.seed) for part in reversed(parts)]
        else:
            raise InputError("choosing needs exemplars of two participants at least")
        sessions = sorted({one.raw.session for one in self.exemplars})
        in_both = {one.raw.person for one in self.exemplars if one.raw.session == sessions[0]}
        asked = [one for one in self.exemplars if one.raw.session == sessions[-1] and one.raw.person in in_both]
        if len(sessions) < 2 or len({one.raw.person for one in asked}) < 2:
            return -float(np.mean([_error(ready[halves[one.raw.person]], one) for one in self._some(self.exemplars)]))
        enrolled = self._some(one for one in self.exemplars if one.raw.session == sessions[0])
        right: list[float] = []
        for half in {id(prepared): prepared for prepared in ready}.values():
            recogniser: Recogniser = half.recogniser(RECOGNISERS[self.judge]())
            reference = [bare for one in enrolled for bare in half.references(one.raw.with_gaze(one.raw.x, one.raw.y))]
            gallery = recogniser.enrol(reference, self.seed)
            for one in self._some(asked):
                if ready[halves[one.raw.person]] is half and one.raw.person in gallery.people:
                    scores = gallery.windows(half.query(one.veiled))
                    own = scores[:, [gallery.people.index(one.raw.person)]]
                    right += list(1.0 / (scores >= own).sum(axis=1))
        return float(np.mean(right)) if right else 0.0

    def _knowledge(self, exemplars: Sequence[Exemplar]) -> Knowledge:
        return Knowledge(self.mechanism, tuple(exemplars) or None)

    def _some(self, exemplars: Iterable[Exemplar]) -> list[Exemplar]:
        """Return some of them: each participant's first before anyone's second."""
        seen: dict[str, int] = {}
        ranked: list[tuple[int, int, Exemplar]] = []
        for one in exemplars:
            seen[one.raw.person] = seen.get(one.raw.person, 0) + 1
            ranked.append((seen[one.raw.person], len(ranked), one))
        return [one for _, _, one in sorted(ranked, key=lambda item: item[:2])[: self.most]]


def _error(prepared: Prepared, one: Exemplar) -> float:
    guess = prepared.query(one.veiled)
    squares = (guess.x - one.raw.x) ** 2 + (guess.y - one.raw.y) ** 2
    return float(np.sqrt(np.nanmean(squares))) if np.isfinite(squares).any() else float("inf")
