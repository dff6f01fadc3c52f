# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil lab experiment picture-model` on a few small pictures: it trains, judges, keeps maps, and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.gaze import picture_model
from gazeveil.gaze.picture_model import CELL, PACKAGE, is_installed

SHIPPED = Path(picture_model.__file__).with_name("readout.npz")
pytest.importorskip("torch")
needs_the_network = pytest.mark.skipif(not is_installed(), reason=f"{PACKAGE} is not installed")


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Two sets of pictures with a red square each, at which everybody looks."""
    from matplotlib.image import imsave

    rng = np.random.default_rng(1)
    for name, count in (("lab", 3), ("other", 2)):
        (tmp_path / "sets" / name / "images").mkdir(parents=True)
        rows = ["image,viewer,x,y,duration"]
        for number in range(count):
            pixels = np.full((48, 192, 3), 120, dtype=np.uint8)  # wide, so that it is small when it fills the box
            x, y = rng.integers(10, 170), rng.integers(5, 30)
            pixels[y : y + 12, x : x + 12] = (230, 40, 40)
            imsave(tmp_path / "sets" / name / "images" / f"{number}.png", pixels)
            rows += [f"{number}.png,{who},{x + 6},{y + 6},200" for who in range(3)]
        (tmp_path / "sets" / name / "fixations.csv").write_text("\n".join(rows))
    (tmp_path / "sets" / "lab" / "held_out.txt").write_text("2.png\n")
    return tmp_path / "sets"


@needs_the_network
def test_it_trains_a_readout_judges_it_and_keeps_the_maps(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, maps = tmp_path / "readout.npz", tmp_path / "maps.npz"
    command = ["lab", "experiment", "picture-model", str(sets), "--without", "other", "--seeds", "2", "--epochs", "1"]
    assert run([*command, "--out", str(out), "--maps", str(maps), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    lab, other = said["scores"]
    assert (lab["set"], lab["pictures"], lab["seen"]) == ("lab", 1, True)
    assert (other["set"], other["pictures"], other["seen"]) == ("other", 2, False)
    with np.load(out) as trained, np.load(SHIPPED) as shipped:
        assert {name: trained[name].shape[1:] for name in trained} == {n: shipped[n].shape[1:] for n in shipped}
        assert {trained[name].shape[0] for name in trained} == {2}
    with np.load(maps) as kept:
        assert set(kept) == {"lab/2.png", "other/0.png", "other/1.png"}
        assert kept["lab/2.png"].shape == (160 // CELL, 640 // CELL)
        assert kept["lab/2.png"].min() > 0


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (None, ["--without", "nobody"], "no set called 'nobody'"),
        (None, ["--without", "lab,other"], "no set to train on"),
        ("no table", [], "fixations.csv"),
        ("no column", [], "no column 'duration'"),
        ("no picture", [], "no picture"),
        ("elsewhere", [], "no participant looked at"),
        ("all held out", [], "no picture to train on"),
    ],
)
def test_what_cannot_be_trained_on_is_refused_before_training(
    change: str | None, options: list[str], said: str, sets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = sets / "lab" / "fixations.csv"
    if change == "no table":
        table.unlink()
    if change == "no column":
        table.write_text(table.read_text().replace("duration", "weight"))
    if change == "no picture":
        (sets / "lab" / "images" / "1.png").unlink()
    if change == "elsewhere":
        table.write_text("image,viewer,x,y,duration\n0.png,a,900,900,1\n")
    if change == "all held out":
        (sets / "lab" / "held_out.txt").write_text("0.png\n1.png\n2.png\n")
    assert run(["lab", "experiment", "picture-model", str(sets), *options]) == 3
    assert said in capsys.readouterr().err


def test_a_folder_without_sets_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "experiment", "picture-model", str(tmp_path)]) == 3
    assert "holds no sets" in capsys.readouterr().err
