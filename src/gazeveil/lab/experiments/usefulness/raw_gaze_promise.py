# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What it costs to hide seconds of raw gaze: bins with windows derived afterwards, against overlapping windows.

Both release a participant's means over 30 s, every half second, of the additive channels, under the same guarantee
about any this many seconds of raw gaze. Overlapping windows must hide every window that such a stretch meets (erratum
B10); bins only the few that it touches, and their means over 30 s are post-processing. Errors are parts of the bins'
declared ranges, so both are measured with one ruler.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.features.bins import BinRules, bin_ranges, extract_bin_corpus
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.participant_series import ParticipantSeries, RawGaze
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import panel_of
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.datasets.eyetribe import EYETRIBE_PUPIL
from gazeveil.lab.experiments.feature_people import PRIVATE_SEED, PUBLIC_SEED, by_task, first_runs, other_documents
from gazeveil.lab.experiments.usefulness.features import DELTA, EPSILONS, FLOOR, Cell
from gazeveil.noise import NoiseSource
from gazeveil.simulate.reading import ReadingStudy

HIDDEN: Final = (0.5, 2.0, 10.0, 30.0)
"""Seconds of raw gaze to hide."""

ADDITIVE: Final = ("x", "y", "pupil", "log_path", "saccades", "fixations")
"""Channels whose windows are plain means of bins."""

WINDOW_S: Final = 30.0
BINS_FIRST, OVERLAPPING = "bins, windows derived", "overlapping windows"


@dataclass(frozen=True, slots=True, eq=False)
class BinPeople:
    """Participants' bins, split.

    Attributes:
        name: What the data set is called.
        rules: How the bins were made.
        ranges: The declared ranges of the channels.
        public: By task, participant by bin by channel, from 0 to 1.
        private: Those who are released, likewise.
    """

    name: str
    rules: BinRules
    ranges: Ranges
    public: tuple[FloatArray, ...]
    private: tuple[FloatArray, ...]


def reader_bins(private: int = 40, public: int = 20, seconds: float = 300.0) -> BinPeople:
    """Return simulated readers' bins; public participants read other documents."""
    rules = BinRules()
    ranges = bin_ranges(rules).only(ADDITIVE)
    outside = _bins(ReadingStudy(public, seconds, documents=other_documents(), seed=PUBLIC_SEED).recordings(), rules)
    inside = _bins(ReadingStudy(private, seconds, seed=PRIVATE_SEED).recordings(), rules)
    count = int(seconds / rules.width)
    fill = panel_of(outside, ranges, count).values.mean(axis=(0, 1))
    return BinPeople(
        "simulated readers", rules, ranges,
        tuple(by_task(panel_of(outside, ranges, count, fill)).values()),
        tuple(by_task(panel_of(inside, ranges, count, fill)).values()),
    )  # fmt: skip


def eyetribe_bins(path: Path) -> BinPeople:
    """Return the bins of each participant's first EyeTribe run.

    Every second participant is public, the others private.
    """
    rules = BinRules()
    table = _bins(first_runs(path), rules)
    ranges = bin_ranges(rules, EYETRIBE_PUPIL).only(ADDITIVE)
    count = int(np.median([len(series.values) for series in table.series()]))
    even = np.arange(len(list(table.series()))) % 2 == 0
    fill = panel_of(table, ranges, count).values[even].mean(axis=(0, 1))
    values = panel_of(table, ranges, count, fill).values
    return BinPeople("EyeTribe runs", rules, ranges, (values[even],), (values[~even],))


def steps_touched(seconds: float, rules: BinRules) -> int:
    """Return how many overlapping windows, one every bin, a stretch of raw gaze meets at most."""
    return math.floor((WINDOW_S + seconds + rules.reach) / rules.width) + 1


def means_over_windows(bins: FloatArray, width: float) -> FloatArray:
    """Return the means over windows of 30 s, one beginning at every bin: participants by windows by channels."""
    count = round(WINDOW_S / width)
    sums = np.cumsum(np.concatenate([np.zeros_like(bins[:, :1]), bins], axis=1), axis=1)
    return np.asarray((sums[:, count:] - sums[:, :-count]) / count)


def run(
    people: BinPeople,
    *,
    epsilons: Sequence[float] = EPSILONS,
    hidden: Sequence[float] = HIDDEN,
    repeats: int = 5,
    seed: int = 1,
    tell: Tell = silent,
) -> list[Cell]:
    """Return the table: a cell for every guarantee, design and ε."""
    noise = NoiseSource.seeded(seed)
    cells: list[Cell] = []
    todo = 2 * len(hidden) * len(epsilons)
    for jointly in (False, True):
        designs = _designs(people, jointly)
        what = f"{len(people.ranges)} features" if jointly else "one feature"
        for seconds in hidden:
            for epsilon in epsilons:
                tell(len(cells) / 3, todo)
                errors = _errors(people, designs, seconds, epsilon, repeats, noise)
                product = f"any {seconds:g} s of raw gaze, {what}"
                cells += [Cell(people.name, product, method, epsilon, *both) for method, both in errors.items()]
    return cells


@dataclass(frozen=True, slots=True, eq=False)
class _Designs:
    """Which channels are released together, and the public designs of each such part."""

    parts: list[slice]
    bins: list[Design]
    windows: list[Design]


def _designs(people: BinPeople, jointly: bool) -> _Designs:
    parts = [slice(None)] if jointly else [slice(channel, channel + 1) for channel in range(len(people.ranges))]
    windows = [means_over_windows(bins, people.rules.width) for bins in people.public]
    return _Designs(
        parts,
        [_design(people, people.public, part) for part in parts],
        [_design(people, windows, part) for part in parts],
    )


def _errors(
    people: BinPeople, designs: _Designs, seconds: float, epsilon: float, repeats: int, noise: NoiseSource
) -> dict[str, tuple[float, float]]:
    """Return error and standard error of both ways, and of the public mean."""
    width, raw = people.rules.width, RawGaze(seconds, people.rules)
    steps = min(steps_touched(seconds, people.rules), designs.windows[0].steps)
    whole = [ParticipantSeries(epsilon=epsilon, delta=DELTA, design=d, stretch=steps) for d in designs.windows]
    binned = [ParticipantSeries(epsilon=epsilon, delta=DELTA, design=d, raw=raw) for d in designs.bins]
    public = np.concatenate([design.mean for design in designs.windows])
    squares: dict[str, list[FloatArray]] = {OVERLAPPING: [], BINS_FIRST: [], FLOOR: []}
    for bins in people.private:
        truth = means_over_windows(bins, width)
        released = {
            OVERLAPPING: [_released(whole, designs.parts, truth, noise) for _ in range(repeats)],
            BINS_FIRST: [
                means_over_windows(_released(binned, designs.parts, bins, noise), width) for _ in range(repeats)
            ],
            FLOOR: [np.broadcast_to(public, truth.shape)],
        }
        for method, tries in released.items():
            squares[method].append(np.mean([np.mean(np.square(truth - one), axis=(1, 2)) for one in tries], axis=0))
    return {method: _root(np.concatenate(each)) for method, each in squares.items()}


def _released(
    mechanisms: list[ParticipantSeries], parts: list[slice], values: FloatArray, noise: NoiseSource
) -> FloatArray:
    released = [one.perturb(values[:, :, part], noise) for one, part in zip(mechanisms, parts, strict=True)]
    return np.concatenate(released, axis=2)


def _design(people: BinPeople, tasks: Sequence[FloatArray], part: slice) -> Design:
    names = people.ranges.names[part]
    return learn([task[:, :, part] for task in tasks], people.ranges.only(names), f"{people.name}, public ones")


def _root(squares: FloatArray) -> tuple[float, float]:
    """Return the root of the mean of participants' squared errors, and its standard error."""
    error = math.sqrt(float(squares.mean()))
    return error, float(squares.std(ddof=1)) / math.sqrt(len(squares)) / (2 * error)


def _bins(recordings: Iterable[Recording], rules: BinRules) -> FeatureTable:
    return extract_bin_corpus(Corpus.of(recordings), rules=rules).table
