# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One seed for a whole study: every draw has its own stream, named by what it is for.

The stream of a recording depends on the seed and on its own key alone, never on what was drawn before, so participants
and recordings come out the same in any order and whatever their number.
"""

from __future__ import annotations

from enum import IntEnum
from zlib import crc32

import numpy as np

from gazeveil.errors import OptionError


class Purpose(IntEnum):
    """What a stream of random numbers is for; the first part of its name."""

    PERSON = 1
    DAY = 2
    TASTE = 3
    CALIBRATION = 4
    RECORDING = 5
    SCENE = 6
    STREAM = 7
    RESAMPLING = 8


def generator(seed: int, purpose: Purpose, *key: int | str) -> np.random.Generator:
    """Return the stream of ``purpose`` and ``key`` under a seed."""
    if type(seed) is not int or seed < 0:
        raise OptionError(f"a seed is a whole number from 0 up, not {seed!r}")
    numbers = tuple(crc32(part.encode()) if isinstance(part, str) else part for part in key)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(purpose, *numbers))))
