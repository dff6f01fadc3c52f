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
        self._waiting += data
        if b"\n" not in data:
            if len(self._waiting) > MOST_WAITING:
                raise WireError("a line does not end")
            return []
        *whole, rest = self._waiting.split(b"\n")
        self._waiting = rest
        if len(rest) > MOST_WAITING or max(map(len, whole)) > MOST_WAITING:
            raise WireError("a line does not end")
        return [bytes(line) for line in map(bytearray.strip, whole) if line]
