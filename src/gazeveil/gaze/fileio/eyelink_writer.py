# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write EyeLink's ASC: samples, and events as lines. Each line is read again first: what it cannot hold is reported."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl

from gazeveil.errors import InputError
from gazeveil.gaze.fileio.eyelink import EyeLinkEvent, Misfit, read_eye_event, read_timed
from gazeveil.gaze.fileio.messages import NameRule, TrialName
from gazeveil.gaze.fileio.numbers import milliseconds, plain_numbers
from gazeveil.gaze.fileio.writing import (
    DETECTOR_LOST,
    RESERVED_MESSAGES,
    LinesAmongRows,
    Losses,
    Piece,
    TextFile,
    TimedLine,
    cannot_hold,
    with_known_numbers,
)
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Unit

_EYE_EVENTS = {
    "fixation": ("EFIX", ("x", "y", "pupil")),
    "saccade": ("ESACC", ("x", "y", "end_x", "end_y", "amplitude", "peak_velocity")),
    "blink": ("EBLINK", ()),
}
_TIMED = {"message": "MSG", "button": "BUTTON", "input": "INPUT"}
_LETTERS = {"left": "L", "right": "R"}
_SETS_SCREEN_OR_TRIAL = re.compile(r"(?:GAZE_COORDS|DISPLAY_COORDS|TRIALID|RECCFG)\b")

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
        said: The messages that the file's own lines already hold.
        stimulus: What was shown, if anything.
        losses: Where to note what the lines do not hold.
    """
    found = (_line_of(row, eye, said, stimulus, losses) for row in events.iter_rows(named=True))
    return [line for line in found if line is not None]


def _line_of(row: dict[str, Any], eye: str, said: Collection[str], stimulus: str, losses: Losses) -> TimedLine | None:
    kind, text = row["kind"], row["text"] or ""
    if kind == "message" and (text in said or text.startswith("GAZE_COORDS")):
        return None
    if kind == "message" and (_SETS_SCREEN_OR_TRIAL.match(text) or (not stimulus and _gives_a_name(text))):
        losses.add(RESERVED_MESSAGES)
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
    if line is None or back is None or isinstance(back, Misfit) or (back.kind, back.onset) != (kind, wanted.onset):
        losses.add(_NO_LINE)
        return None
    if kind in _TIMED:  # such a line is a moment, of no eye
        back = back._replace(eye=wanted.eye, offset=back.onset if wanted.offset is not None else None)
        back = back._replace(text=back.text or wanted.text)
    losses.add(DETECTOR_LOST, int(wanted.source not in {None, "tracker"}))
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


def _gives_a_name(text: str) -> bool:
    name = TrialName(None)
    name.read(text)
    return bool(name.name)


# --- The file.


_IMAGE = NameRule("TRIAL_VAR", "image")
_NAMES_A_PICTURE = re.compile(r"\.[A-Za-z0-9]{2,4}\b")
_PUPIL_WORDS = {"area": "AREA", "diameter": "DIAMETER"}


class EyeLinkFile(TextFile):
    """An ASC file for each participant; each recording is a block, its trial and stimulus are messages."""

    format_name = "eyelink-asc"
    ending = ".asc"
    units = (Unit.PIXEL,)
    labels = ("observer", "stimulus", "trial")
    eyes_only = True
    takes_events = True

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._begun = False
        self._last = "0"
        self._said: list[str] = []
        self._among = LinesAmongRows()

    def begin(self, piece: Piece) -> str:
        """Return the messages that name the recording, and the head of its block."""
        names = [f"TRIALID {piece.key.trial}"]
        if piece.key.stimulus:
            names.append(f"!V TRIAL_VAR image {piece.key.stimulus}")
        self._check_names(piece.key, names)
        if not piece.samples.height:
            raise InputError(f"the recording {piece.key} has no samples", hint="leave it out")
        eyes = " ".join(side.upper() for side in self._eyes(piece))
        if not piece.sides:
            self.losses.add("that gaze is of both eyes together: it stands as the left eye's")
        start = self._times(piece)[0]
        width, height = piece.geometry.width_px or 1.0, piece.geometry.height_px or 1.0
        rate = "" if piece.rate_hz is None else f"\tRATE\t{piece.rate_hz:.17g}"
        pupil = _PUPIL_WORDS.get(piece.pupil_unit)
        self.losses.add(
            f"the unit of the pupil, {piece.pupil_unit}", int(pupil is None and bool(piece.pupil_unit) and _any(piece))
        )
        lines = [] if self._begun else ["** WRITTEN BY gazeveil IN THE FORM OF EYELINK ASC"]
        lines += [] if piece.veiled is None else [f"** {piece.veiled.sentence}"]
        lines += [f"MSG\t{start} {name}" for name in names]
        lines += [] if piece.veiled is None else [f"MSG\t{start} {piece.veiled.sentence}"]
        lines += [
            f"MSG\t{start} GAZE_COORDS 0.00 0.00 {width - 1:.17g} {height - 1:.17g}",
            f"START\t{start} \t{eyes}\tSAMPLES\tEVENTS",
            "PRESCALER\t1",
            "VPRESCALER\t1",
            *([f"PUPIL\t{pupil}"] if pupil else []),
            f"EVENTS\tGAZE\t{eyes.replace(' ', chr(9))}{rate}",
            f"SAMPLES\tGAZE\t{eyes.replace(' ', chr(9))}{rate}",
        ]
        self._begun = True
        self._said = [*names, *([] if piece.veiled is None else [piece.veiled.sentence])]
        return "\n".join(lines) + "\n"

    def rows(self, piece: Piece) -> str:
        """Return the sample lines with the events among them: dots where gaze is lost, with a pupil of 0."""
        eye, shown = self._eyes(piece)[0], piece.key.stimulus
        self._among.add(event_lines(with_known_numbers(piece.events), eye, self._said, shown, self.losses))
        if not piece.samples.height:
            return ""
        columns = [self._times(piece)]
        sides = self._eyes(piece)
        for side in sides:
            prefix = f"{side}_" if piece.sides else ""
            x, y = piece.column(f"{prefix}x"), piece.column(f"{prefix}y")
            pupil = piece.column(f"{prefix}pupil")
            lost = x.is_null() | y.is_null()
            self.losses.add("pupils while gaze is lost", int((lost & pupil.is_not_null()).sum()))
            columns += [plain_numbers(values).fill_null(".") for values in (x, y)]
            columns.append(
                pl.Series(["0.0"]).new_from_index(0, len(x)).zip_with(lost, plain_numbers(pupil).fill_null("."))
            )
        columns.append(pl.Series(["." * (5 if len(sides) == 2 else 3)]).new_from_index(0, piece.samples.height))
        self._last = columns[0][-1]
        frame = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
        text = frame.write_csv(include_header=False, separator="\t", quote_style="never")
        return self._among.put(text, piece.column("t").to_numpy())

    def end(self) -> str:
        """Return the end of the block, after the events that are left."""
        return self._among.remaining() + f"END\t{self._last} \tSAMPLES\tEVENTS\n"

    def _eyes(self, piece: Piece) -> tuple[str, ...]:
        return piece.sides or ("left",)

    def _times(self, piece: Piece) -> pl.Series:
        times = piece.column("t").to_numpy()
        if (times < 0).any():
            raise InputError(
                f"the recording {piece.key} has times before 0, and an EyeLink's clock has none",
                hint="write Parquet, CSV or BIDS, which hold any time",
            )
        return milliseconds(times)

    def _check_names(self, key: Key, names: list[str]) -> None:
        if key.stimulus and _IMAGE.name_in(names[-1]) != key.stimulus:
            raise cannot_hold(self.format_name, "stimulus", key.stimulus)
        named_by_trial = not key.stimulus and _NAMES_A_PICTURE.search(key.trial) is not None
        if not key.trial or key.trial.strip(" \t:=") != key.trial or named_by_trial:
            raise cannot_hold(self.format_name, "trial", key.trial)


def _any(piece: Piece) -> bool:
    return any(name.endswith("pupil") and piece.samples[name].count() for name in piece.samples.columns)
