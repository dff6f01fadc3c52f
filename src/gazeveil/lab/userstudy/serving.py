# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The study as it runs: the gateway in a process of its own, started again if it dies, and the server of the game."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from gazeveil.errors import InputError
from gazeveil.gateway.policy.settings import Policy, read_policy
from gazeveil.lab.userstudy.design import UserStudy
from gazeveil.lab.userstudy.server import Desk, StudyServer, Turn
from gazeveil.process import STOP, called_on

AGAIN_S = 1.0
START_S = 240.0
"""A first start compiles for a minute on a slow machine."""
Tell = Callable[[str], None]


class GatewayProcess:
    """``gazeveil serve POLICY`` beside the study. If it dies it is started again, until it is stopped."""

    def __init__(self, policy: Path, tell: Tell) -> None:
        self.policy, self.tell = policy, tell
        self.pid = 0
        self.starts = 0
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it, and wait until every app can connect.

        Raises:
            InputError: If it does not come up.
        """
        self._task = asyncio.create_task(self._keep_running())
        waiting = asyncio.create_task(self._until_open(read_policy(self.policy)))
        done, _ = await asyncio.wait({self._task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if waiting not in done:
            waiting.cancel()
        for task in done:
            task.result()

    async def _until_open(self, policy: Policy) -> None:
        end = time.monotonic() + START_S
        for app in policy.apps:
            while app.listen is not None:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection(app.listen.host, app.listen.port)
                    writer.close()
                    break
                if time.monotonic() > end:
                    raise InputError(f"the gateway does not open {app.name}", hint=f"read {self.log}")
                await asyncio.sleep(0.1)

    @property
    def log(self) -> Path:
        """Where it writes what it does."""
        return self.policy.with_name("gateway.log")

    async def _keep_running(self) -> None:
        while True:
            began = time.monotonic()
            with self.log.open("ab") as log:
                command = [sys.executable, "-m", "gazeveil", "serve", str(self.policy), "--create-ledger"]
                process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
            self.pid, self.starts = process.pid, self.starts + 1
            try:
                code = await process.wait()
            finally:
                if process.returncode is None:
                    with contextlib.suppress(ProcessLookupError):
                        process.terminate()
                    await process.wait()
            if self.starts == 1 and time.monotonic() - began < START_S and code > 0:
                raise InputError(f"the gateway ended with {code}", hint=f"read {self.log}")
            self.tell(f"the gateway ended with {code}; it is started again")
            await asyncio.sleep(AGAIN_S)

    async def stop(self) -> None:
        """End it."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, InputError):
                await self._task


@contextlib.asynccontextmanager
async def running(
    study: UserStudy, port: int, tell: Tell, turn: Turn | None = None
) -> AsyncIterator[tuple[str, GatewayProcess]]:
    """Run gateway and game until the block ends; gives the link for participants."""
    desk = Desk(study, turn)
    gateway = GatewayProcess(study.policy, tell)
    await gateway.start()
    server = StudyServer(desk, port)
    try:
        yield f"http://127.0.0.1:{server.port}/", gateway
    finally:
        await server.close()
        await gateway.stop()


async def until_stopped() -> None:
    """Wait for Ctrl-C, or to be told to end."""
    stop = asyncio.Event()
    with called_on(dict.fromkeys(STOP, stop.set)):
        await stop.wait()
