# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil heatmap` as a lab would run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, Ledger, Recording, Study, screen, write_corpus
from gazeveil.aggregate.saliency import Saliency
from gazeveil.cli.main import run
from gazeveil.gaze import picture_model
from gazeveil.release import map_files
from gazeveil.release.map_files import read_pixels
from gazeveil.release.study_toml import digest_of_file, write_study
from tests.hops import changes, first_calls, modules, private_stretch

DESK = screen(1600, 1200, 400, 300, 600)
COARSE = ["--cell-deg", "4", "--blur-deg", "4"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    recordings = [
        Recording(np.arange(40) / 60, rng.normal(500, 60, 40), rng.normal(400, 60, 40), DESK, f"p{k}", "a.png")
        for k in range(25)
    ]
    write_corpus(recordings, tmp_path / "study")
    return tmp_path / "study"


def test_everything_is_written_and_charged(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = str(tmp_path / "ledger.sqlite")
    assert run(["ledger", "init", "study-7", "--epsilon", "2", "--delta", "1e-4", "--ledger", ledger, "--json"]) == 0
    capsys.readouterr()
    paying = ["--ledger", ledger, "--account", "study-7"]
    out = tmp_path / "map"
    release = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1.5", "--out", str(out), *COARSE, *paying]
    assert run([*release, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["charged"]
    names = {path.name for path in out.iterdir()}
    assert names == {
        "heatmap.npz",
        "heatmap.parquet",
        "heatmap.png",
        "heatmap.errors.png",
        "heatmap.parts.png",
        "evidence.html",
        "methods.md",
        "registry-entry.json",
        "statement.html",
        "statement.txt",
        "for-participants.en.txt",
        "for-participants.de.txt",
        "release.json",
    }
    assert pl.read_parquet(out / "heatmap.parquet")["value"].sum() == pytest.approx(1)
    sidecar = json.loads((out / "release.json").read_text())
    assert sidecar["receipt"]
    again = list(release)
    again[again.index(str(out))] = str(tmp_path / "second")
    assert run(again) == 5
    assert not (tmp_path / "second").exists()


def test_a_release_changes_package_seldom_on_its_way(study: Path, tmp_path: Path) -> None:
    """`python -m tests.hops` prints the way that CONTRIBUTING.md describes."""
    ledger, declared, out = (str(tmp_path / name) for name in ("ledger.sqlite", "study.toml", "map"))
    run(["ledger", "init", "d", "--epsilon", "9", "--delta", "1e-4", "--ledger", ledger])
    run(["study", "init", str(study), "--out", declared])
    release = [
        "heatmap",
        str(study),
        "--study",
        declared,
        "--stimulus",
        "a.png",
        "--epsilon",
        "1",
        "--out",
        out,
        *COARSE,
    ]
    release += ["--ledger", ledger, "--account", "d", "--anyway", "--overwrite"]
    assert run(release) == 0
    calls = first_calls(release)
    assert changes(calls) < 52
    assert changes(private_stretch(calls)) < 15
    way = modules(calls)
    assert {"release/plan", "release/data"} <= set(way["touch"])
    assert "noise/sampling_kernels" in way["noise"]
    before = [*way["declare"], *way["plan"], *way["charge"], *way["touch"]]
    assert "noise/sampling_kernels" not in before
    assert way["say"][:2] == ["release/release", "release/record"]


def test_the_picture_can_lie_over_the_stimulus(study: Path, tmp_path: Path) -> None:
    from matplotlib.image import imsave

    picture = np.zeros((60, 80, 3))
    imsave(tmp_path / "a.png", picture)
    imsave(tmp_path / "tall.png", picture.transpose(1, 0, 2))
    base = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", "--no-ledger", *COARSE]
    out = tmp_path / "map"
    assert run([*base, "--out", str(out), "--picture", str(tmp_path / "a.png")]) == 0
    assert (out / "heatmap.overlay.png").read_bytes().startswith(b"\x89PNG")
    assert run([*base, "--out", str(tmp_path / "no"), "--picture", str(tmp_path / "tall.png")]) == 3
    assert run([*base, "--out", str(tmp_path / "no"), "--picture", str(tmp_path / "missing.png")]) == 3
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--epsilon", "1", "--stimulus", "b.png", "--no-ledger"], 3, "no stimulus 'b.png'"),
        (["--epsilon", "0", "--stimulus", "a.png", "--no-ledger"], 3, "epsilon"),
        (["--epsilon", "1", "--stimulus", "a.png"], 3, "--no-ledger"),
        (["--epsilon", "1", "--stimulus", "a.png", "--ledger", "x.sqlite"], 3, "--account"),
        (["--epsilon", "1", "--stimulus", "a.png", "--ledger", "x.sqlite", "--account", "d"], 5, "no ledger"),
        (["--epsilon", "1", "--delta", "0.1", "--stimulus", "a.png", "--no-ledger"], 3, "empty"),
        (["--epsilon", "1", "--strategy", "magic", "--stimulus", "a.png", "--no-ledger"], 3, "magic"),
        (["--epsilon", "-1", "--stimulus", "a.png", "--no-ledger"], 3, "epsilon"),
        (["--epsilon", "inf", "--stimulus", "a.png", "--no-ledger"], 3, "epsilon"),
        (["--epsilon", "1", "--participants", "0", "--stimulus", "a.png", "--no-ledger"], 3, "number of participants"),
        (["--epsilon", "1", "--delta", "0", "--strategy", "bumps", "--stimulus", "a.png", "--no-ledger"], 3, "modes"),
        (
            ["--epsilon", "1", "--stimulus", "a.png", "--ledger", "postgresql://127.0.0.1:9/none", "--account", "d"],
            5,
            "127.0.0.1",
        ),
    ],
)
def test_mistakes_get_words_and_nothing_is_written(
    arguments: list[str], code: int, words: str, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["heatmap", str(study), "--out", str(tmp_path / "map"), *COARSE, *arguments]) == code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "map").exists()


def test_a_large_epsilon_is_warned_about(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--stimulus", "a.png", "--epsilon", "20", "--no-ledger", "--out", str(tmp_path / "map"), *COARSE]
    assert run(["heatmap", str(study), *arguments]) == 0
    assert "the guarantee of ε = 20 is next to none" in capsys.readouterr().err


def folder_of(tmp_path: Path, recordings: list[Recording]) -> str:
    write_corpus(recordings, tmp_path / "corpus")
    return str(tmp_path / "corpus")


def test_one_participant_gets_a_map_only_if_asked_for_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = folder_of(tmp_path, [Recording(np.arange(3.0), np.full(3, 500.0), np.full(3, 400.0), DESK, "p", "a.png")])
    arguments = ["--stimulus", "a.png", "--epsilon", "1", "--no-ledger", "--out", str(tmp_path / "map"), *COARSE]
    assert run(["heatmap", corpus, *arguments]) == 3
    assert "hardly be better than none" in capsys.readouterr().err
    assert run(["heatmap", corpus, *arguments, "--anyway"]) == 0


def test_gaze_off_the_screen_is_no_gaze_and_no_error(tmp_path: Path) -> None:
    away = [Recording(np.arange(3.0), np.full(3, -900.0), np.full(3, 9e3), DESK, f"p{k}", "a.png") for k in range(4)]
    arguments = [
        "--stimulus",
        "a.png",
        "--epsilon",
        "1",
        "--no-ledger",
        "--anyway",
        "--out",
        str(tmp_path / "map"),
        *COARSE,
    ]
    assert run(["heatmap", folder_of(tmp_path, away), *arguments]) == 0
    assert np.load(tmp_path / "map" / "heatmap.npz")["map"].sum() == pytest.approx(1)


def test_a_corpus_without_samples_needs_a_declared_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = np.zeros(0)
    corpus = folder_of(tmp_path, [Recording(none, none, none, DESK, f"p{k}", "a.png") for k in range(4)])
    arguments = ["--stimulus", "a.png", "--epsilon", "1", "--no-ledger", "--out", str(tmp_path / "map"), *COARSE]
    assert run(["heatmap", corpus, *arguments]) == 3
    assert "no recordings" in capsys.readouterr().err
    assert not (tmp_path / "map").exists()


def test_an_unknown_number_of_people_is_counted_privately(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--stimulus", "a.png", "--epsilon", "1", "--neighbours", "add-remove", "--no-ledger", "--json"]
    assert run(["heatmap", str(study), *arguments, "--out", str(tmp_path / "map"), *COARSE]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recipe"]["strategy"] == {"chosen": "after a private count"}
    assert {fact["name"]: fact["value"] for fact in told["public_facts"]}["participants"] == "secret"
    assert told["guarantee"]["neighbours"] == "add-remove"


def test_a_place_that_cannot_be_written_costs_nothing(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = str(tmp_path / "ledger.sqlite")
    assert run(["ledger", "init", "study-7", "--epsilon", "2", "--delta", "1e-4", "--ledger", ledger, "--json"]) == 0
    (tmp_path / "file").write_text("not a folder")
    out = ["--out", str(tmp_path / "file" / "map"), "--ledger", ledger, "--account", "study-7"]
    assert run(["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", *out, *COARSE]) != 0
    assert "cannot write" in capsys.readouterr().err
    with Ledger.open(ledger) as book:
        assert book.account("study-7").spent["epsilon"] == 0


def test_the_stimulus_may_help_the_decoder(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from matplotlib.image import imsave

    pixels = np.random.default_rng(3).random((60, 80, 3))
    imsave(tmp_path / "a.png", pixels)
    imsave(tmp_path / "tall.png", pixels.transpose(1, 0, 2))
    base = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", "--no-ledger", *COARSE]
    out = tmp_path / "map"
    assert run([*base, "--out", str(out), "--saliency", str(tmp_path / "a.png")]) == 0
    told = capsys.readouterr()
    assert "% from the picture (picture model 1), " in told.out
    assert "may mislead on other pictures: see docs/reference/picture-model.md" in told.err
    sidecar = json.loads((out / "release.json").read_text())
    assert len(sidecar["recipe"]["picture"]) == 64
    assert sidecar["recipe"]["picture_said_by"] == "picture model 1"
    assert sidecar["recipe"]["picture_model_sha256"] == digest_of_file(
        Path(picture_model.__file__).with_name("readout.npz")
    )
    assert 0 < sidecar["about_the_value"]["picture_share"] < 1
    for more in (["--saliency", str(tmp_path / "tall.png")], ["--saliency", str(tmp_path / "missing.png")]):
        assert run([*base, "--out", str(tmp_path / "no"), *more]) == 3
    assert not (tmp_path / "no").exists()


def test_a_map_of_ones_own_may_help_the_decoder_and_is_stored(study: Path, tmp_path: Path) -> None:
    y, x = np.mgrid[0:30, 0:40]
    values = np.exp(-((x - 12.5) ** 2 + (y - 10) ** 2) / 8)
    np.save(tmp_path / "map.npy", values)
    np.save(tmp_path / "tall.npy", values.T)
    base = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", "--no-ledger", *COARSE]
    out = tmp_path / "map"
    assert run([*base, "--out", str(out), "--prior", str(tmp_path / "map.npy")]) == 0
    sidecar = json.loads((out / "release.json").read_text())
    stored = Saliency.of_map(np.load(out / "prior_map.npy"))
    assert stored == Saliency.of_map(values)
    assert sidecar["recipe"]["picture"] == stored.digest
    assert sidecar["about_the_value"]["picture_said_by"] == "own map"
    assert sidecar["about_the_value"]["picture_share"] > 0
    for name in ("tall.npy", "missing.npy"):
        assert run([*base, "--out", str(tmp_path / "no"), "--prior", str(tmp_path / name)]) == 3
    both = ["--prior", str(tmp_path / "map.npy"), "--saliency", str(tmp_path / "a.png")]
    assert run([*base, "--out", str(tmp_path / "no"), *both]) == 3
    unused = ["--prior", str(tmp_path / "map.npy"), "--no-picture-prior"]
    assert run([*base, "--out", str(tmp_path / "no"), *unused]) == 3
    assert not (tmp_path / "no").exists()


def test_a_study_may_declare_the_map(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = np.random.default_rng(1).random((30, 40))
    np.save(tmp_path / "map.npy", values)
    declared = Study.observed_in(Corpus.open(study)).with_prior("a.png", tmp_path / "map.npy")
    write_study(declared, tmp_path / "study.toml")
    base = ["heatmap", str(study), "--study", str(tmp_path / "study.toml"), "--stimulus", "a.png", "--epsilon", "1"]
    release = [*base, "--no-ledger", "--anyway", *COARSE, "--out"]
    assert run([*release, str(tmp_path / "one")]) == 0
    sidecar = json.loads((tmp_path / "one" / "release.json").read_text())
    assert sidecar["recipe"]["picture"] == Saliency.of_map(values).digest
    assert run([*release, str(tmp_path / "two"), "--no-picture-prior"]) == 0
    assert not (tmp_path / "two" / "prior_map.npy").exists()
    np.save(tmp_path / "map.npy", values + 1)
    capsys.readouterr()
    assert run([*release, str(tmp_path / "three")]) == 3
    assert "declares" in capsys.readouterr().err


def test_a_declared_picture_speaks_by_itself_unless_told_not_to(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.image import imsave

    imsave(tmp_path / "a.png", np.random.default_rng(3).random((60, 80, 3)))
    declared = Study.observed_in(Corpus.open(study)).with_picture("a.png", tmp_path / "a.png")
    write_study(declared, tmp_path / "study.toml")
    base = ["heatmap", str(study), "--study", str(tmp_path / "study.toml"), "--stimulus", "a.png", "--epsilon", "1"]
    release = [*base, "--no-ledger", "--anyway", *COARSE, "--out"]
    for name, more in (("with", []), ("without", ["--no-picture-prior"])):
        assert run([*release, str(tmp_path / name), *more]) == 0
        assert (tmp_path / name / "heatmap.overlay.png").exists()
        assert (tmp_path / name / "prior_map.npy").exists() == (name == "with")
        assert ("picture-model.md" in capsys.readouterr().err) == (name == "with")
    said = [json.loads((tmp_path / name / "release.json").read_text()) for name in ("with", "without")]
    pixels = read_pixels(tmp_path / "a.png")
    assert said[0]["recipe"]["picture"] == Saliency.of(pixels).digest
    assert said[0]["public_facts"][1]["value"][0]["picture"] == digest_of_file(tmp_path / "a.png")
    assert said[1]["recipe"]["picture"] is None
    assert "picture_said_by" not in said[1]["about_the_value"]
    monkeypatch.setattr("gazeveil.aggregate.saliency.is_installed", lambda: False)
    map_files._declared_saliency.cache_clear()  # it said what it says with the model
    assert run([*release, str(tmp_path / "spectral")]) == 0
    assert "picture-model.md" not in capsys.readouterr().err  # that is about the model
    recipe = json.loads((tmp_path / "spectral" / "release.json").read_text())["recipe"]
    assert recipe["picture_said_by"] == "spectral residual"
    assert "picture_model_sha256" not in recipe


def test_a_dry_run_shows_which_design_is_chosen_and_why(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", *COARSE, "--dry-run"]
    assert run(base) == 0
    assert "explains of what the prior leaves open" in capsys.readouterr().out
    assert run([*base, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = {row["design"]: row for row in told["preview"]}
    assert set(rows) == {"bumps", "modes"}
    share = {name: int(row["explains_of_what_the_prior_leaves_open"].rstrip("%")) for name, row in rows.items()}
    chosen = [name for name, row in rows.items() if row["chosen"]]
    assert chosen == [told["recipe"]["strategy"]["strategy"]]
    assert share[chosen[0]] == max(share.values())
    assert run([*base, "--strategy", "modes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["preview"] is None


@pytest.mark.parametrize("place", ["study", ".", "study/maps"])
def test_raw_gaze_is_never_replaced_nor_mixed_with_releases(place: str, study: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    out = ["--out", str(tmp_path / place), "--overwrite", "--no-ledger", *COARSE]
    assert run(["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", *out]) == 4
    assert sorted(tmp_path.rglob("*")) == before


def test_an_earlier_release_is_replaced_and_nothing_else(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, ledger = tmp_path / "map", tmp_path / "map" / "ledger.sqlite"
    base = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", "--out", str(out), "--overwrite", *COARSE]
    assert run([*base, "--no-ledger"]) == 0
    assert run([*base, "--no-ledger"]) == 0
    assert run(["ledger", "init", "d", "--epsilon", "9", "--delta", "1e-3", "--ledger", str(ledger)]) == 0
    assert run([*base, "--ledger", str(ledger), "--account", "d"]) == 4
    assert "the ledger" in capsys.readouterr().err
    monkeypatch.chdir(out)
    assert run([*base, "--no-ledger"]) == 4
    assert "work in" in capsys.readouterr().err
    assert ledger.exists()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    (tmp_path / "note.txt").write_text("a file, not a folder")
    for other in ("thesis", "note.txt"):
        base[base.index("--out") + 1] = str(tmp_path / other)
        assert run([*base, "--no-ledger"]) == 4
        assert "not an earlier release" in capsys.readouterr().err
    assert (tmp_path / "thesis" / "chapter.txt").exists()


def test_the_ledger_may_be_named_by_the_environment_and_what_is_said_outweighs_it(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = str(tmp_path / "ledger.sqlite")
    assert run(["ledger", "init", "d", "--epsilon", "9", "--delta", "1e-3", "--ledger", book]) == 0
    monkeypatch.setenv("GAZEVEIL_LEDGER", book)
    base = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", "--json", *COARSE]
    for name, paying, charged in (("one", ["--account", "d"], True), ("two", ["--no-ledger"], False)):
        capsys.readouterr()
        assert run([*base, "--out", str(tmp_path / name), *paying]) == 0
        assert json.loads(capsys.readouterr().out)["charged"] is charged
    assert run([*base, "--out", str(tmp_path / "three"), "--no-ledger", "--ledger", str(tmp_path / "x.sqlite")]) == 3
    assert run([*base, "--out", str(tmp_path / "three")]) == 3
