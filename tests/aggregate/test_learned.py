# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The trained decoders: what they say, where they know nothing, that they are the networks that were trained."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gazeveil.aggregate import neural_decoder
from gazeveil.aggregate.bayes_decoder import Decoded, from_network, hot_spots
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_features import bumps_along, bumps_over, lattice_of
from gazeveil.aggregate.map_prior import Plane, broad, mean_of, models_of, plain_models
from gazeveil.aggregate.neural_decoder import Network, shipped
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.aggregate.strategies import modes
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task
from gazeveil.arrays import FloatArray
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource

GRID = Grid(32, 24, screen(800, 600))  # 32 degrees wide, as is taken where nothing is known
PLANE = Plane(GRID, (1.1, 1.1))
MEAN = mean_of(plain_models(PLANE))
DELTA = Fraction(1, 100_000)


def spots_map() -> FloatArray:
    """A blurred map with two hot spots away from the middle."""
    x, y = np.meshgrid(np.arange(32), np.arange(24))
    spots = np.exp(-((x - 7) ** 2 + (y - 6) ** 2) / 3) + 0.6 * np.exp(-((x - 25) ** 2 + (y - 17) ** 2) / 4) + 0.002
    flat = spots.ravel() / spots.sum()
    return PLANE.blurred(flat)


def numbers_of(map_: FloatArray) -> FloatArray:
    """What bumps see of participants who all look as a map says."""
    seen = map_ @ bumps_over(GRID)
    return np.asarray(seen / np.linalg.norm(seen))


@cache
def of_spots(noise_sd: float, draws: int = 20) -> tuple[neural_decoder.NetworkEstimate, ...]:
    rng, numbers = np.random.default_rng(1), numbers_of(spots_map())
    people = max(round(5.276 / noise_sd), 1)
    facts = neural_decoder.PublicFacts(PLANE, people, noise_sd)
    return tuple(
        neural_decoder.of_bumps(facts, numbers + noise_sd * rng.normal(size=numbers.size), MEAN) for _ in range(draws)
    )


def correlation(one: FloatArray, other: FloatArray) -> float:
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def test_the_less_noise_the_nearer_to_the_map() -> None:
    likeness = [
        float(np.mean([correlation(each.map, spots_map()) for each in of_spots(noise)])) for noise in (0.3, 0.1, 0.02)
    ]
    assert likeness[0] < likeness[1] < likeness[2]
    assert likeness[2] > 0.97


def test_maps_are_positive_and_of_mass_1() -> None:
    for each in of_spots(0.1):
        assert (each.map > 0).all()
        assert each.map.sum() == pytest.approx(1)
        assert (each.error_sd > 0).all()
        assert (each.noise_sd > 0).all()
        assert ((each.hot >= 0) & (each.hot <= 1)).all()


def test_nothing_but_noise_is_hardly_taken_for_gaze() -> None:
    rng = np.random.default_rng(2)
    expected = numbers_of(MEAN)
    facts = neural_decoder.PublicFacts(PLANE, 18, 0.3)
    maps = [
        neural_decoder.of_bumps(facts, expected + 0.3 * rng.normal(size=expected.size), MEAN).map for _ in range(20)
    ]
    assert np.mean([correlation(each, MEAN) for each in maps]) > 0.93


def test_noise_sd_is_what_fresh_noise_does() -> None:
    """Pooled over groups of cells and 20 seeded draws."""
    for noise in (0.15, 0.05):
        found = of_spots(noise)
        true = np.var([each.map for each in found], axis=0, ddof=1)
        stated = np.mean([each.noise_sd**2 for each in found], axis=0)
        order = np.argsort(spots_map())
        for cells in (order[-40:], order[:-40]):
            assert 0.5 < np.sqrt(stated[cells].sum() / true[cells].sum()) < 2


def test_hot_spots_are_found_where_they_are() -> None:
    """All participants look alike here, which none do: more than one flag in ten is false, as it is not on real scenes
    (docs/results.md#heatmaps-what-a-release-adds-to-its-prior)."""
    truth = spots_map() * GRID.size
    called = np.array([hot_spots(each.hot) for each in of_spots(0.03)])
    assert called[:, truth > 8].mean() > 0.9
    assert called[:, truth <= 4].sum() <= 0.2 * called.sum()
    assert called[:, truth <= 2].sum() <= 0.01 * called.sum()


@pytest.mark.parametrize(
    ("plane", "people", "noise", "known"),
    [
        (PLANE, 30, 0.17, True),
        (PLANE, 3, 0.17, False),
        (PLANE, 30, 0.8, False),
        (PLANE, 500, 0.005, False),
        (Plane(GRID, (2.5, 2.5)), 30, 0.17, False),
        (Plane(Grid(16, 12, screen(800, 600)), (1.1, 1.1)), 30, 0.17, False),
    ],
)
def test_it_knows_where_it_was_trained(plane: Plane, people: int, noise: float, known: bool) -> None:
    assert neural_decoder.BUMPS.knows(neural_decoder.PublicFacts(plane, people, noise), 494) is known


def test_modes_are_known_by_their_number_too() -> None:
    facts = neural_decoder.PublicFacts(PLANE, 15, 0.15)
    assert [count for count in range(1, 20) if neural_decoder.MODES.knows(facts, count)] == list(range(2, 13))


def test_interpolation_is_exact_for_parabolas_and_goes_on_straight() -> None:
    places, wanted = np.linspace(0.6, 9.35, 8, dtype=np.float64), np.array([1.9, 3.0, 5.5, 7.7])
    parabola = neural_decoder.cubic(places, wanted) @ (places**2 - 3 * places)
    assert np.allclose(parabola, wanted**2 - 3 * wanted)
    beyond = np.array([0.0, 0.3, 10.0])
    assert np.allclose(neural_decoder.cubic(places, beyond) @ (2 * places + 1), 2 * beyond + 1)


def test_numbers_lie_row_by_row_on_the_lattice() -> None:
    across, down = bumps_along(GRID)
    x, y = lattice_of(GRID)
    assert (len(x), len(y)) == (across.shape[1], down.shape[1])
    single = np.zeros((24, 32))
    single[6, 20] = 1
    seen = (single.ravel() @ bumps_over(GRID)).reshape(len(y), len(x))
    assert np.allclose(seen, down.T @ single @ across)


def an_estimate(
    saliency: Saliency | None, people: int = 40, strategy: str = "bumps", delta: Fraction = DELTA
) -> Estimate:
    task = Task(grid=GRID, observers=people, epsilon=1, delta=delta, saliency=saliency)
    made = STRATEGIES[strategy](task)  # type: ignore[call-arg]
    kernel = made.kernel()
    rng = np.random.default_rng(3)
    total = np.zeros(kernel.size, dtype=np.int64)
    for _ in range(people):
        x, y = rng.normal((180, 150), 30, size=(12, 2)).T
        total += kernel({"x": x, "y": y, "valid": np.ones(12, dtype=bool)})
    return made.decode(made._noised(total, NoiseSource.seeded(4)))


def test_a_picture_that_gaze_does_not_follow_changes_nothing() -> None:
    """The evidence gives it up, and the map is that of the network that knows no pictures."""
    values = np.ones((24, 32))
    values[15:20, 22:28] = 60.0
    plain, wrong = an_estimate(None), an_estimate(Saliency.of_map(values))
    assert wrong.picture_share < 0.02
    assert np.array_equal(wrong.map, plain.map)


def test_a_picture_that_gaze_follows_is_followed() -> None:
    values = np.full((24, 32), 0.2)
    values[4:8, 5:9] = 30.0
    plain, right = an_estimate(None, 30), an_estimate(Saliency.of_map(values), 30)
    truth = np.zeros((24, 32))
    truth[4:8, 5:9] = 1
    assert right.picture_share > 0.5
    assert correlation(right.map, truth) > correlation(plain.map, truth)
    assert right.map.sum() == pytest.approx(1)
    assert right.error_sd is not None
    assert (right.error_sd > 0).all()


def test_the_spectral_residual_is_not_taken_for_a_picture() -> None:
    """The network was trained on predicted maps."""
    values = np.full((24, 32), 0.2)
    values[4:8, 5:9] = 30.0
    residual = replace(Saliency.of_map(values), source=SPECTRAL)
    plain, spectral = an_estimate(None), an_estimate(residual)
    assert np.array_equal(spectral.map, plain.map)


@pytest.mark.parametrize("delta", [DELTA, Fraction(0)])
def test_modes_are_decoded_by_what_was_learnt_with_and_without_a_delta(delta: Fraction) -> None:
    """Radial noise is the same for both. The map is positive, of mass 1, and hotter where all participants look."""
    found = an_estimate(None, 15, "modes", delta)
    assert "decoder" in STRATEGIES["modes"](Task(grid=GRID, observers=15, epsilon=1, delta=delta)).to_dict()  # type: ignore[call-arg]
    assert (found.map > 0).all()
    assert found.map.sum() == pytest.approx(1)
    assert found.map[4:8, 5:9].mean() > 1.5 * found.prior[4:8, 5:9].mean()
    assert found.error_sd is not None
    assert (found.error_sd > 0).all()


def test_modes_around_a_picture_are_decoded_by_models() -> None:
    task = Task(grid=GRID, observers=15, epsilon=1, saliency=Saliency.of_map(np.eye(24, 32) + 0.1))
    assert "decoder" not in STRATEGIES["modes"](task).to_dict()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("saliency", "files"),
    [
        (None, set(neural_decoder.BUMPS.files)),
        (Saliency.of_map(np.eye(24, 32) + 0.1), {*neural_decoder.BUMPS.files, "learned_pictured.npz"}),
    ],
)
def test_records_name_the_networks(saliency: Saliency | None, files: set[str]) -> None:
    recorded = STRATEGIES["bumps"](Task(grid=GRID, observers=50, epsilon=1, saliency=saliency)).to_dict()  # type: ignore[call-arg]
    assert recorded["decoder"] == neural_decoder.NAME
    assert set(recorded["decoder_sha256"]) == files
    assert all(len(each) == 64 for each in recorded["decoder_sha256"].values())


def test_the_share_of_data_grows_with_what_the_data_moved() -> None:
    few, many = (from_network(PLANE, of_spots(noise)[0], MEAN, 40) for noise in (0.3, 0.02))
    assert isinstance(few, Decoded)
    assert 0 <= few.data_share < many.data_share <= 1
    assert (many.population_sd >= many.error_sd).all()


def test_a_mirrored_scene_has_a_mirrored_map() -> None:
    numbers = numbers_of(spots_map()) + 0.1 * np.random.default_rng(6).normal(size=bumps_over(GRID).shape[1])
    rows, columns = (each.shape[1] for each in reversed(bumps_along(GRID)))
    facts = neural_decoder.PublicFacts(PLANE, 50, 0.1)
    found = neural_decoder.of_bumps(facts, numbers, MEAN).map.reshape(GRID.shape)
    mirrored = neural_decoder.of_bumps(facts, numbers.reshape(rows, columns)[:, ::-1].ravel(), MEAN).map
    assert np.allclose(mirrored.reshape(GRID.shape)[:, ::-1], found, rtol=1e-3)


def of_network(name: str) -> tuple[neural_decoder.NetworkEstimate, object]:
    """What the shipped network says, and what it says in PyTorch, of the same noisy numbers."""
    torch = pytest.importorskip("torch")
    from gazeveil.lab.training.heatmap_decoder import COURSES, OfBumps, OfModes, Raster, Trained, designed

    rng, course = np.random.default_rng(5), COURSES[name]
    raster = Raster(PLANE, "cpu")
    contents = rng.gamma(1.0, size=(30, 40)) if name == "pictured" else np.zeros((30, 40))
    prior = raster.prior(torch.tensor(contents / max(contents.mean(), 1e-9), dtype=torch.float32)[None])
    mean = MEAN if name != "pictured" else mean_of(models_of(PLANE, Saliency.of_map(contents)))
    if name.startswith("modes"):
        design = designed(PLANE, 20, 20.0)
        assert design is not None
        measure: OfModes | OfBumps = OfModes(raster, design)
        numbers = 0.2 * rng.normal(size=design.features.shape[1])
        task = Task(grid=GRID, observers=20, epsilon=1)
        decodes = modes.network_decoder_for(task)
        assert decodes is not None
        by_kind = decodes.models.chances(numbers).reshape(-1, 4).sum(axis=0)
        found = neural_decoder.of_modes(decodes.facts, decodes.responses, numbers, by_kind, mean)
    else:
        measure = OfBumps(raster, 40, 40.0, pictured=name == "pictured")
        numbers = numbers_of(spots_map()) + 0.1 * rng.normal(size=bumps_over(GRID).shape[1])
        found = (
            neural_decoder.of_pictured_bumps(measure.facts, numbers, mean, MEAN)
            if name == "pictured"
            else neural_decoder.of_bumps(measure.facts, numbers, mean)
        )
    trained = Trained(course.pictures, course.channels)
    with np.load(Path(neural_decoder.__file__).with_name(f"learned_{name}.npz")) as stored:
        trained.load_state_dict({key: torch.from_numpy(stored[key].astype(np.float32)) for key in stored.files})
    with torch.no_grad():
        pictures = measure.pictures(torch.tensor(numbers, dtype=torch.float32)[None], prior)
        return found, trained(raster, pictures, prior)


@pytest.mark.parametrize("name", ["bumps", "bumps_coarse", "pictured", "modes", "modes_coarse"])
def test_it_is_the_network_that_was_trained(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shipped runs without PyTorch, sees the same pictures and says the same."""
    monkeypatch.setattr(Network, "answer", Network.output)  # training shows each scene one way around
    used = name.split("_", maxsplit=1)[0].upper()
    alone = replace(getattr(neural_decoder, used), power=1.0, files=(f"learned_{name}.npz",))
    assert set(alone.files) <= set(getattr(neural_decoder, used).files)
    monkeypatch.setattr(neural_decoder, used, alone)
    found, said = of_network(name)
    assert np.allclose(found.map * GRID.size, said.map[0].numpy() * GRID.size, atol=1e-3)  # type: ignore[attr-defined]
    assert np.allclose(found.noise_sd * GRID.size, said.noise_sd[0].numpy(), atol=1e-3)  # type: ignore[attr-defined]


def test_two_networks_answers_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = numbers_of(spots_map()) + 0.1 * np.random.default_rng(8).normal(size=bumps_over(GRID).shape[1])
    facts, both = neural_decoder.PublicFacts(PLANE, 50, 0.1), neural_decoder.BUMPS
    logs = []
    for files in (both.files[:1], both.files[1:], both.files):
        monkeypatch.setattr(neural_decoder, "BUMPS", replace(both, files=files))
        logs.append(np.log(neural_decoder.of_bumps(facts, numbers, MEAN).map))
    one, other, mean = (each - each.mean() for each in logs)
    assert not np.allclose(one, other, atol=0.1)
    assert np.allclose(mean, (one + other) / 2, atol=1e-4)


def test_what_most_gaze_in_the_middle_looks_like_is_seen() -> None:
    """How far numbers go towards bumps over the middle is the cosine between them; without noise, of them all."""
    facts = neural_decoder.PublicFacts(PLANE, 50, 0.1)
    seen = {}
    for name, map_ in (("middle", PLANE.blurred(broad(GRID, 0.5, 0.5, 0.16, 0.16))), ("spots", spots_map())):
        pictures = neural_decoder.bumps_pictures(facts, numbers_of(map_), MEAN)
        seen[name] = pictures[3:7, 0, 0] * 10 * facts.noise_sd
        assert np.ptp(pictures[3:8], axis=(1, 2)).max() == 0
    assert seen["middle"][1] == pytest.approx(1, abs=1e-6)
    assert seen["middle"].min() > seen["spots"].max() > 0


def test_a_networks_answer_is_the_mean_of_both_ways_around() -> None:
    network = shipped(neural_decoder.BUMPS.files[0])
    pictures = np.random.default_rng(7).normal(size=(13, 19, 26)).astype(np.float32)
    pictures[-1] = np.linspace(-1, 1, 26)
    mirrored = pictures[:, :, ::-1].copy()
    mirrored[-1] *= -1
    wanted = (network.output(pictures) + network.output(mirrored)[:, :, ::-1]) / 2
    assert np.allclose(network.answer(pictures), wanted, atol=1e-6)
