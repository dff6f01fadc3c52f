# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses what to recommend for a declared study: the strongest level that is still useful, or that nothing fits.

One rule for all uses. A level is useful if its forecast is worth it and 9 of 10 studies come out better than what could
be published without any data. Of the levels that are at least moderate on the scale (ε up to 3), the smallest ε that is
useful is recommended. Where there is none, nothing is, and the answer says how many participants would be enough.

What is guaranteed there is where a participant looked within a window of time, not who it is. So identity and traits
can only be answered by what attacks achieved, and membership not at all: whoever gets a recording knows that there is
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Final, Protocol

import numpy as np
import polars as pl

from gazeveil import Study, VeiledRecordings
from gazeveil.errors import GazeveilError, InputError
from gazeveil.exact import in_digits
from gazeveil.features.design import Design
from gazeveil.features.group_series import GroupSeries
from gazeveil.lab.advice.answer import Advice, Harm, Success, Use, bound_in_words, level_in_words
from gazeveil.lab.advice.measurements import by_epsilon, by_level, of_identification, stronger, strongest
from gazeveil.privacy.protection import UP_TO, Neighbours
from gazeveil.release.forecast import Forecast
from gazeveil.release.plan import Plan
from gazeveil.release.product_base import error_forecast
from gazeveil.samples.stream import StreamMechanism

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
    from gazeveil import PrivateHeatmap  # noqa: PLC0415  (loads what it needs alone)
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


# --- Advice about gaze itself: live to an app, or as published recordings.


PRESETS: Final = ("hplu", "mpmu", "lphu")
"""From the strongest to the weakest."""
_AGGREGATES: Final = (
    "publish an aggregate: `gazeveil advise --use heatmap` or `--use features`; there the guarantee is about a "
    "participant as a whole"
)
_UNPROTECTED: Final = (
    "who it is: nothing is guaranteed about that, and longer gaze shows more",
    "what repeats over many windows: the ε of windows that follow one another add up",
    "when gaze was missing, how long a recording is, and that it exists",
)
_BY_USE: Final = {
    Use.LIVE: (
        "apps that read the tracker past the gateway",
        "pupil size, head and eye geometry, if a policy lets them pass",
    ),
    Use.DATASET: ("the names under which recordings are published: give them new ones",),
}


def advise_on_streams(study: Study, use: Use, harm: Harm, table: pl.DataFrame) -> Advice:
    """Recommend the strongest preset that is useful, if the strongest measured attack does no better than guessing."""
    if harm is Harm.MEMBERSHIP:
        return _always_a_member(use)
    plans = {name: study.plan(VeiledRecordings(preset=name)) for name in PRESETS}
    good = [name for name, plan in plans.items() if useful(plan.forecast)]
    options = {name: _advice(use, harm, name, plan, table) for name, plan in plans.items()}
    identified = {name: _attack(plan, Harm.REIDENTIFICATION, table) for name, plan in plans.items()}
    for name in good:
        if _at_chance(options[name].attack) and _at_chance(identified[name]):
            return _recommended_stream(options[name], name, use)
    if not good:
        return options[PRESETS[-1]].refused(
            "Nothing fits: on this screen and at this rate no level that we know leaves gaze that is reliably better "
            "than always guessing the middle of the screen.",
            _AGGREGATES,
        )
    nearest = options[good[0]]
    if nearest.attack is None:
        return nearest.refused(
            f"Nothing can be recommended against {harm}: no attack of this kind was measured behind a level that is "
            "still useful, and nothing is guaranteed about it.",
            _AGGREGATES,
        )
    if _at_chance(nearest.attack):
        return _identified_after_all(nearest, good[0], identified[good[0]])
    hidden = [name for name in PRESETS if _at_chance(options[name].attack)]
    strong = (
        f" The levels at which it did no better than guessing ({', '.join(hidden)}) leave next to nothing of gaze."
        if hidden
        else " No level that we measured brought it down to guessing."
    )
    return nearest.refused(
        f"Nothing fits: at the strongest level that is still useful ({good[0]}), the strongest attack that we measured "
        f"does surely better than guessing.{strong}",
        _AGGREGATES,
        "hand out less: shorter pieces, fewer sessions of a participant, no names that link them",
    )


def _always_a_member(use: Use) -> Advice:
    reason = {
        Use.LIVE: "an app that gets live gaze knows that a participant is there",
        Use.DATASET: "it holds recordings of every participant, and each shows that the participant took part",
    }[use]
    return Advice(
        use=use,
        harm=Harm.MEMBERSHIP,
        fits=False,
        headline=f"Nothing fits: no mechanism for gaze itself hides who took part: {reason}.",
        instead=(_AGGREGATES,),
    )


def _advice(use: Use, harm: Harm, name: str, plan: Plan, table: pl.DataFrame) -> Advice:
    mechanism = _mechanism(plan)
    epsilon, window = Fraction(mechanism.epsilon), float(mechanism.window)
    return Advice(
        use=use,
        harm=harm,
        fits=True,
        headline="",
        mechanism=f"{mechanism.in_words()} (preset {name})",
        guarantee=str(plan.guarantee),
        level=level_in_words(
            epsilon, Neighbours.REPLACE_ONE, f"one window of {window:g} s; a minute has {60 / window:g} of them"
        ),
        utility=plan.forecast,
        attack=_attack(plan, harm, table),
        bound=(
            f"every attack on where a participant looked in one window of {window:g} s is bounded as the level says; "
            "nothing is proven about identity or attributes"
        ),
        unprotected=(*_UNPROTECTED, *_BY_USE[use]),
    )


def _identified_after_all(found: Advice, name: str, identified: Success | None) -> Advice:
    how = "was not measured" if identified is None else "does surely better than guessing"
    refused = found.refused(
        f"Nothing fits: at the strongest level that is still useful ({name}) no measured attack on attributes surely "
        f"beats guessing, but identification {how}, and with the identity all attributes are known.",
        _AGGREGATES,
        "it would fit only if no one else can have gaze of the same participants with their names",
    )
    return refused if identified is None else replace(refused, notes=(f"identification: {identified.in_words()}",))


def _attack(plan: Plan, harm: Harm, table: pl.DataFrame) -> Success | None:
    """Return the strongest of the grid and, for identity, of the packaged table of identification."""
    level = by_level(_mechanism(plan))
    found = stronger(*(strongest(table, each, harm, level) for each in (Use.LIVE, Use.DATASET)))
    identified = plan.measurement.identification() if harm is Harm.REIDENTIFICATION else None
    return stronger(found, None if identified is None else of_identification(identified))


def _mechanism(plan: Plan) -> StreamMechanism:
    """Return the mechanism on the first screen."""
    return next(iter(plan.measurement.on_screens.values()))  # type: ignore[attr-defined,no-any-return]


def _at_chance(attack: Success | None) -> bool:
    return attack is not None and not attack.surely_above_chance


def _recommended_stream(found: Advice, name: str, use: Use) -> Advice:
    how = "Give apps gaze through the gateway" if use is Use.LIVE else "Publish veiled recordings"
    commands = {
        Use.LIVE: ("gazeveil policy example policy.toml",
                   f"set preset = \"{name}\" for the app in policy.toml",
                   "gazeveil serve policy.toml"),
        Use.DATASET: (f"gazeveil veil gaze --preset {name} --study study.toml --out release",),
    }[use]  # fmt: skip
    return replace(
        found,
        headline=f"{how} at the level {name}. Nothing is guaranteed about this harm; the strongest attack that we "
        "measured did not surely do better than guessing.",
        commands=commands,
    )


# --- The one question: a declared study, what is to be published, and what must not happen.


_READERS, _SECONDS = 10, 120.0


def advise(study: Study, use: Use, harm: Harm, table: pl.DataFrame, design: Design | None = None) -> Advice:
    """Return what to publish and how; from public facts and stored measurements alone, no data are read.

    Args:
        study: The declared study.
        use: What is to be published.
        harm: What must not happen to a participant.
        table: Stored measurements, as `gazeveil.lab.advice.measurements.measurements` returns them.
        design: The public design of feature series; without one, that of simulated readers.

    Raises:
        InputError: If the number of participants is secret and there is no public guess.
    """
    if use is Use.HEATMAP:
        return heatmap(study, harm, table)
    if use is Use.FEATURES:
        return features(study, harm, table, series_forecast(study, design))
    return advise_on_streams(study, use, harm, table)


def series_forecast(study: Study, design: Design | None = None) -> Forecasting:
    """Return what forecasts the mean feature series of a study."""
    chosen = design or simulated_design()

    def forecast(epsilon: Fraction, participants: int) -> Forecast | None:
        try:
            made = GroupSeries(epsilon=epsilon, delta=study.delta, design=chosen)
            return error_forecast(made.plan(participants), chosen.source)
        except GazeveilError:  # a group of one, or a δ that so many participants do not allow
            return None

    return forecast


@cache
def simulated_design() -> Design:
    """Return a public design of simulated readers, for studies that have none yet; it takes seconds."""
    from gazeveil.features.design_learning import learn  # noqa: PLC0415
    from gazeveil.features.extraction import extract_corpus  # noqa: PLC0415
    from gazeveil.features.feature_list import declared_ranges  # noqa: PLC0415
    from gazeveil.features.series import panel_of  # noqa: PLC0415
    from gazeveil.gaze.corpus import Corpus  # noqa: PLC0415
    from gazeveil.lab.experiments.feature_series import CHOSEN, PUBLIC_SEED, by_task, other_documents  # noqa: PLC0415
    from gazeveil.simulate.readers import ReadingStudy  # noqa: PLC0415

    readers = ReadingStudy(_READERS, _SECONDS, documents=other_documents(), seed=PUBLIC_SEED)
    found = extract_corpus(Corpus.of(readers.recordings())).table
    ranges, steps = declared_ranges(unit="deg").only(CHOSEN), int((_SECONDS - 30.0) / 0.5) + 1
    fill = np.asarray(panel_of(found, ranges, steps).values.mean(axis=(0, 1)))
    tasks = by_task(panel_of(found, ranges, steps, fill))
    return learn(list(tasks.values()), ranges, f"{_READERS} simulated readers of other documents")
