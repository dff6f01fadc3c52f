# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway's side of the scenes: one process for each, which is restarted when it ends.

A process answers with text, and a picture for the control page. Both are checked, since it decodes pictures that apps
made.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from gazeveil.errors import GazeveilError, InputError, UnknownName
from gazeveil.gateway.policy.scene import SceneReading
from gazeveil.gateway.policy.settings import Policy, SceneSetting, TrackerSetting, token_in
from gazeveil.gateway.scene_program import HEAD, packed_message
from gazeveil.gateway.telemetry import Log

MOST_PICTURE = 4 << 20
"""The most bytes of a pushed picture."""
_MOST_TEXT, _MOST_DATA = 1 << 18, 8 << 20
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0
"""Pauses in seconds before a process that ended is restarted; they double."""
_ANSWER_S = 10.0
"""Seconds that a push waits for its outcome."""
_A_SECOND = 16
"""The most pushes in a second."""
ENDED = "the process that watches the scene has ended"
_PROGRAM = "gazeveil.gateway.scene_program"

OnReading = Callable[[str, SceneReading, float], None]
OnLost = Callable[[str, str, float], None]


class Push(NamedTuple):
    """A push on its way: what is sent, and where its outcome goes."""

    message: bytes
    outcome: asyncio.Future[dict[str, Any]]


class SceneWatcher:
    """The gateway's side of the process that reads one tracker's scene.

    Attributes:
        setting: The scene.
        token: The token that senders must show; empty where nothing can be pushed.
        keyframe: The last keyframe, as PNG; None before the first and for boxes.
    """

    def __init__(
        self, tracker: TrackerSetting, setting: SceneSetting, on_reading: OnReading, on_lost: OnLost, log: Log
    ) -> None:
        self.setting = setting
        self.token = "" if setting.token_file is None else token_in(setting.token_file)
        self.keyframe: bytes | None = None
        self._tracker, self._on_reading, self._on_lost, self._log = tracker, on_reading, on_lost, log
        self._process: asyncio.subprocess.Process | None = None
        self._begun = asyncio.Event()
        self._sent: Push | None = None
        self._waiting: Push | None = None
        self._lately: deque[float] = deque(maxlen=_A_SECOND)

    @property
    def pid(self) -> int | None:
        """The process's id; None while there is none."""
        return None if self._process is None else self._process.pid

    def is_for(self, tracker: TrackerSetting) -> bool:
        """Whether it reads the scene of a tracker's setting."""
        return (tracker.scene, tracker.geometry) == (self.setting, self._tracker.geometry)

    async def run(self) -> None:
        """Watch as long as the gateway runs. A process that ends is replaced after a pause."""
        pause = _FIRST_PAUSE_S
        while True:
            began = time.monotonic()
            why = ENDED
            try:
                why = await self._watch()
            except Exception as error:  # noqa: BLE001  (whatever it is, the scene is lost and nothing else)
                self._log("scene failed", tracker=self._tracker.name, why=error)
            finally:
                await self._end()
            self._on_lost(self._tracker.name, why, time.monotonic())
            pause = _FIRST_PAUSE_S if time.monotonic() - began > _LONGEST_PAUSE_S else pause
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    async def push(self, message: dict[str, Any], data: bytes = b"") -> dict[str, Any]:
        """Pass a push to the process. Of several that wait the newest is taken.

        Raises:
            GazeveilError: If more comes than is taken, a newer one came first, or the process does not answer.
            InputError: If it is neither a picture nor boxes.
        """
        now = time.monotonic()
        if len(self._lately) == _A_SECOND and now - self._lately[0] < 1.0:
            raise GazeveilError(f"more than {_A_SECOND} pushes a second", hint="push when something changes")
        self._lately.append(now)
        mine = Push(packed_message(message, data), asyncio.get_running_loop().create_future())
        if self._waiting is not None and not self._waiting.outcome.done():
            self._waiting.outcome.set_exception(GazeveilError("a newer push came before this one was looked at"))
        self._waiting = mine
        self._send()
        try:
            async with asyncio.timeout(_ANSWER_S):
                answer = await mine.outcome
        except TimeoutError:
            raise GazeveilError("the scene is not looked at: its process does not answer") from None
        if "refused" in answer:
            raise InputError(str(answer["refused"]), hint=str(answer.get("hint", "")))
        return {"taken": True}

    async def _watch(self) -> str:
        """Start a process and take its answers until it ends; return why it did."""
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", _PROGRAM, env=os.environ | single,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(packed_message(self._task()))
        while True:
            try:
                message, data = await _message(process.stdout)
            except asyncio.IncompleteReadError:
                return ENDED
            if "trouble" in message:
                return str(message["trouble"])
            if "over" in message:
                self._on_lost(self._tracker.name, str(message["over"]), time.monotonic())
                await asyncio.Event().wait()  # nothing more comes until the policy changes
            if "ready" in message:
                self._begun.set()
            else:
                self._take(message, data)
            self._send()

    def _take(self, message: dict[str, Any], data: bytes) -> None:
        if "refused" not in message:
            if data:
                self.keyframe = data
            self._on_reading(self._tracker.name, _reading(message), time.monotonic())
        sent, self._sent = self._sent, None
        if sent is not None and not sent.outcome.done():
            sent.outcome.set_result(message)

    def _send(self) -> None:
        """Send what waits, once the process has answered what was sent before."""
        process = self._process
        if self._waiting is None or self._sent is not None or process is None or not self._begun.is_set():
            return
        if process.stdin is not None:
            self._sent, self._waiting = self._waiting, None
            process.stdin.write(self._sent.message)

    async def _end(self) -> None:
        process, self._process, sent, self._sent = self._process, None, self._sent, None
        self._begun.clear()
        if sent is not None and not sent.outcome.done():
            sent.outcome.set_exception(GazeveilError(ENDED))
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        if process is not None:
            await process.wait()

    def _task(self) -> dict[str, Any]:
        setting, (width, height, *_) = self.setting, self._tracker.space.size
        return {
            "source": setting.source,
            "file": None if setting.file is None else str(setting.file.absolute()),
            "loop": setting.loop,
            "device": setting.device,
            "region": setting.region,
            "area": setting.area,
            "finder": setting.finder,
            "weights": None if setting.weights is None else str(setting.weights.absolute()),
            "updates_hz": setting.updates_hz,
            "width": width,
            "height": height,
        }


class SceneWatchers:
    """All scenes of a policy."""

    def __init__(self, on_reading: OnReading, on_lost: OnLost, log: Log) -> None:
        self._on_reading, self._on_lost, self._log = on_reading, on_lost, log
        self._watchers: dict[str, SceneWatcher] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def follow(self, policy: Policy) -> None:
        """Watch the scenes of a policy; those that did not change go on undisturbed."""
        wanted = {tracker.name: tracker for tracker in policy.trackers if tracker.scene is not None}
        for name, watcher in list(self._watchers.items()):
            if name not in wanted or not watcher.is_for(wanted[name]):
                await self._stop(name)
        for name, tracker in wanted.items():
            if name not in self._watchers and tracker.scene is not None:
                watcher = SceneWatcher(tracker, tracker.scene, self._on_reading, self._on_lost, self._log)
                self._watchers[name] = watcher
                self._tasks[name] = asyncio.create_task(watcher.run())

    async def close(self) -> None:
        """End all processes."""
        for name in list(self._watchers):
            await self._stop(name)

    def of(self, tracker: str) -> SceneWatcher:
        """Return the watcher of a tracker's scene.

        Raises:
            UnknownName: If there is none.
        """
        if tracker not in self._watchers:
            known = ", ".join(self._watchers) or "none"
            raise UnknownName(f"no tracker called {tracker!r} has a scene", hint=f"known: {known}")
        return self._watchers[tracker]

    async def _stop(self, name: str) -> None:
        task = self._tasks.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        del self._watchers[name]


async def _message(stream: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    text, data = HEAD.unpack(await stream.readexactly(HEAD.size))
    if text > _MOST_TEXT or data > _MOST_DATA:
        raise ValueError("an answer that is too long")
    message = json.loads(await stream.readexactly(text))
    return {**message}, await stream.readexactly(data)


def _reading(message: dict[str, Any]) -> SceneReading:
    """Return the reading in an answer, checked for its types."""
    boxes = [[_number(edge) for edge in box] for box in message["regions"]]
    took = {str(name): _number(value) for name, value in message["took"].items()}
    details = (
        ("frame", int(message["frame"]) or None),
        ("keyframes", int(message["keyframes"])),
        ("regions", boxes),
        ("took", took),
    )
    small, large, window = (_length(message[name]) for name in ("small", "large", "window"))
    return SceneReading(_number(message["at"]), small, large, window, details)


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a number that is none")
    return number


def _length(value: Any) -> float | None:
    return None if value is None else _number(value)
