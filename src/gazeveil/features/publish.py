# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a table of features to a release of a table of features, charged before noise is drawn.

Columns that tell about raw gaze beside the features, such as how many samples a window had, do not leave: every row of
a release is called usable. Names of observers, tasks, groups and times of windows are public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import polars as pl

from gazeveil.errors import InputError, OptionError
from gazeveil.features.group import GroupEstimate, GroupSeries
from gazeveil.features.panel import Panel, mean_per_person, noisy_lengths, per_person
from gazeveil.features.ranges import Ranges
from gazeveil.features.table import BINS, FIXED, FeatureTable, Info
from gazeveil.gaze.recording import Key
from gazeveil.noise import NoiseSource
from gazeveil.privacy.exact import Number, above_zero, as_text, exact, whole_number
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP, Unproven
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.release import Release, kept_promise
from gazeveil.privacy.unit import Observer
from gazeveil.types import FloatArray


class OwnMechanism(Protocol):
    """What can noise people's own series: those of `SERIES_MECHANISMS`, and `OwnSeries`."""

    epsilon: Number

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to every person."""
        ...

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism as plain values."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRelease:
    """Everybody's own series, noised.

    Attributes:
        mechanism: What noises one series.
        series: How many series a person has at most. Under an observer-level promise ε is for all of them together.
        people: How many people there are at most; public, and needed where a δ is spent, which must be far less than
            one in so many.
        length_epsilon: The ε, beside the mechanism's, that pays for telling noisy lengths; none if they are not told.
    """

    mechanism: Any
    series: int = 1
    people: int | None = None
    length_epsilon: Number | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "series", whole_number(self.series, "series", at_least=1))
        if self.length_epsilon is not None:
            object.__setattr__(self, "length_epsilon", above_zero(self.length_epsilon, "length_epsilon"))
            if not isinstance(self.mechanism.guarantee.unit, Observer):
                raise OptionError("lengths belong to whole recordings: they need an observer-level promise")
        if self.people is not None:
            object.__setattr__(self, "people", whole_number(self.people, "people", at_least=1))
        self._check_delta()

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to every person, for all of their series and lengths together."""
        promise = self.each.guarantee  # its noise decides its kind, which may differ from that of an unsplit ε
        if isinstance(promise.unit, Observer):
            promise = promise * self.series
        if self.length_epsilon is None or isinstance(promise, Unproven):
            return promise
        return promise + PureDP(self.series * above_zero(self.length_epsilon, "length_epsilon"), unit=promise.unit)

    @property
    def each(self) -> OwnMechanism:
        """The mechanism for one series: where a person pays for all, each gets its part of ε and δ."""
        if self.series == 1 or not isinstance(self.mechanism.guarantee.unit, Observer):
            return self.mechanism  # type: ignore[no-any-return]
        parts = {"epsilon": exact(self.mechanism.epsilon) / self.series}
        if exact(self.mechanism.delta):
            parts["delta"] = exact(self.mechanism.delta) / self.series
        return replace(self.mechanism, **parts)  # type: ignore[no-any-return]

    def release(
        self,
        panel: Panel,
        ranges: Ranges,
        info: Info,
        *,
        noise: NoiseSource,
        ledger: Ledger | None = None,
        dataset: str = "",
    ) -> Release:
        """Release everybody's series; the value is a `FeatureTable`.

        Raises:
            InputError: If somebody has more series than the promise covers, or there are more people than declared.
            BudgetExceeded: If the ledger does not allow it; nothing was released.
        """
        per_person(panel, self.series)
        if self.people is not None and len(panel.observers) > self.people:
            raise InputError(f"there are {len(panel.observers):,} people, and {self.people:,} were declared")
        provenance = {"series": len(panel.keys), "people": len(panel.observers), "steps": panel.values.shape[1]}
        release = Release(None, kept_promise(self.guarantee, noise), self.to_dict(), provenance)
        if ledger is not None:
            release = release.charged(ledger, dataset)
        noisy = ranges.from_unit(self.each.perturb(panel.values, noise))
        lengths = None
        if self.length_epsilon is not None:
            lengths = noisy_lengths(panel.lengths, panel.values.shape[1], self.length_epsilon, noise)
        table = table_of(noisy, panel, replace(info, names=ranges.names), lengths)
        return replace(release, value=table)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain values: what every series gets, and how many of them a person pays for."""
        paid = None if self.length_epsilon is None else as_text(exact(self.length_epsilon))
        shared = {"series_per_person": self.series, "people": self.people, "length_epsilon": paid}
        return {**self.each.to_dict(), **shared}

    def _check_delta(self) -> None:
        promise = self.guarantee
        if not isinstance(promise, ApproxDP):
            return
        if self.people is None:
            raise OptionError(
                f"with a chance of failure ({promise}) it must be known how many people there are",
                hint="give people=, the declared number, or delta=0",
            )
        if promise.delta * self.people >= 1:
            raise OptionError(
                f"delta {float(promise.delta):g} is no smaller than one in {self.people:,} people",
                hint="choose delta well below one over the number of people",
            )


def release_group(
    mechanism: GroupSeries,
    panel: Panel,
    *,
    noise: NoiseSource,
    ledger: Ledger | None = None,
    dataset: str = "",
    about: Mapping[str, Any] | None = None,
) -> Release:
    """Release the mean series of everybody in a panel; the value is a `GroupEstimate`.

    Raises:
        InputError: If there are not as many people as declared.
        BudgetExceeded: If the ledger does not allow it; nothing was released.
    """
    people, values = mean_per_person(panel)
    if len(people) != mechanism.people:
        raise InputError(f"there are {len(people):,} people, and {mechanism.people:,} were declared")
    provenance = {"people": mechanism.people, "steps": panel.values.shape[1], **dict(about or {})}
    release = Release(None, kept_promise(mechanism.guarantee, noise), mechanism.to_dict(), provenance)
    if ledger is not None:
        release = release.charged(ledger, dataset)
    return replace(release, value=mechanism.estimate(values, noise))


def table_of(values: FloatArray, panel: Panel, info: Info, lengths: list[int] | None = None) -> FeatureTable:
    """Return released series as a table: on a grid of times that begins at 0, every row usable."""
    steps = values.shape[1]
    frames = []
    for row, key in enumerate(panel.keys):
        count = steps if lengths is None else lengths[row]
        frames.append(_frame(values[row, :count], key, panel.tasks[row], panel.groups[row], info))
    return FeatureTable(pl.concat(frames), info)


def group_table(estimate: GroupEstimate, ranges: Ranges, step: float) -> pl.DataFrame:
    """Return a group's series as a table: a row a step and feature, with a band of one standard deviation each way."""
    steps = len(estimate.mean)
    parts = {
        "mean": ranges.from_unit(estimate.mean),
        "low": ranges.from_unit(estimate.mean - estimate.sd),
        "high": ranges.from_unit(estimate.mean + estimate.sd),
        "public": ranges.from_unit(np.asarray(estimate.public)),
    }
    return pl.DataFrame(
        {
            "start": np.repeat(np.arange(steps) * step, len(ranges)),
            "feature": list(ranges.names) * steps,
            **{name: part.ravel() for name, part in parts.items()},
        }
    )


def as_numbers(promises: list[tuple[int, Fraction]]) -> list[dict[str, float]]:
    """Return what noise promises for stretches of many lengths, as plain values: steps and ε."""
    return [{"steps": count, "epsilon": float(epsilon)} for count, epsilon in promises]


def about_raw_gaze(stretch: int, info: Info) -> str:
    """Say what a promise about steps of a series hides of raw gaze (erratum B10)."""
    if info.kind == BINS:
        return f"{stretch:,} bins; use hidden seconds for a promise about raw gaze"
    longest = stretch * info.step - info.window
    hidden = f"less than {longest:g} s" if longest > 0 else "nothing"
    touched = round(info.window / info.step) + 1
    return (
        f"one sample of raw gaze touches {touched:,} steps, so {stretch:,} steps hide {hidden} of raw gaze, and"
        " not even that for sure, since events found in windows reach farther"
    )


def _frame(values: FloatArray, key: Key, task: str, group: str, info: Info) -> pl.DataFrame:
    start = np.arange(len(values)) * info.step
    texts = {**key._asdict(), "task": task, "group": group}
    return pl.DataFrame(
        {
            **{name: pl.Series([texts[name]] * len(values), dtype=pl.String) for name in texts},
            "start": start,
            "end": start + info.window,
            "samples": np.zeros(len(values), dtype=np.int64),
            "covered": np.ones(len(values)),
            "errors": np.zeros(len(values)),
            "repeats": np.zeros(len(values)),
            "usable": np.ones(len(values), dtype=np.bool_),
            **{name: values[:, column] for column, name in enumerate(info.names)},
        }
    ).select(*FIXED, *info.names)
