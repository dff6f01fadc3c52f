# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One observer's rows to integers: every statistic of every stimulus, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.aoi.statistics import Bounds, Statistic
from gazeveil.aggregate.aoi.viewing import Viewing, recordings_of, view, view_list
from gazeveil.aggregate.engine import Columns
from gazeveil.errors import InternalError
from gazeveil.gaze import schema
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.events import Detector
from gazeveil.geometry import Geometry
from gazeveil.types import IntArray


@dataclass(frozen=True, slots=True)
class Question:
    """One statistic of one stimulus.

    Attributes:
        stimulus: What was looked at.
        areas: The areas on it.
        statistic: What is asked.
    """

    stimulus: str
    areas: AreasOfInterest
    statistic: Statistic

    @property
    def bounds(self) -> Bounds:
        """How large one observer's integers can be."""
        return self.statistic.bounds(len(self.areas))

    def labels(self) -> list[tuple[str, ...]]:
        """Return the areas that each integer is about."""
        return self.statistic.cells(self.areas.names)


@dataclass(frozen=True, slots=True)
class AoiKernel:
    """The integers of one observer for all questions.

    Attributes:
        questions: What is asked.
        geometry: The viewing plane of the gaze.
        detector: How fixations are found.
        stated: None for samples; for lists of fixations, what they state of each.
    """

    questions: tuple[Question, ...]
    geometry: Geometry
    detector: Detector
    stated: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        """How many integers it gives."""
        return sum(question.bounds.cells for question in self.questions)

    @property
    def columns(self) -> tuple[str, ...]:
        """Which columns of the corpus it needs."""
        gaze = ("stimulus", "session", "trial", "t", "x", "y", "valid")
        return gaze if self.stated is None else (*gaze, schema.DURATION)

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers.

        Raises:
            InternalError: If they do not keep the bounds that the noise relies on.
        """
        with np.errstate(all="ignore"):  # gaze far off overflows to infinity, which is in no area
            viewings = self._viewings(rows)
        parts = []
        for question in self.questions:
            values = question.statistic.of(viewings.get(question.stimulus, ()), len(question.areas))
            if not question.bounds.hold_for(values):
                raise InternalError(f"an observer goes beyond the bounds of {question.statistic.name!r}")
            parts.append(values)
        return np.concatenate(parts)

    def _viewings(self, rows: Columns) -> dict[str, list[Viewing]]:
        asked: dict[str, AreasOfInterest] = {question.stimulus: question.areas for question in self.questions}
        needing = {question.stimulus for question in self.questions if question.statistic.needs_fixations}
        found: dict[str, list[Viewing]] = {}
        for recording in recordings_of(rows, self.geometry):
            name = recording.stimulus
            if name not in asked:
                continue
            if self.stated is not None:
                viewing = view_list(recording, asked[name], self.stated)
            else:
                viewing = view(recording, asked[name], self.detector if name in needing else None)
            found.setdefault(name, []).append(viewing)
        return found
