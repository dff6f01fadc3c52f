# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers on loopback for tests with real clients of protocols that send messages: Pupil Core over ZeroMQ, and LSL.

``python -m tests.gateway.loopback_messages lsl NAME OUTPUT SECONDS`` is an outlet in a process of its own, because
liblsl reads its configuration, which keeps it on this machine, once per process.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gazeveil.gateway.protocol import StreamFacts
from gazeveil.gateway.protocols.lsl import LslSink
from gazeveil.gateway.protocols.pupil import PupilSink
from gazeveil.gateway.sample import Veiled
from gazeveil.testing import veiled_fixation, veiled_hit
from tests.gateway.loopback import SCREEN, made_up

LSL_ON_THIS_MACHINE = """[ports]
IPv6 = disable
[multicast]
ResolveScope = machine
ListenAddress = 127.0.0.1
[lab]
KnownPeers = {127.0.0.1}
[log]
level = -3
"""


def clients() -> Path | None:
    """Where programs that others wrote are, if they are there."""
    folder = os.environ.get("GAZEVEIL_CLIENTS")
    return Path(folder) if folder and Path(folder).is_dir() else None


def made_up_fixation(n: int, rate_hz: float) -> Veiled:
    return veiled_fixation(n / rate_hz, 480.0 + n, 270.0, 0.25, n)


def made_up_hit(n: int, rate_hz: float) -> Veiled:
    return veiled_hit(n / rate_hz, ("unnamed", "", "menu")[n // 10 % 3])


MADE_UP: dict[str, Callable[[int, float], Veiled]] = {
    "samples": made_up,
    "fixations": made_up_fixation,
    "hits": made_up_hit,
}


@dataclass
class MessageTap:
    """What crossed the wire.

    Attributes:
        port: Where to send requests.
        ports: Where data comes out, and where clients may publish.
        dialogue: ">" a request, "<" its answer and "!" what was published, each with the time and the frames.
        overheard: What clients published, which must stay empty: nobody listens.
    """

    port: int
    ports: tuple[int, int] = (0, 0)
    dialogue: list[tuple[str, float, list[bytes]]] = field(default_factory=list)
    overheard: list[list[bytes]] = field(default_factory=list)

    def write(self, path: Path, about: str) -> None:
        """Keep the dialogue as a transcript, a message a line, for `read_transcript`."""
        lines = [
            f"# {about}",
            f"= {self.ports!r}",
            *(f"{way} {now!r} {frames!r}" for way, now, frames in self.dialogue),
        ]
        path.write_text("\n".join(lines) + "\n")


def read_transcript(path: Path) -> MessageTap:
    """Return the dialogue that `MessageTap.write` kept."""
    tap = MessageTap(0)
    for line in path.read_text().splitlines():
        if line.startswith("="):
            tap.ports = ast.literal_eval(line[2:])
        elif not line.startswith("#"):
            way, now, frames = line.split(" ", 2)
            tap.dialogue.append((way, float(now), ast.literal_eval(frames)))
    return tap


@contextlib.contextmanager
def serving_pupil(shown: StreamFacts | None = None, *, port: int = 0, rate_hz: float = 60.0) -> Iterator[MessageTap]:
    """Serve Pupil Core's network API on loopback until the block ends; a port that is taken raises ``ZMQError``."""
    import zmq

    shown = shown or StreamFacts(SCREEN, rate_hz=rate_hz)
    points = MADE_UP[shown.output]
    stop = threading.Event()
    with zmq.Context() as context:
        rep, pub, sub = (context.socket(kind) for kind in (zmq.REP, zmq.PUB, zmq.SUB))
        for socket in (rep, pub, sub):
            socket.setsockopt(zmq.LINGER, 0)
            socket.setsockopt(zmq.MAXMSGSIZE, 1 << 20)
        try:
            tap = MessageTap(port or rep.bind_to_random_port("tcp://127.0.0.1"))
            if port:
                rep.bind(f"tcp://127.0.0.1:{port}")
            tap.ports = pub.bind_to_random_port("tcp://127.0.0.1"), sub.bind_to_random_port("tcp://127.0.0.1")
            sink = PupilSink(shown, *tap.ports)

            def serve() -> None:
                begun, n = time.monotonic(), 0
                while not stop.is_set():
                    if rep.poll(5):
                        request, now = rep.recv_multipart(), time.monotonic()
                        answer = sink.answer(request, now)
                        rep.send_multipart(answer)
                        tap.dialogue += [(">", now, request), ("<", now, answer)]
                        for notice in sink.notices():
                            pub.send_multipart(notice)
                            tap.dialogue.append(("!", now, notice))
                    if sub.poll(0):
                        tap.overheard.append(sub.recv_multipart())
                    now = time.monotonic()
                    while n < (now - begun) * rate_hz:
                        for message in sink.show(points(n, rate_hz), now):
                            pub.send_multipart(message)
                            tap.dialogue.append(("!", now, message))
                        n += 1

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                yield tap
            finally:
                stop.set()
                thread.join()
        finally:
            for socket in (rep, pub, sub):
                socket.close()


def serve_lsl(name: str, output: str, lasting_s: float, rate_hz: float = 60.0) -> None:
    """Push made-up veiled things into an outlet for a while, once somebody listens."""
    import pylsl

    pylsl.set_config_content(LSL_ON_THIS_MACHINE)
    sink = LslSink(StreamFacts(SCREEN, rate_hz=rate_hz, output=output, name=name))  # type: ignore[arg-type]
    outlet = pylsl.StreamOutlet(sink.description.info())
    print("ready", flush=True)
    if not outlet.wait_for_consumers(20.0):
        sys.exit("nobody listened")
    begun = pylsl.local_clock()
    for n in itertools.count():
        now = pylsl.local_clock()
        if now - begun > lasting_s:
            break
        pushed = sink.show(MADE_UP[output](n, rate_hz), now)
        if pushed is not None:
            outlet.push_sample(*pushed)
        time.sleep(max(0.0, begun + (n + 1) / rate_hz - pylsl.local_clock()))
    last = sink.silence(pylsl.local_clock())
    if last is not None:
        outlet.push_sample(*last)
    time.sleep(0.3)


if __name__ == "__main__":
    serve_lsl(sys.argv[2], sys.argv[3], float(sys.argv[4]))
