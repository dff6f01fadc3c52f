# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of this machine for ``gazeveil doctor``: trackers that a gateway could use, and ways to bypass it.

Nothing is opened that a tracker would notice, except a connection to its port that is closed at once. Everything
together takes a few seconds at most. Finding nothing is no error.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gazeveil.errors import InputError, InternalError, UnknownName
from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.policy.settings import LOOPBACK, Policy
from gazeveil.gateway.protocol import PROTOCOLS

SYSFS: Final = Path("/sys/bus/usb/devices")
UDP_TABLE: Final = Path("/proc/net/udp")
POLICY: Final = "policy.toml"
_PORT_S: Final = 0.5
_LSL_S: Final = 15.0
_MOST_DEVICES: Final = 512

SERVERS: Final = {
    "opengaze": "Gazepoint Control",
    "eyetribe": "the EyeTribe server",
    "gazepointer": "GazePointer",
    "pupil": "Pupil Capture",
}
"""Programs of trackers that listen on this machine, by their protocol."""

USB_VENDORS: Final = {"2104": ("tobii", "tobii-stream")}
USB_WORDS: Final = {
    "tobii": ("tobii", "tobii-stream"),
    "gazepoint": ("opengaze",),
    "eye tribe": ("eyetribe",),
    "eyetribe": ("eyetribe",),
    "pupil cam": ("pupil",),
    "varjo": ("varjo",),
    "vive pro": ("vive",),
    "sensomotoric": ("smi",),
}
"""Names of USB devices, and the sources that read them."""
_SMI_PORT: Final = 4444


@dataclass(frozen=True, slots=True)
class FoundTracker:
    """A sign of a tracker.

    Attributes:
        what: What was found.
        by: How: ``usb``, ``package``, ``port`` or ``lsl``.
        source: The protocol or bridge that reads it.
        needs: What is missing for that; empty for nothing.
        commands: What to type, once the policy has the part below.
        policy: The part of a policy that takes it in.
    """

    what: str
    by: str
    source: str
    needs: str
    commands: tuple[str, ...]
    policy: str


def find_trackers(sysfs: Path = SYSFS, udp_table: Path = UDP_TABLE) -> list[FoundTracker]:
    """Return the trackers that were found, each once."""
    found = [*_on_usb(sysfs), *_packages(), *_ports(udp_table), *_lsl()]
    return list(dict.fromkeys(found))


def _on_usb(sysfs: Path) -> Iterator[FoundTracker]:
    with contextlib.suppress(OSError):
        for device in sorted(sysfs.iterdir())[:_MOST_DEVICES]:
            vendor, product = _text(device / "idVendor").lower(), _text(device / "idProduct").lower()
            words = " ".join((_text(device / "manufacturer"), _text(device / "product")))
            named = [one for word, known in USB_WORDS.items() if word in words.lower() for one in known]
            for source in dict.fromkeys([*USB_VENDORS.get(vendor, ()), *named]):
                yield _found_tracker(f"{_printable(words) or 'a device'} on USB ({vendor}:{product})", "usb", source)


def _packages() -> Iterator[FoundTracker]:
    for kind in BRIDGES.values():
        if kind.install and kind.is_installed:
            yield _found_tracker(f"software for {kind.title}", "package", kind.name)


def _ports(udp_table: Path) -> Iterator[FoundTracker]:
    for name, program in SERVERS.items():
        port = PROTOCOLS[name].port
        if _listens(port):
            yield _found_tracker(f"port {port}: {program}, or a gateway that serves its clients", "port", name)
    with contextlib.suppress(OSError):
        if re.search(rf"^\s*\d+: [0-9A-F]+:{_SMI_PORT:04X} ", udp_table.read_text(encoding="ascii"), re.MULTILINE):
            yield _found_tracker(f"UDP port {_SMI_PORT}: SMI iView X, or another program", "port", "smi")


def _lsl() -> Iterator[FoundTracker]:
    if importlib.util.find_spec("pylsl") is None:
        return
    command = [sys.executable, "-m", "gazeveil.gateway.lsl_streams"]
    with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
        done = subprocess.run(command, capture_output=True, timeout=_LSL_S, check=True)  # noqa: S603
        for stream in json.loads(done.stdout):
            yield _found_tracker(f"stream {stream!r} on LSL", "lsl", "lsl", f"stream = {json.dumps(stream)}\n")


def _found_tracker(what: str, by: str, source: str, more: str = "") -> FoundTracker:
    serve = f"gazeveil serve {POLICY}"
    if source in BRIDGES:
        kind = BRIDGES[source]
        device = " --device LOG" if kind.unit == "deg" else ""
        needs = "" if kind.is_installed else kind.install
        commands = (serve, f"gazeveil track --from {shlex.quote(source)} --to {POLICY}{device}")
        return FoundTracker(what, by, source, needs, commands, kind.in_policy())
    screen = "screen = { width_px = 1920, height_px = 1080 }"
    policy = f'[[tracker]]\nname = "desk"\nprotocol = "{source}"\n{more}{screen}\n'
    return FoundTracker(what, by, source, "", (serve,), policy)


def _listens(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PORT_S)
        return probe.connect_ex((LOOPBACK, port)) == 0


def _text(path: Path) -> str:
    """Return a text of a USB device; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(200).decode(errors="replace").strip()
    except OSError:
        return ""


def _printable(words: str) -> str:
    return "".join(letter for letter in words if letter.isprintable()).strip()


# --- Bypasses: what an app could read without the gateway, tried by a process of the app's user.


HOW_TO: Final = "the how-to 'Keep apps from the tracker' says how to close it"
_LONGEST_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Bypass:
    """One way to bypass the gateway, tried.

    Attributes:
        what: What was tried.
        is_open: Whether an app of that user gets through; None if it could not be tried.
        meaning: What this means for the user.
    """

    what: str
    is_open: bool | None
    meaning: str


def can_be_bypassed(policy: Policy) -> bool:
    """Return whether any tracker can be reached by others at all; simulated ones and senders cannot."""
    return any(tracker.protocol in PROTOCOLS.names() and tracker.inlet is None for tracker in policy.trackers)


def tried_bypasses(policy: Policy, as_user: str | None = None) -> list[Bypass]:
    """Try to reach every tracker of a policy as an app of this user, or of another, would.

    For another user files are tried as well; the gateway's own user may read them anyway.

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
        _port_bypass(f"tracker {tracker.name} at tcp://{at}", is_open, who)
        for (tracker, at), is_open in zip(ports, answers["ports"], strict=True)
    ]
    found += [
        _stream_bypass(f"tracker {tracker.name} on LSL, session {tracker.session!r}", answer, tracker.session, who)
        for tracker, answer in zip(streams, answers["streams"], strict=True)
    ]
    found += [
        Bypass(f"{what} {path}", is_open, f"{who} can {how} it: {why}" if is_open else f"{who} cannot {how} it")
        for (what, path, how, why), is_open in zip(files, answers["files"], strict=True)
    ]
    return found


def _port_bypass(what: str, is_open: bool, who: str) -> Bypass:
    if is_open:
        return Bypass(what, True, f"an app that runs as {who} can read it: raw gaze bypasses the veil; {HOW_TO}")
    return Bypass(what, False, f"{who} gets no connection there: refused, or the tracker is off")


def _stream_bypass(what: str, answer: str, session: str, who: str) -> Bypass:
    app = f"an app that runs as {who}"
    meanings = {
        "picked": f"{app} and looks for any stream of gaze may pick it: raw gaze bypasses the veil; {HOW_TO}",
        "readable": f"{app} can read it if it asks for session {session!r}: raw gaze bypasses the veil; {HOW_TO}",
        "refused": f"{who} finds it, but cannot read it",
        "absent": f"{who} finds no such stream: it is hidden, or the tracker is off",
        "untried": "not tried: pip install 'gazeveil[live]'",
    }
    return Bypass(what, None if answer == "untried" else answer in ("picked", "readable"), meanings[answer])


def _files(policy: Policy) -> list[tuple[str, Path, str, str]]:
    """Return the gateway's files that an app must not read or write: what, where, how, and why not."""
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
    command = [sys.executable, "-m", "gazeveil.gateway.app_probe"]
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
        raise InternalError("trying to bypass the gateway did not end in time") from error
    if done.returncode:
        raise InternalError(f"bypasses of the gateway could not be tried: {done.stderr.strip()[-200:]}")
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
