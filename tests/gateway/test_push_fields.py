# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Names, units, axes and time base of a sender, without sockets: what the policy and the first samples say."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gazeveil.cli.policy import in_words
from gazeveil.errors import FileFormatError, WireError
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import Gate, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.jsonlines import JsonLinesSource
from gazeveil.gateway.protocols.lsl import Channel, LslSink, LslSource
from gazeveil.gateway.protocols.pupil import PupilSink
from gazeveil.gateway.protocols.pushed_gaze import MOST_BYTES, PATIENCE_S, WATCHED_S, PushRefused
from gazeveil.gateway.protocols.pushlines import SILENT_S, PushLinesSource
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tracker_fields import Fields
from gazeveil.geometry import headset
from gazeveil.testing import veiled_sample
from tests.gateway.loopback import SCREEN

pytest.importorskip("msgspec")
pytest.importorskip("websockets")

TOKEN = "t" * 32
NESTED = Fields(x="gaze.0", y="gaze.1", t="at", unit="px", up=True, time="ms")
WEBGAZER = Fields(t="", unit="px", time="arrival")


class Sender:
    """Sends lines; time is what the test says."""

    def __init__(self, fields: Fields, plane: ViewingPlane = SCREEN) -> None:
        self.source = PushLinesSource(plane, Gate(TOKEN), fields)
        self.now = 100.0
        self.source.connected(self.now)
        self.say({"token": TOKEN})

    def say(self, told: object) -> list[RawSample]:
        return self.source.received((json.dumps(told) + "\n").encode(), self.now)

    def send(self, made: Any, seconds: float = 1.0, rate: int = 20) -> list[RawSample]:
        """Send what a function makes of the seconds that passed."""
        found: list[RawSample] = []
        for n in range(int(seconds * rate)):
            self.now += 1 / rate
            found += self.say(made((n + 1) / rate))
        return found

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.source.data_to_send().splitlines()]


def points(found: list[RawSample]) -> set[tuple[float, float]]:
    return {(sample.x, sample.y) for sample in found}


@pytest.mark.parametrize(
    ("fields", "plane", "made", "point"),
    [
        (NESTED, SCREEN, lambda s: {"at": s * 1e3, "gaze": [480, 270.0]}, (480.0, 810.0)),
        (WEBGAZER, SCREEN, lambda s: {"x": 480.5, "y": 270}, (480.5, 270.0)),
        (Fields(up=True), SCREEN, lambda s: {"t": s, "x": 0.25, "y": 0.25}, (480.0, 810.0)),
        (Fields(time="us"), SCREEN, lambda s: {"t": int(s * 1e6), "x": 0.5, "y": 0.5}, (960.0, 540.0)),
        (
            Fields(x="yaw", y="pitch", unit="deg", up=True),
            ViewingPlane(headset(100, 90)),
            lambda s: {"t": s, "yaw": 25, "pitch": 10},
            (25.0, -10.0),
        ),
        (
            Fields(x="eye.g.x", y="eye.g.y", others="drop"),
            SCREEN,
            lambda s: {"t": s, "eye": {"g": {"x": 0.5, "y": 0.5}, "pupil": 3.1}, "blink": [1]},
            (960.0, 540.0),
        ),
    ],
)
def test_a_sender_speaks_as_the_policy_says(
    fields: Fields, plane: ViewingPlane, made: Any, point: tuple[float, float]
) -> None:
    sender = Sender(fields, plane)
    found = sender.send(made)
    assert 5 < len(found) < 20  # those of the first half second were looked at alone
    assert points(found) == {point}
    assert found[-1].t == pytest.approx(sender.now if fields.time == "arrival" else 1.0)
    assert sender.told == [{"ok": True}]


def test_missing_gaze_is_null_on_the_way_or_not_valid() -> None:
    fields = replace(NESTED, valid="ok")
    sender = Sender(fields)
    sender.send(lambda s: {"at": s * 1e3, "gaze": [480, 270], "ok": True})
    for told in ({"gaze": None, "ok": True}, {"gaze": [None, None], "ok": True}, {"gaze": [1, 2], "ok": False}):
        (sample,) = sender.say({"at": 1500, **told})
        assert math.isnan(sample.x)
    with pytest.raises(PushRefused, match="ok must be true or false"):
        sender.say({"at": 1500, "gaze": [1, 2], "ok": 1})


@pytest.mark.parametrize(
    ("fields", "made", "kind", "message", "hint"),
    [
        (Fields(), lambda s: {"t": s, "x": 480.5, "y": 270}, "unit", "x and y look like pixels", 'unit = "px"'),
        (
            Fields(unit="px"),
            lambda s: {"t": s, "x": 0.25 + s / 9, "y": 0.75},
            "unit",
            "x and y look like shares of the screen or field of view, not pixels",
            'unit = "norm"',
        ),
        (Fields(unit="deg"), lambda s: {"t": s, "x": 480.5, "y": 270}, "unit", "look like pixels, not deg", '"px"'),
        (NESTED, lambda s: {"at": s, "gaze": [480, 270]}, "time", "at looks like seconds, not milli", 'time = "s"'),
        (Fields(), lambda s: {"t": s * 1e3, "x": 0.5, "y": 0.5}, "time", "looks like milliseconds", 'time = "ms"'),
        (Fields(), lambda s: {"t": 0, "x": 0.5, "y": 0.5}, "time", "t does not advance", 'time = "arrival"'),
        (Fields(), lambda s: {"x": 0.5, "y": 0.5}, "samples", "must have t, x and y, and nothing else", "seconds"),
        (NESTED, lambda s: {"t": s, "x": 0.5, "y": 0.5}, "samples", "must have at, gaze.0 and gaze.1", "milliseconds"),
        (NESTED, lambda s: {"at": s, "gaze": [1, 2, 31.415]}, "samples", "nothing else", ""),
        (NESTED, lambda s: {"at": s, "gaze": [1]}, "samples", "must have at, gaze.0", ""),
        (NESTED, lambda s: {"at": s, "gaze": [1, {"v": 31.415}]}, "samples", "nothing else", ""),
        (NESTED, lambda s: {"at": s, "gaze": ["31.415", 2]}, "samples", "must be numbers", ""),
        (NESTED, lambda s: {"at": s, "gaze": [4000.31415, 2]}, "samples", "no further beyond an edge", ""),
        (NESTED, lambda s: {"at": s, "gaze": [10**400, 2]}, "samples", "must be numbers", ""),
        (NESTED, lambda s: {"at": 10**400, "gaze": [1, 2]}, "samples", "must be a time in milliseconds", ""),
        (Fields(unit="deg"), lambda s: {"t": s, "x": -(10**400), "y": 2}, "samples", "must be numbers", ""),
        (WEBGAZER, lambda s: [{"x": 31.415, "y": 2}] * 2, "samples", "one by one", ""),
        (WEBGAZER, lambda s: {"x": 31.415, "y": 2, "eyeFeatures": {}}, "samples", "must have x and y, and nothing", ""),
    ],
)
def test_what_does_not_fit_is_explained_to_the_sender_and_never_used(
    fields: Fields, made: Any, kind: str, message: str, hint: str
) -> None:
    sender = Sender(fields)
    with pytest.raises(PushRefused):
        sender.send(made)
    _, told = sender.told
    assert told["error"] == kind
    assert message in told["message"]
    assert hint in told["hint"]
    assert "31415" not in json.dumps(told).replace(".", "")
    assert sender.source.ended
    assert sender.source.received(b'{"t": 1, "x": 0.5, "y": 0.5}\n', sender.now) == []


def test_looking_away_is_warned_of_and_never_refused() -> None:
    sender = Sender(Fields())
    found = sender.send(lambda s: {"t": s, "x": -0.5, "y": 0.5}, WATCHED_S + 1)
    assert len(found) > 20 * (WATCHED_S - 1)
    ok, warning = sender.told
    assert ok == {"ok": True}
    assert warning["warning"] == "plane"
    assert "beside the screen" in sender.source.remark
    sender = Sender(Fields(unit="deg"))
    sender.send(lambda s: {"t": s, "x": 0.5, "y": 0.5}, WATCHED_S + 1)
    assert "as shares would be" in sender.told[1]["message"]


def test_lines_may_come_in_pieces_and_have_their_limits() -> None:
    source = PushLinesSource(SCREEN, Gate(TOKEN))
    source.connected(0.0)
    for byte in b'\r\n{"token": "%s"}\r\n' % TOKEN.encode():
        source.received(bytes([byte]), 0.0)
    assert source.admitted
    with pytest.raises(PushRefused, match="longer than"):
        source.received(b"[" + b" " * MOST_BYTES, 0.0)
    for first in (b"GET / HTTP/1.1\r\n", b"\xff\n", b" " * (MOST_BYTES + 1)):
        source = PushLinesSource(SCREEN, Gate(TOKEN))
        source.connected(0.0)
        with pytest.raises(WireError):
            source.received(first, 0.0)
        assert (source.ended, source.admitted, source.refused_token) == (True, False, True)


def test_a_sender_that_says_nothing_is_dropped_with_a_word() -> None:
    source = PushLinesSource(SCREEN, Gate(TOKEN))
    source.connected(0.0)
    source.tick(PATIENCE_S + 1)
    assert b"no token within" in source.data_to_send()
    assert source.refused_token
    sender = Sender(Fields())
    sender.source.tick(sender.now + SILENT_S - 1)
    assert not sender.source.ended
    sender.source.tick(sender.now + SILENT_S + 1)
    assert "nothing was sent" in sender.told[-1]["message"]
    sender = Sender(Fields())
    sender.source.close("the gateway is shut down")
    assert sender.told[-1] == {"error": "closed", "message": "the gateway is shut down", "hint": "come again later"}


def policy_with(folder: Path, fields: str, protocol: str = "push", screen: str = "") -> Path:
    path = folder / "policy.toml"
    screen = screen or "screen = { width_px = 1920, height_px = 1080 }"
    path.write_text(
        f'version = 1\n[[tracker]]\nname = "desk"\nprotocol = "{protocol}"\n{screen}\n{fields}\n'
        '[[app]]\nname = "game"\ntracker = "desk"\nprotocol = "jsonlines"\nlisten = 0\nveil = { preset = "off" }\n'
        'unproven = "allow"\n'
    )
    return path


def test_a_policy_maps_fields_and_says_so_in_words(tmp_path: Path) -> None:
    mapped = 'x = "gaze.0"\ny = "gaze.1"\nt = "at"\nunit = "px"\ny_grows = "up"\ntime = "ms"\n'
    policy = read_policy(policy_with(tmp_path, f"[tracker.fields]\n{mapped}", "pushlines"))
    (desk,) = policy.trackers
    assert (desk.fields, desk.kind) == (NESTED, "policy")
    assert in_words(policy)[1:4] == [
        "  gaze is gaze.0 across and gaze.1 up, in pixels from the bottom left corner",
        "  its time is at, in milliseconds",
        "  a sample with any other field is refused",
    ]
    policy = read_policy(policy_with(tmp_path, '[tracker.fields]\nunit = "px"\ntime = "arrival"'))
    assert policy.trackers[0].fields == WEBGAZER
    assert "that of its arrival" in in_words(policy)[2]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ('x = "gaze."', "the name of a field"),
        ('x = "gaze.01"', "the name of a field"),
        ('x = "y"', "a field of its own"),
        ('x = "g"\ny = "g.1"', "a field of its own"),
        ('unit = "mm"', "one of norm, px, deg"),
        ('unit = "deg"', "cannot hold gaze in degrees"),
        ('time = "min"', "one of s, ms"),
        ('time = "arrival"\nt = "t"', "no field for the time"),
        ('y_grows = "left"', "one of down, up"),
        ('pupil = "p"', "an unknown one"),
    ],
)
def test_a_policy_with_fields_that_cannot_be_is_refused_with_its_line(
    tmp_path: Path, fields: str, complaint: str
) -> None:
    with pytest.raises(FileFormatError, match=complaint):
        read_policy(policy_with(tmp_path, f"[tracker.fields]\n{fields}"))


def test_fields_beside_the_mouse_or_for_simulated_eyes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="beside the mouse"):
        read_policy(policy_with(tmp_path, 'sources = ["mouse"]\n[tracker.fields]\nunit = "px"'))
    with pytest.raises(FileFormatError, match="one of the protocols"):
        read_policy(policy_with(tmp_path, "[tracker.fields]\nunit = 'px'", "simulate"))
    with pytest.raises(FileFormatError, match="origins"):
        read_policy(policy_with(tmp_path, 'origins = ["https://lab.example"]', "pushlines"))


def test_a_tracker_that_is_read_has_its_fields_in_the_policy_too(tmp_path: Path) -> None:
    """G12: the mapping was in Python alone."""
    mapped = '[tracker.fields]\nx = "gaze.0"\ny = "gaze.1"\nt = "at"\nunit = "px"\ny_grows = "up"\ntime = "ms"'
    (desk,) = read_policy(policy_with(tmp_path, mapped, "jsonlines")).trackers
    source = JsonLinesSource(desk.plane, desk.fields)
    (sample,) = source.received(b'{"type": "x", "at": 1500, "gaze": [480, 270], "pupil": 3}\n{"at": 1}\n', 9.0)
    assert (sample.t, sample.x, sample.y) == (1.5, 480.0, 810.0)
    source = JsonLinesSource(desk.plane, WEBGAZER)
    (sample,) = source.received(b'{"x": 480, "y": 270}\n', 9.0)
    assert (sample.t, sample.y) == (9.0, 270.0)


def test_a_stream_with_labels_of_its_own_is_read_as_the_policy_says(tmp_path: Path) -> None:
    """G12: a stream with the labels x and y, in pixels, was refused whatever one wrote."""
    channels = [Channel("pupil", ""), Channel("x", "", "px"), Channel("y", "", "px")]
    with pytest.raises(WireError) as refused:
        LslSource(SCREEN).described(channels)
    assert "[tracker.fields]" in refused.value.hint
    (desk,) = read_policy(policy_with(tmp_path, '[tracker.fields]\nunit = "px"', "lsl")).trackers
    source = LslSource(desk.plane, desk.fields)
    source.described(channels)
    sample = source.sample([3.1, 480.0, 270.0], 2.0)
    assert sample is not None
    assert (sample.t, sample.x, sample.y) == (2.0, 480.0, 270.0)
    with pytest.raises(WireError) as refused:
        LslSource(desk.plane, Fields(x="gx", y="gy", unit="px")).described(channels)
    assert "gx and gy" in refused.value.hint


def test_a_stream_or_surface_is_called_as_the_policy_says(tmp_path: Path) -> None:
    """G13: some clients know one name alone, such as pupil_capture."""
    path = policy_with(tmp_path, "")
    text = path.read_text().replace("listen = 0\n", "")
    for protocol in ("lsl", "neon", "pupil"):
        path.write_text(text.replace("jsonlines", protocol) + 'shown_as = "pupil_capture"\n')
        (app,) = read_policy(path).apps
        assert app.shown_as == "pupil_capture"
    shown = StreamFacts(SCREEN, name="game", shown_as="pupil_capture")
    assert LslSink(shown).description.name == "pupil_capture"
    assert LslSink(shown).description.source_id == "gazeveil:game"
    messages = PupilSink(shown).show(veiled_sample(1.0, 960.0, 540.0), 0.0)
    assert b"surfaces.pupil_capture" in [topic for topic, _ in messages]
    path.write_text(text + 'shown_as = "x"\n')
    with pytest.raises(FileFormatError, match="one of the protocols lsl, neon, pupil"):
        read_policy(path)


def test_blank_pupils_are_declared_for_samples_over_pupil_alone(tmp_path: Path) -> None:
    """G4: PsychoPy's plugin for Pupil Core takes no gaze without pupils."""
    path = policy_with(tmp_path, "")
    text = path.read_text().replace("listen = 0\n", "") + "blank_pupils = true\n"
    path.write_text(text.replace("jsonlines", "pupil"))
    assert read_policy(path).apps[0].blank_pupils
    path.write_text(text)
    with pytest.raises(FileFormatError, match="samples of the protocol pupil"):
        read_policy(path)
