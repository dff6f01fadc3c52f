# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses what to recommend: the strongest level that is still useful, or the answer that nothing fits.

One rule for all uses. A level is useful if its forecast is worth it and 9 of 10 studies come out better than what could
be published without any data. Of the levels that are at least moderate on the scale (ε up to 3), the smallest ε that is
useful is recommended. Where there is none, nothing is, and the answer says how many participants would be enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Final, Protocol

import polars as pl

from gazeveil.errors import GazeveilError, InputError
from gazeveil.exact import in_digits
from gazeveil.lab.experiments.advising.advice import Advice, Harm, Use, bound_in_words, level_in_words
from gazeveil.lab.experiments.advising.measured import by_epsilon, strongest
from gazeveil.privacy.protection import UP_TO
from gazeveil.release.forecast import Forecast
from gazeveil.release.study import Study

LEVELS: Final = tuple(Fraction(text) for text in ("0.5", "1", "2", "3"))
"""What is tried; all of them are strong or moderate."""
MOST: Final = UP_TO[1][0]
MOST_PARTICIPANTS: Final = 5_000

ADDS_UP: Final = "a further release from the same participants: its ε adds to this one"
GROUP: Final = (
    "what the result says about the group: if a participant is known to be like the group, the same may be inferred "
    "about them, whether they took part or not"
)
SEVERAL: Final = "several participants at once (a family, a class): for k of them ε is k times as large"
DECLARED: Final = "what you declare in study.toml: the number of participants, stimuli, screen and durations are public"


class Forecasting(Protocol):
    """What says how good a release would be."""

    def __call__(self, epsilon: Fraction, participants: int) -> Forecast | None:
        """Return the forecast; None where there cannot be such a release."""
        ...


def useful(forecast: Forecast | None) -> bool:
    """Whether 9 of 10 studies come out better than without any data, and the release is worth its budget."""
    if forecast is None or not forecast.worth_it:
        return False
    if forecast.measure == "cc":
        return forecast.low > forecast.without_data
    return forecast.high < forecast.without_data


def smallest(levels: Iterable[Fraction], forecast: Callable[[Fraction], Forecast | None]) -> Fraction | None:
    """Return the first level that is useful."""
    return next((epsilon for epsilon in levels if useful(forecast(epsilon))), None)


def participants_of(study: Study) -> int:
    """Return the public number of participants.

    Raises:
        InputError: If there is not even a public guess.
    """
    number = study.participants.number
    if number is None:
        raise InputError(
            "the number of participants is secret, and advice depends on it",
            hint="declare a public guess: number under [participants]",
        )
    return number


def enough_participants(forecast: Forecasting, epsilon: Fraction) -> int | None:
    """Return the fewest participants with whom an ε is useful; None if not even 5,000 are."""
    low, high = 1, 2
    while not useful(forecast(epsilon, high)):
        low, high = high, 2 * high
        if high > MOST_PARTICIPANTS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if useful(forecast(epsilon, middle)) else (middle, high)
    return high


def heatmap(study: Study, harm: Harm, table: pl.DataFrame) -> Advice:
    """Recommend heatmaps: of all stimuli, or of one where all are too many for the participants."""
    from gazeveil.aggregate.heatmap import PrivateHeatmap  # noqa: PLC0415  (loads what it needs alone)
    from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps  # noqa: PLC0415

    number, several = participants_of(study), len(study.stimuli) > 1
    name = study.stimuli[0].name

    def one(epsilon: Fraction, participants: int) -> Forecast | None:
        plan = study.plan(PrivateHeatmap(epsilon=epsilon), stimulus=name)
        return _forecast(lambda: plan.at(participants=participants).forecast)

    def whole(epsilon: Fraction, participants: int) -> Forecast | None:
        plan = study.plan(PrivateHeatmaps(epsilon=epsilon))
        return _forecast(lambda: plan.at(participants=participants).forecast)

    all_of_them, forecast = several, whole if several else one
    epsilon = smallest(LEVELS, lambda level: forecast(level, number))
    if epsilon is None and several:
        all_of_them, forecast = False, one
        epsilon = smallest(LEVELS, lambda level: one(level, number))
    if epsilon is None:
        nearest = _aggregate(Use.HEATMAP, harm, study, MOST, one(MOST, number), table, one_of=several)
        return _too_few(nearest, one, number)
    amount = in_digits(epsilon)
    what = (
        f"private heatmaps of all {len(study.stimuli)} stimuli" if all_of_them else f"one private heatmap of “{name}”"
    )
    alone = " Maps of all stimuli at once need more participants; choose the one that matters." if several else ""
    command = "heatmaps gaze" if all_of_them else f"heatmap gaze --stimulus {name}"
    made = _aggregate(
        Use.HEATMAP, harm, study, epsilon, forecast(epsilon, number), table, one_of=several and not all_of_them
    )
    return _recommended(
        made,
        f"Publish {what} at ε = {amount}.{'' if all_of_them else alone}",
        f"gazeveil {command} --study study.toml --epsilon {amount} --out release",
    )


def features(study: Study, harm: Harm, table: pl.DataFrame, forecast: Forecasting) -> Advice:
    """Recommend the mean feature series of all participants; their own series are not."""
    number = participants_of(study)
    epsilon = smallest(LEVELS, lambda level: forecast(level, number))
    shown = MOST if epsilon is None else epsilon
    made = _aggregate(Use.FEATURES, harm, study, shown, forecast(shown, number), table)
    if epsilon is None:
        return _too_few(made, forecast, number)
    amount = in_digits(epsilon)
    return _recommended(
        made,
        f"Publish the mean feature series of all participants at ε = {amount}, not each participant's own series.",
        "gazeveil features design public.parquet --source WORDS --out design.json",
        f"gazeveil features release gaze --mechanism group --design design.json --study study.toml --epsilon {amount} "
        "--out release",
    )


_GROUP: Final = "group"
_MECHANISM: Final = {
    Use.HEATMAP: "exact noise on the sum of all participants' maps, each with the same weight, and a public prior",
    Use.FEATURES: "exact noise on the sum of all participants' mean series, in a public design",
}
_STORED: Final = {Use.HEATMAP: ("heatmap",), Use.FEATURES: (_GROUP, "low-rank")}
"""What tables call the mechanism; of features, the grid attacks each participant's own series."""


def _aggregate(
    use: Use, harm: Harm, study: Study, epsilon: Fraction, forecast: Forecast | None, table: pl.DataFrame,
    *, one_of: bool = False,
) -> Advice:  # fmt: skip
    delta = study.delta
    # whoever cannot tell whether a participant is in it, cannot tell who or what kind of person it was either
    found = strongest(table, use, Harm.MEMBERSHIP, by_epsilon(_STORED[use], epsilon))
    proxy = (
        "the measured attack asks whether a participant took part; attacks with another question are not counted here",
    )
    own = (
        "the measured attack is on each participant's own series, because the mean was not attacked at such a level",
    )
    return Advice(
        use=use,
        harm=harm,
        fits=True,
        headline="",
        mechanism=_MECHANISM[use],
        guarantee=(
            f"(ε = {in_digits(epsilon)}, δ = {float(delta):g})-differential privacy for everything that one "
            f"participant contributed ({study.neighbours.value})"
        ),
        level=level_in_words(epsilon, study.neighbours, "this release; those of further releases add up", delta),
        utility=forecast,
        attack=found,
        bound=bound_in_words(epsilon, delta, study.neighbours),
        unprotected=(
            GROUP,
            ADDS_UP,
            SEVERAL,
            DECLARED,
            *(("the other stimuli: a map of another one is a further release",) if one_of else ()),
        ),
        notes=(
            *(proxy if found is not None and harm is not Harm.MEMBERSHIP else ()),
            *(own if found is not None and use is Use.FEATURES and found.mechanism != _GROUP else ()),
        ),
    )


def _recommended(made: Advice, headline: str, *commands: str) -> Advice:
    return replace(made, headline=headline, commands=commands)


def _too_few(made: Advice, forecast: Forecasting, number: int) -> Advice:
    needed = enough_participants(forecast, MOST)
    more = f"{needed:,} participants are enough at ε = {in_digits(MOST)}" if needed is not None else ""
    strong = enough_participants(forecast, Fraction(1)) if needed is not None else None
    return made.refused(
        f"Nothing fits: with {number:,} participants, no level that is at least moderate (ε up to {in_digits(MOST)}) "
        "gives a result that is reliably better than what could be published without any data.",
        *((f"record more participants: {more}" + ("" if strong is None else f", {strong:,} at ε = 1 (strong)"),)
          if more else ()),
        "publish nothing of this kind: a result in words says as much about these participants as a picture",
        "a larger ε is no way out: above 3 the guarantee is weak, and above 10 it protects next to nothing",
    )  # fmt: skip


def _forecast(made: Callable[[], Forecast | None]) -> Forecast | None:
    """Return a forecast; None where this many participants or such a δ allow no release."""
    try:
        return made()
    except GazeveilError:
        return None
