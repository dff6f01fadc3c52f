# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of a stream: every metric of `gazeveil.lab.utility.streams.METRICS`, by its name.

Beside each stands what raw gaze gives, and what a release gives that always says the middle of the viewing plane. A
mechanism that gives nothing where there was gaze is taken to say the middle, so silence is no way to look good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.errors import GeometryError
from gazeveil.gaze.recording import Recording
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, Family, Protected, Question
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.lab.experiments.grid.released import over_people, released, veiler
from gazeveil.lab.utility.streams.pair import METRICS, Pair
from gazeveil.samples.mechanism import SampleMechanism


class Streams(Family):
    """All metrics of veiled streams."""

    uses = frozenset({"live", "dataset"})
    role = "utility"

    def names(self) -> list[str]:
        """Return the metrics."""
        return METRICS.names()

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a metric."""
        return Question("", partial(_left, name), (METRICS[name], Pair))


def _left(name: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    people, found = _measured(name, data, protected, seed, engine)
    ideal, floor = (float(np.nanmean(found[:, column])) if len(found) else np.nan for column in (1, 2))
    return Answer((over_people(name, people, found[:, 0], seed, chance=floor, ideal=ideal),))


def _measured(name: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> tuple[list[str], Any]:
    mechanism = protected.mechanism
    if mechanism is None or isinstance(mechanism, SampleMechanism):
        # one recording at a time, wherever the engine works: a corpus may be larger than memory
        answers = list(engine.map_recordings(data.corpus, partial(_one, name, mechanism, seed)))
    else:
        pairs = zip(data.recordings, released(data, protected, seed), strict=True)
        answers = [_values(name, raw, behind) for raw, behind in pairs]
    return [person for person, _ in answers], np.array([values for _, values in answers]).reshape(-1, 3)


def _one(name: str, mechanism: SampleMechanism | None, seed: int, recording: Recording) -> tuple[str, Any]:
    raw = recording.to("deg")
    return _values(name, raw, veiler(mechanism, seed)(raw))


def _values(name: str, raw: Recording, behind: Recording) -> tuple[str, tuple[float, float, float]]:
    metric, middle = METRICS[name], _middle(raw)
    same_clock = behind if len(behind) == len(raw) else _at_times_of(raw, behind)
    silent = raw.tracked & ~same_clock.tracked
    if silent.any():
        x, y = (np.where(silent, getattr(middle, axis), getattr(same_clock, axis)) for axis in ("x", "y"))
        same_clock = replace(same_clock, x=x, y=y, valid=None)
    return raw.observer, (metric(Pair(raw, same_clock)), metric(Pair(raw, raw)), metric(Pair(raw, middle)))


def _middle(raw: Recording) -> Recording:
    try:
        left, top, right, bottom = raw.geometry.extent()
    except GeometryError:
        left = right = top = bottom = 0.0
    return replace(raw, x=np.full(len(raw), (left + right) / 2), y=np.full(len(raw), (top + bottom) / 2), valid=None)


def _at_times_of(raw: Recording, behind: Recording) -> Recording:
    """Return a recording that was made anew with other times, as it stands at the times of the raw one."""
    at = np.clip(np.searchsorted(behind.t, raw.t, side="right") - 1, 0, max(len(behind) - 1, 0))
    x, y = (values[at] if len(values) else np.full(len(raw), np.nan) for values in (behind.x, behind.y))
    return replace(raw, x=x, y=y, valid=None)


FAMILIES.register("streams")(Streams())
