# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code is used again only while nothing that is compiled has changed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gazeveil
from gazeveil import kernel_compiler

PACKAGE = Path(gazeveil.__file__).parent
OWN = "from kernels_of_a_test._compiled import kernel\n"
NUMBAS = "from numba import njit\nkernel = lambda: njit(cache=True)\n"


def a_package(folder: Path, decorator: str) -> Path:
    package = folder / "kernels_of_a_test"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(kernel_compiler.__file__, package / "_compiled.py")
    (package / "called_kernels.py").write_text(f"{decorator}\n@kernel()\ndef noise():\n    return 0\n")
    imports = f"{decorator}from kernels_of_a_test.called_kernels import noise\n"
    (package / "calling_kernels.py").write_text(f"{imports}\n@kernel()\ndef release():\n    return noise()\n")
    return package


def edit(package: Path) -> None:
    called = package / "called_kernels.py"
    called.write_text(called.read_text().replace("return 0", "return 7"))


CALL = "from kernels_of_a_test.calling_kernels import release\nprint(release(), sum(release.stats.cache_hits.values()))"


def run(package: Path, **environment: str) -> tuple[int, int]:
    """Return what the calling kernel gives in a new process, and how often its code came from the cache."""
    command = [sys.executable, "-W", "error", "-c", CALL]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    everything = {**plain, "PYTHONPATH": str(package.parent), "HOME": str(package.parent), **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=everything, timeout=60)
    value, hits = done.stdout.split()
    return int(value), int(hits)


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("calling_kernels.release.*.nb[ic]"))


def test_an_edit_in_a_called_kernel_is_seen_by_its_callers(tmp_path: Path) -> None:
    package = a_package(tmp_path, OWN)
    assert run(package) == (0, 0)
    assert run(package) == (0, 1)
    before = kept(package)
    edit(package)
    assert run(package) == (7, 0)
    after = kept(package)
    assert len(after) == len(before) == 2  # what was compiled from the old sources is gone
    assert not set(after) & set(before)


def test_of_processes_that_start_together_one_compiles_and_the_others_read(tmp_path: Path) -> None:
    package = a_package(tmp_path, OWN)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-c", CALL]
    together = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(3)]
    said = sorted(process.communicate(timeout=60)[0].split() for process in together)
    assert said == [["0", "0"], ["0", "1"], ["0", "1"]]
    assert run(package) == (0, 1)


def test_whoever_waits_in_vain_compiles_and_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_compiler, "PATIENCE", 0.0)
    path = tmp_path / "a.nbl"
    first = kernel_compiler._locked(path)
    assert first is not None
    assert kernel_compiler._locked(path) is None
    os.close(first)
    second = kernel_compiler._locked(path)
    assert second is not None
    os.close(second)


def test_numbas_own_cache_does_not_see_it(tmp_path: Path) -> None:
    package = a_package(tmp_path, NUMBAS)
    assert run(package) == (0, 0)
    edit(package)
    assert run(package) == (0, 1)  # if this ever gives 7, numba has learnt it and gazeveil.kernel_compiler can go


def test_where_the_package_cannot_be_written_the_users_cache_folder_is_used(tmp_path: Path) -> None:
    package = a_package(tmp_path, OWN)
    (package / "__pycache__").touch()  # a file: no folder of that name can be made, whoever runs this
    folder = str(tmp_path / "cache")
    assert run(package, XDG_CACHE_HOME=folder) == (0, 0)
    assert run(package, XDG_CACHE_HOME=folder) == (0, 1)
    edit(package)
    assert run(package, XDG_CACHE_HOME=folder) == (7, 0)


def test_where_nothing_can_be_written_kernels_run_all_the_same(tmp_path: Path) -> None:
    package = a_package(tmp_path, OWN)
    for name in ("__pycache__", "cache"):
        (tmp_path / name).touch()
    (package / "__pycache__").touch()
    assert run(package, XDG_CACHE_HOME=str(tmp_path / "cache")) == (0, 0)


def test_without_compilation_a_kernel_is_the_function_itself(tmp_path: Path) -> None:
    package = a_package(tmp_path, OWN)
    code = "from kernels_of_a_test.calling_kernels import release; print(type(release).__name__, release())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert done.stdout.split() == ["function", "0"]
    assert not kept(package)


def test_code_compiled_after_the_sources_changed_is_not_kept(tmp_path: Path) -> None:
    package = a_package(tmp_path, OWN)
    code = (
        "from pathlib import Path; from kernels_of_a_test import calling_kernels as k, called_kernels as c\n"
        "Path(c.__file__).write_text(Path(c.__file__).read_text().replace('0', '7')); print(k.release())"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert int(done.stdout) == 0
    assert not kept(package)


@pytest.mark.parametrize("path", kernel_compiler.sources(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_what_a_kernel_takes_from_another_file_is_in_the_digest(path: Path) -> None:
    known = set(kernel_compiler.sources())
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("gazeveil"):
            continue
        for alias in node.names:
            if node.module in {"gazeveil.process", "gazeveil.errors", "gazeveil.arrays"}:  # they compute nothing
                continue
            full = PACKAGE.parent.joinpath(*f"{node.module}.{alias.name}".split("."))
            files = {full.with_suffix(".py"), full.parent.with_suffix(".py")}
            assert files & known, f"{node.module}.{alias.name} is compiled in but not in the digest"


def test_everything_compiled_goes_through_the_one_decorator() -> None:
    using = {path for path in PACKAGE.rglob("*.py") if "njit" in path.read_text()}
    assert using == {PACKAGE / "kernel_compiler.py"}
    decorated = {path for path in PACKAGE.rglob("*.py") if "import kernel\n" in path.read_text()}
    assert decorated <= set(kernel_compiler.sources())


def test_ways_around_different_kernels_are_kept_apart() -> None:
    from gazeveil.samples import point_kernels, release_kernels

    ways = [
        point_kernels.gaussian_run,
        point_kernels.hold_run,
        point_kernels.hold_step,
        release_kernels.sparse_run,
        release_kernels.tested_run,
    ]
    names = {way.py_func.__qualname__ for way in ways}
    assert len(names) == len(ways)
    assert "gazeveil.samples.point_kernels._hold_advance.run" in names
