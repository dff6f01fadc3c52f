# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The architecture holds: who imports whom, what a plain import costs, which names are public."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gazeveil
from tools.generate import stub

PACKAGE = Path(gazeveil.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Each package, and the packages it may import. Arrows point down; docs/decisions/0002-rooms.md draws the picture.
BELOW = {"noise", "gaze", "privacy", "aggregate", "features", "samples"}
ARROWS = {
    "noise": set(),
    "gaze": set(),
    "simulate": {"gaze"},
    "privacy": {"noise", "gaze"},
    "aggregate": {"privacy", "noise", "gaze"},
    "features": {"privacy", "noise", "gaze"},
    "samples": {"privacy", "noise", "gaze"},
    "engines": BELOW,
    "scene": {"gaze"},
    "release": {"engines", *BELOW},
    "gateway": {"scene", "samples", "privacy", "noise", "gaze", "simulate"},
    "terminal": {"release", *BELOW},
    "lab": {"release", "gateway", "engines", "scene", "simulate", "terminal", *BELOW},
}
ARROWS["cli"] = set(ARROWS) - {"lab"}
"""Commands of the lab are loaded by their names, only when they run."""
ARROWS["testing"] = {"gateway", "simulate", *BELOW}
SHARED = {
    *("arrays", "display", "errors", "exact", "files", "geometry", "kernel_compiler", "options", "process", "registry"),
    *("toml_table", "__init__", "__main__"),
}
"""Modules beside the packages that anybody may import."""

OPTIONAL = {"matplotlib", "dp_accounting", "psycopg", "torch", "pyspark", "zmq", "pylsl", "starlette", "scipy"}
OPTIONAL |= {"cv2", "mss", "onnxruntime"}
HEAVY = {"numba", "polars", "numpy", "rich", "typer", "cryptography"}


def package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_packages(path: Path) -> set[str]:
    packages = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute in this project"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        packages |= {home_of(name).split(".")[1] for name in names if name.startswith("gazeveil.")}
    return packages - {"__version__"}


def home_of(name: str) -> str:
    """Return where a public name comes from; any other name as it is."""
    homes: dict[str, str] = vars(gazeveil)["_HOME"]
    return homes.get(name.removeprefix("gazeveil."), name)


def test_imports_follow_the_arrows() -> None:
    wrong = {}
    for path in FILES:
        package = package_of(path)
        more = imported_packages(path) - {*ARROWS.get(package, set(ARROWS)), *SHARED, package}
        if more:
            wrong[str(path.relative_to(PACKAGE))] = sorted(more)
    assert not wrong


def uses_the_kit(path: Path) -> bool:
    """Return whether a file imports the kit for tests, or names it."""
    if "testing" not in (text := path.read_text()):
        return False
    constants = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    return "gazeveil.testing" in constants or "testing" in imported_packages(path)


def test_nothing_of_the_product_imports_the_kit_for_tests() -> None:
    """It makes what only a veil may make, and noise that everybody can repeat."""
    assert [path.name for path in FILES if uses_the_kit(path)] == []


@pytest.mark.parametrize(
    "line",
    [
        "from gazeveil.testing import tape",
        "from gazeveil import testing",
        "import gazeveil.testing",
        'importlib.import_module("gazeveil.testing")',
    ],
)
def test_a_user_of_the_kit_would_be_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "intruder.py").write_text(line)
    assert uses_the_kit(tmp_path / "intruder.py")


def test_an_arrow_that_is_not_drawn_would_be_caught(tmp_path: Path) -> None:
    intruder = tmp_path / "intruder.py"
    intruder.write_text("def f():\n    from gazeveil.samples.clock import Clock\n")
    assert imported_packages(intruder) == {"samples"}
    assert "samples" not in ARROWS["aggregate"]
    assert "aggregate" not in ARROWS["samples"]


def test_nothing_but_the_program_names_the_lab() -> None:
    """Neither does anything load it by its name."""
    naming = {
        path.relative_to(PACKAGE).as_posix()
        for path in FILES
        if package_of(path) != "lab"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"gazeveil\.lab\b", node.value)
    }
    assert naming <= {"cli/_program.py", "cli/serve.py"}


def test_every_folder_is_a_package_of_the_picture() -> None:
    assert {package_of(path) for path in FILES} <= {*ARROWS, *SHARED}


def test_every_file_says_its_licence() -> None:
    root = PACKAGE.parents[1]
    found = [*FILES, *(root / "tests").rglob("*.py"), *(root / "benchmarks").rglob("*.py")]
    files = [path for path in found if not any(part.startswith(".") for part in path.relative_to(root).parts)]
    header = ["# SPDX-FileCopyrightText: 2026 The gazeveil authors", "# SPDX-License-Identifier: Apache-2.0"]
    assert [path for path in files if path.read_text().splitlines()[:2] != header] == []


def in_a_fresh_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout


def test_a_plain_import_loads_no_optional_package_and_takes_next_to_no_time() -> None:
    code = (
        "import time, sys, json; start = time.process_time(); import gazeveil; "
        "print(json.dumps([time.process_time() - start, sorted(sys.modules)]))"
    )
    seconds, modules = json.loads(in_a_fresh_process(code))
    loaded = {name.split(".")[0] for name in modules}
    assert not loaded & (OPTIONAL | HEAVY)
    assert seconds < 0.1


def test_using_the_public_names_loads_no_optional_package() -> None:
    code = (
        "import sys, json, gazeveil; [getattr(gazeveil, name) for name in gazeveil.__all__]; "
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = {name.split(".")[0] for name in json.loads(in_a_fresh_process(code))}
    assert not loaded & (OPTIONAL | {"numba"})


def test_the_public_names_are_in_one_table_and_its_stub() -> None:
    assert len(gazeveil.__all__) == len(set(gazeveil.__all__)) > 40
    assert (PACKAGE / "__init__.pyi").read_text(encoding="utf-8") == stub(), "write it again: python -m tools.generate"
    for name in gazeveil.__all__:
        assert getattr(gazeveil, name) is not None
        assert not (PACKAGE / name).is_dir(), "importing the package would put it in the name's place"
    assert set(gazeveil.__all__) <= set(dir(gazeveil))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = gazeveil.nonsense  # type: ignore[attr-defined]
