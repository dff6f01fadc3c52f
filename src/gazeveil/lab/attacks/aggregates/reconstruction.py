# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Reconstruction: what one participant did, from what is released of all and what is known of the others.

Liu et al. 2019, section 3.3: whoever has the mean of n and knows n - 1 of them subtracts, and has the last one. The
same holds for anything that adds up over participants: maps of every second, how many went from one area to another.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError


def left_over(mean: FloatArray, number: int, others: FloatArray) -> FloatArray:
    """Return what is left of a released mean for the last participant.

    Args:
        mean: What was released, a mean over all.
        number: How many took part; public.
        others: What the others have, one row each.

    Raises:
        InputError: If not all but one of them are known.
    """
    if others.shape != (number - 1, *mean.shape):
        raise InputError(f"{number - 1} others with {mean.shape} numbers each must be known, not {others.shape}")
    return np.asarray(number * mean - others.sum(axis=0))


def left_over_of_selection(mean: FloatArray, selected: int, others: FloatArray) -> FloatArray | None:
    """Return the last participant's counts from the mean of a random selection, if they are in it; else None.

    Who was drawn is not known. So every choice of others is tried: if the last one was drawn, what is left by the right
    choice is nowhere below zero. If the mean is that of others alone, nothing is left of it by one of them. Several
    answers that differ are no answer.

    Args:
        mean: The mean of those who were drawn, without noise.
        selected: How many were drawn; public.
        others: The counts of all others, one row each.
    """
    total = np.round(selected * mean)
    if any(np.array_equal(others[list(who)].sum(axis=0), total) for who in combinations(range(len(others)), selected)):
        return None
    rests = [total - others[list(who)].sum(axis=0) for who in combinations(range(len(others)), selected - 1)]
    possible = [rest for rest in rests if rest.min() >= 0]
    return possible[0] if possible and all(np.array_equal(rest, possible[0]) for rest in possible) else None


def all_cells_right(guess: FloatArray, truth: FloatArray) -> float:
    """Return the share of whole numbers that a guess has right, where the truth is not zero or the guess is not."""
    rounded = np.round(guess)
    asked = (truth != 0) | (rounded != 0)
    return float((rounded == truth)[asked].mean()) if asked.any() else 1.0


def likeliest_right(guess: FloatArray, truth: FloatArray) -> float:
    """Return the share of what someone did that is among as many likeliest of a guess; NaN if they did nothing.

    For lists of things that someone did or did not, such as the orders in which areas were visited.
    """
    did = truth > 0.5
    count = int(did.sum())
    if not count:
        return np.nan
    named = np.argsort(-guess, kind="stable")[:count]
    return float(did[named].mean())
