# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that is sent to a running gateway over real sockets, by the `websockets` package's own client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import stat
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gazeveil.cli.doctor import Finding, _policy
from gazeveil.errors import FileFormatError, InputError, PrivacyError, UnknownName
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.serve import Gateway
from tests.gateway.test_gateway_serve import is_gaze, lines_of, policy_text, running
from tests.ports import free_port
from tests.recipes import ROOT, blocks

connect = pytest.importorskip("websockets.asyncio.client").connect
InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus


def pushed_text(app: int, inlet: int | str, *, more: str = "", protocol: str = "push") -> str:
    text = policy_text(app).replace('protocol = "simulate"\n', f'protocol = "{protocol}"\nlisten = {inlet}\n{more}')
    return text if protocol == "simulate" else text.replace("rate_hz = 200\n", "")


async def admitted(url: str, token: str) -> Any:
    sender = await connect(url, compression=None)
    await sender.send(json.dumps({"token": token}))
    assert json.loads(await sender.recv()) == {"ok": True}
    return sender


@contextlib.asynccontextmanager
async def sending(url: str, token: str, x: float = 0.123456) -> AsyncIterator[Any]:
    """Send gaze at one place, a hundred times a second."""
    sender = await admitted(url, token)

    async def send() -> None:
        while True:
            await sender.send(json.dumps({"t": time.monotonic(), "x": x, "y": 0.654321}))
            await asyncio.sleep(0.01)

    task = asyncio.create_task(send())
    try:
        yield sender
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await sender.close()


async def refusal(url: str, *messages: object, **options: Any) -> tuple[int, str]:
    """Say something, and return the code and reason with which the gateway hangs up."""
    async with connect(url, compression=None, **options) as sender:
        for message in messages:
            await sender.send(json.dumps(message))
        async with asyncio.timeout(10):
            await sender.wait_closed()
        return sender.close_code, sender.close_reason


async def until(what: Any, seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110  (another task makes it true)
            await asyncio.sleep(0.01)


def test_only_who_has_the_token_sends_and_apps_get_it_veiled(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()
    url = f"ws://127.0.0.1:{inlet}"

    async def run() -> None:
        async with running(tmp_path, pushed_text(app, inlet)) as (gateway, log):
            file = tmp_path / "desk.token"
            token = file.read_text().strip()
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert token != (tmp_path / "token").read_text().strip()

            sample = {"t": 1.0, "x": 0.5, "y": 0.5}
            assert await refusal(url, sample) == (1008, "the first message must be the token")
            assert await refusal(url, {"token": "wrong"}, sample) == (1008, "this is not the token")
            with pytest.raises(InvalidStatus) as refused:
                await refusal(url, {"token": token}, origin="https://elsewhere.example")
            assert refused.value.response.status_code == 403
            assert await refusal(url, {"token": token}, {**sample, "pupil": 3}) == (
                1007,
                "a sample must have t, x and y, and nothing else",
            )
            meter = gateway.meters.trackers["desk"]
            assert (meter.samples, meter.refused_tokens, meter.refused_origins, meter.garbage) == (0, 2, 1, 1)
            assert not meter.connected

            async with sending(url, token):
                assert await refusal(url, {"token": token}) == (1013, "another sender is connected")
                gaze = await lines_of(app, is_gaze, 40)
            assert len({one["x"] for one in gaze}) > 3  # noise, since the sender stood still
            assert all(abs(one["x"] - 0.123456) > 1e-6 for one in gaze)
            await until(lambda: not meter.connected)
            status = gateway.status()["trackers"][0]
            assert (status["why"], status["refused"], status["refused_tokens"]) == ("no sender is connected", 1, 2)
            assert status["source"] == {"kind": "policy", "choices": ["policy"]}
            text, _ = gateway.exposition()
            assert b'gazeveil_tracker_refused_total{tracker="desk",why="token"} 2.0' in text
            again = await admitted(url, token)
        await again.wait_closed()
        assert (again.close_code, again.close_reason) == (1001, "the gateway is shut down")
        told = log.getvalue()
        assert '"origin refused"' in told
        assert "https://elsewhere.example" in told
        assert "0.123456" not in told + text.decode()
        assert "pupil" not in told
        assert token not in told

    asyncio.run(run())


FIELDS = 'x = "gaze.0"\ny = "gaze.1"\nunit = "px"\ny_grows = "up"\ntime = "arrival"\n'


def with_fields(text: str, fields: str = FIELDS) -> str:
    return text.replace("\n[[app]]", f"\n[tracker.fields]\n{fields}[[app]]")


def test_lines_over_tcp_are_a_tracker_too_and_what_does_not_fit_is_told_everywhere(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()
    text = with_fields(pushed_text(app, inlet, protocol="pushlines"))

    async def run() -> None:
        async with running(tmp_path, text) as (gateway, log):
            token = (tmp_path / "desk.token").read_text().strip()
            meter = gateway.meters.trackers["desk"]
            reader, writer = await asyncio.open_connection("127.0.0.1", inlet)
            writer.write(b"POST / HTTP/1.1\r\n" + json.dumps({"token": token}).encode() + b"\n")
            assert json.loads(await reader.readline())["error"] == "token"
            assert await reader.read() == b""
            writer.close()
            assert meter.refused_tokens == 1

            reader, writer = await _entered(inlet, token)
            task = asyncio.create_task(_stream(writer, {"gaze": [0.123456, 0.5]}))
            told = json.loads(await reader.readline())
            assert told["error"] == "unit"
            assert "look like shares" in told["message"]
            task.cancel()
            writer.close()
            await until(lambda: "look like shares" in gateway.status()["trackers"][0]["why"])
            assert (meter.garbage, meter.samples) == (1, 0)
            (finding,) = [one for one in await asyncio.to_thread(_found_by_doctor, tmp_path) if "runs" in one.what]
            assert "look like shares" in finding.advice
            assert "from the bottom left corner" in finding.advice

            reader, writer = await _entered(inlet, token)
            task = asyncio.create_task(_stream(writer, {"gaze": [960.123456, 540]}))
            other_reader, other = await asyncio.open_connection("127.0.0.1", inlet)
            other.write(json.dumps({"token": token}).encode() + b"\n")
            assert json.loads(await other_reader.readline())["message"] == "another sender is connected"
            other.close()
            gaze = await lines_of(app, is_gaze, 40)
            assert len({one["x"] for one in gaze}) > 3
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert json.loads((await reader.read()).splitlines()[-1])["error"] == "closed"
        writer.close()
        logged = log.getvalue()
        assert "look like shares" in logged
        assert 'write unit = \\"norm\\"' in logged
        assert "123456" not in logged
        assert token not in logged

    asyncio.run(run())


async def _entered(port: int, token: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(json.dumps({"token": token}).encode() + b"\n")
    assert json.loads(await reader.readline()) == {"ok": True}
    return reader, writer


async def _stream(writer: asyncio.StreamWriter, sample: object) -> None:
    while True:
        writer.write(json.dumps(sample).encode() + b"\n")
        await asyncio.sleep(0.01)


def _found_by_doctor(folder: Path) -> list[Finding]:
    return list(_policy(folder / "policy.toml"))


def test_the_bridge_of_the_how_to_is_a_tracker(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()
    files = {
        block.title: block.code for block in blocks(ROOT / "docs" / "how-to" / "connect-trackers.md") if block.title
    }
    (tmp_path / "bridge.py").write_text(files["bridge.py"].replace("7385", str(inlet)))
    text = files["headset.toml"].replace("7385", str(inlet)).replace("7382", str(app)).replace("mpmu", "lphu")

    async def run() -> None:
        async with running(tmp_path, text) as (gateway, _):
            bridge = await asyncio.create_subprocess_exec(
                sys.executable, "-S", "bridge.py", cwd=tmp_path, stdout=asyncio.subprocess.PIPE
            )
            try:
                assert bridge.stdout is not None
                assert json.loads(await bridge.stdout.readline()) == {"ok": True}
                assert len(await lines_of(app, is_gaze, 5)) == 5
                assert gateway.meters.trackers["headset"].garbage == 0
            finally:
                bridge.kill()
                await bridge.communicate()

    asyncio.run(run())


def test_a_page_that_knows_only_x_and_y_in_pixels_is_a_tracker(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()
    text = with_fields(pushed_text(app, inlet), 'unit = "px"\ntime = "arrival"\n')

    async def run() -> None:
        async with running(tmp_path, text):
            sender = await admitted(f"ws://127.0.0.1:{inlet}", (tmp_path / "desk.token").read_text().strip())

            async def send() -> None:
                while True:
                    await sender.send(json.dumps({"x": 960.5, "y": 540.25}))
                    await asyncio.sleep(0.02)

            task = asyncio.create_task(send())
            gaze = await lines_of(app, is_gaze, 20)
            assert abs(sum(one["x"] for one in gaze) / 20 - 0.5) < 0.3
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await sender.close()

    asyncio.run(run())


def test_a_second_sender_takes_over_where_the_policy_says_so(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()

    async def run() -> None:
        text = pushed_text(app, inlet, more="take_over = true\n")
        async with running(tmp_path, text) as (gateway, _):
            token = (tmp_path / "desk.token").read_text().strip()
            first = await admitted(f"ws://127.0.0.1:{inlet}", token)
            second = await admitted(f"ws://127.0.0.1:{inlet}", token)
            await first.wait_closed()
            assert (first.close_code, first.close_reason) == (1008, "another sender took over")
            assert gateway.meters.trackers["desk"].connected
            assert "no sample of it could be used yet" in gateway.status()["trackers"][0]["why"]
            assert (await second.ping()) is not None
            await second.close()

    asyncio.run(run())


def test_connections_without_a_token_make_room_for_others(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()

    async def run() -> None:
        async with running(tmp_path, pushed_text(app, inlet)) as (gateway, _):
            mute = [await asyncio.open_connection("127.0.0.1", inlet) for _ in range(20)]
            token = (tmp_path / "desk.token").read_text().strip()
            sender = await admitted(f"ws://127.0.0.1:{inlet}", token)
            assert await mute[0][0].read() == b""
            assert gateway.meters.trackers["desk"].refused == 13
            await sender.close()
            for _, writer in mute:
                writer.close()

    asyncio.run(run())


def test_a_source_is_chosen_live_with_a_quiet_time_and_the_same_budget(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()
    text = pushed_text(app, inlet, protocol="simulate", more='sources = ["mouse"]\ntoken_file = "mouse.token"\n')

    async def run() -> None:
        async with running(tmp_path, text) as (gateway, log):
            assert gateway.status()["trackers"][0]["source"] == {"kind": "simulate", "choices": ["simulate", "mouse"]}
            await lines_of(app, is_gaze, 5)
            spent = _left(gateway)
            with pytest.raises(PrivacyError, match="does not allow 'replay'"):
                await gateway.use_source("desk", "replay")
            with pytest.raises(UnknownName):
                await gateway.use_source("desk", "telepathy")
            with pytest.raises(UnknownName):
                await gateway.use_source("nowhere", "mouse")
            assert not (tmp_path / "mouse.token").exists()

            begun = time.monotonic()
            told = await gateway.use_source("desk", "mouse")
            assert told == {"kind": "mouse", "url": f"ws://127.0.0.1:{inlet}", "token": _text(tmp_path / "mouse.token")}
            assert await gateway.use_source("desk", "mouse") == told  # nothing begins anew
            assert gateway.status()["trackers"][0]["source"]["kind"] == "mouse"
            async with sending(told["url"], told["token"]):
                await lines_of(app, is_gaze, 5)
                assert time.monotonic() - begun > 0.5  # the window of this veil
                assert _left(gateway) < spent
                assert len(gateway.status()["budgets"]) == 1
                await gateway.reload()  # the policy did not change, so what was chosen stays
                assert gateway.status()["trackers"][0]["source"]["kind"] == "mouse"
                begun = time.monotonic()
                assert await gateway.use_source("desk", "policy") == {"kind": "simulate"}
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", inlet)
            await lines_of(app, is_gaze, 5)
            assert time.monotonic() - begun > 0.5
            await gateway.use_source("desk", "mouse")
            (tmp_path / "policy.toml").write_text(policy_text(app))
            await gateway.reload()  # now it has no such source any more
            assert gateway.status()["trackers"][0]["source"] == {"kind": "simulate", "choices": ["simulate"]}
            (tmp_path / "policy.toml").write_text(text)
            await gateway.reload()
            await gateway.use_source("desk", "mouse")
        assert '"source chosen"' in log.getvalue()
        state = tmp_path / "policy.state.json"  # it is not remembered: a restart returns to the policy
        assert state.exists()
        assert "mouse" not in state.read_text()

    asyncio.run(run())


def test_a_source_that_cannot_be_used_leaves_the_policys_own(tmp_path: Path) -> None:
    app, inlet = free_port(), free_port()
    text = pushed_text(app, inlet, protocol="simulate", more='sources = ["mouse"]\n')

    async def run() -> None:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", inlet)
        async with running(tmp_path, text) as (gateway, _):
            with pytest.raises(InputError, match="cannot listen"):
                await gateway.use_source("desk", "mouse")
            assert gateway.status()["trackers"][0]["source"]["kind"] == "simulate"
            assert await lines_of(app, is_gaze, 3)
        with pytest.raises(InputError, match="cannot listen"):
            async with running(tmp_path, pushed_text(app, inlet)):
                pass
        server.close()

    asyncio.run(run())


def _left(gateway: Gateway) -> float:
    (budget,) = gateway.status()["budgets"]
    return float(budget["remaining"])


def _text(path: Path) -> str:
    return path.read_text().strip()


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ('token_file = "token"\n', "that of the control API"),
        ("take_over = 1\n", "true or false"),
        ('address = "127.0.0.1:1"\n', "an unknown one, 'address'"),
        ('sources = ["tobii"]\n', "sources that can be chosen live"),
        ('sources = ["replay"]\n', "a file"),
        ('origins = "https://lab.example"\n', "a list of texts"),
    ],
)
def test_a_policy_that_would_open_too_much_is_refused(tmp_path: Path, more: str, complaint: str) -> None:
    path = tmp_path / "policy.toml"
    text = pushed_text(free_port(), free_port(), more=more)
    path.write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_policy(path)


def test_an_inlet_that_other_machines_reach_must_be_encrypted(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(pushed_text(free_port(), '"0.0.0.0:7383"'))
    with pytest.raises(FileFormatError, match="an encrypted one"):
        read_policy(path)


def test_a_policy_may_list_pages_and_name_its_token_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    more = 'origins = ["https://lab.example"]\ntoken_file = "mine"\nsources = ["simulate", "mouse"]\nseed = 7\n'
    path.write_text(pushed_text(free_port(), 7383, more=more))
    (desk,) = read_policy(path).trackers
    assert desk.inlet is not None
    assert (desk.inlet.origins, desk.inlet.token_file) == (("https://lab.example",), tmp_path / "mine")
    assert (desk.kinds, desk.using("simulate").seed) == (("mouse", "simulate"), 7)
    assert desk.using("mouse") is desk
    assert desk.using("simulate").inlet is None


def test_a_tracker_that_sends_is_no_mouse_unless_the_policy_lists_the_mouse(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(pushed_text(free_port(), 7383))
    (desk,) = read_policy(path).trackers
    assert desk.kinds == ("policy",)
    with pytest.raises(PrivacyError, match="does not allow 'mouse'"):
        desk.using("mouse")


def test_who_else_can_read_the_token_keeps_the_gateway_from_starting(tmp_path: Path) -> None:
    (tmp_path / "desk.token").write_text("x" * 32)
    (tmp_path / "desk.token").chmod(0o644)
    (tmp_path / "policy.toml").write_text(pushed_text(free_port(), free_port()))

    async def run() -> None:
        with pytest.raises(InputError, match="others may read"):
            async with Gateway(read_policy(tmp_path / "policy.toml"), lambda *_, **__: None, create_ledger=True):
                pass

    asyncio.run(run())
