# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""JSON lines, and the JSON objects that WebSocket carries too."""

from __future__ import annotations

import json
import math
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import headset, normalised, screen
from gazeveil.errors import GeometryError, PrivacyError, WireError
from gazeveil.gateway.protocol import StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.json_gaze import MOST_BYTES, JsonFields, JsonReader, decode_plainly
from gazeveil.gateway.protocols.jsonlines import JsonLinesSink, JsonLinesSource
from gazeveil.gateway.sample import RawSample
from gazeveil.testing import veiled_fixation, veiled_hit, veiled_sample
from tests.gateway.loopback import SCREEN, serving

FRACTIONS = ViewingPlane(normalised())


def read(
    plane: ViewingPlane, *messages: str | bytes, fields: JsonFields | None = None
) -> list[tuple[float, float, float]]:
    data = b"".join((message.encode() if isinstance(message, str) else message) + b"\n" for message in messages)
    return [(sample.t, sample.x, sample.y) for sample in JsonLinesSource(plane, fields).received(data, 0.0)]


def written(sink: JsonLinesSink) -> list[dict[str, object]]:
    return [json.loads(line) for line in sink.data_to_send().splitlines()]


@pytest.mark.parametrize(
    ("plane", "message", "point"),
    [
        (FRACTIONS, '{"t": 1, "x": 0.25, "y": 0.75}', (0.25, 0.75)),
        (ViewingPlane(screen(1000, 500)), '{"t": 1, "x": 250, "y": 100}', (250, 100)),
        (ViewingPlane(screen(1000, 500)), '{"t": 1, "x": 0.25, "y": 0.2, "unit": "norm"}', (250, 100)),
        (ViewingPlane(normalised(1000, 500)), '{"t": 1, "x": 250, "y": 100, "unit": "px"}', (0.25, 0.2)),
        (ViewingPlane(headset(100, 90)), '{"t": 1, "yaw": 10.5, "pitch": 5}', (10.5, -5)),
        (ViewingPlane(headset(100, 90)), '{"t": 1, "x": 10, "y": 5}', (10, 5)),
        (ViewingPlane(headset(100, 90)), '{"t": 1, "x": 0.75, "y": 0.5, "unit": "norm"}', (25, 0)),
        (SCREEN, '{"t": 1, "x": 0, "y": 0, "unit": "deg"}', (960, 540)),
        (FRACTIONS, '{"t": 1, "x": 0.5, "y": 0.5, "type": "gaze", "valid": 1}', (0.5, 0.5)),
    ],
)
def test_gaze_is_read_in_whatever_unit_it_comes(plane: ViewingPlane, message: str, point: tuple[float, float]) -> None:
    ((t, x, y),) = read(plane, message)
    assert t == 1.0
    assert (x, y) == pytest.approx(point)


def test_a_trackers_own_names_can_be_declared() -> None:
    fields = JsonFields(t="time", x="gx", y="gy", unit="px", second=1000.0, up=True)
    ((t, x, y),) = read(
        ViewingPlane(normalised(1000, 500)),
        '{"time": 1700000000500, "gx": 250, "gy": 400, "pupil": 3.1}',
        fields=fields,
    )
    assert (t, x) == (1700000000.5, 0.25)
    assert y == pytest.approx(0.2)


def test_declared_units_that_the_plane_does_not_know_are_refused_at_once() -> None:
    with pytest.raises(GeometryError):
        JsonLinesSource(FRACTIONS, JsonFields(unit="px"))


@pytest.mark.parametrize(
    "message",
    [
        '{"t": 1, "x": null, "y": null}',
        '{"t": 1, "x": NaN, "y": 0.5}',
        '{"t": 1, "x": Infinity, "y": 0.5}',
        '{"t": 1, "x": 1e999, "y": 0.5}',
        '{"t": 1, "x": 1e300, "y": 0.5}',
        f'{{"t": 1, "x": {"9" * 400}, "y": 0.5}}',
        '{"t": 1, "x": "0.5", "y": 0.5}',
        '{"t": 1, "x": true, "y": 0.5}',
        '{"t": 1, "x": [0.5], "y": 0.5}',
        '{"t": 1, "x": 0.5, "y": 0.5, "valid": false}',
        '{"t": 1, "x": 0.5, "y": 0.5, "valid": {}}',
    ],
)
def test_what_is_no_place_is_missing_gaze(message: str) -> None:
    ((_, x, y),) = read(FRACTIONS, message)
    assert math.isnan(x)
    assert math.isnan(y)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "  ",
        "{}",
        '{"x": 0.5, "y": 0.5}',
        '{"t": null, "x": 0.5, "y": 0.5}',
        '{"t": NaN, "x": 0.5, "y": 0.5}',
        '{"t": 1e300, "x": 0.5, "y": 0.5}',
        f'{{"t": {"9" * 400}, "x": 0.5, "y": 0.5}}',
        '{"t": 1, "battery": 80}',
        '{"type": "hello", "t": 1, "x": 0.5, "y": 0.5}',
        '{"type": ["gaze"], "t": 1, "x": 0.5, "y": 0.5}',
    ],
)
def test_other_messages_hold_no_sample(message: str) -> None:
    assert read(FRACTIONS, message) == []


@pytest.mark.parametrize(
    "message",
    [
        "secret",
        "[1, 2]",
        "1",
        '{"t": 1, "x": 0.5',
        "[" * 60_000,
        '{"a":' * 12_000,
        f'{{"t": {"9" * 5000}}}',
        b"\xff\xfe{\x00}\x00",
        b'{"t": 1, "x": \xff}',
        '{"t": 1, "x": 5, "y": 5, "unit": "px"}',
        '{"t": 1, "x": 5, "y": 5, "unit": []}',
        '{"t": 1, "yaw": 5, "pitch": 5}',
        "{" + " " * MOST_BYTES + "}",
    ],
    ids=range(13),
)
def test_garbage_is_refused_and_not_quoted(message: str | bytes) -> None:
    with pytest.raises(WireError) as refused:
        read(FRACTIONS, message)
    assert "secret" not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    source = JsonLinesSource(FRACTIONS)
    assert source.received(b" " * MOST_BYTES, 0.0) == []
    with pytest.raises(WireError, match="longer"):
        source.received(b" ", 0.0)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_however_bytes_are_cut_the_samples_are_the_same(data: st.DataObject) -> None:
    points = data.draw(st.lists(st.tuples(st.floats(-1, 2), st.floats(-1, 2)), max_size=6))
    stream = b"".join(b'{"t":%d,"x":%r,"y":%r}\r\n\n' % (i, x, y) for i, (x, y) in enumerate(points))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    source = JsonLinesSource(FRACTIONS)
    found = []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += source.received(stream[begin:end], 0.0)
    assert [(sample.t, sample.x, sample.y) for sample in found] == [(i, *point) for i, point in enumerate(points)]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,txyunitp0123456789.eE+-nul \n', max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused(stream: bytes) -> None:
    try:
        found = JsonLinesSource(FRACTIONS).received(stream, 0.0)
    except WireError:
        return
    assert all(type(sample) is RawSample for sample in found)


_VALUES: st.SearchStrategy[object] = st.one_of(
    st.floats(),
    st.integers(-(10**30), 10**30),
    st.sampled_from([None, True, False, "norm", "px", "gaze", "\ud800", "é", [], {}, {"x": [1]}]),
)
_NAMES = st.sampled_from(["t", "x", "y", "unit", "valid", "type", "yaw", "pitch", "pupil"])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(_NAMES, _VALUES), st.integers(0, 200))
def test_the_quick_reader_and_pythons_own_agree(message: dict[str, object], cut: int) -> None:
    pytest.importorskip("msgspec")
    quick, plain = JsonReader(FRACTIONS, JsonFields()), JsonReader(FRACTIONS, JsonFields())
    plain._decode = decode_plainly

    def outcome(reader: JsonReader, data: bytes) -> object:
        try:
            sample = reader.read(data)
        except WireError as error:
            return error.message
        return sample and repr((sample.t, sample.x, sample.y))

    whole = json.dumps(message).encode()
    for data in (whole, whole[:cut], whole[cut:]):
        if data:
            assert outcome(quick, data) == outcome(plain, data)


def test_the_first_line_says_what_comes_and_under_which_promise() -> None:
    sink = JsonLinesSink(StreamFacts(SCREEN, rate_hz=30.0, guarantee="ε = 1.5 in any 1.5 s"))
    sink.connected(0.0)
    (hello,) = written(sink)
    assert hello["type"] == "hello"
    assert (hello["version"], hello["unit"], hello["rate_hz"], hello["output"]) == (1, "norm", 30.0, "samples")
    assert hello["guarantee"] == "ε = 1.5 in any 1.5 s"


def test_points_are_fractions_of_a_screen_and_degrees_of_a_headset() -> None:
    for plane, unit, point in ((SCREEN, "norm", (0.5, 0.25)), (ViewingPlane(headset()), "deg", (960.0, 270.0))):
        sink = JsonLinesSink(StreamFacts(plane))
        sink.show(veiled_sample(1.5, 960.0, 270.0), 0.0)
        assert written(sink) == [{"t": 1.5, "x": point[0], "y": point[1], "unit": unit, "valid": True}]


@pytest.mark.parametrize("x", [math.nan, math.inf])
def test_a_missing_point_is_null(x: float) -> None:
    sink = JsonLinesSink(StreamFacts(SCREEN))
    sink.show(veiled_sample(1.5, x, 5.0), 0.0)
    assert written(sink) == [{"t": 1.5, "x": None, "y": None, "unit": "norm", "valid": False}]


def test_fixations_hits_silence_and_the_end_say_what_they_are() -> None:
    sink = JsonLinesSink(StreamFacts(SCREEN, output="fixations"))
    sink.show(veiled_fixation(2.0, 960.0, 540.0, 0.25, 3), 0.0)
    assert written(sink) == [
        {"type": "fixation", "t": 2.0, "x": 0.5, "y": 0.5, "unit": "norm", "duration": 0.25, "number": 3}
    ]
    sink = JsonLinesSink(StreamFacts(SCREEN, output="hits"))
    sink.show(veiled_hit(2.0, 'the "menu"\n'), 0.0)
    sink.show(veiled_hit(3.0, ""), 0.0)
    sink.silence(0.0)
    sink.end("the budget is spent", 0.0)
    sink.show(veiled_hit(4.0, "menu"), 0.0)
    assert written(sink) == [
        {"type": "hit", "t": 2.0, "area": 'the "menu"\n'},
        {"type": "hit", "t": 3.0, "area": None},
        {"type": "silence"},
        {"type": "end", "reason": "the budget is spent"},
    ]
    assert sink.ended


def test_an_app_that_may_have_hits_gets_no_points() -> None:
    with pytest.raises(PrivacyError):
        JsonLinesSink(StreamFacts(SCREEN, output="hits")).show(veiled_sample(1.0, 2.0, 3.0), 0.0)


def test_a_browser_that_is_made_to_knock_is_cut_off() -> None:
    sink = JsonLinesSink(StreamFacts(SCREEN))
    sink.received(b"\r\n", 0.0)
    with pytest.raises(WireError):
        sink.received(b"GET / HTTP/1.1\r\n\r\n", 0.0)


def test_over_a_real_socket_lines_come_as_they_are_due() -> None:
    with serving("jsonlines", rate_hz=200.0) as tap, socket.create_connection(("127.0.0.1", tap.port), 10) as app:
        lines = app.makefile("rb")
        with lines:
            heard = [json.loads(lines.readline()) for _ in range(20)]
    assert heard[0]["type"] == "hello"
    assert [line["t"] for line in heard[1:4]] == [0.0, 0.005, 0.01]
    assert (heard[1]["x"], heard[1]["y"]) == (0.25, 0.25)
