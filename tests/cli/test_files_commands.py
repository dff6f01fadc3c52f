# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The commands that read and write files, as a user and as a script would run them."""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gazeveil import Corpus, Recording, screen, write_corpus
from gazeveil.cli.main import run
from gazeveil.gaze.formats.base import FORMATS

DESK = screen(1920, 1080, 530, 300, 600)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    recordings = [
        Recording(np.arange(50) / 10, rng.normal(900, 9, 50), rng.normal(500, 9, 50), DESK, observer, "a.png")
        for observer in ("ann", "bob")
    ]
    write_corpus(recordings, tmp_path / "study")
    return tmp_path / "study"


def test_info_tells_programs(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", str(study), "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert (file["format"], file["recordings"], file["samples"]) == ("parquet", 2, 100)
    assert file["observers"] == ["ann", "bob"]
    assert file["rates_hz"] == [10]


def test_info_tells_people(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", str(study)]) == 0
    out = capsys.readouterr().out
    assert "2: ann, bob" in out
    assert "1920 x 1080 px" in out


def test_convert_and_back_keeps_every_sample(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", str(study), "--out", str(tmp_path / "one.parquet"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["recordings"], told["samples"], told["format"]) == (2, 100, "parquet")
    assert run(["convert", str(tmp_path / "one.parquet"), "--out", str(tmp_path / "again")]) == 0
    before = {recording.key: recording for recording in Corpus.open(study).recordings()}
    after = {recording.key: recording for recording in Corpus.open(tmp_path / "again").recordings()}
    assert before.keys() == after.keys()
    assert all(before[key].equals(after[key]) for key in before)


def test_nothing_is_overwritten_unless_asked(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "one.parquet"
    out.write_text("precious")
    assert run(["convert", str(study), "--out", str(out)]) == 4
    assert "exists already" in capsys.readouterr().err
    assert out.read_text() == "precious"
    assert run(["convert", str(study), "--out", str(out), "--overwrite"]) == 0


def test_two_files_of_one_recording_are_not_made_one(study: Path, tmp_path: Path) -> None:
    for name in ("one.parquet", "two.parquet"):
        assert run(["convert", str(study), "--out", str(tmp_path / name)]) == 0
    both = [str(tmp_path / "one.parquet"), str(tmp_path / "two.parquet")]
    assert run(["convert", *both, "--out", str(tmp_path / "both")]) == 3
    assert not (tmp_path / "both").exists()


def test_what_was_recorded_twice_is_joined_as_the_hint_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "observer,t,x,y\n"
    for name in ("first", "second"):
        (tmp_path / f"{name}.csv").write_text(head + "".join(f"ann,{n / 100},5,5\n" for n in range(9)))
    first, second = str(tmp_path / "first.csv"), str(tmp_path / "second.csv")
    known = ["--screen", "100x100"]
    assert run(["convert", first, second, *known, "--out", str(tmp_path / "all")]) == 3
    said = capsys.readouterr().err
    assert "both hold observer ann, session 1, trial 1" in said
    assert "Key(" not in said
    assert "--session 2" in said
    assert run(["convert", second, *known, "--session", "2", "--out", str(tmp_path / "again")]) == 0
    assert run(["convert", first, str(tmp_path / "again"), *known, "--out", str(tmp_path / "all")]) == 0
    assert len(Corpus.open(tmp_path / "all")) == 2


def test_a_folder_of_files_is_answered_with_how_to_give_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "raw").mkdir()
    assert run(["info", str(tmp_path / "raw")]) == 3
    assert "raw/*.csv" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["both", "both.csv", "both.parquet"])
def test_a_file_that_is_named_twice_is_not_doubled(out: str, study: Path, tmp_path: Path) -> None:
    assert run(["convert", str(study), str(study), "--out", str(tmp_path / out)]) == 3
    assert not (tmp_path / out).exists()


def test_events_do_not_overwrite_the_gaze_they_come_from(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gaze = tmp_path / "gaze.csv"
    assert run(["convert", str(study), "--out", str(gaze)]) == 0
    before = gaze.read_bytes()
    plane = ["--screen", "1920x1080", "--size-mm", "530x300", "--distance-mm", "600"]
    assert run(["events", str(gaze), *plane, "--out", str(gaze)]) == 4
    assert "exists already" in capsys.readouterr().err
    assert gaze.read_bytes() == before
    assert run(["events", str(gaze), *plane, "--out", str(gaze), "--overwrite"]) == 0
    assert gaze.read_bytes() != before


_ON_A_SMALL_DISK = """
import resource, sys
from gazeveil.cli.main import run
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "STUDY", "--out", "corpus"],
        ["convert", "STUDY", "--out", "one.parquet"],
        ["convert", "STUDY", "--out", "table.csv"],
        ["events", "STUDY", "--set", "max_step=1", "--out", "events.parquet"],
    ],
)
def test_a_full_disk_is_told_and_nothing_stays_behind(arguments: list[str], study: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    named = [str(study) if argument == "STUDY" else argument for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-c", _ON_A_SMALL_DISK, *named],
        capture_output=True, text=True, check=False, timeout=60, cwd=place,
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert "\nerror: cannot write" in f"\n{done.stderr}"  # a slow machine shows progress before it
    assert "File too large" in done.stderr
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["info", "missing.asc"], 3, "there is no file"),
        (["info", "EMPTY"], 3, "an empty file"),
        (["info", "EMPTY", "--format", "eyelink"], 3, "no format is called 'eyelink'"),
        (["info", "EMPTY", "--screen", "big"], 3, "--screen 1920x1080"),
        (["info", "EMPTY", "--screen", "0x0"], 3, "width_px must be a positive number"),
        (["info", "EMPTY", "--column", "z=Z"], 3, "no column 'z'"),
        (["info", "EMPTY", "--column", "x"], 3, "OURS=THEIRS"),
        (["info", "EMPTY", "--eye", "third"], 3, "both, left, right"),
        (["info", "EMPTY", "--time-unit", "h"], 3, "s, ms, us, ns"),
        (["convert", "STUDY", "--out", "x.docx"], 3, "does not tell a format"),
        (["convert", "STUDY", "--out", "x", "--to", "varjo-csv"], 3, "not written"),
        (["info"], 2, "Missing argument"),
        (["inform"], 2, "No such command"),
    ],
)
def test_a_users_mistake_gets_words_and_an_exit_code_and_no_traceback(
    arguments: list[str], code: int, words: str, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.asc").touch()
    named = {"EMPTY": str(tmp_path / "empty.asc"), "STUDY": str(study)}
    assert run([named.get(argument, argument) for argument in arguments]) == code
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err


def test_errors_are_json_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.asc").touch()
    assert run(["info", str(tmp_path / "empty.asc"), "--json"]) == 3
    error = json.loads(capsys.readouterr().out)
    assert error["error"] == "FileFormatError"
    assert error["found"] == "an empty file"


def test_a_wrong_command_line_is_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", "--json"]) == 2
    assert "command line" in json.loads(capsys.readouterr().out)["message"]


def test_a_mistake_of_ours_has_an_exit_code_of_its_own(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("gazeveil.gaze.quality.Overview.of", broken)
    assert run(["info", str(study), "--json"]) == 70
    said = capsys.readouterr()
    assert "oops" in said.err
    assert json.loads(said.out)["error"] == "InternalError"


def test_the_program_runs_as_a_program() -> None:
    def gazeveil(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gazeveil", *arguments], capture_output=True, text=True, check=False, timeout=60
        )

    assert gazeveil("--version").stdout.startswith("gazeveil ")
    listing = gazeveil("--help")
    assert listing.returncode == 0
    assert "convert" in listing.stdout
    assert gazeveil("info", "missing").returncode == 3


_STOPPED_HALF_WAY = """
import os, signal
from gazeveil.cli import main
from gazeveil.gaze import corpus

take = corpus.CorpusWriter.add

def add_and_be_stopped(writer, chunk):
    take(writer, chunk)
    os.kill(os.getpid(), signal.SIGTERM)

corpus.CorpusWriter.add = add_and_be_stopped
main.main()
"""


def test_a_program_that_is_stopped_leaves_nothing_half_written(study: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    arguments = ["convert", str(study), "--out", str(place / "corpus")]
    done = subprocess.run([sys.executable, "-c", _STOPPED_HALF_WAY, *arguments], check=False, timeout=60)
    assert done.returncode == 128 + signal.SIGTERM
    assert not list(place.iterdir())


def test_every_command_explains_itself_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(sys.modules["gazeveil.cli.main"].__file__ or "").parent
    names = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_") and path.stem != "main")
    assert {"info", "convert"} <= set(names)
    for name in names:
        app = importlib.import_module(f"gazeveil.cli.{name}").app
        inner = [command.name or command.callback.__name__ for command in app.registered_commands]
        for words in [[name, each] for each in inner] if app.registered_callback else [[name]]:
            assert run([*words, "--help"]) == 0
            assert "gazeveil" in capsys.readouterr().out.replace("Usage: gazeveil", ""), words


def test_every_format_has_a_title_and_suffixes() -> None:
    for name in FORMATS.names():
        assert FORMATS[name].title
        assert all(suffix.startswith(".") for suffix in FORMATS[name].suffixes), name
