# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""k-same-select sequence (David-John 2022): the mean series of k participants, released for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.exact import whole_number
from gazeveil.features.series import checked
from gazeveil.features.whole import DATASET_SERIES, DatasetSeries
from gazeveil.noise import NoiseSource
from gazeveil.noise.groups import random_groups
from gazeveil.privacy.guarantee import Unproven
from gazeveil.types import FloatArray


@DATASET_SERIES.register("k-same")
@dataclass(frozen=True, slots=True, kw_only=True)
class KSame(DatasetSeries):
    """Puts participants into random groups of k, and releases their mean series for everyone in the group.

    Groups are resampled for every task, as published: call `perturb` once a task. Where participants are left over,
    groups are larger than k, never smaller.

    Attributes:
        k: How many participants share a series, at least.
    """

    name: ClassVar[str] = "k-same"

    k: int = 4

    def __post_init__(self) -> None:
        super(KSame, self).__post_init__()
        object.__setattr__(self, "k", whole_number(self.k, "k", at_least=1))

    @property
    def claimed(self) -> str:
        """What its authors state, in words."""
        return (
            f"{self.k}-anonymity: every released series is the mean of at least {self.k} participants and is released "
            f"for all of them, so none of them is recognised in this release with a chance above 1/{self.k}."
        )

    @property
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""
        return Unproven(
            f"k-anonymity with k = {self.k}, of these features in one task alone: a mean without noise gives away the "
            "last of a group to who knows the others, what a group has in common, and, with other groups in another "
            "task, who is in both"
        )

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return protected series: participants by steps by features, each value from 0 to 1, a row a participant."""
        table = checked(values, self.steps, self.features)
        out = np.empty_like(table)
        for group in random_groups(noise, len(table), self.k):
            out[group] = table[group].mean(axis=0)
        return out
