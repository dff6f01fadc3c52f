# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Directions as points of the unit sphere: what noise is added to where gaze is in degrees.

Yaw and pitch are a map of the sphere, and like every map it is wrong somewhere: near a pole a small angle is a large
step in yaw. Unit vectors are never farther apart than their angle in radians, wherever they point. Proof:
docs/proofs/gaze-stream.md.
"""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import WordArray
from gazeveil.kernel_compiler import kernel
from gazeveil.noise.sampling_kernels import UNDECIDED, radial

_DEGREE = math.pi / 180.0


@kernel(error_model="numpy")
def direction(yaw: float, pitch: float) -> tuple[float, float, float]:
    """Return the unit vector of a direction in degrees: right, down, ahead."""
    across = _DEGREE * _half_turn(yaw)
    down = _DEGREE * _half_turn(pitch)
    return math.cos(down) * math.sin(across), math.sin(down), math.cos(down) * math.cos(across)


@kernel(error_model="numpy")
def angles(right: float, down: float, ahead: float) -> tuple[float, float]:
    """Return yaw, from -180 to below 180, and pitch of a vector of any length; straight ahead for none."""
    yaw = math.atan2(right, ahead) / _DEGREE
    pitch = math.atan2(down, math.sqrt(right * right + ahead * ahead)) / _DEGREE
    return yaw - 360.0 if yaw >= 180.0 else yaw, pitch


@kernel(error_model="numpy")
def angle_between(yaw: float, pitch: float, to_yaw: float, to_pitch: float) -> float:
    """Return the visual angle between two directions, in degrees; accurate for small and for large ones."""
    a, b, c = direction(yaw, pitch)
    d, e, f = direction(to_yaw, to_pitch)
    apart = math.sqrt((a - d) ** 2 + (b - e) ** 2 + (c - f) ** 2)
    along = math.sqrt((a + d) ** 2 + (b + e) ** 2 + (c + f) ** 2)
    return 2.0 * math.atan2(apart, along) / _DEGREE


@kernel(error_model="numpy")
def space_point(words: WordArray, scale: float, x: float, y: float, z: float) -> tuple[np.int64, np.int64, np.int64]:
    """Round one point of space plus noise, all in lattice steps; for live use, where a call must be short."""
    fractions, out = np.empty((1, 3)), np.empty((1, 3), np.int64)
    fractions[0, 0], fractions[0, 1], fractions[0, 2] = x - np.rint(x), y - np.rint(y), z - np.rint(z)
    if radial(words, scale, fractions, 0.0, out):
        return UNDECIDED, UNDECIDED, UNDECIDED
    return out[0, 0] + np.int64(np.rint(x)), out[0, 1] + np.int64(np.rint(y)), out[0, 2] + np.int64(np.rint(z))


@kernel(error_model="numpy", inline="always")
def _half_turn(angle: float) -> float:
    """Return an angle above -180 and up to 180 degrees, so that one direction has one vector."""
    angle -= 360.0 * np.rint(angle / 360.0)
    return angle + 360.0 if angle <= -180.0 else angle
