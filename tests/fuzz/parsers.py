# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every parser that meets bytes from outside, with valid inputs to begin from."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError, InputError, WireError
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.policy import read_policy
from gazeveil.gateway.protocol import PROTOCOLS, Shown
from gazeveil.gateway.protocols.gazepointer import GazePointerSource
from gazeveil.gateway.sample import _sample
from gazeveil.gaze.geometry import screen
from tests.chaos.trackers import Tracker

Begin = Callable[[], Callable[[bytes], object]]

PLANE = Plane(screen(1920, 1080, 527, 296, 600))


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser under fuzz.

    Attributes:
        name: For the table.
        make: Starts anew and returns what takes an input.
        seeds: Valid inputs.
        refuses: The only errors that it may raise.
    """

    name: str
    make: Callable[[], Callable[[bytes], object]]
    seeds: tuple[bytes, ...]
    refuses: tuple[type[Exception], ...] = (WireError,)


def parsers() -> list[Parser]:
    """Return every source and every sink of every protocol, and the policy's reader."""
    found: list[Parser] = []
    for protocol in PROTOCOLS:
        if protocol.transport == "tcp" and protocol.source is not None and protocol.sink is not None:
            there, back = _dialogue(protocol.source, protocol.sink)
            rich: tuple[bytes, ...] = ()
            if protocol.name in ("jsonlines", "opengaze", "eyetribe"):
                rich = tuple(Tracker(protocol.name, 1).record() for _ in range(3))
            found.append(Parser(f"{protocol.name} source", _source(protocol.source, protocol.sink), (*back, *rich)))
            found.append(Parser(f"{protocol.name} sink", _sink(protocol.sink, protocol.source), there or (b"\n",)))
    over_web = lambda plane: GazePointerSource(plane, "websocket")  # noqa: E731
    gazepointer = PROTOCOLS["gazepointer"].sink
    if gazepointer is not None:
        there, back = _dialogue(over_web, gazepointer)
        found.append(Parser("gazepointer source, WebSocket", _source(over_web, gazepointer), back))
        found.append(Parser("gazepointer sink, WebSocket", _sink(gazepointer, over_web), there))
    return [*found, *_pupil(), _lsl(), _policy()]


def _greeted(make_source: Callable[[Plane], Any], make_sink: Callable[[Shown], Any]) -> tuple[Any, Any]:
    """Return a source and a sink that have shaken hands, so that what follows reaches beyond the greeting."""
    source, sink = make_source(PLANE), make_sink(Shown(PLANE))
    sink.connected(0.0)
    source.connected(0.0)
    for _ in range(6):
        if asked := source.data_to_send():
            sink.received(asked, 0.0)
        if said := sink.data_to_send():
            source.received(said, 0.0)
    return source, sink


def _source(make: Callable[[Plane], Any], make_sink: Callable[[Shown], Any]) -> Begin:
    turns = count()

    def begin() -> Callable[[bytes], object]:
        if next(turns) % 2:
            source, _ = _greeted(make, make_sink)
        else:
            source = make(PLANE)
            source.connected(0.0)

        def take(data: bytes) -> object:
            taken = source.received(data, 0.0)
            source.tick(0.1)
            source.data_to_send()
            return taken

        return take

    return begin


def _sink(make: Callable[[Shown], Any], make_source: Callable[[Plane], Any]) -> Begin:
    turns = count()

    def begin() -> Callable[[bytes], object]:
        if next(turns) % 2:
            _, sink = _greeted(make_source, make)
        else:
            sink = make(Shown(PLANE))
            sink.connected(0.0)

        def take(data: bytes) -> object:
            sink.received(data, 0.0)
            sink.show(_sample(1.0, 500.0, 400.0), 0.0)
            return sink.data_to_send()

        return take

    return begin


def _dialogue(
    make_source: Callable[[Plane], Any], make_sink: Callable[[Shown], Any]
) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return what a source and a sink say to each other, in pieces."""
    source, sink = make_source(PLANE), make_sink(Shown(PLANE))
    sink.connected(0.0)
    source.connected(0.0)
    there, back = [], []
    for turn in range(12):
        asked = source.data_to_send()
        if asked:
            there.append(asked)
            sink.received(asked, 0.0)
        if turn > 4:
            sink.show(_sample(turn / 60, 700.0 + turn, 500.0), 0.0)
        said = sink.data_to_send()
        if said:
            back.append(said)
            source.received(said, 0.0)
    return tuple(there), tuple(back)


def _pupil() -> list[Parser]:
    protocol = PROTOCOLS["pupil"]
    if protocol.sink is None or protocol.source is None:
        return []
    sink = protocol.sink(Shown(PLANE))
    messages = [frames for t in (1.0, 2.0) for frames in sink.show(_sample(t, 500.0, 400.0), 0.0)]
    seeds = tuple(frames[0] + b"\0" + frames[1] for frames in messages)

    def source() -> Callable[[bytes], object]:
        reader = protocol.source(PLANE)  # type: ignore[misc]
        return lambda data: reader.message(data.split(b"\0", 1), 0.0)

    def answers() -> Callable[[bytes], object]:
        reader = protocol.source(PLANE)  # type: ignore[misc]
        return lambda data: reader.answered([data])

    def requests() -> Callable[[bytes], object]:
        writer = protocol.sink(Shown(PLANE))  # type: ignore[misc]
        return lambda data: writer.answer(data.split(b"\0", 1), 0.0)

    asked = (b"SUB_PORT", b"PUB_PORT", b"R rec", b"r", b"T 1.25", b"t", b"v", b"C", b"notify.a\0\x81\xa7subject\xa1a")
    return [
        Parser("pupil source", source, seeds),
        Parser("pupil source, answers", answers, (b"50021", b"50022")),
        Parser("pupil sink", requests, asked),
    ]


def _lsl() -> Parser:
    protocol = PROTOCOLS["lsl"]
    if protocol.sink is None:
        raise RuntimeError("LSL has no sink")
    channels = protocol.sink(Shown(PLANE)).description.channels

    def begin() -> Callable[[bytes], object]:
        reader = protocol.source(PLANE)  # type: ignore[misc]
        reader.described(channels)

        def take(data: bytes) -> object:
            try:
                values = json.loads(data)
            except (ValueError, RecursionError):
                return None  # liblsl hands over numbers, never text
            return reader.sample(*values) if isinstance(values, list) and len(values) == 2 else None

        return take

    return Parser("lsl source", begin, (b"[[1.0, 0.5, 0.5], 12.5]", b"[[0.0, null, 1e308], -1]", b"[[1, NaN, 0.2], 3]"))


def _policy() -> Parser:
    from gazeveil.cli.policy import EXAMPLE

    folder = Path(tempfile.mkdtemp())

    def begin() -> Callable[[bytes], object]:
        def take(data: bytes) -> object:
            path = folder / "policy.toml"
            path.write_bytes(data)
            return read_policy(path)

        return take

    return Parser("policy", begin, (EXAMPLE.encode(),), (FileFormatError, InputError))
