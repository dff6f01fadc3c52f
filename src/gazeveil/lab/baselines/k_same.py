# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of feature series protected together, as baselines for our own mechanisms: to compare with, not to release.

A baseline is no `SeriesMechanism`: it has no ε, no product of ours takes it, and its `guarantee` is always `Unproven`.
What its authors state is in `claimed`. There is one: k-same, which shows the mean of k participants in place of each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.exact import whole_number
from gazeveil.features.series import checked
from gazeveil.noise import NoiseSource
from gazeveil.noise.source import random_groups
from gazeveil.privacy.guarantee import Unproven
from gazeveil.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSeries(ABC):
    """A way of protecting each participant's series on one task together: public numbers, nothing else.

    Attributes:
        steps: How long a series is.
        features: How many features it has.
    """

    name: ClassVar[str]

    steps: int
    features: int = 1

    def __post_init__(self) -> None:
        for name in ("steps", "features"):
            object.__setattr__(self, name, whole_number(getattr(self, name), name, at_least=1))

    @property
    @abstractmethod
    def claimed(self) -> str:
        """What its authors state, in words."""

    @property
    @abstractmethod
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""

    @abstractmethod
    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return protected series: participants by steps by features, each value from 0 to 1, a row a participant.

        Raises:
            InputError: If there are too few participants.
            OptionError: If the shape is another, or a value is missing.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the baseline and its parameters as plain values."""
        return {"mechanism": self.name} | {field.name: getattr(self, field.name) for field in fields(self)}


DATASET_SERIES: Registry[type[DatasetSeries]] = Registry("feature baseline")
"""Baselines that need each participant's series at once, by name."""


# --- k-same-select sequence (David-John 2022): the mean series of k participants, released for each of them.


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
