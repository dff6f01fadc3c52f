# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Forecasts that were measured: how good releases came out in studies of which everything was known.

A single heatmap's quality depends on public facts through one number: how many participants would see as much noise per
participant at ε = 1, δ = 10⁻⁵ and replace-one (`gazeveil.aggregate.choice.effective_observers`). The curves are means
and 5 % and 95 % quantiles over scenes, simulated ones and OSIE images weighing alike, of the splits that constants were
tuned on. Of whole studies and movies the theory says how much single maps carry beyond their mean
(`gazeveil.aggregate.study_plan.carried`), as one number from public facts; the curves say what that came to, and
another curve what it came to where pictures are known. `gazeveil experiment forecast` measures them again, and on the
other splits how far off they are.
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
    """A measured curve over one public number.

    Attributes:
        at: The public number, growing: effective participants, or what the theory says.
        expected: Mean correlation with the map of the same participants without noise.
        low: 5 % quantile over maps.
        high: 95 % quantile over maps.
        without_data: Mean correlation of what could be shown without any data.
        basis: What it was measured on.
        gain: By how much a map must be better than without data to be worth its budget.
        each: What the quantiles are over.
        with_what: What the correlation is with.
    """

    at: tuple[float, ...]
    expected: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    without_data: tuple[float, ...]
    basis: str
    gain: float = GAIN
    each: str = "studies"
    with_what: str = "the noise-free map"

    def forecast(self, at: float) -> Forecast:
        """Return what to expect at a value of the public number; beyond the ends, what holds at the ends."""
        place, places = np.log(max(at, self.at[0])), np.log(self.at)
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
            floor=nothing + self.gain,
            basis=self.basis,
            each=self.each,
            with_what=self.with_what,
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

HEATMAPS: Final = Curve(
    at=(0.03, 0.1, 0.15, 0.2, 0.28, 0.5, 0.6, 0.7, 0.8, 0.95),
    expected=(0.02, 0.06, 0.12, 0.24, 0.39, 0.7, 0.79, 0.83, 0.85, 0.86),
    low=(-0.25, -0.25, -0.2, -0.08, 0.05, 0.43, 0.58, 0.62, 0.6, 0.45),
    high=(0.35, 0.42, 0.46, 0.54, 0.7, 0.91, 0.92, 0.92, 0.94, 0.94),
    without_data=(0.0,) * 10,
    basis="whole studies of 6 to 24 stimuli, 15 to 300 participants and ε of "
    "1, 3 and 10: simulated scenes and OSIE images",
    gain=0.2,
    each="maps",
    with_what="what sets each noise-free map apart from the study's mean",
)
"""The maps of a whole study, beyond its mean."""

HEATMAPS_WITH_PICTURES: Final = Curve(
    at=(0.03, 0.1, 0.2, 0.36, 0.61, 0.95),
    expected=(0.82, 0.822, 0.84, 0.865, 0.9, 0.92),
    low=(0.63, 0.63, 0.65, 0.7, 0.82, 0.83),
    high=(0.92, 0.92, 0.93, 0.94, 0.96, 0.97),
    without_data=(0.82,) * 6,
    basis="whole studies of 12 OSIE images that the picture model never saw, 15 to 100 participants and ε of 1 and 3; "
    "other kinds of pictures say less",
    gain=0.02,
    each="maps",
    with_what="what sets each noise-free map apart from the study's mean",
)
"""The same where the picture model, or a map as good as its, speaks for every stimulus: without data there is much."""

MOVIE: Final = Curve(
    at=(0.1, 0.3, 0.45, 0.57, 0.68, 0.8, 0.87, 0.95),
    expected=(0.04, 0.1, 0.15, 0.21, 0.43, 0.52, 0.69, 0.73),
    low=(-0.3, -0.28, -0.25, -0.2, 0.0, 0.02, 0.25, 0.3),
    high=(0.4, 0.5, 0.6, 0.65, 0.76, 0.88, 0.92, 0.94),
    without_data=(0.0,) * 8,
    basis="2 simulated films of 11 s and the first 3 s of 4 OSIE images, "
    "bins of 0.5 s, 15 to 300 participants and ε of 1, 3 and 10",
    gain=0.2,
    each="moments",
    with_what="what sets each noise-free moment apart from the mean over time",
)
"""The maps of a movie, beyond the mean over time."""
