# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws figure 2 of Wilson et al. 2024."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gazeveil.display import BLUE, COLOURS, GREY, ORANGE, canvas, legend_below, png
from gazeveil.lab.experiments.wilson.figures import SWEEPS, Retention
from gazeveil.lab.experiments.wilson.identified import Named

_HITS = {False: "-", True: ":"}


def hits_over_strength(rows: Sequence[Retention], named: Sequence[Named] = ()) -> bytes:
    """Draw Wilson's figure 2: F1 (dotted) and who is identified (solid) over strength, with the paper's settings."""
    shown = {row.veil for row in rows} | {row.veil for row in named}
    veils = [name for name in SWEEPS if name in shown]
    plot, panels = canvas(3.2 * len(veils), 3.4, 1, len(veils), squeeze=False, sharey=True)
    none = next((row.f1 for row in rows if row.veil == "none"), None)
    for axes, veil in zip(panels[0], veils, strict=True):
        mine = [row for row in rows if row.veil == veil]
        errors = np.nan_to_num([row.se for row in mine])
        f1 = [row.f1 for row in mine]
        axes.errorbar(
            [row.strength for row in mine], f1, yerr=errors, color=BLUE, capsize=2, linestyle=_HITS[bool(named)]
        )
        _accuracy(axes, [row for row in named if row.veil == veil])
        for setting in (SWEEPS[veil].low, SWEEPS[veil].high):
            if setting is not None:
                axes.axvline(setting, color=ORANGE, linestyle="--", linewidth=1)
        if none is not None:
            axes.axhline(none, color=GREY, linewidth=0.8)
        axes.set_title(veil)
        axes.set_xlabel(SWEEPS[veil].symbol)
        axes.set_ylim(0, 1.02)
    panels[0][0].set_ylabel("weighted F1 of objects hit" if not named else "F1 of objects (dotted), identified")
    if named:
        legend_below(plot, panels[0][0], fontsize=7)
    return png(plot, dpi=68)


def _accuracy(axes: Any, rows: Sequence[Named]) -> None:
    for recogniser, colour in zip(dict.fromkeys(row.recogniser for row in rows), COLOURS[2:], strict=False):
        mine = [row for row in rows if row.recogniser == recogniser]
        strengths = [row.strength for row in mine]
        axes.plot(strengths, [row.accuracy for row in mine], color=colour, label=f"identified by {recogniser}")
        axes.fill_between(strengths, [row.low for row in mine], [row.high for row in mine], color=colour, alpha=0.15)
