# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What was measured of several maps, and how the maps are related: what `gazeveil.aggregate.joint_decoder` decodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.prior import Prior
from gazeveil.aggregate.render import render
from gazeveil.types import FloatArray

LOOKS = 5.0
"""How many independent fixations one observer's map is worth."""

Blur = tuple[float, float]
"""Standard deviations of the point-spread function down and across, in cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Kinship:
    """How maps are related: in the turned maps U'ρ they are not, and each has a variance and a gain of its own.

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
    def none(count: int) -> Kinship:
        """Return that of unrelated maps."""
        return Kinship(None, np.ones(count), np.ones(count))

    def turned(self, rows: FloatArray) -> FloatArray:
        """Return U' times what has a row a map."""
        return rows if self.turn is None else self.turn.T @ rows

    def turned_back(self, rows: FloatArray) -> FloatArray:
        """Return U times what has a row a turned map."""
        return rows if self.turn is None else self.turn @ rows

    def mixed(self, rows: FloatArray) -> FloatArray:
        """Return what variances of turned maps, a row each, are for the maps themselves."""
        return rows if self.turn is None else self.turn**2 @ rows


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What is decoded, and the public facts about it.

    Attributes:
        numbers: z, one row a map, one column a feature.
        noise_sd: Standard deviation of each map's noise; all equal where maps are related.
        features: W, one row a cell, one column a feature.
        observers: How many participants are averaged.
        weights: What the mean weighs each map by; they add up to 1.
        unrelated: How many unrelated maps the mean is worth.
        kinships: How the maps may be related; weighed by evidence.
        looks: How many independent fixations one observer's map is worth, where it is asked how uncertain maps are.
    """

    numbers: FloatArray
    noise_sd: FloatArray
    features: FloatArray
    observers: float
    weights: FloatArray
    unrelated: float
    kinships: tuple[Kinship, ...]
    looks: float = LOOKS


@dataclass(frozen=True, slots=True, eq=False)
class Center:
    """The mean map, of mass 1 and above 0, its gain, the noise of its blurred picture, and how much of it is data.

    The evidence is the density of what was measured of the mean, over all models of it, as a logarithm.
    """

    map: FloatArray
    gain: float
    noise_sd: FloatArray
    data_share: float
    evidence: float = 0.0


def single_look(features: FloatArray, mean: FloatArray) -> FloatArray:
    """Return the covariance of the features of one look, drawn from a map."""
    seen = mean @ features
    return np.asarray(features.T @ (mean[:, None] * features) - np.outer(seen, seen))


def blurred(prior: Prior, columns: FloatArray, blur: Blur) -> FloatArray:
    """Return columns, one row a cell, each blurred as a map."""
    stack = np.ascontiguousarray(columns.T).reshape(-1, *prior.grid.shape)
    return np.ascontiguousarray(render(stack, blur).reshape(-1, prior.grid.size).T)
