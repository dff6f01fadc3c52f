# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every wire protocol, whoever wrote it: a new one is tested as soon as it is registered."""

from __future__ import annotations

import json
import math
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from gazeveil.errors import PrivacyError, WireError
from gazeveil.gateway.protocol import PROTOCOLS, Gate, Output, Protocol, PushedSource, Sink, Source, StreamFacts
from gazeveil.gateway.protocols.gazepointer import packed
from gazeveil.gateway.protocols.rtsp import Frame, Messages
from gazeveil.gateway.sample import RawSample, Veiled, VeiledSample
from gazeveil.testing import veiled_fixation, veiled_hit, veiled_sample
from tests.gateway.loopback import SCREEN
from tests.gateway.neon_phone import asking_for, packet, report

for _package in ("msgspec", "websockets"):
    pytest.importorskip(_package)

EVERY = pytest.mark.parametrize("protocol", list(PROTOCOLS.values()), ids=PROTOCOLS.names())
TWO_SIDED = [protocol for protocol in PROTOCOLS.values() if protocol.source and protocol.sink]
BOTH_SIDES = pytest.mark.parametrize("protocol", TWO_SIDED, ids=[protocol.name for protocol in TWO_SIDED])
LISTENERS = [protocol for protocol in PROTOCOLS.values() if protocol.listener]
LISTENING = pytest.mark.parametrize("protocol", LISTENERS, ids=[protocol.name for protocol in LISTENERS])
OUTPUTS = pytest.mark.parametrize(
    ("protocol", "output"),
    [(protocol, output) for protocol in PROTOCOLS.values() for output in sorted(protocol.outputs)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)

THINGS: dict[Output, Veiled] = {
    "samples": veiled_sample(2.0, 480.0, 810.0),
    "fixations": veiled_fixation(2.0, 480.0, 810.0, 0.5, 3),
    "hits": veiled_hit(2.0, "menu"),
}


class Forged(VeiledSample):  # type: ignore[misc]
    """Not even what calls itself a veiled sample is one."""

    __slots__ = ()


FORGERIES = [
    RawSample(1.0, 2.0, 3.0),
    SimpleNamespace(t=1.0, x=2.0, y=3.0),
    (1.0, 2.0, 3.0),
    VeiledSample,
    object.__new__(Forged),
    object.__new__(Veiled),
    None,
]


def pump(source: Source, sink: Sink) -> list[RawSample]:
    """Carry bytes to and fro until nobody has anything to say."""
    found: list[RawSample] = []
    for _ in range(50):
        asked, said = source.data_to_send(), sink.data_to_send()
        if not asked and not said:
            return found
        if asked:
            sink.received(asked, 0.0)
        if said:
            found += source.received(said, 0.0)
    raise AssertionError("they never stop talking")


def joined(protocol: Protocol, output: Output = "samples") -> tuple[Source, Sink]:
    """A source and a sink of one protocol that have finished greeting each other."""
    assert protocol.source is not None
    assert protocol.sink is not None
    source, sink = protocol.source(SCREEN), protocol.sink(StreamFacts(SCREEN, output=output, areas=("menu",)))
    sink.connected(0.0)
    source.connected(0.0)
    pump(source, sink)
    return source, sink


def carried(protocol: Protocol, veiled: Sequence[Veiled]) -> list[RawSample]:
    """What the source of a protocol reads when its sink shows something."""
    if protocol.transport == "tcp":
        source, sink = joined(protocol)
        for thing in veiled:
            sink.show(thing, 0.0)
        return pump(source, sink)
    assert protocol.source is not None
    assert protocol.sink is not None
    reader, writer = protocol.source(SCREEN), protocol.sink(StreamFacts(SCREEN))
    if protocol.transport == "zmq":
        return [s for thing in veiled for message in writer.show(thing, 0.0) for s in reader.message(message, 0.0)]
    reader.described(writer.description.channels)
    return [reader.sample(*writer.show(thing, 0.0)) for thing in veiled]


def keys(value: object) -> set[str]:
    """Every key in nested maps and lists."""
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys(inner)}
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def fields_in(data: bytes) -> set[str]:
    """Whatever looks like the name of a field: XML's attributes and elements, JSON's keys."""
    text = data.decode("latin-1")
    return {name for found in re.findall(r'(\w+)="|<(\w+)>|"(\w+)":', text) for name in found if name}


def _names_in_packets(data: bytes) -> set[str]:
    """What Pupil Labs' client calls the fields of packets, by their lengths; a report is a time."""
    known = {9: "x, y, worn", 28: "timestamp", 4: "event_type"}
    point = "start_gaze_x, start_gaze_y, end_gaze_x, end_gaze_y, mean_gaze_x, mean_gaze_y"
    still = "amplitude_pixels, amplitude_angle_deg, mean_velocity, max_velocity"
    found = set()
    for one in Messages().feed(data):
        assert isinstance(one, Frame)
        size = len(one.data) - (0 if one.channel else 12)
        found |= (
            {"event_type", "start_time_ns", "end_time_ns", point, still} if size == 60 else set(known[size].split(", "))
        )
    return found


NAMES: dict[str, Callable[[bytes], set[str]]] = {"neon": _names_in_packets}
"""For protocols that are not text: what the names of the fields in some bytes are."""


def shown_fields(protocol: Protocol, output: Output) -> set[str]:
    """The names of all fields in which a sink shows one veiled thing, falls silent and ends."""
    if protocol.transport == "tcp":
        if protocol.name == "neon" and output == "fixations":  # no source asks for these
            assert protocol.sink is not None
            sink = protocol.sink(StreamFacts(SCREEN, output=output))
            sink.received(asking_for("eye_events"), 0.0)
            sink.data_to_send()
        else:
            _, sink = joined(protocol, output)
        sink.show(THINGS[output], 0.0)
        sink.silence(0.0)
        sink.end("the budget is spent", 0.0)
        told = sink.data_to_send()
        return NAMES[protocol.name](told) if protocol.name in NAMES else fields_in(told)
    assert protocol.sink is not None
    writer = protocol.sink(StreamFacts(SCREEN, output=output, areas=("menu",), blank_pupils=True))
    if protocol.transport == "zmq":
        import msgspec

        writer.answer([b"C"], 0.0)
        messages = [
            *writer.notices(),
            *writer.show(THINGS[output], 0.0),
            *writer.silence(0.0),
            *writer.end("the budget is spent", 0.0),
        ]
        return {key for _, packed_ in messages for key in keys(msgspec.msgpack.decode(packed_))}
    values, _ = writer.show(THINGS[output], 0.0)
    labels = [channel.label for channel in writer.description.channels]
    assert len(labels) == len(values)
    return set(labels)


def test_the_protocols_that_are_promised_are_there() -> None:
    promised = {"opengaze", "pupil", "lsl", "eyetribe", "gazepointer", "websocket", "jsonlines", "push", "pushlines"}
    promised |= {"neon"}
    assert promised <= set(PROTOCOLS.names())
    assert {protocol.name for protocol in (*TWO_SIDED, *LISTENERS)} == set(PROTOCOLS.names())


@EVERY
def test_what_leaves_and_what_does_not_is_listed_with_reasons(protocol: Protocol) -> None:
    assert protocol.leaves
    assert protocol.withheld
    assert not set(protocol.leaves) & set(protocol.withheld)
    for name, reason in (*protocol.leaves.items(), *protocol.withheld.items()):
        assert name
        assert reason.strip()


@OUTPUTS
def test_a_sink_takes_only_what_a_veil_made(protocol: Protocol, output: Output) -> None:
    assert protocol.sink is not None
    sink = protocol.sink(StreamFacts(SCREEN, output=output, areas=("menu",)))
    for forgery in FORGERIES:
        with pytest.raises(PrivacyError):
            sink.show(forgery, 0.0)


@OUTPUTS
def test_a_sink_takes_only_what_its_app_may_have(protocol: Protocol, output: Output) -> None:
    assert protocol.sink is not None
    sink = protocol.sink(StreamFacts(SCREEN, output=output, areas=("menu",)))
    if protocol.transport == "tcp":
        sink.connected(0.0)
    for kind, thing in THINGS.items():
        if kind == output:
            sink.show(thing, 0.0)
        else:
            with pytest.raises(PrivacyError):
                sink.show(thing, 0.0)


@OUTPUTS
def test_no_field_off_the_list_leaves(protocol: Protocol, output: Output) -> None:
    found = shown_fields(protocol, output)
    assert found
    assert found <= set(protocol.leaves)


@BOTH_SIDES
def test_a_source_understands_its_own_sink(protocol: Protocol) -> None:
    points = [(100.0 + 37.5 * i, 900.0 - 61.25 * i) for i in range(12)]
    found = carried(protocol, [veiled_sample(1.0 + i / 60, *point) for i, point in enumerate(points)])
    assert all(type(sample) is RawSample for sample in found)
    assert len(found) == len(points)
    for sample, (x, y) in zip(found, points, strict=True):
        assert math.hypot(sample.x - x, sample.y - y) < 0.75  # the coarsest of them counts in whole pixels


@BOTH_SIDES
def test_a_missing_point_is_missing_at_the_other_end(protocol: Protocol) -> None:
    found = carried(protocol, [veiled_sample(1.0, 480.0, 270.0), veiled_sample(1.1, math.nan, math.nan)])
    assert [math.isnan(sample.x) for sample in found] in ([False, True], [False])  # or says nothing at all


def _rich_opengaze() -> bytes:
    gaze = 'TIME="1.5" BPOGX="0.25" BPOGY="0.75" BPOGV="1"'
    pupil = 'LPCX="0.31415" LPCY="0.31415" LPD="31.415" LPS="1" LPV="1"'
    eye = 'LEYEX="0.0314" LEYEY="0.03" LEYEZ="0.6" LPUPILD="0.003" LPUPILV="1"'
    return f'<REC CNT="3" {gaze} {pupil} {eye} BKID="0" BKDUR="0.0" BKPMIN="17" UNHEARDOF="31.415" />\r\n'.encode()


def _rich_eyetribe() -> bytes:
    eye = {"raw": {"x": 1, "y": 2}, "avg": {"x": 1, "y": 2}, "psize": 31.415, "pcenter": {"x": 0.3, "y": 0.3}}
    point = {"x": 480.0, "y": 810.0}
    frame = {"timestamp": "2026-11-15 12:00:00.000", "time": 1500, "fix": False, "state": 7, "raw": point, "avg": point}
    values = {"frame": {**frame, "lefteye": eye, "righteye": eye}}
    return json.dumps({"category": "tracker", "statuscode": 200, "values": values}).encode() + b"\n"


def _rich_gazepointer() -> bytes:
    head = "".join(f"<Head{name}>31.415</Head{name}>" for name in ("X", "Y", "Z", "Yaw", "Pitch", "Roll"))
    return packed("ok") + packed(f"<CGazeData><GazeX>480</GazeX><GazeY>810</GazeY>{head}</CGazeData>")


def _rich_neon() -> bytes:
    everything = struct.pack("!ffB24f", 400.0, 900.0, 255, *[31.415] * 24)
    packets = [(1, report(1.5, 7)), (0, packet(9, 7, everything)), (5, b"31.415")]
    return b"".join(struct.pack("!cBH", b"$", channel, len(data)) + data for channel, data in packets)


_RICH_JSON = (
    b'{"t":1.5,"x":480,"y":810,"pupil":31.415,"left":{"x":1,"y":2},"origin":[1,2,3],"blink":0.5,"confidence":0.9}'
)

RICH: dict[str, Callable[[], bytes]] = {
    "opengaze": _rich_opengaze,
    "eyetribe": _rich_eyetribe,
    "neon": _rich_neon,
    "gazepointer": _rich_gazepointer,
    "jsonlines": lambda: _RICH_JSON + b"\n",
    "websocket": lambda: bytes((0x81, len(_RICH_JSON))) + _RICH_JSON,
}


@pytest.mark.parametrize("name", sorted(RICH))
def test_of_all_that_a_tracker_sends_a_source_keeps_time_and_point(name: str) -> None:
    protocol = PROTOCOLS[name]
    if name == "gazepointer":  # its greeting is part of the stream
        assert protocol.source is not None
        source: Any = protocol.source(SCREEN)
        source.connected(0.0)
    else:
        source, _ = joined(protocol)
    found = source.received(RICH[name](), 1.5)
    assert [(type(sample), sample.t, sample.x, sample.y) for sample in found] == [(RawSample, 1.5, 480.0, 810.0)]


def test_every_protocol_over_tcp_has_a_rich_stream_here() -> None:
    assert set(RICH) == {protocol.name for protocol in TWO_SIDED if protocol.transport == "tcp"}


def _over_websocket(texts: Sequence[str]) -> list[bytes]:
    from websockets.client import ClientProtocol
    from websockets.protocol import State
    from websockets.uri import parse_uri

    client = ClientProtocol(parse_uri("ws://127.0.0.1/"))
    client.send_request(client.connect())
    said = client.data_to_send()
    client.state = State.OPEN
    for text in texts:
        client.send_text(text.encode())
        said.append(b"".join(client.data_to_send()))
    return said


def _in_lines(texts: Sequence[str]) -> list[bytes]:
    return [b"", *(f"{text}\n".encode() for text in texts)]


SENT: dict[str, Callable[[Sequence[str]], list[bytes]]] = {"push": _over_websocket, "pushlines": _in_lines}
"""For every protocol in which gaze is sent to the gateway: what a sender sends to say some texts."""

_TOKEN = '{"token": "right"}'
_CLEAN = [f'{{"t": {n / 10}, "x": 0.25, "y": 0.75}}' for n in range(20)]


def sent(protocol: Protocol, texts: Sequence[str], gate: Gate | None = None) -> tuple[PushedSource, list[RawSample]]:
    """What a listener makes of some texts, said ten times a second."""
    assert protocol.listener is not None
    source, found = protocol.listener(SCREEN, gate or Gate("right")), []
    source.connected(0.0)
    for n, data in enumerate(SENT[protocol.name](texts)):
        found += source.received(data, n / 10)
    return source, found


def test_every_protocol_that_listens_has_a_sender_here() -> None:
    assert set(SENT) == {protocol.name for protocol in LISTENERS}


@LISTENING
def test_a_listener_lets_nothing_in_before_the_token(protocol: Protocol) -> None:
    source, found = sent(protocol, [_TOKEN, *_CLEAN])
    assert source.admitted
    assert {(type(sample), sample.x, sample.y) for sample in found} == {(RawSample, 480.0, 810.0)}
    for first in ('{"token": "wrong"}', _CLEAN[0], '{"token": ""}'):
        source, found = sent(protocol, [])
        refused, *later = SENT[protocol.name]([first, _TOKEN, *_CLEAN])[1:]
        with pytest.raises(WireError):
            source.received(refused, 0.0)
        for n, data in enumerate(later):
            found += source.received(data, n / 10)
        assert (source.admitted, source.ended, source.refused_token, found) == (False, True, True, [])


@LISTENING
def test_a_listener_refuses_what_else_a_sender_may_tell(protocol: Protocol) -> None:
    for told in ('"pupil": 31.415', '"left": {"x": 1}', '"confidence": 1', '"unit": "px"'):
        with pytest.raises(WireError) as refused:
            sent(protocol, [_TOKEN, f'{{"t": 1, "x": 0.5, "y": 0.5, {told}}}'])
        assert "31.415" not in str(refused.value)


@LISTENING
def test_a_listener_says_only_what_is_on_its_list(protocol: Protocol) -> None:
    source, _ = sent(protocol, [_TOKEN])
    said = source.data_to_send()
    with pytest.raises(WireError):
        source.received(SENT[protocol.name](["31.415"])[-1], 1.0)
    said += source.data_to_send()
    assert {"ok", "error"} <= fields_in(said) <= set(protocol.leaves)
    assert b"31.415" not in said


WITHOUT_EXTRAS = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"zmq", "msgpack", "msgspec", "pylsl", "websockets"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from gazeveil.errors import MissingExtra
from gazeveil.gateway.protocol import PROTOCOLS, Gate, StreamFacts, ViewingPlane
from gazeveil import screen

plane = ViewingPlane(screen(1920, 1080))
for protocol in PROTOCOLS.values():
    try:
        if protocol.listener:
            protocol.listener(plane, Gate("token"))
        else:
            protocol.sink(StreamFacts(plane)), protocol.source(plane)
    except MissingExtra as missing:
        print(protocol.name, "needs", missing.extra)
    else:
        print(protocol.name, "works")
"""


def test_without_the_extra_every_protocol_is_known_and_says_what_it_needs() -> None:
    said = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=True, timeout=60
    )
    found = dict(line.split(" ", 1) for line in said.stdout.splitlines())
    assert set(found) == set(PROTOCOLS.names())
    assert set(found.values()) == {"works", "needs live"}
    assert found["jsonlines"] == found["opengaze"] == found["pushlines"] == "works"
