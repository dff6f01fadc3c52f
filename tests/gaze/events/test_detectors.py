# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""I-VT and I-DT against slow implementations written from the reference page, and live against on file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gazeveil import Recording, headset, screen
from gazeveil.errors import GeometryError, InputError, OptionError, UnknownName
from gazeveil.gaze import schema
from gazeveil.gaze.events import DETECTORS, Detector, DispersionThreshold, Event, VelocityThreshold, table_of_events

TICK = 1e-6
Floats = NDArray[np.float64]


def gaze(t: Any, x: Any, y: Any = None) -> Recording:
    return Recording(t, x, np.zeros(len(t)) if y is None else y, headset(), "somebody")


def rests(*holds: tuple[float, float], rate: float = 1000.0, flight: int = 30) -> tuple[Floats, Floats]:
    """Gaze that holds each position for some seconds and flies smoothly in between, without noise."""
    parts: list[Floats] = []
    for position, seconds in holds:
        if parts:
            here, phase = parts[-1][-1], np.linspace(0, 1, flight + 2)[1:-1]
            parts.append(here + (position - here) * phase**3 * (10 - 15 * phase + 6 * phase**2))
        parts.append(np.full(round(seconds * rate), float(position)))
    x = np.concatenate(parts)
    return np.arange(len(x)) / rate, x


@st.composite
def any_gaze(draw: Callable[..., Any]) -> Recording:
    """Rests and leaps, noise, lost samples, odd clocks: whatever a tracker may send."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(0, 250))
    step = draw(st.sampled_from([0.001, 0.002, 0.004, 1 / 60, 1 / 30]))
    odd_steps = draw(st.sampled_from([0.0, 0.02, 0.2]))
    lost = draw(st.sampled_from([0.0, 0.03, 0.3, 1.0]))
    leaps = draw(st.sampled_from([0.01, 0.1]))
    noise = draw(st.sampled_from([0.0, 0.02, 0.3]))
    odd = rng.random(n) < odd_steps
    dt = np.where(odd, rng.choice([0.0, 3e-7, 0.5 * step, 0.03, 0.09, 0.15, 2.0, -0.004, -1.0], n), step)
    t = draw(st.sampled_from([0.0, -3.0, 1.7e9])) + np.cumsum(dt)
    jumps = np.where(rng.random((2, n)) < leaps, rng.normal(0, 3, (2, n)), 0.0)
    x, y = np.cumsum(jumps, axis=1) + rng.normal(0, noise, (2, n))
    gone = rng.random(n) < lost
    if n > 20 and lost:
        at = int(rng.integers(0, n - 15))
        gone[at : at + 15] = True
    t = np.where(rng.random(n) < 0.1 * odd_steps, np.nan, t)
    return gaze(t, np.where(gone, np.nan, x), y)


ivts = st.builds(
    VelocityThreshold,
    threshold=st.sampled_from([5.0, 20.0, 100.0]),
    min_fixation=st.sampled_from([0.0, 0.02, 0.1]),
    min_saccade=st.sampled_from([0.0, 0.01]),
    window=st.sampled_from([0.0, 0.01, 0.02]),
    merge_gap=st.sampled_from([0.0, 0.02, 0.075]),
    merge_distance=st.sampled_from([0.0, 0.5, 5.0]),
    max_gap=st.sampled_from([0.0, 0.02, 0.075]),
    max_step=st.sampled_from([0.01, 0.1]),
)
idts = st.builds(
    DispersionThreshold,
    threshold=st.sampled_from([0.1, 1.0, 3.0]),
    min_fixation=st.sampled_from([0.01, 0.05, 0.1]),
    max_saccade=st.sampled_from([0.0, 0.05, 0.1, 1.0]),
    max_gap=st.sampled_from([0.0, 0.02, 0.075]),
    max_step=st.sampled_from([0.01, 0.1]),
)


# --- the slow way -----------------------------------------------------------------------------------------------


def stretches(r: Recording, max_gap: float, max_step: float) -> list[list[int]]:
    """Cut a recording as the reference says: the numbers of the samples of each stretch."""
    found: list[list[int]] = []
    seen, previous, lost, back = -np.inf, -1, False, False
    for i, t in enumerate(r.t):
        if np.isfinite(t):
            if abs(t - seen) < TICK:
                continue  # repeats the time of the sample before
            back |= bool(t < seen)
            seen = t
        if not (np.isfinite(t) and np.isfinite(r.x[i]) and np.isfinite(r.y[i])):
            lost = True
            continue
        gap = np.inf if previous < 0 else t - r.t[previous]
        too_far = (max_gap == 0 or gap > max_gap + TICK) if lost else gap > max_step + TICK
        if previous < 0 or back or too_far:
            found.append([])
        found[-1].append(i)
        previous, lost, back = i, False, False
    return found


def slow_velocity(r: Recording, stretch: list[int], window: float) -> tuple[Floats, Floats]:
    t, at = r.t[stretch], np.arange(len(stretch))
    slopes = []
    for i in at:
        near = (np.abs(t - t[i]) <= window / 2 + TICK) | (np.abs(at - i) <= 1)
        if near.sum() < 2:
            slopes.append((np.nan, np.nan))
            continue
        dt = t[near] - t[i]
        dt -= dt.mean()
        slopes.append((float(dt @ r.x[stretch][near] / (dt @ dt)), float(dt @ r.y[stretch][near] / (dt @ dt))))
    across, down = np.array(slopes).T
    return across, down


def slow_ivt(rule: VelocityThreshold, r: Recording) -> list[tuple[float, ...]]:
    events: list[tuple[float, ...]] = []
    for stretch in stretches(r, rule.max_gap, rule.max_step):
        speed = np.hypot(*slow_velocity(r, stretch, rule.window))
        if np.isnan(speed).any():
            continue
        assume((np.abs(speed - rule.threshold) > 1e-6 * rule.threshold).all())  # else rounding decides
        t, x, y = (values[stretch] for values in (r.t, r.x, r.y))
        edges = np.flatnonzero(np.diff(speed < rule.threshold)) + 1
        runs = np.split(np.arange(len(stretch)), edges)
        found: list[Any] = []
        for run in runs:
            if speed[run[0]] < rule.threshold:
                fixation = [t[run[0]], t[run[-1]], list(run)]
                last = next((item for item in reversed(found) if isinstance(item, list)), None)
                if last is not None and rule.merge_gap > 0 and fixation[0] - last[1] <= rule.merge_gap + TICK:
                    apart = np.hypot(*(v[last[2]].mean() - v[run].mean() for v in (x, y)))
                    if apart <= rule.merge_distance:
                        while found and not isinstance(found[-1], list):
                            found.pop()
                        last[1], last[2] = fixation[1], last[2] + fixation[2]
                        continue
                found.append(fixation)
            elif run[0] > 0 and run[-1] < len(stretch) - 1:
                before, after = run[0] - 1, run[-1] + 1
                if t[after] - t[before] >= rule.min_saccade - TICK:
                    size = np.hypot(x[after] - x[before], y[after] - y[before])
                    places = (x[before], y[before], x[after], y[after])
                    found.append((1, t[run[0]], t[run[-1]], *places, size, speed[run].max()))
        for item in found:
            if not isinstance(item, list):
                events.append(item)
            elif item[1] - item[0] >= rule.min_fixation - TICK:
                events.append((0, item[0], item[1], x[item[2]].mean(), y[item[2]].mean(), *[np.nan] * 4))
    return events


def slow_idt(rule: DispersionThreshold, r: Recording) -> list[tuple[float, ...]]:
    """The words of Salvucci & Goldberg 2000, one after the other."""
    events: list[tuple[float, ...]] = []
    for stretch in stretches(r, rule.max_gap, rule.max_step):
        t, x, y = (values[stretch] for values in (r.t, r.x, r.y))

        def spread(first: int, end: int, x: Floats = x, y: Floats = y) -> float:
            return float(np.ptp(x[first:end]) + np.ptp(y[first:end]))

        first, left = 0, None
        while first < len(t):
            covering = np.flatnonzero(t - t[first] >= rule.min_fixation - TICK)
            if not len(covering):
                break
            end = int(covering[0]) + 1
            if spread(first, end) > rule.threshold:
                first += 1
                continue
            while end < len(t) and spread(first, end + 1) <= rule.threshold:
                end += 1
            if left is not None and first > left + 1 and t[first] - t[left] <= rule.max_saccade + TICK:
                places = (x[left], y[left], x[first], y[first])
                size = np.hypot(x[first] - x[left], y[first] - y[left])
                events.append((1, t[left + 1], t[first - 1], *places, size, np.nan))
            events.append((0, t[first], t[end - 1], x[first:end].mean(), y[first:end].mean(), *[np.nan] * 4))
            first, left = end, end - 1
    return events


def assert_same(found: pl.DataFrame, expected: list[tuple[float, ...]]) -> None:
    assert found["kind"].to_list() == [("fixation", "saccade")[int(row[0])] for row in expected]
    numbers = found.select(Event._fields[1:]).fill_null(float("nan")).to_numpy()
    wanted = np.array([row[1:] for row in expected]).reshape(-1, 8)
    np.testing.assert_array_equal(numbers[:, :2], wanted[:, :2])
    np.testing.assert_allclose(numbers[:, 2:], wanted[:, 2:], rtol=1e-7, atol=1e-9)


@settings(max_examples=250, deadline=None)
@given(rule=ivts, r=any_gaze())
def test_ivt_finds_what_its_definition_says(rule: VelocityThreshold, r: Recording) -> None:
    assert_same(rule.detect(r), slow_ivt(rule, r))


@settings(max_examples=250, deadline=None)
@given(rule=idts, r=any_gaze())
def test_idt_finds_what_its_definition_says(rule: DispersionThreshold, r: Recording) -> None:
    assert_same(rule.detect(r), slow_idt(rule, r))


# --- live and on file -------------------------------------------------------------------------------------------


def live(detector: Detector, r: Recording) -> list[Event]:
    stream = detector.start(r.geometry)
    events = [event for sample in zip(r.t, r.x, r.y, strict=True) for event in stream.push(*map(float, sample))]
    return events + stream.finish()


@settings(max_examples=150, deadline=None)
@given(rule=st.one_of(ivts, idts), r=any_gaze())
def test_live_gaze_gives_exactly_the_events_of_the_file(rule: Detector, r: Recording) -> None:
    assert table_of_events(live(rule, r), rule.name).equals(rule.detect(r))


@pytest.mark.parametrize("name", DETECTORS.names())
def test_live_and_file_agree_across_the_chunks_that_files_are_read_in(name: str) -> None:
    rng = np.random.default_rng(3)
    n = 20_000
    x, y = np.repeat(rng.normal(0, 4, (2, n // 200)), 200, axis=1) + rng.normal(0, 0.05, (2, n))
    x[rng.random(n) < 0.002] = np.nan
    r = Recording(np.arange(n) / 500 + rng.uniform(0, 5e-4, n), x, y, headset(), "somebody")
    detector = DETECTORS[name]()
    assert len(detector.detect(r)) > 50
    assert table_of_events(live(detector, r), name).equals(detector.detect(r))


@pytest.mark.parametrize("name", DETECTORS.names())
def test_live_and_file_agree_in_pixels_too(name: str) -> None:
    t, degrees = rests((0, 0.3), (5, 0.3), (-4, 0.4))
    desk = screen(1000, 800, 400, 320, 600)
    x, y = desk.in_unit("deg").convert(degrees, degrees / 2, "px")
    r = Recording(t, x, y, desk, "somebody")
    detector = DETECTORS[name]()
    assert table_of_events(live(detector, r), name).equals(detector.detect(r))


def test_a_stream_tells_an_event_as_soon_as_its_window_allows() -> None:
    t, x = rests((0, 0.3), (5, 0.3))
    stream = VelocityThreshold(window=0.02).start()
    told = [(event, now) for now, place in zip(t, x, strict=True) for event in stream.push(now, place, 0.0)]
    (fixation, fixation_told), (saccade, saccade_told) = told
    # half the window and one sample after the sample that ends the event
    assert fixation_told - fixation.offset == pytest.approx(0.001 + 0.010 + 0.001)
    assert saccade_told - saccade.offset == pytest.approx(0.001 + 0.010 + 0.001)
    assert stream.state == "fixation"
    assert [event.kind for event in stream.finish()] == ["fixation"]


def test_a_stream_says_what_the_eye_does_now() -> None:
    t, x = rests((0, 0.3), (20, 0.3), flight=60)
    for detector, during in ((VelocityThreshold(), "saccade"), (DispersionThreshold(), "unsure")):
        stream = detector.start()
        assert stream.state == "lost"
        said = []
        for now, place in zip(t, x, strict=True):
            stream.push(now, place, 0.0)
            said.append(stream.state)
        assert said[200] == said[-1] == "fixation"
        assert said[340] == during
        stream.push(t[-1] + 0.001, np.nan, np.nan)
        assert stream.state == "lost"


def test_a_finished_stream_takes_no_more_samples() -> None:
    stream = VelocityThreshold().start()
    assert stream.finish() == stream.finish() == []
    with pytest.raises(InputError, match="finished"):
        stream.push(0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", DETECTORS.names())
def test_too_many_samples_for_bounded_memory_are_refused(name: str) -> None:
    r = gaze(np.arange(60_000) * 2e-6, np.zeros(60_000))
    with pytest.raises(InputError, match=r"more than .* samples within .* s\nhint: times must be in seconds"):
        DETECTORS[name]().detect(r)
    stream = DETECTORS[name]().start()
    with pytest.raises(InputError, match="more than"):
        _ = [stream.push(float(now), 0.0, 0.0) for now in r.t]


# --- what the events say ----------------------------------------------------------------------------------------


def test_a_saccade_between_two_fixations() -> None:
    t, x = rests((0, 0.5), (6, 0.4))
    first, saccade, second = VelocityThreshold().detect(gaze(t, x)).rows(named=True)
    assert (first["kind"], saccade["kind"], second["kind"]) == ("fixation", "saccade", "fixation")
    assert (first["source"], first["eye"]) == ("ivt", "both")
    assert first["onset"] == 0.0
    assert saccade["onset"] == pytest.approx(first["offset"] + 0.001)
    assert second["onset"] == pytest.approx(saccade["offset"] + 0.001)
    assert second["offset"] == t[-1]
    assert 0.495 <= saccade["onset"] <= 0.505
    assert saccade["amplitude"] == pytest.approx(6, abs=0.1)
    true_peak = 1.875 * 6 / 0.031  # of a minimum-jerk flight; a window of 20 ms flattens it
    assert 0.8 * true_peak < saccade["peak_velocity"] < 0.9 * true_peak
    sharper = VelocityThreshold(window=0.006).detect(gaze(t, x))["peak_velocity"].max()
    assert sharper == pytest.approx(true_peak, rel=0.03)
    assert (first["x"], second["x"]) == pytest.approx((0, 6), abs=0.01)
    assert first["amplitude"] is first["end_x"] is None


def test_positions_come_in_the_recordings_unit_and_sizes_in_degrees() -> None:
    t, degrees = rests((0, 0.3), (6, 0.3))
    desk = screen(1000, 800, 400, 320, 600)
    x, y = desk.in_unit("deg").convert(degrees, 0 * degrees, "px")
    events = VelocityThreshold().detect(Recording(t, x, y, desk, "somebody"))
    in_degrees = VelocityThreshold().detect(gaze(t, degrees))
    assert events["x"].to_list() == pytest.approx(
        desk.in_unit("deg").convert(in_degrees["x"].to_numpy(), 0, "px")[0].tolist()
    )
    for column in ("onset", "offset", "amplitude", "peak_velocity"):
        assert events[column].fill_null(0).to_list() == pytest.approx(in_degrees[column].fill_null(0).to_list())


@pytest.mark.parametrize("name", DETECTORS.names())
def test_gaze_that_cannot_be_given_in_degrees_is_refused_with_advice(name: str) -> None:
    r = Recording(np.array([0.0, 0.1]), np.array([1.0, 2]), np.array([3.0, 4]), screen(1920, 1080), "somebody")
    with pytest.raises(GeometryError, match="degrees need the screen's physical size"):
        DETECTORS[name]().detect(r)
    with pytest.raises(GeometryError):
        DETECTORS[name]().start(r.geometry).push(0.0, 1.0, 2.0)


@pytest.mark.parametrize("name", DETECTORS.names())
@pytest.mark.parametrize(
    "r",
    [
        gaze([], []),
        gaze([1.0], [2.0]),
        gaze([1.0], [np.nan]),
        gaze(np.arange(500) / 500, np.full(500, np.nan)),
        gaze(np.full(500, np.nan), np.zeros(500)),
        gaze(np.zeros(500), np.zeros(500)),
        gaze(np.arange(500)[::-1] / 500, np.zeros(500)),
    ],
    ids=["empty", "one", "one lost", "all lost", "no times", "one time", "backwards"],
)
def test_where_there_is_nothing_to_find_nothing_is_found(name: str, r: Recording) -> None:
    found = DETECTORS[name]().detect(r)
    assert found.schema == pl.Schema(dict(schema.EVENTS))
    assert len(found) == 0


@pytest.mark.parametrize("name", DETECTORS.names())
def test_no_event_spans_a_step_back_a_hole_or_a_loss(name: str) -> None:
    t = np.arange(1000) / 1000
    for change in ("back", "hole", "loss"):
        times, x = t.copy(), np.zeros(1000)
        if change == "back":
            times[500:] -= 0.2
        elif change == "hole":
            times[500:] += 0.3
        else:
            x[500] = np.nan
        found = DETECTORS[name]().detect(gaze(times, x))
        assert found["kind"].to_list() == ["fixation", "fixation"]
        assert found["offset"][0] == times[499]
        assert found["onset"][1] == times[501 if change == "loss" else 500]


@pytest.mark.parametrize("name", DETECTORS.names())
def test_a_short_loss_is_bridged_if_asked_for(name: str) -> None:
    x = np.zeros(1000)
    x[500:520] = np.nan
    r = gaze(np.arange(1000) / 1000, x)
    assert len(DETECTORS[name](max_gap=0.020).detect(r)) == 2  # the good samples are 21 ms apart
    bridged = DETECTORS[name](max_gap=0.021).detect(r)
    assert bridged.select("onset", "offset").rows() == [(0.0, 0.999)]


@pytest.mark.parametrize("name", DETECTORS.names())
def test_a_repeated_time_is_left_out(name: str) -> None:
    t = np.repeat(np.arange(300) / 1000, 2)
    x = np.tile([0.0, 50.0], 300)  # what repeats a time is far away
    found = DETECTORS[name]().detect(gaze(t, x))
    assert found.select("kind", "onset", "offset", "x").rows() == [("fixation", 0.0, 0.299, 0.0)]


def test_a_fast_run_beside_a_loss_is_no_saccade() -> None:
    t, x = rests((0, 0.3), (8, 0.3))
    assert "saccade" in VelocityThreshold().detect(gaze(t, x))["kind"]
    x[315] = np.nan  # in mid flight
    assert VelocityThreshold().detect(gaze(t, x))["kind"].to_list() == ["fixation", "fixation"]


def test_near_fixations_are_merged_if_asked_for() -> None:
    t, x = rests((0, 0.2), (0.4, 0.2), (8, 0.2), flight=12)
    r = gaze(t, x)
    apart = VelocityThreshold().detect(r)
    assert apart["kind"].to_list() == ["fixation", "saccade", "fixation", "saccade", "fixation"]
    merged = VelocityThreshold(merge_gap=0.075, merge_distance=0.5).detect(r)
    assert merged["kind"].to_list() == ["fixation", "saccade", "fixation"]
    assert merged["onset"][0] == 0.0
    assert merged["offset"][0] == apart["offset"][2]
    assert merged["x"][0] == pytest.approx(0.2, abs=0.01)


def test_idt_leaves_the_sample_that_breaks_a_fixation_to_the_next() -> None:
    t = np.arange(300) / 1000
    x = np.where(np.arange(300) < 150, 0.0, 5.0)
    found = DispersionThreshold().detect(gaze(t, x))
    assert found.select("kind", "onset", "offset", "x").rows() == [
        ("fixation", 0.0, 0.149, 0.0),
        ("fixation", 0.15, 0.299, 5.0),
    ]


def test_idt_counts_a_spread_at_the_threshold_as_within() -> None:
    t = np.arange(200) / 1000
    x, y = np.tile([0.0, 0.5], 100), np.tile([0.0, 0.0, 0.5, 0.5], 50)
    assert len(DispersionThreshold(threshold=1.0).detect(gaze(t, x, y))) == 1
    assert len(DispersionThreshold(threshold=0.999).detect(gaze(t, x, y))) == 0


def test_events_can_be_found_in_velocities_alone() -> None:
    t, x = rests((0, 0.3), (5, 0.3))
    vx = np.gradient(x, t)
    found = VelocityThreshold().detect_in_velocities(t, vx, 0 * vx)
    assert found["kind"].to_list() == ["fixation", "saccade", "fixation"]
    assert found["x"].null_count() == 3
    assert found["peak_velocity"][1] == vx.max()
    vx[100] = np.nan
    assert VelocityThreshold().detect_in_velocities(t, vx, 0 * vx)["onset"][0] == pytest.approx(0.101)
    with pytest.raises(InputError, match="one length"):
        VelocityThreshold().detect_in_velocities(t, vx[1:], vx)


# --- what every detector keeps to -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DETECTORS.names())
def test_a_detector_is_a_value_of_parameters(name: str) -> None:
    detector = DETECTORS[name]()
    assert isinstance(detector, Detector)
    assert detector == DETECTORS[name]()
    assert detector != DETECTORS[name](threshold=3)
    assert detector.name == name
    assert "threshold=" in str(detector)
    with pytest.raises(AttributeError):
        detector.threshold = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", DETECTORS.names())
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "20", None])
def test_a_parameter_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(OptionError, match="threshold must be a number above 0"):
        DETECTORS[name](threshold=value)
    if value != 0:
        with pytest.raises(OptionError, match="max_gap must be a number at least 0"):
            DETECTORS[name](max_gap=value)


def test_an_unknown_detector_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="known: idt, ivt"):
        DETECTORS["ivy"]
