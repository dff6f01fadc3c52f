# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Labs' real-time API, without sockets: what the source takes, and what the sink tells in each language."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.neon import LEAVES
from gazeveil.gateway.protocols.neon_phone import CAMERAS, LENGTHS, NeonSink, NeonSource, Sensor, components, sensor_in
from gazeveil.gateway.protocols.rtsp import (
    MOST_BODY,
    MOST_HEAD,
    RECEIVER,
    Frame,
    Message,
    Messages,
    Report,
    Sender,
    packet_of,
    report_in,
)
from gazeveil.gateway.sample import RawSample
from gazeveil.geometry import headset, screen
from gazeveil.testing import veiled_fixation, veiled_sample
from tests.gateway.neon_phone import FLOATS, SDP, Phone, asking_for, packet, payload, report
from tests.gateway.test_protocol_contract import fields_in, keys
from tests.gateway.transcript import FOLDER, replay

pytest.importorskip("websockets")

SCENE = ViewingPlane(screen(*CAMERAS["2"]))
STATUS = b"GET /api/status HTTP/1.1\r\nHost: neon.local:8080\r\n\r\n"
UPDATES = (
    b"GET /api/status HTTP/1.1\r\nHost: 10.0.0.7:8080\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def playing(plane: ViewingPlane = SCENE, sensor: Sensor | None = None) -> NeonSource:
    """A source whose every request was answered, and that knows the time 1000 of stamp 0."""
    source = NeonSource(plane, sensor or Sensor())
    source.connected(0.0)
    for number in range(1, 5):
        source.data_to_send()
        body = SDP if number == 2 else ""
        head = f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\nSession: 7;timeout=60\r\nContent-Length: {len(body)}\r\n\r\n"
        assert source.received((head + body).encode(), 0.0) == []
    source.report(report(1000.0, 0))
    return source


def points(found: list[RawSample]) -> list[tuple[float, float, float]]:
    return [(sample.t, sample.x, sample.y) for sample in found]


def sink_of(output: Any = "samples", plane: ViewingPlane = SCENE) -> NeonSink:
    return NeonSink(StreamFacts(plane, output=output, name="game"), unix=1_000_000.0)


def answered(sink: NeonSink, request: bytes, now: float = 0.0) -> tuple[int, Any]:
    sink.received(request, now)
    (answer,) = Messages().feed(sink.data_to_send())
    assert isinstance(answer, Message)
    return answer.status, json.loads(answer.body)


def streamed(data: bytes) -> list[tuple[float, bytes]]:
    """Times and payloads as a client finds them out."""
    told: Report | None = None
    found = []
    for one in Messages().feed(data):
        if isinstance(one, Frame) and one.channel:
            told = report_in(one.data)
        elif isinstance(one, Frame):
            assert told is not None
            found.append((told.time_of(packet_of(one.data).stamp, 90_000), packet_of(one.data).payload))
    return found


def watched(sink: NeonSink, stream: str = "gaze") -> NeonSink:
    sink.connected(0.0)
    sink.received(asking_for(stream), 0.0)
    sink.data_to_send()
    assert sink.wants_gaze
    return sink


# The source


@pytest.mark.parametrize("kind", FLOATS)
def test_of_every_kind_of_payload_the_point_alone_is_taken(kind: str) -> None:
    data = payload(400.0, 300.0, True, (31.415,) * FLOATS[kind])
    assert len(data) in LENGTHS
    assert points(playing().gaze(packet(1, 90_000, data))) == [(1001.0, 400.0, 300.0)]


def test_a_point_without_the_flag_is_taken_and_one_of_each_eye_becomes_their_middle() -> None:
    source = playing()
    assert points(source.gaze(packet(1, 0, struct.pack("!ff", 400.0, 300.0)))) == [(1000.0, 400.0, 300.0)]
    each = struct.pack("!ffBff", 400.0, 300.0, 255, 420.0, 280.0)
    assert points(source.gaze(packet(2, 0, each)))[0] == pytest.approx((1000.0, 410.0, 290.0))
    for left, right in (((400.0, 300.0), (math.nan, 1.0)), ((math.nan, 1.0), (400.0, 300.0))):
        (sample,) = playing().gaze(packet(3, 0, struct.pack("!ffBff", *left, 255, *right)))
        assert (sample.x, sample.y) == (400.0, 300.0)


@pytest.mark.parametrize("data", [payload(400.0, 300.0, False), payload(math.nan, 1.0), payload(1e9, 1.0)])
def test_glasses_that_nobody_wears_have_no_gaze(data: bytes) -> None:
    (sample,) = playing().gaze(packet(1, 0, data))
    assert math.isnan(sample.x)
    assert math.isnan(sample.y)


@pytest.mark.parametrize("size", [0, 7, 10, 16, 64, 104, 106])
def test_a_payload_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(WireError, match="length"):
        playing().gaze(packet(1, 0, bytes(size)))


def test_gaze_has_no_time_before_the_first_report_and_stamps_may_turn_over_after_it() -> None:
    source = NeonSource(SCENE)
    assert source.gaze(packet(1, 0, payload(1.0, 1.0))) == []
    source = playing()
    source.report(report(2000.0, 2**32 - 45_000))
    assert [sample.t for sample in source.gaze(packet(2, 45_000, payload(1.0, 1.0)))] == [2001.0]


def test_packets_that_come_too_late_or_twice_are_left_out() -> None:
    source = playing()
    numbers = [65_534, 65_535, 0, 65_535, 0, 2, 1, 3]
    taken = [number for number in numbers if source.gaze(packet(number, 0, payload(1.0, 1.0)))]
    assert taken == [65_534, 65_535, 0, 2, 3]


def test_a_packet_may_have_sources_an_extension_and_padding() -> None:
    head = (
        struct.pack("!BBHII", 0x80 | 0x20 | 0x10 | 2, 96, 5, 90_000, 7) + bytes(8) + struct.pack("!HH", 1, 1) + bytes(4)
    )
    (sample,) = playing().gaze(head + payload(400.0, 300.0) + b"\0\0\3")
    assert (sample.t, sample.x, sample.y) == (1001.0, 400.0, 300.0)


@pytest.mark.parametrize("data", [b"", b"\x80" * 11, b"\x00" * 21, b"\x9f" + bytes(20), b"\xa0" + bytes(19) + b"\xff"])
def test_what_is_no_packet_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        playing().gaze(data)


@pytest.mark.parametrize("data", [b"\x80", b"\0\0\0\0", b"\x80\xc8\0\1\0\0\0\0", b"\x80\xc8\0\6"])
def test_what_is_no_report_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        report_in(data)


def test_invisible_counts_in_its_own_pixels_and_a_headset_in_degrees() -> None:
    glasses = Sensor(camera=CAMERAS["1"])
    (sample,) = playing(ViewingPlane(screen(1088, 1080)), glasses).gaze(packet(1, 0, payload(544.0, 270.0)))
    assert (sample.x, sample.y) == pytest.approx((544.0, 270.0))
    (sample,) = playing(ViewingPlane(headset(100, 80))).gaze(packet(1, 0, payload(1200.0, 600.0)))
    assert (sample.x, sample.y) == pytest.approx((25.0, 0.0))


def test_a_source_asks_for_datagrams_where_it_awaits_them_and_keeps_its_session_alive() -> None:
    source = NeonSource(SCENE, Sensor(8086, "camera=gaze", interleaved=False), "10.0.0.7", (5000, 5001))
    source.connected(0.0)
    asked = []
    for number in range(1, 5):
        asked.append(source.data_to_send().decode())
        body = SDP if number == 2 else ""
        more = "Content-Base: rtsp://10.0.0.7:8086/there?camera=gaze\r\n" if number == 2 else ""
        head = f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\nSession: 7\r\n{more}Content-Length: {len(body)}\r\n\r\n"
        source.received((head + body).encode(), 0.0)
    assert [text.split(" RTSP")[0] for text in asked] == [
        "OPTIONS rtsp://10.0.0.7:8086/?camera=gaze", "DESCRIBE rtsp://10.0.0.7:8086/?camera=gaze",
        "SETUP rtsp://10.0.0.7:8086/there?camera=gaze", "PLAY rtsp://10.0.0.7:8086/there?camera=gaze",
    ]  # fmt: skip
    assert "Transport: RTP/AVP;unicast;client_port=5000-5001\r\n" in asked[2]
    assert "Session: 7\r\n" in asked[3]
    source.tick(10.0)
    assert source.data_to_send() == b""
    assert source.datagrams == []  # the phone has not said where it would hear them
    source.tick(54.0)
    assert source.data_to_send().startswith(b"OPTIONS ")
    source.received(b"RTSP/1.0 200 OK\r\nCSeq: 5\r\n\r\n", 54.0)
    assert source.data_to_send() == b""


def test_a_source_says_every_five_seconds_that_it_is_there() -> None:
    source = playing()
    for now, sent in ((4.9, b""), (5.0, b"$\1\0\x08" + RECEIVER), (9.0, b""), (10.0, b"$\1\0\x08" + RECEIVER)):
        source.tick(now)
        assert source.data_to_send() == sent
    assert report_in(RECEIVER) is None
    source = NeonSource(SCENE, ports=(5000, 5001))
    source._set_up(Message("", {"session": "7", "transport": "RTP/AVP;server_port=6000-6001"}))
    assert source.datagrams == [(0, 6000, RECEIVER), (1, 6001, RECEIVER)]
    for port in ("0-7", "99999-7"):
        source._set_up(Message("", {"session": "7", "transport": f"RTP/AVP;server_port={port}"}))
    assert len(source.datagrams) == 2


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (["HELLO\r\n\r\n"], "does not speak RTSP"),
        (["RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\n\r\n"], "answer to OPTIONS is 401"),
        (["RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n", "RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n"], "not of gaze"),
        (
            [
                "RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n",
                f"RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: {len(SDP)}\r\n\r\n{SDP}",
                "RTSP/1.0 200 OK\r\nCSeq: 3\r\n\r\n",
            ],
            "no session",
        ),
    ],
)
def test_a_source_says_what_is_wrong_with_the_tracker(answers: list[str], why: str) -> None:
    source = NeonSource(SCENE)
    source.connected(0.0)
    *fine, last = answers
    for answer in fine:
        source.received(answer.encode(), 0.0)
    with pytest.raises(WireError, match=why):
        source.received(last.encode(), 0.0)


def test_of_a_phones_status_the_place_of_gaze_is_taken_and_its_ip_is_not() -> None:
    phone = Phone(version="1", protocol="rtspt", rtsp_port=8086)
    told = {"message": "Success", "result": phone.status()}
    assert sensor_in(json.dumps(told).encode()) == Sensor(8086, "camera=gaze", True, CAMERAS["1"])
    phone = Phone(rtsp_port=8086)
    assert sensor_in(json.dumps({"result": phone.status()}).encode()) == Sensor(8086, "camera=gaze", False)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"connected": False}, "are the glasses connected"),
        ({"conn_type": "WEBSOCKET"}, "are the glasses connected"),
        ({"port": 0}, "port"),
        ({"port": "8086"}, "port"),
        ({"port": True}, "port"),
        ({"params": None}, "address"),
        ({"params": "camera=gaze HTTP/1.1\r\nX: y"}, "address"),
    ],
)
def test_a_status_without_a_usable_place_is_refused(change: dict[str, Any], why: str) -> None:
    gaze = {"sensor": "gaze", "conn_type": "DIRECT", "connected": True, "port": 1, "params": "camera=gaze"}
    told = {"result": [{"model": "Sensor", "data": gaze | change}]}
    with pytest.raises(WireError, match=why):
        sensor_in(json.dumps(told).encode())


@pytest.mark.parametrize("body", [b"", b"7", b"[]", b'{"result": 7}', b'{"result": [7]}', b"[" * 100_000, b"\xff"])
def test_what_is_no_status_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        sensor_in(body)


# Messages


def test_messages_come_out_whole_however_the_bytes_are_cut() -> None:
    said = (
        b"\r\nGET / HTTP/1.1\r\nA: b\r\n\r\n$\1\0\3abc"
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        b"RTSP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nhi"
    )
    whole = list(Messages().feed(said))
    assert [getattr(one, "body", None) or getattr(one, "data", b"") for one in whole] == [b"", b"abc", b"abcde", b"hi"]
    assert isinstance(whole[0], Message)
    assert whole[0].request == ("GET", "/", "HTTP/1.1")
    assert [one.status for one in whole if isinstance(one, Message)] == [0, 200, 404]
    for size in (1, 2, 7):
        messages = Messages()
        assert [one for i in range(0, len(said), size) for one in messages.feed(said[i : i + size])] == whole


@pytest.mark.parametrize(
    "said",
    [
        b"A" * (MOST_HEAD + 1),
        b"GET / HTTP/1.1\r\nno header\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded: no\r\n\r\n",
        b"\xff / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MOST_BODY + 1),
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 301,
    ],
)
def test_messages_that_are_none_or_too_long_are_refused(said: bytes) -> None:
    with pytest.raises(WireError):
        list(Messages().feed(said))


# The sink


def test_a_status_names_where_the_client_came_to_and_nothing_of_any_phone() -> None:
    sink = sink_of()
    code, told = answered(sink, STATUS)
    assert code == 200
    parts = [(part["model"], part["data"]) for part in told["result"]]
    assert [model for model, _ in parts] == ["Phone", "Hardware", "Sensor", "Sensor"]
    phone, glasses, gaze, events = (data for _, data in parts)
    assert (phone["ip"], phone["port"], phone["device_name"], phone["device_id"]) == (
        "neon.local",
        8080,
        "game",
        "gazeveil",
    )
    assert glasses["version"] == "2"
    assert (gaze["sensor"], gaze["connected"], gaze["protocol"], gaze["port"]) == ("gaze", True, "rtspt", 8080)
    assert (events["sensor"], events["connected"]) == ("eye_events", False)
    assert keys(told) <= set(LEAVES)
    assert not sink.ended
    assert answered(sink, STATUS)[0] == 200


def test_no_scene_camera_is_offered_so_no_client_waits_for_one() -> None:
    told = json.dumps(components(StreamFacts(SCENE), ("127.0.0.1", 8080)))
    assert "world" not in told.replace("world_camera_serial", "")
    for stream in ("world", "eyes", "imu", "audio", ""):
        sink = sink_of()
        sink.received(asking_for(stream), 0.0)
        assert sink.data_to_send().count(b"404 Not Found") == 2
        assert not sink.wants_gaze


def test_updates_begin_with_the_whole_status_and_say_why_there_is_no_gaze_and_when_there_is_again() -> None:
    sink = sink_of()
    sink.received(UPDATES, 0.0)
    said = sink.data_to_send()
    assert said.startswith(b"HTTP/1.1 101 ")
    assert b'"ip": "10.0.0.7"' in said
    assert fields_in(said) <= set(LEAVES)
    assert not sink.wants_gaze
    sink.show(veiled_sample(1.0, 800.0, 600.0), 0.0)
    assert sink.data_to_send() == b""
    sink.end("the budget is spent", 0.0)
    last = sink.data_to_send()
    assert b'"message": "the budget is spent"' in last
    assert b'"connected": true' not in last
    assert not sink.ended  # a client that is closed out comes again at once, without end
    for again in (lambda: sink.silence(1.0), lambda: sink.show(veiled_sample(1.0, 800.0, 600.0), 1.0)):
        again()
        assert b'"connected": true' in sink.data_to_send()
        again()
        assert sink.data_to_send() == b""
        sink.end("the budget is spent", 2.0)
        assert b'"message": "the budget is spent"' in sink.data_to_send()


@pytest.mark.parametrize("piece", [None, 1, 7])
@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("neon_*.txt")))
def test_what_pupil_labs_own_client_said_is_answered_the_same_again(name: str, piece: int | None) -> None:
    assert replay(name, sink_of(), piece=piece) > 0


@pytest.mark.parametrize("stream", [True, False])
def test_who_comes_after_the_end_is_told_why(stream: bool) -> None:
    sink = sink_of()
    sink.connected(0.0)
    sink.end("the budget is spent", 0.0)
    assert [sink.ended] == [False]  # it has asked nothing yet
    if stream:
        sink.received(asking_for("gaze"), 0.0)
        assert sink.data_to_send() == b"RTSP/1.0 503 Service Unavailable\r\nCSeq: 1\r\n\r\n"
    else:
        assert answered(sink, STATUS) == (503, {"message": "the budget is spent", "result": None})
    assert sink.ended
    sink = sink_of()
    sink.end("the budget is spent", 0.0)
    sink.received(UPDATES, 0.0)
    assert b'"message": "the budget is spent"' in sink.data_to_send()


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"POST /api/recording:start HTTP/1.1\r\nHost: a\r\n\r\n", 500),
        (b"POST /api/recording:cancel HTTP/1.1\r\nHost: a\r\n\r\n", 500),
        (b"GET /api/template_def HTTP/1.1\r\nHost: a\r\n\r\n", 404),
        (b"GET /api/template_data HTTP/1.1\r\nHost: a\r\n\r\n", 404),
        (b"GET /calibration.bin HTTP/1.1\r\nHost: a\r\n\r\n", 404),
        (b"GET /api/camera_control?camera=world HTTP/1.1\r\nHost: a\r\n\r\n", 404),
        (b"GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://elsewhere.example\r\n\r\n", 403),
    ],
)
def test_what_the_gateway_does_not_have_is_refused_in_the_phones_words(request_: bytes, code: int) -> None:
    sink = sink_of()
    found, told = answered(sink, request_)
    assert (found, told["result"]) == (code, None)
    assert told["message"]
    assert sink.refused_origin == ("http://elsewhere.example" if code == 403 else "")


def test_a_page_from_elsewhere_cannot_follow_the_status() -> None:
    sink = sink_of()
    sink.received(UPDATES.replace(b"Upgrade: w", b"Origin: http://elsewhere.example\r\nUpgrade: w"), 0.0)
    assert sink.data_to_send().startswith(b"HTTP/1.1 403 ")
    assert (sink.refused_origin, sink.ended) == ("http://elsewhere.example", True)


def test_events_of_an_app_are_answered_and_kept_nowhere() -> None:
    for body, stamp in (
        (b'{"name": "a", "timestamp": 77}', 77),
        (b'{"name": "a"}', 1_000_002 * 10**9),
        (b"[", 1_000_002 * 10**9),
    ):
        head = b"POST /api/event HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body)
        code, told = answered(sink_of(), head + body, 2.0)
        assert (code, told["result"]) == (200, {"timestamp": stamp, "recording_id": None})


def test_the_time_is_echoed_with_the_machines_own() -> None:
    sink = sink_of()
    asked = struct.pack("!Q", 1_794_833_514_000)
    sink.received(asked[:5], 1.0)
    assert sink.data_to_send() == b""
    sink.received(asked[5:] + asked, 1.5)
    assert sink.data_to_send() == (asked + struct.pack("!Q", 1_000_001_500)) * 2
    assert not sink.wants_gaze


def test_gaze_is_the_veiled_point_in_the_cameras_pixels_on_the_machines_clock() -> None:
    sink = watched(sink_of(plane=ViewingPlane(screen(1920, 1080))))
    for n in range(3):
        sink.show(veiled_sample(50.0 + n / 10, 480.0, 810.0), 3.0 + n / 10)
    sink.show(veiled_sample(50.3, math.nan, math.nan), 3.3)
    told = streamed(sink.data_to_send())
    assert [t for t, _ in told] == pytest.approx([1_000_003.0, 1_000_003.1, 1_000_003.2, 1_000_003.3], abs=2e-5)
    assert [data for _, data in told[:3]] == [struct.pack("!ffB", 400.0, 900.0, 255)] * 3
    x, y, worn = struct.unpack("!ffB", told[3][1])
    assert (math.isnan(x), math.isnan(y), worn) == (True, True, 0)
    sink = watched(sink_of(plane=ViewingPlane(screen(1088, 1080))))
    sink.show(veiled_sample(50.0, 544.0, 270.0), 3.0)
    assert streamed(sink.data_to_send())[0][1] == struct.pack("!ffB", 544.0, 270.0, 255)


def test_a_stream_that_has_nothing_to_say_says_so_each_second() -> None:
    for output, stream, nothing in (("samples", "gaze", 9), ("fixations", "eye_events", 4)):
        sink = watched(sink_of(output), stream)
        for now in (0.5, 1.0, 1.5, 2.0):
            sink.tick(now)
        told = streamed(sink.data_to_send())
        assert [(round(t - 1_000_000, 3), len(data)) for t, data in told] == [(1.0, nothing), (2.0, nothing)]
        sink.silence(2.5)
        assert len(streamed(b"$\1\0\x1c" + report(0.0, 0)[:28] + sink.data_to_send())) == 1


def test_fixations_alone_are_eye_events() -> None:
    assert [part["data"]["connected"] for part in answered(sink_of("fixations"), STATUS)[1]["result"][2:]] == [
        False,
        True,
    ]
    sink = watched(sink_of("fixations"), "eye_events")
    sink.show(veiled_fixation(60.0, 800.0, 600.0, 0.25, 3), 4.0)
    ((t, data),) = streamed(sink.data_to_send())
    kind, start, end, *rest = struct.unpack("!iqq10f", data)
    assert (kind, end - start) == (1, 250_000_000)
    assert end / 1e9 == pytest.approx(t, abs=2e-5) == 1_000_004.0
    assert rest == [800.0, 600.0] * 3 + [0.0] * 4
    other = sink_of("fixations")
    other.received(asking_for("gaze"), 0.0)
    assert not other.wants_gaze


def test_who_may_have_something_else_from_now_on_is_told_and_the_old_stream_ends() -> None:
    updates, stream = sink_of(), watched(sink_of())
    updates.received(UPDATES, 0.0)
    updates.data_to_send()
    for sink in (updates, stream):
        sink.regrade(StreamFacts(SCENE, output="fixations", name="game"))
    assert b'"sensor": "eye_events", "conn_type": "DIRECT", "connected": true' in updates.data_to_send()
    assert (updates.ended, stream.ended) == (False, True)


def test_a_client_that_wants_datagrams_is_refused_and_one_that_pauses_gets_nothing() -> None:
    sink = sink_of()
    sink.received(
        asking_for("gaze").replace(b"RTP/AVP/TCP;unicast;interleaved=0-1", b"RTP/AVP;unicast;client_port=8-9"), 0.0
    )
    assert b"461 Unsupported Transport" in sink.data_to_send()
    assert not sink.wants_gaze
    sink = watched(sink_of())
    for method, plays in (("PAUSE", False), ("GET_PARAMETER", False), ("PLAY", True), ("GET_PARAMETER", True)):
        sink.received(f"{method} rtsp://a/ RTSP/1.0\r\nCSeq: 9\r\nSession: gazeveil\r\n\r\n$\1\0\1x".encode(), 1.0)
        assert sink.data_to_send().startswith(b"RTSP/1.0 200 OK\r\nCSeq: 9\r\n")
        assert sink.wants_gaze is plays
    sink.received(b"TEARDOWN rtsp://a/ RTSP/1.0\r\nCSeq: 10\r\n\r\n", 1.0)
    assert (sink.wants_gaze, sink.ended) == (False, True)


@pytest.mark.parametrize(
    "said",
    [
        b"GET /api/status HTTP/1.1\r\n\r\n",
        b"GET /api/status HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET /api/status HTTP/1.1\r\nHost: a:99999\r\n\r\n",
        b"GET /api/status SMTP\r\nHost: a\r\n\r\n",
        b"one two\r\n\r\n",
        b"OPTIONS rtsp://a/ RTSP/1.0\r\n\r\n",
        b"A" * (MOST_HEAD + 1),
        UPDATES.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"),
    ],
)
def test_other_requests_are_refused(said: bytes) -> None:
    with pytest.raises(WireError):
        sink_of().received(said, 0.0)


def test_reports_come_first_every_five_seconds_and_when_stamps_turn_over() -> None:
    sender, reported = Sender(96, 90_000), []
    turn = 2**32 / 90_000
    for t in (0.0, 1.0, 4.9, 5.0, 9.0, 10.1, turn - 0.5, turn + 0.5, turn + 0.6):
        first, second = sender.packets(b"x", 1e9 + t)
        if first:
            reported.append(t)
            told = report_in(first)
        assert told is not None
        assert told.time_of(packet_of(second).stamp, 90_000) == pytest.approx(1e9 + t, abs=2e-5)
        assert packet_of(second).stamp >= told.stamp  # a client that knows nothing of turns is right too
    assert reported == [0.0, 5.0, 10.1, turn - 0.5, turn + 0.5]
