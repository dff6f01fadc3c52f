# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze maps of 50,000 observers on a Spark cluster of this machine, with the integers of the embedded engine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import gazeveil
from benchmarks.harness import Row, seconds
from gazeveil.aggregate.engine import Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import CountMap
from gazeveil.engines.local import LocalEngine
from gazeveil.engines.spark import SparkEngine
from gazeveil.errors import InternalError
from gazeveil.gaze.corpus import writing_corpus
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key

SCREEN = gazeveil.screen(1680, 1050)
OBSERVERS = 50_000
SAMPLES = 300
ROUNDS = 3
KERNEL = CountMap(Grid.of_pixels(SCREEN), cap=2)


def run() -> list[Row]:
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        print("(no Spark here: needs pyspark and Java)")
        return []
    with tempfile.TemporaryDirectory() as folder:
        _write_corpus(Path(folder) / "study")
        corpus = gazeveil.Corpus.open(Path(folder) / "study")
        one = _race(corpus, "local-cluster[1,1,2048]")
        two = _race(corpus, "local-cluster[2,1,2048]")
    note = (
        f"same integers; {OBSERVERS:,} observers x {SAMPLES}, 1680 x 1050 cells, {os.cpu_count()} cores; cluster is up"
    )
    work = OBSERVERS * SAMPLES
    return [
        Row("Spark, 1 worker", "embedded engine", *one, 0.1, work, "samples", note),
        Row("Spark, 2 workers", "embedded engine", *two, 0.1, work, "samples", note),
        Row("Spark, 2 workers", "Spark, 1 worker", two[0], one[0], 1.0, work, "samples", "both on the same cores"),
    ]


def _race(corpus: gazeveil.Corpus, master: str) -> tuple[float, float]:
    """Return the median seconds of Spark and of the embedded engine, turn by turn, once both are warm."""
    spark, local = SparkEngine(master), LocalEngine()
    try:
        _check_same(spark.sum_over_observers(corpus, KERNEL), local.sum_over_observers(corpus, KERNEL))
        turns = [
            (
                seconds(lambda: spark.sum_over_observers(corpus, KERNEL)),
                seconds(lambda: local.sum_over_observers(corpus, KERNEL)),
            )
            for _ in range(ROUNDS)
        ]
    finally:
        spark.close()
    ours, peers = zip(*turns, strict=True)
    return statistics.median(ours), statistics.median(peers)


def _check_same(one: Summed, other: Summed) -> None:
    if one.observers != other.observers or not np.array_equal(one.total, other.total) or not one.total.any():
        raise InternalError("the engines differ")


def _write_corpus(folder: Path) -> None:
    """Write everybody's gaze: a few places that all like, and wandering around them."""
    rng = np.random.default_rng(4)
    places = rng.uniform((200, 200), (1480, 850), (12, 2))
    with writing_corpus(folder) as writer:
        for who in range(OBSERVERS):
            seen = places[rng.integers(0, len(places), SAMPLES // 30).repeat(30)] + rng.normal(0, 60, (SAMPLES, 2))
            samples = pl.DataFrame(
                {
                    "t": np.arange(SAMPLES) / 60,
                    "x": seen[:, 0],
                    "y": seen[:, 1],
                    "valid": rng.random(SAMPLES) < 0.97,
                }
            )
            writer.add(Chunk(Key(f"P{who:05d}", "scene.png", "", ""), samples, SCREEN))
