# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze before and after a mechanism, as a picture. It shows raw gaze: for whoever may see that, not for release."""

from __future__ import annotations

from collections.abc import Sequence

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, ORANGE, canvas, legend_below, png
from gazeveil.geometry import Geometry


def before_and_after(columns: Sequence[FloatArray], geometry: Geometry, title: str) -> bytes:
    """Draw x over time and the path, raw and veiled, from the columns t, raw x, raw y, veiled x, veiled y."""
    t, x, y, veiled_x, veiled_y = columns
    figure, (over_time, path) = canvas(11.0, 4.5, columns=2)
    seconds = t - t[0] if len(t) else t
    over_time.plot(seconds, x, color=BLUE, linewidth=1.0, label="raw", zorder=3)
    over_time.plot(seconds, veiled_x, color=ORANGE, linewidth=1.0, label="veiled")
    over_time.set_xlabel("time (s)")
    over_time.set_ylabel(f"x ({geometry.unit})")
    legend_below(figure, over_time)
    path.plot(x, y, color=BLUE, linewidth=0.8, zorder=3)
    path.plot(veiled_x, veiled_y, color=ORANGE, linewidth=0.8)
    path.set_xlabel(f"x ({geometry.unit})")
    path.set_ylabel(f"y ({geometry.unit})")
    path.invert_yaxis()
    path.set_aspect("equal", adjustable="datalim")
    figure.suptitle(f"{title} (shows raw gaze: not for release)")
    return png(figure)
