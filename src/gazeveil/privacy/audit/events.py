# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events that tell two inputs apart: what an event is, and the families that the auditor tries.

A family of events looks at outputs of both inputs and suggests *scores*, numbers that tell the two apart. Thresholds
are chosen afterwards, on outputs that the family did not see (`gazeveil.privacy.audit.auditor`). A new family is a
function here and a row of `FAMILIES`::

    def acme(sample: Sample) -> Iterator[Score]:
        yield AcmeScore(...)

Scores are frozen dataclasses, so that they can be sent to other processes. The families:

- Thresholds cut a view of the output at one place, histograms at many. Values that come up again and again get a bin of
  their own, so a secret that shows as one special value is found; so does not-a-number. Two-dimensional bins look at
  the position along the line through the two means and at the distance from it, which is all that tells two inputs
  apart under noise that is the same in every direction.
- Orders find what leaks through the order of a list alone, such as the order in which participants were added.
- Classifiers look at the standardised numbers of the output, their squares, magnitudes and products; for wide outputs
  at the numbers alone. A second classifier sees only the order of neighbouring numbers.
- Bit patterns find floating-point noise, which lies on a grid that depends on the secret it was added to (Mironov 2012,
  Haney 2022): by a logistic regression on the 64 bits, and by a histogram of the finest digit, the weight of the lowest
  bit that is set, which is the step of the coarsest grid that the number lies on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.registry import Names

Outputs = NDArray[Any]
"""One row a trial, float64 or int64."""


class Score(Protocol):
    """A number for each output. Not-a-number means that the output belongs to no event of this score."""

    @property
    def words(self) -> str:
        """What the number is, as the subject of a sentence."""
        ...

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return one number for each row."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class OutputEvent:
    """The outputs whose score reaches a threshold."""

    score: Score
    threshold: float
    above: bool

    def count(self, outputs: Outputs) -> int:
        """Return how many of the outputs belong to the event."""
        scores = self.score(outputs)
        inside = scores >= self.threshold if self.above else scores <= self.threshold
        return int(np.count_nonzero(inside))

    @property
    def words(self) -> str:
        """The event in words."""
        return f"{self.score.words} is at {'least' if self.above else 'most'} {self.threshold:.6g}"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Outputs of both inputs that a family may learn from.

    Attributes:
        first: Outputs of the first input, one a row.
        second: Outputs of its neighbour.
        log_ratio: The known logarithm of the ratio of densities, if any.
    """

    first: Outputs
    second: Outputs
    log_ratio: Callable[[Outputs], FloatArray] | None = None

    @property
    def width(self) -> int:
        """How many numbers an output has."""
        return int(self.first.shape[1])


Family = Callable[[Sample], Iterable[Score]]
"""Suggests scores that tell the two inputs of a sample apart."""


# --- Ways of looking at an output through one number: a coordinate, a direction, a distance.


MOST_COORDINATES = 24
"""Of wider outputs, only the coordinates that differ most are looked at one by one."""

_TAME = 1e150


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One number of the output."""

    index: int

    @property
    def words(self) -> str:
        """What the number is."""
        return f"number {self.index + 1} of the output"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return outputs[:, self.index].astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """The position along a line through the output space."""

    origin: FloatArray
    direction: FloatArray
    words: str = "the position along the difference of the means"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray((outputs - self.origin) @ self.direction, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Aside:
    """The distance from a line through the output space; its direction has length 1."""

    origin: FloatArray
    direction: FloatArray
    words: str = "the distance from the line through the means"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        with np.errstate(invalid="ignore", over="ignore"):
            moved = outputs - self.origin
            square = np.einsum("ij,ij->i", moved, moved) - (moved @ self.direction) ** 2
            return np.asarray(np.sqrt(np.maximum(square, 0.0)), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """The largest number of the output."""

    words: str = "the largest number of the output"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return np.asarray(outputs.max(axis=1), dtype=np.float64)


def coordinates(sample: Sample, most: int = MOST_COORDINATES) -> list[int]:
    """Return the coordinates to look at, those first whose mean or spread differ most."""
    if sample.width <= most:
        return list(range(sample.width))
    first, second = finite(sample.first), finite(sample.second)
    spread = first.std(axis=0) + second.std(axis=0)
    spread[spread == 0] = 1.0
    shift = np.abs(first.mean(axis=0) - second.mean(axis=0)) / spread
    widening = np.abs(first.std(axis=0) - second.std(axis=0)) / spread
    return [int(index) for index in np.argsort(-(shift + widening), kind="stable")[:most]]


def line(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Return the midpoint of the two means and the direction, of length 1, from the second to the first."""
    first, second = finite(sample.first).mean(axis=0), finite(sample.second).mean(axis=0)
    gap = first - second
    length = float(np.sqrt(gap @ gap))
    unit = gap / length if 0 < length < np.inf else np.eye(1, sample.width)[0]
    return (first + second) / 2, unit


def all_views(sample: Sample) -> Iterator[Score]:
    """Return the views that suit an output of this width."""
    for index in coordinates(sample):
        yield Coordinate(index)
    if sample.width > 1:
        origin, direction = line(sample)
        yield Along(origin, direction)
        yield Aside(origin, direction)
        yield Largest()


def finite(outputs: Outputs) -> FloatArray:
    """Return outputs with wild values tamed, so that means and spreads exist; not-a-number becomes zero."""
    return np.clip(np.nan_to_num(outputs.astype(np.float64)), -_TAME, _TAME)


# --- Likelihood-ratio events, where the densities are known: no event tells two inputs apart better (Neyman, Pearson).


def likelihood_ratio(sample: Sample) -> Iterator[Score]:
    """Suggest the known logarithm of the ratio of densities, if there is one."""
    if sample.log_ratio is not None:
        yield KnownLogRatio(sample.log_ratio)


@dataclass(frozen=True, slots=True, eq=False)
class KnownLogRatio:
    """The logarithm of the ratio of densities."""

    log_ratio: Callable[[Outputs], FloatArray]
    words: str = "the log ratio of the known densities"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return self.log_ratio(outputs)


# --- Threshold events: half-lines along a coordinate, a direction or a distance.


def thresholds(sample: Sample) -> Iterable[Score]:
    """Suggest each view as a score: where it is cut is chosen later."""
    return all_views(sample)


# --- Histogram events: the bins that one input fills much more often than the other.


_BINS = 256
_SIDE = 24
_MOST_SPECIAL = 2048
_SPECIAL_SHARE = 1e-4


def histograms(sample: Sample) -> Iterator[Score]:
    """Suggest the logarithm of the ratio of the two histograms, of each view and of the two joint ones."""
    for view in all_views(sample):
        cutter = Bins.fit(view, sample)
        yield Histogram.fit((cutter,), sample)
    if sample.width > 1:
        origin, direction = line(sample)
        grid = tuple(Bins.fit(view, sample, _SIDE) for view in (Along(origin, direction), Aside(origin, direction)))
        yield Histogram.fit(grid, sample)


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Turns a view into bin numbers: special values first, then intervals, then not-a-number."""

    view: Score
    special: FloatArray
    edges: FloatArray

    @classmethod
    def fit(cls, view: Score, sample: Sample, bins: int = _BINS) -> Bins:
        """Cut where both inputs together have equal shares."""
        values = np.concatenate([view(sample.first), view(sample.second)])
        values = values[~np.isnan(values)]
        different, counts = np.unique(values, return_counts=True)
        often = counts >= max(4, _SPECIAL_SHARE * len(values))
        special = different[often][np.argsort(-counts[often], kind="stable")[:_MOST_SPECIAL]]
        finite = different[np.isfinite(different)]
        edges = finite[np.linspace(0, len(finite) - 1, bins + 1)[1:-1].astype(int)] if len(finite) else finite
        return cls(view, np.sort(special), np.unique(edges))

    @property
    def count(self) -> int:
        """How many bins there are."""
        return len(self.special) + len(self.edges) + 2

    def __call__(self, outputs: Outputs) -> IntArray:
        """Return the number of the bin of each row."""
        values = self.view(outputs)
        bins = len(self.special) + np.searchsorted(self.edges, values, side="right")
        if len(self.special):
            near = np.minimum(np.searchsorted(self.special, values), len(self.special) - 1)
            bins = np.where(self.special[near] == values, near, bins)
        return np.where(np.isnan(values), self.count - 1, bins).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The logarithm of how much more often the first input fills the bin of an output than the second."""

    axes: tuple[Bins, ...]
    log_ratios: FloatArray

    @classmethod
    def fit(cls, axes: tuple[Bins, ...], sample: Sample) -> Histogram:
        """Count both inputs; one half is added everywhere, so that empty bins say little."""
        size = int(np.prod([axis.count for axis in axes]))
        first = np.bincount(_places(axes, sample.first), minlength=size) + 0.5
        second = np.bincount(_places(axes, sample.second), minlength=size) + 0.5
        return cls(axes, np.log(first) - np.log(second))

    @property
    def words(self) -> str:
        """What the number is."""
        views = " and ".join(axis.view.words for axis in self.axes)
        return f"the log ratio of the bin of {views}"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return self.log_ratios[_places(self.axes, outputs)]


def _places(axes: tuple[Bins, ...], outputs: Outputs) -> IntArray:
    places = np.zeros(len(outputs), dtype=np.int64)
    for axis in axes:
        places = places * axis.count + axis(outputs)
    return places


# --- Order events: which number of the output is larger than which, whatever the numbers are.


_NUMBERS = 5


def orders(sample: Sample) -> Iterator[Score]:
    """Suggest the log ratio of how often the first few numbers come in this order."""
    if sample.width > 1:
        yield Order.fit(sample)


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """The logarithm of how much more often the first input gives this order than the second."""

    known: NDArray[np.int64]
    log_ratios: FloatArray
    words: str = "the log ratio of the order of the first numbers"

    @classmethod
    def fit(cls, sample: Sample) -> Order:
        """Count the orders of both inputs."""
        first, second = _order(sample.first), _order(sample.second)
        known, index = np.unique(np.concatenate([first, second]), return_inverse=True)
        counts_first = np.bincount(index[: len(first)], minlength=len(known)) + 0.5
        counts_second = np.bincount(index[len(first) :], minlength=len(known)) + 0.5
        return cls(known, np.log(counts_first) - np.log(counts_second))

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row; an order that was never seen says nothing."""
        orders = _order(outputs)
        near = np.minimum(np.searchsorted(self.known, orders), len(self.known) - 1)
        return np.where(self.known[near] == orders, self.log_ratios[near], 0.0)


def _order(outputs: Outputs) -> NDArray[np.int64]:
    """Return a code of all comparisons among the first numbers, three outcomes each."""
    head = outputs[:, :_NUMBERS]
    code = np.zeros(len(outputs), dtype=np.int64)
    for left, right in zip(*np.triu_indices(head.shape[1], 1), strict=True):
        larger = (head[:, left] > head[:, right]).astype(np.int64)
        smaller = head[:, left] < head[:, right]
        code = code * 3 + 1 + larger - smaller
    return code


# --- Logistic regression in a page of numpy: learns which input an output came from.


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


# --- Learned events: a logistic regression tells the two inputs apart, and its score is cut where it tells most.


MOST_ROWS = 20_000
_MOST_NUMBERS = 120
_MOST_SQUARED = 40
_MOST_MULTIPLIED = 12
_FAR = 8.0


def classifiers(sample: Sample) -> Iterator[Score]:
    """Suggest the score of a logistic regression on the numbers, and one on their order."""
    yield learn(Quadratic.fit(sample), sample, "the score of a classifier")
    if sample.width > 2:
        yield learn(Ascents(), sample, "the score of a classifier that sees the order of neighbouring numbers")


def learn(features: Callable[[Outputs], FloatArray], sample: Sample, words: str) -> Score:
    """Return the score of a logistic regression on features."""
    weights = fit_logistic(features(sample.first[:MOST_ROWS]), features(sample.second[:MOST_ROWS]))
    return Linear(features, weights[:-1], float(weights[-1]), words)


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A weighted sum of features."""

    features: Callable[[Outputs], FloatArray]
    weights: FloatArray
    intercept: float
    words: str

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return np.asarray(self.features(outputs) @ self.weights + self.intercept, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """Standardised numbers; where they are few also squares, magnitudes and products; and whether any is missing."""

    chosen: tuple[int, ...]
    centre: FloatArray
    spread: FloatArray

    @classmethod
    def fit(cls, sample: Sample) -> Quadratic:
        """Standardise by median and typical distance from it, which a few wild values do not move."""
        chosen = coordinates(sample, _MOST_NUMBERS)
        both = finite(np.vstack([sample.first[:, chosen], sample.second[:, chosen]]))
        centre = np.median(both, axis=0)
        spread = np.abs(both - centre).mean(axis=0)
        spread[spread == 0] = 1.0
        return cls(tuple(chosen), centre, spread)

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return the features of each row."""
        numbers = outputs[:, list(self.chosen)]
        lost = np.isnan(numbers)
        z = np.clip((np.where(lost, self.centre, finite(numbers)) - self.centre) / self.spread, -_FAR, _FAR)
        parts = [z, lost.any(axis=1, keepdims=True)]
        if z.shape[1] <= _MOST_SQUARED:
            parts += [z * z / _FAR, np.abs(z)]
        if 1 < z.shape[1] <= _MOST_MULTIPLIED:
            left, right = np.triu_indices(z.shape[1], 1)
            parts.append(z[:, left] * z[:, right] / _FAR)
        return np.hstack(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Ascents:
    """Whether each number is larger than, equal to or smaller than the one before."""

    most: int = 200

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return the features of each row."""
        before, after = outputs[:, : self.most], outputs[:, 1 : self.most + 1]
        return (after > before[:, : after.shape[1]]).astype(np.float64) - (after < before[:, : after.shape[1]])


# --- Bit-pattern events: what the 64 bits of a number give away that its value does not.


_MOST_COORDINATES = 4
_EXPONENT_BIAS = 1075
"""The lowest bit of a float with exponent field e weighs 2^(e - 1075)."""


def bit_patterns(sample: Sample) -> Iterator[Score]:
    """Suggest a classifier on the bits and a histogram of the finest digit, for a few numbers of the output."""
    for index in coordinates(sample, _MOST_COORDINATES):
        yield learn(Bits(index), sample, f"the score of a classifier that sees the bits of number {index + 1}")
        yield Histogram.fit((Bins.fit(FinestDigit(index), sample),), sample)


@dataclass(frozen=True, slots=True)
class Bits:
    """The 64 bits of one number."""

    index: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return the features of each row."""
        words = _words(outputs, self.index)
        bits = (words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        return np.asarray(bits, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class FinestDigit:
    """The exponent of two of the lowest bit that is set."""

    index: int

    @property
    def words(self) -> str:
        """What the number is."""
        return f"the finest binary digit of number {self.index + 1}"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row; zero has none, which is told as 10,000."""
        words = _words(outputs, self.index)
        if outputs.dtype.kind == "f":
            field = ((words >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
            mantissa = words & np.uint64((1 << 52) - 1)
            mantissa = np.where(field > 0, mantissa | np.uint64(1 << 52), mantissa)
            weight = np.maximum(field, 1) - _EXPONENT_BIAS
        else:
            mantissa, weight = words, np.zeros(len(words), dtype=np.int64)
        lowest = mantissa & (~mantissa + np.uint64(1))
        digit = np.log2(np.where(lowest > 0, lowest, np.uint64(1)).astype(np.float64)) + weight
        return np.asarray(np.where(mantissa > 0, digit, 10_000.0), dtype=np.float64)


def _words(outputs: Outputs, index: int) -> NDArray[np.uint64]:
    return np.ascontiguousarray(outputs[:, index]).view(np.uint64)


FAMILIES: Names[Family] = Names(
    "event family",
    {
        "threshold": thresholds,
        "likelihood-ratio": likelihood_ratio,
        "histogram": histograms,
        "order": orders,
        "classifier": classifiers,
        "bit-pattern": bit_patterns,
    },
)
"""Families of events by name, the most readable first."""
