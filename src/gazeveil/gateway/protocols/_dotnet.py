# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Strings as .NET's BinaryWriter writes them: the number of bytes, seven bits at a time, and then UTF-8."""

from __future__ import annotations

from gazeveil.errors import WireError


class Strings:
    """Collects bytes until a string is whole.

    Args:
        longest: Bytes of the longest string; a longer one is refused as soon as its length is known.
    """

    __slots__ = ("_longest", "_waiting")

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[str]:
        """Take bytes and return the strings that are whole now.

        Raises:
            WireError: If one is too long or no UTF-8.
        """
        self._waiting += data
        found, begin = [], 0
        while (head := self._length(begin)) is not None:
            length, start = head
            if len(self._waiting) < start + length:
                break
            begin = start + length
            try:
                found.append(self._waiting[start:begin].decode())
            except UnicodeDecodeError:
                raise WireError("expected text, found other bytes") from None
        del self._waiting[:begin]
        return found

    def _length(self, at: int) -> tuple[int, int] | None:
        """Return the length of the string there, and where it starts; None if that is not known yet."""
        length = 0
        for place, byte in enumerate(self._waiting[at : at + 5]):
            length |= (byte & 0x7F) << 7 * place
            if length > self._longest:
                break
            if byte < 0x80:
                return length, at + place + 1
        else:
            if len(self._waiting) - at < 5:
                return None
        raise WireError("a string is too long")


def packed(text: str) -> bytes:
    """Return a string with its length in front."""
    data = text.encode()
    length, head = len(data), bytearray()
    while length >= 0x80:
        head.append(length & 0x7F | 0x80)
        length >>= 7
    head.append(length)
    return bytes(head) + data
