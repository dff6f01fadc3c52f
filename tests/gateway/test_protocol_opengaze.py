# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The Open Gaze API: what apps ask and hear, what trackers say, and what neither can do."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazeveil.errors import PrivacyError, WireError
from gazeveil.gateway.protocol import MOST_WAITING, PROTOCOLS, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.opengaze import _FIELDS, MOST_POINTS, OpenGazeSink, OpenGazeSource
from gazeveil.gateway.sample import RawSample
from gazeveil.geometry import normalised, screen
from gazeveil.testing import veiled_fixation, veiled_sample
from tests.gateway.loopback import SCREEN
from tests.gateway.transcript import replay


def a_sink(**shown) -> OpenGazeSink:
    sink = OpenGazeSink(StreamFacts(SCREEN, **shown))
    sink.connected(0.0)
    return sink


def say(sink: OpenGazeSink, *commands: str, now: float = 0.0) -> list[str]:
    sink.received("".join(command + "\r\n" for command in commands).encode(), now)
    return sink.data_to_send().decode().split("\r\n")[:-1]


def enable(*names: str) -> list[str]:
    return [f'<SET ID="ENABLE_SEND_{name}" STATE="1" />' for name in names]


def fields(record: str) -> dict[str, str]:
    assert record.startswith("<REC ")
    return dict(re.findall(r'(\w+)="([^"]*)"', record))


def shown(sink: OpenGazeSink, *samples: tuple[float, float, float]) -> list[dict[str, str]]:
    for sample in samples:
        sink.show(veiled_sample(*sample), 0.0)
    return [fields(line) for line in sink.data_to_send().decode().split("\r\n")[:-1]]


@pytest.mark.parametrize("piece", [None, 1, 7])
@pytest.mark.parametrize(("client", "answers"), [("pyopengaze", 40), ("psychopy", 15)])
def test_dialogues_with_real_clients_are_as_they_were_recorded(client: str, answers: int, piece: int | None) -> None:
    assert replay(f"opengaze_{client}", a_sink(), piece=piece) >= answers


def test_nothing_is_sent_before_data_is_asked_for_nor_after_it_was_stopped() -> None:
    sink = a_sink()
    say(sink, *enable("POG_BEST"))
    assert shown(sink, (1.0, 960, 540)) == []
    assert say(sink, *enable("DATA")) == ['<ACK ID="ENABLE_SEND_DATA" STATE="1" />']
    assert shown(sink, (1.1, 960, 540)) == [{"BPOGX": "0.50000", "BPOGY": "0.50000", "BPOGV": "1"}]
    say(sink, '<SET ID="ENABLE_SEND_DATA" STATE="0" />')
    assert shown(sink, (1.2, 960, 540)) == []


def test_each_flag_adds_its_fields_and_a_cleared_one_takes_them_away() -> None:
    sink = a_sink()
    say(sink, *enable("TIME", "POG_BEST", "DATA"))
    assert set(shown(sink, (1.0, 0, 0))[0]) == {"TIME", "BPOGX", "BPOGY", "BPOGV"}
    say(sink, '<SET ID="ENABLE_SEND_POG_BEST" STATE="0" />')
    assert set(shown(sink, (1.1, 0, 0))[0]) == {"TIME"}


def test_an_app_that_enables_everything_gets_one_point_and_nothing_of_the_eye() -> None:
    sink = a_sink()
    say(sink, *(f'<SET ID="{flag}" STATE="1" />' for flag in _FIELDS), *enable("DATA"))
    record = shown(sink, (12.5, 480, 270))[0]
    assert len(record) == 49
    assert set(record) <= set(PROTOCOLS["opengaze"].leaves)
    for eye in "BLR":
        assert (record[f"{eye}POGX"], record[f"{eye}POGY"], record[f"{eye}POGV"]) == ("0.25000", "0.25000", "1")
    told = {"CNT", "TIME", "TIME_TICK", "USER"}
    rest = {name: value for name, value in record.items() if "POG" not in name and name not in told}
    assert len(rest) == 30
    assert all(float(value) == 0 for value in rest.values())
    assert (record["CNT"], record["TIME"], record["TIME_TICK"], record["USER"]) == ("1", "12.50000", "12500000", "0")


def test_answers_and_calibrations_hold_only_what_is_on_the_list() -> None:
    sink = a_sink()
    asked = ("SCREEN_SIZE", "CAMERA_SIZE", "PRODUCT_ID", "SERIAL_ID", "COMPANY_ID", "API_ID", "TIME_TICK_FREQUENCY")
    said = say(sink, *(f'<GET ID="{name}" />' for name in (*asked, "CALIBRATE_RESULT_SUMMARY", "CALIBRATE_ADDPOINT")))
    said += say(sink, '<SET ID="CALIBRATE_START" STATE="1" />', '<GET ID="NOTHING" />', '<GET ID="USER_DATA" />')
    for now in range(0, 20, 2):
        sink.tick(float(now))
    sink.end("spent", 0.0)
    said += sink.data_to_send().decode().split("\r\n")
    found = set(re.findall(r'(\w+)="', " ".join(said)))
    numbered = {name for name in found if re.fullmatch(r"((CAL|L|R)?[XY]|[LR]V)\d+", name)}
    assert len(numbered) == 5 * 10
    assert found - numbered <= set(PROTOCOLS["opengaze"].leaves)


def test_a_point_that_is_not_there_is_not_valid() -> None:
    sink = a_sink()
    say(sink, *enable("POG_BEST", "POG_FIX", "DATA"))
    record = shown(sink, (1.0, math.nan, math.nan))[0]
    assert (record["BPOGX"], record["BPOGV"], record["FPOGV"]) == ("0.00000", "0", "0")


def test_fixations_are_found_in_the_veiled_points() -> None:
    sink = a_sink()
    say(sink, *enable("POG_FIX", "DATA"))
    rest = [(1 + n / 60, 480.0 + n % 2, 270.0) for n in range(20)]
    move = [(1 + n / 60, 1440.0, 810.0) for n in range(20, 40)]
    records = shown(sink, *rest, *move)
    assert [record["FPOGV"] for record in records[:20]] == ["0"] * 6 + ["1"] * 14
    assert {record["FPOGID"] for record in records[6:20]} == {"1"}
    assert records[19]["FPOGS"] == "1.00000"
    assert float(records[19]["FPOGD"]) == pytest.approx(19 / 60, abs=1e-5)
    assert float(records[19]["FPOGX"]) == pytest.approx(480.5 / 1920, abs=1e-5)
    assert (records[20]["FPOGV"], records[39]["FPOGV"], records[39]["FPOGID"]) == ("0", "1", "2")


def test_a_gap_in_time_ends_a_fixation() -> None:
    sink = a_sink()
    say(sink, *enable("POG_FIX", "DATA"))
    records = shown(sink, *((n / 60, 480.0, 270.0) for n in range(20)), (9.0, 480.0, 270.0))
    assert (records[-2]["FPOGV"], records[-1]["FPOGV"], records[-1]["FPOGS"]) == ("1", "0", "9.00000")


def test_an_app_that_may_have_fixations_gets_them_and_no_samples() -> None:
    sink = a_sink(output="fixations")
    say(sink, *enable("TIME", "POG_FIX", "POG_BEST", "DATA"))
    sink.show(veiled_fixation(5.0, 960.0, 540.0, 0.25, 7), 0.0)
    record = fields(sink.data_to_send().decode().strip())
    assert record["TIME"] == "5.00000"
    assert (record["FPOGX"], record["FPOGS"], record["FPOGD"]) == ("0.50000", "4.75000", "0.25000")
    assert (record["FPOGID"], record["FPOGV"], record["BPOGX"], record["BPOGV"]) == ("7", "1", "0.50000", "1")
    with pytest.raises(PrivacyError):
        sink.show(veiled_sample(5.1, 0.0, 0.0), 0.0)
    with pytest.raises(PrivacyError):
        a_sink().show(veiled_fixation(5.0, 960.0, 540.0, 0.25, 7), 0.0)


def test_raw_gaze_is_refused() -> None:
    with pytest.raises(PrivacyError):
        a_sink().show(RawSample(0.0, 1.0, 1.0), 0.0)  # type: ignore[arg-type]


def test_a_name_that_is_not_known_is_not_acknowledged() -> None:
    assert say(a_sink(), '<GET ID="EYE_IMAGES" />', '<SET ID="ENABLE_SEND_IMAGES" STATE="1" />') == [
        '<NACK ID="EYE_IMAGES" />',
        '<NACK ID="ENABLE_SEND_IMAGES" />',
    ]


@pytest.mark.parametrize(
    "command",
    [
        '<SET ID="ENABLE_SEND_DATA" STATE="yes" />',
        '<SET ID="ENABLE_SEND_DATA" />',
        '<SET ID="CALIBRATE_DELAY" VALUE="nan" />',
        '<SET ID="CALIBRATE_TIMEOUT" VALUE="1e9" />',
        '<SET ID="CALIBRATE_ADDPOINT" X="inf" Y="0" />',
        '<SET ID="CALIBRATE_ADDPOINT" />',
        '<SET ID="USER_DATA" VALUE="&bomb;" />',
        f'<SET ID="USER_DATA" VALUE="{"x" * 300}" />',
        '<SET ID="SERIAL_ID" VALUE="7" />',
    ],
)
def test_a_value_that_cannot_be_is_not_acknowledged(command: str) -> None:
    assert say(a_sink(), command)[0].startswith("<NACK ")


def test_user_data_comes_back_to_the_app_that_sent_it_and_to_no_other() -> None:
    one, other = a_sink(), a_sink()
    for sink in (one, other):
        say(sink, *enable("USER_DATA", "DATA"))
    say(one, '<SET ID="USER_DATA" VALUE="trial %d &amp; more" />')
    assert shown(one, (1.0, 0, 0))[0]["USER"] == "trial %d &amp; more"
    assert shown(other, (1.0, 0, 0))[0]["USER"] == "0"


def test_the_screen_is_the_trackers_whatever_an_app_sets() -> None:
    expected = '<ACK ID="SCREEN_SIZE" X="0" Y="0" WIDTH="1920" HEIGHT="1080" />'
    assert (
        say(a_sink(), '<SET ID="SCREEN_SIZE" X="5" Y="5" WIDTH="1" HEIGHT="1" />', '<GET ID="SCREEN_SIZE" />')
        == [expected] * 2
    )
    sink = OpenGazeSink(StreamFacts(ViewingPlane(normalised())))
    assert say(sink, '<GET ID="SCREEN_SIZE" />') == ['<NACK ID="SCREEN_SIZE" />']


def test_a_calibration_shows_each_point_for_as_long_as_the_app_asked() -> None:
    sink = a_sink()
    say(sink, '<SET ID="CALIBRATE_DELAY" VALUE="1" />', '<SET ID="CALIBRATE_TIMEOUT" VALUE="0.5" />')
    say(sink, '<SET ID="CALIBRATE_START" STATE="1" />', now=100.0)
    said = []
    for n in range(100):
        sink.tick(100 + n / 10)
        said += [(n / 10, line) for line in sink.data_to_send().decode().split("\r\n")[:-1]]
    starts = [(at, line.split('"')[3]) for at, line in said if "CALIB_START_PT" in line]
    assert starts == [(0.0, "1"), (1.5, "2"), (3.0, "3"), (4.5, "4"), (6.0, "5")]
    assert said[-1][0] == 7.5
    assert 'LV5="1"' in said[-1][1]


def test_a_calibration_that_loses_its_points_is_broken_off() -> None:
    sink = a_sink()
    say(sink, '<SET ID="CALIBRATE_START" STATE="1" />')
    sink.tick(0.0)
    say(sink, '<SET ID="CALIBRATE_CLEAR" />')
    sink.tick(99.0)
    assert sink.data_to_send() == b""
    assert say(sink, '<GET ID="CALIBRATE_ADDPOINT" />') == ['<ACK ID="CALIBRATE_ADDPOINT" PTS="0" />']


def test_an_app_cannot_pile_up_calibration_points() -> None:
    answers = say(a_sink(), *['<SET ID="CALIBRATE_ADDPOINT" X="0.1" Y="0.1" />'] * 100)
    assert sum(line.startswith("<ACK") for line in answers) == MOST_POINTS - 5


def test_an_end_says_why_and_nothing_follows() -> None:
    sink = a_sink()
    say(sink, *enable("POG_BEST", "DATA"))
    sink.end('spent <all> of "it"', 0.0)
    assert sink.ended
    assert b'REASON="spent &lt;all&gt; of &quot;it&quot;"' in sink.data_to_send()
    assert shown(sink, (1.0, 0, 0)) == []
    assert say(sink, *enable("DATA")) == []


BOMB = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        BOMB,
        "<GET><ID>X</ID></GET>",
        '<GET ID="X">',
        '<GET ID="X" /><GET ID="Y" />',
        '<GET ID="X" "/>',
        '<GET ID="X"Y="2" />',
        '<GET "ID" />',
        "<GET ID=X />",
        "<GET ID= />",
        '<GET ID="X />',
        '<REC ID="X" />',
        "<GET />",
        '<GET ID="lower case" />',
        '<GET ID="' + "X" * 99 + '" />',
        "<GET " + "A" * 99 + '="1" />',
        '<GET ID="\udcff" />',
    ],
)
def test_what_is_not_the_protocol_is_refused_without_being_repeated(line: str) -> None:
    with pytest.raises(WireError) as caught:
        a_sink().received(line.encode(errors="surrogateescape") + b"\r\n", 0.0)
    assert line not in str(caught.value)


def test_a_line_without_end_is_cut_off() -> None:
    sink = a_sink()
    for _ in range(MOST_WAITING // 65536):
        sink.received(b"x" * 65536, 0.0)
    with pytest.raises(WireError):
        sink.received(b"x", 0.0)
    with pytest.raises(WireError):
        a_sink().received(b"x" * (MOST_WAITING + 1) + b"\n", 0.0)


def a_source(plane: ViewingPlane = SCREEN) -> OpenGazeSource:
    source = OpenGazeSource(plane)
    source.connected(0.0)
    return source


def points(samples: list[RawSample]) -> list[tuple[float, float, float]]:
    return [(sample.t, sample.x, sample.y) for sample in samples]


def test_a_source_asks_for_the_point_alone_and_again_until_it_is_heard() -> None:
    source = a_source()
    first = source.data_to_send()
    asked = re.findall(rb'ID="(\w+)"', first)
    assert asked == [
        b"TIME_TICK_FREQUENCY",
        *(b"ENABLE_SEND_" + name for name in (b"TIME", b"TIME_TICK", b"POG_BEST", b"POG_FIX", b"DATA")),
    ]
    source.tick(0.5)
    assert source.data_to_send() == b""
    source.tick(1.0)
    assert source.data_to_send() == first
    source.received(b'<ACK ID="ENABLE_SEND_TIME" STATE="1" />\r\n<NACK ID="ENABLE_SEND_TIME_TICK" />\r\n', 1.1)
    source.tick(2.0)
    again = source.data_to_send()
    assert b'"ENABLE_SEND_TIME"' not in again
    assert b'"ENABLE_SEND_TIME_TICK"' not in again
    assert b'"ENABLE_SEND_DATA"' in again
    for name in asked:
        source.received(b'<ACK ID="%s" STATE="1" />\r\n' % name, 2.1)
    source.tick(9.0)
    assert source.data_to_send() == b""


def test_a_tracker_that_refuses_data_is_left() -> None:
    with pytest.raises(WireError):
        a_source().received(b'<NACK ID="ENABLE_SEND_DATA" />\r\n', 0.0)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ('TIME="2.5" BPOGX="0.5" BPOGY="0.25" BPOGV="1"', (2.5, 960.0, 270.0)),
        ('TIME="2.5" BPOGX="0.5" BPOGY="0.25" BPOGV="1" FPOGX="0" FPOGY="0" FPOGV="1"', (2.5, 960.0, 270.0)),
        ('TIME="2.5" FPOGX="0.5" FPOGY="0.25" FPOGV="1"', (2.5, 960.0, 270.0)),
        ('TIME="2.5" BPOGX="-0.5" BPOGY="1.5" BPOGV="1"', (2.5, -960.0, 1620.0)),
        ('TIME="2.5" BPOGX="0.5" BPOGY="0.25" BPOGV="0"', None),
        ('TIME="2.5" BPOGX="0.5" BPOGY="0.25"', None),
        ('TIME="2.5" BPOGX="0.5" BPOGY="0.25" BPOGV="0" FPOGX="0.1" FPOGY="0.1" FPOGV="1"', None),
        ('TIME="2.5" BPOGX="nan" BPOGY="0.25" BPOGV="1"', None),
        ('TIME="2.5" BPOGX="1e999" BPOGY="0.25" BPOGV="1"', None),
        ('TIME="2.5" BPOGX="1e300" BPOGY="0.25" BPOGV="1"', None),
        ('TIME="2.5" BPOGX="" BPOGY="0.25" BPOGV="1"', None),
        ('TIME="2.5"', None),
    ],
)
def test_a_record_is_a_sample_with_gaze_or_without(record: str, expected: tuple[float, float, float] | None) -> None:
    [sample] = a_source().received(f"<REC {record} />\r\n".encode(), 0.0)
    if expected is None:
        assert (sample.t, math.isnan(sample.x), math.isnan(sample.y)) == (2.5, True, True)
    else:
        assert points([sample]) == [pytest.approx(expected)]


@pytest.mark.parametrize("time", ['TIME="nan"', 'TIME="inf"', 'TIME="-1e300"', 'TIME="soon"', 'TIME_TICK="5"', ""])
def test_a_record_without_a_time_is_no_sample(time: str) -> None:
    assert a_source().received(f'<REC {time} BPOGX="0.5" BPOGY="0.5" BPOGV="1" />\r\n'.encode(), 0.0) == []


def test_ticks_are_a_time_once_their_frequency_is_known() -> None:
    source = a_source()
    source.received(b'<ACK ID="TIME_TICK_FREQUENCY" FREQ="1000" />\r\n', 0.0)
    [sample] = source.received(b'<REC TIME_TICK="2500" BPOGX="0.5" BPOGY="0.5" BPOGV="1" />\r\n', 0.0)
    assert sample.t == 2.5
    for frequency in (b"0", b"nan", b"-5", b"inf", b""):
        source.received(b'<ACK ID="TIME_TICK_FREQUENCY" FREQ="%s" />\r\n' % frequency, 0.0)
        assert source.received(b'<REC TIME_TICK="2500" BPOGX="0.5" BPOGY="0.5" BPOGV="1" />\r\n', 0.0) == []


def test_a_source_understands_a_sink() -> None:
    sink, source = a_sink(), a_source()
    sink.received(source.data_to_send(), 0.0)
    sink.show(veiled_sample(3.0, 960.0, 270.0), 0.0)
    sink.show(veiled_sample(3.1, math.nan, math.nan), 0.0)
    got = points(source.received(sink.data_to_send(), 0.0))
    assert got[0] == pytest.approx((3.0, 960.0, 270.0), abs=0.02)
    assert got[1][0] == 3.1
    assert math.isnan(got[1][1])
    source.tick(5.0)
    assert source.data_to_send() == b""


def test_a_plane_in_degrees_is_met_too() -> None:
    plane = ViewingPlane(screen(1920, 1080, 527, 296, 600).in_unit("deg"))
    [sample] = a_source(plane).received(b'<REC TIME="1" BPOGX="0.5" BPOGY="0.5" BPOGV="1" />\r\n', 0.0)
    assert (sample.x, sample.y) == pytest.approx((0.0, 0.0), abs=1e-9)
    sink = OpenGazeSink(StreamFacts(plane))
    say(sink, *enable("POG_BEST", "DATA"))
    assert shown(sink, (1.0, 0.0, 0.0))[0]["BPOGX"] == "0.50000"


STREAM = (
    b'<ACK ID="TIME_TICK_FREQUENCY" FREQ="1000" />\r\n'
    b'<REC TIME="1.0" BPOGX="0.1" BPOGY="0.2" BPOGV="1" />\r\n'
    b'<CAL ID="CALIB_RESULT" CALX1="0.5" />\r\n'
    b'<REC TIME_TICK="1016" FPOGX="0.1" FPOGY="0.2" FPOGV="1" USER="\xc3\xa9" />\r\n\r\n'
    b'<REC TIME="1.1" BPOGX="0.1" BPOGY="0.2" BPOGV="0" />\n'
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_it_does_not_matter_where_a_stream_is_cut(cuts: list[int]) -> None:
    whole = a_source().received(STREAM, 0.0)
    source, found = a_source(), []
    edges = [0, *sorted(cuts), len(STREAM)]
    for begin, end in pairwise(edges):
        found += source.received(STREAM[begin:end], 0.0)
    assert str(points(found)) == str(points(whole))
    assert len(whole) == 3


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(STREAM.splitlines(keepends=True))), max_size=8))
def test_whatever_comes_in_is_understood_or_refused(pieces: list[bytes]) -> None:
    for end in (a_source(), a_sink()):
        try:
            for piece in pieces:
                end.received(piece, 0.0)
        except WireError as error:
            assert all(len(piece) < 5 or repr(piece)[2:-1] not in str(error) for piece in pieces)  # noqa: PT017


@settings(max_examples=100, deadline=None)
@given(st.floats(), st.floats(), st.floats(0, 1e6))
@example(math.inf, 0.0, 1.0)
@example(0.0, math.nan, 1.0)
@example(1e300, 0.0, 1.0)
def test_every_veiled_point_becomes_a_record_that_can_be_read(x: float, y: float, t: float) -> None:
    sink = a_sink()
    say(sink, *enable("TIME", "POG_FIX", "POG_BEST", "DATA"))
    [record] = shown(sink, (t, x, y))
    assert float(record["TIME"]) == pytest.approx(t, abs=1e-5)
    there = abs(x / 1920) <= 1e6 and abs(y / 1080) <= 1e6
    assert record["BPOGV"] == str(int(there))
    assert all(math.isfinite(float(value)) for value in record.values())
