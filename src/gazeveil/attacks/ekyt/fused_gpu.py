# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fused block on a GPU: in which order the kernels run. Same doors as `fused_reference`."""

from __future__ import annotations

from typing import Any, Final

from gazeveil.attacks.ekyt import _fused_kernels as kernels
from gazeveil.attacks.ekyt._torch import torch
from gazeveil.attacks.ekyt.fused_layout import DEPTH, ENTRY_ROWS, PAIRS, SLOTS, Packed
from gazeveil.attacks.ekyt.fused_reference import Saved
from gazeveil.attacks.ekyt.network import CHANNELS_IN, CHANNELS_OUT, FILTERS, KERNEL
from gazeveil.errors import OptionError

_BLOCK: Final = 128
_SHARES: Final = 64
_LARGEST: Final = 2**31 - 1  # places are counted in 32 bits


def forward(windows: Any, packed: Packed) -> tuple[Any, Saved]:
    """Return the averages over time of all rectified channels (n, 258), and what the way back needs."""
    count, _, samples = windows.shape
    if windows.dtype != torch.float32 or DEPTH * count * samples * FILTERS > _LARGEST:
        raise OptionError("the fused block takes float32 windows, and fewer than 2^31 values in all of its channels")
    blocks = -(-samples // _BLOCK)
    outputs = packed.tiles.new_empty(DEPTH, count, samples, FILTERS)
    mean, variance = windows.new_zeros(2, SLOTS, FILTERS).unbind()
    variance[0, :CHANNELS_IN], mean[0, :CHANNELS_IN] = torch.var_mean(windows, dim=(0, 2), correction=0)
    norms = (packed.scale, packed.shift, mean, variance)
    sums = windows.new_empty(2 * FILTERS, blocks * count)
    for depth in range(DEPTH):
        kernels.convolve[(blocks, count)](
            windows, outputs, packed.tiles, packed.entry, *norms, sums, samples, count, depth, _BLOCK, _precision()
        )
        kernels.measure[(FILTERS,)](sums, mean, variance, blocks * count, float(count * samples), depth + 1)
    averages = windows.new_empty(count, CHANNELS_OUT)
    kernels.average[(count, DEPTH)](outputs, averages, *norms, samples, count, _BLOCK)
    saved = Saved(windows, outputs, mean, variance)
    factor = (packed.scale[-1, 0] * saved.inverse[0])[:CHANNELS_IN, None]
    added = packed.shift[-1, 0, :CHANNELS_IN, None] - mean[0, :CHANNELS_IN, None] * factor
    averages[:, :CHANNELS_IN] = torch.relu(windows * factor + added).mean(dim=2)
    return averages, saved


def backward(gradient: Any, saved: Saved, packed: Packed) -> Packed:
    """Return the gradients of all parameters, given the gradient of the averages."""
    windows, outputs, mean, variance = saved
    count, _, samples = windows.shape
    blocks = -(-samples // _BLOCK)
    grid, programs = (blocks, count), blocks * count
    norms = (packed.scale, packed.shift, mean, variance)
    into = torch.empty_like(outputs)
    sums = windows.new_empty(DEPTH, 2 * FILTERS, programs)
    scale, shift = windows.new_zeros(2, DEPTH, SLOTS, FILTERS).unbind()
    gradient = gradient.float()
    for output in reversed(range(DEPTH)):
        kernels.pull[grid](
            outputs, into, packed.tiles, *norms, gradient, sums, samples, count, output, _BLOCK, _precision()
        )
        kernels.settle[(FILTERS, DEPTH - output)](sums, scale, shift, programs, output + 1, output)
        kernels.correct[grid](
            outputs, into, packed.scale, mean, variance, scale, shift, samples, count, output, _BLOCK
        )
    kernels.pull_entry[grid](
        windows, into, packed.entry, *norms, gradient, sums, samples, count, _BLOCK, _precision()
    )
    kernels.settle[(CHANNELS_IN, DEPTH)](sums, scale, shift, programs, 0, 0)
    share = -(-count // _SHARES)
    shares = -(-count // share)
    tiles = windows.new_empty(shares, PAIRS, KERNEL, FILTERS, FILTERS)
    entry = windows.new_empty(shares, DEPTH, ENTRY_ROWS, FILTERS)
    kernels.weigh[(PAIRS, shares)](outputs, into, *norms, tiles, samples, count, share, _BLOCK, _precision())
    kernels.weigh_entry[(DEPTH, shares)](windows, into, *norms, entry, samples, count, share, _BLOCK, _precision())
    return Packed(tiles.sum(dim=0), entry.sum(dim=0), scale, shift)


def _precision() -> str:
    """Return how float32 is multiplied; products of bfloat16 are not touched by it."""
    return "tf32" if torch.backends.cudnn.allow_tf32 else "ieee"
