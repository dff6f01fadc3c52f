# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A product that is quick to release and to write: how many participants there are, with Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource, laplace
from gazeveil.privacy.guarantee import Guarantee, PureDP
from gazeveil.release.data import BoundCorpus
from gazeveil.release.plan import Domain, Measurement, Plan
from gazeveil.release.study import Participants, Stimulus, Study

DESK = screen(800, 600, 400, 300, 600)
STUDY = Study(name="study", participants=Participants(number=2), stimuli=(Stimulus(name="page", screen=DESK),))
CORPUS = Corpus.of([Recording(np.arange(3) / 60, np.full(3, 9.0), np.full(3, 9.0), DESK, "ann", "page")])


@dataclass(frozen=True, slots=True)
class Count(Measurement):
    """How many participants have recordings."""

    product: ClassVar[str] = "count"

    study: Study
    mechanism: PureDP

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism

    @property
    def domain(self) -> Domain:
        return Domain(self.study, ("page",))

    def recipe(self) -> dict[str, Any]:
        return {"mechanism": "count"}

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Any, tell: Any) -> int:
        return len(data.observers) + int(laplace(noise, float(1 / self.mechanism.epsilon))[0])

    def decode(self, noisy: int) -> int:
        return noisy

    def write(self, value: int, folder: Path, tell: Any) -> dict[str, Any]:
        (folder / "count.txt").write_text(f"{value}\n")
        return {}

    def frame(self, value: int) -> pl.DataFrame:
        return pl.DataFrame({"count": [value]})


def counting(cost: PureDP) -> Plan:
    """Plan to count participants at a cost."""
    return Plan(Count(STUDY, cost))
