# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The network: one dense block of dilated convolutions, then 128 numbers that say whose eyes these are.

Eight convolutions of 32 filters each see everything before them: 2, 34, 66, … channels go in, 258 come out. Every
convolution but the first is preceded by batch normalisation and ReLU. The last 258 channels are normalised, rectified,
averaged over time and mapped to 128 numbers. Nothing depends on the rate or on the length of a window.

Names in the state of an `Embedder` (123,040 parameters; ``i`` counts from 0):

====================================  ================  ==========================================================
``block.convolutions.{i}.weight``     (32, 2 + 32i, 3)  i = 0 … 7, dilation 1, 2, 4, 8, 16, 32, 64, 1, no bias
``block.norms.{i}.weight``, ``bias``  (34 + 32i,)       i = 0 … 7; norm i follows convolution i and sees all channels
                                                        so far; norm 7 (258 channels) precedes the average
``block.norms.{i}.running_mean``, …   (34 + 32i,)       also ``running_var`` and ``num_batches_tracked``
``embed.weight``, ``embed.bias``      (128, 258)        the embedding; it is not normalised
====================================  ================  ==========================================================

Channels are ordered input first, then each convolution's output in turn. Another block may be plugged in: a module
that maps (n, 2, samples) to the (n, 258) averages and has the same names under ``block.``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from gazeveil.lab.attacks.ekyt._torch import torch

CHANNELS_IN: Final = 2
FILTERS: Final = 32
KERNEL: Final = 3
DILATIONS: Final = (1, 2, 4, 8, 16, 32, 64, 1)
CHANNELS_OUT: Final = CHANNELS_IN + FILTERS * len(DILATIONS)
EMBEDDING: Final = 128

MakeBlock = Callable[[], Any]
"""Makes a module from (n, 2, samples) to (n, 258) whose parameters have the names above."""


class DenseBlock(torch.nn.Module):  # type: ignore[misc]
    """The plain dense block with its last normalisation and the average over time."""

    def __init__(self) -> None:
        super().__init__()
        widths = [CHANNELS_IN + FILTERS * index for index in range(len(DILATIONS) + 1)]
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv1d(width, FILTERS, KERNEL, padding=dilation, dilation=dilation, bias=False)
            for width, dilation in zip(widths[:-1], DILATIONS, strict=True)
        )
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(width) for width in widths[1:])

    def forward(self, windows: Any) -> Any:
        """Return the averages over time of the 258 rectified channels, one row per window."""
        channels = torch.cat((windows, self.convolutions[0](windows)), dim=1)
        for norm, convolution in zip(self.norms[:-1], self.convolutions[1:], strict=True):
            channels = torch.cat((channels, convolution(torch.relu(norm(channels)))), dim=1)
        return torch.relu(self.norms[-1](channels)).mean(dim=2)


class Embedder(torch.nn.Module):  # type: ignore[misc]
    """Windows of velocity (n, 2, samples) in, embeddings (n, 128) out."""

    def __init__(self, block: MakeBlock = DenseBlock, seed: int = 1) -> None:
        super().__init__()
        self.block = block()
        self.embed = torch.nn.Linear(CHANNELS_OUT, EMBEDDING)
        _initialise(self, torch.Generator().manual_seed(seed))

    def forward(self, windows: Any) -> Any:
        """Return the embeddings, not normalised."""
        return self.embed(self.block(windows))


class Classifier(torch.nn.Module):  # type: ignore[misc]
    """Embeddings in, one logit per training participant out; used in training only.

    Names in its state: ``norm.*`` (128 channels), ``linear.weight`` (classes, 128), ``linear.bias``.
    """

    def __init__(self, classes: int, seed: int = 1) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(EMBEDDING)
        self.linear = torch.nn.Linear(EMBEDDING, classes)
        _initialise(self, torch.Generator().manual_seed(seed))

    def forward(self, embeddings: Any) -> Any:
        """Return the logits."""
        return self.linear(torch.relu(self.norm(embeddings)))


def _initialise(module: Any, generator: Any) -> None:
    """Kaiming-normal convolutions; linear weights as PyTorch draws them, biases 0; batch norms start at 1 and 0.

    Parameters are visited by name, so that a block of another make with the same names starts from the same numbers.
    """
    for name, parameter in sorted(module.named_parameters()):
        with torch.no_grad():
            if parameter.dim() == 3:
                torch.nn.init.kaiming_normal_(parameter, generator=generator)
            elif parameter.dim() == 2:
                torch.nn.init.kaiming_uniform_(parameter, a=math.sqrt(5.0), generator=generator)
            else:
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)
