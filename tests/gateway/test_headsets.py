# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Head, eye origins and the distance of the eyes are fields of their own, and reach nobody who did not declare them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gazeveil.cli.policy import in_words
from gazeveil.errors import FileFormatError, WireError
from gazeveil.gateway.policy.settings import AppSetting, TrackerSetting, read_policy
from gazeveil.gateway.protocol import StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.json_gaze import JsonWriter
from gazeveil.gateway.protocols.jsonlines import JsonLinesSource
from gazeveil.gateway.sample import EyeGeometry, RawSample, VeiledSample
from gazeveil.gateway.tracker_fields import Fields
from gazeveil.gateway.veiling import mechanism_of
from gazeveil.geometry import AXES, angles, direction, headset, in_our_axes, to_head, to_world
from gazeveil.testing import veiled_sample
from tests.gateway.hub_bench import Bench, policy
from tests.gateway.test_push_fields import Sender

pytest.importorskip("msgspec")
pytest.importorskip("websockets")

PLANE = ViewingPlane(headset(110, 100))
FIELDS = Fields(direction="gaze", axes="unity", unit="deg", head="head", origins="eyes", ipd="ipd", t="t")
AHEAD = {"gazeveil": [0, 0, 1], "unity": [0, 0, 1], "unreal": [1, 0, 0], "openxr": [0, 0, -1]}
RIGHT_UP = {"gazeveil": [1, -1, 1], "unity": [1, 1, 1], "unreal": [1, 1, 1], "openxr": [1, 1, -1]}


@pytest.mark.parametrize("axes", AXES)
def test_a_direction_is_the_same_in_everybodys_axes(axes: str) -> None:
    fields = Fields(direction="gaze", axes=axes, unit="deg")
    (ahead,) = set(places(Sender(fields, PLANE).send(lambda t: {"t": t, "gaze": AHEAD[axes]})))
    assert ahead == pytest.approx((0, 0))
    x, y, z = RIGHT_UP[axes]
    (aside,) = set(places(Sender(fields, PLANE).send(lambda t: {"t": t, "gaze": {"x": x, "y": y, "z": z}})))
    assert aside == pytest.approx((45, -math.degrees(math.atan(math.sqrt(0.5)))))


def places(found: list[RawSample]) -> list[tuple[float, float]]:
    assert found
    return [(sample.x, sample.y) for sample in found]


@pytest.mark.parametrize("missing", [None, [0, 0, 0]])
def test_a_direction_that_is_null_or_has_no_length_is_missing_gaze(missing: Any) -> None:
    found = Sender(Fields(direction="gaze", unit="deg"), PLANE).send(lambda t: {"t": t, "gaze": missing})
    assert found
    assert all(math.isnan(sample.x) and math.isnan(sample.y) for sample in found)


def test_the_world_and_the_head_are_one_turn_apart() -> None:
    half = math.radians(30) / 2
    turned_right = (0.0, math.sin(half), 0.0, math.cos(half))  # about the vertical axis, in our axes
    there = to_world(direction(10, 5), turned_right)
    assert angles(there)[0] == pytest.approx(40)
    assert angles(to_head(there, turned_right)) == pytest.approx((10, 5))
    assert in_our_axes(in_our_axes((1, 2, 3), "unity"), "unity") == (1, 2, 3)


EVERYTHING = {"head": [0, 0, 1], "origins": [[-31, 0, 0], [31, 0, 0]], "ipd": 62.5}


def test_what_a_headset_says_of_head_and_eyes_is_dropped_unless_it_is_named() -> None:
    plain = Sender(Fields(direction="gaze", unit="deg"), PLANE)
    found = plain.send(lambda t: {"t": t, "gaze": [0, 0, 1], **EVERYTHING})
    assert found
    assert all(sample.head is None and sample.eyes is None for sample in found)
    with pytest.raises(WireError, match="nothing else"):
        plain.say({"t": 9.0, "gaze": [0, 0, 1], "pupil": 3})


def test_what_is_named_is_read_into_fields_of_its_own() -> None:
    told = {"gaze": [0, 0, 1], "head": [1, 0, 0], "eyes": {"left": [-31, 1, 2], "right": None}, "ipd": 62.5}
    found = Sender(FIELDS, PLANE).send(lambda t: {"t": t, **told})
    assert {(sample.head, sample.eyes) for sample in found} == {((90.0, 0.0), EyeGeometry((-31, -1, 2), None, 62.5))}
    source = JsonLinesSource(PLANE, FIELDS)
    (sample,) = source.received(json.dumps({"t": 1.0, **told, "pupil": 3}).encode() + b"\n", 0.0)
    assert (sample.head, sample.eyes) == ((90.0, 0.0), EyeGeometry((-31, -1, 2), None, 62.5))
    assert "62.5" not in repr(sample) + repr(sample.eyes)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gaze": 7654}, "gaze must be null or a vector"),
        ({"gaze": [7654, 0]}, "gaze must be null or a vector"),
        ({"gaze": {"x": 1, "y": 0, "w": 7654}}, "a sample must have"),
        ({"head": "7654"}, "head must be null or a vector"),
        ({"eyes": [[7654, 0, 0], [0, 0, 0]]}, "eyes must be null or two vectors in mm"),
        ({"eyes": [[1, 0, 0]]}, "eyes must be null or two vectors in mm"),
        ({"ipd": 7654}, "ipd must be null or a number of mm"),
        ({"ipd": True}, "ipd must be null or a number of mm"),
    ],
)
def test_what_is_no_vector_is_refused_without_quoting_it(wrong: dict[str, Any], message: str) -> None:
    sender = Sender(FIELDS, PLANE)
    sender.told  # noqa: B018  (the greeting)
    with pytest.raises(WireError, match=message):
        sender.say({"t": 1.0, "gaze": [0, 0, 1], "head": None, "eyes": None, "ipd": None, **wrong})
    assert "7654" not in json.dumps(sender.told)


JOINT = {"mechanism": "eye-and-head", "epsilon": 3, "window": "0.5", "radius": "5deg", "head_radius": 10}
TRACKER = TrackerSetting("desk", "simulate", headset(110, 100), "anna")
CANARY = RawSample(0.0, 0.0, 0.0, (77.125, 33.375), EyeGeometry((-31.625, 1, 2), (31.875, 1, 2), 62.1875))


def shown_to(**apps: AppSetting) -> dict[str, list[VeiledSample]]:
    bench = Bench(policy(TRACKER, *apps.values()))
    for _ in range(300):
        bench.now += 0.01
        bench.hub.push("desk", [RawSample(bench.now, 3.0, 4.0, CANARY.head, CANARY.eyes)], bench.now)
    return {name: bench.seen[name].shown for name in apps}  # type: ignore[misc]


def app(name: str, *head_and_eyes: str, veil: Any = JOINT, **options: Any) -> AppSetting:
    made = mechanism_of(veil, TRACKER.space)
    return AppSetting(name, "desk", "websocket", made, head_and_eyes=head_and_eyes, rate_hz=1000.0, **options)


def test_an_app_gets_beside_gaze_what_it_declares_and_nothing_else() -> None:
    found = shown_to(
        plain=app("plain"),
        head=app("head", "head"),
        eyes=app("eyes", "ipd", unproven=True),
        clock=app("clock", veil={"preset": "mpmu"}),
    )
    assert all(len(shown) > 20 for shown in found.values())
    assert all(one.head is None and one.eyes is None for name in ("plain", "clock") for one in found[name])
    assert all(one.eyes is None for one in found["head"])
    assert {one.eyes for one in found["eyes"]} == {EyeGeometry(ipd=62.1875)}
    assert all(one.head is None for one in found["eyes"])


def test_the_head_that_leaves_is_veiled_and_the_same_for_all_who_share_the_veil() -> None:
    found = shown_to(one=app("one", "head"), two=app("two", "head"))
    heads = [one.head for one in found["one"]]
    assert heads == [one.head for one in found["two"]]
    assert len(set(heads)) > 3  # noise, since the head stood still
    assert CANARY.head not in heads
    writer = JsonWriter(StreamFacts(PLANE))
    text = b"".join(writer.sample(one) for one in found["one"]).decode()
    assert '"head":{"yaw":' in text
    assert not any(f"{secret:.6f}" in text for secret in (77.125, 33.375, -31.625, 31.875, 62.1875))


def test_an_app_and_whoever_is_tracked_are_told_what_leaves_beside_gaze() -> None:
    apps = app("game", "head", "ipd", unproven=True), app("plain"), app("pupils", "origins", unproven=True)
    said = {one.name: one.guarantee for one in Bench(policy(TRACKER, *apps)).hub.status().apps}
    assert "the distance between the eyes as it is: nothing is guaranteed for that." in said["game"]
    assert "shows gaze past the veil." in said["pupils"]
    assert "points in the world, veiled together with gaze." in said["game"]
    assert "beside" not in said["plain"].lower()


def test_fixations_and_areas_carry_nothing_beside_gaze() -> None:
    found = shown_to(resting=app("resting", "head", "ipd", output="fixations", unproven=True))
    assert not any(hasattr(one, "head") or hasattr(one, "eyes") for one in found["resting"])


def test_messages_hold_what_leaves_beside_gaze() -> None:
    writer = JsonWriter(StreamFacts(PLANE))
    told = json.loads(writer.sample(veiled_sample(1.0, 2.0, 3.0, (4.0, 5.0), EyeGeometry((1, 2, 3), None, 63.0))))
    assert (told["head"], told["origins"], told["ipd"]) == ({"yaw": 4, "pitch": 5}, [[1, 2, 3], None], 63)
    told = json.loads(writer.sample(veiled_sample(1.0, math.nan, math.nan, (math.nan, math.nan))))
    assert (told["valid"], told["head"]) == (False, {"yaw": None, "pitch": None})
    assert set(json.loads(writer.sample(veiled_sample(1.0, 2.0, 3.0)))) == {"t", "x", "y", "unit", "valid"}


GOOD = """\
version = 1

[gateway]
ledger = "ledger.sqlite"

[[tracker]]
name = "headset"
protocol = "push"
participant = "anna"
headset = { fov_x_deg = 110, fov_y_deg = 100 }

[tracker.fields]
direction = "gaze"
axes = "unity"
head = "head"
ipd = "ipd"

[[app]]
name = "game"
tracker = "headset"
protocol = "websocket"
head_and_eyes = ["head"]
veil = { mechanism = "eye-and-head", epsilon = 3, window = 2, radius = "5deg", head_radius = 10 }

[[budget]]
participant = "*"
epsilon_per_day = 100000
radius = "5deg"
"""


def test_a_policy_says_what_leaves_beside_gaze(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(GOOD)
    told = "\n".join(in_words(read_policy(tmp_path / "p.toml")))
    assert "gaze is the direction gaze, in the head's frame and the axes of unity" in told
    assert "head is where the head points in the world; apps get it only if they declare it" in told
    assert "beside gaze it gets where the head points in the world, veiled together with gaze" in told


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"eye-and-head"', '"clock"', "eyes and head"),
        ('head_and_eyes = ["head"]', 'head_and_eyes = ["ipd"]', "identifies participants"),
        ('head_and_eyes = ["head"]', 'head_and_eyes = ["ipd"]\nunproven = "allow"', "the budget of"),
        ('head_and_eyes = ["head"]', 'head_and_eyes = ["head", "origins"]\nunproven = "allow"', "budget|fields name"),
        ('head_and_eyes = ["head"]', 'head_and_eyes = ["pupil"]', "beside gaze"),
        ('head_and_eyes = ["head"]', 'head_and_eyes = ["head"]\nlevels = ["mpmu"]', "stays as it is"),
        ('head_and_eyes = ["head"]', 'head_and_eyes = ["head"]\noutput = "fixations"', "samples in one of"),
        ('protocol = "websocket"', 'protocol = "lsl"', "samples in one of"),
        ('head = "head"\n', "", "fields name"),
        ('direction = "gaze"', 'direction = "gaze"\nframe = "world"', "all around"),
        ('direction = "gaze"', 'direction = "gaze"\nunit = "deg"', "beside a direction"),
        ('axes = "unity"', 'axes = "unreel"', "unreal"),
        ('ipd = "ipd"', 'ipd = "head"', "field of its own"),
    ],
)  # fmt: skip
def test_a_policy_that_would_let_more_out_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    assert GOOD.count(before) == 1
    text = GOOD.replace(before, after).replace(", head_radius = 10" if "clock" in after else "\0", "")
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_policy(tmp_path / "p.toml")
