# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""I-VT and I-DT against pymovements on a million samples at 1000 Hz, with the same samples and the same thresholds.

pymovements counts samples, we measure time: its shortest fixation is 100 samples (99 ms) for I-DT and 100 ms for
I-VT, ours 100 ms for both; its I-DT also counts the sample that breaks a fixation as part of it. So the fixations are
compared by what samples they cover, not one by one.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.harness import Row, race, seconds
from gazeveil import Recording, headset
from gazeveil.gaze.events import DispersionThreshold, VelocityThreshold, samples_within, velocity
from gazeveil.lab.utility.label_agreement import agreement

SAMPLES = 1_000_000
RATE = 1000.0


def gaze(samples: int, seed: int = 1) -> Recording:
    """Fixations of 150 to 450 ms, saccades of up to 15 degrees on the main sequence, and noise of 0.02 degrees."""
    rng = np.random.default_rng(seed)
    position = np.zeros((samples, 2))
    here, at = np.zeros(2), 0
    while at < samples:
        hold = int(rng.integers(150, 450))
        position[at : at + hold] = here
        at += hold
        target = np.clip(here + rng.normal(0, 5, 2), -12, 12)
        lasts = int(21 + 2.2 * np.hypot(*(target - here)))  # ms
        phase = np.linspace(0, 1, lasts)[: max(0, samples - at), None]
        position[at : at + lasts] = here + (target - here) * (phase**3 * (10 - 15 * phase + 6 * phase**2))
        at += lasts
        here = target
    position += rng.normal(0, 0.02, position.shape)
    return Recording(np.arange(samples) / RATE, position[:, 0], position[:, 1], headset(), "simulated")


def run() -> list[Row]:
    import pymovements as pm
    from pymovements.transforms.numpy import pos2vel

    recording = gaze(SAMPLES)
    peer = f"pymovements {version('pymovements')}"
    positions = np.column_stack([recording.x, recording.y])
    across, down = velocity(recording)
    velocities = np.column_stack([across, down])  # as pymovements wants them
    milliseconds = np.arange(SAMPLES)
    ivt, idt = VelocityThreshold(), DispersionThreshold()

    rows = []
    times = race(
        lambda: ivt.detect_in_velocities(recording.t, across, down),
        lambda: pm.events.ivt(velocities, timesteps=milliseconds, minimum_duration=100, velocity_threshold=20.0),
        rounds=25,
    )
    theirs = pm.events.ivt(velocities, timesteps=milliseconds, minimum_duration=100, velocity_threshold=20.0)
    note = alike(recording, ivt.detect_in_velocities(recording.t, across, down), theirs)
    rows.append(Row("I-VT from velocities", peer, *times, 10, SAMPLES, "samples", note))

    def theirs_from_positions() -> Any:
        moved = pos2vel(positions, RATE, "savitzky_golay", window_length=21, polyorder=2)
        return pm.events.ivt(moved, timesteps=milliseconds, minimum_duration=100, velocity_threshold=20.0)

    times = race(lambda: ivt.detect(recording), theirs_from_positions)
    live, stream = recording.take(np.arange(20_000)), ivt.start()
    took = seconds(lambda: [stream.push(*sample) for sample in zip(live.t, live.x, live.y, strict=True)])
    note = alike(recording, ivt.detect(recording), theirs_from_positions())
    note += f"; live {took / len(live) * 1e6:.0f} µs a sample"
    rows.append(Row("I-VT from positions", peer, *times, 2, SAMPLES, "samples", note))

    found: dict[str, Any] = {}

    def theirs_by_dispersion() -> None:
        found["idt"] = pm.events.idt(positions, timesteps=milliseconds, minimum_duration=100, dispersion_threshold=1.0)

    times = race(lambda: idt.detect(recording), theirs_by_dispersion, peer_rounds=1)
    note = alike(recording, idt.detect(recording), found["idt"])
    rows.append(Row("I-DT", peer, *times, 20, SAMPLES, "samples", note))
    return rows


def alike(recording: Recording, ours: pl.DataFrame, theirs: Any) -> str:
    """Say how many fixations both found, and how far they cover the same samples."""
    frame = theirs.frame
    table = pl.DataFrame(
        {"kind": "fixation", "onset": frame["onset"].to_numpy() / RATE, "offset": frame["offset"].to_numpy() / RATE}
    )
    masks: list[NDArray[np.bool_]] = [samples_within(recording.t, events, "fixation") for events in (ours, table)]
    same = agreement(*masks)
    mine = ours.filter(pl.col("kind") == "fixation")
    identical = len(
        mine.select((pl.col("onset", "offset") * RATE).round().cast(pl.Int64)).join(
            frame.select(pl.col("onset", "offset").cast(pl.Int64)), on=["onset", "offset"]
        )
    )
    return f"{len(mine)} and {len(frame)} fixations, {identical} identical; F1 of samples {same.f1:.5f}"
