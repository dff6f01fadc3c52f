# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all mechanisms with Kaleido's guarantee share: parameters, privacy level, and the veil around a compiled step.

Each mechanism is a compiled ``step`` that spends from a window budget, and a `StreamPlan` that fixes how much. A live
call and the loop over a file go through the same compiled step, so their outputs are equal. The proofs are in
docs/proofs/gaze-stream.md.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InputError, InternalError, OptionError, StateError
from gazeveil.exact import above_zero, as_text, exact
from gazeveil.noise import NoiseSource, exact_rounding
from gazeveil.noise.parameters import LEAST_STEPS, MOST_STEPS, NOISE_PER_DEGREE
from gazeveil.noise.radial import FARTHEST, settle_point, words_per_point
from gazeveil.options import setting
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee
from gazeveil.samples import gaze_model
from gazeveil.samples.gaze_model import Density, Prior, prior_of
from gazeveil.samples.mechanism import Arrays, Faults, SampleMechanism, Veil, fails_closed, one_thread
from gazeveil.samples.space import Length, Space, Sphere
from gazeveil.samples.veils import as_samples
from gazeveil.samples.window_budget import LOSS_UNIT, Rule, budget_for, is_budget, with_rule

LONGEST_LAG = 0.5
_WORDS = 192
_TEST_UNIT = LOSS_UNIT + (LOSS_UNIT >> 10)
_HINT = "start a new stream"

Compiled = tuple[Callable[..., tuple[int, float, float]], Callable[..., tuple[int, int]]]
"""The kernels of a stream: for one sample, and for many."""


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """A guarantee as one mechanism keeps it, in the integers that its compiled step works with.

    Attributes:
        releases: The rule for releases.
        tests: The rule for tests, where there are any.
        loss: What a release costs, or at most costs, in loss units.
        least_loss: What a release costs at least.
        period_us: The least time between two decisions whether to release.
        spacing_us: The least time between two spends, if it is another.
        epoch_loss: What an epoch costs that is broken off by a change of guarantee.
        own: Further numbers that the mechanism's own step reads.
    """

    releases: Rule
    loss: int
    period_us: int
    tests: Rule | None = None
    least_loss: int = 0
    spacing_us: int = 0
    epoch_loss: int = 0
    own: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMechanism(SampleMechanism):
    """A mechanism with Kaleido's guarantee: any window of gaze, each of its points moved by at most a radius.

    It goes on whether or not there is gaze: a sample without gaze is replaced by the estimate from what was released
    before it, and gets its noise, its tests and its charge like any other.

    Attributes:
        epsilon: The ε of a window.
        window: Seconds of a window; samples, for smoothing.
        radius: How far gaze is hidden: 60px, 2deg, or 5% of the width; a plain number is in the unit of the space.
        filter: Whether a Kalman filter makes the output out of the noisy points; if not, the latest one is held.
    """

    epsilon: Fraction = setting(metavar="NUMBER")
    window: Fraction = setting(metavar="SECONDS")
    radius: Fraction = setting(metavar="LENGTH")
    filter: bool = True

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        if self.space.axes != 2:
            raise OptionError(
                f"{self.name} protects gaze with two coordinates, not three",
                hint="points in a Room3D have 'held-ticks'; or give the direction of gaze, in a Sphere",
            )
        object.__setattr__(self, "radius", Length.of(self.radius).in_space(self.space))
        for name in ("epsilon", "window", "radius"):
            object.__setattr__(self, name, above_zero(getattr(self, name), name))
            if not Fraction(1, 10**9) <= getattr(self, name) <= 10**9:
                raise OptionError(f"{name} must be between 1e-9 and 1e9, not {getattr(self, name)}")
        if not isinstance(self.filter, bool):
            raise OptionError(f"filter is true or false, not {self.filter!r}")
        self._check()
        spacing_of(self.plan(), self.space)

    @property
    def guarantee(self) -> Guarantee:
        """Kaleido's guarantee."""
        return GazeStreamDP(self.epsilon, self.window, self.radius, self.space.unit)

    @property
    def fixed(self) -> str:
        """The guarantee can be changed at any time."""
        return ""

    def start(self, noise: NoiseSource) -> StreamVeil:
        """Return a veil for a new stream."""
        return StreamVeil(self, noise)

    @property
    def model(self) -> gaze_model.GazeModel:
        """How the gaze moves that is veiled: as eyes do, unless a mechanism says otherwise."""
        return gaze_model.EYES

    def prior(self) -> Prior:
        """Return what is known of gaze before any is seen."""
        return prior_of(self.space, None, self.model)

    @abstractmethod
    def compiled(self) -> Compiled:
        """Return the compiled kernels that take one sample, and many; numba loads on use."""

    @abstractmethod
    def plan(self) -> StreamPlan:
        """Return the guarantee in integers; it depends on public numbers only."""

    def _check(self) -> None:
        """Check the parameters of a mechanism's own."""

    def _rule(self) -> Rule:
        return Rule.of(self.epsilon, self.window, self.radius)


class StreamVeil(Veil):
    """One stream behind a mechanism with Kaleido's guarantee. A second thread is refused while one is in it."""

    __slots__ = (
        "_belief",
        "_budget",
        "_clock",
        "_machine_clock",
        "_past",
        "_plan",
        "_run",
        "_step",
        "_tests",
        "_words",
    )

    mechanism: StreamMechanism
    _now: StreamMechanism

    def __init__(self, mechanism: StreamMechanism, noise: NoiseSource) -> None:
        super().__init__(mechanism, noise)
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415  (numba loads on use)

        self._step, self._run = mechanism.compiled()
        self._clock, self._machine_clock = new_clock(), (k.NEVER, k.WALL, k.SPENT_WALL, k.NEVER)
        self._words = np.zeros(_WORDS, np.uint64)
        self._clock[k.WORD] = _WORDS
        plan = mechanism.plan()
        self._budget = budget_for(plan.releases, plan.spacing_us or plan.period_us)
        self._tests = _tests_for(plan)
        self._plan = plan_numbers(mechanism, plan)
        self._belief = np.zeros(k.BELIEF_WIDTH)
        k.forget(self._belief, self._plan)
        self._past = _past_for(mechanism, plan)

    @property
    def faults(self) -> Faults:
        """What was wrong with the samples so far."""
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

        return Faults(*(int(self._clock[slot]) for slot in (k.BACK, k.MISSING, k.INFINITE)))

    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once."""
        if self._shut:
            self._check_open()
        if not self._door.acquire(False):
            raise self._busy_error()
        try:
            while True:
                code, shown_x, shown_y = self._step(
                    self._clock, self._budget, self._tests, self._belief, self._past, self._plan, self._words, t, x, y
                )
                if code == 0:
                    return shown_x, shown_y
                self._serve_request(code, t, x, y)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._door.release()

    @fails_closed
    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take many samples at once; the same as stepping through them."""
        t, x, y = as_samples(t, x, y)
        shown_x, shown_y = np.empty(len(t)), np.empty(len(t))
        self._through(t, x, y, shown_x, shown_y)
        return shown_x, shown_y

    def pace(self, now: float) -> None:
        """Set the machine's time for the samples to come: no window on that clock holds more than is guaranteed."""
        try:
            wall = round(now * 1e6)
        except BaseException as error:
            self._fail(error)
            raise
        latest, at, spent_at, never = self._machine_clock
        if wall <= latest:
            return
        if latest == never and self._clock[spent_at] == never:  # of a stream that moved here: take it as just now
            self._clock[spent_at] = wall
        self._clock[at] = wall
        self._machine_clock = (wall, at, spent_at, never)

    def _change(self, t: float, changed: StreamMechanism) -> None:
        """Go on with another guarantee.

        A stricter one holds at once: if its window is overspent already, nothing is released until that is past. A
        looser one takes full effect when the windows that began under the old one are over.
        """
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

        now = int(k.moment(self._clock, t))
        at = int(k.paced(self._clock, now))
        plan, epoch = changed.plan(), self._now.plan().epoch_loss
        if epoch and self._clock[k.OWN]:
            if not k.spend(self._budget, at, epoch):
                raise InternalError("an open epoch was not paid for")
            k.spent(self._clock, now, at)
        budget = with_rule(self._budget, at, plan.releases, plan.spacing_us or plan.period_us)
        tests = _tests_for(plan, self._tests, at)
        past = _past_for(changed, plan, self._past)
        self._budget, self._tests, self._past = budget, tests, past
        self._plan = gaze_model.with_scenes(plan_numbers(changed, plan), gaze_model.scenes_of(self._plan))
        if self._clock[k.NOW] != k.NEVER:
            self._clock[k.NOW] = now
        self._clock[k.OWN :] = 0

    @one_thread
    def expect(self, t: float, density: Density | None) -> None:
        """Set what is on the screen from now on: where gaze is likely, whoever looks. It costs no budget.

        The density must be public. It may follow from what is shown or from other participants' gaze, not from the gaze
        of this participant. What is released, when, and at what loss stays as it is; what is shown in between moves to
        where gaze is likely, within the filter's own time.

        Args:
            t: Since when, in seconds; before the first sample it is so from the beginning.
            density: An array of numbers, a grid over the whole space with its rows from top to bottom; or a list of
                regions (left, top, right, bottom, weight); or None for what is known of any scene.

        Raises:
            OptionError: If the density is not valid, or the mechanism does not filter; the density before stays.
            VeilShut: If the veil is shut.
        """
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

        self._check_open()
        if not self.mechanism.filter:
            raise OptionError("a density of gaze needs the filter", hint="use filter=True")
        if not k.is_time(float(t)):
            raise OptionError(f"a time is in seconds, not {t!r}")
        prior = prior_of(self.mechanism.space, density)
        if self._clock[k.NOW] == k.NEVER:
            self._plan = gaze_model.with_prior(self._plan, prior)
        else:
            now = int(k.moment(self._clock, float(t)))
            self._plan = gaze_model.followed_by(self._plan, prior, float(now - self._clock[k.ORIGIN]))
            self._clock[k.NOW] = now
        if not self._clock[k.TICKS]:
            k.forget(self._belief, self._plan)

    def belief(self, t: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the mean and the variance of both coordinates at a time, estimated from what was released: no charge.

        Raises:
            OptionError: If the mechanism does not filter.
        """
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

        if not self.mechanism.filter:
            raise OptionError("an estimate of gaze needs the filter", hint="use filter=True")
        if not k.is_time(float(t)):
            raise OptionError(f"a time is in seconds, not {t!r}")
        ahead, now = self._belief.copy(), k.moment(self._clock, float(t))
        if self._clock[k.TICKS]:
            k.advance(ahead, self._plan, float(now - self._clock[k.TICK]))
        centre = self._plan[k.CENTRE : k.CENTRE + 2] + k.trailing(self._plan, float(now - self._clock[k.ORIGIN]))
        u, m, uu, um, mm = (ahead.reshape(2, k.AXIS)[:, part] for part in range(k.AXIS))
        mean, variance = centre + u + m, uu + 2 * um + mm
        return (float(mean[0]), float(mean[1])), (float(variance[0]), float(variance[1]))

    def _through(self, t: FloatArray, x: FloatArray, y: FloatArray, shown_x: FloatArray, shown_y: FloatArray) -> None:
        state = (self._clock, self._budget, self._tests, self._belief, self._past, self._plan, self._words)
        done = 0
        while done < len(t):
            code, done = self._run(*state, t, x, y, shown_x, shown_y, done)
            if code:
                self._serve_request(code, float(t[done]), float(x[done]), float(y[done]))

    def _serve_request(self, code: int, t: float, x: float, y: float) -> None:
        """Do what a compiled step cannot: fetch words, settle a sample that doubles leave undecided, or refuse."""
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

        clock, words = self._clock, self._words
        at, loss = int(clock[k.ASKED_WORD]), int(clock[k.ASKED_LOSS])
        if code == k.MORE_WORDS:
            rest = words[clock[k.WORD] :].copy()
            words[: len(rest)] = rest
            words[len(rest) :] = self.noise.words(_WORDS - len(rest))
            clock[k.WORD] = 0
        elif code == k.SETTLE_POINT:
            spacing = float(self._plan[k.SPACING])
            x, y = k.taken(clock, self._belief, self._plan, k.moment(clock, t), x, y)
            scale = Fraction(LOSS_UNIT, loss) * _noise_per_unit(self.mechanism.space) / Fraction(spacing)
            place = [k.inside(value, self._plan, axis) for axis, value in enumerate((x, y))]
            if isinstance(self.mechanism.space, Sphere):
                place = list(k.direction(x, y))
            heads = words[at : at + words_per_point(len(place))].tolist()
            settled = settle_point(self.noise, heads, scale, [value / spacing for value in place])
            clock[[k.POINT_IS_SET, k.POINT_X, k.POINT_Y, k.POINT_Z]] = [1, *settled, 0][:4]
        elif code == k.SETTLE_TEST:
            scale = Fraction(_TEST_UNIT, loss) * int(clock[k.ASKED_TIMES]) / Fraction(float(self._plan[k.GRAIN]))
            word = int(words[at])
            size = exact_rounding.settle([word >> 1], 63, exact_rounding.laplace_recipe(scale), self.noise.more)[0]
            slot = k.TEST_IS_SET + 2 * (at - int(clock[k.WORD]))
            clock[slot], clock[slot + 1] = 1, -size if word & 1 else size
        elif code == k.BAD_TIME:
            raise InputError(
                f"a time must be a finite number of seconds, within ±1e12, not {t!r}; the veil is shut", hint=_HINT
            )
        else:
            raise InternalError(f"a compiled step answered {code}")

    def _state(self) -> Arrays:
        level = ",".join(as_text(number) for number in (self._now.epsilon, self._now.window, self._now.radius))
        return {
            "promise": np.frombuffer(level.encode(), np.uint8),
            "clock": self._clock,
            "books": self._budget,
            "tests": self._tests,
            "belief": self._belief,
            "past": self._past.reshape(-1),
            "scenes": gaze_model.scenes_of(self._plan),
        }

    def _restore(self, arrays: Arrays) -> None:
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

        try:
            epsilon, window, radius = arrays["promise"].tobytes().decode().split(",")
            now = replace(self.mechanism, epsilon=epsilon, window=window, radius=radius)  # type: ignore[arg-type]
            plan = now.plan()
            past = _past_for(now, plan)
            parts = {"clock": self._clock, "belief": self._belief, "past": past.reshape(-1)}
            whole = all(arrays[name].shape == own.shape for name, own in parts.items())
            whole = whole and gaze_model.are_scenes(arrays["scenes"], self.mechanism.space)
            if not (whole and is_budget(arrays["books"]) and len(arrays) == 7):
                raise StateError("the state has another shape than the veil", hint=_HINT)
            if not (is_budget(arrays["tests"]) if plan.tests else len(arrays["tests"]) == 1):
                raise StateError("the state has another shape than the veil", hint=_HINT)
        except (KeyError, ValueError) as error:
            raise StateError("the state does not fit the veil", hint=_HINT) from error
        for name, own in parts.items():
            own[:] = arrays[name]
        self._now, self._past = now, past
        self._plan = gaze_model.with_scenes(plan_numbers(now, plan), arrays["scenes"])
        self._budget, self._tests = arrays["books"], arrays["tests"]
        self._clock[[k.WALL, k.SPENT_WALL]] = k.NEVER  # another process, another clock
        self._drop_noise()

    def _drop_noise(self) -> None:
        from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

        self._words[:] = 0
        self._clock[k.WORD] = _WORDS
        self._clock[k.POINT_IS_SET : k.ASKED_TIMES + 1] = self._clock[k.POINT_Z] = 0


def new_clock() -> IntArray:
    """Return the integers of a stream that has not begun."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    clock = np.zeros(k.CLOCK_WIDTH, np.int64)
    clock[[k.NOW, k.TICK, k.TEST, k.WALL, k.SPENT_AT, k.SPENT_WALL]] = k.NEVER
    return clock


def spacing_of(plan: StreamPlan, space: Space) -> float:
    """Return the lattice step that suits the noise of a plan's releases.

    Raises:
        OptionError: If the noise would be too narrow or too wide for an exact sampler.
    """
    unit, farthest = LOSS_UNIT * _noise_per_unit(space), 1.0 if isinstance(space, Sphere) else max(space.size)
    finest = unit / plan.loss
    step = Fraction(2) ** min(0, math.floor(math.log2(finest)) - 6)
    widest = unit / (plan.least_loss or plan.loss) / step
    if not (finest / step >= LEAST_STEPS and widest <= MOST_STEPS and farthest / float(step) < FARTHEST / 2):
        raise OptionError(
            "this guarantee needs noise beyond the range of exact sampling",
            hint="check epsilon and radius against the size of the space",
        )
    return float(step)


def _noise_per_unit(space: Space) -> Fraction:
    """Return the length of a unit of distance where noise is added: in the space itself, or on unit vectors."""
    return Fraction(NOISE_PER_DEGREE) if isinstance(space, Sphere) else Fraction(1)


def grain_of(size: tuple[float, ...]) -> float:
    """Return the step that tested distances are rounded to: a power of two, far below any radius worth protecting."""
    return 2.0 ** (math.ceil(math.log2(math.hypot(*size))) - 24)


def plan_numbers(mechanism: StreamMechanism, plan: StreamPlan) -> FloatArray:
    """Return a plan as the array of numbers that compiled steps read."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    space, model = mechanism.space, mechanism.model
    numbers = np.zeros(k.PLAN_WIDTH)
    for axis in range(2):
        numbers[k.LOW + axis], numbers[k.HIGH + axis] = space.low[axis], space.high[axis]
    numbers[[k.TAU, k.SLOW]] = model.settle * 1e6, model.drift * 1e6
    numbers[k.TURN] = space.period
    numbers[k.FILTER] = float(mechanism.filter)
    numbers[k.LAG] = mechanism.delay * 1e6
    numbers[k.SPACING] = spacing_of(plan, space)
    numbers[k.LOSS] = plan.loss
    numbers[k.PERIOD] = plan.period_us
    numbers[k.SPHERE] = float(isinstance(space, Sphere))
    numbers[k.GRAIN] = grain_of(space.size)
    numbers[k.PLAN_OWN : k.PLAN_OWN + len(plan.own)] = plan.own
    return gaze_model.with_prior(numbers, mechanism.prior())


def _tests_for(plan: StreamPlan, before: IntArray | None = None, now: int = 0) -> IntArray:
    if plan.tests is None:
        return np.zeros(1, np.int64)
    if before is None:
        return budget_for(plan.tests, plan.period_us)
    return with_rule(before, now, plan.tests, plan.period_us)


def _past_for(mechanism: StreamMechanism, plan: StreamPlan, before: FloatArray | None = None) -> FloatArray:
    """Return room for the ticks that the smoother looks back on, with those that are known already."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    rows = math.ceil(mechanism.delay * 1e6 / plan.period_us) + 2 if mechanism.delay else 1
    past = np.full((rows, k.TICK_WIDTH), -1.0)
    if before is not None:
        kept = min(rows, len(before))
        past[rows - kept :] = before[len(before) - kept :]
    return past


def check_seconds(value: Any, low: float, high: float, name: str) -> None:
    """Refuse a parameter in seconds that is out of its range."""
    if isinstance(value, str) or not low <= exact(value, name) <= high:
        raise OptionError(f"{name} must be between {low:g} and {high:g} seconds, not {value!r}")
