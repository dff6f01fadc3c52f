# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What was worked out about a trial is remembered: a judge compares the same gaze with one session after the other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.contract import Trial

MOST_BYTES: Final = 256_000_000
"""No more is kept than this; what was not asked for the longest goes first."""

_KNOWN: OrderedDict[tuple[Hashable, bytes], FloatArray] = OrderedDict()
_HELD = {"bytes": 0}


def cached(what: Hashable, trial: Trial, work_out: Callable[[Trial], FloatArray]) -> FloatArray:
    """Return ``work_out(trial)``, which must depend on ``what`` and on the trial's gaze alone; it cannot be changed.

    Args:
        what: What is worked out, with all its parameters.
        trial: Of which trial; its names do not count.
        work_out: Does the work if it was not done yet.
    """
    key = what, _digest(trial)
    if key in _KNOWN:
        _KNOWN.move_to_end(key)
        return _KNOWN[key]
    found = work_out(trial)
    found.setflags(write=False)
    _KNOWN[key] = found
    _HELD["bytes"] += found.nbytes
    while _HELD["bytes"] > MOST_BYTES:
        _HELD["bytes"] -= _KNOWN.popitem(last=False)[1].nbytes
    return found


def forget() -> None:
    """Remember nothing any more."""
    _KNOWN.clear()
    _HELD["bytes"] = 0


def _digest(trial: Trial) -> bytes:
    told = blake2b(repr((trial.rate_hz, len(trial.t))).encode(), digest_size=16)
    for column in (trial.t, trial.x, trial.y, *(() if trial.pupil is None else (trial.pupil,))):
        told.update(np.ascontiguousarray(column).data)
    return told.digest()
