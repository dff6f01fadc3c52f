# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""An environment for one peer, made on first use beside the benchmarks and kept."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

HERE = Path(__file__).parent


class AbsentError(Exception):
    """A peer cannot run here; says why."""


def python_with(name: str, *packages: str) -> Path:
    """Return a Python that has these packages.

    Raises:
        AbsentError: If they cannot be installed here, with the installer's own words.
    """
    folder = HERE / f".venv-{name}"
    python = folder / "bin" / "python"
    done = folder / "installed"
    wanted = "\n".join(packages)
    if done.exists() and done.read_text() == wanted:
        return python
    venv.create(folder, clear=True, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise AbsentError(f"{' '.join(packages)} cannot be installed: {_last_error(found.stderr)}")
    done.write_text(wanted)
    return python


def run_script(python: Path, script: str, *arguments: str) -> None:
    """Run a script of this folder with a peer's Python.

    Raises:
        AbsentError: If it fails, with the last thing it said.
    """
    # not ours: whatever this process was told about Python must not reach the other one
    command = [str(python), "-I", str(HERE / script), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(arguments[0]).parent)
    if found.returncode:
        raise AbsentError(f"{script} failed: {_last_error(found.stderr)}")


def versions(python: Path, *packages: str) -> str:
    """Return the versions that are installed."""
    code = f"from importlib.metadata import version; print(*(f'{{p}} {{version(p)}}' for p in {packages!r}), sep=', ')"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _last_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it did not say why"])[-1][:300]
