# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The private report as a file, readable by its owner alone."""

from __future__ import annotations

import json
from pathlib import Path

from gazeveil.files import write_private
from gazeveil.release import report
from gazeveil.release.checking import KINDS, NOT_TO_PUBLISH, Findings


def write_findings(findings: Findings, path: Path) -> None:
    """Write a report as ``.html`` or, with any other ending, as JSON; it is there whole or not at all."""
    is_page = path.suffix.lower() == ".html"
    text = _page(findings) if is_page else json.dumps(findings.to_dict(), indent=2, ensure_ascii=False) + "\n"
    write_private(path, text)


def _page(findings: Findings) -> str:
    counted = f"{findings.participants:,} participants and {findings.recordings:,} recordings."
    sections = [
        report.Section(
            f"{KINDS[kind][0]} ({len(items):,})".capitalize(),
            (
                report.words(KINDS[kind][1]),
                report.table(["participant", "what was found"], [[item.participant, item.sentence] for item in items]),
            ),
        )
        for kind, items in findings.by_kind().items()
    ]
    head = report.Section("Private", (report.warning(NOT_TO_PUBLISH),))
    return report.page(f"{findings.study}: what does not fit the declaration", counted, [head, *sections])
