# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The 52 features against a plain windowed pandas loop, on the same recording, with the same result.

The peer is given the events for free: it only selects each window's samples and events with masks and computes the
features. Ours does everything from raw gaze: degrees, events, windows, table. The peer runs on a part of the windows,
evenly spread, and its time is scaled up; the two results are compared on that part.
"""

from __future__ import annotations

import time
from collections import Counter
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.harness import Row, race
from gazeveil import Recording
from gazeveil.arrays import FloatArray
from gazeveil.features.bins import extract_bins
from gazeveil.features.extraction import EventRules, EyeEvents, extract, find_events, letters
from gazeveil.simulate.readers import DOCUMENTS, GLASSES, ReadingStudy, read
from gazeveil.simulate.tracker import TRACKERS

PEER_WINDOWS = 120
WINDOW, RATE_FLOOR = 30.0, 1_000_000.0


class PandasLoop:
    """One window after the other, as one would write it in a notebook."""

    def __init__(self, recording: Recording, events: EyeEvents) -> None:
        import pandas as pd

        self.samples = pd.DataFrame({"t": events.t, "error": events.errors, "repeat": events.repeats})
        self.rate = recording.rate
        names = ["onset", "offset", "x", "y", "var_x", "var_y", "pupil_mean", "pupil_var"]
        self.fixations = pd.DataFrame(events.fixations.T, columns=names)
        self.fixations["duration"] = self.fixations["offset"] - self.fixations["onset"]
        self.saccades = pd.DataFrame(events.saccades.T, columns=["onset", "across", "down", "amplitude", "peak"])
        self.saccades["large"] = self.saccades["amplitude"] >= 2.0
        self.saccades["right"] = self.saccades["across"] > 0
        self.saccades["letter"] = letters(
            self.saccades["across"].to_numpy(), self.saccades["down"].to_numpy(), self.saccades["large"].to_numpy()
        )
        self.blinks = pd.DataFrame(events.blinks.T, columns=["onset", "duration"])

    def window(self, start: float) -> list[float]:
        """Return the features of one window."""
        stop = start + WINDOW

        def inside(frame: Any, column: str = "onset") -> Any:
            return frame[(frame[column] >= start) & (frame[column] < stop)]

        samples, fixations = inside(self.samples, "t"), inside(self.fixations)
        saccades, blinks = inside(self.saccades), inside(self.blinks)
        covered = len(samples) / (self.rate * WINDOW)
        usable = 0.9 <= covered <= 1.1 and len(samples) >= 5
        usable = usable and samples["error"].mean() < 0.5 and samples["repeat"].mean() <= 0.66
        if not usable:
            return [np.nan] * 52
        n, rests = len(saccades), len(fixations)
        large, right = saccades["large"].sum(), saccades["right"].sum()
        parts = [n - large, large, right, n - right]
        row = [rests / WINDOW, n / WINDOW, *(part / WINDOW for part in parts)]
        row += [n / rests if rests else np.nan, *(part / n if n else np.nan for part in parts)]
        row += saccades["amplitude"].agg(["mean", lambda v: v.var(ddof=0), "max"]).tolist()
        row += fixations["duration"].agg(["mean", lambda v: v.var(ddof=0), "max"]).tolist()
        row += [*fixations[["var_x", "var_y"]].mean(), *fixations[["var_x", "var_y"]].var(ddof=0)]
        for column in ("pupil_mean", "pupil_var"):
            row += [fixations[column].mean(), fixations[column].var(ddof=0)]
        row += [blinks["duration"].mean(), blinks["duration"].var(ddof=0), len(blinks) / WINDOW]
        spelled = saccades["letter"].tolist()
        for length in range(1, 5):
            counts = Counter(tuple(spelled[i : i + length]) for i in range(len(spelled) - length + 1))
            times, bins = np.array(list(counts.values()), dtype=float), 24**length
            most, mean = times.max(initial=0), times.sum() / bins
            least = times.min() if len(times) == bins else 0.0
            row += [len(times), most, least, most - least, mean, (times**2).sum() / bins - mean**2]
        return [float(value) for value in row]

    def run(self, starts: FloatArray) -> FloatArray:
        """Return the features of all windows."""
        return np.array([self.window(float(start)) for start in starts])


def against_pandas(name: str, recording: Recording) -> Row:
    """Race both on one recording."""
    table = extract(recording)
    starts = table.rows["start"].to_numpy()
    chosen = np.linspace(0, len(starts) - 1, min(PEER_WINDOWS, len(starts))).astype(int)
    peer = PandasLoop(recording, find_events(recording, EventRules.in_degrees()))
    np.testing.assert_allclose(peer.run(starts[chosen]), table.values[chosen], rtol=1e-7, atol=1e-9)
    ours_s, part_s = race(lambda: extract(recording), lambda: peer.run(starts[chosen]), rounds=5, peer_rounds=3)
    peer_s = part_s * len(starts) / len(chosen)
    note = f"{len(starts):,} windows; the peer's time is scaled up from {len(chosen)} of them, on which the values"
    note += " are equal"
    return Row(name, f"pandas {version('pandas')} loop", ours_s, peer_s, 20, len(recording), "samples", note)


def floor(name: str, recording: Recording, job: Any) -> Row:
    """Compare with a million samples a second of one core, the rate asked for, in processor time over all threads."""
    job(recording)
    times = []
    for _ in range(5):
        start = time.process_time()
        job(recording)
        times.append(time.process_time() - start)
    ours = float(np.median(times))
    note = f"{recording.duration / 3600:.2f} h at {recording.rate:g} Hz in {ours:.2f} s of one core"
    return Row(name, "1 M samples/s", ours, len(recording) / RATE_FLOOR, 1, len(recording), "samples", note)


def run() -> list[Row]:
    reader = ReadingStudy(1).readers()[0]
    slow = read(reader, DOCUMENTS[2], GLASSES, 3600)
    fast = read(reader, DOCUMENTS[2], TRACKERS["eyelink"], 3600)
    return [
        against_pandas("52 features, 30 Hz", slow),
        against_pandas("52 features, 1000 Hz", fast),
        floor("52 features, an hour at 1000 Hz", fast, extract),
        floor("52 features, an hour at 30 Hz", slow, extract),
        floor("bins, an hour at 1000 Hz", fast, extract_bins),
    ]
