# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes in, whole JSON objects out, whether or not anything stands between them; bounded in size and depth.

Trackers end each object with a newline, but clients often do not, so an object ends where its braces close. A line
that is one object is taken at once; only what is left over is looked at brace by brace.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from typing import Any, Final

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import MOST_WAITING

MOST_DEPTH: Final = 32
"""How deep an object may be nested; those of the protocols here are four deep."""

_OUTSIDE: Final = re.compile(rb'[{}\[\]"]')
_INSIDE: Final = re.compile(rb'["\\]')
_SPACE: Final = b" \t\r\n"
_SPACES: Final = re.compile(rb"[ \t\r\n]*")
# float: an integer of a million digits is an infinity then, and costs no time
_DECODER: Final = json.JSONDecoder(parse_int=float)


class JsonObjects:
    """Collects bytes until an object is whole."""

    __slots__ = ("_at", "_decode", "_depth", "_in_string", "_waiting")

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._decode = quickest()
        self._begin()

    def _begin(self) -> None:
        self._at = 0
        self._depth = 0
        self._in_string = False

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Take bytes and return the objects that are whole now.

        Raises:
            WireError: If they are no JSON objects, or one is too long or too deep.
        """
        self._waiting += data
        found = [] if self._depth else self._lines()
        while (end := self._end()) is not None:
            found.append(self._decoded(self._waiting[:end]))
            del self._waiting[:end]
            self._begin()
            if b"\n" in self._skipped():  # only here: a line of many objects is not to be tried once for each
                found += self._lines()
        if len(self._waiting) > MOST_WAITING:
            raise WireError("an object does not end")
        return found

    def _skipped(self) -> bytes:
        """Drop space before an object, and return it."""
        space = _SPACES.match(self._waiting)
        skipped = bytes(space[0]) if space else b""
        del self._waiting[: len(skipped)]
        return skipped

    def _lines(self) -> list[dict[str, Any]]:
        """Take objects that fill a line: the quick way, for what trackers send."""
        found = []
        begin, waiting = 0, self._waiting
        while (end := waiting.find(b"\n", begin)) >= 0:
            line = waiting[begin:end].strip(_SPACE)
            if line:
                if line.count(b"{") + line.count(b"[") > MOST_DEPTH or len(line) > MOST_WAITING:
                    break  # perhaps too deep: to be looked at closely
                try:
                    value = self._decode(line)
                except ValueError:
                    break  # perhaps the first line of an object, or two of them
                if type(value) is not dict:
                    raise WireError("expected a JSON object, found something else")
                found.append(value)
            begin = end + 1
        del waiting[:begin]
        return found

    def _end(self) -> int | None:
        """Return where the first object ends, None if that is not known yet."""
        waiting = self._waiting
        if not self._depth:
            self._skipped()
            if not waiting:
                return None
            if waiting[0] != 0x7B:
                raise WireError("expected a JSON object, found something else")
        while (match := (_INSIDE if self._in_string else _OUTSIDE).search(waiting, self._at)) is not None:
            self._at = match.end()
            sign = match[0]
            if sign == b'"':
                self._in_string = not self._in_string
            elif sign == b"\\":
                if self._at == len(waiting):  # what it escapes is still to come
                    self._at -= 1
                    return None
                self._at += 1
            elif sign in b"{[":
                self._depth += 1
                if self._depth > MOST_DEPTH:
                    raise WireError("an object is nested too deeply")
            else:
                self._depth -= 1
                if not self._depth:
                    if self._at > MOST_WAITING:
                        raise WireError("an object does not end")
                    return self._at
        self._at = len(waiting)
        return None

    def _decoded(self, text: bytearray) -> dict[str, Any]:
        try:
            value = self._decode(text)
        except ValueError:
            raise WireError("expected a JSON object, found something else") from None
        return value if type(value) is dict else {}


def plainly(text: bytearray) -> Any:
    """Decode JSON, with "NaN" and "Infinity", which some trackers say, and numbers of any length."""
    return _DECODER.decode(text.decode())


@functools.cache
def quickest() -> Callable[[bytearray], Any]:
    """Return the quickest way to decode JSON that is installed; what it does not understand is decoded plainly."""
    try:
        import msgspec  # noqa: PLC0415
    except ImportError:
        return plainly
    quickly, trouble = msgspec.json.Decoder().decode, msgspec.DecodeError

    def decode(text: bytearray) -> Any:
        try:
            return quickly(text)
        except trouble:
            return plainly(text)

    return decode
