# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From raw gaze and pupil to the 52 features over time: eye events, saccade words, windows, one table for a corpus.

A fixation is a stretch in which gaze stays within a radius of the centroid so far; a saccade is what lies between two
fixations that follow one another closely; a blink is a loss of the eye that lasts as long as one. The general
detectors of `gazeveil.gaze.events` end a fixation at every lost sample and do not look inside it; these features need
both, so there is one pass of their own. It has unbounded reach (errata B10): no guarantee about a stretch of raw gaze
can be built on it, only on `gazeveil.features.bins`.

A large saccade is one of 16 letters, a small one of 8, by its direction. Directions are counted from right, upwards
first; the first bin of each is centred on right, so a saccade along a line of text is always the same letter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import InputError, OptionError
from gazeveil.features.feature_list import LONGEST_WORD, NAMES, SYMBOLS
from gazeveil.features.table import FIXED, WINDOWS, FeatureTable, Info
from gazeveil.gaze.corpus import Corpus, MapsRecordings, OneByOne
from gazeveil.gaze.events import LONGEST_BLINK, MAX_STEP, SHORTEST_BLINK, VELOCITY_WINDOW
from gazeveil.gaze.recording import Key, Recording
from gazeveil.geometry import Unit


@dataclass(frozen=True, slots=True)
class EventRules:
    """What counts as a fixation, a saccade and a blink. Lengths are in ``unit``, times in seconds.

    Attributes:
        unit: ``deg`` or ``norm`` (fractions of the viewing plane).
        radius: Farthest that gaze may be from the centroid of its fixation.
        min_velocity: Slowest peak velocity of a saccade, per second.
        min_fixation: Shortest fixation.
        max_gap: Longest time without good gaze within a fixation.
        max_saccade: Longest time between two fixations that is a saccade.
        min_amplitude_radii: Smallest saccade, in radii.
        large_radii: Where large saccades begin, in radii.
        velocity_span: Time over which a velocity is taken, at least.
        min_blink: Shortest blink, between the good samples around it.
        max_blink: Longest blink.
    """

    unit: Unit
    radius: float
    min_velocity: float
    min_fixation: float = 0.1
    max_gap: float = MAX_STEP
    max_saccade: float = 0.1
    min_amplitude_radii: float = 0.2
    large_radii: float = 2.0
    velocity_span: float = VELOCITY_WINDOW
    min_blink: float = SHORTEST_BLINK
    max_blink: float = LONGEST_BLINK

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", Unit(self.unit))
        if self.unit is Unit.PIXEL:
            raise OptionError("features are in degrees or in fractions of the viewing plane, not in pixels")
        for name, value in asdict(self).items():
            if name != "unit" and not (np.isfinite(value) and value >= 0):
                raise OptionError(f"{name} must be a number from 0 up, not {value!r}")
        if not self.radius > 0 or not self.min_fixation > 0 or not self.min_blink <= self.max_blink:
            raise OptionError("radius and min_fixation must be above 0, and min_blink at most max_blink")

    @staticmethod
    def in_degrees() -> EventRules:
        """Gaze within 1 degree of its centroid; saccades reach 20 deg/s."""
        return EventRules(Unit.DEGREE, radius=1.0, min_velocity=20.0)

    @staticmethod
    def in_fractions() -> EventRules:
        """As published: 0.01 of the viewing plane, and 2 viewing planes a second."""
        return EventRules(Unit.FRACTION, radius=0.01, min_velocity=2.0)

    @staticmethod
    def for_(recording: Recording) -> EventRules:
        """Return degrees where the recording's geometry knows them, else fractions."""
        return EventRules.in_degrees() if recording.geometry.knows_degrees else EventRules.in_fractions()

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values."""
        return {**asdict(self), "unit": str(self.unit)}


@dataclass(frozen=True, slots=True, eq=False)
class EyeEvents:
    """The events of one recording; tables have one column per event, in order of onset.

    Attributes:
        t: Times of the samples.
        errors: Which samples have no gaze, or gaze far off the viewing plane.
        repeats: Which samples repeat the one before exactly.
        fixations: Onset, offset, centre x and y, variance of x and y, mean and variance of the pupil.
        saccades: Onset, way across, way down, amplitude, peak velocity.
        blinks: Onset, duration.
    """

    t: FloatArray
    errors: NDArray[np.bool_]
    repeats: NDArray[np.bool_]
    fixations: FloatArray
    saccades: FloatArray
    blinks: FloatArray


def find_events(recording: Recording, rules: EventRules) -> EyeEvents:
    """Find what the features are made of.

    Raises:
        InputError: If the device's time goes backwards.
    """
    from gazeveil.features import extraction_kernels as kernels  # noqa: PLC0415  (compiles)

    t, x, y, pupil = samples_of(recording, rules.unit)
    if not (pupil > 0).any():  # a channel that never saw a pupil says nothing about blinks
        pupil = np.empty(0)
    flags = np.zeros(len(t), dtype=np.uint8)
    seconds = float(t[-1] - t[0]) if len(t) else 0.0
    most = min(len(t), int(seconds / rules.min_fixation)) + 2
    fixations = np.empty((kernels.FIXATION_ROWS, most))
    saccades = np.empty((kernels.SACCADE_ROWS, most))
    blinks = np.empty((kernels.BLINK_ROWS, len(t) // 2 + 2))
    limits = (
        rules.radius, rules.min_fixation, rules.max_gap, rules.max_saccade, rules.min_amplitude_radii * rules.radius,
        rules.min_velocity, rules.velocity_span, rules.min_blink, rules.max_blink,
    )  # fmt: skip
    counts = kernels.find(
        t, x, y, pupil, plane_of(recording, rules.unit), np.array(limits), flags, fixations, saccades, blinks
    )
    return EyeEvents(
        t,
        (flags & kernels.ERROR) != 0,
        (flags & kernels.REPEAT) != 0,
        *(np.ascontiguousarray(table[:, :n]) for table, n in zip((fixations, saccades, blinks), counts, strict=True)),
    )


def samples_of(recording: Recording, unit: Unit) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return t, x, y in the unit, and the pupil (empty if there is none), without samples of unknown time.

    Raises:
        InputError: If the device's time goes backwards, or it is a list of fixations.
    """
    recording.need_samples("a table of features")
    timed = np.isfinite(recording.t)
    # between known times: a sample of unknown time in between must not hide that the clock ran back
    if backwards := int((np.diff(recording.t[timed]) < 0).sum()):
        raise InputError(
            f"the device's time goes backwards {backwards:,} times in {recording.key}",
            hint="cut the recording there, for example with Recording.between",
        )
    x, y = recording.geometry.convert(recording.x, recording.y, unit)
    pupil = np.empty(0) if recording.pupil is None else recording.pupil
    columns = [recording.t, x, y, pupil]
    if not timed.all():
        columns = [column[timed] if len(column) else column for column in columns]
    # copies where needed, because kernels are compiled for writeable arrays in one piece
    t, x, y, pupil = (np.require(column, requirements=["C", "W"]) for column in columns)
    return t, x, y, pupil


def plane_of(recording: Recording, unit: Unit) -> FloatArray:
    """Return the part of the viewing plane where gaze can be.

    Half a viewing plane beyond each edge, if the edges are known.
    """
    geometry = recording.geometry
    knows_edges = geometry.unit is not Unit.DEGREE or geometry.fov_x_deg is not None or geometry.width_mm is not None
    if not knows_edges or (unit is Unit.DEGREE and not geometry.knows_degrees):
        return np.array([-np.inf, -np.inf, np.inf, np.inf])
    ends = np.array([-0.5, 1.5])
    x, y = geometry.in_unit(Unit.FRACTION).convert(ends, ends, unit)
    return np.array([x[0], y[0], x[1], y[1]])


# --- Saccades as letters, consecutive saccades as words (the wordbook of Bulling 2011).


LARGE_DIRECTIONS, SMALL_DIRECTIONS = 16, 8


def letters(across: FloatArray, down: FloatArray, large: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return each saccade's letter: 0 to 15 for large ones, 16 to 23 for small ones; y grows downwards."""
    turns = np.arctan2(-down, across) / (2.0 * np.pi)
    directions = np.where(large, LARGE_DIRECTIONS, SMALL_DIRECTIONS)
    bins = np.floor(turns * directions + 0.5).astype(np.int64) % directions
    return np.where(large, bins, LARGE_DIRECTIONS + bins)


def words(spelled: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Return the number of each word of ``length`` letters, all len - length + 1 of them, in base 24."""
    count = max(len(spelled) - length + 1, 0)
    number = np.zeros(count, dtype=np.int64)
    for place in range(length):
        number = number * SYMBOLS + spelled[place : place + count]
    return number


def numbered(spelled: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for words of 1 to 4 letters, a small number for each word, and how many different ones there are.

    Of 331,776 possible words of four letters a recording has a few hundred; only those are counted.
    The numbers of words that would run over the end are -1.
    """
    ids = np.full((LONGEST_WORD, len(spelled)), -1, dtype=np.int64)
    different = np.zeros(LONGEST_WORD, dtype=np.int64)
    for length in range(1, LONGEST_WORD + 1):
        found, which = np.unique(words(spelled, length), return_inverse=True)
        ids[length - 1, : len(which)] = which
        different[length - 1] = len(found)
    return ids, different


# --- Where the windows lie, which of them can be used, and the 52 features in each.


_MOST = 1 << 24
"""More windows than any recording has: three months at two a second."""


@dataclass(frozen=True, slots=True)
class QualityRules:
    """Which windows are usable; in the others every feature is NaN.

    Attributes:
        min_covered: Least that the samples, at the recording's rate, cover of the window's length.
        max_covered: Most.
        max_errors: Share of samples without gaze, or off the viewing plane, that a window must stay below.
        min_samples: Fewest samples.
        max_repeats: Largest share of samples that repeat the one before exactly: a frozen tracker.
    """

    min_covered: float = 0.9
    max_covered: float = 1.1
    max_errors: float = 0.5
    min_samples: int = 5
    max_repeats: float = 0.66

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values."""
        return asdict(self)


def window_starts(t: FloatArray, rate: float, window: float, step: float, most: int | None = None) -> FloatArray:
    """Return where windows start: every ``step`` from the first sample on, as long as a whole window fits.

    With ``most``, no more windows than that: a clock that jumped by years must not ask for years of windows.

    A sample stands for one step of the tracker, so a recording of 900 samples at 30 Hz lasts 30 s; half a step is
    forgiven, because clocks jitter.

    Raises:
        OptionError: If window or step cannot be.
        InputError: If not even one window fits.
    """
    for name, value in (("window", window), ("step", step)):
        if not (np.isfinite(value) and value > 0):
            raise OptionError(f"{name} must be a number of seconds above 0, not {value!r}")
    lasts = float(t[-1] - t[0]) + 1.0 / rate if len(t) and np.isfinite(rate) else 0.0
    forgiven = 0.5 / rate + 1e-6
    if not lasts >= window - forgiven:
        raise InputError(
            f"the recording lasts {lasts:.2f} s, which is shorter than a window of {window:g} s",
            hint="choose a shorter window, or leave the recording out",
        )
    count = int(np.floor((lasts - window + forgiven) / step)) + 1
    count = count if most is None else min(count, most)
    starts = np.asarray(t[0] + np.arange(min(count, _MOST)) * step)
    if count > _MOST or (count > 1 and starts[-1] - starts[-2] <= 0.5 * step):
        raise InputError(
            f"the device's time goes from {t[0]:g} to {t[-1]:g} s: that is no clock of a recording",
            hint="mend the clock, or leave the recording out",
        )
    return starts


def window_features(
    events: EyeEvents, starts: FloatArray, window: float, rate: float, large_from: float, quality: QualityRules
) -> tuple[FloatArray, FloatArray]:
    """Return the features (windows x 52) and the quality (windows x 5: samples, covered, errors, repeats, usable)."""
    from gazeveil.features.extraction_kernels import slide  # noqa: PLC0415  (compiles)

    _, across, down, amplitude, _ = events.saccades
    words, different = numbered(letters(across, down, amplitude >= large_from))
    out, found = np.empty((len(starts), len(NAMES))), np.empty((len(starts), 5))
    limits = np.array([float(value) for value in asdict(quality).values()])
    slide(  # for whole numbers it would be compiled again
        starts, float(window), float(rate), limits, events.t, events.errors, events.repeats,
        np.vstack((events.fixations, events.fixations[1] - events.fixations[0])), events.saccades, events.blinks,
        large_from, words, different, SYMBOLS, found, out,
    )  # fmt: skip
    return out, found


# --- From raw gaze and pupil to the 52 features over time, for one recording or a whole corpus.


WINDOW_S: Final = 30.0
STEP_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Extracted:
    """The features of a corpus, and what was left out and why."""

    table: FeatureTable
    left_out: Mapping[Key, str] = field(default_factory=dict)


def extract(
    recording: Recording,
    *,
    window: float = WINDOW_S,
    step: float = STEP_S,
    rules: EventRules | None = None,
    quality: QualityRules | None = None,
    task: str | None = None,
    group: str = "",
    most: int | None = None,
) -> FeatureTable:
    """Compute the 52 features of one recording in a sliding window.

    Args:
        recording: Gaze, with a pupil where there is one.
        window: Seconds a window lasts.
        step: Seconds from one window to the next.
        rules: What fixations, saccades and blinks are; by default in degrees where the geometry knows them, else in
            fractions of the viewing plane as published.
        quality: Which windows are usable.
        task: What the participant did; by default the stimulus.
        group: Which group the participant belongs to, for comparisons.
        most: No more windows than this.

    Raises:
        InputError: If the recording is shorter than a window, or its time goes backwards.
    """
    rules = EventRules.for_(recording) if rules is None else rules
    quality = QualityRules() if quality is None else quality
    events = find_events(recording, rules)
    rate = recording.rate
    starts = window_starts(events.t, rate, window, step, most)
    values, found = window_features(events, starts, window, rate, rules.large_radii * rules.radius, quality)
    settings = {"rules": rules.to_dict(), "quality": quality.to_dict()}
    info = Info(WINDOWS, NAMES, window, step, str(rules.unit), recording.pupil_unit, settings=settings)
    return as_table(recording.key, recording.stimulus if task is None else task, group, starts, values, found, info)


def extract_corpus(
    corpus: Corpus,
    *,
    window: float = WINDOW_S,
    step: float = STEP_S,
    rules: EventRules | None = None,
    quality: QualityRules | None = None,
    tasks: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
    tell: Tell | None = None,
    engine: MapsRecordings | None = None,
) -> Extracted:
    """Compute the 52 features of every recording of a corpus; recordings that cannot be used are reported, not hidden.

    Args:
        corpus: The recordings; one is in memory at a time.
        window: Seconds a window lasts.
        step: Seconds from one window to the next.
        rules: As in `extract`; one set for all (`rules_of`).
        quality: Which windows are usable.
        tasks: The task of each stimulus, where it is not the stimulus itself.
        groups: The group of each observer, where known.
        tell: Called with how much is done, and of how much.
        engine: Where recordings are worked on; by default in this thread, one after the other.

    Raises:
        InputError: If no recording can be used.
    """
    rules = rules_of(corpus) if rules is None else rules
    one = partial(extract, window=window, step=step, rules=rules, quality=quality)
    return of_corpus(corpus, one, tasks=tasks, groups=groups, tell=tell, engine=engine)


def rules_of(corpus: Corpus) -> EventRules:
    """Return rules in degrees if every geometry of the corpus knows them, else in fractions of the viewing plane."""
    known = all(part.label.geometry.knows_degrees for part in corpus.parts)
    return EventRules.in_degrees() if known else EventRules.in_fractions()


@dataclass(frozen=True, slots=True)
class _TableOrReason:
    """Turns a recording into its table, or into the reason why it cannot be used."""

    one: Callable[[Recording], FeatureTable]

    def __call__(self, recording: Recording) -> tuple[Key, FeatureTable | str]:
        try:
            return recording.key, self.one(recording)
        except InputError as error:
            if type(error) is not InputError:  # a wrong option or geometry is wrong for all
                raise
            return recording.key, error.message


def of_corpus(
    corpus: Corpus,
    one: Callable[[Recording], FeatureTable],
    *,
    tasks: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
    tell: Tell | None = None,
    engine: MapsRecordings | None = None,
) -> Extracted:
    """Put the tables of all recordings together, with labels; see `extract_corpus`. ``one`` must pickle."""
    mapper = OneByOne() if engine is None else engine
    tables: list[FeatureTable] = []
    left_out: dict[Key, str] = {}
    for key, found in mapper.map_recordings(corpus, _TableOrReason(one), silent if tell is None else tell):
        if isinstance(found, str):
            left_out[key] = found
        else:
            tables.append(found)
    if not tables:
        reason = f": {next(iter(left_out.values()))}" if left_out else ""
        raise InputError(f"no recording of the corpus can be used{reason}", hint="see `gazeveil info`")
    if len({table.info.pupil_unit for table in tables}) > 1:
        check_pupil_units(corpus)
    return Extracted(FeatureTable.concat(tables).with_tasks(tasks or {}).with_groups(groups or {}), left_out)


def check_pupil_units(corpus: Corpus) -> None:
    """Check that the pupils of a corpus are in one unit.

    Raises:
        InputError: If they are not.
    """
    units = sorted({part.label.pupil_unit or "arbitrary" for part in corpus.parts})
    if len(units) > 1:
        raise InputError(
            f"pupils are in different units ({', '.join(units)})",
            hint="select recordings of one tracker, or declare the unit in a study",
        )


def as_table(
    key: Key, task: str, group: str, starts: FloatArray, values: FloatArray, quality: FloatArray, info: Info
) -> FeatureTable:
    """Put one recording's windows or bins into a table; ``quality`` has the columns of `table.QUALITY`."""
    count = len(starts)
    labels = {**key._asdict(), "task": task, "group": group}
    columns: dict[str, object] = {
        name: pl.Series(name, [text], dtype=pl.String).new_from_index(0, count) for name, text in labels.items()
    }
    samples, covered, errors, repeats, usable = quality.T
    columns |= {"start": starts, "end": starts + info.window, "samples": samples.astype("int64"), "covered": covered}
    columns |= {"errors": errors, "repeats": repeats, "usable": usable > 0}
    columns |= dict(zip(info.names, values.T, strict=True))
    return FeatureTable(pl.DataFrame(columns, schema_overrides=dict(FIXED)), replace(info))
