# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A trained network made fit for a veil: a last linear layer, learnt on strangers behind it.

Behind a veil some directions of an embedding tell more of the noise than of the person. How embeddings of one person
vary is learnt from strangers, and that variation is evened out (within-class covariance normalisation, Hatch, Kajarekar
and Stolcke 2006), so that a cosine counts what is left of people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from gazeveil.attacks.contract import Gallery, Recogniser, Trial
from gazeveil.attacks.matching import EmbeddedGallery
from gazeveil.errors import InputError
from gazeveil.gaze.geometry import FloatArray

SHRINKAGE: Final = 0.05
"""The share of variation that is taken to be the same in all directions."""


@dataclass(frozen=True, slots=True, eq=False)
class Adapted(Recogniser):
    """An embedding followed by a linear layer.

    Attributes:
        embed: Turns a trial into embeddings.
        middle: The mean embedding of strangers.
        layer: The layer.
        seen: What the embedding looks at beyond velocity.
    """

    name: ClassVar[str] = "adapted"

    embed: Callable[[Trial], FloatArray]
    middle: FloatArray
    layer: FloatArray
    seen: frozenset[str] = frozenset()

    @property
    def sees(self) -> frozenset[str]:
        """What it looks at beyond velocity."""
        return self.seen

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Embed the reference trials; nothing is drawn, so the seed does not matter."""
        return EmbeddedGallery(self._embedded, reference)

    def _embedded(self, trial: Trial) -> FloatArray:
        found: FloatArray = (self.embed(trial) - self.middle) @ self.layer
        return found


def adapted(
    embed: Callable[[Trial], FloatArray], strangers: Sequence[Trial], seen: frozenset[str] = frozenset()
) -> Adapted:
    """Learn the layer.

    Raises:
        InputError: If there are fewer than two people with windows.
    """
    found: dict[str, list[FloatArray]] = {}
    for trial in strangers:
        rows = embed(trial)
        if len(rows):
            found.setdefault(trial.person, []).append(rows)
    everybody = [np.concatenate(rows) for rows in found.values()]
    if len(everybody) < 2:
        raise InputError("a layer is learnt from two people at least, with a usable window each")
    middle = np.concatenate(everybody).mean(axis=0)
    own = np.concatenate([rows - rows.mean(axis=0) for rows in everybody])
    within = own.T @ own / len(own)
    even = np.trace(within) / len(within)
    within = (1 - SHRINKAGE) * within + (SHRINKAGE * even + 1e-12) * np.eye(len(within))
    values, directions = np.linalg.eigh(within)
    return Adapted(embed, middle, directions / np.sqrt(values) @ directions.T, seen)
