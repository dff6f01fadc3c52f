# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What can be audited: a mechanism, what it claims, and neighbouring inputs that are hard for it.

A mechanism enters the list of ``gazeveil lab audit`` with a decorator on a function that builds its subject::

    @auditable("acme-noise")
    def acme_noise(epsilon: float = 1.0) -> Subject:
        "Counts with Acme's noise."
        return Subject(AcmeNoise(epsilon).run, PureDP(epsilon), (Pair(0, 1, "a count of 0 and a count of 1"),))

The parameters of the function are its options, given as ``--set epsilon=2``. The subjects of a package are in its
module ``audited``, for example `gazeveil.samples.audited`; `SUBJECTS` names these modules and imports them on use.

All inputs are made up from nothing but the bounds that a guarantee speaks of: no participant's data goes into an audit.

A data set is a table of integers, one row an observer, one column a cell of the map. Clipping bounds what one observer
may add: to a cell (``cap``), in all (``total``, the l1 norm), and in l2 norm (``norm``). The observers here go to
those bounds and never beyond; they are the shapes at which l1, l2 and largest-cell sensitivity are reached.

Time stamps are public and the same on both sides, so the clock is a choice of its own: as recorded, with a burst of
samples in the window, or jittered. A mechanism that counts samples instead of seconds overspends in a burst (K3).
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Eye, Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.noise.source import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.protection import Neighbours
from gazeveil.registry import Registry


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two neighbouring inputs, in whatever form the mechanism takes them, and how they differ in words."""

    first: Any
    second: Any
    words: str = "two neighbouring inputs"


Mechanism = Callable[[Any, NoiseSource, int], NDArray[Any]]
"""Runs a mechanism on one input, this many trials with fresh noise each; returns a row of numbers for each trial."""

LogRatio = Callable[[NDArray[Any], Any, Any], NDArray[np.float64]]
"""How much likelier each row of outputs is on the first input than on the second, as a logarithm."""


class ExactLoss(Protocol):
    """The privacy loss of a mechanism, where it can be computed instead of sampled. Both answers are rounded down."""

    @property
    def words(self) -> str:
        """How it was computed, as the end of a sentence."""
        ...

    def epsilon_at(self, delta: float) -> float:
        """Return the least ε that is true at δ, or slightly less."""
        ...

    def delta_at(self, epsilon: float) -> float:
        """Return the least δ that is true at ε, or slightly less."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Something to audit.

    Attributes:
        run: Runs the mechanism. To use several processes it must be importable: a function of a module, or a method
            of a value that can be pickled.
        claim: What is guaranteed, or claimed.
        pairs: Neighbouring inputs to try; the worst for the mechanism are best. Never participants' data.
        log_ratio: The logarithm of the ratio of densities, where it is known: the sharpest event there is.
        exact: The loss itself, where it can be computed: then no sampling is needed.
    """

    run: Mechanism
    claim: Guarantee
    pairs: Sequence[Pair]
    log_ratio: LogRatio | None = None
    exact: ExactLoss | None = None

    def __post_init__(self) -> None:
        if not self.pairs:
            raise OptionError("an audit needs at least one pair of neighbouring inputs")


SubjectBuilder = Callable[..., Subject]

SUBJECTS: Registry[SubjectBuilder] = Registry(
    "audit subject",
    "gazeveil.aggregate.audited",
    "gazeveil.features.audited",
    "gazeveil.gateway.audited",
    "gazeveil.privacy.audit.audited",
    "gazeveil.samples.audited",
)
"""Functions that build a subject, by name: ``SUBJECTS["lattice-laplace"](epsilon=2.0)``."""


def auditable(name: str) -> Callable[[SubjectBuilder], SubjectBuilder]:
    """Return a decorator that enters a function that builds a subject."""
    return SUBJECTS.register(name)


def about(builder: SubjectBuilder) -> str:
    """Return in one line what a subject is: the first line of its builder's docstring."""
    return (inspect.getdoc(builder) or "").split("\n", 1)[0]


def options_of(builder: SubjectBuilder) -> dict[str, Any]:
    """Return the options of a subject and their defaults."""
    return {name: option.default for name, option in inspect.signature(builder).parameters.items()}


def build(name: str, options: Mapping[str, str] | None = None) -> Subject:
    """Return the subject of that name, its options given as text.

    Raises:
        OptionError: If there is no such option, or its value cannot be read.
    """
    builder = SUBJECTS[name]
    kinds = typing.get_type_hints(builder)
    known = options_of(builder)
    values = {}
    for option, text in (options or {}).items():
        if option not in known:
            raise OptionError(f"{name} has no option {option!r}", hint=f"it has: {', '.join(known) or 'none'}")
        try:
            values[option] = kinds[option](text)
        except ValueError:
            raise OptionError(f"{option} must be of type {kinds[option].__name__}, not {text!r}") from None
    return builder(**values)


# --- Data sets that differ in one observer, as far as clipping lets one observer go.


def observer_pairs(
    maps: ArrayLike,
    *,
    cap: int,
    total: int | None = None,
    norm: int | None = None,
    neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
) -> Iterator[Pair]:
    """Return data sets that differ in their last observer, each in another extreme way.

    Args:
        maps: The other observers and one more, one row each; all zeros will do.
        cap: The most that an observer adds to a cell.
        total: The most that an observer adds in all; no bound if left out.
        norm: The largest l2 norm of an observer's map; no bound if left out.
        neighbours: Whether the observer is replaced, or there at all.

    Raises:
        OptionError: If the maps are not a table of integers, or a bound is not a positive integer.
    """
    table = np.asarray(maps)
    if table.ndim != 2 or table.dtype.kind not in "iu" or 0 in table.shape:
        raise OptionError(f"observers are rows of integers, not {table.dtype} of shape {table.shape}")
    others, cells = table[:-1].astype(np.int64), table.shape[1]
    shapes = extreme_maps(cells, cap=cap, total=total, norm=norm)
    if Neighbours(neighbours) is Neighbours.ADD_REMOVE:
        for words, shape in shapes.items():
            yield Pair(np.vstack([others, shape]), others, f"one observer who {words}, there or not")
        return
    nothing = np.zeros(cells, dtype=np.int64)
    for words, shape in shapes.items():
        yield Pair(np.vstack([others, shape]), np.vstack([others, nothing]), f"one observer who {words}, or nothing")
        mirrored = shape[::-1]
        if not np.any(shape * mirrored):  # elsewhere, and not overlapping: as far apart as two such maps can be
            yield Pair(
                np.vstack([others, shape]), np.vstack([others, mirrored]), f"one observer who {words}, or elsewhere"
            )


def extreme_maps(cells: int, *, cap: int, total: int | None = None, norm: int | None = None) -> dict[str, IntArray]:
    """Return the maps of observers who go to the bounds, each described as the end of "one observer who …"."""
    size = whole_number(cells, "cells", at_least=1)
    most = whole_number(cap, "cap", at_least=1)
    budget = most * size if total is None else whole_number(total, "total", at_least=1)
    square = most * most * size if norm is None else whole_number(norm, "norm", at_least=1) ** 2
    most = min(most, budget, math.isqrt(square))

    filled = np.zeros(size, dtype=np.int64)
    full = min(size, budget // most, square // (most * most))
    filled[:full] = most
    if full < size:  # what is left fits into one more cell
        filled[full] = min(budget - full * most, math.isqrt(square - full * most * most))
    peak = np.zeros(size, dtype=np.int64)
    peak[0] = most
    even = np.full(size, min(most, budget // size, math.isqrt(square // size)), dtype=np.int64)

    shapes = {"fills cells to the cap": filled, "looks at one cell": peak, "fills all cells evenly": even}
    kept: dict[str, IntArray] = {}
    for words, shape in shapes.items():
        if shape.any() and not any(np.array_equal(shape, other) for other in kept.values()):
            kept[words] = shape
    return kept


# --- Feature series that differ as much as their declared ranges allow, in all steps or in a few consecutive ones.


def series_pairs(
    low: ArrayLike,
    high: ArrayLike,
    steps: int,
    *,
    changed: int | None = None,
    start: int = 0,
    cycles: Sequence[float] = (1.0, 4.0),
) -> Iterator[Pair]:
    """Return pairs of series, tables of one row a step and one column a feature.

    Args:
        low: The smallest value of each feature.
        high: The largest value of each feature.
        steps: How long the series are.
        changed: How many consecutive steps differ; all of them if left out.
        start: The first of those.
        cycles: How often the sinusoids among them oscillate over the series.

    Raises:
        OptionError: If a range is empty or not finite, or the changed steps do not lie within the series.
    """
    bottom, top = np.atleast_1d(np.asarray(low, dtype=np.float64)), np.atleast_1d(np.asarray(high, dtype=np.float64))
    if bottom.ndim != 1 or bottom.shape != top.shape or not np.all((bottom < top) & np.isfinite(top - bottom)):
        raise OptionError("every feature needs a finite range with low below high")
    length = whole_number(steps, "steps", at_least=1)
    width = length - start if changed is None else whole_number(changed, "changed", at_least=1)
    if start < 0 or width < 1 or start + width > length:
        raise OptionError(f"{width} changed steps from {start} on do not fit into {length} steps")
    inside = slice(start, start + width)
    where = f" in {width} of {length} steps" if width < length else ""

    def placed(wave: FloatArray) -> FloatArray:
        """Map a wave from -1 (low) to 1 (high) to the ranges; steps that do not change stay in the middle."""
        level = np.zeros((length, 1))
        level[inside, 0] = wave[inside]
        return np.clip((1 + level) / 2 * top + (1 - level) / 2 * bottom, bottom, top)

    t = np.arange(length)
    waves = {"all low against all high": np.ones(length), "zigzag against its mirror image": np.where(t % 2, -1.0, 1.0)}
    for count in cycles:
        phase = 2 * np.pi * count * (t + 0.5) / length
        waves[f"a sinusoid of {count:g} cycles against its mirror image"] = np.sin(phase)
    waves["one step low against the same step high"] = (t == start + width // 2).astype(np.float64)
    for words, wave in waves.items():
        yield Pair(placed(-wave), placed(wave), words + where)


# --- Recordings of gaze that differ in one window, each point in it moved by at most a radius.


_GOLDEN = (np.sqrt(5.0) - 1) / 2
_JUST_WITHIN = 1 - 2.0**-50


def still_gaze(geometry: Geometry, seconds: float, rate_hz: float, *, places: int = 3) -> Recording:
    """Return made-up gaze that rests at a few places one after the other, at equal times each.

    Raises:
        OptionError: If there is no time or rate.
    """
    if not (seconds > 0 and rate_hz > 0 and places >= 1):
        raise OptionError("gaze needs a positive duration, rate and number of places")
    t = np.arange(max(1, round(seconds * rate_hz))) / rate_hz
    turn = np.minimum((t / seconds * places).astype(int), places - 1)
    share = (turn + 1) / (places + 1)
    if geometry.unit is Unit.PIXEL:
        x, y = share * (geometry.width_px or 1.0), 0.5 * np.full(len(t), geometry.height_px or 1.0)
    elif geometry.unit is Unit.DEGREE:
        x, y = 10 * (share - 0.5), np.zeros(len(t))
    else:
        x, y = share, np.full(len(t), 0.5)
    return Recording(t, x, y, geometry, observer="nobody", stimulus="none", rate_hz=rate_hz)


def window_pairs(recording: Recording, start: float, seconds: float, radius: float) -> Iterator[Pair]:
    """Return pairs of recordings that differ in the closed window from ``start`` on, for each clock and each move.

    Args:
        recording: Made-up gaze, for example `still_gaze`.
        start: When the window begins.
        seconds: How long it is; samples at both of its ends belong to it.
        radius: How far a point may move, in the unit of the recording.

    Raises:
        OptionError: If radius or window are not positive, or no sample lies in the window.
    """
    if not (seconds > 0 and radius > 0):
        raise OptionError("a window needs a positive length and a positive radius")
    for clock, reclocked in CLOCKS.items():
        here = reclocked(replace(recording, events=schema.no_events()), start, seconds)
        inside = (here.t >= start) & (here.t <= start + seconds)
        if not inside.any():
            raise OptionError(f"no sample lies between {start} s and {start + seconds} s")
        for move, path in MOVES.items():
            dx, dy = np.zeros(len(here)), np.zeros(len(here))
            dx[inside], dy[inside] = path(int(inside.sum()))
            moved = _moved(here, dx * radius * _JUST_WITHIN, dy * radius * _JUST_WITHIN)
            yield Pair(here, moved, f"{move} of {radius:g} within {seconds:g} s, {clock}")


def _step(count: int) -> tuple[FloatArray, FloatArray]:
    return np.ones(count), np.zeros(count)


def _drift(count: int) -> tuple[FloatArray, FloatArray]:
    return np.linspace(0.0, 1.0, count + 1)[1:], np.zeros(count)


def _shake(count: int) -> tuple[FloatArray, FloatArray]:
    return np.where(np.arange(count) % 2, -1.0, 1.0), np.zeros(count)


def _circle(count: int) -> tuple[FloatArray, FloatArray]:
    angle = 2 * np.pi * np.arange(count) / max(count, 1)
    return np.cos(angle), np.sin(angle)


MOVES: dict[str, Callable[[int], tuple[FloatArray, FloatArray]]] = {
    "a step": _step,
    "a slow drift": _drift,
    "a shake": _shake,
    "a circle": _circle,
}
"""How the points of a window move, in radii."""


def as_recorded(recording: Recording, start: float, seconds: float) -> Recording:
    """Return the recording as it is."""
    return recording


def burst(recording: Recording, start: float, seconds: float, times: int = 10) -> Recording:
    """Return the recording with this many samples for each one in the window, spread up to the next sample."""
    t = recording.t
    inside = (t >= start) & (t <= start + seconds)
    repeats = np.where(inside, times, 1)
    rows = np.repeat(np.arange(len(t)), repeats)
    part = np.concatenate([np.arange(count) for count in repeats]) if len(t) else np.zeros(0)
    gap = np.diff(t, append=t[-1:] + (t[-1:] - t[-2:-1] if len(t) > 1 else 1.0)) if len(t) else t
    dense = recording.take(rows)
    return replace(dense, t=t[rows] + gap[rows] * part / times, rate_hz=None)


def jittered(recording: Recording, start: float, seconds: float) -> Recording:
    """Return the recording with each sample late by up to half a step, in a pattern that does not repeat."""
    t = recording.t
    gap = np.diff(t, append=t[-1:] + (t[-1:] - t[-2:-1] if len(t) > 1 else 1.0)) if len(t) else t
    late = (np.arange(len(t), dtype=np.float64) ** 2 * _GOLDEN) % 1.0
    return replace(recording, t=t + 0.5 * gap * late, rate_hz=None)


CLOCKS: dict[str, Callable[[Recording, float, float], Recording]] = {
    "clock as recorded": as_recorded,
    "burst at ten times the rate": burst,
    "jittered clock": jittered,
}
"""What the tracker's clock does."""


def _moved(recording: Recording, dx: FloatArray, dy: FloatArray) -> Recording:
    eyes: dict[str, Any] = {
        name: Eye(_shifted(eye.x, dx), _shifted(eye.y, dy), eye.valid, eye.pupil)
        for name, eye in (("left", recording.left), ("right", recording.right))
        if eye is not None
    }
    return replace(recording, x=_shifted(recording.x, dx), y=_shifted(recording.y, dy), **eyes)


def _shifted(values: FloatArray, by: FloatArray) -> FloatArray:
    """Return values + by, pulled back by one float, so that rounding never moves a point beyond the radius."""
    moved = values + by
    return np.where(by == 0, values, np.nextafter(moved, values))
