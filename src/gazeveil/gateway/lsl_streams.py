# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""LSL on this machine.

Which stream is the tracker's, ports that are kept to this machine, and a program that lists streams of gaze.

liblsl has one session a process. A gateway's outlets are in that of the apps; the tracker is looked for in its own, by
a predicate that names it. docs/decisions/0124-ways-round-the-gateway.md says why this works, and what it is worth.

It has settings for where streams are looked for, but none for where it listens: every outlet takes connections from
anywhere. Linux can tie a port that is already open to the loopback device, which no other machine can reach.

liblsl takes its settings once a process: here it looks no further than this machine, whatever the user's are.
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
"""The session of every program that is not told another."""

OWN_STREAMS: Final[dict[str, str]] = {}
"""The streams that this process shows, names by unique ids: a gateway must not take one of them for a tracker."""

_SHOWN_BY_A_GATEWAY: Final = "gazeveil:"


def is_session(name: str) -> bool:
    """Tell whether a session may be called so: its name stands in liblsl's settings and queries."""
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
    """Return which stream to look for: liblsl stops at the first one that fits, and it must not be one of ours."""
    quote = "'" if "'" not in stream else '"'
    if not stream:
        return f"{kind} and not(starts-with(source_id,'{_SHOWN_BY_A_GATEWAY}'))"
    named = f"{kind} and name={quote}{stream}{quote}" if quote not in stream else kind
    return " and ".join([named, *(f"not(uid='{uid}')" for uid, name in OWN_STREAMS.items() if name == stream)])


def is_the_trackers(info: Any, stream: str) -> bool:
    """Tell whether a stream is the tracker's: not our own, and not any gateway's unless it is asked for by name."""
    if not stream:
        return not str(info.source_id()).startswith(_SHOWN_BY_A_GATEWAY)
    return info.name() == stream and info.uid() not in OWN_STREAMS


# --- Keep liblsl's ports to this machine.


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


# --- Lists the streams of gaze that programs of this machine offer over LSL. A program of its own.


_PATIENCE_S: Final = 1.0
_MANY: Final = 64


def gaze_streams() -> list[str]:
    """Return the names of streams of gaze, without those that a gateway shows."""
    try:
        import pylsl  # noqa: PLC0415
    except (ImportError, RuntimeError):
        return []
    pylsl.set_config_content(lsl_settings(DEFAULT_SESSION))
    found = pylsl.resolve_byprop("type", "Gaze", _MANY, _PATIENCE_S)
    return sorted({str(info.name()) for info in found if is_the_trackers(info, "")})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(gaze_streams()))
