# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every engine gives the same answers: sums, features, and recordings veiled with a seed."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, NoiseSource, Recording, screen, write_corpus
from gazeveil.aggregate.engine import ENGINES, Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import CountMap
from gazeveil.engines import spark
from gazeveil.engines.local import LocalEngine
from gazeveil.engines.spark import WAVE_BYTES, SparkEngine, answer, sendable, waves
from gazeveil.errors import EngineError, InputError
from gazeveil.features.bins import extract_bin_corpus
from gazeveil.features.extraction import extract_corpus
from gazeveil.gaze import corpus as corpus_writer
from gazeveil.gaze.corpus import OneByOne
from gazeveil.gaze.recording import Key
from gazeveil.samples.veiled_recordings import VeiledRecordings, VeilRecording
from tests.engines.test_spark import executors
from tests.releasing import released

DESK = screen(640, 480, width_mm=320, height_mm=240, distance_mm=600)
ADDRESSES = {"local": "local", "spark": "local-cluster[2,1,1024]"}
"""Where the engines of this machine are; an engine that is registered without an address here fails the tests."""


def recordings() -> list[Recording]:
    """Five people of different lengths; the shortest is too short for a feature window."""
    made = []
    for who in range(5):
        rng = np.random.default_rng(who)
        rows = 30 + 90 * who
        x = np.clip(320 + np.cumsum(rng.normal(0, 4, rows)), 0, 639)
        y = np.clip(240 + np.cumsum(rng.normal(0, 4, rows)), 0, 479)
        made += [
            Recording(np.arange(rows) / 60, x, y, DESK, f"person {who} é", stimulus, pupil=np.full(rows, 3.0))
            for stimulus in ("forest.png", "ü=%.png")
        ]
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus in many parts, where some recordings go on in the next part."""
    folder = tmp_path_factory.mktemp("corpus") / "study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_writer, "PART_ROWS", 100)
        with corpus_writer.writing_corpus(folder) as writer:
            for recording in recordings():
                whole = corpus_writer.chunk_of(recording)
                for rows in whole.samples.iter_slices(150):
                    writer.add(type(whole)(whole.key, rows, whole.geometry, rate_hz=60.0))
    return folder


@pytest.fixture(scope="module", params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = ENGINES[request.param](ADDRESSES[request.param])
    if not isinstance(made, SparkEngine):
        yield made
        return
    if shutil.which("java") is None:
        pytest.skip("Spark runs on Java")
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        spark.context_at(made.master)
        yield made
        made.close()


@dataclass(frozen=True, slots=True)
class Told:
    """Says what it got; fails, or waits on its way, if told to."""

    fail: bool = False
    wait_s: float = 0.0

    def __call__(self, recording: Recording) -> tuple[Key, int, float]:
        if self.fail:
            raise ValueError("this function never works")
        time.sleep(self.wait_s)
        return recording.key, len(recording), float(np.sum(recording.t * recording.x))


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(300)
class TestEveryEngine:
    """One engine for all of them; the one that kills comes last."""

    def test_a_sum_is_the_same(self, engine: Engine, folder: Path) -> None:
        corpus, kernel = Corpus.open(folder), CountMap(Grid(8, 6, DESK), cap=2)
        found, expected = (each.sum_over_observers(corpus, kernel) for each in (engine, LocalEngine(1, 7)))
        assert np.array_equal(found.total, expected.total)
        assert found.observers == 5

    def test_every_recording_comes_once_whole_and_in_order(self, engine: Engine, folder: Path) -> None:
        corpus = Corpus.open(folder)
        assert len(corpus.parts) > len(corpus.pieces()) > 2  # some recordings lie in several parts
        steps: list[tuple[float, float | None]] = []
        found = list(engine.map_recordings(corpus, Told(), lambda done, total: steps.append((done, total))))
        assert found == list(OneByOne().map_recordings(corpus, Told()))
        assert [key for key, _, _ in found] == [each.key for each in corpus.recordings()]
        assert sorted(rows for _, rows, _ in found) == sorted(len(each) for each in recordings())
        assert steps[0][0] == 0
        assert steps[-1][0] == steps[-1][1]

    def test_a_selection_and_recordings_in_memory_are_honoured(self, engine: Engine, folder: Path) -> None:
        chosen = Corpus.open(folder).select(observer=["person 2 é", "person 4 é"], stimulus="forest.png")
        assert len(list(engine.map_recordings(chosen, Told()))) == 2
        assert list(engine.map_recordings(chosen.select(observer="nobody"), Told())) == []
        memory = Corpus.of(recordings()[:3])
        assert list(engine.map_recordings(memory, Told())) == [Told()(each) for each in recordings()[:3]]

    @pytest.mark.parametrize("extracted", [partial(extract_corpus, window=1.0, step=0.5), extract_bin_corpus])
    def test_features_are_the_same(self, engine: Engine, folder: Path, extracted: partial[object]) -> None:
        corpus = Corpus.open(folder)
        found, expected = extracted(corpus, engine=engine), extracted(corpus)
        assert found.table.rows.equals(expected.table.rows)  # type: ignore[attr-defined]
        assert found.left_out == expected.left_out  # type: ignore[attr-defined]

    def test_recordings_veiled_with_a_seed_are_the_same(self, engine: Engine, folder: Path) -> None:
        how = VeiledRecordings(preset="lphu", edge="clamp")
        found = released(how, Corpus.open(folder), noise=NoiseSource.seeded(7), engine=engine).to_frame()
        expected = released(how, Corpus.open(folder), noise=NoiseSource.seeded(7), engine=LocalEngine(1)).to_frame()
        assert found.equals(expected)
        assert len(found) == sum(len(each) for each in recordings())

    def test_secure_noise_is_drawn_anew_for_every_recording(self, engine: Engine) -> None:
        still = np.full(200, 300.0)
        same = [Recording(np.arange(200) / 60, still, still, DESK, name, "a") for name in "abcd"]
        kernel = VeilRecording.with_noise(VeiledRecordings(preset="gaussian-low"), NoiseSource.secure())
        shown = [veiled.shown.samples["x"].to_numpy() for veiled in engine.map_recordings(Corpus.of(same), kernel)]
        noise = np.array(shown) - 300.0
        together = np.asarray(np.corrcoef(noise))[np.triu_indices(4, 1)]
        assert np.abs(together).max() < 0.45  # six pairs, each beyond 0.45 with a probability of 1e-10

    def test_a_function_that_fails_ends_the_work(self, engine: Engine, folder: Path) -> None:
        with pytest.raises((ValueError, EngineError), match="this function never works"):
            list(engine.map_recordings(Corpus.open(folder), Told(fail=True)))

    def test_a_corpus_that_is_replaced_while_it_is_read_is_an_error(
        self, engine: Engine, folder: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(folder, tmp_path / "study")
        corpus = Corpus.open(tmp_path / "study")

        def touch(done: float, total: float | None) -> None:
            path = corpus.parts[0].path
            if path is not None and not done:
                shutil.copyfile(path, path.with_suffix(".new"))
                path.with_suffix(".new").replace(path)

        with pytest.raises(InputError, match="changed while it was read"):
            list(engine.map_recordings(corpus, Told(), touch))

    def test_who_stops_asking_stops_the_work(self, engine: Engine, folder: Path) -> None:
        with closing(engine.map_recordings(Corpus.open(folder), Told())) as answers:  # type: ignore[type-var]
            next(answers)
        assert len(list(engine.map_recordings(Corpus.open(folder), Told()))) == 10

    def test_a_killed_executor_changes_nothing(self, engine: Engine, folder: Path, tmp_path: Path) -> None:
        if not isinstance(engine, SparkEngine):
            pytest.skip("it has no executors")
        corpus, killed = Corpus.open(folder), tmp_path / "killed"
        answers = engine.map_recordings(
            corpus, DiesOnce(str(killed), VeilRecording(VeiledRecordings(preset="lphu"), seed=3))
        )
        found = pl.concat([table for _, table in answers])
        expected = [VeilRecording(VeiledRecordings(preset="lphu"), seed=3)(each) for each in corpus.recordings()]
        assert killed.exists()
        assert found.equals(pl.concat([each.shown.samples for each in expected]))
        assert executors()


@dataclass(frozen=True, slots=True)
class DiesOnce:
    """Kills the executor it runs in after the first answer that anybody gives."""

    mark: str
    veil: VeilRecording

    def __call__(self, recording: Recording) -> tuple[Key, pl.DataFrame]:
        shown = self.veil(recording).shown
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(_executor_above(), signal.SIGKILL)
        return shown.key, shown.samples


def _executor_above() -> int:
    """Return the Java process that this Python worker belongs to."""
    pid = os.getpid()
    while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return pid


def test_the_step_of_the_workers_needs_no_cluster(folder: Path) -> None:
    corpus = Corpus.open(folder)
    sent = [[sendable(part) for part in piece.parts] for piece in corpus.pieces()]
    assert list(answer(sent, Told())) == [Told()(each) for each in corpus.recordings()]


def test_answers_are_taken_in_portions_that_fit() -> None:
    small, large = 1 << 10, WAVE_BYTES
    assert list(waves([], 2)) == []
    assert list(waves([small] * 5, 2)) == [slice(0, 5)]
    assert list(waves([large] * 5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]


@pytest.mark.parametrize("threads", [1, 3])
def test_no_more_recordings_are_in_work_than_threads(threads: int) -> None:
    answers = LocalEngine(threads).map_recordings(Corpus.of(recordings()), Told())
    assert [key for key, _, _ in answers] == [each.key for each in recordings()]


def test_pieces_hold_whole_recordings_however_they_are_scattered(tmp_path: Path) -> None:
    made = recordings()[:4]
    write_corpus(made, tmp_path / "study")
    first, second = Corpus.open(tmp_path / "study").parts
    again = Corpus((first, second, first))  # the recordings of the first part go on in the third
    assert [len(piece.parts) for piece in again.pieces()] == [3]
    assert [len(piece.parts) for piece in Corpus((first, second)).pieces()] == [1, 1]
    assert Corpus(()).pieces() == []
    nobody = Corpus((first, second)).select(observer="nobody")
    assert nobody.pieces() == []
