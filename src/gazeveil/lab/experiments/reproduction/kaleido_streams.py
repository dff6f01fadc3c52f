# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 13, 14 and 15 of Kaleido (Li et al. 2021): error of noisy gaze, of head and eye together, and of saliency."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.lab.datasets.vr_objects import PIXELS_PER_DEGREE, VR_FOLDER, VrSession, vr_sessions
from gazeveil.lab.experiments.kaleido import _plots
from gazeveil.lab.experiments.kaleido.contenders import CONTENDERS
from gazeveil.lab.experiments.kaleido.figures import neighbours
from gazeveil.lab.experiments.reproduction.finding import Check, Finding, counted, judged
from gazeveil.lab.experiments.stream_data import StreamSet, stream_sets
from gazeveil.lab.experiments.stream_grid import Point, Setting, measure, references, settings
from gazeveil.lab.experiments.wilson.object_hits import world_directions

PAPER = "Li et al. 2021 (Kaleido)"
PUBLISHED, CORRECTED, OURS = "kaleido as published", "kaleido, scales corrected", "clock"
_SHOWN: Final = (PUBLISHED, CORRECTED, OURS)
_AROUND: Final = Geometry(Unit.PIXEL, round(360 * PIXELS_PER_DEGREE), round(180 * PIXELS_PER_DEGREE))
_QUICK: Final = {"epsilons": (0.5, 1.5, 3.0), "windows": (0.5, 2.0)}
_NOTE: Final = (
    "As published, Kaleido does not keep its guarantee (K1, K2, K3). Beside it stand the same with its noise "
    "corrected, and ours (`clock`). Radii are 60 and 300 pixels; the paper takes them from its scenes."
)


def measure_eyes(data: Path | None, *, quick: bool) -> list[Finding]:
    """Return figures 13 and 15: the same noisy streams, by their error and by their saliency maps."""
    sets = [one.some(3) if quick else one for one in stream_sets(data)]
    points = _points(sets, repeats=2 if quick else 4, maps=True, quick=quick)
    about = "; ".join(one.title for one in sets)
    return [
        _finding("kaleido-13", 13, "Figure 13: error of noisy gaze over ε, window and radius", about, points, sets),
        _finding("kaleido-15", 15, "Figure 15: correlation of saliency maps over ε, window and radius", about, points,
                 sets),
    ]  # fmt: skip


def measure_head_and_eyes(data: Path | None, *, quick: bool) -> list[Finding]:
    """Return figure 14: where participants look in the room, head and eye together."""
    title = "Figure 14: error of noisy gaze of head and eye together over ε, window and radius"
    if data is None or not (data / VR_FOLDER).is_dir():
        missing = judged("as figure 13", "not measured", None, "it needs recordings with the head's direction")
        return [Finding("kaleido-14", PAPER, title, "none", (missing,), notes=(_NOTE,))]
    sessions = vr_sessions(data / VR_FOLDER, every=2)
    streams = StreamSet("head and eye", "headset, head and eye", tuple(map(around, sessions)))
    some = streams.some(4) if quick else streams
    points = _points([some], repeats=2 if quick else 4, maps=False, quick=quick)
    return [_finding("kaleido-14", 13, title, some.title, points, [some], "kaleido-14")]


def around(session: VrSession) -> Recording:
    """Return gaze in the room as pixels of a panorama, its seam opposite to where the participant looks most."""
    right, down, ahead = world_directions(session, session.yaw, session.pitch).T
    seen = np.isfinite(right)
    middle = np.arctan2(right[seen].mean(), ahead[seen].mean())
    yaw = np.degrees((np.arctan2(right, ahead) - middle + np.pi) % (2 * np.pi) - np.pi)
    pitch = np.degrees(np.arcsin(np.clip(down, -1, 1)))
    x, y = (yaw + 180) * PIXELS_PER_DEGREE, (pitch + 90) * PIXELS_PER_DEGREE
    return Recording(session.t, x, y, _AROUND, str(session.user), session=str(session.session))


def _points(sets: Sequence[StreamSet], *, repeats: int, maps: bool, quick: bool) -> list[Point]:
    chosen: list[Setting] = settings(**_QUICK) if quick else settings()
    return measure(sets, {name: CONTENDERS[name] for name in _SHOWN}, chosen, repeats=repeats, maps=maps)


def _finding(
    name: str, figure: int, title: str, about: str, points: Sequence[Point], sets: Sequence[StreamSet], only: str = ""
) -> Finding:
    measured = "rmse" if figure == 13 else "cc"
    shown = [
        {"name": one.name, "title": one.title, **dict(zip(("centre", "own_mean"), references(one), strict=True))}
        for one in sets
    ]
    plane = "" if not only else "Gaze lies on a panorama of 360 x 180 degrees, 26.7 pixels a degree."
    return Finding(
        name,
        PAPER,
        title,
        about,
        tuple(_checks(points, measured)),
        ("set", "mechanism", "r", "w", "ε", measured, "SE"),
        tuple(
            (p.streams, p.veil, p.setting.radius, p.setting.window, p.setting.epsilon, getattr(p, measured),
             _error(p, measured))
            for p in points
        ),
        {"Over the guarantee": _plots.over_the_promise(points, figure, shown)},
        (_NOTE, *((plane,) if plane else ())),
        "gazeveil lab reproduce " + (f"kaleido --figure {figure}" if not only else "all --only kaleido-14"),
    )  # fmt: skip


def _checks(points: Sequence[Point], measured: str) -> Iterable[Check]:
    what, worse = ("error falls", "error grows") if measured == "rmse" else ("correlation grows", "correlation falls")
    corners = Setting(60.0, 0.5, 3.0), Setting(300.0, 2.0, 0.5)
    digits, unit = (0, " px") if measured == "rmse" else (2, "")
    ends = "; ".join(
        f"{p.streams}: {getattr(p, measured):.{digits}f} ± {2 * _error(p, measured):.{digits}f}{unit} at "
        f"ε = {p.setting.epsilon:g}, w = {p.setting.window:g} s, r = {p.setting.radius:g} px"
        for p in points
        if p.veil == PUBLISHED and p.setting in corners
    )
    first = _trend(f"{what} as ε grows", points, measured, "epsilon", 1)
    yield replace(first, ours=f"{first.ours}; {ends} (± two standard errors over recordings)")
    yield _trend(f"{worse} as the window gets longer", points, measured, "window", -1)
    yield _trend(f"{worse} with the larger radius", points, measured, "radius", -1)


def _trend(claim: str, points: Sequence[Point], measured: str, name: str, wanted: int) -> Check:
    """Judge a trend by neighbouring settings that differ by more than two standard errors; the others say nothing."""
    mine = {(p.streams, p.setting): p for p in points if p.veil == PUBLISHED}
    good = -1 if measured == "rmse" else 1
    right = clear = pairs = 0
    for one, other in neighbours(mine, name):
        pairs += 1
        step = getattr(other, measured) - getattr(one, measured)
        if abs(step) > 2 * math.hypot(_noise(one, measured), _noise(other, measured)):
            clear += 1
            right += wanted * good * step > 0
    told = counted(claim, right, clear)
    return replace(told, ours=f"{told.ours} that differ clearly; {pairs - clear} do not")


def _noise(point: Point, measured: str) -> float:
    """Return the error of a difference on the same recordings: that of the noise, where it is known."""
    return point.repeat_se if measured == "rmse" else point.cc_se


def _error(point: Point, measured: str) -> float:
    return point.recording_se if measured == "rmse" else point.cc_se
