# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The contract that every registered veil keeps, and the bad input that none lets through."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import tomllib
from threading import Event, Thread
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil import NoiseSource, Recording, Unproven, screen
from gazeveil.errors import GazeveilError, InputError, OptionError, StateError, VeilShut
from gazeveil.gaze.recording import Eye
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples import MECHANISMS, Screen, mechanism_from_dict
from gazeveil.samples.space import Room3D, Space
from tests.samples.contract_bench import (
    NAMES,
    PROMISING,
    SCREEN,
    each,
    everywhere,
    example,
    required,
    same,
    stepped,
    stream,
)


@each
def test_a_second_thread_is_refused_while_one_is_in_a_veil(name: str) -> None:
    veil: Any = example(name).start(NoiseSource.seeded(1))
    inside, leave = Event(), Event()

    def stay() -> None:
        with veil._door:
            inside.set()
            leave.wait(10)

    other = Thread(target=stay)
    other.start()
    inside.wait(10)
    arrays = stream(SCREEN)
    uses = [lambda: veil.step(0.0, 1.0, 1.0), lambda: veil.run(*arrays), veil.to_bytes]
    uses.append(lambda: veil.change(0.0, epsilon=1))
    for use in uses:
        with pytest.raises(OptionError, match="another thread"):
            use()
    leave.set()
    other.join()
    assert not veil.shut
    assert len(veil.step(0.0, 1.0, 1.0)) == 2


@each
def test_a_mechanism_says_its_promise_before_it_sees_gaze(name: str) -> None:
    mechanism = example(name)
    assert isinstance(mechanism.guarantee, Guarantee)
    assert mechanism.guarantee.in_words()
    assert isinstance(mechanism.start(NoiseSource.secure()).guarantee, Guarantee)
    assert mechanism.name == name


@each
def test_a_seeded_stream_promises_nothing(name: str) -> None:
    promise = example(name).start(NoiseSource.seeded(1)).guarantee
    assert isinstance(promise, Unproven)


@each
@everywhere
def test_a_mechanism_survives_being_written_down(name: str, space: Space) -> None:
    mechanism = example(name, space)
    written = json.loads(json.dumps(mechanism.to_dict(), allow_nan=False))
    assert mechanism_from_dict(written) == mechanism
    assert mechanism_from_dict(tomllib.loads(as_toml(written))) == mechanism
    assert mechanism.in_words().startswith(name)


def as_toml(values: dict[str, Any]) -> str:
    def inline(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(inline(item) for item in value) + "]"
        return json.dumps(value)

    return "\n".join(f"{key} = {inline(value)}" for key, value in values.items())


@each
def test_unknown_parameters_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match="no parameter"):
        mechanism_from_dict({**example(name).to_dict(), "strength": 3})
    with pytest.raises(OptionError, match="space"):
        MECHANISMS[name](None, **required(name))  # type: ignore[arg-type]


@each
@everywhere
def test_live_and_on_file_give_the_same_points(name: str, space: Space) -> None:
    mechanism, (t, x, y) = example(name, space), stream(space)
    live = stepped(mechanism.start(NoiseSource.seeded(7)), t, x, y)
    assert same(live, mechanism.start(NoiseSource.seeded(7)).run(t, x, y))
    mixed = mechanism.start(NoiseSource.seeded(7))
    parts = [
        mixed.run(t[:1], x[:1], y[:1]),
        stepped(mixed, t[1:150], x[1:150], y[1:150]),
        mixed.run(t[150:500], x[150:500], y[150:500]),
        mixed.run(t[500:500], x[500:500], y[500:500]),
        stepped(mixed, t[500:], x[500:], y[500:]),
    ]
    assert same(live, np.concatenate([np.asarray(part) for part in parts], axis=1))


@each
def test_what_comes_out_does_not_depend_on_what_comes_later(name: str) -> None:
    mechanism, (t, x, y) = example(name), stream(SCREEN)
    whole = np.asarray(mechanism.start(NoiseSource.seeded(7)).run(t, x, y))
    for cut in (1, 71, 300):
        prefix = mechanism.start(NoiseSource.seeded(7)).run(t[:cut], x[:cut], y[:cut])
        assert same(whole[:, :cut], prefix)


@each
@everywhere
def test_a_stream_moves_to_another_process_and_goes_on(name: str, space: Space) -> None:
    mechanism, (t, x, y) = example(name, space), stream(space)
    for cut in (0, 1, 75, 300):
        stays, source = mechanism.start(NoiseSource.seeded(7)), NoiseSource.seeded(7)
        leaves = mechanism.start(source)
        for veil in (stays, leaves):
            veil.run(t[:cut], x[:cut], y[:cut])
        state = leaves.to_bytes()
        assert stays.to_bytes() == state  # which drops what noise was drawn ahead, in both
        arrived = mechanism.resume(state, source)
        assert arrived.to_bytes() == state
        assert arrived.faults == stays.faults
        assert same(stays.run(t[cut:], x[cut:], y[cut:]), stepped(arrived, t[cut:], x[cut:], y[cut:]))
        assert arrived.faults == stays.faults


@each
def test_a_stream_that_has_a_gap_or_an_odd_clock_goes_on_and_counts(name: str) -> None:
    t, x, y = stream(SCREEN)
    veil = example(name).start(NoiseSource.seeded(7))
    veil.run(t, x, y)
    faults = veil.faults
    assert faults.clock_ran_back >= 1
    assert faults.missing == 12
    assert not veil.shut


@each
def test_raw_gaze_beyond_belief_never_comes_out(name: str) -> None:
    t, x, y = stream(SCREEN)
    shown = np.abs(np.asarray(example(name).start(NoiseSource.seeded(7)).run(t, x, y)))
    assert np.nanmax(shown, initial=0.0) < 1e5
    assert not np.isinf(shown).any()


@each
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e13, -1e300], ids=str)
def test_a_time_that_is_no_time_shuts_the_veil(name: str, bad: float) -> None:
    for feed in (
        lambda veil: veil.step(bad, 10.0, 10.0),
        lambda veil: veil.run(np.array([0.1, bad]), np.array([10.0, 10.0]), np.array([10.0, 10.0])),
    ):
        veil = example(name).start(NoiseSource.seeded(7))
        veil.step(0.0, 10.0, 10.0)
        with pytest.raises(InputError, match="time"):
            feed(veil)
        assert veil.shut
        for _ in range(2):
            with pytest.raises(VeilShut):
                veil.step(0.2, 10.0, 10.0)
        with pytest.raises(VeilShut):
            veil.run(np.array([0.2]), np.array([10.0]), np.array([10.0]))
        with pytest.raises(VeilShut):
            veil.to_bytes()


@each
@pytest.mark.parametrize("sample", [("now", 1.0, 1.0), (0.1, "left", 1.0), (0.1, None, 1.0), (None, 1.0, 1.0)], ids=str)
def test_what_is_no_number_gives_an_error_and_never_gaze(name: str, sample: tuple[Any, Any, Any]) -> None:
    veil = example(name).start(NoiseSource.seeded(7))
    with pytest.raises(GazeveilError):
        veil.step(*sample)
    assert veil.shut
    with pytest.raises(VeilShut):
        veil.step(0.2, 10.0, 10.0)


@each
def test_whole_numbers_are_numbers(name: str) -> None:
    one, two = (example(name).start(NoiseSource.seeded(7)) for _ in range(2))
    for t in range(5):
        assert same(one.step(t, 10, 20), two.step(float(t), 10.0, 20.0))


ROOM = Room3D((-500, -500, 0), (500, 500, 2000))
LIES_IN_A_ROOM = [name for name in NAMES if name not in PROMISING or name == "held-ticks"]
WAYS_IN = {"step": 2, "run": 2, "step3": 3, "run3": 3}
"""How many axes each has that takes samples."""


def stays_shut(veil: Any) -> None:
    """Check that nothing comes out of a veil any more, whichever way samples go in."""
    assert veil.shut
    for way, axes in WAYS_IN.items():
        value: Any = 10.0 if way.startswith("step") else np.array([10.0])
        with pytest.raises(VeilShut):
            getattr(veil, way)(*[value] * (1 + axes))
    with pytest.raises(VeilShut):
        veil.to_bytes()


def taken(axes: int, veil: Any) -> None:
    """Let a veil take a sample, so that it has something to lose."""
    (veil.step if axes == 2 else veil.step3)(*[0.0, 10.0, 10.0, 10.0][: 1 + axes])


def spoilt_columns(axes: int) -> list[list[Any]]:
    """Return columns that are no samples: one of them spoilt, each in turn, or all of them tables."""
    odd = (np.zeros(2), ["a", "b", "c"], [0.0, [1.0], 2.0], [10**400, 0, 0], np.zeros((3, 1)), None, 1.0)
    spoilt = [
        [bad if place == which else np.zeros(3) for place in range(1 + axes)]
        for which in range(1 + axes)
        for bad in odd
    ]
    return [*spoilt, [np.zeros((3, 2))] * (1 + axes)]


@each
@pytest.mark.parametrize("axes", [2, 3])
def test_columns_that_are_no_samples_are_refused_and_shut_the_veil(name: str, axes: int) -> None:
    if axes == 3 and name not in LIES_IN_A_ROOM:
        pytest.skip("it has two axes alone")
    mechanism = example(name, SCREEN if axes == 2 else ROOM)
    for columns in spoilt_columns(axes):
        veil: Any = mechanism.start(NoiseSource.seeded(7))
        taken(axes, veil)
        with pytest.raises(InputError):
            (veil.run if axes == 2 else veil.run3)(*columns)
        stays_shut(veil)


@each
@pytest.mark.parametrize("axes", [2, 3])
def test_a_sample_that_is_no_numbers_shuts_the_veil_wherever_it_is_odd(name: str, axes: int) -> None:
    if axes == 3 and name not in LIES_IN_A_ROOM:
        pytest.skip("it has two axes alone")
    mechanism = example(name, SCREEN if axes == 2 else ROOM)
    for which in range(1 + axes):
        for bad in ("left", None, [1.0, 2.0]):
            veil: Any = mechanism.start(NoiseSource.seeded(7))
            taken(axes, veil)
            with pytest.raises(InputError):
                (veil.step if axes == 2 else veil.step3)(*[bad if at == which else 1.0 for at in range(1 + axes)])
            stays_shut(veil)


@each
def test_a_wrong_number_of_axes_shuts_the_veil_whichever_way_samples_go_in(name: str) -> None:
    for axes, space in ((2, SCREEN), (3, ROOM)):
        if axes == 3 and name not in LIES_IN_A_ROOM:
            continue
        for way, wrong in WAYS_IN.items():
            if wrong == axes:
                continue
            veil: Any = example(name, space).start(NoiseSource.seeded(7))
            taken(axes, veil)
            value: Any = 10.0 if way.startswith("step") else np.array([10.0])
            with pytest.raises(OptionError, match=f"{axes} axes"):
                getattr(veil, way)(*[value] * (1 + wrong))
            stays_shut(veil)


@each
def test_noise_that_fails_shuts_the_veil_whichever_way_samples_go_in(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> NoReturn:
        raise RuntimeError("no noise")

    for way, axes in WAYS_IN.items():
        if axes == 3 and name not in LIES_IN_A_ROOM:
            continue
        veil: Any = example(name, SCREEN if axes == 2 else ROOM).start(NoiseSource.seeded(7))
        with monkeypatch.context() as patched:
            patched.setattr(NoiseSource, "words", broken)
            value: Any = 10.0 if way.startswith("step") else np.array([10.0])
            try:
                getattr(veil, way)(*[value] * (1 + axes))
            except RuntimeError:
                stays_shut(veil)
            else:
                assert not veil.shut


@each
def test_a_machine_clock_that_shows_no_time_shuts_the_veil_or_does_not_matter(name: str) -> None:
    for bad in (math.nan, math.inf, "now"):
        veil: Any = example(name).start(NoiseSource.seeded(7))
        taken(2, veil)
        try:
            veil.pace(bad)
        except InputError:
            stays_shut(veil)
        else:
            assert name not in PROMISING


@each
def test_a_closed_veil_stays_closed(name: str) -> None:
    veil = example(name).start(NoiseSource.seeded(7))
    veil.step(0.0, 10.0, 10.0)
    veil.close("the user left")
    with pytest.raises(VeilShut, match="the user left"):
        veil.step(0.1, 10.0, 10.0)


@each
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_state_is_refused(name: str, data: st.DataObject) -> None:
    mechanism, (t, x, y) = example(name), stream(SCREEN, 120)
    veil = mechanism.start(NoiseSource.seeded(7))
    veil.run(t, x, y)
    state = bytearray(veil.to_bytes())
    if data.draw(st.booleans()):
        state[data.draw(st.integers(0, len(state) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        state = state[: data.draw(st.integers(0, len(state) - 1))]
    with pytest.raises(StateError):
        mechanism.resume(bytes(state), NoiseSource.seeded(7))


@each
def test_a_state_of_another_mechanism_or_no_state_is_refused(name: str) -> None:
    state = example(name, Screen(1280, 721, 40.0)).start(NoiseSource.seeded(7)).to_bytes()
    with pytest.raises(StateError, match="another mechanism"):
        example(name).resume(state, NoiseSource.seeded(7))
    for wrong in (b"", b"gazeveil", "text", b"\0" * 200):
        with pytest.raises(StateError):
            example(name).resume(wrong, NoiseSource.seeded(7))  # type: ignore[arg-type]


times = st.floats(-1e6, 1e6) | st.floats(0, 2)
coordinates = st.floats() | st.floats(0, 1280)


@each
@settings(max_examples=12, deadline=None)
@given(samples=st.lists(st.tuples(times, coordinates, coordinates), min_size=1, max_size=40))
def test_any_stream_of_floats_is_survived_and_the_same_both_ways(name: str, samples: list[Any]) -> None:
    t, x, y = (np.array(column, dtype=np.float64) for column in zip(*samples, strict=True))
    mechanism = example(name)
    live, filed = mechanism.start(NoiseSource.seeded(7)), mechanism.start(NoiseSource.seeded(7))
    assert same(stepped(live, t, x, y), filed.run(t, x, y))
    assert live.to_bytes() == filed.to_bytes()
    assert live.faults == filed.faults


@each
def test_a_recording_comes_out_as_stepping_would_give_it_and_carries_nothing_else(name: str) -> None:
    t, x, y = stream(SCREEN)
    t = np.maximum.accumulate(t)
    eye = Eye(x + 3.0, y, pupil=np.full(len(t), 4.0))
    raw = Recording(
        t, x, y, screen(1280, 720), "ada", "wood", pupil=np.full(len(t), 3.5), left=eye, right=eye, rate_hz=100.0
    )
    mechanism = example(name)
    veiled = mechanism.apply(raw, NoiseSource.seeded(7))
    shown = stepped(mechanism.start(NoiseSource.seeded(7)), raw.t, raw.x, raw.y)
    assert same(veiled.x, np.where(np.isnan(shown[1]), np.nan, shown[0]))
    assert same(veiled.t, raw.t)
    assert veiled.key == raw.key
    assert veiled.pupil is None
    assert veiled.left is None
    assert veiled.right is None
    assert not len(veiled.events)
    assert np.array_equal(veiled.tracked, ~np.isnan(shown).any(axis=0))


@each
def test_points_in_a_room_are_veiled_or_refused(name: str) -> None:
    room = Room3D((-500, -500, 0), (500, 500, 2000))
    if name in PROMISING and name != "held-ticks":
        with pytest.raises(OptionError, match="three"):
            example(name, room)
        return
    mechanism = example(name, room)
    with pytest.raises(OptionError, match="3 axes"):
        mechanism.start(NoiseSource.seeded(7)).step(0.0, 1.0, 2.0)
    with pytest.raises(OptionError, match="2 axes"):
        example(name).start(NoiseSource.seeded(7)).step3(0.0, 1.0, 2.0, 3.0)
    rng = np.random.default_rng(3)
    t, points = np.arange(200) / 100, rng.uniform(-600, 900, (3, 200))
    points[1, 40:50] = np.nan
    filed = np.asarray(mechanism.start(NoiseSource.seeded(7)).run3(t, *points))
    veil = mechanism.start(NoiseSource.seeded(7))
    live = np.array([veil.step3(*sample) for sample in zip(t.tolist(), *points.tolist(), strict=True)]).T
    assert same(live, filed)
    state = veil.to_bytes()
    assert mechanism.resume(state, NoiseSource.seeded(7)).to_bytes() == state


@each
def test_what_a_stream_remembers_does_not_grow(name: str) -> None:
    veil = example(name).start(NoiseSource.seeded(7))
    t, x, y = stream(SCREEN, 4000)
    sizes = []
    for part in np.array_split(np.arange(4000), 4):
        veil.run(t[part], x[part], y[part])
        sizes.append(len(veil.to_bytes()))
    assert max(sizes[1:]) <= max(sizes[0], sizes[1])


@each
def test_a_stream_that_was_handed_over_goes_on_elsewhere_only(name: str) -> None:
    mechanism, (t, x, y) = example(name), stream(SCREEN, 120)
    veil = mechanism.start(NoiseSource.seeded(7))
    veil.run(t[:60], x[:60], y[:60])
    before = veil.to_bytes()
    state = veil.hand_over()
    assert state == before
    with pytest.raises(VeilShut, match="handed over"):
        veil.step(float(t[60]), 10.0, 10.0)
    mechanism.resume(state, NoiseSource.seeded(7)).run(t[60:], x[60:], y[60:])


@each
def test_a_veil_cannot_be_copied(name: str) -> None:
    veil = example(name).start(NoiseSource.seeded(7))
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(OptionError, match="hand_over"):
            copying(veil)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_cannot_use_the_veils_of_its_parent() -> None:
    veils = [example(name).start(NoiseSource.secure()) for name in NAMES]
    for veil in veils:
        veil.step(0.0, 10.0, 10.0)
    child = os.fork()
    if child == 0:
        shut = 0
        for veil in veils:
            try:
                veil.step(0.1, 10.0, 10.0)
            except VeilShut:
                shut += 1
        os._exit(0 if shut == len(veils) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for veil in veils:
        veil.step(0.1, 10.0, 10.0)


ODD: list[Any] = [None, True, False, "", "1", "clamp", [], {}, 0, 1, -1, 3, 10**30]
ODD += [0.0, 0.3, -2.5, 1e308, 5e-324, math.nan, math.inf]


@each
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_odd_parameters_are_refused_or_work(name: str, data: st.DataObject) -> None:
    values = example(name).to_dict()
    for key in data.draw(st.lists(st.sampled_from(sorted(values.keys() - {"mechanism"})), min_size=1, max_size=2)):
        values[key] = data.draw(st.sampled_from(ODD))
    try:
        mechanism = mechanism_from_dict(values)
        veil = mechanism.start(NoiseSource.seeded(7))
    except GazeveilError:
        return
    assert mechanism_from_dict(json.loads(json.dumps(mechanism.to_dict()))) == mechanism
    for n in range(5):
        veil.step(n / 100, 10.0, 10.0)
