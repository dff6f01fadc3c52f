# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""All golden copies by name, whatever they are of, and how each is made anew."""

from __future__ import annotations

from pathlib import Path

from tests.golden.comparing import DATA, Copy
from tests.golden.scenarios import RELEASES, played
from tests.golden.study import build
from tests.golden.vendor import converted, files
from tests.golden.wires import dialogues

STUDY = "the study"
FOLDERS = ("releases", "gateway", "converted")


def names() -> list[str]:
    """Return the names of all golden copies."""
    return [*RELEASES, *dialogues(), *files()]


def made(name: str, rooms: Path) -> Copy:
    """Make a copy anew, in a folder that all copies share: the study is built once."""
    if name in RELEASES:
        study = rooms / STUDY
        if not study.exists():
            build(study)
        return played(name, RELEASES[name], study, rooms / name)
    if name in files():
        return converted(files()[name], rooms / name)
    return dialogues()[name]()


def kept() -> set[str]:
    """Return the names of the copies that are kept."""
    return {f"{path.parent.name}/{path.stem}" for folder in FOLDERS for path in (DATA / folder).glob("*.txt")}
