# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Releases beside their priors: which pictures they see, and that the measures mean what they say."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.aggregate.saliency import Saliency
from gazeveil.cli.main import run
from gazeveil.display import canvas, png
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.corpus import write_corpus
from gazeveil.geometry import screen
from gazeveil.lab.experiments import heatmap_usefulness as report
from gazeveil.lab.experiments.heatmap_scenes import (
    _OSIE_TUNED_ON,
    OSIE_NEVER_SEEN,
    Gallery,
    Scene,
    Viewer,
    from_maps,
    from_pictures,
    only,
    watched_by,
)
from gazeveil.lab.experiments.heatmap_usefulness import Trial, by_category, lines, plain, trials, trials_from
from gazeveil.simulate.study import SimulatedStudy
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK

SMALL = screen(800, 600, 160, 120, 573)  # 16 x 12 degrees: quick


def scene(name: str, x: float, y: float, viewers: int = 12) -> Scene:
    rng = np.random.default_rng(int(x))
    people = [Viewer(rng.normal(x, 30, 40), rng.normal(y, 30, 40), np.arange(0, 41, 4)) for _ in range(viewers)]
    return Scene(name, tuple(people))


def spot(x: float, y: float) -> Saliency:
    down, across = (np.mgrid[0:24, 0:32] + 0.5) * 25
    return Saliency.of_map(0.01 + np.exp(-((across - x) ** 2 + (down - y) ** 2) / (2 * 50**2)))


PLACES = {"upper": (220.0, 150.0), "lower": (580.0, 450.0)}
GALLERY = Gallery("spots", SMALL, tuple(scene(name, *place) for name, place in PLACES.items()))
PICTURES = {name: spot(*place) for name, place in PLACES.items()}


@pytest.fixture(scope="module")
def tried() -> list[Trial]:
    return trials(GALLERY, PICTURES, participants=(12,))


def test_the_right_picture_is_worth_more_than_none_and_a_wrong_one_is_of_another_scene(tried: list[Trial]) -> None:
    right, wrong, none = ([trial for trial in tried if trial.picture == kind] for kind in ("right", "wrong", "none"))
    assert [len(own) for own in (right, wrong, none)] == [2, 2, 2]
    for good, bad, plain_ in zip(right, wrong, none, strict=True):
        assert good.prior > 0.9
        assert good.prior > plain_.prior + 0.2 > bad.prior + 0.2
        assert good.release > plain_.release


def test_the_same_seed_gives_the_same_and_kinds_do_not_depend_on_each_other(tried: list[Trial]) -> None:
    again = trials(GALLERY, PICTURES, participants=(12,), kinds=("none",))
    assert again == [trial for trial in tried if trial.picture == "none"]
    assert trials(GALLERY, {}, participants=(12,)) == again, "without pictures there is nothing else"
    assert trials(GALLERY, {}, participants=(12,), seed=1) != again


def test_a_huge_budget_gives_the_map_and_its_hot_spots() -> None:
    (line,) = lines(trials(GALLERY, PICTURES, participants=(12,), epsilon=1000, kinds=("right",)))
    assert line.release.mean > 0.97
    assert line.own.mean > 0.7
    assert line.below == 0
    assert line.flags > 5
    assert line.false.mean < 0.1


def trial(name: str, kind: str, release: float, flags: int = 10, false: int = 1) -> Trial:
    return Trial(
        scene=name,
        picture=kind,
        participants=15,
        prior=0.5,
        release=release,
        own=0.3,
        same_prior=0.5,
        same_release=release,
        covered=0.95,
        population_covered=0.9,
        flags=flags,
        false_flags=false,
    )


def test_lines_pair_what_belongs_together() -> None:
    made = [trial("a", "right", 0.8, 30, 0), trial("b", "right", 0.4), trial("b", "none", 0.3), trial("a", "none", 0.6)]
    right, none = lines(made)
    assert (right.picture, right.participants, right.scenes) == ("right", 15, 2)
    assert right.gain.mean == pytest.approx(0.1)
    assert right.gain.error == pytest.approx(0.2)
    assert right.over_none.mean == pytest.approx(0.15)
    assert right.over_none.error == pytest.approx(0.05)
    assert none.over_none.mean == 0
    assert right.below == 0.5
    assert right.false.mean == pytest.approx(1 / 40), "of all flags, not the mean of shares"
    assert right.flags == 20
    assert set(by_category(made, {"a": "faces", "b": "text"})) == {"faces", "text"}
    (alone,) = lines([trial("a", "right", 0.8, 0, 0)])
    assert math.isnan(alone.over_none.mean)
    assert math.isnan(alone.false.mean)
    assert trials_from(json.loads(json.dumps(plain(made)))) == made


def test_tables_say_what_was_measured(tried: list[Trial], tmp_path: Path) -> None:
    table = report.trust_markdown(lines(tried))
    assert table.count("| n = 12 |") == 3
    assert table.count("release − release without picture") == 2
    names = report.write_trust(tried, {"data": "spots", "split": ""}, {"upper": "up", "lower": "down"}, tmp_path)
    assert names == ["trust-spots.json", "trust-spots.md", "trust-spots.png"]
    stored = json.loads((tmp_path / "trust-spots.json").read_text())
    assert set(stored["categories"]) == {"up", "down"}
    assert len(stored["trials"]) == len(tried)
    assert "| up | 1 | 12 |" in (tmp_path / "trust-spots.md").read_text()
    assert (tmp_path / "trust-spots.png").read_bytes().startswith(b"\x89PNG")


def test_a_gallery_can_be_cut_to_scenes_and_to_viewers() -> None:
    assert [one.name for one in only(GALLERY, {"lower"}).scenes] == ["lower"]
    some = watched_by(GALLERY, 3, 12)
    assert some.viewers == 10
    assert some.scenes[0].viewers[0] is GALLERY.scenes[0].viewers[2]
    with pytest.raises(OptionError, match="none of the scenes"):
        only(GALLERY, {"nothing"})
    for first, last in ((0, 5), (5, 4), (1, 13)):
        with pytest.raises(OptionError, match="numbered 1 to 12"):
            watched_by(GALLERY, first, last)


def test_scenes_without_a_picture_and_unknown_kinds_are_refused() -> None:
    with pytest.raises(OptionError, match="1 of 2 scenes have no picture"):
        trials(GALLERY, {"upper": PICTURES["upper"]}, participants=(12,))
    with pytest.raises(OptionError, match="'left'"):
        trials(GALLERY, PICTURES, participants=(12,), kinds=("left",))


def test_the_images_that_the_picture_model_never_saw_are_a_fixed_part_of_the_test_images() -> None:
    assert len(OSIE_NEVER_SEEN) == 120
    assert not OSIE_NEVER_SEEN & _OSIE_TUNED_ON
    assert sorted(OSIE_NEVER_SEEN)[:3] == [1063, 1068, 1072]
    assert sum(OSIE_NEVER_SEEN) == 167_609


def test_maps_are_found_by_name_and_bring_categories(tmp_path: Path) -> None:
    path = tmp_path / "maps.npz"
    maps: dict[str, Any] = {"set/upper.jpg": np.ones((3, 4)), "lower": np.ones((3, 4)), "other": np.ones((3, 4))}
    np.savez(path, **maps, ids=np.array(["upper"]), label=np.array(["up"]))
    found, labels = from_maps(path, ["upper", "lower", "absent"])
    assert set(found) == {"upper", "lower"}
    assert labels == {"upper": "up"}
    with pytest.raises(InputError, match="there is no"):
        from_maps(tmp_path / "nothing.npz", ["upper"])
    np.savez(path, **maps, ids=np.array(["upper", "lower"]), label=np.array(["up"]))
    with pytest.raises(FileFormatError, match="a label for each of its ids"):
        from_maps(path, ["upper"])
    np.savez(path, upper=np.ones(4))
    with pytest.raises(FileFormatError, match=r"maps\.npz: .* found a map is rows by columns"):
        from_maps(path, ["upper"])
    path.write_bytes(b"PK no archive")
    with pytest.raises(FileFormatError, match="map for each scene"):
        from_maps(path, ["upper"])


def picture(path: Path) -> None:
    figure, axes = canvas(2, 1.5)
    axes.plot([0, 1], [0, 1])
    path.write_bytes(png(figure))


def test_the_command_reads_pictures_and_maps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = SimulatedStudy(observers=6, stimuli=2, sessions=1, seconds=1.0, geometry=SMALL, seed=5)
    write_corpus(study.recordings(), tmp_path / "mine")
    names = sorted({one.stimulus for one in study.recordings()})
    command = ["lab", "experiment", "heatmap", "--data", str(tmp_path / "mine"), "--participants", "6"]
    for name in names:
        picture(tmp_path / f"{name}.png")
    assert run([*command, "--pictures", str(tmp_path), "--methods", "right", "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert [line["picture"] for line in told["lines"]] == ["right"]
    assert {one["scene"] for one in told["trials"]} == set(names)

    arrays: dict[str, Any] = {names[0]: np.ones((6, 8))}
    np.savez(tmp_path / "maps.npz", **arrays)
    maps = ["--contents", str(tmp_path / "maps.npz")]
    assert run([*command, *maps, "--only-participants", "2-5", "--out", str(tmp_path / "out")]) == EXIT_OK
    assert "wrong picture, n = 6, 1 scenes" in capsys.readouterr().out
    about = json.loads((tmp_path / "out" / "trust-mine.json").read_text())
    assert (about["scenes"], about["viewers"], about["drawn_with_replacement"]) == (1, 4, [6])

    for words, named in (
        ([*maps, "--pictures", str(tmp_path)], "exclude each other"),
        ([*maps, "--only-participants", "3"], "9-15"),
        ([*maps, "--epsilon", "1,2"], "one ε"),
        (["--pictures", str(tmp_path / "out")], "no picture of the scene"),
        ([*maps, "--data", "simulated"], "simulated scenes have no pictures"),
    ):
        assert run([*command, *words]) == EXIT_INPUT
        assert named in capsys.readouterr().err


def test_a_picture_of_a_scenes_name_is_read(tmp_path: Path) -> None:
    picture(tmp_path / "upper.png")
    assert set(from_pictures(tmp_path, ["upper"])) == {"upper"}
    with pytest.raises(InputError, match="'lower'"):
        from_pictures(tmp_path, ["lower"])


def test_trust_can_be_measured_without_pictures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    study = SimulatedStudy(observers=5, stimuli=1, sessions=1, seconds=1.0, geometry=SMALL, seed=5)
    write_corpus(study.recordings(), tmp_path / "mine")
    assert (
        run(["lab", "experiment", "heatmap", "--data", str(tmp_path / "mine"), "--participants", "5", "--trust"])
        == EXIT_OK
    )
    assert "no picture, n = 5" in capsys.readouterr().out
