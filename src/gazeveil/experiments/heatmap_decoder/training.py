# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How the decoder is trained: what is wrong with its maps, with its intervals, and with what it says of noise.

Maps should correlate with the population's, differ little from it, and never be worse than the map that is expected:
what they are worse counts twice. Half widths are the quantile of what maps differ from those of the same participants;
what two draws of noise make of the same participants says what noise does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from torch.nn import functional

from gazeveil.experiments.heatmap_decoder.network import Raster, Said, Trained
from gazeveil.experiments.heatmap_decoder.scenes import PLANES, Scenes, Step, plane_of
from gazeveil.experiments.heatmap_decoder.viewers import Looks

STEPS: Final = 27_000
BATCH: Final = 192
"""Scenes of a step; half as many where there are many participants."""
_MANY_PEOPLE: Final = 150
RATE, DECAY, WARM_UP, KEPT = 2e-3, 1e-2, 0.05, 0.999
COVERED: Final = 0.96
MULTIPLIER: Final = 5.27591
"""Standard deviation of the noise of a sum of vectors of length 1 without negative entries, at ε = 1 and δ = 10⁻⁵."""
_FEWEST, _MOST, _LEAST_PEOPLE, _MOST_PEOPLE = 8, 450, 5, 500
_TIMES = (1.0, 1.0, 1.0, 0.5, 2.0, 3.0)
"""How many more participants there are than would see so much noise at ε = 1."""
_USUAL_PLANE = 0.3


def train(
    sets: list[Looks],
    *,
    seed: int,
    device: str,
    steps: int = STEPS,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Trained:
    """Train a network, and return the mean over its last thousand or so steps."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    scenes = Scenes(sets, device, seed)
    rasters = [Raster(plane_of(*each), device) for each in PLANES]
    network = Trained()
    network.to(device)
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    mean = {name: values.detach().clone() for name, values in network.state_dict().items()}
    for done in range(steps):
        part = done / steps
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, part / WARM_UP) * (1 + math.cos(math.pi * part)) / 2
        usual = rng.random() < _USUAL_PLANE
        raster = rasters[0 if usual else rng.integers(len(rasters))]
        effective = math.exp(rng.uniform(math.log(_FEWEST), math.log(_MOST)))
        observers = min(max(round(effective * rng.choice(_TIMES)), _LEAST_PEOPLE), _MOST_PEOPLE)
        step = scenes.step(raster, BATCH if observers < _MANY_PEOPLE else BATCH // 2, observers)
        loss = loss_of(network, raster, scenes, step, observers, MULTIPLIER / effective)
        if not torch.isfinite(loss):
            continue
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        kept = min(KEPT, (done + 1) / (done + 101))
        with torch.no_grad():
            for name, values in network.state_dict().items():
                mean[name].mul_(kept).add_(values, alpha=1 - kept)
        tell(done + 1, steps)
    network.load_state_dict(mean)
    return network


def loss_of(
    network: Trained, raster: Raster, scenes: Scenes, step: Step, observers: int, noise_sd: float
) -> torch.Tensor:
    """Return how wrong the network is about scenes that are seen under two draws of noise."""
    noisy = torch.cat([step.numbers + noise_sd * scenes.noise(step.numbers.shape) for _ in range(2)])
    said: Said = network(raster, noisy, observers, noise_sd)
    everybody, same = step.everybody.repeat(2, 1), step.same.repeat(2, 1)
    alike = correlations(said.map, everybody)
    worse = functional.relu(correlations(raster.mean.expand_as(everybody), everybody) - alike).mean()
    spread = ((everybody - everybody.mean(1, keepdim=True)) ** 2).sum(1)
    apart = (((said.map - everybody) ** 2).sum(1) / spread).clamp_max(4).mean()
    beyond = ((said.map.detach() - same) * raster.cells).abs() - said.half
    intervals = torch.maximum(COVERED * beyond, (COVERED - 1) * beyond).mean()
    one, other = said.map.detach().chunk(2)
    variance = (said.noise_sd**2).unflatten(0, (2, -1)).mean(0) + 1e-6
    noise = (variance.log() / 2 + ((one - other) * raster.cells) ** 2 / (4 * variance)).mean()
    hot = functional.binary_cross_entropy_with_logits(said.hot, (same * raster.cells > 4).float())
    return (1 - alike).mean() + worse + 0.5 * apart + 0.3 * intervals + 0.01 * noise + hot


def correlations(maps: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return how alike maps are, pair by pair."""
    one, other = (each - each.mean(1, keepdim=True) for each in (maps, others))
    return (one * other).sum(1) / (one.norm(dim=1) * other.norm(dim=1) + 1e-12)
