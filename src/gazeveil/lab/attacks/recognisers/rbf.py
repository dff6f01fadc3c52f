# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Two networks of radial basis functions, one for fixations and one for saccades (George & Routray 2016).

Every event is a row of features. Each participant's events are gathered around some centres by k-means; how near an
event is to all centres goes through one linear layer, solved by least squares, that says whose it is. Scores of all
events of a window are averaged, and both networks' are summed.

What the paper does not state is ours: Gaussian bells as wide as the mean distance between an event and its centre,
a little ridge in the least squares, and participants weighing the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, closest
from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import Rows, Scale, Score, ScoredGallery, at_best_rate, check_rate, rows_of
from gazeveil.lab.attacks.gaze_features import Movement, find_events, stretches
from gazeveil.simulate.population import Purpose, generator

_ROUNDS = 25
_ALLOWED = ("position", "pupil")


@RECOGNISERS.register("rbf")
@dataclass(frozen=True, slots=True)
class Rbf(Recogniser):
    """Fixations and saccades one by one, told apart by their nearness to each participant's typical ones.

    Attributes:
        allow: What it may look at beside movement: ``position`` and ``pupil`` add where a fixation lies and how wide
            the pupil is during it.
        seconds: How long a window is.
        step: How much later the next window begins.
        centres: How many typical events each participant has, in each network.
        ridge: How much the linear layer is held back, relative to the mean of its diagonal.
        rate_hz: The rate to look at gaze at; by default the one that the reference favours, infinite for gaze as it was
            recorded.
    """

    name: ClassVar[str] = "rbf"

    allow: frozenset[str] = frozenset()
    seconds: float = 10.0
    step: float = 5.0
    centres: int = 32
    ridge: float = 1e-3
    rate_hz: float | None = None

    def __post_init__(self) -> None:
        check_rate(self.rate_hz)
        if unknown := sorted(self.allow - set(_ALLOWED)):
            raise OptionError(f"no feature is called {unknown[0]!r}", hint=closest(unknown[0], _ALLOWED))
        if self.centres < 1 or not self.ridge > 0:
            raise OptionError(f"centres and ridge must be above 0, not {self.centres!r} and {self.ridge!r}")
        if not self.seconds > 0 or not self.step > 0:
            raise OptionError(f"windows and steps must be longer than 0 s, not {self.seconds!r} and {self.step!r}")

    @property
    def sees(self) -> frozenset[str]:
        """What it looks at beyond velocity."""
        return self.allow

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Learn the participants of the reference trials.

        Raises:
            InputError: If no reference trial has a fixation.
        """
        return at_best_rate(reference, partial(self._learnt, seed=seed), self.rate_hz)

    def _learnt(self, reference: Sequence[Trial], seed: int) -> Gallery:
        found = {id(trial): self._events(trial) for trial in reference}
        fixations = rows_of(reference, lambda trial: found[id(trial)]["fixation"][1])
        people = fixations.people
        networks = {"fixation": self._network(fixations, seed)}
        known = [trial for trial in reference if trial.person in people and len(found[id(trial)]["saccade"][1])]
        if {trial.person for trial in known} == set(people):  # who never jumps would be unlike everybody
            networks["saccade"] = self._network(rows_of(known, lambda trial: found[id(trial)]["saccade"][1]), seed)
        return ScoredGallery(people, lambda query: self._score(query, networks, len(people)))

    def _score(self, query: Trial, networks: Mapping[str, Score], people: int) -> FloatArray:
        """Return for each window the mean score of its events, summed over both networks."""
        scored = [
            (onsets, networks[kind](rows))
            for kind, (onsets, rows) in self._events(query).items()
            if kind in networks and len(rows)
        ]
        found = []
        for window in stretches(query, self.seconds, self.step):
            inside = [(onsets >= window.t[0]) & (onsets <= window.t[-1]) for onsets, _ in scored]
            means = [scores[here].mean(axis=0) for here, (_, scores) in zip(inside, scored, strict=True) if here.any()]
            if means:
                found.append(np.sum(means, axis=0))
        return np.array(found).reshape(-1, people)

    def _events(self, trial: Trial) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Return onsets and features of fixations and saccades."""
        events = find_events(Movement.of(trial))
        columns = [column for name, column in (("position", [0, 1]), ("pupil", [2])) if name in self.allow]
        places = events.fixation_places[:, [number for some in columns for number in some]]
        return {
            "fixation": (events.fixation_onsets, np.concatenate((events.fixations, places), axis=1)),
            "saccade": (events.saccade_onsets, events.saccades),
        }

    def _network(self, rows: Rows, seed: int) -> Score:
        """Learn one network: centres by k-means, bells around them, and a linear layer by least squares."""
        people, owner, scale = len(rows.people), rows.owner, Scale.of(rows.values)
        scaled = scale.apply(rows.values)
        own = [_k_means(scaled[owner == person], self.centres, seed, person) for person in range(people)]
        centres = np.concatenate([found for found, _ in own])
        widths = np.concatenate([width for _, width in own])

        def bells(asked: FloatArray) -> FloatArray:
            return np.asarray(np.exp(-_squared_distances(asked, centres) / (2 * widths**2)))

        hidden, truth = bells(scaled), np.eye(people)[owner]
        weight = 1 / np.bincount(owner, minlength=people)[owner]
        gram = hidden.T @ (hidden * weight[:, None])
        gram[np.diag_indices_from(gram)] += self.ridge * np.trace(gram) / len(gram)
        layer = np.linalg.solve(gram, hidden.T @ (truth * weight[:, None]))
        return lambda asked: np.asarray(bells(scale.apply(asked)) @ layer)


def _k_means(rows: FloatArray, centres: int, seed: int, person: int) -> tuple[FloatArray, FloatArray]:
    """Return centres of one participant's events and how wide each one's bell is: the mean distance of its events."""
    rng = generator(seed, Purpose.STREAM, "k-means", person)
    found = rows[rng.choice(len(rows), size=min(centres, len(rows)), replace=False)]
    for _ in range(_ROUNDS):
        nearest = _squared_distances(rows, found).argmin(axis=1)
        counts = np.bincount(nearest, minlength=len(found))
        sums = np.zeros_like(found)
        np.add.at(sums, nearest, rows)
        found = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], found)
    distances = np.sqrt(_squared_distances(rows, found))
    nearest = distances.argmin(axis=1)
    lengths = np.bincount(nearest, distances.min(axis=1), minlength=len(found))
    counts = np.bincount(nearest, minlength=len(found))
    overall = max(float(distances.min(axis=1).mean()), 1e-3)
    widths = np.where(counts > 1, lengths / np.maximum(counts, 1), overall)  # a centre with one event has no width
    return found, np.maximum(widths, overall / 2)


def _squared_distances(rows: FloatArray, centres: FloatArray) -> FloatArray:
    squares = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))
