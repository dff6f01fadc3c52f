# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a page sees live of one tracker: what its apps were shown, what that gives away, and raw gaze if it may.

No sockets and no clocks: who sends the lines asks for the next one. A page that reads slowly finds the oldest points
gone; nobody waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from gazeveil.gateway._hub_seat import Received
from gazeveil.gateway._page_undoing import Undoing
from gazeveil.gateway._ring import Point, Ring
from gazeveil.gateway.hub import Hub

MOST_POINTS: Final = 256
"""Points of one kind in a line; the oldest go."""
QUIET_S: Final = 1.0
"""After so long an empty line says that the gateway is alive."""

SOMEBODY_ELSE: Final = "another participant sits there"
CHANGED: Final = "the policy changed"

Told = list[list[float | None]]


class Trails:
    """One page's view of one tracker.

    Attributes:
        tracker: Its name.
        raw: Where raw gaze is read; None if the page may not see it.
    """

    def __init__(self, hub: Hub, tracker: str, undoing: Undoing, raw: Ring[Point] | None = None) -> None:
        self.tracker, self.raw = tracker, raw
        self._hub, self._undoing = hub, undoing
        self._person = hub.desk_of(tracker).person
        self._seen: dict[tuple[str, int], int] = {}
        self._sent = -math.inf
        if raw is not None:
            self._fresh("raw", raw)
        for seat in hub.desk_of(tracker).seats:
            self._fresh(seat.setting.name, seat.received)

    @property
    def over(self) -> str:
        """Why it ends; empty while it goes on."""
        if self.tracker not in {tracker.name for tracker in self._hub.policy.trackers}:
            return CHANGED
        desk = self._hub.desk_of(self.tracker)
        if desk.person != self._person:
            return SOMEBODY_ELSE
        return "" if self.raw is None or (desk.setting.raw_view and desk.raw is self.raw) else CHANGED

    def hello(self) -> dict[str, Any]:
        """Return the first line: the viewing plane, the apps, and which filter undoes their veils."""
        desk = self._hub.desk_of(self.tracker)
        undone = {seat.setting.name: self._undoing.filter_for(desk.group_of(seat).mechanism) for seat in desk.seats}
        return {"hello": {"plane": desk.status().plane, "apps": [*undone], "undone_by": undone, "raw": bool(self.raw)}}

    def line(self, now: float) -> dict[str, Any] | None:
        """Return what is new, at a moment of the machine's clock; None if nothing is."""
        desk = self._hub.desk_of(self.tracker)
        place = desk.setting.plane.to_fraction
        apps = {}
        for seat in desk.seats:
            shown = self._fresh(seat.setting.name, seat.received)
            told: dict[str, Any] = {"veiled": _points(shown, place), "undone": []}
            if hits := [[round(thing[0], 4), thing[1]] for thing in shown if len(thing) == 2]:
                told["hits"] = hits
            guesses = self._undoing.guesses(desk.group_of(seat)) if seat.output == "samples" else None
            if guesses is not None:
                told["undone"] = _points(self._fresh(seat.setting.name, guesses), place)
            apps[seat.setting.name] = told
        raw = [] if self.raw is None else _points(self._fresh("raw", self.raw), place)
        if not raw and not any(any(told.values()) for told in apps.values()) and now - self._sent < QUIET_S:
            return None
        self._sent = now
        read = desk.clock.reads(now)
        line: dict[str, Any] = {"now": None if read is None else round(read, 4), "apps": apps}
        return line if self.raw is None else {**line, "raw": raw}

    def _fresh(self, name: str, ring: Ring[Any]) -> list[Any]:
        """Return what came since the last line; nothing at first: what was before is not live."""
        key = (name, ring.number)
        seen, self._seen[key] = self._seen.get(key, ring.count), ring.count
        return ring.since(seen, MOST_POINTS)


def _points(things: Iterable[Received], place: Callable[[float, float], tuple[float, float]]) -> Told:
    told: Told = []
    for thing in things:
        if len(thing) == 2:
            continue  # the name of an area, and no place
        x, y = place(thing[1], thing[2])
        there = math.isfinite(x) and math.isfinite(y)
        told.append([round(thing[0], 4), round(x, 5) if there else None, round(y, 5) if there else None])
    return told
