# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Installs a wheel into empty environments, one for each extra, and tries there what the extra is for.

The environment of an extra is empty too, and sees the plain installation through a path file: what an extra adds is
installed there, and what it forgot to ask for is missed there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from tools.release.words import NotReady

EXTRAS = ("plots", "accounting", "live", "onnx", "picture", "postgres", "scene", "userstudy", "browser")
HEAVY = ("attacks", "spark")
"""Extras of a gigabyte and half a gigabyte: tried with --heavy."""
DEVELOPERS = ("dev", "cover", "bench")
"""Extras of this repository: `make test`, `make coverage` and `make bench` use them."""

TRIALS = Path(__file__).with_name("trials.py")
_PATIENCE_S = 400


def plain(wheel: Path, folder: Path) -> Path:
    """Make the environment without extras; return it.

    Raises:
        NotReady: If the wheel cannot be installed.
    """
    _installed(str(wheel), _made(folder))
    return folder


def with_extra(wheel: Path, extra: str, base: Path, folder: Path) -> Path:
    """Make an environment with one extra on top of the plain one; return it.

    Raises:
        NotReady: If the extra cannot be installed.
    """
    _made(folder)
    (_packages(folder) / "plain.pth").write_text(f"{_packages(base)}\n", encoding="utf-8")
    _installed(f"{wheel}[{extra}]", folder)
    return folder


def tried(environment: Path, name: str, version: str, work: Path) -> str:
    """Run one trial in an environment; return its last line.

    Raises:
        NotReady: If it fails.
    """
    work.mkdir(parents=True, exist_ok=True)
    told = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GAZEVEIL", "VIRTUAL"))}
    told |= {"GAZEVEIL_STATE": str(work / "state"), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [
        str(python_of(environment)),
        "-I",
        "-W",
        "error::DeprecationWarning:gazeveil",
        str(TRIALS),
        name,
        version,
    ]
    try:
        done = subprocess.run(
            command, cwd=work, env=told, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotReady(f"{name}: no answer within {_PATIENCE_S} s") from None
    if done.returncode:
        raise NotReady(f"{name}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return done.stdout.strip().splitlines()[-1]


def python_of(environment: Path) -> Path:
    """Return the interpreter of an environment."""
    return environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _made(folder: Path) -> Path:
    venv.create(folder, symlinks=sys.platform != "win32")
    return folder


def _packages(folder: Path) -> Path:
    places = {"base": str(folder), "platbase": str(folder)}
    return Path(sysconfig.get_path("purelib", "venv", places))


def _installed(what: str, environment: Path) -> None:
    # With the pip of this environment: the new one has nothing, not even that.
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python_of(environment))]
    command += ["install", "--quiet", what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotReady(f"{Path(what).name} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
