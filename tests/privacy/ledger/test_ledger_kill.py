# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at any moment: budget may be wasted, never overspent, and nothing leaves unpaid.

A few dozen kills by default; the full count is

    GAZEVEIL_KILLS=1000 pytest -s tests/privacy/ledger/test_ledger_kill.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

KILLS = int(os.environ.get("GAZEVEIL_KILLS", "60"))
SCRIPT = Path(__file__).with_name("kill_processes.py")

pytestmark = [pytest.mark.timeout(120 + KILLS), pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]


def kill(address: str, folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, str(SCRIPT), address, str(folder), *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    print(ran.stdout)
    return dict(json.loads(ran.stdout))


def check(told: dict[str, Any]) -> None:
    assert told["faults"] == []
    assert told["failed_workers"] == 0
    assert Fraction(told["spent"]) <= Fraction(told["budget"])
    assert told["charges"] >= told["releases"] > 0


def test_eight_processes_on_one_file(tmp_path: Path) -> None:
    check(kill(str(tmp_path / "ledger.sqlite"), tmp_path / "releases", "--kills", str(KILLS), "--processes", "8"))


def test_two_processes_on_one_server(database: str, tmp_path: Path) -> None:
    check(kill(database, tmp_path / "releases", "--kills", str(KILLS), "--processes", "2", "--seed", "2"))


def test_the_count_would_show_who_releases_before_paying(tmp_path: Path) -> None:
    told = kill(str(tmp_path / "ledger.sqlite"), tmp_path / "releases", "--kills", "15", "--release-first")
    assert any("without a charge" in fault for fault in told["faults"])
