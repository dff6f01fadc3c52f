# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Groups, help and names that were meant: what somebody meets who does not know the commands yet."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gazeveil.cli
import gazeveil.lab.commands
from gazeveil.cli import ledger
from gazeveil.cli.main import run
from gazeveil.features.extraction import STEP_S, WINDOW_S
from gazeveil.privacy.ledger import DEFAULT
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK, EXIT_USAGE
from tests.commandline import commands, leaves, panels
from tools.generate import catalogue

HEAVY = ("numpy", "scipy", "pandas", "numba", "matplotlib", "polars", "cryptography", "torch")

LOADS_EVERYTHING = """
import sys
from gazeveil.cli.main import run
from tests.commandline import commands
assert run(["--help"]) == 0
assert len(commands()) > 80
assert run(["heatmap", "--help"]) == 0
print("loaded:", *sorted(name for name in sys.modules if "." not in name))
"""


def test_help_imports_nothing_that_takes_long() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS_EVERYTHING], check=True, capture_output=True, text=True)
    loaded = done.stdout.rpartition("loaded:")[2].split()
    assert "gazeveil" in loaded
    assert not set(HEAVY) & set(loaded)


def test_the_first_screen_loads_no_command_and_nothing_of_the_lab() -> None:
    code = "import sys; from gazeveil.cli.main import run; run(['--help']); print('loaded:', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = done.stdout.rpartition("loaded:")[2].split()
    assert [name for name in loaded if name.startswith("gazeveil.lab")] == []
    assert "gazeveil.cli.heatmap" not in loaded


def test_every_command_file_is_a_command() -> None:
    def files(place: ModuleType) -> list[str]:
        stems = {path.stem for path in Path(place.__path__[0]).glob("*.py")} - {"main"}
        return sorted(stem for stem in stems if not stem.startswith("_"))

    shown = [name for names in panels().values() for name in names]
    inside = {typed.split()[1] for typed in commands() if typed.startswith("lab ")}
    assert sorted([*files(gazeveil.cli), *files(gazeveil.lab.commands)]) == sorted({*shown, *inside} - {"lab"})


def test_the_packaged_catalogue_is_what_commands_and_registries_say() -> None:
    packaged = Path(gazeveil.cli.__path__[0], "catalogue.json").read_text(encoding="utf-8")
    assert packaged == catalogue(), "write it again: python -m tools.generate"


def test_the_first_screen_has_five_panels(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == EXIT_OK
    shown = capsys.readouterr().out
    assert [title for title in ("Data", "Release", "Live", "Judge", "Tools") if f"─ {title} ─" in shown] == [*panels()]
    assert [name for names in panels().values() for name in names if f"│ {name} " not in shown] == []


def test_every_command_has_one_path(capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("tools/calibrate", "judge/audit", "lab/advise", "release/heatmap", "attack", "study/veils"):
        typed = path.split("/")
        assert run([*typed, "--help"]) == EXIT_USAGE
        assert "No such command" in capsys.readouterr().err
    for command in leaves().values():
        for parameter in command.params:
            names = [name for name in parameter.opts if name.startswith("--")]
            assert parameter.param_type_name == "argument" or len(names) == 1, (command.name, names)


def test_the_lab_lists_all_of_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "--help"]) == EXIT_OK
    shown = capsys.readouterr().out
    inside = {typed.split()[1] for typed in commands() if typed.startswith("lab ")}
    assert inside == {"attack", "audit", "experiment", "reproduce", "userstudy"}
    assert [name for name in inside if f"│ {name} " not in shown] == []


def test_every_command_prints_json() -> None:
    without = [
        typed
        for typed, command in leaves().items()
        if "--json" not in {option for parameter in command.params for option in parameter.opts}
    ]
    assert without == []


def test_values_are_written_as_people_write_them() -> None:
    for typed, command in leaves().items():
        for parameter in command.get_params(command.context_class(command, info_name=typed)):
            if parameter.param_type_name == "option" and parameter.is_flag:
                assert parameter.metavar == "", (typed, parameter.opts)
            else:
                assert parameter.metavar, (typed, parameter.opts)
                assert not set("<>{}[]") & set(parameter.metavar), (typed, parameter.metavar)


def test_the_page_about_commands_lists_those_that_there_are_by_panel() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text(encoding="utf-8")
    shown = commands()
    for title, names in panels().items():
        section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
        rows = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `gazeveil ")]
        listed = re.findall(r"`gazeveil ([^`]+)`", "\n".join(rows))
        below = [typed for typed in shown for first in names if typed == first or typed.startswith(f"{first} ")]
        assert sorted(listed) == sorted([*below, *({"lab"} & set(names))])


def test_what_help_says_by_heart_is_so() -> None:
    texts = {parameter.opts[0]: parameter.help for parameter in commands()["features extract"].params}
    assert f"{WINDOW_S:g} by default" in texts["--window"]
    assert f"{STEP_S:g} by default" in texts["--step"]
    assert ledger.DEFAULT == DEFAULT


@pytest.mark.parametrize(
    ("typed", "meant", "code"),
    [
        (["heatmpa"], "Did you mean 'heatmap'", EXIT_USAGE),
        (["lab", "adit"], "Did you mean 'audit'", EXIT_USAGE),
        (["ledger", "shwo"], "Did you mean 'show'", EXIT_USAGE),
        (["heatmap", "x", "--epsilom", "1"], "Did you mean --epsilon", EXIT_USAGE),
        (["ledger", "show", "--jsno"], "Did you mean --json", EXIT_USAGE),
        (["--verson"], "Did you mean --version", EXIT_USAGE),
        (["events", __file__, "--detector", "itv"], "did you mean 'ivt'?", EXIT_INPUT),
        (["convert", __file__, "--out", "x", "--to", "parqet"], "did you mean 'parquet'?", EXIT_INPUT),
        (["veil", __file__, "--preset", "mpum", "--out", "x", "--no-ledger"], "did you mean 'mpmu'?", EXIT_INPUT),
        (["info", __file__, "--column", "stimulsu=S"], "did you mean 'stimulus'?", EXIT_INPUT),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_typo_is_answered_with_what_was_probably_meant(
    typed: list[str], meant: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(typed) == code
    assert meant in " ".join(capsys.readouterr().err.replace("│", "").split())
