# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Records of gazeveil before the one record: three kinds, checked as far as they allow.

- ``NAME.release.json`` beside a released file, format ``gazeveil-release`` version 1: it has the file's SHA-256;
- ``release.json`` in a folder, without a format: it has no digests of files;
- ``NAME.release.json`` beside veiled gaze, format ``gazeveil-veiled`` version 1: it has no digests of files either.

None of them has a digest of itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gazeveil.privacy.guarantee import guarantee_from_dict
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.events import digest_of
from gazeveil.privacy.statement import statement
from gazeveil.release.charges import check_charge, check_digest
from gazeveil.release.verification import WRONG, Findings, holds

VEILED = "gazeveil-veiled"


def check(found: Findings, values: Mapping[str, Any], record: Path, ledger: Ledger | None) -> None:
    """Check a record of an earlier version."""
    found.unchecked("digest of the record", "records of this version have none")
    try:
        if values.get("format") is None:
            _check_folder(found, values, record.parent, ledger)
        elif values["format"] == VEILED:
            _check_veiled(found, values, record.parent, ledger)
        else:
            _check_sidecar(found, values, record.parent, ledger)
    except WRONG as error:
        found.check("contents of the record", False, f"a field is missing or wrong: {error}")


def _check_sidecar(found: Findings, values: Mapping[str, Any], folder: Path, ledger: Ledger | None) -> None:
    file = _beside(folder, values["file"])
    found.check(
        "contents of the files",
        holds(file, values["sha256"]),
        f"changed or missing: {file.name}",
        file.name,
    )
    _check_words(found, values["guarantee"], values["statement"])
    recipe = digest_of(values["recipe"])
    found.check("digest of the recipe", values["recipe_digest"] == recipe, "the recipe is another one")
    check_charge(found, values, values["receipt"], recipe, ledger)


def _check_folder(found: Findings, values: Mapping[str, Any], folder: Path, ledger: Ledger | None) -> None:
    found.unchecked("contents of the files", "the record has no digests of its files")
    said = values["statement"]
    _check_words(found, values["guarantee"], said["text"])
    now = statement(guarantee_from_dict(values["guarantee"])).to_dict()
    numbers = ("proven", "odds_factor", "presence_odds_factor", "belief", "failure_chance", "guarantee")
    found.check(
        "numbers of the statement",
        all(said[name] == now[name] for name in numbers),
        "the statement's numbers are not those of the guarantee",
    )
    text = folder / "statement.txt"
    found.check(
        "statement for readers",
        text.is_file() and text.read_bytes() == (said["text"] + "\n").encode(),
        "statement.txt does not say what the record says",
    )
    if values["receipt"] is None:
        check_charge(found, values, None, "", ledger)
    else:
        check_digest(found, values["receipt"], values["guarantee"], digest_of(values["recipe"]), ledger)


def _check_veiled(found: Findings, values: Mapping[str, Any], folder: Path, ledger: Ledger | None) -> None:
    found.check("no file is missing", _beside(folder, values["file"]).exists(), f"missing: {values['file']}")
    found.unchecked("contents of the files", "the record has no digests of its files")
    for guarantee, words in zip(values["guarantee"], values["statement"], strict=True):
        _check_words(found, guarantee, words)
    if not values["receipts"]:
        check_charge(found, values, None, "", ledger)
        return
    recipes = {digest_of(recipe) for recipe in values["recipe"]}
    if len(recipes) > 1:
        found.unchecked("charge", "the record names several mechanisms and not which charge is for which")
        return
    for receipt in values["receipts"]:
        promised = receipt["guarantee"] if receipt["guarantee"] in values["guarantee"] else None
        check_charge(found, {"version": 1, "guarantee": promised}, receipt, next(iter(recipes)), ledger)


def _check_words(found: Findings, guarantee: Any, words: str) -> None:
    figures = statement(guarantee_from_dict(guarantee)).figures()
    found.check("statement", all(figure in words for figure in figures), "it does not say what the guarantee says")


def _beside(folder: Path, name: Any) -> Path:
    """Return a file beside the record; its name is a plain one."""
    if not isinstance(name, str) or Path(name).name != name:
        raise ValueError(f"{name!r} is not the name of a file")
    return folder / name
