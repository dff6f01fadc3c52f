# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Fixations, saccades and blinks as the 52 features need them (Bulling 2011, Steil 2019, Bozkir 2020).

A fixation is a stretch in which gaze stays within a radius of the centroid so far; a saccade is what lies between two
fixations that follow one another closely; a blink is a loss of the eye that lasts as long as one. The general
detectors of `gazeveil.gaze.events` end a fixation at every lost sample and do not look inside it; these features need
both, so there is one pass of their own. It has unbounded reach (errata B10): no guarantee about a stretch of raw gaze
can be built on it, only on `gazeveil.features.bins`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError, OptionError
from gazeveil.gaze.events.blinks import LONGEST, SHORTEST
from gazeveil.gaze.events.speed import MAX_STEP, WINDOW
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Unit
from gazeveil.types import FloatArray


@dataclass(frozen=True, slots=True)
class EventRules:
    """What counts as a fixation, a saccade and a blink. Lengths are in ``unit``, times in seconds.

    Attributes:
        unit: ``deg`` or ``norm`` (fractions of the viewing plane).
        radius: Farthest that gaze may be from the centroid of its fixation.
        min_velocity: Slowest peak velocity of a saccade, per second.
        min_fixation: Shortest fixation.
        max_gap: Longest time without good gaze within a fixation.
        max_saccade: Longest time between two fixations that is a saccade.
        min_amplitude_radii: Smallest saccade, in radii.
        large_radii: Where large saccades begin, in radii.
        velocity_span: Time over which a velocity is taken, at least.
        min_blink: Shortest blink, between the good samples around it.
        max_blink: Longest blink.
    """

    unit: Unit
    radius: float
    min_velocity: float
    min_fixation: float = 0.1
    max_gap: float = MAX_STEP
    max_saccade: float = 0.1
    min_amplitude_radii: float = 0.2
    large_radii: float = 2.0
    velocity_span: float = WINDOW
    min_blink: float = SHORTEST
    max_blink: float = LONGEST

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", Unit(self.unit))
        if self.unit is Unit.PIXEL:
            raise OptionError("features are in degrees or in fractions of the viewing plane, not in pixels")
        for name, value in asdict(self).items():
            if name != "unit" and not (np.isfinite(value) and value >= 0):
                raise OptionError(f"{name} must be a number from 0 up, not {value!r}")
        if not self.radius > 0 or not self.min_fixation > 0 or not self.min_blink <= self.max_blink:
            raise OptionError("radius and min_fixation must be above 0, and min_blink at most max_blink")

    @staticmethod
    def in_degrees() -> EventRules:
        """Gaze within 1 degree of its centroid; saccades reach 20 deg/s."""
        return EventRules(Unit.DEGREE, radius=1.0, min_velocity=20.0)

    @staticmethod
    def in_fractions() -> EventRules:
        """As published: 0.01 of the viewing plane, and 2 viewing planes a second."""
        return EventRules(Unit.FRACTION, radius=0.01, min_velocity=2.0)

    @staticmethod
    def for_(recording: Recording) -> EventRules:
        """Return degrees where the recording's geometry knows them, else fractions."""
        return EventRules.in_degrees() if recording.geometry.knows_degrees else EventRules.in_fractions()

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values."""
        return {**asdict(self), "unit": str(self.unit)}


@dataclass(frozen=True, slots=True, eq=False)
class EyeEvents:
    """The events of one recording; tables have one column per event, in order of onset.

    Attributes:
        t: Times of the samples.
        errors: Which samples have no gaze, or gaze far off the viewing plane.
        repeats: Which samples repeat the one before exactly.
        fixations: Onset, offset, centre x and y, variance of x and y, mean and variance of the pupil.
        saccades: Onset, way across, way down, amplitude, peak velocity.
        blinks: Onset, duration.
    """

    t: FloatArray
    errors: NDArray[np.bool_]
    repeats: NDArray[np.bool_]
    fixations: FloatArray
    saccades: FloatArray
    blinks: FloatArray


def find_events(recording: Recording, rules: EventRules) -> EyeEvents:
    """Find what the features are made of.

    Raises:
        InputError: If the device's time goes backwards.
    """
    from gazeveil.features import _event_kernels as kernels  # noqa: PLC0415  (compiles)

    t, x, y, pupil = samples_of(recording, rules.unit)
    if not (pupil > 0).any():  # a channel that never saw a pupil says nothing about blinks
        pupil = np.empty(0)
    flags = np.zeros(len(t), dtype=np.uint8)
    seconds = float(t[-1] - t[0]) if len(t) else 0.0
    most = min(len(t), int(seconds / rules.min_fixation)) + 2
    fixations = np.empty((kernels.FIXATION_ROWS, most))
    saccades = np.empty((kernels.SACCADE_ROWS, most))
    blinks = np.empty((kernels.BLINK_ROWS, len(t) // 2 + 2))
    limits = (
        rules.radius, rules.min_fixation, rules.max_gap, rules.max_saccade, rules.min_amplitude_radii * rules.radius,
        rules.min_velocity, rules.velocity_span, rules.min_blink, rules.max_blink,
    )  # fmt: skip
    counts = kernels.find(
        t, x, y, pupil, plane_of(recording, rules.unit), np.array(limits), flags, fixations, saccades, blinks
    )
    return EyeEvents(
        t,
        (flags & kernels.ERROR) != 0,
        (flags & kernels.REPEAT) != 0,
        *(np.ascontiguousarray(table[:, :n]) for table, n in zip((fixations, saccades, blinks), counts, strict=True)),
    )


def samples_of(recording: Recording, unit: Unit) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return t, x, y in the unit, and the pupil (empty if there is none), without samples of unknown time.

    Raises:
        InputError: If the device's time goes backwards, or it is a list of fixations.
    """
    recording.need_samples("a table of features")
    timed = np.isfinite(recording.t)
    # between known times: a sample of unknown time in between must not hide that the clock ran back
    if backwards := int((np.diff(recording.t[timed]) < 0).sum()):
        raise InputError(
            f"the device's time goes backwards {backwards:,} times in {recording.key}",
            hint="cut the recording there, for example with Recording.between",
        )
    x, y = recording.geometry.convert(recording.x, recording.y, unit)
    pupil = np.empty(0) if recording.pupil is None else recording.pupil
    columns = [recording.t, x, y, pupil]
    if not timed.all():
        columns = [column[timed] if len(column) else column for column in columns]
    # copies where needed, because kernels are compiled for writeable arrays in one piece
    t, x, y, pupil = (np.require(column, requirements=["C", "W"]) for column in columns)
    return t, x, y, pupil


def plane_of(recording: Recording, unit: Unit) -> FloatArray:
    """Return the part of the viewing plane where gaze can be.

    Half a viewing plane beyond each edge, if the edges are known.
    """
    geometry = recording.geometry
    knows_edges = geometry.unit is not Unit.DEGREE or geometry.fov_x_deg is not None or geometry.width_mm is not None
    if not knows_edges or (unit is Unit.DEGREE and not geometry.knows_degrees):
        return np.array([-np.inf, -np.inf, np.inf, np.inf])
    ends = np.array([-0.5, 1.5])
    x, y = geometry.in_unit(Unit.FRACTION).convert(ends, ends, unit)
    return np.array([x[0], y[0], x[1], y[1]])
