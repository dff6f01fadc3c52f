# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The documents of a release: for participants, authors, reviewers, and the public registry of deployments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gazeveil.release.evidence import evidence
from gazeveil.release.methods import methods
from gazeveil.release.registry_entry import registry_entry
from gazeveil.release.release import Release

METHODS, EVIDENCE, REGISTRY_ENTRY = "methods.md", "evidence.html", "registry-entry.json"
PARTS, MOVIE_PARTS = "heatmap.parts.png", "movie.parts.png"
"""What a heatmap, or the mean of a movie, is made of, three maps side by side; shown by the statement's page, too."""


def write(release: Release, about_the_value: Mapping[str, Any], folder: Path) -> None:
    """Write all documents of a release into its folder."""
    picture = parts_in(folder)
    texts = {
        **release.statement().files(picture),
        METHODS: methods(release, about_the_value),
        EVIDENCE: evidence(release, about_the_value),
    }
    if (entry := registry_entry(release, about_the_value)) is not None:
        texts[REGISTRY_ENTRY] = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def parts_in(folder: Path) -> bytes | None:
    """Return the picture of what the value is made of, where the folder holds one."""
    parts = [folder / name for name in (PARTS, MOVIE_PARTS) if (folder / name).is_file()]
    return parts[0].read_bytes() if parts else None
