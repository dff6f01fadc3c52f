# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How fast people are simulated at 1000 Hz on one core; compilation is left out by a first run."""

from __future__ import annotations

import statistics

from benchmarks.harness import Row, seconds
from gazeveil.simulate import SimulatedStudy

_FLOOR_PER_S = 1_000_000.0
_NOTE = "after one warm-up run, so without compiling; whole recordings with pupil and true events, one thread"


def run() -> list[Row]:
    studies = {
        "simulate, 100 recordings of 10 s": SimulatedStudy(observers=5, stimuli=10, sessions=2, seconds=10, seed=7),
        "simulate, 4 recordings of 250 s": SimulatedStudy(observers=2, stimuli=2, sessions=1, seconds=250, seed=7),
        "simulate, 50 binocular recordings of 10 s": SimulatedStudy(
            observers=5, stimuli=5, sessions=2, seconds=10, seed=7, binocular=True
        ),
    }
    return [_row(name, study) for name, study in studies.items()]


def _row(name: str, study: SimulatedStudy) -> Row:
    samples = sum(len(recording) for recording in study.recordings())
    ours = statistics.median(seconds(lambda: _drain(study)) for _ in range(5))
    return Row(
        name, "1 M samples/s floor", ours, samples / _FLOOR_PER_S, target=1.0, work=samples, unit="samples", note=_NOTE
    )


def _drain(study: SimulatedStudy) -> None:
    for _ in study.recordings():
        pass
