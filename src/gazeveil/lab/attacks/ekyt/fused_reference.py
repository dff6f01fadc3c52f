# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fused block in plain PyTorch: how its parameters are laid out, and the algebra that the kernels follow.

The 258 channels are nine slots: slot 0 holds the two velocities, slot ``i + 1`` the 32 outputs of convolution ``i``.
A convolution is then a sum over slots of 32 x 32 tiles, three per slot, one for each tap of its kernel.

=========  ================  ================================================================================
tiles      (28, 3, 32, 32)   pair (s, i), i < s: what convolution s takes from slot i + 1; tap, input, output
entry      (8, 16, 32)       what convolution s takes from slot 0; row 2 * tap + channel, rows from 6 are 0
scale      (8, 9, 32)        the weights of norm r on each slot; 0 where it sees nothing
shift      (8, 9, 32)        its biases
=========  ================  ================================================================================

Batch statistics belong to channels, not to norms: all eight norms see the same mean and variance of a channel, so they
are taken once, when the channel is made. Backwards, the gradient of slot ``i`` is pulled together from everything that
reads it. Let ``x̂`` be its standardised values and let norm ``r`` pass on ``z = γx̂ + β`` where that is positive; with
``g`` the gradient that arrives behind the ReLU, zero where it blocks, and ``E`` the mean over windows and time,

    gradient = (Σ γ g  −  Σ γ E[g]  −  x̂ Σ γ E[g x̂]) / sd,   dβ = N E[g],   dγ = N E[g x̂],

sums over all norms ``r`` that see the slot. The first sum is one pass over the data; the means come out of the same
pass; the other two sums are numbers per channel, and are subtracted after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from gazeveil.lab.attacks.ekyt.network import CHANNELS_IN, DILATIONS, FILTERS, KERNEL, torch

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


# --- The fused block in plain PyTorch: the algebra that the kernels follow, step by step, on any device.


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
