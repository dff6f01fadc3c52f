# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The scenes of a private stream, in the array that its compiled step reads: what is expected now, and what was.

When the scene changes, the expected place does not jump: it moves from where it was to the new centre within the
filter's own time, and with it the estimate. An output that looks back needs to know earlier scenes as well.
"""

from __future__ import annotations

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.samples.content import Prior
from gazeveil.samples.space import Space

_PRIOR = 6
"""A plan begins with the variances of wandering and offset and the centre, two numbers each."""


def with_prior(plan: FloatArray, prior: Prior) -> FloatArray:
    """Return a plan with another prior from the beginning on."""
    from gazeveil.samples import _stream_kernels as k  # noqa: PLC0415  (numba loads on use)

    fresh = plan[: k.PLAN_WIDTH].copy()
    fresh[:_PRIOR] = (*prior.wander, *prior.offset, *prior.centre)
    return fresh


def followed_by(plan: FloatArray, prior: Prior, now: float) -> FloatArray:
    """Return a plan with another prior from now on, in microseconds after the stream's first time."""
    from gazeveil.samples import _filter_kernels as gaze  # noqa: PLC0415
    from gazeveil.samples import _stream_kernels as k  # noqa: PLC0415

    centre = plan[gaze.CENTRE : gaze.CENTRE + 2]
    gap = centre + k.trailing(plan, now) - prior.centre
    gap[0] = gaze.wrapped(gap[0], plan[gaze.TURN])
    before = plan[k.PLAN_WIDTH :].reshape(-1, k.SCENE_WIDTH)
    if not len(before):
        before = np.array([[-np.finfo(np.float64).max / 4, *centre, 0.0, 0.0]])
    # of the scenes that were over before the output looks back, the latest is still needed
    needed = int(np.count_nonzero(before[:, 0] > now - plan[k.LAG])) + 1 if plan[k.LAG] > 0.0 else 0
    return np.concatenate([with_prior(plan, prior), [now, *prior.centre, *gap], before[:needed].ravel()])


def scenes_of(plan: FloatArray) -> FloatArray:
    """Return the scenes alone, for a state or for another guarantee."""
    from gazeveil.samples import _stream_kernels as k  # noqa: PLC0415

    return np.concatenate([plan[:_PRIOR], plan[k.PLAN_WIDTH :]])


def with_scenes(plan: FloatArray, scenes: FloatArray) -> FloatArray:
    """Return a plan with the scenes of another."""
    from gazeveil.samples import _stream_kernels as k  # noqa: PLC0415

    return np.concatenate([scenes[:_PRIOR], plan[_PRIOR : k.PLAN_WIDTH], scenes[_PRIOR:]])


def are_scenes(scenes: FloatArray, space: Space) -> bool:
    """Whether an array can be scenes at all: for state that came from outside."""
    from gazeveil.samples import _stream_kernels as k  # noqa: PLC0415

    if scenes.dtype != np.float64 or len(scenes) < _PRIOR or (len(scenes) - _PRIOR) % k.SCENE_WIDTH:
        return False
    centres = [scenes[_PRIOR - 2 : _PRIOR], *scenes[_PRIOR:].reshape(-1, k.SCENE_WIDTH)[:, 1:3]]
    low, high = np.array(space.low), np.array(space.high)
    return bool(
        np.isfinite(scenes).all()
        and (scenes[: _PRIOR - 2] > 0).all()
        and all((low <= centre).all() and (centre <= high).all() for centre in centres)
    )
