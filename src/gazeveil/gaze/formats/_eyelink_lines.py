# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events as lines of an EyeLink file. Each line is read again before it is written: what it cannot hold is reported."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl

from gazeveil.gaze.fileio.eyelink import EyeLinkEvent, Unfit, read_eye_event, read_timed
from gazeveil.gaze.fileio.messages import Named
from gazeveil.gaze.fileio.numbers import milliseconds
from gazeveil.gaze.formats._event_files import DETECTOR, OWN, TimedLine
from gazeveil.gaze.formats._writing import Losses

_EYE_EVENTS = {
    "fixation": ("EFIX", ("x", "y", "pupil")),
    "saccade": ("ESACC", ("x", "y", "end_x", "end_y", "amplitude", "peak_velocity")),
    "blink": ("EBLINK", ()),
}
_TIMED = {"message": "MSG", "button": "BUTTON", "input": "INPUT"}
_LETTERS = {"left": "L", "right": "R"}
_SAYS_WHERE = re.compile(r"(?:GAZE_COORDS|DISPLAY_COORDS|TRIALID|RECCFG)\b")

_NO_LINE = "events that an EyeLink file has no line for"
_DETAILS = "details of events that the lines of an EyeLink file do not hold"
_BOTH = "that events are of both eyes together: they stand as one eye's"


def event_lines(
    events: pl.DataFrame, eye: str, said: Collection[str], stimulus: str, losses: Losses
) -> list[TimedLine]:
    """Return events as lines, in the order of the table.

    Args:
        events: In `schema.EVENTS`, positions in pixels.
        eye: The eye that events of both stand as.
        said: The messages that the file's own lines hold already.
        stimulus: What was shown, if anything.
        losses: Where to note what the lines do not hold.
    """
    found = (_line_of(row, eye, said, stimulus, losses) for row in events.iter_rows(named=True))
    return [line for line in found if line is not None]


def _line_of(row: dict[str, Any], eye: str, said: Collection[str], stimulus: str, losses: Losses) -> TimedLine | None:
    kind, text = row["kind"], row["text"] or ""
    if kind == "message" and (text in said or text.startswith("GAZE_COORDS")):
        return None
    if kind == "message" and (_SAYS_WHERE.match(text) or (not stimulus and _names_something(text))):
        losses.add(OWN)
        return None
    wanted = EyeLinkEvent(**{name: row[name] for name in EyeLinkEvent._fields})
    if kind in _TIMED:
        line = _timed(kind, wanted, text)
        back = None if line is None else read_timed(kind, line.encode())
    elif kind in _EYE_EVENTS:
        if wanted.eye not in _LETTERS:
            wanted = wanted._replace(eye=eye)
            losses.add(_BOTH)
        line = _eye_event(kind, wanted)
        back = None if line is None else read_eye_event(line.encode(), line.encode().split(), True, 0.0, 0.0)
    else:
        line = back = None
    if line is None or back is None or isinstance(back, Unfit) or (back.kind, back.onset) != (kind, wanted.onset):
        losses.add(_NO_LINE)
        return None
    if kind in _TIMED:  # such a line is a moment, of no eye
        back = back._replace(eye=wanted.eye, offset=back.onset if wanted.offset is not None else None)
        back = back._replace(text=back.text or wanted.text)
    losses.add(DETECTOR, int(wanted.source not in {None, "tracker"}))
    losses.add(_DETAILS, int(back._replace(source=wanted.source) != wanted))
    return TimedLine(wanted.onset if kind in _TIMED or wanted.offset is None else wanted.offset, line)


def _timed(kind: str, event: EyeLinkEvent, text: str) -> str | None:
    time = _time(event.onset)
    whole = text.strip() == text and not any(letter in text for letter in "\n\r\0")
    if kind != "message":
        whole = whole and " ".join(text.split()) == text
    return f"{_TIMED[kind]}\t{time} {text}" if time and whole else None


def _eye_event(kind: str, event: EyeLinkEvent) -> str | None:
    start, end = _time(event.onset), _time(event.offset)
    if start is None or end is None or event.offset is None or event.offset < event.onset:
        return None
    keyword, names = _EYE_EVENTS[kind]
    values = [getattr(event, name) for name in names]
    duration = str(round(1000 * (event.offset - event.onset)))
    numbers = ["." if value is None else str(np.format_float_positional(value, trim="0")) for value in values]
    return f"{keyword} {_LETTERS[event.eye or 'left']}   " + "\t".join([start, end, duration, *numbers])


def _time(seconds: float | None) -> str | None:
    """Return a time in milliseconds; None for one that an EyeLink's clock cannot have."""
    if seconds is None or not 0 <= seconds < np.inf:
        return None
    return str(milliseconds(np.array([seconds]))[0])


def _names_something(text: str) -> bool:
    heard = Named(None)
    heard.hear(text)
    return bool(heard.name)
