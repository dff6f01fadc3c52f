# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""LSL on this machine: ports are tied to it, and the gateway does not take its own streams for a tracker."""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from gazeveil.gateway import lsl_streams
from gazeveil.gateway.lsl_streams import opened_on_this_machine
from gazeveil.gateway.message_transports import LslLink
from gazeveil.gateway.telemetry import Meters

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can tie an open port to a device")


def device(port: socket.socket) -> bytes:
    return port.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0")


@LINUX
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_port_that_is_open_to_all_is_tied_to_this_machine_and_works_there(kind: socket.SocketKind) -> None:
    def make() -> socket.socket:
        port = socket.socket(socket.AF_INET, kind)
        port.bind(("0.0.0.0", 0))
        if kind is socket.SOCK_STREAM:
            port.listen()
        return port

    with socket.socket(socket.AF_INET, kind) as earlier:
        earlier.bind(("0.0.0.0", 0))
        made, alone = opened_on_this_machine(make)
        with made, socket.socket(socket.AF_INET, kind) as caller:
            assert alone
            assert device(made) == b"lo"
            assert device(earlier) == b""
            made.settimeout(5)
            caller.connect(("127.0.0.1", made.getsockname()[1]))
            if kind is socket.SOCK_STREAM:
                made.accept()[0].close()
            else:
                caller.send(b"gaze")
                assert made.recv(10) == b"gaze"


@LINUX
def test_files_and_ports_on_loopback_are_left_alone(tmp_path: Path) -> None:
    def make() -> tuple[object, socket.socket]:
        port = socket.socket()
        port.bind(("127.0.0.1", 0))
        return (tmp_path / "file").open("w"), port

    (file, port), alone = opened_on_this_machine(make)
    with file, port:
        assert alone
        assert device(port) == b""


def test_where_ports_cannot_be_tied_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsl_streams, "_TIE", None)
    assert opened_on_this_machine(lambda: "made") == ("made", False)


@pytest.mark.parametrize(
    ("stream", "query"),
    [
        ("", "type='Gaze' and not(starts-with(source_id,'gazeveil:'))"),
        ("eye", "type='Gaze' and name='eye'"),
        ("anna's", "type='Gaze' and name=\"anna's\""),
        ("a'b\"c", "type='Gaze'"),
        ("game", "type='Gaze' and name='game' and not(uid='7-7')"),
    ],
)
def test_a_tracker_is_looked_for_by_name_and_never_among_our_own_streams(
    stream: str, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(lsl_streams.OWN_STREAMS, "7-7", "game")
    link = LslLink(
        lambda: None, "127.0.0.1", stream,
        name="desk", push=lambda samples, now: None, lost=lambda why: None, meter=Meters().trackers["desk"],
        log=lambda *_, **__: None,
    )  # fmt: skip
    assert link._query("type='Gaze'") == query


@dataclass(frozen=True)
class Found:
    """A stream as liblsl finds it."""

    named: str
    source: str
    unique: str = "1-1"

    def name(self) -> str:
        return self.named

    def source_id(self) -> str:
        return self.source

    def uid(self) -> str:
        return self.unique


@pytest.mark.parametrize(
    ("stream", "found", "taken"),
    [
        ("", Found("eyes", "device"), True),
        ("", Found("tracker", "gazeveil:tracker"), False),
        ("tracker", Found("tracker", "gazeveil:tracker"), True),
        ("tracker", Found("tracker", "gazeveil:tracker", "7-7"), False),
        ("tracker", Found("eyes", "device"), False),
    ],
)
def test_a_gateways_stream_is_a_tracker_if_it_is_asked_for_by_name_and_not_our_own(
    stream: str, found: Found, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(lsl_streams.OWN_STREAMS, "7-7", "tracker")
    assert lsl_streams.is_the_trackers(found, stream) is taken
