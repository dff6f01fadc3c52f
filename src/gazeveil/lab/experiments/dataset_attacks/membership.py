# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Membership, measured: how often the target is found in a release, beside what the guarantee allows at most.

The attacker makes releases of its own: some with the same noise in both worlds, to see what the target changes, and a
quarter as many as are judged, without the target, to see how releases scatter. The judged ones have other noise.
``proven`` is the ε that the judged releases prove, which is too large in at most 5 % of all studies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import OptionError
from gazeveil.lab.attacks.aggregates.membership import Suspicion, most_found, proven_epsilon
from gazeveil.lab.attacks.judging.scores import interval, resampled_people, roc
from gazeveil.lab.experiments.dataset_attacks.worlds import Product, change_by_target
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP

FEWEST = 8
DRAWS = 300
NO_PRIVACY = 1000.0
"""From this ε on nothing is guaranteed that is worth the name."""
_POINTS = 200
"""How many points of a ROC curve are kept."""


@dataclass(frozen=True, slots=True)
class Found:
    """How well the target is found in releases of one product.

    Attributes:
        product: Its name.
        words: What it is.
        guarantee: What is guaranteed, in words.
        epsilon: The ε of the guarantee; None if nothing is guaranteed.
        delta: Its δ.
        releases: How many were judged with the target, and as many without.
        auc: How often a release with the target looks more like it than one without; guessing gives 0.5.
        auc_interval: Where that lies, over releases resampled.
        advantage: The largest difference of true and false accusations.
        allowed: The largest that the guarantee allows; 1 if nothing is guaranteed.
        at_no_false: Share of targets found before anyone is accused falsely.
        proven: An ε that the releases prove at the claimed δ; the fewer releases, the less they can prove.
        roc_false: Shares of false accusations.
        roc_found: Shares of targets found.
    """

    product: str
    words: str
    guarantee: str
    epsilon: float | None
    delta: float
    releases: int
    auc: float
    auc_interval: tuple[float, float]
    advantage: float
    allowed: float
    at_no_false: float
    proven: float
    roc_false: tuple[float, ...]
    roc_found: tuple[float, ...]

    @property
    def within(self) -> bool:
        """Whether the releases are in keeping with the guarantee; always, where nothing is guaranteed."""
        return self.epsilon is None or self.proven <= self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {**asdict(self), "within": self.within}


def attack(product: Product, releases: int = 400, seed: int = 1, tell: Tell = silent) -> Found:
    """Attack many releases of a product.

    Args:
        product: What is released.
        releases: How many are judged in each world.
        seed: All noise follows from it.
        tell: Called with how many releases are made.

    Raises:
        OptionError: If there are too few releases to say anything.
    """
    if releases < FEWEST:
        raise OptionError(f"at least {FEWEST} releases are needed, not {releases}")
    shadows = max(FEWEST, releases // 4)
    total = shadows + 2 * releases

    def many(data: Any, count: int, whose: str, before: int) -> FloatArray:
        found = []
        for number in range(count):
            tell(before + number, total)
            found.append(product.released(data, NoiseSource.seeded(seed).spawn(f"{product.name}/{whose}/{number}")))
        return np.array(found)

    change = change_by_target(product, NoiseSource.seeded(seed).spawn(f"{product.name}/twins"))
    suspicion = Suspicion.learn(change, many(product.outside, shadows, "attacker", 0))
    inside = suspicion.scores(many(product.inside, releases, "inside", shadows))
    outside = suspicion.scores(many(product.outside, releases, "outside", shadows + releases))
    curve = roc(inside, outside)
    epsilon, delta = claimed(product.guarantee)
    allowed = 1.0 if epsilon is None else (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)
    kept = np.unique(np.linspace(0, len(curve.strangers) - 1, _POINTS).round().astype(np.int64))
    return Found(
        product=product.name,
        words=product.words,
        guarantee=str(product.guarantee),
        epsilon=epsilon,
        delta=delta,
        releases=releases,
        auc=curve.area,
        auc_interval=interval(_areas(inside, outside, seed)),
        advantage=float((curve.owners - curve.strangers).max()),
        allowed=min(allowed, 1.0),
        at_no_false=float(curve.owners[curve.strangers == 0].max()),
        proven=proven_epsilon(inside, outside, delta),
        roc_false=tuple(curve.strangers[kept].tolist()),
        roc_found=tuple(curve.owners[kept].tolist()),
    )


def attack_all(products: Sequence[Product], releases: int = 400, seed: int = 1, tell: Tell = silent) -> list[Found]:
    """Attack one product after the other."""
    found = []
    for number, product in enumerate(products):

        def told(done: float, total: float | None = None, number: int = number) -> None:
            tell(number + done / (total or 1.0), len(products))

        found.append(attack(product, releases, seed, told))
    return found


def claimed(guarantee: Guarantee) -> tuple[float | None, float]:
    """Return ε and δ of a guarantee; None and 0 where nothing worth the name is guaranteed."""
    if isinstance(guarantee, PureDP | ApproxDP) and float(guarantee.epsilon) < NO_PRIVACY:
        return float(guarantee.epsilon), float(getattr(guarantee, "delta", 0))
    return None, 0.0


def allowed_curve(found: Found, false: FloatArray) -> FloatArray | None:
    """Return the most that any attacker finds under the guarantee, or None."""
    return None if found.epsilon is None else most_found(found.epsilon, found.delta, false)


def _areas(inside: FloatArray, outside: FloatArray, seed: int) -> FloatArray:
    weights = [resampled_people(len(scores), DRAWS, seed + side) for side, scores in enumerate((inside, outside))]
    return np.array([roc(inside, outside, one, other).area for one, other in zip(*weights, strict=True)])
