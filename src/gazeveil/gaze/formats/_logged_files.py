# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How tables with messages between their rows look when we write them: SMI's text, and PyGaze's log of an Eye Tribe.

Both mark lost gaze by (0, 0), and both say the screen once, so that one file holds recordings on one screen.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl

from gazeveil.errors import InputError
from gazeveil.gaze.formats._event_files import NO_PLACE
from gazeveil.gaze.formats._event_rows import LabelledFile, SpokenFile
from gazeveil.gaze.formats._naming import Rule, a_name, media_in
from gazeveil.gaze.formats._samples import PER_SECOND
from gazeveil.gaze.formats._smi_columns import said_in
from gazeveil.gaze.formats._table_files import constant, times_in
from gazeveil.gaze.formats._writing import Losses, Piece, cannot_hold
from gazeveil.gaze.formats._written_numbers import plain_numbers, scaled_times
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry, Unit

_NONE = "0.0"
_IMAGE = Rule("MSG", "image")
_LETTERS = {"left": "L", "right": "R"}
_DISPLAY = re.compile(r"display (?:resolution|size in cm):|distance between participant and display:")


class LoggedFile(SpokenFile):
    """A table of one participant, with messages before each recording's rows."""

    units = (Unit.PIXEL,)
    labels = ("observer", "stimulus", "trial")
    delimiter = "\t"
    ends_with: ClassVar[tuple[str, ...]] = ()

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self.shown: Counter[str] = Counter()
        self._stated: tuple[Geometry, float | None] | None = None

    @abstractmethod
    def check(self, key: Key) -> None:
        """Refuse what would be read back as another; the recording is counted in ``shown`` already."""

    @abstractmethod
    def messages(self, piece: Piece) -> list[str]:
        """Return what is stated before a recording's rows."""

    def before(self, piece: Piece) -> list[str]:
        """Return the lines before the header."""
        return []

    def stated_rate(self, piece: Piece) -> float | None:
        """Return the rate that the file states, if it states any."""
        return None

    def begin(self, piece: Piece) -> str:
        """Return the header if it is the first recording, and the messages that begin it."""
        if not piece.samples.height:
            raise InputError(f"the recording {piece.key} has no samples", hint="leave it out")
        stated = (piece.geometry, self.stated_rate(piece))
        is_first = self._stated is None
        self._stated = self._stated or stated
        if stated != self._stated:
            raise InputError(
                f"one {self.format_name} file says the screen and the rate once, and {piece.key} has others than the "
                "recordings before",
                hint="convert the recordings one by one, or write Parquet",
            )
        self.shown[piece.key.stimulus] += 1
        self.check(piece.key)
        lines = []
        if is_first:
            nothing = replace(piece, samples=piece.samples.clear(), begins=False)
            self._header = list(self.columns(nothing))
            lines = [*self.before(piece), self.delimiter.join(self._header)]
            field_of_view = (piece.geometry.fov_x_deg, piece.geometry.fov_y_deg) != (None, None)
            self.losses.add("the headset's field of view", int(field_of_view))
        start = self.time_of(piece, 0)
        said = self.messages(piece)
        self.said = {*said, *self.ends_with}
        lines += [self.message(start, text) for text in said]
        return "\n".join([*lines, ""])

    def time_of(self, piece: Piece, row: int) -> str:
        """Return the time of one row."""
        text, _ = scaled_times(piece.column("t").to_numpy()[[row]], PER_SECOND[self.time_unit])
        return str(text[0])

    def gaze(self, piece: Piece, prefix: str) -> list[pl.Series]:
        """Return x and y, (0, 0) where gaze is lost."""
        x, y = piece.column(f"{prefix}x"), piece.column(f"{prefix}y")
        at_mark = ((x == 0) & (y == 0)).fill_null(False)
        self.losses.add("gaze at exactly (0, 0), which stands for lost gaze", int(at_mark.sum()))
        lost = x.is_null() | y.is_null()
        text = pl.DataFrame({"x": plain_numbers(x), "y": plain_numbers(y), "lost": lost})
        kept = text.select(pl.when("lost").then(pl.lit(_NONE)).otherwise(axis).alias(axis) for axis in ("x", "y"))
        return [kept["x"], kept["y"]]

    def pupil(self, sizes: pl.Series) -> pl.Series:
        """Return pupil sizes, 0 where there is none."""
        self.losses.add("pupils of 0 or less, which stand for none", int((sizes <= 0).fill_null(False).sum()))
        return plain_numbers(sizes).fill_null(_NONE)


def _digits(value: float) -> str:
    return str(np.format_float_positional(value, trim="-"))


class SmiFile(LoggedFile, LabelledFile):
    """Samples as SMI's IDF Converter writes them; gaze of both eyes together as binocular gaze."""

    format_name = "smi-text"
    ending = ".txt"
    pupil_units = ("mm", "px")
    time_unit = "us"
    says_who = True
    kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {"fixation": (), "saccade": (), "blink": ()}

    def check(self, key: Key) -> None:
        """Refuse names that SMI's lines cannot say: a message that is the name of a picture or film is a stimulus."""
        if a_name(key.observer) != key.observer or len(key.observer.splitlines()) > 1:
            raise cannot_hold(self.format_name, "observer", key.observer)
        if key.stimulus and media_in(key.stimulus) != key.stimulus:
            raise InputError(
                f"an SMI file says by a picture's or film's file name what was shown, and {key.stimulus!r} is none",
                hint="rename the stimulus (with .png or .mp4 at its end, for example), or write tobii-tsv or csv",
            )
        if self.shown.total() > 1 and not all(self.shown):
            raise InputError(
                f"an SMI file distinguishes recordings by what was shown, and {key.observer} has several recordings, "
                "not all with a stimulus",
                hint="name the stimuli (--stimulus), or write Parquet, CSV or BIDS",
            )
        counted = str(self.shown[key.stimulus])
        self.losses.add("the names of trials: they are counted", int(key.trial != counted))

    def stated_rate(self, piece: Piece) -> float | None:
        """The preamble has a place for it."""
        return piece.rate_hz

    def before(self, piece: Piece) -> list[str]:
        """Return the preamble."""
        plane = piece.geometry
        stated: dict[str, Sequence[float | None]] = {
            "Sample Rate": [piece.rate_hz],
            "Calibration Area": [plane.width_px, plane.height_px],
            "Stimulus Dimension [mm]": [plane.width_mm, plane.height_mm],
            "Head Distance [mm]": [plane.distance_mm],
        }
        lines = ["## [iView]", "## Written by gazeveil in the form of SMI's IDF Converter"]
        lines += [] if piece.veiled is None else [f"## {piece.veiled.sentence}"]
        lines.append(f"## Subject:\t{piece.key.observer}")
        for name, values in stated.items():
            known = [_digits(value) for value in values if value is not None]
            if known and len(known) == len(values):
                lines.append("\t".join([f"## {name}:", *known]))
        return lines

    def message(self, time: str, text: str) -> str:
        """Return a MSG line."""
        return f"{time}\tMSG\t{self.shown.total()}\t# Message: {text}"

    def is_read_back(self, text: str) -> bool:
        """SMI's own words before a message are no part of it."""
        return said_in(text) == text != ""

    def says_what(self, text: str) -> bool:
        """The name of a picture or film is a stimulus."""
        return media_in(text) != ""

    def messages(self, piece: Piece) -> list[str]:
        """Return what is shown, and that gaze is veiled."""
        note = [] if piece.veiled is None else [piece.veiled.sentence]
        return [*([piece.key.stimulus] if piece.key.stimulus else []), *note]

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return SMI's columns."""
        found = {
            "Time": times_in(piece, self.time_unit, self.losses),
            "Type": constant(piece, "SMP"),
            "Trial": constant(piece, str(self.shown.total())),
        }
        size = "Pupil Diameter [mm]" if piece.pupil_unit == "mm" else "Dia X [px]"
        found |= {f"{_LETTERS[side]} {size}": self.pupil(values) for side, values in piece.pupils().items()}
        for letter, prefix in [*((_LETTERS[side], f"{side}_") for side in piece.sides), ("B", "")]:
            x, y = self.gaze(piece, prefix)
            found |= {f"{letter} POR X [px]": x, f"{letter} POR Y [px]": y}
        return {**found, "B Event Info": self._movement(piece)}

    def _movement(self, piece: Piece) -> pl.Series:
        labels = self.movements["kind"] if piece.samples.height else constant(piece, None)
        return labels.str.to_titlecase().fill_null("-")


class PyGazeFile(LoggedFile):
    """A log as PyGaze writes it for the Eye Tribe. The clock of the computer and its fixations stay empty."""

    format_name = "pygaze"
    ending = ".tsv"
    time_unit = "ms"
    ends_with = ("stop_recording",)
    tracked: ClassVar[tuple[str, str]] = ("7", "8")

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._last = "0"

    def check(self, key: Key) -> None:
        """Refuse stimuli that a message cannot name, or that would be taken for the next recording's."""
        if key.stimulus and ("\t" in key.stimulus or _IMAGE.name_in(f"image {key.stimulus}") != key.stimulus):
            raise cannot_hold(self.format_name, "stimulus", key.stimulus)
        if "" in self.shown and len(self.shown) > 1:
            raise InputError(
                f"a stimulus is shown until the next one in a PyGaze log, and {key.observer} has recordings with and "
                "without",
                hint="name the stimuli (--stimulus), or write Parquet, CSV or BIDS",
            )
        self.losses.add("the names of trials: they are counted", int(key.trial != str(self.shown.total())))

    def message(self, time: str, text: str) -> str:
        """Return a message's line."""
        return f"MSG\t\t{time}\t{text}"

    def messages(self, piece: Piece) -> list[str]:
        """Return the display before the first recording, and what begins one."""
        lines = self._display(piece.geometry) if self.shown.total() == 1 else []
        lines.append("start_recording")
        lines += [f"image {piece.key.stimulus}"] if piece.key.stimulus else []
        return lines if piece.veiled is None else [*lines, piece.veiled.sentence]

    def is_read_back(self, text: str) -> bool:
        """A message is a field without blanks around it."""
        return text.strip() == text != "" and "\t" not in text

    def says_what(self, text: str) -> bool:
        """The display, the beginning of a recording and its stimulus, if it has one, are told by messages."""
        names = bool(_IMAGE.name_in(text)) and "" not in self.shown
        return text == "start_recording" or names or _DISPLAY.search(text) is not None

    def rows(self, piece: Piece) -> str:
        """Return the rows; a log has no other events than messages."""
        others = piece.events.filter(pl.col("kind") != "message").height
        self.losses.add(NO_PLACE, others)
        if piece.samples.height:
            self._last = self.time_of(piece, -1)
        return super().rows(piece)

    def end(self) -> str:
        """Return the messages that are left, and the one that ends a recording."""
        return super().end() + "".join(f"{self.message(self._last, text)}\n" for text in self.ends_with)

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return PyGaze's columns."""
        found = {
            "timestamp": constant(piece, None),
            "time": times_in(piece, self.time_unit, self.losses),
            "fix": constant(piece, None),
        }
        prefixes = {"": "", **{_LETTERS[side]: f"{side}_" for side in piece.sides}}
        known = pl.DataFrame({prefix: piece.column(f"{prefix}x").is_not_null() for prefix in prefixes.values()})
        yes, no = self.tracked
        found["state"] = known.select(pl.when(pl.any_horizontal(pl.all())).then(pl.lit(yes)).otherwise(pl.lit(no)))[
            :, 0
        ]
        for letter, prefix in prefixes.items():
            x, y = self.gaze(piece, prefix)
            found |= {f"{letter}rawx": x, f"{letter}rawy": y}
            if f"{prefix}pupil" in piece.samples.columns:
                found[f"{letter}psize"] = self.pupil(piece.column(f"{prefix}pupil"))
        return found

    def _display(self, plane: Geometry) -> list[str]:
        """Return PyGaze's report about the display, as far as its form can say it exactly."""
        pixels = [value for value in (plane.width_px, plane.height_px) if value is not None and value == int(value)]
        size = [_centimetres(value) for value in (plane.width_mm, plane.height_mm) if value is not None]
        far = None if plane.distance_mm is None else _centimetres(plane.distance_mm)
        self.losses.add("the screen's pixels, which are not whole", int(plane.width_px is not None and len(pixels) < 2))
        inexact = None in size or (far is None and plane.distance_mm is not None)
        self.losses.add("the screen's size or distance, which centimetres cannot tell", int(inexact))
        lines = [f"display resolution: {int(pixels[0])}x{int(pixels[1])}"] if len(pixels) == 2 else []
        lines += [f"display size in cm: {size[0]}x{size[1]}"] if len(size) == 2 and None not in size else []
        return lines + ([] if far is None else [f"distance between participant and display: {far} cm"])


def _centimetres(millimetres: float) -> str | None:
    """Return the number that gives the same millimetres times 10, or None."""
    near = millimetres / 10
    for each in (near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)):
        if float(each) * 10 == millimetres:
            return str(np.format_float_positional(each, trim="0"))
    return None
