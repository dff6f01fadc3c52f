# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far veiled gaze is from the true gaze, over guarantees: every mechanism, every setting, many repeats.

**RMSE** of a set is pooled over all its samples with gaze, so a long recording counts more than a short one: the root
of the mean squared distance. It is taken for each repeat; reported are the mean over repeats, its standard error over
repeats (noise), and the standard error over recordings (participants; linearised, recordings as clusters). **CC** is
the correlation of a participant's veiled and raw saliency map, as mean over recordings and repeats.

Two references need no mechanism: "always the centre" (above it, a stream is worse than nothing) and the recording's own
mean, which no mechanism may know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final, Protocol

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry
from gazeveil.lab.experiments.stream_data import StreamSet
from gazeveil.lab.utility.maps import correlation
from gazeveil.lab.utility.streams.metrics.saliency import saliency_grid, saliency_map
from gazeveil.noise import NoiseSource
from gazeveil.samples.space import Space, space_of

EPSILONS: Final = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
WINDOWS: Final = (0.5, 1.0, 1.5, 2.0)
RADII: Final = (60.0, 300.0)
"""Kaleido's sweep, with the two radii of our study in pixels."""


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """One guarantee: in every window of this many seconds, moving all gaze by up to the radius costs ε."""

    radius: float
    window: float
    epsilon: float


def settings(
    epsilons: Iterable[float] = EPSILONS, windows: Iterable[float] = WINDOWS, radii: Iterable[float] = RADII
) -> list[Setting]:
    """Return all combinations."""
    kept, widths = tuple(epsilons), tuple(windows)
    return [Setting(radius, window, epsilon) for radius in radii for window in widths for epsilon in kept]


class Run(Protocol):
    """A mechanism over a whole stream: arrays in, arrays out."""

    def __call__(
        self, noise: NoiseSource, t: FloatArray, x: FloatArray, y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the veiled x and y."""
        ...


Contender = Callable[[Space, Setting, float], Run]
"""What makes a mechanism for a space, a guarantee and a nominal rate of samples."""


@dataclass(frozen=True, slots=True)
class Point:
    """One mechanism at one setting on one set.

    Attributes:
        streams: Name of the set.
        veil: Name of the mechanism.
        setting: The guarantee.
        rmse: Pooled root mean square error in pixels, mean over repeats.
        repeat_se: Its standard error over repeats; NaN for one.
        recording_se: Its standard error over recordings.
        cc: Mean correlation of the saliency maps; NaN if they were not drawn.
        cc_se: Its standard error over recordings.
        centre: What "always the centre" has on this set.
        own_mean: What each recording's own mean has.
    """

    streams: str
    veil: str
    setting: Setting
    rmse: float
    repeat_se: float
    recording_se: float
    cc: float
    cc_se: float
    centre: float
    own_mean: float

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain values."""
        flat = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "setting"}
        return flat | {name: getattr(self.setting, name) for name in ("radius", "window", "epsilon")}


def measure(
    sets: Sequence[StreamSet],
    contenders: Mapping[str, Contender],
    chosen: Sequence[Setting],
    *,
    repeats: int = 100,
    seed: int = 1,
    maps: bool = False,
    workers: int = 1,
    tell: Tell = silent,
) -> list[Point]:
    """Veil all streams by all contenders at all settings, and say how far from the truth they are.

    Args:
        sets: The streams.
        contenders: Mechanisms by name; with several workers they must be importable (not made on the spot).
        chosen: The settings.
        repeats: How often, with other noise.
        seed: All noise follows from it.
        maps: Whether saliency maps are compared as well, which takes longer.
        workers: How many processes.
        tell: Called with how many streams are done.
    """
    if repeats < 1 or workers < 1:
        raise OptionError(f"at least one repeat and one worker are needed, not {repeats} and {workers}")
    jobs = [
        _Job(one.name, number, name, contender, tuple(chosen), range(repeats), seed, maps, *_columns(one, number))
        for one in sets
        for name, contender in contenders.items()
        for number in range(len(one.recordings))
    ]
    results: dict[tuple[str, str, int], _Errors] = {}
    for done, (job, errors) in enumerate(_all(jobs, workers), start=1):
        results[job] = errors
        tell(done, len(jobs))
    points: list[Point] = []
    for one in sets:
        for name in contenders:
            of_all = [results[one.name, name, number] for number in range(len(one.recordings))]
            points += _points(one, name, chosen, of_all)
    return points


def references(streams: StreamSet) -> tuple[float, float]:
    """Return the error of "always the centre" and of each recording's own mean, pooled."""
    left, top, right, bottom = streams.plane.extent()
    centre = own = count = 0.0
    for recording in streams.recordings:
        x, y = recording.x[recording.tracked], recording.y[recording.tracked]
        centre += float(np.sum((x - (left + right) / 2) ** 2 + (y - (top + bottom) / 2) ** 2))
        own += float(len(x) * (x.var() + y.var())) if len(x) else 0.0
        count += len(x)
    return math.sqrt(centre / count), math.sqrt(own / count)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """One stream, one contender, all settings and repeats."""

    streams: str
    number: int
    veil: str
    contender: Contender
    chosen: tuple[Setting, ...]
    repeats: range
    seed: int
    maps: bool
    t: FloatArray
    x: FloatArray
    y: FloatArray
    plane: Geometry
    rate: float


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """Summed squared distance and correlation by setting and repeat, and how many samples there were."""

    squared: FloatArray
    cc: FloatArray
    samples: int


def _columns(streams: StreamSet, number: int) -> tuple[FloatArray, FloatArray, FloatArray, Geometry, float]:
    recording = streams.recordings[number]
    return recording.t, recording.x, recording.y, recording.geometry, recording.rate


def _all(jobs: Sequence[_Job], workers: int) -> Iterator[tuple[tuple[str, str, int], _Errors]]:
    if workers == 1:
        yield from map(_errors, jobs)
        return
    # spawned, not forked: a forked child may inherit a lock that nobody will open
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for finished in as_completed([pool.submit(_errors, job) for job in jobs]):
            yield finished.result()


def _errors(job: _Job) -> tuple[tuple[str, str, int], _Errors]:
    space = space_of(job.plane)
    seen = np.isfinite(job.x) & np.isfinite(job.y)
    x, y = job.x[seen], job.y[seen]
    grid = saliency_grid(job.plane) if job.maps else None
    truth = None if grid is None else saliency_map(grid, x, y)
    squared, cc = (np.full((len(job.chosen), len(job.repeats)), np.nan) for _ in range(2))
    for row, setting in enumerate(job.chosen):
        run = job.contender(space, setting, job.rate)
        for column, repeat in enumerate(job.repeats):
            label = f"{job.streams}/{job.number}/{job.veil}/{setting}/{repeat}"
            veiled_x, veiled_y = run(NoiseSource.seeded(job.seed).spawn(label), job.t, job.x, job.y)
            across, down = veiled_x[seen], veiled_y[seen]
            squared[row, column] = np.sum((across - x) ** 2) + np.sum((down - y) ** 2)
            if grid is not None and truth is not None:
                cc[row, column] = correlation(saliency_map(grid, across, down), truth)
    return (job.streams, job.veil, job.number), _Errors(squared, cc, len(x))


def _points(one: StreamSet, name: str, chosen: Sequence[Setting], errors: Sequence[_Errors]) -> Iterator[Point]:
    centre, own_mean = references(one)
    samples = np.array([each.samples for each in errors], dtype=np.float64)
    squared = np.stack([each.squared for each in errors])  # recording, setting, repeat
    cc = np.stack([each.cc for each in errors])
    repeats, recordings = squared.shape[2], len(errors)
    for row, setting in enumerate(chosen):
        rmse = np.sqrt(squared[:, row].sum(axis=0) / samples.sum())
        mean = float(rmse.mean())
        residual = squared[:, row].mean(axis=1) - samples * mean**2
        spread = math.sqrt(float(residual @ residual)) / samples.sum() / (2 * mean) if mean else 0.0
        by_person = cc[:, row].mean(axis=1)
        yield Point(
            one.name,
            name,
            setting,
            rmse=mean,
            repeat_se=float(rmse.std(ddof=1)) / math.sqrt(repeats) if repeats > 1 else math.nan,
            recording_se=spread if recordings > 1 else math.nan,
            cc=float(by_person.mean()),
            cc_se=float(by_person.std(ddof=1)) / math.sqrt(recordings) if recordings > 1 else math.nan,
            centre=centre,
            own_mean=own_mean,
        )
