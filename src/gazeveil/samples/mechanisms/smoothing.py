# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Linearly weighted smoothing over the latest samples (Wilson 2024, Algorithm 1).

It hides nothing from those who know it (erratum W3). It is a filter with weights B, B-1, …, 1 from the newest sample to
the oldest. All zeros of that filter lie inside the unit circle, so its inverse is stable: each sample follows from the
output and the samples before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

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

    Guarantee: none. The filter is known and has an exact, stable inverse (erratum W3). The window is Algorithm 1's, not
    that of the paper's formula, which has one sample more (W1). Output lags by a third of the window. Where gaze is
    missing, the last gaze seen enters the window again.

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
        return _SmoothingVeil(
            self,
            noise,
            Kernels(kernels.smoothing_step, kernels.smoothing_run),
            fixed=fixed,
            integers=1,
            floats=6 + 3 * self.window,
        )


class _SmoothingVeil(CompiledVeil):
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
