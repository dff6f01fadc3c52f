# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths behind mechanisms: how alike they stay, whose they are, and who is unlike all others.

- ``simulated``: 20 participants before 8 scenes for 6 s each, an EyeLink at 100 Hz, as in Kaleido's image sets.
- ``osie``: 15 participants before images for 3 s each (Xu et al. 2014). Only fixations were published; a stream stands
  where each fixation is for as long as it lasted, at 100 Hz, and jumps between them. So gaze is without noise of its
  own, and raw scanpaths are easier to find than in any recording.

- **Similarity** (Kaleido, figure 10): MultiMatch of a participant's scanpath before and behind the mechanism. Beside it
  stand two baselines that are computed on the same data: different participants before one scene, and random scanpaths
  with as many fixations as theirs and durations drawn from theirs.
- **Linkage**: the attacker knows each participant's raw scanpath on a scene and gets one from behind the mechanism.
  Whose is it? The highest mean of the five scores names someone, or the shortest warped distance; right by either is
  counted.
- **Outliers** (figure 11): see `gazeveil.lab.attacks.release_attacks`.

Scanpaths are found by a detector that stands noise. One with fewer than three fixations has no similarity: it is left
out of means, counts as not linked, and ``found`` says how many had enough.
Intervals are over participants resampled; those of F1 over scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, FloatArray, PlainRow, Tell, silent
from gazeveil.errors import InputError, OptionError, closest
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.lab.attacks.matching import interval, resampled_people, roc
from gazeveil.lab.attacks.release_attacks import Found, outliers, reach_of_the_rest
from gazeveil.lab.datasets import OSIE_FILE, osie_fixations
from gazeveil.lab.experiments.heatmap_scenes import PLANE, spread
from gazeveil.lab.experiments.named_mechanisms import VEILS, veil
from gazeveil.lab.utility.scanpaths import (
    DIMENSIONS,
    FEWEST,
    Scanpath,
    between_people,
    find_scanpath,
    mean_of_finite,
    multimatch,
    random_scanpath,
    warped_distance,
    warped_distances,
)
from gazeveil.noise import NoiseSource
from gazeveil.simulate import TRACKERS, SimulatedStudy
from gazeveil.simulate.population import Purpose, generator

RATE_HZ: Final = 100.0
PEOPLE, SCENES, SECONDS = 20, 8, 6.0
OSIE_IMAGES = 40
OSIE_FOLDER: Final = "osie"
NAMES: Final = ("simulated", "osie")


@dataclass(frozen=True, slots=True, eq=False)
class SceneSet:
    """Recordings in degrees of the same participants before each of some scenes.

    Attributes:
        name: Short name.
        title: What it is, for tables.
        plane: Where gaze lies, in degrees.
        people: Who they are.
        scenes: For every scene, each participant's recording, in the order of participants.
    """

    name: str
    title: str
    plane: Geometry
    people: tuple[str, ...]
    scenes: tuple[tuple[Recording, ...], ...]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the viewing plane."""
        return self.plane.extent()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the viewing plane."""
        left, top, right, bottom = self.box
        return right - left, bottom - top


def scene_sets(
    data: Path | None, names: tuple[str, ...] = NAMES, *, people: int = PEOPLE, scenes: int = 0, seed: int = 1
) -> list[SceneSet]:
    """Return the sets of those names that are there; the simulated one always is.

    Args:
        data: The folder of data sets, if there is one.
        names: Which sets.
        people: How many participants at most.
        scenes: How many scenes at most; 0 for as many as the set has by default.
        seed: From which simulated participants follow.

    Raises:
        OptionError: If a name is unknown.
        InputError: If none of them is there.
    """
    if unknown := [name for name in names if name not in NAMES]:
        raise OptionError(f"no set of scenes is called {unknown[0]!r}", hint=closest(unknown[0], NAMES))
    found = []
    if "simulated" in names:
        found.append(simulated(people, scenes or SCENES, seed))
    if "osie" in names and data is not None and (data / OSIE_FOLDER / OSIE_FILE).is_file():
        found.append(osie(data / OSIE_FOLDER / OSIE_FILE, scenes or OSIE_IMAGES, people))
    if not found:
        raise InputError(f"none of {', '.join(names)} is there", hint="say where the data are with --data")
    return found


def simulated(people: int = PEOPLE, scenes: int = SCENES, seed: int = 1) -> SceneSet:
    """Return simulated participants before some scenes."""
    tracker = replace(TRACKERS["eyelink"], name="eyelink-100", rate_hz=RATE_HZ, geometry=PLANE)
    study = SimulatedStudy(people, scenes, 1, 1, tracker, SECONDS, seed)
    seen: dict[str, list[Recording]] = {}
    for recording in study.recordings():
        seen.setdefault(recording.stimulus, []).append(recording.to("deg"))
    names = tuple(recording.observer for recording in next(iter(seen.values())))
    title = f"{people} simulated participants before {scenes} scenes, {SECONDS:g} s each"
    return SceneSet("simulated", title, PLANE.in_unit("deg"), names, tuple(map(tuple, seen.values())))


def osie(path: Path, images: int = OSIE_IMAGES, people: int = PEOPLE) -> SceneSet:
    """Return the participants of OSIE before images that all of them saw.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = osie_fixations(path)
    users = table["user"].unique().sort().to_list()[:people]
    kept = table.filter(pl.col("user").is_in(users))
    everybody = kept.group_by("image").agg(pl.col("user").n_unique().alias("seen by"))
    whole = everybody.filter(pl.col("seen by") == len(users))["image"].sort().to_list()
    scenes = []
    for image in spread(whole, images):
        rows = kept.filter(pl.col("image") == image)
        scenes.append(tuple(_held(own, str(image)) for own in rows.partition_by("user", maintain_order=True)))
    title = f"{len(users)} participants before {len(scenes)} images, 3 s each (OSIE, Xu et al. 2014), fixations held"
    return SceneSet("osie", title, PLANE.in_unit("deg"), tuple(map(str, users)), tuple(scenes))


def _held(fixations: pl.DataFrame, image: str) -> Recording:
    samples = np.maximum(1, np.round(fixations["dur_ms"].to_numpy() * RATE_HZ / 1000).astype(np.int64))
    x, y = (np.repeat(fixations[name].to_numpy().astype(np.float64), samples) for name in ("x", "y"))
    t = np.arange(len(x)) / RATE_HZ
    user = str(fixations["user"][0])
    return Recording(t, x, y, PLANE, user, image, rate_hz=RATE_HZ).to("deg")


# --- What scanpaths behind a mechanism still say: how alike they stay, whose they are, and who is unlike all others.


DRAWS = 1000
Interval = tuple[float, float]
Paths = list[list[Scanpath]]
"""By scene, then by participant."""


@dataclass(frozen=True, slots=True)
class ScanpathRow(PlainRow):
    """One mechanism on one set of scenes.

    Attributes:
        scenes: Name of the set.
        veil: Name of the mechanism.
        promise: What it guarantees, in words.
        similarity: Mean score in each dimension, same participant before and behind the mechanism.
        mean: Mean of the five.
        mean_interval: Where that lies.
        found: Share of veiled scanpaths with enough fixations to compare.
        linked: Share of scanpaths whose most similar raw scanpath is of the same participant.
        linked_interval: Where that lies.
        warped: The same by the shortest warped distance.
        warped_interval: Where that lies.
        chance: What guessing gives.
        outlier_f1: F1 of outliers among veiled scanpaths against those among raw ones.
        outlier_interval: Where that lies, over scenes.
        random_f1: What calling as many at random gives.
        everybody_f1: What calling everyone an outlier gives.
        outlier_auc: How often a true outlier lies further from the others than who is none; needs no threshold.
    """

    scenes: str
    veil: str
    promise: str
    similarity: dict[str, float]
    mean: float
    mean_interval: Interval
    found: float
    linked: float
    linked_interval: Interval
    warped: float
    warped_interval: Interval
    chance: float
    outlier_f1: float
    outlier_interval: Interval
    random_f1: float
    everybody_f1: float
    outlier_auc: float


@dataclass(frozen=True, slots=True)
class Measured(PlainRow):
    """All mechanisms on one set.

    Attributes:
        scenes: Name of the set.
        title: What it is.
        people: How many participants.
        between_people: Mean scores of different participants before one scene, by dimension.
        random: Mean scores of random scanpaths, by dimension.
        fixations: Mean number of fixations of a raw scanpath.
        outliers: Share of participants who are outliers in raw gaze.
        rows: One for every mechanism.
    """

    scenes: str
    title: str
    people: int
    between_people: dict[str, float]
    random: dict[str, float]
    fixations: float
    outliers: float
    rows: tuple[ScanpathRow, ...]


def measure(
    one: SceneSet,
    veils: Sequence[str] = VEILS,
    *,
    repeats: int = 1,
    seed: int = 1,
    tell: Tell = silent,
    make: Callable[[str, Geometry], Any] = veil,
) -> Measured:
    """Measure what mechanisms leave of the scanpaths of a set.

    Args:
        one: The participants and scenes.
        veils: Names of mechanisms.
        repeats: How often mechanisms with noise are run; results are means.
        seed: All noise follows from it.
        tell: Called with how many mechanisms are done.
        make: What makes a mechanism of its name, for a viewing plane.

    Raises:
        OptionError: If there is no repeat.
        UnknownName: If a mechanism is unknown.
    """
    if repeats < 1:
        raise OptionError(f"at least one repeat is needed, not {repeats}")
    chosen = {name: make(name, one.plane) for name in veils}
    raw = paths_of(one)
    truth = outliers_of(raw)
    rows = []
    for done, (name, mechanism) in enumerate(chosen.items()):
        tell(done, len(chosen))
        times = repeats if mechanism is not None and mechanism.draws_noise else 1
        runs = [_veiled(one, name, mechanism, seed, repeat) for repeat in range(times)]
        promise = "none" if mechanism is None else mechanism.guarantee.in_words()
        rows.append(compared(one, name, promise, raw, truth, runs, seed))
    return Measured(
        one.name,
        one.title,
        len(one.people),
        _by_dimension(mean_of_finite(np.stack([between_people(scene, one.size) for scene in raw]), 0)),
        _by_dimension(_random(one, raw, seed)),
        float(np.mean([len(path) for scene in raw for path in scene])),
        float(np.mean(truth)),
        tuple(rows),
    )


def paths_of(one: SceneSet) -> Paths:
    """Return each participant's scanpath on every scene."""
    return [[find_scanpath(each.t, each.x, each.y) for each in scene] for scene in one.scenes]


def outliers_of(paths: Paths) -> list[BoolArray]:
    """Return for every scene who is an outlier."""
    return [outliers(warped_distances(scene)) for scene in paths]


def _veiled(one: SceneSet, name: str, mechanism: Any, seed: int, repeat: int) -> Paths:
    found: Paths = []
    for number, scene in enumerate(one.scenes):
        found.append([])
        for person, recording in zip(one.people, scene, strict=True):
            gaze = recording.x, recording.y
            if mechanism is not None:
                noise = NoiseSource.seeded(seed).spawn(f"scanpaths/{one.name}/{number}/{person}/{name}/{repeat}")
                gaze = mechanism.start(noise).run(recording.t, *gaze)
            found[-1].append(find_scanpath(recording.t, *gaze))
    return found


def compared(
    one: SceneSet,
    name: str,
    promise: str,
    raw: Paths,
    truth: Sequence[BoolArray],
    runs: Sequence[Paths],
    seed: int,
) -> ScanpathRow:
    """Compare scanpaths behind a mechanism, of one run or several, with the raw ones."""
    people = len(one.people)
    drawn = resampled_people(people, DRAWS, seed)
    same = np.full((len(runs), len(raw), people, len(DIMENSIONS)), np.nan)
    linked, warped = (np.zeros((len(runs), len(raw), people)) for _ in range(2))
    called, far, is_one = [], [], []
    for run, paths in enumerate(runs):
        for scene, (known, seen) in enumerate(zip(raw, paths, strict=True)):
            for person, path in enumerate(seen):
                scores = np.stack([multimatch(other, path, one.size).to_array() for other in known])
                same[run, scene, person] = scores[person]
                linked[run, scene, person] = _names(scores.mean(axis=1), person)
                apart = -np.array([warped_distance(other, path) for other in known])
                warped[run, scene, person] = _names(apart, person)
            between = warped_distances(seen)
            called.append(Found.of(truth[scene], outliers(between)))
            far.append(_standing_out(between))
            is_one.append(truth[scene])
    enough = [len(path) >= FEWEST for paths in runs for scene in paths for path in scene]
    by_person = mean_of_finite(same.reshape(-1, people, len(DIMENSIONS)), 0)
    mean, mean_interval = _over_people(by_person.mean(axis=1), drawn)
    share, share_interval = _over_people(linked.mean(axis=(0, 1)), drawn)
    nearest, nearest_interval = _over_people(warped.mean(axis=(0, 1)), drawn)
    total = sum(called, Found())
    return ScanpathRow(
        scenes=one.name,
        veil=name,
        promise=promise,
        similarity=_by_dimension(mean_of_finite(by_person, 0)[None]),
        mean=mean,
        mean_interval=mean_interval,
        found=float(np.mean(enough)),
        linked=share,
        linked_interval=share_interval,
        warped=nearest,
        warped_interval=nearest_interval,
        chance=1 / people,
        outlier_f1=total.f1,
        outlier_interval=_over_scenes(called, seed),
        random_f1=total.random_f1,
        everybody_f1=total.everybody_f1,
        outlier_auc=_auc(np.concatenate(far), np.concatenate(is_one)),
    )


def _names(scores: FloatArray, person: int) -> float:
    """Return how much of the guess is on a participant: all if it is the highest alone, a share if several are."""
    if not np.isfinite(scores[person]):
        return 0.0
    best = scores == np.nanmax(scores)
    return float(best[person] / best.sum())


def _standing_out(distances: FloatArray) -> FloatArray:
    """Return how far everyone is from the nearest few, as a multiple of the scene's median; comparable over scenes."""
    reach = reach_of_the_rest(distances)
    finite = reach[np.isfinite(reach)]
    middle = float(np.median(finite)) if len(finite) else 1.0
    return np.asarray(reach / middle if middle > 0 else reach)


def _auc(far: FloatArray, is_one: FloatArray) -> float:
    true = is_one.astype(np.bool_)
    return roc(far[true], far[~true]).area if true.any() and not true.all() else np.nan


def _over_people(values: FloatArray, drawn: FloatArray) -> tuple[float, Interval]:
    """Return the mean over participants who have a value, and where it lies over participants resampled."""
    there = np.isfinite(values)
    if not there.any():
        return np.nan, (np.nan, np.nan)
    weights = drawn @ there.astype(np.float64)
    sums = drawn @ np.where(there, values, 0.0)
    again = np.divide(sums, weights, out=np.full(len(drawn), np.nan), where=weights > 0)
    return float(values[there].mean()), interval(again)


def _over_scenes(found: Sequence[Found], seed: int) -> Interval:
    drawn = resampled_people(len(found), DRAWS, seed)
    right, called = (
        drawn @ np.array([getattr(each, name) for each in found], dtype=np.float64) for name in ("right", "flagged")
    )
    true = drawn @ np.array([each.true for each in found], dtype=np.float64)
    both = true + called
    return interval(np.divide(2 * right, both, out=np.full(len(drawn), np.nan), where=both > 0))


def _random(one: SceneSet, raw: Paths, seed: int) -> FloatArray:
    """Return mean scores of random scanpaths, one for every participant and scene with that of the next participant."""
    rng = generator(seed, Purpose.RESAMPLING, "random scanpaths", one.name)
    pool = np.concatenate([path.seconds for scene in raw for path in scene])
    scores = []
    for scene in raw:
        made = [random_scanpath(rng, len(path), one.box, pool) for path in scene]
        pairs = zip(made, [*made[1:], made[0]], strict=True)
        scores.append([multimatch(first, second, one.size).to_array() for first, second in pairs])
    return mean_of_finite(np.array(scores), 0)


def _by_dimension(of_people: FloatArray) -> dict[str, float]:
    means = mean_of_finite(np.asarray(of_people), 0)
    return dict(zip((*DIMENSIONS, "mean"), [*means.tolist(), float(means.mean())], strict=True))
