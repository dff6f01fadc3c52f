# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One observer looking at one stimulus once: samples or fixations, and the viewing plane they lie on."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.display import Picture, html_table
from gazeveil.errors import InputError
from gazeveil.gaze import schema
from gazeveil.geometry import Geometry, Unit


class Key(NamedTuple):
    """Whose recording it is and of what: the identity of a recording in a corpus."""

    observer: str
    stimulus: str = ""
    session: str = "1"
    trial: str = "1"

    def __str__(self) -> str:
        return " / ".join(part for part in self if part)


class TimeFaults(NamedTuple):
    """Faults of the device's clock; nothing is sorted or repaired silently."""

    backwards: int
    repeated: int
    not_finite: int

    @property
    def any(self) -> bool:
        """Whether there is a fault at all."""
        return bool(self.backwards or self.repeated or self.not_finite)


@dataclass(frozen=True, slots=True, eq=False)
class Eye:
    """What one eye saw: gaze, whether it was tracked, and its pupil where the tracker gives it."""

    x: FloatArray
    y: FloatArray
    valid: BoolArray | None = None
    pupil: FloatArray | None = None

    def __post_init__(self) -> None:
        _freeze_gaze(self, len(np.atleast_1d(self.x)), "eye")

    @property
    def tracked(self) -> BoolArray:
        """Where gaze is valid."""
        return _known(self.valid)


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Gaze of one observer on one stimulus in one session and trial. Immutable: changes return a new recording.

    Where a sample is not valid, x and y are NaN, whatever the tracker wrote there.

    Attributes:
        t: Device time of each sample in seconds, in the order the device gave them.
        x: Combined gaze, in the unit of ``geometry``.
        y: Combined gaze, growing downwards.
        geometry: The viewing plane x and y lie on.
        observer: Who looked.
        stimulus: At what.
        session: On which occasion.
        trial: Which repetition within the session.
        valid: Whether the tracker saw the eye; by default, wherever x and y are finite.
        pupil: Combined pupil size, where there is one.
        left: The left eye's own gaze, where there is one.
        right: The right eye's own gaze, where there is one.
        events: Fixations, saccades, blinks and messages that came with the recording (`schema.EVENTS`).
        rate_hz: The nominal sampling rate the device states; None if it states none.
        pupil_unit: ``mm``, ``px``, … or empty for arbitrary.
        durations: For a list of fixations, how long each lasted in seconds, NaN where that is not known; ``t`` is then
            when each began. None for samples.
    """

    t: FloatArray
    x: FloatArray
    y: FloatArray
    geometry: Geometry
    observer: str
    stimulus: str = ""
    session: str = "1"
    trial: str = "1"
    valid: BoolArray | None = None
    pupil: FloatArray | None = None
    left: Eye | None = None
    right: Eye | None = None
    events: pl.DataFrame = field(default_factory=schema.no_events)
    rate_hz: float | None = None
    pupil_unit: str = ""
    durations: FloatArray | None = None

    def __post_init__(self) -> None:
        t = _frozen_floats(self.t, None, "t")
        object.__setattr__(self, "t", t)
        _freeze_gaze(self, len(t), "recording")
        if self.durations is not None:
            object.__setattr__(self, "durations", _frozen_floats(self.durations, len(t), "durations"))
        for name in ("left", "right"):
            eye = getattr(self, name)
            if eye is not None and len(eye.x) != len(t):
                raise InputError(f"the {name} eye has {len(eye.x):,} samples but the recording has {len(t):,}")
        for name in schema.KEYS:
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name} must be text, not {getattr(self, name)!r}")
        if not self.observer:
            raise InputError("a recording needs an observer", hint="any text that is unique to a participant will do")

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"Recording({self.key}, {len(self):,} {self.rows} in {self.duration:.4g} s, {self.geometry})"

    def _repr_html_(self) -> str:
        faults = self.time_faults
        rows = {
            self.rows: f"{len(self):,} in {self.duration:.4g} s",
            "tracked": f"{self.tracked.mean():.0%}" if len(self) else "nothing",
            "plane": str(self.geometry),
            "events": f"{len(self.events):,}",
            "clock": f"{faults.backwards:,} steps back, {faults.repeated:,} repeats" if faults.any else "in order",
        }
        return html_table(f"Recording {self.key}: raw gaze, not for publication", rows.items())

    def plot(self) -> Picture:
        """Draw the recording: raw gaze, for the holder of the data and not for publication."""
        from gazeveil.gaze.plots import recording_picture  # noqa: PLC0415  (loads the plotting parts)

        return recording_picture(self)

    @property
    def key(self) -> Key:
        """Whose recording it is and of what."""
        return Key(self.observer, self.stimulus, self.session, self.trial)

    @property
    def tracked(self) -> BoolArray:
        """Where gaze is valid."""
        return _known(self.valid)

    @property
    def rows(self) -> str:
        """What its rows are: ``samples`` or ``fixations``."""
        return "samples" if self.durations is None else "fixations"

    def need_samples(self, what: str) -> None:
        """Refuse to go on with a list of fixations.

        Raises:
            InputError: If this is one; ``what`` says for which purpose samples are needed.
        """
        if self.durations is not None:
            raise InputError(
                f"{what} needs gaze samples, and {self.key} is a list of fixations",
                hint="take the recording that the fixations were found in; heatmaps, areas and scanpaths take lists",
            )

    @property
    def duration(self) -> float:
        """Seconds from the earliest to the latest sample, or to the end of the latest fixation."""
        ends = self.t if self.durations is None else self.t + np.nan_to_num(self.durations, nan=0.0)
        times, ends = self.t[np.isfinite(self.t)], ends[np.isfinite(ends)]
        return float(ends.max() - times.min()) if times.size and ends.size else 0.0

    @property
    def rate(self) -> float:
        """Samples per second: what the device states, else what the times say; NaN if unknown, as for fixations."""
        if self.durations is not None:
            return float("nan")
        return measured_rate(self.t) if self.rate_hz is None else self.rate_hz

    @property
    def time_faults(self) -> TimeFaults:
        """How often the device's time goes backwards, repeats or is no number."""
        before, after = self.t[:-1], self.t[1:]
        return TimeFaults(int((after < before).sum()), int((after == before).sum()), int((~np.isfinite(self.t)).sum()))

    def to(self, unit: Unit | str) -> Recording:
        """Return the recording with all positions in ``unit`` (px, deg or norm)."""
        unit = Unit(unit)
        if unit is self.geometry.unit:
            return self
        x, y = self.geometry.convert(self.x, self.y, unit)
        eyes: dict[str, Any] = {}
        for name, eye in (("left", self.left), ("right", self.right)):
            if eye is not None:
                eye_x, eye_y = self.geometry.convert(eye.x, eye.y, unit)
                eyes[name] = Eye(eye_x, eye_y, eye.valid, eye.pupil)
        events = self.events
        for across, down in (("x", "y"), ("end_x", "end_y")):
            event_x, event_y = self.geometry.convert(
                events[across].cast(pl.Float64).to_numpy(), events[down].cast(pl.Float64).to_numpy(), unit
            )
            events = events.with_columns(
                pl.Series(across, event_x, nan_to_null=True), pl.Series(down, event_y, nan_to_null=True)
            )
        return replace(self, x=x, y=y, geometry=self.geometry.in_unit(unit), events=events, **eyes)

    def between(self, start: float, stop: float) -> Recording:
        """Return the samples and events with ``start <= t < stop``, times unchanged."""
        inside = (self.t >= start) & (self.t < stop)
        overlapping = (pl.col("onset") < stop) & (pl.col("offset").fill_null(pl.col("onset")) >= start)
        return replace(self.take(inside), events=self.events.filter(overlapping))

    def take(self, chosen: NDArray[Any]) -> Recording:
        """Return the samples that a mask or an index array chooses; events stay as they are."""
        pupil = None if self.pupil is None else self.pupil[chosen]
        durations = None if self.durations is None else self.durations[chosen]
        eyes: dict[str, Any] = {
            name: Eye(
                eye.x[chosen], eye.y[chosen], eye.tracked[chosen], None if eye.pupil is None else eye.pupil[chosen]
            )
            for name, eye in (("left", self.left), ("right", self.right))
            if eye is not None
        }
        gaze = {"t": self.t[chosen], "x": self.x[chosen], "y": self.y[chosen], "valid": self.tracked[chosen]}
        return replace(self, **gaze, pupil=pupil, durations=durations, **eyes)

    def with_events(self, events: pl.DataFrame) -> Recording:
        """Return the recording with another event table."""
        return replace(self, events=schema.event_table(events))

    def equals(self, other: Recording) -> bool:
        """Whether both hold the same samples, events and labels; NaN equals NaN."""
        same_labels = all(
            getattr(self, item.name) == getattr(other, item.name)
            for item in fields(self)
            if item.name in {"geometry", "rate_hz", "pupil_unit", *schema.KEYS}
        )
        return same_labels and self.to_frame().equals(other.to_frame()) and self.events.equals(other.events)

    def to_frame(self) -> pl.DataFrame:
        """Return the samples or fixations as a table in `schema.SAMPLES`, without the keys."""
        columns: dict[str, Any] = {"t": self.t, "x": self.x, "y": self.y, "valid": self.tracked}
        if self.pupil is not None:
            columns["pupil"] = self.pupil
        for name, eye in (("left", self.left), ("right", self.right)):
            if eye is not None:
                columns |= {f"{name}_x": eye.x, f"{name}_y": eye.y, f"{name}_valid": eye.tracked}
                if eye.pupil is not None:
                    columns[f"{name}_pupil"] = eye.pupil
        if self.durations is not None:
            columns[schema.DURATION] = self.durations
        return pl.DataFrame(columns, schema={name: schema.SAMPLES[name] for name in columns})

    @staticmethod
    def from_frame(samples: pl.DataFrame, geometry: Geometry, key: Key, **labels: Any) -> Recording:
        """Build a recording from a table in `schema.SAMPLES`; nulls become NaN or not valid."""
        missing = [name for name in schema.REQUIRED if name not in samples.columns]
        if missing:
            raise InputError(f"the sample table lacks {', '.join(missing)}", hint="see the schema in the reference")
        eyes: dict[str, Any] = {
            name: Eye(
                _floats(samples, f"{name}_x"),
                _floats(samples, f"{name}_y"),
                samples[f"{name}_valid"].fill_null(False).to_numpy() if f"{name}_valid" in samples.columns else None,
                _floats(samples, f"{name}_pupil") if f"{name}_pupil" in samples.columns else None,
            )
            for name in ("left", "right")
            if f"{name}_x" in samples.columns
        }
        return Recording(
            _floats(samples, "t"),
            _floats(samples, "x"),
            _floats(samples, "y"),
            geometry,
            **key._asdict(),
            valid=samples["valid"].fill_null(False).to_numpy(),
            pupil=_floats(samples, "pupil") if "pupil" in samples.columns else None,
            durations=_floats(samples, schema.DURATION) if schema.DURATION in samples.columns else None,
            **eyes,
            **labels,
        )

    @staticmethod
    def from_eyes(t: ArrayLike, left: Eye, right: Eye, geometry: Geometry, key: Key, **labels: Any) -> Recording:
        """Build a recording from two eyes; combined gaze is the mean of the eyes that were tracked."""
        x, y, valid, pupil = combine_eyes(left, right)
        return Recording(
            np.asarray(t, dtype=np.float64),
            x,
            y,
            geometry,
            **key._asdict(),
            valid=valid,
            pupil=pupil,
            left=left,
            right=right,
            **labels,
        )


def measured_rate(times: FloatArray) -> float:
    """Return samples per second by the time that samples span, gaps left out; NaN if unknown.

    A single step tells less: at 60 Hz, times in whole milliseconds step by 16 or 17.
    """
    steps = np.diff(times)
    steps = steps[steps > 0]
    if not steps.size:
        return float("nan")
    usual = steps[steps <= 1.5 * np.median(steps)]
    return float(usual.size / usual.sum())


def combine_eyes(left: Eye, right: Eye) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray | None]:
    """Return x, y, valid and pupil as the mean over the eyes that were tracked at each sample."""
    x = _mean_of_two(left.x, right.x)
    y = _mean_of_two(left.y, right.y)
    if left.pupil is not None and right.pupil is not None:
        pupil: FloatArray | None = _mean_of_two(left.pupil, right.pupil)
    else:
        pupil = left.pupil if left.pupil is not None else right.pupil
    return x, y, left.tracked | right.tracked, pupil


def _mean_of_two(left: FloatArray, right: FloatArray) -> FloatArray:
    both = (left + right) / 2.0
    return np.where(np.isnan(left), right, np.where(np.isnan(right), left, both))


def _floats(samples: pl.DataFrame, name: str) -> FloatArray:
    return samples[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _known(valid: BoolArray | None) -> BoolArray:
    if valid is None:  # __post_init__ has filled it in; this tells the type checker
        raise InputError("validity is not known")
    return valid


def _freeze_gaze(holder: Recording | Eye, length: int, what: str) -> None:
    """Check and freeze x, y, valid and pupil of a recording or an eye."""
    x = _frozen_floats(holder.x, length, f"{what}: x")
    y = _frozen_floats(holder.y, length, f"{what}: y")
    valid = np.isfinite(x) & np.isfinite(y)
    if holder.valid is not None:
        stated = np.asarray(holder.valid)
        if stated.dtype != np.bool_ or stated.shape != (length,):
            raise InputError(f"{what}: valid must be {length:,} booleans, found {stated.shape} of {stated.dtype}")
        valid &= stated
    if not valid.all():
        x, y = _with_nan(x, valid), _with_nan(y, valid)
    valid.flags.writeable = False
    object.__setattr__(holder, "x", x)
    object.__setattr__(holder, "y", y)
    object.__setattr__(holder, "valid", valid)
    if holder.pupil is not None:
        object.__setattr__(holder, "pupil", _frozen_floats(holder.pupil, length, f"{what}: pupil"))


def _with_nan(values: FloatArray, keep: BoolArray) -> FloatArray:
    values = np.where(keep, values, np.nan)
    values.flags.writeable = False
    return values


def _frozen_floats(values: ArrayLike, length: int | None, what: str) -> FloatArray:
    """Return ``values`` as a read-only float array; a writeable one of the caller's is copied, not locked."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers: {error}") from None
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise InputError(
            f"{what} must be {'a list of' if length is None else f'{length:,}'} numbers, found shape {array.shape}"
        )
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array
