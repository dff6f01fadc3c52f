# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From noisy numbers to one heatmap: weigh the models by their evidence, then find the map under each that counts.

What is decoded is z = g W'(t − o) + noise: W known features of the unknown blurred map t, g a gain that clipping and
scaling leave unknown, o a known offset, and noise of known law. All of it is post-processing:

1. Every model of `gazeveil.aggregate.map_prior` is Gaussian in z, so its evidence is a closed formula.
2. For each kind of variation the logarithm of the map is Gaussian around that of the mean map, averaged by the
   evidence: log m − diag(Λ)/2 on average, with covariance Λ. Repeated linearisation (Gauss-Newton) around
   t ∝ exp(η + q/2), η the mean and q the variance of the logarithms, finds the posterior, so t is positive and of mass
   1. Where the problem is far from linear, whole steps swing to and fro: a step that turns back is shortened. The maps
   are averaged by the evidence.
3. How uncertain that is comes from the same posterior: what the noise hides, what the models shrink towards the mean,
   and that these observers' map is not each participant's.

Where trained decoders (`gazeveil.aggregate.neural_decoder`) know releases like the one at hand, they estimate the map,
and the models only decide how likely it is that gaze follows a picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.map_prior import LogField, Model, Plane, Projected, Variation, observers_covariance
from gazeveil.aggregate.neural_decoder import NetworkEstimate
from gazeveil.arrays import FloatArray

_MOST_STEPS, _CLOSE = 40, 1e-2
_LEAST_PART = 0.1
_MISFIT = 0.03
"""How far measurements differ from what the features would give of any map: observers whose gaze is spread out count a
little less than others."""


@dataclass(frozen=True, slots=True, eq=False)
class NoisyFeatures:
    """The measured numbers and what is known about them, for one kind of variation.

    Attributes:
        measured: z.
        features: W, one row a cell.
        offset: o.
        gain: The likely g.
        gain_variance: The variance of g.
        noise: The covariance of what z has besides g W'(t − o).
    """

    measured: FloatArray
    features: FloatArray
    offset: FloatArray
    gain: float
    gain_variance: float
    noise: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The map, given what was measured.

    Attributes:
        map: Its mean, of mass 1.
        log_variance: The variance of its logarithm.
        answer: How the map answers to a change of z, a column a number.
    """

    map: FloatArray
    log_variance: FloatArray
    answer: FloatArray


def posterior(seen: NoisyFeatures, mean: FloatArray, field: LogField) -> Posterior:
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
        inner = slopes.T @ crossed + noise + seen.gain_variance * np.outer(shown, shown)
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


# --- The decoder: which models count, and the average of their maps.


_BETWEEN_GAINS = 0.07
"""How far the gain may lie from the nearest one of the list, as a part of it."""
NEGLIGIBLE = 0.005
"""Models that are less likely than this are left out."""
_MOST_PICTURED = 0.95
"""The largest weight of a map that follows a picture beside one that does not: both err, not in the same way, and the
mean of the two errs less even where the picture is right (decision 143)."""
_SCALES = 6
"""How many Gaussian widths stand for radial noise."""
_WIDEST_LOG_VARIANCE = 3.0
_MOST_LIFTED = 5.0
_NARROWED = 0.8
"""Intervals from the posterior cover more than they should (decision 143)."""
HOT_SPOT = 4.0
"""A hot spot has more than this many times the gaze that it would have if gaze were spread evenly."""
FALSE_DISCOVERIES = 0.1
"""The expected part of false ones among the cells that are called hot spots."""
_HOT_SPOT_WIDENING = 1.78
"""By how much the standard deviation of a cell is widened before it is tested for a hot spot."""


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """How a map is measured, all of it public.

    Attributes:
        features: W, one row a cell, one column a feature of the blurred map.
        offset: o, what is subtracted from the blurred map first.
        gains: The values that g may have.
        observers: How many participants are averaged in z.
        noise_sd: Standard deviation of each number's noise.
        radial_scale: b where the noise has density exp(-|v|/b), None where it is Gaussian.
    """

    features: FloatArray
    offset: FloatArray
    gains: tuple[float, ...]
    observers: int
    noise_sd: float
    radial_scale: float | None = None

    def variances(self) -> list[float]:
        """Return the Gaussian variances whose mixture the noise is."""
        if self.radial_scale is None:
            return [self.noise_sd**2]
        # exp(-|v|/b) in K dimensions is a Gaussian whose variance is drawn from a Gamma of shape (K+1)/2 and scale 2b²
        shape = (self.features.shape[1] + 1) / 2
        return [float(each) for each in gamma_quantiles(shape, _SCALES) * 2 * self.radial_scale**2]


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """A blurred map on the working grid, rows by columns.

    Attributes:
        map: The estimate, of mass 1.
        noise_sd: The standard deviation that the privacy noise alone gives each cell.
        error_sd: The standard deviation of the error against the map of the same observers without noise.
        population_sd: The same against the map of everyone whom they stand for.
        hot: How likely it is that each cell is a hot spot of these observers' map.
        data_share: How much of the variance that the models leave open the data have closed.
        picture_share: How much of the mean map behind the estimate follows a picture.
    """

    map: FloatArray
    noise_sd: FloatArray
    error_sd: FloatArray
    population_sd: FloatArray
    hot: FloatArray
    data_share: float
    picture_share: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _KindPosterior:
    """The posterior of a map under one kind of variation.

    Attributes:
        weight: How likely the kind is.
        map: The posterior mean, of mass 1.
        variance: Of the map without noise of the same observers.
        sampling: What the choice of observers adds for everyone else.
        noise: The variance that the privacy noise gives the map.
        closed: The share of the variance that the data closed.
    """

    weight: float
    map: FloatArray
    variance: FloatArray
    sampling: FloatArray
    noise: FloatArray
    closed: float


class Decoder:
    """Everything about a channel that does not depend on what was measured: made once, used for every map."""

    __slots__ = ("_expected", "_values", "_vectors", "channel", "models", "plane")

    def __init__(
        self, plane: Plane, models: tuple[Model, ...], channel: Channel, projected: Projected | None = None
    ) -> None:
        """Prepare to decode this channel.

        Args:
            plane: The cells and their blur.
            models: The prior.
            channel: How the map is measured.
            projected: What the channel's features show of the map under each model, if that was computed before.
        """
        self.plane, self.models, self.channel = plane, models, channel
        seen = plane.project(models, channel.features) if projected is None else projected
        values, vectors = np.linalg.eigh(seen.between + seen.within / channel.observers)
        self._values, self._vectors = np.maximum(values, 0.0), np.swapaxes(vectors, 1, 2)
        apart = seen.expected - channel.offset @ channel.features
        self._expected = np.matmul(self._vectors, apart[:, :, None])[:, :, 0]

    def decode(self, measured: FloatArray) -> Decoded:
        """Return the map that the measured numbers suggest."""
        chances = self._weigh(measured)
        by_model = chances.sum(axis=(1, 2))
        groups: dict[tuple[bool, Variation], list[int]] = {}
        for place, model in enumerate(self.models):
            groups.setdefault((model.pictured, model.kind), []).append(place)
        weights = {group: float(by_model[places].sum()) for group, places in groups.items()}
        least = min(NEGLIGIBLE, max(weights.values()))
        found = [
            self._found(measured, chances[groups[group]], groups[group], weight)
            for group, weight in weights.items()
            if weight >= least
        ]
        return self._drawn(found, self._pictured(by_model))

    def pictured(self, measured: FloatArray) -> float:
        """Return how likely it is that the map follows a picture, given z."""
        return self._pictured(self.chances(measured))

    def chances(self, measured: FloatArray) -> FloatArray:
        """Return how likely each model is, given z."""
        return np.asarray(self._weigh(measured).sum(axis=(1, 2)))

    def _pictured(self, by_model: FloatArray) -> float:
        return float(by_model[[model.pictured for model in self.models]].sum())

    def _weigh(self, measured: FloatArray) -> FloatArray:
        """Return how likely each model, each gain and each variance of the noise are, given z."""
        channel = self.channel
        turned = self._vectors @ measured
        variances = channel.variances()
        logs = np.empty((len(self.models), len(channel.gains), len(variances)))
        for i, gain in enumerate(channel.gains):
            for j, variance in enumerate(variances):
                spread = gain**2 * self._values + variance
                logs[:, i, j] = -0.5 * np.sum((turned - gain * self._expected) ** 2 / spread + np.log(spread), axis=1)
        logs += np.log([model.weight for model in self.models])[:, None, None]
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())

    def _found(self, measured: FloatArray, chances: FloatArray, places: list[int], weight: float) -> _KindPosterior:
        """Return the posterior under one kind of variation, at the mean map, gain and noise that are likely."""
        channel, plane = self.channel, self.plane
        chances = chances / chances.sum()
        mean = np.asarray(
            sum(each * self.models[place].mean for each, place in zip(chances.sum(axis=(1, 2)), places, strict=True))
        )
        gains, gain_chances = np.array(channel.gains), chances.sum(axis=(0, 2))
        gain = float(gain_chances @ gains)
        gain_variance = (
            float(gain_chances @ (gains - gain) ** 2) + (_BETWEEN_GAINS * gain) ** 2 if len(gains) > 1 else 0.0
        )
        noise = 1 / float(chances.sum(axis=(0, 1)) @ (1 / np.array(channel.variances())))
        field = plane.log_field(mean, self.models[places[0]].kind)
        spread = observers_covariance(mean, plane.blurred(channel.features)) / channel.observers
        other = gain**2 * spread + noise * np.eye(len(measured))
        known = posterior(
            NoisyFeatures(measured, channel.features, channel.offset, gain, gain_variance, other), mean, field
        )
        found, after, before = known.map, known.log_variance, field.variance
        sampling = plane.observers_variance(mean) / channel.observers * np.minimum(found / mean, _MOST_LIFTED)
        return _KindPosterior(
            weight=weight,
            map=found,
            variance=found**2 * np.expm1(np.minimum(after, _WIDEST_LOG_VARIANCE)) + sampling,
            sampling=sampling,
            noise=noise * np.sum(known.answer**2, axis=1),
            closed=1 - float(found**2 @ after) / float(found**2 @ before),
        )

    def _drawn(self, found: list[_KindPosterior], pictured: float) -> Decoded:
        """Return the average of maps under several kinds of variation."""
        shape = self.plane.grid.shape
        weights = np.array([each.weight for each in found])
        weights /= weights.sum()
        maps = np.array([each.map for each in found])
        shown = weights @ maps
        variance = weights @ np.array([each.variance for each in found]) + weights @ (maps - shown) ** 2
        variance *= _NARROWED**2
        sampling = weights @ np.array([each.sampling for each in found])
        return Decoded(
            map=shown.reshape(shape),
            noise_sd=np.sqrt(weights @ np.array([each.noise for each in found])).reshape(shape),
            error_sd=np.sqrt(variance).reshape(shape),
            population_sd=np.sqrt(variance + sampling).reshape(shape),
            hot=chance_above(HOT_SPOT / len(shown), shown, variance).reshape(shape),
            data_share=min(max(float(weights @ [each.closed for each in found]), 0.0), 1.0),
            picture_share=min(pictured, 1.0),
        )


def from_network(plane: Plane, estimate: NetworkEstimate, mean: FloatArray, observers: int) -> Decoded:
    """Return a network's estimate in the form that the decoder of models has.

    Args:
        plane: The cells and their blur.
        estimate: What the network found.
        mean: The blurred map that is expected.
        observers: How many participants there are.
    """
    shape = plane.grid.shape
    sampling = plane.observers_variance(mean) / observers * np.minimum(estimate.map / mean, _MOST_LIFTED)
    moved, left = float(np.sum((estimate.map - mean) ** 2)), float(np.sum(estimate.error_sd**2))
    return Decoded(
        map=estimate.map.reshape(shape),
        noise_sd=estimate.noise_sd.reshape(shape),
        error_sd=estimate.error_sd.reshape(shape),
        population_sd=np.sqrt(estimate.error_sd**2 + sampling).reshape(shape),
        hot=estimate.hot.reshape(shape),
        data_share=moved / (moved + left),
    )


def averaged(pictured: Decoded, plain: Decoded, share: float) -> Decoded:
    """Return the average of a map that follows a picture, which is as likely as ``share``, and of one that does not."""
    weight = min(share, _MOST_PICTURED)
    off = share * (1 - weight) ** 2 + (1 - share) * weight**2
    apart = off * (pictured.map - plain.map) ** 2

    def either(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.sqrt(share * one**2 + (1 - share) * other**2 + apart)

    def mixed(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.asarray(weight * one + (1 - weight) * other)

    return Decoded(
        map=mixed(pictured.map, plain.map),
        noise_sd=np.sqrt(mixed(pictured.noise_sd**2, plain.noise_sd**2)),
        error_sd=either(pictured.error_sd, plain.error_sd),
        population_sd=either(pictured.population_sd, plain.population_sd),
        hot=mixed(pictured.hot, plain.hot),
        data_share=weight * pictured.data_share + (1 - weight) * plain.data_share,
        picture_share=weight,
    )


def gamma_quantiles(shape: float, count: int) -> FloatArray:
    """Return the middle of each of ``count`` equally likely parts of a Gamma law of scale 1."""
    at = np.linspace(0.0, shape + 12 * math.sqrt(shape) + 12, 20_001)[1:]
    density = np.exp((shape - 1) * np.log(at / shape) - at + shape)
    cumulated = np.cumsum(density)
    return np.interp((np.arange(count) + 0.5) / count, cumulated / cumulated[-1], at)


def hot_spots(chances: FloatArray) -> NDArray[np.bool_]:
    """Return which cells are called hot spots, so that at most `FALSE_DISCOVERIES` of them are expected to be none."""
    order = np.argsort(-chances, axis=None, kind="stable")
    false = np.cumsum(1 - chances.ravel()[order]) / np.arange(1, chances.size + 1)
    called = np.zeros(chances.size, dtype=np.bool_)
    called[order[: int(np.sum(false <= FALSE_DISCOVERIES))]] = True  # the share of false ones grows along the order
    return called.reshape(chances.shape)


def chance_above(threshold: float, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return how likely log-normal numbers of these means and widened variances are to exceed a threshold."""
    log_variance = np.log1p(_HOT_SPOT_WIDENING**2 * variance / mean**2)
    at = (np.log(mean / threshold) - log_variance / 2) / np.sqrt(log_variance)
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in at])
