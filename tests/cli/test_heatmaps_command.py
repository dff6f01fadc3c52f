# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil heatmaps` and `gazeveil movie` as a lab would run them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, screen, write_corpus
from gazeveil.cli.main import run

DESK = screen(800, 600, 80, 60, 573)
SPOTS = {"a/b.png": (200, 150), "c.png": (600, 450)}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    recordings = [
        Recording(np.arange(30) / 10, rng.normal(x, 40, 30), rng.normal(y, 40, 30), DESK, f"p{k}", name)
        for k in range(40)
        for name, (x, y) in SPOTS.items()
    ]
    folder = tmp_path_factory.mktemp("lab") / "study"
    write_corpus(recordings, folder)
    return folder


def paid(tmp_path: Path, epsilon: str) -> list[str]:
    ledger = str(tmp_path / "ledger.sqlite")
    assert run(["ledger", "init", "s", "--epsilon", epsilon, "--delta", "1e-4", "--ledger", ledger, "--json"]) == 0
    return ["--ledger", ledger, "--account", "s"]


def test_all_stimuli_are_written_and_charged_once(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from matplotlib.image import imsave

    paying = paid(tmp_path, "5")
    (tmp_path / "pictures").mkdir()
    imsave(tmp_path / "pictures" / "c.png", np.zeros((60, 80, 3)))
    (tmp_path / "weights.toml").write_text('[weights]\n"c.png" = 2\n')
    out = tmp_path / "maps"
    command = ["heatmaps", str(study), "--epsilon", "4", *paying, "--weights", str(tmp_path / "weights.toml")]
    capsys.readouterr()
    assert run([*command, "--out", str(out), "--pictures", str(tmp_path / "pictures"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["charged"]
    assert {fact["name"]: fact["value"] for fact in told["public_facts"]}["participants"] == 40
    assert told["forecast"]["expected"] > 0.2
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert names == {
        "heatmaps.npz",
        "heatmaps.parquet",
        "mean.png",
        "mean.errors.png",
        "prior_maps.npz",
        "release.json",
        "evidence.html",
        "methods.md",
        "registry-entry.json",
        "statement.html",
        "statement.txt",
        "for-participants.en.txt",
        "for-participants.de.txt",
        "stimuli/a%2Fb.png.png",
        "stimuli/a%2Fb.png.errors.png",
        "stimuli/c.png.png",
        "stimuli/c.png.errors.png",
        "stimuli/c.png.overlay.png",
    }
    assert set(told["files"]) == names - {"release.json"}
    table = pl.read_parquet(out / "heatmaps.parquet")
    assert table["stimulus"].unique().sort().to_list() == [None, "a/b.png", "c.png"]
    masses = table.group_by("stimulus").agg(pl.col("value").sum())["value"]
    assert masses.to_list() == pytest.approx([1, 1, 1])
    with np.load(out / "heatmaps.npz") as arrays:
        assert arrays["stimuli"].tolist() == ["a/b.png", "c.png"]
        assert arrays["maps"].shape == arrays["error_sd"].shape == arrays["hot_spots"].shape == (2, 6, 8)
    sidecar = json.loads((out / "release.json").read_text())
    assert sidecar["receipt"]
    assert sidecar["recipe"]["stimuli"] == {"a/b.png": 1.0, "c.png": 2.0}
    assert list(sidecar["recipe"]["pictures"]) == ["c.png"]
    assert run([*command, "--out", str(tmp_path / "second")]) == 5  # 4 of 5 are spent
    assert not (tmp_path / "second").exists()


def test_a_hopeless_budget_asks_first_and_spends_nothing(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paying = paid(tmp_path, "1")
    command = ["heatmaps", str(study), "--epsilon", "0.05", "--out", str(tmp_path / "maps"), *paying]
    assert run(command) == 3
    error = capsys.readouterr().err
    assert "Nothing was spent" in error
    assert "--mean-only" in error
    assert not (tmp_path / "maps").exists()
    assert run([*command, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forecast"]["worth_it"] is False
    assert run(["ledger", "history", "s", "--ledger", paying[1], "--json"]) == 0
    assert "charge" not in json.dumps([event["kind"] for event in json.loads(capsys.readouterr().out)["events"]])
    assert run([*command, "--mean-only"]) == 0
    assert (tmp_path / "maps" / "mean.png").exists()
    assert not (tmp_path / "maps" / "stimuli").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--epsilon", "0", "--no-ledger"], 3, "epsilon"),
        (["--epsilon", "3"], 3, "--no-ledger"),
        (["--epsilon", "3", "--ledger", "x.sqlite"], 3, "--account"),
        (["--epsilon", "3", "--no-ledger", "--stimulus", "c.png"], 3, "at least two"),
        (["--epsilon", "3", "--no-ledger", "--stimulus", "nope"], 3, "nope"),
        (["--epsilon", "3", "--no-ledger", "--weights", "nowhere.toml"], 3, "nowhere.toml"),
        (["--epsilon", "3", "--no-ledger", "--pictures", "nowhere"], 3, "nowhere"),
        (["--epsilon", "3", "--no-ledger", "--strategy", "magic"], 3, "magic"),
    ],
)
def test_bad_study_options_say_what_is_wrong(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    out = tmp_path / "maps"
    assert run(["heatmaps", str(study), "--out", str(out), *arguments]) == code
    assert words in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("weights = 3\n", "a table [weights]"),
        ("[other]\na = 1\n", "the keys other"),
        ('[weights]\n"c.png" = "much"\n', "column c.png"),
        ('[weights]\n"c.png" = 0\n', "positive number"),
        ('[weights]\n"d.png" = 2\n', "'d.png'"),
        ("[weights\n", "expected"),
    ],
)
def test_a_weights_file_that_is_wrong_says_where(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    (tmp_path / "weights.toml").write_text(text)
    out = str(tmp_path / "maps")
    weights = ["--weights", str(tmp_path / "weights.toml")]
    assert run(["heatmaps", str(study), "--epsilon", "3", "--out", out, "--no-ledger", *weights]) == 3
    assert words in capsys.readouterr().err


def test_a_movie_is_written_and_charged(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from matplotlib.image import imsave
    from PIL import Image

    paying = paid(tmp_path, "5")
    imsave(tmp_path / "still.png", np.zeros((60, 80, 3)))
    out = tmp_path / "film"
    command = [
        "movie",
        str(study),
        "--stimulus",
        "c.png",
        "--bin-seconds",
        "1",
        "--duration",
        "3",
        "--epsilon",
        "4",
        "--anyway",
        *paying,
    ]
    capsys.readouterr()
    assert run([*command, "--out", str(out), "--picture", str(tmp_path / "still.png"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["charged"]
    assert len(told["about_the_value"]["data_share"]["bins"]) == 3
    assert told["recipe"]["epsilon"] == "4"
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert {"movie.gif", "movie.png", "movie.npz", "movie.parquet", "release.json", "frames/0002.overlay.png"} <= names
    table = pl.read_parquet(out / "movie.parquet")
    assert table["bin"].unique().sort().to_list() == [0, 1, 2]
    assert table.group_by("bin").agg(pl.col("value").sum())["value"].to_list() == pytest.approx([1, 1, 1])
    with Image.open(out / "movie.gif") as video:
        assert getattr(video, "n_frames", 1) == 3
    assert run([*command, "--out", str(tmp_path / "second")]) == 5
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--duration", "-1", "--no-ledger"], "duration"),
        (["--duration", "1e12", "--no-ledger"], "more than a day"),
        (["--duration", "3", "--bin-seconds", "5", "--no-ledger"], "one bin"),
        (["--duration", "3", "--no-ledger", "--speed", "0"], "the speed of a movie"),
        (["--duration", "3"], "--no-ledger"),
        (["--duration", "3", "--no-ledger", "--picture", "nowhere.png"], "nowhere.png"),
    ],
)
def test_bad_movie_options_say_what_is_wrong(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    out = tmp_path / "film"
    command = ["movie", str(study), "--stimulus", "c.png", "--epsilon", "3", "--anyway", "--out", str(out)]
    assert run([*command, *arguments]) == 3
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_a_movie_needs_a_stimulus_that_is_there(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "film")
    assert (
        run(["movie", str(study), "--stimulus", "z", "--duration", "3", "--epsilon", "3", "--out", out, "--no-ledger"])
        == 3
    )
    assert "no stimulus 'z'" in capsys.readouterr().err


def test_frames_of_a_film_are_priors_of_their_moments(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from matplotlib.image import imsave

    frames = tmp_path / "frames"
    frames.mkdir()
    for number in range(6):  # two for each second
        picture = np.zeros((60, 80, 3))
        picture[20:40, 10 * number : 10 * number + 20] = 1.0
        imsave(frames / f"{number:03d}.png", picture)
    command = ["movie", str(study), "--stimulus", "c.png", "--bin-seconds", "1", "--duration", "3", "--epsilon", "4"]
    command += ["--anyway", "--no-ledger", "--json", "--frames", str(frames)]
    assert run([*command, "--out", str(tmp_path / "film")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len({picture["sha256"] for picture in told["recipe"]["pictures"]}) == 3
    assert 0 <= told["about_the_value"]["picture_share"] <= 1
    with np.load(tmp_path / "film" / "prior_maps.npz") as said:
        assert said.files == ["0000", "0001", "0002"]
    whole, bins = (told["about_the_value"][name] for name in ("all_maps", "bins"))
    assert whole["maps"] == len(bins) == 3
    assert whole["hot_spots"] == sum(each["hot_spots"] for each in bins)
    assert whole["data_share"] == pytest.approx(np.mean([each["data_share"] for each in bins]))
    assert "of these 3 maps, on average, comes from the data" in told["statement"]
    warned = [line for line in told["warnings"] if "of the 3 maps add almost nothing" in line]
    assert bool(warned) == any(each["says_nothing_new"] for each in bins)
    with np.load(tmp_path / "film" / "movie.npz") as stored:
        assert {"maps", "priors", "noise_sd", "error_sd", "population_sd", "hot_spots"} <= set(stored.files)
        assert np.all(stored["population_sd"] >= stored["error_sd"])
    table = pl.read_parquet(tmp_path / "film" / "movie.parquet")
    assert {"low", "high", "population_low", "population_high", "hot_spot"} <= set(table.columns)
    assert (tmp_path / "film" / "movie.parts.png").is_file()
    assert (tmp_path / "film" / "frames" / "0002.parts.png").is_file()
    assert run(["verify", str(tmp_path / "film")]) == 0  # the words follow from the record
    assert run([*command, "--out", str(tmp_path / "other"), "--no-picture-prior"]) == 3
    (tmp_path / "empty").mkdir()
    assert run([*command[:-1], str(tmp_path / "empty"), "--out", str(tmp_path / "other")]) == 3
