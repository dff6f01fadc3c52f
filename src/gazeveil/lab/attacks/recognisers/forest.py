# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Features of movement, fixations and saccades, told apart by a random forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, needing
from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Trial
from gazeveil.lab.attacks.enrolment import Rows, Scale, Score, at_best_rate, described
from gazeveil.lab.attacks.recognisers.lda import Lda

_RAREST = 1e-3
"""A forest that has never seen someone there is not certain that it is not them."""


@RECOGNISERS.register("forest")
@dataclass(frozen=True, slots=True)
class Forest(Lda):
    """Many features of a window, and trees that vote (scikit-learn's random forest).

    Its other options are those of `lda`.

    Attributes:
        trees: How many trees.
    """

    name: ClassVar[str] = "forest"

    trees: int = 400

    def __post_init__(self) -> None:
        Lda.__post_init__(self)
        if self.trees < 1:
            raise OptionError(f"a forest needs at least one tree, not {self.trees!r}")

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Learn the participants of the reference trials.

        Raises:
            MissingExtra: If scikit-learn is not installed.
            InputError: If there is too little to learn from.
        """
        learn = partial(grow, trees=self.trees, seed=seed)
        return at_best_rate(reference, lambda trials: described(trials, self._describe().rows, learn), self.rate_hz)


def grow(rows: Rows, *, trees: int, seed: int) -> Score:
    """Grow a forest; participants weigh the same, however many rows they have.

    Raises:
        MissingExtra: If scikit-learn is not installed.
    """
    with needing("scikit-learn", "attacks", "a random forest"):
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
    scale = Scale.of(rows.values)
    forest = RandomForestClassifier(
        trees, min_samples_leaf=2, class_weight="balanced", random_state=seed, n_jobs=1
    ).fit(scale.apply(rows.values), rows.owner)

    def score(asked: FloatArray) -> FloatArray:
        shares: FloatArray = forest.predict_proba(scale.apply(asked))
        return np.asarray(np.log(shares + _RAREST))

    return score
