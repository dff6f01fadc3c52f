# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Participants before the same scenes: simulated ones, and those of OSIE.

- ``simulated``: 20 participants before 8 scenes for 6 s each, an EyeLink at 100 Hz, as in Kaleido's image sets.
- ``osie``: 15 participants before images for 3 s each (Xu et al. 2014). Only fixations were published; a stream stands
  where each fixation is for as long as it lasted, at 100 Hz, and jumps between them. So gaze is without noise of its
  own, and raw scanpaths are easier to find than in any recording.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from gazeveil.errors import InputError, OptionError, closest
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.lab.datasets.osie import OSIE_FILE, osie_fixations
from gazeveil.lab.experiments.usefulness._heatmap_scenes import PLANE, spread
from gazeveil.simulate import TRACKERS, SimulatedStudy

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
