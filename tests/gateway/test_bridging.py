# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a vendor's interface to an app: a bridge, a running gateway, and everything in between that may go away."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import json
import math
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gazeveil.cli.main import run as run_command
from gazeveil.errors import InputError
from gazeveil.gateway import forwarding
from gazeveil.gateway.bridge import Bridge, BridgeKind
from gazeveil.gateway.forwarding import ForwardedCounts, Forwarder, sender_in
from gazeveil.gateway.policy.settings import read_policy, token_in
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.telemetry import log_to
from tests.gateway.bridge_fakes import CANARY, EyeLinkRig, Rig, TobiiRig
from tests.gateway.test_gateway_serve import is_gaze, lines_of, running
from tests.gateway.test_push_gateway import pushed_text, until, with_fields
from tests.ports import free_port


class Carrying:
    """A carrier in a thread of its own, and a device that looks at one place a hundred times a second."""

    def __init__(
        self,
        rig: Rig,
        policy: Path,
        place: tuple[float, float] = (0.123456, 0.654321),
        clock: Callable[[ForwardedCounts], float] = lambda _: time.monotonic(),
        stop: threading.Event | None = None,
    ) -> None:
        self.log, self.stop, self.failed, self.carried = io.StringIO(), stop or threading.Event(), "", ForwardedCounts()
        tracker = sender_in(read_policy(policy), rig.kind)
        self._carrier = Forwarder(rig.kind, rig.device, tracker, log_to(self.log), self.stop)
        self._rig, self._place, self._device_clock = rig, place, clock
        self._threads = [threading.Thread(target=run) for run in (self._run, self._look)]

    def __enter__(self) -> Carrying:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        try:
            self.carried = self._carrier.run()
        except InputError as error:
            self.failed = str(error)

    def _look(self) -> None:
        while not self.stop.wait(0.01):
            self._rig.look(self._device_clock(self._carrier.carried), self._place, self._place)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "_FIRST_PAUSE_S", 0.05)


def test_a_tobii_tracker_is_veiled_lost_found_again_and_never_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, inlet = free_port(), free_port()
    rig = TobiiRig(monkeypatch, tmp_path)

    async def run() -> Carrying:
        async with running(tmp_path, pushed_text(app, inlet, protocol="pushlines")) as (gateway, log):
            meter = gateway.meters.trackers["desk"]
            with Carrying(rig, tmp_path / "policy.toml") as carrying:
                gaze = await lines_of(app, is_gaze, 20)
                assert len({one["x"] for one in gaze}) > 3  # noise, since the eyes stood still
                assert all(abs(one["x"] - 0.123456) > 1e-6 for one in gaze)
                rig.lose()
                await until(lambda: meter.connects == 2)
                gateway_log = log.getvalue()
                await gateway.close()
                await until(lambda: "gateway away" in carrying.log.getvalue())
            assert "0.123456" not in gateway_log
            return carrying

    carrying = asyncio.run(run())
    done = carrying.carried
    assert not carrying.failed
    assert (done.opened, done.lost) == (2, 1)
    assert done.sent > 20
    assert done.dropped > 0
    assert done.samples == done.sent + done.dropped or done.samples > done.sent  # the last line may be lost on its way
    told = carrying.log.getvalue()
    assert '"tracker lost"' in told
    assert "0.123" not in without_times(told)
    assert str(CANARY)[:6] not in without_times(told)


def without_times(log: str) -> str:
    """Return what a log says without when: 20.123 s past a minute is no gaze."""
    return re.sub(r'"time": "[^"]*"', "", log)


def test_what_the_gateway_refuses_ends_it_with_the_gateways_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inlet = free_port()
    text = with_fields(pushed_text(free_port(), inlet, protocol="pushlines"), 'unit = "px"\n')
    rig = EyeLinkRig(monkeypatch, tmp_path)

    async def run() -> str:
        async with running(tmp_path, text):
            with Carrying(rig, tmp_path / "policy.toml", (0.0001, 0.0002)) as carrying:
                await until(lambda: carrying.failed)
                return carrying.failed

    failed = asyncio.run(run())
    assert "the gateway refuses what EyeLink sends: x and y look like shares" in failed


class JumpingClock:
    """A device's clock that jumps after the third sample, each time that it is opened but for the last."""

    def __init__(self, *jumps: float) -> None:
        self.jumps, self.opened, self.sent, self.since = jumps, 0, 0, math.nan

    def __call__(self, carried: ForwardedCounts) -> float:
        now = time.monotonic()
        if carried.opened != self.opened:
            self.opened, self.sent, self.since = carried.opened, carried.sent, now
        has_jumped = 0 < self.opened <= len(self.jumps) and carried.sent >= self.sent + 3
        return now + (self.jumps[self.opened - 1] if has_jumped else 0.0)


class Pauses(threading.Event):
    """Remembers how long it was waited for at a stretch, and whether the device was let go meanwhile."""

    def __init__(self, rig: TobiiRig) -> None:
        super().__init__()
        self.rig, self.seen = rig, list[tuple[float, bool]]()

    def wait(self, timeout: float | None = None) -> bool:
        if timeout is not None and timeout >= forwarding._FIRST_PAUSE_S:
            self.seen.append((timeout, not self.rig.tracker.subscribed))
        return super().wait(timeout)


def test_a_device_whose_clock_jumps_at_first_is_refused_tried_again_ever_later_and_veiled_once_it_is_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, inlet = free_port(), free_port()
    rig, clock = TobiiRig(monkeypatch, tmp_path), JumpingClock(60.0, -60.0)
    pauses = Pauses(rig)
    shown_at: list[int] = []

    def seen(told: dict[str, object]) -> bool:
        shown_at.extend([clock.opened] if "x" in told else [])
        return is_gaze(told)

    async def run() -> Carrying:
        async with running(tmp_path, pushed_text(app, inlet, protocol="pushlines")) as (gateway, log):
            with Carrying(rig, tmp_path / "policy.toml", clock=clock, stop=pauses) as carrying:
                gaze = await lines_of(app, seen, 20)
                assert set(shown_at) == {3}  # not even a sample without gaze came before
                assert all(clock.since <= one["t"] <= time.monotonic() for one in gaze)
                assert len({one["x"] for one in gaze}) > 3  # noise, since the eyes stood still
                assert all(abs(one["x"] - 0.123456) > 1e-6 for one in gaze)
            assert gateway.meters.trackers["desk"].connects == 3
            assert "0.123456" not in log.getvalue()
            return carrying

    carrying = asyncio.run(run())
    assert not carrying.failed
    assert (carrying.carried.opened, carrying.carried.lost) == (3, 2)
    assert pauses.seen == [(0.05, True), (0.1, True)]
    told = carrying.log.getvalue()
    assert "the gateway refuses what Tobii Pro sends: t advances by" in told
    assert "t does not advance" in told
    assert "0.123" not in without_times(told)


def test_a_program_of_another_user_that_took_the_gateways_port_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as thief:
        port = thief.getsockname()[1]
        policy = tmp_path / "policy.toml"
        policy.write_text(pushed_text(free_port(), port, protocol="pushlines"))
        table = tmp_path / "tcp"
        row = f"  0: 0100007F:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 {{}} 0 1 1\n"
        monkeypatch.setattr(forwarding, "TCP_TABLES", (table, tmp_path / "none"))
        [tracker] = read_policy(policy).trackers
        assert tracker.inlet is not None
        with pytest.raises(FileNotFoundError):  # no token: there was never a gateway here
            forwarding._GatewayConnection(tracker.inlet)
        token_in(tracker.inlet.token_file)
        table.write_text("head\n" + row.format(os.geteuid() + 1))
        with pytest.raises(PermissionError, match="another user"):
            forwarding._GatewayConnection(tracker.inlet)
        table.write_text("head\n")  # it has answered, and listens no more
        with pytest.raises(PermissionError, match="none does any more"):
            forwarding._GatewayConnection(tracker.inlet)
        table.write_text("head\n" + row.format(os.geteuid()))
        forwarding._GatewayConnection(tracker.inlet).close()
        heard = []
        for _ in range(4):
            connection, _where = thief.accept()
            with connection, contextlib.suppress(ConnectionError):
                heard.append(connection.recv(1000))
    assert [bool(data) for data in heard] == [False, False, False, True]


class Mute(Bridge):
    """A tracker that is there, and says nothing after its first sample."""

    def __init__(self, closed: list[str]) -> None:
        self.samples, self.closed = [RawSample(1.0, 0.5, 0.5)], closed

    def poll(self) -> list[RawSample]:
        samples, self.samples = self.samples, []
        return samples

    def close(self) -> None:
        self.closed.append("closed")


def test_a_tracker_that_falls_silent_counts_as_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy, stop, log = tmp_path / "policy.toml", threading.Event(), io.StringIO()
    closed: list[str] = []
    policy.write_text(pushed_text(free_port(), free_port(), protocol="pushlines"))
    kind = BridgeKind("mute", "Mute", "norm", lambda *_: Mute(closed), "")
    seconds = itertools.count(0.0, 0.5)

    def clock() -> float:
        if len(closed) == 2:
            stop.set()
        return next(seconds)

    monkeypatch.setattr(forwarding, "_POLL_S", 0.0)
    done = Forwarder(kind, "", sender_in(read_policy(policy), kind), log_to(log), stop, clock).run()
    assert (done.lost, done.samples, done.dropped, done.sent) == (2, 2, 2, 0)
    assert "no sample for 5 seconds" in log.getvalue()


def test_the_command_says_what_is_missing_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(pushed_text(free_port(), free_port(), protocol="pushlines"))
    TobiiRig(monkeypatch, tmp_path)
    for arguments, words in (
        (["--from", "nosuch"], "known: beam, eyelink"),
        (["--from", "tobii"], 'protocol = "pushlines"'),
        (["--from", "tobii", "--simulate"], "--from TRACKER"),
        (["--simulate"], "--protocol opengaze"),
    ):
        assert run_command(["track", *arguments]) == 3
        assert words in capsys.readouterr().err
    assert run_command(["track", "--from", "tobii", "--to", str(policy), "--seconds", "0.1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["from"], told["tracker"], told["opened"], told["samples"]) == ("tobii", "desk", 1, 0)
