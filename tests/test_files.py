# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gazeveil import files
from gazeveil.errors import OutputError
from gazeveil.files import replacing


def test_a_file_appears_whole(tmp_path: Path) -> None:
    with replacing(tmp_path / "new" / "a.txt") as temporary:
        temporary.write_text("all of it")
        assert not (tmp_path / "new" / "a.txt").exists()
    assert (tmp_path / "new" / "a.txt").read_text() == "all of it"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]


def write_then_fail(target: Path) -> None:
    with replacing(target) as temporary:
        temporary.write_text("half of")
        raise KeyError("broken")


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(KeyError):
        write_then_fail(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_is_swapped_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    for content in ("first", "second"):
        with replacing(target) as temporary:
            temporary.mkdir()
            (temporary / content).write_text(content)
    assert [path.name for path in target.iterdir()] == ["second"]
    assert list(tmp_path.iterdir()) == [target]


def test_what_must_not_be_overwritten_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(OutputError, match="exists already"), replacing(tmp_path / "a.txt", overwrite=False):
        pass


def test_a_writer_that_wrote_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"), replacing(tmp_path / "a.txt"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"), replacing(tmp_path / "file" / "a.txt") as temporary:
        temporary.write_text("x")


def test_a_killed_writer_leaves_no_target(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from gazeveil.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half'); print('ready', flush=True); time.sleep(60)\n"
    )
    target = tmp_path / "a.txt"
    with subprocess.Popen([sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
    assert not target.exists()


def test_a_folder_of_many_files_is_flushed_whole_and_an_error_on_the_way_keeps_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[Path] = []
    real = files.sync

    def watched(path: Path) -> None:
        flushed.append(path)
        if broken and path.name == "17":
            raise OSError("no space left")
        real(path)

    monkeypatch.setattr(files, "sync", watched)
    broken = False
    for content in ("old", "new"):
        broken = content == "new"
        try:
            with replacing(tmp_path / "many") as temporary:
                (temporary / "inner").mkdir(parents=True)
                for number in range(40):
                    (temporary / "inner" / str(number)).write_text(content)
        except OutputError:
            assert broken
    assert {path.name for path in flushed} >= {"inner", *map(str, range(40))}
    assert {path.read_text() for path in (tmp_path / "many" / "inner").iterdir()} == {"old"}
    assert [path.name for path in tmp_path.iterdir()] == ["many"]
