# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A release is charged once, before the data are read, and is written whole with its record or not at all."""

from __future__ import annotations

import copy
import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gazeveil.cli.main import run
from gazeveil.errors import BudgetExceeded, LedgerError, OutputError
from gazeveil.gaze.corpus import write_corpus
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, PureDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.events import digest_of
from gazeveil.release.record import check_place
from gazeveil.release.release import Release
from gazeveil.release.verify import verify
from tests.privacy.ledger.counts_product import CORPUS, Count, counting


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as opened:
        opened.grant("study", PureDP(3))
        yield opened


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty folder to write to."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def a_count(ledger: Ledger, epsilon: int = 1) -> Release:
    return counting(PureDP(epsilon)).release(CORPUS, ledger=ledger, account="study", note="page 3")


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_release_is_charged_and_written_with_its_record(ledger: Ledger, place: Path) -> None:
    made = a_count(ledger)
    folder = made.save(place / "count")
    assert files_in(place) == ["count", "count.private-report.json"]
    assert verify(folder, ledger).ok
    record = json.loads((folder / "release.json").read_text())
    (charge,) = list(ledger.history())[1:]
    assert record["receipt"]["charge_id"] == charge.id == made.id == record["id"]
    assert charge.recipe == record["recipe_digest"] == digest_of(made.recipe())
    assert charge.note == "page 3"
    assert "together keep to ε=1" in made.statement().paragraph()


def test_over_budget_nothing_is_released(ledger: Ledger) -> None:
    with pytest.raises(BudgetExceeded):
        a_count(ledger, 4)
    assert ledger.account("study").totals.charges == 0


def test_a_release_is_charged_once_however_often_it_is_saved(ledger: Ledger, place: Path) -> None:
    made = a_count(ledger)
    for name in ("a", "b"):
        assert verify(made.save(place / name), ledger).ok
    assert ledger.account("study").spent == {"epsilon": 1}
    a_count(ledger).save(place / "c")
    assert ledger.account("study").spent == {"epsilon": 2}


def test_on_a_full_disk_nothing_is_half_written_and_saving_again_is_free(
    ledger: Ledger, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = a_count(ledger)

    def full(self: Count, value: int, folder: Path, tell: Any) -> dict[str, Any]:
        (folder / "count.txt").write_bytes(b"half of")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as failing:
        failing.setattr(Count, "write", full)
        with pytest.raises(OutputError, match="No space left"):
            made.save(place / "count")
    assert files_in(place) == []
    assert verify(made.save(place / "count"), ledger).ok
    assert ledger.account("study").spent == {"epsilon": 1}


def test_whichever_step_to_disk_fails_there_is_a_whole_release_or_none(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write of a whole file, each move into place and each fsync fails once, until none is left to fail."""
    made = counting(PureDP(1)).release(CORPUS)
    for step in range(1000):
        here = place / str(step)
        here.mkdir()
        failed = _save_with_a_fault(made, here / "count", step, monkeypatch)
        assert not [name for name in files_in(here) if name.endswith((".partial", ".old"))]
        if (here / "count").exists():
            assert verify(here / "count").ok
        if not failed:
            break
        assert verify(made.save(here / "count", overwrite=True)).ok
    assert step > 10
    assert files_in(here) == ["count", "count.private-report.json"]


def _save_with_a_fault(release: Release, folder: Path, step: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Save while one step to the disk fails; return whether there was such a step."""
    steps = iter(range(10_000))

    def failing(original: Any) -> Any:
        def attempted(*given: Any, **named: Any) -> Any:
            if next(steps) == step:
                raise OSError(5, "Input/output error")
            return original(*given, **named)

        return attempted

    with monkeypatch.context() as patched:
        for name in ("write_text", "write_bytes", "replace", "rename"):
            patched.setattr(Path, name, failing(getattr(Path, name)))
        patched.setattr(os, "fsync", failing(os.fsync))
        try:
            release.save(folder)
        except OutputError:
            return True
    return False


def test_a_release_that_could_not_be_replaced_stays_whole(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (counting(PureDP(1)).release(CORPUS) for _ in range(2))
    folder = first.save(place / "count")
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if self.name.endswith(".partial"):
            raise OSError(5, "Input/output error")
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", failing)
        with pytest.raises(OutputError):
            second.save(folder, overwrite=True)
    assert verify(folder).ok
    assert json.loads((folder / "release.json").read_text())["id"] == first.id
    second.save(folder, overwrite=True)
    assert json.loads((folder / "release.json").read_text())["id"] == second.id


def test_a_dead_ledger_lets_nothing_out(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").unlink()
    with pytest.raises(LedgerError):
        a_count(ledger)


def test_without_a_ledger_the_record_says_that_nothing_was_charged(place: Path) -> None:
    folder = counting(PureDP(1)).release(CORPUS).save(place / "count")
    assert json.loads((folder / "release.json").read_text())["receipt"] is None


def test_post_processing_is_free_and_recorded(ledger: Ledger, place: Path) -> None:
    made = a_count(ledger)
    halved = made.post_processed(made.value / 2, "halved").post_processed(made.value, "doubled")
    folder = halved.save(place / "count")
    assert json.loads((folder / "release.json").read_text())["post_processing"] == ["halved", "doubled"]
    assert verify(folder, ledger).ok
    assert ledger.account("study").spent == {"epsilon": 1}


def test_a_seeded_release_says_so_and_no_budget_pays_for_it(ledger: Ledger, place: Path) -> None:
    plan, noise = counting(PureDP(1)), NoiseSource.seeded(7)
    with pytest.raises(BudgetExceeded, match="seed"):
        plan.release(CORPUS, noise=noise, ledger=ledger, account="study")
    made = plan.release(CORPUS, noise=noise)
    assert "came from a seed" in made.statement().paragraph()
    assert "no proven guarantee" in (made.save(place / "count") / "release.json").read_text()


# --- what a command finds before it charges --------------------------------------------------------------------------


def _in_the_way(place: Path) -> Path:
    (place / "out").mkdir()
    (place / "out" / "mine.txt").write_text("mine")
    return place / "out"


def _below_a_file(place: Path) -> Path:
    (place / "file").touch()
    return place / "file" / "sub" / "out"


def _in_a_locked_folder(place: Path) -> Path:
    (place / "locked").mkdir()
    return place / "locked" / "out"


@pytest.mark.parametrize("where", [_in_the_way, _below_a_file, _in_a_locked_folder])
@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_a_place_that_cannot_be_written_is_found_before_the_charge(
    place: Path, tmp_path: Path, where: Any, more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")  # for root nothing is locked
    write_corpus(CORPUS.recordings(), tmp_path / "gaze")
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as book:
        book.grant("study", ApproxDP(3, "1e-3"))
    out = where(place)
    told = ["--out", str(out), "--ledger", str(tmp_path / "ledger.sqlite"), "--account", "study", "--anyway", *more]
    assert run(["heatmap", str(tmp_path / "gaze"), "--stimulus", "page", "--epsilon", "1", *told]) != 0
    assert not (out / "release.json").exists()
    with Ledger.open(tmp_path / "ledger.sqlite") as book:
        assert book.account("study").totals.charges == 0


@pytest.mark.parametrize("name", ["inside-the-other/release", "too-long-" * 25, "a-link", "a-folder"])
def test_a_place_that_would_publish_or_lose_something_is_refused_before_anything_is_written(
    name: str, ledger: Ledger, place: Path
) -> None:
    made = a_count(ledger)
    made.save(place / "inside-the-other")
    (place / "a-link").symlink_to(place / "nowhere")
    (place / "a-folder.private-report.json").mkdir()
    before = sorted(place.rglob("*"))
    with pytest.raises(OutputError):
        check_place(place / name, overwrite=False)
    with pytest.raises(OutputError):
        made.save(place / name)
    assert sorted(place.rglob("*")) == before
    assert verify(place / "inside-the-other", ledger).ok


@pytest.mark.parametrize("copied", [lambda made: pickle.loads(pickle.dumps(made)), copy.copy, copy.deepcopy])
def test_a_copy_of_a_release_does_not_carry_the_data_along(copied: Any, ledger: Ledger, place: Path) -> None:
    made = a_count(ledger)
    assert made.private is not None
    again = copied(made)
    assert again.private is None
    assert (again.value, again.id, again.guarantee) == (made.value, made.id, made.guarantee)
    assert verify(again.save(place / "again"), ledger).ok


def test_a_file_name_that_is_no_text_does_not_stop_the_release(ledger: Ledger, place: Path) -> None:
    made = a_count(ledger)
    assert made.private is not None
    made.private.remarks.append(os.fsdecode(b"p7-\xff.csv") + " could not be read and counts as absent")
    assert verify(made.save(place / "count"), ledger).ok
    assert "p7-\udcff.csv" in json.loads((place / "count.private-report.json").read_text())["remarks"][-1]
