# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One round: a tracker of every protocol, ``gazeveil serve``, and apps of every protocol with a tap on each."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.gateway.protocol import PROTOCOLS
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.geometry import screen
from tests.taps import trackers as tcp
from tests.taps.apps import Heard, TcpApp
from tests.taps.raw import CAMERA, HEIGHT, WIDTH, Canaries, Points, monotonic
from tests.taps.search import Found, search

EVERY = ("opengaze", "eyetribe", "gazepointer", "websocket", "jsonlines", "pupil", "lsl", "neon")
NEEDS = {
    "pupil": ("zmq", "msgspec"),
    "lsl": ("pylsl",),
    "websocket": ("websockets",),
    "gazepointer": ("websockets",),
    "push": ("websockets",),
    "neon": ("websockets",),
}
BRIDGE = "bridge"
SENDERS = ("push", "pushlines", BRIDGE)
"""Trackers that connect to the gateway; no app speaks these."""
COUNT_UPWARDS = {"pupil", "lsl"}
SEARCH_EVERY_S = 0.25
ASK_EVERY_S = 1.0
LSL_ON_THIS_MACHINE = (
    "[ports]\nIPv6 = disable\n[multicast]\nResolveScope = machine\nListenAddress = 127.0.0.1\n"
    "[lab]\nKnownPeers = {127.0.0.1}\n[log]\nlevel = -3\n"
)
_SIZES = {"neon": CAMERA}
"""Pixels of trackers that do not look at the screen; from where they are it is as large."""
_SIZE_MM = "width_mm = 527, height_mm = 296, distance_mm = 600"
_AREAS = {"left": (0.0, 0.0, 0.5, 1.0), "right": (0.5, 0.0, 1.0, 1.0)}


def available() -> tuple[str, ...]:
    """Return the protocols whose packages are here."""
    if find_spec("pylsl"):
        import pylsl

        pylsl.set_config_content(LSL_ON_THIS_MACHINE)
    return tuple(name for name in (*EVERY, *SENDERS) if all(find_spec(package) for package in NEEDS.get(name, ())))


class Round:
    """Trackers, a gateway and apps.

    Args:
        folder: Where the gateway may write.
        protocols: Which to use.
        shift: A tracker's app speaks the protocol that is so many further on in the list.
        seed: For gaze and canaries.
        hearing: Whether each tracker also has an app whose veil is off: there the tap must hear raw gaze.
    """

    def __init__(
        self, folder: Path, protocols: tuple[str, ...], shift: int, seed: int, *, rate_hz: float, hearing: bool
    ) -> None:
        self.folder = folder
        self.canaries = Canaries(random.Random(seed))
        self.trackers = {
            name: _tracker_class(name)(self.canaries, seed + number + 1, rate_hz)
            for number, name in enumerate(protocols)
        }
        self.rate_hz = rate_hz
        self.apps: list[Any] = []
        self.heard: list[Heard] = []
        self.told = Found()
        self.log_lines = 0
        self.stopped_cleanly = False
        self._log_at = 0
        self._ask_at = 0.0
        self._ports: set[int] = set()
        self._control = self._free_port()
        self._gateway: subprocess.Popen[bytes] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        for name in set(protocols) & set(SENDERS):
            self.trackers[name].port = self._free_port()
            self.trackers[name].token_file = folder / f"{name}.token"
        sinks = [name for name in protocols if name not in SENDERS] or ["websocket"]
        for number, tracker in enumerate(protocols):
            sink = sinks[(number + shift) % len(sinks)]
            for output in sorted(PROTOCOLS[sink].outputs):
                self._plan(tracker, sink, output, veiled=True)
            if hearing:
                self._plan(tracker, sink, "samples", veiled=False)

    async def __aenter__(self) -> Round:
        for tracker in self.trackers.values():
            await tracker.open()
        self._write_policy()
        with (self.folder / "gateway.log").open("wb") as log:
            command = [
                sys.executable,
                "-X",
                "faulthandler",
                "-m",
                "gazeveil",
                "serve",
                "--create-ledger",
                "policy.toml",
            ]
            self._gateway = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)  # noqa: ASYNC220  (it returns at once)
        self._tasks = [asyncio.create_task(tracker.pump()) for tracker in self.trackers.values()]
        self._tasks += [asyncio.create_task(app.run()) for app in self.apps]
        return self

    async def __aexit__(self, *_: object) -> None:
        for app in self.apps:
            await app.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._gateway is not None and self._gateway.poll() is None:
            self._gateway.kill()
            self._gateway.wait()
        for tracker in self.trackers.values():
            await tracker.close()

    async def listen(self, seconds: float, patience_s: float = 60.0) -> None:
        """Search what comes for so many seconds since every app of samples has heard something."""
        begun, all_there = monotonic(), 0.0
        while not all_there or monotonic() < all_there + seconds:
            await asyncio.sleep(SEARCH_EVERY_S)
            await self._search()
            if self._gateway is None or self._gateway.poll() is not None:
                raise RuntimeError(f"the gateway died: {self._log()[-2000:]!r}")
            waiting = [one.app for one in self.heard if one.output == "samples" and one.records < 20]
            if not waiting and not all_there:
                all_there = monotonic()
            if waiting and monotonic() > begun + patience_s:
                raise RuntimeError(f"no gaze for {', '.join(waiting)}: {self._log()[-2000:]!r}")

    async def stop(self) -> None:
        """Ask what the gateway tells its owner, stop it, and search the last words and what it wrote."""
        if self._gateway is None:
            return
        self._gateway.send_signal(signal.SIGTERM)
        try:
            self.stopped_cleanly = await asyncio.to_thread(self._gateway.wait, 20) == 0
        except subprocess.TimeoutExpired:
            self._gateway.send_signal(signal.SIGABRT)  # and it says where it hangs
            await asyncio.to_thread(self._gateway.wait, 20)
            print(f"the gateway does not stop: {self._log()[-6000:].decode()}", flush=True)
        await asyncio.sleep(0.3)
        await self._search(last=True)
        sent = np.concatenate([tracker.gaze.everything() for tracker in self.trackers.values()])
        every, digits = Points.of(sent, up=True, camera=True), {f"{value:.12f}"[2:] for value in sent.ravel().tolist()}
        for path in self.folder.iterdir():
            if path.suffix != ".toml" and path.is_file():
                data = path.read_bytes()
                self.told.add(search(data, every, self.canaries, binary=path.name.startswith("ledger")))
                runs = {run[:12] for run in re.findall(rb"\d{12,}", data.replace(b"0.", b" "))}
                self.told.raw_coordinates += len({run.decode() for run in runs} & digits)
        self.log_lines = self._log().count(b"\n")

    async def _search(self, *, last: bool = False) -> None:
        for app in self.apps:
            ends = {app.heard.tracker, app.heard.protocol}
            recent = self.trackers[app.heard.tracker].gaze.recent()  # what the app holds is not newer
            points = Points.of(recent, up=bool(ends & COUNT_UPWARDS), camera="neon" in ends)
            app.search(points, self.canaries, last=last)
            await asyncio.sleep(0)
        if not last and monotonic() > self._ask_at:
            self._ask_at = monotonic() + ASK_EVERY_S
            told = await asyncio.to_thread(self._ask)
            fresh = self._log()[self._log_at :]
            self._log_at += len(fresh)
            recent = np.concatenate([tracker.gaze.recent() for tracker in self.trackers.values()])
            self.told.add(search(told + fresh, Points.of(recent, up=True, camera=True), self.canaries, binary=False))

    def _ask(self) -> bytes:
        """Return what the control API tells."""
        said = b""
        try:
            token = (self.folder / "control.token").read_text().strip()
            for path in ("/v1/status", "/metrics", "/v1/apps", "/v1/budget"):
                request = urllib.request.Request(f"http://127.0.0.1:{self._control}{path}")
                request.add_header("Authorization", f"Bearer {token}")
                with urllib.request.urlopen(request, timeout=5) as answer:
                    said += answer.read()
        except OSError:
            return said  # it is not there yet
        return said

    def _log(self) -> bytes:
        return (self.folder / "gateway.log").read_bytes()

    def _plan(self, tracker: str, sink: str, output: str, *, veiled: bool) -> None:
        app = f"taps-{tracker}-{sink}-{output}{'' if veiled else '-off'}-{os.getpid()}"
        port = 0 if sink == "lsl" else self._free_port()
        dialects = [sink]
        if sink == "gazepointer":
            dialects.append("gazepointer over WebSocket")
        for dialect in dialects:
            heard = Heard(app, tracker, sink, dialect, output, veiled, port)
            self.heard.append(heard)
            self.apps.append(_app_class(sink)(heard))

    def _write_policy(self) -> None:
        control = f'version = 1\n[gateway]\nledger = "ledger.sqlite"\ncontrol = "127.0.0.1:{self._control}"\n'
        parts = [control + 'token_file = "control.token"\nlease_s = 10\n']
        for name, tracker in self.trackers.items():
            key = "listen" if name in SENDERS else "address"
            where = f'stream = "{tracker.stream}"' if name == "lsl" else f'{key} = "127.0.0.1:{tracker.port}"'
            protocol = "pushlines" if name == BRIDGE else name
            parts.append(f'[[tracker]]\nname = "{name}"\nprotocol = "{protocol}"\n{where}\nparticipant = "p-{name}"\n')
            width, height = _SIZES.get(name, (WIDTH, HEIGHT))
            fields = getattr(tracker, "fields", "")
            parts.append(f"{fields}screen = {{ width_px = {width}, height_px = {height}, {_SIZE_MM} }}\n")
            areas = (Rectangle(side, *_box(box, width, height)) for side, box in _AREAS.items())
            seen = screen(width, height, 527, 296, 600)
            AreasOfInterest(tuple(areas), seen).to_json(self.folder / f"{name}.json")
        for one in {heard.app: heard for heard in self.heard}.values():
            parts.append(f'[[app]]\nname = "{one.app}"\ntracker = "{one.tracker}"\nprotocol = "{one.protocol}"\n')
            parts.append(f'output = "{one.output}"\nrate_hz = {self.rate_hz}\n')
            parts.append(f'listen = "127.0.0.1:{one.port}"\n' if one.port else "")
            parts.append(f'areas = "{one.tracker}.json"\n' if one.output == "hits" else "")
            parts.append("blank_pupils = true\n" if (one.protocol, one.output) == ("pupil", "samples") else "")
            off = 'veil = { preset = "off" }\nunproven = "allow"\n'
            parts.append('veil = { preset = "lphu" }\n' if one.veiled else off)
        allow = "" if all(heard.veiled for heard in self.heard) else 'unproven = "allow"\n'
        parts.append(f'[[budget]]\nparticipant = "*"\nepsilon_per_day = 1000000000\nradius = 90\n{allow}')
        (self.folder / "policy.toml").write_text("".join(parts))

    def _free_port(self) -> int:
        from tests.chaos.world import _free_port

        port = _free_port(self._ports)
        self._ports.add(port)
        return port


def _box(box: tuple[float, ...], width: int, height: int) -> list[float]:
    return [share * size for share, size in zip(box, (width, height, width, height), strict=True)]


def _tracker_class(name: str) -> type[tcp.Tracker]:
    if name in ("pupil", "lsl"):
        from tests.taps.message_trackers import Lsl, Pupil

        return Pupil if name == "pupil" else Lsl
    if name == BRIDGE:
        from tests.taps.bridged import Bridged

        return Bridged
    kinds = (
        tcp.OpenGaze,
        tcp.EyeTribe,
        tcp.GazePointer,
        tcp.JsonLines,
        tcp.WebSocket,
        tcp.Neon,
        tcp.Push,
        tcp.PushLines,
    )
    return next(kind for kind in kinds if kind.protocol == name)


def _app_class(sink: str) -> Any:
    if sink in ("pupil", "lsl"):
        from tests.taps.message_apps import LslApp, PupilApp

        return PupilApp if sink == "pupil" else LslApp
    return TcpApp
