# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Questionnaires: published ones word for word with their source, and short ones of our own.

Published items stay in the language in which they were validated; only our own are translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gazeveil.errors import InputError

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
