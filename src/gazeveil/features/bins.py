# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Bins: short, non-overlapping statistics with finite reach, the only thing a guarantee about raw gaze can rest on.

In overlapping windows one raw sample touches 60 rows, and a detector that looks back without limit lets it touch all
later ones (errata B10). Here a change of some seconds of raw gaze changes at most `BinRules.touched` bins: velocities
are taken over a bounded time, a sample is fast or slow by itself, fixations count once they have lasted long enough,
and blinks have a longest duration. Every event is booked to one bin, and what it is booked for lies in the past.
Windows follow from released bins afterwards, as post-processing (`windows_from_bins`).

When samples were taken is public; what they show is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from gazeveil.arrays import FloatArray, Tell
from gazeveil.errors import InputError, OptionError
from gazeveil.features.extraction import Extracted, as_table, of_corpus, plane_of, samples_of, window_starts
from gazeveil.features.feature_list import PUPIL_MM
from gazeveil.features.ranges import Range, Ranges
from gazeveil.features.table import BINS, FeatureTable, Info
from gazeveil.gaze.corpus import Corpus, MapsRecordings
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit

CHANNELS: Final = (
    "x", "y", "pupil", "log_path", "seen", "saccades", "right_saccades", "saccade_path", "fixations", "fixation_s",
    "blinks",
)  # fmt: skip
"""Mean gaze and pupil; log(1 + length of gaze's way); share of samples with gaze; counts, ways and times of events."""


@dataclass(frozen=True, slots=True)
class BinRules:
    """How bins are made. Every number is public and bounds how far raw gaze reaches.

    Attributes:
        unit: ``deg`` or ``norm``.
        threshold: Gaze is fast from this velocity on, in units per second.
        width: Seconds a bin lasts.
        velocity_span: A velocity is taken over at least this time …
        max_step: … and at most this; across a longer gap there is none.
        min_fixation: A fixation counts once gaze was slow for so long.
        min_blink: Shortest loss of gaze that is a blink.
        max_blink: Longest.
    """

    unit: Unit = Unit.DEGREE
    threshold: float = 30.0
    width: float = 0.5
    velocity_span: float = 0.02
    max_step: float = 0.05
    min_fixation: float = 0.1
    min_blink: float = 0.05
    max_blink: float = 0.25

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", Unit(self.unit))
        if self.unit is Unit.PIXEL:
            raise OptionError("bins are in degrees or in fractions of the viewing plane, not in pixels")
        for name, value in asdict(self).items():
            if name != "unit" and not (np.isfinite(value) and value > 0):
                raise OptionError(f"{name} must be a number above 0, not {value!r}")
        if self.velocity_span > self.max_step or self.min_blink > self.max_blink:
            raise OptionError("velocity_span may not exceed max_step, nor min_blink max_blink")

    @property
    def reach(self) -> float:
        """Seconds after a change of raw gaze at which bins can still change because of it; before it, none can.

        A fixation that is counted at one sample goes back to the sample before (a step), from there as long as the
        shortest fixation to the sample that opens it or spoils it (up to another step), and that one's velocity goes
        back a third step. A blink goes back its longest duration.
        """
        return max(self.min_fixation + 3.0 * self.max_step, self.max_blink) + 1e-5

    def touched(self, seconds: float) -> int:
        """Return how many bins a change of this many seconds of raw gaze can change, at most."""
        if not (math.isfinite(seconds) and seconds >= 0):
            raise OptionError(f"a stretch of gaze lasts from 0 seconds up, not {seconds!r}")
        return math.floor((seconds + self.reach) / self.width) + 2

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values."""
        return {**asdict(self), "unit": str(self.unit)}


def extract_bins(
    recording: Recording,
    *,
    rules: BinRules | None = None,
    task: str | None = None,
    group: str = "",
    most: int | None = None,
) -> FeatureTable:
    """Compute the bins of one recording.

    Gaze and pupil are NaN where there are none in a bin; counts, ways and times are then 0. A bin is usable if gaze was
    seen in it at all. An incomplete last bin is left out, and so are bins beyond ``most``.

    Raises:
        InputError: If the recording is shorter than a bin, or its time goes backwards.
    """
    from gazeveil.features.extraction_kernels import fill  # noqa: PLC0415  (compiles)

    rules = rules_for(recording) if rules is None else rules
    t, x, y, pupil = samples_of(recording, rules.unit)
    starts = window_starts(t, recording.rate, rules.width, rules.width, most)
    values, made_of = np.empty((len(starts), len(CHANNELS))), np.empty((len(starts), 3))
    limits = (
        rules.width, rules.threshold, rules.velocity_span, rules.max_step, rules.min_fixation, rules.min_blink,
        rules.max_blink,
    )  # fmt: skip
    fill(t, x, y, pupil, plane_of(recording, rules.unit), np.array(limits), values, made_of)
    samples, seen, _ = made_of.T
    quality: FloatArray = np.column_stack(
        (
            samples,
            samples / (recording.rate * rules.width),
            1.0 - values[:, CHANNELS.index("seen")],
            0.0 * samples,
            seen > 0,
        )
    )
    info = Info(
        BINS, CHANNELS, rules.width, rules.width, str(rules.unit), recording.pupil_unit, rules.reach, rules.to_dict()
    )
    return as_table(recording.key, recording.stimulus if task is None else task, group, starts, values, quality, info)


def extract_bin_corpus(
    corpus: Corpus,
    *,
    width: float = 0.5,
    rules: BinRules | None = None,
    tasks: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
    tell: Tell | None = None,
    engine: MapsRecordings | None = None,
) -> Extracted:
    """Compute the bins of every recording of a corpus, by ``rules`` if given, else by the usual ones of this width.

    Labels, progress, engine and what is left out are as in `extract_corpus`.
    """
    if rules is None:
        rules = usual_rules(degrees=all(part.label.geometry.knows_degrees for part in corpus.parts), width=width)
    one = partial(extract_bins, rules=rules)
    return of_corpus(corpus, one, tasks=tasks, groups=groups, tell=tell, engine=engine)


def rules_for(recording: Recording) -> BinRules:
    """Return rules in degrees where the geometry knows them, else in fractions of the viewing plane."""
    return usual_rules(degrees=recording.geometry.knows_degrees)


def usual_rules(*, degrees: bool, width: float = 0.5) -> BinRules:
    """Return the usual rules, in degrees or in fractions of a viewing plane, which has about 40 degrees."""
    return BinRules(width=width) if degrees else BinRules(Unit.FRACTION, threshold=30.0 / 40.0, width=width)


def bin_ranges(
    rules: BinRules, pupil_range: tuple[float, float] | None = PUPIL_MM, geometry: Geometry | None = None
) -> Ranges:
    """Return the declared ranges of the channels.

    Args:
        rules: How the bins are made.
        pupil_range: Plausible pupil sizes in the tracker's unit; None leaves that channel out.
        geometry: The viewing plane, if it is known; by default a screen of 40 x 40 degrees.
    """
    degrees, width = rules.unit is Unit.DEGREE, rules.width
    scale = 1.0 if degrees else 1.0 / 40.0
    left, top, right, bottom = (-20.0, -20.0, 20.0, 20.0) if degrees else (0.0, 0.0, 1.0, 1.0)
    if geometry is not None:
        left, top, right, bottom = geometry.in_unit(rules.unit).extent()
    across, down = 0.1 * (right - left), 0.1 * (bottom - top)
    plane = "the viewing plane, and a tenth of it beyond each edge for a tracker's error"
    way = "gaze travels less than 80 degrees a second over half a second, even in search"
    events = "at most 6 fixations and saccades a second (Rayner 1998), and one more by chance of the bin's edges"
    most = math.floor(6 * width) + 1
    found = {
        "x": Range(left - across, right + across, plane),
        "y": Range(top - down, bottom + down, plane),
        "pupil": None if pupil_range is None else Range(*pupil_range, "human pupils (Watson & Yellott 2012)"),
        "log_path": Range(0, math.log1p(80 * scale * width), way),
        "seen": Range(0, 1, "a share"),
        "saccades": Range(0, most, events),
        "right_saccades": Range(0, most, events),
        "saccade_path": Range(0, 80 * scale * width, way),
        "fixations": Range(0, most, events),
        "fixation_s": Range(0, width + rules.min_fixation, "the bin, and what a fixation lasted before it counted"),
        "blinks": Range(0, math.floor(2 * width) + 1, "at most two blinks a second, and one by chance of the edges"),
    }
    return Ranges.of({name: item for name, item in found.items() if item is not None})


WINDOW_NAMES: Final = (
    "x_mean", "y_mean", "pupil_mean", "log_path_mean", "seen_share", "saccades_per_s", "right_share", "amplitude_mean",
    "fixations_per_s", "fixation_duration_mean", "blinks_per_s",
)  # fmt: skip


def windows_from_bins(bins: FeatureTable, window: float = 30.0) -> FeatureTable:
    """Derive sliding windows from bins, true or released: means, rates, and ratios as quotients of sums.

    Post-processing: it costs nothing. Where a denominator is not above 0 the ratio is NaN. Bins without a value are
    left out of means.

    Raises:
        InputError: If the table holds no bins, or a recording has fewer bins than a window.
    """
    width = bins.info.window
    per_window = round(window / width)
    if bins.info.kind != BINS or bins.names != CHANNELS:
        raise InputError("windows are derived from a table of bins with all channels")
    if per_window < 1 or abs(per_window * width - window) > 1e-9:
        raise OptionError(f"a window of {window:g} s is not a whole number of bins of {width:g} s")
    info = Info(
        "windows", WINDOW_NAMES, window, width, bins.info.unit, bins.info.pupil_unit, settings=bins.info.settings
    )
    tables = []
    for series in bins.series():
        if len(series.values) < per_window:
            raise InputError(f"{series.key} has {len(series.values)} bins, fewer than a window of {per_window}")
        shares = np.lib.stride_tricks.sliding_window_view(series.values, per_window, axis=0)
        usable = np.lib.stride_tricks.sliding_window_view(series.usable, per_window, axis=0).mean(axis=1)
        nothing = np.zeros(len(shares))
        quality = np.column_stack((nothing, nothing + 1.0, 1.0 - usable, nothing, 1.0 * (usable > 0)))
        values = _of_windows(shares, window)
        tables.append(
            as_table(series.key, series.task, series.group, series.start[: len(shares)], values, quality, info)
        )
    return FeatureTable.concat(tables)


def _of_windows(shares: FloatArray, window: float) -> FloatArray:
    """Turn windows x channels x bins into windows x features."""
    known = np.isfinite(shares)
    counts = known.sum(axis=2)
    sums = np.where(known, shares, 0.0).sum(axis=2)
    channel = {name: sums[:, i] for i, name in enumerate(CHANNELS)}
    means = [_quotient(sums[:, i], counts[:, i]) for i in range(5)]
    return np.column_stack(
        (
            *means,
            channel["saccades"] / window,
            _quotient(channel["right_saccades"], channel["saccades"]),
            _quotient(channel["saccade_path"], channel["saccades"]),
            channel["fixations"] / window,
            _quotient(channel["fixation_s"], channel["fixations"]),
            channel["blinks"] / window,
        )
    )


def _quotient(over: FloatArray, under: FloatArray) -> FloatArray:
    quotient = np.full(len(over), np.nan)
    np.divide(over, under, out=quotient, where=under > 0)
    return quotient
