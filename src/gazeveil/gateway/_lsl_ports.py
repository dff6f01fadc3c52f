# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Keep liblsl's ports to this machine.

It has settings for where streams are looked for, but none for where it listens: every outlet takes connections from
anywhere. Linux can tie a port that is already open to the loopback device, which no other machine can reach.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_OPEN_FILES: Final = Path("/proc/self/fd")
_TIE: Final = getattr(socket, "SO_BINDTODEVICE", None)
_LOOPBACK_DEVICE: Final = b"lo\0"
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  (to find ports that are open to all, not to open one)


def opened_on_this_machine(make: Callable[[], Any]) -> tuple[Any, bool]:
    """Return what ``make`` returns, and whether every port that it opened is reachable from this machine alone."""
    if _TIE is None or not _OPEN_FILES.is_dir():
        return make(), False
    before = set(_sockets())
    made = make()
    tied = [_tied(number) for name, number in _sockets().items() if name not in before]
    return made, all(tied)


def _sockets() -> dict[str, int]:
    """Return the open sockets' numbers by their lasting names; numbers alone are used again."""
    found = {}
    for file in _OPEN_FILES.iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            if (name := str(file.readlink())).startswith("socket:"):
                found[name] = int(file.name)
    return found


def _tied(number: int) -> bool:
    """Tie a port that is open to every address to the loopback device; tell whether none is left open."""
    try:
        copy = os.dup(number)
    except OSError:
        return True  # closed meanwhile
    try:
        port = socket.socket(fileno=copy)
    except OSError:
        os.close(copy)  # no socket at all
        return True
    with port:
        if port.family not in (socket.AF_INET, socket.AF_INET6) or port.getsockname()[0] not in _EVERYWHERE:
            return True
        try:
            port.setsockopt(socket.SOL_SOCKET, _TIE or 0, _LOOPBACK_DEVICE)
        except OSError:
            return False
    return True
