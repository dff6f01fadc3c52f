# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What decoders are shown in training: new participants in every step, on many viewing planes.

About half of what they see are viewers of public pictures as they were. In most of the rest a part of their gaze goes
to the middle, as on web pages, or to one other broad spot, so that decoders learn to leave a right prior alone.
Sometimes all gaze is as a webcam or another coarse tracker records it, or the whole scene is larger, smaller or
elsewhere. A few are made scenes of spots. A decoder may learn what pictures are worth: then the right one is
known now and then, and sometimes a wrong one. No step is seen twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_prior import Plane
from gazeveil.geometry import screen
from gazeveil.lab.training.decoder_viewers import Looks

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
_OFF, _COARSE, _SAMPLES = 0.1, 0.12, 3
"""How far a coarse tracker is off for a participant, how far for each sample, at most as a standard deviation in parts
of the viewing plane, and how many samples a look then has."""
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
        alike: How alike the scenes of a step are in how much of gaze goes there, as a correlation.
        zoomed: The part of steps whose scenes are moved, and made larger or smaller.
        coarse: The part of steps that a coarse tracker records.
    """

    spots: float
    centred: float
    broad: float
    pictured: bool
    alike: float = 0.0
    zoomed: float = 0.0
    coarse: float = 0.0


class _Circumstances(NamedTuple):
    """What all viewers of a step's scenes share, a number a scene; None where that is not so.

    Attributes:
        mirrored: Whether left is right, and whether up is down.
        zoom: How much larger the scene is across and down, and how far it is moved.
        centre: How much of gaze goes to the middle, where that is, how wide, and how far apart participants are there.
        tracker: How far the tracker is off for a participant, and for each sample.
    """

    mirrored: torch.Tensor
    zoom: torch.Tensor | None
    centre: torch.Tensor | None
    tracker: torch.Tensor | None


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
        seen = _Circumstances(
            torch.stack((self._uniform(size) < 0.5, self._uniform(size) < 0.1)),
            self._zoom(size) if float(self._uniform(1)) < self._mixture.zoomed else None,
            self._centre(size) if kind < self._mixture.spots + self._mixture.centred else None,
            self._tracker(size) if float(self._uniform(1)) < self._mixture.coarse else None,
        )
        resampled = float(self._uniform(1)) < _RESAMPLED
        mine = self._people(pictures, observers, seen, resampled=resampled)
        if seen.centre is None and seen.tracker is None:
            all_ = _placed(self._looks[pictures], seen)
        else:
            all_ = self._people(pictures, _EVERYBODY, seen, resampled=True)
        return Step(mine, all_, self._known(pictures, seen.mirrored))

    def _known(self, pictures: torch.Tensor, mirrored: torch.Tensor) -> torch.Tensor:
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

    def _people(self, pictures: torch.Tensor, count: int, seen: _Circumstances, *, resampled: bool) -> torch.Tensor:
        """Draw participants with replacement, and perhaps each one's looks as well, so that no two are alike."""
        who = (self._uniform(len(pictures), count) * self._viewers[pictures][:, None]).long()
        looks, counts = self._looks[pictures[:, None], who], self._counts[pictures[:, None], who]
        if resampled:
            most = looks.shape[2]
            which = (self._uniform(len(pictures), count, most) * counts[..., None]).long()
            looks = torch.gather(looks, 2, which[..., None].expand(-1, -1, -1, 3)).clone()
            looks[..., 2] *= torch.arange(most, device=self._device) < counts[..., None]
        looks = _whole(_placed(looks, seen))
        if seen.centre is not None:
            looks = self._with_centre(looks, seen.centre)
        return looks if seen.tracker is None else self._tracked(looks, seen.tracker)

    def _with_centre(self, looks: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
        """Return looks of which a part goes to the middle instead."""
        count = looks.shape[1]
        part, x, y, wide, high, apart = (each[:, None, None] for each in centre)
        shape = (len(looks), count, _MIDDLE_LOOKS)
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
        broad = self._part(size) < self._mixture.broad
        x, y = (torch.where(broad, far, 0.04) * self._like(size) for far in (0.1, 0.17))
        both = torch.where(broad, 0.6 * self._like(size) - 0.2, 0.15 * self._like(size))
        wide = [0.16 * torch.exp(both + 0.2 * self._like(size)) for _ in range(2)]
        return torch.stack([0.95 * self._part(size), 0.5 + x, 0.48 + y, *wide, 0.08 * self._part(size)])

    def _zoom(self, size: int) -> torch.Tensor:
        """Return how much larger each scene is made across and down, and how far it is moved."""
        return torch.stack([torch.exp(0.25 * self._like(size)) for _ in "xy"] + [0.06 * self._like(size) for _ in "xy"])

    def _tracker(self, size: int) -> torch.Tensor:
        """Return how far each scene's tracker is off for a participant, and for each sample."""
        return torch.stack((_OFF * self._part(size), _COARSE * self._part(size)))

    def _tracked(self, looks: torch.Tensor, tracker: torch.Tensor) -> torch.Tensor:
        """Return looks as a coarse tracker records them: a few samples each."""
        looks = looks.repeat(1, 1, _SAMPLES, 1)
        off, coarse = (each[:, None, None, None] for each in tracker)
        looks[..., :2] += off * self.noise(torch.Size((*looks.shape[:2], 1, 2)))
        looks[..., :2] += coarse * self.noise(looks[..., :2].shape)
        return _whole(_inside(looks))

    def _like(self, size: int) -> torch.Tensor:
        """Return normal numbers, one a scene, that are as alike as the scenes of a step are."""
        alike = self._mixture.alike
        common = self.noise(torch.Size((1,)))
        return math.sqrt(alike) * common + math.sqrt(1 - alike) * self.noise(torch.Size((size,)))

    def _part(self, size: int) -> torch.Tensor:
        """Return even numbers from 0 to 1 that are so alike."""
        return torch.special.ndtr(self._like(size))

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
        return _whole(_inside(torch.stack((*found, self._times(*shape)), -1)))

    def _times(self, *shape: int) -> torch.Tensor:
        """Return lengths of looks: Gamma of shape 2."""
        return -torch.log(self._uniform(*shape).clamp_min(1e-6)) - torch.log(self._uniform(*shape).clamp_min(1e-6))

    def _uniform(self, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, device=self._device, generator=self.chance)


def _placed(looks: torch.Tensor, seen: _Circumstances) -> torch.Tensor:
    """Return looks at pictures that are mirrored, and perhaps larger or elsewhere."""
    found = looks.clone()
    for axis, turned in enumerate(seen.mirrored):
        values = looks[..., axis]
        found[..., axis] = torch.where(turned.view(-1, *(1,) * (values.ndim - 1)), 1 - values, values)
    if seen.zoom is None:
        return found
    larger, moved = (each.T.reshape(-1, *(1,) * (looks.ndim - 2), 2) for each in seen.zoom.split(2))
    found[..., :2] = 0.5 + (found[..., :2] - 0.5) * larger + moved
    return _inside(found)


def _inside(looks: torch.Tensor) -> torch.Tensor:
    """Return looks of which those beyond the plane count next to nothing, so that nobody is without any."""
    found = looks.clone()
    found[..., 2] *= torch.where(((looks[..., :2] >= 0) & (looks[..., :2] < 1)).all(-1), 1.0, 1e-6)
    return found


def _whole(looks: torch.Tensor) -> torch.Tensor:
    """Return looks whose times add up to 1 for each participant."""
    found = looks.clone()
    found[..., 2] = looks[..., 2] / looks[..., 2].sum(-1, keepdim=True).clamp_min(1e-9)
    return found
