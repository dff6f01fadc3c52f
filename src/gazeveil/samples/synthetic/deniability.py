# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The test of plausible deniability (Bindschaedler 2017), counted in participants (David-John 2023).

Chances are sorted into buckets: bucket i has γ^-(i+1) < p <= γ^-i. What was made from one participant's event may be
released if at least k - 1 other participants have an event that would have made it with a chance in the same bucket.
All in logarithms: the chance of a fixation of a hundred samples is no positive float.
"""

from __future__ import annotations

import math

import numpy as np

from gazeveil.types import BoolArray, FloatArray, IntArray

REGION = 0.01
"""Degrees: a sample's chance is that of a square so far around it on each side."""


def buckets(log_chances: FloatArray, gamma: float) -> FloatArray:
    """Return the bucket of every chance; NaN for a chance of 0, which is in none."""
    found = np.floor(-log_chances / math.log(gamma))
    return np.where(np.isfinite(log_chances), found, np.nan)


def deniable(seeds: FloatArray, others: FloatArray, owners: IntArray, k: int, gamma: float) -> BoolArray:
    """Return which made events may be released.

    Args:
        seeds: The logarithm of the chance that its own event made each.
        others: The same for the events of others: made events by others' events.
        owners: Whose each of the others' events is.
        k: How many participants must be able to have made it, its own among them.
        gamma: How far their chances may differ, as a factor.
    """
    if not len(owners):
        return np.full(len(seeds), k <= 1)
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order], prepend=owners[order[0]] - 1))
    same = (buckets(others, gamma) == buckets(seeds, gamma)[:, None])[:, order]
    return np.asarray(np.logical_or.reduceat(same, starts, axis=1).sum(axis=1) >= k - 1)


def fixation_log_chances(samples: FloatArray, places: FloatArray) -> FloatArray:
    """Return the logarithm of the chance that each place makes each lot of samples: lots by places.

    The chance of a sample is the normal density times the region around it, which is what the difference of two
    distribution functions comes to for a region much narrower than the spread.

    Args:
        samples: Lots by samples by 2.
        places: Means across and down, then standard deviations, of every place.
    """
    count, mean = samples.shape[1], samples.mean(axis=1)
    spread = np.square(samples - mean[:, None]).mean(axis=1)
    away = np.square(mean[:, None] - places[:, :2]) + spread[:, None]
    exponents = 0.5 * np.einsum("lpa,pa->lp", away, 1.0 / np.square(places[:, 2:]))
    region = 2 * math.log(2 * REGION / math.sqrt(2 * math.pi))
    return np.asarray(count * (region - np.log(places[:, 2:]).sum(axis=1) - exponents))
