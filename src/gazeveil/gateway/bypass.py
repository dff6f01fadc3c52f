# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ways round a gateway: what an app could read without it. They are tried by a process of the app's user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gazeveil.errors import InputError, InternalError, UnknownName
from gazeveil.gateway.policy import Policy
from gazeveil.gateway.protocol import PROTOCOLS

HOW_TO: Final = "the how-to 'Keep apps from the tracker' says how to close it"
_LONGEST_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Way:
    """One way round a gateway, tried.

    Attributes:
        what: What was tried.
        is_open: Whether an app of that user gets through; None if it could not be tried.
        told: What this means.
    """

    what: str
    is_open: bool | None
    told: str


def has_ways(policy: Policy) -> bool:
    """Tell whether any tracker can be reached by others at all; simulated ones cannot, nor those that send to us."""
    return any(tracker.protocol in PROTOCOLS.names() and tracker.inlet is None for tracker in policy.trackers)


def ways_round(policy: Policy, as_user: str | None = None) -> list[Way]:
    """Try to reach every tracker of a policy as an app of this user, or of another, would.

    For another user files are tried as well: for the gateway's own user they are open by right.

    Raises:
        UnknownName: If there is no such user.
        InputError: If this process may not act as that user.
    """
    who = f"user {as_user!r}" if as_user else "this user"
    ports = [(tracker, tracker.address) for tracker in policy.trackers if tracker.address is not None]
    streams = [tracker for tracker in policy.trackers if tracker.protocol == "lsl"]
    files = _files(policy) if as_user else []
    ours = [f"gazeveil:{app.name}" for app in policy.apps if app.protocol == "lsl"]
    if not (ports or streams or files):
        return []
    answers = _probed(
        {
            "ports": [(at.host, at.port) for _, at in ports],
            "streams": [(tracker.session, tracker.stream) for tracker in streams],
            "files": [(str(path.absolute()), how) for _, path, how, _ in files],
            "ours": ours,
        },
        as_user,
    )
    found = [
        _port_way(f"tracker {tracker.name} at tcp://{at}", is_open, who)
        for (tracker, at), is_open in zip(ports, answers["ports"], strict=True)
    ]
    found += [
        _stream_way(f"tracker {tracker.name} on LSL, session {tracker.session!r}", answer, tracker.session, who)
        for tracker, answer in zip(streams, answers["streams"], strict=True)
    ]
    found += [
        Way(f"{what} {path}", is_open, f"{who} can {how} it: {why}" if is_open else f"{who} cannot {how} it")
        for (what, path, how, why), is_open in zip(files, answers["files"], strict=True)
    ]
    return found


def _port_way(what: str, is_open: bool, who: str) -> Way:
    if is_open:
        return Way(what, True, f"an app that runs as {who} can read it: raw gaze bypasses the veil; {HOW_TO}")
    return Way(what, False, f"{who} gets no connection there: refused, or the tracker is off")


def _stream_way(what: str, answer: str, session: str, who: str) -> Way:
    app = f"an app that runs as {who}"
    told = {
        "picked": f"{app} and looks for any stream of gaze may pick it: raw gaze bypasses the veil; {HOW_TO}",
        "readable": f"{app} can read it if it asks for session {session!r}: raw gaze bypasses the veil; {HOW_TO}",
        "refused": f"{who} finds it, but cannot read it",
        "absent": f"{who} finds no such stream: it is hidden, or the tracker is off",
        "untried": "not tried: pip install 'gazeveil[live]'",
    }
    return Way(what, None if answer == "untried" else answer in ("picked", "readable"), told[answer])


def _files(policy: Policy) -> list[tuple[str, Path, str, str]]:
    """Return what of the gateway's own an app must not read or write: what, where, how, and why not."""
    settings = [setting for tracker in policy.trackers for setting in (tracker, *tracker.sources)]
    files = [("recording", one.file, "read", "it is raw gaze") for one in settings if one.file is not None]
    files += [
        ("token of a sender", one.inlet.token_file, "read", "an app could pretend to be the tracker")
        for one in settings
        if one.inlet is not None
    ]
    if policy.path is not None:
        files.append(("policy", policy.path, "write", "an app could lift its own veil"))
        files.append(("folder", policy.path.absolute().parent, "write", "an app could replace the policy"))
    if policy.token_file is not None and policy.control is not None:
        files.append(("control token", policy.token_file, "read", "an app could change its own privacy level"))
    if policy.ledger and "://" not in policy.ledger:
        files.append(("ledger", Path(policy.ledger), "write", "an app could undo what was spent"))
    return files


def _probed(wanted: dict[str, Any], as_user: str | None) -> dict[str, Any]:
    if as_user is not None:
        wanted = {**wanted, "user": _user(as_user)}
    command = [sys.executable, "-m", "gazeveil.gateway._app_probe"]
    try:
        done = subprocess.run(  # noqa: S603  (our own module)
            command,
            input=json.dumps(wanted),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InternalError("trying the ways round the gateway did not end") from error
    if done.returncode:
        raise InternalError(f"the ways round the gateway could not be tried: {done.stderr.strip()[-200:]}")
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def _user(name: str) -> str | None:
    """Return a user to become; None if this process is that user's already."""
    try:
        import pwd  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "no process can act as another user on this system", hint="run `gazeveil doctor POLICY` as that user"
        ) from None
    try:
        uid = pwd.getpwnam(name).pw_uid
    except KeyError:
        raise UnknownName(f"there is no user {name!r} on this machine", hint="`getent passwd` lists them") from None
    if uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise InputError(
            f"only root can try as user {name!r}", hint="sudo gazeveil doctor POLICY --as-user NAME, or as that user"
        )
    return name
