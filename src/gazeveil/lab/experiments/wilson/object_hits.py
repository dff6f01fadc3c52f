# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which object a veiled line of sight would hit, in recordings that name the object hit but not its shape.

The recordings say, sample by sample, which object the true line of sight hit; where objects are, they do not say. So
each trial's own true gaze serves as a map of the room: every true sample is a direction in the world with an object's
name. A veiled direction at that time is turned into the world with the head as it was then, and is taken to hit what
the **nearest true direction of the same trial** hit.

- Direction in the world: gaze in the head (yaw, pitch), turned by the head's pitch, then by its yaw. The head's roll
  and place are not recorded. As participants move about, the map is made for each trial: one for a whole session agrees
  less with what was hit.
- Where nobody looked in a trial nothing is known, and the nearest known object stands for it. A strongly veiled gaze
  that would hit an unseen object may thus be given a seen one: at high strengths scores are flattered.
- ``agreement_of_raw`` is how well this works: true gaze put through the same map (its own sample among them, so it is
  below 1 only where two samples of one direction hit different things), and ``agreement_held_out`` the harder case:
  half-seconds mapped by the other half-seconds of their trial alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.lab.datasets.vr_objects import VrSession
from gazeveil.lab.utility.aoi_hits import AoiHits, aoi_hits

_BLOCK_S = 0.5


def world_directions(session: VrSession, yaw: FloatArray, pitch: FloatArray) -> FloatArray:
    """Return unit vectors (right, down, ahead) in the world of gaze in the head, one row a sample; NaN if missing."""
    across, down = np.radians(yaw), np.radians(pitch)
    turn, nod = np.radians(session.head_yaw), np.radians(session.head_pitch)
    right, under, ahead = np.sin(across) * np.cos(down), np.sin(down), np.cos(across) * np.cos(down)
    under, ahead = under * np.cos(nod) + ahead * np.sin(nod), ahead * np.cos(nod) - under * np.sin(nod)
    right, ahead = right * np.cos(turn) + ahead * np.sin(turn), ahead * np.cos(turn) - right * np.sin(turn)
    return np.stack([right, under, ahead], axis=1)


def objects_hit(session: VrSession, yaw: FloatArray, pitch: FloatArray) -> NDArray[np.int64]:
    """Return the object that each veiled sample hits, -1 for none, where gaze is missing, or where nothing is known."""
    known, asked = world_directions(session, session.yaw, session.pitch), world_directions(session, yaw, pitch)
    hit = np.full(len(session.t), -1, dtype=np.int64)
    for trial in np.unique(session.trial):
        inside = session.trial == trial
        _fill(hit, session, known, asked, inside, inside)
    return hit


def score(session: VrSession, yaw: FloatArray, pitch: FloatArray) -> AoiHits:
    """Return how the objects hit by veiled gaze compare with those truly hit, over the samples with true gaze."""
    return _compare(session, objects_hit(session, yaw, pitch))


def agreement_of_raw(session: VrSession) -> AoiHits:
    """Return how true gaze scores under its own map."""
    return score(session, session.yaw, session.pitch)


def agreement_held_out(session: VrSession) -> AoiHits:
    """Return how true gaze scores if every other half-second is mapped by the half-seconds in between."""
    directions = world_directions(session, session.yaw, session.pitch)
    hit = np.full(len(session.t), -1, dtype=np.int64)
    odd = np.floor(session.t / _BLOCK_S).astype(np.int64) % 2 == 1
    for trial in np.unique(session.trial):
        inside = session.trial == trial
        for side in (odd, ~odd):
            _fill(hit, session, directions, directions, inside & side, inside & ~side)
    return _compare(session, hit)


def _fill(
    hit: NDArray[np.int64],
    session: VrSession,
    known: FloatArray,
    asked: FloatArray,
    known_at: NDArray[np.bool_],
    asked_at: NDArray[np.bool_],
) -> None:
    from gazeveil.lab.experiments.wilson._nearest_kernels import nearest  # noqa: PLC0415  (numba loads on use)

    references = np.flatnonzero(known_at & np.isfinite(known[:, 0]))
    questions = np.flatnonzero(asked_at & np.isfinite(asked[:, 0]))
    if len(references) and len(questions):
        hit[questions] = session.hit[references[nearest(known[references], asked[questions])]]


def _compare(session: VrSession, hit: NDArray[np.int64]) -> AoiHits:
    seen = np.isfinite(session.yaw) & np.isfinite(session.pitch)
    return aoi_hits(session.hit[seen], hit[seen], len(session.objects))
