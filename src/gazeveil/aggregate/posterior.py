# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The map that noisy numbers suggest under one kind of variation around one mean map.

The logarithm of the blurred map is Gaussian, log m − diag(Λ)/2 on average with covariance Λ, and
z = g W'(t − o) + noise. The posterior is found by repeated linearisation (Gauss-Newton) around t ∝ exp(η + q/2), η the
mean and q the variance of the logarithms; so t is positive and of mass 1. Where the problem is far from linear, whole
steps swing to and fro: only a part of a step is gone that turns back on the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.models import LogField
from gazeveil.types import FloatArray

_MOST_STEPS, _CLOSE = 40, 1e-2
_LEAST_PART = 0.1
_MISFIT = 0.03
"""What is measured differs from what the features would see of any map by so much: whose gaze is spread out counts a
little less than others'."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What was measured and how, as one kind of variation sees it.

    Attributes:
        measured: z.
        features: W, one row a cell.
        offset: o.
        gain: The likely g.
        doubt: The variance of g.
        noise: The covariance of what z has besides g W'(t − o).
    """

    measured: FloatArray
    features: FloatArray
    offset: FloatArray
    gain: float
    doubt: float
    noise: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What is known of the map afterwards.

    Attributes:
        map: Its mean, of mass 1.
        log_variance: The variance of its logarithm.
        answer: How the map answers to a change of z, a column a number.
    """

    map: FloatArray
    log_variance: FloatArray
    answer: FloatArray


def posterior(seen: Seen, mean: FloatArray, field: LogField) -> Posterior:
    """Return the posterior of a map around a mean map, whose logarithm varies as a field says."""
    before = field.variance
    start = np.log(mean) - before / 2
    square = (_MISFIT**2) * float(seen.measured @ seen.measured) / len(seen.measured)
    noise = seen.noise + square * np.eye(len(seen.measured))
    logs, after, last, part = start, before, np.zeros_like(start), 1.0
    for _ in range(_MOST_STEPS):
        found = softmax(logs + after / 2)
        shown = (found - seen.offset) @ seen.features
        slopes = seen.gain * found[:, None] * (seen.features - found @ seen.features)
        crossed = field.times(slopes)
        inner = slopes.T @ crossed + noise + seen.doubt * np.outer(shown, shown)
        answer = crossed @ np.linalg.inv(inner)
        step = start + answer @ (seen.measured - seen.gain * shown + (logs - start) @ slopes) - logs
        furthest = float(np.abs(step).max())
        part = max(part / 2, _LEAST_PART) if step @ last < 0 else min(1.25 * part, 1.0)
        logs, last = logs + step * min(part, 1 / max(furthest, 1e-12)), step
        left = np.maximum(before - np.einsum("ij,ij->i", crossed, answer), 0.0)
        after = (after + left) / 2  # half of the way, or it may swing to and fro
        if furthest < _CLOSE:
            break
    found = softmax(logs + after / 2)
    answer *= found[:, None]
    answer -= found[:, None] * answer.sum(axis=0)
    return Posterior(found, left, answer)


def softmax(logs: FloatArray) -> FloatArray:
    """Return the map of mass 1 with these logarithms, up to a constant."""
    raised = np.exp(logs - logs.max())
    return np.asarray(raised / raised.sum())
