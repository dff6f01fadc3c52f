# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The 52 features of Bulling 2011, in the order of Bozkir 2020's data: names, units, and declared ranges with reasons.

A variance is the mean squared distance from the mean (it divides by n). Rates are per second of the window's nominal
length. ``undefined`` says when a value is NaN in a window that is usable; in one that is not, all are NaN.

The ranges depend on public numbers only: the length of the window (counts of words grow with it), the unit of gaze, the
radius of a fixation, and the range of the pupil. In arbitrary units, someone who knows the tracker must declare that
range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gazeveil.errors import OptionError
from gazeveil.features.ranges import Range, Ranges
from gazeveil.geometry import Unit

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


def _word_features(length: int) -> tuple[Feature, ...]:
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
    *(feature for length in range(1, LONGEST_WORD + 1) for feature in _word_features(length)),
)

NAMES: Final[tuple[str, ...]] = tuple(feature.name for feature in FEATURES)

NEARLY_CONSTANT: Final[tuple[str, ...]] = tuple(f"words{n}_min" for n in range(1, LONGEST_WORD + 1))
"""The four that are 0 in practice, because some word never occurs; the paper leaves them out (B3: 48 are left)."""

INFORMATIVE: Final[tuple[str, ...]] = tuple(name for name in NAMES if name not in NEARLY_CONSTANT)
"""The other 48."""


# --- The declared ranges of the 52 features, each with its reason.


PUPIL_MM: Final = (1.5, 9.0)
"""Human pupils are 2 to 8 mm wide (Watson & Yellott 2012), with room for a tracker's error."""

_RATE = "fixations last 0.2-0.3 s in most tasks and rarely less than 0.15 s (Rayner 1998): at most about 6 a second"
_KIND = "one kind of saccade: in no common task are there more than 4 a second of it"
_SHARE = "a share"
_AMPLITUDE = "most natural saccades are below 15 deg (Bahill 1975), reading 2 deg, scenes 4-6 deg"
_DURATION = "0.1 s is the shortest by rule; means are 0.2-0.5 s, seconds when a participant stares"
_SPREAD = "gaze of a fixation stays within its radius: a variance of at most the radius squared"
_PUPIL_VAR = "pupil unrest is about 0.1-0.3 mm within seconds; scaled by the width of the pupil's range"
_BLINK = "a blink lasts at most 0.5 s by rule"


def declared_ranges(
    *,
    window: float = 30.0,
    unit: Unit | str = Unit.DEGREE,
    radius: float | None = None,
    pupil_range: tuple[float, float] | None = PUPIL_MM,
) -> Ranges:
    """Return the declared ranges of the 52 features.

    Args:
        window: Seconds; the longest fixation and the counts of words grow with it.
        unit: Whether gaze is in degrees or in fractions of the viewing plane.
        radius: Of a fixation, in that unit; by default 1 degree, or 0.01 of the viewing plane.
        pupil_range: Plausible pupil sizes in the tracker's unit. The default is in millimetres; for arbitrary units
            give what the tracker's maker says, or None to leave the four pupil features undeclared.
    """
    unit = Unit(unit)
    if unit is Unit.PIXEL:
        raise OptionError("features are in degrees or in fractions of the viewing plane, not in pixels")
    if not window > 0:
        raise OptionError(f"a window lasts more than 0 seconds, not {window!r}")
    degrees = unit is Unit.DEGREE
    radius = radius if radius is not None else 1.0 if degrees else 0.01
    # fractions of the plane: a plane of 40 degrees is usual, so a degree is about 1/40 of it
    scale = 1.0 if degrees else 1.0 / 40.0
    square = scale * scale
    found = {
        "fixations_per_s": Range(0, 6, _RATE),
        "saccades_per_s": Range(0, 6, _RATE),
        **{f"{kind}_saccades_per_s": Range(0, 4, _KIND) for kind in ("small", "large", "right", "left")},
        "saccades_per_fixation": Range(0, 1, "there is at most one saccade between two fixations"),
        **{f"{kind}_share": Range(0, 1, _SHARE) for kind in ("small", "large", "right", "left")},
        "amplitude_mean": Range(0.5 * scale, 20 * scale, _AMPLITUDE, log=True),
        "amplitude_var": Range(0.05 * square, 200 * square, _AMPLITUDE, log=True),
        "amplitude_max": Range(1 * scale, 50 * scale, "up to the diagonal of a large screen; " + _AMPLITUDE, log=True),
        "fixation_duration_mean": Range(0.1, 3, _DURATION, log=True),
        "fixation_duration_var": Range(0.001, 10, _DURATION, log=True),
        "fixation_duration_max": Range(0.1, max(window, 0.2), "at most about the window; " + _DURATION, log=True),
        **{f"spread_{axis}_mean": Range(1e-4 * radius**2, radius**2, _SPREAD, log=True) for axis in "xy"},
        **{
            f"spread_{axis}_var": Range(
                1e-9 * radius**4, radius**4 / 4, "at most a quarter of the squared range of variances", log=True
            )
            for axis in "xy"
        },
        **({} if pupil_range is None else _pupil(*pupil_range)),
        "blink_duration_mean": Range(0, 0.5, _BLINK),
        "blink_duration_var": Range(
            1e-5, 0.5**2 / 4, _BLINK + "; a variance of at most a quarter of that squared", True
        ),
        "blinks_per_s": Range(0, 1, "10-20 a minute at rest, fewer when reading, up to 60 when talking or tired"),
        **{name: item for length in range(1, LONGEST_WORD + 1) for name, item in _word_ranges(length, window).items()},
    }
    return Ranges.of({name: found[name] for name in NAMES if name in found})


def _pupil(low: float, high: float) -> dict[str, Range]:
    mean = Range(low, high, "human pupils are 2-8 mm wide (Watson & Yellott 2012), in the tracker's unit")
    square = ((high - low) / (PUPIL_MM[1] - PUPIL_MM[0])) ** 2
    return {
        "pupil_mean_of_means": mean,
        "pupil_var_of_means": Range(1e-4 * square, 2 * square, _PUPIL_VAR, log=True),
        "pupil_mean_of_vars": Range(1e-5 * square, 1 * square, _PUPIL_VAR, log=True),
        "pupil_var_of_vars": Range(1e-10 * square**2, square**2, _PUPIL_VAR, log=True),
    }


def _word_ranges(length: int, window: float) -> dict[str, Range]:
    """Counts of words: 4 saccades a second is a lot; along a line of text seven of ten go on as the one before."""
    bins = float(SYMBOLS**length)
    most = max(4.0 * window, 1.0)
    repeats = max(2.0 * window * 0.7 ** (length - 1), 1.0)
    why = "at most 4 words begin in a second"
    repeat = f"one word makes up at most {50 * 0.7 ** (length - 1):.0f} % of them"
    return {
        f"words{length}_distinct": Range(0, min(bins, most), why),
        f"words{length}_max": Range(0, repeats, repeat),
        f"words{length}_min": Range(0, max(most / bins, 1.0), "every word must occur for this to be above 0"),
        f"words{length}_range": Range(0, repeats, repeat),
        f"words{length}_mean": Range(0, most / bins, why),
        f"words{length}_var": Range(0.5 / bins, most * repeats / bins, f"{why}; {repeat}", log=True),
    }
