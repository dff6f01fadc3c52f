# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Forecasts that were measured: how good releases came out in studies of which everything was known.

A heatmap's quality depends on public facts through one number: how many participants would see as much noise per
participant at ε = 1, δ = 10⁻⁵ and replace-one (`gazeveil.aggregate.choice.effective_observers`). The curves are means
and 5 % and 95 % quantiles over scenes, simulated ones and OSIE images weighing alike, of the splits that constants were
tuned on. `gazeveil experiment forecast` measures them again, and on the other splits how far off they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from gazeveil.release.forecast import Forecast

GAIN = 0.05
"""By how much a map must be expected to be better than the prior alone, in correlation, to be worth its budget."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A measured curve over effective participants.

    Attributes:
        at: Effective participants, growing.
        expected: Mean correlation with the map of the same participants without noise.
        low: 5 % quantile over scenes.
        high: 95 % quantile over scenes.
        without_data: Mean correlation of the prior alone.
        basis: What it was measured on.
    """

    at: tuple[float, ...]
    expected: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    without_data: tuple[float, ...]
    basis: str

    def forecast(self, participants: float) -> Forecast:
        """Return what to expect with so many effective participants; beyond the ends, what holds at the ends."""
        place, places = np.log(participants), np.log(self.at)
        expected, low, high, nothing = (
            float(np.interp(place, places, values))
            for values in (self.expected, self.low, self.high, self.without_data)
        )
        return Forecast(
            measure="cc",
            expected=expected,
            low=low,
            high=high,
            without_data=nothing,
            floor=nothing + GAIN,
            basis=self.basis,
        )


_AT = (2.0, 6.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0, 100.0, 200.0)
_PRIOR = (0.30, 0.336, 0.366, 0.394, 0.394, 0.39, 0.391, 0.407, 0.407, 0.408, 0.412)
_BASIS = "30 simulated scenes and 60 OSIE images, ε = 1, cells of 1 degree, blur 1.1 degrees, free viewing"

HEATMAP: Final = Curve(
    at=_AT,
    expected=(0.30, 0.388, 0.425, 0.502, 0.503, 0.548, 0.575, 0.703, 0.787, 0.89, 0.958),
    low=(0.05, 0.1, 0.1, 0.16, 0.16, 0.24, 0.27, 0.44, 0.64, 0.78, 0.93),
    high=(0.7, 0.72, 0.76, 0.81, 0.81, 0.82, 0.83, 0.88, 0.93, 0.96, 0.98),
    without_data=_PRIOR,
    basis=_BASIS,
)
"""One heatmap with a δ. At two participants nothing but the prior is assumed; the other places were measured."""

PURE_HEATMAP: Final = Curve(
    at=_AT,
    expected=(0.30, 0.388, 0.425, 0.502, 0.503, 0.509, 0.561, 0.612, 0.689, 0.752, 0.858),
    low=(0.05, 0.1, 0.1, 0.16, 0.16, 0.16, 0.26, 0.34, 0.4, 0.5, 0.7),
    high=(0.7, 0.72, 0.76, 0.81, 0.81, 0.82, 0.83, 0.86, 0.88, 0.91, 0.95),
    without_data=_PRIOR,
    basis=_BASIS,
)
"""One heatmap without a δ, over participants times ε."""
