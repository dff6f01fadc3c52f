# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What gaze files hold, counted chunk by chunk in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from gazeveil.gaze import schema
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key, measured_rate


@dataclass(slots=True)
class Overview:
    """Counts over recordings; all numbers are of the raw data, so an overview is as private as the data."""

    spans: dict[Key, tuple[float, float]] = field(default_factory=dict)
    samples: int = 0
    tracked_samples: int = 0
    channels: dict[str, None] = field(default_factory=dict)
    geometries: dict[str, None] = field(default_factory=dict)
    rates: dict[Key, float] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    fixations: int = 0
    lasted: list[float] = field(default_factory=list)

    @staticmethod
    def of(chunks: Iterable[Chunk]) -> Overview:
        """Count what the chunks hold."""
        overview = Overview()
        for chunk in chunks:
            overview.add(chunk)
        return overview

    def add(self, chunk: Chunk) -> None:
        """Count one chunk more."""
        self.samples += len(chunk.samples)
        self.tracked_samples += int(chunk.samples["valid"].sum() or 0)
        self.channels |= dict.fromkeys(name for name in chunk.samples.columns if name not in {"t", "valid"})
        self.geometries[str(chunk.geometry)] = None
        if len(chunk.events):
            counts = chunk.events["kind"].value_counts(sort=True)
            self.events.update(dict(counts.iter_rows()))
        times = chunk.samples["t"].cast(pl.Float64).to_numpy()
        ends = times
        if schema.DURATION in chunk.samples.columns:
            durations = chunk.samples[schema.DURATION].cast(pl.Float64).to_numpy()
            self.fixations += len(durations)
            self.lasted += durations[np.isfinite(durations)].tolist()
            ends = times + np.nan_to_num(durations, nan=0.0, posinf=0.0, neginf=0.0)
        times, ends = times[np.isfinite(times)], ends[np.isfinite(ends)]
        if not times.size:
            self.spans.setdefault(chunk.key, (np.nan, np.nan))
            return
        first, last = self.spans.get(chunk.key, (np.inf, -np.inf))
        self.spans[chunk.key] = (float(np.fmin(first, times.min())), float(np.fmax(last, ends.max())))
        if chunk.key not in self.rates and schema.DURATION not in chunk.samples.columns:
            rate = chunk.rate_hz or measured_rate(times)
            if np.isfinite(rate):
                self.rates[chunk.key] = rate

    @property
    def seconds(self) -> float:
        """Gaze time over all recordings."""
        return float(sum(last - first for first, last in self.spans.values() if last >= first))

    def to_dict(self) -> dict[str, object]:
        """Return the counts as plain values."""
        return {
            "recordings": len(self.spans),
            "observers": sorted({key.observer for key in self.spans}),
            "stimuli": sorted({key.stimulus for key in self.spans}),
            "sessions": sorted({key.session for key in self.spans}),
            "samples": self.samples,
            "seconds": self.seconds,
            "rates_hz": sorted({float(f"{rate:.4g}") for rate in self.rates.values()}),
            "tracked": self.tracked_samples / self.samples if self.samples else None,
            "channels": list(self.channels),
            "geometries": list(self.geometries),
            "events": dict(self.events),
            "fixations": self.fixations,
            "fixation_ms": self._fixation_ms(),
        }

    def _fixation_ms(self) -> dict[str, float] | None:
        """Return how long the fixations of lists lasted; None if no list says it."""
        if not self.lasted:
            return None
        low, middle, high = np.quantile(self.lasted, (0.05, 0.5, 0.95)) * 1000
        return {"median": float(middle), "low": float(low), "high": float(high), "total_s": float(sum(self.lasted))}
