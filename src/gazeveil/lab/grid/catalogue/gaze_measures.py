# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Measures of gaze behind mechanisms: who it is, what kind, what the gaze was, scanpaths, and what is left.

The attacker knows each participant's raw gaze of one session and gets that of another from behind the mechanism. What
counts is the better of two ways to decide, by the windows' votes or by the highest mean score; both are in the table.

The attacker is trained behind the same mechanism, on all participants but the one who is asked about.

Success is the share of the scatter of raw gaze around its own mean that the guess explains: 1 for the gaze itself, 0
for who guesses a participant's mean place all the time. Attacks that learn from exemplars learn from other
participants.

Whose they are is asked by someone who has the raw scanpaths of the very same viewing, from another source. That is
more than to know participants from another day, so it is a harm of its own: linkage.

Beside each stands what raw gaze gives, and what a release gives that always says the middle of the viewing plane. A
mechanism that gives nothing where there was gaze is taken to say the middle, so silence is no way to look good.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import BoolArray
from gazeveil.errors import GeometryError, InputError, OptionError
from gazeveil.gaze.recording import Recording
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
from gazeveil.lab.attacks.judging import Judge, Judgement, Stage, infer
from gazeveil.lab.attacks.trials import trial_of, trials_of, without_pupil
from gazeveil.lab.bench.experiment import Row, mean_over
from gazeveil.lab.experiments.identification import TRAITS
from gazeveil.lab.experiments.scanpath_privacy import Paths, ScanpathRow, compared, outliers_of, paths_of
from gazeveil.lab.grid.contract import Answer, DoesNotApply, Family, Protected, Question
from gazeveil.lab.grid.data import GazeData, released, veiler
from gazeveil.lab.utility.scanpaths import between_people
from gazeveil.lab.utility.streams import METRICS, Pair
from gazeveil.samples.mechanism import SampleMechanism


class Identification(Family):
    """All recognisers, with all attacks."""

    uses = frozenset({"live", "dataset"})
    role = "attack"
    options = None

    def names(self) -> list[str]:
        """Return recognisers, alone and with every attack."""
        return [*RECOGNISERS.names(), *(f"{one}+{attack}" for one in RECOGNISERS.names() for attack in ATTACKS.names())]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a recogniser, perhaps with an attack; options are those of the recogniser."""
        who, _, attack = name.partition("+")
        recogniser = made(who, options)
        parts = (RECOGNISERS[who], Judge, *([ATTACKS[attack]] if attack else []))
        return Question("reidentification", partial(_identified, recogniser, attack), parts)


def made(name: str, options: Mapping[str, Any]) -> Recogniser:
    """Return a recogniser with options.

    Raises:
        OptionError: If it has no such options.
    """
    try:
        return RECOGNISERS[name](**options)
    except TypeError:
        raise OptionError(f"{name} cannot be made with {', '.join(options)}") from None


@lru_cache(maxsize=2)
def _judge(recogniser: Recogniser, data: GazeData, seed: int) -> Judge:
    """Return a judge that keeps the participants it has enrolled, for one mechanism after the other."""
    try:
        return Judge(recogniser, data.trials, data.words, seed=seed)
    except InputError as error:
        raise DoesNotApply(error.message, hint=error.hint) from None


def _identified(
    recogniser: Recogniser, attack: str, data: GazeData, protected: Protected, seed: int, engine: Engine
) -> Answer:
    del engine
    judge, mechanism = _judge(recogniser, data, seed), protected.mechanism
    against = ATTACKS[attack]() if attack else None
    if mechanism is None or isinstance(mechanism, SampleMechanism):
        if against is not None and (mechanism is None or not against.fits(mechanism)):
            raise DoesNotApply(f"there is nothing for {attack} to do against {protected.recipe['mechanism']}")
        return _answer(judge.judge(mechanism, against))
    if against is not None:
        raise DoesNotApply(f"{attack} is for stream mechanisms, and {protected.recipe['mechanism']} is none")
    shown: dict[str, list[Any]] = {}
    for recording in released(data, protected, seed):
        shown.setdefault(recording.session, []).append(trial_of(recording).anonymous())
    return _answer(judge.measure(Stage(mechanism, None, (None, None), {key: tuple(own) for key, own in shown.items()})))


def _answer(found: Judgement) -> Answer:
    both = (
        Row("by votes", found.accuracy, *found.accuracy_interval, found.people, found.chance),
        Row("by mean score", found.pooled_accuracy, *found.pooled_interval, found.people, found.chance),
    )
    best = max(both, key=lambda number: number.value)
    first = Row("identified", best.value, best.low, best.high, best.n, best.chance)
    equal = Row("equal error rate", found.eer, *found.eer_interval, found.people, 0.5)
    knows = "raw gaze of all participants on another day"
    threat = knows if found.threat_model == "none" else f"{knows}; {found.threat_model}"
    return Answer((first, *both, equal), threat)


# --- What kind of participant is it? ``trait:QUESTION``, by a recogniser that was taught kinds of other participants.


_PREFIX = "trait:"


class Traits(Family):
    """Every question about participants whose answer is known."""

    uses = frozenset({"live", "dataset"})
    role = "attack"
    options = ("recogniser",)

    def names(self) -> list[str]:
        """Return the questions about simulated participants; other data may have others."""
        return [f"{_PREFIX}{question}" for question in TRAITS]

    def knows(self, name: str) -> bool:
        """Whether it is a question, also one that other data may answer."""
        return name.startswith(_PREFIX)

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a question; ``recogniser`` says who infers the answer."""
        who = options.get("recogniser", "clusterfix")
        asked = partial(_inferred, name.removeprefix(_PREFIX), who)
        return Question("attribute", asked, (infer, RECOGNISERS[who]))


def _inferred(question: str, who: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    if question not in data.kinds:
        raise DoesNotApply(f"nothing is known about {question!r} of these participants")
    trials = without_pupil(trials_of(released(data, protected, seed)))
    found = infer(RECOGNISERS[who](), trials, data.kinds[question], leave="person", seed=seed)
    guessing = 1 / len(found.kinds)
    if math.isnan(found.f1):  # nothing could be learnt behind the mechanism, so the attacker guesses
        number = Row("macro F1", guessing, guessing, guessing, found.people, guessing)
    else:
        number = Row("macro F1", found.f1, *found.f1_interval, found.people, found.guessing)
    return Answer((number,), "trained behind the same mechanism, on other participants")


# --- What was the gaze? ``restore`` takes veiled gaze as it is, ``restore+ATTACK`` undoes the mechanism first.


_NAME = "restore"


class Restoring(Family):
    """All attacks, as what they make of veiled gaze."""

    uses = frozenset({"live", "dataset"})
    role = "attack"

    def names(self) -> list[str]:
        """Return veiled gaze as it is, and every attack."""
        return [_NAME, *(f"{_NAME}+{attack}" for attack in ATTACKS.names())]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return one of them."""
        attack = name.partition("+")[2]
        parts = (released, *([ATTACKS[attack]] if attack else []))
        return Question("reconstruction", partial(_restored, attack), parts)


def _restored(attack: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    mechanism = protected.mechanism
    against = ATTACKS[attack]() if attack else None
    if against is not None and not (isinstance(mechanism, SampleMechanism) and against.fits(mechanism)):
        raise DoesNotApply(f"there is nothing for {attack} to do against {protected.recipe['mechanism']}")
    behind = without_pupil(trials_of(released(data, protected, seed)))
    pairs = [Exemplar(raw, veiled) for raw, veiled in zip(data.trials, behind, strict=True)]
    names = sorted({pair.raw.person for pair in pairs})
    halves = [[pair for pair in pairs if names.index(pair.raw.person) % 2 == half] for half in (0, 1)]
    ready = [_prepared(against, mechanism, others, seed + 1 + half) for half, others in enumerate(reversed(halves))]
    asked = [(ready[half], pair) for half in (0, 1) for pair in halves[half]]
    explained = [_explained(_guess(prepared, pair.veiled), pair.raw) for prepared, pair in asked]
    number = mean_over("gaze explained", [pair.raw.person for _, pair in asked], explained, seed, chance=0.0)
    return Answer((number,), against.threat_model if against is not None else "none")


def _prepared(attack: Attack | None, mechanism: Any, others: list[Exemplar], seed: int) -> Prepared | None:
    if attack is None:
        return None
    exemplars = tuple(others) if Grant.EXEMPLARS in attack.grants else None
    return attack.prepare(Knowledge(mechanism, exemplars), seed)


def _guess(prepared: Prepared | None, veiled: Trial) -> Trial:
    return veiled if prepared is None else prepared.query(veiled.anonymous())


def _explained(guess: Trial, raw: Trial) -> float:
    both = np.isfinite(guess.x) & np.isfinite(raw.x)
    if both.sum() < 2:
        return 0.0
    off = np.square(guess.x - raw.x)[both].mean() + np.square(guess.y - raw.y)[both].mean()
    return float(1 - off / (raw.x[both].var() + raw.y[both].var()))


# --- Scanpaths: whose they are (``scanpath``), who is unlike all others (``outliers``), and how alike they stay.


_ATTACKS = {"scanpath": "linkage", "outliers": "attribute"}
_UTILITY = "scanpath_similarity"


class ScanpathAttacks(Family):
    """Linkage and outliers."""

    uses = frozenset({"live", "dataset"})
    role = "attack"

    def names(self) -> list[str]:
        """Return the two."""
        return list(_ATTACKS)

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return one of the two."""
        ask = _linked if name == "scanpath" else _outliers
        return Question(_ATTACKS[name], ask, (compared,))  # type: ignore[arg-type]


class ScanpathSimilarity(Family):
    """MultiMatch of scanpaths before and behind a mechanism."""

    uses = frozenset({"live", "dataset"})
    role = "utility"

    def names(self) -> list[str]:
        """Return its name."""
        return [_UTILITY]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return it."""
        return Question("", _similar, (compared,))


@lru_cache(maxsize=2)
def _raw(data: GazeData) -> tuple[Paths, list[BoolArray], float]:
    paths = paths_of(data.scenes)
    strangers = np.stack([between_people(scene, data.scenes.size) for scene in paths])
    return paths, outliers_of(paths), float(np.nanmean(strangers))


@lru_cache(maxsize=8)
def _row(data: GazeData, protected: Protected, seed: int) -> ScanpathRow:
    paths, truth, _ = _raw(data)
    behind = {one.key: one for one in released(data, protected, seed)}
    scenes = tuple(tuple(behind[one.key] for one in scene) for scene in data.scenes.scenes)
    veiled = paths_of(replace(data.scenes, scenes=scenes))
    return compared(data.scenes, "", "", paths, truth, [veiled], seed)


def _linked(data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    row = _row(data, protected, seed)
    ways = (
        Row("by MultiMatch", row.linked, *row.linked_interval, len(data.scenes.people), row.chance),
        Row("by warping", row.warped, *row.warped_interval, len(data.scenes.people), row.chance),
    )
    best = max(ways, key=lambda number: number.value)
    return Answer((replace(best, what="linked"), *ways), "the raw scanpaths of all participants in the same viewing")


def _outliers(data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    row = _row(data, protected, seed)
    f1 = Row("F1", row.outlier_f1, *row.outlier_interval, len(data.scenes.scenes), row.random_f1)
    return Answer((f1, Row("AUC", row.outlier_auc, chance=0.5)), "scanpaths behind the mechanism alone")


def _similar(data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    row, strangers = _row(data, protected, seed), _raw(data)[2]
    people = len(data.scenes.people)
    return Answer((Row(_UTILITY, row.mean, *row.mean_interval, people, chance=strangers, ideal=1.0),))


# --- What is left of a stream: every metric of `gazeveil.lab.utility.streams.METRICS`, by its name.


class Streams(Family):
    """All metrics of veiled streams."""

    uses = frozenset({"live", "dataset"})
    role = "utility"

    def names(self) -> list[str]:
        """Return the metrics."""
        return METRICS.names()

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a metric."""
        return Question("", partial(_left, name), (METRICS[name], Pair))


def _left(name: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    people, found = _measured(name, data, protected, seed, engine)
    ideal, floor = (float(np.nanmean(found[:, column])) if len(found) else np.nan for column in (1, 2))
    return Answer((mean_over(name, people, found[:, 0], seed, chance=floor, ideal=ideal),))


def _measured(name: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> tuple[list[str], Any]:
    mechanism = protected.mechanism
    if mechanism is None or isinstance(mechanism, SampleMechanism):
        # one recording at a time, wherever the engine works: a corpus may be larger than memory
        answers = list(engine.map_recordings(data.corpus, partial(_one, name, mechanism, seed)))
    else:
        pairs = zip(data.recordings, released(data, protected, seed), strict=True)
        answers = [_values(name, raw, behind) for raw, behind in pairs]
    return [person for person, _ in answers], np.array([values for _, values in answers]).reshape(-1, 3)


def _one(name: str, mechanism: SampleMechanism | None, seed: int, recording: Recording) -> tuple[str, Any]:
    raw = recording.to("deg")
    return _values(name, raw, veiler(mechanism, seed)(raw))


def _values(name: str, raw: Recording, behind: Recording) -> tuple[str, tuple[float, float, float]]:
    metric, middle = METRICS[name], _middle(raw)
    same_clock = behind if len(behind) == len(raw) else _at_times_of(raw, behind)
    silent = raw.tracked & ~same_clock.tracked
    if silent.any():
        x, y = (np.where(silent, getattr(middle, axis), getattr(same_clock, axis)) for axis in ("x", "y"))
        same_clock = replace(same_clock, x=x, y=y, valid=None)
    return raw.observer, (metric(Pair(raw, same_clock)), metric(Pair(raw, raw)), metric(Pair(raw, middle)))


def _middle(raw: Recording) -> Recording:
    try:
        left, top, right, bottom = raw.geometry.extent()
    except GeometryError:
        left = right = top = bottom = 0.0
    return replace(raw, x=np.full(len(raw), (left + right) / 2), y=np.full(len(raw), (top + bottom) / 2), valid=None)


def _at_times_of(raw: Recording, behind: Recording) -> Recording:
    """Return a recording that was made anew with other times, as it stands at the times of the raw one."""
    at = np.clip(np.searchsorted(behind.t, raw.t, side="right") - 1, 0, max(len(behind) - 1, 0))
    x, y = (values[at] if len(values) else np.full(len(raw), np.nan) for values in (behind.x, behind.y))
    return replace(raw, x=x, y=y, valid=None)
