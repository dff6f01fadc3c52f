# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil veil` as a lab would run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil import Corpus, Ledger, NoiseSource, Recording, headset, read, screen, write_corpus
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze.recording import Eye
from gazeveil.release.data import GazeFiles
from gazeveil.release.study import Budget, Participants, Stimulus, Study
from gazeveil.release.study_toml import write_study
from gazeveil.samples import Screen
from gazeveil.samples.mechanisms.smoothing import LinearSmoothing
from gazeveil.samples.recipes import from_recipe, parameters, read_recipe
from gazeveil.samples.veiled_recordings import VeiledRecordings, VeilRecording

DESK = screen(1600, 1200, 400, 300, 600)
CLOCK = ["--mechanism", "clock", "--epsilon", "3", "--window", "0.5", "--radius", "60px"]
FREE = ["--no-ledger"]


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


def test_a_corpus_comes_out_veiled_with_its_guarantee(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "veiled"
    assert run(["veil", str(study), *CLOCK, "--out", str(out), *FREE, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["about_the_value"] == {"format": "parquet", "recordings": 3, "samples": 900, "delay_s": 0.0}
    assert shown["guarantee"]["kind"] == "gaze-stream-dp"
    veiled = list(Corpus.open(out).recordings())  # the release folder is a corpus itself
    assert len(veiled) == 3
    assert all(recording.tracked.all() and recording.pupil is None and recording.left is None for recording in veiled)
    record = json.loads((out / "release.json").read_text())
    assert record["product"] == "veil"
    assert record["guarantee"] == shown["guarantee"]
    assert "0.5 seconds" in record["statement"]
    assert {"_corpus.json", "statement.html", "stimulus=a.png/part-00000-00000.parquet"} <= record["files"].keys()
    facts = {fact["name"]: fact for fact in record["public_facts"]}
    assert "their sample times and lengths" in str(facts["recordings"]["value"])
    assert record["conditional_on"] == ["participants", "stimuli"]


def test_what_is_computed_from_raw_gaze_is_in_the_private_report_alone(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--json"]):
        assert run(["veil", str(study), *CLOCK, "--out", str(tmp_path / "v"), *FREE, "--overwrite", *more]) == 0
        public = capsys.readouterr().out + (tmp_path / "v" / "release.json").read_text()
        assert not any(word in public for word in ("moved", "pupil", "faults", "clock ran back"))
    remarks = json.loads((tmp_path / "v.private-report.json").read_text())["remarks"]
    assert any("points were moved by" in line for line in remarks)
    assert "samples missing: 30" in remarks
    assert any("left eye" in line and "pupil" in line for line in remarks)


def test_what_a_reader_sees_states_the_guarantee(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "before-after.png"
    arguments = ["veil", str(study), "--preset", "lphu", "--out", str(tmp_path / "v"), "--plot", str(picture)]
    assert run([*arguments, "--to", "csv", *FREE]) == 0
    shown = capsys.readouterr().out
    assert "veiled 900 samples of 3 recordings with clock(epsilon=3" in shown
    assert "guarantee ε=3 for where one participant looked" in shown
    assert "only within one window of 0.5 s" in " ".join(shown.split())
    assert "statement.html for participants" in shown
    assert "shows raw gaze: not for release" in shown
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(read(tmp_path / "v" / "recordings.csv", geometry=DESK).recordings) == 3


def test_a_dry_run_spends_and_writes_nothing(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(tmp_path.iterdir())
    assert run(["veil", str(study), *CLOCK, "--dry-run"]) == 0
    assert "Nothing was spent" in capsys.readouterr().out
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("to", "where"), [("parquet", "."), ("csv", "recordings.csv"), ("bids", "bids")])
def test_every_format_holds_the_same_veiled_points(study: Path, tmp_path: Path, to: str, where: str) -> None:
    arguments = ["veil", str(study), "--preset", "gaussian-low", "--seed", "4", "--to", to, *FREE]
    assert run([*arguments, "--out", str(tmp_path / "v")]) == 0
    found = {recording.key: recording for recording in read(tmp_path / "v" / where, geometry=DESK).recordings}
    veil = VeilRecording.with_noise(VeiledRecordings(preset="gaussian-low"), NoiseSource.seeded(4))
    for raw in Corpus.open(study).recordings():
        expected = veil(raw).shown.samples["x"].to_numpy()
        assert np.allclose(found[raw.key].x, expected, atol=1e-6, equal_nan=True)


def test_parameters_are_given_by_name(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["veil", str(study), "--mechanism", "smoothing", "--window", "9", "--set", "start_with=zeros", "--json"]
    assert run([*arguments, "--out", str(tmp_path / "v"), *FREE]) == 0
    (on_screen,) = json.loads(capsys.readouterr().out)["recipe"]["screens"]
    assert (on_screen["mechanism"]["window"], on_screen["mechanism"]["start_with"]) == (9, "zeros")


def test_a_stream_that_runs_late_is_recorded_as_such(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["veil", str(study), *CLOCK, "--set", "lag=0.25", "--out", str(tmp_path / "late"), *FREE]) == 0
    assert "where gaze was 0.25 s before" in capsys.readouterr().out
    record = json.loads((tmp_path / "late" / "release.json").read_text())
    assert record["about_the_value"]["delay_s"] == 0.25
    assert "0.25 s before" in record["about_the_value"]["delay"]
    recipe = tmp_path / "late.json"
    inner = {"mechanism": "clock", "epsilon": 3, "window": "0.5", "radius": 60, "lag": 0.1}
    recipe.write_text(json.dumps({"mechanism": "chain", "members": [inner, {"mechanism": "smoothing"}]}))
    chained = ["veil", str(study), "--recipe", str(recipe), "--edge", "clamp", "--json", *FREE]
    assert run([*chained, "--out", str(tmp_path / "chained")]) == 0
    assert json.loads(capsys.readouterr().out)["about_the_value"]["delay_s"] == 0.1


def test_chains_come_from_a_file(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "chain.toml"
    recipe.write_text(
        'mechanism = "chain"\nmembers = [{mechanism = "spatial", factor = 144}, {mechanism = "smoothing"}]\n'
    )
    arguments = ["veil", str(study), "--recipe", str(recipe), "--edge", "reflect", "--json", *FREE]
    assert run([*arguments, "--out", str(tmp_path / "v")]) == 0
    (on_screen,) = json.loads(capsys.readouterr().out)["recipe"]["screens"]
    assert [member["mechanism"] for member in on_screen["mechanism"]["members"]] == ["spatial", "smoothing", "edge"]


@pytest.fixture
def headset_study(tmp_path: Path) -> Path:
    t = np.arange(600) / 60
    recordings = [Recording(t, 10 * np.sin(t + k), 5 * np.cos(t), headset(), f"p{k}", "room") for k in range(2)]
    write_corpus(recordings, tmp_path / "headset")
    return tmp_path / "headset"


CLOCK_IN = ["--mechanism", "clock", "--epsilon", "3", "--window", "0.5", "--radius"]


@pytest.mark.parametrize(("written", "radius"), [("60px", "60"), ("60", "60"), ("5%", "80"), ("2deg", "83.78")])
def test_the_guarantee_says_what_a_radius_comes_to_on_the_screen(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str, radius: str
) -> None:
    arguments = ["veil", str(study), *CLOCK_IN, written, "--out", str(tmp_path / "v"), *FREE]
    assert run(arguments) == 0
    assert f"up to {radius} px away" in capsys.readouterr().out
    record = json.loads((tmp_path / "v" / "release.json").read_text())
    assert record["guarantee"]["unit"]["radius"] == radius
    assert record["recipe"]["screens"][0]["mechanism"]["radius"] == f"{radius}px"


def test_gaze_in_degrees_needs_a_radius_in_degrees(
    headset_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for written, words in (("2", "it would mean 2 degrees"), ("60px", "gaze is in degrees"), ("5%", "2deg")):
        assert run(["veil", str(headset_study), *CLOCK_IN, written, "--out", str(tmp_path / "v"), *FREE]) == 3
        assert words in capsys.readouterr().err
        assert not (tmp_path / "v").exists()
    assert run(["veil", str(headset_study), *CLOCK_IN, "2deg", "--out", str(tmp_path / "v"), *FREE]) == 0
    assert "2 degrees" in capsys.readouterr().out


@pytest.mark.parametrize(("field", "reach"), [([], (110, 100)), (["--field", "360x180"], (360, 180))])
def test_directions_lie_in_the_field_of_the_eyes_unless_another_is_declared(
    headset_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], field: list[str], reach: tuple[int, int]
) -> None:
    arguments = ["veil", str(headset_study), *CLOCK_IN, "2deg", *field, "--out", str(tmp_path / "v"), *FREE, "--json"]
    assert run([*arguments, "--anyway"]) == 0
    (on_screen,) = json.loads(capsys.readouterr().out)["recipe"]["screens"]
    space = on_screen["mechanism"]["space"]
    assert (space["fov_x"], space["fov_y"]) == reach


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([*CLOCK, "--field", "100x80"], 3, "directions in degrees"),
        ([*CLOCK, "--field", "wide"], 3, "--field must be width x height"),
        (["--mechanism", "clok"], 3, "did you mean 'clock'"),
        (["--preset", "lpuh"], 3, "did you mean"),
        (["--mechanism", "clock", "--epsilon", "3"], 3, "clock needs window, radius"),
        ([*CLOCK, "--set", "speed=3"], 3, "no parameter 'speed'"),
        ([*CLOCK, "--set", "ticks"], 3, "KEY=VALUE"),
        ([*CLOCK, "--set", "ticks=many"], 3, "a whole number"),
        (["--mechanism", "clock", "--epsilon", "0", "--window", "1", "--radius", "1"], 3, "epsilon"),
        ([], 3, "say which mechanism"),
        ([*CLOCK, "--preset", "lphu"], 3, "one of them"),
        ([*CLOCK, "--eyes", "both"], 3, "--eyes"),
        ([*CLOCK, "--edge", "bounce"], 3, "edge must be"),
        (["--mechanism", "chain", "--set", "members=spatial"], 3, "--recipe"),
        (["--recipe", "nowhere.toml"], 3, "nowhere.toml"),
        ([*CLOCK, "--to", "eyelink-asc"], 3, "gazeveil convert RELEASE --to eyelink-asc"),
        ([*CLOCK, "--to", "pupil-native"], 3, "not written"),
        ([*CLOCK, "--ledger", "l.sqlite"], 3, "give --ledger"),
    ],
)
def test_wrong_options_are_told_and_nothing_is_written(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    before = sorted(tmp_path.iterdir())
    assert run(["veil", str(study), *arguments, "--out", str(tmp_path / "v"), *FREE]) == code
    assert words in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_without_a_word_about_the_ledger_nothing_is_released(study: Path, tmp_path: Path) -> None:
    assert run(["veil", str(study), *CLOCK, "--out", str(tmp_path / "v")]) == 3
    assert not (tmp_path / "v").exists()


def test_a_release_is_a_folder_not_a_file(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["veil", str(study), *CLOCK, "--out", str(tmp_path / "v.csv"), *FREE]) == 3
    assert "a release is a folder" in capsys.readouterr().err


def gaze_file(path: Path, rows: int = 50, bad: dict[int, str] | None = None) -> Path:
    lines = [f"{n / 60},{n},{n}" for n in range(rows)]
    for number, line in (bad or {}).items():
        lines[number] = line
    path.write_text("t,x,y\n" + "\n".join(lines) + "\n")
    return path


def test_samples_without_a_time_are_cut_and_nobody_else_hears_of_it(tmp_path: Path) -> None:
    t = np.where(np.arange(50) == 30, np.nan, np.arange(50) / 60)
    write_corpus([Recording(t, np.full(50, 9.0), np.full(50, 9.0), DESK, "ann")], tmp_path / "raw")
    out = tmp_path / "v"
    assert run(["veil", str(tmp_path / "raw"), *CLOCK, "--out", str(out), *FREE]) == 0
    assert [len(recording) for recording in Corpus.open(out).recordings()] == [49]
    assert "without a time, so cut: 1" in (tmp_path / "v.private-report.json").read_text()


def test_without_a_study_a_file_that_cannot_be_read_is_an_error_before_the_charge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = gaze_file(tmp_path / "ann.csv"), gaze_file(tmp_path / "bob.csv", bad={3: "0.05,far,left"})
    paying = paid(tmp_path)
    arguments = ["veil", str(good), str(bad), *CLOCK, "--screen", "1600x1200", "--out", str(tmp_path / "v"), *paying]
    assert run(arguments) == 3
    assert "bob.csv" in capsys.readouterr().err
    assert charges(tmp_path) == 0
    assert not list(tmp_path.glob("v*"))


def declared(tmp_path: Path, *people: str) -> list[str]:
    study = Study(
        name="desk",
        participants=Participants(roster=people),
        stimuli=(Stimulus(name="a.png", screen=DESK),),
        budget=Budget(account="study-7"),
    )
    write_study(study, tmp_path / "study.toml", overwrite=True)
    return ["--study", str(tmp_path / "study.toml")]


def test_with_a_study_files_are_read_after_the_charge_and_bad_ones_count_as_absent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = gaze_file(tmp_path / "ann.csv"), gaze_file(tmp_path / "bob.csv", bad={3: "0.05,far,left"})
    stranger = gaze_file(tmp_path / "eve.csv")
    facts, paying = declared(tmp_path, "ann", "bob"), paid(tmp_path)
    capsys.readouterr()
    out = tmp_path / "v"
    assert run(["veil", str(good), str(bad), str(stranger), *CLOCK, *facts, "--out", str(out), *paying]) == 0
    assert charges(tmp_path) == 1
    captured = capsys.readouterr()
    assert "bob" not in captured.out + captured.err + (out / "release.json").read_text()
    assert [recording.key for recording in Corpus.open(out).recordings()] == [("ann", "a.png", "1", "1")]
    report = json.loads((tmp_path / "v.private-report.json").read_text())
    assert [each["participant"] for each in report["findings"] if each["kind"] == "participant-missing"] == ["bob"]
    assert any("bob.csv could not be read and counts as absent" in line for line in report["remarks"])
    record = json.loads((out / "release.json").read_text())
    assert record["conditional_on"] == []


def test_a_file_that_is_not_there_is_reported_before_the_charge(tmp_path: Path) -> None:
    facts, paying = declared(tmp_path, "ann"), paid(tmp_path)
    arguments = ["veil", str(tmp_path / "ann.csv"), *CLOCK, *facts, "--out", str(tmp_path / "v"), *paying]
    assert run(arguments) == 3
    assert charges(tmp_path) == 0


def test_what_is_there_is_not_replaced_unless_asked(study: Path, tmp_path: Path) -> None:
    arguments = ["veil", str(study), "--preset", "lphu", "--out", str(tmp_path / "v"), "--to", "csv", *FREE]
    assert run(arguments) == 0
    file = tmp_path / "v" / "recordings.csv"
    first = file.read_bytes()
    assert run(arguments) == 4
    assert file.read_bytes() == first
    assert run([*arguments, "--overwrite"]) == 0
    assert file.read_bytes() != first  # new noise


def test_raw_gaze_is_never_replaced_nor_mixed_with_what_is_released(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "raw").mkdir()
    raw = gaze_file(tmp_path / "raw" / "gaze")
    before = raw.read_bytes()
    command = ["veil", str(raw), *CLOCK, "--screen", "1600x1200", "--overwrite", *FREE, "--out"]
    for out in (raw, tmp_path / "sub" / ".." / "raw" / "gaze"):
        assert run([*command, str(out)]) == 4
        capsys.readouterr()
    assert run([*command, str(tmp_path / "raw")]) == 4
    assert run([*command, str(tmp_path / "v"), "--plot", str(raw)]) == 4
    assert run(["veil", str(study), *CLOCK, "--overwrite", "--out", str(study / "veiled"), *FREE]) == 4
    assert raw.read_bytes() == before
    assert not (study / "veiled").exists()


@pytest.mark.parametrize("picture", ["v", "v.private-report.json", "v/before.png"])
def test_a_picture_of_raw_gaze_is_no_part_of_a_release(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], picture: str
) -> None:
    arguments = ["veil", str(study), *CLOCK, "--out", str(tmp_path / "v"), "--plot", str(tmp_path / picture)]
    assert run([*arguments, *FREE]) == 4
    assert "raw gaze" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()


def test_a_recording_that_comes_again_is_cut_and_the_first_one_counts(study: Path, tmp_path: Path) -> None:
    seeded = ["--preset", "gaussian-low", "--seed", "4", *FREE]
    assert run(["veil", str(study), *seeded, "--out", str(tmp_path / "once")]) == 0
    assert run(["veil", str(study), str(study), *seeded, "--out", str(tmp_path / "twice")]) == 0
    once, twice = (Corpus.open(tmp_path / name).scan().collect() for name in ("once", "twice"))
    assert once.equals(twice)
    assert (tmp_path / "twice.private-report.json").read_text().count("comes again and was cut") == 3


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


def test_a_veil_is_paid_for_before_it_leaves(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paying = ["veil", str(study), *CLOCK, *paid(tmp_path)]
    capsys.readouterr()
    assert run([*paying, "--out", str(tmp_path / "one")]) == 0
    assert json.loads((tmp_path / "one" / "release.json").read_text())["receipt"]
    assert run([*paying, "--out", str(tmp_path / "two")]) == 5
    assert run([*paying, "--seed", "3", "--out", str(tmp_path / "two")]) == 5
    assert not list(tmp_path.glob("two*"))
    monkeypatch.setenv("GAZEVEIL_LEDGER", str(tmp_path / "ledger.sqlite"))
    by_variable = ["veil", str(study), "--mechanism", "clock", "--epsilon", "2", "--window", "0.5", "--radius", "60"]
    assert run([*by_variable, "--out", str(tmp_path / "two")]) == 3  # no account
    assert run([*by_variable, "--account", "study-7", "--out", str(tmp_path / "two")]) == 0
    assert charges(tmp_path) == 2


def paid(tmp_path: Path) -> list[str]:
    """Return the options that pay from an account of ε = 5 for windows of gaze."""
    ledger = str(tmp_path / "ledger.sqlite")
    account = ["ledger", "init", "study-7", "--epsilon", "5", "--window", "0.5", "--radius", "60", "--ledger", ledger]
    assert run(account) == 0
    return ["--ledger", ledger, "--account", "study-7"]


def charges(tmp_path: Path) -> int:
    with Ledger.open(tmp_path / "ledger.sqlite") as book:
        return sum(event.kind == "charged" for event in book.history("study-7"))


def test_chunks_make_no_difference(tmp_path: Path) -> None:
    from gazeveil.gaze.formats.base import ReadOptions
    from gazeveil.gaze.reading import ChunkStream

    raw = gaze_file(tmp_path / "gaze.csv", rows=500)
    shown = []
    for chunk_rows in (10_000, 64):
        options = ReadOptions(geometry=DESK, chunk_rows=chunk_rows)
        corpus = GazeFiles((raw,), lambda path, options=options: ChunkStream(path, options)).open([])  # type: ignore[misc]
        (recording,) = corpus.recordings()
        shown.append(VeilRecording(VeiledRecordings(preset="gaussian-low"), seed=2)(recording).shown.samples)
    assert len(shown[0]) == 500
    assert shown[0].equals(shown[1])
