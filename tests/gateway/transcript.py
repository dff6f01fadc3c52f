# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Dialogues between an app and a sink, byte by byte, as text files that a test plays again.

Each line begins with a sign: ``#`` says what happens, ``>`` is what the app sent, ``<`` what the sink answered since
the last such line, ``*`` a veiled sample that is shown (time, x, y), ``@`` the machine's clock, ``~`` silence and
``!`` the end with its reason. Bytes are written as in Python's literals.
"""

from __future__ import annotations

from pathlib import Path

from gazeveil.gateway.protocol import Sink
from gazeveil.gateway.sample import make_veiled_sample

FOLDER = Path(__file__).parent / "transcripts"


def written(data: bytes) -> str:
    return data.decode("latin-1").encode("unicode_escape").decode()


def read(text: str) -> bytes:
    return text.encode().decode("unicode_escape").encode("latin-1")


def replay(name: str, sink: Sink, *, piece: int | None = None) -> int:
    """Play a transcript to a sink, the app's bytes in pieces of a size, and return how many answers were compared."""
    now, compared = 0.0, 0
    sink.connected(now)
    for number, line in enumerate((FOLDER / f"{name}.txt").read_text().splitlines(), 1):
        sign, text = line[:1], line[2:]
        if sign == ">":
            data = read(text)
            for begin in range(0, len(data), piece or len(data)):
                sink.received(data[begin : begin + (piece or len(data))], now)
        elif sign == "<":
            assert written(sink.data_to_send()) == text, f"{name}.txt, line {number}"
            compared += 1
        elif sign == "*":
            t, x, y = map(float, text.split())
            sink.show(make_veiled_sample(t, x, y), now)
        elif sign == "@":
            now = float(text)
            sink.tick(now)
        elif sign == "~":
            sink.silence(now)
        elif sign == "!":
            sink.end(text, now)
        else:
            assert sign in {"#", ""}, f"{name}.txt, line {number}"
    assert sink.data_to_send() == b"", f"{name}.txt: there is more to say"
    return compared
