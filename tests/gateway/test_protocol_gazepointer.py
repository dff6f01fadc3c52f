# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""GazePointer in both its dialects: what apps ask and hear, what trackers say, and what neither can do."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazeveil.errors import GeometryError, PrivacyError, WireError
from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.gazepointer import (
    LONGEST_KEY,
    PATIENCE,
    GazePointerSink,
    GazePointerSource,
    Strings,
    packed,
)
from gazeveil.gateway.sample import RawSample
from gazeveil.geometry import normalised
from gazeveil.testing import veiled_fixation, veiled_sample
from tests.gateway.loopback import SCREEN
from tests.gateway.transcript import replay

pytest.importorskip("websockets")

HELLO = b"xml\x0aAppKeyDemo"
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1:43333\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def a_sink(**shown) -> GazePointerSink:
    sink = GazePointerSink(StreamFacts(SCREEN, **shown))
    sink.connected(0.0)
    return sink


def masked(text: bytes, opcode: int = 0x81) -> bytes:
    """A short frame as a browser sends it; a mask of zeros is a mask too."""
    return bytes((opcode, 0x80 | len(text), 0, 0, 0, 0)) + text


def a_browser(origin: bytes | None = None, **shown) -> tuple[GazePointerSink, bytes]:
    sink = a_sink(**shown)
    sink.received(UPGRADE + (b"Origin: %s\r\n" % origin if origin else b"") + b"\r\n", 0.0)
    return sink, sink.data_to_send()


def strings(data: bytes) -> list[str]:
    return Strings(1 << 16).feed(data)


def texts(data: bytes) -> list[str]:
    found = []
    while data:
        assert data[0] == 0x81
        size, start = (data[1], 2) if data[1] < 126 else (int.from_bytes(data[2:4], "big"), 4)
        found.append(data[start : start + size].decode())
        data = data[start + size :]
    return found


@pytest.mark.parametrize("piece", [None, 1, 3])
@pytest.mark.parametrize("name", ["gazepointer_tcp", "gazepointer_chromium", "gazepointer_chromium_ended"])
def test_the_dialogue_is_as_it_was_recorded(name: str, piece: int | None) -> None:
    assert replay(name, a_sink(), piece=piece) >= 3


def test_an_app_that_names_a_key_gets_records_of_a_point_and_a_head_that_never_moves() -> None:
    sink = a_sink()
    sink.show(veiled_sample(1.0, 480.0, 270.0), 0.0)
    assert sink.data_to_send() == b""
    sink.received(HELLO, 0.0)
    assert strings(sink.data_to_send()) == ["ok"]
    sink.show(veiled_sample(1.1, 480.0, 270.126), 0.0)
    [record] = strings(sink.data_to_send())
    found = dict(re.findall(r"<(\w+)>([^<]+)</\1>", record))
    assert record.startswith("<CGazeData>")
    assert found == {"GazeX": "480.00", "GazeY": "270.13", **dict.fromkeys(heads(), "0")}
    assert {*found, "CGazeData"} == set(PROTOCOLS["gazepointer"].leaves)


def heads() -> list[str]:
    return ["HeadX", "HeadY", "HeadZ", "HeadYaw", "HeadPitch", "HeadRoll"]


def test_a_browser_gets_the_same_as_json() -> None:
    sink, answer = a_browser()
    assert answer.startswith(b"HTTP/1.1 101 ")
    sink.show(veiled_sample(1.0, 480.0, 270.0), 0.0)
    assert sink.data_to_send() == b""
    sink.received(masked(b"AppKeyDemo"), 0.0)
    sink.show(veiled_sample(1.1, 480.0, 270.0), 0.0)
    status, record = texts(sink.data_to_send())
    assert status == "ok"
    assert json.loads(record) == {"GazeX": 480.0, "GazeY": 270.0, **dict.fromkeys(heads(), 0)}


def test_a_browser_may_send_its_key_in_parts_and_is_answered_its_pings() -> None:
    sink, _ = a_browser()
    sink.received(masked(b"AppKey", opcode=0x01) + masked(b"hi", opcode=0x89) + masked(b"Demo", opcode=0x80), 0.0)
    assert sink.data_to_send() in (b"\x8a\x02hi\x81\x02ok", b"\x81\x02ok\x8a\x02hi")


@pytest.mark.parametrize(
    ("origin", "listed", "allowed"),
    [
        (None, (), True),
        (b"http://localhost:8000", (), True),
        (b"http://127.0.0.1", (), True),
        (b"https://example.org", (), False),
        (b"https://example.org", ("https://example.org",), True),
        (b"null", (), False),
        (b"null", ("null",), True),
    ],
)
def test_a_web_page_from_elsewhere_may_not_read_unless_it_is_listed(
    origin: bytes | None, listed: tuple[str, ...], allowed: bool
) -> None:
    sink, answer = a_browser(origin, origins=listed)
    assert answer.startswith(b"HTTP/1.1 101 " if allowed else b"HTTP/1.1 403 ")
    assert sink.ended is not allowed
    sink.received(masked(b"AppKeyDemo"), 0.0)
    sink.show(veiled_sample(1.0, 480.0, 270.0), 0.0)
    assert (b"GazeX" in sink.data_to_send()) is allowed


def test_a_browser_that_closes_is_let_go() -> None:
    sink, _ = a_browser()
    sink.received(masked(b"\x03\xe8", opcode=0x88), 0.0)
    assert sink.ended
    assert sink.data_to_send() == b"\x88\x02\x03\xe8"


def test_without_a_point_nothing_is_said() -> None:
    sink = a_sink()
    sink.received(HELLO, 0.0)
    sink.data_to_send()
    for x, y in ((math.nan, math.nan), (math.inf, 0.0), (0.0, -math.inf)):
        sink.show(veiled_sample(1.0, x, y), 0.0)
    sink.silence(0.0)
    assert sink.data_to_send() == b""


def test_an_app_that_may_have_fixations_gets_them_and_no_samples() -> None:
    sink = a_sink(output="fixations")
    sink.received(HELLO, 0.0)
    sink.data_to_send()
    sink.show(veiled_fixation(5.0, 960.0, 540.0, 0.25, 7), 0.0)
    assert "<GazeX>960.00<" in strings(sink.data_to_send())[0]
    with pytest.raises(PrivacyError):
        sink.show(veiled_sample(5.1, 0.0, 0.0), 0.0)


def test_raw_gaze_is_refused() -> None:
    with pytest.raises(PrivacyError):
        a_sink().show(RawSample(0.0, 1.0, 1.0), 0.0)  # type: ignore[arg-type]


def test_a_plane_without_pixels_is_refused_at_once() -> None:
    for make in (
        lambda: GazePointerSink(StreamFacts(ViewingPlane(normalised()))),
        lambda: GazePointerSource(ViewingPlane(normalised())),
    ):
        with pytest.raises(GeometryError):
            make()


def test_an_end_says_why_in_both_dialects_and_nothing_follows() -> None:
    sink = a_sink()
    sink.received(HELLO, 0.0)
    sink.data_to_send()
    sink.end("spent", 0.0)
    assert strings(sink.data_to_send()) == ["closed: spent"]
    browser, _ = a_browser()
    browser.received(masked(b"AppKeyDemo"), 0.0)
    browser.data_to_send()
    browser.end("spent" * 99, 0.0)
    farewell = browser.data_to_send()
    assert farewell[0] == 0x88
    assert farewell[2:4] == (1008).to_bytes(2, "big")
    assert farewell[4:].startswith(b"spentspent")
    for ended in (sink, browser):
        ended.show(veiled_sample(1.0, 0.0, 0.0), 0.0)
        assert ended.ended
        assert ended.data_to_send() == b""


def test_an_end_before_anything_was_said_is_silent() -> None:
    sink = a_sink()
    sink.end("spent", 0.0)
    assert (sink.ended, sink.data_to_send()) == (True, b"")


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"json\x03abc",
        b"xml" + b"\xff" * 5,
        b"xml" + packed("x" * (LONGEST_KEY + 1)),
        b"xml\x02\xff\xff",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GETTYSBURG\r\n\r\n",
        b"GET " + b"x" * 20000,
        UPGRADE + b"\r\n" + b"\xff\xff\xff",
        UPGRADE + b"\r\n" + b"\x81\x05hello",
        UPGRADE + b"\r\n" + masked(b"\xff\xfe"),
        UPGRADE + b"\r\n\x81\xff" + (1 << 40).to_bytes(8, "big") + b"\0\0\0\0",
    ],
)
def test_what_is_neither_dialect_is_refused_without_being_repeated(data: bytes) -> None:
    sink = a_sink()
    refused = False
    try:
        sink.received(data, 0.0)
    except WireError as error:
        refused = True
        assert repr(data)[2:20] not in str(error)  # noqa: PT017
    assert refused or sink.ended
    assert b"ok" not in sink.data_to_send()


def test_an_app_that_names_no_key_is_dropped() -> None:
    silent, welcome = a_sink(), a_sink()
    silent.received(b"xm", 0.0)
    welcome.received(HELLO, 0.0)
    for sink in (silent, welcome):
        sink.tick(PATIENCE)
        assert not sink.ended
        sink.tick(PATIENCE + 0.1)
    assert silent.ended
    assert not welcome.ended


def test_what_an_app_says_after_its_key_is_not_kept() -> None:
    sink = a_sink()
    sink.received(HELLO + b"and more" * 100, 0.0)
    for _ in range(100):
        sink.received(b"x" * 65536, 0.0)
    assert sink._strings is not None
    assert len(sink._strings._waiting) < LONGEST_KEY


# --- strings ---------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=300)), st.data())
def test_it_does_not_matter_where_strings_are_cut(said: list[str], data: st.DataObject) -> None:
    wire = b"".join(map(packed, said))
    cuts = data.draw(st.lists(st.integers(0, len(wire)), max_size=6))
    collector, found = Strings(1 << 16), []
    for begin, end in pairwise([0, *sorted(cuts), len(wire)]):
        found += collector.feed(wire[begin:end])
    assert found == said


def test_lengths_are_as_dotnet_writes_them() -> None:
    assert packed("") == b"\x00"
    assert packed("x" * 127)[:1] == b"\x7f"
    assert packed("x" * 128)[:2] == b"\x80\x01"
    assert packed("é" * 150)[:2] == b"\xac\x02"
    assert packed("x" * 20000)[:3] == b"\xa0\x9c\x01"


# --- source ----------------------------------------------------------------------------------------------------------


def a_source(dialect: Any = "tcp") -> GazePointerSource:
    source = GazePointerSource(SCREEN, dialect)
    source.connected(0.0)
    return source


def record(x: str, y: str) -> bytes:
    return packed(
        '<?xml version="1.0" encoding="utf-16"?>\r\n<CGazeData xmlns:xsd="http://www.w3.org/2001/XMLSchema">\r\n'
        f"  <GazeX>{x}</GazeX>\r\n  <GazeY>{y}</GazeY>\r\n  <HeadX>3</HeadX>\r\n</CGazeData>"
    )


def test_a_source_names_its_key_and_reads_points_at_the_time_they_come() -> None:
    source = a_source()
    assert source.data_to_send() == HELLO
    assert source.received(packed("ok welcome"), 5.0) == []
    first, second = source.received(record("480.5", "2.7E+2") + record("1", "2"), 6.5)
    assert (first.t, first.x, first.y) == pytest.approx((6.5, 480.5, 270.0))
    assert (second.x, second.y) == pytest.approx((1.0, 2.0))


@pytest.mark.parametrize("number", ["NaN", "INF", "-INF", "1E+30", "1,5", "x"])
def test_a_number_that_cannot_be_gaze_is_no_gaze(number: str) -> None:
    source = a_source()
    source.received(packed("ok"), 0.0)
    [sample] = source.received(record(number, "5"), 0.0)
    assert math.isnan(sample.x)
    assert math.isnan(sample.y)


@pytest.mark.parametrize("said", ["no", "", "invalid key"])
def test_a_tracker_that_refuses_the_key_is_left(said: str) -> None:
    with pytest.raises(WireError):
        a_source().received(packed(said), 0.0)


@pytest.mark.parametrize("said", ["closed: spent", "<CGazeData />", "<GazeX>1</GazeX>", "<!DOCTYPE a []>", "{}"])
def test_a_text_without_a_point_is_refused(said: str) -> None:
    source = a_source()
    source.received(packed("ok"), 0.0)
    with pytest.raises(WireError) as caught:
        source.received(packed(said), 0.0)
    assert said not in str(caught.value)


@pytest.mark.parametrize("dialect", ["tcp", "websocket"])
@pytest.mark.parametrize("piece", [1, 5, 1 << 16])
def test_a_source_understands_a_sink(dialect: str, piece: int) -> None:
    sink, source, found = a_sink(), a_source(dialect), []

    def talk() -> None:
        for _ in range(4):
            asked, said = source.data_to_send(), sink.data_to_send()
            for begin in range(0, len(asked), piece):
                sink.received(asked[begin : begin + piece], 0.0)
            for begin in range(0, len(said), piece):
                found.extend(source.received(said[begin : begin + piece], 7.0))

    talk()
    sink.show(veiled_sample(3.0, 960.0, 270.0), 0.0)
    sink.show(veiled_sample(3.1, math.nan, math.nan), 0.0)
    sink.show(veiled_sample(3.2, 1.25, 2.5), 0.0)
    talk()
    assert [(sample.t, sample.x, sample.y) for sample in found] == [
        pytest.approx((7.0, 960.0, 270.0)),
        pytest.approx((7.0, 1.25, 2.5)),
    ]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"GazeX":1,"GazeY":2}', (1.0, 2.0)),
        ('{"GazeX":NaN,"GazeY":2}', None),
        ('{"GazeX":"1","GazeY":2}', None),
        ('{"GazeX":' + "9" * 5000 + ',"GazeY":2}', None),
        ("[" * 30000, WireError),
        ('{"GazeX":1}', WireError),
        ("hello", WireError),
    ],
)
def test_json_records_are_points_or_refused(text: str, outcome: Any) -> None:
    source, sink = a_source("websocket"), a_sink()
    sink.received(source.data_to_send(), 0.0)
    source.received(sink.data_to_send(), 0.0)
    sink.received(source.data_to_send(), 0.0)
    source.received(sink.data_to_send(), 0.0)
    sink._send(text)
    if outcome is WireError:
        with pytest.raises(WireError):
            source.received(sink.data_to_send(), 0.0)
        return
    [sample] = source.received(sink.data_to_send(), 0.0)
    if outcome is None:
        assert math.isnan(sample.x)
    else:
        assert (sample.x, sample.y) == pytest.approx(outcome)


def test_an_answer_that_is_no_websocket_is_refused() -> None:
    source = a_source("websocket")
    with pytest.raises(WireError):
        source.received(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", 0.0)
    with pytest.raises(WireError):
        a_source("websocket").received(b"\x02ok\r\n", 0.0)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=30), st.sampled_from([HELLO, packed("ok"), record("1", "2")])), max_size=6)
)
@example([UPGRADE + b"\r\n", b"\x81"])
@example([UPGRADE + b"Content-Length: 9\r\n\r\n", b"body"])
def test_whatever_comes_in_is_understood_or_refused(pieces: list[bytes]) -> None:
    for end in (a_source(), a_source("websocket"), a_sink()):
        try:
            for piece in pieces:
                end.received(piece, 0.0)
        except WireError:
            continue
