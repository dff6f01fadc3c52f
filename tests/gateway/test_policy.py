# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A policy says what it means, or is refused with the line that is wrong."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil.errors import FileFormatError, UnknownName
from gazeveil.gateway.policy.settings import Address, Policy, read_policy
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.geometry import Unit, headset, screen
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.toml_table import line_of, lines_of

GOOD = """\
version = 1

[gateway]
ledger = "ledger.sqlite"
control = "127.0.0.1:7380"
token_file = "control.token"
lease_s = 10

[[tracker]]
name = "desk"
protocol = "opengaze"
address = "127.0.0.1:4242"
participant = "anna"
screen = { width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }

[[tracker]]
name = "glasses"
protocol = "simulate"
seed = 4
rate_hz = 200
headset = { fov_x_deg = 100, fov_y_deg = 90 }

[[app]]
name = "game"
tracker = "desk"
protocol = "eyetribe"
listen = "127.0.0.1:6555"
veil = { preset = "mpmu" }
output = "samples"
rate_hz = 60
levels = ["lphu", "mpmu", "hplu"]

[[app]]
name = "reader"
tracker = "desk"
protocol = "jsonlines"
listen = 7001
veil = { mechanism = "clock", epsilon = 1.5, window = 1.5, radius = 90, edge = "reflect" }
output = "fixations"
epsilon_at_most = 3

[[app]]
name = "headset app"
tracker = "glasses"
protocol = "websocket"
listen = ":7002"
veil = { preset = "gaussian-low" }
unproven = "allow"

[[budget]]
participant = "anna"
epsilon_per_day = 5000
radius = 60
"""


def read(folder: Path, text: str) -> Policy:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)


def test_a_whole_policy_is_read(tmp_path: Path) -> None:
    policy = read(tmp_path, GOOD)
    assert policy.ledger == str(tmp_path / "ledger.sqlite")
    assert (policy.control, policy.lease_s) == (Address("127.0.0.1", 7380), 10.0)
    assert policy.token_file == tmp_path / "control.token"
    desk, glasses = policy.trackers
    assert (desk.name, desk.participant, desk.address) == ("desk", "anna", Address("127.0.0.1", 4242))
    assert desk.geometry == screen(1920, 1080, 527, 296, 600)
    assert (glasses.protocol, glasses.seed, glasses.rate_hz, glasses.address) == ("simulate", 4, 200.0, None)
    assert glasses.geometry == headset(100, 90)
    game, reader, third = policy.apps
    assert game.mechanism.guarantee == GazeStreamDP("1.5", "1.5", 90)
    assert game.levels == ("lphu", "mpmu", "hplu")
    assert (reader.listen, reader.edge, reader.output) == (Address("127.0.0.1", 7001), "reflect", "fixations")
    assert reader.epsilon_at_most == Fraction(3)
    assert third.listen == Address("127.0.0.1", 7002)
    assert third.unproven
    budget = policy.budget_of("anna")
    assert budget is not None
    assert budget.guarantee == GazeStreamDP(5000, 86400, 60)
    assert policy.budget_of("bob") is None
    assert policy == read(tmp_path, GOOD)


def test_lengths_in_a_policy_have_their_units(tmp_path: Path) -> None:
    text = GOOD.replace("radius = 90", 'radius = "90px"').replace("radius = 60", 'radius = "60px"')
    assert read(tmp_path, text) == read(tmp_path, GOOD)
    wide = GOOD.replace("radius = 90", 'radius = "5%"').replace("epsilon_at_most = 3", 'radius_at_least = "1deg"')
    reader = read(tmp_path, wide).apps[1]
    assert reader.mechanism.guarantee == GazeStreamDP("1.5", "1.5", 96)
    assert reader.radius_at_least == Fraction(3816, 100)  # 600 mm x tan 1 degree is 10.47 mm, at 3.643 pixels a mm
    veiled = 'veil = { preset = "lphu", radius = "2.5deg" }'
    for budget in ('radius = "3deg"', 'radius = 3\nunit = "deg"'):
        more = f'\n[[budget]]\nparticipant = "participant"\nepsilon_per_day = 10\n{budget}\n'
        policy = read(tmp_path, GOOD.replace('veil = { preset = "gaussian-low" }', veiled) + more)
        assert policy.apps[2].mechanism.guarantee == GazeStreamDP(3, "0.5", "2.5", "deg")
        assert policy.budgets[1].guarantee == GazeStreamDP(10, 86400, 3, "deg")
    bare = '\n[[budget]]\nparticipant = "participant"\nepsilon_per_day = 10\nradius = 3\n'
    with pytest.raises(FileFormatError, match="it would mean 3 degrees"):
        read(tmp_path, GOOD + bare)


def test_glasses_have_the_plane_of_their_scene_camera(tmp_path: Path) -> None:
    text = GOOD.replace('protocol = "opengaze"', 'protocol = "neon"', 1)
    with pytest.raises(FileFormatError, match="1600 x 1200 for Neon, 1088 x 1080 for Invisible") as refused:
        read(tmp_path, text)
    assert "1920 x 1080" in refused.value.found
    for size in ("width_px = 1600, height_px = 1200", "width_px = 1088, height_px = 1080"):
        desk = read(tmp_path, text.replace("width_px = 1920, height_px = 1080", size)).trackers[0]
        assert (desk.protocol, desk.address) == ("neon", Address("127.0.0.1", 4242))


def test_edges_are_no_part_of_the_veil_so_such_apps_share_one_noise(tmp_path: Path) -> None:
    game, reader, _ = read(tmp_path, GOOD).apps
    assert game.mechanism == reader.mechanism


def test_names_that_are_unknown_are_told(tmp_path: Path) -> None:
    policy = read(tmp_path, GOOD)
    with pytest.raises(UnknownName, match="no app is called 'gmae'"):
        policy.app("gmae")
    with pytest.raises(UnknownName, match="no tracker"):
        policy.tracker("chair")


def test_a_budget_for_everybody_pays_for_those_without_their_own(tmp_path: Path) -> None:
    more = '\n[[budget]]\nparticipant = "*"\nepsilon_per_day = 10\nradius = 1\nunit = "px"\nunproven = "allow"\n'
    policy = read(tmp_path, GOOD + more)
    bob, anna = policy.budget_of("bob"), policy.budget_of("anna")
    assert bob is not None
    assert anna is not None
    assert (bob.epsilon_per_day, anna.epsilon_per_day) == (Fraction(10), Fraction(5000))


BROKEN = [
    # what is replaced, by what, the line, and words of the message
    ("version = 1", "version = 2", 1, ["expected 1 for version", "found 2"]),
    ("version = 1\n", "", 1, ["version", "found nothing"]),
    ("lease_s = 10", "lease_s = 0", 7, ["from 1 to 600", "gateway.lease_s", "found 0"]),
    ("lease_s = 10", "leases = 10", 7, ["unknown", "leases", "did you mean 'lease_s'"]),
    ('control = "127.0.0.1:7380"', 'control = "here it is"', 5, ["HOST:PORT", "gateway.control"]),
    ('control = "127.0.0.1:7380"', 'control = "127.0.0.1:99999"', 5, ["port from 0 to 65535"]),
    ('address = "127.0.0.1:4242"', 'address = "127.0.0.1:0"', 12, ["port from 1 to 65535"]),
    ('ledger = "ledger.sqlite"\n', "", 3, ["a ledger that keeps the budgets", "gateway.ledger"]),
    ('protocol = "opengaze"', 'protocol = "opengase"', 11, ["tracker.protocol", "did you mean 'opengaze'"]),
    ('participant = "anna"\nscreen', "participant = 7\nscreen", 13, ["tracker.participant", "found 7"]),
    ("width_px = 1920", "width_px = -1920", 14, ["tracker.screen.width_px", "found -1920"]),
    ("width_mm = 527, ", "", 14, ["tracker.screen", "width_mm and height_mm go together"]),
    ("width_px = 1920", "widht_px = 1920", 14, ["tracker.screen.width_px", "found nothing"]),
    ("seed = 4", "seed = 4.5", 19, ["tracker.seed", "whole number"]),
    ("headset = {", "headset = { pupil = 3, ", 21, ["unknown", "pupil"]),
    ('name = "glasses"', 'name = "desk"', 17, ["tracker.name", "second time"]),
    ('tracker = "desk"\nprotocol = "eyetribe"', 'tracker = "desc"\nprotocol = "eyetribe"', 25, ["did you mean 'desk'"]),
    ('protocol = "eyetribe"', 'protocol = "tobii"', 26, ["app.protocol", "found \"tobii\""]),
    ('listen = "127.0.0.1:6555"', 'listen = "127.0.0.1:4242"', 27, ["a port of its own", "tracker 'desk'"]),
    ("listen = 7001", "listen = 6555", 37, ["a port of its own", "app 'game'"]),
    ("listen = 7001", 'listen = "0.0.0.0:6555"', 37, ["a port of its own", "app 'game'"]),
    ("listen = 7001", "listen = 7380", 37, ["the control API"]),
    ('preset = "mpmu"', 'preset = "mpmo"', 28, ["app.veil", "did you mean 'mpmu'"]),
    ('veil = { preset = "mpmu" }', 'veil = { preset = "mpmu", epsilon = -1 }', 28, ["app.veil", "epsilon"]),
    ('veil = { preset = "mpmu" }', "veil = { }", 28, ["one of preset, mechanism and recipe"]),
    ('veil = { preset = "mpmu" }\n', "", 23, ["app.veil", "found nothing"]),
    ('veil = { preset = "mpmu" }', 'veil = { preset = "mpmu", mechanism = "clock" }', 28, ["one of preset"]),
    ('veil = { preset = "mpmu" }', 'veil = { recipe = "nowhere.json" }', 28, ["app.veil.recipe", "nowhere.json"]),
    (
        'veil = { preset = "mpmu" }',
        'veil = { preset = "mpmu", space = { kind = "screen", width = 9.0, height = 9.0 } }',
        28,
        ["app.veil", "leave the space out"],
    ),
    ('veil = { preset = "mpmu" }', 'veil = { preset = "off" }', 28, ["guarantees nothing", "unproven = \"allow\""]),
    ('preset = "gaussian-low" }\nunproven = "allow"', 'preset = "gaussian-low" }', 47, ["guarantees nothing"]),
    ('unproven = "allow"', "unproven = true", 48, ["app.unproven", "one of allow"]),
    ('edge = "reflect"', 'edge = "bounce"', 38, ["app.veil.edge", "clamp, reflect, leave"]),
    ('output = "samples"', 'output = "hits"', 23, ["app.areas", "found nothing"]),
    ('output = "samples"', 'output = "pixels"', 29, ["samples, fixations, hits"]),
    ('output = "samples"', 'output = "fixations"\nareas = "areas.json"', 30, ["no areas"]),
    ("rate_hz = 60", "rate_hz = 0", 30, ["app.rate_hz"]),
    ('"hplu"]', '"hplo"]', 31, ["app.levels", "did you mean 'hplu'"]),
    ('"hplu"]', '"off"]', 31, ["app.levels", "a veil that stays on"]),
    ('"hplu"]', '"gaussian-low"]', 31, ["app.levels", "presets with a guarantee"]),
    ('"hplu"]', "3]", 31, ["app.levels", "list of texts"]),
    ("epsilon_at_most = 3", "epsilon_at_most = 0", 40, ["above 0"]),
    ("epsilon_at_most = 3", "tls = { certificate = 'policy.toml', key = 'policy.toml' }", 40, ["websocket"]),
    ("epsilon_per_day = 5000", "epsilon_per_day = 0", 52, ["budget.epsilon_per_day", "above 0"]),
    ("epsilon_per_day = 5000", 'epsilon_per_day = "many"', 52, ["budget.epsilon_per_day"]),
    ("radius = 60\n", 'radius = 60\nunit = "deg"\n', 28, ["app.veil", "counts in deg"]),
    ("radius = 60\n", 'radius = 60\nunit = "m"\n', 54, ["budget.unit"]),
    ("radius = 60\n", 'radius = "2deg"\n', 28, ["app.veil", "counts in deg"]),
    ("radius = 60\n", 'radius = "5%"\n', 53, ["budget.radius", "a radius in px or deg", "5%"]),
    ("radius = 60\n", 'radius = "60px"\nunit = "deg"\n', 53, ["budget.radius", "60px"]),
    ("radius = 60\n", 'radius = "far"\n', 53, ["budget.radius", "a number above 0 and its unit", "60px"]),
    ("radius = 60\n", 'radius = "0px"\n', 53, ["budget.radius"]),
    ("radius = 90", 'radius = "90deg2"', 38, ["app.veil", "a number and its unit"]),
    ("epsilon_at_most = 3", 'radius_at_least = "2m"', 40, ["app.radius_at_least", "gaze is in pixels"]),
    ('veil = { preset = "gaussian-low" }', 'veil = { preset = "lphu", radius = 2 }', 47, ["2 degrees", "2deg"]),
    ('unproven = "allow"', "radius_at_least = 2", 48, ["app.radius_at_least", "2 degrees", "2deg"]),
    ('participant = "anna"\nepsilon', 'participant = "*"\nepsilon', 50, ["budget.unit", "trackers in deg and px"]),
    ("[[budget]]", "[budget]", 50, ["[[budget]]"]),
    ("[[app]]", "[[application]]", 23, ["unknown", "application"]),
    ('listen = "127.0.0.1:6555"', 'listen = "127.0.0.1:6555', 27, ["TOML"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "line", "words"), BROKEN, ids=[case[1][:40] for case in BROKEN])
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, before: str, after: str, line: int, words: list[str]
) -> None:
    assert before in GOOD
    text = GOOD.replace(before, after) if before.startswith("[[app") else GOOD.replace(before, after, 1)
    with pytest.raises(FileFormatError) as caught:
        read(tmp_path, text)
    told = str(caught.value)
    assert caught.value.path == tmp_path / "policy.toml"
    assert caught.value.line == line, told
    for word in words:
        assert word in told


def test_a_policy_without_trackers_or_apps_is_none(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"at least one \[\[tracker\]\]"):
        read(tmp_path, "version = 1\n")


def test_a_file_that_is_not_there_or_not_text_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="No such file"):
        read_policy(tmp_path / "none.toml")
    with pytest.raises(FileFormatError, match="directory"):
        read_policy(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"version = 1\n\xff\xfe\n")
    with pytest.raises(FileFormatError, match="line 2: expected UTF-8"):
        read_policy(tmp_path / "bytes.toml")
    (tmp_path / "long.toml").write_bytes(b"#" * (1 << 21))
    with pytest.raises(FileFormatError, match="1 MiB"):
        read_policy(tmp_path / "long.toml")


def hits(areas: str = "areas.json") -> str:
    return GOOD.replace('output = "fixations"', f'output = "hits"\nareas = "{areas}"')


def test_areas_are_read_and_must_lie_on_the_trackers_plane(tmp_path: Path) -> None:
    AreasOfInterest((Rectangle("menu", 0, 0, 100, 100),), screen(1920, 1080)).to_json(tmp_path / "areas.json")
    areas = read(tmp_path, hits()).apps[1].areas
    assert areas is not None
    assert areas.names == ("menu",)
    AreasOfInterest((Rectangle("menu", 0, 0, 100, 100),), screen(800, 600)).to_json(tmp_path / "areas.json")
    with pytest.raises(FileFormatError, match="line 40: expected areas on gaze in px"):
        read(tmp_path, hits())
    AreasOfInterest((Rectangle("menu", 0, 0, 10, 10),), headset(100, 90)).to_json(tmp_path / "areas.json")
    with pytest.raises(FileFormatError, match="expected areas in px"):
        read(tmp_path, hits())
    (tmp_path / "areas.json").write_text("[]")
    with pytest.raises(FileFormatError, match=r"a file of areas for app\.areas"):
        read(tmp_path, hits())


def test_fixations_need_a_plane_that_knows_degrees(tmp_path: Path) -> None:
    text = GOOD.replace(", width_mm = 527, height_mm = 296, distance_mm = 600", "")
    with pytest.raises(FileFormatError, match="a tracker that knows degrees"):
        read(tmp_path, text)


def test_a_protocol_that_cannot_carry_the_output_is_refused(tmp_path: Path) -> None:
    AreasOfInterest((Rectangle("menu", 0, 0, 100, 100),), screen(1920, 1080)).to_json(tmp_path / "areas.json")
    text = GOOD.replace('output = "samples"', 'output = "hits"\nareas = "areas.json"')
    with pytest.raises(FileFormatError, match=r"line 29: expected what eyetribe can carry .* found hits"):
        read(tmp_path, text)


def test_a_protocol_that_counts_in_pixels_is_refused_where_there_are_none(tmp_path: Path) -> None:
    text = GOOD.replace('protocol = "websocket"', 'protocol = "eyetribe"')
    with pytest.raises(FileFormatError, match="line 45: expected a protocol that can express gaze in deg"):
        read(tmp_path, text)


def test_an_unproven_veil_under_a_budget_needs_the_budgets_word_too(tmp_path: Path) -> None:
    text = GOOD.replace('veil = { preset = "mpmu" }', 'veil = { preset = "spatial-low" }\nunproven = "allow"')
    with pytest.raises(FileFormatError, match="the budget of 'anna' does not allow that"):
        read(tmp_path, text)
    assert read(tmp_path, text + 'unproven = "allow"\n').budgets[0].unproven


def test_a_recipe_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "veil.toml").write_text('mechanism = "clock"\nepsilon = 1\nwindow = 1\nradius = 50\nlag = 0.1\n')
    policy = read(tmp_path, GOOD.replace('{ preset = "mpmu" }', '{ recipe = "veil.toml" }'))
    assert policy.apps[0].mechanism.delay == 0.1
    (tmp_path / "veil.toml").write_text('mechanism = "clock"\nepsilon = 1\n')
    with pytest.raises(FileFormatError, match="line 28"):
        read(tmp_path, GOOD.replace('{ preset = "mpmu" }', '{ recipe = "veil.toml" }'))


def test_a_replay_needs_a_file_that_is_there(tmp_path: Path) -> None:
    replay = 'protocol = "replay"\nfile = "gaze.csv"\nspeed = 2\nloop = true'
    text = GOOD.replace('protocol = "opengaze"\naddress = "127.0.0.1:4242"', replay)
    with pytest.raises(FileFormatError, match=r"line 12: expected a file that can be read for tracker.file"):
        read(tmp_path, text)
    (tmp_path / "gaze.csv").write_text("t,x,y\n")
    tracker = read(tmp_path, text).trackers[0]
    assert (tracker.file, tracker.speed, tracker.loop) == (tmp_path / "gaze.csv", 2.0, True)
    assert tracker.geometry.unit is Unit.PIXEL


def test_hosts_are_loopback_unless_they_are_named(tmp_path: Path) -> None:
    policy = read(
        tmp_path, GOOD.replace('address = "127.0.0.1:4242"\n', "").replace("listen = 7001", 'listen = "[::1]:7001"')
    )
    assert policy.trackers[0].address == Address("127.0.0.1", 4242)
    assert str(policy.apps[1].listen) == "[::1]:7001"
    named = read(tmp_path, GOOD.replace("127.0.0.1:6555", "192.168.1.5:6555"))
    assert named.apps[0].listen == Address("192.168.1.5", 6555)


def test_port_0_is_any_free_port_and_may_be_used_twice(tmp_path: Path) -> None:
    policy = read(tmp_path, GOOD.replace("127.0.0.1:6555", "127.0.0.1:0").replace("listen = 7001", "listen = 0"))
    assert [app.listen for app in policy.apps[:2]] == [Address("127.0.0.1", 0)] * 2


def test_sub_tables_dotted_keys_and_long_strings_keep_their_lines() -> None:
    text = '''\
note = """
[[app]]
name = 3
"""
[[app]]
name = "a"
[app.veil]
preset = "mpmu"
[[app]]
"name" = "b"
veil.preset = "x" # veil.edge = 3
'''
    lines = lines_of(text)
    places = [("app", 0, "name"), ("app", 0, "veil", "preset"), ("app", 1, "name"), ("app", 1, "veil", "preset")]
    assert [line_of(lines, place) for place in places] == [6, 8, 10, 11]
    assert line_of(lines, ("app", 1, "veil", "edge")) == 11
    assert line_of(lines, ("nowhere",)) == 1


LINES = GOOD.splitlines()
JUNK = st.sampled_from(
    ["[", "]]", "= 3", '"', "{", "nan", "inf", "-1", "1e400", "true", "''", "[[app]]", "[app.veil]", "\\", "\t", "é",
     "1979-05-27", "0x10", "[1, 2]", "{ a = 1 }", "9" * 30, "'''", "veil", "name"]
)  # fmt: skip


@given(st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_broken_policy_is_always_refused_cleanly_or_read(tmp_path: Path, data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["drop", "double", "junk", "value", "cut", "swap"]))
        if what == "drop":
            lines[index] = ""
        elif what == "double":
            lines.insert(index, lines[index])
        elif what == "junk":
            lines.insert(index, data.draw(JUNK) + data.draw(JUNK))
        elif what == "value" and "=" in lines[index]:
            lines[index] = lines[index].split("=")[0] + "= " + data.draw(JUNK)
        elif what == "cut":
            lines[index] = lines[index][: data.draw(st.integers(0, 30))]
        else:
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[index], lines[other] = lines[other], lines[index]
    wrong: FileFormatError | None = None
    try:
        read(tmp_path, "\n".join(lines))
    except FileFormatError as error:
        wrong = error
    if wrong is not None:
        assert 1 <= (wrong.line or 0) <= len(lines) + 1
        assert "\n" not in wrong.expected + wrong.found


@given(st.binary(max_size=200))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_refused_cleanly(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "any.toml").write_bytes(content)
    with pytest.raises(FileFormatError):
        read_policy(tmp_path / "any.toml")
