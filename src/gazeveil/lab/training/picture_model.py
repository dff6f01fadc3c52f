# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The picture model for training, in PyTorch: its readout, how that is trained, and how well it predicts new pictures.

What is shipped runs without it (`gazeveil.gaze.picture_model`): the weights are the same.

The loss is the Kullback-Leibler divergence of the predicted map, content times the centre of the picture's own set,
from where participants looked. AdamW with one cycle of the learning rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from gazeveil.aggregate.saliency import shrunk
from gazeveil.arrays import FloatArray, PlainRow
from gazeveil.gaze.picture_model import CELL, STAGES, Backbone, Layer, convolution_places
from gazeveil.lab.training.picture_sets import Looked, PictureSet

WIDTH, HIDDEN, DROPPED = 32, 48, 0.2


class Frozen:
    """The network's stages on a device; nothing of it is trained."""

    def __init__(self, network: Backbone, device: str) -> None:
        self._stem = _Moved(network.stem, device)
        self._stages = [
            [
                (
                    None if block.widen is None else _Moved(block.widen, device),
                    _Moved(block.convolve, device),
                    _Moved(block.narrow, device),
                )
                for block in stage
            ]
            for stage in network.stages
        ]

    @torch.no_grad()
    def __call__(self, pixels: torch.Tensor) -> list[torch.Tensor]:
        """Return the stages that a readout sees of pictures, by channels by rows by columns, from 0 to 255."""
        values = self._stem((pixels - 127.0) / 128.0).clamp_(0, 6)
        found = []
        for stage in self._stages:
            for widen, convolve, narrow in stage:
                wide = values if widen is None else widen(values).clamp_(0, 6)
                out = narrow(convolve(wide).clamp_(0, 6))
                values = out + values if convolve.stride == 1 and out.shape == values.shape else out
            found.append(values)
        return [found[stage] for stage in STAGES]


class _Moved:
    """One layer of the network on a device."""

    def __init__(self, layer: Layer, device: str) -> None:
        self.stride = layer.stride
        self._weights = torch.from_numpy(layer.weights).to(device)
        self._shift = torch.from_numpy(layer.shift).to(device)

    def __call__(self, values: torch.Tensor) -> torch.Tensor:
        side, groups = self._weights.shape[-1], values.shape[1] // self._weights.shape[1]
        padding = []
        for size in reversed(values.shape[-2:]):
            places, before = convolution_places(size, side, self.stride)
            padding += [before, max((places - 1) * self.stride + side - size, 0) - before]
        return functional.conv2d(
            functional.pad(values, padding), self._weights, self._shift, self.stride, groups=groups
        )


class Trained(torch.nn.Module):  # type: ignore[misc]
    """One readout; its layers bear the names of ``readout.npz``."""

    def __init__(self, channels: list[int]) -> None:
        super().__init__()
        self.inp = torch.nn.ModuleList([torch.nn.Conv2d(count, WIDTH, 1) for count in channels])
        self.c1 = torch.nn.Conv2d(len(channels) * WIDTH, HIDDEN, 3, padding=1)
        self.c2 = torch.nn.Conv2d(HIDDEN, HIDDEN, 3, padding=1)
        self.c3 = torch.nn.Conv2d(HIDDEN, 1, 1)
        self.centre = torch.nn.Parameter(torch.tensor(0.7))

    def forward(self, features: list[torch.Tensor], shape: tuple[int, int]) -> torch.Tensor:
        """Return the map of the content, in logarithms up to a constant."""
        seen = [functional.relu(layer(values)) for layer, values in zip(self.inp, features, strict=True)]
        laid = [functional.interpolate(each, size=shape, mode="bilinear", align_corners=False) for each in seen]
        values = functional.dropout2d(torch.cat(laid, 1), DROPPED, self.training)
        result: torch.Tensor = self.c3(functional.relu(self.c2(functional.relu(self.c1(values)))))[:, 0]
        return result


def stored(readouts: list[Trained]) -> dict[str, np.ndarray[Any, Any]]:
    """Return what ``readout.npz`` holds of several readouts: half precision, one after the other."""
    states = [each.state_dict() for each in readouts]
    names = [name for name in states[0] if name != "centre"]
    return {name: np.stack([state[name].cpu().numpy() for state in states]).astype(np.float16) for name in names}


# --- How a readout is trained: pictures cropped, scaled, mirrored and recoloured, so that no lab's camera is learnt.


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


# --- How well readouts predict pictures that they never saw: the correlation with where participants looked.


SHAPE = (24, 32)


@dataclass(frozen=True, slots=True)
class Score(PlainRow):
    """Mean correlations over a set's held-out pictures.

    Attributes:
        set: Its name.
        pictures: How many.
        seen: Whether other pictures of the set were trained on.
        centre: Of the set's own centre alone.
        content: Of the content alone.
        common: Of the content times the mean centre of all trained sets.
        own: Of the content times the set's own centre.
    """

    set: str
    pictures: int
    seen: bool
    centre: float
    content: float
    common: float
    own: float


def judged_pictures(judged: PictureSet, trained: list[PictureSet]) -> tuple[Looked, ...]:
    """Return the pictures that no readout saw: those held out, or all of a set that was not trained on."""
    return judged.held_out if judged in trained else (*judged.trained, *judged.held_out)


def judge(
    network: Frozen, readouts: list[Trained], judged: PictureSet, trained: list[PictureSet], device: str
) -> Score:
    """Judge readouts by the pictures of a set that they never saw."""
    pictures = judged_pictures(judged, trained)
    own, common = judged.centre(), np.mean([each.centre() for each in trained], axis=0)
    weight = float(np.mean([each.centre.item() for each in readouts]))
    rows = []
    for picture in pictures:
        shape = picture.looks.shape
        content = predicted(network, readouts, picture, device)
        at_own, at_common = (weight * log_centre(each, shape, device) for each in (own, common))
        truth = shrunk(picture.looks, *SHAPE)
        guesses = (at_own / weight, content, content + at_common, content + at_own)
        rows.append([_correlation(each, truth) for each in guesses])
    means = np.mean(rows, axis=0) if rows else np.full(4, np.nan)
    return Score(judged.name, len(pictures), judged in trained, *(float(value) for value in means))


def mean_score(parts: Sequence[Score]) -> Score:
    """Return the score of a set over all its pictures from scores of its parts."""
    if len(parts) == 1:
        return parts[0]
    counts = [each.pictures for each in parts]
    centre, content, common, own = np.average(
        [(each.centre, each.content, each.common, each.own) for each in parts], axis=0, weights=counts
    ).tolist()
    return replace(parts[0], pictures=sum(counts), centre=centre, content=content, common=common, own=own)


def contents(
    network: Frozen, readouts: list[Trained], judged: PictureSet, trained: list[PictureSet], device: str
) -> dict[str, FloatArray]:
    """Return the predicted content of the pictures of a set that readouts never saw, by "set/picture"."""
    return {
        f"{judged.name}/{picture.name}": np.exp(predicted(network, readouts, picture, device).cpu().numpy())
        for picture in judged_pictures(judged, trained)
    }


@torch.no_grad()
def predicted(network: Frozen, readouts: list[Trained], picture: Looked, device: str) -> torch.Tensor:
    """Return the content of a picture, in logarithms of mean 0: the mean of several readouts."""
    pixels = torch.from_numpy(picture.pixels.transpose(2, 0, 1).astype(np.float32))[None].to(device)
    features = network(pixels)
    logs = torch.stack([each(features, picture.looks.shape)[0] for each in readouts])
    return (logs - logs.mean((1, 2), keepdim=True)).mean(0)


def _correlation(logs: torch.Tensor, truth: FloatArray) -> float:
    guess = shrunk(logs.flatten().softmax(0).view(logs.shape).cpu().numpy().astype(np.float64), *SHAPE)
    return float(np.corrcoef(guess.ravel(), truth.ravel())[0, 1])
