# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The one record of a release: a folder with ``release.json``, the value, pictures and documents for readers.

``release.json`` holds format, version, id, date, software, guarantee, public facts, recipe, receipt and the SHA-256 of
every other file, and last a digest of itself without that field. Its version is raised when its meaning changes;
older ones stay readable (`gazeveil.release.verify`).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gazeveil import __version__
from gazeveil.arrays import Tell, silent
from gazeveil.errors import OutputError
from gazeveil.files import replacing, write_private
from gazeveil.privacy.ledger.events import digest_of
from gazeveil.release import documents, signing
from gazeveil.release.checking import private_report
from gazeveil.release.manifest import digest_of_file
from gazeveil.release.release import Release

FORMAT = "gazeveil-release"
VERSION = 2
NAME = "release.json"
SEALED = ("digest", "signature")
"""The fields that the digest does not cover."""


def write_record(
    release: Release,
    folder: Path,
    *,
    overwrite: bool = False,
    sign_with: Path | None = None,
    tell: Tell = silent,
) -> Path:
    """Write a release as a folder, there whole or not at all, and the holder's private report beside it.

    Raises:
        OutputError: If it cannot be written, or would replace something that is no release.
    """
    check_place(folder, overwrite=overwrite)
    key = None if sign_with is None else signing.private_key(sign_with)
    with replacing(folder) as target:
        target.mkdir()
        more = release.measurement.write(release.value, target, tell)
        documents.write(release, more, target)
        values = _values(release, more, _digests(target))
        values["digest"] = digest_of_record(values)
        values["signature"] = None if key is None else signing.signature(key, values["digest"])
        (target / NAME).write_text(as_text(values), encoding="utf-8", newline="\n")
        private = private_report(release.measurement.study, release.private)
        write_private(private_report_of(folder), json.dumps(private, indent=2, ensure_ascii=False) + "\n")
    return folder


def private_report_of(folder: Path) -> Path:
    """Return where the holder's private report about a release is: beside the folder, never in it."""
    return folder.with_name(f"{folder.name}.private-report.json")


def as_text(values: Mapping[str, Any]) -> str:
    """Return a record as the text of its file: there is one way to write it."""
    return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def digest_of_record(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without the fields that seal it, as JSON with sorted keys and no blanks."""
    covered = {key: value for key, value in values.items() if key not in SEALED}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def check_place(folder: Path, *, overwrite: bool) -> None:
    """Find out before anything is spent what would fail after.

    Raises:
        OutputError: If the folder cannot be written, or would replace something that is no release.
    """
    _check_names(folder)
    if folder.exists() and not overwrite:
        raise OutputError(
            f"{folder} exists already", hint="choose another name, or add --overwrite (in Python overwrite=True)"
        )
    if folder.exists() and not _may_go(folder):
        raise OutputError(
            f"{folder} exists and is not an earlier release, so it is not replaced",
            hint=f"choose another name; a release is a folder with a {NAME}",
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}", hint="choose another place") from error
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write to {folder.parent}", hint="choose another place, or allow writing there")


def _check_names(folder: Path) -> None:
    """Refuse names that fail later, or that would put the private report where it is published."""
    report = private_report_of(folder)
    try:
        (folder.parent / f".{report.name}.{'0' * 12}.partial").lstat()  # the longest name that is written
    except FileNotFoundError:
        pass
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}", hint="choose another name") from error
    if folder.is_symlink() or report.is_symlink() or (report.exists() and not report.is_file()):
        raise OutputError(
            f"{folder} or {report.name} beside it is a link or something else", hint="choose another name"
        )
    for parent in folder.resolve().parents:
        if (parent / NAME).is_file():
            raise OutputError(
                f"{folder} lies in the release {parent}, which its private report would be published with",
                hint="choose a place beside it",
            )


def _may_go(folder: Path) -> bool:
    """Return whether a folder is empty or an earlier release; what else someone keeps is not ours to remove."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return (folder / NAME).is_file() or not any(folder.iterdir())


def _values(release: Release, more: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    recipe, forecast, found = release.recipe(), release.measurement.forecast(), release.identification
    facts = [fact.to_dict() for fact in release.facts]
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": release.id,
        "date": release.date,
        "software": {"gazeveil": __version__, "python": platform.python_version()},
        "product": release.product,
        "study": release.measurement.study.name,
        "guarantee": release.guarantee.to_dict(),
        "conditional_on": [fact.name for fact in release.facts if not fact.declared],
        "public_facts": facts,
        "recipe": recipe,
        "recipe_digest": digest_of(recipe),
        "forecast": None if forecast is None else forecast.to_dict(),
        "identification": None if found is None else found.to_dict(),
        "about_the_value": dict(more),
        "post_processing": list(release.post_processing),
        "receipt": None if release.receipt is None else release.receipt.to_dict(),
        "total": None if release.total is None else release.total.to_dict(),
        "statement": release.statement().paragraph(),
        "files": dict(files),
    }


def _digests(target: Path) -> dict[str, str]:
    paths = sorted(path for path in target.rglob("*") if path.is_file())
    return {path.relative_to(target).as_posix(): digest_of_file(path) for path in paths}
