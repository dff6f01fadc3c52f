# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes in, whole lines out, with a bound on what waits for its end."""

from __future__ import annotations

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import MOST_WAITING


class Lines:
    """Collects bytes until a line is whole. Lines end with LF; a CR before it is part of the ending."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes and return the lines that are whole now, without their ends and without empty ones.

        Raises:
            WireError: If a line is longer than `MOST_WAITING`.
        """
        if b"\n" not in data:
            self._waiting += data
            whole: list[bytes] = []
        else:
            *whole, rest = (bytes(self._waiting) + data if self._waiting else data).split(b"\n")
            self._waiting = bytearray(rest)
        if len(self._waiting) > MOST_WAITING or max(map(len, whole), default=0) > MOST_WAITING:
            raise WireError("a line does not end")
        return [line for line in map(bytes.strip, whole) if line]
