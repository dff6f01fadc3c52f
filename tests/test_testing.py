# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The kit for tests finds what it is there to find: each broken mechanism breaks the rule that it was made to break.

That the kit passes what is right is shown by every registered mechanism: tests/samples/test_veil_contract.py and
tests/features/test_series_mechanisms.py.
"""

from __future__ import annotations

import doctest
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from gazeveil import testing
from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism, checked
from gazeveil.gateway.sample import Veiled
from gazeveil.geometry import headset
from gazeveil.noise import NoiseSource, add_laplace
from gazeveil.privacy.audit import Pair, Subject
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, PureDP, Unproven
from gazeveil.samples.mechanism import (
    Arrays,
    Faults,
    SampleMechanism,
    Veil,
    fails_closed,
    fit_arrays,
    mechanism_from_dict,
)
from gazeveil.samples.space import Screen
from gazeveil.samples.veils import CLOCK_SLOTS, RAN_BACK, as_samples, sample_times
from gazeveil.testing import (
    GAZE_CASES,
    SAMPLE_RULES,
    SERIES_RULES,
    ContractBroken,
    audited,
    check_sample_mechanism,
    check_series_mechanism,
    corpus,
    gaze,
    tape,
    veiled_fixation,
    veiled_hit,
    veiled_sample,
)

SCREEN = Screen(1280, 720, 40.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jitter(SampleMechanism):
    """Laplace noise on every coordinate, written the plainest way that keeps the contract."""

    name: ClassVar[str] = "jitter"

    scale: float = 8.0

    @property
    def guarantee(self) -> Guarantee:
        return Unproven("noise that is new with every sample averages out")

    def start(self, noise: NoiseSource) -> Veil:
        return Jittering(self, noise)


class Jittering(Veil):
    """Counts, and the last point that was seen, for samples without gaze."""

    __slots__ = ("counts", "last")

    mechanism: Jitter

    def __init__(self, mechanism: Jitter, noise: NoiseSource) -> None:
        super().__init__(mechanism, noise)
        self.counts = np.zeros(CLOCK_SLOTS + 2, np.int64)
        self.last = np.array(mechanism.space.centre)

    @fails_closed
    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        (shown_x,), (shown_y,) = self.through([float(t)], [float(x)], [float(y)])
        return float(shown_x), float(shown_y)

    @fails_closed
    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.through(t, x, y)

    def through(self, *columns: Any) -> tuple[FloatArray, FloatArray]:
        t, x, y = as_samples(*columns)
        sample_times(self.counts, t)
        points = np.column_stack((x, y))
        for point in points:
            if not (np.abs(point) < 1e5).all():
                self.counts[CLOCK_SLOTS + int(not np.isnan(point).any())] += 1
                point[:] = self.last
            self.last = point.copy()
        noisy = self.noisy(points)
        return noisy[:, 0].copy(), noisy[:, 1].copy()

    def noisy(self, points: FloatArray) -> FloatArray:
        return add_laplace(self.noise, np.rint(points).astype(np.int64), self.mechanism.scale).astype(float)

    @property
    def faults(self) -> Faults:
        return Faults(*(int(self.counts[place]) for place in (RAN_BACK, CLOCK_SLOTS, CLOCK_SLOTS + 1)))

    def _state(self) -> Arrays:
        return {"counts": self.counts, "last": self.last}

    def _restore(self, arrays: Arrays) -> None:
        fit_arrays(arrays, self._state())


def broken(veil: type[Jittering], **values: Any) -> SampleMechanism:
    """Return `Jitter` with another veil, and other values of the class."""

    def start(self: Jitter, noise: NoiseSource) -> Veil:
        return veil(self, noise)

    kind = type("Broken", (Jitter,), {"__slots__": (), "start": start, **values})
    return kind(SCREEN)  # type: ignore[no-any-return]


class Peeks(Jittering):
    """Shows the middle of what it has and of what comes next."""

    def noisy(self, points: FloatArray) -> FloatArray:
        ahead = np.vstack([points[1:], points[-1:]]) if len(points) else points
        return super().noisy((points + ahead) / 2)


class OwnNoise(Jittering):
    """Ignores the source it was given for a generator of its own."""

    def noisy(self, points: FloatArray) -> FloatArray:
        return points + np.random.default_rng(1).laplace(size=2)


class OtherNoise(Jittering):
    """Draws from the operating system besides."""

    def noisy(self, points: FloatArray) -> FloatArray:
        return add_laplace(NoiseSource.secure(), np.rint(super().noisy(points)).astype(np.int64), 1).astype(float)


class Early(Jittering):
    """Draws before the first sample."""

    def __init__(self, mechanism: Jitter, noise: NoiseSource) -> None:
        super().__init__(mechanism, noise)
        noise.words(1)


class BlockMeans(Jittering):
    """Takes what is shown from the block that samples come in."""

    def noisy(self, points: FloatArray) -> FloatArray:
        return super().noisy(points - points.mean(axis=0) if len(points) > 1 else points)


class FailsInGaps(Jittering):
    """Cannot do without gaze."""

    def through(self, *columns: Any) -> tuple[FloatArray, FloatArray]:
        if np.isnan(np.asarray(columns[1], dtype=np.float64)).any():
            raise ValueError("cannot convert float NaN to integer")
        return super().through(*columns)


class LetsExtremesOut(Jittering):
    """Shows where gaze is missing or absurd what came in."""

    def through(self, *columns: Any) -> tuple[FloatArray, FloatArray]:
        shown = super().through(*columns)
        raw = np.asarray(columns[1], dtype=np.float64)
        return np.where(np.abs(raw) > 1e5, raw, shown[0]), shown[1]


class Shortens(Jittering):
    """Leaves samples without gaze out."""

    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        shown = super().run(t, x, y)
        return shown[0][~np.isnan(x)], shown[1][~np.isnan(x)]


class StaysOpen(Jittering):
    """Goes on after a sample that is none."""

    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        try:
            return super().step(t, x, y)
        finally:
            self._shut = ""


class TakesAnything(Jittering):
    """Takes what is no number for missing gaze."""

    def step(self, t: float, x: Any, y: Any) -> tuple[float, float]:
        return super().step(t, x if isinstance(x, float) else math.nan, y if isinstance(y, float) else math.nan)


class Shared(Jittering):
    """Keeps the last point in the class, for all streams."""

    kept: ClassVar[Any] = np.zeros(2)

    def noisy(self, points: FloatArray) -> FloatArray:
        moved = super().noisy(points + Shared.kept[0] % 3)
        Shared.kept[0] += 1
        return moved


class Forgets(Jittering):
    """Its state leaves out the last point."""

    def _state(self) -> Arrays:
        return {"counts": self.counts}


class Hoards(Jittering):
    """Remembers every sample."""

    def noisy(self, points: FloatArray) -> FloatArray:
        self.counts = np.concatenate([self.counts, np.zeros(len(points), np.int64)])
        return super().noisy(points)

    def _restore(self, arrays: Arrays) -> None:
        self.counts, self.last = arrays["counts"], arrays["last"]


class Overclaims(Jittering):
    """States a guarantee under noise that everybody can repeat."""

    @property
    def guarantee(self) -> Guarantee:
        return GazeStreamDP(1, "0.5", 60)


def test_a_plain_mechanism_of_ones_own_keeps_the_contract() -> None:
    check_sample_mechanism(Jitter(SCREEN))


@pytest.mark.parametrize(
    ("veil", "rule"),
    [
        (Peeks, "It answers every sample at once"),
        (OwnNoise, "The same noise gives the same answer"),
        (OtherNoise, "The same noise gives the same answer"),
        (Early, "The same noise gives the same answer"),
        (BlockMeans, "It answers every sample at once"),
        (FailsInGaps, "Gaps, missing gaze"),
        (LetsExtremesOut, "Gaps, missing gaze"),
        (Shortens, "Gaps, missing gaze"),
        (StaysOpen, "What is no sample is an error"),
        (TakesAnything, "What is no sample is an error"),
        (Shared, "The same noise gives the same answer"),
        (Forgets, "Its state moves to another process"),
        (Hoards, "Its state moves to another process"),
        (Overclaims, "It states its guarantee"),
    ],
)
def test_a_broken_mechanism_is_found(veil: type[Jittering], rule: str) -> None:
    with pytest.raises(ContractBroken) as caught:
        check_sample_mechanism(broken(veil))
    assert caught.value.rule.startswith(rule)
    assert caught.value.rule in SAMPLE_RULES
    for part in (caught.value.expected, caught.value.found, caught.value.hint):
        assert part
        assert part in str(caught.value)


def test_a_mechanism_that_hides_its_noise_is_found() -> None:
    with pytest.raises(ContractBroken, match="draws_noise"):
        check_sample_mechanism(broken(Jittering, draws_noise=False))


def test_a_recipe_that_leaves_a_parameter_out_is_found() -> None:
    kind = type("Silent", (Jitter,), {"__slots__": (), "to_dict": lambda self: {"mechanism": "jitter"}})
    with pytest.raises(ContractBroken, match="recipe"):
        check_sample_mechanism(kind(SCREEN))
    with pytest.raises(ContractBroken, match="recipe"):  # a name that another mechanism has already
        check_sample_mechanism(broken(Jittering, name="gaussian"))


def test_what_is_no_mechanism_is_found() -> None:
    for wrong in (lambda t, x, y: (x, y), Jitter, "clock"):
        with pytest.raises(ContractBroken, match="a frozen SampleMechanism"):
            check_sample_mechanism(wrong)  # type: ignore[arg-type]
    with pytest.raises(ContractBroken, match="a frozen SeriesMechanism"):
        check_series_mechanism(Jitter(SCREEN))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added(SeriesMechanism):
    """Laplace noise on every value: as much as ε of a step, for every step that changes."""

    name: ClassVar[str] = "added"
    short: ClassVar[float] = 1.0

    def epsilon_for(self, changed: int) -> Fraction:
        return Fraction(self.epsilon) * changed / self.changed

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        table = checked(values, self.steps, self.features)
        steps = np.rint(table * 1024).astype(np.int64)
        scale = self.short * 1025 * self.changed * self.features / float(self.epsilon)
        return np.clip(add_laplace(noise, steps, scale) / 1024, 0.0, 1.0)


class OneDraw(Added):
    """All participants get the same noise."""

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        one = super().perturb(np.full_like(values[:1], 0.5), noise)
        return np.clip(checked(values, self.steps, self.features) + one - 0.5, 0.0, 1.0)


class Writes(Added):
    """Writes into what it was given."""

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        values[:] = super().perturb(values, noise)
        return values


class Leaves(Added):
    """Leaves the range."""

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        return super().perturb(values, noise) * 3 - 1


class Fixed(Added):
    """Draws from a generator of its own."""

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        table = checked(values, self.steps, self.features)
        return np.clip(table + np.random.default_rng(1).laplace(size=table.shape), 0.0, 1.0)


class Fills(Added):
    """Takes missing values for zeros."""

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        return super().perturb(np.nan_to_num(values), noise)


class Cheap(Added):
    """Says that a longer stretch costs less."""

    def epsilon_for(self, changed: int) -> Fraction:
        return Fraction(self.epsilon) * self.changed / changed


def added(kind: type[SeriesMechanism] = Added, steps: int = 20, **options: Any) -> SeriesMechanism:
    return kind(epsilon=1, steps=steps, **options)


def test_a_series_mechanism_of_ones_own_keeps_the_contract() -> None:
    check_series_mechanism(added())
    check_series_mechanism(added(features=2, stretch=3))


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (OneDraw, "The same noise gives the same series"),
        (Fixed, "The same noise gives the same series"),
        (Writes, "Series come back in shape and range"),
        (Leaves, "Series come back in shape and range"),
        (Fills, "Missing values, other shapes"),
    ],
)
def test_a_broken_series_mechanism_is_found(kind: type[SeriesMechanism], rule: str) -> None:
    with pytest.raises(ContractBroken) as caught:
        check_series_mechanism(added(kind))
    assert caught.value.rule.startswith(rule)
    assert caught.value.rule in SERIES_RULES


def test_prices_that_fall_are_found() -> None:
    with pytest.raises(ContractBroken, match="grows"):
        check_series_mechanism(added(Cheap, stretch=5))


class TestAudits:
    def test_guarantees_that_hold_are_not_refuted(self) -> None:
        clock = mechanism_from_dict(
            {"mechanism": "clock", "space": SCREEN.to_dict(), "epsilon": 3, "window": "0.5", "radius": 60}
        )
        assert audited(clock, trials=400).smallest_caught is not None
        assert not audited(SERIES_MECHANISMS["fpa"](epsilon=1, steps=20, stretch=5), trials=1000).violated
        assert not audited(added(steps=5), trials=4000).violated

    def test_noise_for_too_small_a_change_is_found(self) -> None:
        few = type("Few", (Added,), {"__slots__": (), "short": 0.1})
        with pytest.raises(ContractBroken, match="claim is false") as caught:
            audited(few(epsilon=1, steps=5))
        assert "sensitivity" in caught.value.hint

    def test_noise_for_every_sample_is_no_guarantee_for_a_window(self) -> None:
        claims = {"guarantee": property(lambda self: GazeStreamDP(1, "0.5", 60))}
        kind = type("Claims", (Jitter,), {"__slots__": (), **claims})
        with pytest.raises(ContractBroken, match="claim is false"):
            audited(kind(SCREEN, scale=8.0), trials=1000)

    def test_a_subject_of_ones_own(self) -> None:
        def counted(data: int, noise: NoiseSource, trials: int) -> np.ndarray:
            return add_laplace(noise, np.full(trials, data), 1)

        assert not audited(Subject(counted, PureDP(1), [Pair(0, 1)]), trials=2000).violated
        with pytest.raises(ContractBroken):
            audited(Subject(counted, PureDP(1), [Pair(0, 4)]), trials=2000)

    def test_what_cannot_be_audited_says_why(self) -> None:
        with pytest.raises(OptionError, match="nothing is guaranteed"):
            audited(Jitter(SCREEN))
        claims = {"guarantee": property(lambda self: PureDP(1))}
        kind = type("Claims", (Jitter,), {"__slots__": (), **claims})
        with pytest.raises(OptionError, match="no neighbours are known"):
            audited(kind(SCREEN))


class TestGaze:
    @pytest.mark.parametrize("case", GAZE_CASES)
    def test_each_case_is_what_it_is_called(self, case: str) -> None:
        made, again = gaze(case), gaze(case)
        assert np.array_equal(made.x, again.x, equal_nan=True)
        outside = np.nanmax(np.abs(made.x), initial=0.0) > 1280
        assert len(made) == (1 if case == "one sample" else 600)
        assert made.time_faults.any == (case in ("irregular times", "everything"))
        assert outside == (case in ("off screen", "extreme values", "everything"))
        gaps = np.isnan(made.x).any() or np.isnan(made.y).any()
        assert gaps == (case not in ("plain", "one sample", "off screen", "irregular times"))

    def test_other_planes_and_fields(self) -> None:
        made = gaze(plane=headset(100, 80), observer="ada", samples=100)
        assert (made.observer, len(made)) == ("ada", 100)
        assert np.abs(made.x).max() <= 50
        with pytest.raises(OptionError, match="no gaze is called"):
            gaze("gap")
        with pytest.raises(OptionError, match="100 samples"):
            gaze(samples=3)

    def test_a_corpus_takes_cases_by_turns(self) -> None:
        made = corpus(2, 2, cases=("plain", "one sample"))
        assert [len(recording) for recording in made] == [600, 1, 600, 1]
        assert len({str(recording.key) for recording in made}) == 4


def test_a_tape_is_repeatable_and_never_private() -> None:
    assert tape(3).words(5).tolist() == tape(3).words(5).tolist()
    assert tape(3).words(5).tolist() != tape(4).words(5).tolist()
    assert not tape().is_secure


def test_veiled_values_are_what_apps_get() -> None:
    sample, fixation, hit = veiled_sample(1, 2, 3, head=(4, 5)), veiled_fixation(1, 2, 3, 0.5, 6), veiled_hit(1, "a")
    assert all(isinstance(made, Veiled) for made in (sample, fixation, hit))
    assert (sample.t, sample.x, sample.y, sample.head, sample.eyes) == (1, 2, 3, (4, 5), None)
    assert (fixation.t, fixation.x, fixation.y, fixation.duration, fixation.number) == (1, 2, 3, 0.5, 6)
    assert (hit.t, hit.area) == (1, "a")


def test_the_examples_of_the_kit_run() -> None:
    found = doctest.testmod(testing)
    assert found.attempted >= 10
    assert not found.failed


def test_the_kit_lists_its_public_names() -> None:
    assert sorted(testing.__all__) == sorted(set(testing.__all__))
    assert all(hasattr(testing, name) for name in testing.__all__)
