# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A whole study under one promise: the heatmaps of many stimuli, released together.

Every observer gives one vector: what is seen of their map of each stimulus, side by side. All observers' vectors are
added up and get Gaussian noise once. The promise covers all of it, whichever stimuli somebody saw. Decoding uses that
the stimuli belong together (`gazeveil.aggregate.together`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gazeveil.aggregate.choice import choose
from gazeveil.aggregate.engine import Engine, engine_at
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.render import check_blur
from gazeveil.aggregate.sight import SIGHTS
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Strategy, Task
from gazeveil.aggregate.study_plan import LEAST_CARRIED, LEAST_WEIGHT, StudyEstimate, StudyPlan
from gazeveil.errors import GeometryError, InputError, OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.release import Release, kept_promise
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import IntArray, Tell, silent


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateStudy:
    """The heatmaps of many stimuli under one observer-level promise.

    Attributes:
        epsilon: The ε that may be spent on all of it together.
        delta: The δ that may be spent on all of it together.
        stimuli: Which stimuli; by default those of the corpus. Which there are counts as public: they are the design
            of the study, not what somebody did in it.
        weights: How much a stimulus matters, where that is not 1. Twice the weight has half the noise a head. Public.
        most_stimuli: The most stimuli that one observer was shown, if that is fewer than all and public. What goes
            beyond is scaled down; the noise falls with the square root.
        strategy: What is noted of each map: ``bumps`` or ``histogram``.
        neighbours: How neighbouring data sets differ.
        observers: How many people there are. By default those of the corpus, which is public under replace-one.
        mean_only: Release nothing but the mean over all stimuli, with the whole budget.
        cell_deg: Size of a cell in degrees.
        blur_deg: Standard deviation of the point-spread function in degrees.
    """

    epsilon: float
    delta: float = 1e-5
    stimuli: tuple[str, ...] | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    most_stimuli: int | None = None
    strategy: str = "bumps"
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    observers: int | None = None
    mean_only: bool = False
    cell_deg: float = 1.0
    blur_deg: float = 1.1

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise OptionError(f"epsilon must be a positive number, not {self.epsilon!r}")
        if not 0 < self.delta < 1:
            raise OptionError(f"delta must lie between 0 and 1, not at {self.delta!r}: Gaussian noise needs one")
        check_blur(self.blur_deg)
        for name in ("observers", "most_stimuli"):
            count = getattr(self, name)
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise OptionError(f"{name} must be a whole number from 1 up, not {count!r}")
        if self.strategy not in SIGHTS:
            raise OptionError(
                f"many maps cannot be released together by the strategy {self.strategy!r}",
                hint=f"known: {', '.join(SIGHTS)}",
            )
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        object.__setattr__(self, "weights", _checked_weights(self.weights))
        if self.stimuli is not None:
            object.__setattr__(self, "stimuli", tuple(self.stimuli))
            if len(set(self.stimuli)) < len(self.stimuli):
                raise OptionError("a stimulus is named twice")
        if self.mean_only and (self.weights or self.most_stimuli is not None):
            raise OptionError("the mean alone weighs all gaze alike: weights and most_stimuli do not apply to it")
        if self.neighbours is Neighbours.ADD_REMOVE and self.observers is None:
            raise OptionError(
                "under add/remove the number of people is a secret, but a study is planned by it",
                hint="say about how many there are with observers, from something public such as the invitation",
            )

    @property
    def guarantee(self) -> Guarantee:
        """The most that a release costs."""
        return ApproxDP(self.epsilon, self.delta, neighbours=self.neighbours)

    def plan(self, geometry: Geometry, observers: int, stimuli: tuple[str, ...]) -> StudyPlan:
        """Return how so many people's maps of these stimuli are released: a matter of public numbers.

        Raises:
            OptionError: If there are fewer than two stimuli, or weights of unknown ones, or too many numbers.
        """
        if len(stimuli) < 2:
            raise OptionError(
                f"a whole study has at least two stimuli, not {len(stimuli)}",
                hint="release a single one with PrivateHeatmap, or `gazeveil heatmap`",
            )
        if unknown := sorted(set(self.weights) - set(stimuli)):
            raise OptionError(
                f"there are weights for stimuli that are not released: {', '.join(map(repr, unknown[:4]))}",
                hint=f"the stimuli are {', '.join(map(repr, stimuli[:6]))}{'…' if len(stimuli) > 6 else ''}",
            )
        return StudyPlan(
            grid=Grid.of_degrees(geometry, self.cell_deg),
            stimuli=stimuli,
            weights=tuple(self.weights.get(name, 1.0) for name in stimuli),
            observers=observers,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            strategy=self.strategy,
            most_stimuli=min(self.most_stimuli or len(stimuli), len(stimuli)),
            blur_cells=self.blur_deg / self.cell_deg,
        )

    def plan_mean(self, geometry: Geometry, observers: int) -> Strategy:
        """Return how the mean alone is released: as one heatmap of everything that everybody looked at."""
        task = Task(
            grid=Grid.of_degrees(geometry, self.cell_deg),
            observers=observers,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            blur_cells=self.blur_deg / self.cell_deg,
        )
        return STRATEGIES[choose(task)](task)  # type: ignore[call-arg]

    def public_facts(self, corpus: Corpus) -> tuple[Geometry, int, tuple[str, ...]]:
        """Return the plane, the number of people and the stimuli of a corpus.

        Raises:
            InputError: If a named stimulus is not there, or the stimuli lie on several planes.
            OptionError: If δ is too large for so many people.
        """
        there = corpus.stimuli
        stimuli = tuple(there) if self.stimuli is None else self.stimuli
        if missing := [name for name in stimuli if name not in there]:
            raise InputError(
                f"the corpus has no stimulus {', '.join(map(repr, missing[:4]))}",
                hint=f"it has {', '.join(there[:12]) or 'none'}",
            )
        people = len(corpus.observers) if self.observers is None else self.observers
        if people < 1:
            raise InputError("the corpus holds no recordings")
        if self.delta * people >= 1:
            raise OptionError(
                f"delta {self.delta:g} is no smaller than one in {people:,} people: such a promise is empty",
                hint="choose delta well below one over the number of people",
            )
        return _plane(corpus, stimuli), people, stimuli

    def release(
        self,
        corpus: Corpus,
        *,
        noise: NoiseSource,
        ledger: Ledger | None = None,
        dataset: str = "",
        engine: Engine | None = None,
        tell: Tell = silent,
        anyway: bool = False,
    ) -> Release:
        """Release all heatmaps; the value is a `StudyEstimate`.

        If a ledger is given, it is charged once, before gaze is read. Hand in the whole study, not a selection of
        people that depends on who looked at what.

        Args:
            corpus: The study.
            noise: Where the noise comes from.
            ledger: What to charge.
            dataset: The data set's name in it.
            engine: What sums over observers.
            tell: Told how far the sum is.
            anyway: Go on where the budget cannot carry what is special about single stimuli.

        Raises:
            InputError: If the corpus does not fit.
            OptionError: If the budget is too small for so many stimuli, and not ``anyway``; nothing was spent.
            BudgetExceeded: If the ledger does not allow it; nothing was released.
        """
        geometry, people, stimuli = self.public_facts(corpus)
        facts: dict[str, Any] = {}
        plan: StudyPlan | Strategy
        if self.mean_only:
            plan = self.plan_mean(geometry, people)
        else:
            plan = self.plan(geometry, people, stimuli)
            carried = plan.carried()
            if carried < LEAST_CARRIED and not anyway:
                raise too_little(plan, carried)
            facts["expected_correlation_beyond_the_mean"] = round(carried, 4)
        recipe = {"mechanism": "private-study", "mean_only": self.mean_only, **plan.to_dict()}
        provenance = {"stimuli": list(stimuli), "observers": people, **facts}
        release = Release(None, kept_promise(plan.guarantee, noise), recipe, provenance)
        if ledger is not None:
            release = release.charged(ledger, dataset)
        chosen = corpus.select(stimulus=stimuli)
        total: IntArray = (engine or engine_at()).sum_over_observers(chosen, plan.kernel(), tell).total
        decoded = plan.decode(plan.measure(total, noise))
        value = StudyEstimate({}, decoded) if isinstance(decoded, Estimate) else decoded
        return replace(release, value=value)


def too_little(plan: StudyPlan, carried: float) -> OptionError:
    """Return the warning that comes before anything is spent."""
    count = len(plan.stimuli)
    fewer = plan.most_stimuli_carried()
    options = [f"an ε of about {plan.epsilon_carried():.3g}", "the mean alone (--mean-only)"]
    if fewer >= 2:
        options.insert(0, f"at most {fewer} stimuli")
    return OptionError(
        f"ε = {plan.epsilon:g} for {count} stimuli and {plan.observers:,} people carries next to nothing that is "
        f"special about a stimulus: expected correlation {carried:.2f} beyond the study's mean, "
        f"at least {LEAST_CARRIED:g} is asked for. Nothing was spent.",
        hint=f"take {', or '.join(options)}; --anyway goes on regardless",
    )


def _checked_weights(weights: Mapping[str, Any]) -> dict[str, float]:
    checked = {}
    for name, weight in dict(weights).items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
            raise OptionError(
                f"the weight of {name!r} must be a positive number, not {weight!r}",
                hint="leave a stimulus out instead of giving it no weight",
            )
        checked[str(name)] = float(weight)
    if checked and LEAST_WEIGHT * max(*checked.values(), 1.0) > min(*checked.values(), 1.0):
        raise OptionError(f"weights differ by more than {1 / LEAST_WEIGHT:,.0f} to 1", hint="those without one weigh 1")
    return checked


def _plane(corpus: Corpus, stimuli: tuple[str, ...]) -> Geometry:
    """Return the one plane of the stimuli, or say which of them lie on which."""
    planes: dict[Geometry, str] = {}
    for part in corpus.select(stimulus=stimuli).parts:
        planes.setdefault(part.label.geometry, part.stimulus)
    if len(planes) > 1:
        told = "; ".join(f"{name!r}: {plane}" for plane, name in list(planes.items())[:3])
        raise GeometryError(
            f"the stimuli lie on {len(planes)} planes ({told})",
            hint="release the stimuli of each plane together, and let the ledger add up",
        )
    return corpus.select(stimulus=stimuli).geometry
