# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Liu's gaze maps as a study releases them, and the choice of their cap: Liu's algorithm 1, and a private one.

A larger cap m keeps more of the map but needs more noise. Theorem 4.1: the expected squared error of a cell is ::

    E(m)  =  σ(m)²  +  1/(r n²) Σ_j L_j(m)²,      L_j(m) = Σ_i max(g_ij - m, 0)

σ(m) is the noise of the mean map and L_j(m) how many counts of cell j the cap takes away. The paper computes it anew
for every m from all n·r counts. But L_j(m) = S - K·m, where S and K are the sum and the number of the counts above m,
and both change only where m passes a count. So one pass over the sorted counts gives Σ_j L_j(m)² for all m, in exact
integers.

Picking the best cap from raw maps is a release that nothing pays for (L7): `optimal_cap` is `Unproven`. `PrivateCap`
pays for its choice. Proof: docs/proofs/liu-mechanisms.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu.noisy_maps import MOST_SAMPLES, NOISES, CountsAndLosses, GaussianMap, NoisyMap, ObserverMaps
from gazeveil.aggregate.maps import sum_of_squares
from gazeveil.arrays import FloatArray, IntArray, Tell, silent
from gazeveil.errors import OptionError, closest
from gazeveil.exact import Number, above_zero, as_text, chance_of_failure, root_up, whole_number
from gazeveil.gaze.corpus import Corpus
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource, laplace
from gazeveil.privacy.calibration import laplace_scale
from gazeveil.privacy.guarantee import PureDP, Unproven

UNACCOUNTED = "the cap was taken from the maps themselves, and nothing pays for what it gives away (erratum L7)"


def lost_squares(maps: ObserverMaps) -> IntArray:
    """Return Σ_j L_j(m)² for all caps m = 1, 2, … up to the highest count, exactly.

    Raises:
        OptionError: If there are this many samples that the squares might not fit into 64 bits.
    """
    if int(maps.count.sum()) > MOST_SAMPLES:
        raise OptionError(f"at most {MOST_SAMPLES:,} samples can be squared in 64 bits")
    highest = max(maps.highest, 1)
    if maps.cells * highest >= 2**63:
        raise OptionError(f"a map of {maps.cells:,} cells with counts up to {highest:,} is beyond 64 bits")
    more = maps.count > 1  # no cap takes anything from a count of one
    if not more.any():
        return np.zeros(highest, dtype=np.int64)
    # Cell by cell, the highest count first; a count is told by what it has above 1, the smallest cap.
    key = np.sort(maps.cell[more] * highest + (highest - maps.count[more]))
    cell, excess = key // highest, highest - 1 - key % highest
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    lengths = np.diff(starts, append=len(cell))
    running = np.cumsum(excess)
    total = running - np.repeat(running[starts] - excess[starts], lengths)  # S, once this one and all higher are above
    number = np.arange(1, len(cell) + 1) - np.repeat(starts, lengths)  # K
    below = np.append(excess[1:], 0)
    below[starts[1:] - 1] = 0
    # S - K·x holds for below ≤ x < excess: enter its square there, as a polynomial in x, and take it out again.
    lost, x = np.zeros(highest, dtype=np.int64), np.arange(highest)
    for power, coefficient in ((0, total * total), (1, -2 * total * number), (2, number * number)):
        change = np.zeros(highest, dtype=np.int64)
        np.add.at(change, below, coefficient)
        np.subtract.at(change, excess, coefficient)
        lost += np.cumsum(change) * x**power  # may wrap around on the way; the sum of all three does not
    return lost


@dataclass(frozen=True, slots=True, eq=False)
class CapChoice:
    """A cap picked from raw maps.

    Attributes:
        cap: The cap with the least expected squared error; the smallest of several.
        expected_mse: The expected squared error of every cap, from 1 up.
    """

    cap: int
    expected_mse: FloatArray

    @property
    def guarantee(self) -> Unproven:
        """None: whatever uses this cap is unproven too."""
        return Unproven(UNACCOUNTED)


def optimal_cap(maps: ObserverMaps, noise_sd: float | Callable[[int], float]) -> CapChoice:
    """Return the cap that algorithm 1 picks, from raw maps: not private.

    Args:
        maps: All observers' maps, not capped.
        noise_sd: The standard deviation of the noise of the mean map: for a cap of 1, if it grows in proportion (as
            published), or as a function of the cap.
    """
    lost = lost_squares(maps)
    caps = range(1, len(lost) + 1)
    sd = np.array([noise_sd(m) if callable(noise_sd) else noise_sd * m for m in caps])
    expected = np.square(sd) + lost / (maps.cells * float(maps.observers) ** 2)
    return CapChoice(int(np.argmin(expected)) + 1, expected)


@dataclass(frozen=True, slots=True)
class PrivateCap:
    """A cap chosen with ε-differential privacy, for a map that will get Gaussian noise.

    The score of a cap is n√r times the root of its expected squared error (theorem 4.1), in whole numbers: it has the
    same minimum as algorithm 1, but one observer can move it by no more than √(2(M - 1)(T - 1)), M the largest
    candidate. Noise is drawn for every candidate, and the best noisy score wins (report noisy max with one-sided
    noise). Only the cap is released.

    Attributes:
        observers: How many participants there are, n; public.
        cells: How many cells the map has, r.
        samples: The most samples that one observer adds in all, T; must be enforced.
        epsilon: The ε that the choice may spend.
        map_epsilon: The ε that the map will spend, which decides how much noise a cap costs.
        map_delta: The δ that the map will spend.
        candidates: The caps to choose from, rising; powers of two up to T if not given.
    """

    observers: int
    cells: int
    samples: int
    epsilon: Number
    map_epsilon: Number = 1
    map_delta: Number | None = None
    candidates: tuple[int, ...] = ()

    name: ClassVar[str] = "liu-private-cap"

    def __post_init__(self) -> None:
        fix = object.__setattr__
        for name in ("observers", "cells", "samples"):
            fix(self, name, whole_number(getattr(self, name), name, at_least=1))
        fix(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        map_with = GaussianMap(self.observers, self.cells, self.map_epsilon, self.map_delta, samples=self.samples)
        fix(self, "map_epsilon", map_with.epsilon)
        fix(self, "map_delta", map_with.delta)
        caps = tuple(whole_number(m, "a candidate", at_least=1) for m in self.candidates) or powers_up_to(self.samples)
        if any(a >= b for a, b in pairwise(caps)) or caps[-1] > self.samples:
            raise OptionError(f"candidates rise, from 1 up to {self.samples:,} samples, unlike {caps}")
        fix(self, "candidates", caps)

    @property
    def guarantee(self) -> PureDP:
        """ε for every observer, replaced by any other: what the choice costs, on top of the map."""
        return PureDP(self.epsilon)

    @property
    def sensitivity(self) -> int:
        """How far one observer can move the score of any candidate, in whole numbers."""
        smallest, largest = self.candidates[0], self.candidates[-1]
        square = min(2 * (largest - smallest) * (self.samples - smallest), (largest - smallest) ** 2 * self.cells)
        return math.ceil(root_up(Fraction(square))) if square else 0

    def map_with(self, cap: int) -> GaussianMap:
        """Return the mechanism that the choice is made for."""
        return _map_with(self, cap)

    def scores(self, maps: ObserverMaps) -> list[int]:
        """Return n√r times the root of the expected squared error of every candidate, rounded down: raw, not private.

        Counts above the largest candidate are capped there first, and the error is that against the map so capped.
        """
        lost = lost_squares(maps.capped(self.candidates[-1]))
        return self._scores([int(lost[cap - 1]) if cap <= len(lost) else 0 for cap in self.candidates])

    def _scores(self, lost: Sequence[int]) -> list[int]:
        noises = [math.ceil(Fraction(self.map_with(cap).sigma) ** 2 * self.cells) for cap in self.candidates]
        return [math.isqrt(noise + squares) for noise, squares in zip(noises, lost, strict=True)]

    def choose(self, scores: Sequence[int], noise: NoiseSource, times: int = 1) -> IntArray:
        """Return the winner of noisy scores, ``times`` over: the least wins, of several equal ones the first."""
        caps = np.array(self.candidates)
        if not self.sensitivity:
            return np.repeat(caps[:1], times)
        scale = laplace_scale(above_zero(self.epsilon, "epsilon"), 2 * self.sensitivity)
        bonus = np.abs(laplace(noise, scale, (times, len(caps))))
        return np.asarray(caps[np.argmax(bonus - np.asarray(scores, dtype=np.int64), axis=1)], dtype=np.int64)

    def measure(
        self, grid: Grid, corpus: Corpus, noise: NoiseSource, engine: Engine, tell: Tell = silent
    ) -> tuple[int, FloatArray]:
        """Choose a cap and return it with the noisy sum of the map that it was chosen for, in counts.

        One pass over the data serves both: see `CountsAndLosses`.
        """
        kernel = CountsAndLosses(grid, self.candidates, self.samples)
        summed = engine.sum_over_observers(corpus, kernel, tell).total.reshape(len(self.candidates), grid.size)
        lost = np.vstack((summed[1:], np.zeros_like(summed[:1])))
        chosen = int(self.choose(self._scores([sum_of_squares(row) for row in lost]), noise)[0])
        total = summed[0] - lost[self.candidates.index(chosen)]
        return chosen, self.map_with(chosen)._noisy_sum(total, noise)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {
            "mechanism": self.name,
            "observers": self.observers,
            "cells": self.cells,
            "samples": self.samples,
            "epsilon": as_text(above_zero(self.epsilon, "epsilon")),
            "map": self.map_with(1).to_dict(),
            "candidates": list(self.candidates),
        }


@lru_cache(maxsize=64)
def _map_with(choice: PrivateCap, cap: int) -> GaussianMap:
    return GaussianMap(
        choice.observers, choice.cells, choice.map_epsilon, choice.map_delta, cap=cap, samples=choice.samples
    )


def powers_up_to(most: int) -> tuple[int, ...]:
    """Return 1, 2, 4, … below ``most``, and ``most``."""
    powers = [1 << k for k in range(most.bit_length()) if 1 << k < most]
    return (*powers, most)


# --- The parameters of a release; the study states participants and screen.


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
