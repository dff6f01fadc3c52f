# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil judge experiment heatmap-decoder` on a few pictures: it trains, writes what is shipped, and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil import aggregate
from gazeveil.cli import _experiment_decoder
from gazeveil.cli.main import run

torch = pytest.importorskip("torch")
SHIPPED = Path(aggregate.__file__).with_name("learned.npz")


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
    from gazeveil.experiments.heatmap_decoder import training

    monkeypatch.setattr(training, "BATCH", 4)
    monkeypatch.setattr(_experiment_decoder, "STUDIES", 1)
    monkeypatch.setattr(_experiment_decoder, "SCENES", 2)


@pytest.mark.usefixtures("quickly")
def test_it_trains_what_is_shipped(sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "learned.npz"
    assert run(["experiment", "heatmap-decoder", str(sets), "--out", str(out), "--steps", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["pictures"] == {"lab": 2}
    with np.load(out) as trained, np.load(SHIPPED) as shipped:
        assert {name: (trained[name].shape, trained[name].dtype) for name in trained} == {
            name: (shipped[name].shape, shipped[name].dtype) for name in shipped
        }


def test_a_trained_network_is_less_wrong_than_a_new_one() -> None:
    """The shipped weights, on scenes that training would draw."""
    from gazeveil.experiments.heatmap_decoder.network import Raster, Trained
    from gazeveil.experiments.heatmap_decoder.scenes import PLANES, Scenes, plane_of
    from gazeveil.experiments.heatmap_decoder.training import MULTIPLIER, loss_of
    from gazeveil.experiments.heatmap_decoder.viewers import simulated_looks

    new, trained = Trained(), Trained()
    with np.load(SHIPPED) as stored:
        trained.load_state_dict({name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files})
    raster = Raster(plane_of(*PLANES[3]), "cpu")
    looks = [simulated_looks(1, 4, 1.0)]
    for people in (20, 60):
        losses = []
        for network in (new, trained):
            scenes = Scenes(looks, "cpu", seed=3)
            with torch.no_grad():
                steps = [scenes.step(raster, 8, people) for _ in range(6)]
                found = [loss_of(network, raster, scenes, step, people, MULTIPLIER / people) for step in steps]
            losses.append(float(torch.stack(found).mean()))
        assert losses[1] < losses[0]


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
    assert run(["experiment", "heatmap-decoder", str(folder), "--out", str(tmp_path / "x.npz")]) != 0
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x.npz").exists()
