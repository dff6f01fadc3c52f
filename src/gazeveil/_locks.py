# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Locks on open files, on every system: one process holds a file, and the system lets go when that process ends.

Unix locks a whole file, and whoever does not ask for the lock may still read (``flock``). Windows locks bytes, and
keeps everyone from them, so the locked byte lies behind everything that a file of ours ever holds.
"""

from __future__ import annotations

import errno
import importlib
import os
import time
from typing import Any

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
    """Lock an open file if nobody else holds it, and return whether that was so.

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

    With ``shared``, others hold it too who ask for no more than this; on Windows one at a time holds it.
    """
    if _windows is None:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        return
    while not try_lock(file):
        time.sleep(_PAUSE_S)


def unlock(file: int) -> None:
    """Let go of a file that was locked. Closing it alone would not, if a child has inherited the descriptor."""
    if _windows is None:
        fcntl.flock(file, fcntl.LOCK_UN)
        return
    os.lseek(file, _BYTE, os.SEEK_SET)
    _windows.locking(file, _windows.LK_UNLCK, 1)
