# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where a picture draws the gaze, from its pixels alone.

With the extra ``picture`` installed a small model of ours predicts it (`gazeveil.gaze.picture_model`). Without it, the
prediction is what stands out from the picture's own average spectrum: the spectral residual (Hou and Zhang 2007) of
lightness and of two opponent colours, at two scales. A map of the user's own can take their place. The picture is
public and no gaze is looked at, so this costs no privacy. It is a guess: `gazeveil.aggregate.map_prior` offers it as
some models among others, and the measurement decides how much weight it gets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.grid import Grid, render
from gazeveil.arrays import FloatArray, one_thread
from gazeveil.errors import InputError
from gazeveil.gaze.picture_model import content_of, is_installed, readout_digest

PREDICTED = "picture model 1"
SPECTRAL = "spectral residual"
OWN = "own map"

_WIDTHS = (64, 128)
"""Pixels across that the picture is shrunk to: what is wider than a few of them hardly counts as standing out."""

_SPREAD = 2.5
"""Blur of what stands out, in pixels of each scale."""

_CONTRAST = 1.4
_LEAST_SIDE = 8
_MOST_CELLS = 512
"""Rows and columns that are kept of a map: no grid of a heatmap is finer."""


@dataclass(frozen=True, slots=True)
class Saliency:
    """What a picture predicts about where gaze goes. Two are equal if their pictures are.

    Attributes:
        digest: SHA-256 of the picture's shape and pixels, or of the user's own map.
        values: Rows by columns over the picture, of mean 1 and nowhere negative.
        source: Which prior weight it gets: that of the picture model (own maps, too), or of the spectral residual.
        own: Whether it is a map of the user's own.
    """

    digest: str
    values: FloatArray = field(compare=False, repr=False)
    source: str = SPECTRAL
    own: bool = False

    @staticmethod
    @one_thread()
    def of(pixels: NDArray[np.uint8]) -> Saliency:
        """Return what a picture says, by the picture model where its network is installed.

        Args:
            pixels: Rows by columns by red, green and blue, as the picture fills the viewing plane.

        Raises:
            InputError: If it is no such picture, or one of fewer than eight pixels on a side.
        """
        pixels = _checked(pixels)
        height, width = pixels.shape[:2]
        digest = hashlib.sha256(f"{height} x {width}\n".encode() + pixels.tobytes()).hexdigest()
        if is_installed():
            return Saliency(digest, _for_reading(content_of(pixels)), PREDICTED)
        return Saliency(digest, _for_reading(_residual(pixels)), SPECTRAL)

    @staticmethod
    def of_map(values: Any) -> Saliency:
        """Return what a map of the user's own says.

        ``Saliency.of_map(saliency.values)`` is the same again, so a map that was stored with a release serves to decode
        it once more.

        Args:
            values: How strongly each part of the picture draws gaze, rows by columns from the upper left, in any unit.
                It must come from public things alone: never from the gaze that is released.

        Raises:
            InputError: If it is no such map.
        """
        given = np.asarray(values)
        if given.ndim != 2 or min(given.shape) < 2:
            raise InputError(f"a map is rows by columns, not of shape {given.shape}", hint="give one number per cell")
        if given.dtype.kind not in "biuf":
            raise InputError(f"a map holds numbers, not {given.dtype}")
        cells = given.astype(np.float64)
        if not np.isfinite(cells).all():
            raise InputError("a map has cells that are no finite numbers", hint="0 says that nothing draws gaze there")
        if (cells < 0).any():
            raise InputError(
                f"a map has negative cells, down to {cells.min():.3g}", hint="give densities, not their logarithms"
            )
        if not cells.any():
            raise InputError("a map is 0 everywhere, and says nothing", hint="leave it out")
        if max(cells.shape) > _MOST_CELLS:
            cells = shrunk(cells, *(min(side, _MOST_CELLS) for side in cells.shape))
        largest = cells.max()
        mean = float((cells / largest).mean())  # a sum of huge values would be infinite
        if abs(mean * largest - 1) > 1e-9:
            cells = cells / largest / mean
        digest = hashlib.sha256("map {} x {}\n".format(*cells.shape).encode() + cells.tobytes()).hexdigest()
        return Saliency(digest, _for_reading(cells), PREDICTED, own=True)

    @staticmethod
    def from_model(pixels: NDArray[np.uint8], model: Callable[[NDArray[np.uint8]], Any]) -> Saliency:
        """Return what a model of the user's own says about a picture.

        Args:
            pixels: Rows by columns by red, green and blue, as the picture fills the viewing plane.
            model: Takes the pixels and returns a map, rows by columns of any number.

        Raises:
            InputError: If that is no picture, or what the model returns is no map.
        """
        return Saliency.of_map(model(_checked(pixels).copy()))

    @property
    def said_by(self) -> str:
        """Its origin: the picture model, the spectral residual, or a map of the user's own."""
        return OWN if self.own else self.source

    def to_dict(self) -> dict[str, Any]:
        """Return what spoke, as plain values: the digest of what was given, and of the picture model's weights."""
        model = {} if self.own or self.source != PREDICTED else {"picture_model_sha256": readout_digest()}
        return {"picture": self.digest, "picture_said_by": self.said_by, **model}

    def on(self, grid: Grid) -> FloatArray:
        """Return its mean in each cell of a grid, row by row."""
        return shrunk(self.values, *grid.shape).ravel()


def _checked(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    pixels = np.asarray(pixels)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise InputError(f"a picture is rows by columns by 3 bytes, not {pixels.dtype} of shape {pixels.shape}")
    height, width = pixels.shape[:2]
    if min(height, width) < _LEAST_SIDE:
        raise InputError(f"a picture of {width} x {height} pixels is too small to say where gaze goes")
    return pixels


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
    """Return the mean of a map, or of a stack of maps, in each cell of another raster over the same viewing plane."""
    down, across = shares(values.shape[-2], rows), shares(values.shape[-1], columns)
    return np.asarray(down @ values @ across.T)


def shares(source: int, target: int) -> FloatArray:
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
