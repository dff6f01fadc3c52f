# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu import FirstSamples, ObserverMaps
from gazeveil.errors import OptionError
from gazeveil.geometry import screen


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 4)), max_size=60), st.integers(1, 8), st.integers(1, 4))
def test_samples_are_counted_observer_by_observer(rows: list[tuple[int, int]], samples: int, cap: int) -> None:
    table = np.zeros((4, 5), dtype=np.int64)
    for who, where in rows:
        if where >= 0 and table[who].sum() < samples:
            table[who, where] += 1
    observer, cell = [who for who, _ in rows], [where for _, where in rows]
    maps = ObserverMaps.of_samples(observer, cell, observers=4, cells=5, samples=samples)
    summed = maps.summed(cap)
    assert summed.total.tolist() == np.minimum(table, cap).sum(axis=0).tolist()
    assert summed.observers == 4
    assert maps.highest == table.max(initial=0)
    again = ObserverMaps.of_table(table)
    assert again.summed().total.tolist() == maps.summed().total.tolist()
    times = np.array([2, 0, 1, 3])
    assert maps.summed(cap, times).total.tolist() == (times @ np.minimum(table, cap)).tolist()
    assert maps.summed(cap, times).observers == 6


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(OptionError, match="observers go"):
        ObserverMaps.of_samples([4], [0], observers=4, cells=5)
    with pytest.raises(OptionError, match="observers go"):
        ObserverMaps.of_samples([0], [5], observers=4, cells=5)
    with pytest.raises(OptionError, match="each sample"):
        ObserverMaps.of_samples([0, 1], [0], observers=4, cells=5)
    with pytest.raises(OptionError, match="cells of all observers"):
        ObserverMaps.of_samples([0], [0], observers=2**40, cells=2**40)
    for wrong in (np.ones(3, dtype=int), np.ones((2, 2)), np.array([[-1]])):
        with pytest.raises(OptionError, match="table"):
            ObserverMaps.of_table(wrong)


def test_the_kernel_counts_the_first_valid_samples_on_the_grid_and_caps_them() -> None:
    kernel = FirstSamples(Grid(2, 1, screen(200, 100, 400, 200, 600)), cap=2, samples=4)
    rows = {
        "x": np.array([10.0, 150, 10, -5, 20, 30, 150, 150]),
        "y": np.full(8, 50.0),
        "valid": np.array([True, False, True, True, True, True, True, True]),
    }
    assert kernel(rows).tolist() == [2, 0]  # four samples on the left, capped; those after them do not count
    assert FirstSamples(kernel.grid, cap=9, samples=5)(rows).tolist() == [4, 1]
    assert (kernel.size, kernel.columns) == (2, ("x", "y", "valid"))
    assert kernel.geometry == kernel.grid.geometry  # so that engines refuse gaze of another plane
    with pytest.raises(OptionError, match="samples"):
        FirstSamples(kernel.grid, cap=1, samples=0)
