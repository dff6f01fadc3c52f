# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that fit into the terminal, and progress where nobody watches."""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gazeveil.cli
import gazeveil.lab.commands
import gazeveil.terminal
from gazeveil.cli.main import run
from gazeveil.terminal import printing
from gazeveil.terminal.printing import EXIT_OK, print_table, progress

PLACES = (gazeveil.cli, gazeveil.lab.commands, gazeveil.terminal)
FILES = sorted(path for place in PLACES for path in Path(place.__path__[0]).glob("*.py"))
LONG = "kaleido(epsilon=3, window=0.5, radius=60px) of /a/very/long/path/without/any/space/in/it/gaze.parquet"
CELLS = (LONG, 0.123456, "12 people x 4 sessions in a headset", 1234567, "none", True)


def tables() -> Iterator[tuple[str, list[str]]]:
    """Go through the tables that commands print: where, and their columns as far as they stand there."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print_table":
                given = node.args[1]
                parts = given.elts if isinstance(given, ast.List | ast.Tuple) else [None] * 8
                yield (
                    f"{path.stem}:{node.lineno}",
                    [str(part.value) if isinstance(part, ast.Constant) else "a column" for part in parts],
                )


TABLES = dict(tables())


def test_every_command_that_prints_a_table_prints_it_by_one_function() -> None:
    assert len(TABLES) > 40
    assert [path.name for path in FILES if "rich.table" in path.read_text(encoding="utf-8")] == ["printing.py"]


@pytest.mark.parametrize("across", [60, 80])
def test_no_table_is_wider_than_the_terminal(
    across: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "_across", lambda: across)
    for where, columns in TABLES.items():
        for shift in range(3):
            row = [CELLS[(index + shift) % len(CELLS)] for index in range(len(columns))]
            print_table(f"{where}, with a title that is itself longer than such a line can be: {LONG}", columns, [row])
            shown = capsys.readouterr().out
            assert max(len(line) for line in shown.splitlines()) <= across, where
            assert all(word in shown for column in columns for word in str(column).split()[:1]), where


def test_a_narrow_table_of_a_command_fits_and_loses_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "_across", lambda: 60)
    assert run(["lab", "attack", "table"]) == EXIT_OK
    narrow = capsys.readouterr().out
    assert max(len(line) for line in narrow.splitlines()) <= 60
    assert "committee" in narrow
    assert "95 % interval" in narrow


def test_words_are_not_broken_where_there_is_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "_across", lambda: 60)
    print_table("t", ["recording", "what it is"], [["participant", "one two three four five six seven eight nine ten"]])
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("recording", "participant", "seven", "eight"))


def test_rows_become_lists_where_words_would_be_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "_across", lambda: 30)
    print_table("t", ["recogniser", "interval", "participants"], [["clusterfix", "80% to 90%", 1200]])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "",
        "  recogniser    clusterfix",
        "  interval      80% to 90%",
        "  participants  1,200",
    ]


def test_tables_are_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "73")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert printing._across() == 73
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert printing._across() == 200


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_a_long_job_says_now_and_then_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, said = Clock(), io.StringIO()
    monkeypatch.setattr(printing, "time", clock)
    monkeypatch.setattr(sys, "stderr", said)
    with progress("reading") as tell:
        for second in range(20):
            clock.now = 100.0 + second
            tell(second, 20)
    assert said.getvalue().splitlines() == [
        "reading: 15% done, 3 s",
        "reading: 40% done, 8 s",
        "reading: 65% done, 13 s",
        "reading: 90% done, 18 s",
    ]


def test_a_short_job_and_a_quiet_one_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, said = Clock(), io.StringIO()
    monkeypatch.setattr(printing, "time", clock)
    monkeypatch.setattr(sys, "stderr", said)
    with progress("reading") as tell:
        clock.now += 2
        tell(1, 2)
    with progress("reading", quiet=True) as tell:
        clock.now += 60
        tell(1, 2)
    assert said.getvalue() == ""


def test_lines_about_a_release_do_not_depend_on_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, said = Clock(), io.StringIO()
    monkeypatch.setattr(printing, "time", clock)
    monkeypatch.setattr(sys, "stderr", said)
    for seconds in (0, 60):
        with progress("reading gaze", shares=False) as tell:
            clock.now += seconds
            tell(7, 9)
    assert said.getvalue() == "reading gaze …\n" * 2
