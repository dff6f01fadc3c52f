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
import shutil
from pathlib import Path
from typing import Any

import pytest

from gazeveil.aggregate.liu import LiuMap
from gazeveil.cli.main import run
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.release.plan import PRODUCTS, Measurement
from tests.release import hostile

SERIES = ["features", "release", "gaze", "--epsilon", "1", "--anyway"]
COMMANDS = {
    "heatmap": ["heatmap", "gaze", "--stimulus", "forest", "--epsilon", "1", "--anyway"],
    "feature-group": [*SERIES, "--mechanism", "group", "--bins", "0.5", "--design", "design.json"],
    "feature-series": [*SERIES, "--mechanism", "fpa", "--window", "3", "--length-epsilon", "1", "--series", "2"],
}
"""A command for each product; every one is run on every neighbour."""


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every neighbour in a folder of its own, under the same name."""
    folders = {name: tmp_path_factory.mktemp("neighbour") for name in hostile.REPLACEMENTS}
    for seed, (name, folder) in enumerate(folders.items()):
        hostile.write_corpus_with(name, folder / "gaze", seed)
        hostile.write_declaration(folder / "study.toml")
        hostile.write_design(folder / "design.json")
    return folders


@pytest.fixture
def _constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace clock, id and noisy numbers by constants; the data are read and noised all the same."""
    found: dict[str, Any] = {}
    monkeypatch.setattr("gazeveil.release.plan.new_id", lambda: "0" * 32)
    for module in ("gazeveil.release.plan", "gazeveil.privacy.ledger.ledger"):
        monkeypatch.setattr(f"{module}.now", lambda: "2026-01-01T00:00:00.000000+00:00")
    for kind in _measurements(Measurement):  # type: ignore[type-abstract]
        monkeypatch.setattr(kind, "measure", _constant(kind.measure, found))


def _measurements(kind: type[Measurement]) -> list[type[Measurement]]:
    PRODUCTS.names()
    return [
        each for one in kind.__subclasses__() for each in ([one] if "measure" in vars(one) else []) + _measurements(one)
    ]


def _constant(measure: Any, found: dict[str, Any]) -> Any:
    def measured(self: Measurement, data: Any, noise: Any, engine: Any, tell: Any) -> Any:
        noisy = measure(self, data, NoiseSource.seeded(1), engine, tell)
        return found.setdefault(self.product, noisy)

    return measured


@pytest.mark.usefixtures("_constants")
@pytest.mark.parametrize("product", COMMANDS)
def test_neighbours_cannot_be_told_apart_but_by_the_noisy_numbers(
    product: str, corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    return path


def _outcome(command: list[str], product: str) -> dict[str, Any]:
    """Run a command in this folder; return all that anybody else could see of it."""
    out, ledger = f"out-{product}", f"ledger-{product}.sqlite"
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = run([*command, "--study", "study.toml", "--out", out, "--ledger", ledger, "--account", "account"])
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
    ledger, outcomes = _ledger(tmp_path / "ledger.sqlite"), {}
    for name, folder in corpora.items():
        (place := tmp_path / name).mkdir()
        monkeypatch.chdir(place)
        monkeypatch.setenv("GAZEVEIL_STATE", str(place / "state"))
        with Ledger.open(shutil.copy(ledger, "ledger.sqlite")) as book:
            release = plan.release(folder / "gaze", ledger=book, account="account")
            events = [repr(event) for event in book.history()]
        files = {path.name: path.read_bytes() for path in sorted(release.save("out").iterdir())}
        outcomes[name] = (files, repr(release), events)
    assert len(outcomes["as_usual"][0]) >= 5
    for name, found in outcomes.items():
        assert found == outcomes["as_usual"], name


def test_every_product_has_a_command_here() -> None:
    assert set(COMMANDS) | {LiuMap.product} == set(PRODUCTS.names())
