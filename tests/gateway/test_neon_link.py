# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A phone on loopback as tracker, over real sockets: in datagrams and over the connection; and an app's own door."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gazeveil.gateway import neon_link
from gazeveil.gateway.neon_link import NeonLink
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.neon_phone import NeonSource
from gazeveil.gateway.protocols.rtsp import RECEIVER
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tcp import AppOutlet
from gazeveil.gateway.telemetry import Meters, log_to
from gazeveil.geometry import screen
from gazeveil.testing import veiled_sample
from tests.gateway.neon_phone import FLOATS, Phone, packet, payload, report

pytest.importorskip("websockets")

NEON, INVISIBLE = ViewingPlane(screen(1600, 1200)), ViewingPlane(screen(1088, 1080))


@dataclass
class Followed:
    """What a link has said so far."""

    link: NeonLink
    samples: list[RawSample] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    meters: Meters = field(default_factory=Meters)

    async def until(self, done: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
        async with asyncio.timeout(60):
            while not done():
                meanwhile()
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def following(port: int, plane: ViewingPlane = NEON) -> AsyncIterator[Followed]:
    def make(**given: object) -> NeonSource:
        return NeonSource(plane, **given)  # type: ignore[arg-type]

    def push(samples: list[RawSample], now: float) -> None:
        followed.samples += samples

    meters, log, lost = Meters(), log_to(io.StringIO()), []  # type: tuple[Meters, object, list[str]]
    link = NeonLink(
        make, "127.0.0.1", port, name="phone", push=push, lost=lost.append, meter=meters.trackers["phone"], log=log
    )
    followed = Followed(link, lost=lost, meters=meters)
    task = asyncio.create_task(link.run())
    try:
        yield followed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()


@pytest.mark.parametrize(
    ("protocol", "version", "kind", "chunked"), [("rtsp", "2", "all", True), ("rtspt", "1", "plain", False)]
)
def test_gaze_of_a_phone_comes_with_its_own_times(protocol: str, version: str, kind: str, chunked: bool) -> None:
    async def run() -> None:
        async with Phone(protocol, version, chunked=chunked) as phone:
            sent: list[tuple[float, float, float]] = []

            def send() -> None:
                t, x = 1000.0 + len(sent) / 4, float(len(sent) % 7)
                sent.append((t, 100.0 + x, 300.0))
                phone.send(payload(100.0 + x, 300.0, True, (31.415,) * FLOATS[kind]), t, 1000.0)

            async with following(phone.port, NEON if version == "2" else INVISIBLE) as followed:
                await followed.until(lambda: len(followed.samples) >= 8, send)
            first = round((followed.samples[0].t - 1000.0) * 4)
            found = [(sample.t, sample.x, sample.y) for sample in followed.samples[:8]]
            for one, expected in zip(found, sent[first:], strict=False):
                assert one == pytest.approx(expected, abs=1e-4)  # eight steps of a quarter: stamps turn over among them
            assert followed.meters.trackers["phone"].connected
            assert [line.split(" ")[0] for line in phone.asked[:4]] == ["OPTIONS", "DESCRIBE", "SETUP", "PLAY"]

    asyncio.run(run())


def test_glasses_that_are_plugged_in_later_are_found() -> None:
    async def run() -> None:
        async with Phone(connected=False) as phone, following(phone.port) as followed:
            await followed.until(lambda: bool(followed.lost))
            assert "are the glasses connected" in followed.lost[0]
            phone.connected = True
            await followed.until(lambda: bool(followed.samples), lambda: phone.send(payload(1.0, 2.0), 1000.0, 1000.0))

    asyncio.run(run())


@pytest.mark.parametrize(
    ("phone", "plane", "why"),
    [
        (Phone(), INVISIBLE, "1600 x 1200 pixels of their scene camera"),
        (Phone(version="1"), NEON, "screen = { width_px = 1088, height_px = 1080 }"),
        (Phone(refuses="SETUP"), NEON, "answer to SETUP is 404"),
        (Phone(extra=[{"model": 7}]), NEON, "does not follow its API"),
    ],
)
def test_what_is_wrong_is_said(phone: Phone, plane: ViewingPlane, why: str) -> None:
    async def run() -> None:
        async with phone, following(phone.port, plane) as followed:
            await followed.until(lambda: bool(followed.lost))
            assert why in followed.lost[0]
            assert not followed.samples

    asyncio.run(run())


def test_a_machine_that_is_no_phone_and_one_that_hangs_up_are_told_apart() -> None:
    async def run() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(said.pop(0) if said else b"")
            writer.close()

        said = [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with following(server.sockets[0].getsockname()[1]) as followed:
            await followed.until(lambda: len(followed.lost) >= 2)
        assert "does not tell its status (is this the address of the phone?)" in followed.lost[0]
        assert "closed the connection" in followed.lost[1]
        server.close()

    asyncio.run(run())


def test_datagrams_of_anybody_else_are_not_taken() -> None:
    async def run() -> None:
        async with Phone() as phone, following(phone.port) as followed:
            await followed.until(lambda: any(one.plays for one in phone.listeners))
            (listener,) = [one for one in phone.listeners if one.plays]
            assert listener.ports is not None
            assert listener.ports[0] % 2 == 0
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                stranger.bind(("127.0.0.2", 0))
                stranger.sendto(report(5.0, 0), ("127.0.0.1", listener.ports[1]))
                stranger.sendto(packet(1, 0, payload(999.0, 999.0)), ("127.0.0.1", listener.ports[0]))
                stranger.sendto(b"garbage", ("127.0.0.1", listener.ports[0]))
            await followed.until(
                lambda: len(followed.samples) > 3, lambda: phone.send(payload(1.0, 2.0), 1000.0, 1000.0)
            )
            assert {round(sample.x) for sample in followed.samples} == {1}
            assert phone.heard[:2] == [RECEIVER] * 2  # which opens firewalls
            assert not followed.lost

    asyncio.run(run())


def test_two_ports_side_by_side_are_looked_for_again_if_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    class Socket(socket.socket):
        def bind(self, address: Any) -> None:
            tried.append(address)
            if len(tried) == 2:
                raise OSError("taken")
            super().bind(address)

    monkeypatch.setattr(socket, "socket", Socket)
    one, other = neon_link._two_ports("127.0.0.1")
    with one, other:
        assert one.getsockname()[1] + 1 == other.getsockname()[1]
        assert one.getsockname()[1] % 2 == 0


def test_a_link_follows_the_door_of_an_app_which_is_one_port_for_everything() -> None:
    async def run() -> None:
        meters = Meters()
        door = AppOutlet(PROTOCOLS["neon"], StreamFacts(NEON, name="game"), meters, log_to(io.StringIO()))
        watched: list[bool] = []
        door.on_watched = watched.append
        await door.listen("127.0.0.1", 0)
        shown = 0

        def show() -> None:
            nonlocal shown
            shown += 1
            door.show(veiled_sample(shown / 60, 800.0, 600.0))
            door.flush(0.0)

        async with following(door.port) as followed:
            await followed.until(lambda: len(followed.samples) >= 5, show)
            assert {(sample.x, sample.y) for sample in followed.samples} == {(800.0, 600.0)}
            door.end("the budget is spent")
            await followed.until(lambda: bool(followed.lost))
            await followed.until(lambda: any("does not tell its status" in why for why in followed.lost))
        assert watched[0] is True
        await door.close("over")

    asyncio.run(run())


def test_the_policy_of_the_how_to_is_one(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "connect-trackers.md"
    section = page.read_text().partition("## Use Neon or Invisible")[2]
    (tmp_path / "policy.toml").write_text(section.partition("```toml\n")[2].partition("```")[0])
    policy = read_policy(tmp_path / "policy.toml")
    assert (policy.trackers[0].protocol, policy.apps[0].protocol) == ("neon", "neon")
    assert policy.trackers[0].geometry.knows_degrees


def test_a_status_is_asked_as_the_phone_expects_it() -> None:
    async def run() -> None:
        async with Phone() as phone:
            told = json.loads(await neon_link._status_of("127.0.0.1", phone.port))
            assert told["result"] == phone.status()

    asyncio.run(run())
