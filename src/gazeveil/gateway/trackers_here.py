# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which trackers are at this machine, and what a gateway needs for each: for ``gazeveil doctor``.

Nothing is opened that a tracker would notice, but for a connection to its port that is closed at once. All of it
together takes a few seconds at most, and finding nothing is no fault.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.policy import LOOPBACK
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
"""What devices on USB call themselves, and the sources that read them."""
_SMI_PORT: Final = 4444


@dataclass(frozen=True, slots=True)
class Here:
    """Something that tells of a tracker.

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


def trackers_here(sysfs: Path = SYSFS, udp_table: Path = UDP_TABLE) -> list[Here]:
    """Return what was found, the same thing once."""
    found = [*_on_usb(sysfs), *_packages(), *_ports(udp_table), *_lsl()]
    return list(dict.fromkeys(found))


def _on_usb(sysfs: Path) -> Iterator[Here]:
    with contextlib.suppress(OSError):
        for device in sorted(sysfs.iterdir())[:_MOST_DEVICES]:
            vendor, product = _text(device / "idVendor").lower(), _text(device / "idProduct").lower()
            words = " ".join((_text(device / "manufacturer"), _text(device / "product")))
            named = [one for word, known in USB_WORDS.items() if word in words.lower() for one in known]
            for source in dict.fromkeys([*USB_VENDORS.get(vendor, ()), *named]):
                yield _here(f"{_printable(words) or 'a device'} on USB ({vendor}:{product})", "usb", source)


def _packages() -> Iterator[Here]:
    for kind in BRIDGES:
        if kind.install and kind.is_installed:
            yield _here(f"software for {kind.title}", "package", kind.name)


def _ports(udp_table: Path) -> Iterator[Here]:
    for name, program in SERVERS.items():
        port = PROTOCOLS[name].port
        if _listens(port):
            yield _here(f"port {port}: {program}, or a gateway that serves its clients", "port", name)
    with contextlib.suppress(OSError):
        if re.search(rf"^\s*\d+: [0-9A-F]+:{_SMI_PORT:04X} ", udp_table.read_text(encoding="ascii"), re.MULTILINE):
            yield _here(f"UDP port {_SMI_PORT}: SMI iView X, or another program", "port", "smi")


def _lsl() -> Iterator[Here]:
    if importlib.util.find_spec("pylsl") is None:
        return
    command = [sys.executable, "-m", "gazeveil.gateway._lsl_here"]
    with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
        done = subprocess.run(command, capture_output=True, timeout=_LSL_S, check=True)  # noqa: S603
        for stream in json.loads(done.stdout):
            yield _here(f"stream {stream!r} on LSL", "lsl", "lsl", f"stream = {json.dumps(stream)}\n")


def _here(what: str, by: str, source: str, more: str = "") -> Here:
    serve = f"gazeveil serve {POLICY}"
    if source in BRIDGES:
        kind = BRIDGES[source]
        device = " --device LOG" if kind.unit == "deg" else ""
        needs = "" if kind.is_installed else kind.install
        commands = (serve, f"gazeveil track --from {shlex.quote(source)} --to {POLICY}{device}")
        return Here(what, by, source, needs, commands, kind.in_policy())
    screen = "screen = { width_px = 1920, height_px = 1080 }"
    policy = f'[[tracker]]\nname = "desk"\nprotocol = "{source}"\n{more}{screen}\n'
    return Here(what, by, source, "", (serve,), policy)


def _listens(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PORT_S)
        return probe.connect_ex((LOOPBACK, port)) == 0


def _text(path: Path) -> str:
    """Return what a device says of itself; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(200).decode(errors="replace").strip()
    except OSError:
        return ""


def _printable(words: str) -> str:
    return "".join(letter for letter in words if letter.isprintable()).strip()
