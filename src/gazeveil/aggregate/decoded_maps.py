# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Heatmaps of several stimuli: decoded jointly or one by one around their mean, then rendered on the requested grid.

`gazeveil.aggregate.joint_decoder` finds the mean over all maps, the least noisy of all. Decoded one by one, each map is
then found as a single heatmap is (`gazeveil.aggregate.bayes_decoder`), with models that vary around the study's mean.
Where its picture is known, further models vary around what the picture predicts: the content comes from the picture,
the centre from the study as far as its mean is known, and from the usual centres as far as it is not.

How likely models are beforehand is learnt from all maps at once. If gaze follows none of the pictures, they lose their
weight in the whole study; if it does not follow one of them, that one loses it. All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gazeveil.aggregate.bayes_decoder import HOT_SPOT, Channel, Decoded, Decoder, chance_above, hot_spots
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.joint_decoder import BROAD, MeanMap, MeasuredMaps, decode_jointly, decode_mean
from gazeveil.aggregate.map_prior import (
    CENTRE_POWER,
    PICTURE_FLOOR,
    PICTURE_KINDS,
    PLAIN_KINDS,
    Blur,
    Model,
    Plane,
    Prior,
    floored,
    mean_of,
    models_of,
    picture_weight,
    pictured_models,
)
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.aggregate.strategy import Estimate
from gazeveil.arrays import FloatArray, one_thread

_GAINS = (0.75, 0.87, 1.0, 1.15, 1.3)
"""How gains of single maps may differ from that of the mean."""
_BEFORE = 1.0
"""The prior weights of the models count as much as this many maps."""
_ROUNDS = 20


@one_thread()
def decode_separately(
    plane: Plane, measured: MeasuredMaps, center: MeanMap, pictures: Mapping[int, Saliency]
) -> list[Decoded]:
    """Return the blurred maps on the working grid, one after the other.

    Args:
        plane: The working grid and the blur.
        measured: What was measured of all maps.
        center: The mean over all maps.
        pictures: The predictions of pictures, by the place of the map among the measured ones.
    """
    decoders = _Decoders(plane, measured, center)
    alike: dict[str, list[int]] = {}  # maps with the same prior weights of models learn from one another
    for place in range(len(measured.numbers)):
        alike.setdefault(pictures[place].source if place in pictures else "", []).append(place)
    found: dict[int, Decoded] = {}
    for places in alike.values():
        chances = [decoders.of(place, pictures.get(place)).chances(measured.numbers[place]) for place in places]
        before = decoders.weights(pictures.get(places[0]))
        learnt = _learnt(before, np.array(chances))
        for place in places:
            found[place] = decoders.of(place, pictures.get(place), learnt).decode(measured.numbers[place])
    return [found[place] for place in range(len(measured.numbers))]


class _Decoders:
    """Makes the decoder of each map of a study."""

    def __init__(self, plane: Plane, measured: MeasuredMaps, center: MeanMap) -> None:
        self._plane, self._measured, self._center = plane, measured, center
        self._features = plane.in_blurred(measured.features)
        wide = Plane(plane.grid, (plane.blur[0] * BROAD, plane.blur[1] * BROAD)).blurred(center.map)
        self._broad = wide / wide.max()
        mean = plane.blurred(center.map)
        self._plain = tuple(Model(mean, kind, 1 / len(PLAIN_KINDS), pictured=False) for kind in PLAIN_KINDS)
        self._seen = plane.project(self._plain, self._features)

    def weights(self, saliency: Saliency | None) -> FloatArray:
        """Return the prior weights of a map's models, before anything is learnt from the other maps."""
        return np.array([model.weight for model in self._models(saliency)])

    def of(self, place: int, saliency: Saliency | None, learnt: FloatArray | None = None) -> Decoder:
        """Return the decoder of a map, with the weights that were learnt for its models."""
        models = self._models(saliency)
        seen = self._seen
        if saliency is not None:
            seen = seen.with_more(self._plane.project(models[len(self._plain) :], self._features))
        if learnt is not None:
            models = tuple(replace(model, weight=weight) for model, weight in zip(models, learnt, strict=True))
        channel = Channel(
            features=self._features,
            offset=np.zeros(self._plane.grid.size),
            gains=tuple(gain * self._center.gain for gain in _GAINS),
            observers=max(round(self._measured.observers), 1),
            noise_sd=float(self._measured.noise_sd[place]),
        )
        return Decoder(self._plane, models, channel, seen)

    def _models(self, saliency: Saliency | None) -> tuple[Model, ...]:
        """Return the models of a map, those that follow its picture last."""
        if saliency is None:
            return self._plain
        weight, known = picture_weight(saliency), self._center.data_share
        spectral = saliency.source == SPECTRAL
        own = floored(saliency.on(self._plane.grid) * self._broad**CENTRE_POWER, PICTURE_FLOOR)
        own = self._plane.blurred(own) if spectral else own  # a predicted map is blurred already
        usual = mean_of(pictured_models(self._plane, saliency))
        kinds = PLAIN_KINDS if spectral else PICTURE_KINDS
        return (
            *(replace(model, weight=model.weight * (1 - weight)) for model in self._plain),
            *(Model(own, kind, weight * known / len(kinds), pictured=True) for kind in kinds),
            *(Model(usual, kind, weight * (1 - known) / len(kinds), pictured=True) for kind in kinds),
        )


def _learnt(before: FloatArray, after: FloatArray) -> FloatArray:
    """Return the weights of models, learnt by expectation maximisation.

    Args:
        before: Their prior weights.
        after: How likely these made them in each map, a row a map.
    """
    weights = before
    for _ in range(_ROUNDS):
        own = after * (weights / before)
        own /= own.sum(axis=1, keepdims=True)
        weights = (_BEFORE * before + own.sum(axis=0)) / (_BEFORE + len(after))
    return np.asarray(weights)


# --- Rendering: blurred maps on the requested grid.


MOST_SEPARATELY = 1000
"""The maps of more stimuli are decoded by a quicker rule, without pictures: one by one would take hours."""

_HOT_SPOT_WIDENING = 2.2
"""By how much the standard deviation of jointly decoded maps is widened before cells are tested for hot spots."""

_SHARPENED = 6
"""Steps that remove the blur from a predicted map: more would sharpen its noise."""


@dataclass(frozen=True, slots=True, eq=False)
class RenderedMaps:
    """Blurred maps on the grid of the release, one after the other, and their mean.

    Attributes:
        maps: Maps by rows by columns, each of mass 1.
        noise_sd: The standard deviation that the privacy noise gives each cell.
        data_share: Of each map, how much of what sets it apart from the mean is data.
        mean: The mean over the maps.
        estimates: The same maps with their errors and priors.
        picture_share: How much of the prior behind jointly decoded maps follows pictures.
        priors: The map of each without data, where pictures are known.
    """

    maps: FloatArray
    noise_sd: FloatArray
    data_share: FloatArray
    mean: Estimate
    estimates: tuple[Estimate, ...]
    picture_share: float = 0.0
    priors: FloatArray | None = None

    def estimate(self, place: int) -> Estimate:
        """Return one of the maps."""
        return self.estimates[place]


def render_jointly(
    prior: Prior,
    measured: MeasuredMaps,
    grid: Grid,
    blur_cells: float,
    pictures: tuple[Saliency, ...] = (),
    *,
    uncertain: bool = True,
) -> RenderedMaps:
    """Decode maps jointly, blur and render them. Known pictures are one for each map, or one for all.

    Unless ``uncertain``, maps have the error bars of the noise alone.
    """
    rendering = _Rendering.on(prior.grid, grid, blur_cells)
    contents, picture_chance, priors = None, 0.0, None
    if pictures:
        each = pictures * len(measured.numbers) if len(pictures) == 1 else pictures
        plane = Plane(prior.grid, rendering.blur)
        contents = np.array([_before_the_blur(picture, plane) for picture in each])
        picture_chance = min(picture_weight(picture) for picture in pictures)
        priors = np.array([rendering.resampled(mean_of(models_of(plane, picture))) for picture in each])
    found = decode_jointly(prior, measured, rendering.blur, contents, picture_chance, uncertain=uncertain)
    center = MeanMap(found.mean, found.gain, found.mean_noise_sd, found.mean_data_share)
    mean = rendering.mean(prior, center)
    maps, noise_sd = rendering.maps(found.maps), rendering.errors(found.noise_sd)
    error_sd = rendering.errors(np.sqrt(found.variance))
    population_sd = rendering.errors(np.sqrt(found.variance + found.sampling))
    estimates = (
        Estimate(
            map=maps[place],
            noise_sd=noise_sd[place],
            prior=mean.prior if priors is None else priors[place],
            data_share=float(found.data_share[place]),
            picture_share=found.picture_share,
            error_sd=error_sd[place] if uncertain else None,
            population_sd=population_sd[place] if uncertain else None,
            hot_spots=hot_spots(_hot(maps[place], error_sd[place])) if uncertain else None,
        )
        for place in range(len(maps))
    )
    return RenderedMaps(maps, noise_sd, found.data_share, mean, tuple(estimates), found.picture_share, priors)


def render_separately(
    prior: Prior, measured: MeasuredMaps, grid: Grid, blur_cells: float, pictures: Mapping[int, Saliency]
) -> RenderedMaps:
    """Decode unrelated maps, each on its own around their mean and its picture, and render them.

    Args:
        prior: The prior of the mean.
        measured: What was measured.
        grid: The cells of the release.
        blur_cells: The blur in such cells.
        pictures: The predictions of pictures, by the place of the map.
    """
    rendering = _Rendering.on(prior.grid, grid, blur_cells)
    plane = Plane(prior.grid, rendering.blur)
    center = decode_mean(prior, measured, rendering.blur)
    mean = rendering.mean(prior, center)
    of_mean = plane.blurred(center.map)
    estimates = []
    for place, decoded in enumerate(decode_separately(plane, measured, center, pictures)):
        follows = pictures.get(place)
        moved = decoded.map.ravel() / of_mean * center.noise_sd * (1 - decoded.picture_share)
        estimates.append(
            Estimate(
                map=rendering.resampled(decoded.map),
                noise_sd=rendering.errors(np.hypot(decoded.noise_sd.ravel(), moved))[0],
                prior=mean.prior if follows is None else rendering.resampled(mean_of(models_of(plane, follows))),
                data_share=decoded.data_share,
                picture_share=decoded.picture_share,
                error_sd=rendering.errors(decoded.error_sd)[0],
                population_sd=rendering.errors(decoded.population_sd)[0],
                hot_spots=hot_spots(resampled(decoded.hot, grid)),
            )
        )
    return RenderedMaps(
        np.stack([each.map for each in estimates]),
        np.stack([each.noise_sd for each in estimates]),
        np.array([each.data_share for each in estimates]),
        mean,
        tuple(estimates),
    )


def _before_the_blur(picture: Saliency, plane: Plane) -> FloatArray:
    """Return what a picture predicts of maps before the blur; a predicted map is blurred already."""
    predicted = picture.on(plane.grid)
    if picture.source == SPECTRAL:
        return predicted
    sharp = predicted
    for _ in range(_SHARPENED):
        sharp = sharp * plane.blurred(predicted / plane.blurred(sharp))  # after Richardson and Lucy: stays positive
    return np.asarray(sharp)


def _hot(map_: FloatArray, sd: FloatArray) -> FloatArray:
    """Return how likely each cell is a hot spot."""
    return chance_above(HOT_SPOT / map_.size, map_.ravel(), (_HOT_SPOT_WIDENING * sd.ravel()) ** 2).reshape(map_.shape)


@dataclass(frozen=True, slots=True)
class _Rendering:
    """From cells of the working grid to cells of the release."""

    working: Grid
    grid: Grid
    blur: Blur

    @staticmethod
    def on(working: Grid, grid: Grid, blur_cells: float) -> _Rendering:
        return _Rendering(
            working, grid, (blur_cells * working.rows / grid.rows, blur_cells * working.columns / grid.columns)
        )

    def maps(self, cells: FloatArray) -> FloatArray:
        """Return maps, blurred, on the grid of the release."""
        return of_mass_1(resampled(render(cells.reshape(-1, *self.working.shape), self.blur), self.grid))

    def resampled(self, cells: FloatArray) -> FloatArray:
        """Return a blurred map on the grid of the release."""
        return of_mass_1(resampled(cells.reshape(self.working.shape), self.grid))

    def errors(self, cells: FloatArray) -> FloatArray:
        """Return standard deviations of blurred maps on the grid of the release."""
        area = self.working.size / self.grid.size
        return area * resampled(cells.reshape(-1, *self.working.shape), self.grid)

    def mean(self, prior: Prior, center: MeanMap) -> Estimate:
        """Return the mean over maps on the grid of the release."""
        return Estimate(
            self.maps(center.map)[0], self.errors(center.noise_sd)[0], self.maps(prior.mean)[0], center.data_share
        )


def resampled(values: FloatArray, grid: Grid) -> FloatArray:
    """Interpolate maps between the middles of cells, along one axis and then the other."""
    rows, columns = values.shape[-2:]
    if (rows, columns) == grid.shape:
        return values
    return np.asarray(_between(rows, grid.rows) @ values @ _between(columns, grid.columns).T)


def _between(source: int, target: int) -> FloatArray:
    place = np.clip((np.arange(target) + 0.5) * source / target - 0.5, 0, source - 1)
    low = np.minimum(place.astype(np.int64), max(source - 2, 0))
    weight = place - low
    matrix = np.zeros((target, source))
    matrix[np.arange(target), low] += 1 - weight
    matrix[np.arange(target), np.minimum(low + 1, source - 1)] += weight
    return matrix


def of_mass_1(maps: FloatArray) -> FloatArray:
    """Return maps, each divided by its mass."""
    return np.asarray(maps / maps.sum(axis=(-2, -1), keepdims=True))
