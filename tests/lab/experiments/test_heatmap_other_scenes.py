# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of other participants, trackers and tasks: what becomes a scene, whose gaze is in it, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.arrays import silent
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.lab.commands._shared import gallery_of
from gazeveil.lab.datasets import EDVAM_FILE, EYETRIBE_FILE, OSIE_FILE, VR_FILE, VR_FOLDER
from gazeveil.lab.experiments.heatmap_scenes import (
    OSIE_NEVER_SEEN,
    PLANE,
    Gallery,
    eyetribe,
    museum,
    of_fixations,
    rooms,
    web_pages,
)
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def samples_of(gallery: Gallery) -> list[list[int]]:
    return [[len(viewer.x) for viewer in scene.viewers] for scene in gallery.scenes]


def is_there(path: Path) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not (DATA / path).is_file(), reason="the shared data are not here")


# --- a desktop tracker ---


def runs(path: Path, users: int) -> Path:
    """A run of 65 s at 30 Hz of each user, at one place; the last user's gaze is invalid in the first half-minute."""
    n = 65 * 30
    t_ms = np.arange(n) * 1000 // 30
    parts = []
    for user in range(users):
        state = np.where((user == users - 1) & (t_ms < 40_000), 8, 7)
        at = {"x": np.full(n, 960), "y": np.full(n, 270), "pupil": np.full(n, 200), "state": state}
        parts.append(pl.DataFrame({"user": np.full(n, user), "run": np.full(n, 2), "t_ms": t_ms, **at}))
    pl.concat(parts).write_parquet(path)
    return path


def test_half_minutes_of_runs_are_scenes_on_the_common_viewing_plane(tmp_path: Path) -> None:
    gallery = eyetribe(runs(tmp_path / "runs.parquet", 21), 10)
    assert [scene.name for scene in gallery.scenes] == ["run 2, 0 s", "run 2, 30 s"]
    assert gallery.geometry == PLANE
    assert (gallery.viewers, gallery.split) == (20, ""), "the last participant has no whole half-minute"
    assert samples_of(gallery)[0] == [900] * 20
    one = gallery.scenes[0].viewers[0]
    assert (one.x[0], one.y[0]) == (400, 150)
    assert len(one.looks) == 21
    assert len(eyetribe(tmp_path / "runs.parquet", 1).scenes) == 1


def test_scenes_of_few_participants_are_left_out(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scene that enough participants saw"):
        eyetribe(runs(tmp_path / "runs.parquet", 20), 10)


@is_there(EYETRIBE_FILE)
def test_the_shared_runs_have_43_half_minutes() -> None:
    gallery = eyetribe(DATA / EYETRIBE_FILE, 1000)
    assert len(gallery.scenes) == 43
    assert 20 <= gallery.viewers <= 30
    assert min(map(min, samples_of(gallery))) > 100


# --- headsets ---


def searches(folder: Path) -> Path:
    """Two participants in two sessions of two trials: 10 degrees right and up, or beyond the field."""
    rows = []
    for user in (1, 2):
        for session in (1, 2):
            for trial in (9, 10):
                for k in range(40):
                    yaw = 0 if k < 5 else 1000 if user == 1 else 2600
                    rows.append((user, "kitchen", session, trial, 11 * k, yaw, yaw, 300, 300))
    names = ["user", "scene", "session", "trial", "t_ms", "yaw", "pitch", "pupil_l", "pupil_r"]
    pl.DataFrame(rows, schema=names, orient="row").write_parquet(folder / VR_FILE)
    return folder


def test_trials_in_rooms_are_scenes_whose_viewers_are_participants_in_sessions(tmp_path: Path) -> None:
    gallery = rooms(searches(tmp_path), 10)
    assert [scene.name for scene in gallery.scenes] == ["kitchen, trial 9", "kitchen, trial 10"]
    assert samples_of(gallery) == [[35, 35], [35, 35]], "lost gaze and gaze beyond 25 degrees are left out"
    one = gallery.scenes[0].viewers[0]
    assert one.x[0] == pytest.approx((10 / 50 + 0.5) * 800)
    assert one.y[0] == pytest.approx((-10 / 50 + 0.5) * 600)


@is_there(Path(VR_FOLDER) / VR_FILE)
def test_the_shared_rooms_have_40_trials() -> None:
    gallery = rooms(DATA / VR_FOLDER, 1000)
    assert len(gallery.scenes) == 40
    assert max(len(scene.viewers) for scene in gallery.scenes) == 32


def walks(path: Path) -> Path:
    """Two walks of 25 s at 30 Hz; the first tenth of each second is outside the view."""
    time = np.arange(750) / 30 + 100
    gx = np.where(np.arange(750) % 30 < 3, 2.5e8, 0.25)
    at = {"time": time, "gx": gx, "gy": np.full(750, 0.5)}
    pl.concat(pl.DataFrame({"user": np.full(750, user), **at}) for user in (1, 2)).write_parquet(path)
    return path


def test_stretches_of_a_walk_are_scenes(tmp_path: Path) -> None:
    gallery = museum(walks(tmp_path / "walks.parquet"), 10)
    assert [scene.name for scene in gallery.scenes] == ["walk, 0 s", "walk, 10 s", "walk, 20 s"]
    assert samples_of(gallery) == [[270, 270], [270, 270], [135, 135]]
    one = gallery.scenes[0].viewers[1]
    assert (one.x[0], one.y[0]) == (200, 300)


@is_there(EDVAM_FILE)
def test_the_shared_walks_have_six_scenes_of_63_participants() -> None:
    gallery = museum(DATA / EDVAM_FILE, 1000)
    assert [len(scene.viewers) for scene in gallery.scenes] == [63] * 6


# --- made web pages ---


def photographs(path: Path) -> Path:
    """Two of OSIE's test pictures and another one: three viewers with 200 fixations of 50 ms each, all at one place."""
    images = np.repeat([*sorted(OSIE_NEVER_SEEN)[:2], 1001], 600)
    users, order = np.tile(np.repeat([1, 2, 3], 200), 3), np.tile(np.arange(200), 9)
    at = {"x": np.full(1800, 100.0), "y": np.full(1800, 500.0), "dur_ms": np.full(1800, 50.0)}
    pl.DataFrame({"image": images, "user": users, "fix": order, **at}).write_parquet(path)
    return path


def test_web_pages_are_test_pictures_with_part_of_the_gaze_in_the_middle(tmp_path: Path) -> None:
    gallery = web_pages(photographs(tmp_path / "osie.parquet"), 10, 0)
    assert [int(scene.name) for scene in gallery.scenes] == sorted(OSIE_NEVER_SEEN)[:2]
    assert samples_of(gallery) == [[1000] * 60] * 2
    shares, offsets = [], []
    for scene in gallery.scenes:
        for viewer in scene.viewers:
            places, counts = np.unique(viewer.x, return_counts=True)
            offsets.append(places[counts.argmax()] - 100)  # those that stay are the only ones at one place
            shares.append(1 - counts.max() / 1000)
            assert 0 <= viewer.x.min() <= viewer.x.max() <= 799
            assert np.all(np.diff(viewer.x.reshape(-1, 5), axis=1) == 0), "a fixation stays one"
    first, second = np.reshape(shares, (2, 60))
    assert all(0.28 < own.mean() < 0.82 for own in (first, second))
    assert max(first.std(), second.std()) < 0.06, "one share a scene: a binomial of 200 has at most 0.035"
    assert 35 < np.std(offsets) < 65, "2 degrees are 50 px; 120 draws are within 30 % of it but for one in a million"


def test_web_pages_follow_from_the_seed(tmp_path: Path) -> None:
    path = photographs(tmp_path / "osie.parquet")
    first, again, other = (web_pages(path, 1, seed).scenes[0].viewers[0].x for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# --- pictures with fixations ---


def pictures(folder: Path, held_out: str | None = "1.png\n2.png\n") -> Path:
    """Three pictures of 160 x 120, each with six viewers."""
    from matplotlib.image import imsave

    rng = np.random.default_rng(3)
    (folder / "images").mkdir(parents=True)
    rows = ["image,viewer,x,y,duration"]
    for name in ("0.png", "1.png", "2.png"):
        imsave(folder / "images" / name, np.full((120, 160, 3), 120, dtype=np.uint8))
        rows += [
            f"{name},{viewer},{x:.2f},{y:.2f},200"
            for viewer in range(6)
            for x, y in rng.normal((40, 30), 5, (8, 2)).clip(1, 110)
        ]
    rows += ["1.png,0,160,10,200", "1.png,0,-1,10,200", "1.png,0,10,10,", "1.png,9,10,500,200", "2.png,7,80,60,104"]
    (folder / "fixations.csv").write_text("\n".join(rows))
    if held_out is not None:
        (folder / "held_out.txt").write_text(held_out)
    return folder


def test_held_out_pictures_are_scenes_and_what_is_outside_them_is_left_out(tmp_path: Path) -> None:
    gallery = of_fixations(pictures(tmp_path / "lab"), 10)
    assert gallery.name == "lab"
    assert [scene.name for scene in gallery.scenes] == ["1", "2"]
    assert samples_of(gallery) == [[160] * 6, [160] * 6 + [10]]
    last = gallery.scenes[1].viewers[-1]
    assert (last.x[0], last.y[0]) == (400, 300)
    assert last.looks.tolist() == [0, 10]


def test_without_a_list_all_pictures_are_scenes(tmp_path: Path) -> None:
    assert len(of_fixations(pictures(tmp_path / "lab", None), 10).scenes) == 3
    assert len(of_fixations(tmp_path / "lab", 2).scenes) == 2


def test_a_set_without_its_pictures_is_refused(tmp_path: Path) -> None:
    folder = pictures(tmp_path / "lab", "other.png")
    with pytest.raises(InputError, match="no scene that enough participants saw"):
        of_fixations(folder, 10)
    (folder / "held_out.txt").unlink()
    (folder / "images" / "0.png").unlink()
    with pytest.raises(InputError, match=r"cannot read the picture .*0\.png"):
        of_fixations(folder, 10)


def test_text_among_the_numbers_is_refused(tmp_path: Path) -> None:
    folder = pictures(tmp_path / "lab")
    with (folder / "fixations.csv").open("a") as table:
        table.write("\n1.png,8,far left,10,200")
    with pytest.raises(
        FileFormatError, match=r"fixations\.csv, line 151, column x: expected a number, found 'far left'"
    ):
        of_fixations(folder, 10)


# --- the command ---


def test_each_name_is_found_under_data_and_its_screen_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    for folder in ("osie", EYETRIBE_FILE.parts[0], VR_FOLDER, EDVAM_FILE.parts[0]):
        (data / folder).mkdir(parents=True)
    photographs(data / "osie" / OSIE_FILE)
    runs(data / EYETRIBE_FILE, 21)
    searches(data / VR_FOLDER)
    walks(data / EDVAM_FILE)
    monkeypatch.chdir(tmp_path)
    for name, split in (("osie", "test"), ("web-pages", ""), ("eyetribe", ""), ("rooms", ""), ("museum", "")):
        gallery = gallery_of(name, "test", 2, 0, silent)
        assert (gallery.name, gallery.split) == (name, split)
        with pytest.raises(OptionError, match=f"the screen of {name} is known"):
            gallery_of(name, "test", 2, 0, silent, {"width_px": 800.0})


@pytest.mark.parametrize("name", ["web-pages", "eyetribe", "rooms", "museum"])
def test_a_set_that_is_not_there_is_reported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gazeveil.lab.datasets.found_above", lambda _: None)
    with pytest.raises(InputError, match="no folder data/"):
        gallery_of(name, "test", 2, 0, silent)


def test_the_command_measures_a_folder_of_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = pictures(tmp_path / "lab")
    command = ["lab", "experiment", "heatmap", "--trust", "--data", str(folder), "--participants", "15"]
    assert run(command) == EXIT_OK
    assert "no picture, n = 15, 2 scenes" in capsys.readouterr().out


def test_an_unknown_set_is_refused_with_the_names_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "experiment", "heatmap", "--trust", "--data", "musuem"]) == EXIT_INPUT
    said = capsys.readouterr().err
    assert "no set of scenes is called 'musuem', and no folder" in said
    assert "did you mean 'museum'?" in said
    assert "web-pages" in said
