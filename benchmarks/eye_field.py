# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far `clock` is from gaze in the head's frame, by the field that its filter is told.

    python -m benchmarks.eye_field [DATA]

DATA holds vr_objects_jov2024; found here or above. Noise is seeded, so that the table comes out the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.datasets import VR_FOLDER, find_data, vr_sessions
from gazeveil.noise import NoiseSource
from gazeveil.samples.recipes import preset
from gazeveil.samples.space import EYE_FIELD, Sphere
from gazeveil.simulate import SimulatedStudy

FIELDS: Final = ((360.0, 180.0), EYE_FIELD, (100.0, 80.0), (60.0, 60.0), (50.0, 50.0))
PRESETS: Final = ("lphu", "mpmu", "hplu")
Path3 = tuple[FloatArray, FloatArray, FloatArray]


def main(data: Path | None) -> None:
    """Print a table for each kind of gaze: the mean visual angle between gaze and what is shown."""
    kinds = {"simulated people in a headset": _simulated()}
    if (folder := find_data(data)) is not None:
        sessions = vr_sessions(folder / VR_FOLDER)
        kinds["people in a headset (Schuetz et al. 2024)"] = [(one.t, one.yaw, one.pitch) for one in sessions]
    for name, paths in kinds.items():
        seen = np.concatenate([np.stack(path[1:]) for path in paths], axis=1)
        seen = seen[:, np.isfinite(seen).all(axis=0)]
        beyond = float(np.mean((np.abs(seen) > np.array(EYE_FIELD)[:, None] / 2).any(axis=0)))
        ahead = np.array([_off(path, (0 * path[1], 0 * path[2])) for path in paths])
        print(f"{name}: {len(paths)} paths, {beyond:.2%} of gaze beyond the field of the eyes")
        print("  " + _told("always straight ahead", ahead))
        for field in FIELDS:
            errors = [_errors(which, field, paths) for which in PRESETS]
            print(f"  {field[0]:g} x {field[1]:g}: " + ", ".join(map(_told, PRESETS, errors)))


def _errors(name: str, field: tuple[float, float], paths: list[Path3]) -> FloatArray:
    mechanism = preset(name, Sphere(*field))
    found = []
    for number, (t, yaw, pitch) in enumerate(paths):
        found.append(_off((t, yaw, pitch), mechanism.start(NoiseSource.seeded(number)).run(t, yaw, pitch)))
    return np.array(found)


def _off(path: Path3, shown: tuple[FloatArray, FloatArray]) -> float:
    """Return the mean visual angle from gaze, in degrees."""
    apart = np.linalg.norm(_direction(*shown) - _direction(*path[1:]), axis=0)
    return float(np.nanmean(np.degrees(2 * np.arcsin(np.minimum(apart / 2, 1)))))


def _told(name: str, errors: FloatArray) -> str:
    """Say the mean over paths, and a 95 % interval from resampling paths."""
    drawn = np.random.default_rng(1).choice(errors, (2000, len(errors))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{name} {errors.mean():.1f} ({low:.1f} to {high:.1f})"


def _direction(yaw: FloatArray, pitch: FloatArray) -> FloatArray:
    across, down = np.radians(yaw), np.radians(pitch)
    return np.stack((np.cos(down) * np.sin(across), np.sin(down), np.cos(down) * np.cos(across)))


def _simulated() -> list[Path3]:
    study = SimulatedStudy(observers=12, stimuli=1, sessions=1, tracker="headset", seconds=60)
    return [(one.t, one.x, one.y) for one in study.recordings()]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
