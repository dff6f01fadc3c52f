# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""An old copy of the ledger that is put back is noticed; a good ledger never is taken for one."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gazeveil.errors import LedgerError, LedgerRolledBack, OptionError
from gazeveil.privacy.guarantee import PureDP, Unproven
from gazeveil.privacy.ledger import Ledger, Restored, check_anchor
from gazeveil.privacy.ledger.anchor import AnchorFile, KnownEvent, state_folder


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GAZEVEIL_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "anchors"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a budget of 2 for two data sets, and 1 spent by the first."""
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", PureDP(2))
        ledger.grant("other", PureDP(2))
        ledger.charge("study", PureDP(1))
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def copied(path: Path) -> Callable[[], None]:
    """Copy the ledger as it is, and return what puts the copy back."""
    kept = path.with_name("kept.sqlite")
    shutil.copy(path, kept)
    return lambda: put_back(kept, path)


def put_back(kept: Path, path: Path) -> None:
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    shutil.copy(kept, path)


def spend(path: Path, dataset: str = "study", epsilon: str = "1") -> None:
    with Ledger.open(path) as ledger:
        ledger.charge(dataset, PureDP(epsilon))


def test_an_old_copy_put_back_neither_pays_nor_passes_for_sound(path: Path, copied: Callable[[], None]) -> None:
    spend(path)
    copied()
    with Ledger.open(path) as ledger:
        assert not ledger.verify().sound
        with pytest.raises(LedgerRolledBack, match='data set "study": it has 2 events and had 3'):
            ledger.charge("study", PureDP(1))
        assert ledger.account("study").remaining == {"epsilon": 1}


@pytest.mark.parametrize("dataset", ["study", "other", "new"])
def test_no_account_of_an_old_copy_can_be_used(path: Path, copied: Callable[[], None], dataset: str) -> None:
    spend(path)
    copied()
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerRolledBack):
            ledger.grant(dataset, PureDP(1))
        with pytest.raises(LedgerRolledBack):
            ledger.charge(dataset, PureDP(1))
        with pytest.raises(LedgerRolledBack):
            ledger.record_unproven(dataset, Unproven("it was so"))
        with pytest.raises(LedgerRolledBack):
            ledger.close_account(dataset)


def test_a_copy_from_before_an_account_was_opened_is_noticed(path: Path, copied: Callable[[], None]) -> None:
    with Ledger.open(path) as ledger:
        ledger.grant("third", PureDP(1))
    copied()
    with Ledger.open(path) as ledger, pytest.raises(LedgerRolledBack, match="account 3 is gone; it had 1 events"):
        ledger.grant("fourth", PureDP(1))


def test_a_copy_that_went_its_own_way_is_noticed(path: Path, copied: Callable[[], None]) -> None:
    spend(path)
    copied()
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setenv("GAZEVEIL_STATE", str(path.parent / "another machine"))
        for _ in range(3):
            spend(path, epsilon="0.1")
    with Ledger.open(path) as ledger, pytest.raises(LedgerRolledBack, match="event 3 is not the one that was there"):
        ledger.charge("study", PureDP("0.1"))


def test_a_copy_into_the_open_file_is_noticed_by_who_has_it_open(path: Path, copied: Callable[[], None]) -> None:
    """The file keeps its number, so only its contents show it."""
    with Ledger.open(path) as ledger:
        ledger.charge("study", PureDP("0.5"))
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        kept = path.with_name("kept.sqlite").read_bytes()
        with path.open("r+b") as file:
            file.write(kept)
        for dataset in ("study", "other"):
            with pytest.raises(LedgerError):
                ledger.charge(dataset, PureDP("0.5"))


def test_a_file_put_in_the_place_of_the_open_one_is_noticed(path: Path, copied: Callable[[], None]) -> None:
    with Ledger.open(path) as ledger:
        ledger.charge("study", PureDP("0.5"))
        path.unlink()
        with pytest.raises(LedgerRolledBack, match="went away while it was in use"):
            ledger.charge("study", PureDP("0.5"))
        copied()
        with pytest.raises(LedgerRolledBack, match="replaced by another file"):
            ledger.charge("study", PureDP("0.5"))
        with pytest.raises(LedgerRolledBack, match="replaced by another file"):
            ledger.account("study")


def test_a_ledger_may_be_moved_and_copied_on(path: Path, tmp_path: Path) -> None:
    spend(path, epsilon="0.25")
    moved = tmp_path / "elsewhere" / "budget.sqlite"
    moved.parent.mkdir()
    path.rename(moved)
    spend(moved, epsilon="0.25")
    shutil.copy(moved, path)
    spend(path, epsilon="0.25")
    with Ledger.open(moved) as ledger, pytest.raises(LedgerRolledBack):  # two ledgers would be two budgets
        ledger.charge("study", PureDP("0.25"))


def test_a_process_that_dies_between_event_and_anchor_harms_nothing(path: Path, state: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AnchorFile, "remember", lambda *_: None)
        spend(path, epsilon="0.5")
    with Ledger.open(path) as ledger:
        assert ledger.verify().sound
        ledger.charge("study", PureDP("0.5"))
    (anchor,) = state.iterdir()
    known = AnchorFile(anchor.name).everything()
    assert {(event.account, event.number) for event in known} == {(1, 4), (2, 1)}


def test_a_ledger_without_an_anchor_is_accepted_once_and_says_so(path: Path, state: Path) -> None:
    told: list[str] = []
    (anchor,) = state.iterdir()
    anchor.unlink()  # as on a new machine, or for a ledger of an earlier version
    for _ in range(2):
        with Ledger.open(path, notice=told.append) as ledger:
            ledger.charge("study", PureDP("0.1"))
    assert len(told) == 1
    assert "3 events and no anchor on this machine" in told[0]
    assert anchor.is_file()


def test_reading_a_ledger_writes_no_anchor(path: Path, state: Path) -> None:
    shutil.rmtree(state)
    with Ledger.open(path) as ledger:
        assert ledger.verify().sound
        assert len(list(ledger.history())) == 3
        assert not ledger.lost()
    assert not state.exists()


def test_a_new_ledger_is_anchored_from_its_first_event_without_ado(tmp_path: Path, state: Path) -> None:
    told: list[str] = []
    with Ledger.open(tmp_path / "new.sqlite", create=True, notice=told.append) as ledger:
        ledger.grant("study", PureDP(1))
        (first,) = (line.digest for line in ledger.lines())
    assert told == []
    assert AnchorFile(first).everything() == [KnownEvent(1, 1, first)] * 2
    assert [file.name for file in state.iterdir()] == [first]


def test_a_damaged_anchor_is_an_error_that_says_what_to_do(path: Path, state: Path) -> None:
    (anchor,) = state.iterdir()
    whole = anchor.read_bytes()
    for damaged in (b"x" + whole[1:], whole[:50], whole[:128] + b"\xff" * 128 + whole[256:], whole[:256] + b"\1" * 200):
        anchor.write_bytes(damaged)
        with Ledger.open(path) as ledger:
            with pytest.raises(LedgerError, match="is damaged") as caught:
                ledger.charge("study", PureDP("0.1"))
            assert "gazeveil ledger restore" in caught.value.hint
            assert "is damaged" in ledger.verify().faults[0]
    anchor.write_bytes(whole)
    spend(path)


def test_a_write_that_was_cut_short_leaves_what_was_known_before(path: Path, state: Path) -> None:
    spend(path, epsilon="0.5")
    (anchor,) = state.iterdir()
    before = set(AnchorFile(anchor.name).everything())
    whole = anchor.read_bytes()
    spend(path, epsilon="0.5")
    after = anchor.read_bytes()
    changed = [at for at in range(len(whole)) if whole[at] != after[at]]
    torn = bytearray(after)
    torn[changed[len(changed) // 4]] ^= 255
    torn[changed[-1]] ^= 255
    anchor.write_bytes(torn)
    assert set(AnchorFile(anchor.name).everything()) == before
    with Ledger.open(path) as ledger:
        assert not ledger.lost()
        ledger.charge("other", PureDP(1))


def test_an_anchor_that_cannot_be_written_pays_nothing_out(path: Path, state: Path) -> None:
    shutil.rmtree(state)
    state.parent.rmdir()
    state.parent.touch()  # a file where the folder should be
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerError, match="cannot be") as caught:
            ledger.charge("study", PureDP(1), charge_id="map")
        assert "GAZEVEIL_STATE" in caught.value.hint
        assert ledger.account("study").remaining == {"epsilon": 1}  # refused before it was spent
        state.parent.unlink()
        assert ledger.charge("study", PureDP(1), charge_id="map").account.remaining == {"epsilon": 0}


def test_a_charge_whose_anchor_failed_is_paid_once_when_it_is_asked_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(path) as ledger:
        ledger.charge("study", PureDP("0.5"))
        with monkeypatch.context() as patched:
            patched.setattr(AnchorFile, "remember", _no_room)
            with pytest.raises(LedgerError, match="no room"):
                ledger.charge("study", PureDP("0.5"), charge_id="map")
        receipt = ledger.charge("study", PureDP("0.5"), charge_id="map")
        assert receipt.repeated
        assert receipt.account.remaining == {"epsilon": 0}
        assert AnchorFile(receipt.ledger).known([1]) == [KnownEvent(1, receipt.account.number, receipt.account.head)]


def _no_room(*_: object) -> None:
    raise LedgerError("no room")


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"GAZEVEIL_STATE": "/a"}, "/a"),
        ({"GAZEVEIL_STATE": "", "STATE_DIRECTORY": "/s:/t", "XDG_STATE_HOME": "/b"}, "/s/remembered"),
        ({"GAZEVEIL_STATE": "", "XDG_STATE_HOME": "/b"}, "/b/gazeveil"),
        ({"GAZEVEIL_STATE": "", "XDG_STATE_HOME": "", "HOME": "/c"}, "/c/.local/state/gazeveil"),
    ],
)
def test_the_state_folder_is_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], folder: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert state_folder() == Path(folder)


def test_only_its_owner_may_read_a_new_ledger_and_its_anchor(path: Path, state: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.charge("study", PureDP("0.1"))
        files = [path, *path.parent.glob("ledger.sqlite-*"), *path.parent.glob("*.lock"), *state.iterdir()]
        assert len(files) == 5
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


# Receipts


def test_a_receipt_carries_an_anchor_that_old_copies_do_not_hold(path: Path, copied: Callable[[], None]) -> None:
    with Ledger.open(path) as ledger:
        anchor = ledger.charge("study", PureDP("0.5")).to_dict()["anchor"]
        ledger.charge("study", PureDP("0.5"))
        check_anchor(ledger, anchor)
    copied()
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerRolledBack, match="does not hold event 3"):
            check_anchor(ledger, anchor)
        with pytest.raises(LedgerRolledBack):
            check_anchor(ledger, {**anchor, "person": "ann"})
        with pytest.raises(LedgerError, match="anchor that is none"):
            check_anchor(ledger, {"ledger": "x"})
        with pytest.raises(LedgerError, match="another ledger"):
            check_anchor(ledger, {**anchor, "ledger": "0" * 64})


def test_an_empty_ledger_holds_no_anchor(path: Path, tmp_path: Path) -> None:
    with Ledger.open(path) as ledger:
        anchor = ledger.charge("study", PureDP("0.5")).anchor
    assert anchor is not None
    with Ledger.open(tmp_path / "empty.sqlite", create=True) as ledger, pytest.raises(LedgerRolledBack):
        check_anchor(ledger, anchor)


# Restoring


def test_a_restore_records_what_was_lost_and_voids_the_promise_of_who_lost_it(
    path: Path, copied: Callable[[], None]
) -> None:
    with Ledger.open(path) as ledger:
        lost = ledger.charge("study", PureDP(1)).digest
    copied()
    with Ledger.open(path) as ledger:
        loss = ledger.restore("the disk failed")
        assert [(event.number, event.digest) for event, _ in loss.events] == [(3, lost)]
        (event,) = [event for event in ledger.history() if isinstance(event, Restored)]
        assert (event.dataset, event.note) == ("study", "the disk failed")
        assert event.lost == {"number": 3, "digest": lost}
        assert isinstance(ledger.account("study").guarantee, Unproven)
        assert ledger.account("other").guarantee == PureDP(0)
        ledger.charge("study", PureDP("0.5"))
        found = ledger.verify()
        assert found.faults == ()
    spend(path, epsilon="0.5")
    copied()
    with pytest.raises(LedgerRolledBack):  # it is watched again
        spend(path, epsilon="0.5")


def test_accounts_that_are_gone_altogether_are_recorded_too(path: Path, copied: Callable[[], None]) -> None:
    with Ledger.open(path) as ledger:
        head = ledger.grant("third", PureDP(1)).head
    copied()
    with Ledger.open(path) as ledger:
        ledger.restore("the disk failed")
        (event,) = [event for event in ledger.history() if isinstance(event, Restored)]
        assert (event.dataset, event.lost, event.gone) == ("study", {}, {"3": {"number": 1, "digest": head}})
        assert ledger.account("study").guarantee == PureDP(1)
        ledger.grant("third", PureDP(1))
        assert ledger.verify().sound


def test_a_restore_writes_a_damaged_anchor_anew(path: Path, state: Path) -> None:
    (anchor,) = state.iterdir()
    anchor.write_bytes(b"something else")
    with Ledger.open(path) as ledger:
        assert ledger.restore("the disk failed").damaged
        ledger.charge("study", PureDP(1))
        assert ledger.verify().sound
        assert len([event for event in ledger.history() if isinstance(event, Restored)]) == 1


def test_a_restore_of_a_whole_ledger_does_nothing_and_one_without_a_reason_is_refused(
    path: Path, copied: Callable[[], None]
) -> None:
    with Ledger.open(path) as ledger:
        assert not ledger.restore("just so")
        assert len(list(ledger.history())) == 3
        with pytest.raises(OptionError, match="reason"):
            ledger.restore(" ")


def test_a_closed_account_can_be_restored(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.close_account("study")
    kept = path.with_name("closed.sqlite")
    shutil.copy(path, kept)
    with Ledger.open(path) as ledger:
        anchor = AnchorFile(ledger.charge("other", PureDP(1)).ledger)
    anchor.remember([KnownEvent(1, 9, "f" * 64)])
    with Ledger.open(path) as ledger:
        ledger.restore("odd, but so it is")
        assert ledger.account("study").totals.closed
        assert ledger.verify().sound


def test_a_ledger_on_a_server_is_watched_as_well(database: str) -> None:
    import psycopg

    with Ledger.open(database, create=True) as ledger:
        ledger.grant("study", PureDP(3))
        ledger.grant("other", PureDP(3))
        ledger.charge("study", PureDP(1))
        anchor = ledger.charge("study", PureDP(1)).anchor
        assert anchor is not None
        check_anchor(ledger, anchor)
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("SET session_replication_role = replica")
        admin.execute("DELETE FROM gazeveil.events WHERE number = 3")
    with Ledger.open(database) as ledger:
        for dataset in ("study", "other"):
            with pytest.raises(LedgerRolledBack, match="it has 2 events and had 3"):
                ledger.charge(dataset, PureDP(1))
        with pytest.raises(LedgerRolledBack):
            check_anchor(ledger, anchor)
        ledger.restore("a backup was put back")
        ledger.charge("study", PureDP(1))
        assert ledger.verify().sound
