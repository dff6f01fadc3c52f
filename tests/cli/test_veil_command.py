# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil veil` as a lab would run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil import Corpus, NoiseSource, Recording, read, screen, write_corpus
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze.recording import Eye
from gazeveil.samples import Screen, space_of
from gazeveil.samples.batch import Batch
from gazeveil.samples.mechanisms.smoothing import LinearSmoothing
from gazeveil.samples.presets import preset
from gazeveil.samples.recipe import from_recipe, parameters, read_recipe

DESK = screen(1600, 1200, 400, 300, 600)
CLOCK = ["--mechanism", "clock", "--epsilon", "3", "--window", "0.5", "--radius", "60"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    t = np.arange(300) / 60
    recordings = []
    for k in range(3):
        x, y = rng.normal(800, 60, 300), rng.normal(600, 60, 300)
        x[100:110] = np.nan
        eye = Eye(x, y, pupil=np.full(300, 3.0))
        recordings.append(Recording(t, x, y, DESK, f"p{k}", "a.png", pupil=np.full(300, 3.0), left=eye, right=eye))
    write_corpus(recordings, tmp_path / "study")
    return tmp_path / "study"


def test_a_corpus_comes_out_veiled_with_its_promise(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "veiled"
    assert run(["veil", str(study), *CLOCK, "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recordings"] == 3
    assert told["samples"] == 900
    assert told["guarantee"][0]["kind"] == "gaze-stream-dp"
    assert told["faults"]["missing"] == 30
    assert set(told["dropped"]) >= {"pupil", "left eye", "right eye", "validity"}
    veiled = list(Corpus.open(out).recordings())
    assert len(veiled) == 3
    assert all(recording.tracked.all() and recording.pupil is None and recording.left is None for recording in veiled)
    sidecar = json.loads((tmp_path / "veiled.release.json").read_text())
    assert sidecar["guarantee"] == told["guarantee"]
    assert "0.5 seconds" in sidecar["statement"][0]
    assert "moved" not in sidecar
    assert "faults" not in sidecar


def test_what_people_read_says_the_promise(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "before-after.png"
    arguments = ["veil", str(study), "--preset", "lphu", "--out", str(tmp_path / "v.csv"), "--picture", str(picture)]
    assert run(arguments) == 0
    told = capsys.readouterr().out
    assert "veiled 900 samples of 3 recordings with clock(epsilon=3" in told
    assert "promise   What is protected" in told
    assert "not for release" in told
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(read(tmp_path / "v.csv", geometry=DESK).recordings) == 3


def test_a_file_is_veiled_as_the_mechanism_says_whatever_the_chunks(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "v.parquet"
    assert run(["veil", str(study), "--preset", "gaussian-low", "--seed", "4", "--out", str(out)]) == 0
    mechanism = preset("gaussian-low", space_of(DESK))
    raw, shown = list(Corpus.open(study).recordings()), {recording.key: recording for recording in read(out).recordings}
    first = raw[0]  # the source's first words are the first recording's
    expected, _ = mechanism.start(NoiseSource.seeded(4)).run(first.t, first.x, first.y)
    assert np.array_equal(shown[first.key].x, expected)
    assert len(shown) == len(raw)


def test_parameters_are_given_by_name(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["veil", str(study), "--mechanism", "smoothing", "--window", "9", "--set", "start_with=zeros", "--json"]
    assert run([*arguments, "--out", str(tmp_path / "v")]) == 0
    (recipe,) = json.loads(capsys.readouterr().out)["recipe"]
    assert (recipe["window"], recipe["start_with"]) == (9, "zeros")


def test_a_stream_that_runs_late_says_so(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["veil", str(study), *CLOCK, "--set", "lag=0.25"]
    assert run([*arguments, "--out", str(tmp_path / "late.csv")]) == 0
    assert "where gaze was 0.25 s before" in capsys.readouterr().out
    sidecar = json.loads((tmp_path / "late.csv.release.json").read_text())
    assert sidecar["delay_s"] == 0.25
    assert sidecar["recipe"][0]["lag"] == 0.25
    assert "0.25 s before" in sidecar["statement"][0]
    recipe = tmp_path / "late.json"
    inner = {"mechanism": "clock", "epsilon": 3, "window": "0.5", "radius": 60, "lag": 0.1}
    recipe.write_text(json.dumps({"mechanism": "chain", "members": [inner, {"mechanism": "smoothing"}]}))
    chained = ["veil", str(study), "--recipe", str(recipe), "--edge", "clamp", "--json"]
    assert run([*chained, "--out", str(tmp_path / "chained.csv")]) == 0
    assert json.loads(capsys.readouterr().out)["delay_s"] == 0.1
    assert run(["veil", str(study), *CLOCK, "--out", str(tmp_path / "v.csv")]) == 0
    assert "late" not in capsys.readouterr().out


def test_chains_come_from_a_file(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "chain.toml"
    recipe.write_text(
        'mechanism = "chain"\nmembers = [{mechanism = "spatial", factor = 144}, {mechanism = "smoothing"}]\n'
    )
    arguments = [
        "veil",
        str(study),
        "--recipe",
        str(recipe),
        "--edge",
        "reflect",
        "--out",
        str(tmp_path / "v"),
        "--json",
    ]
    assert run(arguments) == 0
    (told,) = json.loads(capsys.readouterr().out)["recipe"]
    assert [member["mechanism"] for member in told["members"]] == ["spatial", "smoothing", "edge"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--mechanism", "clok"], 3, "did you mean 'clock'"),
        (["--preset", "lpuh"], 3, "did you mean"),
        (["--mechanism", "clock", "--epsilon", "3"], 3, "clock needs window, radius"),
        ([*CLOCK, "--set", "speed=3"], 3, "no parameter 'speed'"),
        ([*CLOCK, "--set", "ticks"], 3, "KEY=VALUE"),
        ([*CLOCK, "--set", "ticks=many"], 3, "a whole number"),
        (["--mechanism", "clock", "--epsilon", "0", "--window", "1", "--radius", "1"], 3, "epsilon"),
        ([], 3, "say which veil"),
        ([*CLOCK, "--preset", "lphu"], 3, "one of them"),
        ([*CLOCK, "--eyes", "both"], 3, "--eyes"),
        ([*CLOCK, "--edge", "bounce"], 3, "--edge"),
        (["--mechanism", "chain", "--set", "members=spatial"], 3, "--recipe"),
        (["--recipe", "nowhere.toml"], 3, "nowhere.toml"),
        ([*CLOCK, "--to", "eyelink-asc"], 3, "not written"),
    ],
)
def test_wrong_options_are_told_and_nothing_is_written(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    before = sorted(tmp_path.iterdir())
    assert run(["veil", str(study), *arguments, "--out", str(tmp_path / "v")]) == code
    assert words in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_half_written_stays_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{n / 60},{n},{n}" for n in range(50)]
    rows[30] = "nan,3,4"
    (tmp_path / "gaze.csv").write_text("t,x,y\n" + "\n".join(rows) + "\n")
    before = sorted(tmp_path.iterdir())
    arguments = ["veil", str(tmp_path / "gaze.csv"), *CLOCK, "--screen", "1600x1200", "--out", str(tmp_path / "v.csv")]
    assert run(arguments) != 0
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_there_is_not_replaced_unless_asked(study: Path, tmp_path: Path) -> None:
    arguments = ["veil", str(study), "--preset", "lphu", "--out", str(tmp_path / "v.csv")]
    assert run(arguments) == 0
    first = (tmp_path / "v.csv").read_bytes()
    assert run(arguments) == 4
    assert (tmp_path / "v.csv").read_bytes() == first
    assert run([*arguments, "--overwrite"]) == 0
    assert (tmp_path / "v.csv").read_bytes() != first  # new noise


def test_raw_gaze_is_never_replaced_nor_mixed_with_what_is_released(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "gaze.csv"
    raw.write_text("t,x,y\n" + "".join(f"{n / 60},{n},{n}\n" for n in range(50)))
    before = raw.read_bytes()
    command = ["veil", str(raw), *CLOCK, "--screen", "1600x1200", "--overwrite", "--out"]
    for out in (raw, tmp_path / "sub" / ".." / "gaze.csv"):
        assert run([*command, str(out)]) == 4
        assert "not apart" in capsys.readouterr().err
    assert run([*command, str(tmp_path / "v.csv"), "--picture", str(raw)]) == 4
    assert run(["veil", str(study), *CLOCK, "--overwrite", "--out", str(study / "veiled")]) == 4
    assert raw.read_bytes() == before
    assert not (study / "veiled").exists()


@pytest.mark.parametrize("picture", ["v", "v.release.json", "v/before.png"])
def test_a_picture_of_raw_gaze_is_no_part_of_a_release(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], picture: str
) -> None:
    arguments = ["veil", str(study), *CLOCK, "--out", str(tmp_path / "v"), "--picture", str(tmp_path / picture)]
    assert run(arguments) == 4
    assert "raw gaze" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()


def test_the_same_file_named_twice_is_refused(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["veil", str(study), str(study), *CLOCK, "--out", str(tmp_path / "v")]) == 3
    assert "comes twice" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()


def test_recipes_that_are_none_are_refused(tmp_path: Path) -> None:
    for text in ("mechanism = 3", "[[", "x = 1"):
        (tmp_path / "r.toml").write_text(text)
        with pytest.raises(FileFormatError):
            read_recipe(tmp_path / "r.toml")
    (tmp_path / "r.json").write_text(json.dumps({"mechanism": "smoothing", "window": 7}))
    space = Screen(100, 100)
    assert from_recipe(read_recipe(tmp_path / "r.json"), space) == LinearSmoothing(space, window=7)
    with pytest.raises(OptionError):
        from_recipe({"mechanism": "smoothing", "width": 7}, space)
    assert parameters("spatial", {"factor": "24", "centred": "no"}) == {"factor": 24.0, "centred": False}
    with pytest.raises(OptionError, match="true or false"):
        parameters("spatial", {"centred": "maybe"})


def test_a_veil_is_paid_for_before_it_leaves(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = str(tmp_path / "ledger.sqlite")
    account = ["ledger", "init", "study-7", "--epsilon", "5", "--window", "0.5", "--radius", "60", "--ledger", ledger]
    assert run(account) == 0
    paying = ["veil", str(study), *CLOCK, "--ledger", ledger, "--dataset", "study-7"]
    capsys.readouterr()
    assert run([*paying, "--out", str(tmp_path / "one")]) == 0
    assert "charged to study-7: ε=3 spent, ε=2 left" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "one.release.json").read_text())["receipts"]) == 1
    assert run([*paying, "--out", str(tmp_path / "two")]) == 5
    assert run([*paying, "--seed", "3", "--out", str(tmp_path / "two")]) == 5
    assert not (tmp_path / "two").exists()
    assert not (tmp_path / "two.release.json").exists()
    assert run([*paying[:-2], "--out", str(tmp_path / "two")]) == 3


def test_chunks_make_no_difference(tmp_path: Path) -> None:
    from gazeveil.gaze.formats.base import ReadOptions
    from gazeveil.gaze.reading import ChunkStream

    rows = [f"{n / 60},{n % 50},{n % 70}" for n in range(500)]
    (tmp_path / "gaze.csv").write_text("t,x,y\n" + "\n".join(rows) + "\n")
    shown = []
    for chunk_rows in (10_000, 64):
        stream = ChunkStream(tmp_path / "gaze.csv", ReadOptions(geometry=DESK, chunk_rows=chunk_rows))
        batch = Batch(lambda geometry: preset("gaussian-low", space_of(geometry)), NoiseSource.seeded(2))
        chunks = list(batch.veil(stream))
        shown.append(np.concatenate([chunk.samples["x"].to_numpy() for chunk in chunks]))
        assert batch.recordings == 1
    assert len(chunks) > 5
    assert np.array_equal(shown[0], shown[1])


def test_a_batch_says_what_it_promises_before_the_first_sample(study: Path) -> None:
    from gazeveil.gaze.reading import ChunkStream

    told: list[str] = []
    batch = Batch(
        lambda geometry: preset("lphu", space_of(geometry)),
        NoiseSource.secure(),
        before=lambda mechanism, guarantee: told.append(f"{mechanism.name}: {guarantee.kind}"),
    )
    assert sum(len(chunk.samples) for chunk in batch.veil(ChunkStream(study))) == 900
    assert told == ["clock: gaze-stream-dp"]
    assert batch.guarantees[0].proven
