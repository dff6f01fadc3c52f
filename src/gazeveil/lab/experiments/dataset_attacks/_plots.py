# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws what attacks on data sets found: ROC curves with what the guarantee allows, and what is got back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gazeveil.display import BLUE, GREY, RED, canvas, legend_below, look, png
from gazeveil.lab.experiments.dataset_attacks.membership import Found, allowed_curve
from gazeveil.lab.experiments.dataset_attacks.reconstruction import Recovered


def roc_curves(found: Sequence[Found]) -> bytes:
    """Draw the curves of releases without a guarantee on the left, of ours with its bound on the right."""
    plot, (bare, kept) = canvas(11, 4.8, 1, 2)
    _curves(bare, [row for row in found if row.epsilon is None])
    _curves(kept, [row for row in found if row.epsilon is not None])
    bare.set_title("nothing is guaranteed", fontsize=9)
    kept.set_title("with a guarantee: no attacker gets into the grey", fontsize=9)
    return png(plot, dpi=90)


def _curves(axes: Any, found: Sequence[Found]) -> None:
    false = np.linspace(0, 1, 401)
    limits = [curve for row in found if (curve := allowed_curve(row, false)) is not None]
    if limits:
        axes.fill_between(false, np.max(limits, axis=0), 1.0, color=GREY, alpha=0.35, label="beyond (ε, δ)")
    for number, row in enumerate(found):
        claim = "" if row.epsilon is None else f", ε = {row.epsilon:g}"
        axes.step(
            row.roc_false, row.roc_found, where="post", label=f"{row.words}{claim}", linewidth=1.4, **look(number)
        )
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.7, linestyle=":", label="guessing")
    axes.set_xlabel("accused falsely")
    axes.set_ylabel("targets found")
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)


def got_back(found: Sequence[Recovered]) -> bytes:
    """Draw how much of a participant is got back, beside what is known without the release."""
    plot, axes = canvas(9, 4)
    at = np.arange(len(found))
    low = [row.guess - row.guess_interval[0] for row in found]
    high = [row.guess_interval[1] - row.guess for row in found]
    axes.bar(at, [row.guess for row in found], color=BLUE, width=0.6, label="from the release and all others")
    axes.errorbar(at, [row.guess for row in found], yerr=np.maximum([low, high], 0), fmt="none", ecolor="black")
    axes.scatter(at, [row.without for row in found], marker="_", s=300, color=RED, label="from the others alone")
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_xticks(at, [f"{row.data}\n{row.release}" for row in found], fontsize=7, rotation=20)
    axes.set_ylabel("correlation, or share of orders")
    legend_below(plot, axes)
    return png(plot, dpi=90)
