# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of JSON by their shapes: the same as one after another, or a closer look."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import GazeveilError
from gazeveil.gaze.fileio.text import TextBlock, by_shape
from gazeveil.gaze.formats import tobii_glasses
from gazeveil.gaze.reading import read


def block(*lines: str) -> TextBlock:
    return TextBlock(5, "".join(f"{line}\n" for line in lines).encode(), len(lines))


def test_numbers_are_found_at_their_places() -> None:
    shaped = by_shape(
        block('{"t":1,"p":[0.25,-2]}', '{"t":20,"p":[0.5,0]}', "", '{"q":"a 1 \\" 2","t":3}', '{"t":4,"p":[-0.0,7]}')
    )
    assert shaped is not None
    found = {tuple(each.shape): each for each in shaped}
    points = found["t", "p"]
    assert points.lines.tolist() == [5, 6, 9]
    columns = points.columns(points.shape["t"], *points.shape["p"])
    assert [column.tolist() for column in columns or []] == [[1, 20, 4], [0.25, 0.5, 0], [-2, 0, 7]]
    assert found["q", "t"].shape == {"q": 'a 1 " 2', "t": 0}


def test_every_number_is_the_nearest_float() -> None:
    random = np.random.default_rng(3)
    texts = [
        f"{value:.{int(random.integers(0, 9))}f}" for value in random.normal(0, 10.0 ** random.integers(0, 6, 3000))
    ]
    shaped = by_shape(block(*(f'{{"v":{text}}}' for text in texts)))
    assert shaped is not None
    [lines] = shaped
    [values] = lines.columns(lines.shape["v"]) or []
    np.testing.assert_array_equal(values, [float(text) for text in texts])


@pytest.mark.parametrize(
    "line",
    [
        '{"t":01}',
        '{"t":1.}',
        '{"t":1e3}',
        '{"t":-}',
        '{"t":--1}',
        '{"t":1.2.3}',
        '{"t":1-2}',
        '{"t":+1}',
        '{"t":.5}',
        '{"t":1234567890.1234567}',
        '{"t":NaN}',
        '{"t":1',
        '{"t":1}}',
        '{"t":"1}',
        "[1]",
        "1",
        '{"t":\x01}',
        '{"t":"\\',
    ],
)
def test_a_line_that_is_not_plain_gets_a_closer_look(line: str) -> None:
    for lines in ([line, '{"t":1}'], ['{"t":1}', line], [line]):
        assert by_shape(block(*lines)) is None


def test_many_shapes_get_a_closer_look() -> None:
    assert by_shape(block(*(json.dumps({f"k{n}": n}) for n in range(300)))) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_recording_is_the_same_by_shapes_and_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = np.random.default_rng(seed)
    lines = []
    for step in range(400):
        time, status = int(step * 20000 + random.integers(0, 9)), int(random.random() < 0.2)
        kinds = [
            f'{{"ts":{time},"s":{status},"gp":[{random.random():.4f},{random.random():.4f}]}}',
            f'{{"ts":{time},"s":{status},"gidx":{step},"l":5,"gp":[{random.random():.4f},0.5]}}',
            f'{{"ts":{time},"s":{status},"pd":{4 * random.random():.2f},"eye":"left"}}',
            f'{{"ts":{time},"s":{status},"pd":{4 * random.random():.2f},"eye":"right"}}',
            f'{{"ts":{time},"s":0,"ac":[0.1,0.2,0.3]}}',
            f'{{"type":"gaze","timestamp":{time / 1e6:.6f},"data":{{"gaze2d":[0.5,{random.random():.5f}],'
            f'"eyeleft":{{"pupildiameter":{random.random():.3f}}},"eyeright":{{}}}}}}',
            f'{{"type":"gaze","timestamp":{time / 1e6:.6f},"data":{{}}}}',
        ]
        lines += [kinds[kind] for kind in random.permutation(len(kinds))[: int(random.integers(1, 5))]]
    path = tmp_path / "livedata.json"
    path.write_text("\n".join(lines))
    quick = read(path, format="tobii-glasses", chunk_rows=70).recordings
    monkeypatch.setattr(tobii_glasses, "by_shape", lambda block: None)
    slow = read(path, format="tobii-glasses", chunk_rows=70).recordings
    assert len(quick) == len(slow) == 1
    for name in ("t", "x", "y", "tracked", "pupil"):
        np.testing.assert_array_equal(getattr(quick[0], name), getattr(slow[0], name))


@pytest.mark.parametrize("seed", range(20))
def test_noise_means_the_same_by_shapes_and_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = np.random.default_rng(seed)
    data = bytearray(b'{"ts":20000,"s":0,"gp":[0.25,0.5]}\n{"ts":20000,"s":0,"pd":5.25,"eye":"left"}\n' * 4)
    for _ in range(2):
        data[int(random.integers(0, len(data)))] = int(random.choice(list(b'\n{}[],:"\\ 0-.eE\x01')))
    path = tmp_path / "livedata.json"
    path.write_bytes(data)
    told = []
    for shapes in (by_shape, lambda block: None):
        monkeypatch.setattr(tobii_glasses, "by_shape", shapes)
        try:
            reading = read(path, format="tobii-glasses", skip_bad=True)
            [recording] = reading.recordings
            columns = [recording.t, recording.x, recording.y, recording.pupil]
            told.append(f"{[np.asarray(column).tolist() for column in columns]} {reading.report.in_words()}")
        except GazeveilError as error:
            told.append(str(error))
    assert told[0] == told[1]
