# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The part of the report that points to the live demo."""

from __future__ import annotations

from pathlib import Path

import gazeveil
from gazeveil.release import visual_report

SCREENSHOT = Path(gazeveil.__file__).resolve().parents[2] / "docs" / "images" / "control-page.png"
"""The control page, as the tests drew it; there in a checkout, not where the package is installed."""


def live_section() -> visual_report.ReportSection:
    """Say how the gateway can be tried, with a picture of its page where there is one."""
    lead = (
        "A gateway protects gaze on its way from the tracker to the apps. To try it without a tracker: "
        "gazeveil serve --demo. It opens a page with simulated gaze, your mouse as an eye, and two toy apps. Its "
        "privacy budget is made up, and nothing is kept."
    )
    pieces = [visual_report.paragraph(lead)]
    if SCREENSHOT.is_file():
        caption = "The control page: raw gaze, what an app is shown, and what a filter recovers of it"
        pieces.append(visual_report.html_picture(SCREENSHOT.read_bytes(), caption))
    return visual_report.ReportSection("Live gaze", tuple(pieces))
