# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Audits can fail: with the noise taken out of what a release runs, or halved, every subject is violated.

Noise is taken out behind the entry that the release path calls, so a subject that goes another way stays consistent and
is found out here. A sound mechanism would be called violated with a chance of at most 1 in 1000; seeds are fixed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gazeveil.cli.audit import ROOMS
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit import SUBJECTS, AuditResult, Subject, audit, build
from gazeveil.types import WordArray

for room in ROOMS:
    if importlib.util.find_spec(f"gazeveil.{room}.audited"):
        importlib.import_module(f"gazeveil.{room}.audited")

_SUMS = "gazeveil.aggregate.noisy_sum:NoisySum.measure"
_LIU = "gazeveil.aggregate.liu.noisy:NoisyMap.measure"
_CHUNKED = "gazeveil.features.chunked:ChunkedSeries.measure"
_EFPA = "gazeveil.features.mechanisms.efpa:EnhancedFourierPerturbation.perturb"
_LIVE, _FILE = (f"gazeveil.samples.stream:StreamVeil.{name}" for name in ("step", "run"))

ENTRIES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((name for name in SUBJECTS.names() if name.startswith("aoi-")), (_SUMS,)),
    **dict.fromkeys(("heatmap-histogram", "heatmap-bumps", "heatmap-modes", "heatmap-hierarchical"), (_SUMS,)),
    **dict.fromkeys(("whole-study", "dynamic-heatmap"), (_SUMS,)),
    **dict.fromkeys(("heatmap-liu", "liu-gaussian-map", "liu-laplace-map"), (_LIU,)),
    "liu-private-cap": ("gazeveil.aggregate.liu.caps:PrivateCap.choose",),
    **dict.fromkeys(("features-lpa", "features-fpa", "features-c-fpa", "features-dc-fpa"), (_CHUNKED,)),
    **dict.fromkeys(("features-efpa", "features-spa"), (_EFPA,)),
    "features-exponential": ("gazeveil.features.mechanisms.steil:ExponentialMechanism.perturb",),
    "features-group": ("gazeveil.features.group:GroupSeries.measure",),
    "features-own": ("gazeveil.features.own:OwnSeries.measure",),
    **dict.fromkeys(("clock", "kaleido", "distribution", "absorption", "sparse-vector"), (_LIVE, _FILE)),
    "held-ticks": tuple(f"gazeveil.samples.mechanisms.held_ticks:_Ticking.{name}" for name in ("step3", "run3")),
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
    """Return a method that does as before with noise that is always the same."""

    def mutant(self: Any, *arguments: Any, **named: Any) -> Any:
        given = [Frozen(None, "none") if isinstance(value, NoiseSource) else value for value in arguments]
        return original(self, *given, **named)

    return mutant


def as_it_is(self: Any, t: Any, *points: Any) -> Any:
    """Show gaze as it is: a stream without noise."""
    return points


def proven() -> list[str]:
    """Return the subjects that claim a proof, those left out that are there to be found out."""
    return sorted({*ENTRIES, *SAMPLERS})


def judged(subject: Subject, trials: int) -> AuditResult:
    """Audit the first pairs of a subject."""
    sharp = ["threshold", "classifier"] if subject.log_ratio is None else ["threshold", "likelihood-ratio"]
    return audit(subject, trials=trials, confidence=0.999, seed=1, method="sampling", families=sharp)


@pytest.mark.parametrize(("name", "entry"), [(name, entry) for name, all_of in ENTRIES.items() for entry in all_of])
def test_without_noise_a_product_is_violated(name: str, entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = build(name)
    module, _, path = entry.partition(":")
    kind, method = path.split(".")
    owner = getattr(importlib.import_module(module), kind)
    streams = module.startswith("gazeveil.samples")
    monkeypatch.setattr(owner, method, as_it_is if streams else without_noise(getattr(owner, method)))
    assert judged(subject, 400).violated


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_without_noise_a_sampler_is_violated(name: str) -> None:
    subject = build(name)

    def run(data: Any, noise: NoiseSource, trials: int) -> Any:
        return subject.run(data, Frozen(None, "none"), trials)

    assert judged(replace(subject, run=run), 400).violated
