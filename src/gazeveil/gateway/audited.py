# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Leases of the gateway before the auditor: does more leave the hub than the ledger was charged for?

The hub, its purse, the payment and the ledger are those of a running gateway; only the clocks are moved by hand. Every
trial pays for one lease, and then gaze comes for three times as long. What is shown must not tell more than that one
charge. Importing this module enters the subject.
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

from gazeveil.arrays import FloatArray
from gazeveil.errors import InternalError
from gazeveil.exact import exact
from gazeveil.gateway._scene_audits import Place, Seen  # enters its subject, too
from gazeveil.gateway.hub import Hub
from gazeveil.gateway.memory import state_in
from gazeveil.gateway.policy import AppSetting, BudgetSetting, Policy, TrackerSetting
from gazeveil.gateway.sample import RawSample
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Ledger, Receipt
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import Screen, space_of

_SIDE = 32768
_PERSON, _TRACKER, _APP = "anna", "desk", "game"
_RATE = 8.0
_WINDOWS = 2
_STRETCH = 3
"""For how many leases gaze comes, where one is paid for."""
_BUDGET = 10**9
_IN_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of its own is made in it)
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_START = 1000.0


class Desk:
    """A hub with one app, a ledger, and clocks that are moved by hand."""

    def __init__(self, clock: Clock, ledger: Ledger) -> None:
        self.now, self.seen, self._ledger = _START, Seen(), ledger
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
            desk = Desk(self.clock, ledger)
            desk.gaze(data, 2 * float(self.clock.window))  # the quiet start
            for row in rows:
                desk.seen.points.clear()
                paid = desk.price
                desk.pay()
                desk.gaze(data, _STRETCH * lease)
                left = list(dict.fromkeys(desk.seen.points))  # a point is shown until the next one comes
                row[: 2 * len(left)] = np.ravel(left)[: len(row)]
                if desk.price - paid > self.price:
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
        (TrackerSetting(_TRACKER, "simulate", plane, _PERSON),),
        (AppSetting(_APP, _TRACKER, "jsonlines", clock, rate_hz=1000.0),),
        (BudgetSetting(_PERSON, Fraction(_BUDGET), clock.radius),),
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
        state_in(folder),
        Ledger.open(Path(folder) / "ledger.sqlite", create=True) as ledger,
    ):
        yield ledger
