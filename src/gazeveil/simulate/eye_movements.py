# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where and when the eye goes, and its true gaze every millisecond, before any tracker sees it.

At the end of a fixation the eye considers some places within this participant's habitual reach (a gamma distribution
of amplitudes, directions rather across than up and down) and takes one in proportion to how much the scene, as
this participant sees it, draws the gaze there. It lands a little short and a little off, and mends a large miss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.geometry import Geometry, Unit
from gazeveil.simulate.population import Observer
from gazeveil.simulate.stimuli import Stimulus

_CONSIDERED = 24  # places weighed before each saccade
_SMALLEST_DEG = 0.5  # what is smaller counts as a microsaccade
_REACH = 1.8  # places are weighed from further away than the eye goes in the end: near ones win more often
_GRID = (36, 48)  # rows and columns of the attraction map


@dataclass(frozen=True, slots=True)
class Attraction:
    """How strongly each part of the viewing plane draws one participant's gaze, on a grid that is even in degrees."""

    grid: FloatArray
    extent: FloatArray  # left, top, right, bottom in degrees


def attraction(observer: Observer, stimulus: Stimulus, geometry: Geometry) -> Attraction:
    """Weigh a scene with one participant's tastes and pull to the middle."""
    left, top, right, bottom = geometry.in_unit(Unit.DEGREE).extent()
    rows, columns = _GRID
    x_deg = left + (np.arange(columns) + 0.5) / columns * (right - left)
    y_deg = top + (np.arange(rows) + 0.5) / rows * (bottom - top)
    plane = geometry.in_unit(Unit.DEGREE)
    x, _ = plane.convert(x_deg, np.zeros(columns), Unit.FRACTION)
    _, y = plane.convert(np.zeros(rows), y_deg, Unit.FRACTION)
    drawn = stimulus.attraction(
        x[None, :] + 0.0 * y[:, None], y[:, None] + 0.0 * x[None, :], stimulus.weights_for(observer)
    )
    middle = np.exp(-(x_deg[None, :] ** 2 + y_deg[:, None] ** 2) / (2 * observer.centre_spread_deg**2))
    return Attraction(np.ascontiguousarray(drawn * middle), np.array([left, top, right, bottom]))


def look_around(
    observer: Observer,
    attracted: Attraction,
    drifted: FloatArray,
    step: float,
    start: tuple[float, float],
    rng: np.random.Generator,
) -> FloatArray:
    """Return a participant's jumps (saccades and microsaccades) in order; see `eye_movement_kernels.walk`."""
    from gazeveil.simulate import eye_movement_kernels  # noqa: PLC0415  (compiles)

    duration = len(drifted) * step
    # enough fixations to fill the time: the shortest imaginable mean, and some more
    count = int(duration / observer.fixation_s * 1.5) + 20
    spread = np.sqrt(np.log1p(observer.fixation_cv**2))
    rest = observer.fixation_s * np.exp(spread * rng.standard_normal(count) - spread**2 / 2)
    rest[0] = observer.latency_s * np.exp(0.2 * rng.standard_normal())
    short_rest = np.maximum(0.13 + 0.04 * rng.standard_normal(count), 0.06)
    shape = observer.amplitude_shape
    reach = _SMALLEST_DEG + rng.standard_gamma(shape, (count, _CONSIDERED)) * (
        _REACH * (observer.amplitude_deg - _SMALLEST_DEG) / shape
    )
    micro_count = int(duration * observer.microsaccade_hz * 1.5) + 20
    jumps = np.empty((count + micro_count, 10))
    made = eye_movement_kernels.walk(
        drifted,
        step,
        np.array(start),
        np.maximum(rest, 0.05),
        short_rest,
        reach,
        rng.uniform(-np.pi, np.pi, (count, _CONSIDERED)),
        rng.random(count),
        rng.standard_normal((count, 2)),
        np.exp(observer.velocity_scatter * rng.standard_normal(count)),
        rng.standard_gamma(5.0, micro_count) / (5.0 * observer.microsaccade_hz),
        rng.standard_gamma(4.0, micro_count) * (observer.microsaccade_deg / 4.0),
        rng.uniform(-np.pi, np.pi, micro_count),
        attracted.grid,
        attracted.extent,
        np.array(
            [
                observer.saccade_ceiling,
                observer.saccade_scale,
                observer.saccade_stretch,
                observer.saccade_gain,
                observer.landing_scatter,
                observer.horizontal_bias,
            ]
        ),
        jumps,
    )
    return jumps[:made]


# --- The true gaze of one participant on one scene.


STEP_S = 0.001
_HIPPUS_STEP = 20  # the pupil is slow: it is made every 20 ms and read in between
_HIPPUS_S = 0.6  # time constant of the pupil's unrest


@dataclass(frozen=True, slots=True, eq=False)
class TrueGaze:
    """What one participant's eye really did.

    Attributes:
        gaze: Degrees across and down, one row per millisecond.
        jumps: Saccades and microsaccades, one row each; see `eye_movement_kernels.walk`.
        blinks: First and last moment of each blink in seconds, one row each.
        pupil: Diameter in mm, one value per 20 ms.
        shown_s: How long the scene had been on at time 0.
    """

    gaze: FloatArray
    jumps: FloatArray
    blinks: FloatArray
    pupil: FloatArray

    shown_s: float = 0.0

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self.gaze) * STEP_S

    def pupil_at(self, when: FloatArray) -> FloatArray:
        """Return the pupil's diameter at moments given in milliseconds."""
        return np.interp(when, np.arange(len(self.pupil)) * _HIPPUS_STEP, self.pupil)

    def resting_moment(self) -> float:
        """Return a moment late in this gaze, on a whole millisecond, at which the eye rests."""
        if not len(self.jumps):
            return self.duration
        # between two jumps, far enough from both that nothing of either is left to come
        edges = np.concatenate((self.jumps[:, 3], [self.duration]))
        pause = np.concatenate((self.jumps[1:, 1], [self.duration])) - self.jumps[:, 3]
        settled = np.flatnonzero((pause > 0.15) & (edges[:-1] > self.duration / 2))
        best = settled[-1] if len(settled) else int(np.argmax(pause))
        return float(np.floor((self.jumps[best, 3] + 0.6 * pause[best]) / STEP_S) * STEP_S)

    def resume_at(self, moment: float, before: Resumed) -> Resumed:
        """Return where a continuation takes over."""
        last = min(round(moment / STEP_S), len(self.gaze) - 1)
        pupil = float(self.pupil_at(np.array([moment / STEP_S]))[0])
        return Resumed(float(self.gaze[last, 0]), float(self.gaze[last, 1]), before.shown_s + moment, pupil)


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where and when looking starts: by default in the middle, at the moment the scene appears."""

    x: float = 0.0
    y: float = 0.0
    shown_s: float = 0.0
    pupil_mm: float | None = None


def look(
    observer: Observer,
    stimulus: Stimulus,
    geometry: Geometry,
    seconds: float,
    rng: np.random.Generator,
    resumed: Resumed | None = None,
) -> TrueGaze:
    """Let a participant look at a scene that appears at time 0, or go on looking."""
    from gazeveil.simulate import eye_movement_kernels  # noqa: PLC0415  (compiles)

    resumed = Resumed() if resumed is None else resumed
    start = (resumed.x, resumed.y)
    samples = max(1, round(seconds / STEP_S))
    gaze = np.empty((samples, 2))
    eye_movement_kernels.drift(
        rng.standard_normal((samples, 4), dtype=np.float32), observer.drift_noise, observer.drift_feedback, gaze
    )
    jumps = look_around(observer, attraction(observer, stimulus, geometry), gaze, STEP_S, start, rng)
    eye_movement_kernels.render(
        gaze,
        STEP_S,
        np.array(start),
        jumps,
        observer.saccade_scale,
        observer.saccade_stretch,
        observer.saccade_curve,
        observer.wobble_gain,
        observer.wobble_hz,
    )
    return TrueGaze(
        gaze,
        jumps,
        blinks_of(observer, seconds, rng),
        pupil_of(observer, stimulus, samples, rng, resumed),
        resumed.shown_s,
    )


def blinks_of(observer: Observer, seconds: float, rng: np.random.Generator) -> FloatArray:
    """Return the blinks: gamma waits, log-normal lengths."""
    mean_wait = 60.0 / observer.blinks_per_minute
    count = int(seconds / mean_wait * 2) + 20
    length = np.clip(observer.blink_s * np.exp(0.3 * rng.standard_normal(count)), 0.05, 0.8)
    wait = np.maximum(rng.standard_gamma(1.5, count) * (mean_wait / 1.5), 0.25)
    wait[0] *= rng.random()  # the recording starts somewhere between two blinks
    begin = np.cumsum(wait) + np.concatenate(([0.0], np.cumsum(length)[:-1]))
    blinks = np.column_stack((begin, begin + length))
    return blinks[blinks[:, 0] < seconds]


def pupil_of(
    observer: Observer, stimulus: Stimulus, samples: int, rng: np.random.Generator, resumed: Resumed
) -> FloatArray:
    """Return the pupil's diameter: baseline, unrest, and the scene's light narrowing it after its onset."""
    from gazeveil.simulate import eye_movement_kernels  # noqa: PLC0415  (compiles)

    count = samples // _HIPPUS_STEP + 2
    t = np.arange(count) * (_HIPPUS_STEP * STEP_S)
    carry = float(np.exp(-_HIPPUS_STEP * STEP_S / _HIPPUS_S))
    # after 0.2 s it narrows within about a second and then gives back a third
    since = np.maximum(resumed.shown_s + t - 0.2, 0.0)
    narrowed = (1 - np.exp(-since / 0.25)) * (0.67 + 0.33 * np.exp(-since / 2.0))
    usual = observer.pupil_mm - observer.light_response_mm * stimulus.brightness * narrowed
    noise = rng.standard_normal(count)
    if resumed.pupil_mm is not None:
        noise[0] = (resumed.pupil_mm - usual[0]) / observer.hippus_mm
    return np.asarray(np.clip(usual + observer.hippus_mm * eye_movement_kernels.coloured(noise, carry), 1.5, 9.0))
