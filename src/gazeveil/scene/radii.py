# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far apart what can be looked at is: Kaleido's two radii (equations 6 and 7).

A region counts as a circle around its centre whose radius is half of the box's diagonal (equation 6). Two regions are
as far apart as their centres (equation 7). r_small, the median of the first, hides where in a region someone looks;
r_large, the median of the second over all pairs, hides at which region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.scene.regions import Regions, as_array, diagonal


@dataclass(frozen=True, slots=True)
class Radii:
    """The two radii of a scene, in the unit of its width and height.

    What the equations leave undefined is None, and never guessed: without regions both, with one region the large one.
    Then the radius of the policy stands.

    Attributes:
        small: Median of half of the diagonals.
        large: Median of the distances between centres. It can be 0, if boxes lie within one another.
    """

    small: float | None = None
    large: float | None = None


def radii(regions: Regions, width: float, height: float) -> Radii:
    """Return r_small and r_large of a scene.

    Args:
        regions: Boxes in shares of the frame.
        width: Width of the frame, in the unit that is wanted.
        height: Height of the frame, in the same unit.

    Raises:
        InputError: If the frame has no size.
    """
    diagonal(width, height)
    if not regions:
        return Radii()
    boxes = as_array(regions) * np.array([width, height, width, height])
    small = float(np.median(0.5 * np.hypot(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])))
    if len(boxes) == 1:
        return Radii(small)
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    one, other = np.triu_indices(len(boxes), 1)
    return Radii(small, float(np.median(np.hypot(x[one] - x[other], y[one] - y[other]))))
