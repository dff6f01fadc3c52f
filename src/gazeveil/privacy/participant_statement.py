# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The statement for participants: the same guarantee as in the full statement, in short sentences, in two languages.

It leaves out what only reviewers need (factors, neighbours, facts one by one) and points to the full statement for it.
It claims nothing that the full statement does not claim. `tests/statements` checks each sentence, in both languages,
and that the text is easy to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from gazeveil.errors import OptionError
from gazeveil.exact import decimal_up, in_digits
from gazeveil.privacy.guarantee import Unproven
from gazeveil.privacy.protection import (
    FeatureSeries,
    Neighbours,
    Observer,
    OneRecording,
    Strength,
    StretchOfGaze,
    WindowOfGaze,
)

if TYPE_CHECKING:
    from gazeveil.privacy.statement import Statement


@dataclass(frozen=True, slots=True)
class _Language:
    """The sentences of one language. Braces hold numbers and units."""

    unproven: str
    protects_nothing: str
    noise: str
    all_data: str
    recording: str
    stretch: str
    window: str
    head: str
    series: str
    steps: str
    features: str
    distances: dict[str, str]
    example: str
    example_of_part: str
    example_of_paths: str
    belief: str
    belief_in_path: str
    certain: str
    strength: str
    strength_for_window: str
    strengths: dict[Strength, str]
    next_to_nothing: str
    exception: str
    number_is_public: str
    recordings_are_public: str
    taking_part: str
    recording_exists: str
    windows_add_up: str
    identity: str
    times: str
    parts_add_up: str
    limits: str
    condition: str
    total: str
    total_unproven: str
    identification: str
    facts: str
    figures: dict[int, str]


_ENGLISH = _Language(
    unproven=(
        "There is no proven guarantee for this release. Treat it as if it could show your data. "
        "The full statement gives the reason."
    ),
    protects_nothing="The guarantee is so weak that it protects you from nothing.",
    noise=(
        "Random noise was added to these results before they were shared. The method is called differential privacy."
    ),
    all_data="It protects all data that you gave.",
    recording="It protects each of your recordings by itself.",
    stretch="It protects any {seconds} s of your gaze.",
    window="It protects where you looked in any {seconds} s, within {distance}.",
    head="For the head, it is {degrees} degrees.",
    series="It protects your series of features.",
    steps="It protects any {steps} steps in a row of your series of features.",
    features="This is about these features: {features}.",
    distances={
        "px": "{size} px",
        "deg": "{size} degrees",
        "norm": "{size} of the size of the screen",
        "m": "{size} m",
        "cm": "{size} cm",
        "mm": "{size} mm",
    },
    example=(
        "Here is an example. Someone knows all other data, but not yours. They think it is 50 % likely that something "
        "is true of you."
    ),
    example_of_part=(
        "Here is an example. Someone knows all other data, but not this part of yours. They think it is 50 % likely "
        "that something is true of it."
    ),
    example_of_paths=(
        "Here is an example. Two paths of your gaze differ only in one such stretch, and by no more than that. "
        "Someone thinks that both are equally likely (50 %)."
    ),
    belief="Once they see the results, they can be at most {high} % and at least {low} % sure of it.",
    belief_in_path="Once they see the results, they can be at most {high} % and at least {low} % sure of one of them.",
    certain="Once they see the results, they can be almost certain.",
    strength="We call this a {strength} guarantee.",
    strength_for_window="For one such stretch, we call this a {strength} guarantee.",
    strengths={Strength.STRONG: "strong", Strength.MODERATE: "moderate", Strength.WEAK: "weak"},
    next_to_nothing="This protects next to nothing.",
    exception=(
        "The release is like one that always keeps this, but for a chance of at most 1 in {chance}. "
        "In that case, more may be learned."
    ),
    number_is_public="It is public how many people took part.",
    recordings_are_public="It is public how many recordings there are.",
    taking_part="Whether you took part is protected in the same way.",
    recording_exists="Whether there is such a recording is protected in the same way.",
    windows_add_up=(
        "The longer two paths differ, the weaker is the guarantee. If they differ in one more recording, that counts "
        "once more."
    ),
    identity="Who you are is not protected: you may be recognised by how your eyes move.",
    times="It is not hidden when your gaze was recorded, or when it was missing, as in a blink.",
    parts_add_up="What shows in many such parts, such as who you are, is protected less.",
    limits=(
        "What is true of most people may be true of you too, and that is not hidden. "
        "Each new release from the same data adds to what can be learned. The noise must stay secret. "
        "How long the computer took is not protected."
    ),
    condition=(
        "Some facts were read from the data. They are not protected. "
        "The guarantee holds only if they were known anyway."
    ),
    total="There may be more than one release. The full statement has the numbers for all of them so far.",
    total_unproven="For all releases so far, taken together, nothing is proven.",
    identification="The full statement also shows how often people were recognised in tests.",
    facts="The full statement lists all facts that are public.",
    figures={},
)

_GERMAN = _Language(
    unproven=(
        "Für diese Veröffentlichung gibt es keinen bewiesenen Schutz. Gehen Sie davon aus, dass sie Ihre Daten "
        "verraten kann. Die ausführliche Erklärung nennt den Grund."
    ),
    protects_nothing="Der Schutz ist so schwach, dass er Sie vor nichts schützt.",
    noise=(
        "Die Ergebnisse wurden mit zufälligem Rauschen verändert, bevor sie veröffentlicht wurden. Das Verfahren heißt "
        "Differential Privacy."
    ),
    all_data="Das schützt alle Daten, die Sie beigetragen haben.",
    recording="Das schützt jede Ihrer Aufnahmen für sich.",
    stretch="Das schützt jeden Abschnitt Ihres Blicks von {seconds} s Länge.",
    window="Das schützt, wohin Sie in jedem Abschnitt von {seconds} s geblickt haben, im Umkreis von {distance}.",
    head="Beim Kopf sind es {degrees} Grad.",
    series="Das schützt Ihre Reihe von Merkmalen.",
    steps="Das schützt je {steps} Schritte in Folge in Ihrer Reihe von Merkmalen.",
    features="Es geht um diese Merkmale: {features}.",
    distances={
        "px": "{size} px",
        "deg": "{size} Grad",
        "norm": "{size} der Größe des Bildschirms",
        "m": "{size} m",
        "cm": "{size} cm",
        "mm": "{size} mm",
    },
    example=(
        "Ein Beispiel: Jemand kennt alle anderen Daten, aber nicht Ihre. Diese Person hält es zu 50 % für "
        "wahrscheinlich, dass etwas auf Sie zutrifft."
    ),
    example_of_part=(
        "Ein Beispiel: Jemand kennt alle anderen Daten, aber nicht diesen Teil von Ihren. Diese Person hält es zu 50 % "
        "für wahrscheinlich, dass etwas auf ihn zutrifft."
    ),
    example_of_paths=(
        "Ein Beispiel: Zwei Wege Ihres Blicks unterscheiden sich nur in einem solchen Abschnitt und um nicht mehr als "
        "das. Jemand hält beide für gleich wahrscheinlich (50 %)."
    ),
    belief=(
        "Nachdem sie die Ergebnisse gesehen hat, ist sie sich zu höchstens {high} % und zu mindestens {low} % sicher."
    ),
    belief_in_path=(
        "Wer dann die Ergebnisse sieht, ist sich bei einem der beiden Wege zu höchstens {high} % und zu mindestens "
        "{low} % sicher."
    ),
    certain="Wer dann die Ergebnisse sieht, kann sich fast ganz sicher sein.",
    strength="Wir nennen das einen {strength} Schutz.",
    strength_for_window="Für einen solchen Abschnitt nennen wir das einen {strength} Schutz.",
    strengths={Strength.STRONG: "starken", Strength.MODERATE: "mittleren", Strength.WEAK: "schwachen"},
    next_to_nothing="Das schützt fast gar nicht.",
    exception=(
        "Die Ergebnisse sind wie solche, für die das immer gilt, außer mit einer Wahrscheinlichkeit von höchstens 1 zu "
        "{chance}. In diesem Fall kann man mehr erfahren."
    ),
    number_is_public="Bekannt ist, wie viele Personen teilgenommen haben.",
    recordings_are_public="Bekannt ist, wie viele Aufnahmen es gibt.",
    taking_part="Ob Sie teilgenommen haben, ist auf die gleiche Weise geschützt.",
    recording_exists="Ob es eine solche Aufnahme gibt, ist auf die gleiche Weise geschützt.",
    windows_add_up=(
        "Je länger sich zwei Wege unterscheiden, desto schwächer ist der Schutz. Unterscheiden sie sich auch in einer "
        "weiteren Aufnahme, so zählt das noch einmal."
    ),
    identity="Wer Sie sind, ist nicht geschützt: Man kann Sie vielleicht daran erkennen, wie sich Ihre Augen bewegen.",
    times="Nicht verborgen ist, wann Ihr Blick aufgenommen wurde und wann er fehlte, etwa beim Blinzeln.",
    parts_add_up="Was sich in vielen solchen Teilen zeigt, etwa wer Sie sind, ist weniger geschützt.",
    limits=(
        "Was für die meisten Menschen gilt, gilt vielleicht auch für Sie, und das wird nicht verborgen. "
        "Jede weitere Veröffentlichung aus diesen Daten kann mehr verraten. Das Rauschen muss geheim bleiben. "
        "Wie lange die Berechnung gedauert hat, ist nicht geschützt."
    ),
    condition=(
        "Einige Angaben wurden aus den Daten gelesen. Sie sind nicht geschützt. "
        "Der Schutz gilt nur, wenn sie ohnehin bekannt waren."
    ),
    total=(
        "Es kann mehr als eine Veröffentlichung geben. Die ausführliche Erklärung nennt die Zahlen für alle bisherigen."
    ),
    total_unproven="Für alle bisherigen Veröffentlichungen zusammen ist nichts bewiesen.",
    identification="Die ausführliche Erklärung nennt auch, wie oft Personen in Tests erkannt wurden.",
    facts="Die ausführliche Erklärung nennt alle Angaben, die bekannt sind.",
    figures={ord("."): ",", ord(","): "."},
)

LANGUAGES: Final[dict[str, _Language]] = {"en": _ENGLISH, "de": _GERMAN}
"""The languages of statements for participants, by their code."""


def for_participants(statement: Statement, language: str = "en") -> str:
    """Return a statement for participants, in short sentences, in English (``en``) or German (``de``).

    Raises:
        OptionError: If there is no such language.
    """
    if (words := LANGUAGES.get(language)) is None:
        raise OptionError(f"no statement is written in {language!r}", hint=f"known: {', '.join(LANGUAGES)}")
    return " ".join(_sentences(statement, words))


def _sentences(said: Statement, words: _Language) -> Iterator[str]:
    at_most = said.belief_at_most()
    if isinstance(said.guarantee, Unproven):
        yield words.unproven
    elif at_most is None:
        yield words.protects_nothing
    else:
        yield words.noise
        yield from _protected(said, words)
        yield from _example(said, words)
        yield from _exceptions(said, words)
    yield from _elsewhere(said, words)


def _protected(said: Statement, words: _Language) -> Iterator[str]:
    unit = said.guarantee.unit
    if isinstance(unit, OneRecording):
        yield words.recording
    elif isinstance(unit, StretchOfGaze):
        yield words.stretch.format(seconds=_number(in_digits(unit.seconds, up=False), words))
    elif isinstance(unit, WindowOfGaze):
        distance = words.distances[unit.unit].format(size=_number(in_digits(unit.radius, up=False), words))
        yield words.window.format(seconds=_number(in_digits(unit.seconds, up=False), words), distance=distance)
        if unit.head_radius is not None:
            yield words.head.format(degrees=_number(in_digits(unit.head_radius, up=False), words))
    elif isinstance(unit, FeatureSeries):
        steps = unit.steps
        yield words.series if steps is None else words.steps.format(steps=_number(f"{steps:,}", words))
        if unit.features:
            yield words.features.format(features=", ".join(unit.features))
    else:
        yield words.all_data


def _example(said: Statement, words: _Language) -> Iterator[str]:
    """Say how far a belief can shift, by the same numbers as the full statement."""
    unit, at_most = said.guarantee.unit, said.belief_at_most() or Fraction(1)
    of_paths = isinstance(unit, WindowOfGaze)
    if of_paths:
        yield words.example_of_paths
    else:
        yield words.example if isinstance(unit, Observer) else words.example_of_part
    high = decimal_up(100 * at_most, 3)
    if high >= 100:
        yield words.certain
    else:
        low = _number(in_digits(100 - high, 3, up=False), words)
        belief = words.belief_in_path if of_paths else words.belief
        yield belief.format(high=_number(in_digits(high, 3), words), low=low)
    strength = words.strengths.get(said.strength) if said.strength is not None else None
    if strength is None:
        yield words.next_to_nothing
    else:
        yield (words.strength_for_window if of_paths else words.strength).format(strength=strength)


def _exceptions(said: Statement, words: _Language) -> Iterator[str]:
    unit = said.guarantee.unit
    if (chance := said.failure_chance()) is not None:
        yield words.exception.format(chance=_number(f"{chance:,}", words))
    if said.guarantee.neighbours is Neighbours.ADD_REMOVE:
        yield words.taking_part if isinstance(unit, Observer) else words.recording_exists
    elif isinstance(unit, Observer):
        yield words.number_is_public
    elif isinstance(unit, OneRecording):
        yield words.recordings_are_public
    if isinstance(unit, WindowOfGaze):
        yield from (words.windows_add_up, words.identity, words.times)
    elif not isinstance(unit, Observer):
        yield words.parts_add_up
    yield words.limits


def _elsewhere(said: Statement, words: _Language) -> Iterator[str]:
    """Point to what the full statement says beside."""
    if said.proven and said.conditional_on:
        yield words.condition
    if said.total is not None:
        yield words.total if said.total.proven else words.total_unproven
    if said.facts:
        yield words.facts
    if said.identification:
        yield words.identification


def _number(text: str, words: _Language) -> str:
    return text.translate(words.figures)
