# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The program that merges modules: what it writes does the same, and what would do something else is refused."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools.merging import __main__ as program
from tools.merging import joining, planning
from tools.merging.syntax import PlanError

HEADER = joining.HEADER
LOW = '''"""What is low.

It has a second paragraph about `toy.low.double`.
"""

from __future__ import annotations

import math


def double(x: float) -> float:
    """Return twice a number."""
    return 2 * math.floor(x)
'''
HIGH = '''"""What is high."""

from __future__ import annotations

from functools import cache

from toy import low
from toy.low import double as twice


@cache
def higher(x: float) -> float:
    """Return four times a number."""
    return low.double(twice(x))


def _helper() -> int:
    return 1
'''
USER = '''"""A user."""

from __future__ import annotations

from toy import high
from toy.low import double


def used() -> tuple[float, float, int]:
    """Return what is used."""
    from toy.high import _helper  # why not

    return double(1), high.higher(1), _helper()


WORDS = "toy.high.higher and src/toy/low.py"
'''
PLAN = """
[module."toy.numbers"]
from = ["toy.high", "toy.low"]
doc = "Numbers, low and high."
[rename]
"toy.high:_helper" = "one"
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project under git, which the program takes for its own."""
    home = tmp_path / "src" / "toy"
    home.mkdir(parents=True)
    for name, text in {"__init__": '"""A toy."""\n', "low": LOW, "high": HIGH, "user": USER}.items():
        (home / f"{name}.py").write_text(HEADER + text)
    (tmp_path / "page.md").write_text("See `toy.low.double` in src/toy/low.py.\n")
    for command in (("init", "-q"), ("add", "-A")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=60)
    monkeypatch.setattr(planning, "ROOT", tmp_path)
    monkeypatch.setattr(program, "ROOT", tmp_path)
    monkeypatch.setitem(planning.HOMES, "toy", home)
    return tmp_path


def answers(root: Path) -> str:
    code = "from toy.user import used; print(used())"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root / "src", capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def plan(root: Path, text: str) -> Path:
    place = root / "plan.toml"
    place.write_text(text)
    return place


def test_modules_that_are_merged_do_what_they_did(toy: Path) -> None:
    before = answers(toy)
    program.follow([plan(toy, PLAN)], check=False, record=toy / "record.json")
    home = toy / "src" / "toy"
    assert sorted(path.name for path in home.glob("*.py")) == ["__init__.py", "numbers.py", "user.py"]
    text = (home / "numbers.py").read_text()
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["double", "higher", "one"], "what is imported comes first"
    assert text.startswith(
        f'{HEADER}"""Numbers, low and high.\n\nIt has a second paragraph about `toy.numbers.double`.'
    )
    assert "from toy" not in text
    assert "return double(double(x))" in text
    assert answers(toy) == before
    user = (home / "user.py").read_text()
    assert "from toy.numbers import one  # why not" in user
    assert 'WORDS = "toy.numbers.higher and src/toy/numbers.py"' in user
    assert (toy / "page.md").read_text() == "See `toy.numbers.double` in src/toy/numbers.py.\n"


def test_users_from_elsewhere_are_rewritten_by_what_was_recorded(toy: Path) -> None:
    program.follow([plan(toy, PLAN)], check=False, record=toy / "record.json")
    late = toy / "src" / "toy" / "late.py"
    late.write_text(
        f'{HEADER}"""Late."""\n\nfrom toy.high import _helper\nfrom toy.low import double\n\nX = _helper()\n'
    )
    program.replay(toy / "record.json")
    assert "from toy.numbers import one\n" in late.read_text()
    assert "X = one()" in late.read_text()


def test_a_name_that_another_thing_has_is_refused_and_nothing_is_written(toy: Path) -> None:
    other = toy / "src" / "toy" / "low.py"
    other.write_text(other.read_text() + "\n\ndef _helper() -> int:\n    return 2\n")
    with pytest.raises(PlanError, match=r"'_helper' is one thing in toy\.high and another in toy\.low"):
        program.follow([plan(toy, PLAN.partition("[rename]")[0])], check=False)
    assert other.exists()


def test_a_name_that_would_be_caught_by_a_parameter_is_refused(toy: Path) -> None:
    other = toy / "src" / "toy" / "high.py"
    other.write_text(other.read_text().replace("(x: float)", "(double: float)").replace("twice(x)", "twice(double)"))
    with pytest.raises(PlanError, match=r"low\.double would become double, which is bound there"):
        program.follow([plan(toy, PLAN)], check=False)


def test_a_circle_of_imports_is_refused(toy: Path) -> None:
    text = '[module."toy.ends"]\nfrom = ["toy.low", "toy.user"]\n'
    with pytest.raises(PlanError, match="a circle of imports: toy"):
        program.follow([plan(toy, text)], check=False)


def test_a_module_that_goes_to_two_places_is_refused(toy: Path) -> None:
    text = '[module."toy.a"]\nfrom = ["toy.low"]\n[module."toy.b"]\nfrom = ["toy.low"]\n'
    with pytest.raises(PlanError, match=r"toy\.low goes to toy\.a and to toy\.b"):
        program.follow([plan(toy, text)], check=False)
