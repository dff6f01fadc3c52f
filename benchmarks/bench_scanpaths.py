# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""MultiMatch against the package multimatch-gaze: 200 fixations, and the same numbers on random scanpaths.

The package has an environment of its own. It measures itself there, in the same minute.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, busy, seconds
from benchmarks.peers.environment import AbsentError, python_with, run_script, versions
from gazeveil.lab.utility.scanpaths import Scanpath, multimatch

SIZE = (1280.0, 720.0)
FIXATIONS, ROUNDS, COMPARED = 200, 7, 60


def run() -> list[Row]:
    rng = np.random.default_rng(11)
    lengths = [*rng.integers(3, 40, 2 * COMPARED).tolist(), *[FIXATIONS] * 2 * ROUNDS]
    paths = [scanpath(rng, length) for length in lengths]
    try:
        python = python_with("multimatch", "multimatch-gaze==0.1.3")
        with tempfile.TemporaryDirectory() as name:
            source, target = Path(name) / "paths.npz", Path(name) / "scores.npz"
            fixations = np.concatenate([np.column_stack([path.x, path.y, path.seconds]) for path in paths])
            np.savez(source, lengths=lengths, fixations=fixations, size=SIZE, timed=ROUNDS)
            run_script(python, "multimatch_scores.py", str(source), str(target))
            with np.load(target) as found:
                scores, peer = found["scores"], float(np.median(found["seconds"]))
    except AbsentError as absent:
        print(f"(multimatch-gaze left out: {absent})")
        return []
    pairs = list(zip(paths[::2], paths[1::2], strict=True))
    ours = np.array([multimatch(one, other, SIZE).to_array() for one, other in pairs])
    worst = float(np.abs(ours - scores).max())
    took = statistics.median(
        seconds(lambda one=one, other=other: multimatch(one, other, SIZE))  # type: ignore[misc]
        for one, other in pairs[-ROUNDS:] * 5
    )
    note = f"largest difference of {ours.size} scores {worst:.0e}{busy()}"
    return [
        Row(
            f"MultiMatch, {FIXATIONS} fixations each",
            versions(python, "multimatch-gaze", "scipy"),
            took,
            peer,
            50,
            note=note,
        )
    ]


def scanpath(rng: np.random.Generator, length: int) -> Scanpath:
    return Scanpath(rng.uniform(0, SIZE[0], length), rng.uniform(0, SIZE[1], length), rng.gamma(4, 0.065, length))
