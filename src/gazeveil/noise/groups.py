# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Participants in random groups: a draw that is not noise on a number."""

from __future__ import annotations

import numpy as np

from gazeveil.errors import InputError
from gazeveil.noise.source import NoiseSource
from gazeveil.types import IntArray


def random_groups(source: NoiseSource, people: int, size: int) -> list[IntArray]:
    """Return participants, counted from 0, in random groups of at least ``size``; every number is in one of them.

    Participants beyond a whole number of groups join the groups one by one, so no group is smaller.

    Raises:
        InputError: If there are fewer participants than a group needs.
    """
    if people < size:
        raise InputError(
            f"groups of {size:,} need at least {size:,} participants, and there are {people:,}", hint="use a smaller k"
        )
    order = np.argsort(source.words(people), kind="stable")  # equal words have a chance below people² / 2⁶⁴
    groups = people // size
    return [np.sort(order[group::groups]) for group in range(groups)]
