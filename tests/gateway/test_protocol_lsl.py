# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lab Streaming Layer: which channels are read, which are written, and liblsl itself over loopback."""

from __future__ import annotations

import csv
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import headset, normalised, screen
from gazeveil.errors import GeometryError, PrivacyError, WireError
from gazeveil.gateway.protocol import Output, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.lsl import Channel, LslSink, LslSource, channels_of
from gazeveil.testing import veiled_fixation, veiled_hit, veiled_sample
from tests.gateway.loopback import SCREEN
from tests.gateway.loopback_messages import LSL_ON_THIS_MACHINE, clients

FRACTIONS = ViewingPlane(normalised())
ROOT = Path(__file__).parents[2]

RELAY = (
    Channel("confidence", "Confidence", "normalized"),
    Channel("norm_pos_x", "ScreenX", "normalized", coordinate_system="world"),
    Channel("norm_pos_y", "ScreenY", "normalized", coordinate_system="world"),
    *(Channel(f"gaze_point_3d_{axis}", f"Direction{axis.upper()}", "mm") for axis in "xyz"),
    *(Channel(f"eye_center0_3d_{axis}", f"Position{axis.upper()}", "mm", "right") for axis in "xyz"),
    Channel("diameter0_2d", "Diameter", "pixels", "right"),
)
"""As Pupil Labs' relay describes itself."""


def reader(plane: ViewingPlane, channels: tuple[Channel, ...]) -> LslSource:
    source = LslSource(plane)
    source.described(channels)
    return source


def test_a_relays_gaze_is_read_from_the_bottom_left_and_nothing_else_of_it() -> None:
    sample = reader(FRACTIONS, RELAY).sample([0.9, 0.25, 0.9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 40.0], 7.0)
    assert sample is not None
    assert [sample.t, sample.x, sample.y] == pytest.approx([7.0, 0.25, 0.1])


def test_pixels_of_a_screen_are_read_from_the_top_left() -> None:
    channels = (
        Channel("diam", "Diameter", "mm"),
        Channel("sx", "ScreenX", "pixels"),
        Channel("sy", "ScreenY", "pixels"),
    )
    sample = reader(ViewingPlane(normalised(1000, 500)), channels).sample([3.0, 250.0, 100.0], 7.0)
    assert sample is not None
    assert (sample.x, sample.y) == (0.25, 0.2)


NEON = (
    *(Channel(axis, "", "px") for axis in "xy"),
    *(Channel("PupilDiameter", "Diameter", "mm", eye) for eye in ("left", "right")),
    *(Channel(f"EyeballCenter{axis}", "", "mm", eye) for eye in ("left", "right") for axis in "XYZ"),
)
"""As Neon's phone describes itself, with the state of the eyes."""


def test_of_neons_own_stream_the_point_alone_is_read() -> None:
    for channels in (NEON, NEON[:2]):
        source = LslSource(ViewingPlane(screen(1600, 1200)))
        source.described(channels, "Neon Companion_Neon Gaze")
        sample = source.sample([400.0, 900.0, *[31.415] * 8], 7.0)
        assert sample is not None
        assert (sample.t, sample.x, sample.y) == (7.0, 400.0, 900.0)
    with pytest.raises(WireError, match="both eyes"):  # x and y of anybody else may be anything
        reader(SCREEN, NEON)


def test_a_relay_may_call_the_type_of_a_channel_its_metatype() -> None:
    pylsl = pytest.importorskip("pylsl")
    info = pylsl.StreamInfo("pi_Gaze", "Gaze", 2, 0.0, "double64", "device")
    channels = info.desc().append_child("channels")
    for axis in "xy":
        entry = channels.append_child("channel")
        told = {"label": axis, "eye": "both", "metatype": f"Screen{axis.upper()}", "unit": "pixels"}
        for name, value in told.items():
            entry.append_child_value(name, value)
    assert [channel.type for channel in channels_of(info)] == ["ScreenX", "ScreenY"]


def test_a_stream_that_is_called_like_neons_has_neons_channels() -> None:
    sink = LslSink(StreamFacts(SCREEN, name="game", shown_as="Neon Companion_Neon Gaze"))
    assert [(channel.label, channel.unit) for channel in sink.description.channels] == [
        ("x", "pixels"),
        ("y", "pixels"),
    ]
    assert (sink.description.name, sink.description.type) == ("Neon Companion_Neon Gaze", "Gaze")
    assert sink.description.source_id == "gazeveil:game"
    assert sink.show(veiled_sample(1.0, 480.0, 810.0), 5.0) == ([400.0, 900.0], 5.0)
    silent = sink.silence(6.0)
    assert silent is not None
    assert [math.isnan(float(value)) for value in silent[0]] == [True, True]
    found = reader(ViewingPlane(screen(1600, 1200)), sink.description.channels).sample([400.0, 900.0], 5.0)
    assert found is not None
    assert (found.x, found.y) == (400.0, 900.0)
    fixations = LslSink(StreamFacts(SCREEN, output="fixations", name="game", shown_as="Neon Companion_Neon Gaze"))
    assert fixations.description.channels[0].label == "confidence"


def test_a_channel_of_one_eye_is_not_taken_for_both() -> None:
    left = (Channel("x", "ScreenX", "pixels", "left"), Channel("y", "ScreenY", "pixels", "left"))
    right = (Channel("x", "ScreenX", "pixels", "right"), Channel("y", "ScreenY", "pixels", "right"))
    with pytest.raises(WireError, match="both eyes"):
        reader(SCREEN, (*left, *right))


@pytest.mark.parametrize(
    ("direction", "degrees"),
    [
        ((0.0, 0.0, 500.0), (0.0, 0.0)),
        ((1.0, 0.0, 1.0), (45.0, 0.0)),
        ((0.0, 1.0, 1.0), (0.0, 45.0)),
        ((-1.0, 0.0, -1.0), (-135.0, 0.0)),
    ],
)
def test_a_direction_becomes_degrees_of_a_headset(
    direction: tuple[float, float, float], degrees: tuple[float, float]
) -> None:
    sample = reader(ViewingPlane(headset(100, 90)), RELAY).sample([1.0, 0.5, 0.5, *direction, 0.0, 0.0, 0.0, 0.0], 7.0)
    assert sample is not None
    assert (sample.x, sample.y) == pytest.approx(degrees)


def test_no_direction_is_missing_gaze() -> None:
    sample = reader(ViewingPlane(headset(100, 90)), RELAY).sample([1.0, 0.5, 0.5, *[0.0] * 7], 7.0)
    assert sample is not None
    assert math.isnan(sample.x)


@pytest.mark.parametrize("values", [[0.1, 0.5, 0.5], [math.nan, 0.5, 0.5], [1.0, math.inf, 0.5], [1.0, 0.5, 1e200]])
def test_gaze_without_confidence_or_number_is_missing(values: list[float]) -> None:
    sample = reader(FRACTIONS, RELAY[:3]).sample(values, 7.0)
    assert sample is not None
    assert math.isnan(sample.x)
    assert math.isnan(sample.y)


def test_a_sample_at_no_time_is_none() -> None:
    assert reader(FRACTIONS, RELAY[:3]).sample([1.0, 0.5, 0.5], math.nan) is None


def test_a_sample_that_is_not_as_described_is_refused() -> None:
    with pytest.raises(WireError, match="fewer"):
        reader(FRACTIONS, RELAY[:3]).sample([1.0, 0.5], 7.0)
    with pytest.raises(WireError, match="numbers"):
        reader(FRACTIONS, RELAY[:3]).sample(["secret", 0.5, 0.5], 7.0)  # type: ignore[list-item]
    with pytest.raises(WireError, match="described"):
        LslSource(FRACTIONS).sample([1.0, 0.5, 0.5], 7.0)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats() | st.text(max_size=3) | st.none(), max_size=5), st.floats())
def test_any_sample_is_read_or_refused(values: list[object], t: float) -> None:
    try:
        sample = reader(FRACTIONS, RELAY[:3]).sample(values, t)  # type: ignore[arg-type]
    except WireError:
        return
    if sample is not None:
        assert math.isnan(sample.x) == math.isnan(sample.y)
        assert not abs(sample.x) > 1e6


class Undescribed:
    """A stream that says how many channels it has, and no more."""

    def __init__(self, channels: int) -> None:
        self.channels = channels

    def channel_count(self) -> int:
        return self.channels

    def desc(self) -> Undescribed:
        return self

    def child(self, name: str) -> Undescribed:
        return self

    def empty(self) -> bool:
        return True


@pytest.mark.parametrize("channels", [0, 3, 100_000])
def test_a_stream_that_does_not_describe_its_channels_is_refused(channels: int) -> None:
    with pytest.raises(WireError):
        channels_of(Undescribed(channels))


def test_a_point_is_written_as_the_relay_does() -> None:
    sink = LslSink(StreamFacts(ViewingPlane(screen(1000, 500)), name="game"))
    assert [channel.label for channel in sink.description.channels] == ["confidence", "norm_pos_x", "norm_pos_y"]
    assert (sink.description.type, sink.description.name) == ("Gaze", "game")
    assert sink.show(veiled_sample(3.0, 250.0, 50.0), 50.0) == ([1.0, 0.25, 0.9], 50.0)


def test_times_are_those_of_the_machine_and_follow_the_shortest_delay() -> None:
    sink = LslSink(StreamFacts(SCREEN))
    times = [
        sink.show(veiled_sample(t, 1.0, 1.0), now) for t, now in ((0.0, 50.0), (1.0, 51.3), (2.0, 52.0), (3.0, 52.9))
    ]
    assert [time and round(time[1], 3) for time in times] == [50.0, 51.0, 52.0, 52.9]


def test_silence_is_one_sample_without_a_place() -> None:
    sink = LslSink(StreamFacts(SCREEN))
    assert sink.silence(1.0) is None
    sink.show(veiled_sample(3.0, 1.0, 1.0), 50.0)
    silent = sink.silence(51.0)
    assert silent is not None
    values, when = silent
    assert (values[0], when) == (0.0, 51.0)
    assert all(math.isnan(float(value)) for value in values[1:])
    assert sink.silence(52.0) is None


def test_fixations_have_their_duration_and_begin_when_they_began() -> None:
    sink = LslSink(StreamFacts(SCREEN, output="fixations"))
    assert sink.description.channels[-1].label == "duration"
    assert sink.show(veiled_fixation(3.0, 960.0, 540.0, 0.25, 4), 10.0) == ([1.0, 0.5, 0.5, 250.0], 9.75)


def test_names_of_areas_are_markers_and_the_last_says_why_no_more_come() -> None:
    sink = LslSink(StreamFacts(SCREEN, output="hits"))
    assert (sink.description.type, sink.description.format) == ("Markers", "string")
    assert sink.show(veiled_hit(3.0, "menu"), 10.0) == (["menu"], 10.0)
    assert sink.end("the budget is spent", 11.0) == (["end: the budget is spent"], 11.0)
    assert sink.ended
    assert sink.show(veiled_hit(4.0, "menu"), 12.0) is None


def test_a_stream_takes_only_what_it_says_it_carries() -> None:
    with pytest.raises(PrivacyError):
        LslSink(StreamFacts(SCREEN, output="hits")).show(veiled_sample(1.0, 2.0, 3.0), 0.0)


def test_a_plane_without_fractions_is_refused_at_once() -> None:
    with pytest.raises(GeometryError):
        LslSink(StreamFacts(ViewingPlane(headset())))


def test_a_stream_says_nothing_of_the_device_or_the_person() -> None:
    assert LslSink(StreamFacts(SCREEN, name="game")).description.source_id == "gazeveil:game"


@contextmanager
def outlet(tmp_path: Path, name: str, output: Output, lasting_s: float) -> Iterator[dict[str, str]]:
    """An outlet in its own process; yields the environment that keeps other processes on this machine too."""
    settings = tmp_path / "lsl_api.cfg"
    settings.write_text(LSL_ON_THIS_MACHINE)
    there = {**os.environ, "LSLAPICFG": str(settings)}
    command = [sys.executable, "-m", "tests.gateway.loopback_messages", "lsl", name, output, str(lasting_s)]
    with subprocess.Popen(command, cwd=ROOT, env=there, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        if server.stdout.readline() != "ready\n":
            pytest.skip("liblsl does not work here")
        try:
            yield there
        finally:
            server.terminate()


LISTEN = """
import sys, pylsl
from gazeveil.gateway.protocols.lsl import LslSource, channels_of
from tests.gateway.loopback import SCREEN
(found,) = pylsl.resolve_byprop("name", sys.argv[1], timeout=20)
inlet = pylsl.StreamInlet(found, recover=False)
channels = channels_of(inlet.info(timeout=10))
print(found.type(), *(channel.label for channel in channels))
if found.type() == "Markers":
    for _ in range(3):
        print(inlet.pull_sample(timeout=10)[0][0] or "none")
else:
    source = LslSource(SCREEN)
    source.described(channels)
    for _ in range(20):
        sample = source.sample(*inlet.pull_sample(timeout=10))
        print(round(sample.x, 6), round(sample.y, 6))
"""


@pytest.mark.parametrize(
    ("output", "first", "then"),
    [
        ("samples", "Gaze confidence norm_pos_x norm_pos_y", "480.0 270.0"),
        ("fixations", "Gaze confidence norm_pos_x norm_pos_y duration", "480.0 270.0"),
        ("hits", "Markers area", "unnamed"),
    ],
)
def test_over_liblsl_itself_our_source_reads_our_sink(tmp_path: Path, output: Output, first: str, then: str) -> None:
    pytest.importorskip("pylsl")
    with outlet(tmp_path, f"veiled-{output}-{os.getpid()}", output, 5.0) as environment:
        heard = subprocess.run(
            [sys.executable, "-c", LISTEN, f"veiled-{output}-{os.getpid()}"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout.splitlines()
    assert heard[0] == first
    assert heard[1] == then


def test_an_inlet_that_others_wrote_records_unmodified(tmp_path: Path) -> None:
    pytest.importorskip("pylsl")
    folder = clients()
    script = folder / "pupil-helpers" / "LabStreamingLayer" / "lsl_inlet.py" if folder else None
    if script is None or not script.exists():
        pytest.skip("set GAZEVEIL_CLIENTS to a folder with pupil-helpers")
    kept = tmp_path / "recording.csv"
    with outlet(tmp_path, "pupil_capture", "samples", 2.0) as environment:
        client = subprocess.Popen([sys.executable, script, "-R", kept], env=environment, stderr=subprocess.DEVNULL)
        try:
            client.wait(8)
        except subprocess.TimeoutExpired:
            client.send_signal(signal.SIGINT)
            client.wait(10)
    header, *rows = csv.reader(kept.read_text().splitlines())
    assert header == ["timestamp", "confidence", "norm_pos_x", "norm_pos_y"]
    assert rows[0][1:] == ["1.0", "0.25", "0.75"]
    assert rows[-1][1:] == ["0.0", "nan", "nan"]
    assert len(rows) > 100
