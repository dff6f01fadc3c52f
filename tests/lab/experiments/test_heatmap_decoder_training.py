# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil lab experiment heatmap-decoder` on a few pictures: it trains, writes what is shipped, and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil import aggregate
from gazeveil.cli.main import run
from gazeveil.lab.commands import _usefulness

torch = pytest.importorskip("torch")
DECODERS = ("bumps", "bumps_coarse", "pictured", "modes", "modes_coarse")


def shipped(decoder: str) -> Path:
    return Path(aggregate.__file__).with_name(f"learned_{decoder}.npz")


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Two pictures that six viewers looked at, and one that is held out."""
    from matplotlib.image import imsave

    rng = np.random.default_rng(1)
    (tmp_path / "sets" / "lab" / "images").mkdir(parents=True)
    rows = ["image,viewer,x,y,duration"]
    for number in range(3):
        imsave(tmp_path / "sets" / "lab" / "images" / f"{number}.png", np.full((30, 40, 3), 120, dtype=np.uint8))
        x, y = rng.integers(4, 36), rng.integers(4, 26)
        rows += [f"{number}.png,{who},{x + look},{y},{200 + look}" for who in range(6) for look in range(3)]
    (tmp_path / "sets" / "lab" / "fixations.csv").write_text("\n".join(rows))
    (tmp_path / "sets" / "lab" / "held_out.txt").write_text("2.png\n")
    return tmp_path / "sets"


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    from gazeveil.lab.training import heatmap_decoder

    monkeypatch.setattr(heatmap_decoder, "BATCH", 4)
    monkeypatch.setattr(_usefulness, "STUDIES", 1)
    monkeypatch.setattr(_usefulness, "SCENES", 2)


@pytest.fixture
def contents(tmp_path: Path) -> list[str]:
    """What two models say of the set's pictures, one of them of one picture alone."""
    maps = np.random.default_rng(2).gamma(1.0, size=(2, 30, 40))
    for name, said in (("both", {"lab/0.png": maps[0], "lab/1.png": maps[1]}), ("one", {"lab/1.png": maps[0, :, :20]})):
        np.savez(tmp_path / f"{name}.npz", allow_pickle=False, **said)
    return ["--contents", str(tmp_path / "both.npz"), "--contents", str(tmp_path / "one.npz")]


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("decoder", DECODERS)
def test_it_trains_what_is_shipped(
    decoder: str, sets: Path, contents: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "learned.npz"
    given = contents if decoder == "pictured" else []
    command = ["lab", "experiment", "heatmap-decoder", str(sets), "--decoder", decoder, *given, "--out", str(out)]
    assert run([*command, "--steps", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["pictures"] == {"lab": 2}
    assert said["decoder"] == decoder
    with np.load(out) as trained, np.load(shipped(decoder)) as stored:
        assert {name: (trained[name].shape, trained[name].dtype) for name in trained} == {
            name: (stored[name].shape, stored[name].dtype) for name in stored
        }


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_trained_network_is_less_wrong_than_a_new_one(decoder: str) -> None:
    """The shipped weights, on scenes that training would draw."""
    from gazeveil.lab.training.decoder_scenes import PLANES, Scenes, plane_of
    from gazeveil.lab.training.decoder_viewers import simulated_looks
    from gazeveil.lab.training.heatmap_decoder import (
        COURSES,
        Measure,
        OfBumps,
        OfModes,
        Raster,
        Trained,
        designed,
        loss_of,
    )

    course = COURSES[decoder]
    new, trained = (Trained(course.pictures, course.channels) for _ in range(2))
    with np.load(shipped(decoder)) as stored:
        trained.load_state_dict({name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files})
    raster = Raster(plane_of(*PLANES[3]), "cpu")
    looks = [simulated_looks(1, 4, 1.0)]
    for people in (10, 20) if decoder.startswith("modes") else (20, 50):
        measure: Measure
        if decoder.startswith("modes"):
            design = designed(raster.plane, people, float(people))
            assert design is not None
            measure = OfModes(raster, design)
        else:
            measure = OfBumps(raster, people, float(people), pictured=decoder == "pictured")
        losses = []
        for network in (new, trained):
            scenes = Scenes(looks, "cpu", 3, course.mixture)
            with torch.no_grad():
                found = [loss_of(course, network, measure, scenes.step(8, people), scenes.chance) for _ in range(6)]
            losses.append(float(torch.stack(found).mean()))
        assert losses[1] < losses[0]


def test_what_a_picture_says_is_known_now_and_then_and_as_the_product_takes_it(
    sets: Path, tmp_path: Path, contents: list[str]
) -> None:
    """The right picture in 45 of 100 scenes, another one in 13; what is expected then is what releases expect."""
    from gazeveil.aggregate.map_prior import mean_of, models_of
    from gazeveil.aggregate.saliency import Saliency
    from gazeveil.lab.training.decoder_scenes import PLANES, Mixture, Scenes, plane_of
    from gazeveil.lab.training.decoder_viewers import read_contents, read_looks
    from gazeveil.lab.training.heatmap_decoder import Raster

    looks = read_looks(sets / "lab", 1.0, [read_contents(Path(each)) for each in contents[1::2]])
    assert looks.contents.shape == (2, 2, 30, 40)
    assert np.allclose(looks.contents.mean(axis=(2, 3)), 1, atol=1e-5)
    assert np.array_equal(looks.contents[0, 0], looks.contents[0, 1])  # the model that says nothing of it is left out
    step = Scenes([looks], "cpu", 1, Mixture(0.0, 0.0, 0.0, True)).step(4_000, 2)
    known = step.contents.flatten(1).any(1).float().mean()
    assert 0.545 < float(known) < 0.615  # .58, four standard errors
    plane = plane_of(*PLANES[0])
    content = looks.contents[0, 0]
    expected = mean_of(models_of(plane, Saliency.of_map(content)))
    prior = Raster(plane, "cpu").prior(torch.from_numpy(content)[None])[0].numpy()
    assert np.allclose(prior * plane.grid.size, expected * plane.grid.size, atol=1e-4)


def test_numbers_in_training_are_those_of_the_product() -> None:
    """The sum of kernels over participants whose gaze is in the middle of cells, for bumps and for modes."""
    from fractions import Fraction

    from gazeveil.aggregate.map_features import CLIP
    from gazeveil.aggregate.strategy import STRATEGIES, Task
    from gazeveil.aggregate.strategy_parts import BOUND
    from gazeveil.lab.training.decoder_scenes import PLANES, plane_of
    from gazeveil.lab.training.heatmap_decoder import Measure, OfBumps, OfModes, Raster, designed

    plane, people, rng = plane_of(*PLANES[0]), 12, np.random.default_rng(4)
    raster, grid = Raster(plane, "cpu"), plane.grid
    rows, columns = rng.integers(0, grid.rows, (people, 6)), rng.integers(0, grid.columns, (people, 6))
    places = np.stack(((columns + 0.5) / grid.columns, (rows + 0.5) / grid.rows, np.full(rows.shape, 1 / 6)), axis=-1)
    task = Task(grid=grid, observers=people, epsilon=Fraction(1), blur_cells=plane.blur[0])
    design = designed(plane, people, float(people))
    assert design is not None
    pairs: list[tuple[str, Measure, float]] = [
        ("bumps", OfBumps(raster, people, float(people), pictured=False), 1.0),
        ("modes", OfModes(raster, design), CLIP),
    ]
    for name, measure, unit in pairs:
        kernel = STRATEGIES[name](task).kernel()  # type: ignore[call-arg]
        total = np.zeros(kernel.size)
        for x, y in zip(places[..., 0] * 800, places[..., 1] * 600, strict=True):
            total += kernel({"x": x, "y": y, "valid": np.ones(6, dtype=bool)})
        mine = measure.numbers(torch.tensor(places[None], dtype=torch.float32))[0].numpy()
        assert np.allclose(mine, total * unit / (BOUND * people), atol=2e-5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--decoder", "bump"], "no decoder 'bump'"),
        (["--decoder", "pictured"], "needs --contents"),
        (["--decoder", "modes", "--contents", "maps.npz"], "takes no --contents"),
        (["--decoder", "pictured", "--contents", "none.npz"], "there is no none.npz"),
        (["--start", "none.npz"], "there is no none.npz"),
        (["--start", str(shipped("modes"))], "does not hold the weights of --decoder bumps"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    given: list[str], said: str, sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "experiment", "heatmap-decoder", str(sets), "--out", str(tmp_path / "x.npz"), *given]) != 0
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.usefixtures("quickly")
def test_training_goes_on_from_given_weights(sets: Path, tmp_path: Path) -> None:
    """After one step they are still nearly what they were, which new ones are not."""
    out = tmp_path / "more.npz"
    command = ["lab", "experiment", "heatmap-decoder", str(sets), "--decoder", "modes_coarse", "--steps", "1"]
    assert run([*command, "--start", str(shipped("modes")), "--out", str(out)]) == 0
    assert run([*command, "--out", str(tmp_path / "new.npz")]) == 0
    with np.load(out) as more, np.load(shipped("modes")) as begun, np.load(tmp_path / "new.npz") as new:
        for name in begun.files:
            assert np.allclose(more[name], begun[name], atol=0.01)
        assert not np.allclose(new["i.weight"], begun["i.weight"], atol=0.01)


@pytest.mark.parametrize("text", ["no maps", ""])
def test_a_file_that_holds_no_weights_is_refused(
    text: str, sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weights.npz").write_text(text)
    command = ["lab", "experiment", "heatmap-decoder", str(sets), "--start", str(tmp_path / "weights.npz")]
    assert run([*command, "--out", str(tmp_path / "x.npz")]) != 0
    assert "the weights of a decoder" in capsys.readouterr().err


def test_layers_of_text_are_no_weights() -> None:
    from gazeveil.lab.training.heatmap_decoder import COURSES, fits

    with np.load(shipped("modes")) as stored:
        weights = dict(stored)
    assert fits(COURSES["modes"], weights)
    assert not fits(COURSES["modes"], weights | {"o.bias": weights["o.bias"].astype(str)})


def test_a_coarse_tracker_blurs_where_participants_looked_and_nobody_is_lost(sets: Path) -> None:
    from gazeveil.lab.training.decoder_scenes import Mixture, Scenes
    from gazeveil.lab.training.decoder_viewers import read_looks

    looks = [read_looks(sets / "lab", 1.0)]
    spread = {}
    for coarse in (0.0, 1.0):
        scenes = Scenes(looks, "cpu", 1, Mixture(0.0, 0.0, 0.0, False, alike=0.7, zoomed=1.0, coarse=coarse))
        steps = [scenes.step(20, 5) for _ in range(10)]
        for step in steps:
            for each in step:
                assert torch.isfinite(each).all()
            assert torch.allclose(step.mine[..., 2].sum(-1), torch.ones(20, 5), atol=1e-4)
        spread[coarse] = float(np.mean([step.mine[..., :2].std(2).mean() for step in steps]))
    assert spread[1.0] > 1.5 * spread[0.0]


def test_a_file_that_holds_no_maps_is_refused(sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "maps.npz").write_text("no maps")
    command = ["lab", "experiment", "heatmap-decoder", str(sets), "--decoder", "pictured"]
    assert run([*command, "--contents", str(tmp_path / "maps.npz"), "--out", str(tmp_path / "x.npz")]) != 0
    assert "a map for each picture" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("no table", "fixations.csv"),
        ("no column", "no column 'duration'"),
        ("no picture", "no picture"),
        ("few viewers", "no picture to train on"),
        ("no sets", "holds no sets"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(
    change: str, said: str, sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = sets / "lab" / "fixations.csv"
    if change == "no table":
        table.unlink()
    if change == "no column":
        table.write_text(table.read_text().replace("duration", "length"))
    if change == "no picture":
        (sets / "lab" / "images" / "1.png").unlink()
    if change == "few viewers":
        table.write_text("\n".join(line for line in table.read_text().split("\n") if ",5," not in line))
    folder = tmp_path / "nothing" if change == "no sets" else sets
    assert run(["lab", "experiment", "heatmap-decoder", str(folder), "--out", str(tmp_path / "x.npz")]) != 0
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x.npz").exists()
