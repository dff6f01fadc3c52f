# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The documents of a release: a statement for participants, in words."""

from __future__ import annotations

from pathlib import Path

from gazeveil.release.release import Release


def write(release: Release, folder: Path) -> None:
    """Write all documents of a release into its folder."""
    statement = release.statement()
    (folder / "statement.html").write_text(statement.card(whole_page=True), encoding="utf-8")
    (folder / "statement.txt").write_text(statement.paragraph() + "\n", encoding="utf-8")
