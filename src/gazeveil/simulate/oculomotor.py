# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How the eye moves: the true gaze of one participant on one scene, every millisecond, before any tracker sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.geometry import Geometry
from gazeveil.simulate.population import Observer
from gazeveil.simulate.scanpath import attraction, look_around
from gazeveil.simulate.stimulus import Stimulus

STEP_S = 0.001
_HIPPUS_STEP = 20  # the pupil is slow: it is made every 20 ms and read in between
_HIPPUS_S = 0.6  # how long the pupil's unrest remembers itself


@dataclass(frozen=True, slots=True, eq=False)
class TrueGaze:
    """What one participant's eye really did.

    Attributes:
        gaze: Degrees across and down, one row per millisecond.
        jumps: Saccades and microsaccades, one row each; see `_kernels.walk`.
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
        room = np.concatenate((self.jumps[1:, 1], [self.duration])) - self.jumps[:, 3]
        settled = np.flatnonzero((room > 0.15) & (edges[:-1] > self.duration / 2))
        best = settled[-1] if len(settled) else int(np.argmax(room))
        return float(np.floor((self.jumps[best, 3] + 0.6 * room[best]) / STEP_S) * STEP_S)

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
    from gazeveil.simulate import _kernels  # noqa: PLC0415  (compiles)

    resumed = Resumed() if resumed is None else resumed
    start = (resumed.x, resumed.y)
    samples = max(1, round(seconds / STEP_S))
    gaze = np.empty((samples, 2))
    _kernels.drift(
        rng.standard_normal((samples, 4), dtype=np.float32), observer.drift_noise, observer.drift_feedback, gaze
    )
    jumps = look_around(observer, attraction(observer, stimulus, geometry), gaze, STEP_S, start, rng)
    _kernels.render(
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
    from gazeveil.simulate import _kernels  # noqa: PLC0415  (compiles)

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
    return np.asarray(np.clip(usual + observer.hippus_mm * _kernels.coloured(noise, carry), 1.5, 9.0))
