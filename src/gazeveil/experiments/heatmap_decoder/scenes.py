# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What decoders are shown in training: new participants in every step, on many viewing planes.

About half of what they see are viewers of public pictures as they were. In most of the rest a part of their gaze goes
to the middle, as on web pages or with a poor tracker, or to one other broad spot, so that decoders learn to leave a
right prior alone. A few are made scenes of spots. A decoder may learn what pictures are worth: then the right one is
known now and then, and sometimes a wrong one. No step is seen twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.models import Plane
from gazeveil.experiments.heatmap_decoder.viewers import Looks
from gazeveil.geometry import screen

PLANES: Final = (
    (32, 24, 32.0, 24.0, 1.1),
    (36, 20, 36.0, 20.0, 1.1),
    (37, 21, 48.0, 27.0, 0.85),
    (24, 18, 24.0, 18.0, 1.1),
    (40, 25, 32.0, 20.0, 1.375),
    (20, 15, 20.0, 15.0, 1.1),
    (28, 28, 28.0, 28.0, 1.1),
    (40, 22, 40.0, 22.0, 1.1),
    (32, 24, 32.0, 24.0, 0.9),
    (30, 24, 26.0, 21.0, 1.4),
)
"""Columns and rows of cells, degrees across and down, and the blur in cells."""
_DISTANCE_MM = 570.0
_RIGHT, _WRONG = 0.45, 0.13
"""How often the right picture is known, and how often another one is taken for it."""
_POWERS = (0.75, 1.25)
"""How much stronger or weaker a picture may speak."""
_RESAMPLED = 0.6
_MOST_SPOTS, _SPOT_LOOKS, _MIDDLE_LOOKS = 8, 12, 10
_EVERYBODY = 60
"""How many more participants stand for the population where participants can be drawn without end."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """What scenes are made of.

    Attributes:
        spots: The part of them that are made of spots.
        centred: The part in which gaze goes to the middle or to another broad spot, too.
        broad: How often that is not the middle.
        pictured: Whether pictures are known.
    """

    spots: float
    centred: float
    broad: float
    pictured: bool


class Step(NamedTuple):
    """What one step is about.

    Attributes:
        mine: The looks of each scene's participants.
        everybody: The looks that stand for the population.
        contents: What pictures say, 0 everywhere where none is known.
    """

    mine: torch.Tensor
    everybody: torch.Tensor
    contents: torch.Tensor


def plane_of(columns: int, rows: int, width: float, height: float, blur: float) -> Plane:
    """Return a viewing plane of this many cells and degrees."""
    across, down = (2 * _DISTANCE_MM * math.tan(math.radians(side / 2)) for side in (width, height))
    return Plane(Grid(columns, rows, screen(800, 600, across, down, _DISTANCE_MM)), (blur, blur))


class Scenes:
    """All that examples are drawn from, on a device."""

    def __init__(self, sets: list[Looks], device: str, seed: int, mixture: Mixture) -> None:
        self._looks = torch.cat([torch.from_numpy(each.values) for each in sets]).to(device)
        self._often = torch.cat([torch.from_numpy(each.often) for each in sets]).to(device)
        self._contents = torch.cat([torch.from_numpy(each.contents) for each in sets]).to(device)
        self._counts = (self._looks[..., 2] > 0).sum(-1)
        self._viewers = (self._counts > 0).sum(-1)
        self._device, self._mixture = device, mixture
        self.chance = torch.Generator(device=device).manual_seed(seed)

    def step(self, size: int, observers: int) -> Step:
        """Return this many scenes with this many participants each."""
        kind = float(self._uniform(1))
        if kind < self._mixture.spots:
            looks = self._spots(size, observers + _EVERYBODY)
            unknown = torch.zeros(size, *self._contents.shape[2:], device=self._device)
            return Step(looks[:, :observers], looks[:, observers:], unknown)
        pictures = torch.multinomial(self._often, size, replacement=True, generator=self.chance)
        mirrored = self._uniform(size) < 0.5, self._uniform(size) < 0.1
        centre = self._centre(size) if kind < self._mixture.spots + self._mixture.centred else None
        resampled = float(self._uniform(1)) < _RESAMPLED
        mine = self._people(pictures, observers, mirrored, centre, resampled=resampled)
        if centre is None:
            all_ = _mirrored(self._looks[pictures], mirrored)
        else:
            all_ = self._people(pictures, _EVERYBODY, mirrored, centre, resampled=True)
        return Step(mine, all_, self._known(pictures, mirrored))

    def _known(self, pictures: torch.Tensor, mirrored: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Return what is known of the pictures: what they say, what another one says, or nothing."""
        size = len(pictures)
        if not self._mixture.pictured:
            return torch.zeros(size, *self._contents.shape[2:], device=self._device)
        which = (self._uniform(size) * self._contents.shape[1]).long()
        contents = self._contents[pictures, which]
        for axis, turned in ((2, mirrored[0]), (1, mirrored[1])):
            contents = torch.where(turned[:, None, None], contents.flip(axis), contents)
        low, high = _POWERS
        contents = contents ** (low + (high - low) * self._uniform(size, 1, 1))
        kind = self._uniform(size, 1, 1)
        known = torch.where(kind < _RIGHT, contents, contents.roll(1, 0))
        return torch.where(kind < _RIGHT + _WRONG, known, torch.zeros_like(known))

    def noise(self, shape: torch.Size) -> torch.Tensor:
        """Return normal noise of standard deviation 1."""
        return torch.randn(shape, device=self._device, generator=self.chance)

    def _people(
        self,
        pictures: torch.Tensor,
        count: int,
        mirrored: tuple[torch.Tensor, torch.Tensor],
        centre: torch.Tensor | None,
        *,
        resampled: bool,
    ) -> torch.Tensor:
        """Draw participants with replacement, and perhaps each one's looks as well, so that no two are alike."""
        who = (self._uniform(len(pictures), count) * self._viewers[pictures][:, None]).long()
        looks, counts = self._looks[pictures[:, None], who], self._counts[pictures[:, None], who]
        if resampled:
            most = looks.shape[2]
            which = (self._uniform(len(pictures), count, most) * counts[..., None]).long()
            looks = torch.gather(looks, 2, which[..., None].expand(-1, -1, -1, 3)).clone()
            looks[..., 2] *= torch.arange(most, device=self._device) < counts[..., None]
        looks = _whole(_mirrored(looks, mirrored))
        if centre is None:
            return looks
        part, x, y, wide, high, apart = (each[:, None, None] for each in centre)
        shape = (len(pictures), count, _MIDDLE_LOOKS)
        moved = [self.noise(torch.Size((*shape[:2], 1))) * apart for _ in range(2)]
        middle = torch.stack(
            (
                x + moved[0] + self.noise(torch.Size(shape)) * wide,
                y + moved[1] + self.noise(torch.Size(shape)) * high,
                self._times(*shape),
            ),
            -1,
        )
        middle = _whole(_inside(middle))
        looks[..., 2] *= 1 - part
        middle[..., 2] *= part
        return _whole(torch.cat((looks, middle), 2))

    def _centre(self, size: int) -> torch.Tensor:
        """Return how much of gaze goes to the middle, where that is, how wide, and how far trackers are off."""
        one = torch.Size((size,))
        broad = self._uniform(size) < self._mixture.broad
        x, y = 0.5 + torch.where(broad, 0.1, 0.04) * self.noise(one), torch.where(broad, 0.17, 0.04) * self.noise(one)
        both = torch.where(broad, 0.4, 0.15) * self.noise(one)
        wide = [0.16 * torch.exp(both + 0.2 * self.noise(one)) for _ in range(2)]
        return torch.stack([0.95 * self._uniform(size), x, 0.48 + y, *wide, 0.08 * self._uniform(size)])

    def _spots(self, size: int, count: int) -> torch.Tensor:
        """Return participants who look at a few spots, and sometimes at the middle."""
        kinds = (self._uniform(size) * _MOST_SPOTS).long() + 1
        x, y = (0.5 + (self._uniform(size, _MOST_SPOTS) - 0.5) * (0.35 + 0.6 * self._uniform(size, 1)) for _ in "xy")
        weights = -torch.log(self._uniform(size, _MOST_SPOTS).clamp_min(1e-6))
        weights = weights * (torch.arange(_MOST_SPOTS, device=self._device) < kinds[:, None])
        wide = 0.01 + 0.05 * self._uniform(size, _MOST_SPOTS) ** 2
        shape = torch.Size((size, count, _SPOT_LOOKS))
        which = torch.multinomial(weights + 1e-9, count * _SPOT_LOOKS, replacement=True, generator=self.chance)
        own = self.noise(torch.Size((size, count, 1))) * 0.01, self.noise(torch.Size((size, count, 1))) * 0.01
        found = [
            torch.gather(place, 1, which).view(shape)
            + self.noise(shape) * torch.gather(wide, 1, which).view(shape) * high
            + off
            for place, high, off in zip((x, y), (1.0, 1.2), own, strict=True)
        ]
        middle = self._uniform(*shape) < 0.5 * self._uniform(size, 1, 1)
        found = [torch.where(middle, 0.5 + self.noise(shape) * 0.15, each) for each in found]
        looks = _inside(torch.stack((*found, self._times(*shape)), -1))
        looks[..., 2] += 1e-6
        return _whole(looks)

    def _times(self, *shape: int) -> torch.Tensor:
        """Return lengths of looks: Gamma of shape 2."""
        return -torch.log(self._uniform(*shape).clamp_min(1e-6)) - torch.log(self._uniform(*shape).clamp_min(1e-6))

    def _uniform(self, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, device=self._device, generator=self.chance)


def _mirrored(looks: torch.Tensor, which: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    found = looks.clone()
    for axis, turned in enumerate(which):
        values = looks[..., axis]
        found[..., axis] = torch.where(turned.view(-1, *(1,) * (values.ndim - 1)), 1 - values, values)
    return found


def _inside(looks: torch.Tensor) -> torch.Tensor:
    """Return looks of which those beyond the plane count nothing."""
    found = looks.clone()
    found[..., 2] *= ((looks[..., :2] >= 0) & (looks[..., :2] < 1)).all(-1)
    return found


def _whole(looks: torch.Tensor) -> torch.Tensor:
    """Return looks whose times add up to 1 for each participant."""
    found = looks.clone()
    found[..., 2] = looks[..., 2] / looks[..., 2].sum(-1, keepdim=True).clamp_min(1e-6)
    return found
