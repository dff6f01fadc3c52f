# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Structured logs: one JSON object a line, an event's name and plain fields, never gaze.

What may be logged is counts, names of the policy, durations and words of our own errors. Bytes, arrays and samples
are refused by type, so that a careless call says nothing instead of too much.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO

Log = Callable[..., None]
Field = str | int | float | bool | None

_LONGEST = 500


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


def _plain(value: object) -> Field:
    if isinstance(value, BaseException):
        value = getattr(value, "message", "") or type(value).__name__
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    if value is None or isinstance(value, bool | int | float):
        return value
    return f"<{type(value).__name__}>"
