# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The networks of `gazeveil.aggregate.neural_decoder` for training, in PyTorch. What is shipped runs without it, alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from gazeveil.aggregate.grid import blur_matrix
from gazeveil.aggregate.map_prior import (
    BELIEVED,
    CENTRE_POWER,
    PICTURE_FLOOR,
    PICTURE_SIZES,
    Plane,
    broad,
    mean_of,
    plain_models,
)
from gazeveil.aggregate.neural_decoder import HOT, LEAST, NARROW, SHARP, SMALL, STEPS, WIDE, between
from gazeveil.aggregate.saliency import shares

ANSWERS = 4


class Raster:
    """A viewing plane on a device: its cells, its blur and its lattice."""

    def __init__(self, plane: Plane, device: str) -> None:
        self.plane, self.device = plane, device
        self.rows, self.columns = plane.grid.shape
        lattice = between(plane)
        self.lattice = lattice.shape
        self.bumps, self.to_lattice, self._to_cells = (
            tuple(self.moved(each) for each in pair) for pair in (lattice.bumps, lattice.to_lattice, lattice.to_cells)
        )
        self._blur = tuple(
            self.moved(blur_matrix(size, blur)) for size, blur in zip(plane.grid.shape, plane.blur, strict=True)
        )
        self.plain = self.moved(mean_of(plain_models(plane)))
        self.middles = torch.stack([self.moved(each.ravel()) for each in lattice.middles])
        self.places = torch.stack([self.moved(each) for each in lattice.places()])
        centres = [broad(plane.grid, 0.5, 0.5, *size) for size in PICTURE_SIZES]
        self._centres = self.moved([(each / each.max()) ** CENTRE_POWER for each in centres])

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.rows * self.columns

    def map(self, looks: torch.Tensor) -> torch.Tensor:
        """Return the blurred map of all viewers of each picture, of mass 1."""
        counts = torch.zeros(len(looks), self.cells, device=self.device)
        counts.scatter_add_(1, self.cell_of(looks).flatten(1), looks[..., 2].flatten(1))
        counts = (counts / counts.sum(1, keepdim=True)).view(-1, self.rows, self.columns)
        return (self._blur[0] @ counts @ self._blur[1].T).reshape(len(looks), -1)

    def prior(self, contents: torch.Tensor) -> torch.Tensor:
        """Return the map that is expected where pictures say something, as `gazeveil.aggregate.map_prior` does."""
        down, across = (
            self.moved(shares(source, target))
            for source, target in zip(contents.shape[1:], (self.rows, self.columns), strict=True)
        )
        followed = (down @ contents @ across.T).flatten(1)[:, None] * self._centres
        followed = followed / followed.sum(2, keepdim=True).clamp_min(1e-9)
        followed = ((1 - PICTURE_FLOOR) * followed + PICTURE_FLOOR / self.cells).mean(1)
        pictured = BELIEVED * followed + (1 - BELIEVED) * self.plain
        return torch.where(contents.flatten(1).any(1)[:, None], pictured, self.plain)

    def cell_of(self, looks: torch.Tensor) -> torch.Tensor:
        """Return which cell each look is in."""
        return self.row_of(looks) * self.columns + self.column_of(looks)

    def row_of(self, looks: torch.Tensor) -> torch.Tensor:
        """Return which row of cells each look is in."""
        return (looks[..., 1] * self.rows).long().clamp(0, self.rows - 1)

    def column_of(self, looks: torch.Tensor) -> torch.Tensor:
        """Return which column of cells each look is in."""
        return (looks[..., 0] * self.columns).long().clamp(0, self.columns - 1)

    def logs(self, maps: torch.Tensor) -> torch.Tensor:
        """Return the logarithms of maps, a row each, where an even map has 0."""
        return torch.log((maps * self.cells).clamp_min(LEAST))

    def on_lattice(self, values: torch.Tensor) -> torch.Tensor:
        """Return values of cells, a row a map, at the places of the lattice."""
        return self.to_lattice[0] @ values.view(-1, self.rows, self.columns) @ self.to_lattice[1].T

    def on_cells(self, values: torch.Tensor) -> torch.Tensor:
        """Return pictures on the lattice, on the cells."""
        return self._to_cells[0] @ values @ self._to_cells[1].T

    def even(self, values: torch.Tensor) -> torch.Tensor:
        """Return pictures that have the same value everywhere, one for each value."""
        return values[..., None, None].expand(*values.shape, *self.lattice)

    def moved(self, values: Any) -> torch.Tensor:
        """Return an array on the device."""
        return torch.tensor(np.asarray(values), dtype=torch.float32, device=self.device)


class Said(NamedTuple):
    """What the network says of maps: a number a cell, in units of an even map but for the map itself."""

    map: torch.Tensor
    half: torch.Tensor
    noise_sd: torch.Tensor
    hot: torch.Tensor


class _Block(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, channels: int, step: int) -> None:
        super().__init__()
        self.a = torch.nn.Conv2d(channels, channels, 3, padding=step, dilation=step)
        self.b = torch.nn.Conv2d(channels, channels, 1)
        self.p = torch.nn.Linear(channels, channels)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        found = functional.relu(self.a(values))
        return values + self.b(found) + self.p(found.mean((2, 3)))[:, :, None, None]


class Trained(torch.nn.Module):  # type: ignore[misc]
    """The network; its layers bear the names of the file. Before training it says what is expected."""

    def __init__(self, pictures: int, channels: int) -> None:
        super().__init__()
        self.i = torch.nn.Conv2d(pictures, channels, 3, padding=1)
        self.blocks = torch.nn.ModuleList(_Block(channels, step) for step in STEPS)
        self.o = torch.nn.Conv2d(channels, ANSWERS, 1)
        torch.nn.init.zeros_(self.o.weight)
        torch.nn.init.zeros_(self.o.bias)

    def forward(self, raster: Raster, pictures: torch.Tensor, prior: torch.Tensor) -> Said:
        """Return what it says of pictures, where maps are expected, a row each."""
        values = functional.relu(self.i(pictures))
        for block in self.blocks:
            values = block(values)
        factor, half, noise, hot = raster.on_cells(self.o(values)).flatten(2).unbind(1)
        shown = torch.softmax(raster.logs(prior) + factor, 1)
        even = shown * raster.cells
        size = WIDE * even.sqrt() + SMALL
        return Said(
            shown,
            size * half.clamp(-6, 4).exp(),
            NARROW * size * noise.clamp(-8, 4).exp(),
            SHARP * hot + 2 * (even.clamp_min(1e-3) / HOT).log(),
        )


def stored(network: Trained) -> dict[str, np.ndarray[Any, Any]]:
    """Return what the file holds: half precision."""
    return {name: values.cpu().numpy().astype(np.float16) for name, values in network.state_dict().items()}
