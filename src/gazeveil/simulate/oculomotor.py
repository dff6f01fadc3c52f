# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How the eye moves: the true gaze of one person on one scene, every millisecond, before any tracker sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.gaze.geometry import FloatArray, Geometry
from gazeveil.simulate.population import Observer
from gazeveil.simulate.scanpath import attraction, look_around
from gazeveil.simulate.stimulus import Stimulus

STEP_S = 0.001
_HIPPUS_STEP = 20  # the pupil is slow: it is made every 20 ms and read in between
_HIPPUS_S = 0.6  # how long the pupil's unrest remembers itself


@dataclass(frozen=True, slots=True, eq=False)
class TrueGaze:
    """What one person's eye really did.

    Attributes:
        gaze: Degrees across and down, one row per millisecond.
        jumps: Saccades and microsaccades, one row each; see `_kernels.walk`.
        blinks: First and last moment of each blink in seconds, one row each.
        pupil: Diameter in mm, one value per 20 ms.
    """

    gaze: FloatArray
    jumps: FloatArray
    blinks: FloatArray
    pupil: FloatArray

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self.gaze) * STEP_S

    def pupil_at(self, when: FloatArray) -> FloatArray:
        """Return the pupil's diameter at moments given in milliseconds."""
        return np.interp(when, np.arange(len(self.pupil)) * _HIPPUS_STEP, self.pupil)


def look(
    observer: Observer,
    stimulus: Stimulus,
    geometry: Geometry,
    seconds: float,
    rng: np.random.Generator,
    start: tuple[float, float] = (0.0, 0.0),
) -> TrueGaze:
    """Let a person look at a scene that appears at time 0, from a starting place in degrees."""
    from gazeveil.simulate import _kernels  # noqa: PLC0415  (compiles)

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
    return TrueGaze(gaze, jumps, _blinks(observer, seconds, rng), _pupil(observer, stimulus, samples, rng))


def _blinks(observer: Observer, seconds: float, rng: np.random.Generator) -> FloatArray:
    """Return the blinks: gamma waits, log-normal lengths."""
    mean_wait = 60.0 / observer.blinks_per_minute
    count = int(seconds / mean_wait * 2) + 20
    length = np.clip(observer.blink_s * np.exp(0.3 * rng.standard_normal(count)), 0.05, 0.8)
    wait = np.maximum(rng.standard_gamma(1.5, count) * (mean_wait / 1.5), 0.25)
    wait[0] *= rng.random()  # the recording starts somewhere between two blinks
    begin = np.cumsum(wait) + np.concatenate(([0.0], np.cumsum(length)[:-1]))
    blinks = np.column_stack((begin, begin + length))
    return blinks[blinks[:, 0] < seconds]


def _pupil(observer: Observer, stimulus: Stimulus, samples: int, rng: np.random.Generator) -> FloatArray:
    """Return the pupil's diameter: baseline, unrest, and the scene's light narrowing it after its onset."""
    from gazeveil.simulate import _kernels  # noqa: PLC0415  (compiles)

    count = samples // _HIPPUS_STEP + 2
    t = np.arange(count) * (_HIPPUS_STEP * STEP_S)
    carry = float(np.exp(-_HIPPUS_STEP * STEP_S / _HIPPUS_S))
    unrest = observer.hippus_mm * _kernels.coloured(rng.standard_normal(count), carry)
    # after 0.2 s it narrows within about a second and then gives back a third
    since = np.maximum(t - 0.2, 0.0)
    narrowed = (1 - np.exp(-since / 0.25)) * (0.67 + 0.33 * np.exp(-since / 2.0))
    diameter = observer.pupil_mm + unrest - observer.light_response_mm * stimulus.brightness * narrowed
    return np.asarray(np.clip(diameter, 1.5, 9.0))
