# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`deploy/gazeveil.service` works as written: with a read-only system, and decisions that outlive a restart."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gazeveil
from gazeveil.cli.main import run as command
from tests.gateway.test_gateway_serve import policy_text
from tests.ports import free_port

SOURCES = Path(gazeveil.__file__).parents[1]
UNIT = Path(__file__).parents[2] / "deploy" / "gazeveil.service"

ENTER = """
set -e
mount --make-rprivate /
for writable in "$STATE" "$CACHE"; do mount --bind "$writable" "$writable"; done
mount --bind "$POLICY" "$POLICY"
mount -o remount,bind,ro "$POLICY"
mount -o remount,bind,ro /
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"
"""
"""ProtectSystem=strict and NoNewPrivileges, for a test: everything is read-only but the folders of the unit."""


def settings(name: str) -> list[str]:
    """Return the values of a setting of the unit."""
    lines = (line.partition("=") for line in UNIT.read_text().splitlines() if not line.startswith("#"))
    return [value for key, _, value in lines if key == name]


class Service:
    """The unit's folders, and its commands under the unit's restrictions."""

    def __init__(self, folder: Path) -> None:
        self.policy_folder, self.state, self.cache = (folder / name for name in ("etc", "lib", "cache"))
        for made in (self.policy_folder, self.state, self.cache):
            made.mkdir()
        self.policy = self.policy_folder / "policy.toml"
        places = {
            "/etc/gazeveil": self.policy_folder,
            "/var/lib/gazeveil": self.state,
            "/var/cache/gazeveil": self.cache,
        }
        self._places = {written: str(real) for written, real in places.items()}
        assert settings("StateDirectory") == settings("CacheDirectory") == ["gazeveil"]

    def moved(self, text: str) -> str:
        """Return a text of the unit with this test's folders in it."""
        for written, real in self._places.items():
            text = text.replace(written, real)
        return text

    def words(self, line: str) -> list[str]:
        words = shlex.split(self.moved(line).removeprefix("/usr/bin/env "))
        at = words.index("gazeveil")
        return [*words[:at], sys.executable, "-m", *words[at:]]

    @property
    def environment(self) -> dict[str, str]:
        pairs = (pair.partition("=") for line in settings("Environment") for pair in shlex.split(self.moved(line)))
        own = {key: value for key, _, value in pairs}
        given = {"PATH": os.environ["PATH"], "HOME": "/", "STATE_DIRECTORY": str(self.state)}
        # A cache that is empty would be filled for a minute; what is tested needs no compiled code.
        return {**given, **own, "TMPDIR": str(self.cache), "PYTHONPATH": str(SOURCES), "NUMBA_DISABLE_JIT": "1"}

    def restricted(self, line: str) -> list[str]:
        """Return a command of the unit under its restrictions."""
        unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
        folders = [f"STATE={self.state}", f"CACHE={self.cache}", f"POLICY={self.policy_folder}"]
        return ["env", *folders, *unshare, "sh", "-c", ENTER, "sh", *self.words(line)]

    @contextlib.contextmanager
    def started(self, words: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
        """Run until the log says that the gateway started; stop it as systemd does."""
        process = subprocess.Popen(
            words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd="/"
        )
        assert process.stderr is not None
        try:
            heard = []
            for line in process.stderr:
                heard.append(line)
                if '"gateway started"' in line:
                    break
            else:
                raise AssertionError("".join(heard))
            yield process
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)
            assert process.returncode == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()


@pytest.fixture
def service(tmp_path: Path) -> Service:
    if sys.platform != "linux" or not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        pytest.skip("the restrictions are Linux's")
    made = Service(tmp_path)
    tried = subprocess.run(
        made.restricted("gazeveil --version"), env=made.environment, capture_output=True, check=False, text=True
    )
    if tried.returncode:
        pytest.skip(f"this machine does not allow mounts: {tried.stderr.strip()[-200:]}")
    return made


def first_gaze(port: int) -> dict[str, Any]:
    """Connect as an app and return the first line with gaze, or the end."""
    until = time.monotonic() + 60
    with socket.create_connection(("127.0.0.1", port), timeout=60) as app, app.makefile() as lines:
        for line in lines:
            told: dict[str, Any] = json.loads(line)
            if told.get("valid") or told.get("type") == "end" or time.monotonic() > until:
                return told
    return {}


@pytest.mark.timeout(300)
def test_the_unit_works_as_written_and_an_app_that_was_switched_off_stays_off(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    text = policy_text(port)
    for written, file in (("ledger.sqlite", "ledger.sqlite"), ("token", "control.token")):
        text = text.replace(f'"{written}"', f'"/var/lib/gazeveil/{file}"')
    for line in ('ledger = "/var/lib/gazeveil/ledger.sqlite"', 'token_file = "/var/lib/gazeveil/control.token"'):
        assert f"#   {line}" in UNIT.read_text()
        assert line in text
    service.policy.write_text(service.moved(text))
    (once,) = (line for line in UNIT.read_text().splitlines() if line.startswith("#   GAZEVEIL_STATE="))
    by_hand = ["env", *service.words(once.removeprefix("#   "))]
    with service.started(by_hand, {**os.environ, "PYTHONPATH": str(SOURCES)}) as process:
        assert (service.state / "ledger.sqlite").exists()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    (check,), (start,) = settings("ExecStartPre"), settings("ExecStart")
    subprocess.run(service.restricted(check), env=service.environment, check=True, capture_output=True, cwd="/")

    with service.started(service.restricted(start), service.environment):
        assert first_gaze(port).get("valid")
        assert command(["apps", "off", str(service.policy), "game"]) == 0
        assert "game: off" in capsys.readouterr().out
    with service.started(service.restricted(start), service.environment):
        assert command(["apps", "list", str(service.policy), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["apps"][0]["state"] == "off"
        assert "switched off" in first_gaze(port)["reason"]
        assert command(["apps", "on", str(service.policy), "game"]) == 0
    assert [file.name for file in service.policy_folder.iterdir()] == ["policy.toml"]


def test_a_gateway_that_can_keep_decisions_nowhere_does_not_start(service: Service) -> None:
    text = policy_text(free_port()).replace('"ledger.sqlite"', f'"{service.state}/ledger.sqlite"')
    service.policy.write_text(text.replace('"token"', f'"{service.state}/token"'))
    nowhere = {**service.environment, "GAZEVEIL_STATE": "/nowhere"}
    done = subprocess.run(
        service.restricted("gazeveil serve /etc/gazeveil/policy.toml --create-ledger"),
        env=nowhere, capture_output=True, text=True, check=False, timeout=60, cwd="/",
    )  # fmt: skip
    assert done.returncode == 4
    assert "cannot be kept" in done.stderr
    assert "state_file" in done.stderr
    assert done.stdout == ""


def test_systemd_finds_nothing_wrong_with_the_unit() -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not there")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(UNIT)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if "gazeveil" in line]) == (0, [])
