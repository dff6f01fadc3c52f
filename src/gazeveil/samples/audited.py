# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the auditor can try of this package; importing this module enters its subjects.

Here: changes of the privacy level, directions on a sphere, held ticks, eyes and head, and combined mechanisms.
`gazeveil.samples.stream_audits` holds the private streams themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource, planar_laplace
from gazeveil.noise.parameters import NOISE_PER_DEGREE
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples import stream_audits as _streams  # noqa: F401
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.mechanisms.eye_and_head import EyeAndHead
from gazeveil.samples.mechanisms.held_ticks import HeldTicks
from gazeveil.samples.space import Room3D, Space, Sphere
from gazeveil.samples.stream import StreamMechanism
from gazeveil.samples.stream_audits import (
    PLANE,
    ClockTicks,
    Gaze,
    OneStream,
    made,
    padded,
    pairs_of,
    releases_of,
    seen_at,
)
from gazeveil.samples.window_budget import LOSS_UNIT

# --- A change of the guarantee while a stream runs, over windows around the change. A looser guarantee must wait until
# windows that began before the change are over; a stricter one counts what was spent before it. In both pairs the
# stricter guarantee is the claim. The change is one of the window: with a short window a release may come soon after
# the last, with a long one it may not.


_LONG, _SHORT = 0.5, 0.125
_CHANGE_RATE = 40.0
_TICKS = 2


@dataclass(frozen=True, slots=True, eq=False)
class GazeAroundChange(Gaze):
    """A stream of gaze, and when its window is changed from what to what."""

    change: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ChangedLevel:
    """A mechanism whose window is changed in every trial and changed back after it; trials are parts of one stream.

    Attributes:
        mechanism: What is audited, with the long window; a release costs the same with the short one.
    """

    mechanism: SampleMechanism

    def run(self, data: GazeAroundChange, noise: NoiseSource, trials: int) -> Outputs:
        """Return what was released, x and y by turns; every other trial is stepped through as a live app does."""
        veil = self.mechanism.with_guarantee(window=data.before).start(noise)
        cut = int(np.searchsorted(data.t, data.change))
        rows = np.zeros((trials, data.width))
        for trial, row in enumerate(rows):
            start = trial * 4.0
            parts = [_taken(veil, data, start, slice(0, cut), bool(trial % 2))]
            veil.change(start + data.change, window=data.after)
            parts.append(_taken(veil, data, start, slice(cut, None), bool(trial % 2)))
            veil.change(start + data.t.item(-1), window=data.before)
            row[: 2 * len(data.seen)] = np.concatenate(parts)[data.seen].ravel()
        return rows

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities: every release costs an equal share of ε."""
        level = self.mechanism.privacy_level
        per_px = float(level["epsilon"] / level["radius"] / _TICKS)
        points = outputs[:, : 2 * len(first.seen)].reshape(len(outputs), -1, 2)
        here, there = (np.linalg.norm(points - side.points(), axis=2).sum(axis=1) for side in (first, second))
        return np.asarray((there - here) * per_px)


@auditable("clock-turned")
def clock_turned(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """The clock while its privacy level is changed, over windows around the change."""
    return _changed_subject("clock", epsilon, radius, filter=False)


@auditable("held-ticks-turned")
def held_ticks_turned(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """Held ticks while the privacy level is changed, over windows around the change."""
    return _changed_subject("held-ticks", epsilon, radius)


def _changed_subject(name: str, epsilon: float, radius: float, **options: Any) -> Subject:
    kind: Any = MECHANISMS[name]
    mechanism = kind(PLANE, epsilon=epsilon, window=_LONG, radius=radius, ticks=_TICKS, **options)
    runner = ChangedLevel(mechanism)
    return Subject(runner.run, mechanism.guarantee, _changed_pairs(runner, radius), runner.log_ratio)


def _changed_pairs(runner: ChangedLevel, radius: float) -> tuple[Pair, ...]:
    """Return windows that begin before the privacy level is loosened, and such that a stricter guarantee must count."""
    moved = math.nextafter(radius, 0.0)
    t = np.arange(0.0, 1.2, 1 / _CHANGE_RATE)
    everything = np.arange(len(t))
    pairs = []
    for before, after, change, start, words in (
        (_LONG, _SHORT, 0.29, 0.0, "looser, within a window that began before"),
        (_SHORT, _LONG, 0.26, 0.225, "stricter, and what was spent before it counts"),
    ):
        inside = (t >= start - 1e-9) & (t <= start + _LONG + 1e-9)
        x, y = np.full(len(t), 16384.0), np.full(len(t), 16384.0)
        whole = GazeAroundChange(t, x, y, everything, 2 * len(t), change, before, after)
        seen = _releases(runner, whole)
        sides = [
            GazeAroundChange(t, gaze, y, seen, 2 * len(t), change, before, after) for gaze in (x, x + moved * inside)
        ]
        pairs.append(
            Pair(sides[0], sides[1], f"a step of {radius:g} within {_LONG:g} s, the privacy level changed {words}")
        )
    return tuple(pairs)


def _releases(runner: ChangedLevel, data: GazeAroundChange) -> NDArray[np.int64]:
    """Return the samples at which something is released; that is public."""
    shown = runner.run(data, NoiseSource.seeded(1), 1).reshape(len(data.t), 2)
    return np.flatnonzero(np.any(np.diff(shown, axis=0, prepend=np.nan) != 0, axis=1))


def _taken(veil: Veil, data: Gaze, start: float, part: slice, live: bool) -> FloatArray:
    t, x, y = data.t[part] + start, data.x[part], data.y[part]
    if live:
        return np.array([veil.step(*sample) for sample in zip(t.tolist(), x.tolist(), y.tolist(), strict=True)])
    return np.column_stack(veil.run(t, x, y))


# --- Directions that are moved by a visual angle, near a pole and elsewhere. The length of a noisy vector is not
# released. The density of a direction depends on its angle to gaze alone, so it is tabulated once.


_JUST_WITHIN = 1 - 2.0**-40


@dataclass(frozen=True, slots=True)
class Directions(OneStream):
    """A veil on the sphere, one release a window, which is the first sample.

    Attributes:
        scale: The scale of the noise on unit vectors.
    """

    scale: float

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities of a direction."""
        return directions_apart(self.scale / NOISE_PER_DEGREE)(outputs, first, second)


@dataclass(frozen=True, slots=True)
class ByAngles:
    """Noise in yaw and pitch, as if they were the axes of a viewing plane."""

    per_degree: Fraction

    def run(self, data: Gaze, noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy yaw and pitch."""
        yaw, pitch = (np.full(trials, axis[0]) for axis in data.axes)
        return np.column_stack(planar_laplace(noise, yaw, pitch, self.per_degree))

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = (np.hypot(outputs[:, 0] - side.x[0], outputs[:, 1] - side.y[0]) for side in (first, second))
        return np.asarray((there - here) * float(self.per_degree))


def directions_apart(degrees: float) -> Callable[[Outputs, Gaze, Gaze], FloatArray]:
    """Return the log ratio of the two densities of a direction, for noise of a scale in degrees."""
    angles, logs = _log_density(degrees * NOISE_PER_DEGREE)

    def ratio(outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        here, there = (np.interp(_angle(outputs, side), angles, logs) for side in (first, second))
        return np.asarray(here - there)

    return ratio


@auditable("clock-sphere")
def clock_sphere(epsilon: float = 1.0, radius: float = 5.0, pitch: float = 60.0) -> Subject:
    """The clock on directions, at a pitch in degrees, over windows of gaze that are moved by a visual angle."""
    return _sphere_subject("clock", epsilon, radius, pitch, ticks=1, filter=False)


@auditable("held-ticks-sphere")
def held_ticks_sphere(epsilon: float = 1.0, radius: float = 5.0, pitch: float = 60.0) -> Subject:
    """Held ticks on directions, at a pitch in degrees, over windows of gaze that are moved by a visual angle."""
    return _sphere_subject("held-ticks", epsilon, radius, pitch, ticks=1)


@auditable("sphere-by-angles")
def sphere_by_angles(epsilon: float = 1.0, radius: float = 5.0, pitch: float = 60.0) -> Subject:
    """Broken: noise in yaw and pitch, where a visual angle is a larger step in yaw the nearer the pole (S2)."""
    runner = ByAngles(Fraction(epsilon) / Fraction(radius))
    return Subject(runner.run, GazeStreamDP(epsilon, 1, radius, "deg"), still_pairs(radius, pitch), runner.log_ratio)


def _sphere_subject(name: str, epsilon: float, radius: float, pitch: float, **options: Any) -> Subject:
    kind: Any = MECHANISMS[name]
    window = 0.5
    mechanism = kind(Sphere(), epsilon=epsilon, window=window, radius=radius, **options)
    runner = Directions(mechanism, 2 * window, radius / epsilon * NOISE_PER_DEGREE)
    return Subject(runner.run, mechanism.guarantee, still_pairs(radius, pitch), runner.log_ratio)


def still_pairs(radius: float, pitch: float) -> tuple[Pair, ...]:
    """Return two samples of still gaze, moved by a visual angle across and along the meridian."""
    turn, down = math.radians(radius) * _JUST_WITHIN, math.radians(pitch)
    across = math.atan2(math.sin(turn), math.cos(turn) * math.cos(down)), math.asin(math.cos(turn) * math.sin(down))
    along = 0.0, down - turn
    words = f"gaze at a pitch of {pitch:g} degrees, moved by {radius:g} degrees"
    return tuple(
        Pair(_still_direction(0.0, down), _still_direction(*place), f"{words} {way}")
        for place, way in ((across, "across the meridian"), (along, "along the meridian"))
    )


def _still_direction(yaw: float, pitch: float) -> Gaze:
    samples = np.array([0.0, 0.1])
    return Gaze(samples, np.full(2, math.degrees(yaw)), np.full(2, math.degrees(pitch)), np.array([0]), 2)


def _angle(outputs: Outputs, gaze: Gaze) -> FloatArray:
    """Return the angle between outputs and gaze, in radians."""
    one, other = (_vectors(np.radians(place)) for place in (outputs, np.array([[gaze.x[0], gaze.y[0]]])))
    return np.asarray(2 * np.arctan2(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1)))


def _vectors(places: FloatArray) -> FloatArray:
    yaw, pitch = places.T
    return np.column_stack([np.cos(pitch) * np.sin(yaw), np.sin(pitch), np.cos(pitch) * np.cos(yaw)])


@lru_cache(maxsize=16)
def _log_density(scale: float) -> tuple[FloatArray, FloatArray]:
    """Return angles, and the logarithm of the density of a direction at them: that of vectors, over all lengths."""
    angles = np.linspace(0.0, math.pi, 2001)
    lengths = np.linspace(0.0, 1.0 + 40 * scale, 8001)[1:]
    logs = []
    for cosine in np.cos(angles):
        away = np.sqrt(np.maximum((lengths - cosine) ** 2 + 1.0 - cosine**2, 0.0)) / scale
        logs.append(math.log(np.sum(lengths**2 * np.exp(away.min() - away))) - away.min())
    return angles, np.array(logs)


# --- Held ticks: a window of points in a room, moved by the radius, on regular and irregular clocks.


_ROOM = Room3D((-20000.0,) * 3, (20000.0,) * 3)
"""So large that no noisy point meets its edge."""
_TICK_RATE = 10.0
_MOST = 3
"""How many windows a stream is long at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """A stream of points, which of its samples get a release, and how many numbers an output has."""

    t: FloatArray
    points: FloatArray
    seen: NDArray[np.intp]
    width: int

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """The points, one list a coordinate."""
        return tuple(self.points)


@dataclass(frozen=True, slots=True)
class HeldTickRuns(OneStream):
    """Held ticks: an output is all that was released; a release that another clock has and this one has not is 0."""

    mechanism: HeldTicks

    def log_ratio(self, outputs: Outputs, first: Points, second: Points) -> FloatArray:
        """Return the log ratio of the two densities."""
        return (self._apart(outputs, second) - self._apart(outputs, first)) / float(self.mechanism.scale)

    def _apart(self, outputs: Outputs, data: Points) -> FloatArray:
        count = len(data.seen)
        there = outputs[:, : 3 * count].reshape(len(outputs), count, 3)
        # where gaze is missing, noise is added to what was released before, which is the same for both of a pair
        return np.asarray(np.nansum(np.linalg.norm(there - data.points[:, data.seen].T, axis=2), axis=1))


@auditable("held-ticks")
def held_ticks(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, ticks: int = 2) -> Subject:
    """Noisy points of a room on a public clock, over windows of gaze that are moved."""
    mechanism = HeldTicks(
        _ROOM, epsilon=Fraction(epsilon), window=Fraction(window), radius=Fraction(radius), ticks=ticks
    )
    stream = HeldTickRuns(mechanism, (_MOST + 1) * window)
    return Subject(stream.run, mechanism.guarantee, _tick_pairs(mechanism), stream.log_ratio)


def _tick_pairs(mechanism: HeldTicks) -> tuple[Pair, ...]:
    """Return closed windows in which every point is moved by the radius, in a direction along no axis."""
    seconds, aside = float(mechanism.window), float(mechanism.radius) / math.sqrt(3.0)
    even = np.arange(0.0, seconds + 1e-9, 1.0 / _TICK_RATE)
    clocks = {
        "on an even clock": even,
        "in a burst at ten times the rate": np.arange(0.0, seconds + 1e-9, 0.1 / _TICK_RATE),
        "on a clock that stutters": np.sort(np.concatenate([even, even[::3], even[::5] + 1e-6])),
        "and then gaze is lost": np.arange(0.0, (_MOST - 0.5) * seconds, 1.0 / _TICK_RATE),
    }
    pairs = []
    for words, clock in clocks.items():
        t = clock if words.endswith("lost") else clock[clock <= seconds]
        there = np.where(t <= seconds, 0.0, np.nan) + np.zeros((3, len(t)))
        shown = np.stack(mechanism.start(NoiseSource.seeded(1)).run3(t, *there))
        released = np.flatnonzero(np.any(np.diff(shown, axis=1, prepend=0.0) != 0, axis=0))
        # aside is rounded down, so that three of them make no more than the radius
        moved = there + math.nextafter(aside * (1.0 - 1e-15), 0.0)
        sides = [Points(t, points, released, 3 * _MOST * mechanism.ticks) for points in (there, moved)]
        pairs.append(Pair(sides[0], sides[1], f"a window moved aside, {words}"))
    return tuple(pairs)


# --- Eyes and head: both are moved at the same samples, each by its radius, and both are audited.


_WINDOW = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Looking:
    """A stream of gaze and of where the head points."""

    gaze: Gaze
    head: Gaze
    width: int = 4

    @property
    def t(self) -> FloatArray:
        """When samples are taken."""
        return self.gaze.t

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """Gaze and head, one list a coordinate."""
        return *self.gaze.axes, *self.head.axes

    @property
    def seen(self) -> NDArray[np.int64]:
        """The samples that are looked at."""
        return self.gaze.seen


@dataclass(frozen=True, slots=True)
class EyesAndHead(OneStream):
    """Eyes and head, one release a window, which is the first sample; the two noises are independent."""

    mechanism: EyeAndHead

    def log_ratio(self, outputs: Outputs, first: Looking, second: Looking) -> FloatArray:
        """Return the log ratio of the two densities."""
        eyes = _ratio(self.mechanism.eyes)(outputs[:, :2], first.gaze, second.gaze)
        return np.asarray(eyes + _ratio(self.mechanism.head)(outputs[:, 2:], first.head, second.head))


@auditable("eye-and-head")
def eye_and_head(epsilon: float = 1.0, radius: float = 60.0, head_radius: float = 10.0, share: float = 0.5) -> Subject:
    """The veil for eyes and head, with gaze on a screen: gaze and head are moved at the same samples."""
    middle = PLANE.centre[0]
    here, there = (
        Gaze(*_still_columns(middle + step, middle), np.array([0]), 2) for step in (0.0, radius * _JUST_WITHIN)
    )
    return _head_subject(PLANE, epsilon, radius, head_radius, share, (Pair(here, there, "gaze moved across"),))


@auditable("eye-and-head-sphere")
def eye_and_head_sphere(
    epsilon: float = 1.0, radius: float = 5.0, head_radius: float = 10.0, share: float = 0.5
) -> Subject:
    """The veil for eyes and head, with gaze as a direction: gaze and head are moved at the same samples."""
    return _head_subject(Sphere(), epsilon, radius, head_radius, share, still_pairs(radius, 0.0))


def _head_subject(
    space: Space, epsilon: float, radius: float, head_radius: float, share: float, gaze: tuple[Pair, ...]
) -> Subject:
    mechanism = EyeAndHead(
        space,
        epsilon=Fraction(epsilon),
        window=Fraction(_WINDOW),
        radius=Fraction(radius),
        head_radius=Fraction(head_radius),
        share=Fraction(share),
        ticks=1,
        filter=False,
    )
    runner = EyesAndHead(mechanism, 2 * _WINDOW)
    pairs = [
        Pair(
            Looking(eyes.first, head.first),
            Looking(eyes.second, head.second),
            f"{eyes.words}; and of the head, {head.words}",
        )
        for eyes, head in zip(gaze, still_pairs(head_radius, 30.0), strict=False)
    ]
    return Subject(runner.run, mechanism.guarantee, tuple(pairs), runner.log_ratio)


def _still_columns(x: float, y: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    return np.array([0.0, 0.1]), np.full(2, x), np.full(2, y)


def _ratio(clock: Clock) -> Callable[[Outputs, Gaze, Gaze], FloatArray]:
    """Return the log ratio of the densities of a released point, or of a direction."""
    if isinstance(clock.space, Sphere):
        return directions_apart(float(clock.radius / clock.epsilon))
    per_unit = clock.plan().loss / LOSS_UNIT

    def ratio(outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        here, there = (np.hypot(outputs[:, 0] - side.x[0], outputs[:, 1] - side.y[0]) for side in (first, second))
        return np.asarray((there - here) * per_unit)

    return ratio


# --- Mechanisms made of others: a chain behind a clock, and a rotation of which a window may meet two turns.


@dataclass(frozen=True, slots=True)
class Combined(OneStream):
    """A mechanism that shows the released points of a clock."""

    clock: StreamMechanism

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the densities of the points."""
        return ClockTicks(self.clock).log_ratio(outputs, first, second)


@auditable("chain")
def chain(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, ticks: int = 2) -> Subject:
    """A clock and smoothing behind it, which adds nothing to what is lost."""
    clock = made("clock", epsilon, window, radius, ticks=ticks)
    kind: Any = MECHANISMS["chain"]
    smoothing: Any = MECHANISMS["smoothing"]
    mechanism = kind(PLANE, members=(clock, smoothing(PLANE, window=2)))
    # a point is held for longer than the smoothing reaches back: a sample later it is shown as it is
    pairs = [seen_at(pair, pair.first.seen + 1) for pair in pairs_of(clock) if "recorded" in pair.words]
    runner = Combined(mechanism, 4 * window, clock)
    return Subject(runner.run, mechanism.guarantee, padded(pairs), runner.log_ratio)


@auditable("rotate")
def rotate(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0) -> Subject:
    """Two clocks by turns, over windows that meet the end of one turn and the beginning of the next; claims 2 ε."""
    clocks = (made("clock", epsilon, window, radius, ticks=1),) * 2
    kind: Any = MECHANISMS["rotate"]
    mechanism = kind(PLANE, members=clocks, least=1.5 * window, most=1.5 * window)
    found = [pair for pair in pairs_of(clocks[0], after=window) if "a step" in pair.words and "burst" not in pair.words]
    pairs = [seen_at(pair, releases_of(mechanism, pair.first)) for pair in found]
    runner = Combined(mechanism, 6 * window, clocks[0])
    return Subject(runner.run, mechanism.guarantee, padded(pairs), runner.log_ratio)
