# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The Spark engine on a real cluster: a master and two executor processes on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gazeveil
from gazeveil import Corpus, Recording
from gazeveil.aggregate.engine import Columns, Kernel, Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import CountMap, NormalisedMap
from gazeveil.arrays import IntArray, silent
from gazeveil.cli.main import run
from gazeveil.engines import engine_at, spark
from gazeveil.engines.spark import (
    BLOCK,
    COUNT,
    Block,
    SparkEngine,
    _wait,
    add_bucket,
    merge,
    narrowed,
    split,
    worker_message,
)
from gazeveil.errors import EngineError, GeometryError, InputError, InternalError, MissingExtra, OptionError
from gazeveil.privacy.ledger import Ledger

CLUSTER = "local-cluster[2,1,1024]"
DESK = gazeveil.screen(640, 480, width_mm=320, height_mm=240, distance_mm=600)
STIMULI = ["", "forest.png", "a b/ü=%.png"]

needs_spark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark runs on Java")


@dataclass(frozen=True, slots=True)
class OrderKernel:
    """Depends on the order of an observer's rows and on every kind of column; fails or waits if told to."""

    fail: bool = False
    wait_s: float = 0.0
    size: int = BLOCK + 3
    columns: tuple[str, ...] = ("stimulus", "t", "valid", "pupil", "session", "observer")

    def __call__(self, rows: Columns) -> IntArray:
        time.sleep(self.wait_s)
        if self.fail:
            raise ValueError("this kernel never works")
        told = np.zeros(self.size, dtype=np.int64)
        known = np.nan_to_num(rows["pupil"], nan=-1.0)
        weight = np.arange(1, len(rows["t"]) + 1)
        told[0] = np.sum(weight * np.round(rows["t"] * 1000).astype(np.int64))
        told[1] = np.sum(
            weight * np.array([len(name) for name in rows["stimulus"] + rows["session"] + rows["observer"]])
        )
        told[2] = np.sum(weight * known.astype(np.int64))
        told[BLOCK + 2] = -np.count_nonzero(rows["valid"])
        return told


def recordings() -> list[Recording]:
    """Eleven observers, the last with gaze off screen only; everybody saw all stimuli, in two sessions."""
    rng = np.random.default_rng(11)
    made = []
    for session in ("one", "two"):
        for number, stimulus in enumerate(STIMULI):
            for who in range(11):
                n = int(rng.integers(1, 60))
                made.append(
                    Recording(
                        np.arange(n) / 100 + number,
                        rng.uniform(-100 if who < 10 else -50, 700 if who < 10 else -1, n),
                        rng.uniform(0, 480, n),
                        DESK,
                        valid=rng.random(n) < 0.9,
                        pupil=rng.uniform(2, 6, n) if who % 2 else None,
                        observer=f"person {who} é",
                        stimulus=stimulus,
                        session=session,
                    )
                )
    return made


def naive_sum(corpus: Corpus, kernel: Kernel) -> Summed:
    total = np.zeros(kernel.size, dtype=np.int64)
    people = corpus.scan().collect().partition_by("observer", maintain_order=True)
    for rows in people:
        absent = [pl.lit(None, pl.Float64).alias(name) for name in set(kernel.columns) - set(rows.columns)]
        whole = rows.with_columns(absent).with_columns(pl.col(pl.Float64).fill_null(float("nan")))
        total += kernel({name: whole[name].to_numpy() for name in kernel.columns})
    return Summed(total, len(people))


def same(one: Summed, other: Summed) -> bool:
    return one.observers == other.observers and np.array_equal(one.total, other.total) and bool(one.total.any())


@pytest.fixture(scope="module")
def engine() -> Iterator[SparkEngine]:
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file
    engine = SparkEngine(CLUSTER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # for jobs of seconds
        spark.context_at(CLUSTER)  # so that each test can run alone
        yield engine
        engine.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "study"
    gazeveil.write_corpus(recordings(), folder)
    return folder


def executors() -> list[int]:
    """Return the executor processes among our descendants."""
    parents, found = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat, command = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
        if b"CoarseGrainedExecutorBackend" in command and b"java" in command.split(b"\0")[0]:
            found.append(int(entry.name))

    def is_ours(pid: int) -> bool:
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return [pid for pid in found if is_ours(pid)]


@needs_spark
@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(300)
class TestOnACluster:
    """One cluster for all of them; the one that kills comes last."""

    @pytest.mark.parametrize(
        "kernel",
        [CountMap(Grid.of_pixels(DESK), cap=2), NormalisedMap(Grid(8, 6, DESK)), OrderKernel()],
        ids=["pixels", "normalised", "order"],
    )
    def test_the_integers_are_those_of_one_machine(self, engine: SparkEngine, folder: Path, kernel: Kernel) -> None:
        corpus = Corpus.open(folder)
        told: list[tuple[float, float | None]] = []
        summed = engine.sum_over_observers(corpus, kernel, lambda done, total: told.append((done, total)))
        assert same(summed, naive_sum(corpus, kernel))
        assert same(summed, engine_at("local").sum_over_observers(corpus, kernel))
        assert summed.observers == 11
        assert len(executors()) == 2
        assert told[0][0] == 0
        assert told[-1][0] == told[-1][1]
        assert [done for done, _ in told] == sorted(done for done, _ in told)

    def test_a_selection_is_honoured(self, engine: SparkEngine, folder: Path) -> None:
        chosen = Corpus.open(folder).select(
            stimulus=["", "a b/ü=%.png"], observer=["person 1 é", "person 3 é"], session="two"
        )
        summed = engine.sum_over_observers(chosen, OrderKernel())
        assert summed.observers == 2
        assert same(summed, naive_sum(chosen, OrderKernel()))
        nobody = engine.sum_over_observers(chosen.select(observer="nobody"), OrderKernel())
        assert nobody.observers == 0
        assert not nobody.total.any()

    def test_recordings_in_memory_are_sent_along(self, engine: SparkEngine) -> None:
        corpus = Corpus.of(recordings())
        assert same(engine.sum_over_observers(corpus, OrderKernel()), naive_sum(corpus, OrderKernel()))

    def test_a_kernel_that_fails_gives_no_sum_and_says_what_it_said(self, engine: SparkEngine, folder: Path) -> None:
        with pytest.raises(EngineError, match="ValueError: this kernel never works"):
            engine.sum_over_observers(Corpus.open(folder), OrderKernel(fail=True))

    def test_a_damaged_part_gives_no_sum(self, engine: SparkEngine, folder: Path, tmp_path: Path) -> None:
        copy = tmp_path / "study"
        shutil.copytree(folder, copy)
        corpus = Corpus.open(copy)
        assert corpus.parts[0].path is not None
        corpus.parts[0].path.write_bytes(b"PAR1 and nothing else")
        with pytest.raises(EngineError, match="could not finish"):
            engine.sum_over_observers(corpus, OrderKernel())

    def test_a_corpus_that_is_replaced_while_it_is_read_gives_no_sum(
        self, engine: SparkEngine, folder: Path, tmp_path: Path
    ) -> None:
        copy = tmp_path / "study"
        shutil.copytree(folder, copy)
        corpus = Corpus.open(copy)

        def replace_a_part(done: float, total: float | None) -> None:
            path = corpus.parts[0].path
            assert path is not None
            if not done:
                other = path.with_suffix(".new")
                shutil.copyfile(path, other)  # the same rows: only the file is another one
                other.replace(path)

        with pytest.raises(InputError, match="changed while it was read"):
            engine.sum_over_observers(corpus, OrderKernel(), replace_a_part)

    def test_a_damaged_file_counts_as_absent_and_the_charge_is_made_once(
        self, engine: SparkEngine, folder: Path, tmp_path: Path
    ) -> None:
        copy, out, ledger = tmp_path / "study", tmp_path / "release", str(tmp_path / "ledger.sqlite")
        shutil.copytree(folder, copy)
        part = next((copy / "stimulus=forest.png").glob("*.parquet"))
        content = bytearray(part.read_bytes())
        middle = len(content) // 2  # the samples; whose they are stands before them
        content[middle : middle + 400] = bytes(400)
        part.write_bytes(content)
        assert self.release_charged(copy, out, ledger, engine) == 0
        assert (out / "release.json").is_file()

    def test_a_stage_that_fails_leaves_a_charge_and_no_file(
        self,
        engine: SparkEngine,
        folder: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        def fails(*_: object, **__: object) -> None:
            raise OSError("no space left on this worker")

        monkeypatch.setattr("gazeveil.engines.spark.split", fails)
        assert self.release_charged(folder, tmp_path / "release", str(tmp_path / "ledger.sqlite"), engine) != 0
        assert "the charge stands" in capsys.readouterr().err
        assert not list(tmp_path.glob("release*"))

    @staticmethod
    def release_charged(folder: Path, out: Path, ledger: str, engine: SparkEngine) -> int:
        assert run(["ledger", "init", "study", "--epsilon", "3", "--delta", "1e-4", "--ledger", ledger]) == 0
        charged = ["--ledger", ledger, "--account", "study", "--engine", engine.master]
        release = ["heatmap", str(folder), "--stimulus", "forest.png", "--epsilon", "1", "--out", str(out), *charged]
        code = run([*release, "--cell-deg", "4", "--anyway"])
        with Ledger.open(ledger) as book:
            assert [event.kind for event in book.history("study")] == ["budget-granted", "charged"]
        return code

    def test_another_master_in_the_same_process_is_refused(self, engine: SparkEngine, folder: Path) -> None:
        with pytest.raises(InputError, match="already uses Spark at local-cluster"):
            SparkEngine("local[2]").sum_over_observers(Corpus.open(folder), OrderKernel())

    def test_who_stops_waiting_leaves_the_cluster_usable(self, engine: SparkEngine, folder: Path) -> None:
        def give_up(done: float, total: float | None) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            engine.sum_over_observers(Corpus.open(folder), OrderKernel(wait_s=0.2), give_up)

    def test_a_killed_executor_does_not_change_the_answer(self, engine: SparkEngine, folder: Path) -> None:
        corpus = Corpus.open(folder)
        killed: list[int] = []

        def kill_one_after_the_first_stage(done: float, total: float | None) -> None:
            if done >= 2 and not killed:  # both have read; their rows are lost with one of them
                killed.append(executors()[0])
                os.kill(killed[0], signal.SIGKILL)

        summed = engine.sum_over_observers(corpus, OrderKernel(wait_s=0.3), kill_one_after_the_first_stage)
        assert killed
        assert killed[0] not in executors()
        assert same(summed, naive_sum(corpus, OrderKernel()))


def test_the_steps_of_the_workers_need_no_cluster(folder: Path) -> None:
    corpus, kernel = Corpus.open(folder), OrderKernel()
    columns = list(kernel.columns)
    pieces = [
        piece
        for number, part in reversed(list(enumerate(corpus.parts)))  # in whatever order a network brings them
        for piece in split([(number, part.samples.serialize())], columns, buckets=4)
    ]
    sums: dict[int, Block] = {}
    for bucket in range(4):
        for key, block in add_bucket((piece for piece in pieces if piece[0] == bucket), kernel):
            sums[key] = merge(sums[key], block) if key in sums else block
    expected = naive_sum(corpus, kernel)
    assert sums.pop(COUNT).tolist() == [expected.observers]
    assert np.array_equal(np.concatenate([sums[1], sums[2]]), expected.total)


def test_a_sum_that_does_not_fit_into_64_bits_is_an_error() -> None:
    with pytest.raises(InternalError, match="64 bits"):
        merge(np.array([2**62]), np.array([2**62]))


@pytest.mark.parametrize("edge", [127, 128, -128, -129, 2**15, -(2**31), 2**31, 2**63 - 1, 1 - 2**63])
def test_integers_travel_narrow_and_arrive_unchanged(edge: int) -> None:
    block = np.array([0, edge])
    assert np.array_equal(merge(narrowed(block), np.zeros(2, dtype=np.int8)), block)


def test_rows_without_an_observer_are_refused() -> None:
    plan = pl.LazyFrame({"observer": ["ann", None], "x": [1.0, 2.0]}).serialize()
    with pytest.raises(InputError, match="no observer"):
        list(split([(0, plan)], ["observer", "x"], buckets=2))


def test_an_empty_corpus_needs_no_cluster() -> None:
    summed = SparkEngine("local[2]").sum_over_observers(Corpus.of([]), OrderKernel())
    assert summed.observers == 0
    assert summed.total.shape == (OrderKernel().size,)


@pytest.mark.parametrize("master", ["local[*]", "local[2]", "local[2,4]", CLUSTER, "spark://a:7077,b:7077"])
def test_a_spark_master_is_found_by_its_address(master: str) -> None:
    assert engine_at(master) == SparkEngine(master)


@pytest.mark.parametrize(
    "master", ["", "local[0]", "local[x]", "spark://host", "yarn", "http://a:1", "local-cluster[2]"]
)
def test_what_is_no_master_is_refused(master: str) -> None:
    with pytest.raises(OptionError, match="no address of an engine"):
        SparkEngine(master)


def test_a_master_that_is_not_there_is_said_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setattr(spark, "_check_java", lambda: None)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, so that nobody else gets it, and not listening
        master = f"spark://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(EngineError, match="no Spark master answers"):
            SparkEngine(master).sum_over_observers(Corpus.of(recordings()[:1]), OrderKernel())


def test_without_java_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match="Spark runs on Java"):
        SparkEngine("local[2]").sum_over_observers(Corpus.of(recordings()[:1]), OrderKernel())


def test_without_pyspark_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtra, match=r"gazeveil\[spark\]"):
        SparkEngine("local[2]").sum_over_observers(Corpus.of(recordings()[:1]), OrderKernel())


def test_two_planes_a_foreign_plane_and_unknown_columns_are_refused() -> None:
    other = gazeveil.screen(800, 600)
    point = np.ones(1)
    elsewhere = Recording(point, point, point, other, observer="ann", stimulus="s")
    here = Recording(point, point, point, DESK, observer="bob", stimulus="s")
    engine = SparkEngine("local[2]")
    with pytest.raises(GeometryError, match="2 viewing planes"):
        engine.sum_over_observers(Corpus.of([elsewhere, here]), OrderKernel())
    with pytest.raises(GeometryError, match="own geometry"):
        engine.sum_over_observers(Corpus.of([elsewhere]), CountMap(Grid.of_pixels(DESK)))
    with pytest.raises(InputError, match="no column mood"):
        engine.sum_over_observers(Corpus.of([here]), OrderKernel(columns=("mood",)))


def test_what_is_too_large_to_be_sent_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "LARGEST_PLAN", 100)
    with pytest.raises(InputError, match="too large to be sent"):
        SparkEngine("local[2]").sum_over_observers(Corpus.of(recordings()[:1]), OrderKernel())


def test_a_cluster_without_workers_is_given_up() -> None:
    class Idle:
        """Somebody who has accepted the job, and nothing happens."""

        def statusTracker(self) -> Idle:
            return self

        def getJobIdsForGroup(self, group: str) -> list[int]:
            return [7]

        def getJobInfo(self, job: int) -> None:
            return None

    job: Future[int] = Future()
    with pytest.raises(EngineError, match="no worker took a task"):
        _wait(Idle(), "group", job, 3, silent, patience_s=0.3)


def test_a_failure_is_told_without_the_stacks_around_it() -> None:
    text = (
        "Job aborted due to stage failure: Task 0 failed 4 times (worker executor 0):\n"
        "org.apache.PythonException: [PYTHON_EXCEPTION] thrown from the worker: Traceback (most recent call last):\n"
        '  File "worker.py", line 1, in main\n    process()\n'
        "gazeveil.errors.InternalError: the sum does not fit\n\n\tat org.apache.Something: no\n"
    )
    assert worker_message(Exception(text)) == "InternalError: the sum does not fit"
    assert worker_message(Exception("only this\nand that")) == "only this"
