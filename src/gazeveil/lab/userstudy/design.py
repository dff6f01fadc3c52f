# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The study file: conditions and their order, trials, questionnaires, measures, and each participant's steps.

Published items stay in the language in which they were validated; only our own are translated.

A Latin square after Williams (1949): over its rows every condition stands at every place equally often, and follows
every other one equally often. An odd number of conditions needs two such squares.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from gazeveil.errors import FileFormatError, InputError
from gazeveil.toml_table import File, Table, lines_of, tables

COLUMNS = ("participant", "control", "mechanism", "strength", "measure", "value")
BASELINE = "none"
"""The mechanism of the condition without any, which the others are compared with."""


@dataclass(frozen=True)
class Measure:
    """A number about one trial or one condition."""

    name: str
    words: str
    unit: str
    higher_is_better: bool


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("destroyed", "targets destroyed", "share", True),
        Measure("distance", "distance at which targets were destroyed", "share of the way", True),
        Measure("false-selections", "distractors selected", "share", False),
        Measure(
            "selection-time",
            "time from a target's appearance to its selection, of targets that were destroyed",
            "s",
            False,
        ),
        Measure("throughput", "throughput after ISO 9241-411, of targets that were destroyed", "bit/s", True),
        Measure(
            "path", "length of the shown gaze's path over the shortest one, of targets that were destroyed", "", False
        ),
        Measure("latency", "time from a look to its effect", "s", False),
        Measure(
            "identified",
            "trials from which the participant was identified (guessing: one in the number of participants)",
            "share",
            False,
        ),
        Measure("sysuse", "PSSUQ system use, 7 is best", "1 to 7", True),
        Measure("tlx", "NASA-TLX workload", "0 to 100", False),
        Measure("sus", "SUS score", "0 to 100", True),
        Measure("enjoyment", "enjoyment", "1 to 7", True),
    )
}


def measure_of(name: str) -> Measure:
    """Return a measure by its name; one that is not known counts as better if it is higher."""
    return MEASURES.get(name) or Measure(name, name, "", True)


def read_measures(path: Path) -> pl.DataFrame:
    """Return a tidy table of measures from a CSV or Parquet file.

    Raises:
        FileFormatError: If it cannot be read, or a column is missing or of another kind.
    """
    try:
        table = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FileFormatError(path, expected="a table as CSV or Parquet", found="something else") from error
    if missing := [column for column in COLUMNS if column not in table.columns]:
        raise FileFormatError(
            path,
            expected=f"the columns {', '.join(COLUMNS)}",
            found=f"no {', '.join(missing)}",
            hint="one row for each number: who, under which condition, which measure, how much",
        )
    labels = [pl.col(column).cast(pl.String) for column in COLUMNS[:-1]]
    tidy = table.select(*labels, pl.col("value").cast(pl.Float64, strict=False))
    for line, (kept, given) in enumerate(zip(tidy["value"], table["value"], strict=True), start=2):
        if kept is None and given is not None:
            raise FileFormatError(path, expected="a number", found=repr(given), line=line, column="value")
    for column in COLUMNS[:-1]:
        if tidy[column].null_count():
            line = int(tidy[column].is_null().arg_true()[0]) + 2
            raise FileFormatError(path, expected="a label", found="nothing", line=line, column=column)
    return tidy.drop_nulls("value")


# --- Questionnaires: published ones word for word with their source, and short ones of our own.


LONGEST_ANSWER = 4_000
GERMAN_ENDS = ("stimme gar nicht zu", "stimme völlig zu")
"""Of our own scales, which all go from disagreement to agreement."""


@dataclass(frozen=True)
class Form:
    """A questionnaire: items, the scale of their answers, and where they come from."""

    name: str
    title: str
    items: tuple[str, ...]
    low: str
    high: str
    points: int
    """Answers go from 1 to this; 0 if they are texts."""
    source: str
    licence: str
    optional: bool = False
    """Whether an item may be left out ("not applicable")."""
    german_title: str = ""
    german: tuple[str, ...] = ()
    """Our own items in German; none where the items are published ones."""

    def to_dict(self, language: str) -> dict[str, Any]:
        """Return it as the page shows it, and the language in which its items and the ends of its scale are."""
        translated = language == "de" and bool(self.german)
        ends = (GERMAN_ENDS if self.points else ("", "")) if translated else (self.low, self.high)
        return {
            "form": self.name, "title": self.german_title if language == "de" else self.title,
            "items": list(self.german if translated else self.items), "low": ends[0], "high": ends[1],
            "language": "de" if translated else "en",
            "points": self.points, "optional": self.optional, "source": self.source,
        }  # fmt: skip

    def check(self, answers: object) -> None:
        """Refuse answers that do not fit.

        Raises:
            InputError: If there are not as many as items, or one is not on the scale.
        """
        if not isinstance(answers, list) or len(answers) != len(self.items):
            raise InputError(f"the form {self.name} has {len(self.items)} answers")
        for answer in answers:
            if answer is None and (self.optional or not self.points):
                continue
            if self.points:
                if isinstance(answer, bool) or not isinstance(answer, int) or not 1 <= answer <= self.points:
                    raise InputError(f"an answer to {self.name} is a whole number from 1 to {self.points}")
            elif not isinstance(answer, str) or len(answer) > LONGEST_ANSWER:
                raise InputError(f"an answer to {self.name} is a text of at most {LONGEST_ANSWER} letters")


PSSUQ_19 = (
    "Overall, I am satisfied with how easy it is to use this system.",
    "It was simple to use this system.",
    "I could effectively complete the tasks and scenarios using this system.",
    "I was able to complete the tasks and scenarios quickly using this system.",
    "I was able to efficiently complete the tasks and scenarios using this system.",
    "I felt comfortable using this system.",
    "It was easy to learn to use this system.",
    "I believe I could become productive quickly using this system.",
    "The system gave error messages that clearly told me how to fix problems.",
    "Whenever I made a mistake using the system, I could recover easily and quickly.",
    "The information (such as on-line help, on-screen messages and other documentation) provided with this system "
    "was clear.",
    "It was easy to find the information I needed.",
    "The information provided for the system was easy to understand.",
    "The information was effective in helping me complete the tasks and scenarios.",
    "The organization of information on the system screens was clear.",
    "The interface of this system was pleasant.",
    "I liked using the interface of this system.",
    "This system has all the functions and capabilities I expect it to have.",
    "Overall, I am satisfied with this system.",
)
NOT_IN_16 = (3, 5, 13)
"""The items of version 2 that version 3 leaves out, counted from 1 (Lewis 2002)."""
PSSUQ_16 = tuple(item for number, item in enumerate(PSSUQ_19, start=1) if number not in NOT_IN_16)
LEWIS = "J. R. Lewis (1992, 2002), Post-Study System Usability Questionnaire"
FREE = "free to use with citation"
USING = "Nutzung des Systems"
AGREE = ("strongly agree", "strongly disagree")

TLX = (
    "Mental demand: How mentally demanding was the task?",
    "Physical demand: How physically demanding was the task?",
    "Temporal demand: How hurried or rushed was the pace of the task?",
    "Performance: How successful were you in accomplishing what you were asked to do?",
    "Effort: How hard did you have to work to accomplish your level of performance?",
    "Frustration: How insecure, discouraged, irritated, stressed, and annoyed were you?",
)
SUS = (
    "I think that I would like to use this system frequently.",
    "I found the system unnecessarily complex.",
    "I thought the system was easy to use.",
    "I think that I would need the support of a technical person to be able to use this system.",
    "I found the various functions in this system were well integrated.",
    "I thought there was too much inconsistency in this system.",
    "I would imagine that most people would learn to use this system very quickly.",
    "I found the system very cumbersome to use.",
    "I felt very confident using the system.",
    "I needed to learn a lot of things before I could get going with this system.",
)

FORMS = {
    form.name: form
    for form in (
        Form("sysuse", "System use", PSSUQ_19[:8], *AGREE, 7, f"{LEWIS}, version 2, items 1 to 8", FREE, True, USING),
        Form("pssuq-19", "Using the system", PSSUQ_19, *AGREE, 7, f"{LEWIS}, version 2", FREE, True, USING),
        Form("pssuq-16", "Using the system", PSSUQ_16, *AGREE, 7, f"{LEWIS}, version 3", FREE, True, USING),
        Form(
            "nasa-tlx", "Workload", TLX, "very low (performance: perfect)", "very high (performance: failure)", 21,
            "S. G. Hart and L. E. Staveland (1988), NASA Task Load Index",
            "a work of the United States government", german_title="Beanspruchung",
        ),
        Form(
            "sus", "Usability", SUS, "strongly disagree", "strongly agree", 5,
            "J. Brooke (1986), System Usability Scale, © Digital Equipment Corporation",
            "free to use if the source is acknowledged", german_title="Gebrauchstauglichkeit",
        ),
        Form(
            "comfort", "Comfort and delay",
            ("I enjoyed playing.", "My eyes felt comfortable.", "The cursor followed my gaze without delay."),
            "strongly disagree", "strongly agree", 7, "gazeveil", "Apache-2.0", german_title="Komfort und Verzögerung",
            german=(
                "Das Spielen hat mir Spaß gemacht.", "Meine Augen fühlten sich gut an.",
                "Der Zeiger folgte meinem Blick ohne Verzögerung.",
            ),
        ),
        Form(
            "privacy", "Privacy",
            (
                "It matters to me who gets to know where I look.",
                "I would use an app that follows my gaze if it could not recognise me.",
                "I would accept a less exact game for more privacy.",
            ),
            "strongly disagree", "strongly agree", 7, "gazeveil", "Apache-2.0", german_title="Privatsphäre",
            german=(
                "Es ist mir wichtig, wer erfährt, wohin ich schaue.",
                "Ich würde eine App nutzen, die meinem Blick folgt, wenn sie mich nicht wiedererkennen könnte.",
                "Ich würde für mehr Privatsphäre ein ungenaueres Spiel in Kauf nehmen.",
            ),
        ),
        Form(
            "open", "In your own words",
            ("What was different between the rounds?", "What bothered you?", "Is there anything else you want to say?"),
            "", "", 0, "gazeveil", "Apache-2.0", german_title="In Ihren Worten", german=(
                "Was war zwischen den Runden anders?", "Was hat Sie gestört?", "Möchten Sie noch etwas sagen?",
            ),
        ),
    )
}  # fmt: skip


_PSSUQ_PARTS = {
    "sysuse": {"sysuse": (0, 8)},
    "pssuq-19": {"sysuse": (0, 8), "infoqual": (8, 15), "interqual": (15, 18), "pssuq": (0, 19)},
    "pssuq-16": {"sysuse": (0, 6), "infoqual": (6, 12), "interqual": (12, 15), "pssuq": (0, 16)},
}


def scores(form: str, answers: list[Any]) -> dict[str, float]:
    """Return the measures of a form's answers, by name. Items that were left out do not count.

    PSSUQ counts from 1, "strongly agree"; here 7 is best, so that more is better as in the other scales.
    """
    given = list(answers)
    if form in _PSSUQ_PARTS:
        parts = {
            name: [answer for answer in given[slice(*part)] if answer is not None]
            for name, part in _PSSUQ_PARTS[form].items()
        }
        return {name: 8 - sum(part) / len(part) for name, part in parts.items() if part}
    if form == "nasa-tlx":
        return {"tlx": sum((answer - 1) * 5 for answer in given) / len(given)}
    if form == "sus":
        return {"sus": 2.5 * sum(answer - 1 if place % 2 == 0 else 5 - answer for place, answer in enumerate(given))}
    if form == "comfort":
        return dict(zip(("enjoyment", "comfort", "no-delay"), map(float, given), strict=True))
    if form == "privacy":
        return dict(zip(("privacy-matters", "would-use", "would-trade"), map(float, given), strict=True))
    return {}


def form_of(details: Mapping[str, Any]) -> Form:
    """Return the form of a step."""
    return FORMS[str(details["form"])]


# --- In which order participants meet conditions, so that order and condition are not mixed up.


T = TypeVar("T")


def latin_rows(conditions: int) -> list[tuple[int, ...]]:
    """Return the rows of a balanced Latin square, or of two where the number is odd."""
    first = [0]
    low, high = 1, conditions - 1
    while len(first) < conditions:
        first.append(low if len(first) % 2 else high)
        low, high = (low + 1, high) if len(first) % 2 == 0 else (low, high - 1)
    rows = [tuple((place + shift) % conditions for place in first) for shift in range(conditions)]
    return rows if conditions % 2 == 0 else rows + [tuple(reversed(row)) for row in rows]


def shuffled(items: Sequence[T], key: str) -> list[T]:
    """Return items in an order that follows from a public key alone, each order as likely as any other."""
    left, found = list(items), []
    block = 0
    while left:
        drawn = int.from_bytes(hashlib.sha256(f"{key}/{block}".encode()).digest()[:8], "big")
        block += 1
        if drawn >= 2**64 - 2**64 % len(left):
            continue  # so that no item is a little likelier
        found.append(left.pop(drawn % len(left)))
    return found


def sequence(conditions: Sequence[T], participant: int, kind: str, key: str) -> list[T]:
    """Return the order for a participant, counted from 0: a row of the square, or a shuffle of their own."""
    if kind == "random":
        return shuffled(conditions, f"{key}/{participant}")
    rows = latin_rows(len(conditions))
    return [conditions[place] for place in rows[participant % len(rows)]]


# --- The study file: conditions, ways of control, trials, forms, and the steps that follow for each participant.


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
