# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks on released data sets, measured: membership in two worlds, and reconstruction of each participant.

Simulated participants look at a scene, or read. In one world the target is among them; in the other, someone else has
the target's place and name. The target is a ``typical`` participant of the simulator, or an ``extreme`` one, who stares
at a corner where nobody else looks: such a participant has most to lose.

Everything is released by `Plan.release`. Where a product has no form without noise, "without noise" is an ε of a
million: the noise is still there, and too small to be seen.

The attacker makes releases of its own: some with the same noise in both worlds, to see what the target changes, and a
quarter as many as are judged, without the target, to see how releases scatter. The judged ones have other noise.
``proven`` is the ε that the judged releases prove, which is too large in at most 5 % of all studies.

Liu et al. 2019, table 1, lists what an adversary can have in the worst case: an individual's heatmap from static and
from dynamic heatmaps, and the order of visits from an analysis of areas. Each is tried on a release without noise and
on ours, through `Plan.release`. Beside it stands what the attacker would guess without the release: the mean of the
others, whom it knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from gazeveil import AoiStatistics, ParticipantRelease, Participants, PrivateHeatmap, Stimulus, Study
from gazeveil.aggregate.aoi.statistics import VisitOrder
from gazeveil.aggregate.grid import render
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.movie import HeatmapMovie
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import OptionError, closest
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.mechanisms.fpa import FourierPerturbation
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import panel_of
from gazeveil.features.settings import Settings
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.as_published.liu_maps import UnprotectedLiuMap
from gazeveil.lab.attacks.matching import interval, resampled_people, roc
from gazeveil.lab.attacks.release_attacks import (
    Suspicion,
    all_cells_right,
    left_over,
    left_over_of_selection,
    likeliest_right,
    most_found,
    proven_epsilon,
)
from gazeveil.lab.bench.experiment import Experiment, Options, Row, Where
from gazeveil.lab.bench.plots import curves, points
from gazeveil.lab.experiments.heatmap_scenes import PLANE
from gazeveil.lab.utility.releases import correlation
from gazeveil.lab.utility.scanpaths import mean_of_finite
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.release.feature_settings import observed_facts
from gazeveil.release.plan import Data, Plan
from gazeveil.simulate import TRACKERS, SimulatedStudy
from gazeveil.simulate.readers import DOCUMENTS, ReadingStudy

QUIET: Final = 10**6
"""The ε that stands for no noise."""
TARGETS: Final = ("typical", "extreme")
COLUMNS, ROWS = 16, 12
RATE_HZ, SECONDS = 60.0, 4.0
CAP: Final = 60
"""The most samples of one participant that count in a cell: a second."""
SAMPLES: Final = 1 + round(RATE_HZ * SECONDS)
"""The most samples of one participant that count at all: as many as there are."""
TWINS: Final = 8
"""How many pairs of releases with the same noise the attacker makes."""
READING_S: Final = 60.0
FEATURES: Final = ("saccades_per_s", "amplitude_mean", "fixation_duration_mean")
_PUBLIC_SEED = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The same study with the target, and with someone else in that place.

    Attributes:
        study: What is declared; the same for both.
        inside: The data with the target.
        outside: The data with another participant under the target's name.
    """

    study: Study
    inside: Data
    outside: Data


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Something that is released in two worlds.

    Attributes:
        name: By which it is found.
        words: What it is, for tables.
        guarantee: What its release guarantees.
        inside: The data with the target.
        outside: The data with another participant instead.
        released: Releases data once, with some noise, and returns the numbers.
    """

    name: str
    words: str
    guarantee: Guarantee
    inside: Any
    outside: Any
    released: Callable[[Any, NoiseSource], FloatArray]


def numbers_of(value: Any) -> FloatArray:
    """Return a released value as one row of numbers: a map, dynamic maps, or a table of orders."""
    if hasattr(value, "map"):
        return np.asarray(value.map, dtype=np.float64).ravel()
    if hasattr(value, "frames"):
        return np.asarray(value.frames.maps, dtype=np.float64).ravel()
    return np.asarray(value["unclipped"].to_numpy(), dtype=np.float64)


def planned(
    name: str, words: str, plan: Plan, world: World, numbers: Callable[[Any], FloatArray] = numbers_of
) -> Product:
    """Return what a plan releases of a world, by the path of every release, as numbers."""

    def released(data: Data, noise: NoiseSource) -> FloatArray:
        return numbers(plan.release(data, noise=noise, anyway=True).value)

    return Product(name, words, plan.guarantee, world.inside, world.outside, released)


def change_by_target(product: Product, noise: NoiseSource) -> FloatArray:
    """Return what the target changes in a release: the mean over releases with the same noise in both worlds.

    Nobody but the attacker makes these releases. The noise is the same, so what differs is the target.
    """
    key = noise.bytes(32)
    twins = [NoiseSource.keyed(key, str(number)) for number in range(TWINS) for _ in range(2)]
    inside = [product.released(product.inside, twin) for twin in twins[::2]]
    outside = [product.released(product.outside, twin) for twin in twins[1::2]]
    return np.asarray(np.mean(inside, axis=0) - np.mean(outside, axis=0))


def viewers(people: int, seed: int = 1) -> list[Recording]:
    """Return simulated participants before one scene."""
    tracker = replace(TRACKERS["remote"], name="remote-60", rate_hz=RATE_HZ, geometry=PLANE)
    return list(SimulatedStudy(people, 1, 1, 1, tracker, SECONDS, seed).recordings())


def declared(recordings: Sequence[Recording]) -> Study:
    """Declare the study of some viewers of one stimulus."""
    seconds = max(SECONDS, *(math.ceil(one.duration) for one in recordings))
    return Study(
        name="attacked",
        participants=Participants(roster=tuple(one.observer for one in recordings)),
        stimuli=(Stimulus(name=recordings[0].stimulus, screen=recordings[0].geometry, seconds=seconds),),
    )


def viewing(people: int, target: str = "typical", seed: int = 1) -> World:
    """Return participants before a scene, with the target and without.

    Raises:
        OptionError: If there is no such target.
    """
    return world_of(viewers(people + 1, seed), target)


def world_of(recordings: Sequence[Recording], target: str = "typical") -> World:
    """Return viewers of one stimulus; the first is the target, in whose place the last stands in the other world.

    Raises:
        OptionError: If there is no such target.
    """
    if target not in TARGETS:
        raise OptionError(f"no target is called {target!r}", hint=closest(target, TARGETS))
    *these, another = recordings
    if target == "extreme":
        usual, (left, top, *_) = these[0], these[0].geometry.extent()
        x, y = (np.full(len(usual), side + 5.0) for side in (left, top))
        these[0] = Recording(usual.t, x, y, usual.geometry, **usual.key._asdict(), rate_hz=usual.rate_hz)
    stand_in = replace(another, observer=these[0].observer)
    return World(declared(these), Corpus.of(these), Corpus.of([stand_in, *these[1:]]))


def reading(people: int, seed: int = 1) -> World:
    """Return readers as tables of features, with the target and without."""
    *these, another = ReadingStudy(people + 1, READING_S, documents=DOCUMENTS[:1], seed=seed).recordings()
    stand_in = replace(another, observer=these[0].observer)
    inside, outside = (extract_corpus(Corpus.of(who)).table for who in (these, [stand_in, *these[1:]]))
    return World(observed_facts(inside), inside, outside)


def products(
    people: int, epsilon: float, target: str = "typical", seed: int = 1, names: tuple[str, ...] = ()
) -> list[Product]:
    """Return all products, or those of some names, at an ε.

    Raises:
        OptionError: If a name is unknown.
    """
    if unknown := [name for name in names if name not in NAMES]:
        raise OptionError(f"no product is called {unknown[0]!r}", hint=closest(unknown[0], NAMES))
    found: list[Product] = []
    if not names or set(names) & set(_SEEN):
        found += maps(viewing(people, target, seed), people, epsilon)
    if not names or set(names) & set(_READ):
        found += series(reading(people, seed), epsilon, seed)
    return [product for product in found if not names or product.name in names]


_MAPS = ("map-without-noise", "map-of-a-random-half", "map-with-noise", "heatmap")
_SEEN = (*_MAPS, "area-orders-without-noise", "area-orders")
_READ = ("own-series-without-noise", "own-series", "group-series-without-noise", "group-series")
NAMES: Final = (*_SEEN, *_READ)


def maps(world: World, people: int, epsilon: float) -> list[Product]:
    """Return what is released of participants before a scene."""
    plan, scene = world.study.plan, world.study.stimuli[0].name
    free, half = plan(free_map()), plan(free_map(selected=max(1, people // 2)))
    orders, quiet_orders = (plan(area_orders(scene, each)) for each in (epsilon, QUIET))
    return [
        planned("map-without-noise", "gaze map without noise", free, world),
        planned("map-of-a-random-half", "gaze map of a random half", half, world),
        planned("map-with-noise", "gaze map, Gaussian noise", plan(noisy_map(epsilon)), world),
        planned("heatmap", "heatmap", plan(PrivateHeatmap(epsilon=epsilon)), world),
        planned("area-orders-without-noise", "orders of areas without noise", quiet_orders, world),
        planned("area-orders", "orders of areas", orders, world),
    ]


def free_map(selected: int | None = None) -> UnprotectedLiuMap:
    """Return the map without noise, of everyone or of a random selection."""
    return UnprotectedLiuMap(columns=COLUMNS, rows=ROWS, cap=CAP, selected=selected)


def noisy_map(epsilon: float) -> LiuMap:
    """Return the map with Gaussian noise."""
    return LiuMap(columns=COLUMNS, rows=ROWS, cap=CAP, epsilon=epsilon, samples=SAMPLES)


def area_orders(scene: str, epsilon: float) -> AoiStatistics:
    """Return which area is visited after which, on a screen cut into four."""
    return AoiStatistics({scene: quarters()}, VisitOrder(2, 4), epsilon=epsilon)


def series(world: World, epsilon: float, seed: int) -> list[Product]:
    """Return what is released of readers; the target's own series, and the mean of all."""
    table: Any = world.inside
    settings = Settings.of(table.info)
    ranges = settings.ranges(FEATURES)
    steps = int(table.rows.group_by("observer").len()["len"].max())
    design = _design(ranges, steps, seed)

    def own(each: float) -> Plan:
        mechanism = FourierPerturbation(epsilon=each, steps=steps, features=len(ranges))
        return world.study.plan(ParticipantRelease(mechanism=mechanism), ranges=ranges, settings=settings)

    def group(each: float) -> Plan:
        return world.study.plan(GroupSeries(epsilon=each, design=design), settings=settings)

    target = world.study.participants.roster[0] if world.study.participants.roster else ""

    def of_target(value: Any) -> FloatArray:
        rows = value.rows.filter(value.rows["observer"] == target)
        return np.asarray(np.nan_to_num(rows.select(FEATURES).to_numpy().astype(np.float64)).ravel())

    def of_group(value: Any) -> FloatArray:
        return np.asarray(value.mean).ravel()

    return [
        planned("own-series-without-noise", "own feature series without noise", own(QUIET), world, of_target),
        planned("own-series", "own feature series", own(epsilon), world, of_target),
        planned("group-series-without-noise", "mean series without noise", group(QUIET), world, of_group),
        planned("group-series", "mean series", group(epsilon), world, of_group),
    ]


def quarters() -> AreasOfInterest:
    """Return the screen cut into four areas."""
    left, top, right, bottom = PLANE.extent()
    x, y = (left, (left + right) / 2, right), (top, (top + bottom) / 2, bottom)
    places = (("upper left", 0, 0), ("upper right", 1, 0), ("lower left", 0, 1), ("lower right", 1, 1))
    return AreasOfInterest(
        tuple(Rectangle(name, x[across], y[down], x[across + 1], y[down + 1]) for name, across, down in places), PLANE
    )


def _design(ranges: Ranges, steps: int, seed: int) -> Any:
    """Learn from other readers of other documents, who are public."""
    others = ReadingStudy(6, READING_S, documents=DOCUMENTS[1:2], seed=seed + _PUBLIC_SEED).recordings()
    table = extract_corpus(Corpus.of(others)).table
    return learn([panel_of(table, ranges, steps).values], ranges, "simulated readers of another document")


# --- Membership, measured: how often the target is found in a release, beside what the guarantee allows at most.


FEWEST = 8
MEMBERSHIP_DRAWS = 300
NO_PRIVACY = 1000.0
"""From this ε on nothing is guaranteed that is worth the name."""
FOUND, FALSELY = "targets found", "accused falsely"
_POINTS = 200
"""How many points of a ROC curve are kept."""


@dataclass(frozen=True, slots=True)
class FoundMembership:
    """How well the target is found in releases of one product.

    Attributes:
        product: Its name.
        words: What it is.
        guarantee: What is guaranteed, in words.
        epsilon: The ε of the guarantee; None if nothing is guaranteed.
        delta: Its δ.
        releases: How many were judged with the target, and as many without.
        auc: How often a release with the target looks more like it than one without; guessing gives 0.5.
        auc_interval: Where that lies, over releases resampled.
        advantage: The largest difference of true and false accusations.
        allowed: The largest that the guarantee allows; 1 if nothing is guaranteed.
        at_no_false: Share of targets found before anyone is accused falsely.
        proven: An ε that the releases prove at the claimed δ; the fewer releases, the less they can prove.
        roc_false: Shares of false accusations.
        roc_found: Shares of targets found.
    """

    product: str
    words: str
    guarantee: str
    epsilon: float | None
    delta: float
    releases: int
    auc: float
    auc_interval: tuple[float, float]
    advantage: float
    allowed: float
    at_no_false: float
    proven: float
    roc_false: tuple[float, ...]
    roc_found: tuple[float, ...]

    @property
    def within(self) -> bool:
        """Whether the releases are in keeping with the guarantee; always, where nothing is guaranteed."""
        return self.epsilon is None or self.proven <= self.epsilon

    def rows(self) -> list[Row]:
        """Return what was found as rows; what the guarantee allows only where there is one."""
        rows = [
            Row("AUC", self.auc, *self.auc_interval, self.releases, 0.5),
            Row("advantage", self.advantage, n=self.releases, chance=0.0),
            Row("found, none accused falsely", self.at_no_false, n=self.releases, chance=0.0),
            Row("proven epsilon", self.proven, n=self.releases, chance=0.0),
        ]
        if self.epsilon is not None:
            rows.append(Row("advantage allowed by the guarantee", self.allowed, n=self.releases, chance=0.0))
        return [row for row in rows if not math.isnan(row.value)]

    def curve(self) -> list[Row]:
        """Return the ROC curve as rows; ideal is the most that any attacker finds under the guarantee."""
        false = np.array(self.roc_false)
        most = np.full(len(false), np.nan) if self.epsilon is None else most_found(self.epsilon, self.delta, false)
        points = zip(self.roc_false, self.roc_found, most.tolist(), strict=True)
        return [Row(FOUND, found, ideal=ideal, where={FALSELY: x}) for x, found, ideal in points]


def attack(product: Product, releases: int = 400, seed: int = 1, tell: Tell = silent) -> FoundMembership:
    """Attack many releases of a product.

    Args:
        product: What is released.
        releases: How many are judged in each world.
        seed: All noise follows from it.
        tell: Called with how many releases are made.

    Raises:
        OptionError: If there are too few releases to say anything.
    """
    if releases < FEWEST:
        raise OptionError(f"at least {FEWEST} releases are needed, not {releases}")
    shadows = max(FEWEST, releases // 4)
    total = shadows + 2 * releases

    def many(data: Any, count: int, whose: str, before: int) -> FloatArray:
        found = []
        for number in range(count):
            tell(before + number, total)
            found.append(product.released(data, NoiseSource.seeded(seed).spawn(f"{product.name}/{whose}/{number}")))
        return np.array(found)

    change = change_by_target(product, NoiseSource.seeded(seed).spawn(f"{product.name}/twins"))
    suspicion = Suspicion.learn(change, many(product.outside, shadows, "attacker", 0))
    inside = suspicion.scores(many(product.inside, releases, "inside", shadows))
    outside = suspicion.scores(many(product.outside, releases, "outside", shadows + releases))
    curve = roc(inside, outside)
    epsilon, delta = claimed(product.guarantee)
    allowed = 1.0 if epsilon is None else (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)
    kept = np.unique(np.linspace(0, len(curve.strangers) - 1, _POINTS).round().astype(np.int64))
    return FoundMembership(
        product=product.name,
        words=product.words,
        guarantee=str(product.guarantee),
        epsilon=epsilon,
        delta=delta,
        releases=releases,
        auc=curve.area,
        auc_interval=interval(_areas(inside, outside, seed)),
        advantage=float((curve.owners - curve.strangers).max()),
        allowed=min(allowed, 1.0),
        at_no_false=float(curve.owners[curve.strangers == 0].max()),
        proven=proven_epsilon(inside, outside, delta),
        roc_false=tuple(curve.strangers[kept].tolist()),
        roc_found=tuple(curve.owners[kept].tolist()),
    )


@lru_cache(maxsize=1)
def _products(people: int, epsilon: float, target: str, seed: int, names: tuple[str, ...]) -> dict[str, Product]:
    return {product.words: product for product in products(people, epsilon, target, seed, names)}


def _products_of(options: Options) -> dict[str, Product]:
    return _products(*(options[name] for name in ("people", "epsilon", "target", "seed", "products")))


def _membership(options: Options, where: Where) -> list[Row]:
    found = attack(_products_of(options)[where["release"]], options["releases"], options["seed"])
    return [replace(row, where={**where, **row.where}, note=found.guarantee) for row in (*found.rows(), *found.curve())]


MEMBERSHIP: Final = Experiment(
    "membership",
    "whether a simulated participant is in a release, by an attacker who knows all others; advantage: true less false "
    "accusations, at best",
    lambda options: [{"release": words} for words in _products_of(options)],
    _membership,
    lambda rows: curves([row for row in rows if row.what == FOUND], x=FALSELY, by="release"),
    shown=(
        *("AUC", "advantage", "advantage allowed by the guarantee", "found, none accused falsely", "proven epsilon"),
    ),
)


def claimed(guarantee: Guarantee) -> tuple[float | None, float]:
    """Return ε and δ of a guarantee; None and 0 where nothing worth the name is guaranteed."""
    if isinstance(guarantee, PureDP | ApproxDP) and float(guarantee.epsilon) < NO_PRIVACY:
        return float(guarantee.epsilon), float(getattr(guarantee, "delta", 0))
    return None, 0.0


def _areas(inside: FloatArray, outside: FloatArray, seed: int) -> FloatArray:
    weights = [
        resampled_people(len(scores), MEMBERSHIP_DRAWS, seed + side) for side, scores in enumerate((inside, outside))
    ]
    return np.array([roc(inside, outside, one, other).area for one, other in zip(*weights, strict=True)])


# --- Reconstruction, measured: every participant in turn is the one whom the attacker does not know.


BIN_S = 1.0
BLUR_DEG = 1.1
RECONSTRUCTION_DRAWS = 1000
IN_DEGREES = UnprotectedLiuMap(columns=32, rows=24)
"""Cells of a degree on the screen of 32 x 24 degrees, as heatmaps have them."""

Guess = Callable[[FloatArray, FloatArray], "FloatArray | None"]
"""What makes a guess of a release and of the others' own numbers."""


EXACTLY: Final = "got back exactly"
"""Share of participants whose numbers are all got back exactly, where numbers are whole."""

Job = tuple[str, str, Callable[[], "list[Row]"]]
"""What is released, how, and what attacks it."""


@lru_cache(maxsize=1)
def reconstructions(
    people: int = 10, epsilon: float = 1.0, repeats: int = 10, seed: int = 1, movies: bool = True
) -> tuple[Job, ...]:
    """Return attacks on maps, orders of areas and dynamic maps, without noise and with it.

    Args:
        people: How many participants.
        epsilon: The ε of what is released with noise.
        repeats: How many releases with noise; of dynamic maps, which take seconds each, a fifth.
        seed: Everything follows from it.
        movies: Whether dynamic maps are attacked, too.

    Raises:
        OptionError: If there are fewer than three participants, or no repeat.
    """
    if people < 3 or repeats < 1:
        raise OptionError(f"three participants and one repeat are needed, not {people} and {repeats}")
    recordings = viewers(people, seed)
    return (
        *_maps(recordings, epsilon, repeats, seed),
        *_orders(recordings, epsilon, repeats, seed),
        *(_movies(recordings, epsilon, max(1, repeats // 5), seed) if movies else ()),
    )


def _reconstruct(options: Options, where: Where) -> list[Row]:
    found = {(data, release): attack for data, release, attack in reconstructions(**options)}
    return found[where["data"], where["release"]]()


RECONSTRUCTION: Final = Experiment(
    "reconstruction",
    "one simulated participant, all others known; guessing is the mean of the others, without the release",
    lambda options: [{"data": data, "release": release} for data, release, _ in reconstructions(**options)],
    _reconstruct,
    lambda rows: points([row for row in rows if row.what != EXACTLY], x=("data", "release")),
)


def _maps(recordings: list[Recording], epsilon: float, repeats: int, seed: int) -> list[Job]:
    people = len(recordings)
    selected = max(1, people // 2)
    free, half, noisy = free_map(), free_map(selected), noisy_map(epsilon)
    heatmap = PrivateHeatmap(epsilon=epsilon, blur_deg=BLUR_DEG)
    counts = own_numbers(recordings, lambda one: released_of(one, free))
    smooth = own_numbers(recordings, lambda one: as_heatmap(released_of(one, IN_DEGREES)))
    of_all = subtracted(people)

    def of_half(mean: FloatArray, others: FloatArray) -> FloatArray | None:
        return left_over_of_selection(mean, selected, others)

    def row(mechanism: Any, words: str, own: FloatArray, guess: Guess, times: int) -> Job:
        name = "gaze map"
        return name, words, lambda: recovered(name, words, mechanism, recordings, own, guess, times, seed)

    return [
        row(free, "without noise", counts, of_all, 1),
        row(half, "random half, without noise", counts, of_half, repeats),
        row(noisy, "Gaussian noise", counts, of_all, repeats),
        row(heatmap, "heatmap", smooth, of_all, repeats),
    ]


def _orders(recordings: list[Recording], epsilon: float, repeats: int, seed: int) -> list[Job]:
    asked = partial(area_orders, recordings[0].stimulus)
    own = np.round(own_numbers(recordings, lambda one: released_of(one, asked(QUIET))))
    of_all = subtracted(len(recordings))

    def row(words: str, each: float, times: int) -> Job:
        name, mechanism = "orders of areas", asked(each)
        return (
            name,
            words,
            lambda: recovered(name, words, mechanism, recordings, own, of_all, times, seed, likeliest_right),
        )

    return [row("without noise", QUIET, 1), row("noise", epsilon, repeats)]


def _movies(recordings: list[Recording], epsilon: float, repeats: int, seed: int) -> list[Job]:
    edges = np.arange(0, SECONDS, BIN_S)
    free = free_map()

    def each_second(these: list[Recording], mechanism: Any) -> FloatArray:
        cut = [[one.between(begin, begin + BIN_S) for one in these] for begin in edges.tolist()]
        return np.concatenate([released_of(part, mechanism) for part in cut])

    def smooth_seconds(these: list[Recording]) -> FloatArray:
        seconds = each_second(these, IN_DEGREES).reshape(len(edges), -1)
        return np.concatenate([as_heatmap(second) for second in seconds])

    movie = HeatmapMovie(epsilon=epsilon, bin_seconds=BIN_S, duration=SECONDS, blur_deg=BLUR_DEG)
    counts = own_numbers(recordings, lambda one: each_second(one, free))
    smooth = own_numbers(recordings, smooth_seconds)
    of_all = subtracted(len(recordings))
    plain = declared(recordings).plan(free)
    name, quiet, noisy = "dynamic maps", "without noise", "dynamic heatmap"
    return [
        (
            name,
            quiet,
            lambda: _judged(name, quiet, str(plain.guarantee), counts, [each_second(recordings, free)], of_all),
        ),
        (name, noisy, lambda: recovered(name, noisy, movie, recordings, smooth, of_all, repeats, seed)),
    ]


def recovered(
    data: str,
    words: str,
    mechanism: Any,
    recordings: Sequence[Recording],
    own: FloatArray,
    guess: Guess,
    repeats: int,
    seed: int,
    measure: Callable[[FloatArray, FloatArray], float] = correlation,
) -> list[Row]:
    """Release some times, and guess every participant from what the others have and every release."""
    plan = declared(recordings).plan(mechanism)
    corpus, source = Corpus.of(recordings), NoiseSource.seeded(seed)
    released = [
        numbers_of(plan.release(corpus, noise=source.spawn(f"{data}/{words}/{repeat}"), anyway=True).value)
        for repeat in range(repeats)
    ]
    return _judged(data, words, str(plan.guarantee), own, released, guess, measure)


def _judged(
    data: str,
    words: str,
    guarantee: str,
    own: FloatArray,
    released: Sequence[FloatArray],
    guess: Guess,
    measure: Callable[[FloatArray, FloatArray], float] = correlation,
) -> list[Row]:
    """Guess every participant from every release."""
    whole = bool(np.array_equal(own, np.round(own)))
    scores, blind, exact = (np.full((len(released), len(own)), np.nan) for _ in range(3))
    for number, mean in enumerate(released):
        for who, truth in enumerate(own):
            others = np.delete(own, who, axis=0)
            blind[number, who] = measure(others.mean(axis=0), truth)
            found = guess(mean, others)
            # who gets no answer keeps to what is known without the release
            scores[number, who] = blind[number, who] if found is None else measure(found, truth)
            exact[number, who] = 0.0 if found is None else float(all_cells_right(found, truth) == 1.0)
    by_person = mean_of_finite(scores, 0)
    by_person = by_person[np.isfinite(by_person)]  # who did nothing has nothing to be got back
    what = "share of orders right" if measure is likeliest_right else "correlation"
    low, high = interval(resampled_people(len(by_person), RECONSTRUCTION_DRAWS, 1) @ by_person / len(by_person))
    blindly = float(mean_of_finite(blind.ravel(), 0))
    where = {"data": data, "release": words}
    rows = [Row(what, float(by_person.mean()), low, high, len(own), blindly, where=where, note=guarantee)]
    return [*rows, Row(EXACTLY, float(exact.mean()), n=len(own), chance=0.0, where=where)] if whole else rows


def subtracted(people: int) -> Guess:
    """Return the guess that subtracts all others from a mean."""
    return lambda mean, others: left_over(mean, people, others)


def own_numbers(recordings: Sequence[Recording], released: Callable[[list[Recording]], FloatArray]) -> FloatArray:
    """Return what each participant adds: a release of them alone, without noise."""
    return np.array([released([one]) for one in recordings])


def released_of(recordings: Sequence[Recording], mechanism: Any) -> FloatArray:
    """Return the numbers that a mechanism releases of some participants."""
    plan = declared(recordings).plan(mechanism)
    return numbers_of(plan.release(Corpus.of(recordings), noise=NoiseSource.seeded(0), anyway=True).value)


def as_heatmap(counts: FloatArray, cells: UnprotectedLiuMap = IN_DEGREES) -> FloatArray:
    """Return counts in cells of a degree as a heatmap has them: of mass 1, blurred; empty ones stay empty."""
    drawn = render(counts.reshape(cells.rows, cells.columns), BLUR_DEG).ravel()
    return np.asarray(drawn / drawn.sum() if drawn.sum() > 0 else drawn)
