# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One small study with other libraries: 200 people x 300 samples on 32 x 24 cells at ε = 1.

The like-for-like job is counts per cell with pure ε for a person. diffprivlib protects one row of a table, that is one
sample; for a person with T samples it has to be given ε/T. Tumult Analytics protects a person who has at most T rows,
and so do we. Both peers protect a person who is there or not. So does our heatmap here; our counts protect a person who
is replaced by another, which takes twice the noise. How good the maps are is told as the correlation with everybody's
map without noise. Counts below 0 are drawn as 0, and all maps are blurred alike.
"""

from __future__ import annotations

import math
import shutil
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, busy, seconds
from benchmarks.peers.environment import AbsentError, python_with, run_script, versions
from gazeveil import Corpus, Recording, screen, write_corpus
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.maps import CountMap
from gazeveil.engines import engine_at
from gazeveil.release.study import Study

PEOPLE, SAMPLES, EPSILON, DELTA = 200, 300, 1.0, 1e-5
WIDTH, HEIGHT = 1280, 960
PLANE = screen(WIDTH, HEIGHT, 1200 * math.tan(math.radians(16)), 1200 * math.tan(math.radians(12)), 600)
GRID = Grid.of_degrees(PLANE)
BLUR = 1.1
ROUNDS = 11

Maps = NDArray[np.float64]


def run() -> list[Row]:
    others = busy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recordings = study()
        write_corpus(recordings, folder / "study")
        corpus = Corpus.open(folder / "study")
        truth = engine_at().sum_over_observers(corpus, CountMap(GRID)).total.reshape(GRID.shape).astype(np.float64)
        counted, heatmaps = timed(partial(count_release, corpus)), timed(partial(heatmap_release, corpus))
        ours = f"ours CC {agreement(heatmaps[1], truth)}, add/remove, δ = {DELTA:g}"
        plain = f"ours CC {agreement(drawn(counted[1]), truth)}, replace-one"
        rows: list[Row] = []
        for title, peer, target in (("diffprivlib", diffprivlib, 1.0), ("Tumult", tumult, 10.0)):
            try:
                told, theirs, words = peer(recordings, folder, truth)
            except AbsentError as absent:
                print(f"({title} left out: {absent})")
                continue
            rows += [
                Row(
                    "counts, 32x24, pure ε for a person",
                    told,
                    counted[0],
                    theirs,
                    target,
                    note=f"{plain}; {words}{others}",
                ),
                Row(
                    "private heatmap, decoded",
                    told,
                    heatmaps[0],
                    theirs,
                    0.0,
                    note=f"{ours}; {words}; note only{others}",
                ),
            ]
        return rows


def study(seed: int = 3) -> list[Recording]:
    """Return people who look at twelve of twenty places, some liked better, 25 samples each."""
    rng = np.random.default_rng(seed)
    places = rng.normal((WIDTH / 2, HEIGHT / 2), (WIDTH / 5, HEIGHT / 5), (20, 2))
    liked = rng.dirichlet(np.full(20, 0.7))
    recordings = []
    for who in range(PEOPLE):
        fixations = places[rng.choice(20, SAMPLES // 25, p=liked)] + rng.normal(0, 25, (SAMPLES // 25, 2))
        gaze = np.clip(fixations.repeat(25, axis=0) + rng.normal(0, 8, (SAMPLES, 2)), 0, (WIDTH - 1, HEIGHT - 1))
        recordings.append(Recording(np.arange(SAMPLES) / 60, gaze[:, 0], gaze[:, 1], PLANE, f"p{who}", "scene"))
    return recordings


def count_release(corpus: Corpus) -> Maps:
    """Count each person's first 300 samples per cell, pure ε for a person: what the peers do."""
    mechanism = LiuMap(epsilon=1, noise="laplace", cap=SAMPLES, samples=SAMPLES, columns=GRID.columns, rows=GRID.rows)
    return np.asarray(Study.observed_in(corpus, number=PEOPLE).plan(mechanism).release(corpus).value.map)


def heatmap_release(corpus: Corpus) -> Maps:
    """Release through the front door."""
    study = Study.observed_in(corpus, number=PEOPLE, secret=True)
    plan = study.plan(PrivateHeatmap(epsilon=EPSILON, delta=DELTA, blur_deg=BLUR))
    return np.asarray(plan.release(corpus).value.map)


def timed(job: Callable[[], Maps]) -> tuple[float, Maps]:
    """Return the median seconds, once warm, and all maps."""
    job()
    maps: list[Maps] = []
    return statistics.median(seconds(lambda: maps.append(job())) for _ in range(ROUNDS)), np.array(maps)


def diffprivlib(recordings: list[Recording], folder: Path, truth: Maps) -> tuple[str, float, str]:
    python = python_with("diffprivlib", "diffprivlib==0.6.6", "scikit-learn==1.7.2")
    found = by_peer(python, "diffprivlib_histogram.py", recordings, folder)
    words = (
        f"peer CC {agreement(drawn(found['person']), truth)} with a person protected (ε/300 a row), "
        f"{agreement(drawn(found['sample']), truth)} with one sample protected (ε a row, as it comes)"
    )
    name = f"histogram2d of {versions(python, 'diffprivlib', 'scikit-learn')}"
    return name, float(np.median(found["person_s"])), words


def tumult(recordings: list[Recording], folder: Path, truth: Maps) -> tuple[str, float, str]:
    if shutil.which("java") is None:
        raise AbsentError("it needs Java")
    python = python_with("tumult", "tmlt.analytics==0.21.0")
    found = by_peer(python, "tumult_histogram.py", recordings, folder, repeats=3)
    quality = agreement(drawn(found["person"]), truth)
    words = f"peer CC {quality} with a person protected (at most 300 rows); its Spark is up"
    name = f"group-by count of {versions(python, 'tmlt.analytics', 'pyspark')}"
    return name, float(np.median(found["person_s"])), words


def by_peer(
    python: Path, script: str, recordings: list[Recording], folder: Path, repeats: int = ROUNDS
) -> dict[str, NDArray[np.float64]]:
    """Run a peer's script on the study."""
    x, y = (np.concatenate([getattr(recording, name) for recording in recordings]) for name in ("x", "y"))
    source, target = folder / "gaze.npz", folder / "released.npz"
    np.savez(
        source,
        x=x,
        y=y,
        cell=GRID.cells(x, y),
        observer=np.repeat(np.arange(PEOPLE), SAMPLES),
        shape=GRID.shape,
        plane=(WIDTH, HEIGHT),
        samples=SAMPLES,
        repeats=repeats,
    )
    run_script(python, script, str(source), str(target))
    with np.load(target) as found:
        return dict(found)


def drawn(counts: Maps) -> Maps:
    return render(np.maximum(counts, 0), BLUR)


def agreement(blurred: Maps, truth: Maps) -> str:
    """Return the mean correlation of blurred maps with the blurred map without noise."""
    everybody = render(truth, BLUR).ravel()
    return f"{np.mean([np.corrcoef(map_.ravel(), everybody)[0, 1] for map_ in blurred]):.2f}"
