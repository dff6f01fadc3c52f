# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fused block on a GPU: in which order the kernels run. Same doors as `reference`."""

from __future__ import annotations

from typing import Any, NamedTuple

from gazeveil.errors import OptionError
from gazeveil.lab.attacks.ekyt import fused_kernels as kernels
from gazeveil.lab.attacks.ekyt.fused_reference import DEPTH, ENTRY_ROWS, PAIRS, SLOTS, Packed, Saved
from gazeveil.lab.attacks.ekyt.network import CHANNELS_IN, CHANNELS_OUT, FILTERS, KERNEL, torch


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


_BOTH = {"average": Tuning(), "convolve": Tuning(stages=1), "correct": Tuning(), "weigh_entry": Tuning(stages=1)}
TUNING = {
    torch.bfloat16: {
        **_BOTH,
        "pull": Tuning(stages=3),
        "pull_entry": Tuning(block=64, stages=2),
        "weigh": Tuning(block=64, warps=2, stages=3),
    },
    torch.float32: {
        **_BOTH,
        "pull": Tuning(stages=1),
        "pull_entry": Tuning(stages=1),
        "weigh": Tuning(block=64, warps=2, stages=2),
    },
}
"""The fastest of those tried on an H200, by the type that outputs are kept in."""
SHARES = 64
"""Gradients of weights are summed over this many shares of the windows, then over the shares."""
_LARGEST = 2**31 - 1  # places are counted in 32 bits


def forward(windows: Any, packed: Packed) -> tuple[Any, Saved]:
    """Return the averages over time of all rectified channels (n, 258), and what the way back needs."""
    count, _, samples = windows.shape
    if windows.dtype != torch.float32 or packed.tiles.dtype not in TUNING:
        raise OptionError("the kernels take float32 windows, and weights in float32 or bfloat16")
    if DEPTH * count * samples * FILTERS > _LARGEST:
        raise OptionError(f"{count} windows of {samples} samples are too many at once", hint="take smaller batches")
    outputs = packed.tiles.new_empty(DEPTH, count, samples, FILTERS)
    mean, variance = windows.new_zeros(2, SLOTS, FILTERS).unbind()
    variance[0, :CHANNELS_IN], mean[0, :CHANNELS_IN] = torch.var_mean(windows, dim=(0, 2), correction=0)
    norms = (packed.scale, packed.shift, mean, variance)
    tuning = TUNING[outputs.dtype]
    convolve, average = tuning["convolve"], tuning["average"]
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
    tuning = TUNING[outputs.dtype]
    pull, correct, pull_entry = tuning["pull"], tuning["correct"], tuning["pull_entry"]
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
            *(outputs, into, packed.scale, mean, variance, scale, shift, samples, count, output),
            **correct.options(),
            **_precision(),
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
    tuning = TUNING[into.dtype]
    tiles = windows.new_empty(shares, PAIRS, KERNEL, FILTERS, FILTERS)
    entry = windows.new_empty(shares, DEPTH, ENTRY_ROWS, FILTERS)
    kernels.weigh[(PAIRS, shares)](
        *(saved.outputs, into, *norms, tiles, samples, count, share), **tuning["weigh"].options(), **_precision()
    )
    kernels.weigh_entry[(DEPTH, shares)](
        *(windows, into, *norms, entry, samples, count, share), **tuning["weigh_entry"].options(), **_precision()
    )
    return tiles.sum(dim=0), entry.sum(dim=0)


def _precision() -> dict[str, str]:
    """Return how float32 is multiplied; products of bfloat16 are not touched by it."""
    return {"precision": "tf32" if torch.backends.cudnn.allow_tf32 else "ieee"}
