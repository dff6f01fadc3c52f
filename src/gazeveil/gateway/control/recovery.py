# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a filter recovers from veiled points, live, for the participant alone. Another program computes it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final
from weakref import WeakKeyDictionary

from gazeveil.gateway.hub.app_stream import Point, Ring
from gazeveil.gateway.hub.hub import Hub
from gazeveil.gateway.hub.tracker_stream import TrackerStream
from gazeveil.gateway.hub.viewer_group import ViewerGroup
from gazeveil.gateway.telemetry import Log
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.stream import StreamMechanism

SPAN_S: Final = 10.0
"""Seconds of a stream that each guess is made from."""
LAG_S: Final = 0.5
"""A guess is reported when this many seconds more were seen: fixations are known better afterwards."""
EVERY_S: Final = 0.2
MOST_TAPPED: Final = 4096
MOST_POINTS: Final = 1200
LEAST_POINTS: Final = 16
PATIENCE_S: Final = 180.0
"""Seconds that the program may take; the very first time it compiles."""
PAUSE_S: Final = 30.0
"""Seconds without a question after an error."""


@dataclass(frozen=True, slots=True)
class RecoveryProgram:
    """A program that undoes veils.

    It reads questions at its input, one after the other: a line of JSON with ``veil``, ``geometry`` and ``points``,
    then as many points of three doubles, ``t``, ``x`` and ``y``. It answers each with a line of JSON with ``points``
    and as many points again.

    Attributes:
        module: The Python module to run.
        filter_for: Which filter it uses against a veil; None where it has none.
    """

    module: str
    filter_for: Callable[[SampleMechanism], str | None]


class Recovery:
    """Guesses for the veils of all trackers that open pages show."""

    def __init__(self, hub: Hub, undo: RecoveryProgram | None, log: Log) -> None:
        self._hub, self._undo, self._log = hub, undo, log
        self._watched: Counter[str] = Counter()
        self._guesses: WeakKeyDictionary[Ring[Point], Ring[Point]] = WeakKeyDictionary()
        self._until: WeakKeyDictionary[Ring[Point], float] = WeakKeyDictionary()
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None

    def filter_for(self, veil: SampleMechanism) -> str | None:
        """Return the name of the filter that is used against a veil; None if there is none."""
        return None if self._undo is None else self._undo.filter_for(veil)

    def guesses(self, group: ViewerGroup) -> Ring[Point] | None:
        """Return where the guesses for a viewer group go; None while there are none."""
        return None if group.tap is None else self._guesses.get(group.tap)

    def watch(self, tracker: str) -> None:
        """Start to guess for a tracker's veils: a page is open."""
        self._watched[tracker] += 1
        if self._undo is not None and self._task is None:
            self._task = asyncio.create_task(self._run())

    def unwatch(self, tracker: str) -> None:
        """Take note that a page was closed; after the last one nothing is kept."""
        self._watched[tracker] -= 1
        if self._watched[tracker] <= 0:
            del self._watched[tracker]
            for group in self._groups(tracker):
                group.tap = None

    async def close(self) -> None:
        """Stop."""
        self._watched.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._end()

    async def _run(self) -> None:
        try:
            while self._watched:
                pause = EVERY_S
                try:
                    for name in [*self._watched]:
                        for group in self._groups(name):
                            await self._guess(self._hub.tracker_of(name), group)
                except Exception as error:  # noqa: BLE001  (no guess is no harm)
                    self._log("recovery failed", why=type(error).__name__)
                    await self._end()
                    pause = PAUSE_S
                await asyncio.sleep(pause)
        finally:
            self._task = None
            await self._end()

    def _groups(self, tracker: str) -> list[ViewerGroup]:
        """Return the viewer groups of a tracker; none if it is no longer in the policy."""
        known = {one.name for one in self._hub.policy.trackers}
        return [*self._hub.tracker_of(tracker).groups] if tracker in known else []

    async def _guess(self, stream: TrackerStream, group: ViewerGroup) -> None:
        if self.filter_for(group.mechanism) is None or not any(app.output == "samples" for app in group.apps):
            return
        if group.tap is None:
            group.tap = Ring(MOST_TAPPED)
        by_time = isinstance(group.mechanism, StreamMechanism)
        tap, points = group.tap, thinned(group.tap.since(0)) if by_time else group.tap.since(0, MOST_POINTS)
        if len(points) < LEAST_POINTS or points[-1][0] - LAG_S <= self._until.get(tap, -math.inf):
            return
        guess = await self._asked(group.mechanism, stream, points)
        if tap is not group.tap:  # the veil was replaced meanwhile
            return
        guesses = self._guesses.setdefault(tap, Ring(MOST_POINTS))
        before, until = self._until.get(tap, points[0][0]), points[-1][0] - LAG_S
        for point in guess:
            if before < point[0] <= until:
                guesses.add(point)
        self._until[tap] = until

    async def _asked(self, veil: SampleMechanism, stream: TrackerStream, points: list[Point]) -> list[Point]:
        """Ask the program.

        Raises:
            OSError, EOFError, TimeoutError, ValueError, KeyError: If it gives no answer.
        """
        if self._process is None and self._undo is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", self._undo.module,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(
            packed_points({"veil": veil.to_dict(), "geometry": stream.setting.geometry.to_dict()}, points)
        )
        async with asyncio.timeout(PATIENCE_S):
            await process.stdin.drain()
            count = int(json.loads(await process.stdout.readline())["points"])
            if count > MOST_POINTS:
                raise ValueError("more points than were asked about")
            return unpacked_points(await process.stdout.readexactly(24 * count))

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()  # it holds nothing that could be lost
            await process.wait()


def thinned(points: list[Point]) -> list[Point]:
    """Return the last seconds of a stream, in not too many points; for veils that go by time and not by samples."""
    if not points:
        return points
    latest = points[-1][0]
    recent = [point for point in points if point[0] > latest - SPAN_S]
    return recent[:: -max(1, -(-len(recent) // MOST_POINTS))][::-1]


def packed_points(head: dict[str, Any], points: list[Point]) -> bytes:
    """Return a question or an answer as bytes."""
    return json.dumps({**head, "points": len(points)}).encode() + b"\n" + array("d", chain(*points)).tobytes()


def unpacked_points(data: bytes) -> list[Point]:
    """Return the points of a question or an answer."""
    numbers = array("d", data)
    return list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
