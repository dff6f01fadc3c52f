# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The statement for participants: easy to read, the same in both languages, and no sentence that was not tried."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.userstudy.proposal import CONSENT
from gazeveil.privacy.guarantee import GazeStreamDP, PureDP
from gazeveil.privacy.participant_statement import LANGUAGES
from gazeveil.privacy.statement import StatedFact, Statement, statement
from tests.statements import test_refuting as programs
from tests.statements.readability import english_syllables, german_syllables, grade, sachtextformel
from tests.statements.test_every_sentence import (
    ADD_UP,
    ADMITS,
    DEFINES,
    DELTA,
    ONE_WINDOW,
    REPLACED,
    plans,
    statement_of,
    statements,
)

HARDEST = 9.0
"""The most years of school that a statement may ask for."""
BELIEF = programs.test_nobody_who_knows_all_other_data_comes_to_believe_more_than_the_statement_says
SENTENCES: dict[str, tuple[str, Any]] = {
    r"There is no proven guarantee for this release\.": (
        r"Für diese Veröffentlichung gibt es keinen bewiesenen Schutz\.",
        ADMITS,
    ),
    r"Treat it as if it could show your data\.": (
        r"Gehen Sie davon aus, dass sie Ihre Daten verraten kann\.",
        ADMITS,
    ),
    r"The full statement gives the reason\.": (r"Die ausführliche Erklärung nennt den Grund\.", DEFINES),
    r"The guarantee is so weak that it protects you from nothing\.": (
        r"Der Schutz ist so schwach, dass er Sie vor nichts schützt\.",
        ADMITS,
    ),
    r"Random noise was added to these results before they were shared\.": (
        r"Die Ergebnisse wurden mit zufälligem Rauschen verändert, bevor sie veröffentlicht wurden\.",
        DEFINES,
    ),
    r"The method is called differential privacy\.": (r"Das Verfahren heißt Differential Privacy\.", DEFINES),
    r"It protects all data that you gave\.": (r"Das schützt alle Daten, die Sie beigetragen haben\.", REPLACED),
    r"It protects each of your recordings by itself\.": (r"Das schützt jede Ihrer Aufnahmen für sich\.", REPLACED),
    r"It protects any # s of your gaze\.": (r"Das schützt jeden Abschnitt Ihres Blicks von # s Länge\.", REPLACED),
    r"It protects where you looked in any # s, within # (px|degrees|of the size of the screen|m|cm|mm)\.": (
        r"Das schützt, wohin Sie in jedem Abschnitt von # s geblickt haben, im Umkreis von # "
        r"(px|Grad|der Größe des Bildschirms|m|cm|mm)\.",
        ONE_WINDOW,
    ),
    r"For the head, it is # degrees\.": (r"Beim Kopf sind es # Grad\.", ONE_WINDOW),
    r"It protects your series of features\.": (r"Das schützt Ihre Reihe von Merkmalen\.", REPLACED),
    r"It protects any # steps in a row of your series of features\.": (
        r"Das schützt je # Schritte in Folge in Ihrer Reihe von Merkmalen\.",
        REPLACED,
    ),
    r"This is about these features: [^.]+\.": (r"Es geht um diese Merkmale: [^.]+\.", DEFINES),
    r"Here is an example\. Someone knows all other data, but not yours\.": (
        r"Ein Beispiel: Jemand kennt alle anderen Daten, aber nicht Ihre\.",
        DEFINES,
    ),
    r"They think it is # % likely that something is true of you\.": (
        r"Diese Person hält es zu # % für wahrscheinlich, dass etwas auf Sie zutrifft\.",
        DEFINES,
    ),
    r"Here is an example\. Someone knows all other data, but not this part of yours\.": (
        r"Ein Beispiel: Jemand kennt alle anderen Daten, aber nicht diesen Teil von Ihren\.",
        DEFINES,
    ),
    r"They think it is # % likely that something is true of it\.": (
        r"Diese Person hält es zu # % für wahrscheinlich, dass etwas auf ihn zutrifft\.",
        DEFINES,
    ),
    r"Once they see the results, they can be at most # % and at least # % sure of it\.": (
        r"Nachdem sie die Ergebnisse gesehen hat, ist sie sich zu höchstens # % und zu mindestens # % sicher\.",
        BELIEF,
    ),
    r"Here is an example\. Two paths of your gaze differ only in one such stretch, and by no more than that\.": (
        r"Ein Beispiel: Zwei Wege Ihres Blicks unterscheiden sich nur in einem solchen Abschnitt und um nicht mehr als "
        r"das\.",
        DEFINES,
    ),
    r"Someone thinks that both are equally likely \(# %\)\.": (
        r"Jemand hält beide für gleich wahrscheinlich \(# %\)\.",
        DEFINES,
    ),
    r"Once they see the results, they can be at most # % and at least # % sure of one of them\.": (
        r"Wer dann die Ergebnisse sieht, ist sich bei einem der beiden Wege zu höchstens # % und zu mindestens # % "
        r"sicher\.",
        ONE_WINDOW,
    ),
    r"Once they see the results, they can be almost certain\.": (
        r"Wer dann die Ergebnisse sieht, kann sich fast ganz sicher sein\.",
        ADMITS,
    ),
    r"We call this a (strong|moderate|weak) guarantee\.": (
        r"Wir nennen das einen (starken|mittleren|schwachen) Schutz\.",
        DEFINES,
    ),
    r"For one such stretch, we call this a (strong|moderate|weak) guarantee\.": (
        r"Für einen solchen Abschnitt nennen wir das einen (starken|mittleren|schwachen) Schutz\.",
        DEFINES,
    ),
    r"This protects next to nothing\.": (r"Das schützt fast gar nicht\.", ADMITS),
    r"The release is like one that always keeps this, but for a chance of at most # in #\.": (
        r"Die Ergebnisse sind wie solche, für die das immer gilt, außer mit einer Wahrscheinlichkeit von höchstens # "
        r"zu #\.",
        DELTA,
    ),
    r"In that case, more may be learned\.": (r"In diesem Fall kann man mehr erfahren\.", ADMITS),
    r"It is public how many people took part\.": (r"Bekannt ist, wie viele Personen teilgenommen haben\.", ADMITS),
    r"It is public how many recordings there are\.": (r"Bekannt ist, wie viele Aufnahmen es gibt\.", ADMITS),
    r"Whether you took part is protected in the same way\.": (
        r"Ob Sie teilgenommen haben, ist auf die gleiche Weise geschützt\.",
        REPLACED,
    ),
    r"Whether there is such a recording is protected in the same way\.": (
        r"Ob es eine solche Aufnahme gibt, ist auf die gleiche Weise geschützt\.",
        REPLACED,
    ),
    r"The longer two paths differ, the weaker is the guarantee\.": (
        r"Je länger sich zwei Wege unterscheiden, desto schwächer ist der Schutz\.",
        ADD_UP,
    ),
    r"If they differ in one more recording, that counts once more\.": (
        r"Unterscheiden sie sich auch in einer weiteren Aufnahme, so zählt das noch einmal\.",
        programs.test_a_difference_that_goes_on_in_another_recording_counts_there_again,
    ),
    r"Who you are is not protected: you may be recognised by how your eyes move\.": (
        r"Wer Sie sind, ist nicht geschützt: Man kann Sie vielleicht daran erkennen, wie sich Ihre Augen bewegen\.",
        programs.test_paths_that_differ_for_an_hour_are_told_apart_for_certain_so_identity_is_not_claimed,
    ),
    r"It is not hidden when your gaze was recorded, or when it was missing, as in a blink\.": (
        r"Nicht verborgen ist, wann Ihr Blick aufgenommen wurde und wann er fehlte, etwa beim Blinzeln\.",
        ADMITS,
    ),
    r"What shows in many such parts, such as who you are, is protected less\.": (
        r"Was sich in vielen solchen Teilen zeigt, etwa wer Sie sind, ist weniger geschützt\.",
        ADMITS,
    ),
    r"What is true of most people may be true of you too, and that is not hidden\.": (
        r"Was für die meisten Menschen gilt, gilt vielleicht auch für Sie, und das wird nicht verborgen\.",
        programs.test_whoever_knows_nobody_learns_of_you_from_people_in_general_so_the_statement_excepts_it,
    ),
    r"Each new release from the same data adds to what can be learned\.": (
        r"Jede weitere Veröffentlichung aus diesen Daten kann mehr verraten\.",
        ADMITS,
    ),
    r"The noise must stay secret\.": (
        r"Das Rauschen muss geheim bleiben\.",
        programs.test_whoever_knows_the_noise_learns_the_gaze_so_the_statement_excepts_them,
    ),
    r"How long the computer took is not protected\.": (
        r"Wie lange die Berechnung gedauert hat, ist nicht geschützt\.",
        ADMITS,
    ),
    r"Some facts were read from the data\.": (r"Einige Angaben wurden aus den Daten gelesen\.", ADMITS),
    r"They are not protected\.": (r"Sie sind nicht geschützt\.", ADMITS),
    r"The guarantee holds only if they were known anyway\.": (
        r"Der Schutz gilt nur, wenn sie ohnehin bekannt waren\.",
        ADMITS,
    ),
    r"There may be more than one release\.": (r"Es kann mehr als eine Veröffentlichung geben\.", ADMITS),
    r"The full statement has the numbers for all of them so far\.": (
        r"Die ausführliche Erklärung nennt die Zahlen für alle bisherigen\.",
        DEFINES,
    ),
    r"For all releases so far, taken together, nothing is proven\.": (
        r"Für alle bisherigen Veröffentlichungen zusammen ist nichts bewiesen\.",
        ADMITS,
    ),
    r"The full statement lists all facts that are public\.": (
        r"Die ausführliche Erklärung nennt alle Angaben, die bekannt sind\.",
        DEFINES,
    ),
    r"The full statement also shows how often people were recognised in tests\.": (
        r"Die ausführliche Erklärung nennt auch, wie oft Personen in Tests erkannt wurden\.",
        DEFINES,
    ),
}
"""Every English sentence, its German one, and the program that tries to refute both."""


@cache
def every_statement() -> list[Statement]:
    """Return the statements of all products and guarantees, with a condition and with a head."""
    head = statement(GazeStreamDP(1, "1.5", 2, "deg", 5), facts=(StatedFact("stimuli", "a", declared=False),))
    return [head, *(said for _, said in statements())]


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, numbers replaced by #; an example belongs to what it is about."""
    plain = re.sub(r"\d[\d.,]*\d|\d", "#", text)
    return re.split(r"(?<=\.) (?!Someone knows|Two paths)", plain)


@pytest.mark.parametrize(("language", "measure"), [("en", grade), ("de", sachtextformel)])
def test_nine_years_of_school_are_enough_for_the_statement_of_every_product(language: str, measure: Any) -> None:
    for name, plan in plans().items():
        assert measure(statement_of(plan).for_participants(language)) <= HARDEST, name
    for said in every_statement():
        assert measure(said.for_participants(language)) <= HARDEST, said
    assert measure(CONSENT[language]) <= HARDEST


def test_the_full_statement_without_its_lists_asks_for_one_year_more() -> None:
    for said in every_statement():
        assert grade(replace(said, facts=(), shows=(), total=None).paragraph()) <= HARDEST + 1, said


def test_a_text_that_is_hard_to_read_is_found_in_both_languages() -> None:
    assert grade("Indistinguishability of neighbouring databases necessitates multiplicative approximation.") > 20
    assert sachtextformel("Die Ununterscheidbarkeit benachbarter Datensätze erfordert Zufallsmechanismen.") > 15


@pytest.mark.parametrize(
    ("word", "count"),
    [("noise", 1), ("people", 2), ("recorded", 3), ("moved", 1), ("guarantee", 3), ("results", 2), ("releases", 3)],
)
def test_english_syllables_are_counted(word: str, count: int) -> None:
    assert english_syllables(word) == count


@pytest.mark.parametrize(
    ("word", "count"), [("Blick", 1), ("Daten", 2), ("Rauschen", 2), ("Veröffentlichung", 5), ("Quelle", 2)]
)
def test_german_syllables_are_counted(word: str, count: int) -> None:
    assert german_syllables(word) == count


def test_every_sentence_is_on_the_list_and_both_languages_say_the_same_in_the_same_order() -> None:
    for said in every_statement():
        english, german = (sentences_of(said.for_participants(language)) for language in ("en", "de"))
        assert len(english) == len(german)
        for here, there in zip(english, german, strict=True):
            found = [pair for pair in SENTENCES.items() if re.fullmatch(pair[0], here)]
            assert len(found) == 1, here
            assert re.fullmatch(found[0][1][0], there), (here, there)


def test_every_sentence_on_the_list_is_used() -> None:
    used = {sentence for said in every_statement() for sentence in sentences_of(said.for_participants())}
    assert [pattern for pattern in SENTENCES if not any(re.fullmatch(pattern, each) for each in used)] == []


def test_both_languages_hold_the_same_numbers_and_they_are_those_of_the_full_statement() -> None:
    for said in every_statement():
        english, german = (said.for_participants(language) for language in LANGUAGES)
        swapped = german.translate({ord("."): ",", ord(","): "."})
        numbers = [re.findall(r"\d[\d.,]*\d|\d", text) for text in (english, swapped)]
        assert numbers[0] == numbers[1]
        assert not [number for number in numbers[0] if number not in said.paragraph()]


def test_a_language_that_nobody_wrote_is_refused() -> None:
    with pytest.raises(OptionError, match="no statement is written in 'tlh'"):
        statement(PureDP(1)).for_participants("tlh")
