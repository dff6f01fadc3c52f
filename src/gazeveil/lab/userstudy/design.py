# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The study file: conditions, ways of control, trials, forms, and the steps that follow for each participant."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError
from gazeveil.lab.userstudy.forms import FORMS
from gazeveil.lab.userstudy.measures import BASELINE
from gazeveil.lab.userstudy.order import sequence
from gazeveil.toml_table import File, Table, lines_of, tables

FORMAT, VERSION = "gazeveil-user-study", 1
CONTROLS = ("dwell", "key")
ORDERS = ("latin", "random")
LANGUAGES = ("en", "de")


@dataclass(frozen=True)
class StudyCondition:
    """A mechanism at a strength, and the app of the policy that gets its gaze."""

    name: str
    mechanism: str
    strength: str
    app: str


@dataclass(frozen=True)
class Trial:
    """One round of the game, the same for everyone: targets come nearer, faster and faster."""

    seconds: float = 30.0
    targets: int = 15
    distractors: int = 15
    repeats: int = 2
    slowest: float = 1.0
    fastest: float = 5.0
    """Metres a second at the beginning and at the end."""
    dwell_s: float = 0.5
    practice_s: float = 15.0


@dataclass(frozen=True)
class Step:
    """What a participant does next."""

    index: int
    kind: str
    """check, practice, trial, form, pause, free or done."""
    details: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return it as the page gets it."""
        return {"index": self.index, "kind": self.kind, **self.details}


@dataclass(frozen=True)
class UserStudy:
    """A declared user study."""

    path: Path
    name: str
    policy: Path
    languages: tuple[str, ...]
    consent: dict[str, Path]
    controls: tuple[str, ...]
    order: str
    key: str
    """Public: random orders and the places of targets follow from it."""
    conditions: tuple[StudyCondition, ...]
    trial: Trial
    forms: tuple[str, ...]
    """After each condition."""
    last_forms: tuple[str, ...]
    free: str
    """The app whose level participants may turn at the end, as in Kaleido's study; none if empty."""
    free_s: float
    digest: str

    def steps(self, participant: int) -> list[Step]:
        """Return everything that a participant does, counted from 0; it follows from the file and the number alone."""
        base = next(each for each in self.conditions if each.mechanism == BASELINE)
        planned: list[tuple[str, dict[str, Any]]] = [("check", _named(base))]
        controls = self.controls[::-1] if participant % 2 else self.controls  # so each comes first for every second one
        for place, control in enumerate(controls):
            if place:
                planned.append(("pause", {"control": control}))
            practice = {**_named(base), "control": control, "seed": f"{self.key}/practice/{control}", "repeat": 0}
            planned.append(("practice", {**practice, "seconds": self.trial.practice_s}))
            row = participant // 2 if self.order == "latin" else participant
            order = sequence(self.conditions, row, self.order, f"{self.key}/{control}")
            for at, condition in enumerate(order):
                told = {**_named(condition), "control": control}
                for repeat in range(1, self.trial.repeats + 1):
                    seed = f"{self.key}/{place}/{at}/{repeat}"  # by place, not by condition: harder ones hit all alike
                    planned.append(("trial", {**told, "seed": seed, "repeat": repeat, "seconds": self.trial.seconds}))
                planned += [("form", {**told, "form": form}) for form in self.forms]
        if self.free:
            told = {**_named(StudyCondition("free", "free", "free", self.free)), "control": controls[-1]}
            planned.append(("free", {**told, "seed": f"{self.key}/free", "repeat": 1, "seconds": self.free_s}))
        planned += [("form", {"form": form, "control": "", "condition": ""}) for form in self.last_forms]
        planned.append(("done", {}))
        return [Step(index, kind, details) for index, (kind, details) in enumerate(planned)]


def _named(condition: StudyCondition) -> dict[str, Any]:
    return {
        "condition": condition.name,
        "mechanism": condition.mechanism,
        "strength": condition.strength,
        "app": condition.app,
    }


def read_user_study(path: Path) -> UserStudy:
    """Read a study file; files that it names are relative to it.

    Raises:
        FileFormatError: If it cannot be read, or a field is missing, unknown or wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(
            path,
            expected="a user study as TOML",
            found=str(error),
            hint="gazeveil lab userstudy init FOLDER writes one",
        ) from None
    top = Table(File(path, lines_of(text)), (), values)
    top.choice("format", (FORMAT,))
    top.whole("version", VERSION, VERSION)
    name = top.name("name", "the study's name")
    languages = _some(top, "languages", LANGUAGES)
    consent = top.table("consent", expected="a text for each language")
    texts = {language: consent.readable(language) for language in languages}
    consent.done()
    study = UserStudy(
        path, name, top.readable("policy"), languages, texts, _some(top, "controls", CONTROLS),
        top.choice("order", ORDERS, "latin"), top.text("key", name), _conditions(top),
        _trial(top.table("trial", {})), _some(top, "forms", (*FORMS,), ()), _some(top, "last_forms", (*FORMS,), ()),
        top.text("free", ""), top.number("free_s", 5, 3600, 120.0), hashlib.sha256(text.encode()).hexdigest(),
    )  # fmt: skip
    top.done()
    return study


def _some(top: Table, key: str, known: tuple[str, ...], default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    chosen = top.names(key)
    if not chosen and default is None:
        raise top.wrong(key, f"some of {', '.join(known)}", "none")
    for each in chosen:
        if each not in known:
            raise top.wrong(key, f"some of {', '.join(known)}", repr(each))
    if len(set(chosen)) != len(chosen):
        raise top.wrong(key, "each once", "one twice")
    return chosen


def _conditions(top: Table) -> tuple[StudyCondition, ...]:
    given = tables(top.file, {"condition": top.any("condition", [])}, "condition")
    found = []
    for table in given:
        name, mechanism = table.name("name", "its name"), table.name("mechanism", "the mechanism, or none")
        strength, app = table.text("strength", BASELINE), table.name("app", "an app of the policy")
        found.append(StudyCondition(name, mechanism, strength, app))
        table.done()
    names = [each.name for each in found]
    if len(found) < 2 or len(set(names)) != len(names):
        raise top.wrong("condition", "two conditions or more, with names of their own", f"{len(found)}: {names}")
    if sum(each.mechanism == BASELINE for each in found) != 1:
        raise top.wrong(
            "condition", 'one condition with mechanism = "none"', "none, or several", "the others are compared with it"
        )
    return tuple(found)


def _trial(table: Table) -> Trial:
    usual = Trial()
    trial = Trial(
        table.number("seconds", 1, 600, usual.seconds), table.whole("targets", 1, 200, usual.targets),
        table.whole("distractors", 0, 200, usual.distractors), table.whole("repeats", 1, 20, usual.repeats),
        table.number("slowest", 0.1, 50, usual.slowest), table.number("fastest", 0.1, 50, usual.fastest),
        table.number("dwell_s", 0.05, 5, usual.dwell_s), table.number("practice_s", 1, 600, usual.practice_s),
    )  # fmt: skip
    table.done()
    return trial
