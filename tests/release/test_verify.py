# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A release is verified: whatever was changed in its folder or its ledger is found."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil import Ledger
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError
from gazeveil.privacy.guarantee import ApproxDP, PureDP
from gazeveil.release.record import NAME, digest_of_record, record_text
from gazeveil.release.verify import Verification, verify
from tests.release.conftest import ACCOUNT, Charged

DOCUMENTS = {
    "statement.html", "statement.txt", "for-participants.en.txt", "for-participants.de.txt", "methods.md",
    "evidence.html", "registry-entry.json",
}  # fmt: skip


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return shutil.copytree(saved, tmp_path / "map")


@pytest.fixture
def ledger(charged: Charged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GAZEVEIL_STATE", str(tmp_path / "state"))  # copies of one ledger, each on a machine of its own
    return Path(shutil.copy(charged.ledger, tmp_path / "ledger.sqlite"))


def found_in(folder: Path, **options: Any) -> set[str]:
    """Return the checks that failed; a record that cannot be read fails as a whole."""
    try:
        return {fault.check for fault in verify(folder, **options).faults}
    except FileFormatError:
        return {"unreadable"}


def rewritten(folder: Path, change: Callable[[dict[str, Any]], object], *, sealed: bool = True) -> None:
    """Change a record; sealed as somebody would who knows how records are sealed."""
    values = json.loads((folder / NAME).read_text())
    change(values)
    if sealed:
        values["digest"] = digest_of_record(values)
    (folder / NAME).write_text(record_text(values))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def flip(path: Path, place: int, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def test_a_release_is_verified_with_its_documents_and_its_charge(folder: Path, ledger: Path) -> None:
    found = verify(folder, ledger=ledger)
    assert found.ok
    assert {path.name for path in folder.iterdir()} >= DOCUMENTS
    assert {finding.check for finding in found.findings if finding.outcome == "ok"} >= {
        "digest of the record",
        "contents of the files",
        "statement",
        "digest of the recipe",
        "receipt",
        "charge",
    }
    assert len(repr(found)) < 120
    assert "<table>" in found._repr_html_()


def test_a_flipped_byte_in_any_file_is_found(saved: Path, tmp_path: Path) -> None:
    for number, path in enumerate(sorted(saved.iterdir())):
        folder = shutil.copytree(saved, tmp_path / str(number))
        flip(folder / path.name, path.stat().st_size // 2, 0)
        assert found_in(folder), path.name


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_anywhere_in_a_signed_record_is_found(signed: Path, data: st.DataObject) -> None:
    record = signed / NAME
    before = record.read_bytes()
    place = data.draw(st.integers(0, len(before) - 1))
    try:
        flip(record, place, data.draw(st.integers(0, 7)))
        assert found_in(signed)
    finally:
        record.write_bytes(before)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A private and a public key, as OpenSSL writes them."""
    return make_keys(tmp_path_factory.mktemp("keys"))


def make_keys(place: Path) -> tuple[Path, Path]:
    private, public = place / "key.pem", place / "key.pub.pem"
    for command in (
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(private)],
        ["openssl", "pkey", "-in", str(private), "-pubout", "-out", str(public)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return private, public


@pytest.fixture(scope="session")
def signed(charged: Charged, keys: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return charged.release.save(tmp_path_factory.mktemp("signed") / "map", sign_with=keys[0])


def test_a_signed_record_is_verified_with_the_public_key(signed: Path, keys: tuple[Path, Path]) -> None:
    found = verify(signed, key=keys[1])
    assert found.ok
    assert {"signature", "signer"} <= {finding.check for finding in found.findings if finding.outcome == "ok"}


def test_a_record_signed_by_somebody_else_is_found(signed: Path, tmp_path: Path) -> None:
    _, another = make_keys(tmp_path)
    assert found_in(signed, key=another) == {"signer"}


def test_a_changed_record_does_not_keep_its_signature(signed: Path, keys: tuple[Path, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(signed, tmp_path / "changed")
    rewritten(folder, lambda values: values.update(study="another"))
    assert found_in(folder) == {"signature"}


def test_a_signature_that_was_taken_away_is_missed_with_a_key(
    signed: Path, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(signed, tmp_path / "bare")
    rewritten(folder, lambda values: values.update(signature=None))
    assert verify(folder).ok
    assert found_in(folder, key=keys[1]) == {"signature"}


def test_a_signature_is_spelt_in_one_way(signed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(signed, tmp_path / "shouted")
    rewritten(folder, lambda values: values["signature"].update(signature=values["signature"]["signature"].upper()))
    assert found_in(folder) == {"signature"}


def test_added_missing_and_linked_files_are_found(folder: Path, tmp_path: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "more.txt").write_text("more")
    assert found_in(folder) == {"no file was added"}
    shutil.rmtree(folder / "deep")
    moved = (folder / "methods.md").rename(tmp_path / "methods.md")
    assert found_in(folder) == {"no file is missing"}
    (folder / "methods.md").symlink_to(moved)
    assert found_in(folder) == {"contents of the files"}


def test_a_file_outside_the_folder_is_not_taken_for_one_of_the_release(folder: Path) -> None:
    (folder.parent / "outside.txt").write_text("outside")
    rewritten(folder, lambda values: values["files"].update({"../outside.txt": "0" * 64}))
    assert found_in(folder) == {"no file is missing"}


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda values: values["guarantee"].update(epsilon="0.5"), {"statement", "receipt"}),
        (lambda values: values.update(statement="All is well."), {"statement"}),
        (lambda values: values["recipe"].update(epsilon="1"), {"digest of the recipe"}),
        (lambda values: values.update(conditional_on=[]), {"conditions"}),
        (lambda values: values["public_facts"][0].update(source="declared"), {"conditions", "statement"}),
        (lambda values: values.update(id="another"), {"receipt"}),
        (lambda values: values.pop("public_facts"), {"contents of the record"}),
        (lambda values: values.update(guarantee=7), {"contents of the record"}),
        (lambda values: values.update(files=None), {"no file was added"}),
    ],
)
def test_a_record_that_was_sealed_anew_still_has_to_agree_with_itself(
    folder: Path, change: Callable[[dict[str, Any]], object], check: set[str]
) -> None:
    rewritten(folder, change)
    assert found_in(folder) == check


def test_a_record_of_another_version_is_held_to_its_numbers(folder: Path) -> None:
    def older(values: dict[str, Any]) -> None:
        values["software"]["gazeveil"] = "0.0.1"
        values["statement"] = values["statement"].replace("Compared with", "Beside")

    rewritten(folder, older)
    assert verify(folder).ok
    assert "wording of the statement" in {finding.check for finding in verify(folder).unchecked}
    rewritten(folder, lambda values: values.update(statement=values["statement"].replace("e^1.5", "e^0.5")))
    assert found_in(folder) == {"statement"}


def test_a_record_that_says_a_thing_twice_is_found(folder: Path) -> None:
    text = (folder / NAME).read_text()
    (folder / NAME).write_text(text.replace("{", '{\n  "study": "another",', 1))
    assert "spelling of the record" in found_in(folder)


def test_a_charge_that_is_not_in_the_ledger_is_found(folder: Path, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "other.sqlite", create=True) as other:
        other.grant(ACCOUNT, ApproxDP(3, "1e-4"))
        assert found_in(folder, ledger=other) == {"charge", "anchor"}


def test_a_charge_for_less_than_was_released_is_found(folder: Path, ledger: Path) -> None:
    with Ledger.open(ledger) as book:
        receipt = book.charge(ACCOUNT, PureDP("0.1"), recipe={"a": 1}, charge_id="cheap")

    def cheap(values: dict[str, Any]) -> None:
        values["receipt"] = receipt.to_dict() | {"guarantee": values["guarantee"]}
        values.update(id="cheap", date=receipt.time)

    rewritten(folder, cheap)
    assert found_in(folder, ledger=ledger) == {"charge"}


def test_the_ledger_must_go_on_from_the_anchor_of_the_record(folder: Path, ledger: Path) -> None:
    with Ledger.open(ledger) as book:
        book.charge(ACCOUNT, PureDP("0.1"), recipe={"a": 1})
        later = book.account(ACCOUNT)
    assert verify(folder, ledger=ledger).ok
    assert "anchor" in {finding.check for finding in verify(folder, ledger=ledger).findings if finding.outcome == "ok"}
    lost = {"events": later.number + 1, "head": later.head}
    rewritten(folder, lambda values: values["receipt"]["anchor"].update(lost))
    assert found_in(folder, ledger=ledger) == {"anchor"}
    rewritten(folder, lambda values: values["receipt"].update(anchor=7))
    assert found_in(folder, ledger=ledger) == {"anchor"}


def test_a_release_without_an_account_fails_only_where_a_ledger_is_asked(folder: Path, ledger: Path) -> None:
    rewritten(folder, lambda values: values.update(receipt=None))
    assert verify(folder).ok
    assert found_in(folder, ledger=ledger) == {"charge"}


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"guarantee": NaN}', '{"guarantee": 1e999}', '{"a": "\\ud800"}', "\xff"]
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_bytes(text.encode("latin-1"))
    with pytest.raises(FileFormatError):
        verify(tmp_path)


def test_a_newer_record_is_refused(folder: Path) -> None:
    rewritten(folder, lambda values: values.update(version=3))
    with pytest.raises(FileFormatError, match="version 3"):
        verify(folder)


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="nothing there"):
        verify(tmp_path / "nowhere")


def test_the_command_says_what_it_checked(
    folder: Path, ledger: Path, capsys: pytest.CaptureFixture[str], keys: tuple[Path, Path]
) -> None:
    assert run(["verify", str(folder), "--ledger", str(ledger)]) == 0
    assert "no fault was found" in capsys.readouterr().out
    assert run(["verify", str(folder), "--key", str(keys[1]), "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["ok"]
    flip(folder / "heatmap.npz", 40, 3)
    assert run(["verify", str(folder)]) == 1
    assert "changed: heatmap.npz" in capsys.readouterr().out
    assert run(["verify", str(folder / "nowhere")]) == 3


def test_a_verification_is_plain_values(folder: Path) -> None:
    found = verify(folder)
    assert isinstance(found, Verification)
    assert json.loads(json.dumps(found.to_dict()))["ok"]


def test_a_folder_of_folders_is_verified_file_by_file(folder: Path) -> None:
    """A veiled corpus has its Parquet files in folders of their own."""
    part = folder / "stimulus=a.png" / "part-0.parquet"
    part.parent.mkdir()
    shutil.copy(folder / "heatmap.parquet", part)
    rewritten(folder, lambda values: values["files"].update({"stimulus=a.png/part-0.parquet": sha256(part)}))
    assert verify(folder).ok
    flip(part, 100, 5)
    assert found_in(folder) == {"contents of the files"}
