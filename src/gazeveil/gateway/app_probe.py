# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A program that acts as a curious app: what can be reached without the gateway? It runs as the app's user.

It reads from standard input what to try, and writes the results, both as JSON. liblsl reads the user's own settings
here, as it does for their apps. Gaze is discarded: only whether it came is reported.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from typing import Any, Final

from gazeveil.gateway import lsl_streams as lsl_search

_GAZE: Final = "type='Gaze'"
_PATIENCE_S: Final = 2.0
_MANY: Final = 64
"""More streams than a search finds, so that it ends by its timeout and not with the first one."""


def tried(wanted: dict[str, Any]) -> dict[str, Any]:
    """Try every port, stream and file."""
    return {
        "ports": [connects(host, port) for host, port in wanted["ports"]],
        "streams": [stream_is(session, name, wanted["ours"]) for session, name in wanted["streams"]],
        "files": [os.access(path, os.R_OK if how == "read" else os.W_OK) for path, how in wanted["files"]],
    }


def become(name: str) -> None:
    """Act as a user from now on: with their groups and home, in a folder that everyone may enter.

    Modules are imported before: the user may not be allowed to read this installation.
    """
    import encodings.idna  # noqa: PLC0415, F401  (for names of hosts)
    import pwd  # noqa: PLC0415

    with contextlib.suppress(ImportError, RuntimeError):
        import pylsl  # noqa: PLC0415
        import pylsl.util  # noqa: PLC0415, F401
    user = pwd.getpwnam(name)
    os.initgroups(name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.environ |= {"HOME": user.pw_dir, "USER": name, "LOGNAME": name}
    os.chdir("/")


def connects(host: str, port: int) -> bool:
    """Return whether something accepts a connection."""
    try:
        with socket.create_connection((host, port), _PATIENCE_S):
            return True
    except OSError:
        return False


def stream_is(session: str, name: str, ours: list[str]) -> str:
    """Return whether a tracker's LSL stream is absent, refused, readable, or even picked by accident."""
    try:
        import pylsl  # noqa: PLC0415
        import pylsl.util  # noqa: PLC0415
    except (ImportError, RuntimeError):
        return "untried"

    def raw(found: list[Any]) -> list[Any]:
        return [info for info in found if lsl_search.is_the_trackers(info, name) and info.source_id() not in ours]

    by_accident = raw(pylsl.resolve_byprop("type", "Gaze", _MANY, _PATIENCE_S))
    if any(_is_read(pylsl, info) for info in by_accident):
        return "picked"
    query = lsl_search.in_session(lsl_search.stream_predicate(_GAZE, name), session)
    on_purpose = raw(pylsl.resolve_bypred(query, _MANY, _PATIENCE_S))
    if any(_is_read(pylsl, info) for info in on_purpose):
        return "readable"
    return "refused" if by_accident or on_purpose else "absent"


def _is_read(pylsl: Any, info: Any) -> bool:
    with contextlib.suppress(RuntimeError, OSError, pylsl.util.LostError, pylsl.util.TimeoutError):
        inlet = pylsl.StreamInlet(info, 1, recover=False)
        return inlet.pull_sample(timeout=_PATIENCE_S)[1] is not None
    return False


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    if asked.get("user"):
        become(asked["user"])
    sys.stdout.write(json.dumps(tried(asked)))
