# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Data quality: the measures against what was put in, chunk by chunk, and what the grades say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import read, screen
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.plots import quality_picture
from gazeveil.gaze.quality import MEASURES, Quality, QualityMeter, grades, overall, problems, qualities, severity, tally
from gazeveil.gaze.recording import Key, Recording

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
DESK = screen(1920, 1080, 530, 300, 600)
PIXELS = screen(1920, 1080)
RATE = 250
N = 20_000


def gaze(seed: int = 1, noise: float = 4.0, n: int = N, rate: float = RATE) -> Chunk:
    """Fixations of 200 to 400 ms, white noise on them."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(int(0.2 * rate), int(0.4 * rate) + 1, n // int(0.2 * rate) + 1)
    x, y = (np.repeat(rng.uniform(300, 700, len(lengths)), lengths)[:n] for _ in "xy")
    columns = {"t": np.arange(n) / rate, "x": x + rng.normal(0, noise, n), "y": y + rng.normal(0, noise, n)}
    return Chunk(Key("ann"), pl.DataFrame({**columns, "valid": np.ones(n, dtype=bool)}), PIXELS, rate_hz=rate)


def changed(chunk: Chunk, **columns: Any) -> Chunk:
    return replace(chunk, samples=chunk.samples.with_columns(**{k: pl.Series(v) for k, v in columns.items()}))


def only(chunk: Chunk) -> Quality:
    (found,) = qualities([chunk])
    return found


def cut(chunk: Chunk, rows: int) -> list[Chunk]:
    return [replace(chunk, samples=piece) for piece in chunk.samples.iter_slices(rows)]


def test_precision_is_that_of_the_noise() -> None:
    # white noise of s in each axis: STD is s times the root of 2, RMS-S2S twice s; windows of 25 samples
    # spread by 10 %, the median of some 400 by less than 1 %, so 4 % is a false alarm once in 10,000 runs or less
    found = only(gaze(noise=4.0))
    assert found.windows > 300
    assert found.unit == "px"
    assert found.rms == pytest.approx(8.0, rel=0.04)
    assert found.std == pytest.approx(4.0 * np.sqrt(2) * np.sqrt(24 / 25), rel=0.04)


def test_precision_is_that_of_plain_numpy_at_rest() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(500, 2, 2000), rng.normal(400, 2, 2000)
    chunk = Chunk(Key("ann"), pl.DataFrame({"t": np.arange(2000) / 1000, "x": x, "y": y, "valid": True}), PIXELS)
    windows = [(x[k : k + 100], y[k : k + 100]) for k in range(0, 2000, 100)]
    shift = [np.hypot(a[:50].mean() - a[50:].mean(), b[:50].mean() - b[50:].mean()) for a, b in windows]
    calm = [window for window, each in zip(windows, shift, strict=True) if each <= np.median(shift)]
    found = only(chunk)
    assert found.windows == len(calm)
    assert found.rms == pytest.approx(np.median([np.sqrt(np.mean(np.diff(a) ** 2 + np.diff(b) ** 2)) for a, b in calm]))
    assert found.std == pytest.approx(np.median([np.sqrt(a.var() + b.var()) for a, b in calm]))


def test_precision_is_in_degrees_where_the_screen_is_known() -> None:
    chunk = replace(gaze(noise=4.0), geometry=DESK)
    x, _ = DESK.convert([500.0, 501.0], [500.0, 500.0], "deg")
    found = only(chunk)
    assert found.unit == "deg"
    assert found.rms == pytest.approx(8.0 * (x[1] - x[0]), rel=0.06)  # a pixel is not the same angle everywhere


def test_loss_gaps_and_dropped_samples_are_what_was_taken_out() -> None:
    chunk = gaze()
    valid = np.ones(N, dtype=bool)
    for start, length in ((1000, 100), (5000, 10), (9000, 50)):  # 400, 40 and 200 ms
        valid[start : start + length] = False
    found = only(changed(chunk, valid=valid))
    assert found.loss == 160 / N
    assert found.gaps == 2
    assert found.longest_gap == pytest.approx(101 / RATE)
    assert (found.dropped, found.pauses) == (0, 0)
    fewer = only(replace(chunk, samples=chunk.samples.filter(pl.Series(valid))))
    assert fewer.dropped == pytest.approx(160 / N)
    assert (fewer.loss, fewer.gaps) == (0, 2)
    assert fewer.rate_hz == pytest.approx(RATE)


def test_gaze_that_begins_late_and_ends_early_leaves_gaps() -> None:
    valid = np.ones(N, dtype=bool)
    valid[:50] = valid[-100:] = False
    found = only(changed(gaze(), valid=valid))
    assert found.gaps == 2
    assert found.longest_gap == pytest.approx(100 / RATE)


def test_a_pause_is_no_dropped_sample() -> None:
    t = np.arange(N) / RATE
    t[N // 2 :] += 60
    found = only(changed(gaze(), t=t))
    assert (found.pauses, found.dropped) == (1, 0)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.15])
def test_jitter_is_the_spread_of_the_steps(share: float) -> None:
    t = (np.arange(N) + np.random.default_rng(5).normal(0, share / np.sqrt(2), N)) / RATE
    found = only(changed(gaze(), t=t))
    assert found.jitter == pytest.approx(share, rel=0.05)  # steps over 1.5 of the usual are cut off
    assert found.jitter_ms == pytest.approx(1000 * share / RATE, rel=0.05)
    assert found.dropped == pytest.approx(0, abs=0.003)
    assert found.rate_hz == pytest.approx(RATE, rel=0.003)


def test_times_in_whole_milliseconds_are_neither_jitter_nor_drops() -> None:
    found = only(replace(changed(gaze(rate=60.0), t=np.round(np.arange(N) / 60, 3)), rate_hz=60.0))
    assert found.rate_hz == pytest.approx(60, rel=1e-3)
    assert found.dropped == 0
    assert found.jitter is not None
    assert found.jitter < 0.05


def test_gaze_outside_the_screen_is_counted() -> None:
    x = gaze().samples["x"].to_numpy().copy()
    x[:2000] += 3000
    found = only(changed(gaze(), x=x))
    assert found.outside == 2000 / N
    assert found.sentinels == {}


def test_flat_lines_are_found_and_are_no_rest() -> None:
    chunk = gaze()
    x, y = (chunk.samples[axis].to_numpy().copy() for axis in "xy")
    x[3000:3500], y[3000:3500] = x[3000], y[3000]  # 2 s
    x[8000:8040], y[8000:8040] = x[8000], y[8000]  # 160 ms: not long enough
    found = only(changed(chunk, x=x, y=y))
    assert found.flat == 500 / N
    assert found.longest_flat == pytest.approx(499 / RATE)
    assert found.rms == pytest.approx(8.0, rel=0.05)


def test_chunks_do_not_matter() -> None:
    chunk = gaze()
    x, y, valid = (chunk.samples[name].to_numpy().copy() for name in ("x", "y", "valid"))
    x[3000:3500], y[3000:3500] = x[3000], y[3000]
    x[9000:9100], y[9000:9100] = 0, 0
    x[9200:9300], y[9200:9300] = -50, -50
    valid[15_000:15_100] = False
    odd = changed(chunk, x=x, y=y, valid=valid)
    whole, pieces = only(odd), qualities(cut(odd, 777))[0]
    for name in set(Quality.__slots__) - {"rms", "std", "windows"}:
        assert getattr(pieces, name) == pytest.approx(getattr(whole, name)), name
    assert whole.sentinels == {"0,0": 100, "-50,-50": 100}
    assert pieces.rms == pytest.approx(whole.rms, rel=0.05)


def test_recordings_that_lie_in_several_parts_are_one() -> None:
    first, second = gaze(1, n=1000), replace(gaze(2, n=1000), key=Key("bob"))
    later = changed(first, t=first.samples["t"] + 4.0)
    found = qualities([first, second, later])
    assert [(each.key.observer, each.samples) for each in found] == [("ann", 2000), ("bob", 1000)]


def test_recordings_without_samples_or_gaze_are_poor_and_say_so() -> None:
    nothing = gaze(n=100)
    nothing = replace(nothing, samples=nothing.samples.clear())
    lost = changed(gaze(n=100), valid=np.zeros(100, dtype=bool))
    strange = changed(gaze(n=4), t=np.full(4, np.nan))
    said = [problems(only(chunk)) for chunk in (nothing, lost, strange)]
    assert said[:2] == [["there are no samples"], ["no sample has gaze"]]
    assert overall(only(nothing)) == overall(only(lost)) == "poor"
    assert only(lost).rms is None
    assert only(strange).rate_hz is None


def test_grades_follow_their_limits() -> None:
    best = only(replace(gaze(noise=0.5), geometry=DESK))
    assert overall(best) == "good"
    assert problems(best) == []
    for measure in MEASURES:
        for value, expected in ((measure.good, "good"), (measure.fair, "fair"), (2 * measure.fair, "poor")):
            given = replace(best, **{measure.name: value})  # type: ignore[arg-type]
            assert grades(given)[measure.name] == expected
            assert overall(given) == expected
            assert severity(given) >= severity(best)
    assert tally([best, replace(best, loss=0.5)]) == {"good": 1, "fair": 0, "poor": 1}


def test_precision_without_a_known_screen_is_not_graded() -> None:
    assert grades(only(gaze(noise=200.0)))["rms"] is None


def test_what_is_odd_is_said_in_a_line_each() -> None:
    found = replace(
        only(replace(gaze(), geometry=DESK)),
        loss=0.4, sentinels={"0,0": 300}, outside=0.2, flat=0.3, longest_flat=2.0, rms=1.0, jitter=0.5, jitter_ms=2.0,
        dropped=0.2, longest_gap=3.0, pauses=1, backwards=2, repeated=3, stated_hz=500.0,
    )  # fmt: skip
    lines = problems(found)
    assert len(lines) == 12
    assert "300 samples (2.5 % of gaze) are at exactly (0, 0)" in lines[1]
    assert "--sentinel 0,0" in lines[1]
    assert lines[-1] == "500 Hz are stated, the times say 250 Hz"


def test_the_picture_shows_the_worst_and_keeps_few_traces() -> None:
    inspector = QualityMeter(severity, traces=2)
    for number in range(5):
        valid = np.random.default_rng(number).random(1000) > number / 10
        chunk = changed(gaze(number, n=1000), valid=valid)
        inspector.add(replace(chunk, key=Key(f"p{number}")))
    found, traces = inspector.found(), inspector.traces()
    assert [key.observer for key in traces] == ["p4", "p3"]
    picture = quality_picture(found, traces)
    assert picture.png.startswith(b"\x89PNG")
    assert quality_picture(found * 20, {}).png.startswith(b"\x89PNG")
    assert quality_picture([], {}).png.startswith(b"\x89PNG")


def test_a_recording_in_memory_is_measured_too() -> None:
    recording = Recording(np.arange(100) / 100, np.full(100, 5.0), np.full(100, 5.0), DESK, "ann")
    assert only(chunk_of(recording)).flat == 1.0


@pytest.mark.skipif(not (DATA / "lund2013").exists(), reason="the shared data are not here")
def test_real_blinks_at_zero_are_reported_and_lost_when_asked() -> None:
    table = pl.read_parquet(DATA / "lund2013" / "lund2013.parquet").with_columns(t=pl.col("i") / 500)
    table = table.filter((pl.col("user") == "UL31") & (pl.col("coder") == "RA")).cast({"stimulus": pl.String})
    zeros = table.filter((pl.col("x") == 0) & (pl.col("y") == 0)).height
    options: dict[str, Any] = {"geometry": screen(1024, 768, 380, 300, 670), "observer": "UL31"}
    found = qualities(map(chunk_of, read(table, **options).recordings))
    assert sum(each.sentinels.get("0,0", 0) for each in found) == zeros > 0
    assert all(each.rms is not None and each.rms < 0.1 for each in found)  # a Hi-Speed tracker
    reading = read(table, sentinels=["0,0"], **options)
    assert sum(int((~each.tracked).sum()) for each in reading) == zeros


@pytest.mark.skipif(not (DATA / "eyetribe_contextlab").exists(), reason="the shared data are not here")
def test_a_real_status_column_says_what_is_valid() -> None:
    path = DATA / "eyetribe_contextlab" / "eyetribe_runs.parquet"
    table = pl.scan_parquet(path).filter((pl.col("user") == 11) & (pl.col("run") == 5)).collect()
    reading = read(
        table, geometry=PIXELS, observer="11", columns={"t": "t_ms"}, time_unit="ms", valid=["state == 7"]
    )  # fmt: skip
    (recording,) = reading
    np.testing.assert_array_equal(recording.tracked, table["state"].to_numpy() == 7)
