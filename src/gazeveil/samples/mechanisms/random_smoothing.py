# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Smoothing with a random start and random weights, as Wilson 2024 proposes for later (section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.mechanisms.smoothing import checked_window
from gazeveil.samples.veils import BLOCK, Kernels, NoisyVeil, number, truth


@MECHANISMS.register("random-smoothing")
@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSmoothing(SampleMechanism):
    """Smooth as `LinearSmoothing` does, but give every sample a secret weight and start from secret points.

    Guarantee: none is proven. The exact inverse of plain smoothing needs the weights. What a random start hides is gone
    after a few windows, because the filter forgets it. Where gaze is missing, the last gaze seen enters the window
    again, with a weight of its own.

    Attributes:
        window: B, in samples.
        spread: A sample's weight is drawn evenly from 1 - spread to 1 + spread; below 1.
        random_start: Whether the window starts full of random points of the space, instead of the first point.
    """

    name: ClassVar[str] = "random-smoothing"

    window: int = 50
    spread: float = 0.5
    random_start: bool = True

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "window", checked_window(self.window))
        truth(self, "random_start")
        if not 0 <= number(self, "spread") < 1:
            raise OptionError(f"spread must be at least 0 and below 1, not {self.spread!r}")

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("there is no proof of what random weights and a random start hide (W3)")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        return _RandomSmoothingVeil(
            self,
            noise,
            Kernels(kernels.random_smoothing_step, kernels.random_smoothing_run),
            draw=partial(_weights, self.spread),
            per_sample=1,
            fixed=(self.window, float(not self.random_start)),
            integers=1,
            floats=8 + 4 * self.window,
        )


class _RandomSmoothingVeil(NoisyVeil):
    """A ring of weighted samples and weights, where its oldest is, and two sums over it."""

    __slots__ = ()

    def _refill(self, samples: int = BLOCK) -> None:
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        self._check_open()
        if self._clock[kernels.SEEN] == 0 and self._fixed[kernels.SMOOTHING_FILLS] == 0.0:
            self._start_anywhere()
        super()._refill(samples)

    def _start_anywhere(self) -> None:
        """Fill the ring with random points of the space, each of weight 1."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        space, window = self.mechanism.space, int(self._fixed[kernels.SMOOTHING_WINDOW])
        columns = kernels.RANDOM_SMOOTHING_COLUMNS
        ring = self._memory[kernels.RANDOM_SMOOTHING_RING :][: columns * window].reshape(window, columns)
        shares = _uniform(self.noise, window * space.axes).reshape(window, space.axes)
        ring[:, : space.axes] = np.array(space.low) + shares * np.array(space.size)
        ring[:, 3] = 1.0

    def _is_sane(self) -> bool:
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        return super()._is_sane() and bool(
            0 <= self._clock[kernels.RANDOM_SMOOTHING_AT] < self._fixed[kernels.SMOOTHING_WINDOW]
        )


def _uniform(source: NoiseSource, count: int) -> FloatArray:
    return (source.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _weights(spread: float, source: NoiseSource, out: FloatArray) -> None:
    np.multiply(_uniform(source, len(out)), 2.0 * spread, out=out)
    out += 1.0 - spread
