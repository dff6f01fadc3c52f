# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What it costs that releases come on the public clock whether or not there is gaze, and what still shows.

``python -m gazeveil.lab.reproduction.kaleido_missing_gaze [FOLDER]`` prints the table; ``--quick`` does a small part.
The error is over samples with gaze. A clock whose releases wait for gaze shows at these samples what it would show if
the others were not there, so it is measured by leaving them out.

"Shows" is how well whoever knows the mechanism can tell a release without gaze from one with gaze, by how near it is to
what was shown before it: the chance that of one of each the nearer is the one without (area under the ROC curve).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.restoring import releases_of
from gazeveil.lab.experiments.stream_errors import Setting, StreamSet, stream_sets
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import space_of

SETTINGS = (
    Setting(60.0, 0.5, 3.0), Setting(60.0, 1.0, 1.0), Setting(60.0, 1.0, 2.0),
    Setting(300.0, 0.5, 3.0), Setting(300.0, 1.0, 1.0),
)  # fmt: skip
"""Radius, window, ε."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One guarantee on one set of streams.

    Attributes:
        streams: Which.
        setting: The guarantee.
        missing: The share of samples without gaze.
        waiting: Error in pixels of a clock that waits for gaze.
        public: Error in pixels of the public clock.
        se: Standard error of the difference in percent, over recordings.
        shows: How well releases without gaze stand out from others; 0.5 is not at all.
    """

    streams: str
    setting: Setting
    missing: float
    waiting: float
    public: float
    se: float
    shows: float


def measure(streams: StreamSet, settings: Sequence[Setting] = SETTINGS, *, repeats: int = 20) -> Iterator[Cost]:
    """Measure each guarantee."""
    gone = [np.isnan(one.x) | np.isnan(one.y) for one in streams.recordings]
    missing = float(np.mean(np.concatenate(gone)))
    for setting in settings:
        squares, near, far = np.zeros((len(gone), 2)), [np.empty(0)], [np.empty(0)]
        for number, (one, lost) in enumerate(zip(streams.recordings, gone, strict=True)):
            clock = _clock(streams, setting)
            for repeat in range(repeats):
                label = f"{streams.name}/{number}/{setting}/{repeat}"
                shown = np.array(clock.start(NoiseSource.seeded(1).spawn(label)).run(one.t, one.x, one.y))
                waited = np.array(
                    clock.start(NoiseSource.seeded(1).spawn(label)).run(one.t[~lost], one.x[~lost], one.y[~lost])
                )
                true = np.array([one.x[~lost], one.y[~lost]])
                squares[number] += [np.sum((waited - true) ** 2), np.sum((shown[:, ~lost] - true) ** 2)]
                at, surprise = _surprises(clock, one.t, shown)
                near.append(surprise[lost[at]])
                far.append(surprise[~lost[at]])
        count = repeats * np.array([np.count_nonzero(~lost) for lost in gone])
        waiting, public = np.sqrt(squares.sum(axis=0) / count.sum())
        each = np.sqrt(squares[count > 0] / count[count > 0, None])
        change = 100.0 * (each[:, 1] / each[:, 0] - 1.0)
        se = float(change.std(ddof=1) / np.sqrt(len(change))) if len(change) > 1 else np.nan
        shows = _seen_through(np.concatenate(near), np.concatenate(far))
        yield Cost(streams.place, setting, missing, waiting, public, se, shows)


def _clock(streams: StreamSet, setting: Setting) -> Clock:
    epsilon, window, radius = (Fraction(str(value)) for value in (setting.epsilon, setting.window, setting.radius))
    return Clock(space_of(streams.plane), epsilon=epsilon, window=window, radius=radius)


def _surprises(clock: Clock, t: FloatArray, shown: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Return at which samples points were released but for the first, and how far each was from what was shown."""
    found = releases_of(clock, t, shown[0], shown[1])
    at = found.at[1:]
    across, down = found.x[1:] - shown[0][at - 1], found.y[1:] - shown[1][at - 1]
    return at, np.hypot(across, down)


def _seen_through(near: FloatArray, far: FloatArray) -> float:
    if not (len(near) and len(far)):
        return float("nan")
    ordered = np.sort(far)
    below, level = (np.searchsorted(ordered, near, side=side) for side in ("left", "right"))
    return float(1.0 - np.mean(below + level) / (2.0 * len(far)))


def main(folder: Path | None, *, quick: bool = False) -> None:
    """Print the table."""
    header = ["streams", "missing", "ε, w, r", "waits for gaze", "public clock", "change", "shows"]
    sys.stdout.write(f"| {' | '.join(header)} |\n|{' --- |' * len(header)}\n")
    for one in stream_sets(folder):
        for row in measure(
            one.some(3) if quick else one, SETTINGS[:2] if quick else SETTINGS, repeats=1 if quick else 20
        ):
            setting = row.setting
            cells = [
                row.streams,
                f"{100 * row.missing:.1f} %",
                f"{setting.epsilon:g}, {setting.window:g} s, {setting.radius:g} px",
                f"{row.waiting:.1f}",
                f"{row.public:.1f}",
                f"{100 * (row.public / row.waiting - 1):+.1f} % ± {row.se:.1f}",
                f"{row.shows:.2f}",
            ]
            sys.stdout.write(f"| {' | '.join(cells)} |\n")


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    main(Path(given[0]) if given else None, quick="--quick" in sys.argv[1:])
