# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What an event is: the outputs whose score is at least, or at most, a threshold.

A family of events looks at outputs of both inputs and suggests *scores*, numbers that tell the two apart. Thresholds
are chosen afterwards, on outputs that the family did not see (`gazeveil.privacy.audit.choosing`). A new family is one
new file in this package::

    @family("acme")
    def acme(sample: Sample) -> Iterator[Score]:
        yield AcmeScore(...)

Scores are frozen dataclasses, so that they can be sent to other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.registry import Registry
from gazeveil.types import FloatArray

Outputs = NDArray[Any]
"""One row a trial, float64 or int64."""


class Score(Protocol):
    """A number for each output. Not-a-number means that the output belongs to no event of this score."""

    @property
    def words(self) -> str:
        """What the number is, as the subject of a sentence."""
        ...

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return one number for each row."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """The outputs whose score reaches a threshold."""

    score: Score
    threshold: float
    above: bool

    def count(self, outputs: Outputs) -> int:
        """Return how many of the outputs belong to the event."""
        scores = self.score(outputs)
        inside = scores >= self.threshold if self.above else scores <= self.threshold
        return int(np.count_nonzero(inside))

    @property
    def words(self) -> str:
        """The event in words."""
        return f"{self.score.words} is at {'least' if self.above else 'most'} {self.threshold:.6g}"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Outputs of both inputs that a family may learn from.

    Attributes:
        first: Outputs of the first input, one a row.
        second: Outputs of its neighbour.
        log_ratio: The known logarithm of the ratio of densities, if any.
    """

    first: Outputs
    second: Outputs
    log_ratio: Callable[[Outputs], FloatArray] | None = None

    @property
    def width(self) -> int:
        """How many numbers an output has."""
        return int(self.first.shape[1])


Family = Callable[[Sample], Iterable[Score]]

FAMILIES: Registry[Family] = Registry("event family", package="gazeveil.privacy.audit.events")
"""Families of events by name."""


def family(name: str) -> Callable[[Family], Family]:
    """Return a decorator that enters a family of events."""
    return FAMILIES.register(name)
