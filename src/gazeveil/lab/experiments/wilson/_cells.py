# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Cells of table 3 that are done, in a file: a long run that is stopped goes on where it was.

One line of JSON for each cell. A cell counts only if it was measured in the same way: the same participants, lengths,
seeds, the same recogniser down to the bytes of its model, and the same attack down to its source. A change of what
several attacks share is not noticed: begin a new file then. A last line that was cut off is measured again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from gazeveil.errors import OutputError
from gazeveil.lab.attacks.contract import ATTACKS, Recogniser

Cell = tuple[str, str, str]
"""A mechanism, an attack, and a recogniser."""


class Cells:
    """Measured cells, and what mechanisms leave; without a file they are kept in memory alone."""

    def __init__(self, path: Path | None, measured: Mapping[str, Any], identities: Mapping[str, str]) -> None:
        """Read what is there.

        Args:
            path: The file; it need not be there yet.
            measured: How cells are measured; those that were measured otherwise do not count.
            identities: What the recognisers are, by name (`identity`); cells of others of that name do not count.
        """
        self.rows: dict[Cell, dict[str, Any]] = {}
        self.left: dict[str, dict[str, Any]] = {}
        self._path, self._measured, self._identities = path, json.loads(json.dumps(measured)), identities
        for line in path.read_text(encoding="utf-8").splitlines() if path is not None and path.is_file() else ():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            now = code_of(found.get("attack", ""))
            if found.get("measured") == self._measured and found.get("code", now) == now:
                self._take(found)

    def add(
        self, veil: str, attack: str, rows: Mapping[str, Mapping[str, Any]], left: Mapping[str, Any] | None
    ) -> None:
        """Keep cells of one mechanism and attack, by recogniser, and what the mechanism leaves.

        Raises:
            OutputError: If the file cannot be written.
        """
        found = {
            "measured": self._measured,
            "recognisers": {name: self._identities[name] for name in rows},
            "veil": veil,
            "attack": attack,
            "code": code_of(attack),
            "rows": dict(rows),
            "left": left,
        }
        self._take(found)
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(found, ensure_ascii=False) + "\n")
        except OSError as error:
            raise OutputError(f"cannot write {self._path}: {error.strerror or error}") from None

    def _take(self, found: Mapping[str, Any]) -> None:
        for recogniser, row in found["rows"].items():
            if found["recognisers"].get(recogniser) == self._identities.get(recogniser):
                self.rows[found["veil"], found["attack"], recogniser] = row
        if found["left"] is not None:
            self.left[found["veil"]] = found["left"]


def code_of(attack: str) -> str:
    """Return the source of an attack, to the byte, as a short name; empty for no attack, or one that is no more."""
    if attack not in ATTACKS.names():
        return ""
    source = getattr(sys.modules.get(ATTACKS[attack].__module__), "__file__", None)
    return "" if source is None else blake2b(Path(source).read_bytes(), digest_size=8).hexdigest()


def identity(recogniser: Recogniser) -> str:
    """Return what a recogniser is: its parameters, and its model to the byte where it has one."""
    model = getattr(recogniser, "model_file", None)
    if model is None:
        return repr(recogniser)
    return f"{recogniser!r} {blake2b(Path(model()).read_bytes(), digest_size=8).hexdigest()}"
