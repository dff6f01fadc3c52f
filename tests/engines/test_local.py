# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over observers on this machine: whole observers, the same integers however the work is cut."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Corpus, Recording, headset, screen, write_corpus
from gazeveil.aggregate.engine import ENGINES, Columns, Kernel
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import CountMap, NormalisedMap
from gazeveil.arrays import IntArray
from gazeveil.engines import engine_at, local
from gazeveil.engines.local import LocalEngine
from gazeveil.errors import FileFormatError, GeometryError, InputError, InternalError, OptionError
from gazeveil.gaze import corpus as corpus_writer
from gazeveil.geometry import Geometry

DESK = screen(40, 30, 200, 150, 600)
GRID = Grid(4, 3, DESK)
KERNELS = {
    "counts": CountMap(GRID),
    "cap 1": CountMap(GRID, 1),
    "cap 3": CountMap(GRID, 3),
    "normalised": NormalisedMap(GRID, 1000),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def a_recording(observer: str, rows: int, seed: int = 0, session: str = "1", geometry: Geometry = DESK) -> Recording:
    rng = np.random.default_rng([seed, rows, *observer.encode(), *session.encode()])
    x, y, valid = rng.uniform(-5, 45, rows), rng.uniform(-5, 35, rows), rng.random(rows) < 0.8
    return Recording(np.arange(rows) / 60, x, y, geometry, observer, "a", session, valid=valid)


def a_study(people: int = 7, sessions: int = 2) -> list[Recording]:
    """Session after session, so that every observer is spread over the corpus; of different lengths, some empty."""
    return [a_recording(f"p{i}", 13 * i, session=str(s)) for s in range(sessions) for i in range(people)]


def naive_sum(recordings: list[Recording], kernel: Kernel) -> list[int]:
    """Bring each observer's samples together in a dictionary, and add up with Python's own integers."""
    samples: dict[str, list[tuple[float, float, bool]]] = defaultdict(list)
    for recording in recordings:
        samples[recording.observer] += zip(recording.x, recording.y, recording.tracked, strict=True)
    total: Counter[int] = Counter()
    for found in samples.values():
        rows = {name: np.array([row[i] for row in found]) for i, name in enumerate(("x", "y", "valid"))}
        if found:
            total.update(dict(enumerate(kernel(rows).tolist())))
    return [total[cell] for cell in range(kernel.size)]


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[list[Recording]], Corpus]:
    def put(recordings: list[Recording]) -> Corpus:
        if request.param == "memory":
            return Corpus.of(recordings)
        write_corpus(recordings, tmp_path / "study")
        return Corpus.open(tmp_path / "study")

    return put


Store = Callable[[list[Recording]], Corpus]


@each_kernel
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("batch_rows", [1, 50, 10_000])
def test_the_sum_is_that_of_a_dictionary(
    store: Store, kernel: Kernel, threads: int, batch_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_writer, "PART_ROWS", 40)
    study = a_study()
    corpus = store(study)
    assert len(corpus.parts) > 5
    found = LocalEngine(threads, batch_rows).sum_over_observers(corpus, kernel)
    assert found.total.dtype == np.int64
    assert found.total.tolist() == naive_sum(study, kernel)
    assert found.observers == 6  # p0 has no samples at all
    assert found.total.sum() > 0


@given(
    rows=st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 3)), max_size=60),
    cuts=st.sets(st.integers(1, 59), max_size=6),
    batch_rows=st.integers(1, 80),
    cap=st.none() | st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_observers_come_together_however_their_rows_are_scattered(
    rows: list[tuple[str, int]], cuts: set[int], batch_rows: int, cap: int | None
) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(rows)), len(rows)]
    empty = Corpus.of([a_recording("nobody", 1)]).parts[0]
    table = pl.DataFrame(
        {"observer": [who for who, _ in rows], "x": [10.0 * cell + 5 for _, cell in rows]},
        schema={"observer": pl.String, "x": pl.Float64},
    ).with_columns(y=pl.lit(5.0), valid=pl.lit(True), t=pl.lit(0.0))
    parts = tuple(
        type(empty)("a", table[start:stop].lazy(), empty.events, empty.label) for start, stop in pairwise(edges)
    )
    found = LocalEngine(2, batch_rows).sum_over_observers(Corpus(parts), CountMap(GRID, cap))
    expected = [0] * GRID.size
    for (_, cell), count in Counter(rows).items():
        expected[cell] += count if cap is None else min(count, cap)
    assert found.total.tolist() == expected
    assert found.observers == len({who for who, _ in rows})


@dataclass(frozen=True)
class InOrder:
    """A kernel that notices when an observer's rows are not in the corpus's order, or are not whole."""

    size: int = 3
    columns: tuple[str, ...] = ("t", "observer", "pupil", "valid")

    def __call__(self, rows: Columns) -> IntArray:
        in_order = bool(np.all(np.diff(rows["t"]) > 0))
        return np.array([in_order, len(set(rows["observer"])) == 1, np.isnan(rows["pupil"]).all()], dtype=np.int64)


def test_a_kernel_gets_one_whole_observer_in_the_order_of_the_corpus(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_writer, "PART_ROWS", 30)
    later = [Recording(r.t + 1000, r.x, r.y, DESK, r.observer, "a", "later") for r in a_study(sessions=1)]
    found = LocalEngine(3, 64).sum_over_observers(store([*a_study(sessions=1), *later]), InOrder())
    assert found.total.tolist() == [6, 6, 6]


def test_sessions_of_one_observer_share_one_cap(store: Store) -> None:
    here = {"x": np.full(3, 5.0), "y": np.full(3, 5.0), "geometry": DESK, "stimulus": "a"}
    same = [Recording(np.arange(3.0), observer="ann", session=str(s), **here) for s in range(4)]  # type: ignore[arg-type]
    found = LocalEngine().sum_over_observers(store(same), CountMap(GRID, 2))
    assert found.total.tolist() == [2] + [0] * 11
    assert found.observers == 1


def test_a_column_that_only_some_parts_have_is_missing_in_the_others(store: Store) -> None:
    with_pupil = Recording(np.arange(2.0), np.ones(2), np.ones(2), DESK, "ann", "a", pupil=np.ones(2), rate_hz=60.0)
    found = LocalEngine().sum_over_observers(store([with_pupil, a_recording("bob", 5)]), InOrder())
    assert found.total.tolist() == [2, 2, 1]


@each_kernel
def test_no_recordings_give_zeros(store: Store, kernel: Kernel) -> None:
    for recordings in ([], [a_recording("ann", 0)], a_study()):
        found = LocalEngine().sum_over_observers(store(recordings).select(observer=["ann", "nobody"]), kernel)
        assert found.observers == 0
        assert found.total.tolist() == [0] * kernel.size


@each_kernel
def test_observers_without_gaze_on_the_screen_count_but_add_nothing(store: Store, kernel: Kernel) -> None:
    t = np.arange(5.0)
    off_screen = Recording(t, t + 1000, t, DESK, "ann", "a")
    never_tracked = Recording(t, t, t, DESK, "bob", "a", valid=np.zeros(5, dtype=np.bool_))
    found = LocalEngine().sum_over_observers(store([off_screen, never_tracked]), kernel)
    assert found.observers == 2
    assert not found.total.any()


def test_missing_and_stray_values_of_a_foreign_table_are_not_gaze() -> None:
    part = Corpus.of([a_recording("ann", 1)]).parts[0]
    table = pl.DataFrame(
        {
            "observer": ["ann"] * 4,
            "x": [5.0, None, 5.0, 5.0],
            "y": [5.0, 5.0, 5.0, float("nan")],
            "valid": [True, True, None, True],
        }
    )
    corpus = Corpus((type(part)("a", table.lazy(), part.events, part.label),))
    for kernel in (CountMap(GRID), NormalisedMap(GRID, 1)):
        assert LocalEngine().sum_over_observers(corpus, kernel).total.tolist() == [1] + [0] * 11


def test_a_recording_of_ten_hours_weighs_no_more_than_one_of_a_second(store: Store) -> None:
    hours = 10 * 3600 * 60
    rng = np.random.default_rng(1)
    x, y = np.repeat(rng.uniform(0, 40, 3600), 600), np.repeat(rng.uniform(0, 30, 3600), 600)
    long = Recording(np.arange(hours) / 60, x, y, DESK, "ann", "a")
    study = store([long, a_recording("bob", 60)])
    engine = LocalEngine(2, 100_000)
    assert engine.sum_over_observers(study, CountMap(GRID, 1)).total.max() <= 2
    assert engine.sum_over_observers(study, CountMap(GRID)).total.sum() > hours
    alone = engine.sum_over_observers(study.select(observer="ann"), NormalisedMap(GRID, 1000)).total
    assert 900**2 < (alone**2).sum() <= 1000**2


def test_selected_observers_alone_are_summed(store: Store) -> None:
    study = a_study()
    chosen = store(study).select(observer=["p2", "p5"], session="1")
    found = LocalEngine(2, 10).sum_over_observers(chosen, CountMap(GRID, 1))
    expected = [r for r in study if r.observer in {"p2", "p5"} and r.session == "1"]
    assert found.total.tolist() == naive_sum(expected, CountMap(GRID, 1))
    assert found.observers == 2


def test_gaze_on_several_planes_is_refused(store: Store) -> None:
    corpus = store([a_recording("ann", 9), a_recording("bob", 9, geometry=headset(100, 90))])
    with pytest.raises(GeometryError, match="2 viewing planes"):
        LocalEngine().sum_over_observers(corpus, CountMap(GRID))
    only_ann = corpus.select(observer="ann")  # a part of the other plane is left, but no row of it
    assert LocalEngine().sum_over_observers(only_ann, CountMap(GRID)).observers == 1


def test_gaze_on_another_plane_than_the_grid_is_refused(store: Store) -> None:
    other = Grid(4, 3, screen(80, 60))
    with pytest.raises(GeometryError, match="gaze is counted on"):
        LocalEngine().sum_over_observers(store([a_recording("ann", 9)]), NormalisedMap(other))


def test_progress_is_told_in_rows_from_none_to_all_by_the_callers_thread(store: Store) -> None:
    told: list[tuple[float, float | None, int]] = []

    def tell(done: float, total: float | None) -> None:
        told.append((done, total, threading.get_ident()))

    LocalEngine(4, 40).sum_over_observers(store(a_study()), CountMap(GRID), tell)
    rows = sum(len(recording) for recording in a_study())
    assert len(told) > 3
    assert told[0][:2] == (0, rows)
    assert told[-1][:2] == (rows, rows)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert {thread for _, _, thread in told} == {threading.get_ident()}


@dataclass(frozen=True)
class Broken:
    """A kernel that breaks its contract on one observer."""

    answer: Any
    size: int = 2
    columns: tuple[str, ...] = ("x",)

    def __call__(self, rows: Columns) -> Any:
        if len(rows["x"]) != 26:
            return np.zeros(2, dtype=np.int64)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("threads", [1, 4])
def test_an_error_of_a_kernel_comes_out_as_it_is_and_ends_the_work(store: Store, threads: int) -> None:
    before = threading.active_count()
    corpus = store(a_study(sessions=1))
    with pytest.raises(ZeroDivisionError, match="in the kernel"):
        LocalEngine(threads, 1).sum_over_observers(corpus, Broken(ZeroDivisionError("in the kernel")))
    assert threading.active_count() == before


@pytest.mark.parametrize("answer", [np.zeros(2), np.zeros(3, dtype=np.int64), np.zeros((2, 1), dtype=np.int64)])
def test_a_kernel_that_gives_something_else_than_its_integers_is_refused(store: Store, answer: Any) -> None:
    with pytest.raises(InternalError, match="not"):
        LocalEngine().sum_over_observers(store(a_study(sessions=1)), Broken(answer))


def test_a_sum_that_does_not_fit_is_an_error(store: Store) -> None:
    study = store([a_recording("ann", 26), a_recording("bob", 26, seed=1)])
    for engine in (LocalEngine(1), LocalEngine(2, 1)):
        with pytest.raises(InternalError, match="64 bits"):
            engine.sum_over_observers(study, Broken(np.array([2**62, 0], dtype=np.int64)))


def test_a_column_no_gaze_table_has_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="heart_rate"):
        LocalEngine().sum_over_observers(store(a_study()), Broken(0, columns=("x", "heart_rate")))


def test_a_row_without_an_observer_is_refused() -> None:
    part = Corpus.of([a_recording("ann", 3)]).parts[0]
    nobody = part.samples.with_columns(observer=pl.lit(None, pl.String))
    with pytest.raises(InputError, match="no observer"):
        LocalEngine().sum_over_observers(Corpus((type(part)("a", nobody, part.events, part.label),)), CountMap(GRID))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    write_corpus([a_recording("ann", 5000)], tmp_path / "study")
    corpus = Corpus.open(tmp_path / "study")
    path = next((tmp_path / "study").glob("stimulus=*/*.parquet"))
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=path.name):
        LocalEngine().sum_over_observers(corpus, CountMap(GRID))


@pytest.mark.parametrize("other", [a_study(), [a_recording("ann", 9)]], ids=["alike", "unlike"])
def test_a_corpus_that_is_replaced_while_it_is_read_gives_nothing(tmp_path: Path, other: list[Recording]) -> None:
    write_corpus(a_study(), tmp_path / "study")
    corpus = Corpus.open(tmp_path / "study")

    def tell(done: float, total: float | None) -> None:
        if not done:  # observers are known, gaze is not read yet
            write_corpus(other, tmp_path / "study")

    with pytest.raises(InputError, match=r"changed while it was read|expected a Parquet file"):
        LocalEngine(1).sum_over_observers(corpus, CountMap(GRID), tell)


def test_batches_end_where_parts_end_if_they_can() -> None:
    """Six observers of ten rows each: three in the first part, two in the second, one in both of the last two."""
    observer = np.array([0, 1, 2, 3, 4, 5, 5])
    part = np.array([0, 0, 0, 1, 1, 2, 3])
    start = np.array([0, 10, 20, 0, 10, 0, 0])
    length = np.array([10, 10, 10, 10, 10, 5, 5])
    runs = local._Runs(observer, part, start, length)

    def batches(most_rows: int) -> list[list[int]]:
        return [np.unique(batch.observer).tolist() for batch in local._batches(runs, most_rows)]

    assert batches(1) == [[0], [1], [2], [3], [4], [5]]
    assert batches(20) == [[0, 1], [2], [3, 4], [5]]
    assert batches(45) == [[0, 1, 2], [3, 4, 5]]  # four fit, but the fourth lies in another part
    assert batches(1000) == [[0, 1, 2, 3, 4, 5]]


def test_the_local_engine_is_found_by_its_address() -> None:
    assert engine_at() == engine_at("local") == LocalEngine()
    with pytest.raises(OptionError, match="local"):
        ENGINES["local"]("somewhere")


@pytest.mark.parametrize("number", [0, -1, 1.5, True])
def test_threads_and_rows_are_whole_numbers(number: Any) -> None:
    with pytest.raises(OptionError, match="threads"):
        LocalEngine(threads=number)
    with pytest.raises(OptionError, match="batch_rows"):
        LocalEngine(batch_rows=number)


def test_a_column_of_another_type_is_no_gaze_and_no_error() -> None:
    whole = Corpus.of([a_recording("p", 20), a_recording("q", 20)])
    odd = replace(whole.parts[0], samples=whole.parts[0].samples.with_columns(x=pl.lit("left")))
    found = LocalEngine().sum_over_observers(replace(whole, parts=(odd, whole.parts[1])), CountMap(GRID)).total
    assert found.tolist() == naive_sum([a_recording("q", 20)], CountMap(GRID))
