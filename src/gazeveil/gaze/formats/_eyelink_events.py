# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of an EyeLink file that are no samples: what the tracker saw happen, and what the experiment said.

Only the lines that end an event are read (EFIX, ESACC, EBLINK): they repeat the start time of the lines that begin it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from gazeveil.gaze import schema
from gazeveil.gaze.formats._eyelink_samples import Unfit, parse_number, seconds_of, shown

BEGINNINGS = (b"SFIX", b"SSACC", b"SBLINK")

_EYE = {b"L": "left", b"R": "right"}
_TIMES = ("start time", "end time", "duration")
_COLUMNS = {
    b"EFIX": ("x", "y", "pupil"),
    b"ESACC": ("start x", "start y", "end x", "end y", "amplitude", "peak velocity"),
    b"EBLINK": (),
}
_RESOLUTION = ("resolution x", "resolution y")
_LENGTHS = {
    keyword: frozenset(5 + sets * len(names) + extra for sets in (1, 2) for extra in (0, 2) if names or not extra)
    for keyword, names in _COLUMNS.items()
}
_PLAIN_BYTES = b"0123456789.- \t"
_PLAIN_LENGTH = 300  # in so many bytes no number grows to infinity

ENDINGS = tuple(_COLUMNS)


class Event(NamedTuple):
    """One row of `schema.EVENTS`."""

    kind: str
    onset: float
    offset: float | None = None
    eye: str | None = None
    x: float | None = None
    y: float | None = None
    end_x: float | None = None
    end_y: float | None = None
    amplitude: float | None = None
    peak_velocity: float | None = None
    pupil: float | None = None
    text: str | None = None
    source: str = "tracker"


def read_eye_event(line: bytes, fields: list[bytes], in_gaze: bool, left: float, top: float) -> Event | Unfit:
    """Read an EFIX, ESACC or EBLINK line.

    Args:
        line: The line.
        fields: The line, split at blanks.
        in_gaze: Whether positions are pixels; if they are angles, pixels may follow them, else positions are unknown.
        left: The x of the screen's left edge.
        top: The y of its upper edge.
    """
    keyword = fields[0]
    names = _COLUMNS[keyword]
    if len(fields) not in _LENGTHS[keyword]:
        expected = ", ".join(("eye", *_TIMES, *names))
        return Unfit(None, f"{keyword.decode()} with {expected}", f"{len(fields) - 1} fields")
    eye = _EYE.get(fields[1])
    if eye is None:
        return Unfit("eye", "L or R", shown(fields[1]))
    doubled = len(fields) - 5 >= 2 * len(names)
    values = _plain_numbers(line, fields) or _careful_numbers(fields[2:], _TIMES + names * (1 + doubled) + _RESOLUTION)
    if isinstance(values, Unfit):
        return values
    if values[0] is None or values[1] is None:
        return Unfit("start time" if values[0] is None else "end time", "a number", "none")
    if keyword == b"EBLINK" and values[1] < values[0] and values[2] is not None and values[2] <= 0:
        # a blink of no sample: EyeLink writes the sample before its start as its end
        return Event("blink", _seconds(fields[2], values[0]), _seconds(fields[2], values[0]), eye)
    if values[1] < values[0]:
        return Unfit("end time", "a time after the start", shown(fields[3]))
    onset, offset = _seconds(fields[2], values[0]), _seconds(fields[3], values[1])
    if keyword == b"EBLINK":
        return Event("blink", onset, offset, eye)
    first = 3 + len(names) * doubled
    found = values[first : first + len(names)]
    in_gaze |= doubled
    if keyword == b"EFIX":
        x, y, pupil = found
        if not in_gaze:
            x = y = None
        return Event("fixation", onset, offset, eye, _minus(x, left), _minus(y, top), pupil=pupil)
    x, y, end_x, end_y, amplitude, velocity = found
    if None in (x, y, end_x, end_y):
        amplitude = None  # the tracker counts from an end that it does not know
    if not in_gaze:
        x = y = end_x = end_y = None
    return Event(
        "saccade",
        onset,
        offset,
        eye,
        _minus(x, left),
        _minus(y, top),
        _minus(end_x, left),
        _minus(end_y, top),
        amplitude,
        velocity,
    )


def read_timed(kind: str, line: bytes) -> Event | Unfit:
    """Read a line of keyword, time and text: messages, buttons (number and state) and input port changes."""
    fields = line.split(None, 2)
    time = parse_number(fields[1]) if len(fields) > 1 else None
    if time is None or math.isnan(time):
        return Unfit("time", "a number", shown(fields[1]) if len(fields) > 1 else "nothing")
    text = fields[2].decode().strip() if len(fields) > 2 else ""
    if kind != "message":
        text = " ".join(text.split())
    return Event(kind, _seconds(fields[1], time), text=text)


def event_table(events: list[Event]) -> pl.DataFrame:
    """Return events as a table in `schema.EVENTS`."""
    if not events:
        return schema.no_events()
    columns = dict(zip(Event._fields, zip(*events, strict=True), strict=True))
    return pl.DataFrame({name: pl.Series(name, columns[name], dtype) for name, dtype in schema.EVENTS.items()})


def _plain_numbers(line: bytes, fields: Sequence[bytes]) -> list[float | None] | None:
    """Return the numbers of a line that is plain: no underscores or spelt infinities, which float() would take."""
    letters = len(fields[0]) + len(fields[1])
    if len(line) > _PLAIN_LENGTH or len(line.translate(None, _PLAIN_BYTES)) != letters:
        return None
    try:
        return [None if field == b"." else float(field) for field in fields[2:]]
    except ValueError:
        return None


def _careful_numbers(fields: Sequence[bytes], names: Sequence[str]) -> list[float | None] | Unfit:
    values: list[float | None] = []
    for name, field in zip(names, fields, strict=False):
        value = parse_number(field)
        if value is None:
            return Unfit(name, "a number or a dot", shown(field))
        values.append(None if math.isnan(value) else value)
    return values


def _seconds(field: bytes, milliseconds: float) -> float:
    return milliseconds / 1000 if field.isdigit() else seconds_of(field)


def _minus(value: float | None, edge: float) -> float | None:
    return None if value is None else value - edge
