# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of gaze before any is seen, and what follows from it: how often to tick.

Gaze is the centre of the space plus a part that wanders for some 0.7 s and a slow offset of the participant or the app.
All numbers here are public constants; nothing is learnt from the gaze that is protected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MOST_TICKS = 12
"""More ticks in a window than this are never better."""

IN_THE_PLANE, IN_SPACE = 3.0, 4.0
"""The variance of Laplace noise along an axis, in squares of its scale: of points on a screen, of directions."""


@dataclass(frozen=True, slots=True)
class GazeModel:
    """How gaze moves: two Ornstein-Uhlenbeck processes an axis, sizes as shares of the space.

    Attributes:
        spread: Standard deviation of the wandering part, across and down.
        settle: Seconds after which it has moved on.
        offset: Standard deviation of the slow offset.
        drift: Seconds after which that has moved on.
    """

    spread: tuple[float, float] = (0.20, 0.18)
    settle: float = 0.7
    offset: tuple[float, float] = (0.07, 0.09)
    drift: float = 60.0

    def variances(self, size: Sequence[float]) -> tuple[float, float, float, float]:
        """Return the variances in the space's unit: wandering across and down, offset across and down."""
        (a, b), (c, d) = self.spread, self.offset
        return (a * size[0]) ** 2, (b * size[1]) ** 2, (c * size[0]) ** 2, (d * size[1]) ** 2


EYES = GazeModel()
"""The constants of the study in which the filter was chosen."""

HEADS = GazeModel(spread=(0.15, 0.10), settle=3.0, offset=(0.20, 0.05))
"""How heads turn in the world, as shares of all around: slower than eyes, and farther across than down. Rounded from
how 16 participants turned theirs while they looked for things in a room (Schuetz, Baltaretu and Fiehler 2024)."""


def predicted_error(
    model: GazeModel, size: Sequence[float], scale: float, period: float, variance: float = IN_THE_PLANE
) -> float:
    """Return the mean squared error that the filter expects, averaged over time, both axes together.

    Ticks come every ``period`` seconds; their noise has this scale, and along an axis this variance, in its squares.
    """
    noise = variance * scale * scale
    fast, slow = math.exp(-period / model.settle), math.exp(-period / model.drift)
    stays_u, stays_m = _mean_decay(2.0 * period / model.settle), _mean_decay(2.0 * period / model.drift)
    stays_um = _mean_decay(period / model.settle + period / model.drift)
    wander_x, wander_y, offset_x, offset_y = model.variances(size)
    total = 0.0
    for var_u, var_m in ((wander_x, offset_x), (wander_y, offset_y)):
        uu, um, mm = var_u, 0.0, var_m
        for _ in range(max(20, min(400, math.ceil(2.0 * model.drift / period)))):
            with_u, with_m = uu + um, um + mm
            whole = with_u + with_m + noise
            uu, um, mm = uu - with_u * with_u / whole, um - with_u * with_m / whole, mm - with_m * with_m / whole
            after = uu, um, mm
            uu = fast * fast * uu + (1.0 - fast * fast) * var_u
            um = fast * slow * um
            mm = slow * slow * mm + (1.0 - slow * slow) * var_m
        uu, um, mm = after
        total += var_u + (uu - var_u) * stays_u + 2.0 * um * stays_um + var_m + (mm - var_m) * stays_m
    return total


@lru_cache(maxsize=1024)
def choose_c(
    model: GazeModel, size: tuple[float, ...], scale: float, window: float, variance: float = IN_THE_PLANE
) -> int:
    """Return how many ticks a window should have, from 1 to 12: the number of least expected error.

    No gaze enters, so the choice is public.

    Args:
        model: How gaze moves.
        size: The size of the space.
        scale: The noise scale of a single tick that has the whole window's budget: radius / epsilon.
        window: The length of a window in seconds.
        variance: The variance of the noise an axis, in squares of its scale.
    """
    return min(range(1, MOST_TICKS + 1), key=lambda c: predicted_error(model, size, c * scale, window / c, variance))


def _mean_decay(rate: float) -> float:
    """Return the mean of exp(-rate * share) over shares from 0 to 1."""
    return -math.expm1(-rate) / rate
