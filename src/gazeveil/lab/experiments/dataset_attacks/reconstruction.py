# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Reconstruction, measured: every participant in turn is the one whom the attacker does not know.

Liu et al. 2019, table 1, lists what an adversary can have in the worst case: an individual's heatmap from static and
from dynamic heatmaps, and the order of visits from an analysis of areas. Each is tried on a release without noise and
on ours, through `Plan.release`. Beside it stands what the attacker would guess without the release: the mean of the
others, whom it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gazeveil.aggregate.grid import render
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.movie import HeatmapMovie
from gazeveil.arrays import FloatArray, PlainRow, Tell, silent
from gazeveil.errors import OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.attacks.aggregates.reconstruction import (
    all_cells_right,
    left_over,
    left_over_of_selection,
    likeliest_right,
)
from gazeveil.lab.attacks.judging.scores import interval, resampled_people
from gazeveil.lab.baselines.unprotected_maps import UnprotectedLiuMap
from gazeveil.lab.experiments.dataset_attacks import worlds
from gazeveil.lab.utility.maps import correlation
from gazeveil.lab.utility.scanpaths.baselines import mean_of_finite
from gazeveil.noise import NoiseSource

BIN_S = 1.0
BLUR_DEG = 1.1
DRAWS = 1000
IN_DEGREES = UnprotectedLiuMap(columns=32, rows=24)
"""Cells of a degree on the screen of 32 x 24 degrees, as heatmaps have them."""

Guess = Callable[[FloatArray, FloatArray], "FloatArray | None"]
"""What makes a guess of a release and of the others' own numbers."""


@dataclass(frozen=True, slots=True)
class Recovered(PlainRow):
    """How much of single participants is got back from a release.

    Attributes:
        data: What is released: maps, dynamic maps, or orders of areas.
        release: How.
        guarantee: What is guaranteed, in words.
        measure: What is compared: the correlation with the participant's own map, or the share of orders right.
        guess: Its mean over participants.
        guess_interval: Where that lies, over participants resampled.
        without: The same for who has no release, and guesses the mean of the others.
        exact: Share of participants whose numbers are all got back exactly; NaN where numbers are not whole.
        participants: How many there are.
        releases: How many releases were attacked.
    """

    data: str
    release: str
    guarantee: str
    measure: str
    guess: float
    guess_interval: tuple[float, float]
    without: float
    exact: float
    participants: int
    releases: int


def reconstruct(
    people: int = 10,
    epsilon: float = 1.0,
    repeats: int = 10,
    seed: int = 1,
    *,
    movies: bool = True,
    tell: Tell = silent,
) -> list[Recovered]:
    """Attack maps, orders of areas and dynamic maps, without noise and with it.

    Args:
        people: How many participants.
        epsilon: The ε of what is released with noise.
        repeats: How many releases with noise; of dynamic maps, which take seconds each, a fifth.
        seed: Everything follows from it.
        movies: Whether dynamic maps are attacked, too.
        tell: Called with how many kinds of releases are done.

    Raises:
        OptionError: If there are fewer than three participants, or no repeat.
    """
    if people < 3 or repeats < 1:
        raise OptionError(f"three participants and one repeat are needed, not {people} and {repeats}")
    recordings = worlds.viewers(people, seed)
    jobs: list[Callable[[], Recovered]] = [
        *_maps(recordings, epsilon, repeats, seed),
        *_orders(recordings, epsilon, repeats, seed),
        *(_movies(recordings, epsilon, max(1, repeats // 5), seed) if movies else ()),
    ]
    found = []
    for done, job in enumerate(jobs):
        tell(done, len(jobs))
        found.append(job())
    return found


def _maps(recordings: list[Recording], epsilon: float, repeats: int, seed: int) -> list[Callable[[], Recovered]]:
    people = len(recordings)
    selected = max(1, people // 2)
    free, half, noisy = worlds.free_map(), worlds.free_map(selected), worlds.noisy_map(epsilon)
    heatmap = PrivateHeatmap(epsilon=epsilon, blur_deg=BLUR_DEG)
    counts = own_numbers(recordings, lambda one: released_of(one, free))
    smooth = own_numbers(recordings, lambda one: as_heatmap(released_of(one, IN_DEGREES)))
    of_all = subtracted(people)

    def of_half(mean: FloatArray, others: FloatArray) -> FloatArray | None:
        return left_over_of_selection(mean, selected, others)

    def row(mechanism: Any, words: str, own: FloatArray, guess: Guess, times: int) -> Callable[[], Recovered]:
        return lambda: recovered("gaze map", words, mechanism, recordings, own, guess, times, seed)

    return [
        row(free, "without noise", counts, of_all, 1),
        row(half, "random half, without noise", counts, of_half, repeats),
        row(noisy, "Gaussian noise", counts, of_all, repeats),
        row(heatmap, "heatmap", smooth, of_all, repeats),
    ]


def _orders(recordings: list[Recording], epsilon: float, repeats: int, seed: int) -> list[Callable[[], Recovered]]:
    asked = partial(worlds.area_orders, recordings[0].stimulus)
    own = np.round(own_numbers(recordings, lambda one: released_of(one, asked(worlds.QUIET))))
    of_all = subtracted(len(recordings))
    rows = (("without noise", worlds.QUIET, 1), ("noise", epsilon, repeats))
    return [
        lambda words=words, each=each, times=times: recovered(  # type: ignore[misc]
            "orders of areas", words, asked(each), recordings, own, of_all, times, seed, likeliest_right
        )
        for words, each, times in rows
    ]


def _movies(recordings: list[Recording], epsilon: float, repeats: int, seed: int) -> list[Callable[[], Recovered]]:
    edges = np.arange(0, worlds.SECONDS, BIN_S)
    free = worlds.free_map()

    def each_second(these: list[Recording], mechanism: Any) -> FloatArray:
        cut = [[one.between(begin, begin + BIN_S) for one in these] for begin in edges.tolist()]
        return np.concatenate([released_of(part, mechanism) for part in cut])

    def smooth_seconds(these: list[Recording]) -> FloatArray:
        seconds = each_second(these, IN_DEGREES).reshape(len(edges), -1)
        return np.concatenate([as_heatmap(second) for second in seconds])

    movie = HeatmapMovie(epsilon=epsilon, bin_seconds=BIN_S, duration=worlds.SECONDS, blur_deg=BLUR_DEG)
    counts = own_numbers(recordings, lambda one: each_second(one, free))
    smooth = own_numbers(recordings, smooth_seconds)
    of_all = subtracted(len(recordings))
    plain = worlds.declared(recordings).plan(free)
    return [
        lambda: _judged(
            "dynamic maps", "without noise", str(plain.guarantee), counts, [each_second(recordings, free)], of_all
        ),
        lambda: recovered("dynamic maps", "dynamic heatmap", movie, recordings, smooth, of_all, repeats, seed),
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
) -> Recovered:
    """Release some times, and guess every participant from what the others have and every release."""
    plan = worlds.declared(recordings).plan(mechanism)
    corpus, source = Corpus.of(recordings), NoiseSource.seeded(seed)
    released = [
        worlds.numbers_of(plan.release(corpus, noise=source.spawn(f"{data}/{words}/{repeat}"), anyway=True).value)
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
) -> Recovered:
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
    return Recovered(
        data=data,
        release=words,
        guarantee=guarantee,
        measure="share of orders right" if measure is likeliest_right else "correlation",
        guess=float(by_person.mean()),
        guess_interval=interval(resampled_people(len(by_person), DRAWS, 1) @ by_person / len(by_person)),
        without=float(mean_of_finite(blind.ravel(), 0)),
        exact=float(exact.mean()) if whole else np.nan,
        participants=len(own),
        releases=len(released),
    )


def subtracted(people: int) -> Guess:
    """Return the guess that subtracts all others from a mean."""
    return lambda mean, others: left_over(mean, people, others)


def own_numbers(recordings: Sequence[Recording], released: Callable[[list[Recording]], FloatArray]) -> FloatArray:
    """Return what each participant adds: a release of them alone, without noise."""
    return np.array([released([one]) for one in recordings])


def released_of(recordings: Sequence[Recording], mechanism: Any) -> FloatArray:
    """Return the numbers that a mechanism releases of some participants."""
    plan = worlds.declared(recordings).plan(mechanism)
    return worlds.numbers_of(plan.release(Corpus.of(recordings), noise=NoiseSource.seeded(0), anyway=True).value)


def as_heatmap(counts: FloatArray, cells: UnprotectedLiuMap = IN_DEGREES) -> FloatArray:
    """Return counts in cells of a degree as a heatmap has them: of mass 1, blurred; empty ones stay empty."""
    drawn = render(counts.reshape(cells.rows, cells.columns), BLUR_DEG).ravel()
    return np.asarray(drawn / drawn.sum() if drawn.sum() > 0 else drawn)
