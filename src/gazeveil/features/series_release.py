# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Each participant's own series: the mechanism by its name, the price of all series together, and the released table.

Columns that would reveal something about raw gaze beside the features, such as how many samples a window had, are not
released: every row of a release is called usable. Names of participants, tasks and groups, and times of windows, are
declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.exact import Number, above_zero, as_text, exact
from gazeveil.features.bins import BinRules
from gazeveil.features.design import Design
from gazeveil.features.external_tables import ExternalFeatures
from gazeveil.features.extraction import as_table
from gazeveil.features.group_series import GroupEstimate
from gazeveil.features.participant_series import ParticipantSeries, RawGaze
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
from gazeveil.features.settings import Settings
from gazeveil.features.table import BINS, ROWS, FeatureTable, Info
from gazeveil.gaze.recording import Key
from gazeveil.options import setting
from gazeveil.privacy.guarantee import Guarantee, PureDP, Unproven
from gazeveil.privacy.protection import Observer

ParticipantMechanism: TypeAlias = SeriesMechanism | ParticipantSeries
"""A mechanism for participants' own series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantRelease:
    """Each participant's own series, noised. How many series a participant has is a fact of the study.

    Attributes:
        mechanism: The mechanism for one series. Under an observer-level guarantee its ε and δ are for all series of a
            participant together.
        length_epsilon: The ε, beside the mechanism's, that pays for the noisy length of each series. By default lengths
            are not released.
    """

    product: ClassVar[str] = "feature-series"

    mechanism: Any
    length_epsilon: Number | None = setting(None, metavar="NUMBER")

    def __post_init__(self) -> None:
        if self.length_epsilon is not None:
            object.__setattr__(self, "length_epsilon", above_zero(self.length_epsilon, "length_epsilon"))
            if not isinstance(self.mechanism.guarantee.unit, Observer):
                raise OptionError("lengths belong to whole recordings: they need an observer-level guarantee")

    @property
    def epsilon(self) -> Number:
        """The mechanism's ε."""
        return self.mechanism.epsilon  # type: ignore[no-any-return]

    def at(self, epsilon: Number) -> ParticipantRelease:
        """Return the same with another ε of the mechanism."""
        return replace(self, mechanism=replace(self.mechanism, epsilon=epsilon))

    def each(self, series: int) -> ParticipantMechanism:
        """Return the mechanism for one of this many series: a participant who pays for all splits ε and δ."""
        if series == 1 or not isinstance(self.mechanism.guarantee.unit, Observer):
            return self.mechanism  # type: ignore[no-any-return]
        parts = {"epsilon": exact(self.mechanism.epsilon) / series}
        if exact(self.mechanism.delta):
            parts["delta"] = exact(self.mechanism.delta) / series
        return replace(self.mechanism, **parts)  # type: ignore[no-any-return]

    def guarantee(self, series: int) -> Guarantee:
        """Return what is guaranteed to a participant, for this many series and their lengths together.

        It adds up the guarantees of the single series: these may have Gaussian noise where the whole ε and δ would
        have allowed noise without δ.
        """
        each = self.each(series).guarantee
        all_of_them = each * series if isinstance(each.unit, Observer) else each
        if self.length_epsilon is None or isinstance(each, Unproven):
            return all_of_them
        return all_of_them + PureDP(series * exact(self.length_epsilon), unit=each.unit)

    def to_dict(self, series: int) -> dict[str, Any]:
        """Return the recipe as plain values: what each of this many series gets."""
        paid = None if self.length_epsilon is None else as_text(exact(self.length_epsilon))
        return {**self.each(series).to_dict(), "series_per_participant": series, "length_epsilon": paid}


def participant_mechanism(
    name: str,
    *,
    settings: Settings | ExternalFeatures,
    ranges: Ranges,
    steps: int,
    design: Design | None = None,
    hide_seconds: float | None = None,
    **asked: Any,
) -> ParticipantMechanism:
    """Return the mechanism of a name: ``low-rank``, or one of `SERIES_MECHANISMS`.

    Ranges are those of the design if there is one. A design is for ``low-rank``, seconds of raw gaze to hide for
    ``low-rank`` on bins. Other options that are None count as not given.
    """
    bins = settings.rules if isinstance(settings.rules, BinRules) else None
    if hide_seconds is not None and (name != ParticipantSeries.name or bins is None):
        raise OptionError(
            "only low-rank on bins can guarantee to hide seconds of raw gaze: windows overlap (erratum B10)",
            hint="use bins: --bins 0.5",
        )
    given = {key: value for key, value in asked.items() if value is not None}
    if name == ParticipantSeries.name:
        if given.keys() & {"chunk", "kept"}:
            raise OptionError("low-rank has no chunk and no kept: the design decides")
        raw = None if hide_seconds is None or bins is None else RawGaze(hide_seconds, bins)
        return ParticipantSeries(design=required_design(design, name), raw=raw, **given)
    kind = SERIES_MECHANISMS[name]
    if unknown := given.keys() - {field.name for field in fields(kind)}:
        raise OptionError(f"{name} has no option {', '.join(sorted(unknown))}")
    return kind(steps=steps, features=len(ranges), **given)


def required_design(design: Design | None, mechanism: str) -> Design:
    """Return the design; if there is none, raise an error that says how to make one."""
    if design is None:
        raise OptionError(
            f"{mechanism} needs a public design: --design FILE", hint="make one with `gazeveil features design`"
        )
    return design


class DeclaredNames(NamedTuple):
    """The declared names that a series is released under."""

    key: Key
    task: str
    group: str


def table_of(
    values: FloatArray, names: Sequence[DeclaredNames], info: Info, lengths: Sequence[int] | None = None
) -> FeatureTable:
    """Return released series as a table: on a grid of times that begins at 0, every row usable."""
    steps = values.shape[1]
    counts = [steps] * len(names) if lengths is None else lengths
    public_quality = [0.0, 1.0, 0.0, 0.0, 1.0]  # no sample, all covered, no errors, no repeats, usable
    frames = []
    for series, named, count in zip(values, names, counts, strict=True):
        quality = np.tile(public_quality, (count, 1))
        frames.append(as_table(*named, np.arange(count) * info.step, series[:count], quality, info).rows)
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


def longer_stretches(mechanism: Any) -> dict[str, list[Mapping[str, float]]]:
    """Return the ε of the same noise for longer stretches, as plain values; nothing for whole participants."""
    if mechanism.stretch is None:
        return {}
    found = {"stretches": [{"steps": count, "epsilon": float(price)} for count, price in mechanism.epsilon_by_steps()]}
    if isinstance(mechanism, ParticipantSeries) and mechanism.raw is not None:
        found["raw_gaze"] = [{"seconds": s, "epsilon": float(price)} for s, price in mechanism.epsilon_by_seconds()]
    return found  # type: ignore[return-value]


def about_raw_gaze(stretch: int, info: Info) -> str:
    """Say what a guarantee about steps of a series hides of raw gaze (erratum B10)."""
    if info.kind == ROWS:
        return f"{stretch:,} rows of the table; what a row says about raw gaze is not known for a table from elsewhere"
    if info.kind == BINS:
        return f"{stretch:,} bins; use hidden seconds for a guarantee about raw gaze"
    longest = stretch * info.step - info.window
    hidden = f"less than {longest:g} s" if longest > 0 else "nothing"
    touched = round(info.window / info.step) + 1
    return (
        f"one sample of raw gaze touches {touched:,} steps, so {stretch:,} steps hide {hidden} of raw gaze, and"
        " not even that for sure, since events found in windows reach farther"
    )
