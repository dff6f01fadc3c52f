# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where a picture draws the gaze, from its pixels alone.

With the extra ``picture`` installed a small model of ours says it (`gazeveil.aggregate.predicted`). Without it there is
what stands out from the picture's own average spectrum: the spectral residual (Hou and Zhang 2007) of lightness and of
two opponent colours, at two scales. The picture is public and no gaze is looked at, so this costs no privacy. It is a
guess: `gazeveil.aggregate.prior` offers it as some models among others, and what was measured decides how much of it is
believed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.predicted.backbone import is_installed
from gazeveil.aggregate.predicted.readout import content_of
from gazeveil.aggregate.render import render
from gazeveil.errors import InputError
from gazeveil.types import FloatArray

PREDICTED = "picture model 1"
SPECTRAL = "spectral residual"

_WIDTHS = (64, 128)
"""Pixels across that the picture is shrunk to: what is wider than a few of them hardly counts as standing out."""

_SPREAD = 2.5
"""Blur of what stands out, in pixels of each scale."""

_CONTRAST = 1.4
_LEAST_SIDE = 8


@dataclass(frozen=True, slots=True)
class Saliency:
    """What a picture says about where gaze goes. Two are equal if their pictures are.

    Attributes:
        digest: SHA-256 of the picture's shape and pixels.
        values: Rows by columns over the picture, of mean 1 and nowhere negative.
        source: What says it: `PREDICTED`, or the spectral residual.
    """

    digest: str
    values: FloatArray = field(compare=False, repr=False)
    source: str = SPECTRAL

    @staticmethod
    def of(pixels: NDArray[np.uint8]) -> Saliency:
        """Return what a picture says, by the picture model where its network is installed.

        Args:
            pixels: Rows by columns by red, green and blue, as the picture fills the plane.

        Raises:
            InputError: If it is no such picture, or one of fewer than eight pixels on a side.
        """
        pixels = np.asarray(pixels)
        if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
            raise InputError(f"a picture is rows by columns by 3 bytes, not {pixels.dtype} of shape {pixels.shape}")
        height, width = pixels.shape[:2]
        if min(height, width) < _LEAST_SIDE:
            raise InputError(f"a picture of {width} x {height} pixels is too small to say where gaze goes")
        digest = hashlib.sha256(f"{height} x {width}\n".encode() + pixels.tobytes()).hexdigest()
        if is_installed():
            return Saliency(digest, _for_reading(content_of(pixels)), PREDICTED)
        return Saliency(digest, _for_reading(_residual(pixels)), SPECTRAL)

    def on(self, grid: Grid) -> FloatArray:
        """Return its mean in each cell of a grid, row by row."""
        return shrunk(self.values, *grid.shape).ravel()


def _residual(pixels: NDArray[np.uint8]) -> FloatArray:
    """Return what stands out from the picture's own average spectrum."""
    height, width = pixels.shape[:2]
    rows = max(round(_WIDTHS[-1] * height / width), _LEAST_SIDE)
    colours = shrunk(pixels.transpose(2, 0, 1) / 255.0, rows, _WIDTHS[-1])
    total = np.zeros((rows, _WIDTHS[-1]))
    for channel in _opponents(colours):
        for across in _WIDTHS:
            small = shrunk(channel, max(round(rows * across / _WIDTHS[-1]), _LEAST_SIDE), across)
            total += shrunk(_standing_out(small), *total.shape)
    values = total**_CONTRAST
    return np.asarray(values / values.mean() if values.any() else np.ones_like(values))


def _for_reading(values: FloatArray) -> FloatArray:
    values.flags.writeable = False
    return values


def shrunk(values: FloatArray, rows: int, columns: int) -> FloatArray:
    """Return the mean of a map, or of a stack of maps, in each cell of another raster over the same plane."""
    down, across = _shares(values.shape[-2], rows), _shares(values.shape[-1], columns)
    return np.asarray(down @ values @ across.T)


def _shares(source: int, target: int) -> FloatArray:
    """Return which part of each target cell each source cell covers, a row a target cell."""
    edges, wanted = np.arange(source + 1) / source, np.arange(target + 1) / target
    upper = np.minimum(wanted[1:, None], edges[None, 1:])
    lower = np.maximum(wanted[:-1, None], edges[None, :-1])
    return np.asarray(np.maximum(upper - lower, 0.0) * target)


def _opponents(colours: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lightness, red against green, and blue against yellow."""
    red, green, blue = colours
    return (red + green + blue) / 3, red - green, blue - (red + green) / 2


def _standing_out(channel: FloatArray) -> FloatArray:
    """Return the energy of what is left once the spectrum's smooth part is taken away, blurred, of mean 1.

    An even channel has nothing that stands out: all zeros.
    """
    if np.ptp(channel) < 1e-6:
        return np.zeros_like(channel)
    spectrum = np.fft.fft2(channel)
    logs = np.log(np.abs(spectrum) + 1e-9)
    around = sum(np.roll(logs, (down, across), (0, 1)) for down in (-1, 0, 1) for across in (-1, 0, 1)) / 9
    left = np.fft.ifft2(np.exp(logs - around + 1j * np.angle(spectrum)))
    energy = render(np.abs(left) ** 2, _SPREAD)
    return np.asarray(energy / energy.mean())
