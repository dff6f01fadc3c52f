# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the eyes did: fixations, saccades and blinks, found in recordings and in live gaze.

A detector is a value of parameters that turns a recording into a table of events, or follows a live stream sample by
sample with constant work and bounded memory. A stream and `Detector.detect` run the same compiled state machine, so
they find the same events in the same data. To add a detector, write a class as `VelocityThreshold` here and enter it
in `DETECTORS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.registry import Names


@runtime_checkable
class Detector(Protocol):
    """What every detector can do."""

    name: str

    def detect(self, recording: Recording) -> pl.DataFrame:
        """Return the events of a recording in `schema.EVENTS`, ordered by onset within each stretch."""
        ...

    def start(self, geometry: Geometry | None = None) -> EventStream:
        """Return a detector for live samples that finds the same events."""
        ...


class Event(NamedTuple):
    """One finished event of a live stream; NaN where a value does not apply.

    Times in seconds, positions in the stream's unit, amplitude in degrees, peak velocity in degrees per second.
    """

    kind: str
    onset: float
    offset: float
    x: float
    y: float
    end_x: float
    end_y: float
    amplitude: float
    peak_velocity: float


KINDS = ("fixation", "saccade")
"""What the first column of a kernel's rows means."""


def rows_in_unit(rows: FloatArray, geometry: Geometry | None) -> FloatArray:
    """Return a kernel's rows with positions in the geometry's own unit instead of degrees."""
    if geometry is None or geometry.unit is Unit.DEGREE or not len(rows):
        return rows
    rows, degrees = rows.copy(), geometry.in_unit(Unit.DEGREE)
    for across, down in ((3, 4), (5, 6)):
        rows[:, across], rows[:, down] = degrees.convert(rows[:, across], rows[:, down], geometry.unit)
    return rows


def table_of_rows(rows: FloatArray, source: str) -> pl.DataFrame:
    """Return a kernel's rows as a table in `schema.EVENTS`."""
    count = len(rows)
    columns = {
        "kind": pl.Series("kind", KINDS)[rows[:, 0].astype(np.uint32)],
        "source": pl.Series("source", [source]).new_from_index(0, count),
        "eye": pl.Series("eye", ["both"]).new_from_index(0, count),
    }
    for name, values in zip(Event._fields[1:], np.ascontiguousarray(rows.T[1:]), strict=True):
        columns[name] = pl.Series(name, values, nan_to_null=True)
    for name, dtype in schema.EVENTS.items():
        if name not in columns:
            columns[name] = pl.Series(name, [None], dtype=dtype).new_from_index(0, count)
    return pl.DataFrame([columns[name] for name in schema.EVENTS])


def table_of_events(events: Sequence[Event], source: str) -> pl.DataFrame:
    """Return events of a live stream as a table in `schema.EVENTS`."""
    rows = np.array([(KINDS.index(event.kind), *event[1:]) for event in events], dtype=np.float64)
    return table_of_rows(rows.reshape(-1, len(Event._fields)), source)


def samples_within(t: FloatArray, events: pl.DataFrame, kind: str) -> NDArray[np.bool_]:
    """Return which samples lie within an event of one kind, both ends included.

    Args:
        t: Times of the samples; where they go backwards, a sample can be covered by an event of another pass.
        events: A table in `schema.EVENTS`.
        kind: fixation, saccade, blink, …
    """
    chosen = events.filter((pl.col("kind") == kind) & pl.col("onset").is_not_null()).sort("onset")
    inside = np.zeros(len(t), dtype=np.bool_)
    if not len(chosen):
        return inside
    onset = chosen["onset"].to_numpy()
    # events of one kind may overlap (two eyes), so a sample asks for the latest end of all that began before it
    latest = np.maximum.accumulate(chosen.select(pl.coalesce("offset", "onset")).to_series().to_numpy())
    begun = np.searchsorted(onset, t, side="right")
    known = np.isfinite(t) & (begun > 0)
    inside[known] = t[known] <= latest[begun[known] - 1]
    return inside


# --- State machines, fed sample by sample: causal, constant work per sample, bounded memory, no clock and no I/O.


CHUNK = 8192
"""How many samples of a file go through a state machine at once: enough to be fast, small enough to stay in cache."""


class StateMachine(Protocol):
    """The state machine of a detector; works in degrees."""

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        """Take samples (at most as many as it was made for) and return the rows of the events they finish."""
        ...

    @property
    def state(self) -> str:
        """What the eye does at the last decided sample."""
        ...


class EventStream:
    """Events of live gaze. Push samples as they come; each push returns the events it finishes.

    What is found, and when, depends only on the samples pushed. `finish` ends the last events.
    """

    __slots__ = ("_finished", "_geometry", "_machine", "_sample")

    def __init__(self, machine: StateMachine, geometry: Geometry | None = None) -> None:
        self._machine = machine
        self._geometry = None if geometry is None or geometry.unit is Unit.DEGREE else geometry
        self._sample = np.empty((3, 1))
        self._finished = False

    def push(self, t: float, x: float, y: float) -> list[Event]:
        """Take one sample (NaN where gaze is lost) and return the events that are over now, oldest first.

        Args:
            t: Device time in seconds.
            x: Gaze in the unit of the geometry the stream was started with; degrees if there was none.
            y: Gaze, growing downwards.
        """
        if self._finished:
            raise InputError("the stream is finished", hint="start a new one for more samples")
        self._sample[:, 0] = t, x, y
        return self._events(*self._sample, finish=False)

    def finish(self) -> list[Event]:
        """End the stream and return the events that were still open."""
        if self._finished:
            return []
        self._finished = True
        return self._events(*np.empty((3, 0)), finish=True)

    @property
    def state(self) -> str:
        """What the eye does at the last decided sample: fixation, saccade, unsure or lost."""
        return self._machine.state

    def _events(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> list[Event]:
        if self._geometry is not None:
            x, y = self._geometry.convert(x, y, Unit.DEGREE)
        rows = self._machine.advance(t, x, y, finish=finish)
        return [Event(KINDS[int(row[0])], *row[1:]) for row in rows_in_unit(rows, self._geometry).tolist()]


def detect_with(recording: Recording, machine: StateMachine, source: str) -> pl.DataFrame:
    """Run a whole recording through a state machine and return its events in the recording's own unit.

    Raises:
        InputError: If it is a list of fixations.
    """
    recording.need_samples(f"the detector {source}")
    rows = list(_advance_through(recording, machine))
    return table_of_rows(rows_in_unit(np.concatenate(rows), recording.geometry), source)


def _advance_through(recording: Recording, machine: StateMachine) -> Iterator[FloatArray]:
    # a copy, because kernels are compiled for writeable arrays in one piece
    samples = np.stack([recording.t, *recording.geometry.convert(recording.x, recording.y, Unit.DEGREE)])
    for begin in range(0, len(recording), CHUNK):
        yield machine.advance(*samples[:, begin : begin + CHUNK], finish=False)
    yield machine.advance(*np.empty((3, 0)), finish=True)


# --- Parameters.


def require_number(owner: object, name: str, *, at_least: float | None = None, above: float | None = None) -> None:
    """Check that a parameter is a finite number in range.

    Raises:
        OptionError: If it is not; the message names the parameter.
    """
    value = getattr(owner, name)
    wanted = f"at least {at_least:g}" if above is None else f"above {above:g}"
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or (above is not None and value <= above) or (at_least is not None and value < at_least):
        raise OptionError(f"{name} must be a number {wanted}, not {value!r}")


# --- How fast the eye turns: a straight line fitted to the samples around each sample, on the device's own times. On
# even steps this is the Savitzky–Golay derivative of order one or two; on uneven steps it stays right. Nothing is
# resampled and nothing is filled in.


VELOCITY_WINDOW = 0.02
"""Seconds a velocity is taken over: twice the shortest saccade (Nyström & Holmqvist 2010)."""
MAX_STEP = 0.1
"""Seconds between two samples beyond which an event is not continued."""

_MOST_SAMPLES_OF_A_FIT = 2048


@dataclass(frozen=True, slots=True)
class Steps:
    """Which steps between samples an event may span.

    Attributes:
        max_gap: Longest loss of gaze that is bridged, in seconds between the good samples on both sides; 0 for none.
        max_step: Longest step in time between two samples with none lost in between.
    """

    max_gap: float = 0.0
    max_step: float = MAX_STEP


class VelocityStream:
    """Turns samples into rows (t, x, y, vx, vy, sample number), a row of NaN after each stretch; bounded memory."""

    __slots__ = ("_buffer", "_half", "_place", "_rows", "_seen", "_state", "_steps")

    def __init__(self, window: float, steps: Steps, chunk: int) -> None:
        from gazeveil.gaze import gaze_kernels  # noqa: PLC0415

        self._half, self._steps, self._seen = window / 2, steps, 0
        self._state = np.zeros(gaze_kernels.VELOCITY_STATE)
        self._state[:2] = -np.inf, np.nan
        self._place = np.zeros(4, dtype=np.int64)
        self._buffer = np.empty((4, _MOST_SAMPLES_OF_A_FIT + chunk))
        # every sample pushed or waiting gives at most one row, and every sample pushed may end a stretch
        self._rows = np.empty((6, 2 * chunk + _MOST_SAMPLES_OF_A_FIT + 1))

    @property
    def capacity(self) -> int:
        """The most rows one call returns."""
        return self._rows.shape[1]

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        """Take samples in degrees and return the rows decided by them: a view that the next call overwrites."""
        from gazeveil.gaze.gaze_kernels import velocities  # noqa: PLC0415

        count = velocities(
            self._half, self._steps.max_gap, self._steps.max_step, self._state, self._place, self._buffer,
            t, x, y, self._seen, finish, self._rows,
        )  # fmt: skip
        if self._place[0] > _MOST_SAMPLES_OF_A_FIT:
            raise InputError(
                f"more than {_MOST_SAMPLES_OF_A_FIT:,} samples within {2 * self._half:g} s",
                hint="times must be in seconds; or choose a shorter window",
            )
        self._seen += len(t)
        rows: FloatArray = self._rows[:, :count]
        return rows


def velocity(
    recording: Recording, *, window: float = VELOCITY_WINDOW, steps: Steps | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the velocity of gaze across and down at each sample in degrees per second; NaN where there is none.

    Args:
        recording: Any recording whose geometry knows degrees.
        window: Seconds the line is fitted over, half before and half after the sample.
        steps: Which steps between samples are bridged.
    """
    samples = np.stack([recording.t, *recording.geometry.convert(recording.x, recording.y, Unit.DEGREE)])
    rows = VelocityStream(window, steps or Steps(), len(recording)).advance(*samples, finish=True)
    rows = rows[:, ~np.isnan(rows[5])]
    across, down = np.full(len(recording), np.nan), np.full(len(recording), np.nan)
    numbers = rows[5].astype(np.int64)
    across[numbers], down[numbers] = rows[3], rows[4]
    return across, down


# --- I-VT: slow samples are fixations, fast ones saccades (Salvucci & Goldberg 2000).


_STATES = ("lost", "fixation", "saccade")


@dataclass(frozen=True, slots=True, kw_only=True)
class VelocityThreshold:
    """Fixations are runs of samples slower than a threshold; saccades are the fast runs between slow samples.

    A fast run that touches lost data is no saccade: where it began or ended is not known, and eyelids make such
    runs. A live stream decides a sample once a later one lies beyond its window: half a window plus one sample
    (11 ms at 1000 Hz) after it was pushed.

    Attributes:
        threshold: Degrees per second that separate slow from fast; slow is strictly below.
        min_fixation: Shortest fixation, in seconds from its first to its last sample.
        min_saccade: Shortest saccade, in seconds from the slow sample before to the slow sample after.
        window: Seconds the velocity is fitted over, half before and half after the sample.
        merge_gap: Fixations at most this many seconds apart are merged if they are also near; 0 merges none.
        merge_distance: How near, in degrees between their centres.
        max_gap: Longest loss of gaze that an event may span, in seconds; 0 ends events at every lost sample.
        max_step: Longest step in time, without a lost sample, that an event may span.
    """

    name = "ivt"

    threshold: float = 20.0
    min_fixation: float = 0.1
    min_saccade: float = 0.01
    window: float = VELOCITY_WINDOW
    merge_gap: float = 0.0
    merge_distance: float = 0.5
    max_gap: float = 0.0
    max_step: float = MAX_STEP

    def __post_init__(self) -> None:
        for name in ("threshold", "max_step"):
            require_number(self, name, above=0)
        for name in ("min_fixation", "min_saccade", "window", "merge_gap", "merge_distance", "max_gap"):
            require_number(self, name, at_least=0)

    def detect(self, recording: Recording) -> pl.DataFrame:
        """Return the fixations and saccades of a recording in `schema.EVENTS`."""
        return detect_with(recording, _VelocityMachine(self, CHUNK), self.name)

    def start(self, geometry: Geometry | None = None) -> EventStream:
        """Return a detector for live samples in the geometry's unit (degrees if there is none)."""
        return EventStream(_VelocityMachine(self, 1), geometry)

    def detect_in_velocities(self, t: FloatArray, vx: FloatArray, vy: FloatArray) -> pl.DataFrame:
        """Return the events of samples of which only the velocity is known: no positions, nothing merged.

        Args:
            t: Times in seconds; they must not go backwards.
            vx: Velocity across in degrees per second, as `velocity` gives it; NaN ends an event.
            vy: Velocity down.
        """
        t, vx, vy = (np.ascontiguousarray(values, dtype=np.float64) for values in (t, vx, vy))
        if not t.shape == vx.shape == vy.shape == (len(t),):
            raise InputError(f"t, vx and vy must be lists of one length, found {t.shape}, {vx.shape} and {vy.shape}")
        nothing, chunk = np.empty(0), 16 * CHUNK
        runs = _RunClassifier(self, chunk)
        rows = [
            runs.advance(t[at : at + chunk], nothing, nothing, vx[at : at + chunk], vy[at : at + chunk])
            for at in range(0, len(t), chunk)
        ]
        return table_of_rows(np.concatenate([*rows, runs.advance(*np.full((5, 1), np.nan))]), self.name)


class _RunClassifier:
    """The run being looked at, and the one held back for merging."""

    __slots__ = ("_out", "_rule", "state")

    def __init__(self, rule: VelocityThreshold, rows: int) -> None:
        from gazeveil.gaze import gaze_kernels  # noqa: PLC0415

        merge_gap = rule.merge_gap if rule.merge_gap > 0 else -1.0
        rules = (rule.threshold, rule.min_fixation, rule.min_saccade, merge_gap, rule.merge_distance)
        self._rule = tuple(map(float, rules))  # for a whole number it would be compiled again
        self.state = np.zeros(gaze_kernels.CLASSIFY_STATE)
        self.state[8] = np.nan
        # an event has a row of its own; three may wait from before
        self._out = np.empty((rows + 3, gaze_kernels.COLUMNS))

    def advance(self, *rows: FloatArray) -> FloatArray:
        from gazeveil.gaze.gaze_kernels import classify  # noqa: PLC0415

        count = classify(*self._rule, self.state, *rows, self._out)
        return self._out[:count].copy()


class _VelocityMachine:
    """Velocities, then runs."""

    __slots__ = ("_runs", "_velocities")

    def __init__(self, rule: VelocityThreshold, chunk: int) -> None:
        self._velocities = VelocityStream(rule.window, Steps(rule.max_gap, rule.max_step), chunk)
        self._runs = _RunClassifier(rule, self._velocities.capacity)

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        rows = self._velocities.advance(t, x, y, finish=finish)
        return self._runs.advance(*rows[:5])

    @property
    def state(self) -> str:
        return _STATES[int(self._runs.state[0])]


# --- I-DT: a fixation is a time in which gaze stays within a small box (Salvucci & Goldberg 2000).


_MOST_SAMPLES = 16_384  # a power of two: the window is a ring


@dataclass(frozen=True, slots=True, kw_only=True)
class DispersionThreshold:
    """Fixations are windows in which (largest x - smallest x) + (largest y - smallest y) stays within a threshold.

    The window starts as the fewest samples that cover ``min_fixation``. If they are within the threshold it grows
    until the next sample would break it: a fixation. If not, it loses its first sample and is tried again. A
    saccade is what lies between two fixations of one stretch; its velocity is not measured. Each sample enters
    and leaves four monotonic queues once, so the time is linear whatever the window.

    A live stream reports a fixation as soon as a sample breaks it, and a saccade as soon as the next fixation has
    lasted ``min_fixation``.

    Attributes:
        threshold: Degrees; a fixation is at or below it.
        min_fixation: Shortest fixation, in seconds from its first to its last sample.
        max_saccade: Longest time between two fixations that is called a saccade, in seconds.
        max_gap: Longest loss of gaze that an event may span, in seconds; 0 ends events at every lost sample.
        max_step: Longest step in time, without a lost sample, that an event may span.
    """

    name = "idt"

    threshold: float = 1.0
    min_fixation: float = 0.1
    max_saccade: float = 0.1
    max_gap: float = 0.0
    max_step: float = MAX_STEP

    def __post_init__(self) -> None:
        for name in ("threshold", "min_fixation", "max_step"):
            require_number(self, name, above=0)
        for name in ("max_saccade", "max_gap"):
            require_number(self, name, at_least=0)

    def detect(self, recording: Recording) -> pl.DataFrame:
        """Return the fixations and saccades of a recording in `schema.EVENTS`."""
        return detect_with(recording, _DispersionMachine(self, CHUNK), self.name)

    def start(self, geometry: Geometry | None = None) -> EventStream:
        """Return a detector for live samples in the geometry's unit (degrees if there is none)."""
        return EventStream(_DispersionMachine(self, 1), geometry)


class _DispersionMachine:
    """The window being searched, or the fixation being followed."""

    __slots__ = ("_out", "_queues", "_rule", "_state", "_window")

    def __init__(self, rule: DispersionThreshold, chunk: int) -> None:
        from gazeveil.gaze import gaze_kernels  # noqa: PLC0415

        self._rule = (
            rule.threshold, rule.min_fixation, rule.max_saccade, rule.max_gap, rule.max_step
        )  # fmt: skip
        self._state = np.zeros(gaze_kernels.DISPERSION_STATE)
        self._state[[0, 1, 17, 20]] = -np.inf, np.nan, np.nan, np.nan
        self._window = np.empty((5, _MOST_SAMPLES))
        self._queues = np.empty((4, _MOST_SAMPLES), dtype=np.int64)
        self._out = np.empty((2 * chunk + 2, gaze_kernels.COLUMNS))

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        from gazeveil.gaze.gaze_kernels import disperse  # noqa: PLC0415

        count = disperse(*self._rule, self._state, self._window, self._queues, t, x, y, finish, self._out)
        if count < 0:
            raise InputError(
                f"more than {_MOST_SAMPLES:,} samples within {self._rule[1]:g} s",
                hint="times must be in seconds; or choose a shorter min_fixation",
            )
        return self._out[:count].copy()

    @property
    def state(self) -> str:
        if self._state[3]:
            return "fixation"
        return "lost" if np.isnan(self._state[1]) else "unsure"


DETECTORS: Names[Callable[..., Detector]] = Names(
    "event detector", {DispersionThreshold.name: DispersionThreshold, VelocityThreshold.name: VelocityThreshold}
)
"""Detector classes by name: ``DETECTORS["ivt"](threshold=30).detect(recording)``."""


# --- Blinks: those of the tracker, else losses of the eye that last as long as a blink does.


SHORTEST_BLINK = 0.05
LONGEST_BLINK = 0.5
BLINK_SOURCE = "gap"
"""The ``source`` of blinks that were found here."""


def detect_blinks(
    recording: Recording, *, shortest: float = SHORTEST_BLINK, longest: float = LONGEST_BLINK, join: float = 0.0
) -> pl.DataFrame:
    """Return the blinks of a recording in `schema.EVENTS`.

    Blinks that came with the recording are returned as they are, per eye where the tracker says so. If there are
    none, a blink is a loss of gaze or pupil in both eyes that lasts as long as a blink does (see `find_gaps`).

    Args:
        recording: Any recording, in any unit.
        shortest: Seconds; anything shorter is a dropout of the tracker.
        longest: Seconds; anything longer is a loss of tracking, or someone closed their eyes.
        join: Losses that are at most this many seconds apart count as one.
    """
    of_tracker = recording.events.filter((pl.col("kind") == "blink") & (pl.col("source") == "tracker"))
    if len(of_tracker):
        return of_tracker
    return find_gaps(recording, shortest=shortest, longest=longest, join=join).filter(pl.col("kind") == "blink")


def find_gaps(
    recording: Recording, *, shortest: float = SHORTEST_BLINK, longest: float = LONGEST_BLINK, join: float = 0.0
) -> pl.DataFrame:
    """Return every loss of the eye in `schema.EVENTS`: kind ``blink`` if it lasts as long as one, else ``loss``.

    The eye is lost where gaze is not valid or, if there is a pupil channel that ever saw a pupil, where there is
    none. Onset and offset are the first and the last lost sample; how long a loss lasts is measured between the
    good samples around it, so a loss at either end of the recording, or at a time step that goes backwards, is
    never a blink.
    """
    if not 0 <= shortest <= longest or not join >= 0:
        raise OptionError(
            f"a blink lasts between shortest and longest seconds, not {shortest!r} and {longest!r} (join {join!r})"
        )
    recording.need_samples("finding blinks")
    first, last = _runs_of_true(~_seen(recording))
    t = np.concatenate([[np.nan], recording.t, [np.nan]])  # so that both ends have a neighbour of unknown time
    before, after = t[first], t[last + 2]
    monotonic = np.array(
        [bool((np.diff(t[i : j + 3]) >= 0).all()) for i, j in zip(first, last, strict=True)], dtype=bool
    )
    if join > 0 and len(first) > 1:
        close = np.append(False, (before[1:] - after[:-1] <= join) & monotonic[1:] & monotonic[:-1])
        starts = np.flatnonzero(~close)
        monotonic = np.logical_and.reduceat(monotonic, starts)
        ends = np.append(starts[1:], len(first)) - 1
        first, last, before, after = first[starts], last[ends], before[starts], after[ends]
    lasts = np.where(monotonic, after - before, np.nan)
    is_blink = (lasts >= shortest - 1e-6) & (lasts <= longest + 1e-6)
    table = pl.DataFrame({"onset": recording.t[first], "offset": recording.t[last], "blink": is_blink})
    kind = pl.when("blink").then(pl.lit("blink")).otherwise(pl.lit("loss"))
    return schema.event_table(
        table.with_columns(kind.alias("kind"), pl.lit(BLINK_SOURCE).alias("source"), pl.lit("both").alias("eye"))
    )


def _seen(recording: Recording) -> NDArray[np.bool_]:
    seen = recording.tracked
    if recording.pupil is not None:
        pupil = recording.pupil > 0
        if pupil.any():
            seen = seen & pupil
    return seen


def _runs_of_true(flags: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last index of each run of true."""
    edges = np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1


# --- The main sequence: how the peak velocity of saccades grows with their size, in one line per participant. Two laws
# are fitted to the same saccades: the saturating ``peak = eta (1 - exp(-amplitude / c))`` (Bahill 1975 and later) and
# the square root ``peak = gain sqrt(amplitude)`` (Lebedev 1996). Both fits are robust: saccades far from the curve
# (blinks, wrong detections) weigh less (Huber). Both numbers tell participants apart, so they are biometric: see the
# concept page.


_CURVATURES = np.geomspace(0.05, 500.0, 97)  # degrees; human c is about 3 to 15
_HUBER = 1.345
"""Residuals beyond this many robust standard deviations weigh less; 95 % efficient on normal data (Huber 1981)."""


@dataclass(frozen=True, slots=True)
class MainSequence:
    """A participant's saccades and fixations in numbers; NaN where there is too little data.

    Attributes:
        n: Saccades with an amplitude and a peak velocity.
        eta: Velocity that large saccades approach, deg/s; NaN if the saccades are too alike to show a bend.
        c: Amplitude over which it is approached, deg.
        r2: Share of the variance of peak velocity that the saturating law explains.
        gain: Factor of the square-root law, deg/s at 1 degree.
        gain_r2: The same share for the square-root law.
        median_amplitude: deg.
        median_peak_velocity: deg/s.
        fixations: How many.
        median_fixation: s.
    """

    n: int
    eta: float
    c: float
    r2: float
    gain: float
    gain_r2: float
    median_amplitude: float
    median_peak_velocity: float
    fixations: int
    median_fixation: float

    def to_dict(self) -> dict[str, float]:
        """Return the summary as plain values."""
        return asdict(self)


def main_sequence(events: pl.DataFrame) -> MainSequence:
    """Summarise the saccades and fixations of an event table (`schema.EVENTS`): of one recording, or of many."""
    measured = pl.col("amplitude").is_finite() & pl.col("peak_velocity").is_finite() & (pl.col("amplitude") > 0)
    saccades = events.filter((pl.col("kind") == "saccade") & measured)
    lasting = events.filter(pl.col("kind") == "fixation").select(pl.col("offset") - pl.col("onset")).to_series()
    amplitude, peak = saccades["amplitude"].to_numpy(), saccades["peak_velocity"].to_numpy()
    eta, c, r2 = _fit_saturating(amplitude, peak)
    gain, gain_r2 = _fit_root(amplitude, peak)
    return MainSequence(
        len(saccades), eta, c, r2, gain, gain_r2, _median(amplitude), _median(peak), len(lasting), _median(lasting)
    )


def main_sequence_by_observer(recordings: Iterable[Recording], detector: Detector) -> dict[str, MainSequence]:
    """Detect events in each recording and summarise them observer by observer, over all of an observer's recordings."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for recording in recordings:
        tables.setdefault(recording.observer, []).append(detector.detect(recording))
    return {observer: main_sequence(pl.concat(found)) for observer, found in tables.items()}


def _median(values: FloatArray | pl.Series) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _fit_saturating(amplitude: FloatArray, peak: FloatArray) -> tuple[float, float, float]:
    """Return eta, c and r2. For a given c the best eta is a ratio of sums, so only c is searched."""
    if len(amplitude) < 3 or np.ptp(amplitude) == 0:
        return math.nan, math.nan, math.nan
    weights = np.ones(len(amplitude))
    c = math.nan
    for _ in range(50):
        previous, c = c, _best_curvature(amplitude, peak, weights)
        shape = -np.expm1(-amplitude / c)
        residuals = peak - _scale(shape, peak, weights) * shape
        weights = _huber_weights(residuals)
        if abs(c - previous) <= 1e-9 * c:
            break
    eta = _scale(shape, peak, weights)
    r2 = _explained(peak, eta * shape)
    if c >= _CURVATURES[-2] or c <= _CURVATURES[1]:
        return math.nan, math.nan, r2
    return eta, c, r2


def _best_curvature(amplitude: FloatArray, peak: FloatArray, weights: FloatArray) -> float:
    """Return the c with the least weighted squared error: a grid, then golden sections around its best point."""

    def error(c: float) -> float:
        shape = -np.expm1(-amplitude / c)
        return float((weights * (peak - _scale(shape, peak, weights) * shape) ** 2).sum())

    best = int(np.argmin([error(c) for c in _CURVATURES]))
    low = math.log(_CURVATURES[max(best - 1, 0)])
    high = math.log(_CURVATURES[min(best + 1, len(_CURVATURES) - 1)])
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    left_error, right_error = error(math.exp(left)), error(math.exp(right))
    while high - low > 1e-10:
        if left_error < right_error:
            high, right, right_error = right, left, left_error
            left = high - ratio * (high - low)
            left_error = error(math.exp(left))
        else:
            low, left, left_error = left, right, right_error
            right = low + ratio * (high - low)
            right_error = error(math.exp(right))
    return math.exp((low + high) / 2)


def _fit_root(amplitude: FloatArray, peak: FloatArray) -> tuple[float, float]:
    if not len(amplitude):
        return math.nan, math.nan
    shape, weights, gain = np.sqrt(amplitude), np.ones(len(amplitude)), math.nan
    for _ in range(50):
        previous, gain = gain, _scale(shape, peak, weights)
        weights = _huber_weights(peak - gain * shape)
        if abs(gain - previous) <= 1e-12 * abs(gain):
            break
    return gain, _explained(peak, gain * shape)


def _scale(shape: FloatArray, peak: FloatArray, weights: FloatArray) -> float:
    """Return the factor that brings ``shape`` nearest to ``peak``."""
    return float((weights * shape * peak).sum() / (weights * shape * shape).sum())


def _huber_weights(residuals: FloatArray) -> FloatArray:
    size = np.abs(residuals)
    limit = _HUBER * 1.4826 * float(np.median(size))
    return np.where(size <= limit, 1.0, limit / np.maximum(size, np.finfo(float).tiny))


def _explained(peak: FloatArray, fitted: FloatArray) -> float:
    spread = float(((peak - peak.mean()) ** 2).sum())
    return 1.0 - float(((peak - fitted) ** 2).sum()) / spread if spread > 0 else math.nan
