# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Builds wheel and source distribution of a commit twice, and looks at what is in them."""

from __future__ import annotations

import email
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from tools.release.words import NotReady

MOST_BYTES = 8_000_000
_HALF_A_LINK = re.compile(r"\]\((?!https?://|#)[^)]*\)")
_NEVER = re.compile(r"(^|/)(__pycache__|\.git|\.venv|site|dist)(/|$)|\.pyc$|\.sqlite")


def build_twice(root: Path, python: Path, work: Path) -> list[Path]:
    """Build a commit in two folders with other paths, times and rights; return the files, wheel first.

    Raises:
        NotReady: If the two differ, or the wheel of the source distribution does.
    """
    epoch = git(root, "log", "-1", "--format=%ct").strip()
    first = _built(_checked_out(root, work / "first", 0o022), python, work / "one", epoch)
    second = _built(_checked_out(root, work / "elsewhere" / "second", 0o077), python, work / "two", epoch)
    for one, two in zip(first, second, strict=True):
        if sha256(one) != sha256(two):
            raise NotReady(f"{one.name} differs between two builds")
    wheel, source = first
    with tarfile.open(source) as archive:
        archive.extractall(work / "third", filter="data")
    again = _built(next((work / "third").iterdir()), python, work / "three", epoch, "--wheel")
    if sha256(again[0]) != sha256(wheel):
        raise NotReady(f"{wheel.name} differs from the one that the source distribution gives")
    return first


def tracked(root: Path) -> set[str]:
    """Return the files of the package that the repository knows, as a wheel names them."""
    return {name.removeprefix("src/") for name in git(root, "ls-files", "src/gazeveil").splitlines()}


def check_wheel(wheel: Path, expected: set[str], version: str) -> str:
    """Return size and number of files of a wheel.

    Raises:
        NotReady: If it is too large, lacks a file of the package, or has one that is none of it.
    """
    _check_size(wheel)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = email.message_from_bytes(archive.read(f"gazeveil-{version}.dist-info/METADATA"))
    found = {name for name in names if ".dist-info/" not in name}
    _check_same(found, expected, "the wheel")
    for needed in ("gazeveil/py.typed", f"gazeveil-{version}.dist-info/licenses/LICENSE"):
        if needed not in names:
            raise NotReady(f"the wheel has no {needed}")
    if half := _HALF_A_LINK.findall(str(about.get_payload())):
        raise NotReady(f"the description has links that lead nowhere on a package index: {half[0]}")
    if not about.get_all("Project-URL"):
        raise NotReady("the wheel names no addresses of the project")
    return f"{wheel.stat().st_size / 1e6:.1f} MB, {len(names)} files"


def check_source(source: Path) -> str:
    """Return size and number of files of a source distribution.

    Raises:
        NotReady: If it is too large, or lacks what builds and tests need.
    """
    _check_size(source)
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if wrong := sorted(name for name in names if _NEVER.search(name)):
        raise NotReady(f"the source distribution has {wrong[0]}")
    needed = {"pyproject.toml", "Makefile", "constraints.txt", "CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md"}
    if missing := sorted(needed - names):
        raise NotReady(f"the source distribution lacks {', '.join(missing)}")
    return f"{source.stat().st_size / 1e6:.1f} MB, {len(names)} files"


def sha256(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_size(path: Path) -> None:
    if path.stat().st_size > MOST_BYTES:
        raise NotReady(f"{path.name} has {path.stat().st_size / 1e6:.1f} MB; {MOST_BYTES / 1e6:g} are allowed")


def _check_same(found: set[str], expected: set[str], where: str) -> None:
    if missing := sorted(expected - found):
        raise NotReady(f"{where} lacks {missing[0]} and {len(missing) - 1} others")
    if more := sorted(found - expected):
        raise NotReady(f"{where} has {more[0]} and {len(more) - 1} others that are not in the repository")


def _checked_out(root: Path, folder: Path, umask: int) -> Path:
    folder.mkdir(parents=True)
    archive = folder.parent / f"{folder.name}.tar"
    git(root, "archive", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode & ~umask)
    return folder


def _built(folder: Path, python: Path, out: Path, epoch: str, *options: str) -> list[Path]:
    command = [str(python), "-m", "build", "--no-isolation", *options, "--outdir", str(out), str(folder)]
    told = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotReady(f"it cannot be built: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return sorted(out.glob("*.whl")) + sorted(out.glob("*.tar.gz"))


def put_into(folder: Path, files: list[Path]) -> None:
    """Copy files into an emptied folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in files:
        shutil.copy2(path, folder)


def write_digests(folder: Path) -> str:
    """Write the digests of all files of a folder, as ``sha256sum --check`` reads them; return how many there are."""
    lines = [f"{sha256(path)}  {path.name}\n" for path in sorted(folder.glob("gazeveil-*"))]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    return f"{len(lines)} files"


def git(root: Path, *arguments: str) -> str:
    """Return what git says about a repository."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout
