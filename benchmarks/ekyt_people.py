# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated people in a small file, to train on a machine that has numpy and torch alone.

    python -m benchmarks.ekyt_people FOLDER [parts]

Velocities are kept in a byte each: evenly spaced in asinh(velocity / 3 deg/s), so that a step is 0.15 deg/s where the
eye rests and 5 % of the velocity where it jumps. Writing takes the simulator; reading takes numpy.
"""

from __future__ import annotations

import lzma
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SEED: Final = 80_808
"""Of its own, so that the people of other studies of this project are strangers to a model trained on these."""
PEOPLE_A_PART: Final = 100
PARTS: Final = 6
SESSIONS: Final = 8
MINUTES: Final = 1.0
RATE_HZ: Final = 125.0
_SOFT = 3.0
_STEPS = 127.0 / np.arcsinh(1000.0 / _SOFT)
MISSING: Final = -128


def write(path: Path, part: int) -> None:
    """Simulate a part of the people and write their velocities."""
    from gazeveil.lab.attacks.ekyt.training_gaze import Crowd

    crowd = Crowd(PEOPLE_A_PART, SESSIONS, MINUTES, RATE_HZ, seed=SEED, first=part * PEOPLE_A_PART)
    samples = round(MINUTES * 60 * RATE_HZ)
    codes = np.full((PEOPLE_A_PART, SESSIONS, 2, samples), MISSING, dtype=np.int8)
    made = crowd.simulate()
    filled = np.zeros((PEOPLE_A_PART, SESSIONS), dtype=np.int64)
    for velocity, person, session in zip(made, made.person, made.session - 1, strict=True):
        begin = filled[person, session]
        end = min(begin + velocity.shape[1], samples)
        codes[person, session, :, begin:end] = coded(velocity)[:, : end - begin]
        filled[person, session] = begin + samples // 2
    path.write_bytes(compressed(codes))


def coded(velocity: Any) -> NDArray[np.int8]:
    """Return a byte for every velocity in deg/s."""
    with np.errstate(invalid="ignore"):
        code = np.round(np.arcsinh(velocity / _SOFT) * _STEPS)
    return np.where(np.isfinite(code), code, MISSING).astype(np.int8)


def compressed(codes: NDArray[np.int8]) -> bytes:
    """Return bytes as a file holds them."""
    return lzma.compress(codes.tobytes(), preset=6)


def expanded(packed: bytes) -> NDArray[np.float16]:
    """Return the velocities of a file, NaN where missing."""
    table = (_SOFT * np.sinh(np.arange(-128, 128) / _STEPS)).astype(np.float16)
    table[0] = np.nan
    return np.asarray(table[np.frombuffer(lzma.decompress(packed), dtype=np.int8).astype(np.int16) + 128])


def read(*folders: Path) -> NDArray[np.float16]:
    """Return velocities in deg/s: people x sessions x (horizontal, vertical) x samples, in order of the parts."""
    files = sorted(
        (path for folder in folders for path in folder.glob("people*.xz")), key=lambda path: int(path.stem[6:])
    )
    with ThreadPoolExecutor() as pool:
        parts = list(pool.map(lambda path: expanded(path.read_bytes()), files))
    return np.concatenate([part.reshape(PEOPLE_A_PART, SESSIONS, 2, -1) for part in parts])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else PARTS):
        write(folder / f"people{number}.xz", number)
        print(number, flush=True)
