# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What participants did: one file each on disk, the measures that follow from it, and an overview for the experimenter.

Without consent there is no file. A line that a crash cut in two is left out when the file is read; its step was not
confirmed to the page, which sends it again.

A round is ``things`` (targets and distractors: what became of each) and ``gaze`` (time, x and y as the game received
them; null where there was none). Times are seconds since the round began, places are shares of the window.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OutputError
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.geometry import Geometry, Unit
from gazeveil.lab.userstudy.design import COLUMNS, Step, UserStudy, scores

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
FOLDER = "sessions"
_BINARY: int = getattr(os, "O_BINARY", 0)  # on Windows, or line ends are changed
SIMULATED = "simulated-"
"""How labels of simulated participants begin."""


@dataclass(frozen=True)
class Session:
    """One participant's session as it lies on disk."""

    participant: str
    number: int
    language: str
    done: dict[int, dict[str, Any]]
    """What came of each finished step, by its index."""


class Sessions:
    """All sessions of a study, in a folder beside its file."""

    def __init__(self, study: UserStudy) -> None:
        self.study = study
        self.folder = study.path.parent / FOLDER

    def find(self, participant: str) -> Session | None:
        """Return a participant's session, if they have begun one.

        Raises:
            InputError: If the label is none, or the session belongs to another version of the study.
        """
        path = self._path(participant)
        if not path.exists():
            return None
        whole = _whole_lines(path)
        if not whole:  # a crash came before its first line
            return None
        head, *lines = whole
        if head.get("study") != self.study.digest:
            raise InputError(
                f"the session of {participant} was begun with another version of {self.study.path.name}",
                hint="put the earlier file back, or begin a session under another label",
            )
        return Session(participant, head["number"], head["language"], {line["index"]: line for line in lines})

    def every(self) -> list[Session]:
        """Return all sessions, in the order in which they were begun."""
        labels = sorted(path.stem for path in self.folder.glob("*.jsonl")) if self.folder.is_dir() else []
        return sorted((found for label in labels if (found := self.find(label))), key=lambda one: one.number)

    def to_analyse(self) -> list[Session]:
        """Return all sessions, of participants or of simulated ones.

        Raises:
            InputError: If there are both: what is found about some would count for the others.
        """
        found = self.every()
        made_up = [one.participant for one in found if one.participant.startswith(SIMULATED)]
        if made_up and len(made_up) < len(found):
            raise InputError(
                f"{len(made_up)} of {len(found)} participants are simulated, for example {made_up[0]}",
                hint=f"move {self.folder / SIMULATED}*.jsonl to another folder",
            )
        return found

    def begin(self, participant: str, language: str) -> Session:
        """Begin a session of someone who consents, or go on with theirs."""
        if found := self.find(participant):
            return found
        number = max((one.number for one in self.every()), default=-1) + 1
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        head = {
            "participant": participant, "number": number, "language": language, "consent": True,
            "begun": datetime.now(UTC).isoformat(timespec="seconds"), "study": self.study.digest,
        }  # fmt: skip
        self._append(participant, head)
        return Session(participant, number, language, {})

    def current(self, session: Session) -> Step:
        """Return the first step that is not finished."""
        return next(
            step for step in self.study.steps(session.number) if step.kind == "done" or step.index not in session.done
        )

    def finish(self, session: Session, index: int, data: Mapping[str, Any]) -> Step:
        """Keep what came of a step, and return the next one. A step that was kept already is not kept twice.

        Raises:
            InputError: If it is not the step that the participant is at.
        """
        if index not in session.done:
            step = self.current(session)
            if step.index != index or step.kind == "done":
                raise InputError(f"step {index} is not the one to be done: that is step {step.index}")
            line = {**step.to_dict(), "data": dict(data)}
            self._append(session.participant, line)
            session.done[index] = line
        return self.current(session)

    def _path(self, participant: str) -> Path:
        if not LABEL.fullmatch(participant):
            raise InputError(
                f"{participant[:60]!r} is no label of a participant",
                hint="letters, digits, - and _, at most 40; no real names",
            )
        return self.folder / f"{participant}.jsonl"

    def _append(self, participant: str, line: Mapping[str, Any]) -> None:
        path = self._path(participant)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o600)
            try:
                size = os.fstat(file).st_size
                os.lseek(file, max(size - 1, 0), os.SEEK_SET)
                torn = size and os.read(file, 1) != b"\n"
                text = ("\n" if torn else "") + json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n"
                whole = text.encode()
                if os.write(file, whole) < len(whole):  # a disk that is full takes a part, and says nothing
                    raise OSError(errno.ENOSPC, "only a part was written")
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise OutputError(f"what was done cannot be kept in {path}: {error.strerror}") from error


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    found = []
    for text in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            found.append(line)
    if found and "number" not in found[0]:
        raise InputError(f"{path} is no session", hint="move it away, and begin again")
    return found


# --- From what the game wrote down to measures: one row for each number of each round and form.


FARTHEST_M = 10.0
FATES = ("destroyed", "reached", "left")
"""What becomes of things: selected, arrived at the player, or still on their way when the round ended."""
NUMBERS = ("born", "ended", "distance", "x", "y", "size", "from_x", "from_y")
MOST_THINGS, MOST_SAMPLES = 2_000, 400_000
LARGEST = 1e9


def check_round(data: Mapping[str, Any]) -> None:
    """Refuse what is no round.

    Raises:
        InputError: If a part is missing or of another kind.
    """
    things, gaze = data.get("things"), data.get("gaze")
    if (
        not isinstance(things, list)
        or not isinstance(gaze, list)
        or len(things) > MOST_THINGS
        or len(gaze) > MOST_SAMPLES
    ):
        raise InputError("a round is a list of things and a list of gaze")
    for thing in things:
        if (
            not isinstance(thing, dict)
            or thing.get("kind") not in ("target", "distractor")
            or thing.get("fate") not in FATES
        ):
            raise InputError("a thing is a target or a distractor, and something became of it")
        if not all(_is_number(thing.get(name)) for name in NUMBERS):
            raise InputError(f"a thing has the numbers {', '.join(NUMBERS)}")
    for sample in gaze:
        if not isinstance(sample, list) or len(sample) != 3 or not _is_number(sample[0]):
            raise InputError("a sample of gaze is a time and a place, or a time and nothing")
        if not all(part is None or _is_number(part) for part in sample[1:]):
            raise InputError("a place of gaze is two numbers")


def _is_number(part: object) -> bool:
    """Whether it is a finite number; JSON also has whole numbers that are larger than any."""
    return isinstance(part, int | float) and not isinstance(part, bool) and abs(part) < LARGEST


Row = tuple[str, str, str, str, str, float]


def measures_of(sessions: Sequence[Session], more: Sequence[Row] = ()) -> pl.DataFrame:
    """Return all measures of sessions as a tidy table, after further rows. What was chosen freely is no condition."""
    rows: list[Row] = list(more)
    for session in sessions:
        for line in session.done.values():
            if not line.get("control") or "mechanism" not in line or line["kind"] in ("practice", "free"):
                continue
            found = round_measures(line["data"]) if line["kind"] == "trial" else _form_measures(line)
            label = session.participant, line["control"], line["mechanism"], line["strength"]
            rows += [(*label, name, value) for name, value in found.items()]
    schema = dict.fromkeys(COLUMNS[:-1], pl.String) | {"value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _form_measures(line: Mapping[str, Any]) -> dict[str, float]:
    return scores(line["form"], line["data"]["answers"]) if line["kind"] == "form" else {}


def round_measures(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the measures of one round; those for which there is nothing to measure are left out."""
    targets = [thing for thing in data["things"] if thing["kind"] == "target" and thing["fate"] != "left"]
    distractors = [thing for thing in data["things"] if thing["kind"] == "distractor" and thing["fate"] != "left"]
    hit = [thing for thing in targets if thing["fate"] == "destroyed"]
    found: dict[str, float] = {}
    if targets:
        found["destroyed"] = len(hit) / len(targets)
    if distractors:
        found["false-selections"] = sum(thing["fate"] == "destroyed" for thing in distractors) / len(distractors)
    if hit:
        found["distance"] = float(np.mean([thing["distance"] / FARTHEST_M for thing in hit]))
        found["selection-time"] = float(np.mean([thing["ended"] - thing["born"] for thing in hit]))
        if bits := [bit for thing in hit if (bit := _bits_a_second(thing)) is not None]:
            found["throughput"] = float(np.mean(bits))
        gaze = samples(data)
        if detours := [detour for thing in hit if (detour := _detour(thing, gaze)) is not None]:
            found["path"] = float(np.median(detours))
    return found


def samples(data: Mapping[str, Any]) -> FloatArray:
    """Return the gaze of a round as an array of (t, x, y), NaN where there was none."""
    rows = [[math.nan if part is None else float(part) for part in sample] for sample in data["gaze"]]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _bits_a_second(thing: Mapping[str, Any]) -> float | None:
    """Return index of difficulty over time for one target (ISO 9241-411), from where gaze was when it appeared."""
    way = math.hypot(thing["x"] - thing["from_x"], thing["y"] - thing["from_y"])
    time = thing["ended"] - thing["born"]
    return math.log2(way / thing["size"] + 1) / time if time > 0 and thing["size"] > 0 else None


def _detour(thing: Mapping[str, Any], gaze: FloatArray) -> float | None:
    """Return the length of gaze's path while a target was there, over the straight way to it."""
    within = gaze[(gaze[:, 0] >= thing["born"]) & (gaze[:, 0] <= thing["ended"]) & np.isfinite(gaze[:, 1])]
    straight = math.hypot(thing["x"] - thing["from_x"], thing["y"] - thing["from_y"])
    if len(within) < 2 or straight < thing["size"]:
        return None
    return float(np.hypot(*np.diff(within[:, 1:], axis=0).T).sum()) / straight


# --- What each participant did, and the level that they chose while they could: for whoever runs the study.


MOMENTS = 121
"""Moments of the free part at which the chosen level is looked up."""
CHECKED = ("x", "y", "gaze_x", "gaze_y")


@dataclass(frozen=True)
class Taken:
    """One participant's rounds, added up; practice and free play do not count."""

    participant: str
    finished: bool
    rounds: int
    hits: int
    misses: int
    """Targets that arrived."""
    false_selections: int
    attempts: int
    """How often a round was begun: more than rounds where gaze was lost on the way."""
    accuracy_deg: float
    """Mean error over the points of the check; NaN where nothing is known."""


@dataclass(frozen=True)
class Chosen:
    """The privacy level that participants had chosen, over the seconds of the free part."""

    levels: tuple[str, ...]
    """From the weakest to the strongest, as in the policy."""
    seconds: FloatArray
    by_participant: dict[str, FloatArray]
    """Place of the level at each moment; NaN before a first choice and after the part's end."""

    def rows(self) -> list[list[object]]:
        """Return for each participant the share of the time at each level, and how often they changed it."""
        rows: list[list[object]] = []
        for who, places in self.by_participant.items():
            known = places[np.isfinite(places)]
            shares = [float(np.mean(known == place)) if len(known) else math.nan for place in range(len(self.levels))]
            rows.append([who, *shares, int(np.count_nonzero(np.diff(known)))])
        return rows


@dataclass(frozen=True)
class Overview:
    """Everything that a table of measures does not hold."""

    taken: tuple[Taken, ...]
    chosen: Chosen | None


def overview_of(study: UserStudy, sessions: Sequence[Session]) -> Overview:
    """Return what participants did and chose."""
    policy = read_policy(study.policy)
    plane = policy.trackers[0].geometry
    levels = next((app.levels for app in policy.apps if app.name == study.free), ())
    return Overview(tuple(_taken(study, one, plane) for one in sessions), _chosen(study, sessions, levels))


def _taken(study: UserStudy, session: Session, plane: Geometry) -> Taken:
    rounds = [line["data"] for line in session.done.values() if line["kind"] == "trial"]
    fates = [(thing["kind"], thing["fate"]) for data in rounds for thing in data["things"]]
    checks = [line["data"] for line in session.done.values() if line["kind"] == "check"]
    return Taken(
        session.participant, len(session.done) == len(study.steps(session.number)) - 1, len(rounds),
        fates.count(("target", "destroyed")), fates.count(("target", "reached")),
        fates.count(("distractor", "destroyed")), sum(data.get("attempts", 1) for data in rounds),
        accuracy_deg(checks[0].get("points", []) if checks else [], plane),
    )  # fmt: skip


def accuracy_deg(points: Sequence[dict[str, Any]], plane: Geometry) -> float:
    """Return the mean angle between the points of a check and the gaze at them; points without gaze are left out."""
    seen = [point for point in points if None not in (point.get(name) for name in CHECKED)]
    if not seen or not plane.has_edges_in_degrees:
        return math.nan
    of = plane.in_unit(Unit.FRACTION)
    x, y, gaze_x, gaze_y = ([point[name] for point in seen] for name in CHECKED)
    there, looked = of.convert(x, y, Unit.DEGREE), of.convert(gaze_x, gaze_y, Unit.DEGREE)
    return float(np.mean(np.hypot(there[0] - looked[0], there[1] - looked[1])))


def _chosen(study: UserStudy, sessions: Sequence[Session], levels: tuple[str, ...]) -> Chosen | None:
    seconds = np.linspace(0, study.free_s, MOMENTS)
    found: dict[str, FloatArray] = {}
    for session in sessions:
        for line in session.done.values():
            if line["kind"] == "free" and line["data"].get("levels"):
                places = np.full(MOMENTS, np.nan)
                for since, level in line["data"]["levels"]:
                    places[seconds >= since] = levels.index(level) if level in levels else np.nan
                places[seconds > line["data"].get("seconds", study.free_s)] = np.nan
                found[session.participant] = places
    return Chosen(levels, seconds, found) if found else None
