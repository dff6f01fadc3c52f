# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The study as it runs: the server of game and forms, and the gateway in a process of its own.

The page gets gaze from the gateway's WebSocket as any app does. This server never sees a tracker; what it keeps is what
the page received and sent back, and only of participants who consented.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final

from gazeveil.errors import GazeveilError, InputError
from gazeveil.gateway.control.http import PageFiles, bytes_of
from gazeveil.gateway.control.server import LocalServer
from gazeveil.gateway.policy.settings import LOOPBACK, Policy, read_policy
from gazeveil.lab.userstudy.design import Step, UserStudy, form_of
from gazeveil.lab.userstudy.sessions import Session, Sessions, check_round
from gazeveil.process import STOP, called_on

MOST_BYTES: Final = 8_000_000
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self' ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
_ROUND: Final = {"things", "gaze", "empty", "attempts", "seconds", "frames", "slowest_frame_ms", "wide", "high"}
KEPT: Final = {
    "check": {"points", "attempts"},
    "form": {"answers"},
    "practice": _ROUND,
    "trial": _ROUND,
    "free": _ROUND | {"levels"},
}
"""What may come of each kind of step; anything else is refused, not kept."""
Turn = Callable[[str, str], None]
"""Sets an app's level: the app's and the level's names."""


class Desk:
    """What the page may ask for. It knows no HTTP."""

    def __init__(self, study: UserStudy, turn: Turn | None = None) -> None:
        self.study, self.turn = study, turn
        self.sessions = Sessions(study)
        self._one_at_a_time = threading.Lock()  # or two who begin at once get one number
        policy = read_policy(study.policy)
        self.streams = {app.name: f"ws://{LOOPBACK}:{app.listen.port}" for app in policy.apps if app.listen}
        self.levels = {app.name: list(app.levels) for app in policy.apps}
        wanted = {condition.app for condition in study.conditions} | ({study.free} if study.free else set())
        if missing := sorted(wanted - set(self.streams)):
            raise InputError(
                f"{study.policy} has no app {', '.join(missing)}", hint="each condition names an app of the policy"
            )

    def told(self) -> dict[str, Any]:
        """Return what everyone may know before they consent."""
        study = self.study
        texts = {language: path.read_text(encoding="utf-8") for language, path in study.consent.items()}
        return {"name": study.name, "languages": list(study.languages), "consent": texts, "rules": asdict(study.trial)}

    def begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Begin or go on, if the participant agrees; else nothing is kept, not even that they were there."""
        participant, language = str(asked.get("participant", "")), str(asked.get("language", ""))
        if language not in self.study.languages:
            raise InputError(f"the study has no language {language[:20]!r}")
        if asked.get("agreed") is not True:
            return {"declined": True}
        with self._one_at_a_time:
            session = self.sessions.begin(participant, language)
        return self._next(session, self.sessions.current(session))

    def done(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Keep what came of a step, and say what is next."""
        with self._one_at_a_time:
            return self._done(asked)

    def _done(self, asked: dict[str, Any]) -> dict[str, Any]:
        session = self.sessions.find(str(asked.get("participant", "")))
        index, data = asked.get("index"), asked.get("data")
        if session is None or not isinstance(index, int) or not isinstance(data, dict):
            raise InputError("who did which step is needed, and what came of it")
        step = self.study.steps(session.number)[index] if 0 <= index < len(self.study.steps(session.number)) else None
        if step is not None and (unknown := sorted(set(data) - KEPT.get(step.kind, set()))):
            raise InputError(f"a {step.kind} has no {unknown[0][:40]!r}")
        if step is not None and step.kind == "form":
            form_of(step.details).check(data.get("answers"))
        elif step is not None and step.kind in ("trial", "practice", "free"):
            check_round(data)
        return self._next(session, self.sessions.finish(session, index, data))

    def level(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Turn the level of the app of the last part, for a participant who is there."""
        session = self.sessions.find(str(asked.get("participant", "")))
        level = str(asked.get("level", ""))
        if (
            session is None
            or self.sessions.current(session).kind != "free"
            or level not in self.levels.get(self.study.free, [])
        ):
            raise InputError("there is nothing to turn now")
        if self.turn is not None:
            self.turn(self.study.free, level)
        return {"level": level}

    def _next(self, session: Session, step: Step) -> dict[str, Any]:
        told = step.to_dict()
        if "app" in told:
            told["stream"] = self.streams[told["app"]]
        if step.kind == "form":
            told["asks"] = form_of(step.details).to_dict(session.language)
        if step.kind == "free":
            told["levels"] = self.levels.get(self.study.free, [])
        return {"step": told, "of": len(self.study.steps(session.number)), "language": session.language}


class StudyServer(LocalServer):
    """The desk on a socket, in the running loop."""

    def __init__(self, desk: Desk, port: int, host: str = LOOPBACK) -> None:
        super().__init__(partial(study_app, desk), port, host, "the user study")


def study_app(desk: Desk, hosts: frozenset[str]) -> Any:
    """Return the study as an ASGI application; ``hosts`` are the ``Host`` headers that are taken, with port."""
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.responses import JSONResponse, PlainTextResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    game = PageFiles(resources.files("gazeveil.lab.userstudy").joinpath("game"), HEADERS)
    client = PageFiles(resources.files("gazeveil.gateway").joinpath("web"), HEADERS)
    ways = {"begin": desk.begin, "done": desk.done, "level": desk.level}

    def refused(request: Any) -> Any:
        if request.headers.get("host", "").lower() not in hosts:
            return PlainTextResponse("this host name is not the study's", 403, headers=HEADERS)
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] not in hosts:
            return PlainTextResponse("another page asks", 403, headers=HEADERS)
        return None

    async def file(request: Any) -> Any:
        name = request.path_params.get("file") or "index.html"
        found = game if name in game else client if name == "gazeveil.js" else None
        return refused(request) or (
            found.answer(name) if found else PlainTextResponse("nothing there", 404, headers=HEADERS)
        )

    async def told(request: Any) -> Any:
        return refused(request) or JSONResponse(desk.told(), headers=HEADERS)

    async def asked(request: Any) -> Any:
        if (no := refused(request)) is not None:
            return no
        if (way := ways.get(request.path_params["way"])) is None:
            return PlainTextResponse("nothing there", 404, headers=HEADERS)
        try:
            answer = await asyncio.to_thread(way, await _body(request))
        except InputError as error:
            return JSONResponse({"error": error.message, "hint": error.hint}, 400, headers=HEADERS)
        except GazeveilError as error:
            return JSONResponse({"error": error.message, "hint": error.hint}, 503, headers=HEADERS)
        return JSONResponse(answer, headers=HEADERS)

    return Starlette(
        routes=[
            Route("/api/study", told, methods=["GET"]),
            Route("/api/{way}", asked, methods=["POST"]),
            Route("/", file, methods=["GET"]),
            Route("/{file}", file, methods=["GET"]),
        ]
    )


async def _body(request: Any) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise InputError("what is sent must be JSON")
    sent = await bytes_of(request, MOST_BYTES, InputError(f"at most {MOST_BYTES:,} bytes are taken at once"))
    try:
        found = json.loads(sent, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InputError("what is sent must be JSON") from None
    if not isinstance(found, dict):
        raise InputError("an object is needed")
    return found


def _no_number(word: str) -> None:
    raise ValueError(word)


# --- The study as it runs: the gateway in a process of its own, started again if it dies, and the server of the game.


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
