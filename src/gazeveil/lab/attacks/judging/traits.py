# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What kind of participant is it? Any recogniser infers traits if it is taught kinds instead of participants.

The attacker of Kaleido's figure 12: trained on gaze behind the same mechanism as what is asked about, one session left
out after the other. The paper's attacker has seen the same participants in other sessions, so that knowing who it is
would be enough. ``leave="person"`` leaves out all of a participant instead, and so asks whether the trait itself shows
in gaze.

Success is macro F1: the mean over kinds of the harmonic mean of precision and recall. Guessing is what the same
answers give in random order, computed on the same data. Intervals are of participants resampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, PlainRow
from gazeveil.errors import InputError
from gazeveil.lab.attacks.contract import Gallery, Recogniser, Trial
from gazeveil.lab.attacks.judging.matching import vote
from gazeveil.lab.attacks.judging.scores import interval, resampled_people
from gazeveil.noise import NoiseSource
from gazeveil.simulate.population import Purpose, generator

DRAWS = 1000
_ORDERS = 200


class Veiling(Protocol):
    """A mechanism for gaze: a sample mechanism, or one that is wrapped."""

    def start(self, noise: NoiseSource) -> Any:
        """Return what has ``run(t, x, y)``, the veiled gaze."""
        ...


@dataclass(frozen=True, slots=True)
class Inference(PlainRow):
    """How well a trait is inferred.

    Attributes:
        recogniser: Who infers it.
        left_out: What was left out of training: the session or the participant.
        kinds: What there is to tell apart.
        people: How many participants were asked about.
        queries: How many times.
        f1: Macro F1.
        f1_interval: Where that lies, over participants resampled.
        guessing: Macro F1 of the same answers in random order.
        accuracy: Share of answers that are right, mean over participants.
        answered: Share of questions that had an answer; those without count as wrong. Where the attacker can learn
            nothing at all, there is none, and no F1.
    """

    recogniser: str
    left_out: str
    kinds: tuple[str, ...]
    people: int
    queries: int
    f1: float
    f1_interval: tuple[float, float]
    guessing: float
    accuracy: float
    answered: float


def infer(
    recogniser: Recogniser,
    trials: Sequence[Trial],
    kinds: Mapping[str, str],
    mechanism: Veiling | None = None,
    *,
    leave: Literal["session", "person"] = "session",
    seed: int = 1,
) -> Inference:
    """Infer the kind of every trial's participant from trials of known kind behind the same mechanism.

    Args:
        recogniser: Who infers it; it learns kinds as if they were participants.
        trials: Gaze of everyone; a participant without a kind is left out.
        kinds: The kind of every participant: a trait, or the participant's own name to infer identity.
        mechanism: The mechanism; without one, gaze is as it was recorded, pupil and fields included.
        leave: What is left out of training at a time.
        seed: All noise follows from it.

    Raises:
        InputError: If there are not two kinds, or nothing is left to learn from.
    """
    known = [trial for trial in trials if trial.person in kinds]
    names = tuple(sorted({kinds[trial.person] for trial in known}))
    if len(names) < 2:
        raise InputError(f"two kinds of participants are needed to tell apart, found {len(names)}")
    shown = [_taught(trial, kinds[trial.person], mechanism, seed) for trial in known]
    number = {name: at for at, name in enumerate(names)}
    asked: list[tuple[str, int, int]] = []
    for fold in sorted({getattr(trial, leave) for trial in known}):
        inside = [getattr(trial, leave) == fold for trial in known]
        reference = [one for one, mine in zip(shown, inside, strict=True) if not mine]
        if len({one.person for one in reference}) < 2:
            continue
        gallery = _enrolled(recogniser, reference, seed)
        taught = {one.person for one in reference}
        for trial, one, mine in zip(known, shown, inside, strict=True):
            if mine and kinds[trial.person] in taught:
                guess = None if gallery is None else vote(gallery.windows(one.anonymous()), gallery.people).highest
                asked.append((trial.person, number[kinds[trial.person]], -1 if guess is None else number[guess]))
    if not asked:
        raise InputError(
            "no participant can be queried", hint="every kind must be there in two sessions, or two participants"
        )
    return _summed(recogniser.name, leave, names, asked, seed)


def _enrolled(recogniser: Recogniser, reference: Sequence[Trial], seed: int) -> Gallery | None:
    """Return the gallery, or None where a mechanism leaves nothing to learn from."""
    try:
        return recogniser.enrol(reference, seed)
    except InputError:
        return None


def _taught(trial: Trial, kind: str, mechanism: Veiling | None, seed: int) -> Trial:
    """Return a trial behind the mechanism under the name of its kind; sessions of different participants stay apart."""
    if mechanism is not None:
        noise = NoiseSource.seeded(seed).spawn(f"traits/{trial.person}/{trial.session}/{trial.name}")
        trial = trial.with_gaze(*mechanism.start(noise).run(trial.t, trial.x, trial.y))
    return replace(trial, person=kind, session=f"{trial.person}/{trial.session}")


def _summed(
    recogniser: str, leave: str, names: tuple[str, ...], asked: Sequence[tuple[str, int, int]], seed: int
) -> Inference:
    people = sorted({person for person, _, _ in asked})
    owner = np.array([people.index(person) for person, _, _ in asked])
    truth, guess = (np.array([row[at] for row in asked]) for at in (1, 2))
    even = np.ones(len(asked))
    if (guess < 0).all():
        nothing = (np.nan, np.nan)
        return Inference(recogniser, leave, names, len(people), len(asked), np.nan, nothing, np.nan, 0.0, 0.0)
    rng = generator(seed, Purpose.RESAMPLING, "orders of answers")
    drawn = resampled_people(len(people), DRAWS, seed)
    right = np.bincount(owner, truth == guess, len(people)) / np.bincount(owner, minlength=len(people))
    return Inference(
        recogniser=recogniser,
        left_out=leave,
        kinds=names,
        people=len(people),
        queries=len(asked),
        f1=macro_f1(truth, guess, even, len(names)),
        f1_interval=interval(np.array([macro_f1(truth, guess, weights[owner], len(names)) for weights in drawn])),
        guessing=float(np.mean([macro_f1(truth, rng.permutation(guess), even, len(names)) for _ in range(_ORDERS)])),
        accuracy=float(right.mean()),
        answered=float((guess >= 0).mean()),
    )


def macro_f1(truth: NDArray[np.int64], guess: NDArray[np.int64], weights: FloatArray, kinds: int) -> float:
    """Return the mean F1 over kinds that weigh anything; a guess of -1 is none. NaN without any kind."""
    true = np.bincount(truth, weights, kinds)
    named = guess >= 0
    guessed = np.bincount(guess[named], weights[named], kinds)
    both = np.bincount(truth, weights * (truth == guess), kinds)
    there = true > 0
    return float((2 * both[there] / (true + guessed)[there]).mean()) if there.any() else np.nan
