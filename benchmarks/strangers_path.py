# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A stranger's path, timed: from a fresh clone and a table with odd column names to the methods paragraph of a paper.

``make stranger`` clones this repository, makes a fresh virtual environment, installs gazeveil into it and does what
``docs/start/first-steps.md`` says, command by command. It fails where a command does not end as the page says, where
they are more than eight, where something is missing at the end, or where it all takes longer than ten minutes.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import RESULTS
from tests.recipes import Block, blocks

ROOT = Path(__file__).parents[1]
PAGE = Path("docs/start/first-steps.md")
STORED = RESULTS / "stranger" / "path.json"
MOST_SECONDS, MOST_COMMANDS = 600, 8


@dataclass
class Walk:
    """What was done, how long each step took, and what was wrong about it."""

    seconds: dict[str, float] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)

    def step(self, name: str, command: list[str], folder: Path, path: str = "", ends: int = 0) -> None:
        """Run one step in a folder."""
        print(f"$ {name}", flush=True)
        environment = os.environ | ({"PATH": path} if path else {})
        environment.pop("PYTHONPATH", None)
        began = time.monotonic()
        done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
        self.seconds[name] = round(time.monotonic() - began, 1)
        if done.returncode != ends:
            sys.exit(f"{name} ended with {done.returncode}, not {ends}:\n{done.stdout}{done.stderr}")

    @property
    def total(self) -> float:
        """All of it, from the clone on."""
        return sum(self.seconds.values())


def walked(folder: Path) -> Walk:
    """Walk the path in an empty folder."""
    walk = Walk()
    clone, venv, mine = folder / "gazeveil", folder / "venv", folder / "study"
    mine.mkdir()
    walk.step("git clone", ["git", "clone", "--quiet", str(ROOT), str(clone)], folder)
    walk.step("python -m venv", [sys.executable, "-m", "venv", str(venv)], folder)
    binaries = venv / ("Scripts" if os.name == "nt" else "bin")
    install = ["install", "--quiet", "--disable-pip-version-check", "--constraint", "constraints.txt", ".[plots]"]
    walk.step("pip install", [str(binaries / "python"), "-m", "pip", *install], clone)
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    for block in blocks(clone / PAGE):
        _follow(block, walk, mine, path)
    return walk


def _follow(block: Block, walk: Walk, folder: Path, path: str) -> None:
    if block.language == "python":
        walk.step("simulate export.csv", ["python", "-c", block.code], folder, path)
    elif block.language in {"bash", "console"} and "not run" not in block.marks:
        for step in block.steps:
            walk.commands.append(step.command)
            words = " ".join(step.command.split())
            walk.step(words, ["bash", "-c", step.command], folder, path, int(block.marks.get("exit", 0)))


def missing(folder: Path, walk: Walk) -> list[str]:
    """Return what a stranger would miss at the end of the path."""
    release = folder / "study" / "maps"
    paragraph = (release / "methods.md").read_text(encoding="utf-8")
    drawn = [path for path in (release / "stimuli").glob("*.png") if ".errors" not in path.name]
    wanted = {
        f"at most {MOST_COMMANDS} commands, not {len(walk.commands)}": len(walk.commands) <= MOST_COMMANDS,
        f"at most {MOST_SECONDS} s, not {walk.total:.0f}": walk.total <= MOST_SECONDS,
        "a heatmap of each of the 4 stimuli": len(drawn) == 4,
        "a methods paragraph with the guarantee": "(ε, δ)-differential privacy with ε = 3" in paragraph,
        "one budget for all": "was charged to the account" in paragraph,
    }
    return [words for words, holds in wanted.items() if not holds]


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="stranger-"))
    try:
        walk = walked(folder)
        faults = missing(folder, walk)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, seconds in walk.seconds.items():
        print(f"{seconds:7.1f} s  {name[:100]}")
    print(f"{walk.total:7.1f} s  in all, with {len(walk.commands)} commands after the installation")
    if faults:
        sys.exit("missing: " + "; ".join(faults))
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text(json.dumps(_kept(walk), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _kept(walk: Walk) -> Mapping[str, object]:
    load = f", load {os.getloadavg()[2]:.0f}" if hasattr(os, "getloadavg") else ""
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}{load}"
    seconds = {name[:60]: seconds for name, seconds in walk.seconds.items()}
    return {"total_s": round(walk.total, 1), "commands": len(walk.commands), "machine": machine, "seconds": seconds}


if __name__ == "__main__":
    main()
