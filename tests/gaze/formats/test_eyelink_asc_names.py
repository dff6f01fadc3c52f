# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink files whose messages say what was shown, whose pupils were not recorded, or whose blinks have no length."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil import screen
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze.reading import Reading, read
from tests.gaze.formats.eyelink_files import COORDS, asc, block, only, read_text, same, samples


def trial(number: int, *, before: str = "", inside: str = "", after: str = "") -> str:
    def said(text: str, time: int) -> str:
        return "".join(f"MSG\t{time} {line}\n" for line in text.split("|") if line)

    start = 1000 * number
    lines = samples(start, 4) + said(inside, start + 4) + samples(start + 4, 4)
    head = f"MSG\t{start - 5} TRIALID {number}\n" + said(before, start - 3)
    return head + block(lines, start=str(start)) + said(after, start + 20)


def names(reading: Reading) -> list[tuple[str, str]]:
    return [(recording.stimulus, recording.trial) for recording in reading.recordings]


THREE = (
    trial(1, after="!V TRIAL_VAR rt 412|!V TRIAL_VAR image kitchen.png")
    + trial(2, inside="!V TRIAL_VAR image lake 2.png")
    + trial(3, before="!V TRIAL_VAR image street.png")
)


@pytest.mark.parametrize("chunk_rows", [3, 250_000])
@pytest.mark.parametrize("rule", [None, "TRIAL_VAR image", "!V TRIAL_VAR IMAGE"])
def test_a_trial_variable_names_the_stimulus_wherever_it_stands(
    tmp_path: Path, chunk_rows: int, rule: str | None
) -> None:
    reading = read_text(tmp_path, COORDS + THREE, stimulus_from=rule, chunk_rows=chunk_rows)
    assert names(reading) == [("kitchen.png", "1"), ("lake 2.png", "2"), ("street.png", "3")]
    assert [len(recording) for recording in reading] == [8, 8, 8]
    assert not reading.report.remarks


@pytest.mark.parametrize(
    ("message", "stimulus"),
    [
        ("!V IMGLOAD CENTER images/a b.png 512 384", "a b.png"),
        ("!V IMGLOAD FILL ..\\pics\\lake.jpg", "lake.jpg"),
        ("!V IMGLOAD TOP_LEFT x.png 0 0 1920 1080", "x.png"),
        ("-7 !V IMGLOAD FILL lake.jpg", "lake.jpg"),
        ("!V VFRAME 1 640 360 movies/walk.avi", "walk.avi"),
        ("!V TRIAL_VAR Picture_Name story01.png", "story01.png"),
        ("!V TRIAL_VAR TRIAL_IMAGE face7", "face7"),
        ("DISPLAY ON kitchen.png", "kitchen.png"),
        ("DISPLAY ON", ""),
        ("!V TRIAL_VAR image NA", ""),
        ("!V TRIAL_VAR condition 3", ""),
        ("!V IAREA FILE aoi/IA_1.ias", ""),
        ("my !V IMGLOAD FILL no.png", ""),
    ],
)
def test_the_usual_messages_name_the_stimulus(tmp_path: Path, message: str, stimulus: str) -> None:
    assert names(read_text(tmp_path, COORDS + trial(1, inside=message))) == [(stimulus, "1")]


def test_a_trial_id_that_is_a_picture_names_the_stimulus_and_one_that_is_none_does_not(tmp_path: Path) -> None:
    text = COORDS + trial(1).replace("TRIALID 1", "TRIALID lake.png") + trial(2)
    assert names(read_text(tmp_path, text)) == [("lake.png", "lake.png"), ("", "2")]


@pytest.mark.parametrize("chunk_rows", [3, 250_000])
def test_a_variable_is_trusted_more_than_an_image_and_a_users_rule_most(tmp_path: Path, chunk_rows: int) -> None:
    said = "!V IMGLOAD FILL pics/a.png|show: the lake|!V TRIAL_VAR stimulus lake|!V TRIAL_VAR nr 12"
    text = COORDS + trial(1, after=said)
    for rule, expected in [
        (None, "lake"),
        ("IMGLOAD", "a.png"),
        ("MSG show", "the lake"),
        ("TRIALID", "1"),
        ("none", ""),
    ]:
        assert names(read_text(tmp_path, text, stimulus_from=rule, chunk_rows=chunk_rows)) == [(expected, "1")]
    assert names(read_text(tmp_path, text, trial_from="TRIAL_VAR nr", chunk_rows=chunk_rows)) == [("lake", "12")]


def test_what_the_file_says_comes_before_the_option_which_fills_the_gaps(tmp_path: Path) -> None:
    text = COORDS + trial(1, after="!V TRIAL_VAR image lake.png") + trial(2)
    assert names(read_text(tmp_path, text, stimulus="picture")) == [("lake.png", "1"), ("picture", "2")]
    assert names(read_text(tmp_path, text, stimulus="picture", stimulus_from="none"))[0] == ("picture", "1")


def test_more_than_one_name_in_a_block_is_remarked_and_the_first_counts(tmp_path: Path) -> None:
    text = COORDS + trial(1, before="!V IMGLOAD FILL a.png", inside="!V IMGLOAD FILL b.png")
    reading = read_text(tmp_path, text)
    assert names(reading) == [("a.png", "1")]
    assert any("more than one stimulus" in remark for remark in reading.report.in_words())
    reading = read_text(tmp_path, COORDS + trial(1, inside="item 1|item 2"), trial_from="MSG item")
    assert names(reading) == [("", "1")]
    assert any("more than one trial" in remark for remark in reading.report.in_words())


def test_trials_of_one_name_stay_apart(tmp_path: Path) -> None:
    said = "!V TRIAL_VAR image a.png|!V TRIAL_VAR block 1"
    text = COORDS + trial(1, after=said) + trial(2, after=said) + trial(3, after=said.replace("a.png", "b.png"))
    found = names(read_text(tmp_path, text, trial_from="TRIAL_VAR block"))
    assert found == [("a.png", "1"), ("a.png", "1-2"), ("b.png", "1")]


@pytest.mark.parametrize("rule", ["", "TRIAL_VAR", "MSG", "IMGLOAD x", "column image", "none of them"])
def test_a_rule_that_is_none_is_refused(tmp_path: Path, rule: str) -> None:
    with pytest.raises(OptionError, match="TRIAL_VAR name"):
        read_text(tmp_path, COORDS + trial(1), stimulus_from=rule)


def test_the_command_line_takes_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = asc(tmp_path, COORDS + trial(1, after="!V TRIAL_VAR pic_2 lake|!V TRIAL_VAR n 7"))
    rules = ["--stimulus-from", "TRIAL_VAR pic_2", "--trial-from", "TRIAL_VAR n"]
    assert run(["convert", str(path), "--out", str(tmp_path / "corpus"), *rules]) == 0
    [recording] = read(tmp_path / "corpus").recordings
    assert (recording.stimulus, recording.trial) == ("lake", "7")
    capsys.readouterr()
    assert run(["info", str(path), "--json", *rules]) == 0
    assert "lake" in json.dumps(json.loads(capsys.readouterr().out))


def test_a_rule_for_a_table_is_remarked_not_obeyed_in_silence(tmp_path: Path) -> None:
    text = "observer,t_ms,x,y\nann,0,1,2\nann,4,1,2\n"
    path = tmp_path / "table.csv"
    path.write_text(text)
    reading = read(path, geometry=screen(100, 100), stimulus_from="TRIAL_VAR image")
    assert any("do not apply to csv" in remark for remark in reading.report.in_words())


NO_PUPIL = "1000\t  325.6\t  232.6\t    0.0\n1004\t  326.6\t  233.6\t    0.0\n1008\t   .\t   .\t    0.0\n"


@pytest.mark.parametrize("chunk_rows", [1, 250_000])
def test_gaze_without_any_pupil_is_kept_and_remarked(tmp_path: Path, chunk_rows: int) -> None:
    reading = read_text(tmp_path, COORDS + block(NO_PUPIL + "1012\t0.0\t0.0\t0.0\n"), chunk_rows=chunk_rows)
    recording = only(reading)
    assert recording.tracked.tolist() == [True, True, False, False]
    assert same(recording.x[:2], [325.6, 326.6])
    assert recording.pupil is None or not (recording.pupil == recording.pupil).any()
    assert [remark for remark in reading.report.in_words() if "pupil was not recorded" in remark]


@pytest.mark.parametrize("chunk_rows", [1, 250_000])
def test_one_pupil_anywhere_makes_a_pupil_of_0_a_lost_eye(tmp_path: Path, chunk_rows: int) -> None:
    later = block("2000\t  1.5\t  2.5\t  300.0\n", start="2000")
    reading = read_text(tmp_path, COORDS + block(NO_PUPIL) + later, chunk_rows=chunk_rows)
    assert [recording.tracked.tolist() for recording in reading] == [[False, False, False], [True]]
    assert not reading.report.remarks


@pytest.mark.parametrize("line", ["EBLINK R 1003\t999\t0", "EBLINK R 1003\t1003\t0", "EBLINK R 1003\t999\t-4"])
def test_a_blink_of_no_length_is_no_error(tmp_path: Path, line: str) -> None:
    recording = only(read_text(tmp_path, COORDS + block(samples(1000, 4) + line + "\n" + samples(1004, 2))))
    blink = recording.events.filter(recording.events["kind"] == "blink")
    assert blink.select("onset", "offset").rows() == [(1.003, 1.003)]
    assert len(recording) == 6


def test_a_blink_that_ends_before_it_begins_but_has_a_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="end time"):
        read_text(tmp_path, COORDS + block(samples(1000, 4) + "EBLINK R 1003\t900\t80\n"))
