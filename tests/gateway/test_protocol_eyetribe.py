# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The EyeTribe API: what apps ask and hear, what trackers say, and what neither can do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazeveil.errors import GeometryError, PrivacyError, WireError
from gazeveil.gateway.protocol import MOST_WAITING, PROTOCOLS, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.eyetribe import (
    MOST_DEPTH,
    SILENT_FOR,
    EyeTribeSink,
    EyeTribeSource,
    JsonObjects,
    plainly,
    quickest,
)
from gazeveil.gateway.sample import RawSample
from gazeveil.geometry import normalised
from gazeveil.testing import veiled_fixation, veiled_sample
from tests.gateway.loopback import SCREEN
from tests.gateway.transcript import replay


def a_sink(**shown) -> EyeTribeSink:
    sink = EyeTribeSink(StreamFacts(SCREEN, **shown))
    sink.connected(0.0)
    return sink


def replies(sink: EyeTribeSink) -> list[dict[str, Any]]:
    data = sink.data_to_send()
    assert not data or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def ask(sink: EyeTribeSink, category: str, request: str | None = None, values: Any = None) -> dict[str, Any]:
    message = {"category": category, "request": request, "values": values}
    sink.received(json.dumps({key: value for key, value in message.items() if value is not None}).encode(), 0.0)
    [reply] = replies(sink)
    return reply


def names(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(names, value.values()))
    return set().union(*map(names, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("piece", [None, 1, 7])
@pytest.mark.parametrize("client", ["eyetribe_pytribe", "eyetribe_pygaze"])
def test_the_dialogue_with_pytribe_is_as_it_was_recorded(client: str, piece: int | None) -> None:
    assert replay(client, a_sink(), piece=piece) > 35


def test_frames_are_pushed_once_an_app_asks_for_them() -> None:
    sink = a_sink()
    sink.show(veiled_sample(1.0, 480.0, 270.0), 0.0)
    assert replies(sink) == []
    assert ask(sink, "tracker", "set", {"push": True, "version": 1})["statuscode"] == 200
    sink.show(veiled_sample(1.25, 480.0, 270.0), 0.0)
    [reply] = replies(sink)
    assert (reply["category"], reply["statuscode"]) == ("tracker", 200)
    frame = reply["values"]["frame"]
    point = {"x": 480.0, "y": 270.0}
    eye = {"raw": point, "avg": point, "psize": 0.0, "pcenter": {"x": 0.0, "y": 0.0}}
    assert frame == {
        "timestamp": "1970-01-01 00:00:01.250",
        "time": 1250,
        "fix": False,
        "state": 7,
        "raw": point,
        "avg": point,
        "lefteye": eye,
        "righteye": eye,
    }
    ask(sink, "tracker", "set", {"push": "false"})  # PyTribe puts it into quotes
    sink.show(veiled_sample(1.3, 480.0, 270.0), 0.0)
    assert replies(sink) == []


def test_a_frame_can_be_asked_for_at_any_time() -> None:
    sink = a_sink()
    assert ask(sink, "tracker", "get", ["frame"])["values"]["frame"]["state"] == 16
    sink.show(veiled_sample(1.0, 480.0, 270.0), 0.0)
    assert ask(sink, "tracker", "get", ["frame", "push"])["values"]["frame"]["raw"] == {"x": 480.0, "y": 270.0}
    sink.show(veiled_sample(1.1, math.nan, math.nan), 0.0)
    frame = ask(sink, "tracker", "get", ["frame"])["values"]["frame"]
    assert (frame["state"], frame["raw"], frame["fix"]) == (8, {"x": 0.0, "y": 0.0}, False)
    sink.show(veiled_sample(1.2, 480.0, 270.0), 0.0)
    sink.silence(0.0)
    assert ask(sink, "tracker", "get", ["frame"])["values"]["frame"]["state"] == 16


def test_everything_that_leaves_is_on_the_list() -> None:
    sink = a_sink()
    known = ask(sink, "tracker", "get", ["frame"])
    everything = list(sink._values())
    said = [known, ask(sink, "tracker", "get", everything), ask(sink, "tracker", "set", {"push": True})]
    said += [ask(sink, "calibration", "start", {"pointcount": 1}), ask(sink, "calibration", "pointend")]
    said += [ask(sink, "heartbeat"), ask(sink, "tracker", "get", ["eyes"])]
    sink.end("spent", 0.0)
    assert names([*said, *replies(sink)]) == set(PROTOCOLS["eyetribe"].leaves)


def test_resting_is_told_from_the_veiled_points() -> None:
    sink = a_sink()
    ask(sink, "tracker", "set", {"push": True})
    for n in range(12):
        sink.show(veiled_sample(n / 60, 480.0, 270.0), 0.0)
    sink.show(veiled_sample(0.2, 1400.0, 900.0), 0.0)
    assert [reply["values"]["frame"]["fix"] for reply in replies(sink)] == [False] * 6 + [True] * 6 + [False]


def test_an_app_that_may_have_fixations_gets_them_and_no_samples() -> None:
    sink = a_sink(output="fixations")
    ask(sink, "tracker", "set", {"push": True})
    sink.show(veiled_fixation(5.0, 960.0, 540.0, 0.25, 7), 0.0)
    [reply] = replies(sink)
    frame = reply["values"]["frame"]
    assert (frame["time"], frame["fix"], frame["avg"]) == (5000, True, {"x": 960.0, "y": 540.0})
    with pytest.raises(PrivacyError):
        sink.show(veiled_sample(5.1, 0.0, 0.0), 0.0)


def test_raw_gaze_is_refused() -> None:
    with pytest.raises(PrivacyError):
        a_sink().show(RawSample(0.0, 1.0, 1.0), 0.0)  # type: ignore[arg-type]


def test_a_plane_without_pixels_is_refused_at_once() -> None:
    with pytest.raises(GeometryError):
        EyeTribeSink(StreamFacts(ViewingPlane(normalised())))


@pytest.mark.parametrize(
    ("request_", "values"),
    [
        ("get", ["eyeimage"]),
        ("get", ["push", "secret"]),
        ("get", []),
        ("get", {"push": True}),
        ("get", None),
        ("get", [["push"], 5]),
        ("set", {"puss": True}),
        ("set", {"iscalibrated": False}),
        ("set", {"push": 5}),
        ("set", {"push": []}),
        ("set", ["push"]),
        ("set", {}),
        ("take", ["push"]),
    ],
)
def test_what_cannot_be_asked_has_status_400(request_: str, values: Any) -> None:
    reply = ask(a_sink(), "tracker", request_, values)
    assert reply["statuscode"] == 400
    assert reply["values"]["statusmessage"]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"category": "eyes"},
        {"category": []},
        {"category": "calibration", "request": []},
        {"category": "tracker", "request": {}},
    ],
)
def test_a_request_of_no_known_kind_has_status_400(message: dict[str, Any]) -> None:
    sink = a_sink()
    sink.received(json.dumps(message).encode(), 0.0)
    assert replies(sink)[0]["statuscode"] == 400


def test_the_screen_is_the_trackers_whatever_an_app_sets() -> None:
    sink = a_sink()
    assert ask(sink, "tracker", "set", {"screenresw": 5})["values"] == {"screenresw": 1920}
    size = ["screenresw", "screenresh", "screenpsyw", "screenpsyh"]
    assert list(ask(sink, "tracker", "get", size)["values"].values()) == [1920, 1080, 0.527, 0.296]


def test_a_calibration_is_answered_and_the_tracker_stays_calibrated() -> None:
    sink = a_sink()
    assert ask(sink, "calibration", "start", {"pointcount": 2})["statuscode"] == 200
    assert ask(sink, "tracker", "get", ["iscalibrating"])["values"] == {"iscalibrating": True}
    for x in (100, 200):
        ask(sink, "calibration", "pointstart", {"x": x, "y": 50})
        last = ask(sink, "calibration", "pointend")
    result = last["values"]["calibresult"]
    assert result["result"] is True
    assert [point["cp"]["x"] for point in result["calibpoints"]] == [100, 200]
    ask(sink, "calibration", "clear")
    told = ask(sink, "tracker", "get", ["iscalibrated", "iscalibrating"])["values"]
    assert told == {"iscalibrated": True, "iscalibrating": False}


@pytest.mark.parametrize("count", [0, 65, 1e9, "7", None, math.nan])
def test_a_calibration_of_no_sensible_length_is_refused(count: object) -> None:
    assert ask(a_sink(), "calibration", "start", {"pointcount": count})["statuscode"] == 400
    assert ask(a_sink(), "calibration", "pointstart", {"x": "here", "y": 0})["statuscode"] == 400


def test_an_app_without_a_heartbeat_is_dropped() -> None:
    sink = a_sink()
    sink.received(b'{"category":"heartbeat"}', 3.0)
    assert replies(sink) == [{"category": "heartbeat", "statuscode": 200}]
    sink.tick(3.0 + SILENT_FOR)
    assert not sink.ended
    sink.tick(3.1 + SILENT_FOR)
    assert sink.ended


def test_an_end_says_why_and_nothing_follows() -> None:
    sink = a_sink()
    ask(sink, "tracker", "set", {"push": True})
    sink.end('spent "all"\n', 0.0)
    [reply] = replies(sink)
    assert sink.ended
    assert (reply["statuscode"], reply["values"]["statusmessage"]) == (802, 'spent "all"\n')
    sink.show(veiled_sample(1.0, 0.0, 0.0), 0.0)
    sink.received(b'{"category":"tracker","request":"get","values":["frame"]}', 0.0)
    assert replies(sink) == []


@pytest.mark.parametrize("t", [-1.0, 0.0, 1e9, 1e11, 4e11])
def test_any_time_has_a_date(t: float) -> None:
    sink = a_sink()
    sink.show(veiled_sample(t, 1.0, 1.0), 0.0)
    frame = ask(sink, "tracker", "get", ["frame"])["values"]["frame"]
    assert frame["time"] == t * 1000
    assert len(frame["timestamp"].split("-")) == 3


@settings(max_examples=100, deadline=None)
@given(st.floats(), st.floats())
@example(math.inf, 0.0)
@example(0.0, math.nan)
def test_every_veiled_point_becomes_a_frame_that_can_be_read(x: float, y: float) -> None:
    sink = a_sink()
    sink.show(veiled_sample(1.0, x, y), 0.0)
    frame = ask(sink, "tracker", "get", ["frame"])["values"]["frame"]
    assert frame["state"] == (7 if abs(x / 1920) <= 1e6 and abs(y / 1080) <= 1e6 else 8)


# --- objects ---------------------------------------------------------------------------------------------------------


def test_objects_are_found_with_and_without_anything_between_them() -> None:
    text = b'{"a":"}{\\"["}{"b":[{}]}\n\r\n {"c":\n{"d":1}} {"e":2}\n'
    assert JsonObjects().feed(text) == [{"a": '}{"['}, {"b": [{}]}, {"c": {"d": 1.0}}, {"e": 2.0}]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.dictionaries(st.text(max_size=4), JSON, max_size=3), st.sampled_from(["", "\n", " ", "\r\n"]))
    ),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.data(),
)
def test_it_does_not_matter_where_objects_are_cut(
    objects: list[tuple[dict[str, Any], str]], indent: int | None, ascii_: bool, data: st.DataObject
) -> None:
    text = "".join(json.dumps(value, indent=indent, ensure_ascii=ascii_) + end for value, end in objects).encode()
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    collector, found = JsonObjects(), []
    for begin, end in pairwise([0, *sorted(cuts), len(text)]):
        found += collector.feed(text[begin:end])
    assert found == [value for value, _ in objects]


@settings(max_examples=150, deadline=None)
@given(JSON.map(json.dumps) | st.text(alphabet='{}[]":,1eE-.+ntrue\\\n', max_size=12), st.booleans())
@example("NaN", False)
@example('{"a":-Infinity}', True)
@example("9" * 5000, False)
@example('"\\ud800"', False)
@example('{"a":1,"a":2}', False)
def test_json_means_the_same_with_and_without_the_quick_decoder(text: str, in_object: bool) -> None:
    pytest.importorskip("msgspec")
    data = bytearray((f'{{"a":{text}}}' if in_object else text).encode())

    def outcome(decode: Callable[[bytearray], Any]) -> str:
        try:
            return json.dumps(decode(data), sort_keys=True, default=repr).replace(".0", "")
        except ValueError:
            return "refused"

    assert quickest() is not plainly
    one, other = outcome(quickest()), outcome(plainly)
    assert one == other or json.loads(one) == json.loads(other)


@pytest.mark.parametrize(
    "text",
    [
        b"[1]\n",
        b"hello",
        b"5\n",
        b"{'a':1}",
        b'{"a":}',
        b"\xff{}",
        b"\x0b{}\n",
        b'{"a":"\xff"}',
        b'{"a":' * (MOST_DEPTH + 1),
        b'{"a":' + b"[" * MOST_DEPTH + b"]" * MOST_DEPTH + b"}\n",
    ],
)
def test_what_is_no_object_is_refused_without_being_repeated(text: bytes) -> None:
    for end in (a_sink(), EyeTribeSource(SCREEN)):
        with pytest.raises(WireError) as caught:
            end.received(text, 0.0)
        assert text.decode(errors="ignore") not in str(caught.value)


def test_an_object_as_deep_as_allowed_is_taken_however_it_comes() -> None:
    text = b'{"a":' + b"[" * (MOST_DEPTH - 1) + b"]" * (MOST_DEPTH - 1) + b"}"
    assert len(JsonObjects().feed(text)) == len(JsonObjects().feed(text + b"\n")) == 1


def test_an_object_without_end_is_cut_off() -> None:
    sink = a_sink()
    sink.received(b'{"a":"', 0.0)
    for _ in range(MOST_WAITING // 65536 - 1):
        sink.received(b"x" * 65536, 0.0)
    with pytest.raises(WireError):
        sink.received(b"x" * 65536, 0.0)
    with pytest.raises(WireError):
        a_sink().received(b'{"a":"' + b"x" * MOST_WAITING + b'"}\n', 0.0)


# --- source ----------------------------------------------------------------------------------------------------------


def a_source(plane: ViewingPlane = SCREEN) -> EyeTribeSource:
    source = EyeTribeSource(plane)
    source.connected(0.0)
    return source


def framed(frame: str) -> bytes:
    return f'{{"category":"tracker","request":"get","statuscode":200,"values":{{"frame":{frame}}}}}\n'.encode()


def test_a_source_asks_for_the_screen_and_for_frames_and_beats() -> None:
    source = a_source()
    asked = [json.loads(line) for line in source.data_to_send().splitlines()]
    assert [(item["category"], item.get("request")) for item in asked] == [
        ("tracker", "get"),
        ("tracker", "set"),
        ("heartbeat", None),
    ]
    source.received(b'{"category":"tracker","request":"set","statuscode":200}\n', 0.1)
    beats = 0
    for n in range(1, 100):
        source.tick(n / 10)
        beats += source.data_to_send() == b'{"category":"heartbeat"}\n'
    assert beats == 9
    source.received(
        b'{"category":"tracker","request":"get","statuscode":200,"values":{"heartbeatinterval":300}}\n', 9.9
    )
    source.tick(10.01)
    assert source.data_to_send() == b'{"category":"heartbeat"}\n'


def test_a_source_asks_again_until_it_is_heard_and_after_a_change() -> None:
    source = a_source()
    source.data_to_send()
    source.tick(1.0)
    assert b'"push":true' in source.data_to_send()
    source.received(b'{"category":"tracker","request":"set","statuscode":200}\n', 1.1)
    source.tick(2.5)
    assert b'"push":true' not in source.data_to_send()
    source.received(b'{"category":"tracker","statuscode":801}\n', 2.6)
    source.tick(3.5)
    assert b'"push":true' in source.data_to_send()


@pytest.mark.parametrize(
    ("frame", "there"),
    [
        ('{"time":2500,"state":7,"raw":{"x":960,"y":270},"avg":{"x":1,"y":1}}', True),
        ('{"time":2500,"state":1,"raw":{"x":960.0,"y":270.0}}', True),
        ('{"time":2500,"state":6,"raw":{"x":960,"y":270}}', False),
        ('{"time":2500,"state":7,"raw":{"x":0,"y":0}}', False),
        ('{"time":2500,"state":7,"raw":{"x":NaN,"y":270}}', False),
        ('{"time":2500,"state":7,"raw":{"x":Infinity,"y":270}}', False),
        ('{"time":2500,"state":7,"raw":{"x":1e999,"y":270}}', False),
        ('{"time":2500,"state":7,"raw":{"x":' + "9" * 5000 + ',"y":270}}', False),
        ('{"time":2500,"state":7,"raw":{"x":"960","y":270}}', False),
        ('{"time":2500,"state":7,"raw":[960,270]}', False),
        ('{"time":2500,"state":7}', False),
        ('{"time":2500,"state":NaN,"raw":{"x":960,"y":270}}', False),
        ('{"time":2500,"state":"7","raw":{"x":960,"y":270}}', False),
        ('{"time":2500}', False),
    ],
)
def test_a_frame_is_a_sample_with_gaze_or_without(frame: str, there: bool) -> None:
    [sample] = a_source().received(framed(frame), 0.0)
    assert sample.t == 2.5
    if there:
        assert (sample.x, sample.y) == pytest.approx((960.0, 270.0))
    else:
        assert math.isnan(sample.x)
        assert math.isnan(sample.y)


@pytest.mark.parametrize(
    "frame", ['{"state":7}', '{"time":"2500"}', '{"time":NaN}', '{"time":1e999}', "[]", "5", "null"]
)
def test_a_frame_without_a_time_is_no_sample(frame: str) -> None:
    assert a_source().received(framed(frame), 0.0) == []


@pytest.mark.parametrize(
    "reply", [b"{}\n", b'{"category":5}\n', b'{"category":"tracker","statuscode":200,"values":[1]}\n']
)
def test_replies_without_a_frame_are_no_samples(reply: bytes) -> None:
    assert a_source().received(reply, 0.0) == []


def test_pixels_are_those_of_the_trackers_own_screen() -> None:
    source = a_source()
    told = b'{"category":"tracker","request":"get","statuscode":200,"values":{"screenresw":960,"screenresh":540}}\n'
    source.received(told, 0.0)
    [sample] = source.received(framed('{"time":1,"state":7,"raw":{"x":480,"y":135}}'), 0.0)
    assert (sample.x, sample.y) == pytest.approx((960.0, 270.0))
    source.received(told.replace(b"960", b"0").replace(b"540", b"NaN"), 0.0)
    [sample] = source.received(framed('{"time":1,"state":7,"raw":{"x":480,"y":135}}'), 0.0)
    assert (sample.x, sample.y) == pytest.approx((960.0, 270.0))


def test_without_any_size_there_is_no_gaze() -> None:
    [sample] = a_source(ViewingPlane(normalised())).received(
        framed('{"time":1,"state":7,"raw":{"x":480,"y":135}}'), 0.0
    )
    assert math.isnan(sample.x)


def test_a_source_understands_a_sink() -> None:
    sink, source = a_sink(), a_source()
    sink.received(source.data_to_send(), 0.0)
    sink.show(veiled_sample(3.0, 960.0, 270.0), 0.0)
    sink.show(veiled_sample(3.1, math.nan, math.nan), 0.0)
    first, second = source.received(sink.data_to_send(), 0.0)
    assert (first.t, first.x, first.y) == (3.0, 960.0, 270.0)
    assert (second.t, math.isnan(second.x)) == (3.1, True)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.dictionaries(
                st.sampled_from(["category", "request", "values", "statuscode"]),
                JSON | st.sampled_from(["tracker", "calibration", "get", "set", "start", ["frame"], 200]),
            ).map(lambda value: json.dumps(value).encode()),
        ),
        max_size=6,
    )
)
def test_whatever_comes_in_is_understood_or_refused(pieces: list[bytes]) -> None:
    for end in (a_source(), a_sink()):
        try:
            for piece in pieces:
                end.received(piece, 0.0)
        except WireError:
            continue
