# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Garbage for every parser of every wire protocol, and for policies: ``make fuzz``.

What real ends say is cut, repeated, mixed and spoilt. A parser may understand it or raise `WireError`; anything else,
an input that takes longer than a second or memory that keeps growing is a finding. An object goes on with the next
input until it refuses one or has had sixteen, so that what is left over from before meets what comes after.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from gazeveil.cli.policy import EXAMPLE
from gazeveil.errors import FileFormatError, WireError
from gazeveil.gateway.bridges.headset_logs import Rows, cells_of, header_of
from gazeveil.gateway.bridges.smi import samples_in
from gazeveil.gateway.bridges.varjo import VarjoRows
from gazeveil.gateway.bridges.vive import ViveRows
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import PROTOCOLS, Gate, Protocol, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.gazepointer import GazePointerSource
from gazeveil.gateway.protocols.json_gaze import MOST_BYTES
from gazeveil.gateway.protocols.jsonlines import JsonLinesSource
from gazeveil.gateway.protocols.lsl import Channel
from gazeveil.gateway.protocols.neon_phone import NeonSource, sensor_in
from gazeveil.gateway.protocols.pushed_gaze import Conversation
from gazeveil.gateway.protocols.rtsp import Messages
from gazeveil.gateway.protocols.websocket import WebSocketSource
from gazeveil.gateway.protocols.websocket_connection import silent_logger, websockets_package
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tracker_fields import Fields
from gazeveil.gaze.fileio.columns import Columns
from gazeveil.geometry import headset
from gazeveil.testing import veiled_sample
from tests.gateway.bridge_fakes import LogRig, VarjoRig, ViveRig
from tests.gateway.loopback import SCREEN
from tests.gateway.neon_phone import SDP, Phone, packet, payload, report
from tests.gateway.test_protocol_contract import RICH, SENT, joined
from tests.gateway.test_protocol_pupil import gaze
from tests.gateway.transcript import FOLDER, read

LONGEST_S = 1.0
MOST_GROWTH_KIB = 64 * 1024

SPICES = (
    *(b"\r\n", b"\n", b"\0", b'"', b"'", b"{", b"}", b"[" * 50, b"<", b"/>", b"&", b"=", b"\\u", b"\xff", b"\xf0\x9f"),
    *(
        b"NaN",
        b"-inf",
        b"1e999",
        b"9" * 60,
        b"9" * 400,
        b"null",
        b"true",
        b"\x81\x7f" + b"\xff" * 8,
        b"\xdf\xff\xff\xff\xff",
    ),
    *(b"\x91" * 50, b"\xc1", b"\x89\x00", b"\x88\x02\x03\xe8", b"GET / HTTP/1.1\r\n", b"Origin: null\r\n", b"xml"),
)


@dataclass(frozen=True)
class Parser:
    """Something that takes bytes: how to make one, how to feed it, and what it usually hears."""

    name: str
    make: Callable[[], Callable[[bytes], object]]
    seeds: list[bytes]
    share: int = 1
    """One of how many inputs it gets: a policy is written by its owner, and takes a millisecond to read."""


def parsers() -> Iterator[Parser]:
    """Both ends of every registered protocol, and the reader of policies."""
    for protocol in PROTOCOLS.values():
        if protocol.listener is not None:
            yield Parser(f"{protocol.name} source", _listener(protocol, 2), SENT[protocol.name](_SAID)[2:])
            yield Parser(f"{protocol.name} handshake", _listener(protocol, 0), SENT[protocol.name](_SAID)[:3])
        elif protocol.transport == "tcp":
            yield Parser(f"{protocol.name} source", _tcp_source(protocol), [RICH[protocol.name](), _shown(protocol)])
            yield Parser(f"{protocol.name} sink", _tcp_sink(protocol), _heard(protocol))
            if protocol.name == "neon":
                yield from _neon_parsers()
            if protocol.name == "websocket":
                yield Parser("websocket handshake", _websocket_handshake, [_AGREES])
        elif protocol.transport == "zmq":
            yield Parser(f"{protocol.name} source", _zmq_source(protocol), [gaze()[1]])
            yield Parser(f"{protocol.name} sink", _zmq_sink(protocol), [b"SUB_PORT", b"T 0.0", b"t", b"R name", b"v"])
        else:
            yield Parser(f"{protocol.name} source", _lsl_source(protocol), [b"\x3f\xd0" + bytes(6)] * 2)
    yield from _bridges()
    yield Parser("push texts", _push_texts, [text.encode() for text in _SAID])
    for kind, fields in _MAPPED.items():
        yield Parser(f"push texts, {kind}", _push_texts_with(fields), [text.encode() for text in _SAID_MAPPED[1:]])
    yield Parser("jsonlines source, declared fields", _declared, [text.encode() + b"\n" for text in _SAID_MAPPED[1:]])
    yield Parser("push texts, headset", _push_texts_with(_HEADSET, _VIEW), [text.encode() for text in _SAID_BY_HEADSET])
    yield Parser("jsonlines source, headset", _headset, [text.encode() + b"\n" for text in _SAID_BY_HEADSET])
    yield Parser("policy fields", _policy, [_POLICY_FIELDS.encode()], share=100)
    over_web = replace(PROTOCOLS["gazepointer"], source=lambda plane: GazePointerSource(plane, "websocket"))
    yield Parser("gazepointer source over WebSocket", _tcp_source(over_web), [_shown(over_web)])
    yield Parser("gazepointer sink over WebSocket", _tcp_sink(over_web), _heard(over_web))
    yield Parser("policy", _policy, [EXAMPLE.encode()], share=100)


def _neon_parsers() -> Iterator[Parser]:
    """What comes to a link in datagrams, before a stream plays, and over HTTP."""
    everything, status = (
        payload(400.0, 300.0, True, (31.4,) * 24),
        json.dumps({"result": Phone(rtsp_port=8086).status()}),
    )
    answers = [f"RTSP/1.0 200 OK\r\nCSeq: {n}\r\nSession: 7\r\n\r\n" for n in (1, 2, 3)]
    answers[1] = answers[1].replace("\r\n\r\n", f"\r\nContent-Length: {len(SDP)}\r\n\r\n{SDP}")
    chunked = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{len(status):x}\r\n{status}\r\n0\r\n\r\n"
    yield Parser("neon gaze packets", _neon_packets, [packet(1, 0, everything), packet(2, 9, payload(1.0, 2.0))])
    yield Parser("neon reports", _neon_reports, [report(1000.0, 7)])
    yield Parser("neon handshake", _neon_handshake, [text.encode() for text in answers])
    yield Parser("neon status", lambda: lambda data: [sensor_in(data)][:0], [status.encode()])
    yield Parser("neon messages", lambda: lambda data: list(Messages().feed(data))[:0], [chunked.encode()])


def _neon_source() -> NeonSource:
    """A source that skipped the handshake, which takes longer than all the rest."""
    source = NeonSource(SCREEN)
    source._clock_rate = 90_000
    return source


def _neon_packets() -> Callable[[bytes], object]:
    source = _neon_source()
    source.report(report(1000.0, 0))
    return source.gaze


def _neon_reports() -> Callable[[bytes], object]:
    source, number = _neon_source(), iter(range(1 << 30))

    def feed(data: bytes) -> object:
        source.report(data)
        return source.gaze(packet(next(number), 0, payload(400.0, 300.0)))

    return feed


def _neon_handshake() -> Callable[[bytes], object]:
    source = NeonSource(SCREEN)
    source.connected(0.0)
    return lambda data: source.received(data, 1.0)


_SAID = [
    '{"token": "right"}',
    *(f'{{"t": {n / 10}, "x": 0.25, "y": 0.75}}' for n in range(4)),
    '[{"t": 0.5, "x": 0, "y": 1}, {"t": 0.6, "x": null, "y": null}]',
]


def _bridges() -> Iterator[Parser]:
    """Those bridges that read bytes; the others get what a vendor's package has read."""
    yield Parser(
        "smi datagrams", lambda: samples_in, [b"ET_SPL b 5010000 480.000 672.000 540.000 648.000\n", b"ET_SPL l 7 1 2"]
    )
    for title, rows, rig in (("varjo", VarjoRows, VarjoRig), ("vive", ViveRows, ViveRig)):
        lines = _logged(rig)
        yield Parser(f"{title} log", partial(_log_rows, rows, lines[0]), lines[1:])
        yield Parser(f"{title} header", partial(_log_header, rows, lines[1]), lines[:1], share=4)


def _logged(rig: type[LogRig]) -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        log = rig(None, Path(folder))
        for n, (left, right) in enumerate([((0.25, 0.5), (0.3, 0.6)), (None, (0.5, 0.5)), (None, None)]):
            log.look(5.0 + n / 100, left, right)
        return log.path.read_bytes().splitlines(keepends=True)


def _log_rows(rows: Callable[[Columns], Rows], header: bytes) -> Callable[[bytes], object]:
    delimiter, names = header_of(header)
    reader = rows(Columns(Path("log"), names))
    return lambda data: [
        one for line in data.split(b"\n") if (one := reader.read(cells_of(line, delimiter))) is not None
    ]


def _log_header(rows: Callable[[Columns], Rows], line: bytes) -> Callable[[bytes], object]:
    return lambda data: _log_rows(rows, data)(line)


def _listener(protocol: Protocol, said: int) -> Callable[[], Callable[[bytes], object]]:
    """A listener that has already heard so many messages: the request, and the token."""

    def make() -> Callable[[bytes], object]:
        assert protocol.listener is not None
        source, now = protocol.listener(SCREEN, Gate("right")), iter(range(1 << 30))
        source.connected(0.0)
        for data in SENT[protocol.name](_SAID)[:said]:
            source.received(data, 0.0)

        def feed(data: bytes) -> object:
            found = source.received(data, next(now) / 10)
            source.data_to_send()
            if source.ended:
                raise WireError("it ended")
            return found

        return feed

    return make


def _push_texts() -> Callable[[bytes], object]:
    """What a sender says, without the frames, whose masks would hide what is spoilt."""
    return _push_texts_with(Fields())()


_MAPPED = {
    "refusing others": Fields(x="gaze.0", y="gaze.1", t="head.at", valid="ok", unit="px", up=True, time="ms"),
    "dropping others": Fields(x="gaze.0", y="gaze.1", t="", unit="deg", up=True, time="arrival", others="drop"),
}
_SAID_MAPPED = [
    _SAID[0],
    *(f'{{"gaze": [{n * 7}.5, 12], "head": {{"at": {n * 100}}}, "ok": true}}' for n in range(4)),
    '{"gaze": null, "head": {"at": 500}, "ok": false}',
    '[{"gaze": [1, 2], "head": {"at": 600}, "ok": true}, {"gaze": [3, 4, 5], "head": {"at": 600}, "ok": true}]',
]
_POLICY_FIELDS = EXAMPLE.replace('protocol = "simulate"', 'protocol = "pushlines"').replace(
    "\n[[app]]",
    '\n[tracker.fields]\nx = "gaze.0"\ny = "gaze.1"\nt = "head.at"\nvalid = "ok"\nunit = "px"\ny_grows = "up"\n'
    'time = "ms"\nothers = "drop"\n\n[[app]]',
    1,
)


_VIEW = ViewingPlane(headset(110, 100))
_HEADSET = Fields(direction="gaze", axes="unreal", unit="deg", head="head", origins="origins", ipd="ipd")
_SAID_BY_HEADSET = [
    *(f'{{"t": {n / 10}, "gaze": [1, 0.{n}, 0], "head": [1, 0, 0], "origins": null, "ipd": null}}' for n in range(3)),
    '{"t": 1, "gaze": {"x": 1, "y": 0, "z": 0}, "head": null, "origins": {"left": [0, 3, 1], "right": null}, "ipd": 6}',
]


def _headset() -> Callable[[bytes], object]:
    source = JsonLinesSource(_VIEW, _HEADSET)
    return lambda data: source.received(data, 0.0)


def _push_texts_with(fields: Fields, plane: ViewingPlane = SCREEN) -> Callable[[], Callable[[bytes], object]]:
    def make() -> Callable[[bytes], object]:
        talk, now = Conversation(plane, Gate("right"), fields), iter(range(1 << 30))
        talk.take(_SAID[0], 0.0)
        return lambda data: talk.take(data.decode("utf-8", "surrogateescape"), next(now) / 10)

    return make


def _declared() -> Callable[[bytes], object]:
    source = JsonLinesSource(SCREEN, _MAPPED["refusing others"])
    source.connected(0.0)
    return lambda data: source.received(data, 1.0)


def _tcp_source(protocol: Protocol) -> Callable[[], Callable[[bytes], object]]:
    def make() -> Callable[[bytes], object]:
        source = _opened_websocket() if protocol.name == "websocket" else joined(protocol)[0]

        def feed(data: bytes) -> object:
            found = source.received(data, 1.0)
            source.data_to_send()
            return found

        return feed

    return make


_AGREES = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: iMYsD/BfrAbKypCIfD+1ms2CqZY=\r\n\r\n"
)


def _opened_websocket() -> WebSocketSource:
    """A source that skipped the handshake, which takes longer than all the rest."""
    source = WebSocketSource(SCREEN)
    ws = websockets_package()
    client = ws.client.ClientProtocol
    source._texts._protocol = client(
        ws.uri.parse_uri("ws://127.0.0.1/"), state=ws.protocol.State.OPEN, max_size=MOST_BYTES, logger=silent_logger()
    )
    return source


def _websocket_handshake() -> Callable[[bytes], object]:
    source = WebSocketSource(SCREEN)
    source.connected(0.0)
    return lambda data: source.received(data, 1.0)


def _tcp_sink(protocol: Protocol) -> Callable[[], Callable[[bytes], object]]:
    def make() -> Callable[[bytes], object]:
        assert protocol.sink is not None
        sink = protocol.sink(StreamFacts(SCREEN))
        sink.connected(0.0)

        def feed(data: bytes) -> object:
            sink.received(data, 1.0)
            sink.show(veiled_sample(1.0, 480.0, 270.0), 1.0)
            sink.data_to_send()
            if sink.ended:
                raise WireError("it ended")
            return []

        return feed

    return make


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gazeveil-fuzz-")


def _policy() -> Callable[[bytes], object]:
    path = Path(_folder().name) / "policy.toml"

    def feed(data: bytes) -> object:
        path.write_bytes(data)
        read_policy(path)
        return []

    return feed


def _zmq_source(protocol: Protocol) -> Callable[[], Callable[[bytes], object]]:
    def make() -> Callable[[bytes], object]:
        assert protocol.source is not None
        source = protocol.source(SCREEN)

        def feed(data: bytes) -> object:
            if len(data) < 8:
                source.answered([data])
            return source.message([b"gaze.", data], 1.0)

        return feed

    return make


def _zmq_sink(protocol: Protocol) -> Callable[[], Callable[[bytes], object]]:
    def make() -> Callable[[bytes], object]:
        assert protocol.sink is not None
        sink = protocol.sink(StreamFacts(SCREEN))

        def feed(data: bytes) -> object:
            frames = data.split(b"\n")
            answer = sink.answer(frames, 1.0)
            if len(answer) != 1 or not answer[0]:
                raise AssertionError("a request without an answer")
            return []

        return feed

    return make


def _lsl_source(protocol: Protocol) -> Callable[[], Callable[[bytes], object]]:
    """Bytes are doubles of three channels and a time; a description is made of the rest."""

    def make() -> Callable[[bytes], object]:
        assert protocol.source is not None
        source = protocol.source(SCREEN)

        def feed(data: bytes) -> object:
            import struct

            if len(data) % 3 == 0:
                words = data.decode("latin-1").split("[")
                source.described([Channel(word, word[:7]) for word in words])
            source.described([Channel(name, "") for name in ("confidence", "norm_pos_x", "norm_pos_y")])
            numbers = [number for (number,) in struct.iter_unpack(">d", data[: len(data) // 8 * 8])]
            sample = source.sample(numbers[1:], numbers[0] if numbers else 0.0)
            return [] if sample is None else [sample]

        return feed

    return make


def _shown(protocol: Protocol) -> bytes:
    _, sink = joined(protocol)
    for n in range(3):
        sink.show(veiled_sample(n / 60, 480.0, 270.0), 1.0)
    sink.silence(1.0)
    return sink.data_to_send()


def _heard(protocol: Protocol) -> list[bytes]:
    """What real clients said in the transcripts, and what our own source says."""
    assert protocol.source is not None
    source = protocol.source(SCREEN)
    source.connected(0.0)
    said = [source.data_to_send() or b"\n"]
    for path in sorted(FOLDER.glob(f"{protocol.name}_*.txt")):
        lines = [read(line[2:]) for line in path.read_text().splitlines() if line.startswith(">")]
        said += [b"".join(lines), *lines]
    return said


def spoilt(chance: random.Random, seeds: list[bytes]) -> bytes:
    """Return something like a seed."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((0, 1, 1, 2, 4, 8))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(6):
            case 0 if data:
                data[at % len(data)] = chance.randrange(256)
            case 1:
                data[at:at] = chance.randbytes(chance.randrange(1, 6))
            case 2:
                del data[at : at + chance.randrange(1, 12)]
            case 3:
                data[at:at] = data[chance.randrange(len(data) + 1) :][: chance.randrange(40)]
            case 4:
                data[at:at] = chance.choice(SPICES)
            case _:
                other = chance.choice(seeds)
                data[at:] = other[chance.randrange(len(other) + 1) :]
    return bytes(data)


@dataclass
class Outcome:
    """What came of it."""

    understood: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    finding: str = ""


def fuzz(parser: Parser, inputs: int, seed: int) -> Outcome:
    """Feed a parser, and stop at the first finding."""
    chance, outcome = random.Random(f"{seed} {parser.name}"), Outcome()
    feed = parser.make()
    for n in range(inputs):
        if n % 16 == 15:
            feed = parser.make()
        data = spoilt(chance, parser.seeds)
        begun = time.thread_time()
        try:
            found = feed(data)
            outcome.understood += 1
        except (WireError, FileFormatError):
            outcome.refused += 1
            feed, found = parser.make(), []
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            outcome.finding = f"{type(error).__name__} at input {n}: {data!r}"
            return outcome
        outcome.slowest_s = max(outcome.slowest_s, time.thread_time() - begun)
        if not isinstance(found, list) or any(type(sample) is not RawSample for sample in found):
            outcome.finding = f"not samples at input {n}: {data!r}"
        elif outcome.slowest_s > LONGEST_S:
            outcome.finding = f"{outcome.slowest_s:.1f} s at input {n}: {data!r}"
        if outcome.finding:
            return outcome
    return outcome


def main() -> int:
    """Fuzz every parser and print what came of it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--inputs", type=int, default=1_000_000, help="for each parser")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="parsers whose names contain this")
    wanted = options.parse_args()
    findings = 0
    for parser in parsers():
        if wanted.only not in parser.name:
            continue
        fuzz(
            parser, min(wanted.inputs, 5_000) // parser.share, wanted.seed - 1
        )  # caches fill before memory is measured
        before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
        outcome = fuzz(parser, max(wanted.inputs // parser.share, 1), wanted.seed)
        growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if not outcome.finding and growth > MOST_GROWTH_KIB:
            outcome.finding = f"memory grew by {growth:,} KiB"
        findings += bool(outcome.finding)
        print(
            f"{parser.name:34} understood {outcome.understood:>9,}  refused {outcome.refused:>9,}  "
            f"slowest {outcome.slowest_s * 1e3:6.2f} ms  memory +{growth:,} KiB  "
            f"{time.monotonic() - begun:6.1f} s  {outcome.finding or 'sound'}",
            flush=True,
        )
    _folder().cleanup()
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
