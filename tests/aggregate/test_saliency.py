# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a picture's pixels say about gaze, and that a decoder gains by a telling picture and loses little by another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.saliency import Saliency, shrunk
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task
from gazeveil.errors import InputError
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource

GRID = Grid(16, 12, screen(800, 600))


@pytest.fixture(autouse=True)
def without_the_picture_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here pictures are judged by the spectral residual, whatever is installed; see test_picture_model.py."""
    monkeypatch.setattr("gazeveil.aggregate.saliency.is_installed", lambda: False)


def a_picture(places: NDArray[np.float64], seed: int = 1) -> NDArray[np.uint8]:
    """A dull slope with a small bright patch at each place, given in pixels of an 800 x 600 screen."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:150, 0:200]
    pixels = np.repeat((90 + 20 * x / 200 + 10 * y / 150)[:, :, None], 3, axis=2) + rng.normal(0, 2, (150, 200, 3))
    for at_x, at_y in places / 4:
        pixels[(np.abs(x - at_x) < 6) & (np.abs(y - at_y) < 6)] = (230, 60, 40)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def places_of(seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.stack((rng.uniform(120, 680, 3), rng.uniform(100, 500, 3)), axis=1)


def test_what_stands_out_is_salient() -> None:
    values = Saliency.of(a_picture(np.array([(600.0, 150.0)]))).on(GRID).reshape(GRID.shape)
    row, column = divmod(int(values.argmax()), values.shape[1])
    assert (row, column) in {(2, 11), (2, 12), (3, 11), (3, 12)}
    assert values[3, 12] > 5 * np.median(values)


def test_without_the_extra_the_spectral_residual_says_it() -> None:
    assert Saliency.of(a_picture(places_of(1))).said_by == "spectral residual"


def test_an_even_picture_says_nothing() -> None:
    even = Saliency.of(np.full((60, 80, 3), 120, dtype=np.uint8))
    assert np.allclose(even.values, 1)


def test_colour_alone_stands_out() -> None:
    noise = np.random.default_rng(2).integers(-6, 7, (96, 128, 1))
    pixels = np.full((96, 128, 3), 120) + noise
    pixels[40:48, 90:98] = np.array((180, 60, 120)) + noise[40:48, 90:98]  # as light as the rest
    pixels[:, :, 0] += np.random.default_rng(3).integers(-2, 3, (96, 128))
    values = Saliency.of(pixels.astype(np.uint8)).values
    row, column = np.unravel_index(values.argmax(), values.shape)
    assert abs(row - 44) < 8
    assert abs(column - 94) < 8


def test_pictures_are_told_apart_by_their_pixels() -> None:
    one, other = a_picture(places_of(1)), a_picture(places_of(2))
    assert Saliency.of(one) == Saliency.of(one.copy())
    assert hash(Saliency.of(one)) == hash(Saliency.of(one.copy()))
    assert Saliency.of(one) != Saliency.of(other)
    assert Saliency.of(one.reshape(300, 100, 3)).digest != Saliency.of(one).digest


@pytest.mark.parametrize(
    "pixels",
    [np.zeros((60, 80)), np.zeros((60, 80, 4), dtype=np.uint8), np.zeros((60, 80, 3)), np.zeros((4, 80, 3), np.uint8)],
)
def test_what_is_no_picture_is_refused(pixels: NDArray[np.uint8]) -> None:
    with pytest.raises(InputError, match="picture"):
        Saliency.of(pixels)


@settings(max_examples=30, deadline=None)
@given(some.integers(1, 40), some.integers(1, 40), some.integers(1, 40), some.integers(1, 40))
def test_shrinking_keeps_the_mean(rows: int, columns: int, new_rows: int, new_columns: int) -> None:
    values = np.random.default_rng(rows * 41 + columns).random((rows, columns))
    made = shrunk(values, new_rows, new_columns)
    assert made.shape == (new_rows, new_columns)
    assert made.mean() == pytest.approx(values.mean())
    assert made.min() >= values.min() - 1e-12
    assert made.max() <= values.max() + 1e-12


def released(name: str, task: Task, gaze: NDArray[np.float64], seed: int) -> Estimate:
    strategy = STRATEGIES[name](task)  # type: ignore[call-arg]
    kernel = strategy.kernel()  # the picture decides about it, too
    total = sum(kernel({"x": g[:, 0], "y": g[:, 1], "valid": np.ones(len(g), dtype=bool)}) for g in gaze)
    return strategy.decode(strategy._noised(np.asarray(total), NoiseSource.seeded(seed)))


def correlations(name: str, people: int, follow: int) -> tuple[float, float, float]:
    """Mean correlation with the truth over scenes: without a picture, with one, and how much of it was believed.

    Args:
        name: The strategy.
        people: How many.
        follow: Each scene gets the picture of the scene so many further on: 0 for its own.
    """
    task = Task(grid=GRID, observers=people, epsilon=1.0, delta=1e-5)
    scores = []
    for scene in range(10):
        rng, places = np.random.default_rng(scene), places_of(scene)
        saliency = Saliency.of(a_picture(places_of(scene + follow)))
        gaze = rng.normal(places[rng.choice(3, (people, 8))], 35)
        away = rng.random((people, 8)) < 0.3
        gaze[away] = rng.normal((400, 300), (150, 110), (int(away.sum()), 2))
        gaze = np.clip(gaze, 0, (799, 599))
        cells = GRID.cells(gaze[..., 0].ravel(), gaze[..., 1].ravel())
        truth = render(np.bincount(cells, minlength=GRID.size).reshape(GRID.shape) * 1.0, task.blur_cells).ravel()
        plain, pictured = (released(name, each, gaze, scene) for each in (task, replace(task, saliency=saliency)))
        assert plain.picture_share == 0
        scores.append((*(np.corrcoef(e.map.ravel(), truth)[0, 1] for e in (plain, pictured)), pictured.picture_share))
    plain_score, pictured_score, share = np.mean(scores, axis=0)
    return float(plain_score), float(pictured_score), float(share)


@pytest.mark.parametrize(("name", "people"), [("modes", 15), ("bumps", 30)])
def test_a_telling_picture_helps(name: str, people: int) -> None:
    plain, pictured, share = correlations(name, people, follow=0)
    assert pictured > plain + 0.03
    assert share > 0.2


def test_a_misleading_picture_hurts_little() -> None:
    plain, pictured, share = correlations("bumps", 30, follow=3)
    assert pictured > plain - 0.01
    assert share < 0.15
