# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which strategy suits a task: a rule that looks at public numbers alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from gazeveil.aggregate.strategy import Task

_MORE = 1.15
"""By so much more many numbers explain than a linear estimate from them would: the decoder is not linear."""


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
