# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Core, WebSocket and JSON lines, one sample at a time, against the package that one would use otherwise.

Peers write the same message from a dict, or parse it and pick time and point out. `bench_protocols` measures the other
protocols the same way. A sink of Pupil Core writes two messages a sample, its peer the same two.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.bench_protocols import PLANE, SAMPLES, row
from benchmarks.harness import Row
from gazeveil.gateway.protocol import StreamFacts
from gazeveil.gateway.protocols.jsonlines import JsonLinesSink, JsonLinesSource
from gazeveil.gateway.protocols.pupil import PupilSink, PupilSource
from gazeveil.gateway.protocols.websocket import WebSocketSink, WebSocketSource
from gazeveil.gateway.sample import VeiledSample
from gazeveil.testing import veiled_sample


def run() -> list[Row]:
    veiled = [veiled_sample(n / 120, 960.0 + n % 7 * 3.3, 540.0 + n % 5 * 2.1) for n in range(SAMPLES)]
    return [*pupil(veiled), *json_lines(veiled), *websocket(veiled)]


def pupil(veiled: list[VeiledSample]) -> list[Row]:
    import msgpack

    sink, source = PupilSink(StreamFacts(PLANE)), PupilSource(PLANE)
    shown = [message for _, message in sink.show(veiled[0], 0.0)]
    gaze, surface = map(msgpack.unpackb, shown)
    raw = msgpack.packb({**gaze, "base_data": [PUPIL_DATUM] * 2})

    def peer() -> None:
        for sample in veiled:
            point = [sample.x / 1920, 1 - sample.y / 1080]
            on_surface = {**surface["gaze_on_surfaces"][0], "norm_pos": point, "timestamp": sample.t}
            msgpack.packb({**gaze, "norm_pos": point, "timestamp": sample.t})
            msgpack.packb({**surface, "timestamp": sample.t, "gaze_on_surfaces": [on_surface]})

    def pick() -> None:
        for _ in veiled:
            datum = msgpack.unpackb(raw)
            _ = datum["timestamp"], datum["norm_pos"], datum["confidence"]

    frames = [b"gaze.3d.01.", raw]
    return [
        told(
            "pupil: a sink writes",
            "msgpack",
            lambda: [sink.show(sample, 0.0) for sample in veiled],
            peer,
            len(b"".join(shown)),
        ),
        told("pupil: a source reads", "msgpack", lambda: [source.message(frames, 0.0) for _ in veiled], pick, len(raw)),
    ]


def json_lines(veiled: list[VeiledSample]) -> list[Row]:
    sink, source = JsonLinesSink(StreamFacts(PLANE)), JsonLinesSource(PLANE)
    sink.show(veiled[0], 0.0)
    line = sink.data_to_send()
    return [
        told("jsonlines: a sink writes", "json", partial(show, sink, veiled), partial(dump, veiled), len(line)),
        told(
            "jsonlines: a source reads",
            "json",
            lambda: [source.received(line, 0.0) for _ in veiled],
            lambda: [pick_json(line) for _ in veiled],
            len(line),
        ),
    ]


def websocket(veiled: list[VeiledSample]) -> list[Row]:
    from websockets.client import ClientProtocol
    from websockets.protocol import State
    from websockets.server import ServerProtocol
    from websockets.uri import parse_uri

    sink, source = WebSocketSink(StreamFacts(PLANE)), WebSocketSource(PLANE)
    source.connected(0.0)
    sink.received(source.data_to_send(), 0.0)
    source.received(sink.data_to_send(), 0.0)
    sink.show(veiled[0], 0.0)
    frame = sink.data_to_send()
    server, client = ServerProtocol(state=State.OPEN), ClientProtocol(parse_uri("ws://127.0.0.1/"), state=State.OPEN)

    def send() -> None:
        for message in dump(veiled):
            server.send_text(message)
            server.data_to_send()

    def receive() -> None:
        for _ in veiled:
            source.received(frame, 0.0)

    def pick() -> None:
        for _ in veiled:
            client.receive_data(frame)
            (event,) = client.events_received()
            pick_json(bytes(event.data))  # type: ignore[union-attr]

    return [
        told("websocket: a sink writes", "websockets", partial(show, sink, veiled), send, len(frame)),
        told(
            "websocket: a source reads",
            "websockets",
            lambda: [source.received(frame, 0.0) for _ in veiled],
            pick,
            len(frame),
        ),
    ]


def told(name: str, peer_name: str, ours: Callable[[], object], peer: Callable[[], object], size: int) -> Row:
    # the library below a WebSocket is our own too, so a source can come close to its peer, but not pass it
    target = 0.7 if name == "websocket: a source reads" else 1.0
    return replace(row(name, ours, peer, size), peer=peer_name, target=target)


def show(sink: Any, veiled: list[VeiledSample]) -> None:
    for sample in veiled:
        sink.show(sample, 0.0)
        sink.data_to_send()


def dump(veiled: list[VeiledSample]) -> list[bytes]:
    return [
        json.dumps(
            {
                "t": round(sample.t, 6),
                "x": round(sample.x / 1920, 6),
                "y": round(sample.y / 1080, 6),
                "unit": "norm",
                "valid": True,
            },
            separators=(",", ":"),
        ).encode()
        for sample in veiled
    ]


def pick_json(message: bytes) -> tuple[float, float, float]:
    found = json.loads(message)
    return found["t"], found["x"] * 1920, found["y"] * 1080


PUPIL_DATUM = {
    "id": 0,
    "topic": "pupil.0.3d",
    "method": "pye3d",
    "norm_pos": [0.4, 0.6],
    "diameter": 41.0,
    "timestamp": 9.9,
    "confidence": 0.97,
    "ellipse": {"angle": 12.0, "center": [80.0, 90.0], "axes": [40.0, 41.0]},
    "theta": 1.6,
    "phi": -1.5,
    "circle_3d": {"normal": [0.1, 0.2, -0.9], "radius": 2.0, "center": [1.0, 2.0, 90.0]},
    "diameter_3d": 4.1,
    "sphere": {"center": [1.5, 2.5, 100.0], "radius": 10.4},
}
