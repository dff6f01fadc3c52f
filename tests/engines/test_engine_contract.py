# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The contract that every registered engine keeps: the same integers as adding up by hand, and the same refusals."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import Corpus, Recording, screen, write_corpus
from gazeveil.aggregate.engine import ENGINES, Engine, Kernel, Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu.noisy_maps import FirstSamples
from gazeveil.aggregate.maps import CountMap, NormalisedMap
from gazeveil.engines import engine_at
from gazeveil.errors import GeometryError, InputError, OptionError

DESK = screen(40, 30, 200, 150, 600)
GRID = Grid(4, 3, DESK)
KERNELS: dict[str, Kernel] = {
    "counts": CountMap(GRID),
    "capped counts": CountMap(GRID, 2),
    "first samples": FirstSamples(GRID, 3, 9),  # one observer at a time, and in order
    "normalised": NormalisedMap(GRID, 1000),
}
ADDRESSES = {"local": "local", "spark": "local[1]"}


def people() -> list[Recording]:
    """Session after session, so that everybody is spread over the corpus; one has no samples at all."""
    rng = np.random.default_rng(3)
    made = []
    for session in ("1", "2"):
        for who in range(6):
            n = 17 * who
            x, y = rng.uniform(-5, 45, n), rng.uniform(-5, 35, n)
            made.append(Recording(np.arange(n) / 60, x, y, DESK, f"p{who}", "page", session, valid=rng.random(n) < 0.8))
    return made


def by_hand(recordings: list[Recording], kernel: Kernel) -> Summed:
    total, seen = np.zeros(kernel.size, dtype=np.int64), set()
    for name in {one.observer for one in recordings}:
        mine = [one for one in recordings if one.observer == name and len(one.t)]
        if mine:
            seen.add(name)
            names = {"x": "x", "y": "y", "valid": "tracked"}
            total += kernel({name: np.concatenate([getattr(one, of) for one in mine]) for name, of in names.items()})
    return Summed(total, len(seen))


@pytest.fixture(scope="module", params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "spark":
        pytest.importorskip("pyspark")
        if shutil.which("java") is None:
            pytest.skip("Spark runs on Java")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # for jobs of seconds
        made: Any = engine_at(ADDRESSES[request.param])
        yield made
        if hasattr(made, "close"):
            made.close()


def test_every_engine_has_an_address_here() -> None:
    assert ENGINES.names() == sorted(ADDRESSES)


@pytest.mark.parametrize("name", sorted(ADDRESSES))
def test_an_address_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(OptionError):
        ENGINES[name]("no such address")


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_sum_is_that_of_whole_observers(engine: Engine, kernel: Kernel, tmp_path: Path) -> None:
    recordings = people()
    write_corpus(recordings, tmp_path / "study")
    expected = by_hand(recordings, kernel)
    for corpus in (Corpus.of(recordings), Corpus.open(tmp_path / "study")):
        found = engine.sum_over_observers(corpus, kernel)
        assert found.total.dtype == np.int64
        assert found.total.tolist() == expected.total.tolist()
        assert found.observers == expected.observers == 5


def test_a_selection_counts_nobody_else(engine: Engine) -> None:
    some = Corpus.of(people()).select(observer=["p2", "p3"])
    assert engine.sum_over_observers(some, CountMap(GRID)).observers == 2


def test_an_empty_corpus_sums_to_nothing(engine: Engine) -> None:
    found = engine.sum_over_observers(Corpus.of([]), CountMap(GRID))
    assert (found.total.tolist(), found.observers) == ([0] * GRID.size, 0)


def test_how_far_it_is_is_told_up_to_the_end(engine: Engine) -> None:
    told: list[tuple[float, float | None]] = []

    def tell(done: float, total: float | None) -> None:
        told.append((done, total))

    engine.sum_over_observers(Corpus.of(people()), CountMap(GRID), tell)
    assert told
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1]


@dataclass(frozen=True, slots=True)
class Asks:
    """A kernel that asks for a column that no table has."""

    size: int = 1
    columns: tuple[str, ...] = ("shoe_size",)

    def __call__(self, rows: Any) -> Any:
        raise AssertionError("nobody may call it")


def test_another_plane_and_unknown_columns_are_refused(engine: Engine) -> None:
    corpus = Corpus.of(people())
    with pytest.raises(GeometryError):
        engine.sum_over_observers(corpus, CountMap(Grid(4, 3, screen(41, 30, 200, 150, 600))))
    with pytest.raises(InputError, match="shoe_size"):
        engine.sum_over_observers(corpus, Asks())
