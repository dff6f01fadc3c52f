# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of pictures with what participants looked at: a folder for each, with ``images`` and a table ``fixations.csv``.

The table has the columns image (a file's name), viewer, x and y (pixels of the picture) and duration (any unit). The
pictures that are kept out of training are chosen by a seed, or listed in ``held_out.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.aggregate.grid import render
from gazeveil.aggregate.saliency import shrunk
from gazeveil.arrays import FloatArray
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.picture_model import CELL, fitted
from gazeveil.release.map_files import read_pixels

COLUMNS: Final = ("image", "viewer", "x", "y", "duration")
BLUR_CELLS: Final = 640 / 32 * 1.1 / CELL
"""A degree and a tenth of a picture that is 32 degrees wide."""
_CENTRE_SHAPE, _CENTRE_BLUR = (30, 40), 1.5


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """A picture, and the map of where its viewers looked, of mass 1."""

    name: str
    pixels: NDArray[np.uint8]
    looks: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class PictureSet:
    """One lab's pictures."""

    name: str
    trained: tuple[Looked, ...]
    held_out: tuple[Looked, ...]

    def centre(self) -> FloatArray:
        """Return where gaze goes whatever a picture shows, the same on both sides."""
        mean = sum(shrunk(each.looks, *_CENTRE_SHAPE) for each in self.trained)
        mean = render(np.asarray(mean + np.asarray(mean)[:, ::-1]), _CENTRE_BLUR)
        return np.asarray(mean / mean.sum())


def read_set(folder: Path, *, held_share: float, seed: int) -> PictureSet:
    """Read a set.

    Raises:
        InputError: If something is missing or makes no sense.
    """
    found = [_looked(folder / "images" / name, part) for name, part in fixations_of(folder)]
    kept = listed_in(folder)
    if kept is None:
        order = np.random.default_rng(seed).permutation(len(found))
        kept = {found[place].name for place in order[: round(held_share * len(found))]}
    trained = tuple(each for each in found if each.name not in kept)
    if not trained:
        raise InputError(f"{folder} has no picture to train on")
    return PictureSet(folder.name, trained, tuple(each for each in found if each.name in kept))


def folds(sets: Sequence[PictureSet], count: int, seed: int) -> Iterator[list[PictureSet]]:
    """Divide the pictures that are trained on into parts by chance, and yield the sets as each part leaves them.

    The pictures of the part are held out and those of all other parts are trained on. Pictures that were held out
    before are in neither. Each set is spread evenly over the parts.

    Raises:
        OptionError: If a set has fewer pictures to train on than there are parts.
    """
    for each in sets:
        if len(each.trained) < count:
            raise OptionError(
                f"{each.name} has too few pictures to train on for {count} parts: {len(each.trained)}",
                hint="lower --folds, or leave the set out with --without",
            )
    part_of = [np.random.default_rng(seed).permutation(len(each.trained)) % count for each in sets]
    for part in range(count):
        yield [
            replace(
                each,
                trained=tuple(picture for picture, its in zip(each.trained, parts, strict=True) if its != part),
                held_out=tuple(picture for picture, its in zip(each.trained, parts, strict=True) if its == part),
            )
            for each, parts in zip(sets, part_of, strict=True)
        ]


def fixations_of(folder: Path) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the fixations of each picture of a set, in the order of the pictures' names.

    Raises:
        InputError: If there is no table, or a column is missing.
        FileFormatError: If it is no table, or holds text where there should be a number.
    """
    table = folder / "fixations.csv"
    if not table.is_file():
        raise InputError(f"{folder} has no fixations.csv", hint=f"a table with the columns {', '.join(COLUMNS)}")
    try:
        looks = pl.read_csv(table, infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        found = str(error).partition("\n")[0]
        raise FileFormatError(table, expected="comma-separated text with a header", found=found) from error
    if missing := [name for name in COLUMNS if name not in looks.columns]:
        raise InputError(f"{table} has no column {missing[0]!r}, only {', '.join(looks.columns)}")
    for name in COLUMNS[2:]:
        numbers = looks[name].cast(pl.Float64, strict=False)
        text = looks[name].is_not_null() & numbers.is_null()
        if (row := text.arg_max()) is not None and text[row]:
            raise FileFormatError(table, line=row + 2, column=name, expected="a number", found=repr(looks[name][row]))
        looks = looks.with_columns(numbers)
    for (name,), part in looks.sort("image").group_by("image", maintain_order=True):
        yield str(name), part


def listed_in(folder: Path) -> set[str] | None:
    """Return the pictures that a set lists as held out; None where it lists none."""
    listed = folder / "held_out.txt"
    return set(listed.read_text(encoding="utf-8").split("\n")) if listed.is_file() else None


def _looked(path: Path, fixations: pl.DataFrame) -> Looked:
    if not path.is_file():
        raise InputError(f"there is no picture {path}", hint="names in fixations.csv are those of files in images")
    original = read_pixels(path)
    height, width = original.shape[:2]
    pixels = fitted(original)
    rows, columns = pixels.shape[0] // CELL, pixels.shape[1] // CELL
    total = np.zeros((rows, columns))
    for viewer in fixations.partition_by("viewer"):
        x, y = viewer["x"].to_numpy() / width, viewer["y"].to_numpy() / height
        inside = (x >= 0) & (x < 1) & (y >= 0) & (y < 1)
        own = np.zeros_like(total)
        np.add.at(
            own,
            ((y[inside] * rows).astype(int), (x[inside] * columns).astype(int)),
            viewer["duration"].to_numpy()[inside],
        )
        if own.sum() > 0:
            total += own / own.sum()
    if not total.any():
        raise InputError(f"no participant looked at {path}", hint="x and y are pixels of the picture")
    looks = render(total, BLUR_CELLS)
    return Looked(path.name, pixels, looks / looks.sum())
