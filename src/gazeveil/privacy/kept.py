# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of a guarantee once the noise was drawn: all of it, or nothing if the noise was not secure."""

from __future__ import annotations

from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven

SEEDED = "its noise came from a seed, and anyone who knows the seed can remove the noise"


def kept_promise(guarantee: Guarantee, noise: object) -> Guarantee:
    """Return the guarantee that a release with this noise keeps: none, unless the noise is known to be secure."""
    if type(noise) is NoiseSource and noise.is_secure:  # something that wraps one can say what it likes
        return guarantee
    reasons = guarantee.reasons if isinstance(guarantee, Unproven) else ()
    return Unproven([*reasons, SEEDED], unit=guarantee.unit, neighbours=guarantee.neighbours)


def is_seeded(guarantee: Guarantee) -> bool:
    """Return whether a guarantee was lost because the noise came from a seed."""
    return isinstance(guarantee, Unproven) and SEEDED in guarantee.reasons
