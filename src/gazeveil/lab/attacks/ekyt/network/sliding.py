# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Windows that overlap, embedded together: what they share is computed once, and the result is the same.

A window's edges see zeros where the recording goes on, but only so far: through the convolutions of dilation 1, 2, 4, …
an edge reaches 1, 3, 7, …, 127, 128 samples into the window. Everything deeper inside is what the whole recording
gives. So the whole recording goes through the block once, and each window adds its two edges. With windows of 5 s that
slide by 1 s this is about half the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from gazeveil.lab.attacks.ekyt._torch import torch
from gazeveil.lab.attacks.ekyt.network.layers import CHANNELS_IN, CHANNELS_OUT, DILATIONS, FILTERS

REACH: Final = tuple(accumulate(DILATIONS))
"""How far an edge is felt after each convolution."""
STRIP: Final = max(reach + dilation for reach, dilation in zip(REACH, DILATIONS, strict=True))
"""How many samples from the edge the convolutions look at to work it out."""
SHORTEST: Final = STRIP + REACH[-1]
"""Windows must be this long, so that one edge is not felt at the other."""


AT_ONCE: Final = 12
"""Windows whose edges are worked out together; more would leave the caches."""


def sliding_averages(block: Any, recording: Any, samples: int, step: int) -> Any:
    """Return what the block gives for all windows of a recording.

    Args:
        block: A block with the names of `DenseBlock`, in evaluation mode.
        recording: Scaled velocities (2, all samples), at least one window of them.
        samples: How long a window is; at least `SHORTEST`.
        step: Samples from one window's start to the next one's.

    Returns:
        (windows, 258) averages.
    """
    norms = [_line(norm) for norm in block.norms]
    taps = [convolution.weight.unbind(2) for convolution in block.convolutions]
    channels = recording.new_empty((CHANNELS_OUT, 1, recording.shape[1]))
    channels[:CHANNELS_IN, 0] = recording
    _fill(channels, [torch.cat(three) for three in taps], norms, [channels.shape[2]] * len(taps))
    channels = channels[:, 0]
    deep = _rectified(channels, norms[-1])[:, REACH[-1] : recording.shape[1] - REACH[-1]]
    sums = deep.unfold(1, samples - 2 * REACH[-1], step).sum(dim=2)
    windows = sums.shape[1]
    sums += _edge_sums(channels.unfold(1, STRIP, step)[:, :windows], taps, norms)
    # the end of a window is the beginning of the window that runs backwards, and the last of them comes first
    left_over = (recording.shape[1] - samples) % step
    ends = channels.flip(1)[:, left_over:].unfold(1, STRIP, step)[:, :windows]
    sums += _edge_sums(ends, [three[::-1] for three in taps], norms).flip(1)
    return sums.T / samples


def _edge_sums(edges: Any, taps: list[Any], norms: list[tuple[Any, Any]]) -> Any:
    """Return for all windows the sums over those of their first samples that feel the edge."""
    weights = [torch.cat(three) for three in taps]
    sums = []
    for some in edges.split(AT_ONCE, dim=1):
        strips = some.contiguous()
        _fill(strips, weights, norms, REACH)
        felt = _rectified(strips[:, :, : REACH[-1]].flatten(1), norms[-1])
        sums.append(felt.unflatten(1, (-1, REACH[-1])).sum(dim=2))
    return torch.cat(sums, dim=1)


def _fill(channels: Any, taps: list[Any], norms: list[tuple[Any, Any]], reaches: Sequence[int]) -> None:
    """Run all convolutions over stretches (258, n, samples) and put what they give for their first samples into place.

    Left of a stretch there are zeros. Each convolution is one product with its three taps side by side, added up with
    the taps' delays.
    """
    for number, (weights, dilation, reach) in enumerate(zip(taps, DILATIONS, reaches, strict=True)):
        width = CHANNELS_IN + FILTERS * number
        seen = channels[:width, :, : reach + dilation]
        stretches, samples = seen.shape[1:]
        seen = seen.flatten(1) if number == 0 else _rectified(seen.flatten(1), norms[number - 1])
        early, now, late = (weights @ seen).view(3, FILTERS, stretches, samples)
        made = now[:, :, :reach]
        made[:, :, dilation:] += early[:, :, : reach - dilation]
        made[:, :, : samples - dilation] += late[:, :, dilation : dilation + reach]
        channels[width : width + FILTERS, :, :reach] = made


def _line(norm: Any) -> tuple[Any, Any]:
    """Return a trained normalisation as what it is: a factor and an offset for every channel."""
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return factor[:, None], (norm.bias - norm.running_mean * factor)[:, None]


def _rectified(channels: Any, line: tuple[Any, Any]) -> Any:
    return torch.addcmul(line[1], channels, line[0]).relu_()
