# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What protects the series of many participants at once, as baselines for our own mechanisms.

To compare with, not to release.

A baseline is no `SeriesMechanism`: it has no ε, no product of ours takes it, and its `guarantee` is always `Unproven`.
What its authors state is in `claimed`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from gazeveil.exact import whole_number
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Unproven
from gazeveil.registry import Registry
from gazeveil.types import FloatArray


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


DATASET_SERIES: Registry[type[DatasetSeries]] = Registry("feature baseline", package="gazeveil.features.datasets")
"""Baselines that need each participant's series at once, by name."""
