# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Windows and macOS, as far as Linux can show them: locks, names of files, line ends, letters, and the main walk."""

from __future__ import annotations

import ast
import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gazeveil
from gazeveil import process
from gazeveil.errors import InputError
from gazeveil.files import is_device
from gazeveil.gaze.corpus import Corpus, partition, write_corpus
from gazeveil.gaze.fileio.writing import as_file_name
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.release.study import file_names
from gazeveil.terminal.printing import use_utf8

ROOT = Path(__file__).parents[1]
SOURCES = Path(gazeveil.__file__).parent


class FakeMsvcrt(SimpleNamespace):
    """Locks of bytes as Windows has them: for one handle at a time, and nobody frees what they do not hold."""

    LK_UNLCK, LK_NBLCK = 0, 2

    def __init__(self) -> None:
        super().__init__(holders={})

    def locking(self, file: int, mode: int, count: int) -> None:
        byte = (os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR))
        holder = self.holders.get(byte)
        if mode == self.LK_UNLCK:
            if holder != file:
                raise PermissionError(errno.EACCES, "not held")
            del self.holders[byte]
        elif holder is not None:
            raise PermissionError(errno.EACCES, "held")
        else:
            self.holders[byte] = file


@pytest.mark.parametrize("windows", [None, FakeMsvcrt()], ids=["as here", "msvcrt"])
def test_one_at_a_time_holds_a_lock_and_the_file_can_be_read_meanwhile(
    windows: FakeMsvcrt | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if windows is not None:
        monkeypatch.setattr(process, "_windows", windows)
    path = tmp_path / "held"
    path.write_bytes(b"content")
    first, second = (os.open(path, os.O_RDWR) for _ in range(2))
    try:
        process.lock(first)
        assert not process.try_lock(second)
        assert path.read_bytes() == b"content"
        if windows is not None:
            assert all(at > 1 << 30 for _, at in windows.holders), "behind everything that a file holds"
        process.unlock(first)
        assert process.try_lock(second)
        assert not process.try_lock(first)
        process.unlock(second)
    finally:
        os.close(first)
        os.close(second)
    assert path.read_bytes() == b"content"


def test_what_cannot_be_locked_at_all_is_told_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks on this disk")

    monkeypatch.setattr(process, "_windows", SimpleNamespace(LK_NBLCK=2, locking=broken))
    with (tmp_path / "file").open("wb") as file, pytest.raises(OSError, match="no locks"):
        process.lock(file.fileno())


@pytest.mark.timeout(300)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is open is known from /proc")
def test_the_main_walk_needs_nothing_that_windows_lacks(tmp_path: Path) -> None:
    for name in ("site", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("from tests.windows.simulated import become\nbecome()\n")
    there = {
        "GAZEVEIL_STATE": str(tmp_path / "state"),
        "NUMBA_DISABLE_JIT": "1",  # the walk is about files, signals and locks, and needs no speed
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONIOENCODING": "cp1252",
        "PYTHONPATH": os.pathsep.join(map(str, (tmp_path / "site", ROOT, SOURCES.parent))),
        "PYTHONUTF8": "0",
        "PYTHONWARNDEFAULTENCODING": "1",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "tests.windows.walk"],
        cwd=tmp_path / "work", env=os.environ | there, capture_output=True, encoding="utf-8", timeout=280, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-4000:]
    seen = json.loads(ended.stdout.rpartition("SEEN ")[2])
    assert seen["modules"] > 400
    assert seen["gaze"] == 3
    assert seen["locks"] > 10


def recording(stimulus: str, observer: str = "p") -> Recording:
    t = np.arange(3) / 100
    return Recording(t, t * 100, t * 100 + len(stimulus), screen(100, 100), observer, stimulus)


def test_stimuli_that_differ_in_capitals_alone_have_folders_of_their_own(tmp_path: Path) -> None:
    stimuli = ["a.png", "A.png", "a.PNG", "A.PNG", "end", "end.", "", "__hive_default_partition__", "ß", "SS", "ss"]
    write_corpus([recording(stimulus) for stimulus in stimuli], tmp_path / "corpus")
    folders = [path.name.casefold() for path in (tmp_path / "corpus").glob("stimulus=*")]
    assert len(set(folders)) == len(stimuli)
    assert not any(name.endswith(".") for name in folders)
    assert sorted(one.stimulus for one in Corpus.open(tmp_path / "corpus").recordings()) == sorted(stimuli)
    assert partition("Plain-1.png") == "stimulus=Plain-1.png"


def test_every_system_takes_the_names_of_files_of_stimuli() -> None:
    stimuli = ["a.png", "A.png", "plain.png", "con", "nul.txt", "end.", "end ", "end", "a:b", "..", ""]
    names = file_names(stimuli)
    assert len({name.casefold() for name in names.values()}) == len(stimuli)
    assert not any(set(name) & set('<>:"/\\|?*') or name.endswith((" ", ".")) for name in names.values())
    assert not any(is_device(name) for name in names.values())
    assert names["plain.png"] == "plain.png"


@pytest.mark.parametrize("label", ["con", "COM1", "lpt9", "p:1", "end."])
def test_a_participant_whose_label_some_system_cannot_name_a_file_after_is_refused(label: str) -> None:
    with pytest.raises(InputError, match="name of a file"):
        as_file_name(label)


def test_text_is_written_with_the_same_line_ends_everywhere_or_records_would_not_verify() -> None:
    careless = []
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "write_text(" not in text and 'open("' not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                writes = node.func.attr == "write_text" or (node.func.attr == "open" and first in {"w", "a", "x"})
                if writes and "newline" not in {keyword.arg for keyword in node.keywords}:
                    careless.append(f"{path.name}:{node.lineno}")
    assert careless == []


def test_a_pipe_with_a_small_alphabet_gets_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", pipe)
    use_utf8()
    pipe.write("ε = 1")
    pipe.flush()
    assert pipe.buffer.getvalue() == "ε = 1".encode()
