# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every attack on a veil: what it is, what it may know, and what comes out of it."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gazeveil.lab.attacks.restoring
from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.lab import load
from gazeveil.lab.attacks import ATTACKS, Attack, Grant, Knowledge, Prepared, Trial
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Screen
from tests.lab.attacks.veiled_people import attack_of, exemplars, people, veil, veil_of

NAMES = ATTACKS.names()
EXTRAS = {"wavelet": ["skimage", "pywt"], "exemplars": ["torch"]}
SMALL: dict[str, dict[str, Any]] = {
    "exemplars": {"epochs": 1, "channels": 4, "kernel": 3},
    "adaptive": {"candidates": ("none", "fixation-average", "white-box")},
    "mirrored": {"draws": 2},
    "wiener": {"people": 2},
    "retrained": {"draws": 2, "people": 2, "sessions": 1, "seconds": 5.0},
}
"""Parameters that make an attack quick enough to be run many times."""
VEILS = {
    "inverse-smoothing": veil_of("smoothing", window=20),
    "late-releases": veil_of("clock", epsilon=3, window="0.5", radius="2.25"),
    "timed-white-box": veil_of("clock", epsilon=3, window="0.5", radius="2.25"),
    "spatial-dither": veil_of("spatial"),
}
"""What an attack is tried on, if not on Gaussian noise."""


def quick(name: str) -> Attack:
    for extra in EXTRAS.get(name, []):
        pytest.importorskip(extra)
    return attack_of(name, **SMALL.get(name, {}))


def veil_for(name: str) -> SampleMechanism:
    return VEILS.get(name, veil_of("gaussian", sigma=1.0))


def everything(name: str) -> Knowledge:
    mechanism = veil_for(name)
    return Knowledge(mechanism, exemplars(mechanism, people()[2:]), {"releases": np.zeros(1)})


def prepared(name: str, seed: int = 1) -> Prepared:
    return quick(name).prepare(everything(name), seed)


def same(one: Trial, other: Trial) -> bool:
    return all(np.array_equal(getattr(one, axis), getattr(other, axis), equal_nan=True) for axis in "txy")


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_is_a_frozen_value_that_says_who_it_is(name: str) -> None:
    attack: Any = quick(name)
    assert is_dataclass(type(attack))
    assert attack.name == name
    assert attack.threat_model
    assert all(isinstance(grant, Grant) for grant in attack.grants)
    for field in fields(attack):
        with pytest.raises(AttributeError):
            setattr(attack, field.name, None)


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_can_be_written_down_and_made_again(name: str) -> None:
    attack = quick(name)
    again = attack_of(name, **asdict(attack))  # type: ignore[call-overload]
    assert again == attack
    assert hash(again) == hash(attack)


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_refuses_to_start_without_its_grants(name: str) -> None:
    attack = quick(name)
    for grant in attack.grants:
        with pytest.raises(OptionError, match=grant):
            attack.prepare(replace(everything(name), **{str(grant): None}))


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_never_sees_more_than_was_granted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attack, seen = quick(name), []
    usual = type(attack)._prepare

    def watched(self: Attack, knowledge: Knowledge, seed: int) -> Prepared:
        seen.append(knowledge)
        return usual(self, knowledge, seed)

    monkeypatch.setattr(type(attack), "_prepare", watched)
    attack.prepare(everything(name))
    for grant in Grant:
        assert (getattr(seen[0], grant) is not None) == (grant in attack.grants)


@pytest.mark.parametrize("name", NAMES)
def test_names_neither_go_in_nor_come_out(name: str) -> None:
    ready, shown = prepared(name), veil(veil_for(name), people()[0])
    guess = ready.query(replace(shown, person="Ada"))
    assert guess.person == ""
    assert same(guess, ready.query(replace(shown, person="Bob")))


@pytest.mark.parametrize("name", NAMES)
def test_a_guess_has_the_times_of_what_was_veiled_and_changes_nothing(name: str) -> None:
    ready, shown = prepared(name), veil(veil_for(name), people()[0])
    before = [getattr(shown, axis).copy() for axis in "txy"]
    for axis in "txy":
        getattr(shown, axis).flags.writeable = False
    guess = ready.query(shown)
    assert np.array_equal(guess.t, shown.t)
    assert len(guess.x) == len(guess.y) == len(shown.t)
    there = np.isfinite(people()[0].x)  # an attack may find out where gaze was missing
    assert np.isfinite(guess.x[there]).mean() > 0.99
    assert np.isfinite(guess.y[there]).mean() > 0.99
    assert guess.pupil is None
    assert guess.rate_hz == shown.rate_hz
    for axis, old in zip("txy", before, strict=True):
        assert np.array_equal(getattr(shown, axis), old)


@pytest.mark.parametrize("name", NAMES)
def test_missing_gaze_stays_missing_and_harms_nothing_else(name: str) -> None:
    ready, shown = prepared(name), veil(veil_for(name), people()[0])
    x, y = shown.x.copy(), shown.y.copy()
    x[100:160] = y[100:160] = np.nan
    x[:3] = np.nan
    y[-1] = np.nan
    guess = ready.query(shown.with_gaze(x, y))
    lost = np.isnan(x) | np.isnan(y)
    there = ~lost & np.isfinite(people()[0].x)
    assert np.isfinite(guess.x[there]).mean() > 0.99
    assert np.isfinite(guess.y[there]).mean() > 0.99
    assert not (np.isfinite(guess.x[lost]) & np.isfinite(guess.y[lost])).any()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("samples", [0, 1, 5])
def test_a_trial_with_next_to_no_gaze_comes_back(name: str, samples: int) -> None:
    ready, shown = prepared(name), veil(veil_for(name), people()[0])
    short = Trial("", "1", "a", shown.t[:samples], shown.x[:samples], shown.y[:samples], shown.rate_hz)
    assert len(ready.query(short).x) == samples
    nothing = shown.with_gaze(np.full_like(shown.x, np.nan), np.full_like(shown.y, np.nan))
    assert np.isnan(ready.query(nothing).x).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_everything(name: str) -> None:
    shown, raw = veil(veil_for(name), people()[0]), people()[1]
    one, again, other = prepared(name, 5), prepared(name, 5), prepared(name, 6)
    assert same(one.query(shown), again.query(shown))
    first, second, third = one.references(raw), again.references(raw), other.references(raw)
    assert all(same(a, b) for a, b in zip(first, second, strict=True))
    assert len(first) == len(third)
    assert first[0].person == raw.person


@pytest.mark.parametrize("name", NAMES)
def test_what_is_enrolled_is_as_long_as_the_reference(name: str) -> None:
    raw = people()[1]
    for enrolled in prepared(name).references(raw):
        assert np.array_equal(enrolled.t, raw.t)
        assert (enrolled.person, enrolled.session, enrolled.name) == (raw.person, raw.session, raw.name)


@pytest.mark.parametrize("name", [name for name in NAMES if Grant.MECHANISM in ATTACKS[name].grants])
def test_a_veil_in_pixels_is_refused_where_the_attack_would_have_to_know_it(name: str) -> None:
    knowledge = everything(name)
    pixels = replace(veil_for(name), space=Screen(1280, 720, 40.0))
    with pytest.raises(InputError, match="degrees"):
        quick(name).prepare(replace(knowledge, mechanism=pixels))


PROMISE: dict[str, Any] = {"epsilon": 3, "window": "0.5", "radius": "2.25"}
PROMISING = (
    "clock", "eye-and-head", "kaleido", "sparse-vector", "absorption", "distribution", "held-ticks",
    "kaleido-as-published",
)  # fmt: skip
MEMBERS: dict[str, Any] = {"members": (veil_of("gaussian"), veil_of("smoothing"))}
load()
ALL_VEILS = [name for name in MECHANISMS.names(unlisted=True) if name != "none"]


@pytest.mark.parametrize("veil_name", ALL_VEILS)
@pytest.mark.parametrize("name", [name for name in NAMES if Grant.EXEMPLARS not in ATTACKS[name].grants])
def test_an_attack_copes_with_every_veil_that_it_fits(name: str, veil_name: str) -> None:
    options = PROMISE if veil_name in PROMISING else MEMBERS if veil_name in ("chain", "rotate") else {}
    mechanism, attack = veil_of(veil_name, **options), quick(name)
    if not attack.fits(mechanism):
        with pytest.raises(OptionError):
            attack.prepare(Knowledge(mechanism))
        return
    shown = veil(mechanism, people()[0])
    guess = attack.prepare(Knowledge(mechanism)).query(shown)
    there = np.isfinite(shown.x) & np.isfinite(people()[0].x)
    assert there.any()
    assert np.isfinite(guess.x[there]).mean() > 0.99
    assert np.isfinite(guess.y[there]).mean() > 0.99


def test_every_attack_is_described() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "attacks.md"
    described = set(re.findall(r"^\| `([a-z-]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert set(NAMES) <= described


def test_looking_attacks_up_and_making_them_needs_no_extra() -> None:
    code = (
        "import sys; from gazeveil.lab.attacks import ATTACKS; [kind() for kind in ATTACKS.values()]; "
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'torch', 'skimage', 'pywt', 'sklearn', 'numba'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("name", "package"), [("wavelet", "skimage.restoration"), ("exemplars", "torch")])
def test_an_extra_that_is_missing_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "gazeveil.lab.attacks.restoring_network", raising=False)
    monkeypatch.delattr(gazeveil.lab.attacks, "restoring_network", raising=False)
    with pytest.raises(MissingExtra, match="attacks"):
        attack_of(name).prepare(everything(name)).query(people()[0])


def test_an_attack_says_where_it_has_nothing_to_do() -> None:
    gaussian, smoothing = veil_of("gaussian", sigma=1.0), veil_of("smoothing", window=20)
    assert attack_of("wavelet").fits(gaussian)
    assert attack_of("inverse-smoothing").fits(smoothing)
    assert not attack_of("inverse-smoothing").fits(gaussian)
    with pytest.raises(OptionError, match="nothing to do against gaussian"):
        attack_of("inverse-smoothing").prepare(Knowledge(gaussian))
