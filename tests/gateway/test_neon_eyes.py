# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where Neon says the eyes are: it is read and leaves only where an app's policy declares it, and nothing else does."""

from __future__ import annotations

import asyncio
import io
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import ViewingPlane
from gazeveil.gateway.protocols.neon_phone import NeonSource
from gazeveil.gateway.sample import EyeGeometry
from gazeveil.gateway.serve import Gateway
from gazeveil.gateway.telemetry import log_to
from gazeveil.geometry import screen
from tests.gateway.neon_phone import FLOATS, Phone, packet, payload, report
from tests.gateway.test_protocol_neon import playing
from tests.ports import free_port

pytest.importorskip("websockets")

SCENE = ViewingPlane(screen(1600, 1200))
LEFT, RIGHT = (-33.625, 13.25, -38.75), (31.875, 12.125, -39.5)
CANARIES = tuple(61.0 + n / 64 for n in range(18))
"""Pupils, axes, lids and the point of each eye; exact as floats."""
_SIZES = {"plain": 0, "both": 0, "state": 8, "lids": 14, "all": 18}
KINDS_WITH_EYES = ("state", "lids", "all")


def told(kind: str, left: tuple[float, ...] = LEFT, right: tuple[float, ...] = RIGHT, worn: bool = True) -> bytes:
    """A payload with the state of the eyes, and canaries in all that is neither the point nor a centre."""
    pupil, axis, others = CANARIES[:2], CANARIES[2:8], CANARIES[8 : _SIZES[kind]]
    rest = (pupil[0], *left, *axis[:3], pupil[1], *right, *axis[3:], *others)
    assert len(rest) == FLOATS[kind]
    return payload(400.0, 300.0, worn, rest)


def eyes_in(data: bytes, *head_and_eyes: str) -> EyeGeometry | None:
    source = NeonSource(SCENE, head_and_eyes=frozenset(head_and_eyes))
    source.report(report(1000.0, 0))
    source._clock_rate = 90_000
    (sample,) = source.gaze(packet(1, 0, data))
    return sample.eyes


@pytest.mark.parametrize("kind", KINDS_WITH_EYES)
def test_the_centres_of_the_eyes_are_read_where_an_app_declares_them_and_only_there(kind: str) -> None:
    assert eyes_in(told(kind), "origins") == EyeGeometry(LEFT, RIGHT, None)
    for declared in ((), ("head",), ("ipd",)):
        assert eyes_in(told(kind), *declared) is None
    (sample,) = playing().gaze(packet(1, 90_000, told(kind)))  # the source as everybody else makes it
    assert sample.eyes is None


def test_eyes_that_are_not_said_not_worn_or_not_in_a_head_are_missing() -> None:
    assert eyes_in(payload(400.0, 300.0), "origins") is None
    assert eyes_in(payload(400.0, 300.0, True, CANARIES[: FLOATS["both"]]), "origins") is None
    assert eyes_in(told("all", worn=False), "origins") is None
    for odd in (math.nan, math.inf, -1001.0, 1e30):
        assert eyes_in(told("all", left=(1.0, odd, 2.0)), "origins") == EyeGeometry(None, RIGHT, None)


POLICY = """\
version = 1

[[tracker]]
name = "glasses"
protocol = "neon"
address = "127.0.0.1:{phone}"
participant = "anna"
screen = {{ width_px = 1600, height_px = 1200 }}

[[app]]
name = "plain"
tracker = "glasses"
protocol = "jsonlines"
listen = "127.0.0.1:{plain}"
rate_hz = 200
veil = {{ preset = "lphu" }}

[[app]]
name = "eyes"
tracker = "glasses"
protocol = "jsonlines"
listen = "127.0.0.1:{eyes}"
rate_hz = 200
veil = {{ preset = "lphu" }}
{declared}
"""
DECLARED = 'head_and_eyes = ["origins"]\nunproven = "allow"'


class Wire:
    """All bytes that an app gets."""

    def __init__(self) -> None:
        self.data = b""

    async def follow(self, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while data := await reader.read(1 << 16):
                self.data += data
        finally:
            writer.close()


async def until(done: Callable[[], bool], meanwhile: Callable[[], None]) -> None:
    async with asyncio.timeout(30):
        while not done():
            meanwhile()
            await asyncio.sleep(0.01)


def digits(*numbers: float) -> list[bytes]:
    return [f"{number:g}".encode() for number in numbers]


def test_an_app_that_declares_the_eyes_gets_them_and_nobody_gets_anything_else(tmp_path: Path) -> None:
    path, log = tmp_path / "policy.toml", io.StringIO()
    ports = {"plain": free_port(), "eyes": free_port()}

    async def run() -> tuple[dict[str, Wire], dict[str, Wire]]:
        async with Phone() as phone:
            path.write_text(POLICY.format(phone=phone.port, declared=DECLARED, **ports))
            begun = time.time()

            def send() -> None:
                phone.send(told("all"), time.time(), begun)

            async def heard(enough: bytes) -> dict[str, Wire]:
                wires = {name: Wire() for name in ports}
                tasks = [asyncio.create_task(wires[name].follow(port)) for name, port in ports.items()]
                await until(lambda: all(wire.data.count(enough) > 20 for wire in wires.values()), send)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                return wires

            async with Gateway(read_policy(path), log_to(log)) as gateway:
                with_eyes = await heard(b'"valid":true')
                meter = gateway.meters.trackers["glasses"]
                connects = meter.connects
                path.write_text(POLICY.format(phone=phone.port, declared="", **ports))
                await gateway.reload()
                await until(lambda: meter.connects > connects, send)  # the source was made anew
                return with_eyes, await heard(b'"valid":true')

    first, then = asyncio.run(run())
    assert b'"origins":[[-33.625000,13.250000,-38.750000],[31.875000,12.125000,-39.500000]]' in first["eyes"].data
    for wire in (first["plain"], *then.values()):
        assert b"origins" not in wire.data
        assert not any(number in wire.data for number in digits(*LEFT, *RIGHT))
    assert b"ipd" not in first["eyes"].data
    everything = b"".join(wire.data for wire in (*first.values(), *then.values())) + log.getvalue().encode()
    assert not any(canary in everything for canary in digits(*CANARIES[1:]))  # the first is a whole number
    assert b"-33.625" not in log.getvalue().encode()


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ('head_and_eyes = ["origins"]', "identifies participants"),
        ('head_and_eyes = ["ipd"]\nunproven = "allow"', "what is read of Pupil Labs real-time API"),
    ],
)
def test_a_policy_that_declares_what_neon_does_not_say_or_may_not_leave_is_refused(
    tmp_path: Path, declared: str, message: str
) -> None:
    path = tmp_path / "policy.toml"
    given: dict[str, Any] = {"phone": 8080, "plain": 7001, "eyes": 7002}
    path.write_text(POLICY.format(declared=declared, **given))
    with pytest.raises(FileFormatError, match=message):
        read_policy(path)
