# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Groups, help and names that were meant: what somebody meets who does not know the commands yet."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import gazeveil.cli
import gazeveil.lab.commands
from gazeveil.aggregate.aoi import STATISTICS
from gazeveil.aggregate.map_view import MAP_VIEWS
from gazeveil.aggregate.strategy import STRATEGIES
from gazeveil.cli import _choices, _program, ledger
from gazeveil.cli._catalogue import GROUPS
from gazeveil.cli.main import run
from gazeveil.cli.plan import _PLANNERS
from gazeveil.features.extract import STEP_S, WINDOW_S
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.protocol import PROTOCOLS
from gazeveil.gaze.events import DETECTORS
from gazeveil.gaze.formats.base import FORMATS, WritableFormat
from gazeveil.lab.attacks.contract import ATTACKS, RECOGNISERS
from gazeveil.lab.commands._usefulness import PRODUCTS
from gazeveil.lab.experiments.dataset_attacks.worlds import TARGETS
from gazeveil.lab.experiments.usefulness._heatmap_scenes import Split
from gazeveil.privacy.ledger import DEFAULT
from gazeveil.release.products.veiled_recordings import WHOLE
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.mechanisms.edge import RULES
from gazeveil.samples.presets import PRESETS
from gazeveil.scene.finder import FINDERS
from gazeveil.simulate.tracker import TRACKERS
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK, EXIT_USAGE
from gazeveil.unit import Unit
from tests.commandline import commands, leaves

HEAVY = ("numpy", "scipy", "pandas", "numba", "matplotlib", "polars", "cryptography", "torch")
ENTRIES = [(group, entry) for group in GROUPS for entry in group.entries]

LOADS_EVERYTHING = """
import sys
from gazeveil.cli.main import run
from gazeveil.cli._catalogue import GROUPS
from gazeveil.cli._program import Later
assert run(["--help"]) == 0
for group in GROUPS:
    for entry in group.entries:
        Later(entry).load()
assert run(["heatmap", "--help"]) == 0
print("loaded:", *sorted(name for name in sys.modules if "." not in name))
"""


def test_help_imports_nothing_that_takes_long() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS_EVERYTHING], check=True, capture_output=True, text=True)
    loaded = done.stdout.rpartition("loaded:")[2].split()
    assert "gazeveil" in loaded
    assert not set(HEAVY) & set(loaded)


def test_every_command_file_is_in_one_group() -> None:
    places = (gazeveil.cli, gazeveil.lab.commands)
    files = [path.stem for place in places for path in Path(place.__path__[0]).glob("*.py")]
    named = [entry.name for _, entry in ENTRIES]
    assert sorted(named) == sorted(name for name in files if not name.startswith("_") and name != "main")


def test_lists_say_of_commands_what_they_say_themselves() -> None:
    shown = commands()
    for group, entry in ENTRIES:
        command = shown[entry.name if entry.everyday else f"{group.name} {entry.name}"]
        first = " ".join(str(command.help).split("\n\n")[0].split())
        assert entry.words == first, f"gazeveil/cli/_catalogue.py lists {entry.name} with other words than its help"


def test_the_program_shows_five_groups_and_few_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == EXIT_OK
    shown = capsys.readouterr().out
    assert [title for title in ("Data", "Release", "Live", "Judge", "Tools") if f"─ {title} ─" in shown] == [
        group.title for group in GROUPS
    ]
    assert sum(entry.everyday for _, entry in ENTRIES) <= 17


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_a_group_lists_all_of_its_commands(
    group: gazeveil.cli._catalogue.Group, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([group.name, "--help"]) == EXIT_OK
    shown = capsys.readouterr().out
    assert [entry.name for entry in group.entries if f"│ {entry.name} " not in shown] == []


def test_commands_answer_with_their_group_and_without(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for words in (["tools", "calibrate"], ["calibrate"]):
        assert run([*words, "laplace", "--epsilon", "0.5", "--json"]) == EXIT_OK
        answers.append(capsys.readouterr())
    assert answers[0] == answers[1]
    assert answers[0].err == ""


def test_old_names_are_not_listed_and_work() -> None:
    program = _program.Program(name="gazeveil")
    for group, entry in ENTRIES:
        assert program.commands[entry.name].hidden == (not entry.everyday)
        inside = program.commands[group.name]
        assert isinstance(inside, _program.GroupList)
        assert entry.name in inside.commands


def test_an_old_name_says_the_new_one_to_a_person(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run(["calibrate", "laplace", "--epsilon", "1"]) == EXIT_OK
    assert "`gazeveil tools calibrate`" in capsys.readouterr().err
    assert run(["tools", "calibrate", "laplace", "--epsilon", "1"]) == EXIT_OK
    assert capsys.readouterr().err == ""


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


def test_choices_are_those_of_the_registries() -> None:
    known = {
        "attack": ATTACKS.names(),
        "audit method": ["auto", "exact", "sampling"],
        "bridge": BRIDGES.names(),
        "detector": DETECTORS.names(),
        "edge": RULES,
        "eye": ["both", "left", "right"],
        "eyes": ["drop", "same"],
        "finder": FINDERS.names(),
        "forecast": PRODUCTS,
        "format": FORMATS.names(),
        "level": ["lphu", "mpmu", "hplu", "off"],
        "mechanism": MECHANISMS.names(),
        "preset": PRESETS,
        "product": _PLANNERS,
        "protocol": [name for name in PROTOCOLS.names() if PROTOCOLS[name].sink is not None],
        "radius unit": list(Unit),
        "recogniser": RECOGNISERS.names(),
        "series mechanism": ["group", "low-rank", *SERIES_MECHANISMS.names()],
        "shapes": ["cosines", "haar"],
        "split": list(Split),
        "statistic": STATISTICS.names(),
        "strategies": MAP_VIEWS,
        "strategy": ["auto", *STRATEGIES.names()],
        "target": TARGETS,
        "time unit": ["s", "ms", "us", "ns"],
        "tracker": TRACKERS.names(),
        "veiled format": WHOLE,
        "written format": [name for name in FORMATS.names() if isinstance(FORMATS[name], WritableFormat)],
    }
    assert {kind: " ".join(names) for kind, names in known.items()} == _choices.NAMES


def test_choices_belong_to_options_that_there_are() -> None:
    options = {
        f"{typed.split(maxsplit=1)[1] if typed.split()[0] in GROUP_NAMES else typed} {parameter.opts[0]}"
        for typed, command in leaves().items()
        for parameter in command.params
    }
    assert set(_choices.OFFERED) <= options


GROUP_NAMES = {group.name for group in GROUPS}


def test_the_page_about_commands_lists_those_that_there_are_by_group() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text(encoding="utf-8")
    shown = commands()
    for group in GROUPS:
        section = page.split(f"\n## {group.title}\n")[1].split("\n## ")[0]
        rows = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `gazeveil ")]
        listed = re.findall(r"`gazeveil ([^`]+)`", "\n".join(rows))
        words = [entry.name if entry.everyday else f"{group.name} {entry.name}" for entry in group.entries]
        below = [typed for typed in shown for first in words if typed == first or typed.startswith(f"{first} ")]
        assert sorted(listed) == sorted(below)


def test_what_help_says_by_heart_is_so() -> None:
    texts = {parameter.opts[0]: parameter.help for parameter in commands()["features extract"].params}
    assert f"{WINDOW_S:g} by default" in texts["--window"]
    assert f"{STEP_S:g} by default" in texts["--step"]
    assert ledger.DEFAULT == DEFAULT


@pytest.mark.parametrize(
    ("typed", "meant", "code"),
    [
        (["heatmpa"], "Did you mean 'heatmap'", EXIT_USAGE),
        (["live", "polcy"], "Did you mean 'policy'", EXIT_USAGE),
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
