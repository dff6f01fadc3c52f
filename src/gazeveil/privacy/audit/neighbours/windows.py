# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of gaze that differ in one window, each point in it moved by at most a radius.

Time stamps are public and the same on both sides, so the clock is a choice of its own: as recorded, with a burst of
samples in the window, or jittered. A mechanism that counts samples instead of seconds overspends in a burst (K3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gazeveil.errors import OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Eye, Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.types import FloatArray

_GOLDEN = (np.sqrt(5.0) - 1) / 2
_JUST_WITHIN = 1 - 2.0**-50


def still_gaze(geometry: Geometry, seconds: float, rate_hz: float, *, places: int = 3) -> Recording:
    """Return made-up gaze that rests at a few places one after the other, at equal times each.

    Raises:
        OptionError: If there is no time or rate.
    """
    if not (seconds > 0 and rate_hz > 0 and places >= 1):
        raise OptionError("gaze needs a positive duration, rate and number of places")
    t = np.arange(max(1, round(seconds * rate_hz))) / rate_hz
    turn = np.minimum((t / seconds * places).astype(int), places - 1)
    share = (turn + 1) / (places + 1)
    if geometry.unit is Unit.PIXEL:
        x, y = share * (geometry.width_px or 1.0), 0.5 * np.full(len(t), geometry.height_px or 1.0)
    elif geometry.unit is Unit.DEGREE:
        x, y = 10 * (share - 0.5), np.zeros(len(t))
    else:
        x, y = share, np.full(len(t), 0.5)
    return Recording(t, x, y, geometry, observer="nobody", stimulus="none", rate_hz=rate_hz)


def window_pairs(recording: Recording, start: float, seconds: float, radius: float) -> Iterator[Pair]:
    """Return pairs of recordings that differ in the closed window from ``start`` on, for each clock and each move.

    Args:
        recording: Made-up gaze, for example `still_gaze`.
        start: When the window begins.
        seconds: How long it is; samples at both of its ends belong to it.
        radius: How far a point may move, in the unit of the recording.

    Raises:
        OptionError: If radius or window are not positive, or no sample lies in the window.
    """
    if not (seconds > 0 and radius > 0):
        raise OptionError("a window needs a positive length and a positive radius")
    for clock, reclocked in CLOCKS.items():
        here = reclocked(replace(recording, events=schema.no_events()), start, seconds)
        inside = (here.t >= start) & (here.t <= start + seconds)
        if not inside.any():
            raise OptionError(f"no sample lies between {start} s and {start + seconds} s")
        for move, path in MOVES.items():
            dx, dy = np.zeros(len(here)), np.zeros(len(here))
            dx[inside], dy[inside] = path(int(inside.sum()))
            moved = _moved(here, dx * radius * _JUST_WITHIN, dy * radius * _JUST_WITHIN)
            yield Pair(here, moved, f"{move} of {radius:g} within {seconds:g} s, {clock}")


def _step(count: int) -> tuple[FloatArray, FloatArray]:
    return np.ones(count), np.zeros(count)


def _drift(count: int) -> tuple[FloatArray, FloatArray]:
    return np.linspace(0.0, 1.0, count + 1)[1:], np.zeros(count)


def _shake(count: int) -> tuple[FloatArray, FloatArray]:
    return np.where(np.arange(count) % 2, -1.0, 1.0), np.zeros(count)


def _circle(count: int) -> tuple[FloatArray, FloatArray]:
    angle = 2 * np.pi * np.arange(count) / max(count, 1)
    return np.cos(angle), np.sin(angle)


MOVES: dict[str, Callable[[int], tuple[FloatArray, FloatArray]]] = {
    "a step": _step,
    "a slow drift": _drift,
    "a shake": _shake,
    "a circle": _circle,
}
"""How the points of a window move, in radii."""


def as_recorded(recording: Recording, start: float, seconds: float) -> Recording:
    """Return the recording as it is."""
    return recording


def burst(recording: Recording, start: float, seconds: float, times: int = 10) -> Recording:
    """Return the recording with this many samples for each one in the window, spread up to the next sample."""
    t = recording.t
    inside = (t >= start) & (t <= start + seconds)
    repeats = np.where(inside, times, 1)
    rows = np.repeat(np.arange(len(t)), repeats)
    part = np.concatenate([np.arange(count) for count in repeats]) if len(t) else np.zeros(0)
    gap = np.diff(t, append=t[-1:] + (t[-1:] - t[-2:-1] if len(t) > 1 else 1.0)) if len(t) else t
    dense = recording.take(rows)
    return replace(dense, t=t[rows] + gap[rows] * part / times, rate_hz=None)


def jittered(recording: Recording, start: float, seconds: float) -> Recording:
    """Return the recording with each sample late by up to half a step, in a pattern that does not repeat."""
    t = recording.t
    gap = np.diff(t, append=t[-1:] + (t[-1:] - t[-2:-1] if len(t) > 1 else 1.0)) if len(t) else t
    late = (np.arange(len(t), dtype=np.float64) ** 2 * _GOLDEN) % 1.0
    return replace(recording, t=t + 0.5 * gap * late, rate_hz=None)


CLOCKS: dict[str, Callable[[Recording, float, float], Recording]] = {
    "clock as recorded": as_recorded,
    "burst at ten times the rate": burst,
    "jittered clock": jittered,
}
"""What the tracker's clock does."""


def _moved(recording: Recording, dx: FloatArray, dy: FloatArray) -> Recording:
    eyes: dict[str, Any] = {
        name: Eye(_shifted(eye.x, dx), _shifted(eye.y, dy), eye.valid, eye.pupil)
        for name, eye in (("left", recording.left), ("right", recording.right))
        if eye is not None
    }
    return replace(recording, x=_shifted(recording.x, dx), y=_shifted(recording.y, dy), **eyes)


def _shifted(values: FloatArray, by: FloatArray) -> FloatArray:
    """Return values + by, pulled back by one float, so that rounding never moves a point beyond the radius."""
    moved = values + by
    return np.where(by == 0, values, np.nextafter(moved, values))
