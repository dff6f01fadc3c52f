# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The adversary at full strength: who is it, and what was the gaze before it was veiled?

`Recogniser` says who somebody is from gaze; `Attack` undoes a veil, or prepares the recogniser for it, with what its
threat model grants and nothing else. Both are found by name: `RECOGNISERS`, `ATTACKS`.
"""

from __future__ import annotations

from gazeveil.attacks.contract import (
    ATTACKS,
    RECOGNISERS,
    Attack,
    Exemplar,
    Gallery,
    Grant,
    Knowledge,
    Prepared,
    Recogniser,
    Trial,
)

__all__ = [
    "ATTACKS",
    "RECOGNISERS",
    "Attack",
    "Exemplar",
    "Gallery",
    "Grant",
    "Knowledge",
    "Prepared",
    "Recogniser",
    "Trial",
]
