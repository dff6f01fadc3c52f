# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import BudgetExceeded, InputError, OptionError, UnknownName
from gazeveil.gateway.control.openapi import OPENAPI
from gazeveil.gateway.control.server import ControlServer, control_app
from gazeveil.gateway.policy.settings import token_in
from gazeveil.gateway.scene_watcher import SceneWatcher
from gazeveil.gateway.telemetry import Meters, exposition

starlette = pytest.importorskip("starlette.testclient")
TOKEN = "a-token-for-the-test"
OURS = {"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1:7380"}


class FakePage:
    async def close(self) -> None:
        return


class Fake:
    def __init__(self) -> None:
        self.page: Any = FakePage()
        self.asked: list[Any] = []
        self.turned_away: list[tuple[str, str]] = []

    def status(self) -> dict[str, Any]:
        return {"apps": [{"name": "game"}], "trackers": [], "budgets": [], "latched": ""}

    def set_level(self, app: str, given: Mapping[str, Any]) -> dict[str, Any]:
        if app != "game":
            raise UnknownName(f"no app is called {app!r}")
        if given.get("epsilon") == 99:
            raise BudgetExceeded("too much", account="a", requested={}, remaining={}, difference={})
        if given.get("epsilon") == -1:
            raise OptionError("epsilon must be above 0")
        self.asked.append((app, dict(given)))
        return {"name": app}

    def switch(self, app: str, on: bool) -> dict[str, Any]:
        self.asked.append((app, on))
        return {"name": app}

    def set_participant(self, tracker: str, participant: str) -> dict[str, Any]:
        self.asked.append((tracker, participant))
        return {"name": tracker}

    def app(self, name: str) -> dict[str, Any]:
        return {"name": name}

    async def use_source(self, tracker: str, kind: str) -> dict[str, Any]:
        self.asked.append((tracker, kind))
        return {"kind": kind}

    async def reload(self) -> dict[str, Any]:
        self.asked.append("reload")
        return self.status()

    def refused(self, why: str, value: str) -> None:
        self.turned_away.append((why, value))

    def exposition(self) -> tuple[bytes, str]:
        return exposition(Meters(), self.status())

    def watcher(self, tracker: str) -> SceneWatcher:
        raise UnknownName(f"no tracker called {tracker!r} has a scene")


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def client(fake: Fake) -> Any:
    return starlette.TestClient(control_app(fake, TOKEN, frozenset({"127.0.0.1:7380"})))


PATHS = [("GET", "/v1/status"), ("GET", "/metrics"), ("POST", "/v1/apps/game/level"), ("POST", "/v1/policy/reload")]


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_nothing_is_told_or_done_without_the_token(client: Any, fake: Fake, method: str, path: str) -> None:
    for token in ("", "Bearer ", "Bearer wrong", TOKEN):
        answer = client.request(method, path, headers={**OURS, "Authorization": token})
        assert answer.status_code == 401
    assert fake.asked == []


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_a_web_page_that_rebinds_its_name_is_refused(client: Any, fake: Fake, method: str, path: str) -> None:
    assert client.request(method, path, headers={**OURS, "Host": "evil.example:7380"}).status_code == 403
    assert fake.asked == []


def test_the_knob_is_turned_and_refusals_have_codes_of_their_own(client: Any, fake: Fake) -> None:
    assert client.post("/v1/apps/game/level", headers=OURS, json={"preset": "hplu"}).status_code == 200
    assert fake.asked == [("game", {"preset": "hplu"})]
    assert client.post("/v1/apps/nobody/level", headers=OURS, json={}).status_code == 404
    assert client.post("/v1/apps/game/level", headers=OURS, json={"epsilon": 99}).status_code == 409
    assert client.post("/v1/apps/game/level", headers=OURS, json={"epsilon": -1}).status_code == 422
    for body in (b"[]", b"{", b"[" * 100_000, b"\xff"):
        assert client.post("/v1/apps/game/level", headers=OURS, content=body).status_code == 422
    assert client.post("/v1/apps/game/switch", headers=OURS, json={"on": "yes"}).status_code == 422
    assert client.post("/v1/apps/game/switch", headers=OURS, content=b"x" * 100_000).status_code == 422


def test_everything_described_is_there_and_everything_there_is_described(client: Any) -> None:
    described = client.get("/openapi.json").json()["paths"]
    routes = {route.path for route in client.app.routes} - {"/openapi.json"}
    assert set(described) == routes
    assert described == json.loads(json.dumps(OPENAPI))["paths"]


def test_metrics_speak_prometheus(client: Any) -> None:
    text = client.get("/metrics", headers=OURS).text
    assert "# TYPE gazeveil_payments_total counter" in text


def test_a_token_is_made_once_and_only_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = token_in(path)
    assert len(token) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert token_in(path) == token
    path.chmod(0o644)
    with pytest.raises(InputError, match="others may read"):
        token_in(path)


def test_a_file_that_holds_no_token_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch(0o600)
    with pytest.raises(InputError, match="no token"):
        token_in(path)


def test_the_server_answers_on_a_real_socket_and_stops(fake: Fake) -> None:
    pytest.importorskip("uvicorn")

    def ask(port: int) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/v1/apps", headers={"Authorization": f"Bearer {TOKEN}"})
        with contextlib.closing(connection):
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    async def run() -> tuple[int, Any]:
        server = ControlServer(fake, "127.0.0.1", 0, TOKEN)
        server.start()
        try:
            return await asyncio.to_thread(ask, server.port)
        finally:
            await server.close()

    assert asyncio.run(run()) == (200, {"apps": [{"name": "game"}], "latched": ""})


def test_a_port_that_is_taken_says_so(fake: Fake) -> None:
    first = ControlServer(fake, "127.0.0.1", 0, TOKEN)
    with pytest.raises(InputError, match="cannot listen"):
        ControlServer(fake, "127.0.0.1", first.port, TOKEN)
    first._socket.close()
