# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A study that is served from a thread, with or without its gateway, and somebody who looks around."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator

from gazeveil.gateway.policy.settings import read_policy
from gazeveil.lab.userstudy.design import Step, UserStudy
from gazeveil.lab.userstudy.playing import Eyes
from gazeveil.lab.userstudy.server import running
from gazeveil.lab.userstudy.sessions import Session, Sessions
from tests.ports import free_port
from tests.recipes import LISTENS

START_S = 300.0
RATE_HZ = 60


def reach(study: UserStudy, who: str, language: str, reached: Callable[[Step], bool]) -> Session:
    """Return a session of somebody who has done everything before a step."""
    sessions = Sessions(study)
    session = sessions.begin(who, language)
    while not reached(step := sessions.current(session)) and step.kind != "done":
        sessions.finish(session, step.index, {})
    return session


def on_free_ports(study: UserStudy) -> None:
    """Let the study's gateway listen where nobody else does."""
    study.policy.write_text(LISTENS.sub(lambda _: str(free_port()), study.policy.read_text()))


@contextlib.contextmanager
def served(study: UserStudy, *, gateway: bool = False) -> Iterator[str]:
    """Serve a study until the block ends; gives its link."""
    found: list[str] = []
    began, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with running(study, 0, lambda _: None) if gateway else _alone(study) as (link, *_):
            found.append(link)
            began.set()
            await asyncio.to_thread(over.wait)

    def work() -> None:
        try:
            asyncio.run(serve())
        finally:
            began.set()  # also if it could not begin

    thread = threading.Thread(target=work)
    thread.start()
    try:
        began.wait(START_S)
        assert found, "the study does not start"
        yield found[0]
    finally:
        over.set()
        thread.join()


@contextlib.asynccontextmanager
async def _alone(study: UserStudy) -> AsyncIterator[tuple[str]]:
    from gazeveil.lab.userstudy.server import Desk, StudyServer

    server = StudyServer(Desk(study), 0)
    try:
        yield (f"http://127.0.0.1:{server.port}/",)
    finally:
        await server.close()


def eyes_of(study: UserStudy) -> Eyes:
    """Return the tracker of a study to which gaze is sent."""
    inlet = read_policy(study.policy).trackers[0].inlet
    assert inlet is not None
    return Eyes(inlet.listen.port, inlet.token_file)


@contextlib.contextmanager
def looking(study: UserStudy) -> Iterator[None]:
    """Send gaze that goes round in a circle, from a thread, until the block ends."""
    eyes, over = eyes_of(study), threading.Event()

    def look() -> None:
        while not over.wait(1 / RATE_HZ):
            now = time.monotonic()
            eyes.send(now, 0.5 + 0.4 * math.cos(now), 0.5 + 0.1 * math.sin(now))
        eyes.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
