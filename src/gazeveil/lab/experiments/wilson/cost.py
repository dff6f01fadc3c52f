# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Table 5 of Wilson et al. 2024: what a mechanism costs in time and memory.

The paper measures frames per second and the memory of a whole application in a headset, where a mechanism does not
show. Here a mechanism is measured by itself: the time of a step, live, one call after another, and the memory that one
more stream takes after it has run for a while. That shows what share of a frame it is. Times are of this machine.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any, Final

from gazeveil.arrays import Tell, silent
from gazeveil.geometry import Geometry, headset
from gazeveil.lab.experiments.identity_data import simulated_people
from gazeveil.lab.experiments.wilson._paper import FRAME_S, TABLE_5
from gazeveil.lab.experiments.wilson._veils import VEILS, veil
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism

STEPS: Final = 20_000
STREAMS: Final = 200
_WARM_UP = 500
_KEPT = 720
"""Samples that each stream has seen when memory is measured: ten seconds, more than any buffer holds."""


def table_5(
    *, veils: Sequence[str] = tuple(VEILS), steps: int = STEPS, streams: int = STREAMS, tell: Tell = silent
) -> dict[str, Any]:
    """Measure the time of a step and the memory of a stream for each mechanism.

    Args:
        veils: Which.
        steps: How many samples are timed.
        streams: How many streams share the memory that is measured.
        tell: Called with how many mechanisms are done.
    """
    samples = _samples(max(steps + _WARM_UP, _KEPT))
    rows = []
    for done, name in enumerate(veils, start=1):
        mechanism = veil(name, _PLANE)
        cost = {"step_us": 0.0, "step_us_p99": 0.0, "memory_kb": 0.0} if mechanism is None else {
            **_time(mechanism, samples, steps), "memory_kb": _memory(mechanism, samples, streams) / 1000
        }  # fmt: skip
        memory, frames = TABLE_5.get(name, (None, None))
        rows.append(
            {
                "veil": name,
                "mechanism": "" if mechanism is None else mechanism.in_words(),
                **cost,
                "share_of_frame": cost["step_us"] * 1e-6 / FRAME_S,
                "paper_memory_mb": memory,
                "paper_fps": frames,
            }
        )
        tell(done, len(veils))
    return {"paper": "Wilson et al. 2024", "table": 5, "steps": steps, "streams": streams, "rows": rows}


_PLANE: Final[Geometry] = headset(50, 50)


def _samples(count: int) -> list[tuple[float, float, float]]:
    trial = simulated_people(1, 1, count / 72).trials[0]
    return list(zip(trial.t[:count].tolist(), trial.x[:count].tolist(), trial.y[:count].tolist(), strict=True))


def _time(mechanism: SampleMechanism, samples: Sequence[tuple[float, float, float]], steps: int) -> dict[str, float]:
    step, clock = mechanism.start(NoiseSource.secure()).step, time.perf_counter
    took = []
    for t, x, y in samples[: steps + _WARM_UP]:
        start = clock()
        step(t, x, y)
        took.append(clock() - start)
    took = took[_WARM_UP:] or took
    ordered = sorted(took)
    return {
        "step_us": 1e6 * statistics.median(ordered),
        "step_us_p99": 1e6 * ordered[int(0.99 * (len(ordered) - 1))],
    }


def _memory(mechanism: SampleMechanism, samples: Sequence[tuple[float, float, float]], streams: int) -> float:
    """Return the bytes of one stream: what many of them take together, divided."""
    shown = samples[:_KEPT]

    def one() -> Any:
        running = mechanism.start(NoiseSource.secure())
        for sample in shown:
            running.step(*sample)
        return running

    first = one()  # whatever is made once for all
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [one() for _ in range(streams)]
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    del kept, first
    return (after - before) / streams
