# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""LSL on this machine: how a tracker's stream is found, ports for this machine alone, and a program that lists streams.

liblsl has one session and one configuration per process; ours never searches beyond this machine. A gateway's outlets
are in the session of the apps; the tracker is searched for in its own, by a predicate that names it.
docs/decisions/0124-ways-round-the-gateway.md says why this works, and what it is worth.

liblsl always listens on every address. Linux can tie a port that is already open to the loopback device, which no other
machine can reach.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

SESSION_NAMES: Final = "at most 64 letters, digits, dots, dashes and underscores"
DEFAULT_SESSION: Final = "default"
"""The session of programs that set no other."""

OWN_STREAMS: Final[dict[str, str]] = {}
"""The streams that this process offers, names by unique ids: a gateway must not take one of them for a tracker."""

_SHOWN_BY_A_GATEWAY: Final = "gazeveil:"


def is_session(name: str) -> bool:
    """Return whether a name may be that of a session: it is written into liblsl's settings and queries."""
    return re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name) is not None


def lsl_settings(session: str) -> str:
    """Return liblsl's configuration for a gateway: this machine alone, in a session."""
    return f"""[ports]
IPv6 = disable
[multicast]
ResolveScope = machine
ListenAddress = 127.0.0.1
[lab]
KnownPeers = {{127.0.0.1}}
SessionID = {session}
"""


def in_session(predicate: str, session: str) -> str:
    """Return a predicate that finds streams of another session than this process's own.

    liblsl puts ``session_id='own' and `` before what it is given, without brackets, so ``or`` begins anew.
    """
    return f"false() or session_id='{session}' and {predicate}"


def stream_predicate(kind: str, stream: str) -> str:
    """Return a predicate for the tracker's stream: liblsl takes the first that fits, and it must not be ours."""
    quote = "'" if "'" not in stream else '"'
    if not stream:
        return f"{kind} and not(starts-with(source_id,'{_SHOWN_BY_A_GATEWAY}'))"
    named = f"{kind} and name={quote}{stream}{quote}" if quote not in stream else kind
    return " and ".join([named, *(f"not(uid='{uid}')" for uid, name in OWN_STREAMS.items() if name == stream)])


def is_the_trackers(info: Any, stream: str) -> bool:
    """Return whether a stream is the tracker's: not our own, and no gateway's unless it is named."""
    if not stream:
        return not str(info.source_id()).startswith(_SHOWN_BY_A_GATEWAY)
    return info.name() == stream and info.uid() not in OWN_STREAMS


# --- Ports for this machine alone.


_OPEN_FILES: Final = Path("/proc/self/fd")
_TIE: Final = getattr(socket, "SO_BINDTODEVICE", None)
_LOOPBACK_DEVICE: Final = b"lo\0"
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  (to find ports that are open to all, not to open one)


def opened_on_this_machine(make: Callable[[], Any]) -> tuple[Any, bool]:
    """Return the result of ``make``, and whether every port that it opened is reachable from this machine alone."""
    if _TIE is None or not _OPEN_FILES.is_dir():
        return make(), False
    before = set(_sockets())
    made = make()
    tied = [_tied(number) for name, number in _sockets().items() if name not in before]
    return made, all(tied)


def _sockets() -> dict[str, int]:
    """Return the open sockets' numbers by their names in /proc, since numbers are used again."""
    found = {}
    for file in _OPEN_FILES.iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            if (name := str(file.readlink())).startswith("socket:"):
                found[name] = int(file.name)
    return found


def _tied(number: int) -> bool:
    """Tie a port that is open to every address to the loopback device; return whether it is not open any more."""
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


# --- The program that lists the streams of gaze on this machine.


_PATIENCE_S: Final = 1.0
_MANY: Final = 64


def gaze_streams() -> list[str]:
    """Return the names of streams of gaze, without those of gateways."""
    try:
        import pylsl  # noqa: PLC0415
    except (ImportError, RuntimeError):
        return []
    pylsl.set_config_content(lsl_settings(DEFAULT_SESSION))
    found = pylsl.resolve_byprop("type", "Gaze", _MANY, _PATIENCE_S)
    return sorted({str(info.name()) for info in found if is_the_trackers(info, "")})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(gaze_streams()))
