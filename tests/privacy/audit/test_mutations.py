# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Audits can fail: with the noise taken out of what a release runs, or halved, every subject is violated.

Noise is taken out behind the entry that the release path calls, so a subject that goes another way stays consistent and
is found out here. So are a knob that forgets and a lease that is used twice: exactly, where the density is known. A
sound mechanism would be called violated with a chance of at most 1 in 1000; seeds are fixed, but for leases, whose
noise is always secure. What takes long has few trials here and less than half the noise; half of it is in the table
of docs/results.md#audits, which is checked.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import gazeveil.lab.audited  # noqa: F401  (enters the subjects of the lab)
from benchmarks import audits
from gazeveil.arrays import IntArray, WordArray
from gazeveil.gateway.hub.budget import GroupLeases
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit import SUBJECTS, AuditResult, Subject, audit, build
from gazeveil.samples.mechanisms.eye_and_head import EyeAndHeadVeil
from gazeveil.samples.mechanisms.held_ticks import NEVER, HeldTicks
from gazeveil.samples.window_budget import Rule, budget_for

_SUMS = "gazeveil.aggregate.strategy:NoisySum.measure"
_LIU = "gazeveil.aggregate.liu.noisy_maps:NoisyMap.measure"
_CHUNKED = "gazeveil.features.fourier:ChunkedSeries.measure"
_EFPA = "gazeveil.features.mechanisms.efpa:EnhancedFourierPerturbation.measure"
_LIVE, _FILE = (f"gazeveil.samples.stream:StreamVeil.{name}" for name in ("step", "run"))
_TICKS = tuple(f"gazeveil.samples.mechanisms.held_ticks:HeldTicksVeil.{name}" for name in ("step", "run"))
_BOTH = tuple(f"gazeveil.samples.mechanisms.eye_and_head:EyeAndHeadVeil.{name}" for name in ("step_both", "run_both"))

ENTRIES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((name for name in SUBJECTS.names() if name.startswith("aoi-")), (_SUMS,)),
    **dict.fromkeys(("heatmap-histogram", "heatmap-bumps", "heatmap-modes", "heatmap-hierarchical"), (_SUMS,)),
    **dict.fromkeys(("whole-study", "dynamic-heatmap"), (_SUMS,)),
    **dict.fromkeys(("heatmap-liu", "liu-gaussian-map", "liu-laplace-map"), (_LIU,)),
    "liu-private-cap": ("gazeveil.aggregate.liu.mechanism:PrivateCap.measure",),
    **dict.fromkeys(("features-lpa", "features-fpa", "features-c-fpa", "features-dc-fpa"), (_CHUNKED,)),
    **dict.fromkeys(("features-efpa", "features-spa"), (_EFPA,)),
    "features-exponential": ("gazeveil.features.mechanisms.steil:ExponentialMechanism.perturb",),
    "features-group": ("gazeveil.features.group_series:GroupSeries.measure",),
    "features-own": ("gazeveil.features.participant_series:ParticipantSeries.measure",),
    **dict.fromkeys(("clock", "kaleido", "distribution", "absorption", "sparse-vector"), (_LIVE, _FILE)),
    **dict.fromkeys(("clock-sphere", "clock-turned"), (_LIVE, _FILE)),
    **dict.fromkeys(("held-ticks-sphere", "held-ticks-turned"), _TICKS),
    **dict.fromkeys(("gateway-leases", "gateway-scene"), (_LIVE,)),
    "heatmap-count": ("gazeveil.aggregate.heatmap:PrivateHeatmap.noisy_count",),
    "features-lengths": ("gazeveil.features.audited:noisy_lengths",),
    "chain": tuple(f"gazeveil.samples.mechanisms.chain:ChainVeil.{name}" for name in ("step", "run")),
    **dict.fromkeys(("eye-and-head", "eye-and-head-sphere"), _BOTH),
    "rotate": tuple(f"gazeveil.samples.mechanisms.rotate:RotationVeil.{name}" for name in ("step", "run")),
    "held-ticks": tuple(f"gazeveil.samples.mechanisms.held_ticks:HeldTicksVeil.{name}" for name in ("step3", "run3")),
}
"""Where the noise of a subject is taken out: what the release path, or a live app, calls."""

SAMPLERS = {
    "lattice-gaussian", "lattice-gaussian-wide", "lattice-laplace", "lattice-laplace-wide",
    "planar-laplace", "planar-laplace-3d", "planar-laplace-live", "radial",
}  # fmt: skip
"""Subjects that are noise and nothing else: theirs is taken out at the source."""


class Frozen(NoiseSource):
    """A source whose words are all the same: every sample is one number, and nothing is hidden."""

    def words(self, count: int) -> WordArray:
        """Return one word over and over."""
        return np.full(count, 0x9E3779B97F4A7C15, np.uint64)

    def more(self) -> int:
        """Return the same bits."""
        return 0x9E3779B97F4A7C15


def without_noise(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does as before with noise that is always the same."""

    def mutant(*arguments: Any) -> Any:
        return original(*(Frozen(None, "none") if isinstance(value, NoiseSource) else value for value in arguments))

    return mutant


def as_it_is(self: Any, t: Any, *points: Any) -> Any:
    """Show gaze as it is: a stream without noise."""
    return points


HALF: dict[str, dict[str, str]] = {
    "aoi-together": {"delta": "0.001"},
    "aoi-visit-order": {"length": "1", "most": "1"},
    "features-lpa": {"stretch": "1"},
    "features-dc-fpa": {"delta": "0.001"},
    "liu-laplace-map": {"cap": "12"},
}
"""Options at which one number, or few, show the whole loss, so that few trials see it. The table has the others."""

SLACK: dict[str, tuple[int, str]] = {
    "features-efpa": (3, "half of ε pays for a choice, which the change that moves the rest most leaves as it is"),
    "features-spa": (3, "half of ε pays for a choice, which the change that moves the rest most leaves as it is"),
    "liu-private-cap": (
        3,
        "the bound allows for scores that move against each other, and one person moves all one way",
    ),
}
"""Where half the noise breaks nothing, because the bound is not tight: how many times less noise is caught, and why."""

QUICK = {
    "absorption": (3, 4_000),
    "aoi-together": (3, 4_000),
    "chain": (2, 10_000),
    "clock": (3, 4_000),
    "clock-sphere": (2, 10_000),
    "clock-turned": (4, 600),
    "distribution": (3, 4_000),
    "dynamic-heatmap": (3, 4_000),
    "eye-and-head": (2, 10_000),
    "eye-and-head-sphere": (2, 10_000),
    "features-dc-fpa": (3, 4_000),
    "features-lpa": (3, 4_000),
    "gateway-leases": (4, 600),
    "gateway-scene": (4, 600),
    "heatmap-bumps": (3, 4_000),
    "heatmap-count": (2, 8_000),
    "heatmap-hierarchical": (3, 4_000),
    "heatmap-histogram": (3, 4_000),
    "heatmap-liu": (3, 4_000),
    "held-ticks": (2, 10_000),
    "held-ticks-sphere": (2, 10_000),
    "held-ticks-turned": (4, 600),
    "kaleido": (3, 4_000),
    "liu-private-cap": (8, 600),
    "planar-laplace-live": (2, 8_000),
    "rotate": (4, 600),
    "sparse-vector": (2, 10_000),
    "whole-study": (3, 4_000),
}
"""How many times less noise there is, and how many trials, where it is not half the noise and 40,000."""

TO_BE_FOUND_OUT = {"half-scale-laplace", "numpy-laplace", "liu-as-published", "clock-by-samples", "sphere-by-angles"}
"""Subjects that break what they claim, and are there for that; those as published do, too."""

SEEN_BY_FEW = {
    "features-dc-fpa": "the ℓ1 bound goes through ℓ2, and no series reaches 0.56 of it; at δ = 0.001 it shows",
    "kaleido test_share=0.5": "half of ε goes to tests, whose outcomes tell little; at the default share it shows",
}
"""Rows of the table in which half the noise may not be seen, and why."""


@cache
def proven() -> list[str]:
    """Return the subjects that claim a proof, without those that are there to be found out."""
    left_out = {name for name in SUBJECTS.names() if name in TO_BE_FOUND_OUT or name.endswith("-as-published")}
    return [name for name in SUBJECTS.names() if name not in left_out and build(name).claim.proven]


def judged(subject: Subject, trials: int) -> AuditResult:
    """Audit the first pairs of a subject."""
    sharp = ["threshold", "classifier"] if subject.log_ratio is None else ["threshold", "likelihood-ratio"]
    return audit(subject, trials=trials, confidence=0.999, seed=1, method="sampling", families=sharp)


def first_pair(name: str, subject: Subject) -> Subject:
    """Return the subject with its first pair alone, if it takes long."""
    slow = name in ("liu-private-cap", "gateway-scene") or SUBJECTS[name].__module__.startswith("gazeveil.samples")
    return replace(subject, pairs=subject.pairs[:1]) if slow else subject


@pytest.mark.parametrize(("name", "entry"), [(name, entry) for name, all_of in ENTRIES.items() for entry in all_of])
def test_without_noise_a_product_is_violated(name: str, entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = first_pair(name, build(name))
    module, _, path = entry.partition(":")
    *kind, method = path.split(".")
    owner = getattr(importlib.import_module(module), kind[0]) if kind else importlib.import_module(module)
    streams = module.startswith("gazeveil.samples")
    monkeypatch.setattr(owner, method, as_it_is if streams else without_noise(getattr(owner, method)))
    assert judged(subject, 1_600 if name == "rotate" else 400).violated  # it claims twice as much


@pytest.mark.parametrize("bare", ["eyes", "head"])
@pytest.mark.parametrize("name", ["eye-and-head", "eye-and-head-sphere"])
def test_eyes_or_head_without_noise_are_violated(name: str, bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start = EyeAndHeadVeil.__init__

    def started(self: Any, *arguments: Any) -> None:
        start(self, *arguments)
        setattr(self, f"_{bare}", Bare())

    monkeypatch.setattr(EyeAndHeadVeil, "__init__", started)
    assert judged(first_pair(name, build(name)), 400).violated


class Bare:
    """A veil that hides nothing."""

    step = run = as_it_is


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_without_noise_a_sampler_is_violated(name: str) -> None:
    subject = build(name)

    def run(data: Any, noise: NoiseSource, trials: int) -> Any:
        return subject.run(data, Frozen(None, "none"), trials)

    assert judged(replace(subject, run=run), 400).violated


@pytest.mark.parametrize("name", sorted({*ENTRIES, *SAMPLERS}))
def test_with_half_the_noise_a_subject_is_violated_or_its_slack_is_stated(name: str) -> None:
    """Noise that is made for twice ε is half as wide, or of Gaussian noise a little more."""
    factor, trials = QUICK.get(name, (SLACK[name][0] if name in SLACK else 2, 40_000))
    options = HALF.get(name, {})
    lying = replace(build(name, {**options, "epsilon": str(factor)}), claim=build(name, options).claim)
    assert judged(first_pair(name, lying), trials).violated


@pytest.mark.parametrize("name", ["features-efpa", "features-spa"])
def test_no_output_of_a_choice_tells_more_than_the_claim_with_half_the_noise(name: str) -> None:
    """The density is known: noise for half of ε, twice as much as it should be, and a choice that tells nothing."""
    subject = build(name, {"epsilon": "2"})
    assert subject.log_ratio is not None
    most = []
    for pair in subject.pairs:
        outputs = subject.run(pair.first, NoiseSource.seeded(4), 4_000)
        most.append(float(np.abs(subject.log_ratio(outputs, pair.first, pair.second)).max()))
    assert max(most) == pytest.approx(1.0, abs=1e-6)


def test_no_cap_tells_more_than_the_claim_with_half_the_noise() -> None:
    """Of two caps, the score of one moves by all that is allowed and the other stays: ε / 2 of the ε that is paid."""
    subject = build("liu-private-cap", {"epsilon": "2"})
    mechanism = subject.run.__self__.mechanism  # type: ignore[attr-defined]
    most = 0.0
    for pair in subject.pairs:
        wins = []
        for total in (pair.first, pair.second):
            lost = [int(np.square(total[mechanism.cells :]).sum()), 0]
            scores = mechanism._scores(lost)
            ahead = (scores[0] - scores[1]) / (2 * mechanism.sensitivity / mechanism.epsilon)
            wins.append(0.5 * math.exp(-ahead) if ahead >= 0 else 1 - 0.5 * math.exp(ahead))
        ratios = [wins[0] / wins[1], (1 - wins[0]) / (1 - wins[1])]
        most = max([most, *(abs(math.log(ratio)) for ratio in ratios)])
    assert 0.9 < most <= 1.0


def told(subject: Subject) -> list[float]:
    """Return, for each pair, how much the most telling of a few outputs tells: exact, since the density is known.

    At a large ε noise is small, and almost every output tells all that it can.
    """
    assert subject.log_ratio is not None
    most = []
    for pair in subject.pairs:
        outputs = subject.run(pair.first, NoiseSource.seeded(5), 20)
        most.append(float(np.abs(subject.log_ratio(outputs, pair.first, pair.second)).max()))
    return most


def forgetting(books: IntArray, now: int, rule: Rule, spacing: int) -> IntArray:
    """Begin new books when the privacy level is changed."""
    return budget_for(rule, spacing)


def without_pause(self: Any, t: float, changed: HeldTicks) -> None:
    """Go on at once when the privacy level is changed."""
    self._set_guarantee(changed)
    self._recent = [NEVER] * changed.ticks


@pytest.mark.parametrize(
    ("name", "entry", "mutant"),
    [
        ("clock-turned", "gazeveil.samples.stream.with_rule", forgetting),
        ("held-ticks-turned", "gazeveil.samples.mechanisms.held_ticks.HeldTicksVeil._change", without_pause),
    ],
)
def test_a_privacy_level_that_forgets_lets_outputs_tell_more_than_is_claimed(
    name: str, entry: str, mutant: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert max(told(build(name, {"epsilon": "30"}))) <= 30 * (1 + 1e-9)
    monkeypatch.setattr(entry, mutant)
    assert min(told(build(name, {"epsilon": "30"}))) > 40  # whether the level is made looser or stricter


def test_a_scene_whose_changes_are_forgotten_lets_outputs_tell_more_than_is_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert max(told(build("gateway-scene", {"epsilon": "30"}))) <= 30 * (1 + 1e-9)
    monkeypatch.setattr("gazeveil.samples.stream.with_rule", forgetting)
    assert min(told(build("gateway-scene", {"epsilon": "30"}))) > 38  # whether the radius is raised or lowered


def unpaid(self: GroupLeases, t: float, now: float) -> tuple[float, float]:
    """Let everything through."""
    return math.inf, math.inf


def twice_as_long(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a lease that lasts twice as long as was paid for."""

    def begin(self: GroupLeases, t: float, now: float) -> tuple[float, float] | None:
        ends = original(self, t, now)
        return None if ends is None else (2 * ends[0] - t, 2 * ends[1] - now)

    return begin


def used_twice(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a lease that can be begun a second time."""
    last: list[tuple[float, float]] = []

    def begin(self: GroupLeases, t: float, now: float) -> tuple[float, float] | None:
        ends = original(self, t, now)
        if ends is not None:
            last.append((ends[0] - t, ends[1] - now))
            return ends  # type: ignore[no-any-return]
        if not last:
            return None
        longer = last.pop()
        return t + longer[0], now + longer[1]

    return begin


@pytest.mark.parametrize("mutant", [lambda original: unpaid, twice_as_long, used_twice])
def test_a_lease_that_shows_more_than_it_paid_for_tells_more_than_its_price(
    mutant: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(build("gateway-leases", {"epsilon": "30"}))[0] <= 30 * (1 + 1e-9)
    monkeypatch.setattr(GroupLeases, "begin", mutant(GroupLeases.begin))
    assert told(build("gateway-leases", {"epsilon": "30"}))[0] > 50


@pytest.mark.parametrize("pitch", ["60", "80", "89"])
def test_noise_in_yaw_and_pitch_is_violated_near_a_pole(pitch: str) -> None:
    assert judged(build("sphere-by-angles", {"pitch": pitch}), 10_000).violated


def test_every_subject_that_claims_a_proof_is_mutated() -> None:
    assert set(proven()) == {*ENTRIES, *SAMPLERS}
    assert set(SLACK) | set(QUICK) | set(HALF) <= set(proven())


def test_in_the_table_half_the_noise_is_violated_or_its_slack_is_stated() -> None:
    stored = json.loads(audits.STORED.read_text())
    assert set(stored) <= {row.label for row in audits.rows()}
    for row in audits.rows():
        found = stored.get(row.label)  # what is not there, `make audits` has not run yet
        if found is not None and row.subject in proven():
            assert found["verdict"] == "consistent", row.label
            caught = found["half"]["verdict"] == "violated"
            stated = row.subject in SLACK or row.label in SEEN_BY_FEW
            assert caught or stated or not audits.is_full(row, found), row.label


def test_the_page_has_the_table() -> None:
    page = audits.PAGE.read_text()
    assert audits.with_table(page, audits.table(json.loads(audits.STORED.read_text()))) == page
