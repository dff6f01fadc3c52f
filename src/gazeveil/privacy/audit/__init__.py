# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The auditor: does a mechanism keep what it claims? A lower bound on what it really gives away.

`audit` runs a `Subject` on two neighbouring inputs and returns an `AuditResult`. Its bounds hold with the confidence
it states. Subjects are found by name in `SUBJECTS` and enter it with `auditable`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "AuditResult": "result",
    "FAMILIES": "events.base",
    "Finding": "result",
    "Pair": "neighbours.pair",
    "SUBJECTS": "subject",
    "Subject": "subject",
    "Verdict": "result",
    "audit": "auditor",
    "auditable": "subject",
    "build": "subject",
    "delta_bound": "bounds",
    "epsilon_bound": "bounds",
    "lower_bound": "bounds",
    "observer_pairs": "neighbours.observers",
    "series_pairs": "neighbours.series",
    "still_gaze": "neighbours.windows",
    "upper_bound": "bounds",
    "window_pairs": "neighbours.windows",
}

if TYPE_CHECKING:
    from gazeveil.privacy.audit.auditor import audit
    from gazeveil.privacy.audit.bounds import delta_bound, epsilon_bound, lower_bound, upper_bound
    from gazeveil.privacy.audit.events.base import FAMILIES
    from gazeveil.privacy.audit.neighbours.observers import observer_pairs
    from gazeveil.privacy.audit.neighbours.pair import Pair
    from gazeveil.privacy.audit.neighbours.series import series_pairs
    from gazeveil.privacy.audit.neighbours.windows import still_gaze, window_pairs
    from gazeveil.privacy.audit.result import AuditResult, Finding, Verdict
    from gazeveil.privacy.audit.subject import SUBJECTS, Subject, auditable, build

__all__ = [
    "FAMILIES",
    "SUBJECTS",
    "AuditResult",
    "Finding",
    "Pair",
    "Subject",
    "Verdict",
    "audit",
    "auditable",
    "build",
    "delta_bound",
    "epsilon_bound",
    "lower_bound",
    "observer_pairs",
    "series_pairs",
    "still_gaze",
    "upper_bound",
    "window_pairs",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gazeveil.privacy.audit' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gazeveil.privacy.audit.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
