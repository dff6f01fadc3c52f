# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which strategy suits a task: a rule that looks at public numbers alone."""

from __future__ import annotations

import math

from gazeveil.aggregate.strategy import Task
from gazeveil.privacy.calibrate import gaussian_sigma
from gazeveil.privacy.unit import Neighbours

FEW = 25.0
"""Below so many effective observers few modes with radial noise are better than many numbers with Gaussian noise."""

_REFERENCE = 3.73064
"""The multiplier of Gaussian noise at ε = 1, δ = 10⁻⁵, where an observer counts as one."""


def effective_observers(task: Task) -> float:
    """Return how many observers would see as much noise per head at ε = 1, δ = 10⁻⁵ and replace-one; 0 without δ."""
    if task.delta == 0:
        return 0.0
    observers = task.observers * _REFERENCE / gaussian_sigma(task.epsilon, task.delta)
    return observers * math.sqrt(2) if task.neighbours is Neighbours.ADD_REMOVE else observers


def choose(task: Task) -> str:
    """Return the name of the strategy for a task."""
    return "modes" if effective_observers(task) < FEW else "bumps"
