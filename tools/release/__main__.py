# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.release``: the checklist of a release. It goes on after a failure, and then ends with 1."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tools.release import archives, bill, environments, words
from tools.release.words import NotReady

ROOT = Path(__file__).resolve().parents[2]


class Checklist:
    """Checks with their answers, printed as they come."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def check(self, name: str, answer: Callable[[], str]) -> bool:
        """Make one check and print what it says; return whether it passed."""
        begun = time.monotonic()
        try:
            told, mark = answer(), "pass"
        except (NotReady, OSError, subprocess.SubprocessError) as error:
            told, mark = str(error), "FAIL"
            self.failed.append(name)
        print(f"[{mark}] {name:<32} {told} ({time.monotonic() - begun:.0f} s)", flush=True)
        return mark == "pass"


def release_check(bin_folder: Path, *, heavy: bool) -> int:
    """Make all checks; return the exit code."""
    todo = Checklist()
    todo.check("clean tree", clean_tree)
    todo.check("one version everywhere", lambda: words.one_version(ROOT))
    version = words.versions(ROOT)["src/gazeveil/__init__.py"]
    todo.check("changelog", lambda: words.check_changelog(ROOT, version))
    todo.check("citation", lambda: words.check_citation(ROOT, _schema(bin_folder)))
    todo.check("container file", lambda: f"{words.check_container(ROOT)}; {_linted(bin_folder)}")
    todo.check("container image", container_image)
    todo.check("documentation", documentation)
    os.environ.pop("PYTHONPATH", None)  # what is built and tried next sees nothing but itself
    with tempfile.TemporaryDirectory(prefix="gazeveil-release-") as folder:
        work = Path(folder)
        built: list[Path] = []

        def build() -> str:
            built.extend(archives.build_twice(ROOT, bin_folder / "python", work / "builds"))
            archives.put_into(ROOT / "dist", built)
            return "; ".join(f"{path.name} sha256 {archives.sha256(path)[:12]}" for path in built)

        if todo.check("two builds are the same", build):
            wheel, source = built
            todo.check("contents of the wheel", lambda: archives.check_wheel(wheel, archives.tracked(ROOT), version))
            todo.check("contents of the source", lambda: archives.check_source(source))
            todo.check("description", lambda: _described(bin_folder, built))
            _smoke(todo, wheel, version, bin_folder, work, heavy=heavy)
            todo.check("digests", lambda: archives.write_digests(ROOT / "dist"))
    print(f"not ready: {', '.join(todo.failed)}" if todo.failed else f"gazeveil {version} is ready; see dist/")
    return 1 if todo.failed else 0


def _smoke(todo: Checklist, wheel: Path, version: str, bin_folder: Path, work: Path, *, heavy: bool) -> None:
    base = work / "plain"

    def trial(name: str, folder: Path) -> str:
        return environments.tried(folder, name, version, work / "tried" / name)

    if not todo.check("installed: no extra", lambda: trial("plain", environments.plain(wheel, base))):
        return
    target = ROOT / "dist" / f"gazeveil-{version}.cdx.json"
    python, maker = environments.python_of(base), bin_folder / "cyclonedx-py"
    todo.check("bill of materials", lambda: bill.write_bill(python, maker, target, version))
    for extra in environments.EXTRAS + (environments.HEAVY if heavy else ()):
        folder = work / extra

        def answer(extra: str = extra, folder: Path = folder) -> str:
            return trial(extra, environments.with_extra(wheel, extra, base, folder))

        todo.check(f"installed: {extra}", answer)
        shutil.rmtree(folder, ignore_errors=True)
    if not heavy:
        print(f"[    ] not tried without HEAVY=1: {', '.join(environments.HEAVY)}")


def clean_tree() -> str:
    """Return the commit.

    Raises:
        NotReady: If something is changed or not committed.
    """
    if changed := archives.git(ROOT, "status", "--porcelain").splitlines():
        raise NotReady(f"{len(changed)} files differ from the commit, {changed[0].strip()} first")
    return archives.git(ROOT, "rev-parse", "--short", "HEAD").strip()


def container_image() -> str:
    """Build the image where an engine runs.

    Raises:
        NotReady: If it cannot be built.
    """
    for engine in ("podman", "docker"):
        if shutil.which(engine) and not subprocess.run([engine, "info"], capture_output=True, check=False).returncode:
            command = [engine, "build", "--quiet", "--file", "deploy/Containerfile", "--tag", "gazeveil:check", "."]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NotReady(done.stderr.strip().splitlines()[-1])
            return f"built with {engine}"
    return "not built: no engine runs here"


def documentation() -> str:
    """Build the documentation, where every warning is an error.

    Raises:
        NotReady: If it cannot be built.
    """
    with tempfile.TemporaryDirectory() as site:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotReady((done.stderr or done.stdout).strip().splitlines()[-1])
        return f"{len(list(Path(site).rglob('*.html')))} pages"


def _schema(bin_folder: Path) -> Path:
    for path in bin_folder.parent.rglob(words.CITATION_SCHEMA):
        return path
    raise NotReady("the schema of citations is not installed")


def _linted(bin_folder: Path) -> str:
    _tool(bin_folder, "hadolint", "deploy/Containerfile")
    return "hadolint finds nothing"


def _described(bin_folder: Path, built: list[Path]) -> str:
    _tool(bin_folder, "twine", "check", "--strict", *map(str, built))
    return "twine finds nothing"


def _tool(bin_folder: Path, name: str, *arguments: str) -> str:
    done = subprocess.run([str(bin_folder / name), *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode:
        raise NotReady("; ".join(said[-3:]))
    return said[-1] if said else "nothing to say"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument(
        "--bin-seconds", type=Path, required=True, help="Where the tools of requirements.txt are installed."
    )
    parser.add_argument("--heavy", action="store_true", help="Try the extras of a gigabyte, too.")
    options = parser.parse_args()
    sys.exit(release_check(options.bin.resolve(), heavy=options.heavy))
