# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A short round of ``make taps``: every protocol end to end over real sockets, and that the taps would hear a leak.

It runs in a process of its own, because liblsl reads its configuration once per process.
"""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.taps.raw import Canaries, Gaze, Points
from tests.taps.search import LOOSER, Found, _pairs, names, search
from tests.taps.world import EVERY, NEEDS, SENDERS

ROOT = Path(__file__).resolve().parents[2]
for _package in ("starlette", "uvicorn", "prometheus_client", "websockets"):
    pytest.importorskip(_package)

PROTOCOLS = pytest.mark.parametrize("protocol", EVERY)


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the taps heard: of each tracker in one other protocol with a veil, and in the same without one."""
    told = tmp_path_factory.mktemp("taps") / "told.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.taps", "--rounds", "1", "--seconds", "9", "--shift", "1", "--hearing",
         "--seed", "20", "--json", told],
        cwd=ROOT, capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert told.exists(), done.stderr[-3000:]
    return json.loads(told.read_text())  # type: ignore[no-any-return]


def apps(heard: dict[str, Any], protocol: str, by: str, *, veiled: bool) -> list[dict[str, Any]]:
    if protocol not in heard["protocols"]:
        pytest.skip(f"{protocol} needs {' and '.join(NEEDS[protocol])}")
    found = [one for one in heard["apps"] if one[by] == protocol and one["veiled"] is veiled]
    assert found
    return found


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("protocol", "by"),
    [*((name, "protocol") for name in EVERY), *((name, "tracker") for name in (*EVERY, *SENDERS))],
)
def test_nothing_raw_leaves(heard: dict[str, Any], protocol: str, by: str) -> None:
    for one in apps(heard, protocol, by, veiled=True):
        found = one["found"]
        assert one["records"] > (100 if one["output"] == "samples" else 0)
        assert found["searched"] > (10_000 if one["output"] == "samples" else 100)
        assert (found["raw_points"], found["raw_coordinates"], found["canaries"]) == (0, 0, 0)
        assert (found["off_list"], found["not_made_up"]) == ([], [])


@PROTOCOLS
def test_without_a_veil_the_tap_hears_raw_gaze(heard: dict[str, Any], protocol: str) -> None:
    for one in apps(heard, protocol, "protocol", veiled=False):
        assert one["found"]["raw_points"] > 0.8 * one["records"] > 80
        assert one["found"]["canaries"] == 0


def test_neither_log_nor_ledger_nor_status_nor_metrics_tell_gaze(heard: dict[str, Any]) -> None:
    told = heard["told"]
    assert told["clean"]
    assert told["searched"] > 10_000
    assert told["log_lines"] > 20
    assert heard["garbage_sent"] > 0
    assert heard["stopped_cleanly"]


def test_chance_would_not_have_shown_anything_either(heard: dict[str, Any]) -> None:
    veiled = [one for one in heard["apps"] if one["veiled"]]
    assert sum(one["found"]["by_chance"] for one in veiled) < 0.01


def test_canaries_are_found_in_text_and_as_doubles_whatever_their_scale() -> None:
    canaries, nothing = Canaries(random.Random(1)), Points.of(np.zeros((0, 2)), up=True)
    number, share, word = canaries.number("pupil"), canaries.share("confidence"), canaries.word("serial")
    for text in (f"<LPD>{number}</LPD>", f'"pupil":{number / 1000:.6f}', f'"confidence":{share}', f"user={word}"):
        assert search(text.encode(), nothing, canaries, binary=False).canaries == 1
    for order in "<>":
        for value in (number, share, number / 1000):
            data = b"odd" + struct.pack(f"{order}d", value) + bytes(16)
            assert search(data, nothing, canaries, binary=True).canaries == 1
    harmless = b"0.123456 0.5 12345.678901 " * 1000
    assert search(harmless, nothing, canaries, binary=True).canaries == 0


def test_raw_points_are_found_in_every_unit_in_text_and_as_doubles() -> None:
    gaze, canaries = Gaze(random.Random(2)), Canaries(random.Random(2))
    x, y = gaze.next()
    points = Points.of(gaze.recent(), up=True)
    for told in (f"{x:.5f},{y:.5f}", f"{x:.6f} {1 - y:.6f}", f"{x * 1920:.2f};{y * 1080:.2f}"):
        assert search(f"<{told}>".encode(), points, canaries, binary=False).raw_points == 1
    assert search(f"{x + 2e-5:.5f},{y:.5f}".encode(), points, canaries, binary=False).raw_points == 0
    for order in "<>":
        assert search(b"?" + struct.pack(f"{order}2d", x, y) + b"??", points, canaries, binary=True).raw_points == 1
        packed = b"\xcb" + struct.pack(f"{order}d", x) + b"\xcb" + struct.pack(f"{order}d", 1 - y)
        assert search(packed + bytes(9), points, canaries, binary=True).raw_points == 1
        one = b"?" + struct.pack(f"{order}d", y * 1080) + bytes(9)
        assert search(one, points, canaries, binary=True).raw_coordinates == 1


def test_fields_off_the_list_and_values_that_are_not_made_up_are_found() -> None:
    assert names("opengaze", b'<REC BPOGX="0.5" LPD="0.00000" />').clean
    assert names("opengaze", b'<REC BPOGX="0.5" GSR="7" />').off_list == {"GSR"}
    assert names("opengaze", b'<REC LPD="3.1" />').not_made_up == {"LPD"}
    assert names("opengaze", b'<IMG DATA="1" />').off_list == {"IMG", "DATA"}
    assert names("gazepointer", b"<CGazeData><GazeX>1.00</GazeX><HeadX>3</HeadX>").not_made_up == {"HeadX"}
    assert names("eyetribe", b'{"pcenter":{"x":0.3,"y":0.0},"psize":2.5}').not_made_up == {"pcenter", "psize"}
    assert names("jsonlines", b'{"t":1.0,"x":0.5,"pupil":3}').off_list == {"pupil"}
    packets = b"".join(bytes((ord("$"), channel, 0, 8)) + b'<D>"d":1' for channel in (0, 1))
    assert names("neon", b"RTSP/1.0 200 OK\r\n\r\n" + packets).clean
    assert names("neon", packets + b'{"pupil":3}' + packets).off_list == {"pupil"}


def test_the_number_of_chance_hits_is_measured_rightly() -> None:
    """About ten hits are expected; fewer than 1 or more than 30 have a probability below 0.0001."""
    random_ = np.random.default_rng(5)
    points, found, near = Points.of(random_.uniform(0, 1, (5000, 2)), up=False), Found(), Found()
    for _ in range(20):
        a, b = random_.uniform(0, 1, (2, 10_000))
        _pairs(found, points, a, b, np.full(len(a), 5e-5))
        _pairs(near, points, a, b, np.full(len(a), 5e-5 / LOOSER))
    assert 1 <= found.raw_points <= 30
    assert 8.5 < found.by_chance < 11.5
    assert near.raw_points <= found.raw_points
