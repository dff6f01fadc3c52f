# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever is mute costs nothing and holds nothing up: connections, half requests, foreign web pages, and log lines."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import socket
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gazeveil.cli.main import run as command
from gazeveil.gateway import tcp
from gazeveil.gateway.control import http
from gazeveil.gateway.hub.tracker_stream import TrackerStream
from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts
from gazeveil.gateway.protocols import eyetribe
from gazeveil.gateway.tcp import AppOutlet
from gazeveil.gateway.telemetry import Limited, Meters, log_to, shortened
from gazeveil.noise import NoiseSource
from gazeveil.testing import veiled_sample
from tests.gateway.hub_bench import Bench, app, policy
from tests.gateway.loopback import SCREEN
from tests.gateway.test_gateway_serve import policy_text, running
from tests.ports import free_port

pytest.importorskip("h11")

SEND = '<SET ID="ENABLE_SEND_{}" STATE="{}" />\r\n'
BEAT = b'{"category":"heartbeat"}\n'


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  (nobody sets an event)
            await asyncio.sleep(0.01)


async def door_of(protocol: str, meters: Meters, log: io.StringIO) -> AppOutlet:
    door = AppOutlet(PROTOCOLS[protocol], StreamFacts(SCREEN, name="game"), meters, log_to(log))
    await door.listen("127.0.0.1", 0)
    return door


# Charges


def test_a_mute_connection_on_open_gaze_is_not_charged_and_data_are(tmp_path: Path) -> None:
    port = free_port()
    text = policy_text(port, budget=300).replace('"jsonlines"', '"opengaze"')

    async def run() -> None:
        async with running(tmp_path, text) as (gateway, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await until(lambda: gateway.meters.apps["game"].connections == 1)
            writer.write(SEND.format("POG_BEST", 1).encode())
            assert b"ACK" in await reader.readline()
            before = gateway.meters.trackers["desk"].samples, gateway.hub.status().trackers[0].samples
            await until(lambda: gateway.hub.status().trackers[0].samples > before[1] + 100)
            assert gateway.meters.payments == 0
            told = gateway.status()["apps"][0]
            assert (told["state"], told["connections"], told["listeners"]) == ("no listener", 1, 0)
            writer.write(SEND.format("DATA", 1).encode())
            async with asyncio.timeout(30):
                while b'BPOGV="1"' not in await reader.readline():
                    pass
            assert gateway.meters.payments > 0
            assert gateway.status()["apps"][0]["state"] == "flowing"
            writer.write(SEND.format("DATA", 0).encode())
            await until(lambda: gateway.status()["apps"][0]["state"] == "no listener")
            assert not gateway.hub.charges()
            writer.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("protocol", "asking"),
    [
        ("opengaze", [SEND.format("TIME", 1).encode(), SEND.format("DATA", 1).encode()]),
        ("eyetribe", [BEAT, b'{"category":"tracker","request":"set","values":{"push":true}}\n']),
        ("eyetribe", [BEAT, b'{"category":"tracker","request":"get","values":["frame"]}\n']),
        ("gazepointer", [b"xm", b"l\x0aAppKeyDemo"]),
        ("websocket", [b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
                       b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"]),
        ("jsonlines", []),
    ],
)  # fmt: skip
def test_a_sink_wants_gaze_when_its_app_has_asked_for_it_and_not_before(protocol: str, asking: list[bytes]) -> None:
    make = PROTOCOLS[protocol].sink
    assert make is not None
    sink = make(StreamFacts(SCREEN))
    sink.connected(0.0)
    for part in asking:
        assert not sink.wants_gaze
        sink.received(part, 0.0)
    assert sink.wants_gaze
    sink.end("the policy changed", 1.0)
    assert not sink.wants_gaze


def test_an_app_that_polls_frames_listens_for_a_while_and_sees_no_old_frame_after_that() -> None:
    make = PROTOCOLS["eyetribe"].sink
    assert make is not None
    sink, ask = make(StreamFacts(SCREEN)), b'{"category":"tracker","request":"get","values":["frame"]}\n'
    sink.connected(0.0)
    sink.received(ask, 0.0)
    sink.show(veiled_sample(1.0, 960.0, 540.0), 0.1)
    sink.data_to_send()
    sink.received(ask, 1.0)
    assert b'"state":7' in sink.data_to_send()
    sink.received(BEAT, eyetribe.POLLED_FOR)
    sink.tick(1.5 + eyetribe.POLLED_FOR)
    assert not sink.wants_gaze
    sink.data_to_send()
    sink.received(ask, 2.0 + eyetribe.POLLED_FOR)
    assert b'"state":16' in sink.data_to_send()


def test_a_subscription_to_notices_is_none_to_gaze() -> None:
    make = PROTOCOLS["pupil"].sink
    assert make is not None
    pytest.importorskip("msgspec")
    for output, wanted in (("samples", b"gaze."), ("fixations", b"fixation"), ("hits", b"surfaces.")):
        sink: Any = make(StreamFacts(SCREEN, output=output, areas=("menu",)))  # type: ignore[arg-type]
        assert sink.carries(wanted)
        assert sink.carries(b"")
        assert not sink.carries(b"notify.")
        assert not sink.carries(b"logging.error")


def test_a_hub_charges_nothing_while_nobody_listens() -> None:
    bench = Bench(policy(app()), noise=NoiseSource.secure())
    bench.hub.set_watched("game", False)
    bench.gaze(3)
    assert (bench.state("game"), bench.seen["game"].shown) == ("no listener", [])
    bench.hub.set_watched("game", True)
    assert bench.state("game") == "silent"
    bench.gaze(3)
    assert bench.state("game") == "flowing"


# Slots


def test_idle_connections_cannot_keep_an_app_out() -> None:
    async def run() -> None:
        meters, log = Meters(), io.StringIO()
        door = await door_of("opengaze", meters, log)
        with contextlib.ExitStack() as stack:
            talkers = []
            for number in range(tcp.MOST_CONNECTIONS):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", door.port)))
                talkers.append(one)
                if number == 0:  # this one has a reason to be there
                    one.sendall(SEND.format("DATA", 1).encode())
                await until(lambda n=number: meters.apps["game"].connections == n + 1)  # type: ignore[misc]
            await until(lambda: meters.apps["game"].listeners == 1)
            reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
            writer.write(SEND.format("DATA", 1).encode())
            async with asyncio.timeout(10):
                assert b"ACK" in await reader.readline()
            assert meters.apps["game"].connections == tcp.MOST_CONNECTIONS
            assert meters.apps["game"].listeners == 2
            assert "connection gave way" in log.getvalue()
            talkers[1].settimeout(10)
            with contextlib.suppress(ConnectionError):
                assert talkers[1].recv(1) == b"", "the oldest mute one goes, not the one that listens"
            writer.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_listeners_that_read_keep_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "MOST_CONNECTIONS", 3)

    async def run() -> None:
        meters, log = Meters(), io.StringIO()
        door = await door_of("jsonlines", meters, log)
        made = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(4)]
        await until(lambda: meters.apps["game"].refused == 1)
        assert meters.apps["game"].listeners == 3
        for _, writer in made:
            writer.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_a_connection_without_a_whole_request_is_cut_off_in_time() -> None:
    async def run() -> None:
        meters, log = Meters(), io.StringIO()
        door = await door_of("opengaze", meters, log)
        mute, mute_writer = await asyncio.open_connection("127.0.0.1", door.port)
        polite, polite_writer = await asyncio.open_connection("127.0.0.1", door.port)
        half, half_writer = await asyncio.open_connection("127.0.0.1", door.port)
        half_writer.write(b'<GET ID="')
        polite_writer.write(b'<GET ID="PRODUCT_ID" />\r\n')
        assert b"ACK" in await polite.readline()
        door.tick(tcp.monotonic() + tcp.MUTE_S - 1)
        assert meters.apps["game"].connections == 3
        door.tick(tcp.monotonic() + tcp.MUTE_S + 1)
        async with asyncio.timeout(10):
            for reader in (mute, half):
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
        await until(lambda: meters.apps["game"].connections == 1)
        assert log.getvalue().count("connection mute") == 2
        for writer in (mute_writer, half_writer, polite_writer):
            writer.close()
        await door.close("the test is over")

    asyncio.run(run())


def test_another_machine_gets_a_share_of_the_places_and_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp._AppConnection, "is_local", property(lambda self: False))
    monkeypatch.setattr(tcp, "MOST_FROM_ONE_MACHINE", 2)

    async def run() -> None:
        meters = Meters()
        door = await door_of("jsonlines", meters, io.StringIO())
        made = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(3)]
        await until(lambda: meters.apps["game"].refused == 1)
        assert meters.apps["game"].connections == 2
        for _, writer in made:
            writer.close()
        await door.close("the test is over")

    asyncio.run(run())


# The control port


@pytest.mark.parametrize(
    "half",
    [
        b"POST /v1/apps/game/switch HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ",
        b"POST /v1/apps/game/switch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 12\r\n\r\n{",
        b"",
    ],
    ids=["half-a-header", "half-a-body", "nothing"],
)
def test_three_hundred_half_sent_requests_do_not_lock_out_apps_off(
    tmp_path: Path, half: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, _):
            where = gateway.policy.control
            assert where is not None
            with contextlib.ExitStack() as stack:
                loop = asyncio.get_running_loop()
                for _ in range(300):
                    one = stack.enter_context(socket.socket())
                    one.setblocking(False)
                    await loop.sock_connect(one, (where.host, where.port))
                    with contextlib.suppress(ConnectionError):
                        await loop.sock_sendall(one, half)
                assert await asyncio.to_thread(command, ["apps", "off", str(tmp_path / "policy.toml"), "game"]) == 0
            assert gateway.status()["apps"][0]["state"] == "off"

    asyncio.run(run())
    assert "game: off" in capsys.readouterr().out


def test_a_request_that_is_not_whole_in_time_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "REQUEST_S", 0.2)

    async def run() -> None:
        async with running(tmp_path, policy_text(free_port())) as (gateway, _):
            where = gateway.policy.control
            assert where is not None
            for half in (b"", b"GET / HTTP/1.1\r\n", b"POST /v1/policy/reload HTTP/1.1\r\nContent-Length: 9\r\n\r\n"):
                reader, writer = await asyncio.open_connection(where.host, where.port)
                writer.write(half)
                async with asyncio.timeout(10):
                    with contextlib.suppress(ConnectionError):
                        while await reader.read(1 << 16):
                            pass
                writer.close()

    asyncio.run(run())


# Web pages


async def told_by(host: str, port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(request)
    try:
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.close()


def test_refused_origins_are_counted_and_logged_in_short(tmp_path: Path) -> None:
    port = free_port()
    text = policy_text(port).replace('"jsonlines"', '"websocket"')
    upgrade = (
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nOrigin: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    evil = "https://evil.example/" + "a" * 1000

    async def run() -> None:
        async with running(tmp_path, text) as (gateway, log):
            for _ in range(30):
                assert b"403" in await told_by("127.0.0.1", port, upgrade.format(port, evil).encode())
            where = gateway.policy.control
            assert where is not None
            for origin, host in ((evil, str(where)), ("null", str(where)), (f"http://{where}", "evil.example")):
                request = f"GET /v1/status HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n\r\n"
                assert b"403" in await told_by(where.host, where.port, request.encode())
            status = gateway.status()
            assert status["apps"][0]["refused_origins"] == 30
            assert status["control_refused"] == {"host": 1, "origin": 2, "token": 0, "key": 0, "raw": 0}
            metrics = gateway.exposition()[0]
            assert b'gazeveil_refused_origins_total{app="game"} 30.0' in metrics
            assert b'gazeveil_control_refused_total{why="origin"} 2.0' in metrics
            lines = [json.loads(line) for line in log.getvalue().splitlines() if "origin refused" in line]
            assert len(lines) == 1, "once, and then a count"
            assert lines[0]["origin"].startswith("https://evil.example/aaa")
            assert len(lines[0]["origin"]) < 130
        lines = [json.loads(line) for line in log.getvalue().splitlines() if "origin refused" in line]
        assert lines[1]["times"] == 29

    asyncio.run(run())


def test_what_strangers_say_is_logged_printable_and_short() -> None:
    assert shortened("http://a.example") == "http://a.example"
    assert shortened("a\x1b[2J\r\nb\u202e") == "a\\x1b[2J\\r\\nb\\u202e"
    assert len(shortened("\x1b" * 10_000)) <= 121


# Logs


def test_a_line_that_repeats_is_written_once_and_then_counted_at_growing_intervals() -> None:
    now, lines = [0.0], []
    log = Limited(lambda event, **fields: lines.append((now[0], event, fields)), lambda: now[0])
    for second in range(3700):
        now[0] = float(second)
        log("tracker-lost", tracker="desk", why="refused" if second % 2 else "silent")
        if second == 50:
            log("tracker-lost", tracker="couch", why="refused")
    assert len(lines) < 25
    assert [when for when, _, _ in lines[:2]] == [0.0, 1.0]
    silent = [when for when, _, fields in lines if fields["why"] == "silent"]
    pauses = [later - sooner for sooner, later in pairwise(silent)]
    assert pauses == sorted(pauses)
    log.close()
    desk = [fields for _, _, fields in lines if fields["tracker"] == "desk"]
    assert sum(fields.get("times", 1) for fields in desk) == 3700, "every one is counted"


def test_a_line_that_stayed_away_is_new_again_and_new_words_are_told_at_once() -> None:
    now, lines = [0.0], []
    log = Limited(lambda event, **fields: lines.append(fields), lambda: now[0])
    log("app-silent", app="game", why="a")
    log("app-silent", app="game", why="b")
    assert lines == [{"app": "game", "why": "a"}, {"app": "game", "why": "b"}]
    now[0] = 1000.0
    log("app-silent", app="game", why="a")
    assert lines[2:] == [{"app": "game", "why": "a"}]


def test_endless_wordings_of_one_event_are_no_way_round() -> None:
    lines: list[object] = []
    log = Limited(lambda event, **fields: lines.append(fields), lambda: 0.0)
    for number in range(1000):
        log("garbage from app", app="game", why=f"byte {number}")
    assert len(lines) < 20


def test_a_tracker_that_comes_and_goes_fills_no_disk(tmp_path: Path) -> None:
    out, now = io.StringIO(), [0.0]
    log = Limited(log_to(out), lambda: now[0])
    desk = TrackerStream(policy(app()).trackers[0], policy(app()), noise=NoiseSource.secure(), wall=None, log=log)  # type: ignore[arg-type]
    for second in range(3700):
        now[0] = float(second)
        desk.lose("Connection refused")
        desk.lose("no sample for 0.5 s")
    assert len(out.getvalue().splitlines()) < 30
