# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What several products share: sums over participants, one stimulus, checks of δ, and screens of the usual size.

Where a declared screen has no size and a product needs one, `with_usual_sizes` takes that of the usual screen
(`with_usual_screen`). The size is a constant and is stated among the public facts; no recording is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction

from gazeveil.errors import GazeveilError, OptionError
from gazeveil.exact import Number, exact, in_digits
from gazeveil.features.group_series import GroupPlan
from gazeveil.features.participant_series import ParticipantPlan
from gazeveil.geometry import Geometry, assumed_fields, with_usual_screen
from gazeveil.privacy.protection import IN_SHORT, Neighbours, strength_of
from gazeveil.release.forecast import Forecast
from gazeveil.release.plan import Domain, Measurement
from gazeveil.release.study import Stimulus, Study


class SumMeasurement(Measurement):
    """A measurement that sums over participants. Where the mechanism names no δ, it spends the study's."""

    __slots__ = ()

    @property
    def delta(self) -> Fraction:
        """The δ that may be spent: the mechanism's, or the study's where the mechanism names none."""
        asked: Number | None = self.mechanism.delta
        return self.study.delta if asked is None else exact(asked)

    def warnings(self) -> tuple[str, ...]:
        """Warn of an ε that guarantees little."""
        amount, neighbours = exact(self.mechanism.epsilon), self.study.neighbours
        strength = strength_of(amount, neighbours)
        twice = f", about taking part, counts as ε = {in_digits(2 * amount)} and"
        counted = twice if neighbours is Neighbours.ADD_REMOVE else ""
        said = f"the guarantee of ε = {in_digits(amount)}{counted} is {strength}: ε {IN_SHORT}"
        return () if strength.protects else (said,)


class StimulusMeasurement(SumMeasurement):
    """A sum over participants on one stimulus: a frozen dataclass with the field ``stimulus`` beside the usual ones."""

    __slots__ = ()
    stimulus: str

    @property
    def domain(self) -> Domain:
        """The recordings of the stimulus."""
        return Domain(self.study, (self.stimulus,))

    @property
    def shown(self) -> Stimulus:
        """The stimulus, as it is declared."""
        return self.study.stimulus(self.stimulus)


def chosen_stimulus(study: Study, stimulus: str | None, product: str) -> str:
    """Return the name of the one stimulus that is released; of a study with a single one, that.

    Raises:
        InputError: If the study has no such stimulus.
        OptionError: If there are several, and none is named.
    """
    if stimulus is None:
        if len(study.stimuli) != 1:
            raise OptionError(
                f"a {product} is of one stimulus, and the study has {len(study.stimuli)}",
                hint=f"say which, for example stimulus={study.stimuli[0].name!r}",
            )
        stimulus = study.stimuli[0].name
    return study.stimulus(stimulus).name


ASSUMED_PARTICIPANTS = 1000
"""How many participants a δ must suit where nothing is known about their number."""


def assumed_participants(study: Study) -> int:
    """Return how many participants decoders should assume: the public number, or the public guess at a secret one.

    Raises:
        OptionError: If the number is secret and there is no guess.
    """
    number = study.participants.number
    if number is None:
        raise OptionError(
            "the number of participants is secret, but this product needs about how many there are",
            hint="declare a guess from something public, such as the invitation: number = 24 beside secret = true",
        )
    return number


def check_delta(delta: Fraction, study: Study | int) -> None:
    """Refuse a δ so large that publishing one participant's data as they are would keep the guarantee.

    Raises:
        OptionError: If δ is no smaller than one over the number of participants.
    """
    declared = study if isinstance(study, int) else study.participants.number
    number = ASSUMED_PARTICIPANTS if declared is None else max(declared, 2)
    if delta and delta * number >= 1:
        whose = " (their number is a secret)" if declared is None else ""
        raise OptionError(
            f"delta {in_digits(delta)} is no smaller than one in {number:,} participants{whose}: such a guarantee is "
            "empty",
            hint="choose delta well below one over the number of participants, for example 1e-5",
        )


def error_forecast(plan: GroupPlan | ParticipantPlan, source: str) -> Forecast:
    """Return the forecast of a plan with a public design; worth it if 10 % better than the public mean."""
    low, high = plan.interval
    return Forecast(
        measure="error",
        expected=plan.error,
        low=low,
        high=high,
        without_data=plan.floor,
        floor=0.9 * plan.floor,
        basis=f"how much the series of the design's public participants vary ({source}); calibrated on tasks that were "
        "held out, of simulated readers, EyeTribe runs and sessions in a headset",
    )


def smallest_number(good: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the smallest good number from low to high, if every number above a good one is good too; else None."""
    if low > high or not good(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if good(middle):
            high = middle
        else:
            low = middle + 1
    return low


# --- Screens of the usual size.


def with_usual_sizes(study: Study, stimuli: Collection[str], use: Callable[[Geometry], object]) -> Study:
    """Return the study with the usual size for those screens of some stimuli that cannot be used without one.

    Args:
        study: The declared study.
        stimuli: The stimuli that are released.
        use: What the release does with a screen; raises if the screen does not say enough.

    Raises:
        GazeveilError: What ``use`` raises for a screen with the usual size too.
    """
    found: dict[Geometry, Geometry] = {}
    for each in study.stimuli:
        if each.name in stimuli and each.screen not in found:
            found[each.screen] = _with_size_for(each.screen, use)
    sized = tuple(_on_screen(each, found[each.screen]) if each.name in stimuli else each for each in study.stimuli)
    return study if sized == study.stimuli else replace(study, stimuli=sized)


def _with_size_for(screen: Geometry, use: Callable[[Geometry], object]) -> Geometry:
    try:
        use(screen)
    except GazeveilError:
        if (assumed := with_usual_screen(screen)) == screen:
            raise
        try:
            use(assumed)
        except GazeveilError:
            assumed = screen
        if assumed == screen:  # its size is not what is wrong
            raise
        return assumed
    return screen


def _on_screen(stimulus: Stimulus, screen: Geometry) -> Stimulus:
    if screen == stimulus.screen:
        return stimulus
    return replace(stimulus, screen=screen, assumed=assumed_fields(stimulus.screen, screen))
