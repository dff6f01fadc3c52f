# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of areas of interest: one observer's rows as visits to areas, then as integers of bounded size.

These functions return something whatever one participant's rows look like: an error that one participant's gaze can
cause would reveal something about that participant. So times are whole microseconds, and a recording that a detector
refuses has no fixations.

A statistic turns the viewings of one observer into integers that are never negative, in units of 1/`UNIT`, rounded
toward zero. Its `Bounds` hold for every observer, whatever their gaze; the kernel checks them. From them follow the
sensitivities (docs/proofs/aoi-statistics.md).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.engine import Columns, counted_seconds
from gazeveil.arrays import BoolArray, IntArray
from gazeveil.errors import GazeveilError, InternalError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.aoi import MAX_HOLD, AreasOfInterest
from gazeveil.gaze.events import Detector
from gazeveil.gaze.recording import Key, Recording
from gazeveil.geometry import Geometry
from gazeveil.options import setting
from gazeveil.privacy.protection import Neighbours
from gazeveil.registry import Names

MICROSECONDS = 1_000_000
_LONGEST = 1 << 50
"""Microseconds: 35 years. Later counts as never."""

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
    """Return how long gaze was in each area: a sample holds until the next, if that comes within `MAX_HOLD`."""
    label = areas.hits(recording)
    t = np.where(np.isfinite(recording.t), recording.t, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.append(np.diff(t), 0.0)
        holds = recording.tracked & (step > 0) & (step <= MAX_HOLD + 1e-6)
    lasted = _microseconds(step[holds])
    place = np.where(label[holds] < 0, len(areas), label[holds])
    sums = np.bincount(place, weights=lasted, minlength=len(areas) + 1)  # exact below 2**53
    return np.asarray(sums, dtype=np.int64)


def _microseconds(seconds: NDArray[np.float64]) -> IntArray:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.nan_to_num(np.rint(seconds * MICROSECONDS), nan=_LONGEST, posinf=_LONGEST, neginf=0.0)
    return np.asarray(np.clip(scaled, 0.0, _LONGEST), dtype=np.int64)


# --- The statistics, and how far one observer can move each.


UNIT = 1 << 20
"""Steps of the fixed point: what is rounded away is below a millionth."""

MOST_CELLS = 10_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large one observer's integers can be: none is negative.

    Attributes:
        cells: How many integers there are.
        largest: The most that one of them can be.
        total: The most that they add up to.
        square: The most that their squares add up to.
    """

    cells: int
    largest: int
    total: int
    square: int

    def l1(self, neighbours: Neighbours) -> int:
        """Return how far one observer moves the sum of all observers in ℓ1."""
        people = 2 if neighbours is Neighbours.REPLACE_ONE else 1
        return min(people * self.total, self.cells * self.largest)

    def l2_square(self, neighbours: Neighbours) -> int:
        """Return the square of how far one observer moves the sum of all observers in ℓ2."""
        people = 2 if neighbours is Neighbours.REPLACE_ONE else 1
        return min(people * self.square, self.cells * self.largest**2)

    def hold_for(self, values: IntArray) -> bool:
        """Whether one observer's integers keep the bounds; in integers of any size."""
        numbers = values.tolist()
        return (
            len(numbers) == self.cells
            and all(0 <= number <= self.largest for number in numbers)
            and sum(numbers) <= self.total
            and sum(number * number for number in numbers) <= self.square
        )


class Statistic(Protocol):
    """A question about areas of interest: a frozen dataclass of public numbers."""

    name: ClassVar[str]
    words: ClassVar[str]
    needs_fixations: ClassVar[bool]
    needs_stated: ClassVar[tuple[str, ...]]
    """What lists of fixations have to state for it, if they are what participants recorded."""

    def cells(self, areas: Sequence[str]) -> list[tuple[str, ...]]:
        """Return what each integer is about: one or more areas."""
        ...

    def bounds(self, areas: int) -> Bounds:
        """Return how large one observer's integers can be, for this many areas."""
        ...

    def of(self, viewings: Sequence[Viewing], areas: int) -> IntArray:
        """Return one observer's integers, from all viewings of one stimulus; zeros if there is none."""
        ...

    def span(self) -> tuple[float, float]:
        """Return what an integer of 0 and one of the largest mean, in the unit that participants read."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the statistic and its parameters as plain values."""
        ...


class _Described:
    """What all statistics share."""

    __slots__ = ()
    name: ClassVar[str]
    needs_stated: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the statistic and its parameters as plain values."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


class _OfAreas(_Described):
    """A statistic with one number for each area."""

    __slots__ = ()

    def cells(self, areas: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the areas."""
        return [(area,) for area in areas]


@dataclass(frozen=True, slots=True)
class DwellShare(_OfAreas):
    """The share of the tracked time that an observer's gaze was in each area; the rest was elsewhere.

    Of a list of fixations the tracked time is that of all fixations together.
    """

    name: ClassVar[str] = "dwell"
    words: ClassVar[str] = "share of the tracked time"
    needs_fixations: ClassVar[bool] = False
    needs_stated: ClassVar[tuple[str, ...]] = ("duration",)

    def bounds(self, areas: int) -> Bounds:
        """Shares of one whole."""
        return Bounds(areas, UNIT, UNIT, UNIT**2)

    def of(self, viewings: Sequence[Viewing], areas: int) -> IntArray:
        """Return shares of all viewings together."""
        held = [sum(int(viewing.held[area]) for viewing in viewings) for area in range(areas + 1)]
        return _shares(held[:areas], sum(held))

    def span(self) -> tuple[float, float]:
        """From none to all of the time."""
        return 0.0, 1.0


@dataclass(frozen=True, slots=True)
class FixationCount(_OfAreas):
    """How many fixations an observer makes on each area in a viewing: the first ``most`` count.

    Attributes:
        most: Fixations on areas that count in a viewing; public.
    """

    name: ClassVar[str] = "fixations"
    words: ClassVar[str] = "fixations in a viewing"
    needs_fixations: ClassVar[bool] = True

    most: int = setting(12, option="--most-fixations")

    def __post_init__(self) -> None:
        _whole(self.most, "most")

    def bounds(self, areas: int) -> Bounds:
        """Counts that add up to at most ``most``."""
        full = self.most * UNIT
        return Bounds(areas, full, full, full**2)

    def of(self, viewings: Sequence[Viewing], areas: int) -> IntArray:
        """Return the mean over viewings."""
        counts = np.zeros(areas, dtype=np.int64)
        for viewing in viewings:
            counts += np.bincount(viewing.areas[viewing.areas >= 0][: self.most], minlength=areas)
        return _shares(counts.tolist(), len(viewings))

    def span(self) -> tuple[float, float]:
        """From none to all that count."""
        return 0.0, float(self.most)


@dataclass(frozen=True, slots=True)
class _Within(_OfAreas):
    """Something about the first fixation on each area, within a public time.

    Attributes:
        within: Seconds from the first sample; what comes later counts as never.
    """

    needs_fixations: ClassVar[bool] = True
    needs_stated: ClassVar[tuple[str, ...]] = ("start",)

    within: float = setting(5.0, metavar="SECONDS")

    def __post_init__(self) -> None:
        if isinstance(self.within, bool) or not (math.isfinite(self.within) and 0.001 <= self.within <= 86_400):
            raise OptionError(f"within must be seconds from 0.001 to 86,400, not {self.within!r}")
        object.__setattr__(self, "within", float(self.within))

    @property
    def limit(self) -> int:
        """The time in microseconds."""
        return round(self.within * MICROSECONDS)

    def bounds(self, areas: int) -> Bounds:
        """Each area may reach the largest value by itself."""
        return Bounds(areas, UNIT, areas * UNIT, areas * UNIT**2)

    def left(self, viewing: Viewing, areas: int) -> IntArray:
        """Return the microseconds left of the time at the first fixation on each area; 0 if there is none."""
        left = np.zeros(areas, dtype=np.int64)
        seen = viewing.areas >= 0
        np.maximum.at(left, viewing.areas[seen], np.maximum(self.limit - viewing.onsets[seen], 0))
        return left


@dataclass(frozen=True, slots=True)
class TimeToFirstFixation(_Within):
    """Seconds from the first sample to the first fixation on each area; never counts as ``within``.

    Attributes:
        within: Seconds; a later first fixation, and none at all, count as this.
    """

    name: ClassVar[str] = "first-fixation"
    words: ClassVar[str] = "seconds to the first fixation"

    def of(self, viewings: Sequence[Viewing], areas: int) -> IntArray:
        """Return how early it was, as a share of the time, as a mean over viewings: 0 for never."""
        left = sum((self.left(viewing, areas) for viewing in viewings), start=np.zeros(areas, dtype=np.int64))
        return _shares(left.tolist(), len(viewings) * self.limit)

    def span(self) -> tuple[float, float]:
        """Early is a small number of seconds."""
        return self.within, 0.0


@dataclass(frozen=True, slots=True)
class Reached(_Within):
    """The share of viewings in which each area was fixated within a time.

    Attributes:
        within: Seconds from the first sample.
    """

    name: ClassVar[str] = "reached"
    words: ClassVar[str] = "share of viewings with a fixation"

    def of(self, viewings: Sequence[Viewing], areas: int) -> IntArray:
        """Return the share of this observer's viewings."""
        hits = sum(((self.left(viewing, areas) > 0) for viewing in viewings), start=np.zeros(areas, dtype=np.int64))
        return _shares(hits.tolist(), len(viewings))

    def span(self) -> tuple[float, float]:
        """From nobody to everyone."""
        return 0.0, 1.0


class _OfOrder(_Described):
    """A statistic of the order in which areas are visited."""

    __slots__ = ()
    length: int

    def cells(self, areas: Sequence[str]) -> list[tuple[str, ...]]:
        """Return all orders of areas, in which none follows itself."""
        return [tuple(areas[area] for area in order) for order in _orders(len(areas), self.length)]

    def _found(self, viewings: Sequence[Viewing], areas: int) -> list[int]:
        """Return the cell of every run of visits, as they happened."""
        index = _cell_of(areas, self.length)
        found = []
        for viewing in viewings:
            visits = [area for area, _ in itertools.groupby(viewing.areas[viewing.areas >= 0].tolist())]
            found += [index[tuple(visits[at : at + self.length])] for at in range(len(visits) - self.length + 1)]
        return found


@dataclass(frozen=True, slots=True)
class Transitions(_OfOrder):
    """The share of an observer's transitions that go from each area to each other one."""

    name: ClassVar[str] = "transitions"
    words: ClassVar[str] = "share of transitions"
    needs_fixations: ClassVar[bool] = True
    length: ClassVar[int] = 2  # type: ignore[misc]

    def bounds(self, areas: int) -> Bounds:
        """Shares of one whole."""
        return Bounds(_count(areas, self.length), UNIT, UNIT, UNIT**2)

    def of(self, viewings: Sequence[Viewing], areas: int) -> IntArray:
        """Return shares of the transitions of all viewings."""
        found = self._found(viewings, areas)
        counts = np.bincount(np.array(found, dtype=np.int64), minlength=_count(areas, self.length))
        return _shares(counts.tolist(), len(found))

    def span(self) -> tuple[float, float]:
        """From none to all of the transitions."""
        return 0.0, 1.0


@dataclass(frozen=True, slots=True)
class VisitOrder(_OfOrder):
    """The share of observers who visit areas in each order, one after the other; the first ``most`` orders count.

    Attributes:
        length: Visits in an order: 1, 2 or 3.
        most: Orders that count for a participant, the earliest first; public.
    """

    name: ClassVar[str] = "visit-order"
    words: ClassVar[str] = "share of observers"
    needs_fixations: ClassVar[bool] = True

    length: int = setting(3, option="--order-length")
    most: int = setting(4, option="--most-orders")

    def __post_init__(self) -> None:
        _whole(self.most, "most")
        if self.length not in (1, 2, 3) or isinstance(self.length, bool):
            raise OptionError(f"length must be 1, 2 or 3, not {self.length!r}")

    def bounds(self, areas: int) -> Bounds:
        """At most ``most`` cells are full, all others empty."""
        cells = _count(areas, self.length)
        full = min(self.most, cells)
        return Bounds(cells, UNIT, full * UNIT, full * UNIT**2)

    def of(self, viewings: Sequence[Viewing], areas: int) -> IntArray:
        """Return which orders occur."""
        values = np.zeros(_count(areas, self.length), dtype=np.int64)
        values[list(dict.fromkeys(self._found(viewings, areas)))[: self.most]] = UNIT
        return values

    def span(self) -> tuple[float, float]:
        """From nobody to everyone."""
        return 0.0, 1.0


STATISTICS: Names[Callable[..., Statistic]] = Names(
    "AOI statistic",
    {
        "dwell": DwellShare,
        "first-fixation": TimeToFirstFixation,
        "fixations": FixationCount,
        "reached": Reached,
        "transitions": Transitions,
        "visit-order": VisitOrder,
    },
)
"""Statistics by name: ``STATISTICS["dwell"]()``."""


def _shares(parts: Sequence[int], whole: int) -> IntArray:
    """Return parts of a whole in units, rounded toward zero; in integers of any size, so nothing overflows."""
    return np.array([part * UNIT // whole if whole else 0 for part in parts], dtype=np.int64)


def _orders(areas: int, length: int) -> list[tuple[int, ...]]:
    orders = itertools.product(range(areas), repeat=length)
    return [order for order in orders if all(a != b for a, b in itertools.pairwise(order))]


@lru_cache(maxsize=8)
def _cell_of(areas: int, length: int) -> dict[tuple[int, ...], int]:
    return {order: cell for cell, order in enumerate(_orders(areas, length))}


def _count(areas: int, length: int) -> int:
    return int(areas * (areas - 1) ** (length - 1))


def _whole(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10_000:
        raise OptionError(f"{name} must be a whole number from 1 to 10,000, not {value!r}")


# --- One observer's rows to integers: every statistic of every stimulus, one after the other.


@dataclass(frozen=True, slots=True)
class Question:
    """One statistic of one stimulus.

    Attributes:
        stimulus: What was looked at.
        areas: The areas on it.
        statistic: What is asked.
    """

    stimulus: str
    areas: AreasOfInterest
    statistic: Statistic

    @property
    def bounds(self) -> Bounds:
        """How large one observer's integers can be."""
        return self.statistic.bounds(len(self.areas))

    def labels(self) -> list[tuple[str, ...]]:
        """Return the areas that each integer is about."""
        return self.statistic.cells(self.areas.names)


@dataclass(frozen=True, slots=True)
class AoiKernel:
    """The integers of one observer for all questions.

    Attributes:
        questions: What is asked.
        geometry: The viewing plane of the gaze.
        detector: How fixations are found.
        stated: None for samples; for lists of fixations, what they state of each.
    """

    questions: tuple[Question, ...]
    geometry: Geometry
    detector: Detector
    stated: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        """How many integers it gives."""
        return sum(question.bounds.cells for question in self.questions)

    @property
    def columns(self) -> tuple[str, ...]:
        """Which columns of the corpus it needs."""
        gaze = ("stimulus", "session", "trial", "t", "x", "y", "valid")
        return gaze if self.stated is None else (*gaze, schema.DURATION)

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers.

        Raises:
            InternalError: If they do not keep the bounds that the noise relies on.
        """
        with np.errstate(all="ignore"):  # gaze far off overflows to infinity, which is in no area
            viewings = self._viewings(rows)
        parts = []
        for question in self.questions:
            values = question.statistic.of(viewings.get(question.stimulus, ()), len(question.areas))
            if not question.bounds.hold_for(values):
                raise InternalError(f"an observer goes beyond the bounds of {question.statistic.name!r}")
            parts.append(values)
        return np.concatenate(parts)

    def _viewings(self, rows: Columns) -> dict[str, list[Viewing]]:
        asked: dict[str, AreasOfInterest] = {question.stimulus: question.areas for question in self.questions}
        needing = {question.stimulus for question in self.questions if question.statistic.needs_fixations}
        found: dict[str, list[Viewing]] = {}
        for recording in recordings_of(rows, self.geometry):
            name = recording.stimulus
            if name not in asked:
                continue
            if self.stated is not None:
                viewing = view_list(recording, asked[name], self.stated)
            else:
                viewing = view(recording, asked[name], self.detector if name in needing else None)
            found.setdefault(name, []).append(viewing)
        return found
