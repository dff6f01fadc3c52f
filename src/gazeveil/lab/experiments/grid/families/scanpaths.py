# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths: whose they are (``scanpath``), who is unlike all others (``outliers``), and how alike they stay.

Whose they are is asked by someone who has the raw scanpaths of the very same viewing, from another source. That is
more than to know participants from another day, so it is a harm of its own: linkage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import BoolArray
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, Family, Number, Protected, Question
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.lab.experiments.grid.released import released
from gazeveil.lab.experiments.scanpaths.measuring import Paths, Row, compared, outliers_of, paths_of
from gazeveil.lab.utility.scanpaths import between_people

_ATTACKS = {"scanpath": "linkage", "outliers": "attribute"}
_UTILITY = "scanpath_similarity"


class ScanpathAttacks(Family):
    """Linkage and outliers."""

    uses = frozenset({"live", "dataset"})
    role = "attack"

    def names(self) -> list[str]:
        """Return the two."""
        return list(_ATTACKS)

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return one of the two."""
        ask = _linked if name == "scanpath" else _outliers
        return Question(_ATTACKS[name], ask, (compared,))  # type: ignore[arg-type]


class ScanpathSimilarity(Family):
    """MultiMatch of scanpaths before and behind a mechanism."""

    uses = frozenset({"live", "dataset"})
    role = "utility"

    def names(self) -> list[str]:
        """Return its name."""
        return [_UTILITY]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return it."""
        return Question("", _similar, (compared,))


@lru_cache(maxsize=2)
def _raw(data: GazeData) -> tuple[Paths, list[BoolArray], float]:
    paths = paths_of(data.scenes)
    strangers = np.stack([between_people(scene, data.scenes.size) for scene in paths])
    return paths, outliers_of(paths), float(np.nanmean(strangers))


@lru_cache(maxsize=8)
def _row(data: GazeData, protected: Protected, seed: int) -> Row:
    paths, truth, _ = _raw(data)
    behind = {one.key: one for one in released(data, protected, seed)}
    scenes = tuple(tuple(behind[one.key] for one in scene) for scene in data.scenes.scenes)
    veiled = paths_of(replace(data.scenes, scenes=scenes))
    return compared(data.scenes, "", "", paths, truth, [veiled], seed)


def _linked(data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    row = _row(data, protected, seed)
    ways = (
        Number("by MultiMatch", row.linked, *row.linked_interval, len(data.scenes.people), row.chance),
        Number("by warping", row.warped, *row.warped_interval, len(data.scenes.people), row.chance),
    )
    best = max(ways, key=lambda number: number.value)
    return Answer((replace(best, metric="linked"), *ways), "the raw scanpaths of all participants in the same viewing")


def _outliers(data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    row = _row(data, protected, seed)
    f1 = Number("F1", row.outlier_f1, *row.outlier_interval, len(data.scenes.scenes), row.random_f1)
    return Answer((f1, Number("AUC", row.outlier_auc, chance=0.5)), "scanpaths behind the mechanism alone")


def _similar(data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    row, strangers = _row(data, protected, seed), _raw(data)[2]
    people = len(data.scenes.people)
    return Answer((Number(_UTILITY, row.mean, *row.mean_interval, people, chance=strangers, ideal=1.0),))


FAMILIES.register("scanpath attacks")(ScanpathAttacks())
FAMILIES.register("scanpath similarity")(ScanpathSimilarity())
