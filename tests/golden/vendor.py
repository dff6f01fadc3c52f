# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Small files of every format, kept as files, and what `gazeveil convert` makes of them.

The files were made once, by the writers that gazeveil had and by the makers of the tests of formats. They stay as they
are: readers are tested on them when no writer is left.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import polars as pl

from tests.golden import form
from tests.golden.comparing import DATA, Copy
from tests.golden.doors import run
from tests.golden.scenarios import heard, working_in

FILES = DATA / "vendor"
FOLDER = "converted"
MAIN = {"pupil-cloud": "gaze.csv", "pupil-core": "gaze_positions.csv", "tobii-glasses": "gazedata.gz"}
"""Which file of a sample is converted, where it is a folder that is no recording itself: others lie beside it."""
SIZES = "--screen 1920x1080 --size-mm 530x300 --distance-mm 600"


def files() -> dict[str, Path]:
    """Return every sample by its name: its format's folder, and the file or folder in it."""
    return {
        f"{FOLDER}/{folder.name}-{path.name}": path
        for folder in sorted(FILES.iterdir())
        for path in sorted(folder.iterdir())
        if not path.name.endswith(".events.parquet")
    }


def converted(path: Path, room: Path) -> Copy:
    """Convert a sample in a fresh folder, and return what was said and what the corpus holds."""
    room.mkdir(parents=True)
    place = room / path.name
    (shutil.copytree if path.is_dir() else shutil.copy)(path, place)
    if path.suffix == ".parquet" and (beside := path.with_suffix(".events.parquet")).is_file():
        shutil.copy(beside, room)
    if path.is_dir() and path.parent.name in MAIN:
        (place,) = place.rglob(MAIN[path.parent.name])
    given = place.relative_to(room).as_posix()
    command = f"convert {given!r} --out corpus {SIZES}"
    with working_in(room):
        said = heard(lambda: run(["convert", given, "--out", "corpus", *SIZES.split()]))
    return {command: said, **of_corpus(room / "corpus")}


def of_corpus(folder: Path) -> Copy:
    """Return the tables of a corpus: every column by a digest of its values, and the first rows to look at."""
    copy: Copy = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix().replace(os.sep, "/")
        if path.suffix != ".parquet":
            copy[name] = form.of_file(path)
            continue
        table = pl.read_parquet(path, hive_partitioning=False)
        columns = "".join(f"{each.name}: {each.dtype}, SHA-256 {_digest(each)}\n" for each in table)
        copy[name] = f"{form.label_of(path)}{len(table)} rows\n{columns}{form.of_table(table.head(3))}"
    return copy


def _digest(column: pl.Series) -> str:
    """Return a digest of a column's values, fractions to ten digits, as trigonometry differs in the last ones."""
    texts = (f"{value:.10g}" if isinstance(value, float) else repr(value) for value in column.to_list())
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
