# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Core's network API: dialogues of real clients, what a tracker may send us, and what leaves."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazeveil import headset, normalised, screen
from gazeveil.errors import GeometryError, PrivacyError, WireError
from gazeveil.gateway.protocol import StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.pupil import API_VERSION, PupilSink, PupilSource
from gazeveil.gateway.sample import RawSample
from gazeveil.testing import veiled_fixation, veiled_hit, veiled_sample
from tests.gateway.loopback import SCREEN
from tests.gateway.loopback_messages import MADE_UP, clients, read_transcript, serving_pupil

msgspec = pytest.importorskip("msgspec")
zmq = pytest.importorskip("zmq")

TRANSCRIPTS = Path(__file__).parent / "transcripts"
FRACTIONS = ViewingPlane(normalised())

PUPIL = {
    "id": 0,
    "topic": "pupil.0.3d",
    "method": "pye3d",
    "norm_pos": [0.4, 0.6],
    "diameter": 41.0,
    "timestamp": 9.9,
    "confidence": 0.97,
    "ellipse": {"angle": 12.0, "center": [80.0, 90.0], "axes": [40.0, 41.0]},
    "theta": 1.6,
    "phi": -1.5,
    "circle_3d": {"normal": [0.1, 0.2, -0.9], "radius": 2.0, "center": [1.0, 2.0, 90.0]},
    "diameter_3d": 4.1,
    "sphere": {"center": [1.5, 2.5, 100.0], "radius": 10.4},
}


def gaze(**changes: object) -> list[bytes]:
    """A datum as Pupil Capture sends it, with everything that must not leave."""
    datum = {
        "topic": "gaze.3d.01.",
        "norm_pos": [0.25, 0.9],
        "confidence": 0.98,
        "timestamp": 10.0,
        "base_data": [PUPIL, PUPIL],
        "gaze_point_3d": [10.0, 20.0, 500.0],
        "eye_centers_3d": {"0": [20.0, 15.0, -20.0], "1": [-40.0, 15.0, -20.0]},
        "gaze_normals_3d": {"0": [0.1, 0.0, 0.99], "1": [0.1, 0.0, 0.99]},
        **changes,
    }
    return [b"gaze.3d.01.", msgspec.msgpack.encode(datum)]


def decoded(message: list[bytes]) -> dict[str, object]:
    return msgspec.msgpack.decode(message[1])  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("transcript", "shown", "rate_hz"),
    [
        ("pupil_remote_control", StreamFacts(SCREEN), 2.0),
        ("pupil_remote_annotations", StreamFacts(SCREEN), 2.0),
        ("pupil_gaze_on_surface", StreamFacts(SCREEN, name="unnamed"), 4.0),
        ("pupil_hits_on_surface", StreamFacts(SCREEN, output="hits", areas=("unnamed", "menu")), 10.0),
        ("pupil_psychopy", StreamFacts(SCREEN, shown_as="psychopy_iohub_surface", blank_pupils=True), 4.0),
    ],
)
def test_dialogues_of_real_clients_are_led_again_word_for_word(
    transcript: str, shown: StreamFacts, rate_hz: float
) -> None:
    tap = read_transcript(TRANSCRIPTS / f"{transcript}.txt")
    sink = PupilSink(shown, *tap.ports)
    shown_so_far = 0
    published: list[list[bytes]] = []
    answers: list[list[bytes]] = []
    notices: list[list[bytes]] = []
    for way, now, frames in tap.dialogue:
        if way == ">":
            answers += [sink.answer(frames, now)]
            notices += sink.notices()
        elif way == "<":
            assert answers.pop() == frames
        elif notices:
            assert notices.pop(0) == frames
        else:
            while not published:
                published = sink.show(MADE_UP[shown.output](shown_so_far, rate_hz), now)
                shown_so_far += 1
            assert published.pop(0) == frames
    assert not answers
    assert not notices
    assert any(way == ">" for way, _, _ in tap.dialogue)


def test_gaze_is_read_and_all_else_is_forgotten() -> None:
    (sample,) = PupilSource(FRACTIONS).message(gaze(), 0.0)
    assert [sample.t, sample.x, sample.y] == pytest.approx([10.0, 0.25, 0.1])
    assert not hasattr(sample, "base_data")


def test_gaze_of_a_scene_camera_becomes_pixels_of_a_plane_in_pixels() -> None:
    (sample,) = PupilSource(ViewingPlane(screen(1000, 500))).message(gaze(), 0.0)
    assert [sample.x, sample.y] == pytest.approx([250.0, 50.0])


@pytest.mark.parametrize(
    "changes",
    [
        {"confidence": 0.59},
        {"confidence": math.nan},
        {"norm_pos": [math.nan, 0.5]},
        {"norm_pos": [0.5, math.inf]},
        {"norm_pos": [1e300, 0.5]},
    ],
)
def test_gaze_without_confidence_or_number_is_missing(changes: dict[str, object]) -> None:
    (sample,) = PupilSource(FRACTIONS).message(gaze(**changes), 0.0)
    assert math.isnan(sample.x)
    assert math.isnan(sample.y)


@pytest.mark.parametrize("timestamp", [math.nan, -math.inf, 1e30])
def test_gaze_at_no_time_is_no_sample(timestamp: float) -> None:
    assert PupilSource(FRACTIONS).message(gaze(timestamp=timestamp), 0.0) == []


def test_other_topics_are_not_asked_for_and_not_read() -> None:
    source = PupilSource(FRACTIONS)
    assert source.subscriptions() == [b"gaze."]
    assert source.message([b"pupil.0.3d", msgspec.msgpack.encode(PUPIL)], 0.0) == []


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b"gaze.3d.01."],
        [b"gaze.3d.01.", b""],
        [b"gaze.3d.01.", b"\xc1"],
        [b"gaze.3d.01.", b"\x81\xa1x" + b"\x91" * 200_000 + b"\xc0"],
        [b"gaze.3d.01.", b"\xdf\xff\xff\xff\xff"],
        [b"gaze.3d.01.", b"\x00" * (2 << 20)],
        [b"gaze.3d.01.", b"\x80"],
    ],
    ids=["nothing", "topic", "empty", "reserved", "deep", "cut off", "huge", "no fields"],
)
def test_garbage_is_refused(frames: list[bytes]) -> None:
    with pytest.raises(WireError):
        PupilSource(FRACTIONS).message(frames, 0.0)


def test_errors_do_not_quote_what_came() -> None:
    with pytest.raises(WireError) as refused:
        PupilSource(FRACTIONS).message(gaze(norm_pos=["secret 0.123456", 2]), 0.0)
    assert "secret" not in str(refused.value)
    assert refused.value.__suppress_context__


@settings(max_examples=300, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=4))
@example([b"gaze", b"\x83\xa8norm_pos\x92\x00\x00\xaaconfidence\x01\xa9timestamp\x00"])
def test_any_message_is_read_or_refused(frames: list[bytes]) -> None:
    for message in (frames, [b"gaze.", *frames]):
        try:
            found = PupilSource(FRACTIONS).message(message, 0.0)
        except WireError:
            continue
        assert all(type(sample) is RawSample for sample in found)


def test_the_tracker_is_asked_where_it_publishes() -> None:
    source = PupilSource(FRACTIONS)
    assert source.requests() == [[b"SUB_PORT"]]
    source.answered([b"41234"])
    assert source.sub_port == 41234
    assert source.requests() == []


@pytest.mark.parametrize("answer", [[], [b""], [b"0"], [b"65536"], [b"4 1"], [b"-1"], ["४१".encode()], [b"1", b"2"]])
def test_an_answer_that_is_no_port_is_refused(answer: list[bytes]) -> None:
    with pytest.raises(WireError):
        PupilSource(FRACTIONS).answered(answer)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=100), max_size=3))
def test_every_request_is_answered_in_one_frame(frames: list[bytes]) -> None:
    (answer,) = PupilSink(StreamFacts(SCREEN)).answer(frames, 1.0)
    assert answer.decode()


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"R", b"OK"),
        (b"R my recording", b"OK"),
        (b"r", b"OK"),
        (b"C", b"OK"),
        (b"c", b"OK"),
        (b"v", API_VERSION.encode()),
        (b"SUB_PORT", b"6001"),
        (b"PUB_PORT", b"6002"),
        (b"T secret", b"The time cannot be converted to float."),
        (b"T nan", b"The time cannot be converted to float."),
        (b"x", b"Unknown command."),
        (b"", b"Unknown command."),
    ],
)
def test_requests_have_the_answers_that_clients_expect(request_: bytes, answer: bytes) -> None:
    assert PupilSink(StreamFacts(SCREEN), 6001, 6002).answer([request_], 0.0) == [answer]


def test_time_is_that_of_the_gaze() -> None:
    sink = PupilSink(StreamFacts(SCREEN))
    sink.show(veiled_sample(100.0, 1.0, 1.0), 5.0)
    assert float(sink.answer([b"t"], 5.5)[0]) == 100.5


@pytest.mark.parametrize("gaze_first", [True, False])
def test_an_app_may_set_the_time_and_gaze_follows(gaze_first: bool) -> None:
    sink = PupilSink(StreamFacts(SCREEN))
    if gaze_first:
        sink.show(veiled_sample(100.0, 1.0, 1.0), 5.0)
    assert sink.answer([b"T 1000.0"], 6.0) == [b"Timesync successful."]
    assert float(sink.answer([b"t"], 6.5)[0]) == pytest.approx(1000.5)
    (message, _) = sink.show(veiled_sample(102.0, 1.0, 1.0), 7.0)
    assert decoded(message)["timestamp"] == pytest.approx(1001.0)
    assert float(sink.answer([b"t"], 7.5)[0]) == pytest.approx(1001.5)
    sink.answer([b"T 0.0"], 8.0)
    assert float(sink.answer([b"t"], 8.5)[0]) == pytest.approx(0.5)


def test_gaze_keeps_to_the_time_that_was_told_before_it_came() -> None:
    """A client that asks once, before there is gaze, converts all times by that answer."""
    sink = PupilSink(StreamFacts(SCREEN))
    told = float(sink.answer([b"t"], 5000.0)[0])
    (message, _) = sink.show(veiled_sample(3.0, 1.0, 1.0), 5002.0)
    assert decoded(message)["timestamp"] == pytest.approx(told + 2.0)


def test_a_calibration_that_an_app_starts_is_said_to_be_successful_once() -> None:
    sink = PupilSink(StreamFacts(SCREEN))
    sink.answer([b"C"], 0.0)
    (notice,) = sink.notices()
    assert notice[0] == b"notify.calibration.successful"
    assert decoded(notice)["subject"] == "calibration.successful"
    sink.answer([b"c"], 1.0)
    assert sink.notices() == []


def test_blank_pupils_are_of_both_eyes_and_hold_no_number() -> None:
    sink = PupilSink(StreamFacts(SCREEN, blank_pupils=True))
    (message, _) = sink.show(veiled_sample(3.0, 480.0, 270.0), 0.0)
    assert message[0] == b"gaze.3d.01."
    pupils = decoded(message)["base_data"]
    assert [(pupil["id"], pupil["confidence"]) for pupil in pupils] == [(0, 0.0), (1, 0.0)]  # type: ignore[attr-defined]
    for pupil in pupils:  # type: ignore[attr-defined]
        values = [*pupil["norm_pos"], *pupil["sphere"]["center"], pupil["sphere"]["radius"]]
        values += [pupil[name] for name in ("diameter", "diameter_3d", "theta", "phi")]
        assert all(math.isnan(value) for value in values)


@pytest.mark.parametrize("blank", [False, True])
def test_a_client_finds_the_gaze_of_a_surface_by_its_topic_and_time(blank: bool) -> None:
    sink = PupilSink(StreamFacts(SCREEN, blank_pupils=blank))
    gaze_message, surface = sink.show(veiled_sample(3.0, 480.0, 270.0), 0.0)
    (point,) = decoded(surface)["gaze_on_surfaces"]  # type: ignore[misc]
    assert point["base_data"] == [gaze_message[0].decode(), decoded(gaze_message)["timestamp"]]  # type: ignore[has-type]


def test_a_point_leaves_as_gaze_and_on_a_surface_of_the_apps_name() -> None:
    gaze_message, surface = PupilSink(StreamFacts(ViewingPlane(screen(1000, 500)), name="game")).show(
        veiled_sample(3.0, 250.0, 50.0), 0.0
    )
    assert gaze_message[0] == b"gaze.2d.01."
    assert decoded(gaze_message) == {
        "topic": "gaze.2d.01.",
        "norm_pos": [0.25, 0.9],
        "confidence": 1.0,
        "timestamp": 3.0,
        "base_data": [],
    }
    assert surface[0] == b"surfaces.game"
    found = decoded(surface)
    assert found["name"] == "game"
    assert found["gaze_on_surfaces"][0]["norm_pos"] == [0.25, 0.9]  # type: ignore[index]


def test_a_missing_point_has_no_confidence_and_no_place() -> None:
    (message,) = PupilSink(StreamFacts(SCREEN)).show(veiled_sample(3.0, math.nan, math.nan), 0.0)
    assert decoded(message)["confidence"] == 0.0
    assert decoded(message)["norm_pos"] == [0.0, 0.0]


def test_fixations_leave_with_their_start_and_milliseconds() -> None:
    (message,) = PupilSink(StreamFacts(SCREEN, output="fixations")).show(
        veiled_fixation(3.0, 960.0, 540.0, 0.25, 7), 0.0
    )
    assert message[0] == b"fixations"
    found = decoded(message)
    assert (found["timestamp"], found["duration"], found["id"]) == (2.75, 250.0, 7)
    assert found["norm_pos"] == [0.5, 0.5]


def test_a_hit_names_the_area_and_says_when_gaze_left_it() -> None:
    sink = PupilSink(StreamFacts(SCREEN, output="hits", areas=("menu",)))
    (entered,) = sink.show(veiled_hit(1.0, "menu"), 0.0)
    (left,) = sink.show(veiled_hit(2.0, ""), 0.0)
    assert entered[0] == left[0] == b"surfaces.menu"
    assert decoded(entered)["gaze_on_surfaces"][0]["norm_pos"] == [0.5, 0.5]  # type: ignore[index]
    assert decoded(left)["gaze_on_surfaces"] == []


def test_silence_is_told_without_confidence_and_an_end_with_its_reason() -> None:
    sink = PupilSink(StreamFacts(SCREEN))
    assert sink.silence(0.0) == []
    sink.show(veiled_sample(3.0, 1.0, 1.0), 0.0)
    (silent,) = sink.silence(0.0)
    assert decoded(silent)["confidence"] == 0.0
    line, notice = sink.end("the budget of today is spent", 0.0)
    assert line[0] == b"logging.error"
    assert decoded(line)["msg"] == "the budget of today is spent"
    assert notice[0] == b"notify.world_process.stopped"
    assert sink.ended
    assert sink.show(veiled_sample(4.0, 1.0, 1.0), 0.0) == []
    assert sink.answer([b"v"], 0.0)


def test_an_app_that_may_have_hits_gets_no_points() -> None:
    with pytest.raises(PrivacyError):
        PupilSink(StreamFacts(SCREEN, output="hits")).show(veiled_sample(1.0, 2.0, 3.0), 0.0)


def test_a_plane_without_fractions_is_refused_at_once() -> None:
    with pytest.raises(GeometryError):
        PupilSink(StreamFacts(ViewingPlane(headset())))


def test_over_real_sockets_what_clients_publish_reaches_nobody() -> None:
    with serving_pupil(rate_hz=200.0) as tap, zmq.Context() as context:
        ask, listen, publish = (context.socket(kind) for kind in (zmq.REQ, zmq.SUB, zmq.PUB))
        try:
            for socket in (ask, listen, publish):
                socket.setsockopt(zmq.LINGER, 0)
                socket.setsockopt(zmq.RCVTIMEO, 10_000)
            ask.connect(f"tcp://127.0.0.1:{tap.port}")
            source = PupilSource(SCREEN)
            for request in source.requests():
                ask.send_multipart(request)
                source.answered(ask.recv_multipart())
            publish.connect(f"tcp://127.0.0.1:{tap.ports[1]}")
            listen.setsockopt(zmq.SUBSCRIBE, b"")
            listen.connect(f"tcp://127.0.0.1:{source.sub_port}")
            heard = []
            for _ in range(40):
                publish.send_multipart([b"gaze.2d.01.", b"forged"])
                heard.append(listen.recv_multipart())
        finally:
            for socket in (ask, listen, publish):
                socket.close()
    assert b"forged" not in b"".join(part for message in heard for part in message)
    assert tap.overheard == []
    samples = [sample for message in heard for sample in source.message(message, 0.0)]
    assert len(samples) >= 19
    assert {(round(sample.x), round(sample.y)) for sample in samples if not math.isnan(sample.x)} <= {
        (480 + 320 * i, 270 + 180 * i) for i in range(4)
    }


HELPERS = [
    ("simple_realtime_time_sync.py", StreamFacts(SCREEN), b"", "Pupil time (calculated locally)"),
    ("remote_annotations.py", StreamFacts(SCREEN), b"", "Found Pupil Capture"),
    ("filter_gaze_on_surface.py", StreamFacts(SCREEN, name="unnamed"), b"surfaces.unnamed", "coordinates: 0.25,0.75"),
    ("filter_gaze_on_surface.py", StreamFacts(SCREEN, output="hits"), b"surfaces.unnamed", "coordinates: 0.5,0.5"),
    ("filter_messages.py", StreamFacts(SCREEN), b"", ""),
]


@pytest.mark.parametrize(("script", "shown", "topic", "says"), HELPERS)
def test_clients_that_others_wrote_work_unmodified(script: str, shown: StreamFacts, topic: bytes, says: str) -> None:
    folder = clients()
    path = folder / "pupil-helpers" / "python" / script if folder else None
    if path is None or not path.exists():
        pytest.skip("set GAZEVEIL_CLIENTS to a folder with pupil-helpers")
    try:
        with serving_pupil(shown, port=50020) as tap:
            client = subprocess.Popen([sys.executable, "-u", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            try:
                said, _ = client.communicate(timeout=6)
            except subprocess.TimeoutExpired:
                client.send_signal(signal.SIGINT)
                said, _ = client.communicate(timeout=6)
    except zmq.ZMQError:
        pytest.skip("port 50020 is taken")
    assert b"Traceback" not in said
    assert says in said.decode()
    assert bool(says) == bool(said)  # filter_messages.py listens to raw pupils alone, and hears nothing
    assert not topic or any(frames[0] == topic for way, _, frames in tap.dialogue if way == "!")
    assert tap.overheard == []
