# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far veiled gaze lies from the true gaze: root mean square over the compared samples."""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.geometry import Geometry
from gazeveil.lab.utility.streams.pair import METRICS, Pair


@METRICS.register("rmse_px")
def rmse_px(pair: Pair) -> float:
    """Return the root mean square distance in pixels; NaN on a viewing plane without pixels."""
    if not pair.raw.geometry.knows_pixels:
        return math.nan
    x, y, veiled_x, veiled_y = pair.compared("px")
    return root_mean_square(np.hypot(veiled_x - x, veiled_y - y))


@METRICS.register("rmse_deg")
def rmse_deg(pair: Pair) -> float:
    """Return the root mean square angle between the two lines of sight, in degrees; NaN where angles are not known.

    It is the angle in space, so a headset's yaw may wrap, and near the poles yaw counts for little.
    """
    plane = pair.raw.geometry
    if not plane.knows_degrees:
        return math.nan
    x, y, veiled_x, veiled_y = pair.compared("deg")
    one, other = line_of_sight(plane, x, y), line_of_sight(plane, veiled_x, veiled_y)
    # the chord is exact where the cosine has lost all its digits
    half = np.linalg.norm(one - other, axis=0) / 2
    return root_mean_square(np.degrees(2 * np.arcsin(np.minimum(half, 1))))


@METRICS.register("centre_rmse_px")
def centre_rmse_px(pair: Pair) -> float:
    """Return the distance that "always the centre" would have: a mechanism above it is of no use by this measure."""
    if not pair.raw.geometry.knows_pixels:
        return math.nan
    x, y, _, _ = pair.compared("px")
    plane = pair.raw.geometry.in_unit("px")
    left, top, right, bottom = plane.extent()
    return root_mean_square(np.hypot(x - (left + right) / 2, y - (top + bottom) / 2))


def line_of_sight(plane: Geometry, right_deg: FloatArray, down_deg: FloatArray) -> FloatArray:
    """Return unit vectors (right, down, ahead), one column a sample.

    On a measured screen both angles are those of the point on the screen; in a headset they are yaw and pitch.
    """
    right, down = np.radians(right_deg), np.radians(down_deg)
    if plane.width_mm is not None and plane.distance_mm is not None:
        rays = np.stack([np.tan(right), np.tan(down), np.ones_like(right)])
        return np.asarray(rays / np.linalg.norm(rays, axis=0))
    return np.stack([np.sin(right) * np.cos(down), np.sin(down), np.cos(right) * np.cos(down)])


def root_mean_square(values: FloatArray) -> float:
    """Return the root of the mean square; NaN of nothing."""
    return math.sqrt(float(np.mean(np.square(values)))) if values.size else math.nan
