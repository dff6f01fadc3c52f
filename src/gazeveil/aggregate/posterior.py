# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The map that noisy numbers suggest under one kind of variation around one mean map.

The logarithm of the blurred map is Gaussian, log m − diag(Λ)/2 on average with covariance Λ, and
z = g W'(t − o) + noise. The posterior is found by repeated linearisation (Gauss-Newton) around t ∝ exp(η + q/2), η the
mean and q the variance of the logarithms; so t is positive and of mass 1. With little noise the problem is far from
linear and these steps need not end: then the likeliest map is searched for, which is nearly the same there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate._lbfgs import minimise
from gazeveil.types import FloatArray

_STEPS, _CLOSE = 12, 1e-2
_RANK, _SEARCHED = 220, 80
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


def posterior(seen: Seen, mean: FloatArray, covariance: FloatArray) -> Posterior:
    """Return the posterior of a map around a mean map, whose logarithm has this covariance."""
    before = covariance.diagonal().copy()
    start = np.log(mean) - before / 2
    square = (_MISFIT**2) * float(seen.measured @ seen.measured) / len(seen.measured)
    noise = seen.noise + square * np.eye(len(seen.measured))
    logs, after = start, before
    for _ in range(_STEPS):
        found = softmax(logs + after / 2)
        slopes, crossed, inner, shown = _around(seen, found, covariance, noise)
        force = np.linalg.solve(inner, seen.measured - seen.gain * shown + (logs - start) @ slopes)
        step = start + crossed @ force - logs
        furthest = float(np.abs(step).max())
        logs = logs + step * min(1.0, 1 / max(furthest, 1e-12))
        after = (after + _left(before, crossed, inner)) / 2  # half of the way, or it may swing to and fro
        if furthest < _CLOSE:
            break
    else:
        found = _likeliest(seen, mean, covariance, noise)
        _, crossed, inner, _ = _around(seen, found, covariance, noise)
        return _known(found, before, crossed, inner)
    return _known(softmax(logs + after / 2), before, crossed, inner)


def _around(
    seen: Seen, found: FloatArray, covariance: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return, at a map: slopes of what is seen, their covariances with logarithms and each other, and what is seen."""
    shown = (found - seen.offset) @ seen.features
    slopes = seen.gain * found[:, None] * (seen.features - found @ seen.features)
    crossed = covariance @ slopes
    return slopes, crossed, slopes.T @ crossed + noise + seen.doubt * np.outer(shown, shown), shown


def _known(found: FloatArray, before: FloatArray, crossed: FloatArray, inner: FloatArray) -> Posterior:
    answer = found[:, None] * np.linalg.solve(inner, crossed.T).T
    answer -= found[:, None] * answer.sum(axis=0)
    return Posterior(found, _left(before, crossed, inner), answer)


def _likeliest(seen: Seen, mean: FloatArray, covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the likeliest map, by a search that also ends where the problem is far from linear."""
    values, vectors = np.linalg.eigh(covariance)
    field = vectors[:, -_RANK:] * np.sqrt(np.maximum(values[-_RANK:], 0.0))
    precision, log_mean = np.linalg.inv(noise), np.log(mean)

    def objective(xi: FloatArray) -> tuple[float, FloatArray]:
        found = softmax(log_mean + field @ xi)
        shown = (found - seen.offset) @ seen.features
        gain = seen.gain
        if seen.doubt:
            heard = precision @ shown
            gain = float(seen.measured @ heard + gain / seen.doubt) / float(shown @ heard + 1 / seen.doubt)
        left = gain * shown - seen.measured
        pull = gain * (seen.features @ (precision @ left))
        back = found * (pull - float(found @ pull))
        value = float(left @ precision @ left) / 2 + float(xi @ xi) / 2
        if seen.doubt:
            value += (gain - seen.gain) ** 2 / (2 * seen.doubt)
        return value, back @ field + xi

    return softmax(log_mean + field @ minimise(objective, np.zeros(field.shape[1]), _SEARCHED, tolerance=1e-4))


def _left(before: FloatArray, crossed: FloatArray, inner: FloatArray) -> FloatArray:
    """Return the variances of logarithms that the data leave open."""
    return np.asarray(np.maximum(before - np.einsum("ij,ji->i", crossed, np.linalg.solve(inner, crossed.T)), 0.0))


def softmax(logs: FloatArray) -> FloatArray:
    """Return the map of mass 1 with these logarithms, up to a constant."""
    raised = np.exp(logs - logs.max())
    return np.asarray(raised / raised.sum())
