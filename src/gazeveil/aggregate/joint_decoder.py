# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Decode several noisy maps jointly: first their mean, which is the least noisy of all, then each map around it.

What was measured of map s is z_s = g W'ρ_s + noise, W known features, g an unknown gain. Decoding takes two
steps, both post-processing:

1. The mean over maps is one number a feature with little noise. Every mean map of `gazeveil.aggregate.map_prior` is
   weighed by its evidence, and a linear estimate is averaged over them. A mean over k unrelated maps has hot spots of a
   k-th of the variance; the prior takes that into account.
2. The maps differ from the mean μ by μ times a smooth field of sharp and wide hot spots. The evidence of *all* maps
   finds the two amplitudes: one map alone could not tell weak hot spots from noise. Each map is then μ times
   `positive_factor` of d/μ, d the linear estimate of its difference, divided by its mass.

Maps that follow one another in time are correlated. An orthonormal turn of time (`MapCorrelation`) makes them unrelated
again. Where the pictures of each moment are known, maps may differ from what these say instead, under the centre that
the mean shows. The evidence of all maps decides how much weight the pictures get.

How uncertain a map is: a change δf of the logarithm changes a map m by sδf, s the slope, and the map of mass 1 by
m (sδf − m·sδf); its blurred picture changes by the blur of that. So the variance of each cell is the sum, over the
columns of Φ, of the squares of what they change, times their variances. Φ is what noise can move, or, where the
question is how far the truth may be, all that maps may differ by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import product

import numpy as np

from gazeveil.aggregate.grid import blur_matrix, render
from gazeveil.aggregate.map_prior import CENTRE_POWER, PICTURE_FLOOR, Blur, Prior, floored
from gazeveil.arrays import FloatArray, IntArray, one_thread

FIXATIONS_PER_OBSERVER = 5.0
"""How many independent fixations one observer's map is worth."""


@dataclass(frozen=True, slots=True, eq=False)
class MapCorrelation:
    """How maps are correlated: the turned maps U'ρ are not, and each of these has its own variance and gain.

    Attributes:
        turn: U, orthonormal, a column a turned map; None where nothing is turned, since with 10,000 maps even a matrix
            of ones and zeros would fill the memory.
        variances: The prior variance of each turned map, relative to that of unrelated maps.
        gains: What measuring multiplied each turned map by, besides g.
    """

    turn: FloatArray | None
    variances: FloatArray
    gains: FloatArray

    @staticmethod
    def none(count: int) -> MapCorrelation:
        """Return the correlation of unrelated maps."""
        return MapCorrelation(None, np.ones(count), np.ones(count))

    def turned(self, rows: FloatArray) -> FloatArray:
        """Return U' times rows, one a map."""
        return rows if self.turn is None else self.turn.T @ rows

    def turned_back(self, rows: FloatArray) -> FloatArray:
        """Return U times rows, one a turned map."""
        return rows if self.turn is None else self.turn @ rows

    def mixed(self, rows: FloatArray) -> FloatArray:
        """Return the variances of the maps, given those of the turned maps, a row each."""
        return rows if self.turn is None else self.turn**2 @ rows


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredMaps:
    """The measured numbers of all maps, and the public facts about them.

    Attributes:
        numbers: z, one row a map, one column a feature.
        noise_sd: Standard deviation of each map's noise; all equal where maps are related.
        features: W, one row a cell, one column a feature.
        observers: How many participants are averaged.
        weights: What the mean weighs each map by; they add up to 1.
        unrelated: How many unrelated maps the mean is worth.
        correlations: How the maps may be related; weighed by evidence.
        fixations: How many independent fixations one observer's map is worth, for the uncertainty of maps.
    """

    numbers: FloatArray
    noise_sd: FloatArray
    features: FloatArray
    observers: float
    weights: FloatArray
    unrelated: float
    correlations: tuple[MapCorrelation, ...]
    fixations: float = FIXATIONS_PER_OBSERVER


@dataclass(frozen=True, slots=True, eq=False)
class MeanMap:
    """The mean map, of mass 1 and above 0, its gain, the noise of its blurred picture, and how much of it is data.

    The evidence is the density of what was measured of the mean, over all models of it, as a logarithm.
    """

    map: FloatArray
    gain: float
    noise_sd: FloatArray
    data_share: float
    evidence: float = 0.0


def fixation_covariance(features: FloatArray, mean: FloatArray) -> FloatArray:
    """Return the covariance of the features of one fixation, drawn from a map."""
    seen = mean @ features
    return np.asarray(features.T @ (mean[:, None] * features) - np.outer(seen, seen))


def blurred(prior: Prior, columns: FloatArray, blur: Blur) -> FloatArray:
    """Return columns, one row a cell, each blurred as a map."""
    stack = np.ascontiguousarray(columns.T).reshape(-1, *prior.grid.shape)
    return np.ascontiguousarray(render(stack, blur).reshape(-1, prior.grid.size).T)


# --- The uncertainty of a blurred map whose logarithm has a Gaussian field: f = Φc, each number of c with its variance.


_KEPT = 0.995
"""Which part of the variance of smooth fields is kept: the rest is finer than the blur."""

_WIDEST_LOG_VARIANCE = 3.0


class BlurResponse:
    """How blurred maps change when their logarithms do, laid out so that one product blurs all changes."""

    def __init__(self, changes: FloatArray, shape: tuple[int, int], blur: tuple[float, float]) -> None:
        """Prepare for changes of logarithms, one row a cell, a column each."""
        self._changes, self._shape, self.count = changes, shape, changes.shape[1]
        self._by_row = np.ascontiguousarray(changes.reshape(*shape, -1).transpose(0, 2, 1))  # row, change, column
        self._down, self._across = (blur_matrix(size, width) for size, width in zip(shape, blur, strict=True))

    def variance(self, map_: FloatArray, own: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the variance of each cell of a map, rows by columns, if each change has so much variance."""
        rows, columns = self._shape
        pulled = map_ * slope
        moved = pulled.reshape(rows, 1, columns) * self._by_row
        moved -= map_.reshape(rows, 1, columns) * (pulled @ self._changes)[:, None]
        moved = (self._down @ moved.reshape(rows, -1)).reshape(-1, columns) @ self._across.T
        np.square(moved, out=moved)
        return np.asarray(own @ moved.reshape(rows, -1, columns))


def smooth_fields(prior: Prior, kinds: Iterable[tuple[float, float]]) -> FloatArray:
    """Return Φ, a column a change, so that ΦΦ' is nearly the sum of v exp(-d²/2l²) over kinds of hot spots (v, l)."""
    found = [np.zeros((prior.grid.size, 0))]
    for size, length in kinds:
        (down, turn_down), (across, turn_across) = (np.linalg.eigh(kernel) for kernel in prior.kernels(length))
        variances = size * np.maximum(np.outer(down, across).ravel(), 0.0)
        order = np.argsort(-variances, kind="stable")
        kept = order[: int(np.sum(np.cumsum(variances[order]) < _KEPT * variances.sum())) + 1]
        row, column = np.divmod(kept, len(across))
        fields = turn_down[:, None, row] * turn_across[None, :, column] * np.sqrt(variances[kept])
        found.append(fields.reshape(prior.grid.size, -1))
    return np.concatenate(found, axis=1)


def positive_factor(field: FloatArray) -> FloatArray:
    """Return the factor by which a field changes a map: exp(f) up to f = 1, then a straight line.

    A linear estimate finds the field of hot spots themselves, not of their logarithms: the exponential of a clear hot
    spot would run away.
    """
    return np.asarray(np.exp(np.minimum(field, 1.0)) * np.maximum(field, 1.0))


def log_normal(blurred: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the variance of positive numbers whose logarithms have the variance of what was linearised."""
    relative = np.minimum(variance / blurred**2, _WIDEST_LOG_VARIANCE)
    return np.asarray(blurred**2 * np.expm1(relative))


def fixation_variance(map_: FloatArray, shape: tuple[int, int], blur: tuple[float, float]) -> FloatArray:
    """Return the variance of each cell of the blurred map of one fixation, drawn from a map."""
    down, across = (blur_matrix(size, width) for size, width in zip(shape, blur, strict=True))
    cells = map_.reshape(shape)
    return np.asarray(np.maximum(down**2 @ cells @ (across**2).T - (down @ cells @ across.T) ** 2, 0.0))


# --- The two steps.


SHARP_DEG, WIDE_DEG = 1.5, 5.0
SHARP = (0.0, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
WIDE = (0.5, 1.0)
"""Relative variances that sharp and wide hot spots may have around the mean. Wide ones are never 0: maps differ."""

MEAN_HOT_SPOTS = ((0.25, 5.0), (1.0, 2.0), (4.0, 1.5))
"""Relative variance and length of the hot spots of a single map; a mean over k maps has a k-th of the variance."""

GAINS = (0.15, 0.2, 0.27, 0.35, 0.45, 0.6, 0.75, 0.95)
_GAIN_SPREAD = 0.15
"""How much gains of single maps differ from that of the mean, relative to it."""

_TYPICAL = 0.25
_AMPLITUDE_SPREAD, _LEAST = 1.0, 0.06
"""Where amplitudes lie before anything is measured: around 0.25, within a factor of e two times in three."""

_NEGLIGIBLE = 1e-2
_RARE = 1e-3
_MODEL_NOISE = 1.3
"""Noise changes the weights of the models, too. The stated error of the mean is widened by this measured factor."""

_POWERS = (0.6, 1.0, 1.5)
"""How sharply gaze may follow what pictures say."""
BROAD = 2.5
"""The study's centre is its mean, blurred this many times as wide, so that hot spots of single stimuli vanish."""

_FLOOR = 1e-3
"""The least that a cell of the mean map has, as a part of an even map."""


@dataclass(frozen=True, slots=True, eq=False)
class JointMaps:
    """Maps on the working grid, a row a map. Maps are not yet blurred; error bars are those of blurred maps.

    Attributes:
        maps: The maps, each of mass 1.
        noise_sd: The standard deviation that the privacy noise gives each cell of each blurred map.
        variance: The squared error of each cell against the blurred map of the same participants without noise.
        sampling: What the choice of participants adds to that for everyone else.
        data_share: Of each map, how much of what sets it apart from the mean is data rather than prior.
        mean: Their mean, of mass 1.
        mean_noise_sd: The standard deviation that the privacy noise gives each cell of the blurred mean.
        mean_data_share: How much of the mean is data rather than prior.
        gain: The gain that was found.
        amplitudes: The relative variances of sharp and wide hot spots that were found likeliest.
        picture_share: How likely it is that maps follow what pictures say.
    """

    maps: FloatArray
    noise_sd: FloatArray
    variance: FloatArray
    sampling: FloatArray
    data_share: FloatArray
    mean: FloatArray
    mean_noise_sd: FloatArray
    mean_data_share: float
    gain: float
    amplitudes: tuple[float, float]
    picture_share: float = 0.0


@one_thread()
def decode_jointly(
    prior: Prior,
    measured: MeasuredMaps,
    blur: Blur,
    contents: FloatArray | None = None,
    picture_chance: float = 0.0,
    *,
    uncertain: bool = False,
) -> JointMaps:
    """Return the mean map and the single maps that the measured numbers suggest.

    Args:
        prior: What is known about the mean.
        measured: What was measured.
        blur: The blur of the maps.
        contents: What the picture behind each map says, a row a map, if that is known.
        picture_chance: How likely it is beforehand that maps follow it.
        uncertain: Whether to compute how uncertain each map is; else variances are 0.
    """
    center = decode_mean(prior, measured, blur)
    models = [_SingleMapModel(prior, measured, center, uncertain=uncertain)]
    before = [1.0]
    if contents is not None:
        models += [_picture_model(models[0], blur, contents**power) for power in _POWERS]
        before = [1 - picture_chance, *([picture_chance / len(_POWERS)] * len(_POWERS))]
        if np.ptp(contents, axis=0).any():  # pictures of other moments: where gaze may be, but not when
            of_all = contents / contents.sum(axis=1, keepdims=True)
            models.append(_picture_model(models[0], blur, np.tile(of_all.mean(axis=0), (len(contents), 1))))
            before = [before[0] / 2, *before[1:], before[0] / 2]
    found = [model.evidence() for model in models]
    logs = np.array([each.whole for each in found])
    if measured.correlations[0].turn is not None:  # the mean was fitted to the same numbers, so it is no evidence
        logs[0] = (
            found[0].but_the_first + center.evidence - measured.features.shape[1] / 2 * math.log(len(measured.numbers))
        )
    chances = np.array(before) * np.exp(logs - logs.max())
    chances /= chances.sum()
    likely = []
    for chance, model, own in zip(chances, models, found, strict=True):
        if chance >= min(_NEGLIGIBLE, chances.max()):
            likely.append((chance, model.estimate(own.weights, own.scales, blur)))
    shown, best = _averaged(likely), found[int(np.argmax(chances))]
    return JointMaps(
        maps=shown.maps,
        noise_sd=shown.noise_sd,
        variance=shown.variance,
        sampling=shown.sampling,
        data_share=shown.share,
        mean=center.map,
        mean_noise_sd=center.noise_sd,
        mean_data_share=center.data_share,
        gain=center.gain,
        amplitudes=best.scales[int(np.argmax(best.weights.sum(axis=0)))],
        picture_share=float(chances[1:].sum()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """How likely each correlation (rows) and pair of amplitudes (columns) are, as logarithms.

    Attributes:
        logs: From all maps.
        first: What the first turned map adds to that: where maps are related, their mean.
        scales: The pairs of amplitudes.
    """

    logs: FloatArray
    first: FloatArray
    scales: list[tuple[float, float]]

    @property
    def weights(self) -> FloatArray:
        """How likely each is; they add up to 1."""
        weights = np.exp(self.logs - self.logs.max())
        return np.asarray(weights / weights.sum())

    @property
    def whole(self) -> float:
        """The evidence of all of them together."""
        return _log_sum(self.logs)

    @property
    def but_the_first(self) -> float:
        """The same without the first turned map."""
        return _log_sum(self.logs - self.first)


@dataclass(frozen=True, slots=True, eq=False)
class _SingleMaps:
    """Single maps, and the errors of each one's blurred picture: see `JointMaps`."""

    maps: FloatArray
    shown: FloatArray
    noise_sd: FloatArray
    variance: FloatArray
    sampling: FloatArray
    share: FloatArray


def _averaged(likely: list[tuple[float, _SingleMaps]]) -> _SingleMaps:
    """Return the average of maps under models that are so likely; where models disagree, maps are uncertain."""
    chances = np.array([chance for chance, _ in likely])
    chances /= chances.sum()
    maps, shown, noise_sd, variance, sampling, share = (
        sum(chance * getattr(own, each.name) for chance, (_, own) in zip(chances, likely, strict=True))
        for each in fields(_SingleMaps)
    )
    apart = sum(chance * (own.shown - shown) ** 2 for chance, (_, own) in zip(chances, likely, strict=True))
    return _SingleMaps(maps, shown, noise_sd, variance + apart, sampling, share)


def _picture_model(plain: _SingleMapModel, blur: Blur, contents: FloatArray) -> _SingleMapModel:
    """Return the model of maps around what pictures say under the study's centre."""
    prior, center = plain.prior, plain.center
    broad = blurred(prior, center.map[:, None], (BROAD * blur[0], BROAD * blur[1]))[:, 0]
    expected = np.array(
        [floored(content * (broad / broad.max()) ** CENTRE_POWER, PICTURE_FLOOR) for content in contents]
    )
    middle = MeanMap(expected.mean(axis=0), center.gain, np.zeros(prior.grid.size), center.data_share)
    return _SingleMapModel(prior, plain.measured, middle, expected, uncertain=plain.uncertain)


@dataclass(frozen=True, slots=True, eq=False)
class _MeanModel:
    """One mean map with one kind of hot spots, turned so that what z says about it falls apart into single numbers.

    Attributes:
        mean: The mean map.
        hot_spots: Variance and length of what differs from it.
        vectors: What turns z.
        miss: What the mean map does not explain of the turned z, a row a gain.
        spread: The variance of that, a row a gain.
        chance: How likely each gain is with this model, as a logarithm.
    """

    mean: FloatArray
    hot_spots: tuple[float, float]
    vectors: FloatArray
    miss: FloatArray
    spread: FloatArray
    chance: FloatArray


def decode_mean(prior: Prior, measured: MeasuredMaps, blur: Blur) -> MeanMap:
    """Return the mean over all maps."""
    numbers = measured.weights @ measured.numbers
    variance = float(np.sum((measured.weights * measured.noise_sd) ** 2))
    hot_spots = [(relative / measured.unrelated, length) for relative, length in MEAN_HOT_SPOTS]
    models = [
        model
        for mean, weight in zip(prior.means, prior.weights, strict=True)
        for model in _mean_models(measured, prior, mean, weight, hot_spots, numbers, variance)
    ]
    logs = np.array([model.chance for model in models])
    chances = np.exp(logs - logs.max())
    chances[chances.sum(axis=1) < _RARE * chances.sum()] = 0.0
    chances /= chances.sum()
    gains = np.array(GAINS)
    open_ = {kind: _open_variance(prior, prior.mean, (kind,), blur) for kind in hot_spots}
    found, squares, noise, left = np.zeros(prior.grid.size), 0.0, np.zeros(prior.grid.size), 0.0
    for chance, model in zip(chances, models, strict=True):
        if not chance.any():
            continue
        reach = prior.covariance_times(model.mean, model.hot_spots, measured.features) @ model.vectors
        pull = gains[:, None] / model.spread
        maps = model.mean + (pull * model.miss) @ reach.T
        found += chance @ maps
        seen = blurred(prior, reach, blur) ** 2
        squares += float(chance @ np.sum(blurred(prior, maps.T, blur) ** 2, axis=0))
        noise += variance * seen @ (chance @ pull**2)
        left += float(chance.sum() * open_[model.hot_spots] - chance @ (gains[:, None] * pull) @ seen.sum(axis=0))
    after = max(squares - float(np.sum(blurred(prior, found[:, None], blur) ** 2)), 0.0) + max(left, 0.0)
    away = blurred(prior, (prior.means - prior.mean).T, blur)
    before = float(np.sum(prior.weights * np.sum(away**2, axis=0)) + np.mean(list(open_.values())))
    share = 1.0 - after / before if before > 0 else 0.0
    found = np.maximum(found, _FLOOR / prior.grid.size)
    gain = float(chances.sum(axis=0) @ gains)
    evidence = _log_sum(logs) - math.log(len(hot_spots) * len(gains))
    return MeanMap(found / found.sum(), gain, _MODEL_NOISE * np.sqrt(noise), min(max(share, 0.0), 1.0), evidence)


def _mean_models(
    measured: MeasuredMaps,
    prior: Prior,
    mean: FloatArray,
    weight: float,
    hot_spots: Sequence[tuple[float, float]],
    numbers: FloatArray,
    variance: float,
) -> Iterator[_MeanModel]:
    """Return a mean map with each kind of hot spots."""
    features, gains = measured.features, np.array(GAINS)[:, None]
    expected = mean @ features
    draw = fixation_covariance(features, mean) / (FIXATIONS_PER_OBSERVER * measured.observers * measured.unrelated)
    for kind in hot_spots:
        hot = features.T @ prior.covariance_times(mean, kind, features)
        values, vectors = np.linalg.eigh(hot + draw)
        spread = gains**2 * np.maximum(values, 0.0) + variance
        miss = numbers @ vectors - gains * (expected @ vectors)
        chance = math.log(weight) - 0.5 * np.sum(miss**2 / spread + np.log(spread), axis=1)
        yield _MeanModel(mean, kind, vectors, miss, spread, chance)


def _open_variance(prior: Prior, mean: FloatArray, hot_spots: Sequence[tuple[float, float]], blur: Blur) -> float:
    """Return the variance of blurred maps around a mean before anything is measured, added over cells.

    The trace of H C H' for C of `Prior.covariance_times`, H the blur: with h the rows of H, each weighed by the mean
    and less its share of the whole, that is the sum of h' exp(-d²/2l²) h.
    """
    blurs = blurred(prior, np.eye(prior.grid.size), blur).T  # a column a blurred cell
    weighed = mean[:, None] * (blurs - mean @ blurs)
    return float(sum(size * np.sum(weighed * prior.correlated(weighed, at)) for size, at in hot_spots if size > 0))


@dataclass(slots=True, eq=False)
class _SingleMapModel:
    """The linear model of single maps around their mean, or around what is expected of each, a row a map.

    How uncertain maps are is found where it is asked for: of thousands of maps it would take minutes.
    """

    prior: Prior
    measured: MeasuredMaps
    center: MeanMap
    expected: FloatArray | None = None
    uncertain: bool = False
    _expected: FloatArray = field(init=False)
    _draw: FloatArray = field(init=False)
    _reach: tuple[FloatArray, FloatArray] = field(init=False)
    _signal: tuple[FloatArray, FloatArray] = field(init=False)

    def __post_init__(self) -> None:
        mean, features = self.center.map, self.measured.features
        self._expected = mean @ features
        self._draw = fixation_covariance(features, mean) / (FIXATIONS_PER_OBSERVER * self.measured.observers)
        sharp, wide = (self.prior.covariance_times(mean, (1.0, at), features) for at in (SHARP_DEG, WIDE_DEG))
        self._reach = sharp, wide
        self._signal = features.T @ sharp, features.T @ wide

    def evidence(self) -> _Evidence:
        """Return how likely each correlation and pair of amplitudes are."""
        scales = list(product(SHARP, WIDE))
        logs = np.tile(
            [_log_chance(sharp) + _log_chance(wide) for sharp, wide in scales], (len(self.measured.correlations), 1)
        )
        first = np.zeros_like(logs)
        turned = [self._turned(correlation) for correlation in self.measured.correlations]
        for variance, which in self._by_noise():
            root = self._root(variance)
            volume = float(np.linalg.slogdet(root)[1])
            for j, scale in enumerate(scales):
                values, whiten = self._spectrum(scale, root)
                for i, correlation in enumerate(self.measured.correlations):
                    signal = self.center.gain**2 * (correlation.variances * correlation.gains**2)[which]
                    spread = 1.0 + signal[:, None] * values
                    each = volume - 0.5 * np.sum((turned[i][which] @ whiten.T) ** 2 / spread + np.log(spread), axis=1)
                    logs[i, j] += float(each.sum())
                    first[i, j] += float(each[which == 0].sum())
        return _Evidence(logs, first, scales)

    def estimate(self, weights: FloatArray, scales: list[tuple[float, float]], blur: Blur) -> _SingleMaps:
        """Return the maps, given how likely each correlation (rows) and pair of amplitudes (columns) are."""
        mean = self.center.map
        likely = np.flatnonzero(weights.max(axis=0) >= _NEGLIGIBLE).tolist()
        shift = self._shift(weights[:, likely], [scales[j] for j in likely])
        shift /= weights[:, likely].sum() * mean
        expected = mean if self.expected is None else self.expected
        maps = expected * positive_factor(shift)
        maps /= maps.sum(axis=1, keepdims=True)
        correlation, scale = divmod(int(np.argmax(weights)), len(scales))
        return self._errors(
            self.measured.correlations[correlation], scales[scale], maps, 1 / np.maximum(shift, 1.0), blur
        )

    def _shift(self, weights: FloatArray, scales: list[tuple[float, float]]) -> FloatArray:
        """Return the expected difference of each map from the mean, weighed over correlations and scales."""
        shift = np.zeros((len(self.measured.numbers), len(self.center.map)))
        turned = [self._turned(correlation) for correlation in self.measured.correlations]
        for variance, which in self._by_noise():
            root = self._root(variance)
            for own, scale in zip(weights.T, scales, strict=True):
                values, whiten = self._spectrum(scale, root)
                pulled = np.zeros((len(which), len(values)))
                for weight, correlation, rows in zip(own, self.measured.correlations, turned, strict=True):
                    pull = self._pull(correlation, values, which)
                    pulled += weight * correlation.turned_back((rows[which] @ whiten.T) * pull)
                shift[which] += pulled @ self._reached(scale, whiten).T
        return shift

    def _errors(
        self, correlation: MapCorrelation, scale: tuple[float, float], maps: FloatArray, slopes: FloatArray, blur: Blur
    ) -> _SingleMaps:
        """Return maps with their errors, given how steeply the logarithm of each follows its shift."""
        mean, shape = self.center.map, self.prior.grid.shape
        shown = render(maps.reshape(-1, *shape), blur)
        noise, variance, sampling = (np.zeros((len(maps), *shape)) for _ in range(3))
        share, open_ = np.zeros(len(maps)), correlation.mixed(correlation.variances)
        hot_spots, ones = tuple(zip(scale, (SHARP_DEG, WIDE_DEG), strict=True)), np.ones(len(mean))
        before = _open_variance(self.prior, mean, hot_spots, blur)
        may_differ = BlurResponse(smooth_fields(self.prior, hot_spots), shape, blur) if self.uncertain else None
        for noise_variance, which in self._by_noise():
            values, whiten = self._spectrum(scale, self._root(noise_variance))
            reach = self._reached(scale, whiten)
            pull = self._pull(correlation, values, which)
            answer = correlation.mixed(pull**2) * (noise_variance * np.sum(whiten**2, axis=1))
            seen = np.sum(blurred(self.prior, reach, blur) ** 2, axis=0)
            closed = correlation.mixed(
                pull * (self.center.gain * correlation.variances * correlation.gains)[which, None]
            )
            if before > 0:
                share[which] = np.clip(closed @ seen / (before * open_[which]), 0.0, 1.0)
            moves = BlurResponse(reach / mean[:, None], shape, blur)
            for place, own, known in zip(which, answer, closed, strict=True):
                map_, slope, of_mean = maps[place], slopes[place], np.zeros(shape)
                if self.expected is None:
                    of_mean = render((map_ / mean).reshape(shape), blur) * self.center.noise_sd.reshape(shape)
                noise[place] = np.sqrt(moves.variance(map_, own, slope) + of_mean**2)
                if may_differ is None:
                    continue
                left = may_differ.variance(map_, np.full(may_differ.count, open_[place]), ones) - moves.variance(
                    map_, known, slope
                )
                variance[place] = log_normal(shown[place], np.maximum(left, 0.0) + of_mean**2)
                fixations = self.measured.fixations * self.measured.observers
                sampling[place] = fixation_variance(map_, shape, blur) / fixations
        return _SingleMaps(maps, shown, noise, variance + sampling, sampling, share)

    def _spectrum(self, scale: tuple[float, float], root: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the signal's variances against noise of variance 1, and what turns z so."""
        values, vectors = np.linalg.eigh(root @ (scale[0] * self._signal[0] + scale[1] * self._signal[1]) @ root.T)
        return np.maximum(values, 0.0), vectors.T @ root

    def _reached(self, scale: tuple[float, float], whiten: FloatArray) -> FloatArray:
        """Return how cells follow the whitened numbers."""
        return np.asarray((scale[0] * self._reach[0] + scale[1] * self._reach[1]) @ whiten.T)

    def _root(self, variance: float) -> FloatArray:
        """Return what whitens all that z has besides the map: privacy noise, the draw of participants, its own gain."""
        gain, seen = self.center.gain, self._expected
        other = gain**2 * self._draw + (_GAIN_SPREAD * gain) ** 2 * np.outer(seen, seen)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(variance * np.eye(len(seen)) + other)))

    def _pull(self, correlation: MapCorrelation, values: FloatArray, which: IntArray) -> FloatArray:
        """Return how strongly turned maps follow each whitened number."""
        own = (self.center.gain * correlation.gains)[which, None]
        open_ = correlation.variances[which, None]
        return np.asarray(own * open_ / (1.0 + own**2 * open_ * values))

    def _turned(self, correlation: MapCorrelation) -> FloatArray:
        """Return what was measured, less what the expected maps explain, turned."""
        if self.expected is not None:
            explained = correlation.turned(self.expected @ self.measured.features)
            return np.asarray(
                correlation.turned(self.measured.numbers) - self.center.gain * correlation.gains[:, None] * explained
            )
        mean_gains = correlation.turned(np.ones(len(self.measured.numbers))) * correlation.gains
        return np.asarray(
            correlation.turned(self.measured.numbers) - np.outer(self.center.gain * mean_gains, self._expected)
        )

    def _by_noise(self) -> list[tuple[float, IntArray]]:
        """Return the variances of noise that there are, and which maps have each: where maps are related, all."""
        variances, kind = np.unique(self.measured.noise_sd**2, return_inverse=True)
        which = np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1])
        return list(zip(variances.tolist(), which, strict=True))


def forecast(
    prior: Prior,
    features: FloatArray,
    observers: float,
    noise_sd: float,
    blur: Blur,
    typical: tuple[float, float, float],
) -> float:
    """Return how well single maps would follow what sets them apart from their mean, were all but the maps known.

    The square root of the share of variance that data close: a correlation.

    Args:
        prior: The prior.
        features: What is measured, one row a cell.
        observers: How many participants are averaged.
        noise_sd: Standard deviation of the noise of each number.
        blur: The blur of the maps.
        typical: The gain, and the amplitudes of sharp and wide hot spots, of a typical study.
    """
    gain, *scale = typical
    count = np.ones(1)
    numbers = np.zeros((1, features.shape[1]))
    measured = MeasuredMaps(numbers, noise_sd * count, features, observers, count, 1.0, (MapCorrelation.none(1),))
    model = _SingleMapModel(prior, measured, MeanMap(prior.mean, gain, np.zeros(prior.grid.size), 0.0))
    ones = np.ones((1, prior.grid.size))
    found = model._errors(MapCorrelation.none(1), (scale[0], scale[1]), prior.mean[None], ones, blur)
    return math.sqrt(float(found.share[0]))


def _log_sum(logs: FloatArray) -> float:
    return float(logs.max() + np.log(np.sum(np.exp(logs - logs.max()))))


def _log_chance(amplitude: float) -> float:
    """Return how likely an amplitude is before anything is measured, as a logarithm; none counts as the smallest."""
    return -0.5 * (math.log(max(amplitude, _LEAST) / _TYPICAL) / _AMPLITUDE_SPREAD) ** 2
