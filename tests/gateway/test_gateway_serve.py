# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A whole gateway on real sockets: tracker in, app out, control, reload, and what happens to slow and rude apps."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import math
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import InputError, PrivacyError, UnknownName
from gazeveil.gateway import tcp
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.serve import Gateway
from gazeveil.gateway.tcp import AppOutlet, TrackerLink
from gazeveil.gateway.telemetry import Meters, log_to
from gazeveil.testing import veiled_sample
from tests.gateway.hub_bench import Bench, app, policy
from tests.gateway.loopback import SCREEN
from tests.ports import free_port

for _package in ("starlette", "uvicorn", "prometheus_client", "msgspec", "websockets"):
    pytest.importorskip(_package)


def policy_text(port: int, *, veil: str = 'preset = "lphu"', more: str = "", budget: float = 1e6) -> str:
    return (
        'version = 1\n[gateway]\nledger = "ledger.sqlite"\ncontrol = "127.0.0.1:'
        f'{free_port()}"\ntoken_file = "token"\nlease_s = 2\n'
        '[[tracker]]\nname = "desk"\nprotocol = "simulate"\nparticipant = "anna"\nrate_hz = 200\n'
        "screen = { width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }\n"
        f'[[app]]\nname = "game"\ntracker = "desk"\nprotocol = "jsonlines"\nlisten = "127.0.0.1:{port}"\n'
        f'veil = {{ {veil} }}\nlevels = ["lphu", "mpmu", "hplu"]\nrate_hz = 400\n{more}'
        f'[[budget]]\nparticipant = "*"\nepsilon_per_day = {budget}\nradius = 90\n'
    )


@contextlib.asynccontextmanager
async def running(folder: Path, text: str) -> AsyncIterator[tuple[Gateway, io.StringIO]]:
    path, log = folder / "policy.toml", io.StringIO()
    path.write_text(text)
    async with Gateway(read_policy(path), log_to(log), create_ledger=True) as gateway:
        yield gateway, log


async def lines_of(port: int, wanted: Callable[[dict[str, Any]], bool], count: int, seconds: float = 30) -> list[Any]:
    """Connect as an app, and return the first lines that are wanted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found: list[Any] = []
    try:
        async with asyncio.timeout(seconds):
            while len(found) < count and (line := await reader.readline()):
                told = json.loads(line)
                if wanted(told):
                    found.append(told)
    finally:
        writer.close()
    return found


def is_gaze(told: dict[str, Any]) -> bool:
    return bool(told.get("valid"))


def test_an_app_gets_veiled_gaze_and_its_promise(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, log):
            hello = await lines_of(port, lambda told: told.get("type") == "hello", 1)
            assert "e^3" in hello[0]["guarantee"]
            gaze = await lines_of(port, is_gaze, 50)
            assert len(gaze) == 50
            assert set(gaze[0]) == {"t", "x", "y", "unit", "valid"}
            status = gateway.status()
            assert status["budgets"][0]["remaining"] < 1e6
            assert status["apps"][0]["sent"] >= 50
            text, kind = gateway.exposition()
            assert b'gazeveil_sent_total{app="game"}' in text
            assert "text/plain" in kind
        assert "gateway stopped" in log.getvalue()

    asyncio.run(run())


def test_the_knob_switch_and_person_are_steered_and_refusals_say_why(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, _):
            told = gateway.set_level("game", {"preset": "hplu"})
            assert "e^0.5" in told["guarantee"]
            hello = await lines_of(port, lambda told: told.get("type") == "hello", 1)
            assert "e^0.5" in hello[0]["guarantee"]
            with pytest.raises(PrivacyError):
                gateway.set_level("game", {"preset": "off"})
            with pytest.raises(UnknownName):
                gateway.set_level("game", {"colour": "red"})
            with pytest.raises(UnknownName):
                gateway.set_level("nobody", {"preset": "hplu"})
            assert gateway.switch("game", False)["state"] == "off"
            end = await lines_of(port, lambda told: told.get("type") == "end", 1)
            assert "switched off" in end[0]["reason"]
            assert gateway.switch("game", True)["state"] != "off"
            assert gateway.set_participant("desk", "bo")["participant"] == "bo"

    asyncio.run(run())


def test_a_reload_keeps_what_did_not_change_and_closes_what_is_gone(tmp_path: Path) -> None:
    port, second = free_port(), free_port()
    more = f'[[app]]\nname = "page"\ntracker = "desk"\nprotocol = "jsonlines"\nlisten = "127.0.0.1:{second}"\nveil = {{ preset = "lphu" }}\n'  # noqa: E501

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            (tmp_path / "policy.toml").write_text(policy_text(port, more=more))
            await gateway.reload()
            assert len(await lines_of(second, is_gaze, 3)) == 3
            async with asyncio.timeout(20):
                while not is_gaze(json.loads(await reader.readline())):
                    pass
            (tmp_path / "policy.toml").write_text(policy_text(port))
            await gateway.reload()
            with pytest.raises(OSError, match="Connect call failed"):
                await asyncio.open_connection("127.0.0.1", second)
            (tmp_path / "policy.toml").write_text("version = 2")
            with pytest.raises(InputError, match=r"policy\.toml"):
                await gateway.reload()
            assert not reader.at_eof()
            writer.close()

    asyncio.run(run())


def test_a_spent_budget_ends_the_stream_with_its_reason(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port, budget=12.5)) as (gateway, _):
            end = await lines_of(port, lambda told: told.get("type") == "end", 1)
            assert "budget" in end[0]["reason"]
            assert gateway.status()["apps"][0]["state"] == "ended"

    asyncio.run(run())


def test_without_a_ledger_nothing_leaves_and_the_log_says_why(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        path, log = tmp_path / "policy.toml", io.StringIO()
        path.write_text(policy_text(port))
        async with Gateway(read_policy(path), log_to(log)) as gateway:
            with pytest.raises(TimeoutError):
                await lines_of(port, is_gaze, 1, seconds=3)
            assert gateway.meters.payment_errors > 0
        assert "payment-failed" in log.getvalue()

    asyncio.run(run())


def test_a_taken_port_is_told_and_leaves_nothing_open(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", port))
            other.listen()
            with pytest.raises(InputError, match="cannot listen"):
                async with running(tmp_path, policy_text(port)):
                    raise AssertionError("it started")

    asyncio.run(run())


async def outlet(meters: Meters, log: io.StringIO) -> AppOutlet:
    made = AppOutlet(PROTOCOLS["jsonlines"], StreamFacts(SCREEN, name="game"), meters, log_to(log))
    await made.listen("127.0.0.1", 0)
    return made


def test_samples_that_came_together_leave_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(policy(app()))
    writes: list[bytes] = []

    async def run() -> None:
        meters = Meters()
        door = await outlet(meters, io.StringIO())
        bench.hub.attach("game", door)
        _, writer = await asyncio.open_connection("127.0.0.1", door.port)
        async with asyncio.timeout(5):
            while not door.is_watched:  # noqa: ASYNC110  (it comes in)
                await asyncio.sleep(0.01)
        bench.gaze(3)
        (connection,) = door._connections
        monkeypatch.setattr(connection._transport, "write", writes.append)
        samples = [RawSample(bench.device + index / 1000, 300.0, 500.0) for index in range(1, 6)]
        before = sum(meters.apps["game"].latency.counts)
        bench.hub.push("desk", samples, bench.now + 0.005)
        assert [data.count(b"\n") for data in writes] == [5]
        assert sum(meters.apps["game"].latency.counts) == before + 5
        writer.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_a_slow_reader_loses_the_oldest_whole_lines_and_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "STALLED_S", 1e9)

    async def run() -> None:
        meters = Meters()
        door = await outlet(meters, io.StringIO())
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", door.port))
        slow.setblocking(False)
        await asyncio.sleep(0.05)
        number = 0
        while meters.apps["game"].dropped < 100:
            number += 1
            door.show(veiled_sample(float(number), 100.0, 100.0))
            door.flush(tcp.monotonic())
            if number % 50 == 0:
                await asyncio.sleep(0)
            assert number < 500_000
        got = b""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):  # a sender that met a full window asks again after seconds only
                while f'"t":{number:.6f}'.encode() not in got[-400:] or not got.endswith(b"\n"):
                    got += await loop.sock_recv(slow, 1 << 16)
        times = [told["t"] for line in got.split(b"\n")[:-1] if "t" in (told := json.loads(line))]
        assert times == sorted(times)
        assert times[-1] == number
        assert len(times) < number
        slow.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_an_app_that_stands_still_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        meters, log = Meters(), io.StringIO()
        door = await outlet(meters, log)
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", door.port))
        await asyncio.sleep(0.05)
        number = 0
        while not meters.apps["game"].dropped:
            number += 1
            door.show(veiled_sample(float(number), 100.0, 100.0))
            door.flush(tcp.monotonic())
            if number % 50 == 0:
                await asyncio.sleep(0)
        door.tick(tcp.monotonic() + tcp.STALLED_S + 1)
        await asyncio.sleep(0.05)
        assert meters.apps["game"].connections == 0
        assert "app stalled" in log.getvalue()
        slow.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_a_rude_app_is_cut_off_and_the_others_go_on() -> None:
    async def run() -> None:
        meters = Meters()
        door = await outlet(meters, io.StringIO())
        polite, polite_writer = await asyncio.open_connection("127.0.0.1", door.port)
        rude, rude_writer = await asyncio.open_connection("127.0.0.1", door.port)
        rude_writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            await rude.read()
        door.show(veiled_sample(1.0, 100.0, 100.0))
        door.flush(tcp.monotonic())
        async with asyncio.timeout(5):
            while not is_gaze(json.loads(await polite.readline())):
                pass
        assert meters.apps["game"].refused == 1
        for writer in (polite_writer, rude_writer):
            writer.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_one_app_cannot_open_connections_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "MOST_CONNECTIONS", 3)

    async def run() -> None:
        meters = Meters()
        door = await outlet(meters, io.StringIO())
        made = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(5)]
        await asyncio.sleep(0.1)
        assert meters.apps["game"].connections == 3
        assert meters.apps["game"].refused == 2
        for _, writer in made:
            writer.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_a_link_calls_a_tracker_again_after_garbage_and_after_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "SILENT_TRACKER_S", 0.3)
    came: list[RawSample] = []
    lost: list[str] = []
    arrived = asyncio.Event()
    script = [b"garbage\n", b"", b'{"t":1,"x":0.5,"y":0.25,"unit":"norm"}\n']

    def take(samples: list[RawSample], now: float) -> None:
        came.extend(samples)
        arrived.set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(script.pop(0) if len(script) > 1 else script[0])
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        source = PROTOCOLS["jsonlines"].source
        assert source is not None
        meters = Meters()
        link = TrackerLink(
            lambda: source(SCREEN), "127.0.0.1", port,
            name="desk", push=take, lost=lost.append,
            meter=meters.trackers["desk"], log=log_to(io.StringIO()),
        )  # fmt: skip
        task = asyncio.create_task(link.run())
        async with asyncio.timeout(10):
            await arrived.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        server.close()
        assert meters.trackers["desk"].garbage == 1

    asyncio.run(run())
    assert any("silent" in why for why in lost)
    assert math.isclose(came[0].t, 1.0)


def test_a_browser_can_be_served_over_tls(tmp_path: Path) -> None:
    websockets = pytest.importorskip("websockets.asyncio.client")
    if subprocess.run(["openssl", "version"], capture_output=True, check=False).returncode:
        pytest.skip("openssl makes the certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    port = free_port()
    text = policy_text(port).replace('"jsonlines"', '"websocket"')
    text = text.replace("veil = {", 'tls = { certificate = "cert.pem", key = "key.pem" }\nveil = {', 1)

    async def run() -> None:
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        async with running(tmp_path, text), websockets.connect(f"wss://127.0.0.1:{port}", ssl=trusting) as client:
            async with asyncio.timeout(30):
                while not is_gaze(json.loads(await client.recv())):
                    pass

    asyncio.run(run())


@pytest.mark.parametrize("protocol", ["websocket", "gazepointer"])
def test_a_websocket_is_closed_with_1001_when_the_gateway_stops_and_with_1008_when_the_app_is_shut(
    tmp_path: Path, protocol: str
) -> None:
    websockets = pytest.importorskip("websockets.asyncio.client")
    port = free_port()
    text = policy_text(port).replace('"jsonlines"', f'"{protocol}"')
    changed = text.replace("rate_hz = 400", "rate_hz = 300")

    async def connected() -> Any:
        client = await websockets.connect(f"ws://127.0.0.1:{port}")
        if protocol == "gazepointer":
            await client.send("AppKeyDemo")
        await client.recv()
        return client

    async def last_words(client: Any) -> tuple[int, str]:
        async with asyncio.timeout(30):
            await client.wait_closed()
        return client.close_code, client.close_reason

    async def run() -> None:
        async with running(tmp_path, text) as (gateway, _):
            client = await connected()
            gateway.switch("game", False)
            assert (await last_words(client))[0] == 1008
            gateway.switch("game", True)
            client = await connected()
            (tmp_path / "policy.toml").write_text(changed)
            await gateway.reload()
            assert await last_words(client) == (1008, "the policy changed")
            client = await connected()
        assert await last_words(client) == (1001, "the gateway is shut down")

    asyncio.run(run())
