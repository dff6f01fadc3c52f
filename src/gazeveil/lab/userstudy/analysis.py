# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a user study found: every measure under every condition, compared with no mechanism.

Repeated trials of a condition are averaged first, so that a participant is one number. Within a measure and a way of
control all comparisons together keep their error rate by Holm's correction. The three-way analysis takes the condition
without a mechanism as strength "none" of every mechanism, as Wilson et al. (2024) did; that puts the same numbers into
several cells, so its contrasts are not spherical, whatever a test of that says, and the corrected p counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.userstudy.design import BASELINE, Measure, measure_of
from gazeveil.lab.userstudy.sessions import SIMULATED
from gazeveil.lab.userstudy.statistics import (
    LEAST_CONDITIONS,
    Effect,
    Friedman,
    PairedDifference,
    SignedRanks,
    WithinAnova,
    aligned_anova,
    as_cells,
    friedman,
    holm,
    paired_difference,
    signed_ranks,
    within_anova,
)

FEWEST = 6
"""Below this many participants no test is made: five pairs have no exact p below 0.05."""
CLEAR = 0.05


@dataclass(frozen=True)
class Condition:
    """One mechanism at one strength."""

    mechanism: str
    strength: str

    @property
    def name(self) -> str:
        """As it stands on an axis."""
        return self.mechanism if self.mechanism == BASELINE else f"{self.mechanism}, {self.strength}"


@dataclass(frozen=True)
class Comparison:
    """A condition against none, over those who met both."""

    condition: Condition
    ranks: SignedRanks
    p_holm: float
    difference: PairedDifference

    @property
    def in_words(self) -> str:
        """What the numbers allow to say."""
        if self.p_holm < CLEAR:
            return "higher" if self.ranks.rank_biserial > 0 else "lower"
        return "speaks for no difference (Bayes factor above 3)" if self.difference.for_none > 3 else "undecided"


@dataclass(frozen=True)
class Found:
    """One measure under one way of control."""

    measure: Measure
    control: str
    means: dict[Condition, FloatArray]
    """One number for each participant, by condition."""
    friedman: Friedman | None
    comparisons: tuple[Comparison, ...]

    def rows(self) -> list[tuple[str, float, Comparison | None]]:
        """Return each condition with its mean, and the comparison where one was made."""
        made = {each.condition: each for each in self.comparisons}
        return [(one.name, float(values.mean()), made.get(one)) for one, values in self.means.items()]


@dataclass(frozen=True)
class Variance:
    """The analysis of mechanism, strength and control of one measure."""

    measure: Measure
    plain: WithinAnova
    aligned: WithinAnova

    @property
    def reported(self) -> WithinAnova:
        """The one whose assumptions hold: the plain one unless residuals are not normal."""
        return self.plain if self.plain.plain_assumptions_hold else self.aligned


@dataclass(frozen=True)
class Analysis:
    """Everything that was found."""

    participants: tuple[str, ...]
    found: tuple[Found, ...]
    variances: tuple[Variance, ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return {
            "participants": len(self.participants),
            "measures": [_found_dict(found) for found in self.found],
            "variance": [_variance_dict(variance) for variance in self.variances],
            "remarks": list(self.remarks),
        }


def analyse(table: pl.DataFrame) -> Analysis:
    """Analyse a tidy table of measures.

    Raises:
        InputError: If there is nothing in it, or nobody met the condition without a mechanism.
    """
    if table.is_empty():
        raise InputError("the table of measures is empty")
    if BASELINE not in table["mechanism"]:
        raise InputError(
            f"no row has the mechanism {BASELINE!r}", hint="conditions are compared with the one without a mechanism"
        )
    people = tuple(sorted(table["participant"].unique()))
    remarks = (
        [f"{len(people)} participants are too few for tests: {FEWEST} are needed."] if len(people) < FEWEST else []
    )
    if made_up := sum(who.startswith(SIMULATED) for who in people):
        remarks.append(f"{made_up} of {len(people)} participants are simulated: this says nothing about participants.")
    names = table["measure"].unique(maintain_order=True)
    controls = table["control"].unique(maintain_order=True)
    parts = [(name, control) for name in names for control in controls]
    found = [one for name, control in parts if (one := _compare(table, name, control))]
    variances = [each for name in names if (each := _variance(table, name, list(controls)))]
    if not variances:
        remarks.append(
            "There is no three-way analysis: too few participants met every mechanism, strength and control."
        )
    return Analysis(people, tuple(found), tuple(variances), tuple(remarks))


def _compare(table: pl.DataFrame, name: str, control: str) -> Found | None:
    rows = table.filter((pl.col("measure") == name) & (pl.col("control") == control))
    if rows.is_empty():
        return None
    each = rows.group_by("participant", "mechanism", "strength", maintain_order=True).agg(pl.col("value").mean())
    by: dict[Condition, dict[str, float]] = {}
    for who, mechanism, strength, value in each.iter_rows():
        by.setdefault(Condition(mechanism, BASELINE if mechanism == BASELINE else strength), {})[who] = value
    conditions = sorted(by, key=lambda one: (one.mechanism != BASELINE, one.mechanism, _order(one.strength)))
    means = {one: np.array(list(by[one].values())) for one in conditions}
    return Found(measure_of(name), control, means, _friedman(by, conditions), _comparisons(by, conditions))


def _friedman(by: dict[Condition, dict[str, float]], conditions: Sequence[Condition]) -> Friedman | None:
    whole = sorted(set.intersection(*(set(by[one]) for one in conditions)))
    if len(whole) < FEWEST or len(conditions) < LEAST_CONDITIONS:
        return None
    return friedman(np.array([[by[one][who] for one in conditions] for who in whole]))


def _comparisons(by: dict[Condition, dict[str, float]], conditions: Sequence[Condition]) -> tuple[Comparison, ...]:
    base = by.get(Condition(BASELINE, BASELINE), {})
    made = []
    for one in conditions:
        both = sorted(set(base) & set(by[one]))
        if one.mechanism != BASELINE and len(both) >= FEWEST:
            first, second = (np.array([where[who] for who in both]) for where in (base, by[one]))
            made.append((one, signed_ranks(first, second), paired_difference(first, second)))
    corrected = holm([ranks.p for _, ranks, _ in made])
    return tuple(Comparison(one, ranks, p, pair) for (one, ranks, pair), p in zip(made, corrected, strict=True))


def _variance(table: pl.DataFrame, name: str, controls: Sequence[str]) -> Variance | None:
    rows = table.filter(pl.col("measure") == name)
    veiled = rows.filter(pl.col("mechanism") != BASELINE)
    mechanisms = sorted(veiled["mechanism"].unique())
    strengths = [BASELINE, *sorted(veiled["strength"].unique(), key=_order)]
    if min(len(mechanisms), len(strengths) - 1, len(controls)) < 2:
        return None
    base = rows.filter(pl.col("mechanism") == BASELINE).to_dicts()
    everywhere = [{**row, "mechanism": one, "strength": BASELINE} for row in base for one in mechanisms]
    factors = {"mechanism": mechanisms, "strength": strengths, "control": controls}
    people, cells = as_cells([*everywhere, *veiled.to_dicts()], factors)
    if len(people) < FEWEST:
        return None
    return Variance(measure_of(name), within_anova(cells, list(factors)), aligned_anova(cells, list(factors)))


def _order(strength: str) -> tuple[int, str]:
    usual = [BASELINE, "low", "medium", "high"]
    return (usual.index(strength) if strength in usual else len(usual), strength)


def _found_dict(found: Found) -> dict[str, Any]:
    return {
        "measure": found.measure.name,
        "control": found.control,
        "conditions": [
            {"mechanism": one.mechanism, "strength": one.strength, "participants": len(values), "mean": values.mean(),
             "sd": values.std(ddof=1) if len(values) > 1 else None}
            for one, values in found.means.items()
        ],
        "friedman": asdict(found.friedman) if found.friedman else None,
        "against_none": [
            {"mechanism": each.condition.mechanism, "strength": each.condition.strength, **asdict(each.ranks),
             "p_holm": each.p_holm, "d": asdict(each.difference), "in_words": each.in_words}
            for each in found.comparisons
        ],
    }  # fmt: skip


def _variance_dict(variance: Variance) -> dict[str, Any]:
    def effects(anova: WithinAnova) -> list[dict[str, Any]]:
        return [{"effect": effect.name, **asdict(effect), "p_reported": effect.p_corrected} for effect in anova.effects]

    return {
        "measure": variance.measure.name,
        "participants": variance.plain.participants,
        "normal_p": variance.plain.normal_p,
        "reported": "aligned ranks" if variance.reported.ranks else "plain",
        "plain": effects(variance.plain),
        "aligned": effects(variance.aligned),
    }


__all__ = ["Analysis", "Comparison", "Condition", "Effect", "Found", "Variance", "analyse"]
