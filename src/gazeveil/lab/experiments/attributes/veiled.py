# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Identity and traits behind mechanisms, by Kaleido's attacker: figure 12, on participants that are at hand.

The paper's 11 participants in VR, with and without contact lenses, are not. In their place:

- ``vr``: 16 participants in four sessions of 90 s in a headset. No trait of them is known; identity alone.
- ``simulated``: 16 participants on four days, 90 s each. Traits are those of the simulator, parted at their median:
  fast saccades, long fixations, and noisy eyes, which stands for lenses.

One session is left out after the other, and the attacker is trained on the others behind the same mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gazeveil.arrays import PlainRow, Tell, silent
from gazeveil.errors import InputError, OptionError, closest
from gazeveil.geometry import Geometry
from gazeveil.lab.attacks.contract import RECOGNISERS, Recogniser, Trial
from gazeveil.lab.attacks.judging.traits import Inference, infer
from gazeveil.lab.attacks.trials import without_pupil
from gazeveil.lab.datasets.vr_objects import VR_FOLDER
from gazeveil.lab.experiments.identity_data import simulated_people, simulated_traits, vr_people
from gazeveil.lab.experiments.veils import VEILS, veil

IDENTITY: Final = "identity"
SETS: Final = ("vr", "simulated")
PEOPLE, SESSIONS, SECONDS = 16, 4, 90.0
_SEED = 8


@dataclass(frozen=True, slots=True, eq=False)
class TraitSet:
    """Participants whose traits are known.

    Attributes:
        name: Short name.
        title: What they are.
        plane: What the eyes can reach.
        trials: Their gaze, without pupil.
        kinds: For every question, the kind of every participant.
    """

    name: str
    title: str
    plane: Geometry
    trials: tuple[Trial, ...]
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row(PlainRow):
    """One question behind one mechanism.

    Attributes:
        people: Name of the set.
        title: What it is.
        question: ``identity``, or a trait.
        veil: Name of the mechanism.
        promise: What it guarantees, in words.
        found: How well it is inferred.
    """

    people: str
    title: str
    question: str
    veil: str
    promise: str
    found: Inference


def simulated(people: int = PEOPLE, sessions: int = SESSIONS, seconds: float = SECONDS) -> TraitSet:
    """Return simulated participants with their traits."""
    one = simulated_people(people, sessions, seconds, _SEED)
    traits = simulated_traits(people, _SEED)
    names = next(iter(traits.values()))
    kinds: dict[str, Mapping[str, str]] = {IDENTITY: {name: name for name in names}, **traits}
    return TraitSet("simulated", one.title, one.plane, without_pupil(one.trials), kinds)


def vr(folder: Path, people: int = PEOPLE, seconds: float = SECONDS) -> TraitSet:
    """Return the participants in the headset, of whom only the name is known."""
    one = vr_people(folder / VR_FOLDER, seconds)
    names = sorted({trial.person for trial in one.trials})[:people]
    kept = without_pupil(trial for trial in one.trials if trial.person in names)
    title = one.title if len(kept) == len(one.trials) else f"{one.title} (the first {len(names)})"
    return TraitSet("vr", title, one.plane, kept, {IDENTITY: {name: name for name in names}})


def trait_sets(
    data: Path | None, names: Sequence[str] = SETS, *, people: int = PEOPLE, seconds: float = SECONDS
) -> list[TraitSet]:
    """Return the sets of those names that are there; the simulated one always is.

    Raises:
        OptionError: If a name is unknown.
        InputError: If none of them is there.
    """
    if unknown := [name for name in names if name not in SETS]:
        raise OptionError(f"no set of participants is called {unknown[0]!r}", hint=closest(unknown[0], SETS))
    found = []
    if "vr" in names and data is not None and (data / VR_FOLDER).is_dir():
        found.append(vr(data, people, seconds))
    if "simulated" in names:
        found.append(simulated(people, SESSIONS, seconds))
    if not found:
        raise InputError(f"none of {', '.join(names)} is there", hint="say where the data are with --data")
    return found


def measure(
    sets: Sequence[TraitSet],
    veils: Sequence[str] = VEILS,
    recogniser: Recogniser | None = None,
    *,
    seed: int = 1,
    tell: Tell = silent,
    make: Callable[[str, Geometry], Any] = veil,
) -> list[Row]:
    """Ask all questions behind all mechanisms.

    Args:
        sets: The participants.
        veils: Names of mechanisms.
        recogniser: Who infers; ``clusterfix`` by default.
        seed: All noise follows from it.
        tell: Called with how many questions are done.
        make: What makes a mechanism of its name, for a viewing plane.
    """
    who = RECOGNISERS["clusterfix"]() if recogniser is None else recogniser
    jobs = [(one, name, question) for one in sets for name in veils for question in one.kinds]
    rows = []
    for done, (one, name, question) in enumerate(jobs):
        tell(done, len(jobs))
        mechanism = make(name, one.plane)
        found = infer(who, one.trials, one.kinds[question], mechanism, seed=seed)
        promise = "none" if mechanism is None else mechanism.guarantee.in_words()
        rows.append(Row(one.name, one.title, question, name, promise, found))
    return rows
