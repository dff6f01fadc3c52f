# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of many maps: written by hand, and what matplotlib would draw."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.image import imread, imsave

from gazeveil.release.plots import bare_picture


@pytest.mark.parametrize("shape", [(26, 44), (1, 1), (3, 500), (40, 7)])
def test_a_bare_picture_has_the_pixels_that_matplotlib_gives(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).random(shape) ** 3
    side = max(1, 480 // shape[1])
    drawn = io.BytesIO()
    imsave(drawn, values.repeat(side, axis=0).repeat(side, axis=1), cmap="inferno", format="png")
    drawn.seek(0)
    assert np.array_equal(imread(io.BytesIO(bare_picture(values))), imread(drawn))


def test_an_even_map_is_a_picture_of_one_colour() -> None:
    assert len(np.unique(imread(io.BytesIO(bare_picture(np.full((3, 4), 0.25))))[..., :3].reshape(-1, 3), axis=0)) == 1
