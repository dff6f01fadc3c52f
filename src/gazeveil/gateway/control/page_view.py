# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the control page shows of a tracker and its apps, live and as a file, and what a participant changes there.

It shows the numbers that apps' sockets carried and no others. There are no sockets and no clocks here: the route asks
for the next line. A page that reads slowly misses the oldest points, and nothing waits for it.

Raw gaze is shown to the participant alone: the policy must allow it for the tracker, every view needs a capability that
works once and for a short time, and every view and every refusal is in the log.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, cast, get_args

from gazeveil.errors import InputError, OutputError, PrivacyError, closest
from gazeveil.gateway.control.decisions import Decisions
from gazeveil.gateway.control.http import RAW_S, Keys
from gazeveil.gateway.control.recovery import Recovery, RecoveryProgram
from gazeveil.gateway.hub.app_stream import Point, Received, Ring
from gazeveil.gateway.hub.hub import Hub
from gazeveil.gateway.policy.levels import reveals_less
from gazeveil.gateway.protocol import Output, ViewingPlane
from gazeveil.gateway.telemetry import Log
from gazeveil.geometry import Unit

COLUMNS: Final = ("kind", "t", "x", "y", "duration", "area")
KINDS: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@dataclass(frozen=True, slots=True)
class Export:
    """A file.

    Attributes:
        name: Its file name.
        kind: Its media type.
        content: Its bytes.
    """

    name: str
    kind: str
    content: bytes


def exported(app: str, things: Sequence[Received], plane: ViewingPlane, form: str) -> Export:
    """Return a file of what an app was shown, in shares of the viewing plane or in degrees.

    Raises:
        InputError: If there is no such format.
    """
    if form not in KINDS:
        raise InputError(f"there is no format {form!r}", hint=closest(form, KINDS))
    unit = Unit.DEGREE if plane.geometry.unit is Unit.DEGREE else Unit.FRACTION
    rows = [_row(thing, plane, unit) for thing in things]
    if form == "json":
        text = json.dumps({"app": app, "unit": str(unit), "received": rows}, ensure_ascii=False)
    else:
        out = io.StringIO()
        writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = out.getvalue()
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", app).strip("-") or "app"
    return Export(f"{name}-received.{form}", KINDS[form], text.encode())


def _row(thing: Received, plane: ViewingPlane, unit: Unit) -> dict[str, Any]:
    if len(thing) == 2:
        return {"kind": "hit", "t": round(thing[0], 6), "area": thing[1] or None}
    x, y = (thing[1], thing[2]) if unit is Unit.DEGREE else plane.to_fraction(thing[1], thing[2])
    there = math.isfinite(x + y)
    row = {"t": round(thing[0], 6), "x": round(x, 6) if there else None, "y": round(y, 6) if there else None}
    if len(thing) == 3:
        return {"kind": "sample", **row}
    return {"kind": "fixation", **row, "duration": round(thing[3], 6)}


# --- What a page shows live of one tracker: what apps were shown, what a filter recovers, raw gaze if allowed.


MOST_POINTS: Final = 256
"""Points of one kind in a line; the oldest are dropped."""
QUIET_S: Final = 1.0
"""Seconds after which an empty line shows that the gateway is alive."""

PARTICIPANT_CHANGED: Final = "the participant changed"
POLICY_CHANGED: Final = "the policy changed"

SentPoints = list[list[float | None]]


class Trails:
    """One page's view of one tracker.

    Attributes:
        tracker: Its name.
        raw: The raw gaze; None if the page may not see it.
    """

    def __init__(self, hub: Hub, tracker: str, recovery: Recovery, raw: Ring[Point] | None = None) -> None:
        self.tracker, self.raw = tracker, raw
        self._hub, self._recovery = hub, recovery
        self._participant = hub.tracker_of(tracker).participant
        self._seen: dict[tuple[str, int], int] = {}
        self._sent = -math.inf
        if raw is not None:
            self._fresh("raw", raw)
        for app in hub.tracker_of(tracker).apps:
            self._fresh(app.setting.name, app.received)

    @property
    def over(self) -> str:
        """Why it ends; empty while it goes on."""
        if self.tracker not in {tracker.name for tracker in self._hub.policy.trackers}:
            return POLICY_CHANGED
        stream = self._hub.tracker_of(self.tracker)
        if stream.participant != self._participant:
            return PARTICIPANT_CHANGED
        return "" if self.raw is None or (stream.setting.raw_view and stream.raw is self.raw) else POLICY_CHANGED

    def hello(self) -> dict[str, Any]:
        """Return the first line: the viewing plane, the apps, and which filter undoes their veils."""
        stream = self._hub.tracker_of(self.tracker)
        undone = {app.setting.name: self._recovery.filter_for(stream.group_of(app).mechanism) for app in stream.apps}
        return {
            "hello": {"plane": stream.status().plane, "apps": [*undone], "undone_by": undone, "raw": bool(self.raw)}
        }

    def line(self, now: float) -> dict[str, Any] | None:
        """Return what is new; None if nothing is."""
        stream = self._hub.tracker_of(self.tracker)
        place = stream.setting.plane.to_fraction
        apps = {}
        for app in stream.apps:
            shown = self._fresh(app.setting.name, app.received)
            trail: dict[str, Any] = {"veiled": shares_of(shown, place), "undone": []}
            if hits := [[round(thing[0], 4), thing[1]] for thing in shown if len(thing) == 2]:
                trail["hits"] = hits
            guesses = self._recovery.guesses(stream.group_of(app)) if app.output == "samples" else None
            if guesses is not None:
                trail["undone"] = shares_of(self._fresh(app.setting.name, guesses), place)
            apps[app.setting.name] = trail
        raw = [] if self.raw is None else shares_of(self._fresh("raw", self.raw), place)
        if not raw and not any(any(trail.values()) for trail in apps.values()) and now - self._sent < QUIET_S:
            return None
        self._sent = now
        read = stream.clock.reads(now)
        line: dict[str, Any] = {"now": None if read is None else round(read, 4), "apps": apps}
        return line if self.raw is None else {**line, "raw": raw}

    def _fresh(self, name: str, ring: Ring[Any]) -> list[Any]:
        """Return what was added since the last line; nothing at first."""
        key = (name, ring.number)
        seen, self._seen[key] = self._seen.get(key, ring.count), ring.count
        return ring.since(seen, MOST_POINTS)


def shares_of(things: Iterable[Received], place: Callable[[float, float], tuple[float, float]]) -> SentPoints:
    """Return points as they are sent: times and shares of the viewing plane, null where there is no gaze."""
    points: SentPoints = []
    for thing in things:
        if len(thing) == 2:
            continue  # the name of an area, and no place
        x, y = place(thing[1], thing[2])
        there = math.isfinite(x) and math.isfinite(y)
        points.append([round(thing[0], 4), round(x, 5) if there else None, round(y, 5) if there else None])
    return points


# --- What the page can do: outputs, tags, exports, live trails, raw gaze.


MOST_STREAMS: Final = 4
"""Pages that may be open at once."""
MOST_RAW: Final = 1024
"""Raw points that wait for a page; older ones are dropped."""
MOST_TAGS, LONGEST_TAG = 16, 40

Keeping = Callable[[str], AbstractContextManager[None]]


class PageView:
    """The page's side of a gateway.

    Args:
        hub: The hub.
        memory: The decisions, which outlive a restart.
        log: Where views of raw gaze are reported.
        regrade: Called with an app whose output changed.
        keeping: A context that reports what holds now, if it cannot be kept.
        undo: The program that undoes veils for the participant.

    Attributes:
        closing: Whether all live views are to end.
    """

    def __init__(
        self,
        hub: Hub,
        memory: Decisions,
        log: Log,
        *,
        regrade: Callable[[str], None],
        keeping: Keeping,
        undo: RecoveryProgram | None = None,
    ) -> None:
        self._hub, self._memory, self._log = hub, memory, log
        self._regrade, self._keeping = regrade, keeping
        self._capabilities = Keys(RAW_S)
        self._open: list[Trails] = []
        self._views = count(1)
        self.recovery = Recovery(hub, undo, log)
        self.closing = False

    def rule(self, app: str, output: object) -> None:
        """Set the output of an app: samples, fixations or hits; None for the policy's.

        An output that reveals less holds at once; one that reveals more only if it can be kept.

        Raises:
            UnknownName: If there is no such app.
            InputError: If there is no such output.
            PrivacyError: If the policy does not allow it.
            OutputError: If it cannot be kept.
        """
        known = get_args(Output)
        if output is not None and output not in known:
            raise InputError(f"there is no output {output!r}", hint=f"known: {', '.join(known)}; null for the policy's")
        wish = cast("Output | None", output)
        less = reveals_less(self._hub.allowed(app, wish), self._hub.app_of(app).output)
        if less:
            self._choose(app, wish)
        kept = self._memory.rules
        try:
            with self._keeping(f"{app!r} gets {self._hub.app_of(app).output}"):
                self._memory.ruled(app, wish)
        except OutputError:
            if not less:
                self._memory.rules = kept
            raise
        if not less:
            self._choose(app, wish)

    def _choose(self, app: str, output: Output | None) -> None:
        self._hub.rule(app, output)
        self._regrade(app)

    def restore(self, app: str, output: str) -> bool:
        """Set the output that was chosen before a restart; return whether the policy still allows it."""
        try:
            self._hub.rule(app, cast("Output", output))
        except PrivacyError as error:
            self._log("rule not restored", app=app, why=error, now="it is switched off")
            return False
        return True

    def tag(self, app: str, tags: object) -> None:
        """Set the words by which participants find an app.

        Raises:
            UnknownName: If there is no such app.
            InputError: If they are not a few short words.
            OutputError: If they cannot be kept.
        """
        self._hub.app_of(app)
        if not isinstance(tags, list) or len(tags) > MOST_TAGS or not all(_is_tag(tag) for tag in tags):
            raise InputError(f"tags are up to {MOST_TAGS} texts of 1 to {LONGEST_TAG} printable letters")
        with self._keeping(f"{app!r} has other tags now"):
            self._memory.tagged(app, list(dict.fromkeys(tags)))

    def received(self, app: str, form: str) -> Callable[[], Export]:
        """Return a function that makes a file of what an app was shown lately; it may run in another thread.

        Raises:
            UnknownName: If there is no such app.
        """
        stream = self._hub.app_of(app)
        things: Sequence[Any] = stream.received.since(0)
        plane = self._hub.policy.tracker(stream.setting.tracker).plane
        return lambda: exported(app, things, plane, form)

    def allow_raw(self, tracker: str) -> str:
        """Return a capability to see a tracker's raw gaze once, within a short time.

        Raises:
            UnknownName: If there is no such tracker.
            PrivacyError: If the policy does not allow it.
        """
        if not self._hub.policy.tracker(tracker).raw_view:
            self.refuse_raw(tracker, "the policy does not allow it")
            raise PrivacyError(
                f"raw gaze of {tracker!r} is not shown",
                hint="raw_view = true in its [[tracker]] allows the participant to see it",
            )
        self._log("raw view granted", tracker=tracker)
        return self._capabilities.make(tracker)

    def refuse_raw(self, tracker: str, why: str) -> None:
        """Log that raw gaze was refused."""
        self._log("raw view refused", tracker=tracker, why=why)

    @property
    def is_full(self) -> bool:
        """Whether no other page may be opened."""
        return len(self._open) >= MOST_STREAMS

    def open_view(self, tracker: str, capability: str | None) -> Trails:
        """Open a live view; `close_view` must follow.

        Raises:
            UnknownName: If there is no such tracker.
            PrivacyError: If the capability was used, is too old, or is for another tracker.
        """
        stream = self._hub.tracker_of(tracker)
        raw = None
        if capability is not None:
            if not self._capabilities.take(capability, tracker) or not stream.setting.raw_view:
                self.refuse_raw(tracker, "the capability was used, is too old, or is for something else")
                raise PrivacyError("this capability was used, is too old, or is for something else")
            raw = stream.raw = stream.raw or Ring(MOST_RAW)
            self._log("raw view opened", tracker=tracker, view=next(self._views))
        trails = Trails(self._hub, tracker, self.recovery, raw)
        self._open.append(trails)
        self.recovery.watch(tracker)
        return trails

    def close_view(self, trails: Trails) -> None:
        """Close a live view: raw gaze that no page shows is not kept."""
        self._open.remove(trails)
        self.recovery.unwatch(trails.tracker)
        if trails.raw is None:
            return
        self._log("raw view closed", tracker=trails.tracker, why=trails.over or "the page is gone")
        known = {tracker.name for tracker in self._hub.policy.trackers}
        if trails.tracker in known and not any(other.raw is trails.raw for other in self._open):
            stream = self._hub.tracker_of(trails.tracker)
            if stream.raw is trails.raw:
                stream.raw = None

    async def close(self) -> None:
        """End all live views."""
        self.closing = True
        await self.recovery.close()


def _is_tag(tag: object) -> bool:
    return isinstance(tag, str) and 0 < len(tag) <= LONGEST_TAG and tag.isprintable() and tag == tag.strip()
