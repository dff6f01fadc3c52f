# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What protects the recordings of many participants at once, as baselines for our veils.

To compare with, not to release.

A baseline is no `SampleMechanism`: it needs each participant's gaze, from beginning to end, so no stream can run behind
it, no product of ours takes it, and its `guarantee` is always `Unproven`. What its authors state is in `claimed`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.exact import as_text
from gazeveil.gaze.recording import Recording
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Unproven
from gazeveil.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetMechanism(ABC):
    """A way of protecting all recordings of a data set together: public numbers, nothing else."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def claimed(self) -> str:
        """What its authors state, in words."""

    @property
    @abstractmethod
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""

    @abstractmethod
    def apply_all(self, recordings: Sequence[Recording], noise: NoiseSource) -> list[Recording]:
        """Return all recordings protected, in the same order, at the same times and under the same names.

        Where nothing is released, gaze is missing. Pupils, single eyes and events are never released.

        Raises:
            InputError: If there are too few participants, or recordings that cannot be used.
            GeometryError: If a recording's viewing plane does not know degrees.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the baseline and its parameters as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"mechanism": self.name} | {
            name: as_text(value) if isinstance(value, Fraction) else value for name, value in values.items()
        }

    def in_words(self) -> str:
        """Say name and parameters in one line."""
        shown = ", ".join(f"{name}={value}" for name, value in self.to_dict().items() if name != "mechanism")
        return f"{self.name}({shown})"


DATASET_MECHANISMS: Registry[type[DatasetMechanism]] = Registry("data set baseline", "gazeveil.lab.baselines")
"""Baselines that need each participant's recordings at once, by name."""


def in_degrees(recordings: Sequence[Recording], what: str) -> list[Recording]:
    """Return recordings in degrees, after a look at whether a baseline can use them.

    Raises:
        InputError: If one has no samples, a broken clock, or is there twice.
        GeometryError: If a viewing plane does not know degrees.
    """
    seen = set()
    for recording in recordings:
        recording.need_samples(what)
        faults = recording.time_faults
        if faults.backwards or faults.not_finite:
            raise InputError(f"the clock of {recording.key} runs back or stops", hint="mend or leave out the recording")
        if recording.key in seen:
            raise InputError(f"there are two recordings {recording.key}", hint="number them by trial")
        seen.add(recording.key)
    return [recording.to("deg") for recording in recordings]


def with_gaze(recording: Recording, x: FloatArray, y: FloatArray) -> Recording:
    """Return a recording with other gaze, given in degrees, in its own unit, without anything beside gaze."""
    degrees = recording.geometry.in_unit("deg")
    across, down = degrees.convert(x, y, recording.geometry.unit)
    return Recording(
        recording.t,
        np.asarray(across),
        np.asarray(down),
        recording.geometry,
        **recording.key._asdict(),
        rate_hz=recording.rate_hz,
    )
