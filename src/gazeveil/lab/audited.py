# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the auditor can try of the lab: published methods against what their authors claim, and baselines.

Importing this module enters the subjects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.audited import heatmap_subject
from gazeveil.aggregate.liu.noisy_maps import ObserverMaps
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InternalError
from gazeveil.features.audited import CHUNK, STEPS, feature_pairs
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.lab import load
from gazeveil.lab.as_published.feature_series import AsPublished
from gazeveil.lab.as_published.liu_maps import RandomSelection
from gazeveil.noise import NoiseSource, add_gaussian, from_lattice, lattice_step
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Subject, auditable, observer_pairs
from gazeveil.privacy.calibration import LiuNoise, gaussian_delta, gaussian_epsilon
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, PureDP
from gazeveil.samples.stream_audits import RATE, Tested, made, pairs_of

load()


@dataclass(frozen=True, slots=True)
class GaussianLoss:
    """The loss of Gaussian noise, by the analytic formula of Balle and Wang 2018."""

    sigma: float
    sensitivity: Fraction
    words: str = "the exact loss of Gaussian noise, by the analytic formula"

    def epsilon_at(self, delta: float) -> float:
        """Return the ε that is true at δ, rounded down."""
        if delta <= 0:
            return math.inf
        return max(0.0, math.nextafter(gaussian_epsilon(self.sigma, self.sensitivity, delta), -math.inf))

    def delta_at(self, epsilon: float) -> float:
        """Return the δ that is true at ε, rounded down."""
        return max(0.0, math.nextafter(gaussian_delta(self.sigma, self.sensitivity, epsilon), -math.inf))


@dataclass(frozen=True, slots=True)
class NoisyTotal:
    """The sum of all observers' maps plus Gaussian noise: the mean map times the number of observers."""

    sigma: float

    def run(self, data: NDArray[np.int64], noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy sums, one map a row."""
        step = lattice_step(self.sigma)
        total = data.sum(axis=0) * round(1 / step)
        return from_lattice(add_gaussian(noise, np.tile(total, (trials, 1)), self.sigma, step), step)

    def log_ratio(self, outputs: Outputs, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = first.sum(axis=0), second.sum(axis=0)
        return np.asarray((outputs - (here + there) / 2) @ (here - there) / self.sigma**2)


@auditable("liu-as-published")
def liu_as_published(observers: int = 1000, pixels: int = 1, cap: int = 1, epsilon: float = 1.0) -> Subject:
    """Liu 2019, theorem 3.4: Gaussian noise on a gaze map, claimed at δ = observers^(-3/2)."""
    noise = LiuNoise(observers=observers, pixels=pixels, cap=cap, epsilon=epsilon)
    mechanism = NoisyTotal(noise.sigma_gaussian() * observers)
    maps = np.zeros((2, pixels), dtype=np.int64)  # whoever stays the same cancels out; their number enters σ alone
    return Subject(
        mechanism.run,
        ApproxDP(noise.epsilon, noise.delta),
        tuple(observer_pairs(maps, cap=cap)),
        mechanism.log_ratio,
        GaussianLoss(noise.sigma_gaussian(), noise.sensitivity()),
    )


@dataclass(frozen=True, slots=True)
class SelectedSums:
    """Runs the random selection of observers."""

    mechanism: RandomSelection

    def run(self, data: IntArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return the mean map of those who were drawn, one a row."""
        maps = ObserverMaps.of_table(data)
        rows = [maps.summed(times=self.mechanism.draw(noise)).total for _ in range(trials)]
        return np.array(rows) / self.mechanism.selected


@auditable("liu-random-selection")
def random_selection_subject(observers: int = 10, selected: int = 5, replacement: int = 0) -> Subject:
    """Liu 2019, theorems 3.2 and 3.3: the map of a random selection, which guarantees nothing."""
    mechanism = RandomSelection(observers, selected, bool(replacement))
    pairs = tuple(observer_pairs(np.zeros((observers, 1), dtype=np.int64), cap=1))
    return Subject(SelectedSums(mechanism).run, mechanism.guarantee, pairs)


@auditable("heatmap-histogram")
def histogram_subject(observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, add_remove: int = 0) -> Subject:
    """Coarse histograms of one length under Gaussian noise."""
    return heatmap_subject("histogram", observers, epsilon, delta, add_remove)


@auditable("heatmap-hierarchical")
def hierarchical_subject(
    observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, add_remove: int = 0
) -> Subject:
    """Distributions of gaze on grids from coarse to fine, weighted by level, under Gaussian noise."""
    return heatmap_subject("hierarchical", observers, epsilon, delta, add_remove)


@dataclass(frozen=True, slots=True)
class Published:
    """Runs a published mechanism up to noisy coordinates, with the sensitivity of the declared ranges."""

    mechanism: AsPublished

    def run(self, data: FloatArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy series before they are clipped, one release a row."""
        table = np.broadcast_to(data.T, (trials, *data.T.shape))
        parts = [self.mechanism._published(part, noise) for part in self.mechanism._parts(table)]
        return np.concatenate([part.reshape(trials, -1) for part in parts], axis=1)


@auditable("features-fpa-as-published")
def fpa_as_published(epsilon: float = 1.0, kept: int = 3) -> Subject:
    """Fourier perturbation without the factor √n (erratum B4), claiming ε."""
    return _published("fpa-as-published", epsilon, kept=kept)


@auditable("features-c-fpa-as-published")
def c_fpa_as_published(epsilon: float = 1.0, kept: int = 2) -> Subject:
    """Chunks of one participant paid for once (errata B2, B4), claiming ε."""
    return _published("c-fpa-as-published", epsilon, kept=kept, chunk=CHUNK)


@auditable("features-dc-fpa-as-published")
def dc_fpa_as_published(epsilon: float = 1.0, kept: int = 5) -> Subject:
    """Differences with the first element of a chunk in the clear (erratum B6), claiming ε."""
    return _published("dc-fpa-as-published", epsilon, kept=kept, chunk=CHUNK)


def _published(name: str, epsilon: float, **options: Any) -> Subject:
    options["measures_people"] = False
    mechanism = SERIES_MECHANISMS[name](epsilon=epsilon, steps=STEPS, **options)
    if not isinstance(mechanism, AsPublished):
        raise InternalError(f"{name} is no published mechanism")
    return Subject(Published(mechanism).run, PureDP(epsilon, unit=mechanism.unit), feature_pairs())


@dataclass(frozen=True, slots=True)
class TestsAlone:
    """What the tests of Kaleido as published lose: gaze half a radius within the threshold, or half a radius beyond."""

    stays: float
    stays_beyond: float
    tests: int
    words: str = "no publication in a window, half a radius within the threshold against half a radius beyond it"

    def epsilon_at(self, delta: float) -> float:
        """Return the loss of the event that none of this many tests leads to a publication, at its best length."""
        found = [(self.stays**m - delta, self.stays_beyond**m) for m in range(1, self.tests + 1)]
        return max([0.0, *(math.log(here / there) for here, there in found if here > there)]) * (1 - 1e-12)

    def delta_at(self, epsilon: float) -> float:
        """Return how much likelier that event is than ε allows."""
        excess = [self.stays**m - math.exp(epsilon) * self.stays_beyond**m for m in range(1, self.tests + 1)]
        return max(0.0, *excess) * (1 - 1e-12)


@auditable("kaleido-as-published")
def kaleido_as_published(
    epsilon: float = 0.5,
    window: float = 2.0,
    radius: float = 60.0,
    h: float = 2.0,
    t_skip: float = 0.05,
    l_thresh: float = 480.0,
) -> Subject:
    """Broken: Kaleido's algorithm 1, whose tests lose about a radius times what they are said to (K1 to K3)."""
    options = {"h": h, "t_skip": t_skip, "rate_hz": RATE, "l_thresh": l_thresh}
    stream = Tested(made("kaleido-as-published", epsilon, window, radius, **options))
    tests = math.ceil(Fraction(window) / Fraction(str(t_skip)))
    beyond = 0.5 * math.exp(-radius / 2 * epsilon / (h * tests))
    claim = GazeStreamDP(epsilon, window, radius)
    exact = TestsAlone(1 - beyond, beyond, tests)
    return Subject(stream.run, claim, pairs_of(stream.mechanism, min(window, 0.6), after=0.1), stream.log_ratio, exact)
