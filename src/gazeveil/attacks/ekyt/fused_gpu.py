# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fused block on a GPU: in which order the kernels run. Same doors as `fused_reference`."""

from __future__ import annotations

from typing import Any, NamedTuple

from gazeveil.attacks.ekyt import _fused_kernels as kernels
from gazeveil.attacks.ekyt._torch import torch
from gazeveil.attacks.ekyt.fused_layout import DEPTH, ENTRY_ROWS, PAIRS, SLOTS, Packed
from gazeveil.attacks.ekyt.fused_reference import Saved
from gazeveil.attacks.ekyt.network import CHANNELS_IN, CHANNELS_OUT, FILTERS, KERNEL
from gazeveil.errors import OptionError


class Tuning(NamedTuple):
    """How a kernel is run: moments a program handles at a time, its warps, and how many loads ahead it works."""

    block: int = 128
    warps: int = 4
    stages: int = 3

    def blocks(self, samples: int) -> int:
        """Return how many programs share a window."""
        return -(-samples // self.block)

    def options(self) -> dict[str, int]:
        """Return what a launch takes."""
        return {"block": self.block, "num_warps": self.warps, "num_stages": self.stages}


TUNING = {
    "convolve": Tuning(stages=1),
    "average": Tuning(),
    "pull": Tuning(),
    "pull_entry": Tuning(block=64, stages=2),
    "correct": Tuning(),
    "weigh": Tuning(block=64, warps=2),
    "weigh_entry": Tuning(stages=1),
}
"""The fastest of those tried on an H200."""
SHARES = 64
"""Gradients of weights are summed over so many shares of the windows, then over the shares."""
_LARGEST = 2**31 - 1  # places are counted in 32 bits


def forward(windows: Any, packed: Packed) -> tuple[Any, Saved]:
    """Return the averages over time of all rectified channels (n, 258), and what the way back needs."""
    count, _, samples = windows.shape
    if windows.dtype != torch.float32 or DEPTH * count * samples * FILTERS > _LARGEST:
        raise OptionError("the fused block takes float32 windows, and fewer than 2^31 values in all of its channels")
    outputs = packed.tiles.new_empty(DEPTH, count, samples, FILTERS)
    mean, variance = windows.new_zeros(2, SLOTS, FILTERS).unbind()
    variance[0, :CHANNELS_IN], mean[0, :CHANNELS_IN] = torch.var_mean(windows, dim=(0, 2), correction=0)
    norms = (packed.scale, packed.shift, mean, variance)
    convolve, average = TUNING["convolve"], TUNING["average"]
    blocks = convolve.blocks(samples)
    sums = windows.new_empty(2 * FILTERS, blocks * count)
    for depth in range(DEPTH):
        kernels.convolve[(blocks, count)](
            *(windows, outputs, packed.tiles, packed.entry, *norms, sums, samples, count, depth),
            **convolve.options(),
            **_precision(),
        )
        kernels.measure[(FILTERS,)](sums, mean, variance, blocks * count, float(count * samples), depth + 1)
    averages = windows.new_empty(count, CHANNELS_OUT)
    kernels.average[(count, DEPTH)](outputs, averages, *norms, samples, count, **average.options())
    saved = Saved(windows, outputs, mean, variance)
    factor = packed.scale[-1, 0, :CHANNELS_IN, None] * saved.inverse[0, :CHANNELS_IN, None]
    added = packed.shift[-1, 0, :CHANNELS_IN, None] - mean[0, :CHANNELS_IN, None] * factor
    averages[:, :CHANNELS_IN] = torch.relu(windows * factor + added).mean(dim=2)
    return averages, saved


def backward(gradient: Any, saved: Saved, packed: Packed) -> Packed:
    """Return the gradients of all parameters, given the gradient of the averages."""
    windows, outputs, mean, variance = saved
    count, _, samples = windows.shape
    gradient = gradient.float()
    norms = (packed.scale, packed.shift, mean, variance)
    into = torch.empty_like(outputs)
    scale, shift = windows.new_zeros(2, DEPTH, SLOTS, FILTERS).unbind()
    pull, correct, pull_entry = TUNING["pull"], TUNING["correct"], TUNING["pull_entry"]
    blocks = pull.blocks(samples)
    sums = windows.new_empty(DEPTH, 2 * FILTERS, blocks * count)
    for output in reversed(range(DEPTH)):
        kernels.pull[(blocks, count)](
            *(outputs, into, packed.tiles, *norms, gradient, sums, samples, count, output),
            **pull.options(),
            **_precision(),
        )
        kernels.settle[(FILTERS, DEPTH - output)](sums, scale, shift, blocks * count, output + 1, output)
        kernels.correct[(correct.blocks(samples), count)](
            *(outputs, into, packed.scale, mean, variance, scale, shift, samples, count, output), **correct.options()
        )
    blocks = pull_entry.blocks(samples)
    sums = windows.new_empty(DEPTH, 2 * FILTERS, blocks * count)
    kernels.pull_entry[(blocks, count)](
        *(windows, into, packed.entry, *norms, gradient, sums, samples, count), **pull_entry.options(), **_precision()
    )
    kernels.settle[(CHANNELS_IN, DEPTH)](sums, scale, shift, blocks * count, 0, 0)
    tiles, entry = _weighed(into, saved, norms)
    return Packed(tiles, entry, scale, shift)


def _weighed(into: Any, saved: Saved, norms: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the gradients of what convolutions multiply by."""
    windows = saved.windows
    count, _, samples = windows.shape
    share = -(-count // SHARES)
    shares = -(-count // share)
    tiles = windows.new_empty(shares, PAIRS, KERNEL, FILTERS, FILTERS)
    entry = windows.new_empty(shares, DEPTH, ENTRY_ROWS, FILTERS)
    kernels.weigh[(PAIRS, shares)](
        *(saved.outputs, into, *norms, tiles, samples, count, share), **TUNING["weigh"].options(), **_precision()
    )
    kernels.weigh_entry[(DEPTH, shares)](
        *(windows, into, *norms, entry, samples, count, share), **TUNING["weigh_entry"].options(), **_precision()
    )
    return tiles.sum(dim=0), entry.sum(dim=0)


def _precision() -> dict[str, str]:
    """Return how float32 is multiplied; products of bfloat16 are not touched by it."""
    return {"precision": "tf32" if torch.backends.cudnn.allow_tf32 else "ieee"}
