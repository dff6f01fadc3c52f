# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The same simulated people behind veils, in small files, for an EKYT that was trained on veiled gaze.

    python -m benchmarks.ekyt_veiled_people FOLDER

Gaze is at 125 Hz, as Wilson et al. veil it; every session has a tracker of its own. The first 400 people train; people
500 to 549 are never trained on. Recordings are new ones: no noise is shared with those of `ekyt_people`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.ekyt_people import MISSING, RATE_HZ, SEED, coded, compressed, expanded

VEILS: Final = ("gaussian-high", "smoothing-high", "spatial-high", "mpmu")
PEOPLE: Final = (*range(400), *range(500, 550))
TRAINING: Final = 400
SESSIONS: Final = 4
_SAMPLES: Final = round(60 * RATE_HZ)


def write(folder: Path) -> None:
    """Simulate everybody, veil them, and write one file a veil."""
    from gazeveil.geometry import headset
    from gazeveil.lab.attacks.ekyt.training_gaze import SCENES, varied_tracker
    from gazeveil.lab.attacks.ekyt.windows import velocities
    from gazeveil.noise import NoiseSource
    from gazeveil.samples.recipes import preset
    from gazeveil.samples.space import Sphere
    from gazeveil.simulate.eye_movements import look
    from gazeveil.simulate.population import Population, Purpose, generator
    from gazeveil.simulate.stimuli import scene

    plane = headset(60, 45)
    scenes = [scene(SEED, index) for index in range(SCENES)]
    mechanisms = {name: preset(name, Sphere()) for name in VEILS}
    codes = {name: np.full((len(PEOPLE), SESSIONS, 2, _SAMPLES), MISSING, dtype=np.int8) for name in VEILS}
    for place, index in enumerate(PEOPLE):
        observer = Population(SEED).observer(index)
        for session in range(SESSIONS):
            rng = generator(SEED, Purpose.RECORDING, "ekyt, veiled", index, session)
            today = observer.on_day(session + 1)
            tracker = replace(varied_tracker(rng), rate_hz=RATE_HZ)
            calibration = tracker.calibrate(today, rng)
            for part in range(2):
                true = look(today, scenes[int(rng.integers(SCENES))], plane, 30.0, rng)
                t = tracker.clock(30.0, rng)
                x, y, tracked, _ = tracker.observe(true, today, calibration, t, plane, rng)
                x[~tracked] = y[~tracked] = np.nan
                for name, mechanism in mechanisms.items():
                    noise = NoiseSource.seeded(SEED).spawn(f"{name}/{index}/{session}/{part}")
                    veiled = mechanism.start(noise).run(t, x, y)
                    some = coded(velocities(t, *veiled, RATE_HZ, RATE_HZ))[:, : _SAMPLES // 2]
                    begin = part * _SAMPLES // 2
                    codes[name][place, session, :, begin : begin + some.shape[1]] = some
        if place % 50 == 0:
            print(place, flush=True)
    for name, some in codes.items():
        (folder / f"{name}.xz").write_bytes(compressed(some))


def read(folder: Path, name: str) -> Any:
    """Return velocities in deg/s behind a veil: people x sessions x (horizontal, vertical) x samples."""
    return expanded((folder / f"{name}.xz").read_bytes()).reshape(len(PEOPLE), SESSIONS, 2, _SAMPLES)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
