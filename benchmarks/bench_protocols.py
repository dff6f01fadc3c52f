# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Wire protocols, one sample at a time: what a sink writes and what a source reads, against the usual library way.

The peer writes the same message with the standard library (``ElementTree`` or ``json``), or parses it with it and picks
the point out: nothing of what a sink does besides, such as finding fixations. A gateway of 100 streams at 120 Hz
handles 12,000 samples a second on one core, in both directions, so a message may take a few microseconds. Notes tell
the thread's own processor time, so that neighbours on the machine count less.
"""

from __future__ import annotations

import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable

from benchmarks.harness import Row, busy, race
from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts, ViewingPlane
from gazeveil.gateway.sample import VeiledSample
from gazeveil.geometry import screen
from gazeveil.testing import veiled_sample

SAMPLES = 5_000
PLANE = ViewingPlane(screen(1920, 1080, 527, 296, 600))

# What an app says before it gets data, and what a tracker says before a source takes data.
GREETINGS = {
    "opengaze": (
        b"".join(
            f'<SET ID="ENABLE_SEND_{name}" STATE="1" />\r\n'.encode()
            for name in ("TIME", "TIME_TICK", "POG_FIX", "POG_BEST", "DATA")
        ),
        b"",
    ),
    "eyetribe": (b'{"category":"tracker","request":"set","values":{"push":true,"version":1}}', b""),
    "gazepointer": (b"xml\x0aAppKeyDemo", b"\x02ok"),
}


def run() -> list[Row]:
    veiled = [veiled_sample(n / 120, 960.0 + n % 7 * 3.3, 540.0 + n % 5 * 2.1) for n in range(SAMPLES)]
    return [row for name in GREETINGS for row in (written(name, veiled), read(name, veiled))]


def written(name: str, veiled: list[VeiledSample]) -> Row:
    like = messages(name, veiled[:1])[0]
    write = {"opengaze": xml_attributes, "eyetribe": json_object, "gazepointer": xml_elements}[name](like)

    def peer() -> None:
        for sample in veiled:
            write(sample)

    return row(f"{name}: a sink writes", lambda: messages(name, veiled), peer, len(like))


def read(name: str, veiled: list[VeiledSample]) -> Row:
    wire = messages(name, veiled)

    def ours() -> int:
        make = PROTOCOLS[name].source
        if make is None:
            return 0
        source = make(PLANE)
        source.connected(0.0)
        source.data_to_send()
        if GREETINGS[name][1]:
            source.received(GREETINGS[name][1], 0.0)
        return sum(len(source.received(message, 0.0)) for message in wire)

    if ours() != len(wire):
        raise AssertionError(f"{name}: some samples were not read")
    pick = {"opengaze": pick_attributes, "eyetribe": pick_json, "gazepointer": pick_elements}[name]
    return row(f"{name}: a source reads", ours, lambda: [pick(message) for message in wire], len(wire[0]))


def row(name: str, ours: Callable[[], object], peer: Callable[[], object], size: int) -> Row:
    ours_s, peer_s = race(ours, peer)
    note = f"{min(processor_seconds(ours) for _ in range(5)) / SAMPLES * 1e6:.1f} µs a sample of {size} bytes{busy()}"
    return Row(name, "standard library", ours_s, peer_s, target=1.0, work=SAMPLES, unit="samples", note=note)


def processor_seconds(job: Callable[[], object]) -> float:
    start = time.thread_time()
    job()
    return time.thread_time() - start


def messages(name: str, veiled: list[VeiledSample]) -> list[bytes]:
    make = PROTOCOLS[name].sink
    if make is None:
        return []
    sink = make(StreamFacts(PLANE, rate_hz=120.0))
    sink.connected(0.0)
    sink.received(GREETINGS[name][0], 0.0)
    sink.data_to_send()
    wire = []
    for sample in veiled:
        sink.show(sample, 0.0)
        wire.append(sink.data_to_send())
    return wire


def xml_attributes(like: bytes) -> Callable[[VeiledSample], bytes]:
    names = re.findall(r'(\w+)="', like.decode())

    def write(sample: VeiledSample) -> bytes:
        values = [f"{value:.5f}" for value in (sample.t, sample.x / 1920, sample.y / 1080)]
        return ET.tostring(ET.Element("REC", {name: values[n % 3] for n, name in enumerate(names)}))

    return write


def xml_elements(like: bytes) -> Callable[[VeiledSample], bytes]:
    names = re.findall(r"<(\w+)>", like.decode("latin-1"))[1:]

    def write(sample: VeiledSample) -> bytes:
        record = ET.Element("CGazeData")
        for name in names:
            value = {"GazeX": sample.x, "GazeY": sample.y}.get(name, 0.0)
            ET.SubElement(record, name).text = f"{value:.2f}"
        return ET.tostring(record)

    return write


def json_object(like: bytes) -> Callable[[VeiledSample], bytes]:
    reply = json.loads(like)

    def write(sample: VeiledSample) -> bytes:
        frame = reply["values"]["frame"]
        frame["time"] = round(sample.t * 1000)
        frame["raw"]["x"], frame["raw"]["y"] = sample.x, sample.y
        return json.dumps(reply, separators=(",", ":")).encode()

    return write


def pick_attributes(message: bytes) -> tuple[float, float]:
    record = ET.fromstring(message).attrib
    return float(record["BPOGX"]), float(record["BPOGY"])


def pick_elements(message: bytes) -> tuple[float, float]:
    record = ET.fromstring(message[message.index(b"<") :])
    return float(record.findtext("GazeX") or 0), float(record.findtext("GazeY") or 0)


def pick_json(message: bytes) -> tuple[float, float]:
    point = json.loads(message)["values"]["frame"]["raw"]
    return point["x"], point["y"]
