# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A hub on a bench, for tests: a clock that only the test moves, outlets that remember, and a ledger to pay from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from gazeveil.errors import GazeveilError
from gazeveil.gateway.hub.budget import LeaseCharge
from gazeveil.gateway.hub.hub import Hub
from gazeveil.gateway.policy.settings import AppSetting, BudgetSetting, Policy, TrackerSetting
from gazeveil.gateway.sample import RawSample, Veiled
from gazeveil.gateway.veiling import mechanism_of
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Clock, Ledger, Receipt

SCREEN = screen(1920, 1080, 527, 296, 600)


def tracker(name: str = "desk", participant: str = "anna", **values: Any) -> TrackerSetting:
    return TrackerSetting(name, "simulate", SCREEN, participant, **values)


def app(name: str = "game", veil: str | dict[str, Any] = "mpmu", on: str = "desk", **values: Any) -> AppSetting:
    described = {"preset": veil} if isinstance(veil, str) else veil
    mechanism = mechanism_of(described, tracker().space)
    return AppSetting(name, on, "jsonlines", mechanism, rate_hz=values.pop("rate_hz", 1000.0), **values)


def budget(epsilon: float = 5000, participant: str = "anna", radius: float = 60, **values: Any) -> BudgetSetting:
    return BudgetSetting(participant, Fraction(epsilon), Fraction(radius), **values)


def policy(*parts: TrackerSetting | AppSetting | BudgetSetting, lease_s: float = 10.0) -> Policy:
    return Policy(
        tuple(part for part in parts if isinstance(part, TrackerSetting)) or (tracker(),),
        tuple(part for part in parts if isinstance(part, AppSetting)),
        tuple(part for part in parts if isinstance(part, BudgetSetting)),
        ledger="ledger.sqlite",
        lease_s=lease_s,
    )


@dataclass
class Seen:
    """What one app was shown and told, and when."""

    bench: Bench
    shown: list[Veiled] = field(default_factory=list)
    when: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    broken: bool = False
    left: int = 0

    def show(self, veiled: Veiled) -> None:
        if self.broken:
            raise RuntimeError("a full queue")
        self.shown.append(veiled)
        self.when.append(self.bench.now)

    def flush(self, arrived: float) -> None:
        self.left = len(self.shown)

    def silence(self, why: str) -> None:
        self.told.append(why)

    def end(self, reason: str) -> None:
        self.ended.append(reason)


class Bench:
    """A hub, and time that stands still until it is told to pass."""

    def __init__(
        self,
        rules: Policy,
        ledger: Ledger | None = None,
        *,
        now: float = 1000.0,
        start: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC),
        noise: NoiseSource | None = None,
    ) -> None:
        self.now, self.ledger = now, ledger
        self._start, self._zero = start, now
        self.logs: list[tuple[str, dict[str, object]]] = []
        self.device = 50.0
        self.outcomes: list[Receipt | GazeveilError] = []
        self.hub = Hub(
            rules,
            noise=noise or NoiseSource.secure(),
            now=now,
            wall=self.wall,
            log=lambda event, **fields: self.logs.append((event, fields)),
        )
        self.seen: dict[str, Seen] = {}
        for setting in rules.apps:
            self.attach(setting.name)

    def attach(self, name: str) -> Seen:
        self.seen[name] = Seen(self)
        self.hub.attach(name, self.seen[name])
        return self.seen[name]

    def wall(self) -> datetime:
        return self._start + timedelta(seconds=self.now - self._zero)

    def pay(self) -> None:
        for charge in self.hub.charges():
            self.hub.settled(charge, self.outcome(charge), self.now)

    def outcome(self, charge: LeaseCharge) -> Receipt | GazeveilError:
        if self.ledger is None:
            raise AssertionError("nothing should be charged")
        try:
            result: Receipt | GazeveilError = charge.pay(self.ledger)
        except GazeveilError as error:
            result = error
        self.outcomes.append(result)
        return result

    def wait(self, seconds: float) -> None:
        """Let time pass without samples, with a tick now and then."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            step = min(0.25, end - self.now)
            self.now += step
            self.device += step
            self.hub.fill(self.now)
            self.hub.tick(self.now)
            self.pay()

    def gaze(
        self, seconds: float, *, on: str = "desk", at: tuple[float, float] = (300.0, 500.0), rate: float = 20.0
    ) -> None:
        """Let a tracker send gaze for a while."""
        for i in range(round(seconds * rate)):
            self.now += 1 / rate
            self.device += 1 / rate
            self.hub.push(on, [RawSample(self.device, *at)], self.now)
            if i % 4 == 0:
                self.hub.tick(self.now)
                self.pay()

    def state(self, name: str) -> str:
        return next(status.state for status in self.hub.status().apps if status.name == name)


def clock_of(benches: list[Bench], now: float, wall: float) -> Clock:
    """Return the clock of a program that begins now, and whose time is that of the bench that it will be."""
    return Clock(lambda: wall, lambda: benches[0].now if benches else now)


def windows_needed(times: list[float], window: float) -> int:
    """Return how many closed windows it takes to cover all times."""
    count, end = 0, -math.inf
    for t in sorted(times):
        if t > end:
            count, end = count + 1, t + window
    return count
