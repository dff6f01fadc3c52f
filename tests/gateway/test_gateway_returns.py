# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""An app whose stream was ended gets gaze again when the cause is gone; a reload that half fails can be mended."""

from __future__ import annotations

import asyncio
import fcntl
import io
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import InputError
from gazeveil.gateway import connections, simulated_trackers, tcp
from gazeveil.gateway.hub.payments import PATIENCE_S
from gazeveil.gateway.serve import Gateway
from gazeveil.gateway.telemetry import Meters
from gazeveil.privacy.ledger.ledger import Clock
from gazeveil.testing import veiled_sample
from tests.gateway.test_gateway_serve import is_gaze, lines_of, outlet, policy_text, running
from tests.ports import free_port

SHORT = 12.5


def is_end(told: dict[str, Any]) -> bool:
    return told.get("type") == "end"


async def comes_back(port: int) -> None:
    for _ in range(10):
        if len(await lines_of(port, is_gaze, 2, seconds=10)) == 2:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the app is locked out")


def tomorrow(gateway: Gateway) -> None:
    """Let 25 hours pass for the ledger, and let nobody wait a minute before asking again."""
    payer = gateway._payer
    payer._where = replace(payer._where, clock=Clock(wall=lambda: time.time() + 25 * 3600))
    assert payer._process is not None
    payer._process.kill()  # its successor goes by that clock
    for desk in gateway.hub._trackers.values():
        for group in desk.groups:
            group.leases._ask_at = 0.0


def another_person(gateway: Gateway) -> None:
    gateway.set_participant("desk", "bo")


@pytest.mark.parametrize("mend", [tomorrow, another_person])
def test_after_a_spent_budget_the_next_day_and_the_next_person_get_gaze(tmp_path: Path, mend: Any) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port, budget=SHORT)) as (gateway, _):
            assert len(await lines_of(port, is_end, 1)) == 1
            assert len(await lines_of(port, is_end, 1)) == 1, "who connects again is told, too"
            mend(gateway)
            await comes_back(port)

    asyncio.run(run())


def test_an_app_that_was_switched_off_and_on_gets_gaze(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, _):
            gateway.switch("game", False)
            gateway.set_participant("desk", "bo")
            assert len(await lines_of(port, is_end, 1)) == 1, "another person does not switch it on"
            gateway.switch("game", True)
            await comes_back(port)

    asyncio.run(run())


def test_a_port_that_is_taken_spoils_neither_this_reload_nor_the_next(tmp_path: Path) -> None:
    port, second = free_port(), free_port()
    more = f'[[app]]\nname = "page"\ntracker = "desk"\nprotocol = "jsonlines"\nlisten = "127.0.0.1:{second}"\nveil = {{ preset = "lphu" }}\n'  # noqa: E501

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, _):
            (tmp_path / "policy.toml").write_text(policy_text(port, more=more))
            with socket.socket() as other:
                other.bind(("127.0.0.1", second))
                other.listen()
                with pytest.raises(InputError, match="cannot listen"):
                    await gateway.reload()
            await comes_back(port)
            await gateway.reload()
            await comes_back(second)
            (tmp_path / "policy.toml").write_text(policy_text(port))
            await gateway.reload()
            await comes_back(port)

    asyncio.run(run())


def test_a_link_that_fails_in_a_way_nobody_thought_of_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, faults = free_port(), [RuntimeError("gaze 300.125"), ValueError("gaze 300.125")]
    play = simulated_trackers.play

    async def fails_at_first(*given: Any) -> None:
        if faults:
            raise faults.pop()
        await play(*given)

    monkeypatch.setattr(simulated_trackers, "play", fails_at_first)
    monkeypatch.setattr(connections, "_FIRST_PAUSE_S", 0.05)

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, log):
            await comes_back(port)
            assert gateway.meters.faults == 2
            assert "link failed" in log.getvalue()
            assert "300.125" not in log.getvalue()

    asyncio.run(run())


def test_a_gateway_stops_though_the_ledger_is_locked(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, _):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            with (tmp_path / "ledger.sqlite.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                async with asyncio.timeout(30):
                    while not gateway.hub.status().groups[0].trouble:  # noqa: ASYNC110  (another process is waited for)
                        await asyncio.sleep(0.05)
                async with asyncio.timeout(2 * PATIENCE_S + 10):
                    await gateway.close()
            writer.close()

    asyncio.run(run())


def test_gaze_that_nobody_has_subscribed_to_is_not_paid_for(tmp_path: Path) -> None:
    zmq = pytest.importorskip("zmq")
    port = free_port()

    async def run() -> None:
        text = policy_text(port).replace('protocol = "jsonlines"', 'protocol = "pupil"')
        async with running(tmp_path, text) as (gateway, _):

            async def until(condition: Callable[[], bool]) -> None:
                async with asyncio.timeout(20):
                    while not condition():  # noqa: ASYNC110  (nobody sets an event)
                        await asyncio.sleep(0.05)

            with zmq.Context() as context, context.socket(zmq.REQ) as asking, context.socket(zmq.SUB) as listening:
                asking.connect(f"tcp://127.0.0.1:{port}")
                asking.send(b"SUB_PORT")
                await until(lambda: bool(asking.poll(0)))
                await asyncio.sleep(1.5)
                assert gateway.meters.payments == 0, "somebody asked where gaze is, and nobody listens"
                listening.connect(f"tcp://127.0.0.1:{asking.recv().decode()}")
                listening.subscribe(b"gaze.")
                await until(lambda: bool(listening.poll(0)))
                assert gateway.meters.payments > 0
                listening.unsubscribe(b"gaze.")
                await until(lambda: not gateway.outlets["game"].is_watched)
                await asyncio.sleep(0.5)
                paid = gateway.meters.payments
                await asyncio.sleep(3)
                assert gateway.meters.payments == paid

    asyncio.run(run())


def test_a_closed_door_keeps_no_connection_of_an_app_that_does_not_read() -> None:
    async def run() -> None:
        made = await outlet(Meters(), io.StringIO())
        with socket.socket() as app:
            app.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            app.setblocking(False)
            await asyncio.get_running_loop().sock_connect(app, ("127.0.0.1", made.port))
            while not made.is_watched:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            (connection,) = made._connections
            transport = connection._transport
            assert transport is not None
            while not transport.get_write_buffer_size():
                made.show(veiled_sample(1.0, 2.0, 3.0))
                made.flush(tcp.monotonic())
            await made.close("the policy changed")
            assert connection._transport is None, "it waits for a reader who never comes"
            assert made.meter.connections == 0

    asyncio.run(run())
