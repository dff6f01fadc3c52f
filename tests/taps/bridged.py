# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A tracker behind a bridge: a fake device that tells canaries beside gaze, and what carries it to the gateway.

Which bridge it is changes from round to round.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
from pathlib import Path

import pytest

from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.forwarding import Forwarder, sender_in
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import ViewingPlane
from gazeveil.gateway.telemetry import log_to
from gazeveil.geometry import Unit
from tests.gateway import bridge_fakes
from tests.taps.raw import SCREEN, Canaries, monotonic
from tests.taps.trackers import Tracker


class Bridged(Tracker):
    """A fake device, and the thread that carries its gaze."""

    protocol = "bridge"

    def __init__(self, canaries: Canaries, seed: int, rate_hz: float = 120.0) -> None:
        super().__init__(canaries, seed, rate_hz)
        self._patch, self._stop = pytest.MonkeyPatch(), threading.Event()
        self._devices = tempfile.TemporaryDirectory()  # a log of raw gaze is not among what the gateway wrote
        names = BRIDGES.names()
        self._patch.setattr(bridge_fakes, "CANARY", self.number("everything"))
        self._rig = bridge_fakes.RIGS[names[seed % len(names)]](self._patch, Path(self._devices.name))
        if self._rig.kind.unit == "deg":
            self._rig.plane = ViewingPlane(SCREEN.in_unit(Unit.DEGREE))
        self._thread: threading.Thread | None = None
        self._carrier: Forwarder | None = None

    @property
    def fields(self) -> str:
        """What the policy must say of it."""
        return f'fields = {{ unit = "{self._rig.kind.unit}" }}\n'

    async def open(self) -> None:
        """The thread starts when there is a policy."""

    async def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        self._rig.close()
        self._patch.undo()
        self._devices.cleanup()

    async def pump(self) -> None:
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()
        await super().pump()

    def send(self) -> None:
        both = self.gaze.next()
        self._rig.look(monotonic(), both, both)

    def offend(self) -> None:
        """Send garbage, but not among the first samples: a time that jumps there is refused, and costs pauses."""
        if self._carrier is not None and self._carrier.carried.sent > 2 * self.rate_hz:
            self.random.choice(self._rig.garbage())()

    def _carry(self) -> None:
        if self.token_file is None:
            raise RuntimeError("there is no policy")
        folder = self.token_file.parent
        tracker = sender_in(read_policy(folder / "policy.toml"), self._rig.kind, self.protocol)
        with (folder / "bridge.log").open("w") as log:
            self._carrier = Forwarder(self._rig.kind, self._rig.device, tracker, log_to(log), self._stop)
            self._carrier.run()
