# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Forecasts that were measured: how good releases came out in studies of which everything was known.

A single heatmap's quality depends on public facts through one number: how many participants would see as much noise per
participant at ε = 1, δ = 10⁻⁵ and replace-one (`effective_participants`). The curves are means
and 5 % and 95 % quantiles over scenes, sets of scenes weighing alike. Of whole studies and movies the theory says how
much single maps carry beyond their mean (`gazeveil.aggregate.study_heatmaps.carried`), as one number from public facts;
the curves say what that came to, and another curve what it came to where pictures are known.
`gazeveil lab experiment forecast`
measures them again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from gazeveil.aggregate.strategy import Task
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.forecast import Forecast

_REFERENCE = 3.73064
"""The multiplier of Gaussian noise at ε = 1, δ = 10⁻⁵, where a participant counts as one."""

GAIN = 0.05
"""Which part of what the prior alone lacks to a correlation of 1 a map must be expected to bring.

A part, not a difference: without a picture the prior has about 0.4, and a map must bring 0.03; with a predicted picture
it has about 0.8, and 0.01 on top are as large a part of what the picture left open, none of which it could have known.
"""


def effective_participants(task: Task) -> float:
    """Return how many participants would see as much noise each at ε = 1, δ = 10⁻⁵ and replace-one; 0 without δ."""
    if task.delta == 0:
        return 0.0
    number = task.observers * _REFERENCE / gaussian_sigma(task.epsilon, task.delta)
    return number * math.sqrt(2) if task.neighbours is Neighbours.ADD_REMOVE else number


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
        gain: Which part of what is missing without data a map must bring to be worth its budget.
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
            floor=nothing + self.gain * (1 - nothing),
            basis=self.basis,
            each=self.each,
            with_what=self.with_what,
        )


HEATMAP: Final = Curve(
    at=(2.0, 6.0, 10.0, 15.0, 25.0, 30.0, 50.0, 70.0, 100.0, 200.0, 400.0),
    expected=(0.30, 0.429, 0.493, 0.538, 0.583, 0.635, 0.779, 0.858, 0.91, 0.964, 0.982),
    low=(0.05, 0.15, 0.19, 0.19, 0.27, 0.37, 0.59, 0.73, 0.82, 0.93, 0.96),
    high=(0.7, 0.75, 0.8, 0.82, 0.85, 0.87, 0.92, 0.95, 0.96, 0.99, 0.99),
    without_data=(0.30, 0.372, 0.395, 0.401, 0.409, 0.409, 0.417, 0.422, 0.426, 0.425, 0.426),
    basis="48 simulated scenes and 60 OSIE images, ε = 1, cells of 1 degree, blur 1.1 degrees, free viewing",
)
"""One heatmap with a δ, three draws of participants and noise a scene. At two participants nothing but the prior is
assumed."""

PURE_HEATMAP: Final = Curve(
    at=(2.0, 6.0, 10.0, 15.0, 25.0, 30.0, 50.0, 70.0, 100.0, 200.0),
    expected=(0.30, 0.431, 0.484, 0.536, 0.599, 0.613, 0.694, 0.718, 0.777, 0.858),
    low=(0.05, 0.15, 0.17, 0.2, 0.28, 0.32, 0.39, 0.44, 0.51, 0.7),
    high=(0.7, 0.74, 0.81, 0.82, 0.85, 0.87, 0.89, 0.92, 0.94, 0.95),
    without_data=(0.30, 0.372, 0.395, 0.401, 0.409, 0.409, 0.417, 0.422, 0.426, 0.425),
    basis="48 simulated scenes and 60 OSIE images, ε = 1, cells of 1 degree, blur 1.1 degrees, free viewing",
)
"""One heatmap without a δ, over participants times ε; at 200 measured with an earlier decoder."""

HEATMAP_WITH_PICTURE: Final = Curve(
    at=(6.0, 15.0, 30.0, 50.0, 100.0),
    expected=(0.752, 0.795, 0.814, 0.858, 0.922),
    low=(0.5, 0.55, 0.65, 0.7, 0.83),
    high=(0.93, 0.95, 0.95, 0.96, 0.98),
    without_data=(0.752, 0.752, 0.752, 0.76, 0.77),
    basis="120 OSIE images that the picture model never saw and 170 photographs of two other sets, each with a model "
    "trained without that set; ε = 1, cells of 1 degree, blur 1.1 degrees, free viewing",
)
"""One heatmap with a δ, where a picture model or a map of the user's own speaks; the three sets weigh alike."""

PURE_HEATMAP_WITH_PICTURE: Final = Curve(
    at=(2.0, 15.0),
    expected=HEATMAP_WITH_PICTURE.expected[:2],
    low=HEATMAP_WITH_PICTURE.low[:2],
    high=HEATMAP_WITH_PICTURE.high[:2],
    without_data=HEATMAP_WITH_PICTURE.without_data[:2],
    basis=HEATMAP_WITH_PICTURE.basis,
)
"""The same without a δ, which the noise of few participants does not need; with more, maps are better than it says."""

HEATMAPS: Final = Curve(
    at=(0.03, 0.08, 0.15, 0.2, 0.3, 0.43, 0.51, 0.61, 0.7, 0.82, 0.95),
    expected=(0.025, 0.1, 0.12, 0.18, 0.3, 0.52, 0.68, 0.77, 0.83, 0.93, 0.95),
    low=(-0.25, -0.22, -0.22, -0.15, -0.1, 0.13, 0.29, 0.5, 0.6, 0.78, 0.85),
    high=(0.35, 0.46, 0.58, 0.58, 0.66, 0.85, 0.89, 0.92, 0.96, 0.97, 0.98),
    without_data=(0.0,) * 11,
    basis="whole studies of 6 and 12 stimuli, 15 to 100 participants and ε of 1, 3 and 10: simulated scenes, and OSIE "
    "images, which came out about 0.07 better than this",
    gain=0.2,
    each="maps",
    with_what="what sets each noise-free map apart from the study's mean",
)
"""The maps of a whole study, beyond its mean; both sets weigh alike."""

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
    at=(0.1, 0.27, 0.34, 0.45, 0.57, 0.68, 0.85, 0.95),
    expected=(0.03, 0.07, 0.15, 0.33, 0.46, 0.59, 0.82, 0.85),
    low=(-0.3, -0.3, -0.25, -0.2, -0.1, 0.0, 0.5, 0.55),
    high=(0.4, 0.55, 0.6, 0.75, 0.85, 0.92, 0.96, 0.97),
    without_data=(0.0,) * 8,
    basis="2 simulated films of 11 s and films of three OSIE images each, 9 s, bins of 0.5 s, 15 to 100 participants "
    "and ε of 1, 3 and 10",
    gain=0.2,
    each="moments",
    with_what="what sets each noise-free moment apart from the mean over time",
)
"""The maps of a movie, beyond the mean over time."""

MOVIE_WITH_PICTURES: Final = Curve(
    at=(0.03, 0.1, 0.28, 0.36, 0.59, 0.69, 0.85, 0.95),
    expected=(0.56, 0.575, 0.63, 0.69, 0.78, 0.82, 0.87, 0.88),
    low=(0.12, 0.13, 0.2, 0.35, 0.52, 0.6, 0.65, 0.66),
    high=(0.88, 0.88, 0.94, 0.95, 0.96, 0.96, 0.98, 0.98),
    without_data=(0.56,) * 8,
    basis="6 films of three OSIE images each that the picture model never saw, 9 s, bins of 0.5 s, 15 to 100 "
    "participants and ε of 1, 3 and 10; other kinds of pictures say less",
    gain=0.02,
    each="moments",
    with_what="what sets each noise-free moment apart from the mean over time",
)
"""The same where the picture model, or a map as good as its, speaks for each moment: without data there is much."""
