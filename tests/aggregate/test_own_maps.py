# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Maps of the user's own in place of the picture model: what is accepted, and that a stored one serves again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.saliency import Saliency
from gazeveil.errors import InputError
from gazeveil.geometry import screen
from gazeveil.release.map_files import read_map

DESK = screen(800, 600)


@settings(max_examples=60, deadline=None)
@given(
    arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=12),
        elements=some.floats(0, 1.7e308, allow_subnormal=False),
    ).filter(np.any)
)
def test_a_map_has_mean_1_and_is_the_same_when_it_comes_from_a_store(values: NDArray[np.float64]) -> None:
    saliency = Saliency.of_map(values)
    assert saliency.values.mean() == pytest.approx(1)
    assert saliency.values.min() >= 0
    again = Saliency.of_map(saliency.values)
    assert again == saliency
    np.testing.assert_array_equal(again.values, saliency.values)


def test_where_the_map_is_high_gaze_is_expected() -> None:
    values = np.zeros((6, 8), dtype=np.int64)
    values[1, 6] = 5
    saliency = Saliency.of_map(values)
    assert saliency.said_by == "own map"
    on_grid = saliency.on(Grid(16, 12, DESK)).reshape(12, 16)
    assert set(np.argwhere(on_grid > 0)[:, 0]) == {2, 3}
    assert set(np.argwhere(on_grid > 0)[:, 1]) == {12, 13}


def test_a_large_map_is_kept_coarser_and_still_serves_again() -> None:
    values = np.random.default_rng(1).random((700, 900))
    saliency = Saliency.of_map(values)
    assert saliency.values.shape == (512, 512)
    assert Saliency.of_map(saliency.values) == saliency
    assert Saliency.of_map(values[::-1]) != saliency


def test_a_map_of_another_shape_is_another_map() -> None:
    values = np.arange(24.0)
    assert Saliency.of_map(values.reshape(4, 6)) != Saliency.of_map(values.reshape(6, 4))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.ones(12), "rows by columns"),
        (np.ones((3, 4, 3)), "rows by columns"),
        (np.ones((1, 4)), "rows by columns"),
        (np.zeros((3, 4)), "0 everywhere"),
        (np.array([[1.0, np.nan], [1, 1]]), "no finite"),
        (np.array([[1.0, np.inf], [1, 1]]), "no finite"),
        (np.array([[1.0, -0.5], [1, 1]]), "negative"),
        (np.array([["a", "b"], ["c", "d"]]), "numbers"),
        (np.ones((3, 4), dtype=complex), "numbers"),
        (np.array([[None, 1], [2, 3]]), "numbers"),
    ],
)
def test_what_is_no_map_is_refused(values: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Saliency.of_map(values)


def test_a_model_of_the_users_own_sees_the_pixels_and_cannot_change_them() -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (30, 40, 3)).astype(np.uint8)
    before = pixels.copy()

    def brightness(seen: NDArray[np.uint8]) -> NDArray[np.float64]:
        values = seen.mean(axis=2)
        seen[:] = 0
        return np.asarray(values)

    saliency = Saliency.from_model(pixels, brightness)
    np.testing.assert_array_equal(pixels, before)
    assert saliency == Saliency.of_map(before.mean(axis=2))
    with pytest.raises(InputError, match="negative"):
        Saliency.from_model(pixels, lambda seen: -seen.mean(axis=2))
    with pytest.raises(InputError, match="picture"):
        Saliency.from_model(pixels[:, :, 0], brightness)


def test_a_map_is_read_from_a_file(tmp_path: Path) -> None:
    values = np.random.default_rng(3).random((30, 40))
    np.save(tmp_path / "map.npy", values)
    assert read_map(tmp_path / "map.npy", DESK) == Saliency.of_map(values)


def test_a_file_that_holds_no_map_is_refused_with_its_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "several.npy.npz", values=np.ones((3, 4)))
    np.save(tmp_path / "objects.npy", np.array([[None, 1], [2, 3]]), allow_pickle=True)
    np.save(tmp_path / "flat.npy", np.ones(5))
    np.save(tmp_path / "tall.npy", np.ones((40, 30)))
    (tmp_path / "empty.npy").write_bytes(b"")
    whole = tmp_path / "whole.npy"
    np.save(whole, np.ones((30, 40)))
    (tmp_path / "cut.npy").write_bytes(whole.read_bytes()[:-100])
    for name in ("several.npy.npz", "objects.npy", "flat.npy", "tall.npy", "empty.npy", "cut.npy", "missing.npy"):
        with pytest.raises(InputError, match=name.replace(".", r"\.")) as refused:
            read_map(tmp_path / name, DESK)
        assert refused.value.hint
