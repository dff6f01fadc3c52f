# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`make release-check` finds what it is there to find; here without building anything."""

from __future__ import annotations

import ast
import shutil
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import gazeveil
from tools.release import archives, bill, environments, words
from tools.release.words import NotReady

ROOT = Path(__file__).resolve().parents[1]
STATED = (
    "CHANGELOG.md",
    "CITATION.cff",
    "deploy/Containerfile",
    "src/gazeveil/__init__.py",
    "src/gazeveil/gateway/web/gazeveil.js",
    "src/gazeveil/gateway/web/package.json",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The files that state something of a release, in a folder where they can be changed."""
    for name in STATED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_files_of_this_commit_state_one_version_its_date_and_how_to_cite_it() -> None:
    stated = words.versions(ROOT)
    assert set(stated.values()) == {gazeveil.__version__}, stated
    words.check_changelog(ROOT, gazeveil.__version__)
    assert "eye tracking" in words.check_citation(ROOT)
    assert words.check_container(ROOT).startswith("python:")


@pytest.mark.parametrize("name", [name for name in STATED if name != "deploy/Containerfile"])
def test_another_version_in_any_file_is_found(root: Path, name: str) -> None:
    version = words.one_version(root)
    change(root / name, version, "9.9.9")
    with pytest.raises(NotReady, match=r"9\.9\.9"):
        words.one_version(root)


def test_a_development_version_is_not_released(root: Path) -> None:
    for name in STATED[:2] + STATED[3:]:
        change(root / name, words.versions(ROOT)["CITATION.cff"], "0.2.0.dev0")
    with pytest.raises(NotReady, match="no version to release"):
        words.one_version(root)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("## Unreleased", "## Later", "must begin with"),
        (f"## {gazeveil.__version__} - 20", f"## {gazeveil.__version__} - 19", "another one"),
        ("### Migration", "### Others", "no migration notes"),
    ],
)
def test_a_changelog_without_section_date_or_migration_notes_is_found(
    root: Path, old: str, new: str, found: str
) -> None:
    change(root / "CHANGELOG.md", old, new)
    with pytest.raises(NotReady, match=found):
        words.check_changelog(root, gazeveil.__version__)


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        ("CITATION.cff", "authors:", "writers:", "lacks authors"),
        ("CITATION.cff", '"2026-', '"2026-20-', "is no date"),
        ("CITATION.cff", "- name: The", "- alias: The", "needs a name"),
        ("deploy/Containerfile", "USER 10001", "USER root", "runs as root"),
        ("deploy/Containerfile", "FROM python:3.12-slim\n", "FROM python\n", "has no version"),
    ],
)
def test_a_broken_citation_or_container_file_is_found(root: Path, name: str, old: str, new: str, found: str) -> None:
    change(root / name, old, new)
    check = words.check_citation if name == "CITATION.cff" else words.check_container
    with pytest.raises(NotReady, match=found):
        check(root)


def wheel(folder: Path, *names: str, description: str = "[docs](https://example.org)") -> Path:
    path = folder / "gazeveil-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
        archive.writestr("gazeveil-1.0.0.dist-info/licenses/LICENSE", "")
        about = f"Name: gazeveil\nProject-URL: Source, https://example.org\n\n{description}\n"
        archive.writestr("gazeveil-1.0.0.dist-info/METADATA", about)
    return path


def test_a_wheel_that_lacks_a_file_or_has_one_too_many_or_half_a_link_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ("gazeveil/__init__.py", "gazeveil/py.typed")
    assert "4 files" in archives.check_wheel(wheel(tmp_path, *whole), set(whole), "1.0.0")
    with pytest.raises(NotReady, match=r"lacks gazeveil/py\.typed"):
        archives.check_wheel(wheel(tmp_path, *whole[:1]), set(whole), "1.0.0")
    with pytest.raises(NotReady, match=r"has gazeveil/notes\.txt"):
        archives.check_wheel(wheel(tmp_path, *whole, "gazeveil/notes.txt"), set(whole), "1.0.0")
    with pytest.raises(NotReady, match="lead nowhere"):
        archives.check_wheel(wheel(tmp_path, *whole, description="[docs](docs/index.md)"), set(whole), "1.0.0")
    monkeypatch.setattr(archives, "MOST_BYTES", 10)
    with pytest.raises(NotReady, match="are allowed"):
        archives.check_wheel(wheel(tmp_path, *whole), set(whole), "1.0.0")


def test_every_extra_is_tried() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    tried = {*environments.EXTRAS, *environments.HEAVY}
    assert set(declared) == {*tried, *environments.DEVELOPERS}
    trials = ast.parse(environments.TRIALS.read_text(encoding="utf-8"))
    assert tried <= {node.name for node in trials.body if isinstance(node, ast.FunctionDef)}


def test_a_bill_of_materials_without_gazeveil_or_its_dependencies_is_found() -> None:
    parts = [
        {"name": "gazeveil", "version": "1.0.0", "bom-ref": "us"},
        {"name": "numpy", "version": "2", "bom-ref": "n"},
    ]
    good: dict[str, Any] = {"bomFormat": "CycloneDX", "components": parts}
    good["dependencies"] = [{"ref": "us", "dependsOn": ["n"]}]
    assert bill.check_bill(good, "1.0.0").startswith("2 packages")
    worse: list[dict[str, Any]] = [{"components": parts[1:]}, {"components": parts[:1]}, {"dependencies": []}]
    for broken in [*worse, {"bomFormat": "another"}]:
        with pytest.raises(NotReady):
            bill.check_bill(good | broken, "1.0.0")
    with pytest.raises(NotReady, match=r"2\.0\.0"):
        bill.check_bill(good, "2.0.0")
