# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The network of `gazeveil.aggregate.learned` for training, in PyTorch. What is shipped runs without it, alike."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from gazeveil.aggregate.learned import HOT, LEAST, NARROW, SHARP, SMALL, STEPS, WIDE, cubic
from gazeveil.aggregate.map_view import bumps_along, lattice_of
from gazeveil.aggregate.models import Plane, mean_of, plain_models
from gazeveil.aggregate.prior import prior_of
from gazeveil.aggregate.render import blur_matrix

PICTURES, CHANNELS, ANSWERS = 8, 64, 4


class Raster:
    """A viewing plane on a device: its cells, its blur and its lattice of bumps."""

    def __init__(self, plane: Plane, device: str) -> None:
        grid = plane.grid
        self.rows, self.columns, self.device = grid.rows, grid.columns, device
        x, y = prior_of(grid).positions()
        lattice_x, lattice_y = lattice_of(grid)
        width, height = plane.cell_deg
        self.blur_deg = (plane.blur[0] * height + plane.blur[1] * width) / 2
        self.across, self.down = (self._moved(each) for each in bumps_along(grid))
        self._blur = tuple(
            self._moved(blur_matrix(size, blur)) for size, blur in zip(grid.shape, plane.blur, strict=True)
        )
        self._to_cells = self._moved(cubic(lattice_y, y)), self._moved(cubic(lattice_x, x))
        self.mean = self._moved(mean_of(plain_models(plane)))
        self.logs = torch.log((self.mean * self.cells).clamp_min(LEAST))
        to_lattice = self._moved(cubic(y, lattice_y)), self._moved(cubic(x, lattice_x))
        self.low = to_lattice[0] @ self.logs.view(grid.shape) @ to_lattice[1].T
        seen = self.down.T @ self.mean.view(grid.shape) @ self.across
        self.usual = float((seen / seen.norm()).abs().mean())
        places = [(2 * torch.arange(count, device=device) + 1) / count - 1 for count in self.low.shape]
        self.places = torch.stack(torch.meshgrid(*places, indexing="ij")[::-1])

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.rows * self.columns

    def numbers(self, looks: torch.Tensor) -> torch.Tensor:
        """Return what bumps see of each viewer's looks, of length 1."""
        down, across = self._cell_of(looks)
        seen = torch.einsum("...kr,...kc,...k->...rc", self.down[down], self.across[across], looks[..., 2])
        return seen / seen.flatten(-2).norm(dim=-1)[..., None, None].clamp_min(1e-9)

    def map(self, looks: torch.Tensor) -> torch.Tensor:
        """Return the blurred map of all viewers of each picture, of mass 1."""
        down, across = self._cell_of(looks)
        counts = torch.zeros(len(looks), self.cells, device=self.device)
        counts.scatter_add_(1, (down * self.columns + across).flatten(1), looks[..., 2].flatten(1))
        counts = (counts / counts.sum(1, keepdim=True)).view(-1, self.rows, self.columns)
        return (self._blur[0] @ counts @ self._blur[1].T).reshape(len(looks), -1)

    def on_cells(self, values: torch.Tensor) -> torch.Tensor:
        """Return pictures on the lattice, on the cells."""
        return self._to_cells[0] @ values @ self._to_cells[1].T

    def pictures(self, numbers: torch.Tensor, observers: int, noise_sd: float) -> torch.Tensor:
        """Return what the network looks at."""
        count, shape = len(numbers), self.low.shape
        facts = (math.log(noise_sd / 0.1), math.log(observers / 30) / 2, self.blur_deg - 1.1)
        parts = [0.2 * numbers[:, None] / self.usual, 0.3 * numbers[:, None] / noise_sd]
        parts.append(0.5 * self.low.expand(count, 1, *shape))
        parts += [torch.full((count, 1, *shape), fact, device=self.device) for fact in facts]
        return torch.cat([*parts, self.places.expand(count, 2, *shape)], 1)

    def _moved(self, values: np.ndarray[Any, Any]) -> torch.Tensor:
        return torch.tensor(np.asarray(values), dtype=torch.float32, device=self.device)

    def _cell_of(self, looks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        down, across = (looks[..., 1] * self.rows).long(), (looks[..., 0] * self.columns).long()
        return down.clamp(0, self.rows - 1), across.clamp(0, self.columns - 1)


class Said(NamedTuple):
    """What the network says of maps: a number a cell, in units of an even map but for the map itself."""

    map: torch.Tensor
    half: torch.Tensor
    noise_sd: torch.Tensor
    hot: torch.Tensor


class _Block(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, step: int) -> None:
        super().__init__()
        self.a = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=step, dilation=step)
        self.b = torch.nn.Conv2d(CHANNELS, CHANNELS, 1)
        self.p = torch.nn.Linear(CHANNELS, CHANNELS)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        found = functional.relu(self.a(values))
        return values + self.b(found) + self.p(found.mean((2, 3)))[:, :, None, None]


class Trained(torch.nn.Module):  # type: ignore[misc]
    """The network; its layers bear the names of ``learned.npz``. Before training it says what is expected."""

    def __init__(self) -> None:
        super().__init__()
        self.i = torch.nn.Conv2d(PICTURES, CHANNELS, 3, padding=1)
        self.blocks = torch.nn.ModuleList(_Block(step) for step in STEPS)
        self.o = torch.nn.Conv2d(CHANNELS, ANSWERS, 1)
        torch.nn.init.zeros_(self.o.weight)
        torch.nn.init.zeros_(self.o.bias)

    def forward(self, raster: Raster, numbers: torch.Tensor, observers: int, noise_sd: float) -> Said:
        """Return what it says of noisy numbers."""
        values = functional.relu(self.i(raster.pictures(numbers, observers, noise_sd)))
        for block in self.blocks:
            values = block(values)
        factor, half, noise, hot = raster.on_cells(self.o(values)).flatten(2).unbind(1)
        shown = torch.softmax(raster.logs + factor, 1)
        even = shown * raster.cells
        size = WIDE * even.sqrt() + SMALL
        return Said(
            shown,
            size * half.clamp(-6, 4).exp(),
            NARROW * size * noise.clamp(-8, 4).exp(),
            SHARP * hot + 2 * (even.clamp_min(1e-3) / HOT).log(),
        )


def stored(network: Trained) -> dict[str, np.ndarray[Any, Any]]:
    """Return what ``learned.npz`` holds: half precision."""
    return {name: values.cpu().numpy().astype(np.float16) for name, values in network.state_dict().items()}
