# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Veils on the sphere before the auditor: directions that are moved by a visual angle, near a pole and elsewhere.

Shown are directions; the length of the noisy vector is forgotten. The density of a direction depends on its angle to
gaze alone, so it is tabulated once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource, planar_laplace
from gazeveil.noise.parameters import NOISE_PER_DEGREE
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples._one_stream import OneStream
from gazeveil.samples._stream_audits import Gaze
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.space import Sphere

_JUST_WITHIN = 1 - 2.0**-40


@dataclass(frozen=True, slots=True)
class Directions(OneStream):
    """A veil on the sphere, one release a window, which is the first sample.

    Attributes:
        scale: The scale of the noise on unit vectors.
    """

    scale: float

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities of a direction."""
        return directions_apart(self.scale / NOISE_PER_DEGREE)(outputs, first, second)


@dataclass(frozen=True, slots=True)
class ByAngles:
    """Noise in yaw and pitch, as if they were the axes of a viewing plane."""

    per_degree: Fraction

    def run(self, data: Gaze, noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy yaw and pitch."""
        yaw, pitch = (np.full(trials, axis[0]) for axis in data.axes)
        return np.column_stack(planar_laplace(noise, yaw, pitch, self.per_degree))

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = (np.hypot(outputs[:, 0] - side.x[0], outputs[:, 1] - side.y[0]) for side in (first, second))
        return np.asarray((there - here) * float(self.per_degree))


def directions_apart(degrees: float) -> Callable[[Outputs, Gaze, Gaze], FloatArray]:
    """Return the log ratio of the two densities of a direction, for noise of a scale in degrees."""
    angles, logs = _log_density(degrees * NOISE_PER_DEGREE)

    def ratio(outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        here, there = (np.interp(_angle(outputs, side), angles, logs) for side in (first, second))
        return np.asarray(here - there)

    return ratio


@auditable("clock-sphere")
def clock_sphere(epsilon: float = 1.0, radius: float = 5.0, pitch: float = 60.0) -> Subject:
    """The clock on directions, at a pitch in degrees, over windows of gaze that are moved by a visual angle."""
    return _subject("clock", epsilon, radius, pitch, ticks=1, filter=False)


@auditable("held-ticks-sphere")
def held_ticks_sphere(epsilon: float = 1.0, radius: float = 5.0, pitch: float = 60.0) -> Subject:
    """Held ticks on directions, at a pitch in degrees, over windows of gaze that are moved by a visual angle."""
    return _subject("held-ticks", epsilon, radius, pitch, ticks=1)


@auditable("sphere-by-angles")
def sphere_by_angles(epsilon: float = 1.0, radius: float = 5.0, pitch: float = 60.0) -> Subject:
    """Broken: noise in yaw and pitch, where a visual angle is a larger step in yaw the nearer the pole (S2)."""
    runner = ByAngles(Fraction(epsilon) / Fraction(radius))
    return Subject(runner.run, GazeStreamDP(epsilon, 1, radius, "deg"), still_pairs(radius, pitch), runner.log_ratio)


def _subject(name: str, epsilon: float, radius: float, pitch: float, **options: Any) -> Subject:
    kind: Any = MECHANISMS[name]
    window = 0.5
    mechanism = kind(Sphere(), epsilon=epsilon, window=window, radius=radius, **options)
    runner = Directions(mechanism, 2 * window, radius / epsilon * NOISE_PER_DEGREE)
    return Subject(runner.run, mechanism.guarantee, still_pairs(radius, pitch), runner.log_ratio)


def still_pairs(radius: float, pitch: float) -> tuple[Pair, ...]:
    """Return two samples of still gaze, moved by a visual angle across and along the meridian."""
    turn, down = math.radians(radius) * _JUST_WITHIN, math.radians(pitch)
    across = math.atan2(math.sin(turn), math.cos(turn) * math.cos(down)), math.asin(math.cos(turn) * math.sin(down))
    along = 0.0, down - turn
    words = f"gaze at a pitch of {pitch:g} degrees, moved by {radius:g} degrees"
    return tuple(
        Pair(_still(0.0, down), _still(*place), f"{words} {way}")
        for place, way in ((across, "across the meridian"), (along, "along the meridian"))
    )


def _still(yaw: float, pitch: float) -> Gaze:
    samples = np.array([0.0, 0.1])
    return Gaze(samples, np.full(2, math.degrees(yaw)), np.full(2, math.degrees(pitch)), np.array([0]), 2)


def _angle(outputs: Outputs, gaze: Gaze) -> FloatArray:
    """Return the angle between outputs and gaze, in radians."""
    one, other = (_vectors(np.radians(place)) for place in (outputs, np.array([[gaze.x[0], gaze.y[0]]])))
    return np.asarray(2 * np.arctan2(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1)))


def _vectors(places: FloatArray) -> FloatArray:
    yaw, pitch = places.T
    return np.column_stack([np.cos(pitch) * np.sin(yaw), np.sin(pitch), np.cos(pitch) * np.cos(yaw)])


@lru_cache(maxsize=16)
def _log_density(scale: float) -> tuple[FloatArray, FloatArray]:
    """Return angles, and the logarithm of the density of a direction at them: that of vectors, over all lengths."""
    angles = np.linspace(0.0, math.pi, 2001)
    lengths = np.linspace(0.0, 1.0 + 40 * scale, 8001)[1:]
    logs = []
    for cosine in np.cos(angles):
        away = np.sqrt(np.maximum((lengths - cosine) ** 2 + 1.0 - cosine**2, 0.0)) / scale
        logs.append(math.log(np.sum(lengths**2 * np.exp(away.min() - away))) - away.min())
    return angles, np.array(logs)
