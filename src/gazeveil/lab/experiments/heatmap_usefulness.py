# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful private heatmaps are over the number of participants, and whether their error bars hold what they say.

For each scene some of its viewers are drawn, the same for every method, and each method makes its map of them. The map
is compared with the one of all viewers, without noise, which contains the drawn ones. Three numbers say how good it is:
the correlation; the correlation after what needs no data, our prior and that of an earlier version, has been regressed
out of both; and the share of the three highest peaks that are found. Each is averaged over repeats and then over
scenes; the standard error is over scenes.

Where more participants are asked for than looked, participants are drawn with replacement and so is what they looked
at. That is stated with the numbers.

Each scene is released with the picture that was shown, with a wrong one (that of the scene half the gallery away) and
with none, by the same participants under the same noise. What follows from a release is compared with its own prior
alone. The correlation is with the map of everyone who looked, without noise; error bars and hot spots are about the
drawn participants, the wider error bars about everyone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from gazeveil import PrivateHeatmap
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import Task
from gazeveil.aggregate.strategy_parts import prior_of_task
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.display import BLUE, GREEN, GREY, ORANGE, canvas, legend_below, png
from gazeveil.errors import InternalError, OptionError, closest
from gazeveil.exact import Number, exact, probability
from gazeveil.files import write_all
from gazeveil.lab.experiments.heatmap_methods import METHODS, MORE_METHODS, Method, estimated, recipe_prior, truth
from gazeveil.lab.experiments.heatmap_scenes import Gallery, Scene
from gazeveil.lab.experiments.plots import usefulness_plot
from gazeveil.lab.utility.releases import correlation, hot_spot_hits
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

    With one prior this is `gazeveil.lab.utility.releases.residual_correlation`. With two, nobody gains from the better
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


# --- The results of `gazeveil.lab.experiments.heatmap_usefulness` in words, tables and files.


_DIGITS = 5


def note(found: Found) -> str:
    """Return what the numbers are of, in a sentence or two."""
    what = " ".join(part for part in (found.gallery, found.split) if part)
    draws = "1 draw" if found.plan.repeats == 1 else f"{found.plan.repeats} draws"
    told = f"{what}: {found.scenes} scenes, {draws} each, {found.viewers} viewers a scene, δ = {found.plan.delta:g}."
    if any(count > found.viewers for count in found.plan.observers):
        told += " * Participants resampled with replacement, and their fixations too."
    return f"{told} Assumed: {found.assumed}." if found.assumed else told


def usefulness_markdown(found: Found, epsilon: float | None = None) -> str:
    """Return a table: correlation ± its standard error, correlation without the prior, hot spots found."""
    plan, epsilon = found.plan, found.plan.epsilons[0] if epsilon is None else epsilon
    told = [f"n = {count}{'*' if count > found.viewers else ''}" for count in plan.observers]
    lines = [f"| ε = {epsilon:g} | {' | '.join(told)} |", f"|---|{'---|' * len(told)}"]
    for name, method in plan.chosen().items():
        cells = [_cell(found.row(name, count, epsilon)) for count in plan.observers]
        oracle = ", grid and cap by an oracle" if method.oracle else ""
        lines.append(f"| {method.title}{oracle} | {' | '.join(cells)} |")
    if {"ours", "recipe"} <= set(plan.chosen()):
        gains = (found.gain("ours", "recipe", count, epsilon) for count in plan.observers)
        cells = [" / ".join(f"{score.mean:+.3f} ± {short(score.error, 3)}" for score in gain[:2]) for gain in gains]
        lines.append(f"| gain of ours over an earlier version, scene by scene |  {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def to_json(found: Found) -> str:
    """Return the numbers as JSON, one row a line, rounded to what they are good for."""
    values = plain_values(found.to_dict())
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in values.pop("rows"))
    head = json.dumps(values, ensure_ascii=False, indent=1)
    return f'{head[:-2]},\n "rows": [\n  {rows}\n ]\n}}\n'


def write_usefulness(found: Found, out: Path) -> list[str]:
    """Write the numbers and a picture of them into a folder; return the names of the files."""
    stem = "-".join(part for part in ("heatmap", found.gallery, found.split) if part)
    tables = "\n".join(usefulness_markdown(found, epsilon) for epsilon in found.plan.epsilons)
    files = {
        f"{stem}.json": to_json(found).encode(),
        f"{stem}.md": f"{note(found)}\n\n{tables}".encode(),
        f"{stem}.png": usefulness_plot(found),
    }
    return write_all(out, files)


def score_in_words(score: Score) -> str:
    """Return a mean and its standard error in two digits."""
    return short(score.mean) if math.isnan(score.error) else f"{short(score.mean)} ± {short(score.error)}"


def short(value: float, digits: int = 2) -> str:
    """Return a number without the zero before its point."""
    if math.isnan(value):
        return "–"
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("0.", ".", 1)


def _cell(row: Row) -> str:
    return f"{score_in_words(row.cc)} / {short(row.residual.mean)} / {short(row.hits.mean)}"


def plain_values(value: Any) -> Any:
    """Return plain, rounded values without NaN, which JSON does not know."""
    if isinstance(value, dict):
        return {key: plain_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.{_DIGITS}g}")
    return value


# --- What a private heatmap adds to its prior, and whether its error bars and hot spots hold what they say.


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


# --- The results of `gazeveil.lab.experiments.heatmap_usefulness` in tables, files and a picture.


TITLES: Final[Mapping[str, str]] = {
    "prior": "prior alone, CC",
    "release": "release, CC",
    "gain": "release − prior",
    "over_none": "release − release without picture",
    "own": "CC without the prior",
    "covered": "in 95 % intervals, these participants",
    "population_covered": "in 95 % intervals, all participants",
    "false": "false hot spots",
    "flags": "hot spots of a map",
    "below": "releases below the prior",
}
"""The measures of a table, in its order."""
PICTURES: Final[Mapping[str, str]] = {"right": "right picture", "wrong": "wrong picture", "none": "no picture"}
_LOOKS: Final = {"right": BLUE, "wrong": ORANGE, "none": GREEN}


def trust_markdown(found: Iterable[Line]) -> str:
    """Return a table for each kind of picture: a row a measure, a column a number of participants."""
    groups: dict[str, list[Line]] = {}
    for line in found:
        groups.setdefault(line.picture, []).append(line)
    parts = []
    for kind, own in groups.items():
        counts = " | ".join(f"n = {line.participants}" for line in own)
        parts += [f"| {PICTURES[kind]}, {own[0].scenes} scenes | {counts} |", f"|---|{'---|' * len(own)}"]
        for name, title in TITLES.items():
            cells = [cell(getattr(line, name), name) for line in own]
            if set(cells) != {"–"} and not (name == "over_none" and kind == "none"):
                parts.append(f"| {title} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)


def category_table(found: Mapping[str, Sequence[Line]]) -> str:
    """Return a table of the releases with the right picture: a row a category and number of participants."""
    names = ("prior", "release", "gain", "over_none")
    parts = [f"| category | scenes | n | {' | '.join(TITLES[name] for name in names)} |", f"|---|{'---|' * 6}"]
    for category, own in found.items():
        parts += [
            f"| {category} | {line.scenes} | {line.participants} | "
            + " | ".join(cell(getattr(line, name), name) for name in names)
            + " |"
            for line in own
            if line.picture == "right"
        ]
    return "\n".join(parts) + "\n"


def cell(value: Score | float, name: str = "") -> str:
    """Return a measure with its 95 % bound."""
    if not isinstance(value, Score):
        return f"{value:.1f}" if name == "flags" else short(value)
    if math.isnan(value.mean):
        return "–"
    signed = "+" if name in {"gain", "over_none"} and value.mean >= 0 else ""
    bound = "" if math.isnan(value.error) else f" ± {short(NORMAL * value.error, 3)}"
    return f"{signed}{short(value.mean, 3)}{bound}"


def to_dict(tried: Sequence[Trial], about: Mapping[str, Any], categories: Mapping[str, str]) -> dict[str, Any]:
    """Return everything as plain values: what it is of, the lines and each single release."""
    found: dict[str, Any] = {**about, "lines": plain_values([asdict(line) for line in lines(tried)])}
    if categories:
        found["categories"] = {
            name: plain_values([asdict(line) for line in own]) for name, own in by_category(tried, categories).items()
        }
    return {**found, "trials": plain_values(plain(tried))}


def write_trust(
    tried: Sequence[Trial], about: Mapping[str, Any], categories: Mapping[str, str], out: Path
) -> list[str]:
    """Write numbers, tables and a picture of them into a folder; return the names of the files."""
    stem = "-".join(str(part) for part in ("trust", about["data"], about["split"]) if part)
    tables = trust_markdown(lines(tried))
    if categories:
        tables += "\n" + category_table(by_category(tried, categories))
    files = {
        f"{stem}.json": (json.dumps(to_dict(tried, about, categories), ensure_ascii=False, indent=1) + "\n").encode(),
        f"{stem}.md": tables.encode(),
        f"{stem}.png": trust_plot(lines(tried)),
    }
    return write_all(out, files)


def trust_plot(found: Sequence[Line]) -> bytes:
    """Draw release and prior, the data's own part and the coverage over the number of participants."""
    figure, axes = canvas(12, 4.4, columns=3, sharex=True)
    titles = ("correlation with the map of all", "… after the prior is regressed out", "cells in their 95 % intervals")
    counts = sorted({line.participants for line in found})
    for panel, title, name in zip(axes, titles, ("release", "own", "covered"), strict=True):
        panel.set_xscale("log")
        panel.set_xlim(counts[0] / 1.2, counts[-1] * 1.2)
        for kind in dict.fromkeys(line.picture for line in found):
            own = [line for line in found if line.picture == kind]
            at = [line.participants for line in own]
            scores = [getattr(line, name) for line in own]
            bounds = [0.0 if math.isnan(score.error) else NORMAL * score.error for score in scores]
            panel.errorbar(
                *(at, [score.mean for score in scores], bounds),
                color=_LOOKS[kind],
                marker="o",
                markersize=3,
                label=PICTURES[kind],
            )
            if name == "release":
                panel.plot(at, [line.prior.mean for line in own], color=_LOOKS[kind], linestyle=":")
        if name == "covered":
            panel.axhline(0.95, color=GREY, linestyle="--", linewidth=1)
        panel.set_xticks(counts, [str(count) for count in counts])
        panel.minorticks_off()
        panel.set_xlabel("participants")
        panel.set_title(title)
        panel.grid(alpha=0.3)
    legend_below(figure, axes[0])
    figure.suptitle("private heatmaps and their priors alone (dotted)")
    return png(figure)
