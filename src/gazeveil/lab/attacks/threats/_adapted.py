# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A trained network adapted to a mechanism: a last linear layer, learnt on strangers behind it, if that helps.

Behind a mechanism some directions of an embedding tell more of the noise than of the participant. How embeddings of one
participant vary is learnt from strangers, and that variation is evened out (within-class covariance normalisation,
Hatch, Kajarekar and Stolcke 2006), so that a cosine counts what is left of participants. How far to go is tried on
strangers who had no part in the learning; to leave everything as it is, is one of the ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.attacks.contract import Gallery, Recogniser, Trial
from gazeveil.lab.attacks.judging.matching import EmbeddedGallery, nearest_by_person

SHRINKAGES: Final = (1.0, 0.5, 0.2, 0.05)
"""The share of variation that is taken to be the same in all directions; 1 leaves embeddings as they are."""

Rows = Mapping[str, Mapping[str, FloatArray]]
"""Embeddings by participant and session."""


@dataclass(frozen=True, slots=True, eq=False)
class Adapted(Recogniser):
    """An embedding followed by a linear layer."""

    name: ClassVar[str] = "adapted"

    embed: Callable[[Trial], FloatArray]
    layer: FloatArray

    @property
    def sees(self) -> frozenset[str]:
        """Nothing beyond velocity."""
        return frozenset()

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Embed the reference trials; nothing is drawn, so the seed does not matter."""
        return EmbeddedGallery(self._embedded, reference)

    def _embedded(self, trial: Trial) -> FloatArray:
        found: FloatArray = self.embed(trial) @ self.layer
        return found


def adapted(embed: Callable[[Trial], FloatArray], strangers: Sequence[Trial]) -> Adapted:
    """Learn the layer.

    Raises:
        InputError: If there are fewer than four participants with windows in two sessions.
    """
    found: dict[str, dict[str, FloatArray]] = {}
    for trial in strangers:
        rows = embed(trial)
        if len(rows):
            mine = found.setdefault(trial.person, {})
            mine[trial.session] = np.concatenate([mine[trial.session], rows]) if trial.session in mine else rows
    whole = {person: mine for person, mine in found.items() if len(mine) > 1}
    if len(whole) < 4:
        raise InputError("a layer is learnt from four participants at least, with usable windows in two sessions each")
    names = sorted(whole)
    halves = [{name: whole[name] for name in names[half::2]} for half in (0, 1)]
    rights = [sum(_right(layer_of(halves[half], share), halves[1 - half]) for half in (0, 1)) for share in SHRINKAGES]
    return Adapted(embed, layer_of(whole, SHRINKAGES[int(np.argmax(rights))]))


def layer_of(people: Rows, shrinkage: float) -> FloatArray:
    """Return what evens out how embeddings of one participant vary."""
    everybody = [np.concatenate(list(mine.values())) for mine in people.values()]
    own = np.concatenate([rows - rows.mean(axis=0) for rows in everybody])
    within = own.T @ own / len(own)
    even = float(np.trace(within)) / len(within) + 1e-12
    values, directions = np.linalg.eigh((1.0 - shrinkage) * within / even + shrinkage * np.eye(len(within)))
    layer: FloatArray = directions / np.sqrt(values) @ directions.T
    return layer


def _right(layer: FloatArray, people: Rows) -> float:
    """Return the share of windows of a last session that are nearest to their own participant's first."""
    first = [mine[min(mine)] @ layer for mine in people.values()]
    owner = np.repeat(np.arange(len(first)), [len(rows) for rows in first])
    last = [mine[max(mine)] @ layer for mine in people.values()]
    nearest = nearest_by_person(np.concatenate(last), np.concatenate(first), owner, len(first)).argmax(axis=1)
    return float(np.mean(nearest == np.repeat(np.arange(len(last)), [len(rows) for rows in last])))
