# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A small L-BFGS: minimise a smooth function of many variables from its gradient (Liu and Nocedal 1989)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from gazeveil.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]

_MEMORY = 12
_ENOUGH_DECREASE = 1e-4
_MOST_HALVINGS = 25


def minimise(objective: Objective, start: FloatArray, most_steps: int, tolerance: float = 1e-5) -> FloatArray:
    """Return where the search from ``start`` ends: a flat spot, or as far as ``most_steps`` go.

    Args:
        objective: Gives value and gradient.
        start: Where to begin.
        most_steps: How many steps at most.
        tolerance: Stop once a step improves the value by less than this, or the gradient is this short.
    """
    here = np.array(start, dtype=np.float64)
    value, gradient = objective(here)
    memory: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=_MEMORY)
    for _ in range(most_steps):
        if float(np.linalg.norm(gradient)) < tolerance:
            break
        direction = _direction(gradient, memory)
        slope = float(gradient @ direction)
        step = 1.0 if memory else min(1.0, 1.0 / float(np.linalg.norm(gradient)))
        for _ in range(_MOST_HALVINGS):
            there = here + step * direction
            new_value, new_gradient = objective(there)
            if new_value <= value + _ENOUGH_DECREASE * step * slope:
                break
            step /= 2
        else:
            break
        change, bend = there - here, new_gradient - gradient
        curvature = float(change @ bend)
        if curvature > 1e-12 * float(bend @ bend):
            memory.append((change, bend, curvature))
        gained = value - new_value
        here, value, gradient = there, new_value, new_gradient
        if gained < tolerance:
            break
    return here


def _direction(gradient: FloatArray, memory: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """Return minus the gradient times the inverse curvature that the remembered steps suggest."""
    direction = -gradient
    shares: list[float] = []
    for change, bend, curvature in reversed(memory):
        share = float(change @ direction) / curvature
        shares.append(share)
        direction = direction - share * bend
    if memory:
        _, bend, curvature = memory[-1]
        direction = direction * (curvature / float(bend @ bend))
    for (change, bend, curvature), share in zip(memory, reversed(shares), strict=True):
        direction = direction + (share - float(bend @ direction) / curvature) * change
    return direction
