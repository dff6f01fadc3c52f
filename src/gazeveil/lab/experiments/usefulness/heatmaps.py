# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful private heatmaps are: their agreement with the map of everyone, over the number of participants.

For each scene some of its viewers are drawn, the same for every method, and each method makes its map of them. The map
is compared with the one of all viewers, without noise, which contains the drawn ones. Three numbers say how good it is:
the correlation; the correlation after what needs no data, our prior and that of an earlier version, has been regressed
out of both; and the share of the three highest peaks that are found. Each is averaged over repeats and then over
scenes; the standard error is over scenes.

Where more participants are asked for than looked, participants are drawn with replacement and so is what they looked
at. That is stated with the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any, Final

import numpy as np

from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.strategy import Task
from gazeveil.aggregate.strategy_parts import prior_of_task
from gazeveil.arrays import FloatArray, Tell
from gazeveil.errors import OptionError, closest
from gazeveil.exact import probability
from gazeveil.lab.experiments.usefulness._heatmap_methods import METHODS, MORE_METHODS, Method, truth
from gazeveil.lab.experiments.usefulness._heatmap_recipe import recipe_prior
from gazeveil.lab.experiments.usefulness._heatmap_scenes import Gallery, Scene
from gazeveil.lab.utility.maps import correlation, hot_spot_hits
from gazeveil.noise import NoiseSource
from gazeveil.privacy.protection import Neighbours

OBSERVERS: Final = (15, 30, 50, 100, 300)
MEASURES: Final = ("cc", "residual", "hits")

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure.

    Attributes:
        observers: How many participants to draw, one after the other.
        epsilons: The ε to spend on each map.
        delta: The δ to spend on each map.
        methods: Names of methods; all of the usual ones if empty.
        repeats: How often participants and noise are drawn for each scene.
        seed: Participants and noise follow from it.
    """

    observers: tuple[int, ...] = OBSERVERS
    epsilons: tuple[float, ...] = (1.0,)
    delta: float = 1e-5
    methods: tuple[str, ...] = ()
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.observers or any(type(count) is not int or count < 1 for count in self.observers):
            raise OptionError(f"observers are whole numbers from 1 up, not {list(self.observers)}")
        if not self.epsilons or not all(math.isfinite(value) and value > 0 for value in self.epsilons):
            raise OptionError(f"epsilons are positive numbers, not {list(self.epsilons)}")
        if not 0 < self.delta < 1:
            raise OptionError(f"delta must lie between 0 and 1, not at {self.delta!r}")
        if self.repeats < 1:
            raise OptionError(f"at least one repeat is needed, not {self.repeats}")
        for name in self.methods:
            if name not in METHODS and name not in MORE_METHODS:
                raise OptionError(f"no method is called {name!r}", hint=closest(name, (*METHODS, *MORE_METHODS)))

    def chosen(self) -> Mapping[str, Method]:
        """Return the methods to compare."""
        known = {**METHODS, **MORE_METHODS}
        return {name: known[name] for name in self.methods or METHODS}


@dataclass(frozen=True, slots=True)
class Score:
    """Mean and standard error over scenes of one measure; the error is NaN with a single scene."""

    mean: float
    error: float

    @staticmethod
    def of(values: Iterable[float]) -> Score:
        """Return the score of one value a scene; scenes without a value (NaN) are left out."""
        numbers = np.array([value for value in values if not math.isnan(value)])
        if not len(numbers):
            return Score(math.nan, math.nan)
        error = float(numbers.std(ddof=1)) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.nan
        return Score(float(numbers.mean()), error)


@dataclass(frozen=True, slots=True)
class Row:
    """One method at one number of participants and one ε.

    Attributes:
        method: Its name.
        epsilon: The ε that was spent; the prior and the map without noise spend none.
        observers: How many participants.
        variant: Which variant an oracle chose; empty if there is one only.
        cc: Correlation with the map of everyone.
        residual: The same after the priors have been regressed out of both.
        hits: Share of the three highest peaks within two cells of one of the map's.
        by_scene: Each scene's three measures, for comparisons scene by scene.
    """

    method: str
    epsilon: float
    observers: int
    variant: str
    cc: Score
    residual: Score
    hits: Score
    by_scene: tuple[tuple[float, ...], ...] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Everything that was measured.

    Attributes:
        gallery: Where the scenes come from.
        split: Which of them; empty for data of your own.
        scenes: How many.
        viewers: How many participants looked at every scene; more are drawn with replacement.
        plan: What was asked.
        rows: The results.
        assumed: What is assumed about the screen, in words; nothing where its size is known.
    """

    gallery: str
    split: str
    scenes: int
    viewers: int
    plan: Plan
    rows: tuple[Row, ...]
    assumed: str = ""

    def row(self, method: str, observers: int, epsilon: float | None = None) -> Row:
        """Return one result."""
        wanted = self.plan.epsilons[0] if epsilon is None else epsilon
        for row in self.rows:
            if (row.method, row.observers, row.epsilon) == (method, observers, wanted):
                return row
        raise OptionError(f"{method!r} was not measured with {observers} participants at ε = {wanted:g}")

    def gain(self, method: str, over: str, observers: int, epsilon: float | None = None) -> tuple[Score, Score, Score]:
        """Return by how much one method's measures exceed another's, scene by scene."""
        pairs = zip(
            self.row(method, observers, epsilon).by_scene, self.row(over, observers, epsilon).by_scene, strict=True
        )
        more = [[one - other for one, other in zip(*pair, strict=True)] for pair in pairs]
        cc, residual, hits = (Score.of(values) for values in zip(*more, strict=True))
        return cc, residual, hits

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {
            "data": self.gallery,
            "split": self.split,
            "scenes": self.scenes,
            "viewers": self.viewers,
            "drawn_with_replacement": [count for count in self.plan.observers if count > self.viewers],
            "plan": {**asdict(self.plan), "methods": list(self.plan.chosen())},
            "rows": [asdict(row) for row in self.rows],
            **({"assumed": self.assumed} if self.assumed else {}),
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Found:
        """Return results that `to_dict` gave; a number that is None is not known."""
        plan: dict[str, Any] = {
            name: tuple(item) if isinstance(item, list) else item for name, item in values["plan"].items()
        }
        rows = []
        for row in values["rows"]:
            scores = {name: Score(*map(_known, row[name].values())) for name in MEASURES}
            by_scene = tuple(tuple(map(_known, scene)) for scene in row["by_scene"])
            rows.append(Row(**{**row, **scores, "by_scene": by_scene}))
        about = (values["data"], values["split"], values["scenes"], values["viewers"])
        return Found(*about, Plan(**plan), tuple(rows), values.get("assumed", ""))


def refreshed(old: Found, new: Found) -> Found:
    """Return old results with the rows of some methods measured anew, everything else being the same.

    Raises:
        OptionError: If they are not about the same scenes, participants and noise, or the prior has changed since: it
            is regressed out of every row, so then all of them must be measured again.
    """
    same = replace(new.plan, methods=old.plan.methods) == old.plan
    same = same and (old.gallery, old.split, old.scenes) == (new.gallery, new.split, new.scenes)
    if not same:
        raise OptionError("the two measurements are not of the same scenes, participants and noise")
    for epsilon, count in product(old.plan.epsilons, old.plan.observers):
        before, now = (found.row("prior", count, epsilon).by_scene for found in (old, new))
        if not np.allclose(before, now, rtol=0, atol=1e-4):
            raise OptionError("the prior has changed since", hint="measure all methods again")
    anew = {(row.method, row.epsilon, row.observers): row for row in new.rows}
    return replace(old, rows=tuple(anew.get((row.method, row.epsilon, row.observers), row) for row in old.rows))


def compare(gallery: Gallery, plan: Plan, *, split: str = "", tell: Tell | None = None) -> Found:
    """Measure every method of a plan on every scene of a gallery."""
    methods = plan.chosen()
    steps = len(plan.epsilons) * len(plan.observers) * len(gallery.scenes)
    done, rows = 0, []
    for epsilon in plan.epsilons:
        for count in plan.observers:
            mechanism = PrivateHeatmap(epsilon=epsilon)
            delta = probability(plan.delta, "delta")
            task = mechanism.task_for(gallery.geometry, count, Neighbours.REPLACE_ONE, delta)
            scores: list[_Scores] = []
            for scene in gallery.scenes:  # inside, so that a decoder is set up once for all scenes
                scores.append(_measured(scene, task, methods, plan))
                done += 1
                if tell is not None:
                    tell(done, steps)
            rows += [_row(name, method, task, scores) for name, method in methods.items()]
    return Found(gallery.name, split, len(gallery.scenes), gallery.viewers, plan, tuple(rows), gallery.assumed)


_Scores = dict[tuple[str, str], tuple[float, ...]]
"""Of one scene: the measures of each method and variant, averaged over repeats."""


def _measured(scene: Scene, task: Task, methods: Mapping[str, Method], plan: Plan) -> _Scores:
    whole = truth([viewer.rows() for viewer in scene.viewers], task)
    priors = prior_of_task(task), recipe_prior(task)
    each: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for repeat in range(plan.repeats):
        people = scene.drawn(task.observers, plan.seed, repeat)
        noise = _noise_of_all(plan.seed, f"{scene.name}/{task.observers}/{float(task.epsilon)!r}/{repeat}")
        for name, method in methods.items():
            for variant, way in method.ways.items():
                found = way(people, task, noise[name, variant])
                scores = (
                    correlation(found, whole),
                    beyond(found, whole, priors),
                    hot_spot_hits(found, whole),
                )
                each.setdefault((name, variant), []).append(scores)
    return {key: tuple(np.mean(scores, axis=0).tolist()) for key, scores in each.items()}


def _noise_of_all(seed: int, label: str) -> dict[tuple[str, str], NoiseSource]:
    """Return the noise of every way there is: its own, the same whichever of them are measured."""
    source = NoiseSource.seeded(seed)
    known = {**METHODS, **MORE_METHODS}
    return {(name, variant): source.spawn(label) for name, method in known.items() for variant in method.ways}


def beyond(estimate: FloatArray, whole: FloatArray, priors: Sequence[FloatArray]) -> float:
    """Return the correlation of what is left of two maps once several priors are regressed out of both.

    With one prior this is `gazeveil.lab.utility.maps.residual_correlation`. With two, nobody gains from the better
    prior.
    """
    known = np.column_stack([np.ones(whole.size), *(prior.ravel() * prior.size for prior in priors)])
    left = []
    for values in (estimate.ravel(), whole.ravel()):
        rest = values - known @ np.linalg.lstsq(known, values, rcond=1e-9)[0]
        if float(np.linalg.norm(rest)) <= _ROUNDING * float(np.linalg.norm(values)):
            return 0.0
        left.append(rest)
    return correlation(*left)


def _row(name: str, method: Method, task: Task, scores: Sequence[_Scores]) -> Row:
    def measure(variant: str, which: int) -> list[float]:
        return [scene[name, variant][which] for scene in scores]

    best = max(method.ways, key=lambda variant: float(np.mean(measure(variant, 0))))
    cc, residual, hits = (Score.of(measure(best, which)) for which in range(len(MEASURES)))
    variant, single = best if method.oracle else "", tuple(scene[name, best] for scene in scores)
    return Row(name, float(task.epsilon), task.observers, variant, cc, residual, hits, single)


def _known(value: float | None) -> float:
    return math.nan if value is None else value
