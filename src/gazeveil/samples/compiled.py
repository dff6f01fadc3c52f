# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Veils whose samples go through compiled code: one kernel for a live sample, the same in a loop for arrays.

`gazeveil.samples._receive_kernels` says what is where in the three arrays that hold a veil's state. A veil with noise
draws it in blocks of `BLOCK` samples, live as on file, so both use the words of the source alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import StateError, VeilShut
from gazeveil.noise import NoiseSource
from gazeveil.samples.checks import as_samples
from gazeveil.samples.mechanism import ColumnsVeil, Faults, SampleMechanism, fails_closed
from gazeveil.samples.space import Space
from gazeveil.samples.state import Arrays, fit

REACH = 8.0
"""Gaze farther than this many sizes of the space from its centre is not believed."""

BLOCK = 256
"""Samples that noise is drawn ahead for: rarer than one step in a hundred, and at most a few kilobytes."""

CHUNK = 8192
"""Samples of an array that noise is drawn for at once."""

_NOTHING = np.empty(0)


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
        from gazeveil.samples import _receive_kernels as places  # noqa: PLC0415  (numba loads on use)

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
            raise self._crowded()
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
        """What was odd about the stream so far."""
        from gazeveil.samples import _receive_kernels as places  # noqa: PLC0415

        return Faults(*self._clock[places.RAN_BACK : places.CLOCK].tolist())

    def _through(self, *columns: FloatArray) -> list[FloatArray]:
        if len(columns) != 1 + self._axes:
            raise self._wrong_axes(len(columns) - 1)
        t, *gaze = as_samples(*columns)
        out = [np.empty(len(t)) for _ in gaze]
        unused = [_NOTHING] * (3 - len(gaze))
        self._compiled(t, *gaze, *unused, *out, *unused)
        return out

    def _compiled(self, *columns: FloatArray) -> None:
        self._run(self._fixed, self._clock, self._memory, *columns)

    def _state(self) -> Arrays:
        self._memory[:3] = 0.0  # the last point that went out: nobody needs it
        return {"clock": self._clock, "memory": self._memory}

    def _restore(self, arrays: Arrays) -> None:
        from gazeveil.samples import _receive_kernels as places  # noqa: PLC0415

        fit(arrays, self._state())
        counts = self._clock[places.SEEN : places.CLOCK]
        if not (np.all(counts >= 0) and np.all(np.isfinite(self._memory)) and self._is_sane()):
            self.close("its state did not fit")
            raise StateError("the state holds numbers that no stream can have", hint="start a new stream")

    def _is_sane(self) -> bool:
        """Say whether the veil's own places hold what they can hold, positions above all."""
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
        """Make a veil that has ``draw`` fill an array with noise, of which every sample takes ``per_sample`` numbers.

        Its first own integer is where its noise is; ``integers`` and ``floats`` are those it has besides.
        """
        from gazeveil.samples import _receive_kernels as places  # noqa: PLC0415  (numba loads on use)

        super().__init__(
            mechanism, noise, kernels, fixed=fixed, integers=1 + integers, floats=floats + BLOCK * per_sample
        )
        self._draw, self._per_sample, self._left = draw, per_sample, 0
        self._noise_slot = places.NOISE
        self._noise_at = len(self._memory) - BLOCK * per_sample

    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once."""
        if not self._door.acquire(False):
            raise self._crowded()
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
