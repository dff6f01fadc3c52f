# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The gaze that the game received, as recordings: for the attacker, and as a corpus with a declared study of its own.

The corpus is gaze data like any other: what is published of it goes through the same door, with a study that declares
who takes part and how long a round lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil import Participants, Recordings, Stimulus, Study
from gazeveil.errors import InputError
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gaze.corpus import write_corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.lab.attacks.recognisers.lda import Lda
from gazeveil.lab.attacks.trials import trial_of
from gazeveil.lab.userstudy.design import BASELINE, UserStudy
from gazeveil.lab.userstudy.sessions import Row, Session, samples
from gazeveil.release.study_toml import write_study

RECOGNISER = Lda(seconds=5.0, step=2.5)
"""Rounds are short, and so are its windows; its scores of a round are added up."""
FEWEST_SAMPLES = 20
LEAST_PEOPLE = 2


def recordings_of(study: UserStudy, sessions: Sequence[Session]) -> list[Recording]:
    """Return a recording for each round: the condition is its stimulus, the way of control its session."""
    plane = read_policy(study.policy).trackers[0].geometry
    return [
        _recording(session, line, gaze, plane)
        for session in sessions
        for line in session.done.values()
        if line["kind"] == "trial" and len(gaze := samples(line["data"])) >= FEWEST_SAMPLES
    ]


def _recording(session: Session, line: dict[str, Any], gaze: np.ndarray, plane: Geometry) -> Recording:
    wide, high = (plane.width_px, plane.height_px) if plane.unit is Unit.PIXEL else (1.0, 1.0)
    return Recording(
        t=gaze[:, 0], x=gaze[:, 1] * float(wide or 1), y=gaze[:, 2] * float(high or 1), geometry=plane,
        observer=session.participant, stimulus=line["condition"], session=line["control"], trial=str(line["repeat"]),
    )  # fmt: skip


def write_gaze(study: UserStudy, sessions: Sequence[Session], folder: Path) -> Path:
    """Write the corpus and beside it the study that declares it; return the study file."""
    write_corpus(recordings_of(study, sessions), folder)
    plane = read_policy(study.policy).trackers[0].geometry
    declared = Study(
        name=study.name,
        participants=Participants(roster=tuple(session.participant for session in sessions)),
        stimuli=tuple(
            Stimulus(name=condition.name, seconds=study.trial.seconds, screen=plane) for condition in study.conditions
        ),
        recordings=Recordings(per_stimulus=study.trial.repeats * len(study.controls)),
    )
    path = folder.with_name(f"{folder.name}.study.toml")
    if not path.exists():  # who has looked through it keeps it
        write_study(declared, path, remarks={"": "A proposal: those take part who have a session. Check every line."})
    return path


def identified(study: UserStudy, sessions: Sequence[Session]) -> list[Row]:
    """Return for each participant and condition from how many of their rounds they were identified.

    As Wilson et al. did: everyone is known by their rounds without a mechanism under the same control, and each other
    round is a question. A round without a mechanism is compared with the other rounds without one; a round behind a
    mechanism with as many, so that the two differ in the mechanism alone. With one repetition there are no others: then
    only rounds behind a mechanism are questions.
    """
    rounds = recordings_of(study, sessions)
    by_name = {condition.name: condition for condition in study.conditions}
    rows = []
    for control in study.controls:
        here = [one for one in rounds if one.session == control]
        known = [one for one in here if by_name[one.stimulus].mechanism == BASELINE]
        if len({one.observer for one in known}) < LEAST_PEOPLE:
            continue
        right: dict[tuple[str, str], list[float]] = {}
        for repeat in sorted({one.trial for one in here}):
            asked = [one for one in here if one.trial == repeat]
            veiled = [one for one in asked if by_name[one.stimulus].mechanism != BASELINE]
            plain = [one for one in asked if by_name[one.stimulus].mechanism == BASELINE]
            others = [one for one in known if one.trial != repeat]
            for reference, queries in ((others or known, veiled), (others, plain)):
                for one, hit in _named(reference, queries):
                    right.setdefault((one.observer, one.stimulus), []).append(hit)
        for (who, name), hits in right.items():
            condition = by_name[name]
            rows.append((who, control, condition.mechanism, condition.strength, "identified", float(np.mean(hits))))
    return rows


def _named(reference: Sequence[Recording], queries: Sequence[Recording]) -> list[tuple[Recording, float]]:
    enrolled = [trial_of(one) for one in reference]
    if len({one.person for one in enrolled}) < LEAST_PEOPLE or not queries:
        return []
    try:
        gallery = RECOGNISER.enrol(enrolled)
    except InputError:  # too little to learn from: nothing is claimed
        return []
    found = []
    for one in queries:
        scores = gallery.windows(trial_of(one))
        if len(scores) and one.observer in gallery.people:
            found.append((one, float(gallery.people[int(scores.sum(axis=0).argmax())] == one.observer)))
    return found
