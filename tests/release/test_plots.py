# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of many maps: written by hand, and what matplotlib would draw."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.image import imread, imsave

from gazeveil import screen
from gazeveil.release.visual_report import MapPictures, bare_picture, map_picture


@pytest.mark.parametrize("shape", [(26, 44), (1, 1), (3, 500), (40, 7)])
def test_a_bare_picture_has_the_pixels_that_matplotlib_gives(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).random(shape) ** 3
    side = max(1, 480 // shape[1])
    drawn = io.BytesIO()
    imsave(drawn, values.repeat(side, axis=0).repeat(side, axis=1), cmap="inferno", format="png")
    drawn.seek(0)
    assert np.array_equal(imread(io.BytesIO(bare_picture(values))), imread(drawn))


def test_maps_drawn_in_one_figure_look_as_if_drawn_in_one_each() -> None:
    desk, rng = screen(800, 600, 80, 60, 573), np.random.default_rng(2)
    drawing = MapPictures(desk)
    for size in (1e-3, 1.1e-3, 0.4, 1e-3):
        values = size * rng.random((6, 8))
        series, single, other = (
            imread(io.BytesIO(png))
            for png in (
                drawing.draw(values, "map"),
                map_picture(values, desk, "map"),
                map_picture(-values, desk, "map"),
            )
        )
        assert np.abs(series - single).mean() < 0.02  # half a pixel at most
        assert np.abs(other - single).mean() > 0.05


def test_an_even_map_is_a_picture_of_one_colour() -> None:
    assert len(np.unique(imread(io.BytesIO(bare_picture(np.full((3, 4), 0.25))))[..., :3].reshape(-1, 3), axis=0)) == 1
