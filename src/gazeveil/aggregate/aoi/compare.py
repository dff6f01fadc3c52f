# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of participants side by side, for example experts and novices, and the differences between them.

Who is in which group is public and nobody is in two. So each participant is in one release only, and the guarantee for
each is that of their own group's release (parallel composition).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from gazeveil.aggregate.aoi.intervals import Difference, NoisyMean
from gazeveil.aggregate.aoi.kernel import Question
from gazeveil.aggregate.aoi.mechanism import AoiStatistics
from gazeveil.aggregate.aoi.table import differences_table, means_table
from gazeveil.errors import FileFormatError, InputError
from gazeveil.showing import brief

MINUS = " − "
"""Between two groups whose difference is shown."""


@dataclass(frozen=True, slots=True, init=False)
class GroupComparison:
    """The same statistics of several groups of different participants, and the differences between every two of them.

    Attributes:
        statistics: What is released of each group.
        groups: The groups and who is in them, which is public; None for those that the study declares.
    """

    product: ClassVar[str] = "aoi"

    statistics: AoiStatistics
    groups: tuple[tuple[str, frozenset[str]], ...] | None

    def __init__(self, statistics: AoiStatistics, groups: Mapping[str, Collection[str]] | None = None) -> None:
        given = None if groups is None else tuple((name, frozenset(people)) for name, people in groups.items())
        object.__setattr__(self, "statistics", statistics)
        object.__setattr__(self, "groups", given)

    __repr__ = brief


def comparison_table(
    questions: Sequence[Question], means: Mapping[str, Sequence[NoisyMean]], confidence: float
) -> pl.DataFrame:
    """Return the means of each group, and the difference between every two of them."""
    tables = [means_table(questions, found, confidence, name) for name, found in means.items()]
    for one, other in itertools.combinations(means, 2):
        differences = [Difference(first, second) for first, second in zip(means[one], means[other], strict=True)]
        tables.append(differences_table(questions, differences, confidence, f"{one}{MINUS}{other}"))
    return pl.concat(tables)


def read_groups(path: Path | str) -> dict[str, set[str]]:
    """Read who is in which group from a CSV file with the columns ``observer`` and ``group``.

    Raises:
        FileFormatError: If the file is something else, or someone is in it twice.
    """
    path = Path(path)
    try:
        table = pl.read_csv(path, infer_schema=False)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise FileFormatError(path, expected="a CSV file", found=str(error).split("\n", 1)[0]) from None
    for column in ("observer", "group"):
        if column not in table.columns:
            found = ", ".join(table.columns) or "nothing"
            raise FileFormatError(path, column=column, expected="a column of this name", found=found)
    groups: dict[str, set[str]] = {}
    seen: set[str] = set()
    for line, (observer, group) in enumerate(table.select("observer", "group").iter_rows(), start=2):
        for column, value in (("observer", observer), ("group", group)):
            if not value:
                raise FileFormatError(path, line=line, column=column, expected="a name", found="nothing")
        if observer in seen:
            raise FileFormatError(
                path, line=line, column="observer", expected="every participant once", found=f"{observer!r} again"
            )
        seen.add(observer)
        groups.setdefault(group, set()).add(observer)
    return groups
