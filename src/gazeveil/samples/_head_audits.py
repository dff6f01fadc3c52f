# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Eyes and head before the auditor: both are moved at the same samples, each by its radius, and both are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.samples._one_stream import OneStream
from gazeveil.samples._sphere_audits import directions_apart, still_pairs
from gazeveil.samples._stream_audits import PLANE, Gaze
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.mechanisms.eye_and_head import EyeAndHead
from gazeveil.samples.space import Space, Sphere
from gazeveil.samples.window_budget import LOSS_UNIT

_WINDOW = 0.5
_JUST_WITHIN = 1 - 2.0**-40


@dataclass(frozen=True, slots=True, eq=False)
class Looking:
    """A stream of gaze and of where the head points."""

    gaze: Gaze
    head: Gaze
    width: int = 4

    @property
    def t(self) -> FloatArray:
        """When samples are taken."""
        return self.gaze.t

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """Gaze and head, one list a coordinate."""
        return *self.gaze.axes, *self.head.axes

    @property
    def seen(self) -> NDArray[np.int64]:
        """The samples that are looked at."""
        return self.gaze.seen


@dataclass(frozen=True, slots=True)
class Both(OneStream):
    """Eyes and head, one release a window, which is the first sample; the two noises are independent."""

    mechanism: EyeAndHead

    def log_ratio(self, outputs: Outputs, first: Looking, second: Looking) -> FloatArray:
        """Return the log ratio of the two densities."""
        eyes = _ratio(self.mechanism.eyes)(outputs[:, :2], first.gaze, second.gaze)
        return np.asarray(eyes + _ratio(self.mechanism.head)(outputs[:, 2:], first.head, second.head))


@auditable("eye-and-head")
def eye_and_head(epsilon: float = 1.0, radius: float = 60.0, head_radius: float = 10.0, share: float = 0.5) -> Subject:
    """The veil for eyes and head, with gaze on a screen: gaze and head are moved at the same samples."""
    middle = PLANE.centre[0]
    here, there = (Gaze(*_still(middle + step, middle), np.array([0]), 2) for step in (0.0, radius * _JUST_WITHIN))
    return _subject(PLANE, epsilon, radius, head_radius, share, (Pair(here, there, "gaze moved across"),))


@auditable("eye-and-head-sphere")
def eye_and_head_sphere(
    epsilon: float = 1.0, radius: float = 5.0, head_radius: float = 10.0, share: float = 0.5
) -> Subject:
    """The veil for eyes and head, with gaze as a direction: gaze and head are moved at the same samples."""
    return _subject(Sphere(), epsilon, radius, head_radius, share, still_pairs(radius, 0.0))


def _subject(
    space: Space, epsilon: float, radius: float, head_radius: float, share: float, gaze: tuple[Pair, ...]
) -> Subject:
    mechanism = EyeAndHead(
        space,
        epsilon=Fraction(epsilon),
        window=Fraction(_WINDOW),
        radius=Fraction(radius),
        head_radius=Fraction(head_radius),
        share=Fraction(share),
        ticks=1,
        filter=False,
    )
    runner = Both(mechanism, 2 * _WINDOW)
    pairs = [
        Pair(
            Looking(eyes.first, head.first),
            Looking(eyes.second, head.second),
            f"{eyes.words}; and of the head, {head.words}",
        )
        for eyes, head in zip(gaze, still_pairs(head_radius, 30.0), strict=False)
    ]
    return Subject(runner.run, mechanism.guarantee, tuple(pairs), runner.log_ratio)


def _still(x: float, y: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    return np.array([0.0, 0.1]), np.full(2, x), np.full(2, y)


def _ratio(clock: Clock) -> Callable[[Outputs, Gaze, Gaze], FloatArray]:
    """Return the log ratio of the densities of a released point, or of a direction."""
    if isinstance(clock.space, Sphere):
        return directions_apart(float(clock.radius / clock.epsilon))
    per_unit = clock.plan().loss / LOSS_UNIT

    def ratio(outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        here, there = (np.hypot(outputs[:, 0] - side.x[0], outputs[:, 1] - side.y[0]) for side in (first, second))
        return np.asarray((there - here) * per_unit)

    return ratio
