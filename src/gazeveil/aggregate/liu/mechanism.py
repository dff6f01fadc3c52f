# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Liu's gaze maps as a study releases them: parameters alone. How many take part, on which screen, the study says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu.caps import PrivateCap
from gazeveil.aggregate.liu.noisy import NOISES, GaussianMap, NoisyMap
from gazeveil.errors import OptionError, closest
from gazeveil.exact import Number, above_zero, as_text, chance_of_failure, whole_number
from gazeveil.geometry import Geometry

CAP_SHARE = Fraction(1, 10)
"""The part of ε that pays for a private choice of the cap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiuMap:
    """The mean gaze map of one stimulus, with noise.

    Attributes:
        epsilon: The ε that may be spent, a private choice of the cap included.
        columns: How many cells across the screen.
        rows: How many down.
        noise: One of `NOISES`.
        delta: The δ of Gaussian noise; None for the one that the study declares.
        cap: The most that one participant adds to a cell; None to choose it privately, which `CAP_SHARE` of ε pays for.
        samples: The most samples that one participant adds in all: whatever comes later is not counted. None for all.
    """

    product: ClassVar[str] = "liu-map"

    epsilon: Number
    columns: int
    rows: int
    noise: str = "gaussian"
    delta: Number | None = None
    cap: int | None = 1
    samples: int | None = None

    def __post_init__(self) -> None:
        fix = object.__setattr__
        fix(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        for name in ("columns", "rows", "cap", "samples"):
            if (value := getattr(self, name)) is not None:
                fix(self, name, whole_number(value, name, at_least=1))
        if self.noise not in NOISES:
            raise OptionError(f"there is no noise {self.noise!r}", hint=closest(self.noise, NOISES.names()))
        if self.delta is not None:
            if not self.is_gaussian:
                raise OptionError(f"{self.noise} noise needs no delta", hint="leave it out, or use gaussian noise")
            fix(self, "delta", chance_of_failure(self.delta, "delta"))
        if self.cap is None and (self.noise != "gaussian" or self.samples is None):
            raise OptionError(
                "a cap is chosen privately for gaussian noise and a bounded number of samples",
                hint="give samples= with gaussian noise, or a cap",
            )

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian, which takes a δ."""
        return issubclass(NOISES[self.noise], GaussianMap)

    def grid_on(self, screen: Geometry) -> Grid:
        """Return the cells on a screen."""
        return Grid(self.columns, self.rows, screen)

    def for_observers(self, number: int, screen: Geometry, delta: Fraction) -> NoisyMap | PrivateCap:
        """Return the noise for this many participants on a screen; with a private choice of the cap, that choice."""
        grid, epsilon = self.grid_on(screen), above_zero(self.epsilon, "epsilon")
        if self.cap is None and self.samples is not None:
            paid = epsilon * CAP_SHARE
            return PrivateCap(number, grid.size, self.samples, paid, map_epsilon=epsilon - paid, map_delta=delta)
        more: dict[str, Any] = {"cap": self.cap, "samples": self.samples, "grid": grid}
        if self.is_gaussian:
            more["delta"] = delta
        return NOISES[self.noise](number, grid.size, epsilon, **more)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {
            "mechanism": "liu-map",
            "noise": self.noise,
            "epsilon": as_text(above_zero(self.epsilon, "epsilon")),
            "columns": self.columns,
            "rows": self.rows,
            "cap": "chosen privately" if self.cap is None else self.cap,
            "samples": self.samples,
        }
