# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws who is identified against what is left of use, a point for every baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gazeveil.display import BLUE, GREY, ORANGE, RED, canvas, png
from gazeveil.lab.experiments.peers import features, samples


def drawn(of_samples: Sequence[samples.Row], of_features: Sequence[features.Row]) -> bytes:
    """Draw a panel for every set: the strongest way of attack across, what is left of use upwards."""
    sets = list(dict.fromkeys([*(row.people for row in of_samples), *(row.people for row in of_features)]))
    plot, axes = canvas(5.2 * len(sets), 4.6, 1, len(sets), squeeze=False)
    for place, name in zip(axes[0], sets, strict=True):
        gaze = [row for row in of_samples if row.people == name]
        series = [row for row in of_features if row.people == name]
        _points(place, [(row.peer, strongest(row), row.utilities["saliency_cc"], row.chance) for row in gaze])
        has_documents = any(row.document == row.document for row in series)
        left = [row.document if has_documents else 1 - row.error for row in series]
        at = [(row.peer, strongest(row), use, row.chance) for row, use in zip(series, left, strict=True)]
        _points(place, at)
        what = "correlation of maps" if gaze else "documents found" if has_documents else "1 - error"
        place.set_ylabel(what)
        place.set_xlabel("identified, strongest attack")
        place.set_title(name, fontsize=9)
        place.set_xlim(-0.02, 1.02)
    return png(plot, dpi=80)


def strongest(row: samples.Row | features.Row) -> float:
    """Return how often participants are identified by whatever does it best."""
    found = [value for ways in row.identified.values() for value in ways.values()]
    return max((value[0] if isinstance(value, tuple) else value for value in found), default=math.nan)


def _points(axes: Any, points: Sequence[tuple[str, float, float, float]]) -> None:
    for name, identified, use, chance in points:
        colour = GREY if name == "none" else ORANGE if "synth" in name or "same" in name else BLUE
        axes.scatter([identified], [use], color=colour, s=18)
        side, shift = ("right", -4) if identified > 0.6 else ("left", 4)
        axes.annotate(name, (identified, use), fontsize=6, xytext=(shift, 3), textcoords="offset points", ha=side)
        axes.axvline(chance, color=RED, linestyle="--", linewidth=0.8)
