# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What registered veils guarantee: nothing is refused, and a privacy level is turned truthfully or not at all."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gazeveil import NoiseSource
from gazeveil.errors import OptionError
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples import MECHANISMS, SampleMechanism
from tests.samples.contract_bench import (
    NAMES,
    PROMISING,
    SCREEN,
    each,
    example,
    required,
    same,
    stepped,
    stream,
)


@pytest.mark.parametrize("name", PROMISING)
@pytest.mark.parametrize(
    "nothing", [{"epsilon": 0}, {"radius": 0}, {"window": 0}, {"epsilon": -1}, {"radius": math.nan}]
)
def test_a_guarantee_of_nothing_is_refused(name: str, nothing: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        MECHANISMS[name](SCREEN, **{**required(name), **nothing})


@pytest.mark.parametrize("name", PROMISING)
def test_a_window_shorter_than_a_sample_is_refused_or_kept(name: str) -> None:
    t, x, y = stream(SCREEN)
    try:
        mechanism = MECHANISMS[name](SCREEN, **{**required(name), "window": "0.0001"})
    except OptionError:
        return
    live = stepped(mechanism.start(NoiseSource.seeded(7)), t, x, y)
    assert same(live, mechanism.start(NoiseSource.seeded(7)).run(t, x, y))
    assert not np.isnan(live).any()


@pytest.mark.parametrize("name", PROMISING)
def test_a_radius_that_changes_with_every_sample_is_survived(name: str) -> None:
    mechanism, (t, x, y) = example(name), stream(SCREEN, 300)
    veil: Any = mechanism.start(NoiseSource.seeded(7))
    for n, sample in enumerate(zip(t.tolist(), x.tolist(), y.tolist(), strict=True)):
        if veil.can_change:
            veil.change(sample[0], radius=60 + n % 5)
        assert not np.isnan(veil.step(*sample)).any()
    assert not veil.shut


def with_a_knob(name: str) -> SampleMechanism:
    """Return a mechanism that can change its guarantee, if any of its kind can."""
    if name == "chain":
        return MECHANISMS[name](SCREEN, members=(example("edge"), example("clock"), example("smoothing")))  # type: ignore[call-arg]
    if name == "rotate":
        return MECHANISMS[name](SCREEN, members=(example("clock"), example("held-ticks")), least=0.6, most=0.9)  # type: ignore[call-arg]
    return example(name)


@each
def test_a_veil_says_truthfully_whether_its_guarantee_can_be_changed(name: str) -> None:
    mechanism, (t, x, y) = with_a_knob(name), stream(SCREEN, 120)
    veil = mechanism.start(NoiseSource.secure())
    veil.run(t[:30], x[:30], y[:30])
    assert veil.can_change == mechanism.can_change == bool(mechanism.privacy_level) == (not mechanism.fixed)
    wish: dict[str, Any] = {"epsilon": 2, "window": "0.75", "radius": 70}
    if veil.can_change:
        wanted = mechanism.with_guarantee(**wish)
        assert mechanism.can_become(wanted)
        assert wanted.privacy_level == {"epsilon": 2, "window": Fraction("0.75"), "radius": 70}
        veil.change(float(t[30]), **wish)
        assert veil.current == wanted
        assert veil.guarantee == wanted.guarantee == GazeStreamDP(2, "0.75", 70)
        moved = mechanism.resume(veil.hand_over(), NoiseSource.secure())
        assert moved.current == wanted
    else:
        for turned in (lambda: veil.change(float(t[30]), **wish), lambda: mechanism.with_guarantee(**wish)):
            with pytest.raises(OptionError) as refused:
                turned()
            assert mechanism.fixed in str(refused.value)
        assert not mechanism.can_become(mechanism)
        assert veil.current == mechanism
        assert not veil.shut
        veil.run(t[30:], x[30:], y[30:])


def test_those_that_can_change_are_these() -> None:
    able = [name for name in NAMES if with_a_knob(name).can_change]
    assert able == sorted([*(set(PROMISING) - {"eye-and-head"}), "chain"])


def test_a_stream_goes_on_only_as_what_differs_in_the_guarantee_alone() -> None:
    clock: Any = example("clock")
    assert clock.can_become(clock.with_guarantee(radius=99))
    assert not clock.can_become(replace(clock, filter=False))
    assert not clock.can_become(example("kaleido"))
    assert not clock.can_become(example("gaussian"))
    one, other = (MECHANISMS["chain"](SCREEN, members=(edge, clock)) for edge in (example("edge"), example("spatial")))  # type: ignore[call-arg]
    assert one.can_become(one.with_guarantee(epsilon=1))
    assert not one.can_become(other)
