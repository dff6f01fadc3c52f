# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Locks on files, and the signals that end a program, on every system.

Unix locks a whole file, and programs that do not ask for the lock may still read it (``flock``). Windows locks bytes
and keeps everyone from them, so the locked byte lies behind everything that a file of ours ever holds.
"""

from __future__ import annotations

import asyncio
import errno
import importlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final

try:
    import fcntl
except ImportError:  # Windows
    _windows: Any = importlib.import_module("msvcrt")
else:
    _windows = None

_BYTE = 0x7FFF_FFF0
_PAUSE_S = 0.001
_HELD_BY_OTHERS = {errno.EAGAIN, errno.EACCES}  # as Unix says it, and as Windows does


def try_lock(file: int) -> bool:
    """Lock an open file if it is free, and return whether it was.

    Raises:
        OSError: If such files cannot be locked.
    """
    try:
        if _windows is None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(file, _BYTE, os.SEEK_SET)
            _windows.locking(file, _windows.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _HELD_BY_OTHERS:
            return False
        raise
    return True


def lock(file: int, *, shared: bool = False) -> None:
    """Lock an open file, however long others hold it; otherwise as `try_lock`.

    With ``shared``, several programs that ask for a shared lock hold it at once; on Windows one at a time.
    """
    if _windows is None:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        return
    while not try_lock(file):
        time.sleep(_PAUSE_S)


def unlock(file: int) -> None:
    """Unlock a file. Closing it alone would not, if a child has inherited the descriptor."""
    if _windows is None:
        fcntl.flock(file, fcntl.LOCK_UN)
        return
    os.lseek(file, _BYTE, os.SEEK_SET)
    _windows.locking(file, _windows.LK_UNLCK, 1)


# --- Signals.


STOP: Final = ("SIGTERM", "SIGINT", "SIGBREAK")
"""The signals to stop: of a service manager, of Ctrl-C, and of Ctrl-Break or a closed window on Windows."""


@contextmanager
def called_on(calls: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Call functions in the running loop when signals come, until the block ends.

    Args:
        calls: By the signal's name. Signals that this system does not have (SIGHUP on Windows) never come.
    """
    loop = asyncio.get_running_loop()
    with ExitStack() as undo:
        for name, call in calls.items():
            number: int | None = getattr(signal, name, None)
            if number is None:
                continue
            undo.callback(signal.signal, number, signal.getsignal(number))
            try:
                loop.add_signal_handler(number, call)
            except NotImplementedError:  # Windows
                signal.signal(number, lambda *_, call=call: loop.call_soon_threadsafe(call))
            else:
                undo.callback(loop.remove_signal_handler, number)
        yield
