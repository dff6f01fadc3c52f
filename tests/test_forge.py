# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the public forge and pre-commit run is what is declared and what `make test` runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return found


JOBS: dict[str, Any] = read(".github/workflows/ci.yml")["jobs"]
MATRIX: dict[str, Any] = JOBS["systems"]["strategy"]["matrix"]


def commands(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def extras(command: str) -> set[str]:
    found = re.search(r"'\.\[([a-z,]+)]'", command)
    return set(found[1].split(",")) if found else set()


def minors(versions: list[str]) -> list[int]:
    return [int(version.removeprefix("3.")) for version in versions]


def test_every_python_from_the_oldest_on_is_tried_and_none_is_declared_that_is_not() -> None:
    tried = minors(MATRIX["python"])
    oldest = int(PROJECT["project"]["requires-python"].removeprefix(">=3."))
    assert tried == list(range(oldest, tried[-1] + 1))
    declared = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if ":: Python :: 3." in line]
    assert not declared or sorted(minors(declared)) == tried


def test_three_systems_are_tried_and_each_with_the_lowest_and_the_newest_dependencies() -> None:
    systems = {"ubuntu-latest", "macos-latest", "windows-latest"}
    assert set(MATRIX["system"]) == systems
    assert MATRIX["dependencies"] == ["newest"]
    lowest = [one for one in MATRIX["include"] if one["dependencies"] == "lowest"]
    assert {one["system"] for one in lowest} == systems
    assert {one["python"] for one in lowest} == {MATRIX["python"][0]}


def test_the_forge_installs_the_extras_that_make_setup_installs() -> None:
    installs = next(command for command in commands("systems") if "uv pip install" in command)
    setup = MAKEFILE.partition("$(VENV)/.installed:")[2].partition("@touch")[0]
    assert extras(installs) == extras(setup)
    assert extras(installs) <= set(PROJECT["project"]["optional-dependencies"])


@pytest.mark.parametrize("job", list(JOBS))
def test_what_the_forge_runs_exists(job: str) -> None:
    assert commands(job)
    tools = {"pytest", "pip"}
    for command in commands(job):
        words = command.split()
        if words[0] == "make":
            assert set(words[1:]) <= TARGETS
        elif words[0] == "python":
            assert words[1] == "-m"
            assert words[2] in tools
        elif words[0].startswith("."):
            assert (ROOT / words[0]).stat().st_mode & 0o100
        else:
            assert words[0] in {"uv", *PROJECT["project"]["scripts"]}


def test_the_first_job_is_the_gate_of_this_project() -> None:
    assert commands("whole") == [".ci/run"]
    assert "make test" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert {"lint", "types", "unit", "coverage"} <= TARGETS


def test_pre_commit_runs_what_lint_and_types_run_and_looks_for_the_licence() -> None:
    (local,) = read(".pre-commit-config.yaml")["repos"]
    hooks = {hook["id"]: hook for hook in local["hooks"]}
    tools = {hook["entry"].split()[2] for hook in hooks.values() if hook["language"] == "system"}
    assert tools == {"ruff", "mypy"}
    assert tools <= {re.split("[><=]", need)[0] for need in PROJECT["project"]["optional-dependencies"]["dev"]}
    licence = re.compile(hooks["licence"]["entry"], re.MULTILINE)
    assert licence.search(Path(__file__).read_text(encoding="utf-8"))
    assert not licence.search("import os\n")
    assert "--negate" in hooks["licence"]["args"]


def test_coverage_is_measured_of_packages_that_are_there() -> None:
    coverage = PROJECT["tool"]["coverage"]
    for package in coverage["run"]["source_pkgs"]:
        assert (ROOT / "src" / package.replace(".", "/")).is_dir()
        assert f"tests/{package.rpartition('.')[2]}" in MAKEFILE
