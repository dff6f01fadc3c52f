# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo's live stream: one participant's gaze before and after the default veil, at two privacy levels."""

from __future__ import annotations

import numpy as np

from gazeveil.display import BLUE, GREY, ORANGE, canvas, legend_below, png
from gazeveil.gaze.recording import Recording
from gazeveil.lab.utility.streams import veil_error
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import kept_promise
from gazeveil.privacy.statement import statement
from gazeveil.release import visual_report
from gazeveil.samples.recipes import preset
from gazeveil.samples.space import space_of
from gazeveil.simulate.study import SimulatedStudy

SECONDS = 20.0
SHOWN = {"lphu": ("weaker privacy, useful", BLUE), "hplu": ("stronger privacy, hardly useful", ORANGE)}
"""The presets that are shown, what to call them, and their colours."""


def veil_section(seed: int = 1) -> visual_report.ReportSection:
    """Veil one simulated stream twice and show it beside what it was."""
    raw = SimulatedStudy(observers=1, stimuli=1, sessions=1, tracker="remote", seconds=SECONDS, seed=seed).recording(
        0, 0
    )
    raw = raw.to("px")
    noise, space = NoiseSource.secure(), space_of(raw.geometry)
    veiled: dict[str, Recording] = {}
    rows, statements = [], []
    for name, (words, _) in SHOWN.items():
        mechanism = preset(name, space)
        veiled[name] = mechanism.apply(raw, noise)
        stated = statement(kept_promise(mechanism.guarantee, noise))
        error = veil_error(raw, veiled[name])
        rows.append([f"{name}: {words}", f"{error.rmse_px:.0f}", f"{error.centre_rmse_px:.0f}"])
        statements.append(
            visual_report.html_details(f"The privacy statement of {name}", visual_report.paragraph(stated.paragraph()))
        )
    lead = (
        "A game or a headset needs gaze as it comes. The mechanism for live gaze releases a noisy point a few "
        "times a second, by the clock and never by where the participant looks. A filter fills in between. Every "
        "sample gets a point at once; pupils and single eyes are not released."
    )
    caption = "Horizontal gaze of one participant: raw (grey), and as an app would see it at two privacy levels"
    return visual_report.ReportSection(
        "A private live stream",
        (
            visual_report.paragraph(lead),
            visual_report.html_picture(_drawn(raw, veiled), caption),
            visual_report.html_table(["veil", "error, px", "error of always the centre, px"], rows),
            *statements,
        ),
    )


def _drawn(raw: Recording, veiled: dict[str, Recording]) -> bytes:
    figure, axes = canvas(10.0, 3.8)
    seconds = raw.t - raw.t[0]
    axes.plot(seconds, np.where(raw.tracked, raw.x, np.nan), color=GREY, linewidth=1.2, label="raw")
    for name, recording in veiled.items():
        words, colour = SHOWN[name]
        axes.plot(seconds, recording.x, color=colour, linewidth=1.2, label=f"{name}: {words}")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("x (px)")
    legend_below(figure, axes)
    return png(figure)
