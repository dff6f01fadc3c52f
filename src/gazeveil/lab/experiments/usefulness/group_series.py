# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Can a reader of a released group series see how documents differ? Series to draw, and how often the sign is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.features.group_series import GroupSeries
from gazeveil.lab.experiments.feature_people import People
from gazeveil.noise import NoiseSource

VISIBLE = 0.05
"""Differences of time-averages of at least so much of a range are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupPicture:
    """Released group series of one feature.

    Attributes:
        feature: Which.
        truths: The true mean series of every task.
        released: For participants and ε, for every task the released mean and its standard deviation.
        signs: For participants and ε, how often the sign of a visible difference between two tasks is right.
        pairs: How many differences are visible.
    """

    feature: str
    truths: dict[str, FloatArray]
    released: dict[tuple[int, float], dict[str, tuple[FloatArray, FloatArray]]]
    signs: dict[tuple[int, float], float]
    pairs: int


def most_telling(people: People) -> str:
    """Return the feature in which public tasks differ most: a public choice."""
    level = people.design.between[0]
    return people.ranges.names[int(np.argmax(np.square(people.design.components) @ level))]


def picture(
    people: People,
    feature: str,
    *,
    sizes: Sequence[int] = (20, 50, 100),
    epsilons: Sequence[float] = (1.0, 3.0),
    repeats: int = 10,
    seed: int = 1,
) -> GroupPicture:
    """Return group series of every task for every number of participants and ε."""
    noise = NoiseSource.seeded(seed)
    column = people.ranges.names.index(feature)
    truths = {task: series.mean(axis=0) for task, series in people.private.items()}
    released: dict[tuple[int, float], dict[str, tuple[FloatArray, FloatArray]]] = {}
    signs: dict[tuple[int, float], float] = {}
    visible = _visible(truths)
    for size in sizes:
        for epsilon in epsilons:
            mechanism = GroupSeries(epsilon=epsilon, delta="1e-5", design=people.design)
            right = []
            for _ in range(repeats):
                made = {task: mechanism.estimate(series[:size], noise) for task, series in people.private.items()}
                for first, second, which, sign in visible:
                    apart = made[first].mean.mean(axis=0)[which] - made[second].mean.mean(axis=0)[which]
                    right.append(bool(np.sign(apart) == sign))
            released[size, epsilon] = {
                task: (estimate.mean[:, column], estimate.sd[:, column]) for task, estimate in made.items()
            }
            signs[size, epsilon] = float(np.mean(right)) if right else float("nan")
    return GroupPicture(
        feature, {task: mean[:, column] for task, mean in truths.items()}, released, signs, len(visible)
    )


def _visible(truths: dict[str, FloatArray]) -> list[tuple[str, str, int, float]]:
    """Return pairs of tasks and features whose time-averages differ enough to be asked for, with the sign."""
    found = []
    for first, second in combinations(truths, 2):
        apart = truths[first].mean(axis=0) - truths[second].mean(axis=0)
        found += [(first, second, int(which), float(np.sign(apart[which])))
                  for which in np.flatnonzero(np.abs(apart) >= VISIBLE)]  # fmt: skip
    return found
