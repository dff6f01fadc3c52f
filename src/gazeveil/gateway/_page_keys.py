# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Secrets of the control page: keys that work once, sessions that are signed, and a limit to guessing.

A session is signed with the policy's token, so it is still good after a restart, and none is good any more once the
token is another. What is kept of a key is its digest.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections import deque
from collections.abc import Callable
from typing import Final

LINK_S: Final = 600.0
"""For how long a link can be opened."""
SESSION_S: Final = 12 * 3600
"""For how long a page may go on before a new link is needed."""
RAW_S: Final = 30.0
"""For how long a capability to see raw gaze can be used."""
MOST_KEYS: Final = 16
"""Keys of one kind that wait to be used; beyond that the oldest is void."""
MOST_TRIES, TRIES_S = 10, 60.0
"""This many wrong keys within this many seconds; then none is looked at for a while."""

_SESSION = re.compile(r"page\.(\d{1,12})\.([A-Za-z0-9_-]{22})\.([0-9a-f]{64})")


class Keys:
    """Keys that work once and not for long, each for one thing."""

    def __init__(self, lasts_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._lasts, self._now = lasts_s, now
        self._known: dict[bytes, tuple[float, str]] = {}

    def make(self, thing: str = "") -> str:
        """Return a new key for a thing."""
        key = secrets.token_urlsafe(32)
        while len(self._known) >= MOST_KEYS:
            del self._known[next(iter(self._known))]
        self._known[_digest(key)] = (self._now() + self._lasts, thing)
        return key

    def take(self, key: str, thing: str = "") -> bool:
        """Whether a key is good for a thing; it never is again, whatever the answer."""
        until, meant = self._known.pop(_digest(key), (0.0, ""))
        return until > 0.0 and self._now() < until and hmac.compare_digest(meant.encode(), thing.encode())


class Tries:
    """Counts wrong keys, and says when there were too many."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._wrong: deque[float] = deque(maxlen=MOST_TRIES)

    @property
    def wait_s(self) -> float:
        """How long nobody may try any more; 0 if one may."""
        if len(self._wrong) < MOST_TRIES:
            return 0.0
        return max(0.0, self._wrong[0] + TRIES_S - self._now())

    def wrong(self) -> None:
        """Count a wrong key."""
        self._wrong.append(self._now())


class Sessions:
    """Tokens of pages, signed with the policy's token."""

    def __init__(self, token: str, wall: Callable[[], float] = time.time) -> None:
        self._secret, self._wall = token.encode(), wall

    def make(self) -> str:
        """Return the token of a new session."""
        until, salt = int(self._wall()) + SESSION_S, secrets.token_urlsafe(16)
        return f"page.{until}.{salt}.{self._signed(str(until), salt)}"

    def holds(self, token: str) -> bool:
        """Whether a token is a session's that is not over."""
        found = _SESSION.fullmatch(token)
        if found is None:
            return False
        until, salt, mark = found.groups()
        return hmac.compare_digest(mark, self._signed(until, salt)) and 0 < int(until) - self._wall() <= SESSION_S

    def _signed(self, until: str, salt: str) -> str:
        return hmac.new(
            self._secret, f"gazeveil live page session\n{until}\n{salt}".encode(), hashlib.sha256
        ).hexdigest()


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()  # JSON can hold what is no text
