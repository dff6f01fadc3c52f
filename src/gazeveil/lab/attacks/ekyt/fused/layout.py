# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How the fused block lays out the parameters of the dense block: in tiles of 32 channels.

The 258 channels are nine slots: slot 0 holds the two velocities, slot ``i + 1`` the 32 outputs of convolution ``i``.
A convolution is then a sum over slots of 32 x 32 tiles, three per slot, one for each tap of its kernel.

=========  ================  ================================================================================
tiles      (28, 3, 32, 32)   pair (s, i), i < s: what convolution s takes from slot i + 1; tap, input, output
entry      (8, 16, 32)       what convolution s takes from slot 0; row 2 * tap + channel, rows from 6 are 0
scale      (8, 9, 32)        the weights of norm r on each slot; 0 where it sees nothing
shift      (8, 9, 32)        its biases
=========  ================  ================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from gazeveil.lab.attacks.ekyt._torch import torch
from gazeveil.lab.attacks.ekyt.network.layers import CHANNELS_IN, DILATIONS, FILTERS, KERNEL

DEPTH: Final = len(DILATIONS)
PAIRS: Final = DEPTH * (DEPTH - 1) // 2
ENTRY_ROWS: Final = 16
SLOTS: Final = DEPTH + 1


class Packed(NamedTuple):
    """The parameters of the block in tiles, or their gradients."""

    tiles: Any
    entry: Any
    scale: Any
    shift: Any


def pair(convolution: int, output: int) -> int:
    """Return where the tiles stand that lead from one convolution's output into a later one."""
    return convolution * (convolution - 1) // 2 + output


def pack(convolutions: Sequence[Any], scales: Sequence[Any], shifts: Sequence[Any], dtype: Any) -> Packed:
    """Return parameters in tiles; those of convolutions in the type that they are multiplied in."""
    index = _index(convolutions[0].device)
    taken = _flat(convolutions).to(dtype)[index.weights]
    return Packed(
        taken[: index.tiles].view(PAIRS, KERNEL, FILTERS, FILTERS),
        taken[index.tiles :].view(DEPTH, ENTRY_ROWS, FILTERS),
        _flat(scales)[index.norms].view(DEPTH, SLOTS, FILTERS),
        _flat(shifts)[index.norms].view(DEPTH, SLOTS, FILTERS),
    )


def unpack(packed: Packed) -> tuple[list[Any], list[Any], list[Any]]:
    """Return tiles as the parameters of convolutions and the scales and shifts of norms: the way back."""
    index = _index(packed.tiles.device)
    weights = torch.cat((packed.tiles.reshape(-1), packed.entry.reshape(-1)))[index.weights_back]
    widths = [CHANNELS_IN + FILTERS * depth for depth in range(SLOTS)]
    convolutions = weights.split([FILTERS * width * KERNEL for width in widths[:-1]])
    return (
        [part.view(FILTERS, width, KERNEL) for part, width in zip(convolutions, widths[:-1], strict=True)],
        list(packed.scale.reshape(-1)[index.norms_back].split(widths[1:])),
        list(packed.shift.reshape(-1)[index.norms_back].split(widths[1:])),
    )


class _Index(NamedTuple):
    """Which place of the flat parameters goes to which place of the tiles, and back."""

    weights: Any
    weights_back: Any
    norms: Any
    norms_back: Any
    tiles: int


@cache
def _index(device: Any) -> _Index:
    widths = [CHANNELS_IN + FILTERS * depth for depth in range(SLOTS)]
    tiles = torch.zeros(PAIRS, KERNEL, FILTERS, FILTERS, dtype=torch.long)
    entry = torch.zeros(DEPTH, ENTRY_ROWS, FILTERS, dtype=torch.long)
    norms = torch.zeros(DEPTH, SLOTS, FILTERS, dtype=torch.long)
    first = 1  # place 0 of the flat parameters is a 0, for what is not there
    for depth, width in enumerate(widths[:-1]):
        count = FILTERS * width * KERNEL
        place = torch.arange(first, first + count).view(FILTERS, width, KERNEL).permute(2, 1, 0)  # tap, input, output
        first += count
        entry[depth, : KERNEL * CHANNELS_IN] = place[:, :CHANNELS_IN].reshape(KERNEL * CHANNELS_IN, FILTERS)
        for output in range(depth):
            begin = CHANNELS_IN + FILTERS * output
            tiles[pair(depth, output)] = place[:, begin : begin + FILTERS]
    first = 1
    for depth, width in enumerate(widths[1:]):
        place = torch.arange(first, first + width)
        first += width
        norms[depth, 0, :CHANNELS_IN] = place[:CHANNELS_IN]
        norms[depth, 1 : depth + 2] = place[CHANNELS_IN:].view(-1, FILTERS)
    weights = torch.cat((tiles.reshape(-1), entry.reshape(-1)))
    return _Index(
        weights.to(device),
        _inverse(weights).to(device),
        norms.reshape(-1).to(device),
        _inverse(norms.reshape(-1)).to(device),
        tiles.numel(),
    )


def _inverse(places: Any) -> Any:
    back = torch.empty(int(places.max()) + 1, dtype=torch.long)
    back[places] = torch.arange(len(places))
    return back[1:]


def _flat(parts: Sequence[Any]) -> Any:
    return torch.cat([parts[0].new_zeros(1), *(part.reshape(-1) for part in parts)])
