# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A tracker on loopback for tests with real clients: any registered TCP sink, fed with made-up veiled points.

`serving("opengaze")` gives a port and keeps every byte that crossed it, in order, with its direction.
"""

from __future__ import annotations

import contextlib
import math
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import PROTOCOLS, Sink, StreamFacts, ViewingPlane
from gazeveil.gateway.sample import Veiled
from gazeveil.geometry import screen
from gazeveil.testing import veiled_sample

SCREEN = ViewingPlane(screen(1920, 1080, 527, 296, 600))


def made_up(n: int, rate_hz: float) -> Veiled:
    """Rests for half a second in each of four places, then is lost for a sixth of a second."""
    t = n / rate_hz
    where = int(t * 2) % 4
    if t % 2 > 2 - 1 / 6:
        return veiled_sample(t, math.nan, math.nan)
    return veiled_sample(t, 480.0 + 320 * where, 270.0 + 180 * where)


@dataclass
class Tap:
    """What crossed the wire.

    Attributes:
        port: Where to connect to.
        dialogue: Bytes with ">" from the app and "<" to it, in order.
        faults: Messages of errors that ended a connection.
    """

    port: int
    dialogue: list[tuple[str, bytes]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def heard(self, direction: str) -> bytes:
        return b"".join(data for way, data in self.dialogue if way == direction)


@contextlib.contextmanager
def serving(
    protocol: str,
    *,
    shown: StreamFacts | None = None,
    rate_hz: float = 60.0,
    points: Callable[[int, float], Veiled] = made_up,
    port: int = 0,
) -> Iterator[Tap]:
    """Serve one protocol on loopback until the block ends, at a free port unless one is named."""
    make = PROTOCOLS[protocol].sink
    assert make is not None
    stop = threading.Event()
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", port)) as door:
        door.settimeout(0.05)
        tap = Tap(door.getsockname()[1])

        def accept() -> None:
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    connection, _ = door.accept()
                    sink = make(shown or StreamFacts(SCREEN, rate_hz=rate_hz))
                    thread = threading.Thread(target=_serve, args=(connection, sink, tap, stop, rate_hz, points))
                    threads.append(thread)
                    thread.start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield tap
        finally:
            stop.set()
            accepting.join()
            for thread in threads:
                thread.join()


def _serve(
    connection: socket.socket,
    sink: Sink,
    tap: Tap,
    stop: threading.Event,
    rate_hz: float,
    points: Callable[[int, float], Veiled],
) -> None:
    begun, shown = time.monotonic(), 0
    with connection:
        sink.connected(begun)
        try:
            while not stop.is_set() and not sink.ended:
                if select.select([connection], [], [], 0.5 / rate_hz)[0]:
                    data = connection.recv(65536)
                    if not data:
                        return
                    tap.dialogue.append((">", data))
                    sink.received(data, time.monotonic())
                now = time.monotonic()
                while shown < (now - begun) * rate_hz:
                    sink.show(points(shown, rate_hz), now)
                    shown += 1
                sink.tick(now)
                _flush(connection, sink, tap)
            _flush(connection, sink, tap)
        except WireError as error:
            tap.faults.append(str(error))
        except ConnectionError:
            return  # it hung up before it had read everything


def _flush(connection: socket.socket, sink: Sink, tap: Tap) -> None:
    data = sink.data_to_send()
    if data:
        tap.dialogue.append(("<", data))
        connection.sendall(data)
