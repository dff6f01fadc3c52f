# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of every registered veil share: an example of each, and a stream with everything odd in it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from gazeveil.arrays import FloatArray
from gazeveil.samples import MECHANISMS, SampleMechanism, Screen, Sphere
from gazeveil.samples.space import Space

SCREEN = Screen(1280, 720, 40.0)
SPACES: list[Space] = [SCREEN, Sphere(), Sphere(100, 80)]
NAMES = MECHANISMS.names()
PROMISE = {"epsilon": 3, "window": "0.5"}
PROMISING = [name for name in NAMES if "epsilon" in {field.name for field in fields(MECHANISMS[name])}]


def example(name: str, space: Space = SCREEN) -> SampleMechanism:
    """Return a mechanism with parameters under which all of its parts do something within a short stream."""
    kind = MECHANISMS[name]
    known = {field.name for field in fields(kind)}
    given: dict[str, Any] = {key: value for key, value in PROMISE.items() if key in known}
    if "radius" in known and "epsilon" in known:
        given["radius"] = 0.05 * space.size[0]
    if name in ("smoothing", "random-smoothing"):
        given["window"] = 7
    if "members" in known:
        given["members"] = (example("spatial", space), example("smoothing", space), example("temporal", space))
    if name == "rotate":
        given |= {"least": 0.1, "most": 0.4}
    return kind(space, **given)


def stream(space: Space, count: int = 600, seed: int = 5) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a stream with fixations, jumps, gaps, an odd clock, and gaze beyond the edges."""
    rng = np.random.default_rng(seed)
    t = 100.0 + np.cumsum(rng.uniform(0.002, 0.01, count))
    t[count // 3 :] += 3600.0  # a gap of an hour
    t[50] = t[40]
    t[100:110] = t[100]
    places = rng.uniform(-0.1, 1.1, (count // 40 + 1, 2)).repeat(40, axis=0)[:count]
    gaze = np.array(space.low) + (places + rng.normal(0, 0.002, (count, 2))) * np.array(space.size)
    gaze[70:80] = np.nan
    gaze[81, 0] = np.nan
    gaze[90, 1] = np.inf
    gaze[91] = 1e308
    gaze[0 if seed % 2 else 1] = np.nan
    return t, gaze[:, 0].copy(), gaze[:, 1].copy()


def stepped(veil: Any, t: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    points = [veil.step(*sample) for sample in zip(t.tolist(), x.tolist(), y.tolist(), strict=True)]
    return np.array(points).reshape(-1, 2).T


def same(one: Any, two: Any) -> bool:
    """Whether two outputs are the same bit for bit; a point that is missing equals one that is missing."""
    return np.array_equal(np.asarray(one), np.asarray(two), equal_nan=True)


each = pytest.mark.parametrize("name", NAMES)
everywhere = pytest.mark.parametrize("space", SPACES, ids=lambda space: f"{space.kind}-{space.period:g}")


def required(name: str) -> dict[str, Any]:
    mechanism = example(name)
    return {f.name: getattr(mechanism, f.name) for f in fields(mechanism) if f.name != "space"}
