# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Logistic regression in a page of numpy: learns which input an output came from."""

from __future__ import annotations

import numpy as np

from gazeveil.types import FloatArray

_ROUNDS = 20
_RIDGE = 1e-3


def fit_logistic(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the weights, the intercept last, of a linear score that is high on the first input's features.

    Newton's method with a small ridge, so that repeated features do no harm; a step that does not help is halved.
    Features should be of the order of 1; those that never change get no weight.
    """
    features = np.vstack([first, second])
    varies = np.append(features.min(axis=0) < features.max(axis=0), True)
    features = np.hstack([features, np.ones((len(features), 1))])[:, varies]
    labels = np.concatenate([np.ones(len(first)), np.zeros(len(second))])
    ridge = _RIDGE * len(labels) * np.eye(features.shape[1])
    ridge[-1, -1] *= 1e-3
    weights = np.zeros(features.shape[1])
    loss = _loss(features, labels, ridge, weights)
    for _ in range(_ROUNDS):
        chances = _sigmoid(features @ weights)
        slope = features.T @ (chances - labels) + ridge @ weights
        curvature = (features * (chances * (1 - chances))[:, None]).T @ features + ridge
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while (new := _loss(features, labels, ridge, weights - size * step)) > loss and size > 1e-4:
            size /= 2
        if new > loss:
            break
        weights = weights - size * step
        if loss - new < 1e-9 * len(labels):
            break
        loss = new
    whole = np.zeros(len(varies))
    whole[varies] = weights
    return whole


def _loss(features: FloatArray, labels: FloatArray, ridge: FloatArray, weights: FloatArray) -> float:
    scores = features @ weights
    return float(np.logaddexp(0.0, scores).sum() - labels @ scores + 0.5 * weights @ ridge @ weights)


def _sigmoid(scores: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(0.5 * scores))
