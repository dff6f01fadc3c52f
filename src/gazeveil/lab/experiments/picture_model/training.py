# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How a readout is trained: pictures cropped, scaled, mirrored and recoloured, so that no lab's camera is learnt.

The loss is the Kullback-Leibler divergence of the predicted map, content times the centre of the picture's own set,
from where participants looked. AdamW with one cycle of the learning rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from gazeveil.arrays import FloatArray
from gazeveil.gaze.picture_model import CELL
from gazeveil.lab.experiments.picture_model.network import Frozen, Trained
from gazeveil.lab.experiments.picture_model.pictures import Looked, PictureSet

EPOCHS, BATCH = 16, 8
RATE, DECAY, WARM_UP = 2e-3, 0.03, 0.15
CROPPED, SCALED, RECOLOURED = 0.6, 0.7, 0.6
SCALES, LEAST_CROP = (0.6, 1.4), 0.6
_STEP = 2 * CELL


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Pictures of one shape on the device, where participants looked, and the logarithm of their sets' centres."""

    pixels: torch.Tensor
    looks: torch.Tensor
    centres: torch.Tensor


def train_readouts(
    network: Frozen,
    channels: list[int],
    sets: list[PictureSet],
    *,
    count: int,
    seed: int,
    device: str,
    epochs: int = EPOCHS,
    tell: Callable[[float], None] = lambda share: None,
) -> list[Trained]:
    """Train several readouts on the same pictures, from seeds in a row; ``tell`` gets the share that is done."""
    readouts: list[Trained] = []
    for which in range(count):

        def step(done: int, of: int, before: int = which) -> None:
            tell((before + done / of) / count)

        readouts.append(train(network, channels, sets, seed=seed + which, device=device, epochs=epochs, tell=step))
    return readouts


def train(
    network: Frozen,
    channels: list[int],
    sets: list[PictureSet],
    *,
    seed: int,
    device: str,
    epochs: int = EPOCHS,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Trained:
    """Train one readout on the pictures of all sets that are not held out."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    groups = _by_shape(sets, device)
    steps = epochs * sum(math.ceil(len(group.pixels) / BATCH) for group in groups)
    readout = Trained(channels)
    readout.to(device)
    optimiser = torch.optim.AdamW(readout.parameters(), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps, pct_start=WARM_UP)
    readout.train()
    done = 0
    for _ in range(epochs):
        for plain in _batches(groups, rng):
            batch, weights = _varied(plain, rng)
            content = readout(network(batch.pixels), batch.looks.shape[1:])
            logs = functional.log_softmax((content + readout.centre * batch.centres).flatten(1), 1)
            looks = batch.looks.flatten(1)
            loss = ((looks * (looks.clamp_min(1e-9).log() - logs)).sum(1) * weights).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            done += 1
            tell(done, steps)
    readout.eval()
    return readout


def log_centre(centre: FloatArray, shape: tuple[int, int], device: str) -> torch.Tensor:
    """Return the logarithm of a set's centre on another raster."""
    values = torch.from_numpy(np.asarray(centre, dtype=np.float32)).to(device)[None, None]
    return functional.interpolate(values, size=shape, mode="bilinear", align_corners=False)[0, 0].clamp_min(1e-6).log()


def _by_shape(sets: list[PictureSet], device: str) -> list[_Batch]:
    """Return all pictures that are trained on, those of one shape together."""
    groups: dict[tuple[int, ...], list[tuple[Looked, FloatArray]]] = {}
    for each in sets:
        centre = each.centre()
        for picture in each.trained:
            groups.setdefault(picture.pixels.shape, []).append((picture, centre))
    return [
        _Batch(
            torch.from_numpy(np.stack([each.pixels.transpose(2, 0, 1) for each, _ in group])).to(device),
            torch.from_numpy(np.stack([each.looks for each, _ in group]).astype(np.float32)).to(device),
            torch.stack([log_centre(centre, each.looks.shape, device) for each, centre in group]),
        )
        for group in groups.values()
    ]


def _batches(groups: list[_Batch], rng: np.random.Generator) -> Iterator[_Batch]:
    parts = []
    for group in groups:
        order = rng.permutation(len(group.pixels))
        parts += [(group, order[start : start + BATCH]) for start in range(0, len(order), BATCH)]
    for place in rng.permutation(len(parts)):
        group, chosen = parts[place]
        at = torch.from_numpy(chosen).to(group.pixels.device)
        yield _Batch(group.pixels[at].float(), group.looks[at], group.centres[at])


def _varied(batch: _Batch, rng: np.random.Generator) -> tuple[_Batch, torch.Tensor]:
    """Return the pictures mirrored, scaled, cropped and recoloured by chance, and how much each counts then."""
    pixels, looks, centres = batch.pixels, batch.looks, batch.centres
    weights = torch.ones(len(pixels), device=pixels.device)
    if rng.random() < 0.5:
        pixels, looks, centres = pixels.flip(3), looks.flip(2), centres.flip(2)
    if rng.random() < SCALED:
        factor = rng.uniform(*SCALES)
        height, width = (max(round(size * factor / _STEP), 2) * _STEP for size in pixels.shape[-2:])
        shape = height // CELL, width // CELL
        pixels = functional.interpolate(
            pixels, size=(height, width), mode="bilinear", align_corners=False, antialias=True
        )
        looks, centres = (
            functional.interpolate(each[:, None], size=shape, mode="bilinear", align_corners=False)[:, 0]
            for each in (looks, centres)
        )
        looks = looks / looks.sum((1, 2), keepdim=True)
    if rng.random() < CROPPED:
        (top, down), (left, across) = (_cut(size, rng) for size in looks.shape[1:])
        looks, centres = (each[:, top : top + down, left : left + across] for each in (looks, centres))
        pixels = pixels[:, :, top * CELL : (top + down) * CELL, left * CELL : (left + across) * CELL]
        weights = looks.sum((1, 2))
        looks = looks / weights.clamp_min(1e-6)[:, None, None]
    if rng.random() < RECOLOURED:
        pixels = (pixels * float(rng.uniform(0.7, 1.3)) + float(rng.uniform(-25, 25))).clamp(0, 255)
        if rng.random() < 0.3:
            pixels = pixels.mean(1, keepdim=True).expand(-1, 3, -1, -1)
    return _Batch(pixels, looks, centres), weights.clamp(max=1.0)


def _cut(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return where a cut begins and how long it is, both even."""
    length = int(rng.integers(int(size * LEAST_CROP) // 2, size // 2 + 1)) * 2
    return int(rng.integers(0, (size - length) // 2 + 1)) * 2, length
