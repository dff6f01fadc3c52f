# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Two worlds that differ in one participant, and what is released of either.

Simulated participants look at a scene, or read. In one world the target is among them; in the other, someone else has
the target's place and name. The target is a ``typical`` participant of the simulator, or an ``extreme`` one, who stares
at a corner where nobody else looks: such a participant has most to lose.

Everything is released by `Plan.release`. Where a product has no form without noise, "without noise" is an ε of a
million: the noise is still there, and too small to be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from gazeveil.aggregate.aoi.mechanism import AoiStatistics
from gazeveil.aggregate.aoi.statistics import VisitOrder
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, closest
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.mechanisms.fpa import FourierPerturbation
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import panel_of
from gazeveil.features.series_release import ParticipantRelease
from gazeveil.features.settings import Settings
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.baselines.unprotected_maps import UnprotectedLiuMap
from gazeveil.lab.experiments.usefulness._heatmap_scenes import PLANE
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.release.feature_settings import observed_facts
from gazeveil.release.plan import Data, Plan
from gazeveil.release.study import Participants, Stimulus, Study
from gazeveil.simulate import TRACKERS, SimulatedStudy
from gazeveil.simulate.reading import DOCUMENTS, ReadingStudy

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
