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
    "AuditResult": "gazeveil.privacy.audit.result",
    "FAMILIES": "gazeveil.privacy.audit.events",
    "Finding": "gazeveil.privacy.audit.result",
    "Pair": "gazeveil.privacy.audit.subject",
    "SUBJECTS": "gazeveil.privacy.audit.subject",
    "Subject": "gazeveil.privacy.audit.subject",
    "Verdict": "gazeveil.privacy.audit.result",
    "audit": "gazeveil.privacy.audit.auditor",
    "auditable": "gazeveil.privacy.audit.subject",
    "build": "gazeveil.privacy.audit.subject",
    "delta_bound": "gazeveil.privacy.audit.bounds",
    "epsilon_bound": "gazeveil.privacy.audit.bounds",
    "lower_bound": "gazeveil.privacy.audit.bounds",
    "observer_pairs": "gazeveil.privacy.audit.subject",
    "series_pairs": "gazeveil.privacy.audit.subject",
    "still_gaze": "gazeveil.privacy.audit.subject",
    "upper_bound": "gazeveil.privacy.audit.bounds",
    "window_pairs": "gazeveil.privacy.audit.subject",
}

if TYPE_CHECKING:
    from gazeveil.privacy.audit.auditor import audit
    from gazeveil.privacy.audit.bounds import delta_bound, epsilon_bound, lower_bound, upper_bound
    from gazeveil.privacy.audit.events import FAMILIES
    from gazeveil.privacy.audit.result import AuditResult, Finding, Verdict
    from gazeveil.privacy.audit.subject import (
        SUBJECTS,
        Pair,
        Subject,
        auditable,
        build,
        observer_pairs,
        series_pairs,
        still_gaze,
        window_pairs,
    )

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
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
