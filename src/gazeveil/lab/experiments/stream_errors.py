# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far veiled gaze is from true gaze: streams to try, errors over guarantees, every preset, and objects hit.

- ``vr``: 16 participants who look for objects in a virtual room (Schuetz et al. 2024), a headset at about 90 Hz. Gaze
  is taken in the head's frame, ±25 degrees at 26.7 pixels a degree, so 1336 x 1336 pixels; gaze beyond is put on the
  edge. The trials of a session are joined, the first 120 s are kept. Sessions without any tracked gaze are left out,
  and of the others, ordered by participant and session, every second one is taken: 31.
- ``lund``: the 23 recordings on images and videos of Andersson et al. 2017, 500 Hz, 1024 x 768 pixels. Lost gaze at
  (0, 0), blinks by the label of expert RA, and gaze more than 50 pixels off the screen are missing.
- ``simulated``: 20 participants of our simulator, each before a scene of their own for 60 s, 60 Hz, 1280 x 720 pixels.

What the tracker lost is missing (NaN), never (0, 0), and its time stays: that is what a live mechanism would meet.

**RMSE** of a set is pooled over all its samples with gaze, so a long recording counts more than a short one: the root
of the mean squared distance. It is taken for each repeat; reported are the mean over repeats, its standard error over
repeats (noise), and the standard error over recordings (participants; linearised, recordings as clusters). **CC** is
the correlation of a participant's veiled and raw saliency map, as mean over recordings and repeats.

Two references need no mechanism: "always the centre" (above it, a stream is worse than nothing) and the recording's own
mean, which no mechanism may know.

Streams are taken in degrees. Measures are means over recordings and repeats; where one has no value (NaN), that
recording is left out of its mean.

The recordings say, sample by sample, which object the true line of sight hit; where objects are, they do not say. So
each trial's own true gaze serves as a map of the room: every true sample is a direction in the world with an object's
name. A veiled direction at that time is turned into the world with the head as it was then, and is taken to hit what
the **nearest true direction of the same trial** hit.

- Direction in the world: gaze in the head (yaw, pitch), turned by the head's pitch, then by its yaw. The head's roll
  and place are not recorded. As participants move about, the map is made for each trial: one for a whole session agrees
  less with what was hit.
- Where nobody looked in a trial nothing is known, and the nearest known object stands for it. A strongly veiled gaze
  that would hit an unseen object may thus be given a seen one: at high strengths scores are flattered.
- ``agreement_of_raw`` is how well this works: true gaze put through the same map (its own sample among them, so it is
  below 1 only where two samples of one direction hit different things), and ``agreement_held_out`` the harder case:
  half-seconds mapped by the other half-seconds of their trial alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, screen
from gazeveil.lab.as_published.sample_mechanisms import ALL_PRESETS, preset
from gazeveil.lab.bench.experiment import Experiment, Row
from gazeveil.lab.bench.runner import Case, answers
from gazeveil.lab.datasets import LUND_FOLDER, VR_FOLDER, VrSession, vr_sessions
from gazeveil.lab.datasets import load as load_lund
from gazeveil.lab.utility.label_agreement import AoiHits, aoi_hits
from gazeveil.lab.utility.releases import correlation
from gazeveil.lab.utility.streams import VeilError, saliency_grid, saliency_map, veil_error
from gazeveil.noise import NoiseSource
from gazeveil.samples.space import Space, space_of
from gazeveil.simulate import TRACKERS, Block, GazeStream, Population, scene

_OFF_SCREEN_PX = 50
_BLINK = 5

SIMULATED_PEOPLE, SIMULATED_SECONDS = 20, 60.0
_SIMULATED_SCREEN = screen(1280, 720, 518, 291, 600)


@dataclass(frozen=True, slots=True, eq=False)
class StreamSet:
    """Some streams on one viewing plane.

    Attributes:
        name: Short name: vr, lund or simulated.
        place: Where they were recorded.
        recordings: The streams.
    """

    name: str
    place: str
    recordings: tuple[Recording, ...]

    @property
    def title(self) -> str:
        """What it is, for tables."""
        left, top, right, bottom = self.plane.extent()
        return f"{self.place}, {len(self.recordings)} recordings, {right - left:g} x {bottom - top:g} {self.plane.unit}"

    @property
    def plane(self) -> Geometry:
        """The viewing plane of all of them."""
        return self.recordings[0].geometry

    def some(self, count: int) -> StreamSet:
        """Return the set with this many recordings at most, spread over the whole."""
        step = max(1, -(-len(self.recordings) // count))
        return replace(self, recordings=self.recordings[::step])


def stream_sets(data: Path | None, names: Sequence[str] = ("vr", "lund", "simulated")) -> list[StreamSet]:
    """Return the sets of those names that are there; the simulated one always is."""
    found = []
    if "vr" in names and data is not None and (data / VR_FOLDER).is_dir():
        sessions = vr_sessions(data / VR_FOLDER)
        found.append(StreamSet("vr", "headset", tuple(session.recording for session in sessions)))
    if "lund" in names and data is not None and (data / LUND_FOLDER).is_dir():
        found.append(StreamSet("lund", "laboratory", lund_recordings(data / LUND_FOLDER)))
    if "simulated" in names:
        found.append(StreamSet("simulated", "simulated", simulated_recordings()))
    if not found:
        raise InputError(f"none of {', '.join(names)} is there", hint="say where the data are with --data")
    return found


def lund_recordings(folder: Path) -> tuple[Recording, ...]:
    """Read the recordings on images and videos.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    return tuple(
        _on_screen(item.recording, item.labels["RA"] == _BLINK) for item in load_lund(folder) if item.stimuli != "dots"
    )


def _on_screen(recording: Recording, blink: NDArray[np.bool_]) -> Recording:
    left, top, right, bottom = recording.geometry.extent()
    with np.errstate(invalid="ignore"):
        near = (
            (recording.x > left - _OFF_SCREEN_PX)
            & (recording.x < right + _OFF_SCREEN_PX)
            & (recording.y > top - _OFF_SCREEN_PX)
            & (recording.y < bottom + _OFF_SCREEN_PX)
        )
    return replace(recording, valid=recording.tracked & near & ~blink)


def simulated_recordings(
    people: int = SIMULATED_PEOPLE, seconds: float = SIMULATED_SECONDS, seed: int = 6
) -> tuple[Recording, ...]:
    """Return the streams of simulated participants, each before another scene."""
    tracker = replace(TRACKERS["remote"], name="remote-60", rate_hz=60, geometry=_SIMULATED_SCREEN)
    recordings = []
    for number, person in enumerate(Population(seed).observers(people)):
        stream = GazeStream(person.on_day(1), scene(seed, number), tracker, seed=seed)
        blocks = list(islice(stream.blocks(1.0), round(seconds)))
        gaze = Block._make(np.concatenate(parts) for parts in zip(*blocks, strict=True))
        recordings.append(
            Recording(gaze.t, gaze.x, gaze.y, _SIMULATED_SCREEN, person.name, f"scene {number}", rate_hz=60)
        )
    return tuple(recordings)


# --- How far veiled gaze is from the true gaze, over guarantees: every mechanism, every setting, many repeats.


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
    cases = [
        Case(f"{job.streams} {job.number} behind {job.veil}", job, group=number) for number, job in enumerate(jobs)
    ]
    found = iter(answers(cases, _errors, workers=workers if workers > 1 else 0, tell=tell))
    points: list[Point] = []
    for one in sets:
        for name in contenders:
            points += _points(one, name, chosen, [next(found) for _ in one.recordings])
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


def _errors(_: None, job: _Job) -> _Errors:
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
    return _Errors(squared, cc, len(x))


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


# --- Every preset by every measure: what an app that receives a veiled stream can still do with it.


SHOWN = ("rmse_deg", "aoi_f1", "saliency_cc", "lag_s", "lag_correlation", "jitter", "fixation_count_error")
"""The measures of a table for participants."""


def preset_errors(one: StreamSet, name: str, *, repeats: int = 1, seed: int = 1) -> list[Row]:
    """Return the mean measures of one preset on a set of streams; of "none", those of no mechanism at all."""
    if repeats < 1:
        raise OptionError(f"at least one repeat is needed, not {repeats}")
    recordings = [recording.to("deg") for recording in one.recordings]
    mechanism = None if name == "none" else preset(name, space_of(recordings[0].geometry))
    errors = []
    for number, recording in enumerate(recordings):
        for repeat in range(repeats if mechanism is not None and mechanism.draws_noise else 1):
            noise = NoiseSource.seeded(seed).spawn(f"{one.name}/{number}/{name}/{repeat}")
            veiled = recording if mechanism is None else mechanism.apply(recording, noise)
            errors.append(veil_error(recording, veiled))
    promise = "none" if mechanism is None else str(mechanism.guarantee)
    where = {"set": one.name, "preset": name}
    return [Row(what, value, n=len(recordings), where=where, note=promise) for what, value in _means(errors).items()]


def _means(errors: Sequence[VeilError]) -> dict[str, float]:
    means = {}
    for name in VeilError.__dataclass_fields__:
        values = [value for error in errors if not math.isnan(value := getattr(error, name))]
        means[name] = math.fsum(values) / len(values) if values else math.nan
    return means


@lru_cache(maxsize=1)
def _sets(data: Path | None, quick: bool) -> dict[str, StreamSet]:
    return {one.name: one.some(4) if quick else one for one in stream_sets(data)}


BEHIND_PRESETS: Final = Experiment(
    "veils",
    "means over recordings; distance and jitter in degrees, fixations as relative change",
    lambda options: [
        {"set": name, "preset": each}
        for name in _sets(options["data"], options["quick"])
        for each in ("none", *(options["presets"] or ALL_PRESETS))
    ],
    lambda options, where: preset_errors(
        _sets(options["data"], options["quick"])[where["set"]], where["preset"], repeats=options["repeats"]
    ),
    facet="set",
    shown=SHOWN,
)


# --- Which object a veiled line of sight would hit, in recordings that name the object hit but not its shape.


_BLOCK_S = 0.5


def world_directions(session: VrSession, yaw: FloatArray, pitch: FloatArray) -> FloatArray:
    """Return unit vectors (right, down, ahead) in the world of gaze in the head, one row a sample; NaN if missing."""
    across, down = np.radians(yaw), np.radians(pitch)
    turn, nod = np.radians(session.head_yaw), np.radians(session.head_pitch)
    right, under, ahead = np.sin(across) * np.cos(down), np.sin(down), np.cos(across) * np.cos(down)
    under, ahead = under * np.cos(nod) + ahead * np.sin(nod), ahead * np.cos(nod) - under * np.sin(nod)
    right, ahead = right * np.cos(turn) + ahead * np.sin(turn), ahead * np.cos(turn) - right * np.sin(turn)
    return np.stack([right, under, ahead], axis=1)


def objects_hit(session: VrSession, yaw: FloatArray, pitch: FloatArray) -> NDArray[np.int64]:
    """Return the object that each veiled sample hits, -1 for none, where gaze is missing, or where nothing is known."""
    known, asked = world_directions(session, session.yaw, session.pitch), world_directions(session, yaw, pitch)
    hit = np.full(len(session.t), -1, dtype=np.int64)
    for trial in np.unique(session.trial):
        inside = session.trial == trial
        _fill(hit, session, known, asked, inside, inside)
    return hit


def score(session: VrSession, yaw: FloatArray, pitch: FloatArray) -> AoiHits:
    """Return how the objects hit by veiled gaze compare with those truly hit, over the samples with true gaze."""
    return _compare(session, objects_hit(session, yaw, pitch))


def agreement_of_raw(session: VrSession) -> AoiHits:
    """Return how true gaze scores under its own map."""
    return score(session, session.yaw, session.pitch)


def agreement_held_out(session: VrSession) -> AoiHits:
    """Return how true gaze scores if every other half-second is mapped by the half-seconds in between."""
    directions = world_directions(session, session.yaw, session.pitch)
    hit = np.full(len(session.t), -1, dtype=np.int64)
    odd = np.floor(session.t / _BLOCK_S).astype(np.int64) % 2 == 1
    for trial in np.unique(session.trial):
        inside = session.trial == trial
        for side in (odd, ~odd):
            _fill(hit, session, directions, directions, inside & side, inside & ~side)
    return _compare(session, hit)


def _fill(
    hit: NDArray[np.int64],
    session: VrSession,
    known: FloatArray,
    asked: FloatArray,
    known_at: NDArray[np.bool_],
    asked_at: NDArray[np.bool_],
) -> None:
    from gazeveil.lab.utility.scanpath_kernels import nearest  # noqa: PLC0415  (numba loads on use)

    references = np.flatnonzero(known_at & np.isfinite(known[:, 0]))
    questions = np.flatnonzero(asked_at & np.isfinite(asked[:, 0]))
    if len(references) and len(questions):
        hit[questions] = session.hit[references[nearest(known[references], asked[questions])]]


def _compare(session: VrSession, hit: NDArray[np.int64]) -> AoiHits:
    seen = np.isfinite(session.yaw) & np.isfinite(session.pitch)
    return aoi_hits(session.hit[seen], hit[seen], len(session.objects))
