# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What recognisers share: participants enrolled from rows of features, the rate to look at, and linear discriminants.

Features count in samples. At 250 Hz and more they describe the noise of a tracker in a session rather than the eye, and
who is known from one day is not recognised on the next. Averaging to a slower rate helps, but how slow?

- Known from several sessions: sessions are left out, half of each participant's at a time, and the rate that ranks
  participants highest in them is taken.
- Known from one session alone, a faster rate always looks better, because it also shows what is the session's own. So
  the slowest rate is taken at which not surely fewer participants are recognised in the other half of the session.

Gaze at up to 100 Hz stays as it is: recognisers were made on such gaze, and slower was worse there.

What must be ignored is not only how a participant varies from window to window but how the same participant differs
from session to session: another calibration, another task, another day. Both go into the covariance that rows are
whitened by, the second with more weight, because a few sessions show little of it. There are often more features than
rows, so that covariance is pulled towards its mean variance.

Behind a mechanism some directions of an embedding tell more of the noise than of the participant. How embeddings of one
participant vary is learnt from strangers, and that variation is evened out (within-class covariance normalisation,
Hatch, Kajarekar and Stolcke 2006), so that a cosine counts what is left of participants. How far to go is tried on
strangers who had no part in the learning; to leave everything as it is, is one of the ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.contract import Gallery, Recogniser, Trial
from gazeveil.lab.attacks.matching import EmbeddedGallery, directions, nearest_by_person

Describe = Callable[[Trial], FloatArray]
"""What turns a trial into rows of features, one for every window."""
Score = Callable[[FloatArray], FloatArray]
"""What turns rows into scores, a column for everyone."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Features of the windows of known participants.

    Attributes:
        people: Who they are, sorted; everyone has a row.
        values: One row for every window.
        owner: The number of the participant of each row.
        session: The session of each row.
    """

    people: tuple[str, ...]
    values: FloatArray
    owner: NDArray[np.int64]
    session: NDArray[np.str_]

    def occasions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of each row's occasion (a participant in a session), and each occasion's participant."""
        pairs = list(zip(self.owner.tolist(), self.session.tolist(), strict=True))
        met = sorted(set(pairs))
        number = {pair: at for at, pair in enumerate(met)}
        return np.array([number[pair] for pair in pairs]), np.array([person for person, _ in met])


Learn = Callable[[Rows], Score]
"""What learns from rows."""


class ScoredGallery(Gallery):
    """Participants, and the rule that scores the windows of a query. Who has no usable window is not enrolled."""

    def __init__(self, people: Sequence[str], score: Callable[[Trial], FloatArray]) -> None:
        self._people = tuple(people)
        self._score = score

    @property
    def people(self) -> tuple[str, ...]:
        """Everyone who is enrolled, sorted."""
        return self._people

    def windows(self, query: Trial) -> FloatArray:
        """Return the scores of every window."""
        return self._score(query)


def described(reference: Sequence[Trial], describe: Describe, learn: Learn) -> ScoredGallery:
    """Enrol participants by rows of features.

    Raises:
        InputError: If no reference trial has a usable window.
    """
    rows = rows_of(reference, describe)
    score = learn(rows)

    def of_trial(query: Trial) -> FloatArray:
        asked = describe(query)
        return score(asked) if len(asked) else np.empty((0, len(rows.people)))

    return ScoredGallery(rows.people, of_trial)


def rows_of(reference: Sequence[Trial], describe: Describe) -> Rows:
    """Return the rows of all usable windows.

    Raises:
        InputError: If there are none.
    """
    parts = [(trial.person, trial.session, found) for trial in reference if len(found := describe(trial))]
    if not parts:
        raise InputError("no reference trial has a usable window", hint="are the trials long enough?")
    people = tuple(sorted({person for person, _, _ in parts}))
    number = {person: at for at, person in enumerate(people)}
    lengths = [len(found) for _, _, found in parts]
    return Rows(
        people,
        np.concatenate([found for _, _, found in parts]),
        np.repeat([number[person] for person, _, _ in parts], lengths),
        np.repeat([session for _, session, _ in parts], lengths),
    )


# --- At which rate to look at gaze: chosen inside the reference, and never on a query.


FAST_HZ: Final = 100.0
"""Above this, slower rates are tried."""
SLOWEST_HZ: Final = 30.0
"""No rate below this is tried."""
SURELY: Final = 0.05
"""How rarely chance may lose this many participants, for a rate to be surely worse."""
_FASTER = 1.5

Enrol = Callable[[Sequence[Trial]], Gallery]
"""Learns participants from trials at whatever rate they have."""
Found = dict[tuple[str, str, int], float]
"""One over the rank of the right participant, by participant, session and half asked about; 0 without a usable window.
"""


def check_rate(rate_hz: float | None) -> None:
    """Refuse what is no rate.

    Raises:
        OptionError: If it is not above 0.
    """
    if rate_hz is not None and not rate_hz > 0:
        raise OptionError(f"the rate must be above 0 Hz, not {rate_hz!r}", hint="leave it out to have it chosen")


def at_best_rate(reference: Sequence[Trial], enrol: Enrol, rate_hz: float | None) -> Gallery:
    """Enrol participants at a rate, and ask about everyone at the same.

    Args:
        reference: Trials of known participants.
        enrol: What learns from them; it must not choose a rate itself.
        rate_hz: The rate; infinite for gaze as it was recorded, None for the one that the reference favours.
    """
    rate = best_rate(reference, enrol) if rate_hz is None else rate_hz
    gallery = enrol([averaged(trial, rate) for trial in reference])
    return ScoredGallery(gallery.people, lambda query: gallery.windows(averaged(query, rate)))


def best_rate(reference: Sequence[Trial], enrol: Enrol) -> float:
    """Return the rate that the reference favours; it depends on nothing else."""
    rates = candidates(min((trial.rate_hz for trial in reference), default=FAST_HZ))
    if len(rates) == 1:
        return rates[0]
    halves, across_sessions = _halves(reference)
    found = {rate: _recognised(halves, enrol, rate) for rate in rates}
    if across_sessions:
        return max(rates, key=lambda rate: (round(_mean(found[rate]), 9), -rate))
    best = max(rates, key=lambda rate: (_right_guesses(found[rate]), -rate))
    return min(rate for rate in rates if not _surely_worse(found[rate], found[best]))


def candidates(rate_hz: float) -> tuple[float, ...]:
    """Return the rates to try, fastest first: half, a quarter, … of a fast one."""
    if rate_hz <= FAST_HZ:
        return (rate_hz,)
    return tuple(rate_hz / 2**times for times in range(math.floor(math.log2(rate_hz / SLOWEST_HZ)) + 1))


def averaged(trial: Trial, rate_hz: float) -> Trial:
    """Return a trial at a slower rate: means of what falls into one step, missing where less than half is there.

    Pupil is averaged too. A trial that is not faster by half stays as it is.
    """
    if trial.rate_hz < _FASTER * rate_hz or not len(trial.t):
        return trial
    step = 1.0 / rate_hz
    slot = np.floor((trial.t - trial.t[0]) / step + 1e-6).astype(np.int64)
    slots = int(slot[-1]) + 1
    there = np.bincount(slot, minlength=slots)

    def mean(values: FloatArray) -> FloatArray:
        known = np.isfinite(values)
        count = np.bincount(slot[known], minlength=slots)
        total = np.bincount(slot[known], values[known], slots)
        enough = (count > 0) & (2 * count >= there)
        return np.asarray(np.divide(total, count, out=np.full(slots, np.nan), where=enough))

    return replace(
        trial,
        t=trial.t[0] + (np.arange(slots) + 0.5) * step,
        x=mean(trial.x),
        y=mean(trial.y),
        rate_hz=rate_hz,
        pupil=None if trial.pupil is None else mean(trial.pupil),
        fields={},
    )


def _halves(reference: Sequence[Trial]) -> tuple[tuple[list[Trial], list[Trial]], bool]:
    """Part each participant's sessions in two, or their trials where there is one session, or the one trial by time.

    All draws of a trial go into one half.
    """
    met: dict[str, dict[str, dict[str, list[Trial]]]] = {}
    for trial in reference:
        met.setdefault(trial.person, {}).setdefault(trial.session, {}).setdefault(trial.name, []).append(trial)
    across = all(len(sessions) > 1 for sessions in met.values())
    halves: tuple[list[Trial], list[Trial]] = [], []
    for sessions in met.values():
        if across:
            for number, session in enumerate(sorted(sessions)):
                halves[number % 2].extend(one for draws in sessions[session].values() for one in draws)
            continue
        trials = [draws for names in sessions.values() for draws in names.values()]
        for number, draws in enumerate(trials):
            for one in draws:
                if len(trials) > 1:
                    halves[number >= len(trials) // 2].append(one)
                else:
                    first, second = _cut_in_two(one)
                    halves[0].append(first)
                    halves[1].append(second)
    return halves, across


def _cut_in_two(trial: Trial) -> tuple[Trial, Trial]:
    late = trial.t >= (trial.t[0] + trial.t[-1]) / 2 if len(trial.t) else np.zeros(0, dtype=np.bool_)
    return _part(trial, ~late), _part(trial, late)


def _part(trial: Trial, kept: BoolArray) -> Trial:
    pupil = None if trial.pupil is None else trial.pupil[kept]
    return replace(trial, t=trial.t[kept], x=trial.x[kept], y=trial.y[kept], pupil=pupil, fields={})


def _recognised(halves: tuple[list[Trial], list[Trial]], enrol: Enrol, rate: float) -> Found:
    """Ask about each half, known from the other; all trials of a participant in a session speak together."""
    found: Found = {}
    for half, asked in enumerate(halves):
        heard: dict[tuple[str, str, int], list[FloatArray]] = {
            (trial.person, trial.session, half): [] for trial in asked
        }
        people: tuple[str, ...] = ()
        try:
            gallery = enrol([averaged(trial, rate) for trial in halves[1 - half]])
        except InputError:  # too little to learn from, which counts against the rate
            pass
        else:
            people = gallery.people
            for trial in asked:
                scores = gallery.windows(averaged(trial, rate).anonymous())
                if len(scores):
                    heard[trial.person, trial.session, half].append(scores.mean(axis=0))
        for key, rows in heard.items():
            found[key] = 0.0
            if rows and key[0] in people:
                scores = np.mean(rows, axis=0)
                found[key] = 1.0 / int((scores >= scores[people.index(key[0])]).sum())
    return found


def _mean(found: Found) -> float:
    return float(np.mean(list(found.values()))) if found else 0.0


def _right_guesses(found: Found) -> int:
    return sum(value == 1.0 for value in found.values())


def _surely_worse(slow: Found, best: Found) -> bool:
    """Whether chance alone would rarely lose this many.

    The sign test over those who are recognised at one rate alone.
    """
    lost = sum(best[key] == 1.0 and slow[key] < 1.0 for key in best)
    won = sum(slow[key] == 1.0 and best[key] < 1.0 for key in best)
    ways = sum(math.comb(lost + won, number) for number in range(lost, lost + won + 1))
    return bool(ways / 2 ** (lost + won) <= SURELY)


# --- Linear discriminant analysis that knows of sessions: who is it, from a row of many correlated numbers?


SHRINKAGE: Final = 0.3
SESSIONS: Final = 4.0
"""Both chosen on training sessions alone; the page on re-identification has the figures."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Brings features to one scale as the reference has them; what lies beyond its range is put on the edge.

    A missing value becomes the median. A feature that never varies says nothing and becomes 0.
    """

    median: FloatArray
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    spread: FloatArray

    @staticmethod
    def of(rows: FloatArray) -> Scale:
        """Learn the scale of some rows; NaN are left out."""
        there = np.isfinite(rows)
        last = np.maximum(there.sum(axis=0) - 1, 0)
        ordered = np.sort(np.where(there, rows, np.inf), axis=0)
        ordered[:, ~there.any(axis=0)] = 0.0
        every = np.arange(rows.shape[1])
        low, median, high = (ordered[np.round(share * last).astype(np.int64), every] for share in (0.01, 0.5, 0.99))
        filled = np.clip(np.where(there, rows, median), low, high)
        spread = filled.std(axis=0)
        return Scale(median, low, high, filled.mean(axis=0), np.where(spread > 1e-12, spread, np.inf))

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return rows in units of the reference's spread."""
        filled = np.clip(np.where(np.isfinite(rows), rows, self.median), self.low, self.high)
        return np.asarray((filled - self.mean) / self.spread)


@dataclass(frozen=True, slots=True, eq=False)
class Discriminant:
    """What was learnt: how to map a row into the space where participants differ, and where each lies there.

    That space has a dimension less than there are participants, its origin is the middle of all participants, and
    each participant's own spread is a unit sphere. What lies across it is the same for everyone.
    """

    scale: Scale
    into: FloatArray
    origin: FloatArray
    centres: FloatArray

    @staticmethod
    def fit(rows: Rows, shrinkage: float = SHRINKAGE, sessions: float = SESSIONS) -> Discriminant:
        """Learn from rows of known participants; participants and sessions weigh the same, however many rows they have.

        Args:
            rows: Everyone has at least one.
            shrinkage: The share of the covariance that is its mean variance, the same in all directions.
            sessions: The weight of what differs between sessions of one participant.

        Raises:
            InputError: If nobody has two rows.
        """
        if len(rows.values) <= len(rows.people):
            raise InputError(
                "every participant has a single window, so variation within a participant cannot be learnt",
                hint="give more reference trials, or shorter windows",
            )
        scale = Scale.of(rows.values)
        scaled = scale.apply(rows.values)
        occasion, of_person = rows.occasions()
        means = _means(scaled, occasion, len(of_person))
        centres = _means(means, of_person, len(rows.people))
        within = _covariance(scaled - means[occasion], len(rows.values) - len(of_person))
        between = _covariance(means - centres[of_person], len(of_person) - len(rows.people))
        covariance = within + sessions * between
        level = float(np.trace(covariance)) / len(covariance) or 1.0
        covariance = (1 - shrinkage) * covariance + shrinkage * level * np.eye(len(covariance))
        whitening = np.linalg.inv(np.linalg.cholesky(covariance)).T
        middle = centres.mean(axis=0)
        away = (centres - middle) @ whitening
        differing = np.linalg.svd(away, full_matrices=False)[2][: max(len(away) - 1, 1)]
        into = whitening @ differing.T
        return Discriminant(scale, into, middle @ into, away @ differing.T)

    def project(self, rows: FloatArray) -> FloatArray:
        """Return rows in the space where participants differ."""
        return np.asarray(self.scale.apply(rows) @ self.into - self.origin)

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return the logarithm of each participant's probability for each row, nobody being likelier beforehand."""
        return log_softmax(self.project(rows) @ self.centres.T - (self.centres**2).sum(axis=1) / 2)

    def cosines(self, rows: FloatArray) -> FloatArray:
        """Return the cosine of each row with everyone, seen from the middle of all participants.

        How far a window lies from the middle is left out: it grows with whatever is unusual about a window, and says
        little about whose it is.
        """
        return np.asarray(directions(self.project(rows)) @ directions(self.centres).T)


def log_softmax(scores: FloatArray) -> FloatArray:
    """Return scores as logarithms of probabilities, row by row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _means(rows: FloatArray, owner: NDArray[np.int64], owners: int) -> FloatArray:
    sums = np.zeros((owners, rows.shape[1]))
    np.add.at(sums, owner, rows)
    return np.asarray(sums / np.bincount(owner, minlength=owners)[:, None])


def _covariance(residuals: FloatArray, degrees: int) -> FloatArray:
    """Return the covariance of rows whose means are taken off; zero if none is free."""
    return np.asarray(residuals.T @ residuals / max(degrees, 1))


# --- A trained network adapted to a mechanism: a last linear layer, learnt on strangers behind it, if that helps.


SHRINKAGES: Final = (1.0, 0.5, 0.2, 0.05)
"""The share of variation that is taken to be the same in all directions; 1 leaves embeddings as they are."""

RowsByPerson = Mapping[str, Mapping[str, FloatArray]]
"""Embeddings by participant and session."""


@dataclass(frozen=True, slots=True, eq=False)
class Adapted(Recogniser):
    """An embedding followed by a linear layer."""

    name: ClassVar[str] = "adapted"

    embed: Callable[[Trial], FloatArray]
    layer: FloatArray

    @property
    def sees(self) -> frozenset[str]:
        """Nothing beyond velocity."""
        return frozenset()

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Embed the reference trials; nothing is drawn, so the seed does not matter."""
        return EmbeddedGallery(self._embedded, reference)

    def _embedded(self, trial: Trial) -> FloatArray:
        found: FloatArray = self.embed(trial) @ self.layer
        return found


def adapted(embed: Callable[[Trial], FloatArray], strangers: Sequence[Trial]) -> Adapted:
    """Learn the layer.

    Raises:
        InputError: If there are fewer than four participants with windows in two sessions.
    """
    found: dict[str, dict[str, FloatArray]] = {}
    for trial in strangers:
        rows = embed(trial)
        if len(rows):
            mine = found.setdefault(trial.person, {})
            mine[trial.session] = np.concatenate([mine[trial.session], rows]) if trial.session in mine else rows
    whole = {person: mine for person, mine in found.items() if len(mine) > 1}
    if len(whole) < 4:
        raise InputError("a layer is learnt from four participants at least, with usable windows in two sessions each")
    names = sorted(whole)
    halves = [{name: whole[name] for name in names[half::2]} for half in (0, 1)]
    rights = [
        sum(_share_right(layer_of(halves[half], share), halves[1 - half]) for half in (0, 1)) for share in SHRINKAGES
    ]
    return Adapted(embed, layer_of(whole, SHRINKAGES[int(np.argmax(rights))]))


def layer_of(people: RowsByPerson, shrinkage: float) -> FloatArray:
    """Return what evens out how embeddings of one participant vary."""
    everybody = [np.concatenate(list(mine.values())) for mine in people.values()]
    own = np.concatenate([rows - rows.mean(axis=0) for rows in everybody])
    within = own.T @ own / len(own)
    even = float(np.trace(within)) / len(within) + 1e-12
    values, directions = np.linalg.eigh((1.0 - shrinkage) * within / even + shrinkage * np.eye(len(within)))
    layer: FloatArray = directions / np.sqrt(values) @ directions.T
    return layer


def _share_right(layer: FloatArray, people: RowsByPerson) -> float:
    """Return the share of windows of a last session that are nearest to their own participant's first."""
    first = [mine[min(mine)] @ layer for mine in people.values()]
    owner = np.repeat(np.arange(len(first)), [len(rows) for rows in first])
    last = [mine[max(mine)] @ layer for mine in people.values()]
    nearest = nearest_by_person(np.concatenate(last), np.concatenate(first), owner, len(first)).argmax(axis=1)
    return float(np.mean(nearest == np.repeat(np.arange(len(last)), [len(rows) for rows in last])))
