# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The picture model for training: the network's frozen stages and one readout, in PyTorch.

What is shipped runs without it (`gazeveil.gaze.picture_model`): the weights are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from gazeveil.gaze.picture_model import STAGES, Backbone, Layer, edge

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
            places, before = edge(size, side, self.stride)
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
