# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Threshold events: half-lines along a coordinate, a direction or a distance."""

from __future__ import annotations

from collections.abc import Iterable

from gazeveil.privacy.audit.events.base import Sample, Score, family
from gazeveil.privacy.audit.events.views import all_views


@family("threshold")
def thresholds(sample: Sample) -> Iterable[Score]:
    """Suggest each view as a score: where it is cut is chosen later."""
    return all_views(sample)
