# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Good, fair or poor: what the measures of data quality are worth, and what is odd about a recording in a line each.

The limits are conventions, not a standard; docs/reference/corpus.md says where each comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gazeveil.gaze.quality import GAP_S, Quality

Grade = Literal["good", "fair", "poor"]
RATE: Final = 0.05
"""How far the measured rate may be from the stated one."""

GRADES: Final[tuple[Grade, ...]] = ("good", "fair", "poor")


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %" if 0.0005 <= value < 0.0995 else f"{100 * value:.0f} %"


def _seconds(value: float) -> str:
    return f"{1000 * value:.0f} ms" if value < 1 else f"{value:.1f} s"


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of quality and its limits.

    Attributes:
        name: Its field in `Quality`.
        title: What it is called in tables.
        good: It is good up to this value.
        fair: It is fair up to this one, and poor above.
        words: How a value is written.
    """

    name: str
    title: str
    good: float
    fair: float
    words: Callable[[float], str] = _percent

    def value(self, quality: Quality) -> float | None:
        """Return the measure of a recording; None where it cannot be stated."""
        found: float | None = getattr(quality, self.name)
        return found

    def grade(self, quality: Quality) -> Grade | None:
        """Return the grade; None where there is none to give."""
        value = self.value(quality)
        if value is None or (self.name in {"rms", "std"} and quality.unit != "deg"):
            return None
        return "good" if value <= self.good else "fair" if value <= self.fair else "poor"

    def told(self, quality: Quality) -> str:
        """Return the value in words."""
        value = self.value(quality)
        if value is None:
            return "–"
        return f"{value:.3g} {quality.unit}" if self.name in {"rms", "std"} else self.words(value)


MEASURES: Final = (
    Measure("loss", "loss", 0.10, 0.25),
    Measure("rms", "RMS-S2S", 0.1, 0.3),
    Measure("std", "STD", 0.3, 1.0),
    Measure("jitter", "jitter", 0.05, 0.20),
    Measure("dropped", "dropped", 0.01, 0.05),
    Measure("longest_gap", "longest gap", 0.5, 2.0, _seconds),
    Measure("outside", "outside", 0.01, 0.05),
    Measure("sentinel", "sentinels", 0.0, 0.01),
    Measure("flat", "flat lines", 0.01, 0.05),
)
"""The measures that are graded, in the order of tables."""


def grades(quality: Quality) -> dict[str, Grade | None]:
    """Return the grade of every measure of a recording."""
    return {measure.name: measure.grade(quality) for measure in MEASURES}


def overall(quality: Quality) -> Grade:
    """Return the worst grade of a recording; one without gaze is poor."""
    if not quality.samples or quality.loss == 1.0:
        return "poor"
    return max((grade for grade in grades(quality).values() if grade), key=GRADES.index, default="poor")


def badness(quality: Quality) -> float:
    """Return how bad a recording is, for sorting: poor measures first, then fair ones, then loss."""
    found = list(grades(quality).values())
    nothing = not quality.samples or quality.loss == 1.0
    return 100.0 * nothing + 10.0 * found.count("poor") + found.count("fair") + (quality.loss or 0.0)


def oddities(quality: Quality) -> list[str]:
    """Say what is odd about a recording, one sentence each."""
    if not quality.samples:
        return ["there are no samples"]
    if quality.loss == 1.0:
        return ["no sample has gaze"]
    return [*_odd_places(quality), *_odd_times(quality)]


def _odd_places(quality: Quality) -> Iterator[str]:
    given = grades(quality)
    if given["loss"] == "poor":
        yield f"{_percent(quality.loss or 0)} of samples have no gaze"
    for sentinel, count in quality.sentinels.items():
        share = _percent(count / max(quality.samples * (1 - (quality.loss or 0)), 1))
        where = f"exactly ({sentinel.replace(',', ', ')})" if "," in sentinel else f"the number {sentinel}"
        yield f"{count:,} samples ({share} of gaze) are at {where}, as if lost: is it? then say --sentinel {sentinel}"
    if given["outside"] == "poor":
        yield f"{_percent(quality.outside or 0)} of gaze is outside the screen: is the screen's size right?"
    if given["flat"] == "poor":
        share, longest = _percent(quality.flat or 0), _seconds(quality.longest_flat)
        yield f"{share} of gaze stands perfectly still, up to {longest}: filled in, or a tracker that stalled?"
    if "poor" in {given["rms"], given["std"]}:
        yield f"gaze at rest is noisy: RMS-S2S {quality.rms:.2g} deg, STD {quality.std:.2g} deg"


def _odd_times(quality: Quality) -> Iterator[str]:
    given = grades(quality)
    if given["jitter"] == "poor":
        yield f"the steps of time vary by {quality.jitter_ms:.2g} ms ({_percent(quality.jitter or 0)} of a step)"
    if given["dropped"] == "poor":
        yield f"{_percent(quality.dropped or 0)} of samples were dropped"
    if given["longest_gap"] == "poor":
        longest = _seconds(quality.longest_gap)
        yield f"gaze is missing for up to {longest}; gaps over {_seconds(GAP_S)}: {quality.gaps:,}"
    if quality.pauses:
        yield f"nothing was recorded for more than a second, {_times(quality.pauses)}"
    if quality.backwards:
        yield f"time goes back, {_times(quality.backwards)}"
    if quality.repeated:
        yield f"time stands still, {_times(quality.repeated)}"
    if quality.stated_hz and quality.rate_hz and abs(quality.rate_hz / quality.stated_hz - 1) > RATE:
        yield f"{quality.stated_hz:g} Hz are stated, the times say {quality.rate_hz:.4g} Hz"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def tally(found: Sequence[Quality]) -> dict[Grade, int]:
    """Return how many recordings have which grade."""
    given = [overall(quality) for quality in found]
    return {grade: given.count(grade) for grade in GRADES}
