# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A lock among threads that a fork respects: it waits until nobody is inside, so no child inherits half a charge.

Without this, a child that is forked while another thread charges finds the lock taken for ever, keeps the file lock of
its parent alive, and shares SQLite's memory of which locks are held, which is wrong in the child.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from types import TracebackType


class Turn:
    """Lets one thread in at a time."""

    __slots__ = ("__weakref__", "_before_fork", "_lock")

    def __init__(self, before_fork: Callable[[], None] | None = None) -> None:
        """Make a lock; ``before_fork`` is called while it is held, in the parent, before each fork."""
        self._lock = threading.RLock()  # so that a thread that forks inside its own turn does not wait for itself
        self._before_fork = before_fork
        _TURNS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()

    def take_for_fork(self) -> None:
        """Wait for the turn and make ready for the fork."""
        self._lock.acquire()
        _TAKEN.append(self)
        if self._before_fork is not None:
            self._before_fork()


_TURNS: weakref.WeakSet[Turn] = weakref.WeakSet()
_TAKEN: list[Turn] = []


def _before() -> None:
    for turn in list(_TURNS):
        turn.take_for_fork()


def _after() -> None:
    while _TAKEN:
        _TAKEN.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
