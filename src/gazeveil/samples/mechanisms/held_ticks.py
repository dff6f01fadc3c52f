# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Noisy points on a public clock, held in between: Kaleido's guarantee in two and in three dimensions.

In two dimensions this is `clock` without its filter; use that. It is here for points in a room, which have no other
veil with a guarantee. Proof: docs/proofs/held-ticks.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, StateError
from gazeveil.exact import above_zero, as_text, whole_number
from gazeveil.noise import NoiseSource, lattice_step
from gazeveil.noise.parameters import NOISE_PER_DEGREE, in_steps
from gazeveil.noise.radial import FARTHEST, settle_point, words_per_point
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee
from gazeveil.samples.mechanism import (
    MECHANISMS,
    Arrays,
    ColumnsVeil,
    Faults,
    SampleMechanism,
    fails_closed,
    fit_arrays,
)
from gazeveil.samples.space import Length, Sphere
from gazeveil.samples.veils import (
    CLOCK_SLOTS,
    PREVIOUS,
    RAN_BACK,
    SEEN,
    as_samples,
    in_microseconds,
    sample_time,
    sample_times,
)

MOST_POINTS = 64
NEVER = -(1 << 62)
_HINT = "start a new stream"
_MISSING, _NOT_FINITE = CLOCK_SLOTS, CLOCK_SLOTS + 1


@MECHANISMS.register("held-ticks")
@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTicks(SampleMechanism):
    """Release a noisy point a few times a window, by the clock alone, and hold it until the next.

    Where gaze is missing when a point is due, the point that is shown stands for it and gets fresh noise. Before the
    first point the centre of the space is shown.

    Attributes:
        epsilon: The privacy loss that a window may have.
        window: How long a window is, in seconds.
        radius: How far each point of it may have been, in the unit of the space, or as text: ``20mm``, ``2deg``.
        ticks: How many points share a window's budget.
    """

    name: ClassVar[str] = "held-ticks"

    epsilon: Fraction
    window: Fraction
    radius: Fraction
    ticks: int = 1

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "radius", Length.of(self.radius).in_space(self.space))
        for name in ("epsilon", "window", "radius"):
            value = above_zero(getattr(self, name), name)
            if not Fraction(1, 10**9) <= value <= 10**9:
                raise OptionError(f"{name} must be between 1e-9 and 1e9, not {value}")
            object.__setattr__(self, name, value)
        ticks = whole_number(self.ticks, "ticks", at_least=1)
        if ticks > MOST_POINTS:
            raise OptionError(f"ticks must be at most {MOST_POINTS}, not {ticks}")
        object.__setattr__(self, "ticks", ticks)
        farthest = 1.0 if self.of_directions else max(abs(edge) for edge in (*self.space.low, *self.space.high))
        if farthest / self.spacing > FARTHEST:
            raise OptionError("the noise is too fine for a space so large", hint="a larger radius or a smaller ε")
        in_steps(self.noise_scale, self.spacing, "the scale of the noise")

    @property
    def guarantee(self) -> Guarantee:
        """Kaleido's guarantee."""
        return GazeStreamDP(self.epsilon, self.window, self.radius, self.space.unit)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: a point that moves by the radius costs a tick's share of ε."""
        return self.ticks * self.radius / self.epsilon

    @property
    def of_directions(self) -> bool:
        """Whether gaze is a direction: noise is then added to its unit vector, in space."""
        return isinstance(self.space, Sphere)

    @property
    def noise_scale(self) -> Fraction:
        """The scale where the noise is added: that of unit vectors for directions."""
        return self.scale * Fraction(NOISE_PER_DEGREE) if self.of_directions else self.scale

    @property
    def spacing(self) -> float:
        """The step of the lattice that noisy points lie on."""
        return lattice_step(self.noise_scale)

    @property
    def fixed(self) -> str:
        """The guarantee can be changed at any time."""
        return ""

    def start(self, noise: NoiseSource) -> HeldTicksVeil:
        """Return a veil for a new stream."""
        return HeldTicksVeil(self, noise)


class HeldTicksVeil(ColumnsVeil):
    """When the latest points were released, and the point that is held."""

    __slots__ = (
        "_anchor",
        "_anchor_wall",
        "_apart",
        "_between",
        "_held",
        "_numbers",
        "_out",
        "_part",
        "_pause",
        "_radial",
        "_recent",
        "_scale",
        "_spacing",
        "_steps",
        "_wall",
    )

    mechanism: HeldTicks
    _now: HeldTicks

    def __init__(self, mechanism: HeldTicks, noise: NoiseSource) -> None:
        from gazeveil.noise.sampling_kernels import radial  # noqa: PLC0415  (numba loads on use)

        super().__init__(mechanism, noise)
        self._numbers = np.zeros(CLOCK_SLOTS + 2, np.int64)
        self._held: tuple[float, ...] = mechanism.space.centre
        self._radial = radial
        axes = 3 if mechanism.of_directions else mechanism.space.axes
        self._part, self._out = np.zeros((1, axes)), np.zeros((1, axes), np.int64)
        self._recent, self._pause = [NEVER] * mechanism.ticks, NEVER
        self._anchor, self._wall, self._anchor_wall = 0, NEVER, NEVER
        self._set_guarantee(mechanism)

    def _set_guarantee(self, mechanism: HeldTicks) -> None:
        self._now = mechanism
        # a closed window, and a microsecond more because times are rounded
        self._apart = math.floor(mechanism.window * 10**6) + 1
        self._between = self._apart // mechanism.ticks
        self._spacing = mechanism.spacing
        self._steps = in_steps(mechanism.noise_scale, self._spacing, "the scale of the noise")
        self._scale = float(self._steps)

    def _change(self, t: float, changed: HeldTicks) -> None:
        """Go on with another guarantee.

        After the latest point nothing is released for as long as a window lasts, the old or the new one, whichever is
        longer: so no window holds points of two guarantees. Nor is anything until the old windows that began before the
        change are over: their gaze was guaranteed the old one.
        """
        now = round(t * 1e6)
        if self._numbers[SEEN]:
            now = max(now, self._numbers.item(PREVIOUS))
        now = self._paced(now)
        before, last = self._apart, self._recent[-1]
        self._set_guarantee(changed)
        begun = now if self._numbers[SEEN] else NEVER  # before the first sample no window has begun
        self._pause = max(self._pause, last + max(before, self._apart) + 1, begun + before + 1)
        self._recent = [NEVER] * (changed.ticks - 1) + [last]

    @fails_closed
    def pace(self, now: float) -> None:
        """Set the machine's time for the samples to come: no window on that clock holds more than is guaranteed."""
        wall = in_microseconds(now)
        if self._anchor_wall == NEVER:  # of a stream that moved here the clock is not known: take it as just now
            self._anchor_wall = wall
        self._wall = max(self._wall, wall)

    @fails_closed
    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once."""
        shown_x, shown_y = self._take(t, x, y)
        return shown_x, shown_y

    @fails_closed
    def step3(self, t: float, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Take one sample of a space with three axes."""
        shown_x, shown_y, shown_z = self._take(t, x, y, z)
        return shown_x, shown_y, shown_z

    @property
    def faults(self) -> Faults:
        """What was wrong with the samples so far."""
        return Faults(*(int(self._numbers[place]) for place in (RAN_BACK, _MISSING, _NOT_FINITE)))

    def _take(self, t: float, *point: float) -> tuple[float, ...]:
        if len(point) != len(self._held):
            raise self._wrong_axes(len(point))
        now = sample_time(self._numbers, t)
        if not all(map(math.isfinite, point)):
            self._numbers[_MISSING if any(map(math.isnan, point)) else _NOT_FINITE] += 1
            point = self._held
        if now >= self._due():
            self._release(now, point)
        return self._held

    def _release(self, now: int, point: tuple[float, ...]) -> None:
        self._held = self._noisy(self._place(*point))
        self._recent = [*self._recent[1:], self._paced(now)]
        self._anchor, self._anchor_wall = now, self._wall

    def _paced(self, now: int) -> int:
        """Return the time that points are counted by: since the latest it passed no faster than either clock."""
        if self._recent[-1] == NEVER:
            return now
        passed = now - self._anchor
        if self._wall != NEVER:
            passed = min(passed, self._wall - self._anchor_wall)
        return self._recent[-1] + passed

    def _due(self) -> float:
        """Return the first moment of the next point: the last but this many must have left the closed window."""
        free, last = max(self._recent[0] + self._apart + 1, self._pause), self._recent[-1]
        if last == NEVER:
            return free
        if self._wall != NEVER and self._wall - self._anchor_wall < free - last:
            return math.inf  # not yet, by the machine's clock
        return self._anchor + max(free - last, self._between)

    def _noisy(self, point: tuple[float, ...]) -> tuple[float, ...]:
        """Return one point with noise, as `gazeveil.noise.add_radial` would add it."""
        spacing, part, out = self._spacing, self._part, self._out
        whole = [round(value / spacing) for value in point]
        for axis, value in enumerate(point):
            part[0, axis] = value / spacing - whole[axis]
        words = self.noise.words(words_per_point(len(point)))
        if self._radial(words, self._scale, part, 0.0, out):
            out[0] = settle_point(self.noise, words.tolist(), self._steps, part[0].tolist())
        part[:] = 0.0
        return self._back(*((drawn + near) * spacing for drawn, near in zip(out[0].tolist(), whole, strict=True)))

    def _place(self, *point: float) -> tuple[float, ...]:
        """Return where noise is added: to the nearest point of the space, or to a direction's unit vector."""
        from gazeveil.samples.stream_kernels import direction  # noqa: PLC0415

        return direction(*point) if self.mechanism.of_directions else self.mechanism.space.clamp(*point)

    def _back(self, *point: float) -> tuple[float, ...]:
        from gazeveil.samples.stream_kernels import angles  # noqa: PLC0415

        return angles(*point) if self.mechanism.of_directions else point

    def _through(self, *columns: FloatArray) -> list[FloatArray]:
        if len(columns) != 1 + len(self._held):
            raise self._wrong_axes(len(columns) - 1)
        t, *gaze = as_samples(*columns)
        now, points = sample_times(self._numbers, t), np.stack(gaze, axis=1)
        there = np.asarray(np.isfinite(points).all(axis=1))
        missing = np.isnan(points).any(axis=1)
        self._numbers[_MISSING] += np.count_nonzero(missing)
        self._numbers[_NOT_FINITE] += np.count_nonzero(~there & ~missing)
        chosen, shown, at = [], [self._held], 0
        while (at := max(at, int(np.searchsorted(now, self._due())))) < len(now):
            self._release(int(now[at]), tuple(points[at].tolist()) if there[at] else self._held)
            chosen.append(at)
            shown.append(self._held)
            at += 1
        which = np.searchsorted(np.array(chosen, dtype=np.int64), np.arange(len(now)), side="right")
        return [np.array(column)[which] for column in zip(*shown, strict=True)]

    def _state(self) -> Arrays:
        level = ",".join(as_text(number) for number in (self._now.epsilon, self._now.window, self._now.radius))
        return {
            "promise": np.frombuffer(level.encode(), np.uint8),
            "numbers": self._numbers,
            "recent": np.array([*self._recent, self._pause, self._anchor], dtype=np.int64),
            "held": np.array(self._held, dtype=np.float64),
        }

    def _restore(self, arrays: Arrays) -> None:
        own = {name: array for name, array in self._state().items() if name != "promise"}
        try:
            epsilon, window, radius = arrays.pop("promise").tobytes().decode().split(",")
            current = replace(self.mechanism, epsilon=epsilon, window=window, radius=radius)  # type: ignore[arg-type]
        except (KeyError, ValueError) as error:
            raise StateError("the state does not fit the veil", hint=_HINT) from error
        fit_arrays(arrays, own)
        *recent, pause, anchor = own["recent"].tolist()
        if (own["numbers"][SEEN:] < 0).any() or recent != sorted(recent) or not np.isfinite(own["held"]).all():
            self.close("its state did not fit")
            raise StateError("the state holds numbers that no stream can have", hint=_HINT)
        self._set_guarantee(current)
        self._recent, self._pause, self._anchor = recent, pause, anchor
        self._held = tuple(own["held"].tolist())

    def _forget(self) -> None:
        self._held = self.mechanism.space.centre
