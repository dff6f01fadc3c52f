# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink ASC: what a file says comes out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import read, screen
from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.geometry import Geometry, Unit
from tests.gaze.formats.eyelink_files import COORDS, LEFT_SAMPLE, asc, block, only, read_text, same, samples

PREAMBLE = """\
** CONVERTED FROM D:\\data\\ann.edf using edfapi 4.2
** DATE: Fri Aug 14 02:31:06 2020
** VERSION: EYELINK II 1
**

MSG\t900 DISPLAY_COORDS 0 0 1919 1079
MSG\t950 !CAL
>>>>>>> CALIBRATION (HV9,P-CR) FOR LEFT: <<<<<<<<<
MSG\t951 !CAL eye check box: (L,R,T,B)
\t  -59     5   -46   -17

MSG\t952 !CAL Cal coeff:(X=a+bx+cy+dxx+eyy,Y=f+gx+goaly+ixx+jyy)
   0.0002854  137.26  1.2339  0.40941  1.528
"""


def test_a_monocular_block_becomes_a_recording(tmp_path: Path) -> None:
    recording = only(read_text(tmp_path, PREAMBLE + COORDS + block(samples(1000, 3))))
    assert recording.key == ("ann", "", "1", "1")
    assert same(recording.t, [1.0, 1.001, 1.002])
    assert same(recording.x, [100.5, 101.5, 102.5])
    assert same(recording.y, [200.5] * 3)
    assert recording.pupil is not None
    assert same(recording.pupil, [441.0] * 3)
    assert recording.geometry == screen(1920, 1080)
    assert (recording.rate_hz, recording.pupil_unit) == (1000.0, "area")
    assert recording.left is not None
    assert same(recording.left.x, [100.5, 101.5, 102.5])
    assert recording.right is None


def test_two_eyes_are_averaged_where_both_were_tracked(tmp_path: Path) -> None:
    lines = (
        "1000\t  10.0\t  20.0\t  400.0\t  30.0\t  50.0\t  300.0\t.....\n"
        "1001\t   .\t   .\t    0.0\t  30.0\t  50.0\t  300.0\t.C...\n"
        "1002\t  10.0\t  20.0\t  400.0\t   .\t   .\t    0.0\t...CR\n"
        "1003\t   .\t   .\t    0.0\t   .\t   .\t    0.0\tIC.C.\n"
    )
    path = asc(tmp_path, COORDS + block(lines, "LEFT RIGHT"))
    both = only(read(path))
    assert same(both.x, [20, 30, 10, np.nan])
    assert same(both.y, [35, 50, 20, np.nan])
    assert both.pupil is not None
    assert same(both.pupil, [350, 300, 400, np.nan])
    assert both.tracked.tolist() == [True, True, True, False]
    assert both.left is not None
    assert both.right is not None
    assert both.left.tracked.tolist() == [True, False, True, False]
    assert same(both.right.y, [50, 50, np.nan, np.nan])
    left, right = only(read(path, eye="left")), only(read(path, eye="right"))
    assert same(left.x, [10, np.nan, 10, np.nan])
    assert same(right.x, [30, 30, np.nan, np.nan])
    assert right.pupil is not None
    assert same(right.pupil, [300, 300, np.nan, np.nan])
    assert left.right is not None  # the other eye is kept in its own columns


def test_the_eye_may_change_from_block_to_block(tmp_path: Path) -> None:
    both = "3000\t 1.0\t 2.0\t 3.0\t 4.0\t 5.0\t 6.0\t.....\n"
    text = COORDS + block(samples(1000)) + block(samples(2000), "RIGHT") + block(both, "LEFT RIGHT")
    left_only, right_only, two = read_text(tmp_path, text).recordings
    assert [item.trial for item in (left_only, right_only, two)] == ["1", "2", "3"]
    eyes = [(item.left is not None, item.right is not None) for item in (left_only, right_only, two)]
    assert eyes == [(True, False), (False, True), (True, True)]
    assert same(two.x, [2.5])


def test_an_eye_that_was_not_recorded_is_missing_not_replaced(tmp_path: Path) -> None:
    reading = read_text(tmp_path, COORDS + block(samples()), eye="right")
    assert not only(reading).tracked.any()
    assert np.isnan(only(reading).x).all()
    assert any("right eye was not recorded" in remark for remark in reading.report.remarks)


@pytest.mark.parametrize("missing", [".", "NaN", "nan", "-32768.0"])
def test_missing_positions_in_every_spelling_are_missing(tmp_path: Path, missing: str) -> None:
    lines = (
        f"1000\t{missing}\t{missing}\t   0.0\t...\n1001\t 5.0\t 6.0\t{missing}\t...\n1002\t{missing}\t6.0\t7.0\t...\n"
    )
    recording = only(read_text(tmp_path, COORDS + block(lines)))
    assert recording.tracked.tolist() == [False, True, False]
    assert same(recording.x, [np.nan, 5, np.nan])
    assert recording.pupil is not None
    assert same(recording.pupil, [np.nan] * 3)


def test_a_position_without_a_pupil_is_not_gaze(tmp_path: Path) -> None:
    recording = only(read_text(tmp_path, COORDS + block("1000\t 5.0\t 6.0\t 0.0\t...\n1001\t 5.0\t 6.0\t 1.0\t...\n")))
    assert recording.tracked.tolist() == [False, True]
    assert same(recording.x, [np.nan, 5])


def test_times_with_halves_of_a_millisecond_are_exact(tmp_path: Path) -> None:
    lines = "".join(f"{1000 + step / 2:.1f}\t 1.0\t 2.0\t 3.0\t...\n" for step in range(4))
    reading = read_text(tmp_path, COORDS + block(lines, rate="2000.00", start="1000.0"))
    assert same(only(reading).t, [1.0, 1.0005, 1.001, 1.0015])
    assert not reading.report.remarks
    lines = "".join(f"{1000 + step // 2}\t 1.0\t 2.0\t 3.0\t...\n" for step in range(4))
    reading = read_text(tmp_path, COORDS + block(lines, rate="2000.00"))
    assert reading.report.time_repeated == 2
    assert any("-ftime" in remark for remark in reading.report.remarks)


def test_odd_times_are_counted_and_never_sorted(tmp_path: Path) -> None:
    lines = "".join(LEFT_SAMPLE.format(t=time, x=1.0, y=2.0) for time in (1000, 1002, 1001, 1001, 1003))
    reading = read_text(tmp_path, COORDS + block(lines))
    assert same(only(reading).t, [1.0, 1.002, 1.001, 1.001, 1.003])
    assert (reading.report.time_backwards, reading.report.time_repeated) == (1, 1)


@pytest.mark.parametrize(
    ("eyes", "options", "line"),
    [
        ("LEFT", "\tVEL", "1000\t 1.0\t 2.0\t 3.0\t 0.1\t-0.2\t...\n"),
        ("LEFT", "\tRES", "1000\t 1.0\t 2.0\t 3.0\t 47.1\t 45.2\t...\n"),
        ("LEFT", "\tVEL\tRES\tINPUT\tBUTTONS", "1000\t1.0\t2.0\t3.0\t.\t.\t47\t45\t127.0\t0\tI.R\n"),
        ("LEFT", "\tINPUT", "1000\t 1.0\t 2.0\t 3.0\t  127.0\t...\n"),
        ("LEFT", "\tINPUT", "1000\t 1.0\t 2.0\t 3.0\t...\n"),  # declared in vain
        ("LEFT", "", "1000\t 1.0\t 2.0\t 3.0\t    0.0\t...\n"),  # not declared
        ("LEFT", "", "1000 1.0 2.0 3.0\n"),  # pupil-only tracking: no flags
        ("LEFT", "\tHTARGET", "1000\t 1.0\t 2.0\t 3.0\t...\t 5172.0\t 3402.0\t  676.0\t.............\n"),
        ("LEFT", "\tHTARGET", "1000\t 1.0\t 2.0\t 3.0\t...\t -32768.0\t-32768.0\t.\tMANCFTBLRTBLR\n"),
        ("LEFT", "\tHTARGET", "1000\t 1.0\t 2.0\t 3.0\t 5172.0\t 3402.0\t  676.0 .............\n"),
        ("LEFT", "\tHTARGET", "1000\t 1.0\t 2.0\t 3.0\t...\n"),  # declared in vain
        ("LEFT RIGHT", "\tVEL", "1000\t1.0\t2.0\t3.0\t4.0\t5.0\t6.0\t0.1\t0.2\t0.3\t0.4\t.....\n"),
        ("LEFT RIGHT", "\tRES", "1000\t1.0\t2.0\t3.0\t4.0\t5.0\t6.0\t0.1\t0.2\t.C.CR\n"),
        ("LEFT RIGHT", "\tHTARGET", f"1000\t1.0\t2.0\t3.0\t4.0\t5.0\t6.0\t.....\t7.0\t8.0\t9.0\t{'.' * 17}\n"),
    ],
)
def test_columns_that_are_not_kept_do_not_shift_those_that_are(
    tmp_path: Path, eyes: str, options: str, line: str
) -> None:
    recording = only(read_text(tmp_path, COORDS + block(line + line.replace("1000", "1001", 1), eyes, options)))
    assert same(recording.t, [1.0, 1.001])
    assert recording.left is not None
    assert recording.left.pupil is not None
    assert (recording.left.x[1], recording.left.y[1], recording.left.pupil[1]) == (1.0, 2.0, 3.0)
    if eyes == "LEFT RIGHT":
        assert recording.right is not None
        assert recording.right.pupil is not None
        assert (recording.right.x[1], recording.right.y[1], recording.right.pupil[1]) == (4.0, 5.0, 6.0)


def test_numbers_that_take_more_care_are_read_too(tmp_path: Path) -> None:
    lines = "1000\t+1.5e2\t-2.5E+1\t0.1234567890123456789\t...\n1e3\t12345678901234567\t.5\t7.\t...\n"
    recording = only(read_text(tmp_path, COORDS + block(samples(999, 1) + lines)))
    assert same(recording.t, [0.999, 1.0, 1.0])
    assert same(recording.x, [100.5, 150.0, 12345678901234567.0])
    assert same(recording.y, [200.5, -25.0, 0.5])
    assert recording.pupil is not None
    assert same(recording.pupil, [441.0, 0.1234567890123456789, 7.0])


def test_pupil_diameter_is_told(tmp_path: Path) -> None:
    assert only(read_text(tmp_path, COORDS + block(samples()).replace("AREA", "DIAMETER"))).pupil_unit == "diameter"


EVENT_LINES = """\
SFIX L   1000
EFIX L   1000\t1009\t10\t  512.3\t  400.1\t   1107
SSACC R  1010
ESACC R  1010\t1030\t21\t  512.3\t  400.1\t  700.0\t  410.5\t   4.02\t    253
ESACC L  1010\t1030\t21\t   .\t   .\t  700.0\t  410.5\t   4.02\t      .
SBLINK L 1012
EBLINK L 1012\t1020\t9
MSG\t1005.5 hello  wörld \t
BUTTON\t1006\t2\t1
INPUT\t1007\t127
MSG\t1008
"""


def test_events_and_messages_come_in_seconds_pixels_and_degrees(tmp_path: Path) -> None:
    events = only(read_text(tmp_path, COORDS + block(samples() + EVENT_LINES))).events
    assert events.schema == pl.Schema(schema.EVENTS)
    nothing = dict.fromkeys(schema.EVENTS, None) | {"source": "tracker"}
    saccade = {"kind": "saccade", "onset": 1.01, "offset": 1.03, "end_x": 700.0, "end_y": 410.5}
    expected = [
        {"kind": "message", "onset": 0.99, "text": "GAZE_COORDS 0.00 0.00 1919.00 1079.00"},
        {"kind": "fixation", "eye": "left", "onset": 1.0, "offset": 1.009, "x": 512.3, "y": 400.1, "pupil": 1107.0},
        saccade | {"eye": "right", "x": 512.3, "y": 400.1, "amplitude": 4.02, "peak_velocity": 253.0},
        saccade | {"eye": "left"},
        {"kind": "blink", "eye": "left", "onset": 1.012, "offset": 1.02},
        {"kind": "message", "onset": 1.0055, "text": "hello  wörld"},
        {"kind": "button", "onset": 1.006, "text": "2 1"},
        {"kind": "input", "onset": 1.007, "text": "127"},
        {"kind": "message", "onset": 1.008, "text": ""},
    ]
    assert events.to_dicts() == [nothing | row for row in expected]


def test_events_with_resolution_or_in_other_coordinates_give_pixels_or_nothing(tmp_path: Path) -> None:
    with_resolution = "EFIX L 1000 1009 10 1.0 2.0 3 47.1 45.2\nESACC L 1000 1009 10 1.0 2.0 3.0 4.0 5.0 6 47.1 45.2\n"
    fixation, saccade = only(read_text(tmp_path, COORDS + block(samples() + with_resolution))).events.to_dicts()[1:]
    assert (fixation["x"], fixation["y"], fixation["pupil"]) == (1.0, 2.0, 3.0)
    assert (saccade["end_x"], saccade["amplitude"], saccade["peak_velocity"]) == (3.0, 5.0, 6.0)
    twice = "EFIX L 1000 1009 10 -900 800 7 1.0 2.0 3\nESACC L 1000 1009 10 -1 -2 -3 -4 9.0 8.0 1.0 2.0 3.0 4.0 5.0 6\n"
    text = block(samples() + twice).replace("EVENTS\tGAZE", "EVENTS\tHREF")
    fixation, saccade = only(read_text(tmp_path, COORDS + text)).events.to_dicts()[1:]
    assert (fixation["x"], fixation["y"], fixation["pupil"]) == (1.0, 2.0, 3.0)
    assert (saccade["x"], saccade["end_x"], saccade["amplitude"]) == (1.0, 3.0, 5.0)
    once = "EFIX L 1000 1009 10 -900 800 7\nESACC L 1000 1009 10 -1 -2 -3 -4 9.0 8.0\n"
    text = block(samples() + once).replace("EVENTS\tGAZE", "EVENTS\tHREF")
    fixation, saccade = only(read_text(tmp_path, COORDS + text)).events.to_dicts()[1:]
    assert (fixation["x"], fixation["y"], fixation["pupil"]) == (None, None, 7.0)
    assert (saccade["x"], saccade["end_y"], saccade["amplitude"], saccade["peak_velocity"]) == (None, None, 9.0, 8.0)


def test_what_is_said_after_a_block_belongs_to_it_until_the_next_trial_opens(tmp_path: Path) -> None:
    text = (
        f"MSG\t980 TRIALID one\n{COORDS}{block(samples(1000))}"
        "MSG\t2001 !V TRIAL_VAR image cat.png\nMSG\t2002 TRIAL_RESULT 0\n"
        f"MSG\t2003 TRIALID two\nMSG\t2004 setup\nMSG\t2005 RECCFG CR 1000 2 1 L\n{block(samples(3000))}MSG\t4000 bye\n"
    )
    one, two = read_text(tmp_path, text).recordings
    assert (one.trial, two.trial) == ("one", "two")
    told = [[text.split()[0] for text in item.events["text"]] for item in (one, two)]
    assert told == [["TRIALID", "GAZE_COORDS", "!V", "TRIAL_RESULT"], ["TRIALID", "setup", "RECCFG", "bye"]]


def test_trials_are_numbered_or_named_and_never_share_a_name(tmp_path: Path) -> None:
    named = "".join(f"MSG\t900 TRIALID {name}\n{block(samples())}" for name in ("3", "3", "a/b 'c'", "3-2"))
    trials = [item.trial for item in read_text(tmp_path, COORDS + named + block(samples())).recordings]
    assert trials == ["3", "3-2", "a/b 'c'", "3-2-2", "5"]
    plain = COORDS + block(samples()) * 3
    assert [item.trial for item in read_text(tmp_path, plain).recordings] == ["1", "2", "3"]
    assert [item.trial for item in read_text(tmp_path, plain, trial="x").recordings] == ["x", "x-2", "x-3"]


def test_a_trial_id_inside_a_block_stays_a_message_and_is_remarked(tmp_path: Path) -> None:
    reading = read_text(tmp_path, COORDS + block(samples() + "MSG\t1003 TRIALID 7\n" + samples(1003)))
    assert len(only(reading)) == 6
    assert only(reading).trial == "1"
    assert any("TRIALID" in remark for remark in reading.report.remarks)


def test_the_screen_of_the_file_is_completed_by_what_the_user_knows(tmp_path: Path) -> None:
    text = PREAMBLE + COORDS + block(samples())
    known = Geometry(Unit.FRACTION, width_mm=530, height_mm=300, distance_mm=600)
    assert only(read_text(tmp_path, text, geometry=known)).geometry == screen(1920, 1080, 530, 300, 600)
    reading = read_text(tmp_path, text, geometry=screen(800, 600, 530, 300, 600))
    assert only(reading).geometry == screen(1920, 1080, 530, 300, 600)
    assert any("1920 x 1080" in remark for remark in reading.report.remarks)


def test_the_screen_need_not_begin_at_zero(tmp_path: Path) -> None:
    coords = "MSG\t990 GAZE_COORDS -100.00 50.00 923.00 817.00\n"
    recording = only(read_text(tmp_path, coords + block(samples() + "EFIX L 1000 1002 3 100.5 200.5 441\n")))
    assert recording.geometry == screen(1024, 768)
    assert same(recording.x, [200.5, 201.5, 202.5])
    assert same(recording.y, [150.5] * 3)
    assert recording.events.row(-1, named=True)["x"] == 200.5
    assert recording.events.row(-1, named=True)["y"] == 150.5


@pytest.mark.parametrize(
    "coords",
    [
        "MSG\t1 DISPLAY_COORDS 0 0 1919 1079\n",
        "MSG\t1 DISPLAY_COORDS = 0, 0, 1919, 1079\n",
        "MSG\t1 DISPLAY_COORDS unknown\nMSG\t2 GAZE_COORDS 0 0 1919 1079\n",
        "MSG\t1 GAZE_COORDS 0 0 1919 1079\nMSG\t2 DISPLAY_COORDS 0 0 799 599\n",
        "** RECORDED BY libeyelink.py\nMSG\t1 GAZE_COORDS 0 0 1920 1080\n",
    ],
)
def test_the_screen_is_found_in_every_spelling(tmp_path: Path, coords: str) -> None:
    assert only(read_text(tmp_path, coords + block(samples()))).geometry == screen(1920, 1080)


def test_without_a_screen_the_user_is_asked_for_one(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="GAZE_COORDS or DISPLAY_COORDS") as caught:
        read_text(tmp_path, block(samples()))
    assert "--screen 1920x1080" in caught.value.hint
    assert caught.value.line == 7
    desk = screen(1280, 1024, 400, 300, 700)
    assert only(read_text(tmp_path, block(samples()), geometry=desk)).geometry == desk


@pytest.mark.parametrize("coords", ["0 0 0 0", "0 0 1919", "10 0 5 100", "0 0 x 1079", "0 0 inf 1079", "0 0 . 1079"])
def test_a_screen_that_cannot_be_is_refused(tmp_path: Path, coords: str) -> None:
    with pytest.raises(FileFormatError, match="left, top, right and bottom") as caught:
        read_text(tmp_path, f"MSG\t990 GAZE_COORDS {coords}\n" + block(samples()))
    assert (caught.value.line, caught.value.column) == (1, "GAZE_COORDS")
    with pytest.raises(FileFormatError, match="GAZE_COORDS or DISPLAY_COORDS"):  # nor does an old one stand in for it
        read_text(tmp_path, f"{COORDS}MSG\t991 GAZE_COORDS {coords}\n" + block(samples()), skip_bad=True)


def test_a_screen_that_changes_within_a_block_is_refused_but_between_blocks_followed(tmp_path: Path) -> None:
    other = "MSG\t1001 GAZE_COORDS 0 0 799 599\n"
    with pytest.raises(FileFormatError, match="same screen") as caught:
        read_text(tmp_path, COORDS + block(samples() + other + samples(1003)))
    assert caught.value.line == 11
    assert len(only(read_text(tmp_path, COORDS + block(samples() + COORDS + samples(1003))))) == 6
    first, second = read_text(tmp_path, COORDS + block(samples()) + other + block(samples())).recordings
    assert (first.geometry, second.geometry) == (screen(1920, 1080), screen(800, 600))
