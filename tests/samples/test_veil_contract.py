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
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil import NoiseSource
from gazeveil.errors import GazeveilError, InputError, OptionError, StateError, VeilShut
from gazeveil.samples import MECHANISMS, Screen, mechanism_from_dict
from gazeveil.samples.space import Room3D, Space
from gazeveil.testing import check_sample_mechanism
from tests.samples.contract_bench import (
    NAMES,
    PROMISING,
    SCREEN,
    SPACES,
    each,
    everywhere,
    example,
    required,
    same,
    stepped,
    stream,
)

ROOM = Room3D((-500, -500, 0), (500, 500, 2000))
LIES_IN_A_ROOM = [name for name in NAMES if name not in PROMISING or name == "held-ticks"]


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
@pytest.mark.parametrize("space", [*SPACES, ROOM], ids=lambda space: f"{space.kind}-{space.period:g}")
def test_a_mechanism_keeps_the_contract_that_users_test_theirs_with(name: str, space: Space) -> None:
    if space is ROOM and name not in LIES_IN_A_ROOM:
        with pytest.raises(OptionError, match="three"):
            example(name, space)
        return
    mechanism = example(name, space)
    assert mechanism.name == name
    check_sample_mechanism(mechanism)


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
def test_whole_numbers_are_numbers(name: str) -> None:
    one, two = (example(name).start(NoiseSource.seeded(7)) for _ in range(2))
    for t in range(5):
        assert same(one.step(t, 10, 20), two.step(float(t), 10.0, 20.0))


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
