# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A private PostgreSQL server in a temporary folder, for tests and benchmarks."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs: where it listens, and how to make a fresh database on it."""

    folder: Path
    port: int
    user: str

    def address(self, database: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://{self.user}@127.0.0.1:{self.port}/{database}"

    def fresh_database(self, name: str) -> str:
        """Make an empty database and return its address."""
        import psycopg

        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.address(name)


def binaries() -> Path | None:
    """Return the folder of the newest server on this machine; None if there is none."""
    on_path = shutil.which("initdb")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    candidates = [Path(on_path).resolve()] if on_path else []
    for initdb in [*found[::-1], *candidates]:
        if (initdb.parent / "postgres").exists():
            return initdb.parent
    return None


@contextmanager
def private_server() -> Iterator[Server]:
    """Start a server on the loopback address and stop it at the end. It refuses to run as root, so it does not."""
    folder = binaries()
    if folder is None:
        raise FileNotFoundError("no PostgreSQL server on this machine")
    user = _unprivileged()
    home = Path(tempfile.mkdtemp(prefix="gazeveil-pg-"))
    try:
        data = home / "data"
        if user is not None:
            shutil.chown(home, user)
        home.chmod(0o755)
        _run([folder / "initdb", "-D", data, "-U", "gazeveil", "-A", "trust", "-E", "UTF8", "--no-sync"], user, home)
        port = _free_port()
        command = [folder / "postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-k", home]
        with (home / "log").open("w") as log:
            process = subprocess.Popen(_as_user(command, user), cwd=home, stdout=log, stderr=log)
        try:
            _wait_for(process, port, home / "log")
            yield Server(home, port, "gazeveil")
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            process.wait(timeout=60)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


def _as_user(command: list[object], user: str | None) -> list[str]:
    words = [str(word) for word in command]
    if user is None:
        return words
    entry = pwd.getpwnam(user)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", *words]


def _run(command: list[object], user: str | None, folder: Path) -> None:
    subprocess.run(_as_user(command, user), cwd=folder, check=True, capture_output=True, text=True, timeout=120)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    import psycopg

    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if process.poll() is not None:
            raise RuntimeError(f"the server did not start: {log.read_text()}")
        try:
            psycopg.connect(f"postgresql://gazeveil@127.0.0.1:{port}/postgres", connect_timeout=1).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"the server did not answer: {log.read_text()}")
