# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Cells of a grid, each with a digest of all that decides its numbers, which is what their results are stored by.

A cell is one mechanism at one level, one measure, one seed, on one set of data. Its digest is of the data's content,
the recipe, the measure, the seed, and the parts of the software that matter (`software`). What has the same digest has
the same numbers, so it is never computed twice, whichever grid asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gazeveil.files import replacing
from gazeveil.lab.bench.runner import Case
from gazeveil.lab.bench.software import software
from gazeveil.lab.grid.catalogue import USES
from gazeveil.lab.grid.contract import Source
from gazeveil.lab.grid.grid_file import Asked, Grid, Level, Part, question_of

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        part: Which part of the grid.
        use: What is published.
        corpus: The data.
        level: The mechanism.
        asked: The measure.
        harm: What the attack does; empty for utilities.
        seed: From which all noise follows.
        corpus_digest: Of the data.
        software: Of the parts that matter.
    """

    part: int
    use: str
    corpus: str
    level: Level
    asked: Asked
    harm: str
    seed: int
    corpus_digest: str
    software: str

    @property
    def digest(self) -> str:
        """What the cell is called in the cache."""
        decides = {
            "form": 1,
            "use": self.use,
            "corpus": self.corpus_digest,
            "mechanism": [self.level.wanted.name, self.level.wanted.parameters],
            "measure": [self.asked.role, self.asked.name, self.asked.options],
            "seed": self.seed,
            "software": self.software,
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()[:24]

    @property
    def case(self) -> Case:
        """The cell as the runner sees it."""
        level = f" {self.level.level}" if self.level.level else ""
        return Case(
            f"{self.level.label}{level}, {self.asked.label}, seed {self.seed}",
            self,
            group=self.group,
            kind=(self.part, self.asked.label),
            digest=self.digest,
            about={
                "use": self.use,
                "corpus": self.corpus,
                "mechanism": [self.level.wanted.name, dict(self.level.wanted.parameters)],
                "measure": self.asked.label,
                "seed": self.seed,
                "corpus_digest": self.corpus_digest,
                "software": self.software,
            },
        )

    @property
    def group(self) -> tuple[Any, ...]:
        """Cells of one group share what was learnt: one process does them one after the other."""
        if self.asked.role == "attack":
            return self.part, "attack", self.asked.label, self.seed
        return self.part, "utility", self.level.label, self.level.level, self.seed


def cells_of(grid: Grid, data: Path | None, kept: Path) -> list[Cell]:
    """Return all cells of a grid.

    Args:
        grid: What is asked.
        data: The folder of data sets.
        kept: The folder of the run, which remembers digests of large files.
    """
    found = []
    for number, part in enumerate(grid.parts):
        use, corpus_digest = USES[part.use], _corpus_digest(part, data, kept)
        for asked in part.measures:
            question = question_of(part.use, asked)
            for level in part.levels:
                parts = (type(use), question.ask, *question.parts, *use.check(level.wanted))
                own = software(parts)
                found += [
                    Cell(number, part.use, part.corpus, level, asked, question.harm, seed, corpus_digest, own)
                    for seed in part.seeds
                ]
    return found


def source_of(part: Part) -> Source:
    """Return where the data of a part come from."""
    use = USES[part.use]
    if part.corpus in use.sources:
        return use.sources[part.corpus]
    folder = Path(part.corpus)
    return Source(partial(use.folder, path=folder), part.corpus)


def _corpus_digest(part: Part, data: Path | None, kept: Path) -> str:
    """Return a digest of the data: of their content, or of what simulates them; of data that are not there, none."""
    source = source_of(part)
    told = hashlib.sha256(json.dumps(dict(part.options), sort_keys=True, default=str).encode())
    told.update(software([source.load]).encode())
    for path in _files(Path(source.file) if Path(source.file).is_absolute() else _below(data, source.file)):
        told.update(f"{path.name} {_content(path, kept)}".encode())
    return told.hexdigest()[:24]


def _below(data: Path | None, file: str) -> Path | None:
    return None if data is None or not file else data / file


def _files(path: Path | None) -> Iterator[Path]:
    if path is None:
        return
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from sorted(one for one in path.rglob("*") if one.is_file())


def _content(path: Path, kept: Path) -> str:
    """Return the digest of a file; one that has neither grown nor changed since is not read again."""
    stat, memory = path.stat(), kept / "digests.json"
    stamp = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if stamp not in known:
        told = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                told.update(block)
        known[stamp] = told.hexdigest()
        with replacing(memory) as temporary:
            temporary.write_text(json.dumps(known, indent=1), encoding="utf-8", newline="\n")
    return str(known[stamp])
