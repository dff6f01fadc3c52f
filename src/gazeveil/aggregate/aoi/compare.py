# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of people side by side, for example experts and novices, and the differences between them.

Who is in which group is public and nobody is in two. So each person is in one release only, and the promise to each is
that of their own group's release (parallel composition).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from gazeveil.aggregate.aoi.intervals import Difference, NoisyMean
from gazeveil.aggregate.aoi.mechanism import AoiStatistics
from gazeveil.aggregate.aoi.table import differences_table, means_table
from gazeveil.aggregate.engine import Engine
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.privacy.compose import compose_disjoint
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.ledger.ledger import Ledger
from gazeveil.privacy.release import Release, kept_promise
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import Tell, silent

MINUS = " − "
"""Between two groups whose difference is told."""


@dataclass(frozen=True, slots=True, init=False)
class GroupComparison:
    """The same statistics of several groups of different people, and the differences between every two of them.

    Attributes:
        statistics: What is released of each group.
        groups: The groups and who is in them; public.
    """

    statistics: AoiStatistics
    groups: tuple[tuple[str, frozenset[str]], ...]

    def __init__(self, statistics: AoiStatistics, groups: Mapping[str, Collection[str]]) -> None:
        if statistics.neighbours is not Neighbours.REPLACE_ONE:
            raise OptionError(
                "a list of who is in which group makes public who took part, which add/remove neighbours protect",
                hint="compare groups between replace-one neighbours",
            )
        if statistics.observers is not None:
            raise OptionError("the groups say how many observers there are; do not declare a number")
        if len(groups) < 2:
            raise OptionError(f"a comparison needs at least two groups, not {len(groups)}")
        object.__setattr__(self, "statistics", statistics)
        object.__setattr__(self, "groups", tuple((name, frozenset(people)) for name, people in groups.items()))
        _ = self.guarantee  # refuses groups that are empty or share people

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person: the promise of the group they are in."""
        return compose_disjoint((self.statistics.guarantee, people) for _, people in self.groups)

    def predicted_error(self) -> pl.DataFrame:
        """Return how far off each group's numbers will be, before anything is spent."""
        return pl.concat(
            [
                self.statistics.predicted_error(len(people)).select(pl.lit(name).alias("group"), pl.all())
                for name, people in self.groups
            ]
        )

    def cautions(self) -> list[str]:
        """Return what somebody should know before spending.

        Raises:
            OptionError: If δ is so large that publishing one person's gaze as it is would keep the promise.
        """
        told = ((name, text) for name, people in self.groups for text in self.statistics.cautions(len(people)))
        return [f"{name}: {text}" for name, text in told]

    def release(
        self,
        corpus: Corpus,
        *,
        noise: NoiseSource | None = None,
        ledger: Ledger | None = None,
        dataset: str = "",
        engine: Engine | None = None,
        tell: Tell = silent,
    ) -> Release:
        """Release the statistics of each group and their differences as one table; people in no group are left out.

        Args:
            corpus: The recordings.
            noise: Where randomness comes from; the operating system's, if left out.
            ledger: The ledger to charge before the release is returned. `Release.save` charges one, too.
            dataset: The data set to charge.
            engine: Where the sums are computed; on this machine if left out.
            tell: Called as the work goes on.
        """
        self.check_people(corpus)
        source = NoiseSource.secure() if noise is None else noise
        cautions = self.cautions()
        means: dict[str, list[NoisyMean]] = {}
        for name, people in self.groups:
            means[name] = self.statistics.measured(corpus, len(people), source, engine, tell, only=people)
        release = Release(
            self._table(means),
            kept_promise(self.guarantee, source),
            self,
            {"observers": self._sizes(), "cautions": cautions},
        )
        return release if ledger is None else release.charged(ledger, dataset)

    def check_people(self, corpus: Corpus) -> None:
        """Make sure that everybody in a group took part.

        Raises:
            InputError: If somebody did not.
        """
        present = set(corpus.observers)
        for name, people in self.groups:
            if absent := sorted(people - present):
                raise InputError(
                    f"{absent[0]!r} of group {name!r} is not in {corpus.name}",
                    hint="everybody in a group must be an observer of the corpus",
                )

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism as plain values; of people only how many, not who."""
        return {
            **self.statistics.to_dict(),
            "mechanism": "aoi-group-comparison",
            "groups": self._sizes(),
        }

    def _sizes(self) -> dict[str, int]:
        return {name: len(people) for name, people in self.groups}

    def _table(self, means: Mapping[str, list[NoisyMean]]) -> pl.DataFrame:
        questions, confidence = self.statistics.questions, self.statistics.confidence
        tables = [means_table(questions, means[name], confidence, name) for name, _ in self.groups]
        for (one, _), (other, _) in itertools.combinations(self.groups, 2):
            differences = [Difference(first, second) for first, second in zip(means[one], means[other], strict=True)]
            tables.append(differences_table(questions, differences, confidence, f"{one}{MINUS}{other}"))
        return pl.concat(tables)


def read_groups(path: Path | str) -> dict[str, set[str]]:
    """Read who is in which group from a CSV file with the columns ``observer`` and ``group``.

    Raises:
        FileFormatError: If the file is something else, or somebody is in it twice.
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
                path, line=line, column="observer", expected="everybody once", found=f"{observer!r} again"
            )
        seen.add(observer)
        groups.setdefault(group, set()).add(observer)
    return groups
