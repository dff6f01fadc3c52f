# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The list of real files: which repository, commit and path. The files themselves are kept elsewhere."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("sources.toml")


@dataclass(frozen=True, slots=True)
class Source:
    """One real file (or a folder, whose path ends in ``/``) and what a reader has to be told about it."""

    repository: str
    commit: str
    path: str
    beside: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The folder that holds the files of this repository."""
        return f"{self.repository.replace('/', '+')}@{self.commit}"

    def at(self, folder: Path) -> Path:
        """Return where the file lies in a folder of real files."""
        return folder / self.folder / self.path


def sources(path: Path = LIST) -> Iterator[Source]:
    """Yield the files of a list."""
    for repository in tomllib.loads(path.read_text(encoding="utf-8"))["repository"]:
        for entry in repository["files"]:
            given = {name: value for name, value in entry.items() if name not in {"path", "beside"}}
            beside = tuple(entry.get("beside", ()))
            yield Source(repository["name"], repository["commit"], entry["path"], beside, given)


def collect(clones: Path, folder: Path, path: Path = LIST) -> list[str]:
    """Copy the listed files out of clones (``CLONES/OWNER+NAME``, bare or not); return what could not be had."""
    absent = []
    for source in sources(path):
        clone = _git_directory(clones / source.repository.replace("/", "+"))
        wanted = [source.path, *source.beside]
        if source.path.endswith("/"):
            wanted = _git(clone, "ls-tree", "-rz", "--name-only", source.commit, source.path).decode().split("\0")[:-1]
        for name in wanted:
            target = folder / source.folder / name
            if target.exists():
                continue
            try:
                content = _git(clone, "show", f"{source.commit}:{name}")
            except subprocess.CalledProcessError:
                absent.append(f"{source.repository}: {name}")
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return absent


def _git_directory(clone: Path) -> Path:
    places = (clone / ".git", clone / "repo" / ".git", clone / "repo", clone)
    return next((place for place in places if (place / "HEAD").exists()), clone)


def _git(directory: Path, *words: str) -> bytes:
    return subprocess.run(["git", f"--git-dir={directory}", *words], capture_output=True, check=True).stdout
