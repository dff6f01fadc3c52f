# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of an EyeLink file: samples, eye events and messages, and the recording blocks that they lie in.

A line is ``time, x, y, pupil`` (twice x, y, pupil for two eyes), then numbers we do not keep (velocity, resolution,
input, buttons), then a field of warning flags; in the remote setup the head target's three numbers and its own flags
follow. The SAMPLES line of a recording block declares this, but not every converter keeps to it, so the lines
themselves have the last word; after that every line of the block must look the same.

Only the lines that end an event are read (EFIX, ESACC, EBLINK): they repeat the start time of the lines that begin it.

A block, from START to END, is a trial. What is stated after END still belongs to it (its result and variables), until
something opens the next: a TRIALID, a calibration, or the configuration that the tracker writes before it records.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.messages import TrialName, rules_of
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry, Unit

Eyes = tuple[str, ...]
"""``left``, ``right``, both, or one empty name for a single eye that the file does not name."""

UNNAMED_EYE: Eyes = ("",)
BOTH_EYES: Eyes = ("left", "right")

_POSITION_KINDS = {"GAZE", "HREF", "PUPIL", "RAW"}
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_FLAGS = re.compile(rb"[A-Z.]{2,}")
_SAMPLE = re.compile(r"(n+?)(f)?(?:(nnn)(t))?")
_EYES_OF_FLAGS = {0: (1, 2), 3: (1,), 5: (2,)}
_TARGET_FLAGS = {13, 17}


class Shape(NamedTuple):
    """How many fields of which kind a sample line has, in their order; a length of 0 means there is no such field."""

    numbers: int
    flags_length: int = 0
    target_numbers: int = 0
    target_flags_length: int = 0

    @property
    def fields(self) -> int:
        """How many fields there are."""
        return self.numbers + bool(self.flags_length) + self.target_numbers + bool(self.target_flags_length)

    def __str__(self) -> str:
        flags = f" and {self.flags_length} flags" if self.flags_length else ""
        return f"{self.numbers} numbers{flags}"


class Declared(NamedTuple):
    """What a SAMPLES line says."""

    kind: str
    eyes: Eyes
    columns: tuple[str, ...]
    rate_hz: float | None


class SampleLayout(NamedTuple):
    """How to read the samples of one recording block; ``columns`` names the numbers."""

    eyes: Eyes
    shape: Shape
    columns: tuple[str, ...]
    remark: str = ""

    @property
    def kept(self) -> int:
        """How many of a line's numbers we keep: time, and three for each eye."""
        return 1 + 3 * len(self.eyes)


class Misfit(NamedTuple):
    """Why a line cannot be read: the column if one is to blame, what was expected and what was found."""

    column: str | None
    expected: str
    found: str

    def error(self, path: Path, line: int, hint: str = "") -> FileFormatError:
        """Return this as the error of a line."""
        return FileFormatError(path, line=line, column=self.column, expected=self.expected, found=self.found, hint=hint)


def shown(text: bytes, limit: int = 40) -> str:
    """Return a piece of a file as it can be shown in an error message."""
    readable = text[: 4 * limit].decode(errors="backslashreplace")
    return repr(readable if len(readable) <= limit else readable[: limit - 1] + "…")


def eyes_of(words: Sequence[str]) -> Eyes:
    """Return the eyes that a START or SAMPLES line names."""
    return tuple(eye for eye in BOTH_EYES if eye.upper() in words)


def columns_of(eyes: Eyes, extra: int = 0) -> tuple[str, ...]:
    """Return the names of the columns that we keep, and of this many more."""
    kept = [f"{eye} {what}".strip() for eye in eyes for what in ("x", "y", "pupil")]
    return ("time", *kept, *(f"extra {number + 1}" for number in range(extra)))


def declared_by(words: Sequence[str]) -> Declared | Misfit:
    """Read a SAMPLES line, given as its words after SAMPLES."""
    if not words or words[0] not in _POSITION_KINDS:
        return Misfit("position type", "GAZE, HREF or PUPIL", repr(words[0][:40]) if words else "nothing")
    eyes = eyes_of(words)
    if not eyes:
        return Misfit("eyes", "LEFT, RIGHT or both", repr(" ".join(words)[:40]))
    rate = None
    if "RATE" in words:
        text = [*words, ""][words.index("RATE") + 1]
        rate = parse_number(text.encode())
        if rate is None or not rate > 0:
            return Misfit("RATE", "a positive number", repr(text[:40]))
    columns = columns_of(eyes)
    if "VEL" in words:
        columns += tuple(f"{eye} velocity {axis}" for eye in eyes for axis in "xy")
    if "RES" in words:
        columns += ("resolution x", "resolution y")
    columns += tuple(word.lower() for word in ("INPUT", "BUTTONS") if word in words)
    return Declared(words[0], eyes, columns, rate)


def decide_layout(
    declared: Declared | None, started_with: Eyes, lines: Sequence[bytes]
) -> SampleLayout | Misfit | None:
    """Decide how to read a block from what its header says and its first sample lines, most of which must agree.

    If a line has as many numbers as the SAMPLES line declares, all is well. If not, there may be columns that the
    SAMPLES line forgot or names in vain, but then everything else must confirm which eyes there are.

    Returns:
        None if none of the lines is a sample at all; what does not fit together if the block cannot be read.
    """
    shapes = Counter(shape for line in lines if (shape := _shape_of(line)) is not None)
    if not shapes:
        return None
    announced = len(declared.columns) if declared is not None else 0
    shape = max(shapes, key=lambda shape: (shapes[shape], shape.numbers == announced))
    if declared is not None and shape.numbers == announced:
        return SampleLayout(declared.eyes, shape, declared.columns)
    if declared is not None:
        remark, candidates = "sample lines have other columns than the SAMPLES line says", [declared.eyes]
    elif started_with:
        remark, candidates = "", [started_with]
    else:
        remark, candidates = "the file does not say which eyes were tracked", [UNNAMED_EYE, BOTH_EYES]
    for eyes in candidates:
        extra = shape.numbers - len(columns_of(eyes))
        certain = bool(started_with or declared or shape.flags_length or extra == 0)
        confirmed = started_with in ((), eyes) and len(eyes) in _EYES_OF_FLAGS.get(shape.flags_length, ())
        if extra >= 0 and certain and confirmed:
            return SampleLayout(eyes, shape, columns_of(eyes, extra), remark)
    wanted = announced or " or ".join(str(len(columns_of(eyes))) for eyes in candidates)
    return Misfit(None, f"{wanted} numbers in a sample line", str(shape))


def read_sample(line: bytes, layout: SampleLayout) -> list[float] | Misfit:
    """Read one sample line in full: also the long numbers and exponents that the quick reader hands back."""
    fields = _fields_of(line)
    shape, numbers = layout.shape, layout.shape.numbers
    if len(fields) != shape.fields:
        names = [*layout.columns, *["flags"] * bool(shape.flags_length)]
        names += ["head target"] * shape.target_numbers + ["its flags"] * bool(shape.target_flags_length)
        return Misfit(None, f"{shape.fields} fields ({', '.join(names)})", f"{len(fields)}: {shown(line)}")
    values = []
    for column, text in zip(layout.columns, fields, strict=False):
        value = parse_number(text)
        if value is None or (column == "time" and math.isnan(value)):
            return Misfit(column, "a number" if column == "time" else "a number or a dot", shown(text))
        values.append(value)
    rest = fields[numbers:]
    if shape.flags_length and not _is_flags(flags := rest.pop(0), shape.flags_length):
        return Misfit("flags", f"{shape.flags_length} dots or capitals", shown(flags))
    if shape.target_numbers:
        *target, flags = rest
        for text in target:
            if parse_number(text) is None:
                return Misfit("head target", "a number or a dot", shown(text))
        if not _is_flags(flags, shape.target_flags_length):
            return Misfit("head target flags", f"{shape.target_flags_length} dots or capitals", shown(flags))
    return [seconds_of(fields[0]), *values[1 : layout.kept]]


def parse_number(text: bytes) -> float | None:
    """Return a finite number, NaN for the marks of a missing value, None for anything else."""
    if text == b"." or text.lower() == b"nan":
        return math.nan
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def seconds_of(milliseconds: bytes) -> float:
    """Return a number of milliseconds as seconds, rounded once."""
    mantissa, _, exponent = milliseconds.decode().lower().partition("e")
    return float(f"{mantissa}e{int(exponent or 0) - 3}")


def _fields_of(line: bytes) -> list[bytes]:
    return [field for field in line.replace(b"\t", b" ").split(b" ") if field]


def _shape_of(line: bytes) -> Shape | None:
    fields = _fields_of(line)
    marks = "".join(map(_mark_of, fields))
    match = _SAMPLE.fullmatch(marks)
    if match is None:
        return None
    numbers = len(match[1])
    flags_length = len(fields[numbers]) if match[2] else 0
    return Shape(numbers, flags_length, 3, len(fields[-1])) if match[4] else Shape(numbers, flags_length)


def _mark_of(field: bytes) -> str:
    if parse_number(field) is not None:
        return "n"
    if _FLAGS.fullmatch(field) is None:
        return "?"
    return "t" if len(field) in _TARGET_FLAGS else "f"


def _is_flags(field: bytes, length: int) -> bool:
    return len(field) == length and _FLAGS.fullmatch(field) is not None


# --- Lines that are no samples: events that the tracker found, and messages of the experiment.


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


class EyeLinkEvent(NamedTuple):
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


def read_eye_event(line: bytes, fields: list[bytes], in_gaze: bool, left: float, top: float) -> EyeLinkEvent | Misfit:
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
        return Misfit(None, f"{keyword.decode()} with {expected}", f"{len(fields) - 1} fields")
    eye = _EYE.get(fields[1])
    if eye is None:
        return Misfit("eye", "L or R", shown(fields[1]))
    doubled = len(fields) - 5 >= 2 * len(names)
    values = _plain_numbers(line, fields) or _careful_numbers(fields[2:], _TIMES + names * (1 + doubled) + _RESOLUTION)
    if isinstance(values, Misfit):
        return values
    if values[0] is None or values[1] is None:
        return Misfit("start time" if values[0] is None else "end time", "a number", "none")
    if keyword == b"EBLINK" and values[1] < values[0] and values[2] is not None and values[2] <= 0:
        # a blink of no sample: EyeLink writes the sample before its start as its end
        return EyeLinkEvent("blink", _seconds(fields[2], values[0]), _seconds(fields[2], values[0]), eye)
    if values[1] < values[0]:
        return Misfit("end time", "a time after the start", shown(fields[3]))
    onset, offset = _seconds(fields[2], values[0]), _seconds(fields[3], values[1])
    if keyword == b"EBLINK":
        return EyeLinkEvent("blink", onset, offset, eye)
    first = 3 + len(names) * doubled
    found = values[first : first + len(names)]
    in_gaze |= doubled
    if keyword == b"EFIX":
        x, y, pupil = found
        if not in_gaze:
            x = y = None
        return EyeLinkEvent("fixation", onset, offset, eye, _minus(x, left), _minus(y, top), pupil=pupil)
    x, y, end_x, end_y, amplitude, velocity = found
    if None in (x, y, end_x, end_y):
        amplitude = None  # the tracker counts from an end that it does not know
    if not in_gaze:
        x = y = end_x = end_y = None
    return EyeLinkEvent(
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


def read_timed(kind: str, line: bytes) -> EyeLinkEvent | Misfit:
    """Read a line of keyword, time and text: messages, buttons (number and state) and input port changes."""
    fields = line.split(None, 2)
    time = parse_number(fields[1]) if len(fields) > 1 else None
    if time is None or math.isnan(time):
        return Misfit("time", "a number", shown(fields[1]) if len(fields) > 1 else "nothing")
    text = fields[2].decode().strip() if len(fields) > 2 else ""
    if kind != "message":
        text = " ".join(text.split())
    return EyeLinkEvent(kind, _seconds(fields[1], time), text=text)


def eyelink_event_table(events: list[EyeLinkEvent]) -> pl.DataFrame:
    """Return events as a table in `schema.EVENTS`."""
    if not events:
        return schema.no_events()
    columns = dict(zip(EyeLinkEvent._fields, zip(*events, strict=True), strict=True))
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


def _careful_numbers(fields: Sequence[bytes], names: Sequence[str]) -> list[float | None] | Misfit:
    values: list[float | None] = []
    for name, text in zip(names, fields, strict=False):
        value = parse_number(text)
        if value is None:
            return Misfit(name, "a number or a dot", shown(text))
        values.append(None if math.isnan(value) else value)
    return values


def _seconds(field: bytes, milliseconds: float) -> float:
    return milliseconds / 1000 if field.isdigit() else seconds_of(field)


def _minus(value: float | None, edge: float) -> float | None:
    return None if value is None else value - edge


# --- Recording blocks, and what the lines that are no samples say about them.


_OPENS_A_TRIAL = {b"TRIALID", b"RECCFG", b"!CAL"}
_SETTING_MESSAGE = re.compile(r"(GAZE_COORDS|DISPLAY_COORDS|TRIALID|RECCFG)\b[\s:=]*(.*)", re.DOTALL)
_KIND_HINT = "other positions are not on a screen; convert the recording again, with gaze: edf2asc -sg"
_SCREEN_HINT = "give the screen's resolution, for example --screen 1920x1080"
_COMMENTS = (b"**", b"#", b"/", b";")
_MOST_WAITING = 100_000


class Screen(NamedTuple):
    """Coordinates of the screen's edges; right and bottom are those of the last pixel."""

    left: float
    top: float
    right: float
    bottom: float


_NO_SCREEN = Screen(0.0, 0.0, 0.0, 0.0)


class Names(NamedTuple):
    """The names that a trial's messages give it; empty where they give none."""

    stimulus: str
    trial: str


@dataclass(slots=True)
class Trial:
    """A recording block being read.

    Attributes:
        number: Which block of the file it is.
        label: The text of its TRIALID.
        stimulus: What its messages name as shown, so far.
        trial: What its messages name as its trial, so far, by the user's rule.
        key: The recording it becomes, once anything was handed on.
        eyes_at_start: What its START line says was tracked.
        declared: What its SAMPLES line says.
        layout: How its sample lines look, once there was one.
        screen: The edges of the screen, once there was a sample.
        geometry: What the screen becomes.
        unreadable: Whether its samples cannot be read and are only counted.
        ended: Whether its END line was seen.
        events_in_gaze: Whether its events are in the same coordinates as its samples.
        pupil_unit: What its pupil sizes are.
        events: What happened in it and is not handed on yet.
    """

    number: int
    label: str
    stimulus: TrialName
    trial: TrialName
    eyes_at_start: Eyes = ()
    key: Key | None = None
    declared: Declared | None = None
    layout: SampleLayout | None = None
    screen: Screen = _NO_SCREEN
    geometry: Geometry | None = None
    unreadable: bool = False
    ended: bool = False
    events_in_gaze: bool = True
    pupil_unit: str = ""
    events: list[EyeLinkEvent] = field(default_factory=list)

    @property
    def names(self) -> Names:
        """The names that its messages give it, so far."""
        return Names(self.stimulus.name, self.trial.name)


class Blocks:
    """The blocks of one file, as far as it is read. ``trial`` is the current one."""

    def __init__(self, path: Path, options: ReadOptions, report: ReadReport) -> None:
        self.path, self.options, self.report = path, options, report
        self.trial: Trial | None = None
        self._waiting: list[EyeLinkEvent] = []
        self._label = ""
        self._labels: Counter[tuple[str, str]] = Counter()
        self._count = 0
        self.stimulus_rules = rules_of(options.stimulus_from)
        self.trial_rules = () if options.trial_from is None else rules_of(options.trial_from)
        self._stimulus, self._trial = TrialName(self.stimulus_rules), TrialName(self.trial_rules)
        self._screens: dict[str, Screen] = {}
        self._last_pixel_counts = True
        self._rate_hz: float | None = None
        self._handlers: dict[bytes, Callable[[bytes, list[bytes], int], None]] = {
            b"MSG": self._message,
            **dict.fromkeys(ENDINGS, self._eye_event),
            **dict.fromkeys(BEGINNINGS, self._nothing),
            **dict.fromkeys((b"BUTTON", b"INPUT"), self._signal),
            **dict.fromkeys((b"PRESCALER", b"VPRESCALER"), self._prescaler),
            b"START": self._start,
            b"SAMPLES": self._samples,
            b"EVENTS": self._events,
            b"PUPIL": self._pupil,
            b"END": self._end,
        }

    @property
    def recording(self) -> bool:
        """Whether we are between START and END."""
        return self.trial is not None and not self.trial.ended

    @property
    def rate_hz(self) -> float | None:
        """Samples per second, as the current block or the tracker's configuration states it."""
        declared = self.trial.declared if self.trial is not None else None
        return declared.rate_hz if declared is not None and declared.rate_hz is not None else self._rate_hz

    def closed_by(self, words: list[bytes]) -> bool:
        """Whether a line, split at blanks, means that the current trial is over."""
        if self.trial is None:
            return False
        if words[0] == b"MSG":
            return self.trial.ended and len(words) > 2 and words[2].rstrip(b":=") in _OPENS_A_TRIAL
        return words[0] == b"START" or (words[0] == b"SAMPLES" and self.trial.layout is not None)

    def close(self) -> None:
        """Leave the current trial."""
        if self.trial is not None and self.trial.layout is None and not self.trial.unreadable:
            self.report.remark("a recording block without samples was left out")
        elif self.trial is not None:
            for what, named in (("stimulus", self.trial.stimulus), ("trial", self.trial.trial)):
                if named.has_several:
                    self.report.remark(f"a recording block names more than one {what}; it is one {what}, the first")
        self.trial = None

    def open(self, eyes: Eyes = ()) -> Trial:
        """Begin a trial; what was stated since the last one belongs to it."""
        self._count += 1
        self.trial = Trial(self._count, self._label, self._stimulus, self._trial, eyes, events=self._waiting)
        self._waiting, self._label = [], ""
        self._stimulus, self._trial = TrialName(self.stimulus_rules), TrialName(self.trial_rules)
        return self.trial

    def key_of(self, trial: Trial, names: Names) -> Key:
        """Return the recording that a trial becomes. No two trials of a file become the same."""
        label = names.trial or trial.label or self.options.trial or str(trial.number)
        stimulus = names.stimulus or self.options.stimulus or ""
        self._labels[stimulus, label] += 1
        while (repeat := self._labels[stimulus, label]) > 1:
            label = f"{label}-{repeat}"
            self._labels[stimulus, label] += 1
        return self.options.key(self.path, stimulus=stimulus, trial=label)

    def take(self, text: bytes, words: list[bytes], line: int) -> None:
        """Take in a line that is no sample, whole and split at blanks; it is not empty."""
        handler = self._handlers.get(words[0])
        if handler is not None:
            handler(text, words, line)
        elif text.startswith(_COMMENTS):
            if b"RECORDED BY libeyelink.py" in text:
                self._last_pixel_counts = False  # PyGaze tells the tracker the screen's size, not its last pixel
        elif self.recording:
            self._complain(Misfit(None, "a sample, an event or a message", shown(text)), line)

    def decide_layout(self, lines: list[bytes], line: int) -> bool:
        """Decide how the current trial's samples look; say whether the first line is to be read now, or is bad."""
        trial = self.trial or self.open()
        decided = decide_layout(trial.declared, trial.eyes_at_start, lines)
        if decided is None:
            guess = SampleLayout(("left",), Shape(4), ("time", "x", "y", "pupil"))
            if trial.declared is not None:
                guess = SampleLayout(trial.declared.eyes, Shape(len(trial.declared.columns)), trial.declared.columns)
            fault = read_sample(lines[0], guess)
            if not isinstance(fault, Misfit):
                fault = Misfit(None, "a sample", shown(lines[0]))
            self._complain(fault, line)
            return False
        if isinstance(decided, Misfit):
            self._refuse(decided, line, counted=False)
            return True
        if decided.remark:
            self.report.remark(decided.remark)
        if (self.rate_hz or 0) > 1000 and not any(b"." in text.split()[0] for text in lines):
            self.report.remark("times are whole milliseconds at more than 1000 Hz, so they repeat; use edf2asc -ftime")
        if self.options.eye != "both" and self.options.eye not in decided.eyes and decided.eyes != ("",):
            self.report.remark(f"the {self.options.eye} eye was not recorded in a trial, so its gaze is missing")
        trial.screen, trial.geometry = self._screen(line)
        trial.layout = decided
        return True

    def finish(self) -> None:
        """Remark what is missing at the end of the file."""
        if self.trial is not None and self.trial.eyes_at_start and self.recording:
            self.report.remark("the last recording block has no END: the file may be cut off")

    def _nothing(self, text: bytes, words: list[bytes], line: int) -> None:
        """Pass over a line that says nothing new."""

    def _start(self, text: bytes, words: list[bytes], line: int) -> None:
        trial = self.open(eyes_of([word.decode() for word in words[2:]]))
        if len(words) < 2 or parse_number(words[1]) is None:
            self._complain(Misfit("time", "a number", shown(b" ".join(words[1:2]))), line)
        elif not trial.eyes_at_start:
            self._complain(Misfit("eyes", "LEFT, RIGHT or both", shown(b" ".join(words[2:]))), line)

    def _end(self, text: bytes, words: list[bytes], line: int) -> None:
        if self.trial is not None:
            self.trial.ended = True

    def _samples(self, text: bytes, words: list[bytes], line: int) -> None:
        trial = self.trial or self.open()
        declared = declared_by([word.decode() for word in words[1:]])
        if isinstance(declared, Misfit):
            self._refuse(declared, line)
        elif declared.kind != "GAZE":
            self._refuse(Misfit("position type", "GAZE", declared.kind), line, hint=_KIND_HINT)
        else:
            trial.declared = declared

    def _events(self, text: bytes, words: list[bytes], line: int) -> None:
        (self.trial or self.open()).events_in_gaze = words[1:2] == [b"GAZE"]

    def _pupil(self, text: bytes, words: list[bytes], line: int) -> None:
        unit = {b"AREA": "area", b"DIAMETER": "diameter"}
        (self.trial or self.open()).pupil_unit = unit.get(words[1], "") if len(words) > 1 else ""

    def _prescaler(self, text: bytes, words: list[bytes], line: int) -> None:
        if words[1:] != [b"1"]:
            self._refuse(Misfit(words[0].decode(), "1", shown(b" ".join(words[1:]))), line)

    def _eye_event(self, text: bytes, words: list[bytes], line: int) -> None:
        screen = self.trial.screen if self.trial is not None else _NO_SCREEN
        in_gaze = self.trial is None or self.trial.events_in_gaze
        self._keep(read_eye_event(text, words, in_gaze, screen.left, screen.top), line)

    def _signal(self, text: bytes, words: list[bytes], line: int) -> None:
        self._keep(read_timed(words[0].decode().lower(), text), line)

    def _complain(self, fault: Misfit, line: int, hint: str = "") -> None:
        self.report.bad(fault.error(self.path, line, hint))

    def _refuse(self, fault: Misfit, line: int, *, counted: bool = True, hint: str = "") -> None:
        """Give up on the samples of the current block."""
        self.report.bad(fault.error(self.path, line, hint), lines=int(counted))
        (self.trial or self.open()).unreadable = True

    def _message(self, text: bytes, words: list[bytes], line: int) -> None:
        event = read_timed("message", text)
        self._keep(event, line)
        if isinstance(event, Misfit) or event.text is None:
            return
        (self._stimulus if self.trial is None else self.trial.stimulus).read(event.text)
        (self._trial if self.trial is None else self.trial.trial).read(event.text)
        setting = _SETTING_MESSAGE.match(event.text)
        if setting is None:
            return
        name, value = setting.groups()
        if name.endswith("_COORDS"):
            self._coordinates(name, value, line)
        elif name == "TRIALID" and self.trial is None:
            self._label = value.strip()
        elif name == "TRIALID" and self.trial is not None and self.trial.layout is not None:
            self.report.remark("a TRIALID stands inside a recording block; trials are blocks, so it stays a message")
        elif name == "RECCFG":
            rate = parse_number(value.split()[1].encode()) if len(value.split()) > 1 else None
            self._rate_hz = rate if rate is not None and rate > 0 else None

    def _coordinates(self, name: str, value: str, line: int) -> None:
        numbers = [parse_number(word.strip(",").encode()) for word in value.split()[:4]]
        edges = [number for number in numbers if number is not None]
        if len(edges) == 4 and edges[0] < edges[2] and edges[1] < edges[3]:
            screen = Screen(*edges)
            trial = self.trial
            if name == "GAZE_COORDS" and trial is not None and trial.layout is not None and self.recording:
                if screen != trial.screen:
                    fault = Misfit(name, "the same screen for a whole recording block", shown(value.encode()))
                    self._complain(fault, line)
                return
            self._screens[name] = screen
        elif name == "GAZE_COORDS":
            self._screens.pop(name, None)  # an earlier one may not hold any more
            fault = Misfit(name, "left, top, right and bottom of a screen", shown(value.encode()))
            self._complain(fault, line, _SCREEN_HINT)

    def _keep(self, event: EyeLinkEvent | Misfit, line: int) -> None:
        if isinstance(event, Misfit):
            self._complain(event, line)
            return
        events = self.trial.events if self.trial is not None else self._waiting
        if len(events) < _MOST_WAITING or (self.trial is not None and self.trial.layout is not None):
            events.append(event)
        else:
            self.report.remark("a message far from any sample was left out")

    def _screen(self, line: int) -> tuple[Screen, Geometry]:
        """Return the screen that the file speaks of, else the one the user does."""
        ours = self.options.geometry
        screen = self._screens.get("GAZE_COORDS") or self._screens.get("DISPLAY_COORDS")
        if screen is None:
            if ours is None or ours.width_px is None or ours.height_px is None:
                raise FileFormatError(
                    self.path,
                    line=line,
                    expected="a message GAZE_COORDS or DISPLAY_COORDS before the first sample",
                    found="none",
                    hint=_SCREEN_HINT,
                )
            return Screen(0.0, 0.0, ours.width_px - 1, ours.height_px - 1), ours.in_unit(Unit.PIXEL)
        width = screen.right - screen.left + self._last_pixel_counts
        height = screen.bottom - screen.top + self._last_pixel_counts
        if ours is not None and ours.width_px is not None and (ours.width_px, ours.height_px) != (width, height):
            self.report.remark(f"the file says that the screen has {width:g} x {height:g} px; that was used")
        base = ours or Geometry(Unit.FRACTION)
        return screen, replace(base, unit=Unit.PIXEL, width_px=width, height_px=height)
