# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The 52 features, in the order of Bozkir 2020's data (Bulling 2011), under names that say what they are.

A variance is the mean squared distance from the mean (it divides by n). Rates are per second of the window's nominal
length. ``undefined`` says when a value is NaN in a window that is usable; in one that is not, all are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONGEST_WORD: Final = 4
SYMBOLS: Final = 24
"""Letters a saccade can be: 16 directions of large ones, 8 of small ones."""

_NO_FIXATION, _NO_SACCADE, _NO_BLINK = "no fixation", "no saccade", "no blink"
_NO_PUPIL = "no pupil in any fixation"


@dataclass(frozen=True, slots=True)
class Feature:
    """One of the 52.

    Attributes:
        name: Its column.
        unit: ``gaze`` stands for the unit of gaze (degrees, or fractions of the viewing plane), ``pupil`` for the
            pupil's.
        meaning: What it is, in words.
        undefined: When it is NaN; empty if never.
    """

    name: str
    unit: str
    meaning: str
    undefined: str = ""


def _words(length: int) -> tuple[Feature, ...]:
    what = "saccade directions" if length == 1 else f"words of {length} consecutive saccades"
    bins = f"over all {SYMBOLS**length:,} possible ones, zeros included"
    name = f"words{length}"
    return (
        Feature(f"{name}_distinct", "count", f"how many different {what} occur"),
        Feature(f"{name}_max", "count", f"how often the most frequent of the {what} occurs"),
        Feature(f"{name}_min", "count", f"how often the least frequent occurs, {bins}: 0 unless every one does"),
        Feature(f"{name}_range", "count", "the most frequent minus the least frequent"),
        Feature(f"{name}_mean", "count", f"mean count of {what}, {bins}"),
        Feature(f"{name}_var", "count²", f"variance of the counts of {what}, {bins}"),
    )


FEATURES: Final[tuple[Feature, ...]] = (
    Feature("fixations_per_s", "1/s", "fixations that begin in the window, per second"),
    Feature("saccades_per_s", "1/s", "saccades that begin in the window, per second"),
    Feature("small_saccades_per_s", "1/s", "saccades shorter than two radii, per second"),
    Feature("large_saccades_per_s", "1/s", "saccades of two radii or more, per second"),
    Feature("right_saccades_per_s", "1/s", "saccades that go right, per second"),
    Feature("left_saccades_per_s", "1/s", "saccades that do not go right, per second"),
    Feature("saccades_per_fixation", "ratio", "saccades over fixations", _NO_FIXATION),
    Feature("small_share", "ratio", "small saccades over all", _NO_SACCADE),
    Feature("large_share", "ratio", "large saccades over all", _NO_SACCADE),
    Feature("right_share", "ratio", "saccades that go right over all", _NO_SACCADE),
    Feature("left_share", "ratio", "saccades that do not go right over all", _NO_SACCADE),
    Feature("amplitude_mean", "gaze", "mean saccade amplitude", _NO_SACCADE),
    Feature("amplitude_var", "gaze²", "variance of the saccade amplitude", _NO_SACCADE),
    Feature("amplitude_max", "gaze", "largest saccade amplitude", _NO_SACCADE),
    Feature("fixation_duration_mean", "s", "mean fixation duration", _NO_FIXATION),
    Feature("fixation_duration_var", "s²", "variance of the fixation duration", _NO_FIXATION),
    Feature("fixation_duration_max", "s", "longest fixation", _NO_FIXATION),
    Feature("spread_x_mean", "gaze²", "mean over fixations of the variance of x within one", _NO_FIXATION),
    Feature("spread_y_mean", "gaze²", "mean over fixations of the variance of y within one", _NO_FIXATION),
    Feature("spread_x_var", "gaze⁴", "variance over fixations of the variance of x within one", _NO_FIXATION),
    Feature("spread_y_var", "gaze⁴", "variance over fixations of the variance of y within one", _NO_FIXATION),
    Feature("pupil_mean_of_means", "pupil", "mean over fixations of the mean pupil in one", _NO_PUPIL),
    Feature("pupil_var_of_means", "pupil²", "variance over fixations of the mean pupil in one", _NO_PUPIL),
    Feature("pupil_mean_of_vars", "pupil²", "mean over fixations of the pupil's variance within one", _NO_PUPIL),
    Feature("pupil_var_of_vars", "pupil⁴", "variance over fixations of the pupil's variance within one", _NO_PUPIL),
    Feature("blink_duration_mean", "s", "mean blink duration", _NO_BLINK),
    Feature("blink_duration_var", "s²", "variance of the blink duration", _NO_BLINK),
    Feature("blinks_per_s", "1/s", "blinks that begin in the window, per second"),
    *(feature for length in range(1, LONGEST_WORD + 1) for feature in _words(length)),
)

NAMES: Final[tuple[str, ...]] = tuple(feature.name for feature in FEATURES)

NEARLY_CONSTANT: Final[tuple[str, ...]] = tuple(f"words{n}_min" for n in range(1, LONGEST_WORD + 1))
"""The four that are 0 in practice, because some word never occurs; the paper leaves them out (B3: 48 are left)."""

INFORMATIVE: Final[tuple[str, ...]] = tuple(name for name in NAMES if name not in NEARLY_CONSTANT)
"""The other 48."""
