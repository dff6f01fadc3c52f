# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The two convolutions of the network that are no matrix product."""

from __future__ import annotations

import numpy as np

from gazeveil.arrays import Float32Array
from gazeveil.kernel_compiler import kernel


@kernel(fastmath=True)
def by_channel(
    padded: Float32Array, weights: Float32Array, shift: Float32Array, stride: int, out: Float32Array
) -> None:
    """Convolve each channel with its own square, add its shift, and cut to 0 … 6."""
    channels, rows, columns = out.shape
    side = weights.shape[1]
    for channel in range(channels):
        for row in range(rows):
            line = out[channel, row]
            line[:] = shift[channel]
            for down in range(side):
                source = padded[channel, row * stride + down]
                for across in range(side):
                    weight = weights[channel, down, across]
                    if stride == 1:
                        for column in range(columns):
                            line[column] += weight * source[column + across]
                    else:
                        for column in range(columns):
                            line[column] += weight * source[column * stride + across]
            for column in range(columns):
                line[column] = min(max(line[column], np.float32(0)), np.float32(6))


@kernel()
def gathered(padded: Float32Array, side: int, stride: int, out: Float32Array) -> None:
    """Lay the squares around all places side by side, one column a place, for a matrix product."""
    channels, rows, columns = padded.shape[0], out.shape[1], out.shape[2]
    for channel in range(channels):
        for down in range(side):
            for across in range(side):
                place = (channel * side + down) * side + across
                for row in range(rows):
                    for column in range(columns):
                        out[place, row, column] = padded[channel, row * stride + down, column * stride + across]
