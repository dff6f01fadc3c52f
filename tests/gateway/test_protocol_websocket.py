# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""WebSocket: a browser's dialogue, which pages may read, and what happens to frames."""

from __future__ import annotations

import base64
import json
import math
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import headset, normalised
from gazeveil.errors import PrivacyError, WireError
from gazeveil.gateway.protocol import StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.json_gaze import MOST_BYTES
from gazeveil.gateway.protocols.websocket import WebSocketSink, WebSocketSource
from gazeveil.gateway.protocols.websocket_connection import GOING_AWAY, may_read
from gazeveil.gateway.sample import RawSample
from gazeveil.testing import veiled_hit, veiled_sample
from tests.gateway.loopback import SCREEN, serving
from tests.gateway.transcript import replay

pytest.importorskip("websockets")

FRACTIONS = ViewingPlane(normalised())
KEY = base64.b64encode(b"sixteen bytes ok").decode()


def request(**headers: str) -> bytes:
    lines = {
        "Host": "127.0.0.1:7381",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": KEY,
        **headers,
    }
    return ("GET / HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n").encode()


def frame(opcode: int, payload: bytes, *, fin: bool = True) -> bytes:
    """What a client sends: masked, here by zeros."""
    size = bytes((0x80 | len(payload),)) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes((opcode | (0x80 if fin else 0),)) + size + b"\0\0\0\0" + payload


def opened(shown: StreamFacts | None = None) -> WebSocketSink:
    """A sink after the handshake, its greeting read."""
    sink = WebSocketSink(shown or StreamFacts(SCREEN))
    sink.connected(0.0)
    sink.received(request(), 0.0)
    assert sink.data_to_send().startswith(b"HTTP/1.1 101 ")
    return sink


def joined(plane: ViewingPlane = FRACTIONS) -> tuple[WebSocketSource, WebSocketSink]:
    """A source and a sink that have shaken hands."""
    source, sink = WebSocketSource(plane), WebSocketSink(StreamFacts(plane))
    source.connected(0.0)
    sink.connected(0.0)
    sink.received(source.data_to_send(), 0.0)
    assert source.received(sink.data_to_send(), 0.0) == []
    return source, sink


@pytest.mark.parametrize("piece", [None, 1, 7])
def test_a_browsers_dialogue_is_led_again_byte_for_byte(piece: int | None) -> None:
    sink = WebSocketSink(StreamFacts(SCREEN, rate_hz=2, guarantee="p"))
    assert replay("websocket_chromium", sink, piece=piece) == 6
    assert sink.ended


def test_a_page_from_elsewhere_is_refused_in_http() -> None:
    sink = WebSocketSink(StreamFacts(SCREEN))
    assert replay("websocket_chromium_elsewhere", sink) == 1
    assert sink.ended
    sink.show(veiled_sample(1.0, 2.0, 3.0), 0.0)
    assert sink.data_to_send() == b""


@pytest.mark.parametrize(
    ("origins", "may"),
    [
        ([], True),
        (["http://localhost"], True),
        (["http://localhost:3000"], True),
        (["https://127.0.0.1:8443"], True),
        (["http://[::1]:8000"], True),
        (["https://listed.example"], True),
        (["null"], False),
        ([""], False),
        (["http://evil.example"], False),
        (["https://listed.example:444"], False),
        (["http://localhost.evil.example"], False),
        (["http://127.0.0.1.evil.example"], False),
        (["http://localhost@evil.example"], False),
        (["file://localhost"], False),
        (["http://["], False),
        (["http://localhost", "http://evil.example"], False),
    ],
)
def test_pages_of_this_machine_and_listed_ones_may_read(origins: list[str], may: bool) -> None:
    assert may_read(origins, ("https://listed.example",)) is may
    sink = WebSocketSink(StreamFacts(SCREEN, origins=("https://listed.example",)))
    head = request()[:-2] + b"".join(f"Origin: {origin}\r\n".encode() for origin in origins) + b"\r\n"
    sink.received(head, 0.0)
    assert sink.data_to_send().startswith(b"HTTP/1.1 101 " if may else b"HTTP/1.1 403 ")
    assert sink.ended is not may


def test_nothing_is_shown_before_the_handshake() -> None:
    sink = WebSocketSink(StreamFacts(SCREEN))
    sink.connected(0.0)
    sink.show(veiled_sample(1.0, 2.0, 3.0), 0.0)
    sink.silence(0.0)
    assert sink.data_to_send() == b""
    sink.end("over", 0.0)
    assert sink.data_to_send() == b""
    assert sink.ended


def test_a_plain_web_request_is_answered_in_http_and_closed() -> None:
    sink = WebSocketSink(StreamFacts(SCREEN))
    sink.received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0.0)
    assert sink.data_to_send().startswith(b"HTTP/1.1 426 ")
    assert sink.ended


@pytest.mark.parametrize("head", [b"\x16\x03\x01secret\r\n\r\n", b"x" * 20_000, b"GET / HTTP/1.1\r\nsecret\r\n\r\n"])
def test_what_is_no_web_request_is_refused_and_not_quoted(head: bytes) -> None:
    with pytest.raises(WireError) as refused:
        WebSocketSink(StreamFacts(SCREEN)).received(head, 0.0)
    assert "secret" not in str(refused.value)


def test_compression_is_not_agreed_to() -> None:
    sink = WebSocketSink(StreamFacts(SCREEN))
    sink.received(request(**{"Sec-WebSocket-Extensions": "permessage-deflate"}), 0.0)
    assert b"permessage-deflate" not in sink.data_to_send()


def test_pings_are_answered_and_texts_of_the_app_ignored() -> None:
    sink = opened()
    sink.received(frame(1, b'{"please": "raw"}') + frame(9, b"there?"), 0.0)
    assert sink.data_to_send() == b"\x8a\x06there?"
    assert not sink.ended


def test_an_app_that_does_not_answer_pings_is_dropped() -> None:
    sink = opened()
    sink.tick(19.0)
    assert sink.data_to_send() == b""
    sink.tick(21.0)
    assert sink.data_to_send() == b"\x89\x00"
    sink.received(frame(10, b""), 22.0)
    sink.tick(31.5)
    assert not sink.ended
    sink.tick(43.0)
    assert sink.data_to_send() == b"\x89\x00"
    sink.tick(54.0)
    assert sink.ended


def test_an_app_that_never_shakes_hands_is_dropped() -> None:
    sink = WebSocketSink(StreamFacts(SCREEN))
    sink.connected(100.0)
    sink.tick(109.0)
    assert not sink.ended
    sink.tick(111.0)
    assert sink.ended


@pytest.mark.parametrize("broken", [b"\x83\x80\0\0\0\0", b"\x81\x05hello", b"\xf1\x80\0\0\0\0"])
def test_frames_that_break_the_protocol_are_refused(broken: bytes) -> None:
    with pytest.raises(WireError):
        opened().received(broken, 0.0)


def test_an_app_that_sends_too_much_is_refused() -> None:
    with pytest.raises(WireError):
        opened().received(b"\x81\xff" + (MOST_BYTES + 1).to_bytes(8, "big") + b"\0\0\0\0", 0.0)


@pytest.mark.parametrize("code", [1008, GOING_AWAY])
def test_the_end_is_told_as_a_message_and_as_a_close_code(code: int) -> None:
    sink = opened()
    reason = "the budget of today is spent " + "é" * 100
    sink.end(reason, 0.0, code)
    sent = sink.data_to_send()
    assert reason.encode() in sent
    close = sent.rindex(b"\x88")
    assert sent[close + 2 : close + 4] == code.to_bytes(2, "big")
    assert len(sent) - close <= 127
    sent[close + 4 :].decode()
    assert sink.ended
    sink.show(veiled_sample(1.0, 2.0, 3.0), 0.0)
    assert sink.data_to_send() == b""


@pytest.mark.parametrize("length", [5, 125, 126, 70_000])
def test_messages_of_every_length_are_framed(length: int) -> None:
    source, sink = joined()
    sink.end("x" * length, 0.0)
    if length < MOST_BYTES:
        assert source.received(sink.data_to_send(), 0.0) == []
    else:
        with pytest.raises(WireError):
            source.received(sink.data_to_send(), 0.0)


def test_an_app_that_may_have_samples_gets_no_hits() -> None:
    with pytest.raises(PrivacyError):
        opened().show(veiled_hit(1.0, "menu"), 0.0)


def test_a_source_reads_what_a_sink_writes_and_answers_its_pings() -> None:
    source, sink = joined()
    sink.show(veiled_sample(1.5, 0.25, 0.75), 0.0)
    sink.show(veiled_sample(1.6, math.nan, 0.75), 0.0)
    sink.tick(30.0)
    first, second = source.received(sink.data_to_send(), 0.0)
    assert (first.t, first.x, first.y) == (1.5, 0.25, 0.75)
    assert math.isnan(second.x)
    sink.received(source.data_to_send(), 30.0)
    sink.tick(41.0)
    assert not sink.ended


def test_a_headset_runtime_may_push_yaw_and_pitch_in_pieces() -> None:
    source, _ = joined(ViewingPlane(headset(100, 90)))
    parts = (b'\x01\x0a{"t": 1, "', b"\x89\x02hi", b"\x80\x14" + b'yaw": 5, "pitch": 2}')
    found = [sample for part in parts for sample in source.received(part, 0.0)]
    assert [(sample.t, sample.x, sample.y) for sample in found] == [(1.0, 5.0, -2.0)]
    assert len(source.data_to_send()) == 2 + 4 + 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"secret\r\n\r\n",
    ],
)
def test_a_tracker_that_does_not_agree_is_refused(answer: bytes) -> None:
    source = WebSocketSource(FRACTIONS)
    source.connected(0.0)
    with pytest.raises(WireError) as refused:
        source.received(answer, 0.0)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "broken", [b"\x81\x06secret", b"\x81\x86\0\0\0\0secret", b"\x81\x7f" + b"\x7f" * 8, b"\x81\x01\xff"]
)
def test_a_tracker_that_sends_garbage_is_refused(broken: bytes) -> None:
    source, _ = joined()
    with pytest.raises(WireError) as refused:
        source.received(broken, 0.0)
    assert "secret" not in str(refused.value)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_however_bytes_are_cut_the_dialogue_is_the_same(data: st.DataObject) -> None:
    points = data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=5))
    source, sink = joined()
    for i, (x, y) in enumerate(points):
        sink.show(veiled_sample(i, x / 4, y / 4), 0.0)
    found = [sample for piece in _cut(data, sink.data_to_send()) for sample in source.received(piece, 0.0)]
    assert [(sample.t, sample.x, sample.y) for sample in found] == [
        (i, x / 4, y / 4) for i, (x, y) in enumerate(points)
    ]
    whole, cut = WebSocketSink(StreamFacts(SCREEN)), WebSocketSink(StreamFacts(SCREEN))
    said = request() + frame(9, b"one") + frame(1, b"text") + frame(9, b"two") + frame(8, b"")
    whole.received(said, 0.0)
    for piece in _cut(data, said):
        cut.received(piece, 0.0)
    assert cut.data_to_send() == whole.data_to_send()
    assert cut.ended
    assert whole.ended


def _cut(data: st.DataObject, stream: bytes) -> Iterator[bytes]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        yield stream[begin:end]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=100), st.sampled_from([b"", b"\x81\x10", b"\x81\x7e\x00\x40", b"\x01\x02{}"]))
def test_any_bytes_are_read_or_refused(stream: bytes, start: bytes) -> None:
    source, sink = joined()
    for receiver in (source, sink, WebSocketSink(StreamFacts(SCREEN))):
        try:
            found = receiver.received(start + stream, 0.0)
        except WireError:
            continue
        assert found is None or all(type(sample) is RawSample for sample in found)


def test_frames_are_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        source, sink = joined()
        sink.show(veiled_sample(1.5, 0.123456, 0.75), 0.0)
        source.received(sink.data_to_send(), 0.0)
    assert caplog.text == ""


def test_the_client_of_the_websockets_package_reads_over_a_real_socket() -> None:
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    with serving("websocket", rate_hz=200.0) as tap:
        with connect(f"ws://127.0.0.1:{tap.port}", open_timeout=10) as app:
            heard = [json.loads(app.recv(10)) for _ in range(10)]
        with pytest.raises(ConnectionClosed):
            list(iter(partial(app.recv, 1), None))  # what had come before, and then nothing more
    assert heard[0]["type"] == "hello"
    assert [(message["x"], message["y"]) for message in heard[1:]] == [(0.25, 0.25)] * 9
    assert tap.faults == []


@contextmanager
def pages() -> Iterator[int]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


LISTEN = """port => new Promise(done => {
    const heard = [], socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    socket.onmessage = message => { heard.push(JSON.parse(message.data)); if (heard.length == 5) socket.close(); };
    socket.onclose = () => done(heard);
})"""


def test_a_real_browser_lets_pages_of_this_machine_read_and_no_others() -> None:
    browsers = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    elsewhere = "--host-resolver-rules=MAP pages.example 127.0.0.1"
    with pages() as port, browsers.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", elsewhere])
        heard = {}
        for host in ("localhost", "pages.example"):
            with serving("websocket", rate_hz=100.0) as tap:
                page = browser.new_page()
                page.goto(f"http://{host}:{port}/")
                heard[host] = page.evaluate(LISTEN, tap.port)
        browser.close()
    assert [message["x"] for message in heard["localhost"][1:]] == [0.25] * 4
    assert heard["pages.example"] == []
