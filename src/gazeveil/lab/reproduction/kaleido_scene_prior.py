# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What it is worth to tell a private stream the scene: error with the right one, with none, and with another one.

``python -m gazeveil.lab.reproduction.kaleido_scene_prior [FOLDER]`` prints the table; ``--quick`` does a small part.
Every participant's stream goes through several scenes, and `StreamVeil.expect` is told each of them as it begins. The
density of a scene is where all *other* participants looked at it; the participant is left out. "Another" is the density
of the scene before it in the stream, the participant left out as well.

- ``simulated``: 20 participants, 12 scenes of 10 s each, 60 Hz, 1280 x 720 pixels.
- ``osie``, if the folder with its fixations is given: Xu et al. 2014, 15 participants, 40 of its images for 3 s each,
  800 x 600 pixels. It holds fixations, so the streams do too: still gaze at 60 Hz, missing for 30 ms between two.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.geometry import screen
from gazeveil.lab.datasets import OSIE_FILE, osie_fixations
from gazeveil.lab.experiments.stream_errors import Setting
from gazeveil.noise import NoiseSource
from gazeveil.samples.gaze_model import moments
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import Screen
from gazeveil.simulate import TRACKERS, SimulatedStudy

SETTINGS = (Setting(60.0, 1.0, 1.0), Setting(60.0, 0.5, 3.0), Setting(300.0, 2.0, 0.5))
"""Radius, window, ε: from a moderate guarantee over a weak one to a strong one."""

_RATE = 60.0
_CELLS = (18, 32)
_SACCADE_S = 0.03
_SIMULATED_SCREEN = screen(1280, 720, 518, 291, 600)


@dataclass(frozen=True, slots=True, eq=False)
class Viewing:
    """Some participants who all look at the same scenes.

    Attributes:
        name: What they are called in the table.
        space: The screen.
        seconds: How long a scene is shown.
        gaze: Participants, scenes, samples at 60 Hz, x and y; NaN where gaze is missing.
    """

    name: str
    space: Screen
    seconds: float
    gaze: FloatArray


@dataclass(frozen=True, slots=True)
class Worth:
    """Root mean square errors in pixels at one guarantee.

    Attributes:
        viewing: Who looked at what.
        setting: The guarantee.
        centre: Of "always the centre".
        scene: Of "always the mean of the scene".
        plain: Of `clock` that is told nothing.
        told: Of `clock` that is told the scene.
        misled: Of `clock` that is told another scene.
        told_se: The standard error over participants of what telling the scene changes, in pixels.
        misled_se: The same for another scene.
    """

    viewing: str
    setting: Setting
    centre: float
    scene: float
    plain: float
    told: float
    misled: float
    told_se: float
    misled_se: float


def simulated(people: int = 20, scenes: int = 12, seconds: float = 10.0, seed: int = 8) -> Viewing:
    """Return simulated participants before the same scenes."""
    tracker = replace(TRACKERS["remote"], name="remote-60", rate_hz=_RATE, geometry=_SIMULATED_SCREEN)
    study = SimulatedStudy(people, scenes, 1, tracker=tracker, seconds=seconds, seed=seed)
    count = round(seconds * _RATE)
    gaze = np.full((people, scenes, count, 2), np.nan)
    for number, recording in enumerate(study.recordings()):
        kept = min(count, len(recording))
        gaze[number // scenes, number % scenes, :kept] = np.stack([recording.x, recording.y], axis=1)[:kept]
    return Viewing("simulated", Screen(1280, 720), seconds, gaze)


def osie(folder: Path, images: int = 40) -> Viewing:
    """Return the participants of OSIE before some of its images.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = osie_fixations(Path(folder) / OSIE_FILE)
    every = table["image"].unique().sort()
    chosen = every.gather_every(max(1, len(every) // images)).head(images).to_list()
    users = table["user"].unique().sort().to_list()
    seconds, count = 3.0, round(3.0 * _RATE)
    gaze = np.full((len(users), len(chosen), count, 2), np.nan)
    t = np.arange(count) / _RATE
    kept = table.filter(pl.col("image").is_in(chosen))
    for (image, user), part in kept.group_by("image", "user", maintain_order=True):
        lasts = part["dur_ms"].to_numpy() / 1000
        starts = np.cumsum(lasts + _SACCADE_S) - lasts
        at = np.searchsorted(starts, t, side="right") - 1
        looked = (at >= 0) & (t - starts[at] < lasts[at])
        points = part.select("x", "y").to_numpy()[at[looked]]
        gaze[users.index(user), chosen.index(image), looked] = points
    return Viewing("OSIE", Screen(800, 600), seconds, gaze)


def measure(viewing: Viewing, settings: Sequence[Setting] = SETTINGS, *, repeats: int = 20) -> list[Worth]:
    """Veil every participant's stream with the scenes told, not told, and mixed up."""
    people, scenes, _, _ = viewing.gaze.shape
    right = [[_density(viewing, person, scene) for scene in range(scenes)] for person in range(people)]
    wrong = [[*row[-1:], *row[:-1]] for row in right]
    means = np.array([[moments(viewing.space, density)[0] for density in row] for row in right])
    seen = np.isfinite(viewing.gaze).all(axis=3)
    samples = np.count_nonzero(seen, axis=(1, 2))

    def alone(place: FloatArray) -> float:
        return math.sqrt(float(np.nansum((viewing.gaze - place) ** 2)) / float(samples.sum()))

    rows = []
    for setting in settings:
        squares = [
            np.array([_squares(viewing, setting, person, told, repeats) for person, told in enumerate(densities)])
            for densities in ([None] * people, right, wrong)
        ]
        plain, told, misled = (math.sqrt(float(each.sum()) / float(samples.sum())) for each in squares)
        by_person = [np.sqrt(each / samples) for each in squares]
        errors = [
            float((other - by_person[0]).std(ddof=1)) / math.sqrt(people) if people > 1 else math.nan
            for other in by_person[1:]
        ]
        centre, scene = alone(np.array(viewing.space.centre)), alone(means[:, :, None, :])
        rows.append(Worth(viewing.name, setting, centre, scene, plain, told, misled, *errors))
    return rows


def _density(viewing: Viewing, person: int, scene: int) -> FloatArray:
    """Return where all the others looked."""
    others = np.delete(viewing.gaze[:, scene], person, axis=0).reshape(-1, 2)
    x, y = others[np.isfinite(others).all(axis=1)].T
    width, height = viewing.space.size
    counted, _, _ = np.histogram2d(y, x, _CELLS, [(0, height), (0, width)])
    return counted if counted.any() else np.ones(_CELLS)


def _squares(
    viewing: Viewing, setting: Setting, person: int, densities: Sequence[FloatArray] | None, repeats: int
) -> float:
    """Return the summed squared distance of a participant's veiled stream, mean over repeats."""
    clock = Clock(viewing.space, epsilon=setting.epsilon, window=setting.window, radius=setting.radius)  # type: ignore[arg-type]
    _, scenes, count, _ = viewing.gaze.shape
    t = np.arange(count) / _RATE
    total = 0.0
    for repeat in range(repeats):
        # the same noise whatever is told, so that what differs is the telling
        veil = clock.start(NoiseSource.seeded(1).spawn(f"{viewing.name}/{person}/{setting}/{repeat}"))
        for scene in range(scenes):
            start = scene * viewing.seconds
            if densities is not None:
                veil.expect(start, densities[scene])
            x, y = viewing.gaze[person, scene].T
            shown_x, shown_y = veil.run(start + t, x, y)
            total += float(np.nansum((shown_x - x) ** 2 + (shown_y - y) ** 2))
    return total / repeats


def main(folder: Path | None, *, quick: bool = False) -> None:
    """Print the table."""
    repeats = 2 if quick else 20
    viewings = [simulated(4, 3) if quick else simulated()]
    if folder is not None:
        viewings.append(osie(folder, 4 if quick else 40))
    sys.stdout.write("| participants | ε, w, r | centre | scene's mean | `clock` | with the scene | with another |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- | --- |\n")
    for viewing in viewings:
        for row in measure(viewing, repeats=repeats):
            setting = row.setting
            cells = [
                row.viewing,
                f"{setting.epsilon:g}, {setting.window:g} s, {setting.radius:g} px",
                *(f"{value:.0f}" for value in (row.centre, row.scene, row.plain)),
                f"{row.told:.0f} ({row.told - row.plain:+.1f} ± {row.told_se:.1f})",
                f"{row.misled:.0f} ({row.misled - row.plain:+.1f} ± {row.misled_se:.1f})",
            ]
            sys.stdout.write(f"| {' | '.join(cells)} |\n")


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    main(Path(given[0]) if given else None, quick="--quick" in sys.argv[1:])
