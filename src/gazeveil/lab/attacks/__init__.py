# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The adversary at full strength: who is it, and what was the gaze before it was veiled?

`Recogniser` says who a participant is from gaze; `Attack` undoes a mechanism, or prepares the recogniser for it, with
what its threat model grants and nothing else. Both are found by name: `RECOGNISERS`, `ATTACKS`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gazeveil.lab.attacks.contract import (
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


def __getattr__(name: str) -> Any:
    # On first use only: the training loop below this package runs on machines that have numpy and torch alone.
    if name not in __all__:
        raise AttributeError(f"module 'gazeveil.lab.attacks' has no attribute {name!r}")
    value = getattr(importlib.import_module("gazeveil.lab.attacks.contract"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
