# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers at this machine are found by what they leave: on USB, as packages, at ports and on LSL."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.gateway import machine_checks
from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.machine_checks import SERVERS, USB_VENDORS, USB_WORDS, FoundTracker
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import PROTOCOLS

UDP = "  sl  local_address rem_address   st\n  12: 0100007F:115C 00000000:0000 07 0\n"


@pytest.fixture(autouse=True)
def _only_what_a_test_puts_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks, "_lsl", lambda: iter(()))
    monkeypatch.setattr(machine_checks, "_listens", lambda port: False)


def found(folder: Path, by: str) -> list[FoundTracker]:
    return [one for one in machine_checks.find_trackers(folder / "usb", folder / "udp") if one.by == by]


def plug(folder: Path, name: str, **files: str) -> None:
    device = folder / "usb" / name
    device.mkdir(parents=True)
    for file, text in files.items():
        (device / file).write_text(f"{text}\n")


def test_a_machine_without_trackers_has_none(tmp_path: Path) -> None:
    assert found(tmp_path, "usb") == found(tmp_path, "port") == []
    plug(tmp_path, "usb1", idVendor="1d6b", idProduct="0002", manufacturer="Linux", product="EHCI Host Controller")
    (tmp_path / "usb" / "file").write_text("")
    assert found(tmp_path, "usb") == []


def test_devices_on_usb_are_known_by_their_vendor_or_their_words(tmp_path: Path) -> None:
    plug(tmp_path, "1-1", idVendor="2104", idProduct="0313", product="EyeChip")
    plug(tmp_path, "1-2", idVendor="05a3", idProduct="9230", product="Pupil Cam1 ID0")
    plug(tmp_path, "1-3", idVendor="0bb4", idProduct="0309", manufacturer="HTC", product="VIVE Pro\x1b[31m")
    told = found(tmp_path, "usb")
    assert [one.source for one in told] == ["tobii", "tobii-stream", "pupil", "vive"]
    assert "EyeChip on USB (2104:0313)" in told[0].what
    assert told[0].commands[-1] == "gazeveil track --from tobii --to policy.toml"
    assert told[3].commands[-1].endswith("--from vive --to policy.toml --device LOG")
    assert all(one.what.isprintable() for one in told)


def test_a_package_that_is_missing_is_told_and_one_that_is_there_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plug(tmp_path, "1-1", idVendor="2104", idProduct="0313")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert found(tmp_path, "usb")[0].needs == BRIDGES["tobii"].install
    assert found(tmp_path, "package") == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "tobii_research" or None)
    assert found(tmp_path, "usb")[0].needs == ""
    assert [one.source for one in found(tmp_path, "package")] == ["tobii"]


def test_programs_of_trackers_are_found_at_their_ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks, "_listens", lambda port: port in (4242, 50020))
    (tmp_path / "udp").write_text(UDP)
    assert [one.source for one in found(tmp_path, "port")] == ["opengaze", "pupil", "smi"]
    (tmp_path / "udp").write_text(UDP.replace("115C", "115D"))
    assert [one.source for one in found(tmp_path, "port")] == ["opengaze", "pupil"]


def test_a_port_is_tried_by_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert machine_checks._listens(port)
    assert not machine_checks._listens(port)


def test_every_source_that_is_named_exists_and_its_part_of_a_policy_can_be_read(tmp_path: Path) -> None:
    named = {*SERVERS, *(one for known in (*USB_VENDORS.values(), *USB_WORDS.values()) for one in known), "lsl"}
    assert named <= {*PROTOCOLS.names(), *BRIDGES.names()}
    for source in sorted(named | set(BRIDGES.names())):
        text = machine_checks._found_tracker("it", "usb", source).policy
        app = '[[app]]\nname = "game"\ntracker = "desk"\nprotocol = "jsonlines"\nveil = { preset = "mpmu" }\n'
        (tmp_path / "policy.toml").write_text(f"version = 1\n{text}{app}")
        [tracker] = read_policy(tmp_path / "policy.toml").trackers
        assert tracker.protocol == (source if source in PROTOCOLS else "pushlines")


def test_the_doctor_says_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plug(tmp_path, "1-1", idVendor="2104", idProduct="0313", product="Tobii Eye Tracker 5")
    here = machine_checks.find_trackers(tmp_path / "usb", tmp_path / "udp")
    monkeypatch.setattr("gazeveil.gateway.machine_checks.find_trackers", lambda: here)
    assert run(["doctor", "--json"]) in (0, 1)
    told = json.loads(capsys.readouterr().out)
    assert [one["source"] for one in told["trackers"] if one["by"] == "usb"] == ["tobii", "tobii-stream"]
    assert [one["state"] for one in told["findings"] if "Tobii Eye Tracker 5" in one["what"]] == ["found"] * 2
    assert run(["doctor"]) in (0, 1)
    text = " ".join(capsys.readouterr().out.split())
    assert 'for tobii, in policy.toml: [[tracker]] name = "desk" protocol = "pushlines"' in text
