# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Analysis of variance where every participant meets every combination of conditions.

Each effect has contrasts of its own over the cells. Every participant gives one number for each contrast; what these
have in common over participants is the effect, and how participants differ in them is its error. So no table of sums is
needed, however many factors there are.

If ranks take the place of values, after everything but the effect in question was taken away, the same analysis needs
no normal distribution (aligned rank transform: Wobbrock et al. 2011).

Sources: Mauchly (1940), Greenhouse and Geisser (1959), Huynh and Feldt (1976), Olejnik and Algina (2003).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.userstudy.statistics._tails import above_chi_square, above_f, distributions
from gazeveil.lab.userstudy.statistics.ranks import average_ranks

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
