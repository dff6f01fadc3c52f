# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures that everybody can read: colours that stay apart, titles that are whole, legends beside the data."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gazeveil.arrays import FloatArray
from gazeveil.display import COLOURS, break_titles, canvas, legend_below, line_style, png

# What is seen of linear red, green and blue without one kind of cones (Machado et al. 2009, severity 1).
SEEN = {
    "by most": np.eye(3),
    "without red cones": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "without green cones": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "without blue cones": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = np.array([[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]])
"""From linear red, green and blue, as parts of white."""
APART = 20.0
"""Differences in CIE L*a*b*; 2 to 3 can just be seen side by side."""


def lab(colour: str, seen: FloatArray) -> FloatArray:
    written = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(written <= 0.04045, written / 12.92, ((written + 0.055) / 1.055) ** 2.4)
    white = TO_XYZ @ np.clip(seen @ linear, 0, 1)
    x, y, z = np.where(white > 0.008856, np.cbrt(white), 7.787 * white + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("who", SEEN)
def test_colours_of_categories_stay_apart_without_colour_vision(who: str) -> None:
    seen = [lab(colour, np.asarray(SEEN[who])) for colour in COLOURS]
    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) > APART


def test_the_measure_finds_colours_that_are_confused() -> None:
    red, green = (lab(colour, np.asarray(SEEN["without green cones"])) for colour in ("#c0392b", "#a06020"))
    assert np.linalg.norm(red - green) < APART


def test_lines_that_share_a_colour_differ_in_their_dashes() -> None:
    looks = [tuple(line_style(number).values()) for number in range(4 * len(COLOURS))]
    assert len(set(looks)) == len(looks)


def test_long_titles_are_broken_and_not_cut_off() -> None:
    figure, axes = canvas(6, 3, columns=2)
    figure.suptitle("all of it " * 30)
    axes[0].set_title("a title that is longer than the axes below it " * 3)
    axes[1].set_title("short")
    axes[1].set_ylabel("a label that is longer than the axes are high " * 3)
    break_titles(figure)
    assert axes[1].yaxis.label.get_window_extent().height <= figure.bbox.height
    whole = figure.bbox.width
    for text in (figure._suptitle, axes[0].title, axes[1].title):
        assert text.get_window_extent().width <= whole
    assert axes[0].title.get_window_extent().width < whole / 2
    assert axes[1].title.get_text() == "short"


def test_a_legend_below_hides_no_data() -> None:
    figure, axes = canvas(6, 3)
    for number in range(6):
        axes.plot([0, 1], [0, number], label=f"a method with a long name, number {number}")
    legend_below(figure, axes)
    assert png(figure).startswith(b"\x89PNG")
    (legend,) = figure.legends
    assert legend.get_window_extent().y1 <= axes.get_window_extent().y0
    assert legend.get_window_extent().width <= figure.bbox.width
