# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil ledger``, as a user and as a script would run it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gazeveil.cli.main import run
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.ledger import Ledger
from tests.privacy.ledger.counts_product import CORPUS, counting


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert run(["ledger", *words, "--json"]) == code
    return dict(json.loads(capsys.readouterr().out))


def test_a_budget_from_beginning_to_end(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    opened = told(capsys, "init", "study-7", "--epsilon", "3", "--delta", "1e-6", "--note", "approved")
    assert opened["remaining"] == {"epsilon": "3", "delta": "0.000001"}
    assert (tmp_path / "ledger.sqlite").is_file()
    paid = told(capsys, "charge", "study-7", "--epsilon", "0.1", "--id", "map-1")
    assert (paid["charge_id"], paid["repeated"], paid["account"]["spent"]["epsilon"]) == ("map-1", False, "0.1")
    assert told(capsys, "charge", "study-7", "--epsilon", "0.1", "--id", "map-1")["repeated"]
    assert told(capsys, "grant", "study-7", "--epsilon", "1", "--delta", "0")["remaining"]["epsilon"] == "3.9"
    (account,) = told(capsys, "show")["accounts"]
    assert (account["charges"], account["events"]) == (1, 3)
    kinds = [event["kind"] for event in told(capsys, "history", "study-7")["events"]]
    assert kinds == ["budget-granted", "charged", "budget-granted"]
    assert told(capsys, "verify")["sound"]


def test_over_budget_is_refused_with_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    run(["ledger", "init", "study-7", "--epsilon", "9"])
    capsys.readouterr()
    assert run(["ledger", "charge", "study-7", "--epsilon", "30"]) == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert "requested  ε=30\n  remaining  ε=9\n  missing    ε=21" in said.err
    refused = told(capsys, "charge", "study-7", "--epsilon", "30", code=5)
    assert refused["error"] == "BudgetExceeded"
    assert refused["difference"] == {"epsilon": "21"}


def test_streams_have_an_account_per_person(capsys: pytest.CaptureFixture[str]) -> None:
    stream = ("--window", "2", "--radius", "60")
    told(capsys, "init", "live", "--participant", "ann", "--epsilon", "10", *stream)
    told(capsys, "init", "live", "--participant", "bob", "--epsilon", "1", *stream)
    told(capsys, "charge", "live", "--participant", "ann", "--epsilon", "3", *stream)
    told(capsys, "charge", "live", "--participant", "bob", "--epsilon", "3", *stream, code=5)
    assert [a["person"] for a in told(capsys, "show", "live")["accounts"]] == ["ann", "bob"]
    assert [a["charges"] for a in told(capsys, "show", "live", "--participant", "ann")["accounts"]] == [1]
    assert len(told(capsys, "history", "live", "--participant", "bob")["events"]) == 1


def test_a_radius_may_carry_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = ("--epsilon", "10", "--window", "2")
    told(capsys, "init", "live", "--participant", "ann", *seconds, "--radius", "2deg")
    told(capsys, "charge", "live", "--participant", "ann", *seconds, "--radius", "2", "--radius-unit", "deg")
    told(capsys, "init", "desk", "--participant", "ann", *seconds, "--radius", "60")
    told(capsys, "charge", "desk", "--participant", "ann", *seconds, "--radius", "60px")
    for wrong in (("5%",), ("60px", "--radius-unit", "deg"), ("60 feet",)):
        told(capsys, "charge", "desk", "--participant", "ann", *seconds, "--radius", *wrong, code=3)


def test_people_get_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "init", "study-7", "--rho", "0.5"]) == 0
    assert run(["ledger", "charge", "study-7", "--rho", "0.1", "--note", "heatmap"]) == 0
    assert run(["ledger", "show"]) == 0
    assert run(["ledger", "history"]) == 0
    assert run(["ledger", "verify"]) == 0
    out = capsys.readouterr().out
    for words in ("left   ρ=0.4", "study-7", "budget-granted", "heatmap", "replayed 2 events", "valid"):
        assert words in out


def test_an_export_can_be_verified_against(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told(capsys, "init", "study-7", "--epsilon", "3")
    told(capsys, "charge", "study-7", "--epsilon", "1")
    assert told(capsys, "export", "--out", "kept.jsonl")["events"] == 2
    assert told(capsys, "verify", "--against", "kept.jsonl")["sound"]
    told(capsys, "export", "--out", "kept.jsonl", code=4)
    assert told(capsys, "export", "--out", "kept.jsonl", "--overwrite")["events"] == 2
    assert len(told(capsys, "export")["events"]) == 2
    assert run(["ledger", "export"]) == 0
    assert run(["ledger", "export", "--out", "second.jsonl"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == (tmp_path / "kept.jsonl").read_text().splitlines()
    told(capsys, "init", "other", "--epsilon", "3", "--ledger", "other.sqlite")
    found = told(capsys, "verify", "--against", "kept.jsonl", "--ledger", "other.sqlite", code=1)
    assert len(found["faults"]) == 2
    (tmp_path / "kept.jsonl").write_text("not an export\n")
    assert told(capsys, "verify", "--against", "kept.jsonl", code=3)["line"] == 1
    told(capsys, "verify", "--against", "nowhere.jsonl", code=3)


def test_a_tampered_ledger_is_not_sound(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "init", "study-7", "--epsilon", "3")
    told(capsys, "charge", "study-7", "--epsilon", "1")
    with closing(sqlite3.connect("ledger.sqlite", isolation_level=None)) as intruder:
        intruder.execute("DROP TRIGGER events_are_not_changed")
        intruder.execute("""UPDATE events SET event = replace(event, '"1"', '"0"') WHERE number = 2""")
    assert run(["ledger", "verify"]) == 1
    out = capsys.readouterr().out
    assert 'fault: data set "study-7": event 2 was changed' in out
    assert "NOT VALID" in out


@pytest.mark.parametrize(
    "words",
    [
        ["init", "study"],
        ["init", "study", "--delta", "1e-6"],
        ["init", "study", "--epsilon", "1", "--rho", "1"],
        ["init", "study", "--rho", "1", "--delta", "1e-6"],
        ["init", "study", "--epsilon", "1", "--window", "2"],
        ["init", "study", "--epsilon", "1", "--window", "2", "--radius", "60", "--delta", "1e-6"],
        ["init", "study", "--epsilon", "1", "--window", "2", "--radius", "60", "--unit", "recording"],
        ["init", "study", "--epsilon", "1", "--window", "2", "--radius", "60", "--neighbours", "add-remove"],
        ["init", "study", "--epsilon", "-1"],
        ["init", "study", "--epsilon", "lots"],
        ["init", "study", "--epsilon", "1", "--delta", "2"],
    ],
)
def test_a_promise_that_is_none_is_an_input_error(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert told(capsys, *words, code=3)["error"] == "OptionError"
    assert not Path("ledger.sqlite").exists()


@pytest.mark.parametrize("command", ["show", "history", "export", "verify"])
def test_a_missing_ledger_says_how_to_make_one(capsys: pytest.CaptureFixture[str], command: str) -> None:
    refused = told(capsys, command, "--ledger", "nowhere.sqlite", code=5)
    assert "there is no ledger at" in refused["message"]
    assert "gazeveil ledger init" in refused["hint"]
    assert not Path("nowhere.sqlite").exists()


@pytest.mark.parametrize("command", ["show", "history", "export", "verify", "restore"])
def test_a_ledger_can_be_named_by_its_path_alone(
    capsys: pytest.CaptureFixture[str], command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told(capsys, "init", "study-7", "--epsilon", "3")
    path = Path("ledger.sqlite").absolute()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert told(capsys, command, str(path))["ledger"] == str(path)


@pytest.mark.parametrize("command", ["show", "history"])
def test_a_missing_account_says_how_to_open_one(capsys: pytest.CaptureFixture[str], command: str) -> None:
    told(capsys, "init", "study-7", "--epsilon", "3")
    assert "init nix --epsilon" in told(capsys, command, "nix", code=5)["hint"]
    assert "--participant eve" in told(capsys, command, "study-7", "--participant", "eve", code=5)["hint"]


def test_init_does_not_add_to_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "init", "study-7", "--epsilon", "3")
    assert "already" in told(capsys, "init", "study-7", "--epsilon", "3", code=5)["message"]
    (account,) = told(capsys, "show", "study-7", "--participant", "")["accounts"]
    assert account["remaining"] == {"epsilon": "3"}


def test_the_ledger_may_be_named_in_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZEVEIL_LEDGER", "team.sqlite")
    told(capsys, "init", "study-7", "--epsilon", "3", "--unit", "recording", "--neighbours", "add-remove")
    (account,) = told(capsys, "show")["accounts"]
    assert account["budget"]["unit"] == {"kind": "recording"}
    assert Path("team.sqlite").is_file()


@pytest.mark.parametrize("command", ["init", "grant", "charge", "show", "history", "export", "verify"])
def test_every_command_explains_itself_with_an_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run(["ledger", command, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"gazeveil ledger {command}" in out
    assert "Example" in out
    assert "--json" in out


def test_bytes_that_are_no_letters_get_words(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "init", "study", "--epsilon", "1")
    for words in (["show", "\udcff"], ["history", "\udcff"]):
        assert told(capsys, *words, code=3)["error"] == "OptionError"


# Old copies


@pytest.fixture
def rolled_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger whose last charge is forgotten, and the release that it paid for."""
    monkeypatch.setenv("GAZEVEIL_STATE", str(tmp_path / "state"))
    with Ledger.open("ledger.sqlite", create=True) as ledger:
        ledger.grant("study-7", PureDP(3))
    shutil.copy("ledger.sqlite", "old.sqlite")
    with Ledger.open("ledger.sqlite") as ledger:
        counting(PureDP(1)).release(CORPUS, ledger=ledger, account="study-7").save("maps")
    shutil.copy("ledger.sqlite", "new.sqlite")
    shutil.copy("old.sqlite", "ledger.sqlite")
    return tmp_path / "maps"


def test_an_old_copy_is_refused_until_it_is_restored_on_purpose(
    capsys: pytest.CaptureFixture[str], rolled_back: Path
) -> None:
    refused = told(capsys, "charge", "study-7", "--epsilon", "1", code=5)
    assert refused["error"] == "LedgerRolledBack"
    assert "gazeveil ledger restore" in refused["hint"]
    (fault,) = told(capsys, "verify", code=1)["faults"]
    assert "it has 1 events and had 2" in fault
    assert told(capsys, "restore")["restored"] is False
    assert run(["ledger", "restore", "ledger.sqlite"]) == 0
    assert "would be lost" in capsys.readouterr().out
    assert told(capsys, "restore", "--confirm", code=3)["error"] == "OptionError"
    told(capsys, "charge", "study-7", "--epsilon", "1", code=5)
    assert told(capsys, "restore", "--confirm", "--note", "the disk failed")["restored"]
    told(capsys, "charge", "study-7", "--epsilon", "1")
    assert told(capsys, "verify")["sound"]
    assert [event["kind"] for event in told(capsys, "history")["events"]] == ["budget-granted", "restored", "charged"]
    assert run(["ledger", "history"]) == run(["ledger", "show"]) == run(["ledger", "restore"]) == 0
    out = capsys.readouterr().out
    assert "the disk failed" in out
    assert "charges were lost" in out
    assert "nothing to restore" in out


def test_a_release_shows_that_a_ledger_is_an_old_copy(
    capsys: pytest.CaptureFixture[str], rolled_back: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZEVEIL_STATE", "another-machine")
    assert told(capsys, "verify")["sound"]
    for release in ("maps", "maps/release.json"):
        found = told(capsys, "verify", "--release", release, code=1)
        assert "does not hold event 2" in found["faults"][0]
        assert told(capsys, "verify", "new.sqlite", "--release", release)["sound"]


def test_a_release_whose_charge_has_no_anchor_shows_it_as_well(
    capsys: pytest.CaptureFixture[str], rolled_back: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZEVEIL_STATE", "another-machine")
    with Ledger.open("new.sqlite") as ledger:
        digest = ledger.account("study-7").head
    Path("other").mkdir()
    Path("other/release.json").write_text(json.dumps({"receipt": {"digest": digest}}))
    assert "is gone" in told(capsys, "verify", "--release", "other", code=1)["faults"][0]
    assert told(capsys, "verify", "--ledger", "new.sqlite", "--release", "other")["sound"]


def test_what_is_no_release_cannot_be_compared(capsys: pytest.CaptureFixture[str], rolled_back: Path) -> None:
    Path("empty").mkdir()
    Path("uncharged").mkdir()
    Path("uncharged/release.json").write_text('{"receipt": null}')
    Path("list").mkdir()
    Path("list/release.json").write_text("[]")
    for release in ("empty", "nowhere", "uncharged", "list"):
        assert told(capsys, "verify", "--release", release, code=3)["error"] == "FileFormatError"


def test_a_tenth_fits_into_a_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "init", "pure", "--epsilon", "0.1")
    assert told(capsys, "charge", "pure", "--epsilon", "0.1")["account"]["remaining"] == {"epsilon": "0"}
    told(capsys, "init", "approx", "--epsilon", "0.3", "--delta", "3e-7")
    for _ in range(3):
        paid = told(capsys, "charge", "approx", "--epsilon", "0.1", "--delta", "1e-7")
    assert paid["account"]["remaining"] == {"epsilon": "0", "delta": "0"}
    told(capsys, "init", "concentrated", "--rho", "0.1")
    told(capsys, "charge", "concentrated", "--rho", "0.1")
    told(capsys, "charge", "concentrated", "--rho", "1e-30", code=5)
    told(capsys, "grant", "concentrated", "--rho", "1e-30")
    told(capsys, "charge", "concentrated", "--rho", "1e-30")


def test_every_command_finds_the_ledger_of_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZEVEIL_LEDGER", "elsewhere.sqlite")
    told(capsys, "init", "study", "--epsilon", "2")
    told(capsys, "grant", "study", "--epsilon", "1")
    told(capsys, "charge", "study", "--epsilon", "1")
    for command in ("show", "history", "export", "verify", "restore"):
        assert Path(told(capsys, command)["ledger"]).name == "elsewhere.sqlite"
    assert not Path("ledger.sqlite").exists()
    told(capsys, "init", "study", "--epsilon", "2", "--ledger", "other.sqlite")
    assert Path(told(capsys, "verify", "--ledger", "other.sqlite")["ledger"]).name == "other.sqlite"


@pytest.mark.parametrize("command", ["show", "history", "export", "verify", "restore"])
def test_commands_that_read_take_a_ledger_by_its_name(capsys: pytest.CaptureFixture[str], command: str) -> None:
    told(capsys, "init", "study", "--epsilon", "2", "--ledger", "other.sqlite")
    Path("study").write_text("a file that is called like the data set")
    assert Path(told(capsys, command, "other.sqlite")["ledger"]).name == "other.sqlite"
    if command in ("show", "history", "export"):
        assert told(capsys, command, "study", "--ledger", "other.sqlite")
