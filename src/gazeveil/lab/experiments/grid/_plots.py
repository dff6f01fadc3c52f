# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a grid: trade-off curves with bands, veiled gaze, and released maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, COLOURS, canvas, png
from gazeveil.gaze.recording import Recording
from gazeveil.lab.experiments.grid.contract import NONE

_MARKERS = "osD^vP*Xh<>p"
_ACROSS = 3


def trade_off(own: pl.DataFrame, attacker: str, use: str) -> bytes:
    """Return what is kept over the strongest attacker's success: a line a mechanism, a point a level.

    Args:
        own: Rows of `standings` for one harm and one utility.
        attacker: What success is about.
        use: What is kept.
    """
    figure, axes = canvas(8.5, 5.0)
    rows = own.filter(pl.col("success").is_not_null() & pl.col("kept").is_not_null())
    groups = rows.group_by("mechanism", maintain_order=True)
    for number, ((name,), each) in enumerate(groups):
        line = each.sort(pl.col("strength").fill_null(0.0))
        x, y = (line[column].to_numpy() for column in ("success", "kept"))
        low, high = (
            line[f"kept_{end}"].fill_null(line["kept"]).to_numpy().astype(np.float64) for end in ("low", "high")
        )
        left, right = (
            line[f"success_{end}"].fill_null(line["success"]).to_numpy().astype(np.float64) for end in ("low", "high")
        )
        proven = bool(line["proven"][0])
        colour = "black" if name == NONE else COLOURS[number % (len(COLOURS) - 1)]
        axes.errorbar(
            x,
            y,
            xerr=np.abs([x - left, right - x]),
            fmt=_MARKERS[number % len(_MARKERS)] + ("-" if proven else ":"),
            color=colour,
            markersize=6 if proven else 5,
            markerfacecolor=colour if proven else "white",
            elinewidth=0.7,
            alpha=0.9,
            label=str(name),
        )
        if len(x) > 1:
            order = np.argsort(x, kind="stable")
            axes.fill_between(x[order], low[order], high[order], color=colour, alpha=0.12, linewidth=0)
        else:
            axes.vlines(x, low, high, color=colour, alpha=0.5, linewidth=0.9)
    axes.set(xlabel=f"{attacker}: success of the strongest attacker (0 guessing, 1 certainty)", ylabel=f"kept: {use}")
    axes.axhline(0, color="grey", linewidth=0.6)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(max(-0.6, min(axes.get_ylim()[0], -0.05)), 1.05)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), title="filled: a guarantee")
    return png(figure, dpi=80)


def veiled_gaze(raw: Recording, shown: Sequence[tuple[str, Recording]]) -> bytes:
    """Return the horizontal gaze of someone over time, behind one mechanism after the other."""
    rows = -(-len(shown) // _ACROSS)
    figure, axes = canvas(10.0, 1.7 * rows + 0.4, rows, _ACROSS, squeeze=False, sharex=True, sharey=True)
    for place, one in enumerate(axes.flat):
        if place >= len(shown):
            one.axis("off")
            continue
        name, behind = shown[place]
        one.plot(raw.t, raw.x, color="0.75", linewidth=1.0)
        one.plot(behind.t, behind.x, color=BLUE, linewidth=0.8)
        one.set_title(name, fontsize="small")
        one.tick_params(labelsize="x-small")
    figure.supxlabel("seconds", fontsize="small")
    figure.supylabel("degrees to the right", fontsize="small")
    return png(figure, dpi=80)


def maps(shown: Sequence[tuple[str, FloatArray]]) -> bytes:
    """Return released maps side by side, each on its own scale of colours."""
    rows = -(-len(shown) // _ACROSS)
    figure, axes = canvas(9.0, 2.3 * rows, rows, _ACROSS, squeeze=False)
    for place, one in enumerate(axes.flat):
        one.axis("off")
        if place < len(shown):
            name, values = shown[place]
            one.imshow(values, cmap="magma", aspect="equal")
            one.set_title(name, fontsize="small")
    return png(figure, dpi=80)
