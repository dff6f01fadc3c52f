# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Structured logs: one JSON object a line, an event's name and plain fields, never gaze.

What may be logged is counts, names of the policy, durations and words of our own errors. Bytes, arrays and samples
are refused by type, so that a careless call says nothing instead of too much. `Limited` keeps one cause from filling
the disk.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO

Log = Callable[..., None]
Field = str | int | float | bool | None

_LONGEST = 500
_LONGEST_FOREIGN = 120
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 10.0, 3600.0
"""How long a line that repeats is held back; the pauses double."""
_MOST_WORDINGS = 16
"""Wordings of one event of one app or tracker that are told apart; more of them count as one."""
_SUBJECTS = ("app", "tracker", "group")


def log_to(file: IO[str] | None = None, *, now: Callable[[], datetime] | None = None) -> Log:
    """Return a function ``log(event, **fields)`` that writes JSON lines; by default to standard error."""
    out = sys.stderr if file is None else file
    clock = now or (lambda: datetime.now(UTC))
    door = threading.Lock()

    def log(event: str, **fields: object) -> None:
        told = {"time": clock().isoformat(timespec="milliseconds"), "event": event}
        line = json.dumps(told | {name: _plain(value) for name, value in fields.items()}, ensure_ascii=False)
        with door:
            try:
                out.write(line + "\n")
                out.flush()
            except (OSError, ValueError):
                return  # a log that cannot be written (disk full, closed) must not stop or change what is veiled

    return log


@dataclass(slots=True)
class _Repeated:
    """What is known of a line that came before."""

    until: float
    pause: float = _FIRST_PAUSE_S
    held: int = 0
    fields: dict[str, object] = field(default_factory=dict)


class Limited:
    """A log that writes a line once, and then, at growing intervals, how often it came again (``times``).

    A line that stays away for two of its pauses is new again. Where one event of one app or tracker has many wordings,
    the first few are told apart. May be called from several threads.
    """

    def __init__(self, log: Log, now: Callable[[], float] = time.monotonic) -> None:
        self._log, self._now = log, now
        self._known: dict[tuple[str, ...], _Repeated] = {}
        self._door = threading.RLock()

    def __call__(self, event: str, **fields: object) -> None:
        """Write a line, or count it."""
        with self._door:
            now = self._now()
            self.tick(now)
            key = self._key(event, fields)
            known = self._known.get(key)
            if known is None:
                self._known[key] = _Repeated(now + _FIRST_PAUSE_S)
                self._log(event, **fields)
            else:
                known.held += 1
                known.fields = fields

    def tick(self, now: float | None = None) -> None:
        """Write the counts that are due, and forget what did not come again."""
        with self._door:
            now = self._now() if now is None else now
            for key, known in list(self._known.items()):
                if now < known.until:
                    continue
                if known.held:
                    self._tell(key[0], known)
                    known.pause = min(2 * known.pause, _LONGEST_PAUSE_S)
                    known.until = now + known.pause
                elif now >= known.until + known.pause:
                    del self._known[key]

    def close(self) -> None:
        """Write all counts that wait."""
        with self._door:
            for key, known in self._known.items():
                if known.held:
                    self._tell(key[0], known)

    def _tell(self, event: str, known: _Repeated) -> None:
        self._log(event, **known.fields, times=known.held)
        known.held = 0

    def _key(self, event: str, fields: dict[str, object]) -> tuple[str, ...]:
        subject = (event, *(str(fields.get(name, "")) for name in _SUBJECTS))
        key = (*subject, repr({name: _plain(value) for name, value in fields.items()}))
        if key in self._known or sum(known[:-1] == subject for known in self._known) < _MOST_WORDINGS:
            return key
        return (*subject, "…")


def shortened(foreign: str) -> str:
    """Return what someone else said so that it can be logged: printable ASCII, and not much of it."""
    text = foreign[: _LONGEST_FOREIGN + 1].encode("unicode_escape").decode()
    return text if len(text) <= _LONGEST_FOREIGN else text[:_LONGEST_FOREIGN] + "…"


def _plain(value: object) -> Field:
    if isinstance(value, BaseException):
        value = getattr(value, "message", "") or type(value).__name__
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    if value is None or isinstance(value, bool | int | float):
        return value
    return f"<{type(value).__name__}>"
