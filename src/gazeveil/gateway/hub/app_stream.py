# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One app behind a veil: its feed, its outlet, its state, and what it received lately."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from itertools import count, islice
from typing import Generic, Protocol, TypeVar

from gazeveil.errors import PrivacyError
from gazeveil.gateway.hub.status import State
from gazeveil.gateway.policy.settings import AppSetting, TrackerSetting
from gazeveil.gateway.protocol import Output, StreamFacts
from gazeveil.gateway.sample import EyeGeometry, Pointing, Veiled, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.gateway.veiling import Feed, feed_of

_numbers = count()
Thing = TypeVar("Thing")
Point = tuple[float, float, float]
"""Stream time, and where; in the unit of the viewing plane."""


class Ring(Generic[Thing]):
    """A buffer of limited length; the oldest things are dropped.

    Attributes:
        count: How many things were ever added, so that a reader knows what it has seen.
        number: Identifies the ring.
    """

    __slots__ = ("__weakref__", "_things", "count", "number")

    def __init__(self, most: int) -> None:
        self._things: deque[Thing] = deque(maxlen=most)
        self.count = 0
        self.number = next(_numbers)

    def add(self, thing: Thing) -> None:
        """Append a thing."""
        self._things.append(thing)
        self.count += 1

    def since(self, seen: int, most: int | None = None) -> list[Thing]:
        """Return what was added after the first ``seen`` things and is still there; the latest ``most`` of it."""
        fresh = min(self.count - seen, len(self._things))
        if most is not None:
            fresh = min(fresh, most)
        return list(islice(reversed(self._things), fresh))[::-1] if fresh > 0 else []

    def clear(self) -> None:
        """Drop all of them; the count stays."""
        self._things.clear()


Log = Callable[..., None]
Received = tuple[float, float, float] | tuple[float, float, float, float] | tuple[float, str]
"""A sample (t, x, y), a fixation (t, x, y, duration) or a hit (t, area)."""

MOST_RECEIVED = 10_000
"""How much is kept of what an app was shown: nearly three minutes of 60 samples a second, about a megabyte."""

WAITING = "no sample has come yet"
NO_LISTENER = "no connected app asks for gaze"
SWITCHED_OFF = "the app is switched off"
NOT_ALLOWED = "the policy does not allow this app's veil for the participant at the tracker"
"""What is shown to apps; the control API gives the whole reason."""
LATCHED = "the gateway is shut: the record of what was spent cannot be trusted"
"""Likewise."""


class Outlet(Protocol):
    """Where an app's veiled gaze goes; it fans out to the app's connections."""

    def show(self, veiled: Veiled) -> None:
        """Show one veiled thing; it may wait until `flush`."""
        ...

    def flush(self, arrived: float) -> None:
        """Send what was shown; ``arrived`` is when the samples arrived that it was made of."""
        ...

    def silence(self, why: str) -> None:
        """Report that there is no gaze at present."""
        ...

    def end(self, reason: str) -> None:
        """Report that nothing more comes, and why. Final until the policy changes or budget comes back."""
        ...


class AppListener(Outlet, Protocol):
    """An outlet that apps connect to.

    Attributes:
        shown: The facts about the stream for apps that connect from now on.
        on_watched: Called with True when the first app asks for gaze, with False when the last one stops.
    """

    shown: StreamFacts
    on_watched: Callable[[bool], None]

    @property
    def is_watched(self) -> bool:
        """Whether any connected app has asked for gaze."""
        ...

    @property
    def port(self) -> int:
        """The port that apps connect to; 0 where there is none."""
        ...

    def regrade(self, shown: StreamFacts) -> None:
        """Show another kind of output from now on, to connected apps too."""
        ...

    def tick(self, now: float) -> None:
        """Do what is due."""
        ...

    async def close(self, reason: str, *, stops: bool = False) -> None:
        """Report why, and take no more connections; ``stops``: because the gateway stops, so apps may come again."""
        ...


class AppStream:
    """One app.

    Attributes:
        setting: What the policy says.
        outlet: Where its gaze goes; None until there is one.
        is_on: Whether the control API lets it run.
        is_watched: Whether anyone has asked for gaze: gaze that nobody sees is not paid for.
        refused: Why it may not use its veil; empty if it may.
        why: Why it gets nothing; empty while gaze flows.
        ended: Why nothing more comes; empty if more may.
        errors: How often its outlet failed.
        window: The longest window of any veil that it was behind: it waits as long before it joins another one.
        rule: The output that was chosen live; None for the policy's.
        received: What it was shown lately, for the participant: veiled things alone, as plain values.
        weaker_at: When the last weaker privacy level holds in full, in monotonic seconds.
    """

    __slots__ = (
        "_log", "ended", "errors", "failing", "feed", "is_on", "is_watched", "outlet", "received", "refused", "rule",
        "setting", "weaker_at", "why", "window",
    )  # fmt: skip

    def __init__(self, setting: AppSetting, tracker: TrackerSetting, log: Log) -> None:
        self._log = log
        self.outlet: Outlet | None = None
        self.is_on = self.is_watched = True
        self.refused = self.ended = ""
        self.why = WAITING
        self.errors = 0
        self.failing = False
        self.window = 0.0
        self.weaker_at = -math.inf
        self.received: Ring[Received] = Ring(MOST_RECEIVED)
        self.rule: Output | None = None
        self.setting = setting
        self.feed = _feed(setting, tracker, setting.output)

    @property
    def output(self) -> Output:
        """What it gets: as the policy says, or less."""
        return self.rule or self.setting.output

    @property
    def takes_part(self) -> bool:
        """Whether it is to get gaze, if there is any."""
        return self.outlet is not None and self.is_on and self.is_watched and not self.refused

    @property
    def state(self) -> State:
        """Whether it gets gaze."""
        if not self.is_on:
            return "off"
        if self.ended:
            return "ended"
        if not self.is_watched:
            return "no listener"
        return "silent" if self.why else "flowing"

    def apply_setting(self, setting: AppSetting, tracker: TrackerSetting) -> None:
        """Follow a new setting; an output that was chosen live is dropped."""
        self.setting, self.rule = setting, None
        self.feed = _feed(setting, tracker, setting.output)

    def choose_output(self, rule: Output | None, tracker: TrackerSetting) -> None:
        """Change its output from now on; None for the policy's."""
        self.rule = None if rule == self.setting.output else rule
        self.feed = _feed(self.setting, tracker, self.output)

    def attach(self, outlet: Outlet) -> None:
        """Show gaze there from now on."""
        self.outlet = outlet
        self.failing = False
        self._report()

    def set_watched(self, is_watched: bool) -> None:
        """Set whether anyone asks for gaze. Nothing is reported: nobody is there, or someone just came."""
        if self.is_watched == is_watched:
            return
        self.is_watched = is_watched
        if not self.ended:
            self.feed.forget()
            self.why = WAITING if is_watched else NO_LISTENER

    def give(self, t: float, x: float, y: float, head: Pointing | None = None, eyes: EyeGeometry | None = None) -> None:
        """Show the output for a veiled point; a failing outlet affects no other app."""
        outlet = self.outlet
        if outlet is None:
            return
        if self.why or self.ended:
            self.why = self.ended = ""
            self._log("app-flowing", app=self.setting.name)
        try:
            self.feed.give(t, x, y, self._show, head, eyes)
        except Exception as error:  # noqa: BLE001  (whatever it is, it is one app's trouble)
            self.failed(error)

    def _show(self, veiled: Veiled) -> None:
        if self.outlet is not None:
            self.outlet.show(veiled)
            self.received.add(_as_values(veiled))

    def silence(self, why: str) -> None:
        """Report to the app that there is no gaze at present."""
        if self.why == why or self.ended:
            return
        if not self.why:
            self.feed.forget()
        self.why = why
        self._log("app-silent", app=self.setting.name, why=why)
        self._report()

    def end(self, reason: str) -> None:
        """Report to the app that nothing more comes."""
        if self.ended == reason:
            return
        self.feed.forget()
        self.why = self.ended = reason
        self._log("app-ended", app=self.setting.name, why=reason)
        self._report()

    def reopen(self) -> None:
        """Undo an end: the policy, the budget or the participant changed. Apps may connect again."""
        if self.ended and self.is_on and not self.refused:
            self.ended = ""
            self.why = WAITING
            self._report()

    def failed(self, error: Exception) -> None:
        """Count an error of its outlet; the first one is reported."""
        self.errors += 1
        if not self.failing:
            self._log("app-failed", app=self.setting.name, error=type(error).__name__)
        self.failing = True

    def _report(self) -> None:
        outlet = self.outlet
        if outlet is None or not self.why:
            return
        try:
            if self.ended:
                outlet.end(self.ended)
            else:
                outlet.silence(self.why)
        except Exception as error:  # noqa: BLE001
            self.errors += 1
            self._log("app-failed", app=self.setting.name, error=type(error).__name__)


def _as_values(veiled: Veiled) -> Received:
    """Return what was shown without its class: the garbage collector need not track such tuples."""
    if type(veiled) is VeiledSample:
        return veiled.t, veiled.x, veiled.y
    if type(veiled) is VeiledFixation:
        return veiled.t, veiled.x, veiled.y, veiled.duration
    if type(veiled) is VeiledHit:
        return veiled.t, veiled.area
    raise PrivacyError(f"an app receives only what a veil made, not a {type(veiled).__name__}")


def _feed(setting: AppSetting, tracker: TrackerSetting, output: Output) -> Feed:
    return feed_of(
        output,
        edge=setting.edge,
        rate_hz=setting.rate_hz,
        space=tracker.space,
        geometry=tracker.geometry,
        areas=setting.areas,
        head_and_eyes=setting.head_and_eyes,
    )
