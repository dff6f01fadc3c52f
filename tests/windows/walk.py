# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The main walk on Windows as we play it: every module, a study, its releases, the ledger, and a gateway with an app.

A program: ``python -m tests.windows.walk`` in an empty folder, with a ``sitecustomize`` that calls `become`.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.windows import simulated

WITHOUT = {"torch", "triton", "matplotlib"}
"""Packages that are large or for other machines: hidden, and modules that begin with them are passed over."""


def every_module() -> int:
    """Import all of gazeveil."""
    import gazeveil.errors

    sys.modules.update(dict.fromkeys(WITHOUT))  # type: ignore[arg-type]
    count = 0
    for found in pkgutil.walk_packages(gazeveil.__path__, "gazeveil."):
        if not found.name.endswith("__main__"):
            try:
                importlib.import_module(found.name)
                count += 1
            except (ModuleNotFoundError, gazeveil.errors.MissingExtra) as error:
                if not any(name in str(error) for name in WITHOUT):
                    raise
    return count


def forbidden() -> None:
    """Make sure that this is no Unix: or the walk would show nothing."""
    Path("held.txt").write_text("one\n", encoding="utf-8")
    assert Path("held.txt").read_bytes() == b"one\r\n"
    with Path("held.txt").open("rb") as held:
        for refused in (
            lambda: Path("held.txt").unlink(),
            lambda: Path("held.txt").replace("other.txt"),
            lambda: os.fsync(held.fileno()),
            lambda: os.close(os.open(".", os.O_RDONLY)),
            lambda: Path("a:b").mkdir(),
            lambda: Path("nul.txt").touch(),
            lambda: importlib.import_module("pwd"),
        ):
            try:
                refused()
            except (OSError, ImportError):
                continue
            raise AssertionError("this is no Windows")
    Path("held.txt").unlink()


def ran(*arguments: str) -> None:
    """Run a command of the program; it must end well."""
    from gazeveil.cli.main import run

    began = time.process_time()
    code = run(list(arguments))
    assert code == 0, f"gazeveil {' '.join(arguments)} ended with {code}"
    print(f"{time.process_time() - began:.2f} s: gazeveil {' '.join(arguments)}", file=sys.stderr)


def studies() -> None:
    """Simulate, declare, release, verify."""
    ran("simulate", "--participants", "6", "--stimuli", "1", "--sessions", "1", "--seconds", "1",
        "--seed", "5", "--out", "lab")  # fmt: skip
    ran("study", "init", "lab", "--out", "study.toml")
    ran("ledger", "init", "lab", "--epsilon", "9", "--delta", "1e-4")
    charged = ("--ledger", "ledger.sqlite", "--account", "lab")
    for _ in range(2):  # the second replaces the first
        ran("heatmap", "lab", "--study", "study.toml", "--stimulus", "scene-01", "--epsilon", "1", "--strategy",
            "bumps", "--anyway", "--out", "heatmap", "--overwrite", *charged)  # fmt: skip
    ran("verify", "heatmap", "--ledger", "ledger.sqlite")
    ran("ledger", "show", "--ledger", "ledger.sqlite")
    ran("ledger", "verify", "--ledger", "ledger.sqlite")
    ran("features", "extract", "lab", "--bins", "0.5", "--out", "features.parquet")
    ran("veil", "lab", "--study", "study.toml", "--preset", "lphu", "--out", "veiled", "--no-ledger")


def gateway() -> list[dict[str, Any]]:
    """Serve one app, read what it gets, and stop the gateway as a service manager does."""
    with socket.socket() as probe, socket.socket() as other:
        for one in (probe, other):
            one.bind(("127.0.0.1", 0))
        port, control = probe.getsockname()[1], other.getsockname()[1]
    Path("policy.toml").write_text(POLICY.format(port=port, control=control), encoding="utf-8")
    got: list[dict[str, Any]] = []

    def app() -> None:
        try:
            got.extend(_gaze(port))
        finally:
            signal.raise_signal(signal.SIGTERM)

    thread = threading.Thread(target=app)
    thread.start()
    ran("serve", "policy.toml", "--create-ledger", "--log", "gateway.log")
    thread.join()
    return got


POLICY = """\
version = 1
[gateway]
ledger = "gateway.sqlite"
control = "127.0.0.1:{control}"
token_file = "token"
[[tracker]]
name = "desk"
protocol = "simulate"
participant = "anna"
screen = {{ width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }}
[[app]]
name = "game"
tracker = "desk"
protocol = "jsonlines"
listen = "127.0.0.1:{port}"
veil = {{ preset = "lphu" }}
[[budget]]
participant = "anna"
epsilon_per_day = 1000000
radius = "90px"
"""


def _gaze(port: int) -> list[dict[str, Any]]:
    end = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as connection, connection.makefile("rb") as lines:
                connection.settimeout(60)
                found: list[dict[str, Any]] = []
                while len(found) < 3:
                    told = json.loads(lines.readline())
                    found += [told] if told.get("valid") else []
                return found
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            threading.Event().wait(0.02)


def main() -> None:
    """Walk, and print what was seen."""
    from gazeveil.terminal.printing import use_utf8

    use_utf8()
    forbidden()
    seen: dict[str, Any] = {"modules": every_module()}
    print(f"{time.process_time():.2f} s: imports", file=sys.stderr)
    studies()
    seen["gaze"] = len(gateway())
    seen["locks"] = simulated.taken
    seen["cpu_s"] = sum(os.times()[:4])
    print("SEEN " + json.dumps(seen))


if __name__ == "__main__":
    main()
