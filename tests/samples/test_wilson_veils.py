# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Wilson's four mechanisms do what the paper says, and their repaired versions what the errata say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gazeveil import NoiseSource, Unproven
from gazeveil.arrays import FloatArray
from gazeveil.errors import GeometryError, InputError, OptionError, UnknownName, VeilShut
from gazeveil.lab.as_published.sample_mechanisms import preset as lab_preset
from gazeveil.lab.attacks.restoring import undo_smoothing
from gazeveil.samples import MECHANISMS, SampleMechanism, Screen, Sphere
from gazeveil.samples.mechanisms.equalise import EqualFixations
from gazeveil.samples.mechanisms.gaussian import GaussianNoise
from gazeveil.samples.mechanisms.kalman import KalmanSmoothing
from gazeveil.samples.mechanisms.random_smoothing import RandomSmoothing
from gazeveil.samples.mechanisms.smoothing import LinearSmoothing
from gazeveil.samples.mechanisms.spatial import SpatialGrid
from gazeveil.samples.mechanisms.temporal import TemporalHold
from gazeveil.samples.recipes import PRESETS, preset

SPHERE = Sphere()
SCREEN = Screen(1920, 1080, 40.0)


def ran(mechanism: SampleMechanism, x: FloatArray, y: FloatArray, seed: int = 1) -> tuple[FloatArray, FloatArray]:
    return mechanism.start(NoiseSource.seeded(seed)).run(np.arange(len(x)) / 72.0, x, y)


def walk(count: int, seed: int = 1, scale: float = 0.5) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, scale, count).cumsum() % 60 - 30, rng.normal(0, scale, count).cumsum() % 60 - 30


def algorithm_1(gaze: FloatArray, size: int, before: float) -> FloatArray:
    """The paper's loop, word by word."""
    window, out = [before] * size, []
    for value in gaze:
        window = [*window[1:], value]
        out.append(sum(weight * item for weight, item in enumerate(window, start=1)) / (size * (size + 1) / 2))
    return np.array(out)


@pytest.mark.parametrize("name", ["gaussian", "temporal", "spatial", "smoothing", "kalman", "edge", "equalise"])
def test_none_of_them_guarantees_anything(name: str) -> None:
    guarantee = MECHANISMS[name](SCREEN).guarantee
    assert isinstance(guarantee, Unproven)
    assert guarantee.reason


def test_temporal_downsampling_repeats_every_kth_point() -> None:
    x = np.arange(10.0)
    held, _ = ran(TemporalHold(SPHERE, keep_every=4), x, x)
    assert held.tolist() == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]


def test_gaussian_noise_has_its_standard_deviation_and_is_new_with_every_sample() -> None:
    # 40,000 draws: the standard deviation is within 2 % but for 1 in 10^14, the correlation within 0.03 likewise
    zeros = np.zeros(20_000)
    x, y = ran(GaussianNoise(SPHERE, sigma=3.0), zeros, zeros)
    assert np.std(np.concatenate([x, y])) == pytest.approx(3.0, rel=0.02)
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.06
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.06
    on_screen, _ = ran(GaussianNoise(SCREEN, sigma=1.0), zeros + 960, zeros + 540)
    assert np.std(on_screen) == pytest.approx(40.0, rel=0.03)


def test_gaussian_noise_and_gaze_share_a_lattice_so_that_low_bits_tell_nothing() -> None:
    rng = np.random.default_rng(2)
    x, _ = ran(GaussianNoise(SPHERE, sigma=1.0), rng.uniform(-10, 10, 500), np.zeros(500))
    assert np.all(x * 64 == np.round(x * 64))


@pytest.mark.parametrize(("factor", "cell"), [(48, 4.0), (144, 12.0), (256, 21.0 + 1 / 3)])
def test_spatial_downsampling_has_the_papers_cells(factor: float, cell: float) -> None:
    assert SpatialGrid(SPHERE, factor=factor).cell == pytest.approx(cell)
    x = np.linspace(-60, 60, 997)
    floored, _ = ran(SpatialGrid(SPHERE, factor=factor, centred=False), x, x)
    assert floored == pytest.approx(np.floor(x / cell) * cell)


def test_the_published_grid_is_biased_by_half_a_cell_and_the_centred_one_is_not() -> None:
    x = np.random.default_rng(3).uniform(-60, 60, 60_000)
    published, _ = ran(SpatialGrid(SPHERE, factor=48, centred=False), x, x)
    centred, _ = ran(SpatialGrid(SPHERE, factor=48), x, x)
    assert np.mean(published - x) == pytest.approx(-2.0, abs=0.03)
    assert np.mean(centred - x) == pytest.approx(0.0, abs=0.03)
    assert np.abs(centred - x).max() <= 2.0 + 1e-9


@pytest.mark.parametrize("size", [1, 2, 50, 150, 300])
def test_smoothing_is_algorithm_1(size: int) -> None:
    x, y = walk(1000)
    published = ran(LinearSmoothing(SPHERE, window=size, start_with="zeros"), x, y)
    assert published[0] == pytest.approx(algorithm_1(x, size, 0.0), abs=1e-11)
    assert published[1] == pytest.approx(algorithm_1(y, size, 0.0), abs=1e-11)
    repaired, _ = ran(LinearSmoothing(SPHERE, window=size), x, y)
    assert repaired == pytest.approx(algorithm_1(x, size, float(x[0])), abs=1e-11)


def test_the_published_start_is_drawn_to_zero_and_the_repaired_one_is_not() -> None:
    x = np.full(60, 20.0)
    published, _ = ran(LinearSmoothing(SPHERE, window=50, start_with="zeros"), x, x)
    repaired, _ = ran(LinearSmoothing(SPHERE, window=50), x, x)
    assert published[0] == pytest.approx(20 * 50 / 1275)
    assert np.all(np.diff(published[:50]) > 0)
    assert repaired == pytest.approx(20.0)


def test_smoothing_lags_by_a_third_of_its_window() -> None:
    x = np.arange(400.0) / 10
    smoothed, _ = ran(LinearSmoothing(SPHERE, window=50), x, x)
    assert (x - smoothed)[-1] * 10 == pytest.approx((50 - 1) / 3)


@pytest.mark.parametrize("size", [50, 150, 300])
@pytest.mark.parametrize("start", ["first", "zeros"])
def test_smoothing_is_undone_exactly(size: int, start: str) -> None:
    x, y = walk(3000)
    smoothed = ran(LinearSmoothing(SPHERE, window=size, start_with=start), x, y)
    for raw, released in zip((x, y), smoothed, strict=True):
        assert np.abs(undo_smoothing(released, size, start_with=start) - raw).max() < 1e-9


def test_random_weights_take_the_exact_inverse_away() -> None:
    x, y = walk(3000)
    shaken, _ = ran(RandomSmoothing(SPHERE, window=50, spread=0.5, random_start=False), x, y)
    assert np.abs(undo_smoothing(shaken, 50) - x).max() > 0.5
    plain, _ = ran(RandomSmoothing(SPHERE, window=50, spread=0.0, random_start=False), x, y)
    assert plain == pytest.approx(algorithm_1(x, 50, float(x[0])), abs=1e-11)


def test_a_random_start_is_forgotten_after_a_while() -> None:
    x, y = walk(3000)
    random, _ = ran(RandomSmoothing(SPHERE, window=50, spread=0.0), x, y)
    assert abs(random[0] - x[0]) > 1e-3
    assert np.abs(undo_smoothing(random, 50) - x)[-500:].max() < 1e-3


def test_random_weights_stay_within_the_gaze_of_the_window() -> None:
    x, y = walk(500)
    shaken, _ = ran(RandomSmoothing(SPHERE, window=20, spread=0.9, random_start=False), x, y)
    assert all(
        x[max(0, n - 19) : n + 1].min() - 1e-9 <= shaken[n] <= x[max(0, n - 19) : n + 1].max() + 1e-9
        for n in range(500)
    )


def test_smoothing_goes_the_short_way_round_the_sphere() -> None:
    x = np.where(np.arange(200) % 2, 179.0, -179.0)
    for mechanism in (LinearSmoothing(SPHERE, window=20), KalmanSmoothing(SPHERE)):
        smoothed, _ = ran(mechanism, x, np.zeros(200))
        assert np.all(np.abs(np.abs(smoothed) - 180) <= 1 + 1e-9)
        assert np.all((smoothed >= -180) & (smoothed < 180))


def test_noise_beyond_the_back_of_the_head_comes_round() -> None:
    x, y = ran(GaussianNoise(SPHERE, sigma=10.0), np.full(2000, 179.0), np.full(2000, 85.0))
    assert (x < 0).mean() == pytest.approx(0.46, abs=0.05)
    assert y.max() == 90.0


def test_missing_gaze_is_the_last_gaze_seen_and_the_centre_before_any() -> None:
    x = np.array([math.nan, 5.0, math.nan, math.inf, 7.0])
    shown, other = ran(SpatialGrid(SPHERE, factor=1e-3, centred=False), x, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert shown == pytest.approx([0, 5, 5, 5, 7], abs=1e-3)
    assert other == pytest.approx([0, 2, 2, 2, 5], abs=1e-3)
    on_screen, _ = ran(TemporalHold(SCREEN), x, x)
    assert on_screen[0] == 960


def test_the_kalman_filter_follows_and_trusts_a_sample_more_after_a_gap() -> None:
    veil = KalmanSmoothing(SPHERE).start(NoiseSource.seeded(1))
    for n in range(200):
        veil.step(n / 100, 0.0, 0.0)
    near, _ = veil.step(2.0, 10.0, 0.0)
    assert 0 < near < 3
    far, _ = veil.step(3602.0, 20.0, 0.0)
    assert far == pytest.approx(20.0, abs=0.01)


def test_the_kalman_filter_is_the_likeliest_path_and_can_be_undone() -> None:
    """A dense solution: at every sample, the last point of the path that samples and steps make likeliest."""
    mechanism = KalmanSmoothing(SPHERE, error=2.0, wander=4.0)
    x, y = walk(60)
    t = np.cumsum(np.random.default_rng(2).integers(5_000, 30_000, 60)) / 1e6
    seen = np.random.default_rng(3).random(60) > 0.2
    seen[0] = True
    released, _ = mechanism.start(NoiseSource.seeded(1)).run(t, np.where(seen, x, np.nan), y)
    for last in range(60):
        steps = 1.0 / (4.0**2 * np.diff(t[: last + 1]))
        normal = np.diag(seen[: last + 1] / 2.0**2)
        for n, weight in enumerate(steps):
            normal[n : n + 2, n : n + 2] += weight * np.array([[1.0, -1.0], [-1.0, 1.0]])
        path = np.linalg.solve(normal, np.where(seen, x, 0.0)[: last + 1] / 2.0**2)
        assert released[last] == pytest.approx(path[-1], abs=1e-9)
    variance, before, found = 4.0, released[0], [released[0]]
    for n in range(1, 60):
        variance += 16.0 * (t[n] - t[n - 1])
        gain = variance / (variance + 4.0) if seen[n] else 0.0
        variance *= 1.0 - gain
        found.append(before + (released[n] - before) / gain if seen[n] else np.nan)
        before = released[n]
    assert np.array(found)[seen] == pytest.approx(x[seen], abs=1e-9)


def fixations(durations: list[float], rate: float = 200.0) -> tuple[FloatArray, FloatArray, FloatArray]:
    places = [10.0 * (n % 3) for n in range(len(durations))]
    x = np.concatenate([np.full(round(d * rate), place) for d, place in zip(durations, places, strict=True)])
    return np.arange(len(x)) / rate, x, np.zeros(len(x))


def shown_stretches(shown: FloatArray, t: FloatArray) -> list[float]:
    seen = np.flatnonzero(np.diff(np.concatenate([[False], ~np.isnan(shown), [False]]).astype(int)))
    return [round(float(t[min(end, len(t) - 1)] - t[begin]), 6) for begin, end in seen.reshape(-1, 2)]


def test_equal_fixations_all_last_equally_long() -> None:
    t, x, y = fixations([0.4, 0.9, 0.45, 1.4, 0.6, 0.5])
    veil = EqualFixations(SPHERE, show=0.2, settle=0.1).start(NoiseSource.seeded(1))
    shown, _ = veil.run(t, x, y)
    assert shown_stretches(shown, t) == [0.2] * 6


@pytest.mark.parametrize("between", ["nothing", "hold"])
@pytest.mark.parametrize("show", [0.05, 0.2, 0.7])
def test_output_is_the_same_however_long_fixations_last(between: str, show: float) -> None:
    """Fixations settle at the same times in the same places; how long they last, and what comes between, differs."""
    rng = np.random.default_rng(9)
    rate, slot = 200, 100  # a fixation begins every half second
    mechanism, outputs = EqualFixations(SPHERE, show=show, settle=0.1, between=between), []
    for _ in range(4):
        x = rng.uniform(-80, 80, 20 * slot)  # an eye that never settles
        for n in range(20):
            x[n * slot : n * slot + int(rng.integers(22, slot))] = 10.0 * (n % 7)
        outputs.append(mechanism.start(NoiseSource.seeded(1)).run(np.arange(len(x)) / rate, x, np.zeros(len(x)))[0])
    assert all(np.array_equal(outputs[0], other, equal_nan=True) for other in outputs[1:])
    assert len(set(outputs[0][~np.isnan(outputs[0])])) >= 5


def test_one_that_settles_while_another_is_shown_waits_its_turn() -> None:
    t, x, y = fixations([0.3, 0.15, 0.8])
    shown, _ = EqualFixations(SPHERE, show=0.25, settle=0.1).start(NoiseSource.seeded(1)).run(t, x, y)
    runs = [float(value) for value, before in zip(shown[1:], shown[:-1], strict=True) if value != before]
    assert [value for value in runs if not math.isnan(value)] == [0.0, 10.0, 20.0]


def test_saccades_and_short_stops_are_not_shown() -> None:
    t, x, y = fixations([0.05] * 20)
    shown, _ = EqualFixations(SPHERE, settle=0.1).start(NoiseSource.seeded(1)).run(t, x, y)
    assert np.isnan(shown).all()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_makes_a_mechanism(name: str) -> None:
    mechanism = preset(name, SCREEN)
    assert mechanism.guarantee.proven == (name in ("lphu", "mpmu", "hplu"))


def test_presets_are_the_papers() -> None:
    assert preset("gaussian-high", SPHERE) == GaussianNoise(SPHERE, sigma=3.0)
    with pytest.raises(UnknownName, match="a published method that the lab measures"):
        preset("smoothing-high-as-published", SPHERE)
    published = lab_preset("smoothing-high-as-published", SPHERE)
    assert published == LinearSmoothing(SPHERE, window=150, start_with="zeros")
    assert preset("spatial-low", SPHERE) == SpatialGrid(SPHERE, factor=48)
    low = preset("lphu", Screen(1280, 720))
    assert low.to_dict()["radius"] == "60px"
    assert preset("hplu", Screen(2560, 1440)).to_dict()["radius"] == "600px"
    assert preset("lphu", SPHERE).to_dict()["radius"] == "2.25deg"
    assert preset("lphu", Screen(1280, 720), radius=80).to_dict()["radius"] == "80px"
    with pytest.raises(UnknownName, match="gaussian-low"):
        preset("gausian-low", SPHERE)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: GaussianNoise(SPHERE, sigma=0),
        lambda: GaussianNoise(SPHERE, sigma=math.inf),
        lambda: GaussianNoise(SPHERE, sigma="wide"),  # type: ignore[arg-type]
        lambda: TemporalHold(SPHERE, keep_every=0),
        lambda: TemporalHold(SPHERE, keep_every=2.5),  # type: ignore[arg-type]
        lambda: SpatialGrid(SPHERE, factor=-1),
        lambda: LinearSmoothing(SPHERE, window=0),
        lambda: LinearSmoothing(SPHERE, window=10**6),
        lambda: LinearSmoothing(SPHERE, start_with="middle"),
        lambda: RandomSmoothing(SPHERE, spread=1.0),
        lambda: KalmanSmoothing(SPHERE, error=0),
        lambda: EqualFixations(SPHERE, show=0),
        lambda: EqualFixations(SPHERE, between="blink"),
        lambda: undo_smoothing([1.0], 0),
        lambda: undo_smoothing([1.0], 3, start_with="middle"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong) -> None:
    with pytest.raises(OptionError):
        wrong()


@pytest.mark.parametrize("name", ["gaussian", "spatial", "kalman", "equalise"])
def test_degrees_need_a_screen_that_knows_them(name: str) -> None:
    with pytest.raises(GeometryError, match="degree"):
        MECHANISMS[name](Screen(1920, 1080))


@pytest.mark.parametrize("mechanism", [GaussianNoise(SPHERE), RandomSmoothing(SPHERE)], ids=lambda m: m.name)
def test_without_noise_no_point_comes_out(mechanism: SampleMechanism) -> None:
    """As when two threads share a veil, which they must not: it shuts instead of reading beyond its noise."""
    veil = mechanism.start(NoiseSource.seeded(1))
    veil.step(0.0, 1.0, 1.0)
    veil._clock[veil._noise_slot] = len(veil._memory)  # type: ignore[attr-defined]
    with pytest.raises(InputError):
        veil.step(0.1, 1.0, 1.0)
    with pytest.raises(VeilShut):
        veil.step(0.2, 1.0, 1.0)
