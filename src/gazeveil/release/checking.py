# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What in the data does not fit the declaration: a private report for the holder of the data, never for release."""

from __future__ import annotations

from typing import Any

from gazeveil.release.binding import BoundCorpus, BoundTable
from gazeveil.release.study import Study

NOT_TO_PUBLISH = "This report is about single participants. Keep it with the raw data and do not publish it."


def private_report(study: Study, data: BoundCorpus | BoundTable | None) -> dict[str, Any]:
    """Return what the holder of the data should know about a release."""
    there = [] if data is None else data.observers
    absent = [] if study.participants.roster is None else sorted(set(study.participants.roster) - set(there))
    return {
        "notice": NOT_TO_PUBLISH,
        "study": study.name,
        "participants_found": len(there),
        "participants_absent": absent,
        "remarks": [] if data is None else list(data.remarks),
    }
