# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How decoders are trained: what is wrong with their maps, with their intervals, and with what they say of noise.

Maps should correlate with the population's, differ little from it, and never be worse than the map that is expected:
what single ones are worse counts more than once, and so does what the scenes of a step are worse on average, as those
may be alike in how much of gaze goes to the middle. Where a picture is known, they should also be right in what it does
not say. Half widths are the quantile of what maps differ from those of the same participants; what two draws of noise
make of the same participants says what noise does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np
import torch
from torch.nn import functional

from gazeveil.lab.experiments.heatmap_decoder.measuring import (
    BUMPS_PICTURES,
    MODES_PICTURES,
    PICTURED_PICTURES,
    Measure,
    OfBumps,
    OfModes,
    designed,
)
from gazeveil.lab.experiments.heatmap_decoder.network import Raster, Said, Trained
from gazeveil.lab.experiments.heatmap_decoder.scenes import PLANES, Mixture, Scenes, Step, plane_of
from gazeveil.lab.experiments.heatmap_decoder.viewers import Looks

BATCH: Final = 192
"""Scenes of a step; half as many where there are many participants."""
_MANY_PEOPLE: Final = 150
RATE, DECAY, WARM_UP, KEPT = 2e-3, 1e-2, 0.05, 0.999
COVERED: Final = 0.96
_GAINED: Final = 0.01
"""By so much the maps of a step should be better than what is expected, lest they be worse on other ones."""
_TIMES = (1.0, 1.0, 1.0, 0.5, 2.0, 3.0)
"""How many more participants there are than would see so much noise at ε = 1."""
_USUAL_PLANE = 0.3


@dataclass(frozen=True, slots=True)
class Course:
    """What a decoder is trained for.

    Attributes:
        strategy: ``bumps`` or ``modes``.
        effective: The fewest and the most participants whose noise at ε = 1 is trained on.
        people: The fewest and the most participants.
        steps: How many steps.
        pictures: How many pictures the network looks at.
        channels: How wide it is.
        mixture: What scenes are made of.
        worse: How much it counts, beside all else, that a map is worse than its prior.
        all_worse: How much it counts that the maps of a step are worse on average.
        own: How much it counts that a map is wrong in what a picture does not say.
    """

    strategy: str
    effective: tuple[float, float]
    people: tuple[int, int]
    steps: int
    pictures: int
    channels: int
    mixture: Mixture
    worse: float
    own: float = 0.0
    all_worse: float = 0.0


_FINE_BUMPS: Final = Course(
    "bumps", (8.0, 450.0), (5, 500), 27_000, BUMPS_PICTURES, 64, Mixture(0.12, 0.32, 0.0, False), worse=1.0
)
_FINE_MODES: Final = Course(
    "modes", (4.0, 60.0), (3, 180), 12_057, MODES_PICTURES, 48, Mixture(0.1, 0.4, 0.5, False), worse=1.2
)
_COARSE: Final = Mixture(0.08, 0.36, 0.5, False, alike=0.7, zoomed=0.4, coarse=0.35)
COURSES: Final = {
    "bumps": _FINE_BUMPS,
    "bumps_coarse": replace(_FINE_BUMPS, mixture=_COARSE, steps=14_761, worse=0.5, all_worse=3.0),
    "pictured": Course(
        "bumps",
        (12.0, 450.0),
        (5, 500),
        21_119,
        PICTURED_PICTURES,
        64,
        Mixture(0.1, 0.36, 0.5, True),
        worse=1.5,
        own=0.15,
    ),
    "modes": _FINE_MODES,
    "modes_coarse": replace(_FINE_MODES, mixture=_COARSE, steps=7_292, worse=0.5, all_worse=3.0),
}
"""How each of the networks that are shipped was trained (docs/reference/heatmap-decoder.md)."""
_DESIGNS: Final = 20
"""How many designs of modes there are for each viewing plane."""


Weights = Mapping[str, np.ndarray[Any, Any]]
"""What the layers of a network hold, by their names in its file."""


def fits(course: Course, weights: Weights) -> bool:
    """Return whether these are the weights of such a network."""
    layers = Trained(course.pictures, course.channels).state_dict()
    same = {name: tuple(layers[name].shape) for name in layers} == {name: weights[name].shape for name in weights}
    return same and all(each.dtype.kind == "f" for each in weights.values())


class _Measures(Protocol):
    def __call__(self, rng: np.random.Generator) -> Measure: ...


def train(
    course: Course,
    sets: list[Looks],
    *,
    seed: int,
    device: str,
    steps: int | None = None,
    start: Weights | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Trained:
    """Train a network, a new one or one that has these weights; return the mean over its last thousand or so steps."""
    steps = course.steps if steps is None else steps
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    scenes = Scenes(sets, device, seed, course.mixture)
    rasters = [Raster(plane_of(*each), device) for each in PLANES]
    measures = _bumps(course, rasters) if course.strategy == "bumps" else _modes(course, rasters, rng)
    network = Trained(course.pictures, course.channels)
    if start is not None:
        network.load_state_dict({name: torch.from_numpy(values.astype(np.float32)) for name, values in start.items()})
    network.to(device)
    rate = RATE if start is None else RATE / 2
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    mean = {name: values.detach().clone() for name, values in network.state_dict().items()}
    for done in range(steps):
        part = done / steps
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, part / WARM_UP) * (1 + math.cos(math.pi * part)) / 2
        measure = measures(rng)
        observers = measure.facts.observers
        step = scenes.step(BATCH if observers < _MANY_PEOPLE else BATCH // 2, observers)
        loss = loss_of(course, network, measure, step, scenes.chance)
        optimiser.zero_grad()
        loss.backward()
        size = torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        if torch.isfinite(size):
            optimiser.step()
        kept = min(KEPT, (done + 1) / (done + 101))
        with torch.no_grad():
            values = list(network.state_dict().values())
            torch._foreach_mul_(list(mean.values()), kept)
            torch._foreach_add_(list(mean.values()), values, alpha=1 - kept)
        tell(done + 1, steps)
    network.load_state_dict(mean)
    return network


def loss_of(course: Course, network: Trained, measure: Measure, step: Step, chance: torch.Generator) -> torch.Tensor:
    """Return how wrong the network is about scenes that are seen under two draws of noise."""
    raster, numbers = measure.raster, measure.numbers(step.mine)
    prior = raster.prior(step.contents).repeat(2, 1)
    noisy = numbers.repeat(2, 1) + measure.noise(2 * len(numbers), chance)
    said: Said = network(raster, measure.pictures(noisy, prior), prior)
    everybody, same = (raster.map(each).repeat(2, 1) for each in (step.everybody, step.mine))
    alike = correlations(said.map, everybody)
    lost = correlations(prior, everybody) - alike
    worse = course.worse * functional.relu(lost).mean() + course.all_worse * functional.relu(lost.mean() + _GAINED)
    spread = ((everybody - everybody.mean(1, keepdim=True)) ** 2).sum(1)
    apart = (((said.map - everybody) ** 2).sum(1) / spread).clamp_max(4).mean()
    beyond = ((said.map.detach() - same) * raster.cells).abs() - said.half
    intervals = torch.maximum(COVERED * beyond, (COVERED - 1) * beyond).mean()
    one, other = said.map.detach().chunk(2)
    variance = (said.noise_sd**2).unflatten(0, (2, -1)).mean(0) + 1e-6
    noise = (variance.log() / 2 + ((one - other) * raster.cells) ** 2 / (4 * variance)).mean()
    hot = functional.binary_cross_entropy_with_logits(said.hot, (same * raster.cells > 4).float())
    loss = (1 - alike).mean() + worse + 0.5 * apart + 0.3 * intervals + 0.01 * noise + hot
    if course.own:
        pictured = step.contents.flatten(1).any(1).repeat(2).float()
        left = 1 - correlations(_without(said.map, prior), _without(everybody, prior))
        loss = loss + course.own * (pictured * left).mean()
    return loss


def correlations(maps: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return how alike maps are, pair by pair."""
    one, other = (each - each.mean(1, keepdim=True) for each in (maps, others))
    return (one * other).sum(1) / (one.norm(dim=1) * other.norm(dim=1) + 1e-12)


def _without(maps: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return what is left of maps once others are regressed out."""
    one, other = (each - each.mean(1, keepdim=True) for each in (maps, others))
    return one - (one * other).sum(1, keepdim=True) / (other**2).sum(1, keepdim=True) * other


def _bumps(course: Course, rasters: list[Raster]) -> _Measures:
    def drawn(rng: np.random.Generator) -> Measure:
        raster = rasters[0 if rng.random() < _USUAL_PLANE else rng.integers(len(rasters))]
        return OfBumps(raster, *_noise_and_people(course, rng), pictured=course.mixture.pictured)

    return drawn


def _modes(course: Course, rasters: list[Raster], rng: np.random.Generator) -> _Measures:
    made: list[list[OfModes]] = []
    for raster in rasters:
        designs = (designed(raster.plane, *_noise_and_people(course, rng)) for _ in range(_DESIGNS))
        made.append([OfModes(raster, each) for each in designs if each is not None])

    def drawn(rng: np.random.Generator) -> Measure:
        own = made[0 if rng.random() < _USUAL_PLANE else rng.integers(len(made))]
        return own[rng.integers(len(own))]

    return drawn


def _noise_and_people(course: Course, rng: np.random.Generator) -> tuple[int, float]:
    """Return how many participants there are, and how many would have as much noise at ε = 1."""
    low, high = course.effective
    effective = math.exp(rng.uniform(math.log(low), math.log(high)))
    fewest, most = course.people
    return min(max(round(effective * rng.choice(_TIMES)), fewest), most), effective
