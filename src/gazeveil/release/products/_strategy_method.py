# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How the heatmap strategies protect, in words for authors and reviewers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gazeveil.privacy.protection import Neighbours
from gazeveil.release.method import Method


def strategy_method(strategy: Mapping[str, Any], neighbours: Neighbours, *, before: str, after: str) -> Method:
    """Return how a heatmap strategy protects, from what it says about itself: bound, sensitivity, noise, what to cite.

    ``before`` says what was counted, ``after`` what was done with the noisy numbers.
    """
    name, bound = strategy["strategy"], strategy["bound"]
    vectors, signed = _VECTORS[name]
    replaced = ("2" if signed else "√2") if neighbours is Neighbours.REPLACE_ONE else "1"
    radial = "scale" in strategy
    if radial:
        noise = (
            "ℓ2-radial noise with density proportional to exp(−‖z‖₂/b), with a scale b of "
            f"{strategy['scale'] / bound:.4g} times that length"
        )
    else:
        noise = (
            "Gaussian noise, calibrated analytically [@balle2018], with a standard deviation of "
            f"{strategy['sigma'] / bound:.4g} times that length in every coordinate"
        )
    bounded = (
        f"{vectors.format(**strategy)}, in fixed-point integers whose Euclidean length never exceeds {bound:,}. "
        f"So the ℓ2 sensitivity of the sum over participants is {replaced} times that length. The sum received {noise}."
    )
    return Method(
        sentence=f"{before} {bounded} {after}",
        sources=(
            "dwork2014",
            "liu2019",
            *(() if radial else ("balle2018",)),
        ),
        audit=f"heatmap-{name}",
        samplers=("radial", "radial-calibration") if radial else ("lattice-gaussian", "analytic-gaussian"),
    )


def joint_method(audit: str, *, before: str, after: str, length: int, sigma: float, neighbours: Neighbours) -> Method:
    """Return how many maps under one noise protect, as `strategy_method` does.

    All numbers of one participant together never exceed the Euclidean ``length``.
    """
    times = "√2" if neighbours is Neighbours.REPLACE_ONE else "1"
    bounded = (
        "All maps of one participant, side by side and without negative entries, were bounded in fixed-point integers "
        f"to a Euclidean length of {length:,}. So the ℓ2 sensitivity of the sum over participants is {times} times "
        "that length. The sum received Gaussian noise once, calibrated analytically [@balle2018], with a standard "
        f"deviation of {sigma / length:.4g} times that length in every coordinate."
    )
    return Method(
        sentence=f"{before} {bounded} {after}",
        sources=("dwork2014", "liu2019", "balle2018"),
        audit=audit,
        samplers=("lattice-gaussian", "analytic-gaussian"),
    )


_VECTORS = {
    "modes": (
        "The coordinates of the map along {modes} public modes, less the prior's mean, were clipped to a ball",
        True,
    ),
    "bumps": ("The map was seen through {bumps} overlapping Gaussian bumps and scaled to one length", False),
}
"""What each strategy makes of one participant's map, and whether its numbers may be negative."""
