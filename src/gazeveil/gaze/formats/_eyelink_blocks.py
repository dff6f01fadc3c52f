# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where in an EyeLink file we are: recording blocks, and what the lines that are no samples say about them.

A block, from START to END, is a trial. What is stated after END still belongs to it (its result and variables), until
something opens the next: a TRIALID, a calibration, or the configuration that the tracker writes before it records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats._eyelink_events import BEGINNINGS, ENDINGS, Event, read_eye_event, read_timed
from gazeveil.gaze.formats._eyelink_samples import (
    Declared,
    Eyes,
    Layout,
    Shape,
    Unfit,
    decide_layout,
    declared_by,
    eyes_of,
    parse_number,
    read_sample,
    shown,
)
from gazeveil.gaze.formats._naming import Named, rules_of
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry, Unit

_OPENS_A_TRIAL = {b"TRIALID", b"RECCFG", b"!CAL"}
_TELLING_MESSAGE = re.compile(r"(GAZE_COORDS|DISPLAY_COORDS|TRIALID|RECCFG)\b[\s:=]*(.*)", re.DOTALL)
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
    """What a trial's messages call it; nothing where they do not."""

    stimulus: str
    trial: str


@dataclass(slots=True)
class Trial:
    """A recording block being read.

    Attributes:
        number: Which block of the file it is.
        label: What its TRIALID says.
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
    stimulus: Named
    trial: Named
    eyes_at_start: Eyes = ()
    key: Key | None = None
    declared: Declared | None = None
    layout: Layout | None = None
    screen: Screen = _NO_SCREEN
    geometry: Geometry | None = None
    unreadable: bool = False
    ended: bool = False
    events_in_gaze: bool = True
    pupil_unit: str = ""
    events: list[Event] = field(default_factory=list)

    @property
    def names(self) -> Names:
        """What its messages call it, so far."""
        return Names(self.stimulus.name, self.trial.name)


class Blocks:
    """The blocks of one file, as far as it is read. ``trial`` is the current one."""

    def __init__(self, path: Path, options: ReadOptions, report: ReadReport) -> None:
        self.path, self.options, self.report = path, options, report
        self.trial: Trial | None = None
        self._waiting: list[Event] = []
        self._label = ""
        self._labels: Counter[tuple[str, str]] = Counter()
        self._count = 0
        self.stimulus_rules = rules_of(options.stimulus_from)
        self.trial_rules = () if options.trial_from is None else rules_of(options.trial_from)
        self._stimulus, self._trial = Named(self.stimulus_rules), Named(self.trial_rules)
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
                if named.several:
                    self.report.remark(f"a recording block names more than one {what}; it is one {what}, the first")
        self.trial = None

    def open(self, eyes: Eyes = ()) -> Trial:
        """Begin a trial; what was stated since the last one belongs to it."""
        self._count += 1
        self.trial = Trial(self._count, self._label, self._stimulus, self._trial, eyes, events=self._waiting)
        self._waiting, self._label = [], ""
        self._stimulus, self._trial = Named(self.stimulus_rules), Named(self.trial_rules)
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
            self._complain(Unfit(None, "a sample, an event or a message", shown(text)), line)

    def decide_layout(self, lines: list[bytes], line: int) -> bool:
        """Decide how the current trial's samples look; say whether the first line is to be read now, or is bad."""
        trial = self.trial or self.open()
        decided = decide_layout(trial.declared, trial.eyes_at_start, lines)
        if decided is None:
            guess = Layout(("left",), Shape(4), ("time", "x", "y", "pupil"))
            if trial.declared is not None:
                guess = Layout(trial.declared.eyes, Shape(len(trial.declared.columns)), trial.declared.columns)
            fault = read_sample(lines[0], guess)
            if not isinstance(fault, Unfit):
                fault = Unfit(None, "a sample", shown(lines[0]))
            self._complain(fault, line)
            return False
        if isinstance(decided, Unfit):
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
        """Say what is odd at the end of the file."""
        if self.trial is not None and self.trial.eyes_at_start and self.recording:
            self.report.remark("the last recording block has no END: the file may be cut off")

    def _nothing(self, text: bytes, words: list[bytes], line: int) -> None:
        """Pass over a line that says nothing new."""

    def _start(self, text: bytes, words: list[bytes], line: int) -> None:
        trial = self.open(eyes_of([word.decode() for word in words[2:]]))
        if len(words) < 2 or parse_number(words[1]) is None:
            self._complain(Unfit("time", "a number", shown(b" ".join(words[1:2]))), line)
        elif not trial.eyes_at_start:
            self._complain(Unfit("eyes", "LEFT, RIGHT or both", shown(b" ".join(words[2:]))), line)

    def _end(self, text: bytes, words: list[bytes], line: int) -> None:
        if self.trial is not None:
            self.trial.ended = True

    def _samples(self, text: bytes, words: list[bytes], line: int) -> None:
        trial = self.trial or self.open()
        declared = declared_by([word.decode() for word in words[1:]])
        if isinstance(declared, Unfit):
            self._refuse(declared, line)
        elif declared.kind != "GAZE":
            self._refuse(Unfit("position type", "GAZE", declared.kind), line, hint=_KIND_HINT)
        else:
            trial.declared = declared

    def _events(self, text: bytes, words: list[bytes], line: int) -> None:
        (self.trial or self.open()).events_in_gaze = words[1:2] == [b"GAZE"]

    def _pupil(self, text: bytes, words: list[bytes], line: int) -> None:
        unit = {b"AREA": "area", b"DIAMETER": "diameter"}
        (self.trial or self.open()).pupil_unit = unit.get(words[1], "") if len(words) > 1 else ""

    def _prescaler(self, text: bytes, words: list[bytes], line: int) -> None:
        if words[1:] != [b"1"]:
            self._refuse(Unfit(words[0].decode(), "1", shown(b" ".join(words[1:]))), line)

    def _eye_event(self, text: bytes, words: list[bytes], line: int) -> None:
        screen = self.trial.screen if self.trial is not None else _NO_SCREEN
        in_gaze = self.trial is None or self.trial.events_in_gaze
        self._keep(read_eye_event(text, words, in_gaze, screen.left, screen.top), line)

    def _signal(self, text: bytes, words: list[bytes], line: int) -> None:
        self._keep(read_timed(words[0].decode().lower(), text), line)

    def _complain(self, fault: Unfit, line: int, hint: str = "") -> None:
        self.report.bad(fault.error(self.path, line, hint))

    def _refuse(self, fault: Unfit, line: int, *, counted: bool = True, hint: str = "") -> None:
        """Give up on the samples of the current block."""
        self.report.bad(fault.error(self.path, line, hint), lines=int(counted))
        (self.trial or self.open()).unreadable = True

    def _message(self, text: bytes, words: list[bytes], line: int) -> None:
        event = read_timed("message", text)
        self._keep(event, line)
        if isinstance(event, Unfit) or event.text is None:
            return
        (self._stimulus if self.trial is None else self.trial.stimulus).hear(event.text)
        (self._trial if self.trial is None else self.trial.trial).hear(event.text)
        told = _TELLING_MESSAGE.match(event.text)
        if told is None:
            return
        name, value = told.groups()
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
                    fault = Unfit(name, "the same screen for a whole recording block", shown(value.encode()))
                    self._complain(fault, line)
                return
            self._screens[name] = screen
        elif name == "GAZE_COORDS":
            self._screens.pop(name, None)  # an earlier one may not hold any more
            fault = Unfit(name, "left, top, right and bottom of a screen", shown(value.encode()))
            self._complain(fault, line, _SCREEN_HINT)

    def _keep(self, event: Event | Unfit, line: int) -> None:
        if isinstance(event, Unfit):
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
