# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What files say of a release: its version, its date, its changes, how it is cited, how its container is made."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import yaml

_FINAL = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
_SECTION = re.compile(r"^## (?P<version>\S+)(?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
_NEEDED = ("cff-version", "message", "title", "authors", "version", "date-released", "license", "repository-code")
CITATION_SCHEMA = "cffconvert/schemas/1.2.0/schema.json"


class NotReady(Exception):  # noqa: N818  (it is a finding, not an error of the program)
    """One thing that keeps a commit from being released."""


@dataclass(frozen=True, slots=True)
class Change:
    """One section of the changelog."""

    version: str
    date: str
    text: str


def versions(root: Path) -> dict[str, str]:
    """Return the version that each file states."""
    web = root / "src/gazeveil/gateway/web"
    return {
        "src/gazeveil/__init__.py": _found(root / "src/gazeveil/__init__.py", r'__version__ = "([^"]+)"'),
        "CHANGELOG.md": next((one.version for one in changes(root) if one.version != "Unreleased"), "none"),
        "CITATION.cff": str(_citation(root).get("version", "none")),
        "gazeveil.js": _found(web / "gazeveil.js", r'VERSION = "([^"]+)"'),
        "package.json": str(json.loads((web / "package.json").read_text(encoding="utf-8"))["version"]),
    }


def one_version(root: Path) -> str:
    """Return the version that all files agree on.

    Raises:
        NotReady: If they differ, or it is that of a development version.
    """
    stated = versions(root)
    if len(set(stated.values())) != 1:
        raise NotReady(", ".join(f"{name}: {version}" for name, version in stated.items()))
    version = stated["CHANGELOG.md"]
    if not _FINAL.fullmatch(version):
        raise NotReady(f"{version} is no version to release")
    return version


def changes(root: Path) -> list[Change]:
    """Return the sections of the changelog, newest first."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = list(_SECTION.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        Change(head["version"], head["date"] or "", text[head.end() : end].strip())
        for head, end in zip(heads, ends, strict=True)
    ]


def check_changelog(root: Path, version: str) -> str:
    """Return what the changelog says of a version, in short.

    Raises:
        NotReady: If it has no such section with date and migration notes below the one of what is not released yet.
    """
    sections = changes(root)
    if [one.version for one in sections[:2]] != ["Unreleased", version]:
        raise NotReady(f"the changelog must begin with the sections Unreleased and {version}")
    found = sections[1]
    if found.date != str(_citation(root).get("date-released")):
        raise NotReady(f"the changelog's date is {found.date or 'missing'}; CITATION.cff has another one")
    if "### Migration" not in found.text:
        raise NotReady(f"section {version} has no migration notes")
    return f"{version}, {found.date}, {len(found.text.splitlines())} lines"


def check_citation(root: Path, schema: Path | None = None) -> str:
    """Return what is cited.

    Args:
        root: The repository.
        schema: The schema of the Citation File Format, to check against it too.

    Raises:
        NotReady: If a field is missing or has a wrong form.
    """
    cited = _citation(root)
    if schema is not None:
        rules = jsonschema.Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))
        for error in rules.iter_errors(cited):
            raise NotReady(f"CITATION.cff: {error.json_path}: {error.message}")
    if missing := [name for name in _NEEDED if not cited.get(name)]:
        raise NotReady(f"CITATION.cff lacks {', '.join(missing)}")
    try:
        datetime.date.fromisoformat(str(cited["date-released"]))
    except ValueError:
        raise NotReady(f"CITATION.cff: {cited['date-released']} is no date") from None
    authors = cited["authors"]
    if not isinstance(authors, list) or not all({"name", "family-names"} & set(author) for author in authors):
        raise NotReady("CITATION.cff: every author needs a name")
    return str(cited["title"])


def check_container(root: Path) -> str:
    """Return which image the container is built from.

    Raises:
        NotReady: If it runs as root, or is built from an image without a version.
    """
    lines = (root / "deploy/Containerfile").read_text(encoding="utf-8").splitlines()
    bases = [line.split()[1] for line in lines if line.startswith("FROM ")]
    if loose := [name for name in bases if ":" not in name or name.endswith(":latest")]:
        raise NotReady(f"deploy/Containerfile: {loose[0]} has no version")
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    if not users or users[-1] in {"root", "0"}:
        raise NotReady("deploy/Containerfile: the container runs as root")
    return bases[-1]


def _citation(root: Path) -> dict[str, object]:
    found = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise NotReady("CITATION.cff holds no fields")
    return found


def _found(path: Path, pattern: str) -> str:
    match = re.search(pattern, path.read_text(encoding="utf-8"))
    return match[1] if match else "none"
