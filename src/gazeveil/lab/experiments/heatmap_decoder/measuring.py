# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured of participants in training and how networks see it, for bumps and for modes: many at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import torch

from gazeveil.aggregate.bayes_decoder import Decoder
from gazeveil.aggregate.map_features import CLIP
from gazeveil.aggregate.map_prior import Plane
from gazeveil.aggregate.neural_decoder import LEAST_APART, Facts, ModesView
from gazeveil.aggregate.strategies import modes
from gazeveil.aggregate.strategy import Task
from gazeveil.lab.experiments.heatmap_decoder.network import Raster

MULTIPLIER = 5.27591
"""Standard deviation of the noise of a sum of vectors of length 1 without negative entries, at ε = 1 and δ = 10⁻⁵."""
BUMPS_PICTURES, PICTURED_PICTURES, MODES_PICTURES = 13, 12, 14


class Measure(Protocol):
    """How numbers are made of participants, and pictures of noisy numbers."""

    raster: Raster
    facts: Facts

    def numbers(self, looks: torch.Tensor) -> torch.Tensor:
        """Return the numbers of each scene, without noise: scenes by numbers."""
        ...

    def noise(self, count: int, chance: torch.Generator) -> torch.Tensor:
        """Return noise for this many scenes."""
        ...

    def pictures(self, numbers: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
        """Return what the network looks at, where maps are expected, a row each."""
        ...


class OfBumps:
    """What bumps see of viewers, for a network that knows of pictures or one that does not."""

    def __init__(self, raster: Raster, observers: int, effective: float, *, pictured: bool) -> None:
        self.raster, self._pictured = raster, pictured
        self.facts = Facts(raster.plane, observers, MULTIPLIER / effective)

    def numbers(self, looks: torch.Tensor) -> torch.Tensor:
        """Return what bumps see, the mean over viewers of numbers of length 1."""
        raster = self.raster
        seen = torch.einsum(
            "...kr,...kc,...k->...rc",
            raster.bumps[0][raster.row_of(looks)],
            raster.bumps[1][raster.column_of(looks)],
            looks[..., 2],
        ).flatten(-2)
        return (seen / seen.norm(dim=-1, keepdim=True).clamp_min(1e-9)).mean(1)

    def noise(self, count: int, chance: torch.Generator) -> torch.Tensor:
        """Return normal noise."""
        size = math.prod(self.raster.lattice)
        drawn = torch.randn(count, size, device=self.raster.device, generator=chance)
        return self.facts.noise_sd * drawn

    def pictures(self, numbers: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
        """Return the pictures of `gazeveil.aggregate.neural_decoder.bumps_pictures` or `pictured_pictures`."""
        raster, noise = self.raster, self.facts.noise_sd
        facts = torch.tensor(self.facts.numbers(), device=raster.device).expand(len(numbers), 3)
        picture = numbers.view(-1, 1, *raster.lattice)
        plain = 0.5 * raster.on_lattice(raster.logs(raster.plain[None])).expand(len(numbers), 1, *raster.lattice)
        usual = self._unit_numbers(raster.plain[None])
        expected = [plain]
        if self._pictured:
            facts = torch.cat((self._followed(numbers, self._unit_numbers(prior) - usual), facts), 1)
            expected = [0.5 * raster.on_lattice(raster.logs(prior))[:, None], plain]
        else:
            facts = torch.cat((self._about(numbers), facts), 1)
        return torch.cat(
            (
                0.2 * picture / usual.abs().mean(),
                0.3 * picture / noise,
                *expected,
                raster.even(facts),
                raster.places.expand(len(numbers), 2, *raster.lattice),
            ),
            1,
        )

    def _about(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return how far numbers go to the middle, and by how much they exceed noise."""
        in_noise = numbers / self.facts.noise_sd
        count = in_noise.shape[1]
        excess = ((in_noise**2).sum(1, keepdim=True) - count) / math.sqrt(2 * count)
        return torch.cat((in_noise @ self.raster.middles.T, excess), 1) / 10

    def _followed(self, numbers: torch.Tensor, apart: torch.Tensor) -> torch.Tensor:
        """Return whether a picture says anything, how far numbers go its way, and how far they should."""
        length = apart.norm(dim=1)
        has = (length > LEAST_APART).float()
        along = (numbers * apart).sum(1) / length.clamp_min(LEAST_APART)
        noise = self.facts.noise_sd
        return torch.stack((has, has * along / noise / 10, has * length / noise / 10), 1)

    def _unit_numbers(self, maps: torch.Tensor) -> torch.Tensor:
        raster = self.raster
        seen = raster.bumps[0].T @ maps.view(-1, raster.rows, raster.columns) @ raster.bumps[1]
        seen = seen.flatten(1)
        return seen / seen.norm(dim=1, keepdim=True)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The modes of a task, and how their numbers are weighed and shown: all that does not depend on a device."""

    facts: Facts
    features: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    origin: np.ndarray[tuple[int], np.dtype[np.float64]]
    scale: float
    view: ModesView
    decoder: Decoder


def designed(plane: Plane, observers: int, effective: float) -> Design | None:
    """Return the modes under the noise of a number of participants at ε = 1; None where no network learnt of it."""
    epsilon = Fraction(round(1000 * effective), 1000 * observers)
    task = Task(grid=plane.grid, observers=observers, epsilon=epsilon, blur_cells=plane.blur[0])
    made = modes.learned_for(task)
    if made is None:
        return None
    channel = made.models.channel
    return Design(
        made.facts,
        plane.blurred(channel.features),
        made.mean @ channel.features,
        2 * CLIP / (observers * float(epsilon)),
        made.view,
        made.models,
    )


class OfModes:
    """The coordinates of viewers along the modes of a design."""

    def __init__(self, raster: Raster, design: Design) -> None:
        self.raster, self.facts = raster, design.facts
        moved = raster.moved
        self._features, self._origin = moved(design.features), moved(design.origin)
        self._scale = design.scale
        self._answers = moved(design.view.answers)
        decoder = design.decoder
        self._weighing = tuple(moved(each) for each in (decoder._vectors, decoder._values, decoder._expected))
        self._chances = moved(np.log([model.weight for model in decoder.models]))
        self._gain, self._variances = decoder.channel.gains[0], decoder.channel.variances()
        self._kinds = len(design.view.answers)

    def numbers(self, looks: torch.Tensor) -> torch.Tensor:
        """Return the mean over viewers of clipped coordinates."""
        seen = torch.einsum("...kf,...k->...f", self._features[self.raster.cell_of(looks)], looks[..., 2])
        apart = seen - self._origin
        return (apart * (CLIP / apart.norm(dim=-1, keepdim=True).clamp_min(1e-9)).clamp_max(1.0)).mean(1)

    def noise(self, count: int, chance: torch.Generator) -> torch.Tensor:
        """Return radial noise: a direction, and a length that is Gamma of as many parts as there are numbers."""
        size, device = self._features.shape[1], self.raster.device
        along = torch.randn(count, size, device=device, generator=chance)
        parts = torch.rand(count, size, device=device, generator=chance).clamp_min(1e-12)
        length = -self._scale * parts.log().sum(1, keepdim=True)
        return length * along / along.norm(dim=1, keepdim=True)

    def pictures(self, numbers: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
        """Return fourteen pictures, as `gazeveil.aggregate.neural_decoder.modes_pictures` does."""
        raster, count = self.raster, len(numbers)
        said = torch.einsum("hrcf,bf->bhrc", self._answers, numbers).clamp(-3.0, 6.0)
        facts = torch.tensor(self.facts.numbers(), device=raster.device).expand(count, 3)
        same = torch.cat((0.3 * self._by_kind(numbers).clamp_min(1e-4).log(), facts), 1)
        return torch.cat(
            (
                0.5 * said,
                0.5 * raster.on_lattice(raster.logs(prior))[:, None],
                raster.even(same),
                raster.places.expand(count, 2, *raster.lattice),
            ),
            1,
        )

    def _by_kind(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return how likely each kind of variation is, as `Decoder.chances` does for each model."""
        vectors, values, expected = self._weighing
        turned = torch.einsum("mij,bj->bmi", vectors, numbers)
        logs = []
        for variance in self._variances:
            spread = self._gain**2 * values + variance
            logs.append(-0.5 * ((turned - self._gain * expected) ** 2 / spread + spread.log()).sum(2))
        chances = torch.softmax((torch.stack(logs, 2) + self._chances[:, None]).flatten(1), 1)
        return chances.view(len(numbers), -1, self._kinds, len(self._variances)).sum((1, 3))
