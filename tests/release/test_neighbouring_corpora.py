# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing but the noisy numbers depends on the data.

With clock, id and the noisy numbers replaced by constants, corpora that differ in one participant give byte-identical
folders, output, errors, exit codes and ledger events. What still differs is how long it takes, which is listed as a
known side channel.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.aggregate.aoi import STATISTICS
from gazeveil.aggregate.liu import LiuMap
from gazeveil.cli.main import run
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.release.plan import PRODUCTS, STATED_BY_LISTS, Measurement
from gazeveil.release.study_toml import write_study
from tests.release import hostile

SERIES = ["features", "release", "gaze", "--epsilon", "1", "--anyway"]
AREAS = [word for name in STATISTICS.names() for word in ("--statistic", name)]
COMMANDS = {
    "heatmap": ["heatmap", "gaze", "--stimulus", "forest", "--epsilon", "1", "--anyway"],
    "heatmaps": ["heatmaps", "gaze", "--epsilon", "3", "--cell-deg", "4", "--blur-deg", "4", "--anyway"],
    "movie": [
        "movie",
        "gaze",
        "--stimulus",
        "forest",
        "--bin-seconds",
        "4",
        "--epsilon",
        "3",
        "--cell-deg",
        "4",
        "--anyway",
    ],
    "aoi": ["aoi", "gaze", "--stimulus", "forest", "--areas", "areas.json", *AREAS, "--epsilon", "2", "--anyway"],
    "feature-group": [*SERIES, "--mechanism", "group", "--bins", "0.5", "--design", "design.json"],
    "feature-series": [*SERIES, "--mechanism", "fpa", "--window", "3", "--length-epsilon", "1", "--series", "2"],
    "veil": ["veil", "gaze", "--preset", "lphu", "--set", "radius=60"],
}
"""A command for each product; every one is run on every neighbour."""

ACCOUNTS = {"veil": "windows"}
"""Who pays for what protects windows of gaze; for everything else it is ``account``."""

DOCUMENTS = {
    "statement.html", "statement.txt", "for-participants.en.txt", "for-participants.de.txt", "methods.md",
    "evidence.html", "registry-entry.json",
}  # fmt: skip
"""The files that are written anew for every corpus."""


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every neighbour in a folder of its own, under the same name."""
    folders = {name: tmp_path_factory.mktemp("neighbour") for name in hostile.REPLACEMENTS}
    for seed, (name, folder) in enumerate(folders.items()):
        hostile.write_corpus_with(name, folder / "gaze", seed)
        hostile.write_declaration(folder / "study.toml")
        hostile.write_design(folder / "design.json")
        hostile.write_areas(folder / "areas.json")
    return folders


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same for lists of fixations."""
    folders = {name: tmp_path_factory.mktemp("lists") for name in hostile.LISTS}
    for seed, (name, folder) in enumerate(folders.items()):
        hostile.write_lists_with(name, folder / "gaze", seed)
        write_study(hostile.list_study(), folder / "study.toml")
        hostile.write_areas(folder / "areas.json")
    return folders


@pytest.fixture
def _constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace clock, id and noisy numbers by constants; the data are read and noised all the same.

    What follows from the noisy numbers alone is then the same too, and is computed once; files are written anew for
    the first few corpora only, since neither decoding nor writing can reach the data.
    """
    found: dict[str, Any] = {}
    monkeypatch.setattr("gazeveil.release.plan.new_id", lambda: "0" * 32)
    for module in ("gazeveil.release.plan", "gazeveil.privacy.ledger.ledger"):
        monkeypatch.setattr(f"{module}.now", lambda: "2026-01-01T00:00:00.000000+00:00")
    for kind in _measurements(Measurement):  # type: ignore[type-abstract]
        monkeypatch.setattr(kind, "measure", _constant(kind.measure, found))
        monkeypatch.setattr(kind, "decode", _once(kind.decode, found))
        monkeypatch.setattr(kind, "write", _few_times(kind.write, found))


def _measurements(kind: type[Measurement]) -> list[type[Measurement]]:
    PRODUCTS.names()
    return [
        each for one in kind.__subclasses__() for each in ([one] if "measure" in vars(one) else []) + _measurements(one)
    ]


def _constant(measure: Any, found: dict[str, Any]) -> Any:
    def measured(self: Measurement, data: Any, noise: Any, engine: Any, tell: Any) -> Any:
        noisy = measure(self, data, NoiseSource.seeded(1), engine, tell)
        constant = found.setdefault(self.product, noisy)
        if not isinstance(noisy, Corpus):  # which recordings there are is public where windows of gaze are protected
            assert _shape(noisy) == _shape(constant), "the noisy numbers changed their shape"
        return constant

    return measured


def _shape(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype)
    if isinstance(value, list | tuple):
        return [_shape(item) for item in value]
    return type(value).__name__


def _once(decode: Any, found: dict[str, Any]) -> Any:
    def decoded(self: Measurement, noisy: Any) -> Any:
        if f"value of {self.product}" not in found:
            found[f"value of {self.product}"] = decode(self, noisy)
        return found[f"value of {self.product}"]

    return decoded


def _few_times(write: Any, found: dict[str, Any]) -> Any:
    def written(self: Measurement, value: Any, folder: Path, tell: Any) -> Any:
        before = found.setdefault(f"folders of {self.product}", [])
        if len(before) < 3:
            before.append((folder.with_name(f"out-{self.product}").resolve(), write(self, value, folder, tell)))
            return before[-1][1]
        source, more = before[0]
        names = json.loads((source / "release.json").read_text())["files"]
        for name in set(names) - DOCUMENTS:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, folder / name)
        return more

    return written


@pytest.mark.usefixtures("_constants")
@pytest.mark.parametrize("product", COMMANDS)
def test_neighbours_cannot_be_told_apart_but_by_the_noisy_numbers(
    product: str, corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check_alike(product, corpora, tmp_path, monkeypatch)


@pytest.mark.usefixtures("_constants")
@pytest.mark.parametrize("product", STATED_BY_LISTS)
def test_neighbouring_lists_of_fixations_cannot_be_told_apart_but_by_the_noisy_numbers(
    product: str, lists: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check_alike(product, lists, tmp_path, monkeypatch)


def _check_alike(product: str, corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAZEVEIL_STATE", str(tmp_path / "state"))  # with one clock, all of these ledgers begin alike
    ledger = _ledger(tmp_path / "ledger.sqlite")
    outcomes = {}
    for name, folder in corpora.items():
        monkeypatch.chdir(folder)
        monkeypatch.setenv("GAZEVEIL_STATE", str(folder / f"state-{product}"))
        shutil.copy(ledger, f"ledger-{product}.sqlite")
        outcomes[name] = _outcome(COMMANDS[product], product)
    expected = outcomes["as_usual"]
    assert expected["exit code"] == 0, expected
    assert len(expected["files"]) >= 4
    for name, found in outcomes.items():
        for part, value in expected.items():
            assert found[part] == value, f"{part} differs for {name}"


def _ledger(path: Path) -> Path:
    with Ledger.open(path, create=True) as book:
        book.grant("account", ApproxDP("100", "0.1"))
        book.grant("windows", GazeStreamDP(100, "0.5", 60))
    return path


def _outcome(command: list[str], product: str) -> dict[str, Any]:
    """Run a command in this folder; return all that anybody else could see of it."""
    out, ledger, account = f"out-{product}", f"ledger-{product}.sqlite", ACCOUNTS.get(product, "account")
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = run([*command, "--study", "study.toml", "--out", out, "--ledger", ledger, "--account", account])
    with Ledger.open(ledger) as book:
        events = [repr(event) for event in book.history()]
    files = {str(path.relative_to(out)): path.read_bytes() for path in sorted(Path(out).rglob("*")) if path.is_file()}
    beside = sorted(path.name for path in Path.cwd().iterdir() if path.name.startswith(out))
    return {
        "errors": complained.getvalue(),
        "exit code": code,
        "output": said.getvalue(),
        "ledger": events,
        "beside": beside,
        "names": sorted(files),
        "files": files,
    }


@pytest.mark.usefixtures("_constants")
@pytest.mark.parametrize("cap", [1, None])
def test_neighbours_of_liu_maps_cannot_be_told_apart(
    cap: int | None, corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no command; in Python the same holds."""
    plan = hostile.study().plan(LiuMap(epsilon=1, columns=8, rows=6, samples=50, cap=cap), stimulus="forest")
    monkeypatch.setenv("GAZEVEIL_STATE", str(tmp_path / "state"))
    ledger, outcomes = _ledger(tmp_path / "ledger.sqlite"), {}
    for name, folder in corpora.items():
        (place := tmp_path / name).mkdir()
        monkeypatch.chdir(place)
        monkeypatch.setenv("GAZEVEIL_STATE", str(place / "state"))
        with Ledger.open(shutil.copy(ledger, "ledger.sqlite")) as book:
            release = plan.release(folder / "gaze", ledger=book, account="account")
            events = [repr(event) for event in book.history()]
        files = {path.name: path.read_bytes() for path in sorted(release.save(f"out-{LiuMap.product}").iterdir())}
        outcomes[name] = (files, repr(release), events)
    assert len(outcomes["as_usual"][0]) >= 5
    for name, found in outcomes.items():
        assert found == outcomes["as_usual"], name


def test_every_product_has_a_command_here() -> None:
    assert set(COMMANDS) | {LiuMap.product} == set(PRODUCTS.names())
