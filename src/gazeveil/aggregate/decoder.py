# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From noisy numbers to a map: weigh the prior's models by their evidence, then find the likeliest map under them.

What is decoded is z = g W'(ρ − o) + noise: W known features of the unknown map ρ, g a gain that clipping leaves
unknown, o a known offset, and noise of known law. Three steps, all post-processing:

1. Every model of `gazeveil.aggregate.prior` is Gaussian in z, so its evidence is a closed formula; with it come the
   posterior weights of the models and a linear estimate averaged over them.
2. For each kind of hot spots the likeliest ρ = softmax(log m + L ξ), m the mean map averaged over the weights, is
   found by L-BFGS; it is positive and has mass 1 by construction. The maps are averaged by the weights.
3. The same model, made linear at that map, says how much of it is noise and how much is prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gazeveil.aggregate._lbfgs import minimise
from gazeveil.aggregate.prior import HOT_SPOTS, Prior, features_spread, log_field, prior_of
from gazeveil.aggregate.render import render
from gazeveil.aggregate.saliency import Saliency
from gazeveil.types import FloatArray

_MOST_STEPS = 60
_NEGLIGIBLE = 1e-3
_SCALES = 6
"""How many Gaussian widths stand for radial noise."""
_DAMPINGS, _LEAST_PIVOT = (0.8, 0.4), 0.25
"""How much of a map's curvature error bars take in.

With all of it they are the exact answer to an infinitely small change of z, which is huge where a hot spot is about to
appear; noise is not small and smooths this out. With none of it they are too small at hot spots.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """What is measured of a map, all of it public.

    Attributes:
        features: W, one row a cell, one column a feature.
        offset: o, what is taken from the map before.
        gains: The values that g may have; with one it is known, with several it is found between the outer two.
        observers: How many people are averaged in z.
        noise_sd: Standard deviation of each number's noise.
        radial_scale: b where the noise has density exp(-|v|/b), None where it is Gaussian.
        averages_models: Whether the map shown is half way to the linear estimate, which errs less where z says little.
    """

    features: FloatArray
    offset: FloatArray
    gains: tuple[float, ...]
    observers: int
    noise_sd: float
    radial_scale: float | None = None
    averages_models: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """A blurred map on the working grid, rows by columns.

    Attributes:
        map: The estimate, of mass 1.
        noise_sd: The standard deviation that the privacy noise gives each cell.
        data_share: How much of the variance of the blurred map that the prior leaves open the data has closed.
        picture_share: How much of the mean map behind the estimate follows a picture.
    """

    map: FloatArray
    noise_sd: FloatArray
    data_share: float
    picture_share: float = 0.0


Blur = tuple[float, float]
"""Standard deviations of the point-spread function down and across, in cells of the working grid."""


@dataclass(frozen=True, slots=True, eq=False)
class _Spectrum:
    """Of one kind of hot spots: each mean map's covariance in features, as eigenvectors and eigenvalues."""

    vectors: FloatArray
    values: FloatArray
    expected: FloatArray

    def with_more(self, other: _Spectrum) -> _Spectrum:
        """Return both sets of mean maps, one after the other."""
        pairs = ((self.vectors, other.vectors), (self.values, other.values), (self.expected, other.expected))
        return _Spectrum(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """What z says about the models.

    Attributes:
        weights: The posterior weight of each kind of hot spots and mean map.
        answers: How each weight answers to a change of z.
        linear: The linear estimate of the map, averaged over the models where the channel asks for it.
    """

    weights: FloatArray
    answers: FloatArray
    linear: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Bend:
    """How the misfit of a map to z changes.

    Attributes:
        slope: Its gradient in g times what is seen of the map.
        by_seen: Its second derivatives in what is seen.
        by_measured: Minus its derivatives in what is seen (rows) and in z (columns).
    """

    slope: FloatArray
    by_seen: FloatArray
    by_measured: FloatArray


class Decoder:
    """Everything about a channel that does not depend on what was measured: made once, used for every map."""

    __slots__ = ("_sampling", "_settings", "_spectra", "channel", "prior")

    def __init__(self, prior: Prior, channel: Channel, known: Decoder | None = None) -> None:
        """Prepare to decode.

        Args:
            prior: The models.
            channel: What is measured.
            known: A decoder of the same channel whose mean maps are the first ones of this prior, to build on.
        """
        self.prior, self.channel = prior, channel
        self._settings = _settings(channel)
        first = 0 if known is None else len(known.prior.means)
        new = replace(prior, means=prior.means[first:], weights=prior.weights[first:])
        self._spectra = [self._spectrum(new, hot_spots) for hot_spots in prior.hot_spots]
        if known is not None:
            self._spectra = [old.with_more(more) for old, more in zip(known._spectra, self._spectra, strict=True)]
        width = channel.features.shape[1]
        mean = prior.mean
        single = float(np.sum(mean @ channel.features**2) - np.sum((mean @ channel.features) ** 2))
        self._sampling = single / (5.0 * channel.observers * width)

    def of_picture(self, saliency: Saliency) -> Decoder:
        """Return the decoder of the same channel for a stimulus whose picture is known."""
        prior = prior_of(self.prior.grid, saliency)
        more = prior.hot_spots[len(HOT_SPOTS) :]
        prior = replace(prior, hot_spots=(*self.prior.hot_spots, *more))
        return Decoder(prior, self.channel, None if more else self)

    def _spectrum(self, prior: Prior, hot_spots: tuple[float, float]) -> _Spectrum:
        channel = self.channel
        _, covariances = features_spread(prior, channel.features, hot_spots, channel.observers)
        values, vectors = np.linalg.eigh(covariances)
        turned = np.ascontiguousarray(np.swapaxes(vectors, 1, 2))
        expected = np.matmul(turned, ((prior.means - channel.offset) @ channel.features)[:, :, None])[:, :, 0]
        return _Spectrum(turned, np.maximum(values, 0.0), expected)

    def decode(self, measured: FloatArray, blur: Blur) -> Decoded:
        """Return the map that the measured numbers suggest.

        Args:
            measured: z.
            blur: The point-spread function; error bars and share are stated for the blurred map.
        """
        evidence = self._weigh(measured)
        by_kind = evidence.weights.sum(axis=1)
        mean = evidence.weights.sum(axis=0) @ self.prior.means
        mean_answer = self.prior.means.T @ evidence.answers.sum(axis=0)
        kinds = [k for k in range(len(self.prior.hot_spots)) if by_kind[k] >= _NEGLIGIBLE]
        by_kind = by_kind / by_kind[kinds].sum()
        shown, share = np.zeros_like(mean), 0.0
        answer = np.zeros((len(mean), len(measured)))
        for k in kinds:
            found, gain = self._likeliest(measured, mean, self.prior.hot_spots[k])
            log_answer = mean_answer / mean[:, None]
            own_answer, closed = self._linearised(measured, found, gain, self.prior.hot_spots[k], blur, log_answer)
            shown += by_kind[k] * found
            answer += by_kind[k] * own_answer
            answer += self._blurred(found[:, None], blur) * evidence.answers[k].sum(axis=0)
            share += float(by_kind[k] * closed)
        if self.channel.averages_models:
            positive = np.maximum(evidence.linear, 0.0)
            shown = (shown / shown.sum() + positive / positive.sum()) / 2
            linear_answer = mean_answer.copy()
            for k in kinds:
                linear_answer += by_kind[k] * self._linear_answer(mean, self.prior.hot_spots[k])
            linear_answer[evidence.linear < 0] = 0.0  # what is cut off there does not answer
            answer = (answer + self._blurred(linear_answer, blur)) / 2
        shape = self.prior.grid.shape
        noise_sd = self.channel.noise_sd * np.sqrt(np.sum(answer**2, axis=1))
        followed = float(evidence.weights[:, len(self.prior.means) - self.prior.pictured :].sum())
        return Decoded(render((shown / shown.sum()).reshape(shape), blur), noise_sd.reshape(shape), share, followed)

    def _weigh(self, measured: FloatArray) -> _Evidence:
        """Weigh all models by the evidence that z gives them."""
        turned = [spectrum.vectors @ measured for spectrum in self._spectra]
        logs = np.empty((len(self.prior.hot_spots), len(self._settings), len(self.prior.means)))
        for k, spectrum in enumerate(self._spectra):
            for j, (gain, variance) in enumerate(self._settings):
                spread = gain**2 * spectrum.values + variance
                miss = turned[k] - gain * spectrum.expected
                logs[k, j] = -0.5 * np.sum(miss**2 / spread + np.log(spread), axis=1)
        logs += np.log(self.prior.weights)
        each = np.exp(logs - logs.max())
        each /= each.sum()
        weights = each.sum(axis=1)
        linear = np.asarray(weights.sum(axis=0) @ self.prior.means)
        slopes = np.empty((*weights.shape, len(measured)))
        for k, hot_spots in enumerate(self.prior.hot_spots):
            spectrum = self._spectra[k]
            slope, pull = np.zeros_like(turned[k]), np.zeros_like(turned[k])
            for j, (gain, variance) in enumerate(self._settings):
                miss = turned[k] - gain * spectrum.expected
                part = each[k, j][:, None] * miss / (gain**2 * spectrum.values + variance)
                slope -= part
                pull += gain * part
            slopes[k] = np.matmul(slope[:, None, :], spectrum.vectors)[:, 0, :]
            if self.channel.averages_models:
                linear += self._shift(hot_spots, np.matmul(pull[:, None, :], spectrum.vectors)[:, 0, :])
        answers = slopes - weights[:, :, None] * slopes.sum(axis=(0, 1))
        return _Evidence(weights, answers, linear)

    def _shift(self, hot_spots: tuple[float, float], pull: FloatArray) -> FloatArray:
        """Return how far the mean maps move, added up: C W times each map's pull w g (g²A + v)⁻¹ (z − g W'(μ − o))."""
        variance, length = hot_spots
        means, direction = self.prior.means, pull @ self.channel.features.T
        weighted = means * (direction - np.sum(means * direction, axis=1, keepdims=True))
        spread = means * self.prior.correlated(np.ascontiguousarray(weighted.T), length).T
        return np.asarray(variance * np.sum(spread - means * spread.sum(axis=1, keepdims=True), axis=0))

    def _likeliest(
        self, measured: FloatArray, mean: FloatArray, hot_spots: tuple[float, float]
    ) -> tuple[FloatArray, float]:
        """Return the likeliest map under one kind of hot spots, and its gain."""
        channel = self.channel
        field, log_mean = log_field(self.prior.grid, hot_spots), np.log(mean)
        variance = self._variance()
        low, high = channel.gains[0], channel.gains[-1]

        def gain_of(seen: FloatArray) -> float:
            if low == high:
                return low
            return min(max(float(measured @ seen) / max(float(seen @ seen), 1e-300), low), high)

        def objective(xi: FloatArray) -> tuple[float, FloatArray]:
            found = _softmax(log_mean + field @ xi)
            seen = (found - channel.offset) @ channel.features
            gain = gain_of(seen)
            miss = gain * seen - measured
            if channel.radial_scale is None:
                value, slope = float(miss @ miss) / (2 * variance), miss / variance
            else:
                scale = channel.radial_scale
                distance = _distance(miss, scale)
                value, slope = distance / scale, miss / (distance * scale)
            pull = gain * (channel.features @ slope)
            back = found * (pull - float(found @ pull))
            return value + float(xi @ xi) / 2, back @ field + xi

        xi = minimise(objective, np.zeros(field.shape[1]), _MOST_STEPS, tolerance=1e-4)
        found = _softmax(log_mean + field @ xi)
        return found, gain_of((found - channel.offset) @ channel.features)

    def _linearised(
        self,
        measured: FloatArray,
        found: FloatArray,
        gain: float,
        hot_spots: tuple[float, float],
        blur: Blur,
        log_mean_answer: FloatArray,
    ) -> tuple[FloatArray, float]:
        """Return how the blurred map answers to z, a column a number, and the share of variance that data closed.

        Where the likeliest ξ is, the gradient is zero, and stays so when z changes: so ξ answers by H⁻¹ times how the
        gradient changes with z, H the second derivatives. The mean map answers to z as well, which moves the gradient
        too. Before the data the blurred map has covariance B B', B the blurred ∂ρ/∂ξ, and after them, with G = g W'
        ∂ρ/∂ξ, about B (I + G'G/v)⁻¹ B'.
        """
        features = self.channel.features
        field = log_field(self.prior.grid, hot_spots)
        centred = field - found @ field
        slopes = found[:, None] * centred
        blurred, seen = self._blurred(slopes, blur), features.T @ slopes
        bend = self._bend(measured, (found - self.channel.offset) @ features, gain)
        pull = gain * (features @ bend.slope)
        lift = found * (pull - float(found @ pull))
        hessian = np.eye(field.shape[1]) + seen.T @ bend.by_seen @ seen
        cross = seen.T @ bend.by_measured
        log_moved = log_mean_answer - found @ log_mean_answer
        moved = found[:, None] * log_moved
        cross -= seen.T @ (bend.by_seen @ (features.T @ moved)) + centred.T @ (lift[:, None] * log_moved)
        answer = blurred @ _solved(hessian, centred.T @ (lift[:, None] * centred), cross) + self._blurred(moved, blur)
        return answer, self._closed(blurred, gain * seen)

    def _closed(self, blurred: FloatArray, seen: FloatArray) -> float:
        """Return the share of the blurred map's variance that what is seen closes."""
        crossed = blurred @ seen.T
        # through the smaller side: (I + G'G/v)⁻¹ G'/v = G' (v I + G G')⁻¹
        inner = self._variance() * np.eye(len(seen)) + seen @ seen.T
        before, closed = float(np.sum(blurred**2)), float(np.sum(np.linalg.solve(inner, crossed.T) * crossed.T))
        return min(max(closed / before, 0.0), 1.0) if before > 0 else 0.0

    def _bend(self, measured: FloatArray, seen: FloatArray, gain: float) -> _Bend:
        """Return how the misfit changes with what is seen and with what was measured, at a gain that follows both."""
        channel, unit = self.channel, np.eye(len(measured))
        miss = gain * seen - measured
        if channel.radial_scale is not None:
            distance = _distance(miss, channel.radial_scale)
            inner = (unit - np.outer(miss, miss) / distance**2) / (distance * channel.radial_scale)
            return _Bend(miss / (distance * channel.radial_scale), gain**2 * inner, gain * inner)
        variance = self._variance()
        by_seen, by_measured = gain**2 * unit, gain * unit
        if channel.gains[0] < gain < channel.gains[-1]:
            along = -(miss + gain * seen)
            by_seen -= np.outer(along, along) / float(seen @ seen)
            by_measured += np.outer(along, seen) / float(seen @ seen)
        return _Bend(miss / variance, by_seen / variance, by_measured / variance)

    def _linear_answer(self, mean: FloatArray, hot_spots: tuple[float, float]) -> FloatArray:
        """Return how the linear estimate around the averaged mean map answers to z."""
        gain = self.channel.gains[0]
        spread = self.prior.covariance_times(mean, hot_spots, self.channel.features)
        inner = gain**2 * (self.channel.features.T @ spread) + self._variance() * np.eye(spread.shape[1])
        return np.asarray(gain * np.linalg.solve(inner, spread.T).T)

    def _variance(self) -> float:
        """Return the variance that a measured number has besides the map: privacy noise and the draw of observers."""
        channel = self.channel
        return float(channel.noise_sd**2 + channel.gains[len(channel.gains) // 2] ** 2 * self._sampling)

    def _blurred(self, columns: FloatArray, blur: Blur) -> FloatArray:
        grid = self.prior.grid
        maps = np.ascontiguousarray(columns.T).reshape(-1, *grid.shape)
        return np.ascontiguousarray(render(maps, blur).reshape(-1, grid.size).T)


def _settings(channel: Channel) -> list[tuple[float, float]]:
    """Return the gains and noise variances that the evidence is averaged over."""
    if channel.radial_scale is None:
        return [(gain, channel.noise_sd**2) for gain in channel.gains]
    # exp(-|v|/b) in K dimensions is a Gaussian whose variance is drawn from a Gamma of shape (K+1)/2 and scale 2b²
    shape = (channel.features.shape[1] + 1) / 2
    scales = gamma_quantiles(shape, _SCALES) * 2 * channel.radial_scale**2
    return [(gain, float(variance)) for gain in channel.gains for variance in scales]


def gamma_quantiles(shape: float, count: int) -> FloatArray:
    """Return the middle of each of ``count`` equally likely parts of a Gamma law of scale 1."""
    at = np.linspace(0.0, shape + 12 * math.sqrt(shape) + 12, 20_001)[1:]
    density = np.exp((shape - 1) * np.log(at / shape) - at + shape)
    cumulated = np.cumsum(density)
    return np.interp((np.arange(count) + 0.5) / count, cumulated / cumulated[-1], at)


def _distance(miss: FloatArray, scale: float) -> float:
    """Return how long a miss is, rounded off near zero, where the length has an edge."""
    return math.sqrt(float(miss @ miss) + (1e-3 * scale) ** 2)


def _solved(firm: FloatArray, curvature: FloatArray, right: FloatArray) -> FloatArray:
    """Return (firm + curvature)⁻¹ right, with as much of the curvature as keeps it well away from a singular matrix."""
    for damping in _DAMPINGS:
        whole = firm + damping * curvature
        try:
            if float(np.linalg.cholesky(whole).diagonal().min()) ** 2 >= _LEAST_PIVOT:
                return np.asarray(np.linalg.solve(whole, right))
        except np.linalg.LinAlgError:
            continue
    return np.asarray(np.linalg.solve(firm, right))


def _softmax(logs: FloatArray) -> FloatArray:
    raised = np.exp(logs - logs.max())
    return np.asarray(raised / raised.sum())
