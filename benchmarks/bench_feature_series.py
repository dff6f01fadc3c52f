# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How fast own feature series are noised, beside the rate asked for and numpy's transform there and back alone."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.harness import Row, race
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
from gazeveil.noise import NoiseSource

PEOPLE, STEPS, FEATURES = 40, 1141, 48
RATE_FLOOR = 10e6
MECHANISMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("lpa", {}),
    ("fpa", {}),
    ("fpa", {"delta": 1e-5}),
    ("c-fpa", {"chunk": 64}),
    ("dc-fpa", {"chunk": 32}),
)


def floor(title: str, mechanism: SeriesMechanism, values: np.ndarray) -> Row:
    """Compare with ten million values a second of one core, in processor time."""
    source = NoiseSource.secure()
    mechanism.perturb(values[:1], source)
    times = []
    for _ in range(7):
        start = time.process_time()
        mechanism.perturb(values, source)
        times.append(time.process_time() - start)
    ours = float(np.median(times))
    return Row(
        f"noise on own series, {title}", "10 M values/s", ours, values.size / RATE_FLOOR, 1, values.size, "values"
    )


def run() -> list[Row]:
    values = np.random.default_rng(1).random((PEOPLE, STEPS, FEATURES))
    rows = []
    for name, options in MECHANISMS:
        mechanism = SERIES_MECHANISMS[name](epsilon=1, steps=STEPS, features=FEATURES, **options)
        rows.append(floor(f"{name}{', Gaussian' if options.get('delta') else ''}", mechanism, values))
    fpa, source = SERIES_MECHANISMS["fpa"](epsilon=1, steps=STEPS, features=FEATURES), NoiseSource.secure()
    ours, bare = race(
        lambda: fpa.perturb(values, source),
        lambda: np.fft.irfft(np.fft.rfft(values, axis=1), n=STEPS, axis=1),
    )
    note = "checks, clipping, exact noise and the transform, against the transform alone; told, not aimed at"
    rows.append(
        Row("fpa, beside its transform", "numpy.fft there and back", ours, bare, 0.25, values.size, "values", note)
    )
    return rows
