# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a new mechanism is built of: checks of its parameters and samples, device time, and ready-made veils.

`CompiledVeil` and `NoisyVeil` send samples through compiled kernels: one for a live sample, the same in a loop for
arrays. `gazeveil.samples.point_kernels` defines the three arrays that hold their state. A veil with noise draws it in
blocks of `BLOCK` samples, live as on file, so both use the random words of the source in the same way.

`pointwise` makes a veil of a plain function that moves a point: slower than compiled veils, and as safe. Broken clocks,
missing or absurd gaze, state and threads are handled as in every other veil: where gaze is missing, the function gets
the last gaze that was seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InputError, OptionError, StateError, VeilShut
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import (
    LATEST,
    Arrays,
    ColumnsVeil,
    Faults,
    SampleMechanism,
    Veil,
    fails_closed,
    fit_arrays,
)
from gazeveil.samples.space import Space


def number(mechanism: Any, field: str) -> float:
    """Return a field that must be a finite number, and keep it as a float.

    Raises:
        OptionError: If it is none.
    """
    value = getattr(mechanism, field)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not math.isfinite(value):
        raise OptionError(f"{field} must be a finite number, not {value!r}")
    object.__setattr__(mechanism, field, float(value))
    return float(value)


def positive(mechanism: Any, field: str) -> float:
    """Return a field that must be a positive number, and keep it as a float.

    Raises:
        OptionError: If it is none.
    """
    value = number(mechanism, field)
    if value <= 0:
        raise OptionError(f"{field} must be greater than 0, not {value:g}")
    return value


def truth(mechanism: Any, field: str) -> None:
    """Check a field that must be true or false.

    Raises:
        OptionError: If it is neither.
    """
    value = getattr(mechanism, field)
    if not isinstance(value, bool):
        raise OptionError(f"{field} must be true or false, not {value!r}")


def as_samples(*columns: Any) -> list[FloatArray]:
    """Return columns of samples as float arrays of one length, without copying where that is possible.

    Raises:
        InputError: If they are not lists of numbers of one length.
    """
    try:
        arrays = [np.ascontiguousarray(column, dtype=np.float64) for column in columns]
    except (TypeError, ValueError) as error:
        raise InputError(f"samples must be numbers: {error}") from None
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        raise InputError(
            f"samples must be lists of one length, found {', '.join(str(array.shape) for array in arrays)}"
        )
    return arrays


# --- Device time in whole microseconds, never running back: for veils that keep time in Python, as compiled ones do in
# `point_kernels.keep_time`. The three numbers come first among a veil's integers.


PREVIOUS, SEEN, RAN_BACK = range(3)
CLOCK_SLOTS = 3


def in_microseconds(t: float) -> int:
    """Return a time in whole microseconds.

    Raises:
        ValueError: If it is no time.
    """
    if not abs(t) <= LATEST:
        raise ValueError("not a time")
    return round(t * 1e6)


def sample_time(numbers: IntArray, t: float) -> int:
    """Return the time of one sample, and remember it.

    Raises:
        ValueError: If it is no time.
    """
    now = in_microseconds(t)
    previous = numbers.item(PREVIOUS)
    if now < previous and numbers.item(SEEN):
        numbers[RAN_BACK] += 1
        return previous
    numbers[PREVIOUS] = now
    numbers[SEEN] = 1
    return now


def sample_times(numbers: IntArray, t: FloatArray) -> IntArray:
    """Return the times of many samples, as `sample_time` would one by one.

    Raises:
        ValueError: If one is no time.
    """
    if not np.all(np.abs(t) <= LATEST):
        raise ValueError("not a time")
    now: IntArray = np.rint(t * 1e6).astype(np.int64)
    if not len(now):
        return now
    first = numbers[PREVIOUS] if numbers[SEEN] else now[0]
    kept: IntArray = np.maximum.accumulate(np.maximum(now, first))
    before = np.concatenate([[first], kept[:-1]])
    numbers[RAN_BACK] += np.count_nonzero(now < before)
    numbers[PREVIOUS], numbers[SEEN] = kept[-1], 1
    return kept


# --- Veils whose samples go through compiled code.


REACH = 8.0
"""Gaze farther than this many sizes of the space from its centre counts as missing."""

BLOCK = 256
"""How many samples noise is drawn ahead for: fewer than one step in a hundred draws, and it takes a few kilobytes."""

CHUNK = 8192
"""How many samples of an array get their noise at once."""

_NO_COLUMN = np.empty(0)


class Kernels(NamedTuple):
    """The compiled functions of a veil, with the signatures STEP and RUN."""

    step: Callable[..., tuple[float, float]]
    run: Callable[..., None]


class CompiledVeil(ColumnsVeil):
    """One stream through compiled code."""

    __slots__ = ("_axes", "_clock", "_fixed", "_memory", "_run", "_step")

    def __init__(
        self,
        mechanism: SampleMechanism,
        noise: NoiseSource,
        kernels: Kernels,
        *,
        fixed: tuple[float, ...] = (),
        integers: int = 0,
        floats: int = 0,
    ) -> None:
        """Make a veil with constants, integers and floats of its own; integers and floats start at zero."""
        from gazeveil.samples import point_kernels as places  # noqa: PLC0415  (numba loads on use)

        super().__init__(mechanism, noise)
        self._step, self._run = kernels
        space = mechanism.space
        self._axes = space.axes
        self._fixed = np.array([*_header(space), *fixed])
        self._clock = np.zeros(places.CLOCK + integers, dtype=np.int64)
        self._memory = np.zeros(places.MEMORY + floats)
        self._memory[places.LAST : places.LAST + space.axes] = space.centre

    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once."""
        if not self._door.acquire(False):  # as `fails_closed` does, without its call
            raise self._busy_error()
        try:
            if self._axes != 2:
                raise self._wrong_axes(2)
            return self._step(self._fixed, self._clock, self._memory, t, x, y, 0.0)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._door.release()

    @fails_closed
    def step3(self, t: float, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Take one sample of a space with three axes."""
        if self._axes != 3:
            raise self._wrong_axes(3)
        veiled_x, veiled_y = self._step(self._fixed, self._clock, self._memory, t, x, y, z)
        return veiled_x, veiled_y, self._memory.item(2)

    @property
    def faults(self) -> Faults:
        """What was wrong with the samples so far."""
        from gazeveil.samples import point_kernels as places  # noqa: PLC0415

        return Faults(*self._clock[places.RAN_BACK : places.CLOCK].tolist())

    def _through(self, *columns: FloatArray) -> list[FloatArray]:
        if len(columns) != 1 + self._axes:
            raise self._wrong_axes(len(columns) - 1)
        t, *gaze = as_samples(*columns)
        out = [np.empty(len(t)) for _ in gaze]
        unused = [_NO_COLUMN] * (3 - len(gaze))
        self._compiled(t, *gaze, *unused, *out, *unused)
        return out

    def _compiled(self, *columns: FloatArray) -> None:
        self._run(self._fixed, self._clock, self._memory, *columns)

    def _state(self) -> Arrays:
        self._memory[:3] = 0.0  # the latest veiled point is not part of the state
        return {"clock": self._clock, "memory": self._memory}

    def _restore(self, arrays: Arrays) -> None:
        from gazeveil.samples import point_kernels as places  # noqa: PLC0415

        fit_arrays(arrays, self._state())
        counts = self._clock[places.SEEN : places.CLOCK]
        if not (np.all(counts >= 0) and np.all(np.isfinite(self._memory)) and self._is_sane()):
            self.close("its state did not fit")
            raise StateError("the state holds numbers that no stream can have", hint="start a new stream")

    def _is_sane(self) -> bool:
        """Return whether the veil's own places hold values that a stream can have, positions above all."""
        return True

    def _forget(self) -> None:
        self._memory[:] = 0.0
        self._step = self._run = self._refuse

    def _refuse(self, *_: object) -> NoReturn:
        raise VeilShut(f"the veil is shut: {self.shut}", hint="start a new stream")


class NoisyVeil(CompiledVeil):
    """One stream through compiled code that takes fresh noise from the end of ``memory`` with every sample.

    The kernel finds the noise of the next sample at ``memory[clock[NOISE]:]``, erases it and moves that position on.
    """

    __slots__ = ("_draw", "_left", "_noise_at", "_noise_slot", "_per_sample")

    def __init__(
        self,
        mechanism: SampleMechanism,
        noise: NoiseSource,
        kernels: Kernels,
        *,
        draw: Callable[[NoiseSource, FloatArray], None],
        per_sample: int,
        fixed: tuple[float, ...] = (),
        integers: int = 0,
        floats: int = 0,
    ) -> None:
        """Make a veil for which ``draw`` fills an array with noise; every sample takes ``per_sample`` numbers of it.

        Its first own integer is where the next noise lies; ``integers`` and ``floats`` count those it has besides.
        """
        from gazeveil.samples import point_kernels as places  # noqa: PLC0415  (numba loads on use)

        super().__init__(
            mechanism, noise, kernels, fixed=fixed, integers=1 + integers, floats=floats + BLOCK * per_sample
        )
        self._draw, self._per_sample, self._left = draw, per_sample, 0
        self._noise_slot = places.NOISE
        self._noise_at = len(self._memory) - BLOCK * per_sample

    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once."""
        if not self._door.acquire(False):
            raise self._busy_error()
        try:
            if self._axes != 2:
                raise self._wrong_axes(2)
            if not self._left:
                self._refill()
            self._left -= 1
            return self._step(self._fixed, self._clock, self._memory, t, x, y, 0.0)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._door.release()

    @fails_closed
    def step3(self, t: float, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Take one sample of a space with three axes."""
        if self._axes != 3:
            raise self._wrong_axes(3)
        if not self._left:
            self._refill()
        self._left -= 1
        return super().step3(t, x, y, z)

    def _compiled(self, *columns: FloatArray) -> None:
        count = len(columns[0])
        at = min(self._left, count)
        if at:  # what was drawn ahead comes first
            self._left -= at
            super()._compiled(*(column[:at] for column in columns))
        own = self._memory
        try:
            while at < count:
                end = min(at + CHUNK, count)
                self._check_open()
                self._refill(end - at)
                self._left = 0
                super()._compiled(*(column[at:end] for column in columns))
                at = end
        finally:
            if self._memory is not own:
                own[: self._noise_at] = self._memory[: self._noise_at]
                self._memory[:] = 0.0
                self._memory = own

    def _refill(self, samples: int = BLOCK) -> None:
        """Draw noise for this many samples; more than a block gets a longer memory, for the time of a run."""
        self._check_open()
        needed = self._noise_at + samples * self._per_sample
        if needed > len(self._memory):
            longer = np.zeros(needed)
            longer[: self._noise_at] = self._memory[: self._noise_at]
            self._memory = longer
        self._draw(self.noise, self._memory[self._noise_at : needed])
        self._clock[self._noise_slot] = self._noise_at
        self._left = samples

    def _drop_noise(self) -> None:
        self._memory[self._noise_at :] = 0.0
        self._clock[self._noise_slot] = self._noise_at
        self._left = 0

    def _state(self) -> Arrays:
        kept = super()._state()
        return kept | {"memory": kept["memory"][: self._noise_at]}

    def _is_sane(self) -> bool:
        return bool(self._clock[self._noise_slot] == self._noise_at)


def _header(space: Space) -> list[float]:
    """Return the constants that all compiled veils share."""
    unused = [0.0] * (3 - space.axes)
    far = list(zip(space.centre, space.size, strict=True))
    lowest = [centre - REACH * size for centre, size in far]
    highest = [centre + REACH * size for centre, size in far]
    return [space.axes, space.period, *lowest, *unused, *highest, *unused, space.low[1], space.high[1]]


# --- A veil of a plain function that moves a point: the quickest way to write one.


Move = Callable[[float, float], tuple[float, float]]
"""What moves a point: x and y in, x and y out, in the unit of the space."""


def pointwise(mechanism: SampleMechanism, noise: NoiseSource, move: Move) -> Veil:
    """Return a veil that moves every point by itself.

    Args:
        mechanism: Whose veil it is.
        noise: Where randomness comes from; the function may draw from it.
        move: What moves a point.

    Raises:
        OptionError: If the space has three axes.
    """
    if mechanism.space.axes != 2:
        raise OptionError("a plain function moves points of two axes", hint="a space of three needs a compiled veil")
    return CompiledVeil(mechanism, noise, Kernels(partial(_step, move), partial(_run, move)))


def _step(
    move: Move, fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float, x: float, y: float, z: float
) -> tuple[float, float]:
    from gazeveil.samples.point_kernels import receive, send  # noqa: PLC0415  (numba loads on use)

    memory[0], memory[1], memory[2] = x, y, z
    receive(fixed, clock, memory, t)
    memory[0], memory[1] = move(memory.item(0), memory.item(1))
    send(fixed, memory)
    return memory.item(0), memory.item(1)


def _run(
    move: Move,
    fixed: FloatArray,
    clock: IntArray,
    memory: FloatArray,
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    out_x: FloatArray,
    out_y: FloatArray,
    out_z: FloatArray,
) -> None:
    del z, out_z
    for at in range(len(t)):
        out_x[at], out_y[at] = _step(move, fixed, clock, memory, t[at], x[at], y[at], 0.0)
