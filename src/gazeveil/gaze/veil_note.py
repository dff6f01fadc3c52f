# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What files of veiled gaze say about themselves, so that nobody takes them for raw gaze."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gazeveil import __version__

_SENTENCE = re.compile(r"Veiled gaze, not raw gaze\. Mechanism: (.*)\. Guarantee: (.*)\. By gazeveil (\S+)\.")


@dataclass(frozen=True, slots=True)
class VeilNote:
    """That gaze is veiled, by what, and what is guaranteed. It goes with the samples from file to file.

    Attributes:
        mechanism: The mechanism, in words.
        guarantee: What is guaranteed, in words; that nothing is proven, and why, where nothing is.
        details: The guarantee as a JSON object.
        version: The version of gazeveil that veiled.
    """

    mechanism: str
    guarantee: str
    details: str = "{}"
    version: str = __version__

    @property
    def sentence(self) -> str:
        """The note on one line, for the comments and messages of text files."""
        said = f"Veiled gaze, not raw gaze. Mechanism: {self.mechanism}. Guarantee: {self.guarantee}."
        return " ".join(f"{said} By gazeveil {self.version}.".split())

    def to_dict(self) -> dict[str, Any]:
        """Return the note as plain values."""
        return {
            "mechanism": self.mechanism,
            "guarantee": self.guarantee,
            "details": json.loads(self.details),
            "version": self.version,
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> VeilNote:
        """Build a note from what `to_dict` gave; what is missing is told to be unknown."""
        known = {name: str(values.get(name, "not known")) for name in ("mechanism", "guarantee", "version")}
        return VeilNote(**known, details=json.dumps(values.get("details", {}), sort_keys=True))

    @staticmethod
    def from_sentence(text: str) -> VeilNote | None:
        """Return the note that a message holds, or None if it is another message."""
        found = _SENTENCE.search(text)
        return None if found is None else VeilNote(found[1], found[2], version=found[3])
