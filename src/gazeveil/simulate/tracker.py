# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a tracker measures of the true gaze: its clock, errors and losses; and endless live gaze.

Noise has a magnitude, ``sqrt(RMS-S2S² + STD²)``, and a type, ``RMS-S2S / STD`` (RMS-S2S: root mean square of steps
from sample to sample; STD: spread within a fixation). A type of √2 is white noise; the lower, the smoother.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry, Unit, headset, screen
from gazeveil.registry import Names
from gazeveil.simulate.eye_movements import STEP_S, Resumed, TrueGaze, look
from gazeveil.simulate.population import Observer, Purpose, generator
from gazeveil.simulate.stimuli import Stimulus

_LID_S = 0.03  # how long before and after a blink the lid already covers part of the pupil
_LID_DEG = 2.0  # how far down that pulls the measured gaze


@dataclass(frozen=True, slots=True)
class Tracker:
    """A kind of eye tracker.

    Attributes:
        name: What it is called.
        rate_hz: Samples per second.
        geometry: The viewing plane it measures on by default.
        noise_deg: Magnitude of its noise for a typical participant, in degrees over both axes.
        noise_type: Colour of its noise, RMS-S2S / STD per axis, above 0 and below 2.
        accuracy_deg: Mean distance between true and measured gaze after calibration, for a typical participant.
        stretch_error: Standard deviation of the relative error in scale that a calibration leaves.
        exposure_s: Over how long one measurement averages.
        latency_s: How far a sample's time stamp lags behind the moment it shows.
        clock_jitter_s: How late a sample comes now and then: the spread of a half-normal delay.
        losses_per_minute: How often tracking is lost apart from blinks, for a typical participant.
        loss_s: How long such a loss lasts on average.
        quantum: Smallest step of its numbers, in the unit of its geometry.
        pupil_unit: ``mm``, or empty if it reports arbitrary units (here thousandths of a mm).
    """

    name: str
    rate_hz: float
    geometry: Geometry
    noise_deg: float
    noise_type: float
    accuracy_deg: float
    stretch_error: float = 0.01
    exposure_s: float = 0.0
    latency_s: float = 0.0
    clock_jitter_s: float = 0.0
    losses_per_minute: float = 0.0
    loss_s: float = 0.05
    quantum: float = 0.0
    pupil_unit: str = "mm"

    def __post_init__(self) -> None:
        if not 1 <= self.rate_hz <= 1000:
            raise OptionError(f"a tracker measures 1 to 1000 times a second, not {self.rate_hz:g}")
        if not 0 < self.noise_type < 2:
            raise OptionError(f"noise_type lies above 0 and below 2, not at {self.noise_type:g}")
        if not self.geometry.knows_degrees:
            raise OptionError(
                "a tracker's viewing plane must be known in degrees", hint="give its size in mm and distance"
            )

    @property
    def noise_carry(self) -> float:
        """Share of one sample's noise that stays in the next: noise of that colour as a first-order process."""
        return 1.0 - self.noise_type**2 / 2.0

    def noise_sd(self, observer: Observer) -> float:
        """Standard deviation of the noise per axis for this participant, in degrees."""
        return observer.precision_factor * self.noise_deg / math.sqrt(2.0 * (1.0 + self.noise_type**2))

    def calibrate(self, observer: Observer, rng: np.random.Generator) -> FloatArray:
        """Return the systematic error a calibration leaves: a shift in degrees, then a stretch, row by row."""
        shift = observer.accuracy_factor * self.accuracy_deg / math.sqrt(math.pi / 2.0) * rng.standard_normal(2)
        return np.concatenate((shift, self.stretch_error * rng.standard_normal(4)))

    def clock(self, seconds: float, rng: np.random.Generator) -> FloatArray:
        """Return the time stamps of a recording that starts at 0."""
        return self.stamps(np.arange(max(1, math.floor(seconds * self.rate_hz + 1e-9))), rng)

    def stamps(self, samples: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Return the time stamps of samples by their number; each frame comes somewhat late, the order stays."""
        times = samples / self.rate_hz
        if not self.clock_jitter_s:
            return times
        late = np.clip(np.abs(self.clock_jitter_s * rng.standard_normal(len(samples))), 0.0, 0.9 / self.rate_hz)
        return np.asarray(np.round(times + late, 6))

    def observe(
        self,
        true: TrueGaze,
        observer: Observer,
        calibration: FloatArray,
        times: FloatArray,
        geometry: Geometry,
        rng: np.random.Generator,
        vergence: FloatArray | None = None,
        noise_state: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
        """Measure one eye: x and y in the geometry's unit, whether it was tracked, and its pupil.

        Args:
            true: What the eye did.
            observer: Whose eye it is, as on that day.
            calibration: What `calibrate` gave.
            times: What `clock` gave.
            geometry: The viewing plane to measure on.
            rng: Where the noise comes from.
            vergence: How far this eye points beside the gaze, in degrees across, one value per time.
            noise_state: The noise before the first sample in standard units, two values; left as after the last.
        """
        from gazeveil.simulate import eye_movement_kernels  # noqa: PLC0415  (compiles)

        count = len(times)
        moments = (times - self.latency_s) / STEP_S
        x, y = np.empty(count), np.empty(count)
        exposure = max(1, round(self.exposure_s / STEP_S))
        if noise_state is None:
            noise_state = rng.standard_normal(2)
        noise = rng.standard_normal((count, 2), dtype=np.float32)
        eye_movement_kernels.sense(
            true.gaze,
            moments,
            exposure,
            noise,
            noise_state,
            self.noise_sd(observer),
            self.noise_carry,
            calibration,
            x,
            y,
        )
        if vergence is not None:
            x += vergence
        pupil = true.pupil_at(moments) if self.pupil_unit == "mm" else 1000.0 * true.pupil_at(moments)
        tracked = np.ones(count, dtype=np.bool_)
        shown = times - self.latency_s
        for begin, end in true.blinks:
            first, last = np.searchsorted(shown, (begin, end))
            tracked[first:last] = False
            self._close_lid(shown, y, pupil, (int(first), int(last)), (begin, end))
        self._lose(tracked, observer, times, rng)
        if geometry.unit is not Unit.DEGREE:
            x, y = geometry.in_unit(Unit.DEGREE).convert(x, y, geometry.unit)
        if self.quantum:
            x, y = np.round(x / self.quantum) * self.quantum, np.round(y / self.quantum) * self.quantum
        return x, y, tracked, np.where(tracked, np.round(pupil, 3), np.nan)

    def _close_lid(
        self,
        shown: FloatArray,
        y: FloatArray,
        pupil: FloatArray,
        lost: tuple[int, int],
        blink: tuple[float, float],
    ) -> None:
        """Pull gaze down and shrink the pupil while the lid closes before and opens after a blink."""
        before = slice(int(np.searchsorted(shown, blink[0] - _LID_S)), lost[0])
        after = slice(lost[1], int(np.searchsorted(shown, blink[1] + _LID_S)))
        for edge, moment in ((before, blink[0]), (after, blink[1])):
            covered = (1.0 - np.abs(shown[edge] - moment) / _LID_S) ** 2
            y[edge] += _LID_DEG * covered
            pupil[edge] *= 1.0 - 0.5 * covered

    def _lose(self, tracked: BoolArray, observer: Observer, times: FloatArray, rng: np.random.Generator) -> None:
        """Lose the eye now and then, for a while."""
        duration = len(times) / self.rate_hz
        count = rng.poisson(self.losses_per_minute * observer.loss_factor * duration / 60.0)
        begin = times[0] + rng.uniform(0.0, duration, count)
        length = np.maximum(rng.exponential(self.loss_s, count), 1.0 / self.rate_hz)
        for first, last in zip(np.searchsorted(times, begin), np.searchsorted(times, begin + length), strict=True):
            tracked[first:last] = False


_TRACKERS = (
    # accuracy 0.25-0.5 deg (SR Research); screen and distance as in GazeBase (Griffith 2021); 0.1 px steps
    Tracker(
        "eyelink",
        rate_hz=1000,
        geometry=screen(1680, 1050, 474, 297, 550),
        noise_deg=0.1,
        noise_type=0.3,
        accuracy_deg=0.45,
        losses_per_minute=0.5,
        loss_s=0.05,
        quantum=0.1,
        pupil_unit="",
    ),
    # accuracy 2.64 ± 1.24 deg in a Quest Pro (Wilson 2024), about 1 deg in better devices
    Tracker(
        "headset",
        rate_hz=90,
        geometry=headset(96, 72),
        noise_deg=0.32,
        noise_type=0.6,
        accuracy_deg=1.5,
        stretch_error=0.03,
        exposure_s=0.005,
        latency_s=0.015,
        clock_jitter_s=0.0004,
        losses_per_minute=40,
        loss_s=0.05,
        quantum=0.01,
    ),
    # a cheap infrared bar below the screen: accuracy 0.5-1 deg (EyeTribe), noise and loss as in Ziman's data
    Tracker(
        "remote",
        rate_hz=30,
        geometry=screen(1920, 1080, 518, 291, 600),
        noise_deg=0.52,
        noise_type=1.35,
        accuracy_deg=0.8,
        stretch_error=0.02,
        exposure_s=0.01,
        latency_s=0.02,
        clock_jitter_s=0.004,
        losses_per_minute=45,
        loss_s=0.12,
        quantum=1.0,
        pupil_unit="",
    ),
    # a laptop's camera: noise of the same colour, larger
    Tracker(
        "webcam",
        rate_hz=30,
        geometry=screen(1920, 1080, 344, 194, 600),
        noise_deg=1.4,
        noise_type=1.1,
        accuracy_deg=2.5,
        stretch_error=0.06,
        exposure_s=0.02,
        latency_s=0.06,
        clock_jitter_s=0.003,
        losses_per_minute=12,
        loss_s=0.25,
        quantum=1.0,
    ),
)

TRACKERS: Final[Names[Tracker]] = Names("tracker", {tracker.name: tracker for tracker in _TRACKERS})
"""Trackers to simulate, by name."""


# --- Endless gaze: one participant keeps looking at one scene, for live trackers and streams.


_EPISODE_S = 10.0  # how many seconds of gaze are computed at a time


class Block(NamedTuple):
    """Some consecutive samples; x and y are NaN where the eye was lost."""

    t: FloatArray
    x: FloatArray
    y: FloatArray
    valid: BoolArray
    pupil: FloatArray


@dataclass(frozen=True, slots=True)
class GazeStream:
    """Endless gaze of one participant on one scene through one tracker; the same every time for the same seed.

    Attributes:
        observer: Who looks; `Observer.on_day` gives the participant of one day.
        stimulus: At what.
        tracker: Through which tracker.
        seed: The stream's own seed.
        geometry: The viewing plane to measure on instead of the tracker's own.
    """

    observer: Observer
    stimulus: Stimulus
    tracker: Tracker
    seed: int = 1
    geometry: Geometry | None = None

    def blocks(self, seconds: float = 0.1) -> Iterator[Block]:
        """Yield blocks of this many seconds, for ever. The caller keeps the pace; nothing sleeps here."""
        size = math.floor(seconds * self.tracker.rate_hz + 1e-9)
        if size < 1:
            raise OptionError(
                f"a block of {seconds:g} s holds no sample at {self.tracker.rate_hz:g} Hz",
                hint=f"take at least {1 / self.tracker.rate_hz:.3g} s",
            )
        waiting: list[Block] = []
        held = 0
        for episode in self._episodes():
            waiting.append(episode)
            held += len(episode.t)
            if held < size:
                continue
            joined = Block._make(np.concatenate(parts) for parts in zip(*waiting, strict=True))
            full = held - held % size
            for begin in range(0, full, size):
                yield Block._make(column[begin : begin + size] for column in joined)
            waiting = [Block._make(column[full:] for column in joined)]
            held -= full

    def _episodes(self) -> Iterator[Block]:
        """Yield stretches of gaze, each going on where the last one stopped, cut while the eye rests."""
        plane = self.tracker.geometry if self.geometry is None else self.geometry
        rng = generator(self.seed, Purpose.STREAM, self.observer.seed, self.observer.index, self.stimulus.name)
        calibration = self.tracker.calibrate(self.observer, rng)
        noise_state = rng.standard_normal(2)
        resumed = Resumed()
        begun, sample = 0.0, 0
        while True:
            true = look(self.observer, self.stimulus, plane, _EPISODE_S, rng, resumed)
            cut = true.resting_moment()
            last = math.ceil((begun + cut) * self.tracker.rate_hz - 1e-9)
            if last > sample:
                times = self.tracker.stamps(np.arange(sample, last), rng) + self.tracker.latency_s
                measured = self.tracker.observe(
                    true, self.observer, calibration, times - begun, plane, rng, noise_state=noise_state
                )
                x, y, tracked, pupil = measured
                yield Block(times, np.where(tracked, x, np.nan), np.where(tracked, y, np.nan), tracked, pupil)
            resumed = true.resume_at(cut, resumed)
            begun, sample = begun + cut, last
