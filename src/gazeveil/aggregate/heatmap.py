# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The front door for heatmaps: say what may be spent, get a heatmap with its promise.

Which strategy is used follows from public numbers alone: how many people there are, ε, δ, the plane, the blur.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from gazeveil.aggregate.choice import choose
from gazeveil.aggregate.engine import Engine, engine_at
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.render import check_blur
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Strategy, Task
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.geometry import Geometry
from gazeveil.noise import NoiseSource, laplace
from gazeveil.privacy.calibrate import laplace_scale
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.release import Release, kept_promise
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import Tell, silent

LARGE_EPSILON = 10.0
COUNT_SHARE = 0.125
"""The part of ε that pays for counting the people, where their number is a secret and nobody declared it."""

FOLLOW_PICTURES = ("bumps", "histogram", "modes")
"""The strategies whose decoder can make use of the stimulus's picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateHeatmap:
    """A heatmap of many observers under an observer-level promise.

    Attributes:
        epsilon: The ε that may be spent.
        delta: The δ that may be spent.
        strategy: The name of a strategy, or ``auto``.
        neighbours: How neighbouring data sets differ. Under replace-one the number of people is public.
        observers: How many people there are, if that is public; needed under add/remove, else counted privately.
        cell_deg: Size of a cell in degrees.
        blur_deg: Standard deviation of the point-spread function in degrees.
        picture: What the stimulus's own pixels say about gaze, if the decoder may use them: `Saliency.of(pixels)`.
    """

    epsilon: float
    delta: float = 1e-5
    strategy: str = "auto"
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    observers: int | None = None
    cell_deg: float = 1.0
    blur_deg: float = 1.1
    picture: Saliency | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise OptionError(f"epsilon must be a positive number, not {self.epsilon!r}")
        if not 0 <= self.delta < 1:
            raise OptionError(f"delta must lie from 0 up to, but not at, 1, not {self.delta!r}")
        check_blur(self.blur_deg)
        if self.observers is not None and (isinstance(self.observers, bool) or self.observers < 1):
            raise OptionError(f"observers must be a whole number from 1 up, not {self.observers!r}")
        if self.strategy != "auto":
            STRATEGIES[self.strategy]
            if self.picture is not None and self.strategy not in FOLLOW_PICTURES:
                raise OptionError(
                    f"the strategy {self.strategy!r} makes no use of a picture",
                    hint=f"leave the picture out, or use auto or one of {', '.join(FOLLOW_PICTURES)}",
                )
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))

    @property
    def counts_privately(self) -> bool:
        """Whether a part of ε goes to counting the people."""
        return self.neighbours is Neighbours.ADD_REMOVE and self.observers is None

    @property
    def guarantee(self) -> Guarantee:
        """The most that a release may cost; the release itself states what was kept, which may be stronger."""
        if self.delta:
            return ApproxDP(self.epsilon, self.delta, neighbours=self.neighbours)
        return PureDP(self.epsilon, neighbours=self.neighbours)

    def plan(self, geometry: Geometry, observers: int) -> Strategy:
        """Return the strategy for so many people on a plane: a matter of public numbers."""
        grid = Grid.of_degrees(geometry, self.cell_deg)
        epsilon = self.epsilon
        if self.counts_privately:  # an eighth is exact; what is left is rounded down, so the two never exceed the whole
            epsilon = math.nextafter(epsilon - epsilon * COUNT_SHARE, 0.0)
        task = Task(
            grid=grid,
            observers=observers,
            epsilon=epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            blur_cells=self.blur_deg / self.cell_deg,
            saliency=self.picture,
        )
        name = choose(task) if self.strategy == "auto" else self.strategy
        return STRATEGIES[name](task)  # type: ignore[call-arg]

    def release(
        self,
        corpus: Corpus,
        stimulus: str | None = None,
        *,
        noise: NoiseSource,
        ledger: Ledger | None = None,
        dataset: str = "",
        engine: Engine | None = None,
        tell: Tell = silent,
    ) -> Release:
        """Release the heatmap of one stimulus; its value is an `Estimate`.

        Under replace-one the public number of people is that of the whole corpus, whoever of them looked at the
        stimulus: a person without gaze on it adds nothing to the sum, but is still one of them. So hand in the whole
        study, not a selection that depends on who looked.

        If a ledger is given, it is charged before noise is drawn for the map, so that whatever fails afterwards
        wastes budget and never overspends it.

        Raises:
            InputError: If the corpus holds no gaze, or gaze on several stimuli or planes.
            BudgetExceeded: If the ledger does not allow it; nothing was released.
        """
        people = len(corpus.observers)
        corpus = corpus if stimulus is None else corpus.select(stimulus=stimulus)
        if len(corpus.stimuli) != 1:
            some = ", ".join(repr(name) for name in corpus.stimuli[:4]) or "none"
            raise InputError(
                f"a heatmap is of one stimulus; the corpus has {len(corpus.stimuli)}: {some}", hint="name one of them"
            )
        geometry = corpus.geometry
        public = self.observers if self.observers is not None else people
        if self.delta and self.delta * public >= 1 and not self.counts_privately:
            raise OptionError(
                f"delta {self.delta:g} is no smaller than one in {public:,} people: such a promise is empty",
                hint="choose delta well below one over the number of people",
            )
        observers = self._counted(people, noise) if self.counts_privately else public
        strategy = self.plan(geometry, observers)
        promise = self._promise_of(strategy)
        recipe = {**asdict(replace(self, picture=None)), "neighbours": str(self.neighbours)}
        recipe |= {"strategy": strategy.to_dict(), "picture": None if self.picture is None else self.picture.digest}
        provenance: dict[str, Any] = {"stimulus": corpus.stimuli[0], "observers": observers}
        release = Release(None, kept_promise(promise, noise), recipe, provenance)
        if ledger is not None:
            release = release.charged(ledger, dataset)
        summed = (engine or engine_at()).sum_over_observers(corpus, strategy.kernel(), tell)
        estimate: Estimate = strategy.decode(strategy.measure(summed.total, noise))
        return replace(release, value=estimate)

    def _counted(self, people: int, noise: NoiseSource) -> int:
        """Count the people with Laplace noise: one person more or less changes the count by one."""
        scale = laplace_scale(self.epsilon * COUNT_SHARE, 1)
        return max(1, people + int(laplace(noise, scale)[0]))

    def _promise_of(self, strategy: Strategy) -> Guarantee:
        # With the count, the parts of epsilon add up to the whole, which is then what is promised.
        return self.guarantee if self.counts_privately else strategy.guarantee
