# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Linearly weighted smoothing over the latest samples (Wilson 2024, Algorithm 1).

`undo_smoothing` inverts it exactly (erratum W3): nobody should trust it alone.

Smoothing is a filter with weights B, B-1, …, 1 from the newest sample to the oldest. All zeros of that filter lie
inside the unit circle, so its inverse is stable: each sample follows from the output and the samples before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.veils import CompiledVeil, Kernels

LONGEST = 4096
"""The most samples that a window may hold: half a minute at 120 Hz."""

STARTS = ("first", "zeros")


@MECHANISMS.register("smoothing")
@dataclass(frozen=True, slots=True, kw_only=True)
class LinearSmoothing(SampleMechanism):
    """Release the mean of the latest ``window`` samples, weighted 1 for the oldest up to ``window`` for the newest.

    Guarantee: none. The filter is known and has an exact, stable inverse (erratum W3;
    `gazeveil.samples.mechanisms.smoothing`). The window is Algorithm 1's, not that of the paper's formula, which has
    one sample more (W1). Output lags by a third of the window. Where gaze is missing, the last gaze seen enters the
    window again.

    Attributes:
        window: B, in samples.
        start_with: What the window holds before the first sample: ``first`` fills it with the first point, so that
            output starts there; ``zeros`` is as published and draws the first B outputs towards (0, 0) (W2).
    """

    name: ClassVar[str] = "smoothing"
    draws_noise: ClassVar[bool] = False

    window: int = 50
    start_with: str = "first"

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "window", checked_window(self.window))
        if self.start_with not in STARTS:
            raise OptionError(f"start_with must be {' or '.join(STARTS)}, not {self.start_with!r}")

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("a known filter that has an exact inverse hides nothing from those who know it (W3)")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        fixed = (self.window, float(self.start_with == "first"))
        return _Smoothing(
            self,
            noise,
            Kernels(kernels.smoothing_step, kernels.smoothing_run),
            fixed=fixed,
            integers=1,
            floats=6 + 3 * self.window,
        )


class _Smoothing(CompiledVeil):
    """A ring of the latest samples, where its oldest is, and two sums over it."""

    __slots__ = ()

    def _is_sane(self) -> bool:
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        return bool(0 <= self._clock[kernels.SMOOTHING_AT] < self._fixed[kernels.SMOOTHING_WINDOW])


def checked_window(window: int) -> int:
    """Return a window, or refuse it if it is not a number of samples that can be kept."""
    samples = whole_number(window, "window", at_least=1)
    if samples > LONGEST:
        raise OptionError(f"window must be at most {LONGEST:,} samples, not {samples:,}")
    return samples


# --- Undoing smoothing, exactly (erratum W3): why nobody should trust it alone.


def undo_smoothing(smoothed: ArrayLike, window: int, *, start_with: str = "first") -> FloatArray:
    """Return the gaze that linear smoothing was given, from what it released.

    Args:
        smoothed: One coordinate of the released stream, from its first sample on.
        window: B, as the mechanism had it.
        start_with: What the window held before the first sample: ``first`` or ``zeros``.

    Raises:
        OptionError: If the start is unknown or the window no positive number.
    """
    released = np.asarray(smoothed, dtype=np.float64)
    if start_with not in ("first", "zeros"):
        raise OptionError(f"start_with must be first or zeros, not {start_with!r}")
    if window < 1:
        raise OptionError(f"window must be at least 1, not {window}")
    before = window - 1
    gaze = np.zeros(before + len(released))
    if start_with == "first" and len(released):
        gaze[:before] = released[0]  # a window full of one point gives that point
    weights = np.arange(1.0, window)  # of the samples before the newest, oldest first
    total = window * (window + 1) / 2.0
    for n, value in enumerate(released):
        gaze[before + n] = (total * value - weights @ gaze[n : n + before]) / window
    return gaze[before:]
