# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 2 and 3 of Liu et al. 2019, measured again, with corrected noise beside the published.

Figure 2 is a formula: how much noise a gaze map needs, over its side and the number of observers.

Figure 3 is an experiment. The paper copies five participants 10,000 times and calls them 50,000 observers. So do we,
with simulated participants, to compare like with like: it hides all sampling error, and the guarantee to each of the
five is that to a group of 10,000 (erratum L8). What the paper leaves open (L10) is fixed here: the noise is added to
the mean gaze map, both maps are blurred by one degree (mass kept, reflected at the edges), negative cells stay, and CC
and MSE are taken between the blurred maps.

Blurring is linear. So one blurred field of unit noise a repeat serves every ε and mechanism: scaled by σ, it is what
the mechanism would have added, apart from rounding to the lattice. CC and MSE over ε therefore share their noise.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.liu import GaussianMap, LaplaceMap, NoisyMap, ObserverMaps, demands, optimal_cap
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.display import canvas
from gazeveil.errors import OptionError
from gazeveil.files import write_all
from gazeveil.geometry import screen
from gazeveil.lab.as_published.liu_maps import GaussianAsPublished, LaplaceAsPublished
from gazeveil.lab.bench.plots import side_by_side
from gazeveil.lab.utility.releases import Spread
from gazeveil.noise import NoiseSource, gaussian, laplace
from gazeveil.privacy.calibration import LiuNoise, gaussian_sigma
from gazeveil.simulate import TRACKERS, SimulatedStudy

SIDES: Final = tuple(range(50, 501, 50))
OBSERVERS: Final = (50, 100, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
SLICE_SIDE: Final = 300
READ_OFF: Final = (("good", 900), ("okay", 300))
"""The points that the paper reads off its figure 2, both as a noise of about 1.5."""

EPSILONS: Final = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
PEOPLE, COPIES = 5, 10_000
SAMPLES: Final = 300
"""Samples of each participant, at most: 5 s at 60 Hz."""

_WIDTH, _HEIGHT = 1680, 1050
_SCREEN = screen(_WIDTH, _HEIGHT, 474, 296, 600)
_TRACKER = replace(TRACKERS["remote"], name="remote-60", rate_hz=60, geometry=_SCREEN)
_FINE = 128
"""Steps of the lattice to one standard deviation of the unit noise."""

MECHANISMS: Final[Mapping[str, tuple[type[NoisyMap], bool]]] = {
    "Gaussian, published": (GaussianAsPublished, False),
    "Laplace, published": (LaplaceAsPublished, False),
    "Gaussian, corrected": (GaussianMap, False),
    "Gaussian, corrected, samples bounded": (GaussianMap, True),
    "Laplace, corrected, samples bounded": (LaplaceMap, True),
}
"""The curves of figure 3, and whether a bound on each participant's samples is enforced."""


@dataclass(frozen=True, slots=True)
class NoiseLevel:
    """How much noise a gaze map of one size needs.

    Attributes:
        level: The paper's name of the guarantee.
        side: Pixels along one side of the square map.
        observers: How many participants.
        published: σ of theorem 3.4.
        sound: The smallest σ that keeps the guarantee.
        bounded: The same, if nobody adds more than `SAMPLES` samples.
    """

    level: str
    side: int
    observers: int
    published: float
    sound: float
    bounded: float


@dataclass(frozen=True, slots=True)
class Quality:
    """One point of figure 3."""

    mechanism: str
    epsilon: float
    noise_sd: float
    cc: Spread
    mse: Spread
    promise: str


@dataclass(frozen=True, slots=True, eq=False)
class Gaze:
    """The five participants of figure 3.

    Attributes:
        maps: Their gaze maps.
        shape: Rows and columns.
        blur: Standard deviation of the point-spread function in pixels, about one degree.
        copies: How often each participant is counted.
    """

    maps: ObserverMaps
    shape: tuple[int, int]
    blur: float
    copies: int = COPIES

    @property
    def observers(self) -> int:
        """How many observers they are made to stand for."""
        return self.maps.observers * self.copies

    def mean(self, cap: int = 1) -> FloatArray:
        """Return the mean gaze map, which copying leaves as it is."""
        return np.asarray(self.maps.summed(cap).total.reshape(self.shape) / self.maps.observers)


def reproduce(out: Path | None = None, *, repeats: int = 50, gaze: Gaze | None = None, tell: Tell) -> dict[str, Any]:
    """Measure both figures; with a folder, draw them there and write their numbers beside.

    Raises:
        OutputError: If the folder cannot be written; it then holds nothing half written.
    """
    if out is not None:
        canvas()  # says at once, not after the work, that what draws is not installed
    levels = noise_levels(SIDES, OBSERVERS)
    people = simulated_gaze() if gaze is None else gaze
    rows = qualities(people, repeats=repeats, tell=tell)
    told = to_json(levels, rows, people, caps_of_algorithm_1(people))
    if out is None:
        return told
    from gazeveil.lab.experiments import plots  # noqa: PLC0415  (it draws what is made here)

    shown = 1.5
    files = {
        "figure-2a.png": plots.noise_surface(levels),
        "figure-2b.png": plots.noise_slice(levels),
        "figure-3.png": plots.quality_over_epsilon(rows, people.observers),
        "heatmaps.png": side_by_side(noisy_heatmaps(people, shown), shown),
        "liu.json": (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode(),
    }
    return {**told, "files": write_all(out, files)}


def noise_levels(sides: Sequence[int], observers: Sequence[int]) -> list[NoiseLevel]:
    """Return the noise of figure 2 at every size, number of observers and level."""
    rows = []
    for level in ("good", "okay"):
        for people in observers:
            epsilon, delta = demands(level, people)
            unit = gaussian_sigma(epsilon, delta)
            for side in sides:
                noise = LiuNoise(observers=people, pixels=side * side, epsilon=epsilon, delta=delta)
                bounded = unit * float(noise.sensitivity(SAMPLES))
                sound = unit * float(noise.sensitivity())
                rows.append(NoiseLevel(level, side, people, noise.sigma_gaussian(), sound, bounded))
    return rows


def simulated_gaze(people: int = PEOPLE, copies: int = COPIES, shrink: int = 1, seed: int = 2019) -> Gaze:
    """Return the gaze of some simulated participants on one picture.

    Args:
        people: How many.
        copies: How often each is counted.
        shrink: How many pixels of the 1680 x 1050 make one cell's side.
        seed: Everything follows from it.
    """
    if shrink < 1:
        raise OptionError(f"a cell is at least one pixel wide, not {shrink}")
    grid = Grid(_WIDTH // shrink, _HEIGHT // shrink, _SCREEN)
    study = SimulatedStudy(observers=people, stimuli=1, sessions=1, tracker=_TRACKER, seconds=SAMPLES / 60, seed=seed)
    observer, cell = [], []
    for number, recording in enumerate(study.recordings()):
        found = np.where(recording.tracked, grid.cells(recording.x, recording.y), -1)
        observer.append(np.full(len(found), number))
        cell.append(found)
    maps = ObserverMaps.of_samples(
        np.concatenate(observer), np.concatenate(cell), observers=people, cells=grid.size, samples=SAMPLES
    )
    right, _ = _SCREEN.in_unit("deg").convert(np.array([1.0]), np.array([0.0]), "px")
    return Gaze(maps, grid.shape, float(right[0] - _WIDTH / 2) / shrink, copies)


def qualities(
    gaze: Gaze, *, epsilons: Sequence[float] = EPSILONS, repeats: int = 50, seed: int = 1, tell: Tell = silent
) -> list[Quality]:
    """Return correlation and squared error of noisy heatmaps with the one without noise, over ε, for all mechanisms."""
    if repeats < 1:
        raise OptionError(f"at least one repeat is needed, not {repeats}")
    truth = render(gaze.mean(), gaze.blur)
    source = NoiseSource.seeded(seed)
    fields: dict[bool, list[_Field]] = {False: [], True: []}
    for repeat in range(repeats):
        for is_laplace, draw in ((False, _unit_gaussian), (True, _unit_laplace)):
            fields[is_laplace].append(_Field.of(render(draw(source, gaze.shape), gaze.blur), truth))
        tell(repeat + 1, repeats)
    rows = []
    for name, (kind, bounded) in MECHANISMS.items():
        for epsilon in epsilons:
            mechanism = kind(gaze.observers, gaze.maps.cells, epsilon, samples=SAMPLES if bounded else None)
            sd, drawn = mechanism.noise_sd, fields[isinstance(mechanism, LaplaceMap)]
            cc, mse = Spread.of(field.cc(sd) for field in drawn), Spread.of(field.mse(sd) for field in drawn)
            rows.append(Quality(name, epsilon, sd, cc, mse, str(mechanism.guarantee)))
    return rows


def caps_of_algorithm_1(gaze: Gaze, epsilons: Sequence[float] = EPSILONS) -> dict[float, int]:
    """Return the cap that the paper's algorithm picks from the raw maps, which is not private (L7)."""
    picked = {}
    for epsilon in epsilons:
        unit = GaussianAsPublished(gaze.observers, gaze.maps.cells, epsilon).noise_sd
        picked[epsilon] = optimal_cap(gaze.maps, unit).cap
    return picked


def noisy_heatmaps(gaze: Gaze, epsilon: float = 1.5, seed: int = 1) -> dict[str, FloatArray]:
    """Return the heatmap without noise, and those with the published and the corrected Gaussian noise."""
    copied = ObserverMaps(
        gaze.observers, gaze.maps.cells, gaze.maps.observer, gaze.maps.cell, np.minimum(gaze.maps.count, 1)
    )
    times = np.full(gaze.maps.observers, gaze.copies)
    summed = copied.summed(times=times)
    heat = {"no noise": render(gaze.mean(), gaze.blur)}
    for name in ("Gaussian, published", "Gaussian, corrected, samples bounded"):
        kind, bounded = MECHANISMS[name]
        mechanism = kind(gaze.observers, gaze.maps.cells, epsilon, samples=SAMPLES if bounded else None)
        noisy = mechanism._noisy_sum(summed.total, NoiseSource.seeded(seed)) / gaze.observers
        heat[name] = render(noisy.reshape(gaze.shape), gaze.blur)
    return heat


def to_json(
    levels: Sequence[NoiseLevel], rows: Sequence[Quality], gaze: Gaze, caps: Mapping[float, int]
) -> dict[str, Any]:
    """Return all numbers of both figures as plain values."""
    return {
        "paper": "Liu et al. 2019",
        "figure_2": {
            "read_off": [asdict(row) for row in noise_at_the_points_read_off()],
            "levels": [asdict(row) for row in levels],
        },
        "figure_3": {
            "people": gaze.maps.observers,
            "copies": gaze.copies,
            "observers": gaze.observers,
            "rows_and_columns": list(gaze.shape),
            "blur_px": gaze.blur,
            "cap": 1,
            "cap_of_algorithm_1": {str(epsilon): cap for epsilon, cap in caps.items()},
            "note": f"each simulated participant is counted {gaze.copies:,} times (L8): for a real participant, the "
            f"guarantee would be that of a group of {gaze.copies:,}",
            "points": [
                {
                    "mechanism": row.mechanism,
                    "epsilon": row.epsilon,
                    "noise_sd": row.noise_sd,
                    "cc_mean": row.cc.mean,
                    "cc_sd": row.cc.sd,
                    "mse_mean": row.mse.mean,
                    "mse_sd": row.mse.sd,
                    "repeats": row.cc.repeats,
                    "promise": row.promise,
                }
                for row in rows
            ],
        },
    }


def noise_at_the_points_read_off() -> list[NoiseLevel]:
    """Return the noise at the two points that the paper reads off figure 2."""
    return [row for level, people in READ_OFF for row in noise_levels([SLICE_SIDE], [people]) if row.level == level]


@dataclass(frozen=True, slots=True)
class _Field:
    """All that correlation and squared error need to know of one field of noise, whatever it is scaled by."""

    truth_variance: float
    covariance: float
    variance: float
    square: float

    @staticmethod
    def of(noise: FloatArray, truth: FloatArray) -> _Field:
        signal, field = truth - truth.mean(), noise - noise.mean()
        cells = truth.size
        return _Field(
            truth_variance=float(np.vdot(signal, signal)) / cells,
            covariance=float(np.vdot(signal, field)) / cells,
            variance=float(np.vdot(field, field)) / cells,
            square=float(np.vdot(noise, noise)) / cells,
        )

    def cc(self, scale: float) -> float:
        """Return the correlation of truth + scale·noise with the truth."""
        variance = self.truth_variance + 2 * scale * self.covariance + scale**2 * self.variance
        return (self.truth_variance + scale * self.covariance) / math.sqrt(self.truth_variance * variance)

    def mse(self, scale: float) -> float:
        """Return the mean squared error of truth + scale·noise."""
        return scale**2 * self.square


def _unit_gaussian(source: NoiseSource, shape: tuple[int, int]) -> FloatArray:
    return gaussian(source, _FINE, shape) / _FINE


def _unit_laplace(source: NoiseSource, shape: tuple[int, int]) -> FloatArray:
    return laplace(source, _FINE, shape) / (_FINE * math.sqrt(2))
