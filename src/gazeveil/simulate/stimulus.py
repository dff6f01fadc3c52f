# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is looked at: made-up scenes of faces, writing and things, each a region that draws the gaze."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.simulate.seeds import Purpose, generator

if TYPE_CHECKING:
    from gazeveil.simulate.population import Observer


class RegionKind(StrEnum):
    """What a region shows; participants differ in how much each kind draws them."""

    FACE = "face"
    TEXT = "text"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a scene that draws the gaze. All positions and sizes are fractions of the scene.

    Attributes:
        name: Unique within its scene.
        kind: What it shows.
        shape: ``ellipse`` or ``rectangle``.
        x: Centre, from the left.
        y: Centre, from the top.
        width: Full width.
        height: Full height.
        weight: How strongly it draws the gaze; bare background has `BACKGROUND`.
    """

    name: str
    kind: RegionKind
    shape: str
    x: float
    y: float
    width: float
    height: float
    weight: float

    def __post_init__(self) -> None:
        if self.shape not in {"ellipse", "rectangle"}:
            raise OptionError(f"region {self.name!r}: shape must be ellipse or rectangle, not {self.shape!r}")
        if not (self.width > 0 and self.height > 0 and self.weight >= 0):
            raise OptionError(f"region {self.name!r}: width and height must be above 0 and weight not below 0")

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return (
            self.x - self.width / 2,
            self.y - self.height / 2,
            self.x + self.width / 2,
            self.y + self.height / 2,
        )

    def contains(self, x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
        """Whether points, given as fractions, lie inside."""
        across, down = self._from_centre(x, y)
        if self.shape == "ellipse":
            return np.asarray(across**2 + down**2 <= 1.0)
        return np.asarray((np.abs(across) <= 1.0) & (np.abs(down) <= 1.0))

    def pull(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """How strongly this region draws the gaze to each point, from 0 to 1, fading at its edge."""
        across, down = self._from_centre(x, y)
        if self.shape == "ellipse":
            return np.asarray(np.exp(-(across**2 + down**2)))
        return np.asarray(np.exp(-(across**4 + down**4)))

    def _from_centre(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (x - self.x) / (self.width / 2), (y - self.y) / (self.height / 2)


BACKGROUND = 0.12


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A scene: a name, its regions, and how bright it is (0 to 1)."""

    name: str
    regions: tuple[Region, ...]
    brightness: float = 0.5
    seed: int = 0

    def weights_for(self, observer: Observer) -> FloatArray:
        """Return each region's weight as this participant feels it: kinds they like, and likings of their own."""
        own = generator(observer.seed, Purpose.TASTE, observer.index, self.name).standard_normal(len(self.regions))
        by_kind = {RegionKind.FACE: observer.face_taste, RegionKind.TEXT: observer.text_taste, RegionKind.THING: 0.0}
        liking = np.array([by_kind[region.kind] for region in self.regions]) + observer.own_taste * own
        return np.array([region.weight for region in self.regions]) * np.exp(liking)

    def attraction(self, x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
        """How strongly each point, given as fractions, draws the gaze."""
        total = np.full(np.shape(x), BACKGROUND)
        for region, weight in zip(self.regions, weights, strict=True):
            total += weight * region.pull(x, y)
        return total

    def region_at(self, x: FloatArray, y: FloatArray) -> NDArray[np.int64]:
        """Return the index of the region each point lies in, the first where several overlap; -1 for none."""
        found = np.full(np.shape(x), -1, dtype=np.int64)
        for index, region in reversed(list(enumerate(self.regions))):
            found[region.contains(x, y)] = index
        return found

    def picture(self, width: int = 960, height: int = 600) -> NDArray[np.uint8]:
        """Paint the scene: a ``height x width x 3`` array of RGB bytes, the same every time."""
        from gazeveil.simulate.picture import paint  # noqa: PLC0415  (painting is seldom needed)

        return paint(self, width, height)


_WEIGHT = {RegionKind.FACE: 3.0, RegionKind.TEXT: 2.0, RegionKind.THING: 1.2}


def scene(seed: int, index: int) -> Stimulus:
    """Make up scene ``index`` of a seed: one or two faces, a sign or two, and some things, none overlapping."""
    if index < 0:
        raise OptionError(f"scenes are counted from 0, not from {index}")
    rng = generator(seed, Purpose.SCENE, index)
    kinds = [RegionKind.FACE] * int(rng.integers(1, 3)) + [RegionKind.TEXT] * int(rng.integers(1, 3))
    kinds += [RegionKind.THING] * int(rng.integers(2, 4))
    counts: Counter[str] = Counter()
    regions = []
    # twelve places, four across and three down; each region stays within its own
    for kind, place in zip(kinds, rng.permutation(12)[: len(kinds)], strict=True):
        label = str(rng.choice(("ball", "box"))) if kind is RegionKind.THING else str(kind)
        counts[label] += 1
        width, height = _size(kind, rng)
        x = (place % 4 + 0.5) / 4 + rng.uniform(-0.5, 0.5) * (0.25 - width) * 0.9
        y = (place // 4 + 0.5) / 3 + rng.uniform(-0.5, 0.5) * (1 / 3 - height) * 0.9
        shape = "rectangle" if label in {"text", "box"} else "ellipse"
        weight = _WEIGHT[kind] * float(rng.uniform(0.8, 1.25))
        regions.append(Region(f"{label}-{counts[label]}", kind, shape, float(x), float(y), width, height, weight))
    return Stimulus(f"scene-{index + 1:02d}", tuple(regions), float(rng.uniform(0.3, 0.7)), seed)


def _size(kind: RegionKind, rng: np.random.Generator) -> tuple[float, float]:
    grow = float(rng.uniform(0.85, 1.15))
    if kind is RegionKind.FACE:
        return 0.12 * grow, 0.24 * grow
    if kind is RegionKind.TEXT:
        return 0.19 * grow, 0.13 * grow
    return 0.13 * grow, 0.19 * grow
