# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a private heatmap adds to its prior, and whether its error bars and hot spots hold what they say.

Each scene is released with the picture that was shown, with a wrong one (that of the scene half the gallery away) and
with none, by the same participants under the same noise. What follows from a release is compared with its own prior
alone. The correlation is with the map of everyone who looked, without noise; error bars and hot spots are about the
drawn participants, the wider error bars about everyone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import Task
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import InternalError, OptionError
from gazeveil.exact import Number, exact
from gazeveil.lab.experiments.usefulness._heatmap_methods import estimated, truth
from gazeveil.lab.experiments.usefulness._heatmap_scenes import Gallery, Scene
from gazeveil.lab.experiments.usefulness.heatmaps import Score, beyond
from gazeveil.lab.utility.maps import correlation
from gazeveil.noise import NoiseSource
from gazeveil.privacy.protection import Neighbours

KINDS: Final = ("right", "wrong", "none")
"""Which picture the release may look at."""
NORMAL: Final = 1.96
"""This many standard errors or deviations reach to both sides of a 95 % interval."""
HOT: Final = 4.0
"""A hot spot has more than this many times the gaze of an even map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One release of one scene.

    Attributes:
        scene: Its name.
        picture: `right`, `wrong` or `none`.
        participants: How many were drawn.
        prior: Correlation of the prior alone with each participant's map.
        release: The same of what was released.
        own: The same after the release's own prior has been regressed out of both.
        same_prior: Correlation of the prior alone with the noise-free map of the drawn participants: what forecasts are
            of.
        same_release: The same of what was released.
        covered: Share of the cells whose 95 % interval holds the noise-free map of the drawn participants.
        population_covered: Share of the cells whose wider interval holds each participant's map.
        flags: How many cells were called hot spots.
        false_flags: How many of them are none in the noise-free map of the drawn participants.
    """

    scene: str
    picture: str
    participants: int
    prior: float
    release: float
    own: float
    same_prior: float
    same_release: float
    covered: float
    population_covered: float
    flags: int
    false_flags: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What came out for one number of participants and one kind of picture, over all scenes; as `Trial`, with errors.

    Attributes:
        picture: `right`, `wrong` or `none`.
        participants: How many were drawn.
        scenes: How many scenes.
        prior: Correlation of the prior alone.
        release: That of the release.
        gain: By how much the release exceeds its prior, scene by scene.
        over_none: By how much it exceeds the release without a picture, scene by scene; NaN where that is missing.
        own: Correlation without the prior.
        covered: Cells of the drawn participants' map within their intervals.
        population_covered: Cells of each participant's map within the wider ones.
        false: Share of all flags that are false.
        flags: Flags of one release.
        below: Share of the releases that are worse than their prior.
    """

    picture: str
    participants: int
    scenes: int
    prior: Score
    release: Score
    gain: Score
    over_none: Score
    own: Score
    covered: Score
    population_covered: Score
    false: Score
    flags: float
    below: float


def trials(
    gallery: Gallery,
    pictures: Mapping[str, Saliency],
    *,
    participants: Sequence[int],
    epsilon: Number = 1,
    delta: Number = Fraction(1, 100_000),
    kinds: Sequence[str] = (),
    seed: int = 0,
    tell: Tell = silent,
) -> list[Trial]:
    """Release every scene of a gallery, with the right picture, a wrong one and none, for this many participants each.

    Args:
        gallery: The scenes and who looked at them.
        pictures: What the scenes' pictures say, by the scenes' names; empty for no pictures at all.
        participants: Numbers of participants to draw.
        epsilon: The ε of each release.
        delta: The δ of each release.
        kinds: Which pictures to show; by default all there are.
        seed: Everything follows from it.
        tell: Hears how far the work is.

    Raises:
        OptionError: If a scene has no picture, or nobody knows the kind of picture.
    """
    kinds = tuple(kinds) or (KINDS if pictures else ("none",))
    if unknown := set(kinds) - set(KINDS):
        raise OptionError(f"pictures are {', '.join(KINDS)}, not {sorted(unknown)[0]!r}")
    names = [scene.name for scene in gallery.scenes]
    if set(kinds) != {"none"} and (missing := [name for name in names if name not in pictures]):
        raise OptionError(
            f"{len(missing)} of {len(names)} scenes have no picture, the first is {missing[0]!r}",
            hint="pictures are found by the scene's name",
        )
    mechanism = PrivateHeatmap(epsilon=epsilon, delta=delta)
    found = []
    for done, count in enumerate(participants):
        task = mechanism.task_for(gallery.geometry, count, Neighbours.REPLACE_ONE, exact(delta))
        for place, scene in enumerate(gallery.scenes):
            other = names[(place + len(names) // 2) % len(names)]
            shown = {"right": pictures.get(scene.name), "wrong": pictures.get(other), "none": None}
            for kind in kinds:
                # begun anew, so that pictures differ in what they make of the same noise
                noise = NoiseSource.seeded(seed).spawn(f"{scene.name}/{count}/{exact(epsilon)}/{exact(delta)}")
                found.append(_trial(scene, kind, replace(task, saliency=shown[kind]), noise, seed))
            tell(done * len(names) + place + 1, len(participants) * len(names))
    return found


def _trial(scene: Scene, kind: str, task: Task, noise: NoiseSource, seed: int) -> Trial:
    people = scene.drawn(task.observers, seed, 0)
    everybody, same = truth([viewer.rows() for viewer in scene.viewers], task), truth(people, task)
    made = estimated(people, task, noise)
    if made.error_sd is None or made.population_sd is None or made.hot_spots is None:
        raise InternalError("a heatmap came without error bars")
    false = made.hot_spots & ~(same > HOT / same.size)
    return Trial(
        scene=scene.name,
        picture=kind,
        participants=task.observers,
        prior=correlation(made.prior, everybody),
        release=correlation(made.map, everybody),
        own=beyond(made.map, everybody, [made.prior]),
        same_prior=correlation(made.prior, same),
        same_release=correlation(made.map, same),
        covered=_within(same, made.map, made.error_sd),
        population_covered=_within(everybody, made.map, made.population_sd),
        flags=int(made.hot_spots.sum()),
        false_flags=int(false.sum()),
    )


def _within(wanted: FloatArray, found: FloatArray, spread: FloatArray) -> float:
    """Return the share of cells within 1.96 standard deviations."""
    return float(np.mean(np.abs(wanted - found) <= NORMAL * spread))


def lines(tried: Iterable[Trial]) -> list[Line]:
    """Return what came out, a line for each number of participants and kind of picture."""
    groups: dict[tuple[int, str], list[Trial]] = {}
    for trial in tried:
        groups.setdefault((trial.participants, trial.picture), []).append(trial)
    found = []
    for (count, kind), own in groups.items():
        without = {trial.scene: trial.release for trial in groups.get((count, "none"), [])}
        found.append(
            Line(
                picture=kind,
                participants=count,
                scenes=len(own),
                prior=Score.of(trial.prior for trial in own),
                release=Score.of(trial.release for trial in own),
                gain=Score.of(trial.release - trial.prior for trial in own),
                over_none=Score.of(trial.release - without.get(trial.scene, math.nan) for trial in own),
                own=Score.of(trial.own for trial in own),
                covered=Score.of(trial.covered for trial in own),
                population_covered=Score.of(trial.population_covered for trial in own),
                false=_ratio([trial.false_flags for trial in own], [trial.flags for trial in own]),
                flags=float(np.mean([trial.flags for trial in own])),
                below=float(np.mean([trial.release < trial.prior for trial in own])),
            )
        )
    return found


def by_category(tried: Iterable[Trial], categories: Mapping[str, str]) -> dict[str, list[Line]]:
    """Return what came out for the scenes of each category."""
    groups: dict[str, list[Trial]] = {}
    for trial in tried:
        groups.setdefault(categories[trial.scene], []).append(trial)
    return {name: lines(groups[name]) for name in sorted(groups)}


def _ratio(parts: Sequence[int], wholes: Sequence[int]) -> Score:
    """Return the share that parts have of wholes, all scenes together, and its standard error over scenes."""
    some, all_ = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    if not all_.sum():
        return Score(math.nan, math.nan)
    share = float(some.sum() / all_.sum())
    if len(some) < 2:
        return Score(share, math.nan)
    off = (some - share * all_) / all_.mean()
    return Score(share, float(off.std(ddof=1)) / math.sqrt(len(off)))


def trials_from(values: Iterable[Mapping[str, Any]]) -> list[Trial]:
    """Return trials from plain values, as `asdict` gave them."""
    return [Trial(**value) for value in values]


def plain(tried: Iterable[Trial]) -> list[dict[str, Any]]:
    """Return trials as plain values."""
    return [asdict(trial) for trial in tried]
