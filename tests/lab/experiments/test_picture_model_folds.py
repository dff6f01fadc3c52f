# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil lab experiment picture-model --folds`: each picture is predicted by readouts that never saw it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import OptionError
from gazeveil.gaze.picture_model import CELL, PACKAGE, is_installed
from gazeveil.lab.commands import _usefulness as command
from gazeveil.lab.training.picture_sets import Looked, PictureSet, folds

pytest.importorskip("torch")
needs_the_network = pytest.mark.skipif(not is_installed(), reason=f"{PACKAGE} is not installed")

TRAINED = {"lab/0.png", "lab/1.png", "lab/3.png", "other/0.png", "other/1.png"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sets of grey pictures with noise: one with four pictures, of which one is held out, and one with two."""
    from matplotlib.image import imsave

    rng = np.random.default_rng(2)
    for name, count in (("lab", 4), ("other", 2)):
        (tmp_path / "sets" / name / "images").mkdir(parents=True)
        rows = ["image,viewer,x,y,duration"]
        for number in range(count):
            pixels = rng.integers(
                80, 160, (48, 192, 3), dtype=np.uint8
            )  # wide, so that it is small when it fills the box
            imsave(tmp_path / "sets" / name / "images" / f"{number}.png", pixels)
            rows += [f"{number}.png,{who},{rng.integers(10, 180)},{rng.integers(5, 40)},200" for who in range(3)]
        (tmp_path / "sets" / name / "fixations.csv").write_text("\n".join(rows))
    (tmp_path / "sets" / "lab" / "held_out.txt").write_text("2.png\n")
    return tmp_path / "sets"


def experiment(folder: Path, *options: str) -> int:
    return run(["lab", "experiment", "picture-model", str(folder), *options])


def some_set(name: str, count: int, held_out: int = 0) -> PictureSet:
    """Return a set of pictures that are named by numbers; the last ones are held out."""
    found = [
        Looked(f"{number}.png", np.zeros((64, 64, 3), dtype=np.uint8), np.ones((8, 8)) / 64)
        for number in range(count + held_out)
    ]
    return PictureSet(name, tuple(found[:count]), tuple(found[count:]))


def test_the_parts_cover_every_trained_picture_once_and_leave_the_others_to_train_on() -> None:
    sets = [some_set("lab", 11, held_out=3), some_set("other", 7)]
    parts = list(folds(sets, 3, seed=0))
    assert len(parts) == 3
    for place, whole in enumerate(sets):
        assert [part[place].name for part in parts] == [whole.name] * 3
        assert Counter(each for part in parts for each in part[place].held_out) == Counter(whole.trained)
        for part in parts:
            kept, tested = set(part[place].trained), set(part[place].held_out)
            assert kept | tested == set(whole.trained)
            assert not kept & tested


@pytest.mark.parametrize("count", [2, 3, 5, 7])
def test_each_set_is_spread_evenly_over_the_parts(count: int) -> None:
    sets = [some_set("lab", 23, held_out=5), some_set("other", 7)]
    parts = list(folds(sets, count, seed=4))
    for place, whole in enumerate(sets):
        sizes = [len(part[place].held_out) for part in parts]
        assert sum(sizes) == len(whole.trained)
        assert max(sizes) - min(sizes) <= 1


def test_the_parts_are_drawn_from_the_seed() -> None:
    whole = some_set("lab", 30)

    def names(seed: int) -> list[list[str]]:
        return [[each.name for each in part[0].held_out] for part in folds([whole], 3, seed)]

    assert names(0) == names(0)
    assert names(0) != names(1)
    assert [name for part in names(0) for name in part] != [each.name for each in whole.trained]


def test_a_set_with_fewer_pictures_than_parts_is_refused() -> None:
    with pytest.raises(OptionError, match="other has too few pictures to train on for 4 parts: 3"):
        list(folds([some_set("lab", 4), some_set("other", 3, held_out=5)], 4, seed=0))


def test_the_score_of_a_set_is_the_mean_over_all_its_pictures() -> None:
    from gazeveil.lab.training.picture_model import Score, mean_score

    first, second = Score("lab", 3, True, 0.1, 0.2, 0.3, 0.4), Score("lab", 1, True, 0.5, 0.6, 0.7, 0.0)
    whole = mean_score([first, second])
    assert (whole.set, whole.pictures, whole.seen) == ("lab", 4, True)
    assert (whole.centre, whole.content, whole.common, whole.own) == pytest.approx((0.2, 0.3, 0.4, 0.3))


@needs_the_network
def test_no_picture_is_predicted_by_a_readout_that_saw_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gazeveil.lab.training import picture_model

    train, predicted = picture_model.train, picture_model.predicted
    trained: list[tuple[object, set[Looked]]] = []
    tested: list[Looked] = []

    def spied_train(network: Any, channels: Any, sets: list[PictureSet], **options: Any) -> Any:
        readout = train(network, channels, sets, **options)
        trained.append((readout, {picture for each in sets for picture in each.trained}))
        return readout

    def spied_predicted(network: Any, readouts: list[Any], picture: Looked, device: str) -> Any:
        saw = [pictures for each, pictures in trained if any(each is readout for readout in readouts)]
        assert len(saw) == len(readouts) == 2
        assert not any(picture in pictures for pictures in saw)
        tested.append(picture)
        return predicted(network, readouts, picture, device)

    monkeypatch.setattr(picture_model, "train", spied_train)
    monkeypatch.setattr(picture_model, "predicted", spied_predicted)
    maps = tmp_path / "maps.npz"
    assert experiment(folder, "--folds", "2", "--maps", str(maps), "--seeds", "2", "--epochs", "1", "--json") == 0
    assert len(trained) == 4
    assert len(set(tested)) == len(TRAINED)
    assert set.union(*(pictures for _, pictures in trained)) == set(tested)
    said = json.loads(capsys.readouterr().out)
    assert said["folds"] == 2
    assert [(each["set"], each["pictures"], each["seen"]) for each in said["scores"]] == [
        ("lab", 3, True),
        ("other", 2, True),
    ]
    assert all(-1 <= each[name] <= 1 for each in said["scores"] for name in ("centre", "content", "common", "own"))
    with np.load(maps) as kept:
        assert set(kept) == TRAINED
        assert all(kept[name].shape == (160 // CELL, 640 // CELL) for name in kept)
        assert all(kept[name].min() > 0 for name in kept)


@needs_the_network
def test_progress_covers_all_parts_and_a_set_left_out_is_neither_judged_nor_predicted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gazeveil.lab.training import picture_model
    from gazeveil.lab.training.picture_model import Trained

    far: list[float] = []

    @contextmanager
    def watched(what: str, *, quiet: bool = False) -> Iterator[Any]:
        yield lambda done, total: far.append(done / total)

    def not_trained(network: Any, channels: list[int], sets: Any, *, tell: Any, **options: Any) -> Any:
        tell(1, 2)
        tell(2, 2)
        return Trained(channels).eval()

    monkeypatch.setattr(command, "progress", watched)
    monkeypatch.setattr(picture_model, "train", not_trained)
    maps = tmp_path / "maps.npz"
    assert experiment(folder, "--folds", "3", "--maps", str(maps), "--seeds", "2", "--without", "other") == 0
    assert far == pytest.approx(np.arange(1, 13) / 12)
    with np.load(maps) as kept:
        assert set(kept) == {"lab/0.png", "lab/1.png", "lab/3.png"}
    rows = [line.split() for line in capsys.readouterr().out.replace("│", " ").splitlines()]
    assert [row[:3] for row in rows if row[:1] in (["lab"], ["other"])] == [["lab", "3", "yes"]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--folds", "2"], "--folds needs --maps"),
        (["--folds", "2", "--maps", "maps.npz", "--out", "readout.npz"], "--folds takes no --out"),
        (["--folds", "1", "--maps", "maps.npz"], "at least 2"),
        (["--folds", "3", "--maps", "maps.npz"], "other has too few pictures to train on for 3 parts: 2"),
    ],
)
def test_options_that_make_no_sense_with_parts_are_refused_before_training(
    options: list[str], said: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    assert experiment(folder, *options) == 3
    assert said in capsys.readouterr().err
    assert not list(folder.parent.glob("*.npz"))
