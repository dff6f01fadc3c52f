# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated participants who read a comic, a newspaper or a textbook, line by line, with habits of their own.

Made for feature series (Bozkir 2020), whose data are twenty participants reading three kinds of documents for ten
minutes each. Gaze goes along lines with forward saccades, regressions and return sweeps, visits pictures, skips
paragraphs, turns pages. Documents differ in layout and difficulty, participants in speed, reach, regressions and care,
and two made-up groups differ a little on average: enough to tell documents, participants and groups apart better than
by chance, and not without mistakes. The numbers follow Rayner 1998 (fixations of 225-250 ms, saccades of about 2
degrees, 10-15 % regressions) where it has them and are plausible elsewhere; nothing is fitted to the paper's data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.gaze.recording import Recording
from gazeveil.simulate.eye_movements import STEP_S, Resumed, TrueGaze, blinks_of, pupil_of
from gazeveil.simulate.population import Observer, Population, Purpose, generator
from gazeveil.simulate.stimuli import Stimulus
from gazeveil.simulate.study import true_events
from gazeveil.simulate.tracker import TRACKERS, Tracker


@dataclass(frozen=True, slots=True)
class Document:
    """A kind of reading matter. Lengths are in degrees.

    Attributes:
        name: What it is.
        columns: Blocks of text side by side.
        rows: Blocks of text one below the other.
        lines: Lines of text in a block.
        line_deg: Length of a line.
        line_step_deg: From one line to the next.
        forward_deg: Usual forward saccade.
        fixation_factor: How much longer than elsewhere fixations are: difficulty.
        regressions: Share of saccades that go back.
        skips: Chance, after each line, to leave the rest of the block.
        pictures: Chance that a block comes with a picture that is looked at.
        picture_looks: Fixations on it.
        brightness: Of the page, 0 to 1.
    """

    name: str
    columns: int
    rows: int
    lines: int
    line_deg: float
    line_step_deg: float
    forward_deg: float
    fixation_factor: float
    regressions: float
    skips: float
    pictures: float
    picture_looks: int
    brightness: float


DOCUMENTS: Final = (
    Document("comic", 3, 2, 3, 6.0, 1.4, 2.0, 1.00, 0.10, 0.05, 0.80, 4, 0.45),
    Document("newspaper", 4, 1, 16, 6.5, 1.2, 2.1, 0.97, 0.11, 0.05, 0.30, 4, 0.60),
    Document("textbook", 1, 2, 8, 17.0, 1.3, 2.0, 1.06, 0.15, 0.01, 0.35, 5, 0.65),
)
_GUTTER_DEG = 1.5

GROUPS: Final = ("a", "b")
GLASSES: Final = replace(
    TRACKERS["headset"], name="reading glasses", rate_hz=30.0, accuracy_deg=1.0, losses_per_minute=12.0
)
"""A worn tracker at 30 Hz, as in the paper's data."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How one participant reads, beside what their eyes are like."""

    eyes: Observer
    group: str
    pace: float  # times the usual fixation
    stride: float  # times the usual saccade
    looks_back: float  # times the usual regressions
    drawn_to_pictures: float  # times the usual
    skims: float  # times the usual
    sweep_error_deg: float  # how far return sweeps fall short

    @staticmethod
    def of(observer: Observer) -> Reader:
        """Return how a participant reads; every second participant belongs to the second group."""
        draws = generator(observer.seed, Purpose.PERSON, observer.index, "reading").standard_normal(6)
        group = GROUPS[observer.index % 2]
        # the groups' means lie about 1 standard deviation between people apart, in each of five habits
        side = 0.5 if group == GROUPS[1] else -0.5
        return Reader(
            replace(observer, pupil_mm=float(np.clip(observer.pupil_mm + 0.60 * side, 2.0, 6.5))),
            group,
            pace=math.exp(0.09 * draws[0] + 0.16 * side),
            stride=math.exp(0.13 * draws[1] - 0.16 * side),
            looks_back=math.exp(0.30 * draws[2] + 0.45 * side),
            drawn_to_pictures=math.exp(0.30 * draws[3] - 0.40 * side),
            skims=math.exp(0.50 * draws[4]),
            sweep_error_deg=0.6 * math.exp(0.30 * draws[5]),
        )


@dataclass(frozen=True, slots=True)
class ReadingStudy:
    """Every reader reads every document in every session. Simulated.

    Attributes:
        observers: How many participants; they alternate between the two groups.
        seconds: How long a document is read.
        sessions: On how many days.
        documents: What is read.
        tracker: What measures.
        seed: Everything follows from it.
    """

    observers: int = 20
    seconds: float = 600.0
    sessions: int = 1
    documents: tuple[Document, ...] = DOCUMENTS
    tracker: Tracker = GLASSES
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("observers", "sessions"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise OptionError(f"{name} must be a whole number from 1 up, not {count!r}")
        if not (math.isfinite(self.seconds) and 1.0 <= self.seconds <= 7200):
            raise OptionError(f"seconds must lie between 1 and 7200, not at {self.seconds!r}")
        if len({document.name for document in self.documents}) != len(self.documents) or not self.documents:
            raise OptionError("documents need different names, and there must be one")

    def __len__(self) -> int:
        return self.observers * self.sessions * len(self.documents)

    def readers(self) -> list[Reader]:
        """Return the participants."""
        return [Reader.of(observer) for observer in Population(self.seed).observers(self.observers)]

    def groups(self) -> dict[str, str]:
        """Return each observer's group."""
        return {reader.eyes.name: reader.group for reader in self.readers()}

    def recordings(self) -> Iterator[Recording]:
        """Yield all recordings, one reader after the other."""
        for reader in self.readers():
            for session in range(1, self.sessions + 1):
                for document in self.documents:
                    yield read(reader, document, self.tracker, self.seconds, session)


def read(reader: Reader, document: Document, tracker: Tracker, seconds: float, session: int = 1) -> Recording:
    """Record one participant reading one document."""
    today = replace(reader, eyes=reader.eyes.on_day(session))
    eyes = today.eyes
    rng = generator(eyes.seed, Purpose.RECORDING, eyes.index, session, f"reading {document.name}", 1)
    calibration = tracker.calibrate(eyes, generator(eyes.seed, Purpose.CALIBRATION, eyes.index, session))
    true = _reading_gaze(today, document, seconds, rng)
    times = tracker.clock(seconds, rng)
    x, y, tracked, pupil = tracker.observe(true, eyes, calibration, times, tracker.geometry, rng)
    for array in (times, x, y, tracked, pupil):
        array.flags.writeable = False  # a recording takes locked arrays without copying them
    labels: dict[str, Any] = {
        "observer": eyes.name,
        "stimulus": document.name,
        "session": str(session),
        "events": true_events(true, tracker.geometry),
        "rate_hz": tracker.rate_hz,
        "pupil_unit": tracker.pupil_unit,
    }
    return Recording(times, x, y, tracker.geometry, valid=tracked, pupil=pupil, **labels)


def _reading_gaze(reader: Reader, document: Document, seconds: float, rng: np.random.Generator) -> TrueGaze:
    """Return what the eye really does, every millisecond."""
    from gazeveil.simulate import eye_movement_kernels  # noqa: PLC0415  (compiles)

    eyes = replace(reader.eyes, blinks_per_minute=0.6 * reader.eyes.blinks_per_minute)  # readers blink less
    samples = max(1, round(seconds / STEP_S))
    gaze = np.empty((samples, 2))
    eye_movement_kernels.drift(
        rng.standard_normal((samples, 4), dtype=np.float32), eyes.drift_noise, eyes.drift_feedback, gaze
    )
    start = np.zeros(2)
    jumps = _jumps(reader, _path(reader, document, seconds, rng), gaze, start, rng)
    eye_movement_kernels.render(
        gaze, STEP_S, start, jumps, eyes.saccade_scale, eyes.saccade_stretch, eyes.saccade_curve, eyes.wobble_gain,
        eyes.wobble_hz,
    )  # fmt: skip
    page = Stimulus(document.name, (), document.brightness)
    return TrueGaze(gaze, jumps, blinks_of(eyes, seconds, rng), pupil_of(eyes, page, samples, rng, Resumed()))


def _path(reader: Reader, document: Document, seconds: float, rng: np.random.Generator) -> FloatArray:
    """Return where the eye wants to be and for how long: rows of x, y, seconds, until the time is up."""
    page = _Page(reader, document, rng)
    while page.spent < seconds:
        page.read()
    return np.array(page.places)


class _Page:
    """A reader going through the pages of a document."""

    def __init__(self, reader: Reader, document: Document, rng: np.random.Generator) -> None:
        self.reader, self.document, self.rng = reader, document, rng
        self.places: list[tuple[float, float, float]] = []
        self.spent = 0.0
        self._mood = 0.0  # pages differ, and so does attention
        self._spread = math.sqrt(math.log1p((0.8 * reader.eyes.fixation_cv) ** 2))

    def read(self) -> None:
        """Read one page, block by block."""
        document, rng = self.document, self.rng
        self._mood = 0.8 * self._mood + 0.08 * rng.standard_normal()
        # no two pages are set alike
        line_deg = document.line_deg * float(np.clip(math.exp(0.35 * rng.standard_normal()), 0.5, 1.6))
        block_width = line_deg + _GUTTER_DEG
        block_height = (document.lines + 2) * document.line_step_deg
        for block in range(document.columns * document.rows):
            row, column = divmod(block, document.columns)
            left = (column - (document.columns - 1) / 2) * block_width - line_deg / 2
            top = (row - document.rows / 2) * block_height + document.line_step_deg
            if rng.random() < min(document.pictures * self.reader.drawn_to_pictures, 0.95):
                self._look_at_picture(left + line_deg / 2, top + block_height / 2, block_width, block_height)
            for line in range(document.lines):
                self._read_line(left, left + line_deg, top + line * document.line_step_deg)
                if rng.random() < document.skips * self.reader.skims:
                    break

    def _read_line(self, left: float, end: float, y: float) -> None:
        document, reader, rng = self.document, self.reader, self.rng
        # a return sweep falls short, and a large miss is mended at once
        short = abs(rng.standard_normal()) * reader.sweep_error_deg
        if short > 0.8:
            self._rest(left + 0.8 + short, y, 0.6)
        x = left + 0.5 + 0.3 * rng.standard_normal()
        while x < end - 0.5:
            self._rest(x, y + 0.15 * rng.standard_normal())
            if rng.random() < document.regressions * reader.looks_back and x > left + 1.5:
                back = min(0.8 + rng.standard_gamma(2.0) * 0.6, x - left)
                self._rest(x - back, y + 0.15 * rng.standard_normal(), 0.9)
            x += max(document.forward_deg * reader.stride * (1.0 + 0.35 * rng.standard_normal()), 0.5)

    def _look_at_picture(self, x: float, y: float, width: float, height: float) -> None:
        for _ in range(1 + self.rng.poisson(self.document.picture_looks)):
            across, down = self.rng.standard_normal(2)
            self._rest(x + 0.3 * width * across, y + 0.3 * height * down, 1.15)

    def _rest(self, x: float, y: float, factor: float = 1.0) -> None:
        usual = self.reader.eyes.fixation_s * self.reader.pace * self.document.fixation_factor * math.exp(self._mood)
        scatter = math.exp(self._spread * self.rng.standard_normal() - self._spread**2 / 2)
        lasts = max(0.92 * factor * usual * scatter, 0.06)
        self.places.append((x, y, lasts))
        self.spent += lasts


def _jumps(
    reader: Reader, places: FloatArray, drifted: FloatArray, start: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Turn the places into saccades that land a little off; rows as in `eye_movement_kernels.walk`."""
    from gazeveil.simulate import eye_movement_kernels  # noqa: PLC0415  (compiles)

    jumps: FloatArray = eye_movement_kernels.follow(
        places,
        drifted,
        STEP_S,
        start,
        rng.standard_normal((len(places), 2)),
        np.exp(reader.eyes.velocity_scatter * rng.standard_normal(len(places))),
        np.array(
            [
                reader.eyes.saccade_ceiling,
                reader.eyes.saccade_scale,
                reader.eyes.saccade_stretch,
                reader.eyes.landing_scatter,
            ]
        ),
    )
    return jumps
