# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Audit subjects of the gateway: leases, and windows that follow the scene. Importing this module registers them.

Hub, leases, payment and ledger are those of a running gateway; only the clocks are set by hand. *Leases*: every trial
pays for one lease, then gaze comes for three times as long; what is shown must not reveal more than that one charge.
*Scene*: the claim is the smallest radius and window that the scene may ask for, which is what the lease pays for.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InternalError
from gazeveil.exact import exact
from gazeveil.gateway.control.decisions import other_state_folder
from gazeveil.gateway.hub.hub import Hub
from gazeveil.gateway.policy.scene import SETTLE_S, SceneReading
from gazeveil.gateway.policy.settings import AppSetting, BudgetSetting, Policy, SceneSetting, TrackerSetting
from gazeveil.gateway.sample import RawSample, Veiled, VeiledSample
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Ledger, Receipt
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import Screen, space_of

_SIDE = 32768
_SCENE_TRACKER, _SCENE_APP = "desk", "game"
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
class WatchedGaze:
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


class RecordedOutlet:
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
class FollowingWindows:
    """A hub with one app that follows the scene; trials are parts of one stream, with rests between them."""

    clock: Clock

    def run(self, data: WatchedGaze, noise: NoiseSource, trials: int) -> Outputs:
        """Return what was released, x and y by turns; what there is no room for is 0."""
        hub, seen = self._hub(noise)
        rows = np.zeros((trials, _WIDTH))
        for trial, row in enumerate(rows):
            del seen.points[:-1]
            points, _ = self.stream(hub, seen, data, _START + _REST_S * (trial + 1))
            row[: 2 * len(data.releases)] = points[data.releases].ravel()
        return rows

    def stream(self, hub: Hub, seen: RecordedOutlet, data: WatchedGaze, start: float) -> tuple[FloatArray, FloatArray]:
        """Return the point that is shown after each sample, and the radius that held, of one trial."""
        points, radii = np.zeros((len(data.t), 2)), np.zeros(len(data.t))
        small, large = float(self.clock.radius), float(self.clock.radius * _RAISED)
        gaze = {t: number for number, t in enumerate(data.t.tolist())}
        for moment in data.moments:
            now, number = start + moment, gaze.get(moment)
            hub.tick(now)
            if moment in (data.asked, data.asked + _STEP) or moment.is_integer():
                hub.scene_read(_SCENE_TRACKER, SceneReading(now, large if moment == data.asked else small), now)
            if number is not None:
                hub.push(_SCENE_TRACKER, [RawSample(now, data.x.item(number), _SIDE / 2)], now)
                points[number] = seen.points[-1] if seen.points else math.nan
                radii[number] = float(hub.tracker_of(_SCENE_TRACKER).groups[0].mechanism.privacy_level["radius"])
        return points, radii

    def releases(self, data: WatchedGaze) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the samples at which something is released, what that costs for each unit, and all radii.

        All of it is public, so any noise shows it.
        """
        points, radii = self.stream(*self._hub(NoiseSource.seeded(1)), data, _START + _REST_S)
        new = np.flatnonzero(np.any(np.diff(points, axis=0, prepend=np.nan) != 0, axis=1))
        return new, float(self.clock.epsilon) / self.clock.ticks / radii[new], radii

    def log_ratio(self, outputs: Outputs, first: WatchedGaze, second: WatchedGaze) -> FloatArray:
        """Return the log ratio of the two densities of all that was released."""
        points = outputs[:, : 2 * len(first.releases)].reshape(len(outputs), -1, 2)
        away = []
        for side in (first, second):
            at = np.column_stack([side.x[side.releases], np.full(len(side.releases), _SIDE / 2)])
            away.append(np.linalg.norm(points - at, axis=2) @ side.losses)
        return np.asarray(away[1] - away[0])

    def _hub(self, noise: NoiseSource) -> tuple[Hub, RecordedOutlet]:
        """Return a hub whose quiet start is over, and its outlet."""
        scene = SceneSetting("video", Path("film.mp4"), gaze_dependent=False)
        app = AppSetting(
            _SCENE_APP, _SCENE_TRACKER, "jsonlines", self.clock, rate_hz=1000.0, edge="leave", unproven=True,
            follow_scene="small", radius_at_least=self.clock.radius, radius_at_most=self.clock.radius * _RAISED,
            window_at_least=_WINDOW, window_at_most=_WINDOW,
        )  # fmt: skip
        policy = Policy((TrackerSetting(_SCENE_TRACKER, "simulate", screen(_SIDE, _SIDE), scene=scene),), (app,))
        hub = Hub(policy, noise=noise, now=_START, wall=lambda: _NOON, log=lambda *_, **__: None)
        seen = RecordedOutlet()
        hub.attach(_SCENE_APP, seen)
        for t in (_START, _START + 1.0):
            hub.push(_SCENE_TRACKER, [RawSample(t, _SIDE / 2, _SIDE / 2)], t)
        return hub, seen


@auditable("gateway-scene")
def gateway_scene(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """A stream whose radius follows the scene, over windows around a raised and a lowered radius."""
    space = Screen(float(_SIDE), float(_SIDE))
    clock = Clock(space, epsilon=exact(epsilon), window=_WINDOW, radius=exact(radius), ticks=2, filter=False)
    following = FollowingWindows(clock)
    pairs = (
        # right after the second release of a window the radius is raised
        _pair(following, radius, np.arange(1.0, 2.0, _STEP), 1.0 + 5 * _STEP, "raised"),
        # five seconds later it is lowered, between two releases
        _pair(following, radius, np.arange(SETTLE_S - 0.5, SETTLE_S + 1.0, _STEP), 0.5, "lowered"),
    )
    return Subject(following.run, clock.guarantee, pairs, following.log_ratio)


def _pair(following: FollowingWindows, radius: float, t: FloatArray, asked: float, word: str) -> Pair:
    """Return gaze that moves within the window that holds most of what is released around a change."""
    still = np.full(len(t), _SIDE / 2)
    releases, losses, radii = following.releases(WatchedGaze(t, still, asked, np.zeros(0, np.int64), np.zeros(0)))
    if len(set(radii.tolist())) != 2:
        raise InternalError("the scene did not change the radius")
    span = int(_WINDOW / Fraction(_STEP)) + 1
    spent = [float(losses[(releases >= start) & (releases < start + span)].sum()) for start in releases]
    start = int(releases[int(np.argmax(spent))])
    moved = still.copy()
    moved[start : start + span] += math.nextafter(radius, 0.0)
    sides = [WatchedGaze(t, x, asked, releases, losses) for x in (still, moved)]
    words = f"a step of {radius:g} within {float(_WINDOW):g} s, while the scene has the radius {word}"
    return Pair(sides[0], sides[1], words)


# --- Leases: does more leave the hub than the ledger was charged for?


_PARTICIPANT, _TRACKER, _APP = "anna", "desk", "game"
_RATE = 8.0
_WINDOWS = 2
_STRETCH = 3
"""For how many leases gaze comes, where one is paid for."""
_BUDGET = 10**9
_IN_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of its own is made in it)


class SimulatedHub:
    """A hub with one app, a ledger, and clocks that are moved by hand."""

    def __init__(self, clock: Clock, ledger: Ledger) -> None:
        self.now, self.seen, self._ledger = _START, RecordedOutlet(), ledger
        self.price = Fraction(0)
        self.hub = Hub(
            _policy(clock), noise=NoiseSource.secure(), now=self.now, wall=self._wall, log=lambda *_, **__: None
        )
        self.hub.attach(_APP, self.seen)

    def gaze(self, at: Place, seconds: float) -> None:
        """Let samples come; nobody pays."""
        for _ in range(round(seconds * _RATE)):
            self.now += 1 / _RATE
            self.hub.push(_TRACKER, [RawSample(self.now, *at)], self.now)

    def pay(self) -> None:
        """Pay for what the hub asks for."""
        for charge in self.hub.charges():
            receipt = charge.pay(self._ledger)
            self.price += _price(receipt)
            self.hub.settled(charge, receipt, self.now)

    def _wall(self) -> datetime:
        return _NOON + timedelta(milliseconds=self.now - _START)  # so slowly that the day does not end


@dataclass(frozen=True, slots=True)
class Leases:
    """Leases, one a trial, of one app behind a clock."""

    clock: Clock

    def run(self, data: Place, noise: NoiseSource, trials: int) -> Outputs:
        """Return all points that left during one lease's price, x and y by turns; those that did not are 0.

        A gateway has no price for noise that is not secure, so its noise is, whatever the audit's seed.
        """
        lease = float(self.clock.window) * _WINDOWS
        rows = np.zeros((trials, 2 * _STRETCH * _WINDOWS * self.clock.ticks))
        with _new_ledger() as ledger:
            bench = SimulatedHub(self.clock, ledger)
            bench.gaze(data, 2 * float(self.clock.window))  # the quiet start
            for row in rows:
                bench.seen.points.clear()
                paid = bench.price
                bench.pay()
                bench.gaze(data, _STRETCH * lease)
                left = list(dict.fromkeys(bench.seen.points))  # a point is shown until the next one comes
                row[: 2 * len(left)] = np.ravel(left)[: len(row)]
                if bench.price - paid > self.price:
                    raise InternalError("a trial paid for more than one lease")
        return rows

    @property
    def price(self) -> Fraction:
        """What one lease costs."""
        return exact(self.clock.epsilon) * _WINDOWS

    def log_ratio(self, outputs: Outputs, first: Place, second: Place) -> FloatArray:
        """Return the log ratio of the two densities of all points that left."""
        points = outputs.reshape(len(outputs), -1, 2)
        per_px = float(self.clock.epsilon / self.clock.radius / self.clock.ticks)
        here, there = (np.linalg.norm(points - np.array(place), axis=2) for place in (first, second))
        return np.asarray(np.sum((there - here) * np.any(points != 0, axis=2), axis=1) * per_px)


@auditable("gateway-leases")
def gateway_leases(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """What leaves the gateway for the price of one lease, which is ε; noise is secure whatever the seed."""
    space = Screen(float(_SIDE), float(_SIDE))
    share = exact(epsilon) / _WINDOWS
    clock = Clock(space, epsilon=share, window=Fraction(1, 2), radius=exact(radius), ticks=1, filter=False)
    leases = Leases(clock)
    seconds = _STRETCH * _WINDOWS * clock.window
    here, there = (_SIDE / 2, _SIDE / 2), (_SIDE / 2 + math.nextafter(radius, 0.0), _SIDE / 2)
    pair = Pair(here, there, f"all gaze that comes while one lease is paid for, moved by {radius:g}")
    return Subject(leases.run, GazeStreamDP(leases.price, seconds, clock.radius), (pair,), leases.log_ratio)


def _policy(clock: Clock) -> Policy:
    plane = screen(_SIDE, _SIDE)
    if space_of(plane).size != clock.space.size:
        raise InternalError("the tracker and the veil are not of one space")
    return Policy(
        (TrackerSetting(_TRACKER, "simulate", plane, _PARTICIPANT),),
        (AppSetting(_APP, _TRACKER, "jsonlines", clock, rate_hz=1000.0),),
        (BudgetSetting(_PARTICIPANT, Fraction(_BUDGET), clock.radius),),
        ledger="ledger.sqlite",
        lease_s=float(clock.window * _WINDOWS),
    )


def _price(receipt: Receipt) -> Fraction:
    if not isinstance(receipt.guarantee, GazeStreamDP):
        raise InternalError("a lease was paid for with something else than gaze")
    return receipt.guarantee.epsilon


@contextmanager
def _new_ledger() -> Iterator[Ledger]:
    """Give a ledger in a folder that is removed, with its anchor in the same folder."""
    memory = _IN_MEMORY if _IN_MEMORY.is_dir() else None  # nobody needs this ledger after a power cut
    with (
        tempfile.TemporaryDirectory(dir=memory) as folder,
        other_state_folder(folder),
        Ledger.open(Path(folder) / "ledger.sqlite", create=True) as ledger,
    ):
        yield ledger
