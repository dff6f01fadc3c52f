# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Maps that were decoded together, blurred and drawn on the grid that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.decoder import HOT, chance_above, hot_spots
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.joint_decoder import decode_mean, decode_together
from gazeveil.aggregate.measured import Center, Measured
from gazeveil.aggregate.models import Blur, Plane, mean_of, models_of, picture_weight
from gazeveil.aggregate.prior import Prior
from gazeveil.aggregate.render import render
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.aggregate.separately import decode_separately
from gazeveil.aggregate.strategy import Estimate
from gazeveil.types import FloatArray

MOST_SEPARATELY = 1000
"""The maps of more stimuli are decoded by a quicker rule, without pictures: one after the other takes hours."""

_DOUBT = 2.2
"""By how much the standard deviation of maps that were decoded together is widened where it is asked for hot spots."""

_SHARPENED = 6
"""Steps in which the blur is taken from a predicted map: more sharpen its noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Blurred maps on the grid of the release, one after the other, and their mean.

    Attributes:
        maps: Maps by rows by columns, each of mass 1.
        noise_sd: The standard deviation that the privacy noise gives each cell.
        data_share: Of each map, how much of what sets it apart from the mean is data.
        mean: The mean over the maps.
        estimates: The same maps with all that is known about them.
        picture_share: How much of the prior behind maps that were decoded together follows pictures.
        priors: What would be shown of each without data, where pictures are known.
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


def drawn(
    prior: Prior,
    measured: Measured,
    grid: Grid,
    blur_cells: float,
    pictures: tuple[Saliency, ...] = (),
    *,
    uncertain: bool = True,
) -> Drawn:
    """Decode maps together, blur, and draw; where pictures are known, there is one for each map, or one for all.

    Maps have error bars of the noise alone where it is not asked how uncertain they are.
    """
    draw = _Drawing.on(prior.grid, grid, blur_cells)
    contents, believed, priors = None, 0.0, None
    if pictures:
        each = pictures * len(measured.numbers) if len(pictures) == 1 else pictures
        plane = Plane(prior.grid, draw.blur)
        contents = np.array([_before_the_blur(picture, plane) for picture in each])
        believed = min(picture_weight(picture) for picture in pictures)
        priors = np.array([draw.stretched(mean_of(models_of(plane, picture))) for picture in each])
    found = decode_together(prior, measured, draw.blur, contents, believed, uncertain=uncertain)
    center = Center(found.mean, found.gain, found.mean_noise_sd, found.mean_data_share)
    mean = draw.mean(prior, center)
    maps, noise_sd = draw.maps(found.maps), draw.errors(found.noise_sd)
    error_sd = draw.errors(np.sqrt(found.variance))
    population_sd = draw.errors(np.sqrt(found.variance + found.sampling))
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
    return Drawn(maps, noise_sd, found.data_share, mean, tuple(estimates), found.picture_share, priors)


def drawn_separately(
    prior: Prior, measured: Measured, grid: Grid, blur_cells: float, pictures: Mapping[int, Saliency]
) -> Drawn:
    """Decode unrelated maps, each on its own around their mean and what its picture says, and draw.

    Args:
        prior: The prior of the mean.
        measured: What was measured.
        grid: The cells of the release.
        blur_cells: The blur in such cells.
        pictures: What pictures say, by the place of the map.
    """
    draw = _Drawing.on(prior.grid, grid, blur_cells)
    plane = Plane(prior.grid, draw.blur)
    center = decode_mean(prior, measured, draw.blur)
    mean = draw.mean(prior, center)
    of_mean = plane.blurred(center.map)
    estimates = []
    for place, decoded in enumerate(decode_separately(plane, measured, center, pictures)):
        follows = pictures.get(place)
        moved = decoded.map.ravel() / of_mean * center.noise_sd * (1 - decoded.picture_share)
        estimates.append(
            Estimate(
                map=draw.stretched(decoded.map),
                noise_sd=draw.errors(np.hypot(decoded.noise_sd.ravel(), moved))[0],
                prior=mean.prior if follows is None else draw.stretched(mean_of(models_of(plane, follows))),
                data_share=decoded.data_share,
                picture_share=decoded.picture_share,
                error_sd=draw.errors(decoded.error_sd)[0],
                population_sd=draw.errors(decoded.population_sd)[0],
                hot_spots=hot_spots(stretched(decoded.hot, grid)),
            )
        )
    return Drawn(
        np.stack([each.map for each in estimates]),
        np.stack([each.noise_sd for each in estimates]),
        np.array([each.data_share for each in estimates]),
        mean,
        tuple(estimates),
    )


def _before_the_blur(picture: Saliency, plane: Plane) -> FloatArray:
    """Return what a picture says about maps before the blur; a predicted map is blurred already."""
    said = picture.on(plane.grid)
    if picture.source == SPECTRAL:
        return said
    sharp = said
    for _ in range(_SHARPENED):
        sharp = sharp * plane.blurred(said / plane.blurred(sharp))  # after Richardson and Lucy: stays positive
    return np.asarray(sharp)


def _hot(map_: FloatArray, sd: FloatArray) -> FloatArray:
    """Return how likely each cell is a hot spot."""
    return chance_above(HOT / map_.size, map_.ravel(), (_DOUBT * sd.ravel()) ** 2).reshape(map_.shape)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """From cells of the working grid to cells of the release."""

    working: Grid
    grid: Grid
    blur: Blur

    @staticmethod
    def on(working: Grid, grid: Grid, blur_cells: float) -> _Drawing:
        return _Drawing(
            working, grid, (blur_cells * working.rows / grid.rows, blur_cells * working.columns / grid.columns)
        )

    def maps(self, cells: FloatArray) -> FloatArray:
        """Blur maps and draw them."""
        return of_mass_1(stretched(render(cells.reshape(-1, *self.working.shape), self.blur), self.grid))

    def stretched(self, cells: FloatArray) -> FloatArray:
        """Draw a blurred map."""
        return of_mass_1(stretched(cells.reshape(self.working.shape), self.grid))

    def errors(self, cells: FloatArray) -> FloatArray:
        """Draw standard deviations of blurred maps."""
        area = self.working.size / self.grid.size
        return area * stretched(cells.reshape(-1, *self.working.shape), self.grid)

    def mean(self, prior: Prior, center: Center) -> Estimate:
        """Draw the mean over maps."""
        return Estimate(
            self.maps(center.map)[0], self.errors(center.noise_sd)[0], self.maps(prior.mean)[0], center.data_share
        )


def stretched(values: FloatArray, grid: Grid) -> FloatArray:
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
