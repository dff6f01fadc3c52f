# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Dialogues of every protocol of the gateway, byte by byte, with trackers and apps, and live gaze behind a veil.

What real clients say to the gateway is in `tests/gateway/transcripts`, and other tests play it. Here every protocol of
the registry says what it has to say: to its own other side, or to a sender. Each line begins with who speaks.
"""

from __future__ import annotations

import base64
import json
import math
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from tests.gateway.hub_bench import SCREEN as HUB
from tests.gateway.hub_bench import Bench, app, budget, clock_of, policy, tracker
from tests.gateway.neon_phone import asking_for, packet, payload, report
from tests.golden.comparing import Copy
from tests.golden.doors import (
    PROTOCOLS,
    AreasOfInterest,
    Gate,
    GazeStreamDP,
    GazeveilError,
    Ledger,
    LiveVeil,
    NoiseSource,
    Rectangle,
    StreamFacts,
    ViewingPlane,
    headset,
    mechanism_of,
    screen,
    space_of,
    veiled_fixation,
    veiled_hit,
    veiled_sample,
)
from tests.golden.scenarios import working_in
from tests.golden.tape import playing

SCREEN = ViewingPlane(screen(1920, 1080, 527, 296, 600))
TOKEN = "t" * 32
_DESK, _FIELD = space_of(screen(1920, 1080, 527, 296, 600)), space_of(headset(110, 100))
LIVE: dict[str, tuple[dict[str, Any], Any]] = {
    **{
        name: ({"preset": name}, _DESK)
        for name in ("lphu", "mpmu", "hplu", "gaussian-low", "temporal-low", "spatial-low")
    },
    "in a headset": ({"preset": "lphu"}, _FIELD),
    "eye-and-head": ({"mechanism": "eye-and-head", "epsilon": 3, "window": 0.5, "radius": "5deg", "ticks": 2}, _FIELD),
}
"""Live veils, and where their gaze lies."""

THINGS: dict[str, list[Any]] = {
    "samples": [veiled_sample(2.0 + n / 60, 100.0 + 37.5 * n, 900.0 - 61.25 * n) for n in range(6)]
    + [veiled_sample(2.2, math.nan, math.nan), veiled_sample(2.3, 480.0, 810.0)],
    "fixations": [veiled_fixation(2.0, 480.0, 810.0, 0.5, 3), veiled_fixation(2.5, 48.5, 81.25, 0.125, 4)],
    "hits": [veiled_hit(2.0, "menu"), veiled_hit(2.25, "")],
}


def dialogues() -> dict[str, Callable[[], Copy]]:
    """Return every dialogue by its name."""
    found: dict[str, Callable[[], Copy]] = {}
    for name in PROTOCOLS.names():
        found[f"gateway/{name}"] = lambda name=name: _spoken(name)  # type: ignore[misc]
    return {**found, "gateway/veils": _veiled, "gateway/hub": _through_the_hub}


def _spoken(name: str) -> Copy:
    protocol, copy = PROTOCOLS[name], {}
    with playing(f"gateway-{name}"), mock.patch.object(time, "monotonic", return_value=1000.0):
        copy["about"] = _about(protocol)
        if protocol.sink is not None:
            for output in sorted(protocol.outputs):
                words = "ε=3 for 0.5 s"
                shown = StreamFacts(SCREEN, output=output, areas=("menu",), guarantee=words, blank_pupils=True)
                speak = {"tcp": _over_tcp, "zmq": _over_zmq, "lsl": _over_lsl}[protocol.transport]
                copy[f"{output} to an app"] = _lines(speak(protocol, shown, output))
        if protocol.listener is not None:
            copy["gaze from a sender"] = _lines(_pushed(protocol, SENDERS[name]))
        if name in TRACKERS:
            copy["gaze from a tracker"] = _lines(_tracked(protocol, TRACKERS[name]()))
    return copy


def _about(protocol: Any) -> str:
    facts = {
        "title": protocol.title,
        "port": protocol.port,
        "transport": protocol.transport,
        "outputs": sorted(protocol.outputs),
        "link": protocol.link,
        "knows": sorted(protocol.knows),
        "leaves": dict(protocol.leaves),
        "withheld": dict(protocol.withheld),
    }
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _written(data: bytes) -> str:
    return data.decode("latin-1").encode("unicode_escape").decode()


def _seen(samples: Iterable[Any]) -> list[str]:
    return [f"  read t={each.t!r} x={each.x!r} y={each.y!r} head={each.head!r}" for each in samples]


def _over_tcp(protocol: Any, shown: Any, output: str) -> Iterable[str]:
    """A source and a sink talk to one another; then veiled gaze is shown, falls silent and ends."""
    sink = protocol.sink(shown)
    source = None if protocol.source is None else protocol.source(SCREEN)
    sink.connected(0.0)
    if source is not None:
        source.connected(0.0)
    if protocol.name == "neon" and output != "samples":  # its source asks for gaze alone
        source = None
        sink.received(asking_for("eye_events"), 0.0)
    yield from _pumped(source, sink, 0.0)
    for number, thing in enumerate(THINGS[output]):
        now = 0.1 + number / 60
        yield f"show {thing!r}"
        sink.show(thing, now)
        yield from _pumped(source, sink, now)
    for now in (1.0, 4.0, 9.0):
        yield f"now {now}"
        sink.tick(now)
        if source is not None:
            source.tick(now)
        yield from _pumped(source, sink, now)
    yield "silence"
    sink.silence(9.5)
    yield from _pumped(source, sink, 9.5)
    yield f"end, wants gaze: {sink.wants_gaze}"
    sink.end("the budget is spent", 10.0)
    yield from _pumped(source, sink, 10.0)
    yield f"ended: {sink.ended}"


def _pumped(source: Any, sink: Any, now: float) -> Iterable[str]:
    for _ in range(50):
        said = sink.data_to_send()
        asked = b"" if source is None else source.data_to_send()
        if not asked and not said:
            return
        if asked:
            yield f"> {_written(asked)}"
            sink.received(asked, now)
        if said:
            yield f"< {_written(said)}"
            if source is not None:
                yield from _read(source, said, now)
    raise AssertionError("they never stop talking")


def _read(source: Any, data: bytes, now: float) -> list[str]:
    """Return what a source reads, or what it says of what it refuses."""
    try:
        return _seen(source.received(data, now))
    except GazeveilError as error:
        return [f"  {type(error).__name__}: {error}"]


def _over_zmq(protocol: Any, shown: Any, output: str) -> Iterable[str]:
    sink = protocol.sink(shown)
    source = protocol.source(SCREEN)
    asked = [[b"v"], [b"t"], [b"T 5.0"], [b"t"], [b"C"], [b"SUB_PORT"], [b"PUB_PORT"], [b"R"], *source.requests()]
    for frames in asked:
        yield f"> {_frames(frames)}"
        yield f"< {_frames(sink.answer(frames, 0.5))}"
    yield f"subscribed to {source.subscriptions()!r}"
    for thing in (*THINGS[output], None):
        yield f"show {thing!r}"
        for message in sink.notices() if thing is None else sink.show(thing, 0.75):
            yield f"< {_frames(message)}"
            yield from _seen(source.message(message, 0.75))
    for why, messages in (("silence", sink.silence(1.0)), ("end", sink.end("the budget is spent", 2.0))):
        yield why
        for message in messages:
            yield f"< {_frames(message)}"


def _frames(frames: Sequence[bytes]) -> str:
    return " | ".join(map(_written, frames))


def _over_lsl(protocol: Any, shown: Any, output: str) -> Iterable[str]:
    sink = protocol.sink(shown)
    yield f"described {sink.description!r}"
    source = protocol.source(SCREEN) if output == "samples" else None
    if source is not None:
        source.described(sink.description.channels)
    for thing in THINGS[output]:
        told = sink.show(thing, 0.75)
        yield f"< {told!r}"
        if source is not None and told is not None:
            yield from _seen(each for each in (source.sample(*told),) if each is not None)
    yield f"silence < {sink.silence(1.0)!r}"
    yield f"end < {sink.end('the budget is spent', 2.0)!r}"


_SAID = [
    f'{{"token": "{TOKEN}"}}',
    *(f'{{"t": {n / 10}, "x": {0.2 + n / 100:.2f}, "y": 0.75}}' for n in range(15)),
    '{"t": 1.5, "x": null, "y": null}',
    '{"t": 1.6, "x": 0.5, "y": 0.5, "pupil": 3.25}',
]


def _frame(text: str) -> bytes:
    """Return a text as a browser sends it: masked."""
    data, mask = text.encode(), b"mask"
    head = bytes((0x81, 0x80 | len(data))) if len(data) < 126 else bytes((0x81, 0xFE)) + len(data).to_bytes(2, "big")
    return head + mask + bytes(each ^ mask[n % 4] for n, each in enumerate(data))


_HELLO = (
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:7383\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    f"Sec-WebSocket-Key: {base64.b64encode(b'0123456789abcdef').decode()}\r\nSec-WebSocket-Version: 13\r\n\r\n"
).encode()
SENDERS: dict[str, Callable[[Sequence[str]], list[bytes]]] = {
    "push": lambda texts: [_HELLO, *map(_frame, texts)],
    "pushlines": lambda texts: [f"{text}\n".encode() for text in texts],
}
"""For every protocol in which gaze is sent to the gateway: what a sender sends to say some texts."""


def _pushed(protocol: Any, say: Callable[[Sequence[str]], list[bytes]]) -> Iterable[str]:
    for texts in (_SAID, ['{"token": "wrong"}', *_SAID[1:3]]):
        source = protocol.listener(SCREEN, Gate(TOKEN))
        source.connected(0.0)
        for number, data in enumerate(say(texts)):
            yield f"> {_written(data)}"
            yield from _read(source, data, number / 10)
            source.tick(number / 10)
            if answer := source.data_to_send():
                yield f"< {_written(answer)}"
        source.close("the gateway stops")
        yield f"closed < {_written(source.data_to_send())}"
        yield f"admitted {source.admitted}, ended {source.ended}, refused token {source.refused_token}"


def _of_neon() -> list[bytes]:
    parts = [(1, report(1.5, 7))]
    parts += [(0, packet(9 + n, 7 + 450 * n, payload(400.0 + n, 900.0 - n, n != 3))) for n in range(6)]
    return [b"".join(b"$" + bytes((channel,)) + len(data).to_bytes(2, "big") + data for channel, data in parts)]


def _of_opengaze() -> list[bytes]:
    eye = 'LEYEX="0.0314" LEYEY="0.03" LEYEZ="0.6" LPUPILD="0.003" LPUPILV="1"'
    lines = [
        f'<REC CNT="{n}" TIME="{1 + n / 60:.5f}" BPOGX="0.{25 + n}" BPOGY="0.75" BPOGV="{n % 3 and 1}" {eye} />\r\n'
        for n in range(6)
    ]
    whole = "".join(lines).encode()
    return [whole[:50], whole[50:]]


def _of_eyetribe() -> list[bytes]:
    point = {"x": 480.0, "y": 810.0}
    frame = {"timestamp": "2026-11-15 12:00:00.000", "time": 1500, "fix": False, "state": 7, "raw": point, "avg": point}
    lost = {**frame, "time": 1516, "state": 8, "avg": {"x": 0.0, "y": 0.0}}
    said = [{"category": "tracker", "statuscode": 200, "values": {"frame": each}} for each in (frame, lost)]
    return [json.dumps(each).encode() + b"\n" for each in said]


def _of_json_lines() -> list[bytes]:
    return [b'{"t":1.5,"x":480,"y":810,"pupil":31.4}\n{"t":1.6,"x":null,', b'"y":null}\n{"t":1.7,"x":1,"y":2}\n']


TRACKERS: dict[str, Callable[[], list[bytes]]] = {
    "neon": _of_neon,
    "opengaze": _of_opengaze,
    "eyetribe": _of_eyetribe,
    "jsonlines": _of_json_lines,
}
"""What trackers send that our own sinks do not: whole streams in odd pieces."""


def _tracked(protocol: Any, stream: list[bytes]) -> Iterable[str]:
    source, sink = protocol.source(SCREEN), protocol.sink(StreamFacts(SCREEN))
    sink.connected(0.0)
    source.connected(0.0)
    yield from _pumped(source, sink, 0.0)
    for data in stream:
        yield f"< {_written(data)}"
        yield from _read(source, data, 1.5)
    yield f"> {_written(source.data_to_send())}"


def _veiled() -> Copy:
    """Live gaze behind a veil, as an app gets it in lines of JSON: true noise, from the tape."""
    copy: Copy = {}
    for name in LIVE:
        with playing(f"gateway-veil-{name}"):
            copy[name] = _lines(_live(name))
    return copy


def _live(name: str) -> Iterable[str]:
    described, space = LIVE[name]
    mechanism = mechanism_of(described, space)
    yield f"{mechanism.guarantee}"
    veil = LiveVeil(mechanism, NoiseSource.secure(), quiet_s=1.0)
    for n in range(180):
        t = 10.0 + n / 60
        x, y = 0.05 + 0.3 * (n // 40 % 3) + 0.002 * (n % 7), 0.4 - 0.002 * (n % 5)
        x = math.nan if 90 <= n < 96 else space.low[0] + x * space.size[0]
        y = math.nan if 90 <= n < 96 else space.low[1] + y * space.size[1]
        head = (0.5 * n - 45.0, 10.0) if name == "eye-and-head" else None
        point = veil.pass_through(t, x, y, t, head)
        yield f"{t!r} {point!r}"


def _through_the_hub() -> Copy:
    """From a tracker to an app and back to the ledger: what is shown, told, logged and paid."""
    left = AreasOfInterest((Rectangle("left", 0, 0, 960, 1080),), HUB)
    apps = [
        app("game", "mpmu", output="samples", rate_hz=30.0),
        app("reader", "lphu", output="fixations"),
        app("menu", {"preset": "lphu"}, output="hits", areas=left),
    ]
    with tempfile.TemporaryDirectory() as place, working_in(Path(place)), playing("gateway-hub", many_ids=True):
        benches: list[Bench] = []
        clock = clock_of(benches, 1000.0, datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp())
        with Ledger.open("ledger.sqlite", create=True, clock=clock) as ledger:
            ledger.grant("anna", GazeStreamDP(200, "0.5", 60))
            bench = Bench(policy(tracker(), *apps, budget(200)), ledger)
            benches.append(bench)
            for n in range(8):
                bench.gaze(1.5, at=(200.0 + 200 * n, 300.0 + 80 * n), rate=30.0)
                bench.wait(0.5 if n != 4 else 6.0)
            bench.hub.close()
            bench.pay()
            copy = {"logs": _lines(f"{event} {fields!r}" for event, fields in bench.logs)}
            copy["ledger"] = _lines(map(repr, ledger.history()))
        copy["charges"] = _lines(f"{type(each).__name__} {each}" for each in bench.outcomes)
    for name, seen in bench.seen.items():
        shown = [f"{when:.4f} {thing!r}" for when, thing in zip(seen.when, seen.shown, strict=True)]
        copy[name] = _lines([*shown, f"told {seen.told!r}", f"ended {seen.ended!r}"])
    return _numbered(copy)


def _numbered(copy: Copy) -> Copy:
    """Number ids and the digests that depend on them by first appearance: threads draw ids in any order."""
    numbers: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return found[1] + numbers.setdefault(found[2][:12], f"#{len(numbers) + 1}")

    ids = r"(\bid='|\bprevious='|\bdigest )([0-9a-f]{12,64})"
    return {name: re.sub(ids, numbered, text) for name, text in copy.items()}
