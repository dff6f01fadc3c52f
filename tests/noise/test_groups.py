# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Random groups: everybody is in one, none is too small, and all are equally likely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import NoiseSource
from gazeveil.errors import InputError
from gazeveil.noise.source import random_groups


@given(people=st.integers(1, 60), size=st.integers(1, 12), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_everybody_is_in_one_group_and_none_is_too_small(people: int, size: int, seed: int) -> None:
    if people < size:
        with pytest.raises(InputError, match="at least"):
            random_groups(NoiseSource.seeded(seed), people, size)
        return
    groups = random_groups(NoiseSource.seeded(seed), people, size)
    assert sorted(np.concatenate(groups).tolist()) == list(range(people))
    assert all(size <= len(group) < 2 * size for group in groups)


def test_every_partner_is_equally_likely() -> None:
    """Of four people, person 0 has three possible partners. False alarm: below 1e-6 (six standard deviations)."""
    source = NoiseSource.seeded(1)
    partners = np.zeros(4)
    for _ in range(3000):
        mine = next(group for group in random_groups(source, 4, 2) if 0 in group)
        partners[mine] += 1
    assert partners[0] == 3000
    assert np.all(np.abs(partners[1:] - 1000) < 6 * np.sqrt(3000 * (1 / 3) * (2 / 3)))
