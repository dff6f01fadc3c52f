# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What several products share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

from gazeveil.errors import OptionError
from gazeveil.privacy.exact import Number, exact, in_digits
from gazeveil.privacy.unit import Neighbours
from gazeveil.release.forecast import Forecast
from gazeveil.release.method import Method
from gazeveil.release.study import Study

WEAK = 10
"""Above this ε a guarantee says little; it is warned about."""


class Expected(Protocol):
    """What a plan with a public design knows about its error."""

    @property
    def error(self) -> float:
        """The error to expect."""
        ...

    @property
    def interval(self) -> tuple[float, float]:
        """Between which errors 9 of 10 lie."""
        ...

    @property
    def floor(self) -> float:
        """The error of the public mean."""
        ...


def error_forecast(plan: Expected, source: str) -> Forecast:
    """Return the forecast of a plan with a public design: worth it if a tenth better than the public mean."""
    low, high = plan.interval
    return Forecast(
        measure="error",
        expected=plan.error,
        low=low,
        high=high,
        without_data=plan.floor,
        floor=0.9 * plan.floor,
        basis=f"how much the series of the design's public participants vary ({source})",
    )


def check_delta(delta: Fraction, study: Study | int) -> None:
    """Refuse a δ so large that publishing one participant's data as they are would keep the guarantee.

    Raises:
        OptionError: If δ is no smaller than one over the number of participants.
    """
    number = study if isinstance(study, int) else study.participants.number
    if number is not None and delta and delta * number >= 1:
        raise OptionError(
            f"delta {in_digits(delta)} is no smaller than one in {number:,} participants: such a guarantee is empty",
            hint="choose delta well below one over the number of participants, for example 1e-5",
        )


def delta_of(mechanism_delta: Number | None, study: Study) -> Fraction:
    """Return the δ that may be spent: the mechanism's, or the study's where the mechanism names none."""
    return study.delta if mechanism_delta is None else exact(mechanism_delta)


def number_of(study: Study) -> int:
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


def weak(epsilon: Number) -> tuple[str, ...]:
    """Return a warning about an ε that guarantees little; none about others."""
    amount = exact(epsilon)
    told = f"ε = {in_digits(amount)} is weak: above {WEAK} a guarantee says next to nothing about a single participant"
    return (told,) if amount > WEAK else ()


def one_stimulus(study: Study, stimulus: str | None, product: str) -> str:
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


def strategy_method(strategy: Mapping[str, Any], neighbours: Neighbours, *, before: str, after: str) -> Method:
    """Return how a heatmap strategy protects: bound, sensitivity, noise, and what to cite.

    Args:
        strategy: What the strategy says about itself.
        neighbours: How neighbouring data sets differ, which sets the sensitivity.
        before: What was counted.
        after: What was done with the noisy numbers.
    """
    name, bound = strategy["strategy"], strategy["bound"]
    vectors, signed = _VECTORS[name]
    replaced = ("2" if signed else "√2") if neighbours is Neighbours.REPLACE_ONE else "1"
    radial = "scale" in strategy
    if radial:
        noise = (
            "ℓ2-radial noise with density proportional to exp(−‖z‖₂/b), with a scale b of "
            f"{strategy['scale'] / bound:.4g} times that length"
        )
    else:
        noise = (
            "Gaussian noise, calibrated analytically [@balle2018], with a standard deviation of "
            f"{strategy['sigma'] / bound:.4g} times that length in every coordinate"
        )
    bounded = (
        f"{vectors.format(**strategy)}, in fixed-point integers whose Euclidean length never exceeds {bound:,}. "
        f"So the ℓ2 sensitivity of the sum over participants is {replaced} times that length. The sum received {noise}."
    )
    return Method(
        sentence=f"{before} {bounded} {after}",
        sources=(
            "dwork2014",
            "liu2019",
            *(() if radial else ("balle2018",)),
            *(("ghazi2023",) if name == "hierarchical" else ()),
        ),
        audit=f"heatmap-{name}",
        samplers=("radial", "radial-calibration") if radial else ("lattice-gaussian", "analytic-gaussian"),
    )


_VECTORS = {
    "modes": (
        "The coordinates of the map along {modes} public modes, less the prior's mean, were clipped to a ball",
        True,
    ),
    "bumps": ("The map was seen through {bumps} overlapping Gaussian bumps and scaled to one length", False),
    "histogram": ("The map was coarsened to {columns} × {rows} cells and scaled to one length", False),
    "hierarchical": (
        "The map was taken on nested square grids after [@ghazi2023], each level with a public weight",
        False,
    ),
}
"""What each strategy makes of one participant's map, and whether its numbers may be negative."""
