# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The house stays small enough to live in: numbers that are only ever lowered.

A change that needs more takes something out. `python -m tools.count_code` prints what is counted, by package.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import gazeveil
from gazeveil import Corpus, PrivateHeatmap, Recording, Study
from tests.lanes import slow
from tools.count_code import SMALL, SOURCE, Size, modules, packages

ROOT = SOURCE.parents[1]
LONGEST = 900
"""Lines of a module: one subject fits."""

AT_MOST = {
    "files": 560,
    "lines of imports": 8_400,
    "lines of code of the product": 60_000,
    "lines of code of everything": 88_000,
    "small modules": 0,
    "imports of private names in tests": 15,
    "core modules that the lab imports": 95,
    "calls back from documents into earlier phases": 1_000,
}
"""What is never to grow. Whoever lowers one of these numbers writes the new one here."""

PLUG_INS = (
    *("gaze/formats", "gateway/protocols", "gateway/bridges", "samples/mechanisms", "features/mechanisms"),
    *("release/products", "lab/attacks/recognisers", "lab/attacks/threats"),
)
"""Folders that a registry scans: a plug-in may be as small as it likes."""
COMMANDS = ("cli", "lab/commands")

EARLIER = (
    *("aggregate/", "features/", "samples/", "engines/", "gaze/", "noise/"),
    *("release/study", "release/plan", "release/products/", "release/check", "release/data", "privacy/calibration"),
)
"""Where a study is declared, planned, measured, decoded and calibrated."""


def is_small(path: Path, size: Size) -> bool:
    """Return whether a module is small without being a plug-in, a command, or the front of a package."""
    folder = path.parent.relative_to(SOURCE).as_posix()
    free = folder in (*PLUG_INS, *COMMANDS) and not path.name.startswith("_")
    return size.code < SMALL and not free and path.name not in ("__init__.py", "__main__.py")


def private_imports() -> Iterator[str]:
    """Yield every import in tests of a module or name of the package that begins with an underscore."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gazeveil":
                words = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                if any(word.startswith("_") and not word.startswith("__") for word in words):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}"


def core_modules_of_the_lab() -> set[str]:
    """Return the modules outside the lab that modules of the lab import."""
    found = set()
    for path in sorted((SOURCE / "lab").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gazeveil"):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    found.add(whole if _is_module(whole) else str(node.module))
    return {name for name in found if not name.startswith("gazeveil.lab") and name != "gazeveil"}


def _is_module(name: str) -> bool:
    place = SOURCE.joinpath(*name.split(".")[1:])
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


@pytest.fixture(scope="module")
def calls_back(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Return how often writing the folder of a heatmap calls functions of phases before it."""
    rng = np.random.default_rng(1)
    screen = gazeveil.screen(1600, 1200, 400, 300, 600)
    seconds = np.arange(300) / 60
    people = [
        Recording(seconds, rng.uniform(0, 1600, 300), rng.uniform(0, 1200, 300), screen, f"p{number:02d}", "scene")
        for number in range(12)
    ]
    corpus = Corpus.of(people)
    study = Study.observed_in(corpus, number=12, secret=False)
    release = study.plan(PrivateHeatmap(epsilon="3", delta="1e-5"), stimulus="scene").release(corpus, anyway=True)
    out = tmp_path_factory.mktemp("calls") / "out"
    release.save(out)  # what is loaded and compiled on first use is there after this
    calls = 0

    def seen(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        inside = frame.f_code.co_filename.replace("\\", "/").partition("/gazeveil/")[2]
        calls += event == "call" and inside.startswith(EARLIER) and frame.f_code.co_name[0] != "<"

    sys.setprofile(seen)
    try:
        release.save(out, overwrite=True)
    finally:
        sys.setprofile(None)
    return calls


@cache
def counted() -> dict[str, int]:
    """Return today's numbers."""
    sizes = packages()
    return {
        "files": sizes["everything"].files,
        "lines of imports": sizes["everything"].imports,
        "lines of code of the product": sizes["the product"].code,
        "lines of code of everything": sizes["everything"].code,
        "small modules": sum(is_small(path, size) for path, size in modules()),
        "imports of private names in tests": len(list(private_imports())),
        "core modules that the lab imports": len(core_modules_of_the_lab()),
    }


@pytest.mark.parametrize("what", [name for name in AT_MOST if "calls" not in name])
def test_the_house_does_not_grow(what: str) -> None:
    assert counted()[what] <= AT_MOST[what], f"{what}: take something out, or `python -m tools.count_code` says where"


def test_documents_do_not_ask_the_product_more_often(calls_back: int) -> None:
    assert calls_back <= AT_MOST["calls back from documents into earlier phases"]


def test_tests_that_are_called_slow_are_there() -> None:
    for file, names in slow().items():
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        assert set(names) <= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, file


def test_a_module_is_one_subject() -> None:
    assert {path.relative_to(SOURCE).as_posix(): size.lines for path, size in modules() if size.lines > LONGEST} == {}


def test_what_is_too_much_would_be_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""A docstring."""\n\nimport os\n\n# a comment\nx = """\n\n"""\n')
    ((_, size),) = modules(tmp_path)
    assert (size.files, size.lines, size.code, size.imports, size.small) == (1, 8, 4, 1, 1)
    assert is_small(SOURCE / "aggregate" / "tiny.py", size)
    assert not is_small(SOURCE / "gaze" / "formats" / "tiny.py", size)
    assert is_small(SOURCE / "gaze" / "formats" / "_tiny.py", size)
