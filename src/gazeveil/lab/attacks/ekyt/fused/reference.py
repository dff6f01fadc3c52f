# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fused block in plain PyTorch: the algebra that the kernels follow, step by step, on any device.

Batch statistics belong to channels, not to norms: all eight norms see the same mean and variance of a channel, so they
are taken once, when the channel is made. Backwards, the gradient of slot ``i`` is pulled together from everything that
reads it. Let ``x̂`` be its standardised values and let norm ``r`` pass on ``z = γx̂ + β`` where that is positive; with
``g`` the gradient that arrives behind the ReLU, zero where it blocks, and ``E`` the mean over windows and time,

    gradient = (Σ γ g  −  Σ γ E[g]  −  x̂ Σ γ E[g x̂]) / sd,   dβ = N E[g],   dγ = N E[g x̂],

sums over all norms ``r`` that see the slot. The first sum is one pass over the data; the means come out of the same
pass; the other two sums are numbers per channel, and are subtracted after it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gazeveil.lab.attacks.ekyt._torch import torch
from gazeveil.lab.attacks.ekyt.fused.layout import DEPTH, ENTRY_ROWS, PAIRS, SLOTS, Packed, pair
from gazeveil.lab.attacks.ekyt.network.layers import CHANNELS_IN, DILATIONS, FILTERS, KERNEL

EPSILON = 1e-5


class Saved(NamedTuple):
    """What the way back needs of the way there.

    Attributes:
        windows: The input (n, 2, samples).
        outputs: The output of every convolution (8, n, samples, 32), before any norm.
        mean: Batch mean of every channel (9, 32).
        variance: Batch variance of every channel, over n * samples (9, 32).
    """

    windows: Any
    outputs: Any
    mean: Any
    variance: Any

    @property
    def inverse(self) -> Any:
        """One over the standard deviation."""
        return torch.rsqrt(self.variance + EPSILON)


def forward(windows: Any, packed: Packed) -> tuple[Any, Saved]:
    """Return the averages over time of all rectified channels (n, 258), and what the way back needs."""
    count, _, samples = windows.shape
    outputs = windows.new_zeros(DEPTH, count, samples, FILTERS)
    saved = Saved(windows, outputs, windows.new_zeros(SLOTS, FILTERS), windows.new_zeros(SLOTS, FILTERS))
    slots = [torch.nn.functional.pad(windows.mT, (0, FILTERS - CHANNELS_IN)), *outputs]
    _measure(saved, 0, slots[0])
    for depth in range(DEPTH):
        for tap in range(KERNEL):
            back = (tap - 1) * DILATIONS[depth]
            entry = packed.entry[depth, CHANNELS_IN * tap : CHANNELS_IN * (tap + 1)]
            seen = slots[0] if depth == 0 else _rectified(saved, packed, depth - 1, 0, slots[0])
            outputs[depth] += _moved(seen[..., :CHANNELS_IN], back) @ entry
            for output in range(depth):
                seen = _rectified(saved, packed, depth - 1, output + 1, slots[output + 1])
                outputs[depth] += _moved(seen, back) @ packed.tiles[pair(depth, output), tap]
        _measure(saved, depth + 1, outputs[depth])
    last = [_rectified(saved, packed, DEPTH - 1, slot, slots[slot]).mean(dim=1) for slot in range(SLOTS)]
    return torch.cat((last[0][:, :CHANNELS_IN], *last[1:]), dim=1), saved


def backward(gradient: Any, saved: Saved, packed: Packed) -> Packed:
    """Return the gradients of all parameters, given the gradient of the averages."""
    count, _, samples = saved.windows.shape
    slots = [torch.nn.functional.pad(saved.windows.mT, (0, FILTERS - CHANNELS_IN)), *saved.outputs]
    into = torch.zeros_like(saved.outputs)  # the gradient of every convolution's output
    found = Packed(
        gradient.new_zeros(PAIRS, KERNEL, FILTERS, FILTERS),
        gradient.new_zeros(DEPTH, ENTRY_ROWS, FILTERS),
        gradient.new_zeros(DEPTH, SLOTS, FILTERS),
        gradient.new_zeros(DEPTH, SLOTS, FILTERS),
    )
    average = torch.cat(
        (gradient[:, :CHANNELS_IN], gradient.new_zeros(count, FILTERS - CHANNELS_IN), gradient[:, CHANNELS_IN:]), dim=1
    )
    average = average.view(count, SLOTS, 1, FILTERS) / samples
    inverse = saved.inverse
    for slot in reversed(range(SLOTS)):
        standard = (slots[slot] - saved.mean[slot]) * inverse[slot]
        pulled = torch.zeros_like(standard)
        for norm in range(max(slot - 1, 0), DEPTH):
            arrived = average[:, slot].expand_as(standard)
            if norm < DEPTH - 1:
                arrived = _sent_back(into, packed, norm + 1, slot)
            arrived = arrived * (packed.scale[norm, slot] * standard + packed.shift[norm, slot] > 0)
            found.shift[norm, slot] = arrived.sum(dim=(0, 1))
            found.scale[norm, slot] = (arrived * standard).sum(dim=(0, 1))
            pulled += packed.scale[norm, slot] * arrived
        level = (packed.scale[:, slot] * found.shift[:, slot]).sum(dim=0) / (count * samples)
        slope = (packed.scale[:, slot] * found.scale[:, slot]).sum(dim=0) / (count * samples)
        if slot:
            into[slot - 1] = (pulled - level - slope * standard) * inverse[slot]
    for depth in range(DEPTH):
        for tap in range(KERNEL):
            back = (tap - 1) * DILATIONS[depth]
            seen = slots[0] if depth == 0 else _rectified(saved, packed, depth - 1, 0, slots[0])
            rows = slice(CHANNELS_IN * tap, CHANNELS_IN * (tap + 1))
            found.entry[depth, rows] = _product(_moved(seen[..., :CHANNELS_IN], back), into[depth])
            for output in range(depth):
                seen = _rectified(saved, packed, depth - 1, output + 1, slots[output + 1])
                found.tiles[pair(depth, output), tap] = _product(_moved(seen, back), into[depth])
    return found


def _measure(saved: Saved, slot: int, values: Any) -> None:
    saved.variance[slot], saved.mean[slot] = torch.var_mean(values, dim=(0, 1), correction=0)


def _rectified(saved: Saved, packed: Packed, norm: int, slot: int, values: Any) -> Any:
    standard = (values - saved.mean[slot]) * torch.rsqrt(saved.variance[slot] + EPSILON)
    return torch.relu(packed.scale[norm, slot] * standard + packed.shift[norm, slot])


def _moved(values: Any, samples: int) -> Any:
    """Return values (n, time, channels) as they are some samples later (earlier if negative), 0 beyond the ends."""
    length = values.shape[1]
    moved = torch.zeros_like(values)
    if abs(samples) < length:
        to, source = slice(max(-samples, 0), length - max(samples, 0)), slice(max(samples, 0), length + min(samples, 0))
        moved[:, to] = values[:, source]
    return moved


def _sent_back(into: Any, packed: Packed, depth: int, slot: int) -> Any:
    """Return the gradient that a convolution sends back to one slot, behind norm and ReLU."""
    total = torch.zeros_like(into[depth])
    for tap in range(KERNEL):
        moved = _moved(into[depth], -(tap - 1) * DILATIONS[depth])
        if slot:
            total += moved @ packed.tiles[pair(depth, slot - 1), tap].T
        else:
            total[..., :CHANNELS_IN] += moved @ packed.entry[depth, CHANNELS_IN * tap : CHANNELS_IN * (tap + 1)].T
    return total


def _product(left: Any, right: Any) -> Any:
    return left.reshape(-1, left.shape[-1]).T @ right.reshape(-1, right.shape[-1])
