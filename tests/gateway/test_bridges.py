# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every bridge, whoever wrote it: a new one is tested as soon as it is registered."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import GazeveilError, InputError, MissingExtra, OptionError, WireError
from gazeveil.gateway.bridge import BRIDGES, Bridge, mean_of
from gazeveil.gateway.bridges.eyelink import EyeLink
from gazeveil.gateway.forwarding import _Writer, sender_in
from gazeveil.gateway.policy.settings import Address, InletSetting, Policy, TrackerSetting
from gazeveil.gateway.protocol import Gate
from gazeveil.gateway.protocols.pushlines import PushLinesSource
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tracker_fields import UNITS, Fields
from gazeveil.gaze.reading import read
from tests.gateway.bridge_fakes import (
    CANARY,
    RIGS,
    EyeLinkRig,
    FakeEyeTracker,
    LogRig,
    Rig,
    StreamRig,
    TobiiRig,
    ViveRig,
)
from tests.gateway.loopback import SCREEN

EVERY = pytest.mark.parametrize("name", BRIDGES.names())
PLACES = [((0.25, 0.5), (0.35, 0.6)), ((0.4, 0.2), (0.4, 0.2)), ((0.9, 0.8), None), (None, (0.1, 0.3)), (None, None)]


@pytest.fixture
def rigs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    made: list[Rig] = []

    def make(name: str) -> Any:
        made.append(RIGS[name](monkeypatch, tmp_path))
        return made[-1]

    yield make
    for rig in made:
        rig.close()


def tracker_of(rig: Rig, **more: Any) -> TrackerSetting:
    inlet = InletSetting(Address("127.0.0.1", 7385), Path("desk.token"))
    fields = None if rig.kind.fields == Fields() else rig.kind.fields
    given = {"inlet": inlet, "fields": fields, **more}
    return TrackerSetting("desk", "pushlines", rig.plane.geometry, **given)


def seen(rig: Rig, bridge: Bridge, places: Any = PLACES, start: float = 5.0) -> list[RawSample]:
    """What a bridge makes of eyes that look at some places, a hundred times a second."""
    found: list[RawSample] = []
    for n, (left, right) in enumerate(places):
        rig.look(start + n / 100, left, right)
        found += bridge.poll()
    return found


def test_every_bridge_has_a_fake_device() -> None:
    assert set(RIGS) == set(BRIDGES.names())


@EVERY
def test_a_bridge_says_what_it_needs_and_what_it_drops(name: str) -> None:
    kind = BRIDGES[name]
    assert kind.name == name
    assert kind.unit in UNITS
    assert kind.withheld
    assert all(reason.strip() for reason in kind.withheld.values())
    assert not kind.module or kind.install
    assert kind.device


@EVERY
def test_gaze_is_the_mean_of_the_eyes_in_seconds_and_the_unit_and_missing_eyes_are_missing(
    name: str, rigs: Any
) -> None:
    rig = rigs(name)
    bridge = rig.open()
    found = seen(rig, bridge)
    assert bridge.poll() == []
    bridge.close()
    assert [type(sample) for sample in found] == [RawSample] * len(PLACES)
    times = [sample.t - found[0].t for sample in found]
    assert times == pytest.approx([n / 100 for n in range(len(PLACES))], abs=2e-4)
    writer, plane = _Writer(rig.kind, tracker_of(rig)), rig.plane
    for sample, (left, right) in zip(found, PLACES, strict=True):
        expected = mean_of(left or (math.nan, math.nan), right or (math.nan, math.nan))
        share = plane.to_fraction(*writer._convert(sample.x, sample.y))
        assert share == pytest.approx(expected, abs=2e-3, nan_ok=True)


@EVERY
def test_nothing_else_of_what_a_device_tells_is_sent_and_the_gateway_takes_it_as_declared(name: str, rigs: Any) -> None:
    rig = rigs(name)
    bridge = rig.open()
    tracker = tracker_of(rig)
    writer, gateway = _Writer(rig.kind, tracker), PushLinesSource(rig.plane, Gate("right"), rig.kind.fields)
    gateway.connected(0.0)
    gateway.received(b'{"token": "right"}\n', 0.0)
    used: list[RawSample] = []
    for n in range(100):
        place = PLACES[n % len(PLACES)]
        rig.look(5.0 + n / 100, *place)
        samples = bridge.poll()
        line = writer.line(samples)
        assert all(set(one) == {"t", "x", "y"} for one in json.loads(line))
        assert f"{CANARY}"[:6].encode() not in line
        used += gateway.received(line, n / 100)
    bridge.close()
    assert len(used) > 40
    assert sum(math.isnan(sample.x) for sample in used) == len(used) // len(PLACES)
    assert sender_in(Policy((tracker,), ()), rig.kind) == tracker


@EVERY
def test_a_device_that_goes_away_is_told_and_can_be_opened_again(name: str, rigs: Any) -> None:
    rig = rigs(name)
    bridge = rig.open()
    assert len(seen(rig, bridge, PLACES[:1])) == 1
    rig.lose()
    with pytest.raises(WireError) as gone:
        bridge.poll()
    assert rig.kind.title in str(gone.value)
    bridge.close()
    bridge.close()
    if isinstance(rig, EyeLinkRig):
        rig.tracker.there = True
    if isinstance(rig, StreamRig):
        assert rig.library.open == 0
        with pytest.raises(WireError, match="connected: none"):
            rig.open()
        rig.library.there = True
    again = rig.open()
    assert len(seen(rig, again, PLACES[:1], start=9.0)) == 1
    again.close()


@EVERY
def test_what_a_device_should_not_say_is_missing_or_refused_and_never_quoted(name: str, rigs: Any) -> None:
    rig = rigs(name)
    assert rig.garbage()
    for offend in rig.garbage():
        bridge = rig.open()
        seen(rig, bridge, [((0.5, 0.5), (0.5, 0.5))])
        offend()
        refused = ""
        try:
            assert all(math.isfinite(sample.t) for sample in bridge.poll())
        except WireError as error:
            refused = str(error)
        assert f"{CANARY}"[:6] not in refused
        bridge.close()


@EVERY
def test_without_the_vendors_package_it_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = BRIDGES[name]
    if not kind.install:
        return  # it needs none
    if kind.module:
        monkeypatch.setitem(sys.modules, kind.module, None)
    with pytest.raises(MissingExtra) as missing:
        kind.open("", SCREEN)
    assert missing.value.hint == kind.install
    assert kind.title in missing.value.message


def test_a_point_that_no_eye_reaches_is_missing_and_does_not_end_the_stream(rigs: Any) -> None:
    rig = rigs("eyelink")
    line = _Writer(rig.kind, tracker_of(rig)).line([RawSample(1.0, 1e5, 3.0), RawSample(1.1, -1900.0, 3.0)])
    assert json.loads(line) == [{"t": 1.0, "x": None, "y": None}, {"t": 1.1, "x": -1900.0, "y": 3.0}]


def test_a_policy_for_other_samples_is_refused_with_what_to_write(rigs: Any) -> None:
    rig = rigs("eyelink")
    with pytest.raises(InputError, match=r'fields = \{ unit = "px" \}'):
        sender_in(Policy((tracker_of(rig, fields=None),), ()), rig.kind)
    with pytest.raises(OptionError, match="--tracker"):
        sender_in(Policy((tracker_of(rig), tracker_of(rig)), ()), rig.kind)
    with pytest.raises(OptionError, match="pushlines"):
        sender_in(Policy((), ()), rig.kind)
    with pytest.raises(InputError, match="cannot hold"):
        sender_in(
            Policy((TrackerSetting("desk", "pushlines", rigs("varjo").plane.geometry, fields=rig.kind.fields),), ()),
            rig.kind,
        )


def test_one_of_two_tobii_trackers_has_to_be_chosen(rigs: Any) -> None:
    rig: TobiiRig = rigs("tobii")
    rig.sdk.trackers.append(FakeEyeTracker("IS404-2"))
    with pytest.raises(OptionError, match="IS404-1, IS404-2"):
        rig.open()
    rig.device = "IS404-2"
    rig.open().close()
    rig.device = "IS404-3"
    with pytest.raises(WireError, match="IS404-1"):
        rig.open()


def test_an_eyelink_with_another_screen_is_refused(rigs: Any) -> None:
    rig: EyeLinkRig = rigs("eyelink")
    rig.tracker.coords = "0 0 1279 1023"
    with pytest.raises(InputError, match="1280x1024 pixels") as wrong:
        rig.open()
    assert not isinstance(wrong.value, WireError)  # trying again is useless
    rig.tracker.coords = "0.00, 0.00, 1919.00, 1079.00"
    rig.open().close()


def test_both_versions_of_the_stream_engine_are_called_rightly(rigs: Any) -> None:
    rig: StreamRig = rigs("tobii-stream")
    rig.library.major = 3
    bridge = rig.open()
    assert len(seen(rig, bridge, PLACES[:2])) == 2
    bridge.close()


@pytest.mark.parametrize("name", [name for name, rig in RIGS.items() if issubclass(rig, LogRig)])
def test_of_a_log_only_whole_lines_that_are_new_are_read(name: str, rigs: Any) -> None:
    rig: LogRig = rigs(name)
    seen_before = rig.path.stat().st_size
    rig.look(1.0, (0.5, 0.5), (0.5, 0.5))
    rig.tell(b"12")
    bridge = rig.open()
    assert bridge.poll() == []
    rig.tell(b"34,torn\n")
    rig.look(2.0, (0.5, 0.5), (0.5, 0.5))
    assert len(bridge.poll()) == 1
    before = rig.path.read_bytes()
    rig.look(3.0, (0.5, 0.5), (0.5, 0.5))
    line = rig.path.read_bytes()[len(before) :]
    rig.path.write_bytes(before)
    rig.tell(line[:20])
    assert bridge.poll() == []
    rig.tell(line[20:])
    assert len(bridge.poll()) == 1
    rig.path.write_bytes(before[:seen_before])
    with pytest.raises(WireError, match="started again"):
        bridge.poll()
    bridge.close()


def test_a_live_vive_log_whose_eyes_change_sides_is_refused(rigs: Any) -> None:
    rig: ViveRig = rigs("vive")
    bridge = rig.open()
    rig.tell(rig.header)  # a header again has no time, and is no sample
    assert [math.isnan(sample.x) for sample in seen(rig, bridge, PLACES[:1])] == [False]
    turned = [638342794100000000, 31, 31, 3, 3, -30, 0, 0, 30, 0, 0, 0, 0, 1, 0, 0, 1]
    rig.tell(";".join(map(str, turned)) + "\n")
    with pytest.raises(GazeveilError, match="changed sides"):
        bridge.poll()
    bridge.close()


@pytest.mark.parametrize("name", [name for name, rig in RIGS.items() if issubclass(rig, LogRig)])
def test_a_live_log_is_read_as_the_files_reader_reads_it(name: str, rigs: Any) -> None:
    rig: LogRig = rigs(name)
    bridge = rig.open()
    live = seen(rig, bridge, PLACES * 2)
    bridge.close()
    [recording] = read(rig.path, format=f"{name}-csv").recordings
    assert [sample.t - live[0].t for sample in live] == (recording.t - recording.t[0]).tolist()
    for axis in ("x", "y"):
        told = np.where(recording.tracked, getattr(recording, axis), np.nan)
        np.testing.assert_array_equal([getattr(sample, axis) for sample in live], told)


def test_a_vive_log_that_does_not_say_what_it_counts_in_is_looked_at_first(rigs: Any) -> None:
    rig: ViveRig = rigs("vive")
    rig.path.write_text(rig.header.replace("time(100ns)", "timestamp"))
    bridge = rig.open()
    row = ["31", "31", "3", "3", "30", "0", "0", "-30", *("0",) * 4, "1", "0", "0", "1"]
    found = []
    for n in range(40):
        rig.tell(";".join([f"{1000 + 11 * n}", *row]) + "\n")
        found += bridge.poll()
    bridge.close()
    assert [sample.t for sample in found] == [(1000 + 11 * n) / 1000 for n in range(30, 40)]  # milliseconds


def test_words_of_a_vendors_interface_that_fails_on_a_sample_are_not_repeated() -> None:
    class Failing:
        def isConnected(self) -> int:
            return 1

        def getNextData(self) -> int:
            raise ValueError("no eye in the sample at 512.25, 300.5")

    bridge = EyeLink.__new__(EyeLink)
    bridge._tracker, bridge._kinds = Failing(), (200,)
    with pytest.raises(WireError, match="failed with ValueError") as failed:
        bridge.poll()
    assert "512" not in str(failed.value)


def test_a_vive_log_tells_where_the_eyes_are_in_mm_and_only_a_policy_that_names_it_gets_it(rigs: Any) -> None:
    rig: ViveRig = rigs("vive")
    row = "638342794000000000;31;{};3;3;{};-33;4;-5;0;0;1;0;0;1\n"  # x grows to the left, y upwards, z ahead

    def told(header: str, right: int, left_place: str, **more: Any) -> tuple[RawSample, Any]:
        rig.path.write_text(header)
        bridge = rig.open()
        rig.tell(row.format(right, left_place))
        (sample,) = bridge.poll()
        bridge.close()
        (line,) = json.loads(_Writer(rig.kind, tracker_of(rig, **more)).line([sample]))
        return sample, line

    in_mm = re.sub(r"(gaze_origin_\w\.\w)", r"\1(mm)", rig.header)
    named = replace(rig.kind.fields, origins="origins")
    places = [[-30.5, -2.0, 3.0], [33.0, -4.0, -5.0]]
    assert told(in_mm, 31, "30.5;2;3", fields=named)[1]["origins"] == places
    assert told(in_mm, 30, "30.5;2;3", fields=named)[1]["origins"] == [places[0], None]  # the right one is not valid
    assert told(in_mm, 31, "30.5;2000;3", fields=named)[1]["origins"] == [None, places[1]]
    assert told(rig.header, 31, "30.5;2;3", fields=named)[1]["origins"] == [None, None]  # in mm, or in metres?
    assert set(told(in_mm, 31, "30.5;2;3")[1]) == {"t", "x", "y"}
    sample, line = told(in_mm, 31, "30.5;2;3", fields=named)
    gateway = PushLinesSource(rig.plane, Gate("right"), named)
    gateway.connected(0.0)
    gateway.received(b'{"token": "right"}\n', 0.0)
    found: list[RawSample] = []
    for n in range(100):
        found += gateway.received(json.dumps({**line, "t": 5.0 + n / 100}).encode() + b"\n", n / 100)
    assert {one.eyes for one in found} == {sample.eyes}
    setting = tracker_of(rig, fields=named)
    assert sender_in(Policy((setting,), ()), rig.kind) == setting
    with pytest.raises(InputError, match="other samples"):
        sender_in(Policy((tracker_of(rig, fields=replace(rig.kind.fields, ipd="ipd")),), ()), rig.kind)
    varjo = rigs("varjo")
    with pytest.raises(InputError, match="other samples"):
        sender_in(Policy((tracker_of(varjo, fields=named),), ()), varjo.kind)
