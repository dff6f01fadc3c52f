# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""50,000 observers x 300 samples: sums over observers, and whole releases, read from Parquet with whole observers.

The peer is the least that anybody has to do: columns that are in memory already, no observers, no cap, no noise, one
``numpy.bincount``. So the ratio says what files, observers, bounds, exact noise and decoding cost on top; the aim is at
most three times that, a ratio of 1/3, in less than 2 GB. Rounds of both take turns, and the best of each counts.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.harness import Row, busy, race, seconds
from gazeveil import Corpus, screen
from gazeveil.aggregate.engine import Kernel
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.maps import CountMap, NormalisedMap
from gazeveil.engines import engine_at
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import MANIFEST
from gazeveil.gaze.schema import TableLabel
from gazeveil.release.study import Study

OBSERVERS = 50_000
SAMPLES = 300
FIXATIONS = 12
PART_OBSERVERS = 3_334  # about a million rows a file, as the corpus writer makes them
PLANE = screen(1680, 1050, 474, 296, 650)
PIXELS = Grid.of_pixels(PLANE)
MOST_MB = 2000
ROUNDS = 9
PEER = "numpy.bincount 1680x1050"


def run() -> list[Row]:
    others = busy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "study"
        write_study(folder)
        corpus = Corpus.open(folder)
        gaze = corpus.scan().select("x", "y", "valid").collect()
        x, y, valid = (gaze[column].to_numpy() for column in ("x", "y", "valid"))
        if not np.array_equal(sum_of(corpus, CountMap(PIXELS)), bincount(x, y, valid)):
            raise RuntimeError("without a cap, the engine and numpy must count alike")

        def against_bincount(title: str, job: Callable[[], object], note: str) -> Row:
            ours, peer = race(job, lambda: bincount(x, y, valid), rounds=ROUNDS, summary=min)
            return Row(title, PEER, ours, peer, 1 / 3, len(x), "samples", note + others)

        kernels: dict[str, Kernel] = {
            "sum, cap 1, 1680x1050": CountMap(PIXELS, 1),
            "sum, cap 10, 1680x1050": CountMap(PIXELS, 10),
            "sum, normalised maps, 32x24": NormalisedMap(Grid(32, 24, PLANE)),
        }
        read = f"from {size_mb(folder):.0f} MB of Parquet, peer from memory"
        rows = [
            against_bincount(title, lambda kernel=kernel: sum_of(corpus, kernel), read)  # type: ignore[misc]
            for title, kernel in kernels.items()
        ]
        for title, job in RELEASES.items():
            first, peak = in_fresh_process(folder, title)
            rows.append(against_bincount(f"whole release, {title}", lambda job=job: job(corpus), f"{read}; {peak}"))  # type: ignore[misc]
            note = f"{peak}; loading code and set-up from public numbers included; note only"
            rows.append(Row(f"the same, first in a process, {title}", PEER, first, rows[-1].peer_s, 0.0, note=note))
        return rows


def heatmap_release(corpus: Corpus, strategy: str = "auto") -> Any:
    """Release through the front door: people counted, sum, exact noise, decoding with error bars."""
    return Study.observed_in(corpus).plan(PrivateHeatmap(epsilon=1, delta=1e-6, strategy=strategy)).release(corpus)


def liu_release(corpus: Corpus) -> Any:
    """Release Liu's map, sound: the sum with cap 1, exact Gaussian noise in each of 1.76 million cells."""
    mechanism = LiuMap(epsilon=1, delta="1e-6", columns=PIXELS.columns, rows=PIXELS.rows)
    return Study.observed_in(corpus).plan(mechanism).release(corpus)


RELEASES: dict[str, Callable[[Corpus], Any]] = {
    "PrivateHeatmap": heatmap_release,
    "PrivateHeatmap, histogram": lambda corpus: heatmap_release(corpus, "histogram"),
    "Liu's Gaussian noise in 1680x1050 cells": liu_release,
}


def write_study(folder: Path, seed: int = 1) -> None:
    """Write people who fixate twelve places each, 25 samples long, as a corpus folder."""
    rng = np.random.default_rng(seed)
    there = folder / "stimulus=scene"
    there.mkdir(parents=True)
    metadata = TableLabel(PLANE, 60.0).to_metadata()
    for part, first in enumerate(range(0, OBSERVERS, PART_OBSERVERS)):
        people = np.arange(first, min(first + PART_OBSERVERS, OBSERVERS))
        shape = (len(people), FIXATIONS)
        each = SAMPLES // FIXATIONS
        x = rng.normal(840, 300, shape).repeat(each, axis=1).ravel()
        y = rng.normal(525, 180, shape).repeat(each, axis=1).ravel()
        table = pl.DataFrame(
            {
                "observer": np.repeat([f"p{person:05d}" for person in people], SAMPLES),
                "t": np.tile(np.arange(SAMPLES) / 60, len(people)),
                "x": x + rng.normal(0, 8, x.shape),
                "y": y + rng.normal(0, 8, y.shape),
                "valid": rng.random(x.shape) < 0.97,
            }
        ).select("observer", pl.lit("1").alias("session"), pl.lit("1").alias("trial"), pl.exclude("observer"))
        table.write_parquet(there / f"part-{part:05d}.parquet", metadata=metadata, compression="zstd")
    manifest = {"schema": schema.VERSION, "recordings": OBSERVERS, "samples": OBSERVERS * SAMPLES}
    (folder / MANIFEST).write_text(json.dumps(manifest))


def sum_of(corpus: Corpus, kernel: Kernel) -> NDArray[np.int64]:
    return engine_at("local").sum_over_observers(corpus, kernel).total


def bincount(x: NDArray[np.float64], y: NDArray[np.float64], valid: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count valid gaze per pixel, whoever's it is."""
    on_screen = valid & (x >= 0) & (x < 1680) & (y >= 0) & (y < 1050)
    cells = y[on_screen].astype(np.int64) * 1680 + x[on_screen].astype(np.int64)
    return np.bincount(cells, minlength=PIXELS.size)


def size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e6


def in_fresh_process(folder: Path, release: str) -> tuple[float, str]:
    """Return the seconds of a first release, and the most memory it took in words; an error above the limit."""
    command = [sys.executable, "-m", "benchmarks.bench_aggregate", str(folder), release]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if told["peak_mb"] > MOST_MB:
        raise RuntimeError(f"{release} took {told['peak_mb']:.0f} MB, more than the {MOST_MB} MB it may")
    return told["seconds"], f"peak {told['peak_mb']:.0f} MB"


def own_peak_mb() -> float:
    """Return the most memory this process held; getrusage would also count the parent it was forked from."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    first_s = seconds(lambda: RELEASES[sys.argv[2]](Corpus.open(sys.argv[1])))
    print(json.dumps({"seconds": first_s, "peak_mb": own_peak_mb()}))
