# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which strategy suits a task: a rule that looks at public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from gazeveil.aggregate.strategy import Task
from gazeveil.privacy.calibrate import gaussian_sigma
from gazeveil.privacy.unit import Neighbours

_MORE = 1.15
"""By so much more many numbers explain than a linear estimate from them would: the decoder is not linear."""

_REFERENCE = 3.73064
"""The multiplier of Gaussian noise at ε = 1, δ = 10⁻⁵, where an observer counts as one."""


def effective_observers(task: Task) -> float:
    """Return how many observers would see as much noise per head at ε = 1, δ = 10⁻⁵ and replace-one; 0 without δ."""
    if task.delta == 0:
        return 0.0
    observers = task.observers * _REFERENCE / gaussian_sigma(task.epsilon, task.delta)
    return observers * math.sqrt(2) if task.neighbours is Neighbours.ADD_REMOVE else observers


def choose(task: Task) -> str:
    """Return the name of the strategy for a task: the one whose numbers should explain more of the map."""
    if task.delta == 0:
        return "modes"
    shares = explained(task)
    return max(shares, key=lambda name: shares[name])


@lru_cache(maxsize=16)
def explained(task: Task) -> Mapping[str, float]:
    """Return which share of what the prior leaves open each strategy in question should explain."""
    from gazeveil.aggregate.strategies import bumps, modes  # noqa: PLC0415  (they ask here how much noise there is)

    if task.delta == 0:
        return {"modes": modes.explained(task)}
    return {"bumps": min(_MORE * bumps.explained(task), 1.0), "modes": modes.explained(task)}
