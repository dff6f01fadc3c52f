# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What shells complete: commands, options and names, by the script of each shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.terminal.printing import EXIT_OK

MARKS = {
    "bash": "complete -o default -F",
    "zsh": "#compdef gazeveil",
    "fish": "complete --command gazeveil",
    "powershell": "Register-ArgumentCompleter -Native -CommandName gazeveil",
}


@pytest.mark.parametrize("shell", MARKS)
def test_every_shell_gets_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == EXIT_OK
    script = capsys.readouterr().out
    assert MARKS[shell] in script
    assert f"complete_{shell}" in script
    assert "_GAZEVEIL_COMPLETE" in script
    assert run(["completion", shell, "--json"]) == EXIT_OK
    assert json.loads(capsys.readouterr().out)["script"].strip() == script.strip()


def completed(shell: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what the program answers when a shell asks how a line goes on."""
    monkeypatch.setenv("_GAZEVEIL_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_WORD_TO_COMPLETE", line.rsplit(" ", maxsplit=1)[-1])
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    assert run([]) == EXIT_OK
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("shell", MARKS)
def test_commands_are_completed(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = completed(shell, "gazeveil he", monkeypatch, capsys)
    assert len(lines) == 2
    assert "heatmap" in lines[0]
    assert "heatmaps" in lines[1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gazeveil lab au", ["audit"]),
        ("gazeveil ledger gr", ["grant"]),
        ("gazeveil heatmap --eps", ["--epsilon"]),
        ("gazeveil events --detector i", ["idt", "ivt"]),
        ("gazeveil veil --preset gaussian-", ["gaussian-low", "gaussian-high"]),
        ("gazeveil aud", []),  # it is in the group lab
        ("gazeveil info stu", []),  # a file: the shell's own completion
    ],
)
def test_groups_options_and_names_are_completed(
    line: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [word for word in completed("bash", line, monkeypatch, capsys) if word] == words


IN_SHELLS = {
    "bash": "source script; COMP_WORDS=(gazeveil ledger gr); COMP_CWORD=2; _gazeveil_completion gazeveil; "
    'echo "${COMPREPLY[@]}"',
    "zsh": 'compdef() { :; }; _arguments() { print -r -- "$@"; }; words=(gazeveil ledger gr); CURRENT=3; '
    "source script; _gazeveil_completion",
    "fish": "source script; complete --do-complete 'gazeveil ledger gr'",
}


@pytest.mark.parametrize("shell", IN_SHELLS)
def test_a_real_shell_completes(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert run(["completion", shell]) == EXIT_OK
    (tmp_path / "script").write_text(capsys.readouterr().out, encoding="utf-8")
    program = tmp_path / "gazeveil"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gazeveil "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-c", IN_SHELLS[shell]],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "HOME": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert "grant" in done.stdout, done.stderr
    assert "heatmap" not in done.stdout
