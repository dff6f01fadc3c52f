# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import BudgetExceeded, FileFormatError, LedgerError, OptionError, OutputError
from gazeveil.noise.source import NoiseSource
from gazeveil.privacy.guarantee import PureDP, Unproven
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.events import digest_of
from gazeveil.privacy.release import SEEDED, Release, kept_promise, read_sidecar, sidecar_of
from gazeveil.privacy.unit import OneRecording


@dataclass(frozen=True)
class GazeMap:
    """A mechanism as mechanisms are."""

    cap: int = 3

    def to_dict(self) -> dict[str, Any]:
        return {"mechanism": "gaze-map", **asdict(self)}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as opened:
        opened.grant("study", PureDP(3))
        yield opened


def a_map(epsilon: int = 1) -> Release:
    return Release(np.arange(6).reshape(2, 3), PureDP(epsilon), GazeMap(), {"observers": 20})


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("ledger.sqlite"))


def test_saving_charges_and_writes_the_value_and_its_sidecar(ledger: Ledger, tmp_path: Path) -> None:
    saved = a_map().save(tmp_path / "map.npy", ledger=ledger, dataset="study", note="page 3")
    assert files_in(tmp_path) == ["map.npy", "map.npy.release.json"]
    assert np.array_equal(np.load(tmp_path / "map.npy"), np.arange(6).reshape(2, 3))
    sidecar = read_sidecar(tmp_path / "map.npy")
    assert sidecar["guarantee"] == PureDP(1).to_dict()
    assert sidecar["recipe"] == {"mechanism": "gaze-map", "cap": 3}
    assert sidecar["provenance"] == {"observers": 20}
    assert sidecar["statement"].startswith("What is protected")
    (charge,) = list(ledger.history())[1:]
    assert sidecar["receipt"]["charge_id"] == charge.id == saved.id
    assert charge.recipe == sidecar["recipe_digest"] == digest_of(GazeMap().to_dict())
    assert charge.note == "page 3"
    assert "together keep to ε=1" in saved.statement().paragraph()


def test_over_budget_nothing_is_written(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(BudgetExceeded):
        a_map(4).save(tmp_path / "map.npy", ledger=ledger, dataset="study")
    assert files_in(tmp_path) == []


def test_a_release_is_charged_once_however_often_it_is_saved(ledger: Ledger, tmp_path: Path) -> None:
    release = a_map()
    release.save(tmp_path / "a.npy", ledger=ledger, dataset="study")
    release.save(tmp_path / "b.npy", ledger=ledger, dataset="study")
    paid = release.charged(ledger, "study")
    assert paid.charged(ledger, "study") is paid
    assert ledger.account("study").spent == {"epsilon": 1}
    a_map().save(tmp_path / "c.npy", ledger=ledger, dataset="study")
    assert ledger.account("study").spent == {"epsilon": 2}


def test_a_failed_write_can_be_repeated_without_paying_again(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = a_map()

    def full(value: Any, path: Path) -> None:
        path.write_bytes(b"half of")
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left"):
        release.save(tmp_path / "map.bin", ledger=ledger, dataset="study", write=full)
    assert files_in(tmp_path) == []
    assert ledger.account("study").spent == {"epsilon": 1}
    release.save(tmp_path / "map.npy", ledger=ledger, dataset="study")
    assert ledger.account("study").spent == {"epsilon": 1}


def test_a_sidecar_does_not_stay_behind_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renamed: list[Path] = []
    rename = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if renamed:
            raise OSError(5, "Input/output error")
        renamed.append(target)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OutputError):
        a_map().save(tmp_path / "map.npy")
    assert renamed == [tmp_path / "map.npy.release.json"]  # the promise is in place before the value
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("map.xyz", 1), ("map.json", object()), ("map.json", float("nan")), ("map.csv", 3), ("map.npy", object())],
)
def test_what_cannot_be_written_is_found_before_paying(
    ledger: Ledger, tmp_path: Path, name: str, value: object
) -> None:
    with pytest.raises(OptionError):
        Release(value, PureDP(1), {"m": 1}).save(tmp_path / name, ledger=ledger, dataset="study")
    assert ledger.account("study").totals.charges == 0
    assert files_in(tmp_path) == []


def test_a_recipe_that_cannot_be_written_is_found_before_paying(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="recipe"):
        Release(1, PureDP(1), {"m": object()}).save(tmp_path / "x.json", ledger=ledger, dataset="study")
    assert ledger.account("study").totals.charges == 0


def test_files_that_are_there_are_found_before_paying(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "map.npy").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        a_map().save(tmp_path / "map.npy", ledger=ledger, dataset="study")
    assert ledger.account("study").totals.charges == 0
    a_map().save(tmp_path / "map.npy", ledger=ledger, dataset="study", overwrite=True)
    assert read_sidecar(tmp_path / "map.npy")["id"]
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="folder"):
        a_map().save(tmp_path / "file" / "sub" / "map.npy", ledger=ledger, dataset="study")
    assert ledger.account("study").totals.charges == 1


def test_a_dead_ledger_lets_nothing_out(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").unlink()
    with pytest.raises(LedgerError):
        a_map().save(tmp_path / "map.npy", ledger=ledger, dataset="study")
    assert files_in(tmp_path) == []


def test_without_a_ledger_the_sidecar_says_that_nothing_was_charged(tmp_path: Path) -> None:
    a_map().save(tmp_path / "map.npy")
    assert read_sidecar(tmp_path / "map.npy")["receipt"] is None


def test_tables_json_and_text_are_written_by_their_ending(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [1, 2]})
    for name, value in [("t.parquet", table), ("t.csv", table), ("t.json", {"x": [1]}), ("t.txt", "ünï")]:
        Release(value, PureDP(1), {"m": 1}).save(tmp_path / name)
        read_sidecar(tmp_path / name)
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)
    assert (tmp_path / "t.csv").read_text() == "x\n1\n2\n"
    assert json.loads((tmp_path / "t.json").read_text()) == {"x": [1]}
    assert (tmp_path / "t.txt").read_text(encoding="utf-8") == "ünï"


def test_post_processing_is_free_and_told(ledger: Ledger, tmp_path: Path) -> None:
    release = a_map().charged(ledger, "study")
    blurred = release.post_processed(release.value / 2, "halved").post_processed(release.value, "doubled")
    blurred.save(tmp_path / "map.npy", ledger=ledger, dataset="study")
    assert read_sidecar(tmp_path / "map.npy")["provenance"]["post_processing"] == ["halved", "doubled"]
    assert ledger.account("study").spent == {"epsilon": 1}


def test_noise_that_is_not_secure_keeps_no_promise() -> None:
    promise = PureDP(1, unit=OneRecording())
    assert kept_promise(promise, NoiseSource.secure()) is promise
    for noise in (NoiseSource.seeded(7), None, object(), SimpleNamespace(is_secure="yes")):
        kept = kept_promise(promise, noise)
        assert kept == Unproven(SEEDED, unit=OneRecording())
    assert kept_promise(Unproven("as published"), None) == Unproven(["as published", SEEDED])


def test_a_seeded_release_says_so_and_no_budget_pays_for_it(ledger: Ledger, tmp_path: Path) -> None:
    promise = kept_promise(PureDP(1), NoiseSource.seeded(7))
    release = Release([1], promise, GazeMap())
    assert "came from a seed" in release.statement().paragraph()
    with pytest.raises(BudgetExceeded, match="seed"):
        release.save(tmp_path / "x.json", ledger=ledger, dataset="study")
    release.save(tmp_path / "x.json")
    assert "no proven guarantee" in read_sidecar(tmp_path / "x.json")["statement"]


def test_a_file_that_is_not_the_released_one_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "map.npy"
    with pytest.raises(FileFormatError, match="no file"):
        read_sidecar(path)
    a_map().save(path)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(FileFormatError, match="another one"):
        read_sidecar(path)
    path.unlink()
    with pytest.raises(FileFormatError, match="another one"):
        read_sidecar(path)
    for text in ("{", "[]", "{}", '{"format": "gazeveil-release", "version": 1}'):
        sidecar_of(path).write_text(text)
        with pytest.raises(FileFormatError):
            read_sidecar(path)


@pytest.mark.parametrize("wrong", [{"seen": object()}, {"mean": float("nan")}])
def test_provenance_that_cannot_be_written_is_found_before_paying(
    ledger: Ledger, tmp_path: Path, wrong: dict[str, object]
) -> None:
    with pytest.raises(OptionError, match="provenance"):
        Release(1, PureDP(1), {"m": 1}, wrong).save(tmp_path / "x.json", ledger=ledger, dataset="study")
    assert ledger.account("study").totals.charges == 0


def test_a_receipt_pays_for_one_account_and_one_promise(ledger: Ledger, tmp_path: Path) -> None:
    ledger.grant("other", PureDP(3))
    paid = a_map().charged(ledger, "study")
    with pytest.raises(LedgerError, match='not for data set "other"'):
        paid.save(tmp_path / "map.npy", ledger=ledger, dataset="other")
    with pytest.raises(LedgerError, match="ε=2"):
        replace(paid, guarantee=PureDP(2)).save(tmp_path / "map.npy", ledger=ledger, dataset="study")
    assert files_in(tmp_path) == []


def test_a_file_that_could_not_be_replaced_keeps_its_sidecar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = a_map().save(tmp_path / "map.npy")
    rename = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if target.name == "map.npy":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OutputError):
        Release(np.arange(3), PureDP(2), GazeMap()).save(tmp_path / "map.npy", overwrite=True)
    assert read_sidecar(tmp_path / "map.npy")["id"] == first.id
