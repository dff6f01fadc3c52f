# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tests over participants who meet every condition: ranks, variance, Bayes factors, and power before the study.

Distributions come from scipy (extra ``userstudy``); everything else is computed here.

Exact probabilities count all ways to sign the ranks, ties included; they need no normal approximation.
Sources: Wilcoxon (1945), Pratt (1959) for differences of zero, Friedman (1937), Kendall and Babington Smith (1939) for
W, Holm (1979), Hodges and Lehmann (1963), Kerby (2014) for the rank-biserial correlation.

The Bayes factor is Rouder's (2009): how much more likely the t of the differences is if there is none than if d is
Cauchy-distributed with scale r. Intervals of d come from the non-central t distribution (Cumming and Finch 2001).

Each effect has contrasts of its own over the cells. Every participant gives one number for each contrast; what these
have in common over participants is the effect, and how participants differ in them is its error. So no table of sums is
needed, however many factors there are.

If ranks take the place of values, after everything but the effect in question was taken away, the same analysis needs
no normal distribution (aligned rank transform: Wobbrock et al. 2011).

Sources: Mauchly (1940), Greenhouse and Geisser (1959), Huynh and Feldt (1976), Olejnik and Algina (2003).

For pairs by t the power is exact. For Wilcoxon's ranks it is that of t with 3/π times as many participants, which is
how much ranks lose where t is best (Lehmann 1975); where it is not, they lose less or win. Holm's first step is the
strictest, so its level is taken for all comparisons. With few participants even differences that all have one sign are
not rare enough for it: nothing is found then, however large it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError, needing


def distributions() -> Any:
    """Return scipy's distributions.

    Raises:
        MissingExtra: If scipy is not installed.
    """
    with needing("scipy", "userstudy", "the statistics of a user study"):
        from scipy import stats  # noqa: PLC0415
    return stats


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function crosses zero between two points of other signs."""
    distributions()
    from scipy.optimize import brentq  # noqa: PLC0415

    return float(brentq(function, low, high, xtol=1e-11))


def above_chi_square(value: float, degrees: float) -> float:
    """Return the chance of a chi-square number above a value."""
    return float(distributions().chi2.sf(value, degrees))


def above_f(value: float, upper: float, lower: float) -> float:
    """Return the chance of an F number above a value."""
    return float(distributions().f.sf(value, upper, lower))


# --- Tests by ranks: Wilcoxon's signed ranks, Friedman's test, and Holm's correction for several tests.


LEAST_PAIRS = 2
LEAST_CONDITIONS = 3
_DIGITS = 12
"""Differences count to this many digits of the largest number."""


def average_ranks(values: FloatArray) -> FloatArray:
    """Return ranks from 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place.reshape(values.shape)]


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's test of paired differences."""

    pairs: int
    """Pairs with a difference other than zero."""
    positive: float
    """The sum of ranks of differences above zero."""
    z: float
    """By the normal approximation, with correction for ties and none for continuity, as papers print it."""
    p: float
    """Two-sided and exact."""
    rank_biserial: float
    """From -1 (every difference is negative) to 1."""
    shift: float
    """Hodges and Lehmann's estimate of the difference."""
    low: float
    high: float
    """The exact 95 % interval of the shift; infinite where so few pairs allow none."""


def signed_ranks(first: FloatArray, second: FloatArray) -> SignedRanks:
    """Compare pairs by the signed ranks of second - first. Differences of zero are left out, as Wilcoxon did.

    Raises:
        InputError: If there are not as many of both, fewer than two, or not finite.
    """
    differences = paired(first, second)
    kept = differences[differences != 0]
    if not len(kept):
        return SignedRanks(0, 0.0, 0.0, 1.0, 0.0, 0.0, *_interval(differences))
    ranks = average_ranks(np.abs(kept))
    positive, total = float(ranks[kept > 0].sum()), float(ranks.sum())
    spread = math.sqrt(float((ranks**2).sum())) / 2  # of the sum of signed ranks, ties included
    chances = _sums_of_signed(ranks)
    at = round(2 * positive)
    p = min(1.0, 2 * min(float(chances[: at + 1].sum()), float(chances[at:].sum())))
    walsh = _walsh_averages(differences)
    return SignedRanks(
        len(kept), positive, (positive - total / 2) / spread, p, 2 * positive / total - 1, float(np.median(walsh)),
        *_interval(differences),
    )  # fmt: skip


def paired(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return second - first, checked."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1 or len(one) < LEAST_PAIRS:
        raise InputError(f"pairs of numbers are needed, at least {LEAST_PAIRS}; found {one.shape} and {other.shape}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("a participant lacks a number in one of two compared conditions", hint="leave them out")
    differences = other - one
    # what is equal must stay so: 2/15 - 1/15 is not 3/15 - 2/15 in floating point, and ranks would follow from rounding
    size = float(max(np.abs(one).max(), np.abs(other).max()))
    return np.round(differences / size, _DIGITS) * size if size else differences


def _sums_of_signed(ranks: FloatArray) -> FloatArray:
    """Return the chance of each sum of twice the ranks, if each has its sign by a fair coin."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in doubled:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: len(chances) - rank]
        chances = (chances + moved) / 2
    return chances


def _walsh_averages(differences: FloatArray) -> FloatArray:
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2)


def _interval(differences: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the values of the shift that the exact test does not refuse."""
    chances = np.cumsum(_sums_of_signed(np.arange(1.0, len(differences) + 1))[::2])
    cut = int(np.searchsorted(chances, (1 - level) / 2, side="right"))  # so many averages may lie outside
    walsh = _walsh_averages(differences)
    return (float(walsh[cut - 1]), float(walsh[-cut])) if cut else (-math.inf, math.inf)


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of conditions that every participant met."""

    participants: int
    conditions: int
    chi_square: float
    p: float
    """By the chi-square approximation."""
    agreement: float
    """Kendall's W: 0 if participants rank conditions by chance, 1 if all rank them alike."""
    mean_ranks: tuple[float, ...]


def friedman(table: FloatArray) -> Friedman:
    """Compare the columns of a table with one row a participant.

    Raises:
        InputError: If there are fewer than three columns or two rows, or numbers are missing.
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < LEAST_CONDITIONS or values.shape[0] < LEAST_PAIRS:
        raise InputError(f"Friedman's test needs 3 conditions and 2 participants or more; found {values.shape}")
    if not np.isfinite(values).all():
        raise InputError("a participant lacks a number in one of the conditions", hint="leave them out")
    people, conditions = values.shape
    ranks = np.stack([average_ranks(row) for row in values])
    between = people * float(((ranks.mean(axis=0) - (conditions + 1) / 2) ** 2).sum())
    within = float(((ranks - (conditions + 1) / 2) ** 2).sum()) / (people * (conditions - 1))
    chi_square = between / within if within else 0.0
    return Friedman(
        people, conditions, chi_square, above_chi_square(chi_square, conditions - 1),
        chi_square / (people * (conditions - 1)), tuple(float(mean) for mean in ranks.mean(axis=0)),
    )  # fmt: skip


def holm(chances: Sequence[float]) -> list[float]:
    """Return p values corrected for their number, in the same order, by Holm's steps."""
    order = np.argsort(chances, kind="stable")
    corrected, largest = [0.0] * len(order), 0.0
    for step, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - step) * float(chances[place])))
        corrected[int(place)] = largest
    return corrected


# --- Two conditions of the same participants: mean difference, Cohen's d with its interval, and a Bayes factor.


USUAL_SCALE = math.sqrt(2) / 2
_NODES = 300
_FARTHEST_SDS = 6.0


@dataclass(frozen=True)
class PairedDifference:
    """How two conditions differ over participants."""

    participants: int
    mean: float
    t: float
    p: float
    d: float
    """Cohen's d of differences: their mean in their own standard deviations. Infinite if all are equal and not zero."""
    low: float
    high: float
    """The 95 % interval of d."""
    for_none: float
    """The Bayes factor: how much likelier these differences are if there is no difference. Above 1 speaks for none."""


def paired_difference(first: FloatArray, second: FloatArray, scale: float = USUAL_SCALE) -> PairedDifference:
    """Compare second - first.

    Raises:
        InputError: If there are not as many of both, fewer than two, or not finite.
    """
    differences = paired(first, second)
    people, mean, sd = len(differences), float(differences.mean()), float(differences.std(ddof=1))
    if sd <= 1e-12 * max(1.0, abs(mean)):
        if abs(mean) <= 1e-300:
            return PairedDifference(
                people, 0.0, 0.0, 1.0, 0.0, *interval_of_d(0.0, people), bayes_for_none(0.0, people, scale)
            )
        far = math.copysign(math.inf, mean)
        return PairedDifference(people, mean, far, 0.0, far, far, far, 0.0)
    d = mean / sd
    t = d * math.sqrt(people)
    p = 2 * float(distributions().t.sf(abs(t), people - 1))
    return PairedDifference(people, mean, t, p, d, *interval_of_d(d, people), bayes_for_none(t, people, scale))


def interval_of_d(d: float, people: int, level: float = 0.95) -> tuple[float, float]:
    """Return the values of d under which this one is not among the rarest."""
    law, t, outside = distributions().nct, d * math.sqrt(people), (1 - level) / 2

    def below(middle: float) -> float:
        found = float(law.cdf(t, people - 1, middle))
        return float(middle < t) if math.isnan(found) else found  # scipy gives up where it is all but certain

    def bound(chance: float) -> float:
        far = _FARTHEST_SDS * math.sqrt(1 + t**2 / (2 * (people - 1)))  # t spreads the more the farther it is from zero
        return root(lambda middle: below(middle) - chance, t - far, t + far) / math.sqrt(people)

    return bound(1 - outside), bound(outside)


@cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def bayes_for_none(t: float, people: int, scale: float = USUAL_SCALE) -> float:
    """Return the Bayes factor for no difference, from t of the differences of this many participants."""
    degrees = people - 1
    none = -(degrees + 1) / 2 * math.log1p(t**2 / degrees)
    # g = tan²: the integral over all g becomes one over a quarter of a circle, smooth at both of its ends
    nodes, weights = _legendre()
    angle = (nodes + 1) * math.pi / 4
    g = np.tan(angle) ** 2
    spread = 1 + people * g * scale**2
    log = (
        -0.5 * np.log(spread)
        - (degrees + 1) / 2 * np.log1p(t**2 / (spread * degrees))
        - 0.5 * math.log(2 * math.pi)
        - 1.5 * np.log(g)
        - 1 / (2 * g)
        + np.log(2 * np.tan(angle) / np.cos(angle) ** 2)
    )
    top = float(log.max())
    some = top + math.log(float((weights * np.exp(log - top)).sum()) * math.pi / 4)
    return math.exp(none - some)


# --- Analysis of variance where every participant meets every combination of conditions.


LEAST_PEOPLE = 2
CLEAR = 0.05
"""An assumption counts as broken if what was seen is less likely than this under it."""


@dataclass(frozen=True)
class Effect:
    """One line of the table: a factor, or several together."""

    factors: tuple[str, ...]
    squares: float
    error_squares: float
    degrees: int
    error_degrees: int
    f: float
    p: float
    """If the contrasts are spherical."""
    greenhouse_geisser: float
    huynh_feldt: float
    p_corrected: float
    """With degrees of freedom times Greenhouse and Geisser's factor."""
    mauchly_p: float
    """How likely such contrasts are if they are spherical; 1 with one degree of freedom, NaN with too few participants.
    """
    partial_eta_squared: float
    generalised_eta_squared: float

    @property
    def name(self) -> str:
        """The factors, joined as papers do."""
        return " x ".join(self.factors)


@dataclass(frozen=True)
class WithinAnova:
    """The table of effects, and whether its assumptions hold."""

    participants: int
    effects: tuple[Effect, ...]
    normal_p: float
    """Shapiro and Wilk's test of what is left when participant and cell are taken away; NaN where it cannot be made."""
    ranks: bool
    """Whether it was made on aligned ranks."""

    @property
    def plain_assumptions_hold(self) -> bool:
        """Whether nothing speaks against normal residuals. Sphericity is corrected for, effect by effect."""
        return self.normal_p >= CLEAR

    def __getitem__(self, name: str) -> Effect:
        for effect in self.effects:
            if effect.name == name:
                return effect
        raise KeyError(name)


def within_anova(values: FloatArray, factors: Sequence[str]) -> WithinAnova:
    """Analyse values of participants (first axis) in combinations of factors (one further axis each).

    Raises:
        InputError: If the shape does not fit, numbers are missing, or there are too few participants.
    """
    cells = _checked(values, factors)
    shape = cells.shape[1:]
    found = {names: _squares(cells, _contrasts(shape, factors, names)) for names in _effects(factors)}
    people = cells.shape[0]
    mean = cells.reshape(people, -1).mean(axis=1)
    between = math.prod(shape) * float(((mean - mean.mean()) ** 2).sum())
    all_error = between + sum(error for _, error, _ in found.values())
    effects = tuple(_effect(names, people, *parts, all_error) for names, parts in found.items())
    return WithinAnova(people, effects, _normal(cells), ranks=False)


def aligned_anova(values: FloatArray, factors: Sequence[str]) -> WithinAnova:
    """Analyse aligned ranks: for each effect all others are taken away, what remains is ranked, and that is analysed.

    Raises:
        InputError: As `within_anova`.
    """
    cells = _checked(values, factors)
    effects = []
    for names in _effects(factors):
        ranked = average_ranks(np.round(aligned(cells, factors, names), 12))
        effects.append(within_anova(ranked, factors)[" x ".join(names)])
    return WithinAnova(cells.shape[0], tuple(effects), math.nan, ranks=True)


def aligned(values: FloatArray, factors: Sequence[str], names: Sequence[str]) -> FloatArray:
    """Return what is left of values if all effects but one are taken away: residuals of cells, and that effect."""
    residual = values - values.mean(axis=0)
    effect = np.zeros(values.shape[1:])
    for size in range(len(names) + 1):
        for kept in combinations(names, size):
            away = tuple(axis for axis, factor in enumerate(factors) if factor not in kept)
            mean = values.mean(axis=0).mean(axis=away, keepdims=True) if away else values.mean(axis=0)
            effect = effect + (-1) ** (len(names) - size) * mean
    return np.asarray(residual + effect)


def _checked(values: FloatArray, factors: Sequence[str]) -> FloatArray:
    cells = np.asarray(values, dtype=np.float64)
    if cells.ndim != len(factors) + 1 or not factors or min(cells.shape[1:], default=0) < 2:
        raise InputError(
            f"one axis for participants and one for each of {', '.join(factors) or 'no factors'} is needed, "
            f"with two levels or more; found {cells.shape}"
        )
    if cells.shape[0] < LEAST_PEOPLE:
        raise InputError(f"an analysis of variance needs {LEAST_PEOPLE} participants; found {cells.shape[0]}")
    if not np.isfinite(cells).all():
        raise InputError(
            "a participant lacks a number in one of the conditions", hint="leave out participants who did not meet all"
        )
    return cells


def _effects(factors: Sequence[str]) -> list[tuple[str, ...]]:
    return [names for size in range(1, len(factors) + 1) for names in combinations(factors, size)]


def _contrasts(shape: tuple[int, ...], factors: Sequence[str], names: Sequence[str]) -> FloatArray:
    """Return orthonormal contrasts of an effect, one a row, over all cells."""
    rows = np.ones((1, 1))
    for levels, factor in zip(shape, factors, strict=True):
        part = _helmert(levels) if factor in names else np.full((1, levels), 1 / math.sqrt(levels))
        rows = np.kron(rows, part)
    return rows


def _helmert(levels: int) -> FloatArray:
    rows = np.zeros((levels - 1, levels))
    for row in range(levels - 1):
        rows[row, : row + 1], rows[row, row + 1] = 1.0, -(row + 1.0)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _squares(cells: FloatArray, contrasts: FloatArray) -> tuple[float, float, FloatArray]:
    """Return the sums of squares of an effect and of its error, and the covariance of its contrasts."""
    people = cells.shape[0]
    each = cells.reshape(people, -1) @ contrasts.T
    apart = each - each.mean(axis=0)
    covariance = apart.T @ apart / (people - 1)
    return people * float((each.mean(axis=0) ** 2).sum()), float((apart**2).sum()), np.asarray(covariance)


def _effect(
    names: tuple[str, ...], people: int, squares: float, error: float, covariance: FloatArray, all_error: float
) -> Effect:
    degrees = len(covariance)
    error_degrees = degrees * (people - 1)
    f = (squares / degrees) / (error / error_degrees) if error > 0 else (math.inf if squares > 0 else 0.0)
    trace, both = float(np.trace(covariance)), float((covariance**2).sum())
    geisser = trace**2 / (degrees * both) if both > 0 else 1.0
    feldt = (people * degrees * geisser - 2) / (degrees * (people - 1 - degrees * geisser))
    feldt = min(1.0, feldt) if people - 1 > degrees * geisser else 1.0
    return Effect(
        names, squares, error, degrees, error_degrees, f, above_f(f, degrees, error_degrees), geisser, feldt,
        above_f(f, geisser * degrees, geisser * error_degrees), _mauchly(covariance, people),
        squares / (squares + error) if squares + error else 0.0,
        squares / (squares + all_error) if squares + all_error else 0.0,
    )  # fmt: skip


def _mauchly(covariance: FloatArray, people: int) -> float:
    degrees = len(covariance)
    if degrees == 1:
        return 1.0
    if people - 1 < degrees:  # the determinant is zero whatever the truth is
        return math.nan
    spread = (float(np.trace(covariance)) / degrees) ** degrees
    if not spread > 0:  # all the same: there is nothing that could differ
        return math.nan
    ratio = float(np.linalg.det(covariance)) / spread
    if not ratio > 0:
        return 0.0
    scale = 1 - (2 * degrees**2 + degrees + 2) / (6 * degrees * (people - 1))
    value = -(people - 1) * scale * math.log(ratio)
    return above_chi_square(value, degrees * (degrees + 1) / 2 - 1)


def _normal(cells: FloatArray) -> float:
    people = cells.shape[0]
    flat = cells.reshape(people, -1)
    left = flat - flat.mean(axis=0) - flat.mean(axis=1, keepdims=True) + flat.mean()
    if float(np.ptp(left)) < 1e-12 * max(1.0, float(np.abs(flat).max())):
        return math.nan
    return float(distributions().shapiro(left.ravel()).pvalue)


def as_cells(
    rows: Sequence[Mapping[str, object]], factors: Mapping[str, Sequence[str]]
) -> tuple[list[str], FloatArray]:
    """Return participants who met every combination, and their values: repeated ones are averaged.

    Args:
        rows: Each with ``participant``, a label for each factor, and a ``value``.
        factors: The labels of each factor, in the order of the axes.
    """
    shape = tuple(len(labels) for labels in factors.values())
    sums: dict[str, FloatArray] = {}
    counts: dict[str, FloatArray] = {}
    for row in rows:
        number = float(row["value"])  # type: ignore[arg-type]
        labels = [row[factor] for factor in factors]
        if not math.isfinite(number) or any(
            label not in factors[name] for name, label in zip(factors, labels, strict=True)
        ):
            continue
        place = tuple(list(factors[name]).index(str(label)) for name, label in zip(factors, labels, strict=True))
        who = str(row["participant"])
        sums.setdefault(who, np.zeros(shape))[place] += number
        counts.setdefault(who, np.zeros(shape))[place] += 1
    complete = [who for who in sorted(sums) if counts[who].all()]
    if not complete:
        return [], np.zeros((0, *shape))
    return complete, np.stack([sums[who] / counts[who] for who in complete])


# --- How many participants a study needs: the chance to find a difference that is there.


KEPT_BY_RANKS = 3 / math.pi
MOST_PEOPLE = 10_000


def power(d: float, participants: int, *, comparisons: int = 1, level: float = 0.05, ranks: bool = True) -> float:
    """Return the chance that a difference of d standard deviations is found, two-sided.

    Raises:
        OptionError: If there are fewer than two participants or no comparison.
    """
    if participants < 2 or comparisons < 1 or not 0 < level < 1 or not math.isfinite(d):
        raise OptionError(
            "power needs two participants, one comparison and a level between 0 and 1 at least; found "
            f"{participants}, {comparisons} and {level}"
        )
    if ranks and 2.0 ** (1 - participants) > level / comparisons:  # the smallest exact p
        return 0.0
    law = distributions()
    people = participants * KEPT_BY_RANKS if ranks else float(participants)
    degrees = max(people - 1, 0.1)
    limit = float(law.t.isf(level / comparisons / 2, degrees))
    away = abs(d) * math.sqrt(people)
    return float(law.nct.sf(limit, degrees, away) + law.nct.cdf(-limit, degrees, away))


def participants_for(
    d: float, wanted: float = 0.8, *, comparisons: int = 1, level: float = 0.05, ranks: bool = True
) -> int | None:
    """Return how many participants find a difference of d with the wanted power; nothing if ten thousand do not."""
    low, high = 2, 2
    while power(d, high, comparisons=comparisons, level=level, ranks=ranks) < wanted:
        if high == MOST_PEOPLE:
            return None
        low, high = high, min(high * 2, MOST_PEOPLE)
    while low < high:
        middle = (low + high) // 2
        if power(d, middle, comparisons=comparisons, level=level, ranks=ranks) < wanted:
            low = middle + 1
        else:
            high = middle
    return high


def smallest_difference(
    participants: int, wanted: float = 0.8, *, comparisons: int = 1, level: float = 0.05, ranks: bool = True
) -> float | None:
    """Return the d that this many participants find with the wanted power; nothing if they are too few for any."""
    low, high = 0.0, 50.0
    if power(high, participants, comparisons=comparisons, level=level, ranks=ranks) < wanted:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        if power(middle, participants, comparisons=comparisons, level=level, ranks=ranks) < wanted:
            low = middle
        else:
            high = middle
    return high
