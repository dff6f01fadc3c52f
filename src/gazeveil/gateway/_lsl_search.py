# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which LSL stream is the tracker's: in which session it is looked for, and how a gateway knows its own streams.

liblsl has one session a process. A gateway's outlets are in that of the apps; the tracker is looked for in its own, by
a predicate that names it. docs/decisions/0124-ways-round-the-gateway.md says why this works, and what it is worth.
"""

from __future__ import annotations

import re
from typing import Any, Final

SESSION_NAMES: Final = "at most 64 letters, digits, dots, dashes and underscores"
DEFAULT_SESSION: Final = "default"
"""The session of every program that is not told another."""

OWN: Final[dict[str, str]] = {}
"""The streams that this process shows, names by unique ids: a gateway must not take one of them for a tracker."""

_SHOWN_BY_A_GATEWAY: Final = "gazeveil:"


def is_session(name: str) -> bool:
    """Tell whether a session may be called so: its name stands in liblsl's settings and queries."""
    return re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name) is not None


def settings(session: str) -> str:
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


def predicate(kind: str, stream: str) -> str:
    """Return which stream to look for: liblsl stops at the first one that fits, and it must not be one of ours."""
    quote = "'" if "'" not in stream else '"'
    if not stream:
        return f"{kind} and not(starts-with(source_id,'{_SHOWN_BY_A_GATEWAY}'))"
    named = f"{kind} and name={quote}{stream}{quote}" if quote not in stream else kind
    return " and ".join([named, *(f"not(uid='{uid}')" for uid, name in OWN.items() if name == stream)])


def is_the_trackers(info: Any, stream: str) -> bool:
    """Tell whether a stream is the tracker's: not our own, and not any gateway's unless it is asked for by name."""
    if not stream:
        return not str(info.source_id()).startswith(_SHOWN_BY_A_GATEWAY)
    return info.name() == stream and info.uid() not in OWN
