# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A stream that follows the scene before the auditor: windows around a raised and around a lowered radius.

The hub is that of a running gateway, with clocks that are moved by hand. The claim is the least that the scene may ask
for, which is what an app is shown and what is paid for. Importing this module enters the subject.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InternalError
from gazeveil.exact import exact
from gazeveil.gateway._hub_scene import SETTLE_S, SceneReading
from gazeveil.gateway.hub import Hub
from gazeveil.gateway.policy import AppSetting, Policy, SceneSetting, TrackerSetting
from gazeveil.gateway.sample import RawSample, Veiled, VeiledSample
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import Screen

_SIDE = 32768
_TRACKER, _APP = "desk", "game"
_STEP = 1 / 16
_WINDOW = Fraction(1, 2)
_RAISED = Fraction(3, 2)
"""How many times as large the radius is that the scene asks for, for a while."""
_WIDTH = 32
_START = 1000.0
_REST_S = 24.0
"""From one trial to the next: windows are over, and the radius is small again."""
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

Place = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """Gaze while the scene is watched.

    Attributes:
        t: Seconds of each sample, from the beginning of a trial.
        x: Gaze across; down it stays where it is.
        asked: When the scene asks for the larger radius. A step later it asks for the smaller one again.
        releases: Samples at which something is released; that is public.
        losses: What each of them costs for a unit of distance.
    """

    t: FloatArray
    x: FloatArray
    asked: float
    releases: IntArray
    losses: FloatArray

    @property
    def moments(self) -> list[float]:
        """When anything happens: a look at the scene every second, and the samples."""
        looks = [self.asked, self.asked + _STEP, *np.arange(0.0, 8.0)]
        return sorted({*looks, *self.t.tolist()})


class Seen:
    """An outlet that remembers the points that it was shown."""

    def __init__(self) -> None:
        self.points: list[Place] = []

    def show(self, veiled: Veiled) -> None:
        """Remember a veiled point."""
        if isinstance(veiled, VeiledSample):
            self.points.append((veiled.x, veiled.y))

    def flush(self, arrived: float) -> None:
        """What was shown is remembered already."""

    def silence(self, why: str) -> None:
        """Nothing is shown for now."""

    def end(self, reason: str) -> None:
        """Nothing is shown any more."""


@dataclass(frozen=True, slots=True)
class Following:
    """A hub with one app that follows the scene; trials are parts of one stream, with rests between them."""

    clock: Clock

    def run(self, data: Watched, noise: NoiseSource, trials: int) -> Outputs:
        """Return what was released, x and y by turns; what there is no room for is 0."""
        hub, seen = self._hub(noise)
        rows = np.zeros((trials, _WIDTH))
        for trial, row in enumerate(rows):
            del seen.points[:-1]
            points, _ = self.stream(hub, seen, data, _START + _REST_S * (trial + 1))
            row[: 2 * len(data.releases)] = points[data.releases].ravel()
        return rows

    def stream(self, hub: Hub, seen: Seen, data: Watched, start: float) -> tuple[FloatArray, FloatArray]:
        """Return the point that is shown after each sample, and the radius that held, of one trial."""
        points, radii = np.zeros((len(data.t), 2)), np.zeros(len(data.t))
        small, large = float(self.clock.radius), float(self.clock.radius * _RAISED)
        gaze = {t: number for number, t in enumerate(data.t.tolist())}
        for moment in data.moments:
            now, number = start + moment, gaze.get(moment)
            hub.tick(now)
            if moment in (data.asked, data.asked + _STEP) or moment.is_integer():
                hub.see(_TRACKER, SceneReading(now, large if moment == data.asked else small), now)
            if number is not None:
                hub.push(_TRACKER, [RawSample(now, data.x.item(number), _SIDE / 2)], now)
                points[number] = seen.points[-1] if seen.points else math.nan
                radii[number] = float(hub._desks[_TRACKER].groups[0].mechanism.knob["radius"])
        return points, radii

    def releases(self, data: Watched) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the samples at which something is released, what that costs for each unit, and all radii.

        All of it is public, so any noise shows it.
        """
        points, radii = self.stream(*self._hub(NoiseSource.seeded(1)), data, _START + _REST_S)
        new = np.flatnonzero(np.any(np.diff(points, axis=0, prepend=np.nan) != 0, axis=1))
        return new, float(self.clock.epsilon) / self.clock.ticks / radii[new], radii

    def log_ratio(self, outputs: Outputs, first: Watched, second: Watched) -> FloatArray:
        """Return the log ratio of the two densities of all that was released."""
        points = outputs[:, : 2 * len(first.releases)].reshape(len(outputs), -1, 2)
        away = []
        for side in (first, second):
            at = np.column_stack([side.x[side.releases], np.full(len(side.releases), _SIDE / 2)])
            away.append(np.linalg.norm(points - at, axis=2) @ side.losses)
        return np.asarray(away[1] - away[0])

    def _hub(self, noise: NoiseSource) -> tuple[Hub, Seen]:
        """Return a hub whose quiet start is over, and its outlet."""
        scene = SceneSetting("video", Path("film.mp4"), gaze_dependent=False)
        app = AppSetting(
            _APP, _TRACKER, "jsonlines", self.clock, rate_hz=1000.0, edge="leave", unproven=True, follow_scene="small",
            radius_at_least=self.clock.radius, radius_at_most=self.clock.radius * _RAISED,
            window_at_least=_WINDOW, window_at_most=_WINDOW,
        )  # fmt: skip
        policy = Policy((TrackerSetting(_TRACKER, "simulate", screen(_SIDE, _SIDE), scene=scene),), (app,))
        hub = Hub(policy, noise=noise, now=_START, wall=lambda: _NOON, log=lambda *_, **__: None)
        seen = Seen()
        hub.attach(_APP, seen)
        for t in (_START, _START + 1.0):
            hub.push(_TRACKER, [RawSample(t, _SIDE / 2, _SIDE / 2)], t)
        return hub, seen


@auditable("gateway-scene")
def gateway_scene(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """A stream whose radius follows the scene, over windows around a raised and a lowered radius."""
    space = Screen(float(_SIDE), float(_SIDE))
    clock = Clock(space, epsilon=exact(epsilon), window=_WINDOW, radius=exact(radius), ticks=2, filter=False)
    following = Following(clock)
    pairs = (
        # right after the second release of a window the radius is raised
        _pair(following, radius, np.arange(1.0, 2.0, _STEP), 1.0 + 5 * _STEP, "raised"),
        # five seconds later it is lowered, between two releases
        _pair(following, radius, np.arange(SETTLE_S - 0.5, SETTLE_S + 1.0, _STEP), 0.5, "lowered"),
    )
    return Subject(following.run, clock.guarantee, pairs, following.log_ratio)


def _pair(following: Following, radius: float, t: FloatArray, asked: float, word: str) -> Pair:
    """Return gaze that moves within the window that holds most of what is released around a change."""
    still = np.full(len(t), _SIDE / 2)
    releases, losses, radii = following.releases(Watched(t, still, asked, np.zeros(0, np.int64), np.zeros(0)))
    if len(set(radii.tolist())) != 2:
        raise InternalError("the scene did not change the radius")
    span = int(_WINDOW / Fraction(_STEP)) + 1
    spent = [float(losses[(releases >= start) & (releases < start + span)].sum()) for start in releases]
    start = int(releases[int(np.argmax(spent))])
    moved = still.copy()
    moved[start : start + span] += math.nextafter(radius, 0.0)
    sides = [Watched(t, x, asked, releases, losses) for x in (still, moved)]
    words = f"a step of {radius:g} within {float(_WINDOW):g} s, while the scene has the radius {word}"
    return Pair(sides[0], sides[1], words)
