# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One observer's rows as viewings: how long gaze was in each area, and which area each fixation was in.

Whatever one participant's rows look like, these functions return something: an error that one participant's gaze can
cause would tell the world about that participant. So times are whole microseconds, and a recording that a detector
refuses has no fixations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.lasting import counted_seconds
from gazeveil.errors import GazeveilError, InternalError
from gazeveil.gaze import schema
from gazeveil.gaze.aoi import MAX_STEP, AreasOfInterest
from gazeveil.gaze.events import Detector
from gazeveil.gaze.recording import Key, Recording
from gazeveil.geometry import Geometry
from gazeveil.types import BoolArray, IntArray

MICROSECONDS = 1_000_000
_LONGEST = 1 << 50
"""Microseconds; beyond it, 35 years, a time is as good as never."""

_NO_EVENTS = schema.no_events()
_REFUSALS = (GazeveilError, ArithmeticError, LookupError, MemoryError, ValueError)
"""What a detector may raise about one recording."""


@dataclass(frozen=True, slots=True, eq=False)
class Viewing:
    """One recording of one observer, as areas of interest see it.

    Attributes:
        held: Microseconds in each area, and at last elsewhere.
        areas: The area of each fixation, in order; -1 for elsewhere.
        onsets: When each fixation began, in microseconds since the first sample, or the first fixation of a list.
    """

    held: IntArray
    areas: IntArray
    onsets: IntArray


def recordings_of(rows: Columns, geometry: Geometry) -> Iterator[Recording]:
    """Yield one observer's recordings, in order of appearance, each with all of its rows."""
    count = len(rows["t"])
    if not count:
        return
    labels = [rows[name] for name in ("stimulus", "session", "trial")]
    changed = np.zeros(count, dtype=np.bool_)
    changed[0] = True
    for label in labels:
        changed[1:] |= np.asarray(label[1:] != label[:-1], dtype=np.bool_)
    edges = [*np.flatnonzero(changed).tolist(), count]
    pieces: dict[tuple[str, ...], list[NDArray[np.int64]]] = {}
    for begin, end in itertools.pairwise(edges):
        pieces.setdefault(tuple(str(label[begin]) for label in labels), []).append(np.arange(begin, end))
    gaze = [np.asarray(rows[name], dtype=np.float64) for name in ("t", "x", "y")]
    lasted = np.asarray(rows[schema.DURATION], dtype=np.float64) if schema.DURATION in rows else None
    valid: BoolArray = np.asarray(rows["valid"] == 1, dtype=np.bool_)  # a missing value is not valid
    for (stimulus, session, trial), parts in pieces.items():
        at = np.concatenate(parts)
        t, x, y = (values[at] for values in gaze)
        key = Key("one", stimulus, session, trial)
        durations = None if lasted is None else lasted[at]
        yield Recording(t, x, y, geometry, **key._asdict(), valid=valid[at], events=_NO_EVENTS, durations=durations)


def view(recording: Recording, areas: AreasOfInterest, detector: Detector | None) -> Viewing:
    """Return what areas of interest see of a recording; without a detector no fixations are looked for."""
    held = _held(recording, areas)
    if detector is None:
        return Viewing(held, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    try:
        events = detector.detect(recording)
    except _REFUSALS:  # for example a clock so fast that a window of time does not fit into memory
        events = _NO_EVENTS
    fixations = np.asarray(events["kind"].to_numpy() == "fixation", dtype=np.bool_)
    x, y, onset = (np.asarray(events[name].to_numpy(), dtype=np.float64)[fixations] for name in ("x", "y", "onset"))
    label = areas.label(*recording.geometry.convert(x, y, areas.geometry.unit))
    times = recording.t[np.isfinite(recording.t)]
    start = float(times.min()) if times.size else 0.0
    return Viewing(held, label, _microseconds(onset - start))


def view_list(recording: Recording, areas: AreasOfInterest, stated: tuple[str, ...]) -> Viewing:
    """Return what areas of interest see of a list of fixations.

    A fixation counts if everything that lists state is known of it: where it was, when it began, that it lasted. Where
    starts are stated they order the list; otherwise the rows do.
    """
    if recording.durations is None:
        raise InternalError("a list of fixations has durations")
    lasted = counted_seconds(recording.durations)
    counts = recording.tracked & (np.isfinite(recording.t) if "start" in stated else True)
    if "duration" in stated:
        counts &= lasted > 0
    at = np.flatnonzero(counts)
    if "start" in stated:
        at = at[np.argsort(recording.t[at], kind="stable")]
    label, onset = areas.hits(recording)[at], recording.t[at]
    place = np.where(label < 0, len(areas), label)
    held = np.bincount(place, weights=_microseconds(lasted[at]), minlength=len(areas) + 1)  # exact below 2**53
    since = onset - onset[0] if len(at) else onset
    return Viewing(np.asarray(held, dtype=np.int64), label, _microseconds(since))


def _held(recording: Recording, areas: AreasOfInterest) -> IntArray:
    """Return how long gaze was in each area: a sample holds until the next, if that comes within `MAX_STEP`."""
    label = areas.hits(recording)
    t = np.where(np.isfinite(recording.t), recording.t, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.append(np.diff(t), 0.0)
        holds = recording.tracked & (step > 0) & (step <= MAX_STEP + 1e-6)
    lasted = _microseconds(step[holds])
    place = np.where(label[holds] < 0, len(areas), label[holds])
    sums = np.bincount(place, weights=lasted, minlength=len(areas) + 1)  # exact below 2**53
    return np.asarray(sums, dtype=np.int64)


def _microseconds(seconds: NDArray[np.float64]) -> IntArray:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.nan_to_num(np.rint(seconds * MICROSECONDS), nan=_LONGEST, posinf=_LONGEST, neginf=0.0)
    return np.asarray(np.clip(scaled, 0.0, _LONGEST), dtype=np.int64)
