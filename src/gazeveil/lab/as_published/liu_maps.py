# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Noise on a gaze map as Liu 2019 publishes it: theorem 3.4, whose proof does not hold, and theorem 3.5.

Beside it stands what the paper shows not to protect: the map itself, and the map of a random selection of observers.
They are here to be compared with, and are released like other maps, with a record that nothing is guaranteed. Each
says the exact δ that it cannot go below, at any ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gazeveil import Study
from gazeveil.aggregate.engine import Engine, Kernel
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu.noisy_maps import NOISES, GaussianMap, LaplaceMap
from gazeveil.aggregate.maps import CountMap
from gazeveil.arrays import FloatArray, IntArray, Tell
from gazeveil.errors import OptionError
from gazeveil.exact import in_digits, whole_number
from gazeveil.gaze.corpus import Corpus
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import LiuNoise, gaussian_delta
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, Unproven
from gazeveil.release.data import BoundCorpus
from gazeveil.release.plan import PRODUCTS, Method
from gazeveil.release.products.liu_map import GazeMap, GazeMapMeasurement, for_gaze_map


@NOISES.add_unlisted("gaussian-as-published")
@dataclass(frozen=True, slots=True)
class GaussianAsPublished(GaussianMap):
    """Gaussian noise at the σ of theorem 3.4, whose proof does not hold (L1, L2).

    Where that σ is large enough all the same, by the exact formula, the guarantee stands. Where it is not (few cells),
    nothing is guaranteed, and the reason says what δ is true.
    """

    name: ClassVar[str] = "liu-gaussian-as-published"

    @property
    def guarantee(self) -> Guarantee:
        """What is claimed if it is true, and nothing if it is not."""
        if self.sound:
            return ApproxDP(self._epsilon, self._delta)
        return Unproven(
            f"theorem 3.4 of Liu 2019 gives too little noise here (errata L1, L2, L3): δ is "
            f"{in_digits(Fraction(self.true_delta))}, not {in_digits(self._delta)}"
        )

    @property
    def sigma(self) -> float:
        """The published standard deviation of the noise, in counts; it knows nothing of ``samples``."""
        return self._published.sigma_gaussian() * self.observers

    @property
    def true_delta(self) -> float:
        """The δ that this noise keeps at ε, rounded up."""
        return gaussian_delta(self.sigma, self.sensitivity, self._epsilon)

    @property
    def sound(self) -> bool:
        """Whether the noise keeps what is claimed."""
        return Fraction(self.true_delta) <= self._delta

    @property
    def _published(self) -> LiuNoise:
        return LiuNoise(
            observers=self.observers, pixels=self.cells, cap=self.cap, epsilon=self._epsilon, delta=self._delta
        )


@NOISES.add_unlisted("laplace-as-published")
@dataclass(frozen=True, slots=True)
class LaplaceAsPublished(LaplaceMap):
    """Laplace noise of theorem 3.5, which is right: scale mr/ε counts, whether or not ``samples`` are bounded."""

    name: ClassVar[str] = "liu-laplace-as-published"

    @property
    def sensitivity(self) -> Fraction:
        """How far one observer could move the sum in ℓ1 by filling every cell, in counts."""
        return Fraction(self.cap * self.cells)


# --- What Liu 2019 shows not to protect: the map itself, and the map of a random selection of observers.


@dataclass(frozen=True, slots=True)
class NoiseFree:
    """The mean map as it is. Whoever knows all others' maps subtracts them and has the last one's.

    Attributes:
        observers: How many participants there are, n.
    """

    observers: int

    name: ClassVar[str] = "liu-noise-free"

    def __post_init__(self) -> None:
        whole_number(self.observers, "observers", at_least=1)

    @property
    def least_delta(self) -> float:
        """The δ that it cannot go below, at any ε."""
        return 1.0

    @property
    def guarantee(self) -> Unproven:
        """None."""
        return Unproven("the map has no noise: it cannot be private at any δ below 1 (Liu 2019, section 3.3)")

    def measure(self, corpus: Corpus, kernel: Kernel, noise: NoiseSource, engine: Engine) -> FloatArray:
        """Return the mean map, without noise."""
        del noise
        return engine.sum_over_observers(corpus, kernel).total / self.observers

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism as plain values."""
        return {"mechanism": self.name, "observers": self.observers}


@dataclass(frozen=True, slots=True)
class RandomSelection:
    """The mean map of ``selected`` observers drawn at random out of n, with or without replacement.

    If nobody else looked at a cell, the map tells that the last one did whenever that participant is drawn. So δ cannot
    be less than the chance to be drawn (theorems 3.2 and 3.3; L11). It is that chance exactly, even at ε = 0: who was
    not drawn left no trace.

    Attributes:
        observers: How many participants there are, n.
        selected: How many are drawn, cn.
        replacement: Whether the same participant may be drawn again.
    """

    observers: int
    selected: int
    replacement: bool = False

    name: ClassVar[str] = "liu-random-selection"

    def __post_init__(self) -> None:
        people = whole_number(self.observers, "observers", at_least=1)
        drawn = whole_number(self.selected, "selected", at_least=1)
        if not self.replacement and drawn > people:
            raise OptionError(f"{drawn:,} of {people:,} observers cannot be drawn without replacement")

    @property
    def least_delta(self) -> float:
        """The δ that it cannot go below, at any ε: the chance of being drawn."""
        if not self.replacement:
            return self.selected / self.observers
        if self.observers == 1:
            return 1.0
        return -math.expm1(self.selected * math.log1p(-1 / self.observers))

    @property
    def guarantee(self) -> Unproven:
        """None."""
        theorem = "3.3" if self.replacement else "3.2"
        return Unproven(
            f"who is drawn is shown without noise: it cannot be private at any δ below {self.least_delta:.4g} "
            f"(Liu 2019, theorem {theorem}; L11)"
        )

    def measure(self, corpus: Corpus, kernel: Kernel, noise: NoiseSource, engine: Engine) -> FloatArray:
        """Return the mean map of those who are drawn; who is drawn and absent adds nothing."""
        times = dict(zip(corpus.observers, self.draw(noise).tolist(), strict=False))
        total = np.zeros(kernel.size, dtype=np.int64)
        for often in sorted({*times.values()} - {0}):
            drawn = [observer for observer, number in times.items() if number == often]
            total += often * engine.sum_over_observers(corpus.select(observer=drawn), kernel).total
        return total / self.selected

    def draw(self, noise: NoiseSource) -> IntArray:
        """Return how often each observer is drawn."""
        if self.replacement:
            return np.bincount(_below(self.observers, self.selected, noise), minlength=self.observers)
        times = np.zeros(self.observers, dtype=np.int64)
        times[np.argsort(noise.words(self.observers), kind="stable")[: self.selected]] = 1
        return times

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {
            "mechanism": self.name,
            "observers": self.observers,
            "selected": self.selected,
            "replacement": self.replacement,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprotectedLiuMap:
    """What Liu 2019 shows not to protect: the mean map without noise, of everyone or of a random selection.

    It guarantees nothing, and every release of it says so.

    Attributes:
        columns: How many cells across the screen.
        rows: How many down.
        cap: The most that one participant adds to a cell; None for no bound.
        selected: How many participants are drawn; None for everyone.
        replacement: Whether the same participant may be drawn again.
    """

    product: ClassVar[str] = "unprotected-map"

    columns: int
    rows: int
    cap: int | None = None
    selected: int | None = None
    replacement: bool = False

    def __post_init__(self) -> None:
        for name in ("columns", "rows", "cap", "selected"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole_number(value, name, at_least=1))

    def kernel_on(self, screen: Geometry) -> CountMap:
        """Return what one participant adds."""
        return CountMap(Grid(self.columns, self.rows, screen), self.cap)

    def for_observers(self, number: int) -> NoiseFree | RandomSelection:
        """Return how the map of this many participants is made."""
        if self.selected is None:
            return NoiseFree(number)
        return RandomSelection(number, self.selected, self.replacement)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {"mechanism": "liu-map", "noise": "none", "columns": self.columns, "rows": self.rows, "cap": self.cap}


@dataclass(frozen=True, slots=True, repr=False)
class UnprotectedLiuMeasurement(GazeMapMeasurement):
    """The gaze map of one stimulus without noise: nothing is guaranteed."""

    mechanism: UnprotectedLiuMap

    @property
    def made(self) -> NoiseFree | RandomSelection:
        """Whose map it is, for this study."""
        return self.mechanism.for_observers(self.number)

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return self.made.guarantee

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        return {**self.mechanism.to_dict(), "stimulus": self.stimulus, "made": self.made.to_dict()}

    def warnings(self) -> tuple[str, ...]:
        """Warn that nothing is protected."""
        return (f"nothing is protected: {self.made.guarantee.reason}",)

    def method(self) -> Method:
        """Return that nothing protects."""
        made = self.made
        whose = "all" if isinstance(made, NoiseFree) else f"{made.selected:,} randomly drawn"
        sentence = (
            f"The mean gaze map of {whose} participants on the stimulus “{self.stimulus}” was published without noise. "
            "Nothing is protected [@liu2019]."
        )
        return Method(sentence=sentence, sources=("liu2019",))

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> FloatArray:
        """Return the mean map as it is."""
        return self.made.measure(data.corpus, self.mechanism.kernel_on(self.shown.screen), noise, engine)

    def decode(self, noisy: FloatArray) -> GazeMap:
        """Return the mean map."""
        return GazeMap(self.shaped(noisy), 0.0, self.mechanism.cap)

    def summary(self, value: GazeMap) -> tuple[str, ...]:
        """Say that nothing is protected."""
        return self.warnings()


@PRODUCTS.add_unlisted(UnprotectedLiuMap.product)
def prepare(study: Study, mechanism: UnprotectedLiuMap, stimulus: str | None = None) -> UnprotectedLiuMeasurement:
    """Plan the unprotected gaze map of one stimulus of a study."""
    study, name = for_gaze_map(study, stimulus)
    found = UnprotectedLiuMeasurement(study, mechanism, name)
    found.recipe()  # refuses a selection that cannot be
    return found


def _below(limit: int, count: int, noise: NoiseSource) -> IntArray:
    """Return numbers from 0 to below ``limit``, all equally likely: words beyond the last multiple are thrown away."""
    last = np.uint64(2**64 - 2**64 % limit - 1)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        words = noise.words(count - len(drawn))
        drawn = np.concatenate((drawn, (words[words <= last] % np.uint64(limit)).astype(np.int64)))
    return drawn
