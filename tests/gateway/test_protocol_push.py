# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that is sent to the gateway, without sockets: the token first, strict samples, seconds, and clear refusals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import Gate, ViewingPlane
from gazeveil.gateway.sample import RawSample
from gazeveil.geometry import headset
from tests.gateway.loopback import SCREEN

pytest.importorskip("websockets")

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from gazeveil.gateway.protocols import push
from gazeveil.gateway.protocols.push import PushSource
from gazeveil.gateway.protocols.pushed_gaze import (
    BURST_S,
    MOST_A_SECOND,
    MOST_BYTES,
    MOST_SAMPLES,
    PATIENCE_S,
    PushRefused,
)

TOKEN = "t" * 32


class Sender:
    """The package's own client at the other end of a source; time is what the test says."""

    def __init__(self, *, origin: str | None = None, gate: Gate | None = None, plane: ViewingPlane = SCREEN) -> None:
        self.source = PushSource(plane, gate or Gate(TOKEN))
        self.client = ClientProtocol(parse_uri("ws://127.0.0.1:7383/"), origin=origin)  # type: ignore[arg-type]
        self.texts: list[dict[str, Any]] = []
        self.now = 100.0
        self.source.connected(self.now)
        self.client.send_request(self.client.connect())
        self.carry()

    def carry(self) -> list[RawSample]:
        found: list[RawSample] = []
        try:
            for data in self.client.data_to_send():
                found += self.source.received(data, self.now)
        finally:
            self.hear()
        return found

    def hear(self) -> None:
        if data := self.source.data_to_send():
            self.client.receive_data(data)
        for event in self.client.events_received():
            if isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self.texts.append(json.loads(bytes(event.data)))

    def say(self, told: object) -> list[RawSample]:
        self.client.send_text((told if isinstance(told, str) else json.dumps(told)).encode())
        return self.carry()

    def checked(self) -> Sender:
        """Show the token, and send for a second, so that the time base is known."""
        self.say({"token": TOKEN})
        for _ in range(11):
            self.now += 0.1
            self.say({"t": self.now - 90, "x": 0.5, "y": 0.5})
        return self

    @property
    def code(self) -> int | None:
        return self.client.close_rcvd.code if self.client.close_rcvd else None

    @property
    def reason(self) -> str:
        return self.client.close_rcvd.reason if self.client.close_rcvd else ""


def test_a_token_opens_and_samples_become_points_of_the_plane() -> None:
    sender = Sender()
    assert sender.say({"token": TOKEN}) == []
    assert sender.texts == [{"ok": True}]
    assert sender.source.admitted
    found = [sample for n in range(40) for sample in _later(sender, 1 / 30, {"t": n / 30, "x": 0.25, "y": 0.75})]
    assert 20 < len(found) < 40  # those of the first half second were compared with the clock alone
    assert {(sample.x, sample.y) for sample in found} == {(480.0, 810.0)}
    assert found[-1].t == 39 / 30


def _later(sender: Sender, seconds: float, told: object) -> list[RawSample]:
    sender.now += seconds
    return sender.say(told)


def test_lists_missing_gaze_and_points_just_beyond_the_edges_are_taken() -> None:
    sender = Sender().checked()
    found = _later(
        sender,
        0.1,
        [{"t": 12, "x": 0, "y": 1}, {"t": 12.1, "x": None, "y": None}, {"y": -0.5, "x": 1.5, "t": 12.2}],
    )
    assert [(sample.t, sample.x, sample.y) for sample in found[::2]] == [(12.0, 0.0, 1080.0), (12.2, 2880.0, -540.0)]
    assert math.isnan(found[1].x)


def test_shares_become_degrees_in_a_headset() -> None:
    sender = Sender(plane=ViewingPlane(headset(100, 90))).checked()
    (sample,) = _later(sender, 0.1, {"t": 12, "x": 0.75, "y": 0.5})
    assert (sample.x, sample.y) == (25.0, 0.0)


@pytest.mark.parametrize(
    "first",
    [
        {"token": "wrong"},
        {"token": TOKEN + "x"},
        {"token": ""},
        {"token": None},
        {"token": TOKEN, "more": 1},
        {"t": 1, "x": 0.5, "y": 0.5},
        [],
        "no JSON",
        "\u00e9",
        '{"token": "\\ud800"}',
    ],
)
def test_without_the_token_nothing_gets_in_and_the_reason_is_clear(first: object) -> None:
    sender = Sender()
    with pytest.raises(PushRefused):
        sender.say(first)
    assert (sender.code, sender.source.ended, sender.source.admitted) == (1008, True, False)
    assert "token" in sender.reason or "JSON" in sender.reason
    assert sender.texts[0]["error"] == "token"
    assert sender.source.refused_token
    assert sender.source.received(b"\x81\x00", sender.now) == []


SAMPLE = {"t": 12.0, "x": 0.5, "y": 0.5}


@pytest.mark.parametrize(
    "told",
    [
        {**SAMPLE, "pupil": 3.14159},
        {"t": 12.0, "x": 0.5},
        {"t": 12.0, "x": 0.5, "z": 0.5},
        {**SAMPLE, "x": None},
        {**SAMPLE, "x": True},
        {**SAMPLE, "x": "0.5"},
        {**SAMPLE, "x": [0.5]},
        {**SAMPLE, "x": 2.0001},
        {**SAMPLE, "y": -1.0001},
        {**SAMPLE, "t": None},
        {**SAMPLE, "t": False},
        {**SAMPLE, "t": 1e12},
        '{"t": 12, "x": NaN, "y": 0.5}',
        '{"t": 12, "x": Infinity, "y": 0.5}',
        '{"t": 12, "x": 1e999, "y": 0.5}',
        '{"t": -Infinity, "x": 0.5, "y": 0.5}',
        f'{{"t": {"9" * 5000}, "x": 0.5, "y": 0.5}}',
        "[" * 5000,
        "null",
        "12",
        [],
        [SAMPLE, {**SAMPLE, "extra": 1}],
        [SAMPLE] * (MOST_SAMPLES + 1),
        {"token": TOKEN},
        "",
    ],
)
def test_whatever_is_no_sample_is_refused_whole_and_never_quoted(told: object) -> None:
    sender = Sender().checked()
    with pytest.raises(PushRefused) as refused:
        _later(sender, 0.1, told)
    assert sender.code == 1007
    assert sender.texts[-1]["error"] == "samples"
    assert sender.texts[-1]["message"]
    said = json.dumps(sender.texts) + str(refused.value)
    assert "3.14159" not in said
    assert "pupil" not in said


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        (lambda s: s * 1e3, "milliseconds"),
        (lambda s: s * 1e6, "microseconds"),
        (lambda s: s * 1e9, "nanoseconds"),
        (lambda s: 5.0, "does not advance"),
        (lambda s: -s, "does not advance"),
        (lambda s: s * 20, "20 seconds in one second"),
        (lambda s: s / 100, "0.01 seconds in one second"),
    ],
)
def test_a_time_that_is_not_in_seconds_is_explained_before_any_sample_is_used(
    clock: Callable[[float], float], words: str
) -> None:
    sender, found = Sender(), []
    sender.say({"token": TOKEN})

    def send_for_a_second() -> None:
        for n in range(60):
            found.extend(_later(sender, 1 / 60, {"t": clock(n / 60), "x": 0.5, "y": 0.5}))

    with pytest.raises(PushRefused, match=words):
        send_for_a_second()
    assert found == []
    assert (sender.code, sender.texts[-1]["error"]) == (1007, "time")
    assert words in sender.texts[-1]["message"]
    assert sender.texts[-1]["hint"]


def test_any_origin_of_time_and_a_slow_or_bursty_sender_are_fine() -> None:
    for begin in (0.0, -5.0, 1.8e9):
        sender, found = Sender(), []
        sender.say({"token": TOKEN})
        for n in range(8):  # four times a second a list of fifteen
            batch = [{"t": begin + n / 4 + i / 60, "x": 0.5, "y": 0.5} for i in range(15)]
            found += _later(sender, 0.25, batch)
        assert len(found) == 90


@pytest.mark.parametrize(
    ("origin", "listed", "may"),
    [
        (None, (), True),
        ("http://localhost:8000", (), True),
        ("https://lab.example", (), False),
        ("https://lab.example", ("https://lab.example",), True),
        ("null", (), False),
    ],
)
def test_a_page_may_connect_if_it_is_of_this_machine_or_listed(
    origin: str | None, listed: tuple[str, ...], may: bool
) -> None:
    sender = Sender(origin=origin, gate=Gate(TOKEN, listed))
    if may:
        sender.say({"token": TOKEN})
        assert sender.source.admitted
    else:
        assert sender.source.ended
        assert sender.source.refused_origin == origin
        assert not sender.source.refused_token


def test_who_has_the_token_may_still_be_refused_at_the_gate() -> None:
    sender = Sender(gate=Gate(TOKEN, (), lambda: "another sender is connected"))
    with pytest.raises(PushRefused):
        sender.say({"token": TOKEN})
    assert (sender.code, sender.reason) == (1013, "another sender is connected")
    assert not sender.source.refused_token


def test_the_token_does_not_show_in_a_gate() -> None:
    assert TOKEN not in repr(Gate(TOKEN))


def test_too_many_samples_a_second_end_it() -> None:
    sender = Sender().checked()
    messages = 0

    def send() -> None:
        nonlocal messages
        while messages < 100:
            messages += 1
            _later(sender, 0.01, [SAMPLE] * 500)

    with pytest.raises(PushRefused, match="a second"):
        send()
    assert (sender.code, sender.texts[-1]["error"]) == (1008, "rate")
    assert BURST_S * MOST_A_SECOND <= 500 * messages <= (BURST_S + 1) * MOST_A_SECOND


def test_too_many_bytes_a_second_end_it_even_without_a_message() -> None:
    sender = Sender()

    def flood() -> None:
        for _ in range(100_000):
            sender.client.send_ping(b"x" * 125)
            sender.carry()

    with pytest.raises(WireError):
        flood()
    assert (sender.code, "bytes a second" in sender.reason) == (1008, True)


def test_messages_that_are_too_long_or_not_text_are_refused_with_their_codes() -> None:
    sender = Sender().checked()
    with pytest.raises(WireError):
        sender.say("[" + " " * MOST_BYTES + "]")
    assert sender.code == 1009
    sender = Sender().checked()
    sender.client.send_binary(b'{"t": 1}')
    with pytest.raises(PushRefused):
        sender.carry()
    assert sender.code == 1003


def test_a_sender_that_shows_no_token_or_answers_no_ping_is_dropped() -> None:
    sender = Sender()
    sender.source.tick(sender.now + PATIENCE_S + 1)
    sender.hear()
    assert (sender.code, sender.source.refused_token) == (1008, True)
    sender = Sender().checked()
    sender.now += push.PING_EVERY_S + 1
    sender.source.tick(sender.now)
    sender.hear()  # the package answers
    sender.carry()
    sender.now += PATIENCE_S + 1
    sender.source.tick(sender.now)
    assert not sender.source.ended
    sender.source.tick(sender.now + PATIENCE_S + 1)  # that ping was not answered
    assert sender.source.ended


def test_a_good_bye_of_either_side_ends_it() -> None:
    sender = Sender().checked()
    sender.client.send_close(1000, "done")
    sender.carry()
    assert sender.source.ended
    sender = Sender().checked()
    sender.source.close("the gateway is shut down")
    sender.hear()
    assert (sender.code, sender.reason) == (1001, "the gateway is shut down")


def test_bytes_may_come_one_by_one() -> None:
    sender = Sender()
    for told in ({"token": TOKEN}, SAMPLE):
        sender.client.send_text(json.dumps(told).encode())
        for data in sender.client.data_to_send():
            for byte in data:
                sender.source.received(bytes([byte]), sender.now)
    sender.hear()
    assert sender.texts == [{"ok": True}]


def test_garbage_before_the_handshake_is_refused() -> None:
    source = PushSource(SCREEN, Gate(TOKEN))
    source.connected(0.0)
    assert source.received(b"POST / HTTP/1.1\r\nHost: a\r\n\r\n" + b"x" * 100, 0.0) == []
    assert (source.ended, source.admitted) == (True, False)
    source = PushSource(SCREEN, Gate(TOKEN))
    source.connected(0.0)
    with pytest.raises(WireError):
        source.received(b"\xff" * 20_000, 0.0)
    assert source.ended
