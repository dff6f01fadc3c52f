# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The privacy statement: what a release guarantees, in words that a participant understands, as text and web page.

It says what is protected, against whom, how far anyone's belief can shift, which data sets are compared, how likely
the guarantee is to fail, and which public facts it rests on. It is a paragraph, a card for the web
(`gazeveil.privacy.statement`) and JSON, all from the same values. Numbers are rounded so that the guarantee never looks
better than it is.

Words go by replace-one neighbours: what is compared is a participant's data and any other in their place. A guarantee
between add/remove neighbours is about taking part or not; for everything else it is first restated, which doubles ε.

No sentence may be one that a counter-example refutes: `tests/statements` lists them, each with a program that tries.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from gazeveil.errors import InternalError
from gazeveil.exact import Number, as_text, chance_of_failure, decimal_down, decimal_up, in_digits
from gazeveil.privacy.decimal_interval import Interval
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP
from gazeveil.privacy.protection import Neighbours, Observer, OneRecording, Strength, WindowOfGaze, strength_of

AGAINST = (
    "anyone who sees what was released but not the noise that went into it, whatever else they know, "
    "even the data of all other participants"
)
LIMITS = (
    "What holds for people in general is not hidden, and may hold for you too. "
    "Every further release from the same data adds to what can be learned. "
    "How long it took to make this release is not protected."
)
GAZE_LIMITS = (
    "When gaze was recorded is not hidden. "
    "The guarantee compares gaze that is missing at the same times: that it was missing, as in a blink, may show, "
    "and a long absence does. "
    "Each recording counts by itself: a difference that continues in another one counts there again. "
    "Who you are is not protected: your eye movements show in every window, and you may be recognised by them."
)
PART_LIMITS = (
    "Each such part of your data is protected by itself: what shows in several, such as who you are, adds up over them."
)
SPANS = (("1 second", 1), ("1 minute", 60), ("1 hour", 3600))
"""For how long two gaze paths may differ, where a statement says what windows add up to."""
PAGE, TEXT = "statement.html", "statement.txt"
NOTHING_PROVEN = "Treat this release as if it could reveal what went into it."
_HALF = Fraction(1, 2)
_NO_PROTECTION = 50
"""From this ε on, e^ε is beyond anything that could be called a guarantee."""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A public fact that a release rests on, in words.

    Attributes:
        name: What it is about.
        text: What it says.
        declared: Whether someone declared it; otherwise it was read from the data and is not protected.
    """

    name: str
    text: str
    declared: bool = True


@dataclass(frozen=True, slots=True)
class Statement:
    """What one release guarantees, in words and numbers.

    Attributes:
        guarantee: The guarantee itself.
        epsilon: The ε that the words go by; None where nothing is proven.
        delta: The δ that the words go by; None where nothing is proven.
        presence: The ε for the odds of whether the unit is in the data at all; None where that is not protected.
        total: What this and all earlier releases from the same budget guarantee together, where it is known.
        facts: The public facts that it rests on, where they are known.
        identification: How often participants were identified behind it, as measured, in words; empty where that is
            not a question.
        shows: What the released value is made of, in sentences; empty where there is nothing to say.
    """

    guarantee: Guarantee
    epsilon: Fraction | None
    delta: Fraction | None
    presence: Fraction | None = None
    total: Guarantee | None = None
    facts: tuple[StatedFact, ...] = ()
    identification: str = ""
    shows: tuple[str, ...] = ()

    @property
    def strength(self) -> Strength | None:
        """How strong the guarantee is, on the one scale; None where nothing is proven."""
        if self.epsilon is None:
            return None
        return Strength.NEXT_TO_NONE if self.odds is None else strength_of(self.epsilon)

    @property
    def weak(self) -> bool:
        """Whether the scale calls it weak, or worse."""
        return self.strength is not None and not self.strength.protects

    @property
    def proven(self) -> bool:
        """Whether there is a guarantee at all."""
        return self.epsilon is not None

    @property
    def conditional_on(self) -> tuple[str, ...]:
        """The names of facts that were read from the data: the guarantee holds only if they are public anyway."""
        return tuple(fact.name for fact in self.facts if not fact.declared)

    @property
    def protects(self) -> str:
        """What is protected."""
        return self.guarantee.unit.in_words()

    @property
    def odds(self) -> Fraction | None:
        """The factor by which the odds of any conclusion change at most, rounded up; None if there is no bound."""
        if self.epsilon is None or self.epsilon > _NO_PROTECTION or self.delta == 1:
            return None
        return _factor(self.epsilon)

    def belief_at_most(self, before: Fraction = _HALF) -> Fraction | None:
        """Return how sure someone can become who was ``before`` sure; None if there is no bound."""
        factor = self.odds
        return None if factor is None else factor * before / (1 - before + factor * before)

    def __repr__(self) -> str:
        return f"Statement({self.guarantee})"

    def __str__(self) -> str:
        return self.paragraph()

    def _repr_html_(self) -> str:
        return self.card()

    def how_much(self) -> str:
        """Say how far a belief can shift, with an example."""
        if isinstance(self.guarantee, Unproven):
            return f"There is no proven guarantee: {self.guarantee.reason}."
        at_most = self.belief_at_most()
        if at_most is None or self.epsilon is None:
            return "The guarantee is so weak that it protects from nothing."
        odds = f"of at most {_power(self.epsilon)}"
        if isinstance(self.guarantee.unit, WindowOfGaze):
            about = (
                "The odds between your gaze path and another change by a factor "
                f"{odds} if the two differ only {_within_a_window(self.guarantee.unit)}"
            )
            strength = _strength(self.epsilon).removesuffix(".")
            return f"{about}. {_example(at_most, between_paths=True)} {strength} for one window."
        yours = "yours" if isinstance(self.guarantee.unit, Observer) else "what is protected"
        about = f"{odds} compared with any other data in place of {yours}"
        if self.presence is not None:
            took_part = f"of at most {_power(self.presence)}"
            about = f"{took_part} compared with data without {_presence(self.guarantee)}, and {about}"
        opening = "Whatever anyone may conclude or do, it becomes more or less likely by a factor"
        return f"{opening} {about}. {_example(at_most)} {_strength(self.epsilon)}"

    def over_time(self) -> str:
        """Say what windows of gaze add up to where two paths differ for longer than one; empty for anything else."""
        if not (rows := self._spans()):
            return ""
        window = in_digits(rows[0][0].seconds, up=False)
        listed = "; ".join(
            f"{name}: {windows:,} window{'s' if windows > 1 else ''}, "
            + ("nothing is guaranteed" if delta == 1 else f"ε = {in_digits(epsilon, 6)}")
            + (f" and δ = {in_digits(delta)}" if 0 < delta < 1 else "")
            for _, name, windows, epsilon, delta in rows
        )
        return (
            f"Windows add up over time. Two paths that differ for longer than {window} s are as many windows apart as "
            f"it takes to cover the difference, and each of them counts. For a difference that lasts {listed}."
            + (" A difference of twice the distance counts twice." if isinstance(self.guarantee, PureDP) else "")
        )

    def _spans(self) -> list[tuple[WindowOfGaze, str, int, Fraction, Fraction]]:
        """Return what paths that differ for so long are guaranteed: the window, how long, how many, ε and δ."""
        unit = self.guarantee.unit
        if not isinstance(unit, WindowOfGaze) or not self.proven:
            return []
        found = []
        for name, seconds in SPANS:
            longer = unit.lasting(seconds)
            windows = unit.steps_to(longer)
            if windows is None:
                raise InternalError("a longer window is made up of windows")
            numbers = _in_epsilon(self.guarantee.restated(unit=longer), self.delta or "1e-6")
            found.append((unit, name, windows, *numbers))
        return found

    def failure(self) -> str:
        """Say how likely the guarantee is to fail; empty if it cannot or if there is none."""
        if not self.delta or self.delta == 1:
            return ""
        exactly = ""
        if isinstance(self.guarantee, ZeroConcentratedDP):
            exactly = f" The exact guarantee is ρ = {in_digits(self.guarantee.rho)}; at another δ the factor differs."
        # Not "the odds exceed this with a chance of at most δ", which (ε, δ) does not say: see the page on δ.
        return (
            "For any two data sets that are compared, this release is like one that keeps this without exception, but "
            f"for a chance of at most {_chance(self.delta)}, in which the guarantee fails and more may be "
            f"learned.{exactly}"
        )

    def failure_chance(self) -> int | None:
        """Return N where δ is at most one in N; None if δ is 0, or if there is no guarantee."""
        return _one_in(self.delta) if self.delta and self.delta < 1 else None

    def rests_on(self) -> str:
        """Say which public facts the release rests on, and which of them nobody declared; empty if none are known."""
        if not self.facts:
            return ""
        listed = "; ".join(f"{fact.name}: {fact.text}" for fact in self.facts)
        return f"The release rests on these facts, which are public: {listed}. {self.condition()}".rstrip()

    def condition(self) -> str:
        """Say what the guarantee is conditional on; empty if every fact was declared."""
        if not (read := self.conditional_on):
            return ""
        return (
            f"These facts were read from the data and are not protected: {', '.join(read)}. "
            "The guarantee is conditional on them: it holds if they were known to everyone anyway."
        )

    def figures(self) -> tuple[str, ...]:
        """Return the numbers that the words contain, in every version of the words."""
        if isinstance(self.guarantee, Unproven):
            return (self.guarantee.reason,)
        at_most = self.belief_at_most()
        if at_most is None or self.epsilon is None:
            return ("protects from nothing",)
        found = [_power(epsilon) for epsilon in (self.epsilon, self.presence) if epsilon is not None]
        if (high := decimal_up(100 * at_most, 3)) < 100:
            found.append(f"{in_digits(high, 3)} %")
        if self.delta and self.delta < 1:
            found.append(_chance(self.delta))
        return tuple(found)

    def limits(self) -> str:
        """Say what is not protected."""
        unit = self.guarantee.unit
        own = GAZE_LIMITS if isinstance(unit, WindowOfGaze) else "" if isinstance(unit, Observer) else PART_LIMITS
        return f"{own} {LIMITS}".lstrip()

    def together(self) -> str:
        """Say what all releases so far guarantee; empty if it is not known."""
        if self.total is None:
            return ""
        if not self.total.proven:
            return f"Together with what was released before, nothing is proven: {_reason(self.total)}."
        return f"This and all earlier releases from the same budget together keep to {self.total}."

    def paragraph(self) -> str:
        """Return the statement as one paragraph."""
        if not self.proven:
            parts = [
                self.how_much(),
                NOTHING_PROVEN,
                self.identification,
                self.rests_on(),
                self.together(),
                *self.shows,
            ]
        else:
            parts = [
                f"What is protected: {self.protects}.",
                f"Against whom: {AGAINST}.",
                f"How much: {self.how_much()}",
                neighbours_in_words(self.guarantee),
                self.over_time(),
                self.failure(),
                self.rests_on(),
                self.limits(),
                self.identification,
                self.together(),
                *self.shows,
            ]
        return " ".join(part for part in parts if part)

    def for_participants(self, language: str = "en") -> str:
        """Return the statement in short sentences for participants: ``en`` for English, ``de`` for German.

        Raises:
            OptionError: If there is no such language.
        """
        from gazeveil.privacy.participant_statement import for_participants  # noqa: PLC0415  (knows this class)

        return for_participants(self, language)

    def card(
        self,
        *,
        title: str = "What this release guarantees you",
        whole_page: bool = False,
        picture: bytes | None = None,
    ) -> str:
        """Return the statement as HTML that stands for itself: no scripts, no fonts, no pictures from elsewhere.

        Args:
            title: The heading.
            whole_page: Whether it is a page, or a part of one.
            picture: A PNG picture of what the released value is made of.
        """
        return card(self, title=title, whole_page=whole_page, picture=picture)

    def files(self, picture: bytes | None = None) -> dict[str, str]:
        """Return the statement as files by name: a page, the full text, and a short text in each language.

        Args:
            picture: A PNG picture of what the released value is made of, for the page.
        """
        from gazeveil.privacy.participant_statement import LANGUAGES  # noqa: PLC0415  (knows this class)

        short = {f"for-participants.{language}.txt": self.for_participants(language) + "\n" for language in LANGUAGES}
        return {PAGE: self.card(whole_page=True, picture=picture), TEXT: self.paragraph() + "\n", **short}

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values."""
        at_most = self.belief_at_most()
        return {
            "proven": self.proven,
            "weak": self.weak,
            "strength": None if self.strength is None else str(self.strength),
            "protects": self.protects if self.proven else None,
            "against": AGAINST if self.proven else None,
            "odds_factor": None if self.odds is None else float(self.odds),
            "presence_odds_factor": None if self.presence is None else float(_factor(self.presence)),
            "belief": None if at_most is None else {"before": 0.5, "at_most": float(decimal_up(at_most, 4))},
            "failure_chance": None if self.delta is None else as_text(self.delta),
            "why_not": list(self.guarantee.reasons) if isinstance(self.guarantee, Unproven) else [],
            "guarantee": self.guarantee.to_dict(),
            "neighbours": neighbours_in_words(self.guarantee),
            "over_time": [
                {"difference": name, "windows": windows, "epsilon": as_text(epsilon), "delta": as_text(delta)}
                for _, name, windows, epsilon, delta in self._spans()
            ],
            "identification": self.identification,
            "shows": list(self.shows),
            "conditional_on": list(self.conditional_on),
            "total": None if self.total is None else self.total.to_dict(),
            "text": self.paragraph(),
        }


def statement(
    guarantee: Guarantee,
    *,
    delta: Number = "1e-6",
    total: Guarantee | None = None,
    facts: Iterable[StatedFact] = (),
    identification: str = "",
    shows: Iterable[str] = (),
) -> Statement:
    """Return the privacy statement for a guarantee.

    Args:
        guarantee: The guarantee.
        delta: The δ at which a concentrated guarantee is stated; others have their own.
        total: What this and all earlier releases from the same data guarantee together, if it is known.
        facts: The public facts that the release rests on, if they are known.
        identification: How often participants were identified behind it, as measured, in words.
        shows: What the released value is made of, in sentences.
    """
    more: dict[str, Any] = {
        "total": total,
        "facts": tuple(facts),
        "identification": identification,
        "shows": tuple(shows),
    }
    if isinstance(guarantee, Unproven):
        return Statement(guarantee, None, None, **more)
    stated = _in_epsilon(guarantee.restated(neighbours=Neighbours.REPLACE_ONE), delta)
    presence = _in_epsilon(guarantee, delta)[0] if guarantee.neighbours is Neighbours.ADD_REMOVE else None
    return Statement(guarantee, *stated, presence=presence, **more)


def neighbours_in_words(guarantee: Guarantee) -> str:
    """Say which data sets are compared: the neighbour relation of a guarantee."""
    unit, words = guarantee.unit, guarantee.unit.in_words()
    if isinstance(unit, WindowOfGaze):
        return (
            "The guarantee compares any two versions of one recording, with the same time stamps and the same missing "
            f"samples, that differ only {_within_a_window(unit)}."
        )
    if guarantee.neighbours is Neighbours.ADD_REMOVE:
        counted = "participants" if isinstance(unit, Observer) else "recordings"
        return (
            f"The guarantee compares any two data sets that are the same, but that one holds {words} and the other "
            f"does not; the number of {counted} is protected too."
        )
    public = {Observer: " The number of participants is public.", OneRecording: " The number of recordings is public."}
    return (
        f"The guarantee compares any two data sets that are the same but for {words}, which is replaced by any other "
        f"data.{public.get(type(unit), '')}"
    )


def _power(epsilon: Fraction) -> str:
    return f"e^{in_digits(epsilon)} = {in_digits(_factor(epsilon), 3)}"


def _chance(delta: Fraction) -> str:
    return f"1 in {_one_in(delta):,}"


def _one_in(delta: Fraction) -> int:
    a_float_off = 1 + Fraction(1, 10**15)  # 1e-5 as a float is a little more than one in 100,000
    return int(decimal_down(a_float_off / delta, 2))


def _in_epsilon(guarantee: Guarantee, delta: Number) -> tuple[Fraction, Fraction]:
    """Return the ε and δ of a guarantee; δ is the given one where the guarantee holds for all."""
    if isinstance(guarantee, PureDP):
        return guarantee.epsilon, Fraction(0)
    if isinstance(guarantee, ZeroConcentratedDP):
        guarantee = guarantee.to_approx(chance_of_failure(delta, "delta"))
    if isinstance(guarantee, ApproxDP):
        return guarantee.epsilon, guarantee.delta
    raise InternalError(f"no words are known for a guarantee of kind {guarantee.kind!r}")


def _factor(epsilon: Fraction) -> Fraction:
    return decimal_up(Fraction(Interval.of(epsilon, 30).exp().high), 6)


def _example(at_most: Fraction, *, between_paths: bool = False) -> str:
    high = decimal_up(100 * at_most, 3)
    about, what = "knows all other data and was undecided whether something is true of you", "it"
    if between_paths:
        about, what = "was undecided between two such paths", "one of them"
    opening = f"For example, someone who {about} (50 %)"
    if high >= 100:
        return f"{opening} could become all but certain."
    low = in_digits(100 - high, 3, up=False)
    return f"{opening} could become at most {in_digits(high, 3)} % and at least {low} % sure of {what}."


def _strength(epsilon: Fraction) -> str:
    strength = strength_of(epsilon)
    if strength is Strength.NEXT_TO_NONE:
        return "Such a guarantee protects next to nothing."
    return f"That is a {strength} guarantee."


def _within_a_window(unit: WindowOfGaze) -> str:
    return (
        f"within one window of {in_digits(unit.seconds, up=False)} s, there by at most "
        f"{unit.distance_in_words()} at each sample, and nowhere else"
    )


def _presence(guarantee: Guarantee) -> str:
    return "you" if isinstance(guarantee.unit, Observer) else "one recording of yours"


def _reason(guarantee: Guarantee) -> str:
    return guarantee.reason if isinstance(guarantee, Unproven) else ""


# --- The privacy statement as a card for the web.


_STYLE = """
.gazeveil-card{--ink:#1c2430;--soft:#5a6577;--paper:#fff;--line:#dfe4ec;--good:#1f7a5c;--warn:#9a5b00;--bad:#a3352b;--track:#e9edf3;
box-sizing:border-box;max-width:40rem;margin:1rem auto;padding:1.5rem 1.75rem;border:1px solid var(--line);
border-radius:.9rem;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,sans-serif;
box-shadow:0 1px 3px rgb(0 0 0/.06)}
.gazeveil-card h2{margin:0 0 .25rem;font-size:1.2rem;line-height:1.3}
.gazeveil-card p{margin:.4rem 0 0}
.gazeveil-card dl{margin:1rem 0 0}
.gazeveil-card dt{margin-top:.8rem;font-size:.8rem;font-weight:600;letter-spacing:.04em;text-transform:uppercase;
color:var(--soft)}
.gazeveil-card dd{margin:.15rem 0 0}
.gazeveil-card details{margin:.6rem 0 0}
.gazeveil-card summary{cursor:pointer;font-weight:600}
.gazeveil-card ul{margin:.15rem 0 0;padding-left:1.2rem}
.gazeveil-card .verdict{display:inline-block;margin:0 0 .75rem;padding:.1rem .6rem;border-radius:1rem;font-size:.8rem;
font-weight:600;color:#fff;background:var(--good)}
.gazeveil-card .verdict.weak{background:var(--warn)}
.gazeveil-card .verdict.none{background:var(--bad)}
.gazeveil-card .belief{position:relative;height:.9rem;margin:.7rem 0 .2rem;border-radius:.45rem;background:var(--track)}
.gazeveil-card .belief i{position:absolute;top:0;bottom:0;border-radius:.45rem;background:var(--good);opacity:.8}
.gazeveil-card .belief b{position:absolute;left:50%;top:-.2rem;bottom:-.2rem;width:2px;margin-left:-1px;
background:var(--ink)}
.gazeveil-card .scale{display:flex;justify-content:space-between;font-size:.75rem;color:var(--soft)}
.gazeveil-card img{max-width:100%;margin:.6rem 0 0}
.gazeveil-card .fine{margin-top:1rem;padding-top:.8rem;border-top:1px solid var(--line);font-size:.85rem;
color:var(--soft)}
@media (prefers-color-scheme:dark){.gazeveil-card{--ink:#e8ecf3;--soft:#a3aebf;--paper:#171c24;--line:#2c3542;
--good:#3fb48a;--warn:#d9a13b;--bad:#e0705f;--track:#2a3240}.gazeveil-card .verdict{color:#10151c}}
"""


def card(statement: Statement, *, title: str, whole_page: bool, picture: bytes | None = None) -> str:
    """Return a card, or a page that holds nothing but the card."""
    shown = _shown(statement, picture)
    body = _guarantee(statement, shown) if statement.proven else _no_guarantee(statement) + shown
    of_windows = isinstance(statement.guarantee.unit, WindowOfGaze)
    strength = f"{statement.strength} for one window" if of_windows else str(statement.strength)
    verdict, marked = (f"Proven, {strength}", "verdict") if statement.proven else ("Not proven", "verdict none")
    if statement.proven and (statement.weak or statement.conditional_on):
        but = [strength] if statement.weak else []
        but += ["conditional"] if statement.conditional_on else []
        verdict, marked = f"Proven, but {' and '.join(but)}", "verdict weak"
    plain = _in_plain_words(statement) if whole_page else ""
    fragment = (
        f'<section class="gazeveil-card" lang="en"><style>{_STYLE}</style>'
        f'<span class="{marked}">{verdict}</span><h2>{escape(title)}</h2>{plain}{body}</section>'
    )
    if not whole_page:
        return fragment
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title></head>'
        f"<body>{fragment}</body></html>\n"
    )


def _in_plain_words(statement: Statement) -> str:
    """Return the statement for participants, in English and, folded away, in German."""
    english, german = (escape(statement.for_participants(language)) for language in ("en", "de"))
    return f'<p>{english}</p><details lang="de"><summary>Auf Deutsch</summary><p>{german}</p></details>'


def _guarantee(statement: Statement, shown: str) -> str:

    parts = [
        ("What is protected", _words(statement.protects)),
        ("Against whom", _words(AGAINST)),
        ("How much", _words(statement.how_much()) + _belief(statement)),
        ("What is compared", _words(neighbours_in_words(statement.guarantee))),
        ("Over time", _words(statement.over_time())),
        ("When it fails", _words(statement.failure() or "It holds without exception (δ = 0).")),
        ("Public facts", _facts(statement)),
        ("Who you are", _words(statement.identification)),
        ("So far", _words(statement.together())),
        ("What is shown", shown),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in parts if text)
    return f'<dl>{listed}</dl><p class="fine">{escape(statement.limits())}<br>{escape(str(statement.guarantee))}</p>'


def _shown(statement: Statement, picture: bytes | None) -> str:
    """Say and show what the released value is made of."""
    said = "".join(f"<p>{_words(each)}</p>" for each in statement.shows)
    if picture is None:
        return said
    alt = "Three maps: the prior, the release, and what the data changed"
    return f'{said}<img alt="{alt}" src="data:image/png;base64,{b64encode(picture).decode()}"/>'


def _words(text: str) -> str:
    """Return a text for the page: a capital first, powers raised."""
    return re.sub(r"e\^([0-9][0-9.,]*(?:e-?[0-9]+)?)", r"e<sup>\1</sup>", escape(text[:1].upper() + text[1:]))


def _belief(statement: Statement) -> str:
    """Draw the range of beliefs that remain for someone who was undecided."""
    at_most = statement.belief_at_most()
    if at_most is None:
        return ""
    high = float(decimal_up(100 * at_most, 3))
    said = f"from 50 percent to between {100 - high:.1f} and {high:.1f} percent"
    return (
        f'<div class="belief" role="img" aria-label="A belief may shift {said}">'
        f'<i style="left:{100 - high:.2f}%;right:{100 - high:.2f}%"></i><b></b></div>'
        f'<div class="scale"><span>surely not</span><span>undecided</span><span>surely</span></div>'
    )


def _facts(statement: Statement) -> str:
    """List the public facts; those that nobody declared are marked in words and in bold."""
    if not statement.facts:
        return ""
    rows = [
        f"<li>{escape(fact.name)}: {escape(fact.text)}"
        + ("" if fact.declared else " <strong>(read from the data, not protected)</strong>")
        + "</li>"
        for fact in statement.facts
    ]
    condition = f"<p>{escape(statement.condition())}</p>" if statement.conditional_on else ""
    return f"<ul>{''.join(rows)}</ul>{condition}"


def _no_guarantee(statement: Statement) -> str:

    said = statement
    parts = [said.how_much(), NOTHING_PROVEN, said.identification, said.rests_on(), said.together()]
    return "".join(f"<p>{_words(part)}</p>" for part in parts if part)
