# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The record of a release: a folder with ``release.json``, value, pictures and documents; and its signature (Ed25519).

``release.json`` holds format, version, id, date, software, guarantee, public facts, recipe, receipt and the SHA-256 of
every other file, and last a digest of itself without that field. Its version is raised when its meaning changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gazeveil import __version__
from gazeveil.arrays import Tell, silent
from gazeveil.errors import FileFormatError, OutputError, why
from gazeveil.files import replacing, write_private
from gazeveil.privacy.ledger.events import digest_of
from gazeveil.release import documents
from gazeveil.release.check import private_report
from gazeveil.release.release import Release
from gazeveil.release.study_toml import digest_of_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


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
    key = None if sign_with is None else private_key(sign_with)
    with replacing(folder) as target:
        target.mkdir()
        more = release.measurement.write(release.value, target, tell)
        documents.write_documents(release, more, target)
        values = _values(release, more, _digests(target))
        values["digest"] = digest_of_record(values)
        values["signature"] = None if key is None else signature(key, values["digest"])
        (target / NAME).write_text(record_text(values), encoding="utf-8", newline="\n")
        private = private_report(release.measurement.study, release.private)
        write_private(private_report_path(folder), json.dumps(private, indent=2, ensure_ascii=False) + "\n")
    return folder


def check_place(folder: Path, *, overwrite: bool) -> None:
    """Check, before anything is spent, that a release can be written to a folder.

    Raises:
        OutputError: If the folder cannot be written, or would replace something that is no release.
    """
    _check_names(folder)
    if folder.exists() and not overwrite:
        raise OutputError(
            f"{folder} exists already", hint="choose another name, or add --overwrite (in Python overwrite=True)"
        )
    if folder.exists() and not _may_be_replaced(folder):
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


def private_report_path(folder: Path) -> Path:
    """Return where the holder's private report about a release is: beside the folder, never in it."""
    return folder.with_name(f"{folder.name}.private-report.json")


def record_text(values: Mapping[str, Any]) -> str:
    """Return a record as the text of its file, in the one way that it is written."""
    return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def digest_of_record(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without the fields that seal it, as JSON with sorted keys and no blanks."""
    covered = {key: value for key, value in values.items() if key not in SEALED}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _check_names(folder: Path) -> None:
    """Refuse names that would fail later, or that would put the private report where it is published."""
    report = private_report_path(folder)
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


def _may_be_replaced(folder: Path) -> bool:
    """Return whether a folder is empty or an earlier release; nothing else may be removed."""
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


# --- Signatures.


ALGORITHM = "ed25519"
_KEY_HINT = "make one with `openssl genpkey -algorithm ed25519 -out key.pem`"


def private_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        FileFormatError: If there is none of that kind.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise FileFormatError(
            path, expected="an Ed25519 private key in PEM", found=why(error), hint=_KEY_HINT
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise FileFormatError(path, expected="an Ed25519 private key", found="another kind of key", hint=_KEY_HINT)
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key.

    Raises:
        FileFormatError: If there is none of that kind.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    hint = "write it with `openssl pkey -in key.pem -pubout -out key.pub.pem`"
    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, TypeError) as error:
        raise FileFormatError(path, expected="an Ed25519 public key in PEM", found=why(error), hint=hint) from None
    if not isinstance(key, Ed25519PublicKey):
        raise FileFormatError(path, expected="an Ed25519 public key", found="another kind of key", hint=hint)
    return key


def signature(key: Ed25519PrivateKey, digest: str) -> dict[str, str]:
    """Return the signature of a digest, with the public key that checks it."""
    raw = key.public_key().public_bytes_raw()
    return {"algorithm": ALGORITHM, "public_key": raw.hex(), "signature": key.sign(digest.encode()).hex()}


def is_signed(found: Any, digest: str, key: Ed25519PublicKey | None = None) -> bool:
    """Return whether a signature is one of a digest, by a given key, or else by the key that it names."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        named, signed = bytes.fromhex(found["public_key"]), bytes.fromhex(found["signature"])
        # A signature has one spelling only; gazeveil wrote no other.
        if found != {"algorithm": ALGORITHM, "public_key": named.hex(), "signature": signed.hex()}:
            return False
        if key is not None and named != key.public_bytes_raw():
            return False
        Ed25519PublicKey.from_public_bytes(named).verify(signed, digest.encode())
    except (KeyError, TypeError, ValueError, InvalidSignature):
        return False
    return True
