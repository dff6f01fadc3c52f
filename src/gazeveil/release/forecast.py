# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How good a release will be, from public facts alone: measured curves for maps, simulated gaze for veiled recordings.

A single heatmap's quality depends on public facts through one number: how many participants would see as much noise per
participant at ε = 1, δ = 10⁻⁵ and replace-one (`effective_participants`). The curves are means and 5 % and 95 %
quantiles over scenes; sets of scenes have equal weights. For whole studies and movies, theory predicts from public
facts how much single maps carry beyond their mean (`gazeveil.aggregate.study_heatmaps.expected_correlation`); the
curves give the measured quality at that number, with and without pictures. `gazeveil lab experiment forecast` measures
them again.

Veiled recordings are forecast on simulated gaze: an eye rests for 0.2 to 0.4 s at places around the middle of the
screen and jumps between them at once. That is simpler than real gaze, but public, and the error depends on two things
alone: how long an eye rests and how far it jumps.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from gazeveil.aggregate.strategy import Task
from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.protection import Neighbours
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import Sphere


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What to expect of a release.

    Attributes:
        measure: What is expected: ``cc`` (correlation with the map without noise; higher is better) or ``error``
            (root mean square, as a part of the declared range or of the screen's width; lower is better).
        expected: The expected value for a typical study.
        low: The lower end of the interval that holds 9 of 10.
        high: Its upper end.
        without_data: The same measure for what could be published without any data: the prior, or the public mean.
        floor: The value that makes the release worth its budget; beyond it a release is refused.
        basis: What the forecast was calibrated on, in a sentence.
        each: Of what the interval holds 9 of 10: studies, or the maps or recordings of one study.
        part_of: What an error is relative to.
        with_what: What a correlation is with.
    """

    measure: str
    expected: float
    low: float
    high: float
    without_data: float
    floor: float
    basis: str
    each: str = "studies"
    part_of: str = "the range"
    with_what: str = "the noise-free map"

    @property
    def worth_it(self) -> bool:
        """Whether the release is expected to add enough to what is known without the data."""
        return self.expected >= self.floor if self.measure == "cc" else self.expected <= self.floor

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self) -> str:
        """Say what to expect in one sentence."""
        named = {"cc": f"a correlation with {self.with_what}", "error": f"an error, as a part of {self.part_of},"}
        return (
            f"{named[self.measure]} of {self.expected:.2g} (9 of 10 {self.each}: {self.low:.2g} to {self.high:.2g}); "
            f"{self.without_data:.2g} without any data"
        )

    def check(self, hint: str = "") -> None:
        """Refuse what is not worth its budget.

        Raises:
            OptionError: If the release would say too little; nothing was spent.
        """
        if not self.worth_it:
            raise OptionError(
                f"this release would hardly be better than none: expected is {self.in_words()}; "
                f"at {'least' if self.measure == 'cc' else 'most'} {self.floor:.2g} is asked for. Nothing was spent.",
                hint=hint
                or "raise ε, release less at once, or add --anyway; `gazeveil plan` shows what would be enough",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as plain values."""
        return {**asdict(self), "worth_it": self.worth_it}


# --- Maps: curves that were measured in studies whose true maps were known.


_REFERENCE = 3.73064
"""The multiplier of Gaussian noise at ε = 1, δ = 10⁻⁵, where a participant counts as one."""

GAIN = 0.05
"""How much of the prior's distance to a correlation of 1 a map must be expected to gain.

A part, not a difference: the prior without a picture has a correlation of about 0.4, and a map must add 0.03; with a
predicted picture it has about 0.8, and adding 0.01 closes as large a part of the distance.
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
        gain: Which part of the distance to a correlation of 1 a map must gain to be worth its budget.
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
"""One heatmap with a δ; three draws of participants and noise per scene. For two participants: the prior alone."""

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
"""One heatmap with a δ, with a picture model or a map of the user's own; the three sets have equal weights."""

PURE_HEATMAP_WITH_PICTURE: Final = Curve(
    at=(2.0, 15.0),
    expected=HEATMAP_WITH_PICTURE.expected[:2],
    low=HEATMAP_WITH_PICTURE.low[:2],
    high=HEATMAP_WITH_PICTURE.high[:2],
    without_data=HEATMAP_WITH_PICTURE.without_data[:2],
    basis=HEATMAP_WITH_PICTURE.basis,
)
"""The same without a δ, for few participants; with more, maps are better than this."""

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
"""The maps of a whole study, beyond its mean; both sets have equal weights."""

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
"""The same with the picture model, or a map as good, for every stimulus: it predicts much without data."""

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
"""The same with the picture model, or a map as good, for each moment: it predicts much without data."""


# --- Veiled recordings: how far a mechanism moves simulated gaze.


_PATHS, _SECONDS, _SAMPLES = 20, 6.0, 2000
"""How many paths there are, and how long each is at most: in seconds and, for fast trackers, in samples."""
USUAL_HZ = 60.0
"""The rate that is assumed where none is declared."""
_REST_S = (0.2, 0.4)
_SPREAD = 0.18
"""The standard deviation of places, as a part of the screen's width."""
_SEED = 13


@lru_cache(maxsize=64)
def veil_forecast(mechanisms: tuple[SampleMechanism, ...], rate_hz: float = USUAL_HZ) -> Forecast:
    """Return how far mechanisms, each for its screen, move public gaze: the same answer every time."""
    veiled, centred = np.concatenate([_errors(each, rate_hz) for each in mechanisms], axis=1)
    directions = any(isinstance(each.space, Sphere) for each in mechanisms)
    width = (
        f"the {mechanisms[0].space.usual[0]:g} degrees that gaze usually keeps to"
        if directions
        else "the screen's width"
    )
    nothing = float(np.sqrt(np.mean(centred**2)))
    low, high = np.quantile(veiled, [0.05, 0.95])
    return Forecast(
        measure="error",
        expected=float(np.sqrt(np.mean(veiled**2))),
        low=float(low),
        high=float(high),
        without_data=nothing,
        floor=0.9 * nothing,
        basis=f"distance from gaze as a part of {width}, on {_PATHS} made-up paths of gaze at {rate_hz:g} "
        f"Hz that rest {_REST_S[0]:g} to {_REST_S[1]:g} s; without data is the middle of the space",
        each="recordings",
        part_of=width,
    )


def _errors(mechanism: SampleMechanism, rate_hz: float) -> FloatArray:
    """Return the root-mean-square errors of veiled paths, and of the middle of the space, as parts of its width."""
    (width, height), (middle, half_way) = mechanism.space.usual[:2], mechanism.space.centre[:2]
    t = np.arange(min(max(int(_SECONDS * rate_hz), 1), _SAMPLES)) / rate_hz
    late = min(round(mechanism.delay * rate_hz), len(t) - 1)  # a point is about where gaze was before
    found = np.empty((2, _PATHS))
    for number in range(_PATHS):
        across, down = _path(t, number, height / width)
        x, y = middle + width * across, half_way + width * down
        veil = mechanism.start(NoiseSource.seeded(_SEED).spawn(f"path {number}"))
        shown_x, shown_y = veil.run(t, x, y)
        off = shown_x[late:] - x[: len(t) - late]
        if period := mechanism.space.period:
            off = off - period * np.floor(off / period + 0.5)
        squares = off**2 + (shown_y[late:] - y[: len(t) - late]) ** 2
        known = squares[np.isfinite(squares)]
        centre = np.mean(across**2 + down**2)
        found[:, number] = np.sqrt(np.mean(known)) / width if len(known) else np.sqrt(centre), np.sqrt(centre)
    return found


def _path(t: FloatArray, number: int, height: float) -> tuple[FloatArray, FloatArray]:
    """Return one path around (0, 0) on a screen that is 1 wide."""
    source, count = NoiseSource.seeded(_SEED).spawn(f"gaze {number}"), int(_SECONDS / _REST_S[0]) + 1
    length, *places = [[(source.bits(52) + 0.5) / (1 << 52) for _ in range(count)] for _ in range(3)]
    place = np.searchsorted(np.cumsum(_REST_S[0] + (_REST_S[1] - _REST_S[0]) * np.array(length)), t, side="right")
    across, down = _SPREAD * np.array([[NormalDist().inv_cdf(part) for part in axis] for axis in places])
    return np.clip(across, -0.5, 0.5)[place], np.clip(down, -height / 2, height / 2)[place]
