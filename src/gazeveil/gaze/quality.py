# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What gaze files hold and how good the data are: counts, measures of quality, and their grades.

Everything is counted chunk by chunk in bounded memory. The numbers are as private as the data.

Precision is measured where gaze rests: tracked gaze is cut into windows of `WINDOW_S`, the half of them in which gaze
moves least from its first to its second half counts, and the median over these is the recording's.

The limits are conventions, not a standard; docs/reference/corpus.md says where each comes from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.gaze import schema
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key, measured_rate
from gazeveil.gaze.validity import (
    LEAST_SHARE,
    LEAST_TIMES,
    Point,
    Sentinel,
    corner,
    count_points,
    known_sentinels,
    outside,
    visible,
)
from gazeveil.geometry import Geometry, Unit


@dataclass(slots=True)
class Overview:
    """Counts over recordings; all numbers are of the raw data, so an overview is as private as the data."""

    spans: dict[Key, tuple[float, float]] = field(default_factory=dict)
    samples: int = 0
    tracked_samples: int = 0
    channels: dict[str, None] = field(default_factory=dict)
    geometries: dict[str, None] = field(default_factory=dict)
    rates: dict[Key, float] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    fixations: int = 0
    lasted: list[float] = field(default_factory=list)

    @staticmethod
    def of(chunks: Iterable[Chunk]) -> Overview:
        """Count what the chunks hold."""
        overview = Overview()
        for chunk in chunks:
            overview.add(chunk)
        return overview

    def add(self, chunk: Chunk) -> None:
        """Count one chunk more."""
        self.samples += len(chunk.samples)
        self.tracked_samples += int(chunk.samples["valid"].sum() or 0)
        self.channels |= dict.fromkeys(name for name in chunk.samples.columns if name not in {"t", "valid"})
        self.geometries[str(chunk.geometry)] = None
        if len(chunk.events):
            counts = chunk.events["kind"].value_counts(sort=True)
            self.events.update(dict(counts.iter_rows()))
        times = chunk.samples["t"].cast(pl.Float64).to_numpy()
        ends = times
        if schema.DURATION in chunk.samples.columns:
            durations = chunk.samples[schema.DURATION].cast(pl.Float64).to_numpy()
            self.fixations += len(durations)
            self.lasted += durations[np.isfinite(durations)].tolist()
            ends = times + np.nan_to_num(durations, nan=0.0, posinf=0.0, neginf=0.0)
        times, ends = times[np.isfinite(times)], ends[np.isfinite(ends)]
        if not times.size:
            self.spans.setdefault(chunk.key, (np.nan, np.nan))
            return
        first, last = self.spans.get(chunk.key, (np.inf, -np.inf))
        self.spans[chunk.key] = (float(np.fmin(first, times.min())), float(np.fmax(last, ends.max())))
        if chunk.key not in self.rates and schema.DURATION not in chunk.samples.columns:
            rate = chunk.rate_hz or measured_rate(times)
            if np.isfinite(rate):
                self.rates[chunk.key] = rate

    @property
    def seconds(self) -> float:
        """Gaze time over all recordings."""
        return float(sum(last - first for first, last in self.spans.values() if last >= first))

    def to_dict(self) -> dict[str, object]:
        """Return the counts as plain values."""
        return {
            "recordings": len(self.spans),
            "observers": sorted({key.observer for key in self.spans}),
            "stimuli": sorted({key.stimulus for key in self.spans}),
            "sessions": sorted({key.session for key in self.spans}),
            "samples": self.samples,
            "seconds": self.seconds,
            "rates_hz": sorted({float(f"{rate:.4g}") for rate in self.rates.values()}),
            "tracked": self.tracked_samples / self.samples if self.samples else None,
            "channels": list(self.channels),
            "geometries": list(self.geometries),
            "events": dict(self.events),
            "fixations": self.fixations,
            "fixation_ms": self._fixation_ms(),
        }

    def _fixation_ms(self) -> dict[str, float] | None:
        """Return how long the fixations of lists lasted; None if no list says it."""
        if not self.lasted:
            return None
        low, middle, high = np.quantile(self.lasted, (0.05, 0.5, 0.95)) * 1000
        return {"median": float(middle), "low": float(low), "high": float(high), "total_s": float(sum(self.lasted))}


# --- The quality of each recording.


WINDOW_S: Final = 0.1
WINDOW_SAMPLES: Final = 5
"""A window of rest is this long, and has at least this many samples."""

DROPPED: Final = 1.5
"""A step of more than this many usual steps means that samples are missing."""

PAUSE_S: Final = 1.0
"""A longer step is a pause of the recording: nothing was dropped in it."""

GAP_S: Final = 0.075
"""Gaze that is missing for longer is a gap."""

FLAT_S: Final = 0.2
"""Gaze at exactly one position for longer is a flat line: eyes are never that still."""

_MOST_WINDOWS: Final = 50_000
_MOST_POINTS: Final = 256
_TRACE_S: Final = 20.0
_TRACE_POINTS: Final = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What the data of one recording are like; None where it cannot be stated.

    Attributes:
        key: Which recording.
        samples: How many samples it has.
        seconds: From its first to its last sample.
        loss: Share of samples without gaze.
        rms: Precision from sample to sample (RMS-S2S), in ``unit``.
        std: Precision as the spread of gaze at rest (STD), in ``unit``.
        unit: deg where the size and distance of the screen are known, else the unit of the recording.
        windows: In how many windows precision was measured.
        rate_hz: Samples a second, by the times.
        stated_hz: Samples a second, as the file states.
        jitter: Standard deviation of the steps of time, as a share of the usual step.
        jitter_ms: The same in milliseconds.
        dropped: Share of samples that the clock misses.
        pauses: How often nothing was recorded for more than `PAUSE_S`.
        backwards: How often time goes back.
        repeated: How often time stands still.
        gaps: How often gaze is missing for more than `GAP_S`.
        longest_gap: The longest time without gaze, in seconds.
        outside: Share of gaze outside the screen.
        sentinel: Share of gaze at sentinels.
        sentinels: The sentinels and how many samples are at each.
        flat: Share of gaze in flat lines.
        longest_flat: The longest flat line, in seconds.
    """

    key: Key
    samples: int
    seconds: float
    loss: float | None
    rms: float | None
    std: float | None
    unit: str
    windows: int
    rate_hz: float | None
    stated_hz: float | None
    jitter: float | None
    jitter_ms: float | None
    dropped: float | None
    pauses: int
    backwards: int
    repeated: int
    gaps: int
    longest_gap: float
    outside: float | None
    sentinel: float | None
    sentinels: dict[str, int]
    flat: float | None
    longest_flat: float

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain values."""
        values = {name: getattr(self, name) for name in self.__slots__ if name != "key"}
        return {**self.key._asdict(), **values}


@dataclass(frozen=True, slots=True)
class Trace:
    """The beginning of a recording, thinned out for a picture; NaN where gaze is lost."""

    t: FloatArray
    x: FloatArray
    y: FloatArray
    unit: str


def qualities(chunks: Iterable[Chunk]) -> list[Quality]:
    """Return the quality of every recording in a stream of chunks."""
    inspector = QualityMeter()
    for chunk in chunks:
        inspector.add(chunk)
    return inspector.found()


class QualityMeter:
    """Takes chunks one after another; what it keeps of a recording does not grow with the recording.

    Args:
        severity: How bad a recording is, to choose the recordings whose traces are kept; None to keep none.
        traces: How many traces are kept: those of the worst recordings.
    """

    def __init__(self, severity: Callable[[Quality], float] | None = None, traces: int = 4) -> None:
        self._of: dict[Key, _Measured] = {}
        self._current: Key | None = None
        self._severity = severity
        self._most = traces
        self._traces: dict[Key, tuple[float, Trace]] = {}
        self._begun: Trace | None = None

    def add(self, chunk: Chunk) -> None:
        """Look at one chunk more."""
        if chunk.key != self._current:
            self._settle()
            self._current = chunk.key
            if self._severity is not None and chunk.key not in self._of:
                self._begun = _trace(chunk)
        if chunk.key not in self._of:
            self._of[chunk.key] = _Measured(chunk.geometry, chunk.rate_hz)
        self._of[chunk.key].add(chunk.samples)

    def found(self) -> list[Quality]:
        """Return the quality of every recording, in order of appearance."""
        self._settle()
        return [measured.quality(key) for key, measured in self._of.items()]

    def traces(self) -> dict[Key, Trace]:
        """Return the traces of the worst recordings, the worst first."""
        self._settle()
        ranked = sorted(self._traces.items(), key=lambda item: -item[1][0])
        return {key: trace for key, (_, trace) in ranked}

    def _settle(self) -> None:
        """End with the current recording: keep little of it, and its trace only if it is among the worst."""
        if self._current is None:
            return
        key, begun, self._current, self._begun = self._current, self._begun, None, None
        self._of[key].settle_precision()
        if begun is not None and self._severity is not None and np.isfinite(begun.x).any():
            self._traces[key] = (self._severity(self._of[key].quality(key)), begun)
            if len(self._traces) > self._most:
                del self._traces[min(self._traces, key=lambda each: self._traces[each][0])]


@dataclass(slots=True)
class _Flat:
    """A run of one position that may go on in the next chunk."""

    x: float = np.nan
    y: float = np.nan
    start: float = np.nan
    end: float = np.nan
    samples: int = 0


@dataclass(slots=True)
class _Measured:
    """Counts of one recording so far."""

    geometry: Geometry
    stated_hz: float | None
    extent: tuple[float, float, float, float] | None = field(init=False)
    samples: int = 0
    tracked: int = 0
    outside: int = 0
    known: Counter[Sentinel] = field(default_factory=Counter)
    points: Counter[Point] = field(default_factory=Counter)
    first: float = np.nan
    last: float = np.nan
    usual: float = np.nan
    steps: int = 0
    steps_sum: float = 0.0
    steps_square: float = 0.0
    dropped: int = 0
    recorded: int = 0
    recorded_s: float = 0.0
    pauses: int = 0
    backwards: int = 0
    repeated: int = 0
    gaps: int = 0
    longest_gap: float = 0.0
    seen_until: float = np.nan
    flat: int = 0
    longest_flat: float = 0.0
    run: _Flat = field(default_factory=_Flat)
    windows: list[FloatArray] = field(default_factory=list)
    precision: list[tuple[int, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.extent = visible(self.geometry)

    def add(self, samples: pl.DataFrame) -> None:
        t, x, y = (samples[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("t", "x", "y"))
        tracked = samples["valid"].fill_null(False).to_numpy() & np.isfinite(x) & np.isfinite(y)
        self.samples += len(t)
        self.tracked += int(tracked.sum())
        timed = np.isfinite(t)
        self._clock(t[timed])
        kept = tracked & timed
        t, x, y = (values if kept.all() else values[kept] for values in (t, x, y))
        if not t.size:
            return
        self._gaps(t)
        known = self._places(x, y)
        if known.any():  # a number for lost gaze is neither rest nor a flat line
            t, x, y = t[~known], x[~known], y[~known]
        if t.size:
            self._runs(t, x, y)
            self._precision(t, x, y)

    def _clock(self, t: FloatArray) -> None:
        if not t.size:
            return
        if np.isnan(self.first):
            self.first = self.seen_until = float(t[0])
        steps = np.diff(t) if np.isnan(self.last) else np.diff(t, prepend=self.last)
        if np.isnan(self.usual):
            self.usual = _usual_step(steps)
        self.last = float(t[-1])
        self.backwards += int((steps < 0).sum())
        self.repeated += int((steps == 0).sum())
        long = steps > DROPPED * self.usual
        within = steps[(steps > 0) & ~long] - self.usual
        self.steps += within.size
        self.steps_sum += float(within.sum())
        self.steps_square += float(within @ within)
        paused = steps > PAUSE_S
        self.pauses += int(paused.sum())
        if long.any():
            self.dropped += int((np.round(steps[long & ~paused] / self.usual) - 1).sum())
        self.recorded += int((~paused).sum())
        self.recorded_s += float(steps[~paused].sum())

    def _gaps(self, t: FloatArray) -> None:
        missing = np.diff(t, prepend=self.seen_until)
        self.gaps += int((missing > GAP_S).sum())
        self.longest_gap = max(self.longest_gap, float(missing.max()))
        self.seen_until = float(t[-1])

    def _runs(self, t: FloatArray, x: FloatArray, y: FloatArray) -> None:
        """Find flat lines; the last run of the chunk may go on, and is kept back."""
        moved = (x[1:] != x[:-1]) | (y[1:] != y[:-1]) | (np.diff(t) > GAP_S)
        begins = np.flatnonzero(np.append(True, moved))
        ends = np.append(begins[1:], len(x)) - 1
        start, end, count = t[begins], t[ends], ends - begins + 1
        held = self.run
        if held.x == x[0] and held.y == y[0] and t[0] - held.end <= GAP_S:
            start[0], count[0] = held.start, count[0] + held.samples
        else:
            self._end_run()
        lasting = end - start
        flat = lasting[:-1] > FLAT_S
        self.flat += int(count[:-1][flat].sum())
        self.longest_flat = max(self.longest_flat, float(lasting[:-1][flat].max(initial=0.0)))
        self.run = _Flat(float(x[-1]), float(y[-1]), float(start[-1]), float(end[-1]), int(count[-1]))

    def _end_run(self) -> None:
        held, self.run = self.run, _Flat()
        if held.end - held.start > FLAT_S:
            self.flat += held.samples
            self.longest_flat = max(self.longest_flat, held.end - held.start)

    def _places(self, x: FloatArray, y: FloatArray) -> BoolArray:
        """Count gaze at sentinels and outside the screen; return where it is at a known sentinel."""
        known = np.zeros(len(x), dtype=np.bool_)
        for sentinel in known_sentinels(self.geometry):
            here = sentinel.mask(x, y) & ~known
            if here.any():
                self.known[sentinel] += int(here.sum())
                known |= here
        if self.extent is not None:
            away = outside(x, y, self.extent) & ~known
            self.outside += int(away.sum())
            odd = away | (corner(x, y, self.extent, self.geometry) & ~known)
            if odd.any():
                self.points.update(count_points(x[odd], y[odd]))
                self.points = Counter(dict(self.points.most_common(_MOST_POINTS)))
        return known

    def _precision(self, t: FloatArray, x: FloatArray, y: FloatArray) -> None:
        if self.geometry.knows_degrees:
            x, y = self.geometry.convert(x, y, Unit.DEGREE)
        self.windows.append(_windows(t, x, y, self.usual))
        if sum(map(len, self.windows)) > _MOST_WINDOWS:
            self.settle_precision()

    def settle_precision(self) -> None:
        """Settle the precision of what was seen so far, so that nothing large is kept."""
        found = np.concatenate(self.windows) if self.windows else np.empty((0, 3))
        self.windows = []
        moving = found[found[:, 1] > 0]  # a flat line is no rest, unless there is nothing else
        found = moving if len(moving) else found
        if len(found):
            shift = found[:, 0]
            calm = found[shift <= np.median(shift)]
            self.precision.append((len(calm), float(np.median(calm[:, 1])), float(np.median(calm[:, 2]))))

    def quality(self, key: Key) -> Quality:
        """Return what was found."""
        self.settle_precision()
        self._end_run()
        ended = float(np.nan_to_num(self.last - self.seen_until))
        weights = [count for count, _, _ in self.precision]
        rms, std = (
            float(np.average([piece[place] for piece in self.precision], weights=weights)) if weights else None
            for place in (1, 2)
        )
        parked = {
            Sentinel(*point): count
            for point, count in self.points.items()
            if count >= max(LEAST_TIMES, LEAST_SHARE * self.tracked)
        }
        away = self.outside
        if self.extent is not None and parked:
            x, y = (np.array([getattr(point, axis) for point in parked]) for axis in "xy")
            away -= int(np.array(list(parked.values()))[outside(x, y, self.extent)].sum())
        at = Counter({sentinel: count for sentinel, count in self.known.items() if count > 1}) + Counter(parked)
        # a clock that is unsteady has long steps too, but no more time than its samples take
        dropped = min(self.dropped, max(round(self.recorded_s / self.usual) - self.recorded, 0)) if self.steps else 0
        jitter = None
        if self.steps > 1:
            mean = self.steps_sum / self.steps
            jitter = float(np.sqrt(max(self.steps_square / self.steps - mean**2, 0.0)))
        return Quality(
            key=key,
            samples=self.samples,
            seconds=float(np.nan_to_num(self.last - self.first)),
            loss=_share(self.samples - self.tracked, self.samples),
            rms=rms,
            std=std,
            unit="deg" if self.geometry.knows_degrees else str(self.geometry.unit),
            windows=sum(weights),
            rate_hz=None if np.isnan(self.usual) else 1 / self.usual,
            stated_hz=self.stated_hz,
            jitter=None if jitter is None else jitter / self.usual,
            jitter_ms=None if jitter is None else 1000 * jitter,
            dropped=_share(dropped, self.samples + dropped) if self.steps else None,
            pauses=self.pauses,
            backwards=self.backwards,
            repeated=self.repeated,
            gaps=self.gaps + (ended > GAP_S),
            longest_gap=max(self.longest_gap, ended),
            outside=None if self.extent is None else _share(away, self.tracked),
            sentinel=_share(at.total(), self.tracked),
            sentinels={str(sentinel): count for sentinel, count in at.most_common(8)},
            flat=_share(self.flat, self.tracked),
            longest_flat=self.longest_flat,
        )


def _usual_step(steps: FloatArray) -> float:
    """Return the usual step: the mean of those near the median, so that neither gaps nor rounding to ms matter."""
    steps = steps[steps > 0]
    if not steps.size:
        return np.nan
    middle = np.median(steps)
    return float(steps[np.abs(steps - middle) <= 0.5 * middle].mean())


def _windows(t: FloatArray, x: FloatArray, y: FloatArray, usual: float) -> FloatArray:
    """Return shift, RMS-S2S and STD of every window of tracked gaze without a hole in its middle."""
    if not usual > 0:
        return np.empty((0, 3))
    size = max(WINDOW_SAMPLES, round(WINDOW_S / usual))
    count = len(t) // size
    if not count:
        return np.empty((0, 3))
    t, x, y = (values[: count * size].reshape(count, size) for values in (t, x, y))
    whole = (t[:, -1] - t[:, 0] <= DROPPED * (size - 1) * usual) & (t[:, -1] > t[:, 0])
    t, x, y = t[whole], x[whole], y[whole]
    half = size // 2
    shift = np.hypot(
        x[:, :half].mean(axis=1) - x[:, half:].mean(axis=1), y[:, :half].mean(axis=1) - y[:, half:].mean(axis=1)
    )
    steps = np.diff(t, axis=1)
    neighbours = (steps > 0) & (steps <= DROPPED * usual)
    squares = (np.diff(x, axis=1) ** 2 + np.diff(y, axis=1) ** 2) * neighbours
    pairs = neighbours.sum(axis=1)
    rms = np.sqrt(squares.sum(axis=1) / np.maximum(pairs, 1))
    std = np.sqrt(x.var(axis=1) + y.var(axis=1))
    found: FloatArray = np.column_stack([shift, rms, std])[2 * pairs >= size - 1]
    return found


def _trace(chunk: Chunk) -> Trace:
    t, x, y = (chunk.samples[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("t", "x", "y"))
    lost = ~chunk.samples["valid"].fill_null(False).to_numpy()
    begin = t[0] if len(t) else 0.0
    stop = int(np.searchsorted(t, begin + _TRACE_S)) if len(t) else 0
    every = max(stop // _TRACE_POINTS, 1)
    part = slice(0, stop, every)
    x, y = (np.where(lost[part], np.nan, values[part]) for values in (x, y))
    return Trace(t[part] - begin, x, y, str(chunk.geometry.unit))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


# --- Grades (good, fair or poor), and the problems of a recording in a line each.


Grade = Literal["good", "fair", "poor"]
RATE_TOLERANCE: Final = 0.05
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
        text: How a value is written.
    """

    name: str
    title: str
    good: float
    fair: float
    text: Callable[[float], str] = _percent

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

    def in_words(self, quality: Quality) -> str:
        """Return the value in words."""
        value = self.value(quality)
        if value is None:
            return "–"
        return f"{value:.3g} {quality.unit}" if self.name in {"rms", "std"} else self.text(value)


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


def severity(quality: Quality) -> float:
    """Return how bad a recording is, for sorting: poor measures first, then fair ones, then loss."""
    found = list(grades(quality).values())
    nothing = not quality.samples or quality.loss == 1.0
    return 100.0 * nothing + 10.0 * found.count("poor") + found.count("fair") + (quality.loss or 0.0)


def problems(quality: Quality) -> list[str]:
    """Return the problems of a recording, one sentence each."""
    if not quality.samples:
        return ["there are no samples"]
    if quality.loss == 1.0:
        return ["no sample has gaze"]
    return [*_problems_of_places(quality), *_problems_of_times(quality)]


def _problems_of_places(quality: Quality) -> Iterator[str]:
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


def _problems_of_times(quality: Quality) -> Iterator[str]:
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
    if quality.stated_hz and quality.rate_hz and abs(quality.rate_hz / quality.stated_hz - 1) > RATE_TOLERANCE:
        yield f"{quality.stated_hz:g} Hz are stated, the times say {quality.rate_hz:.4g} Hz"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def tally(found: Sequence[Quality]) -> dict[Grade, int]:
    """Return how many recordings have which grade."""
    given = [overall(quality) for quality in found]
    return {grade: given.count(grade) for grade in GRADES}
