# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Streams to judge mechanisms on: a headset, a laboratory screen, and simulated participants.

- ``vr``: 16 participants who look for objects in a virtual room (Schuetz et al. 2024), a headset at about 90 Hz. Gaze
  is taken in the head's frame, ±25 degrees at 26.7 pixels a degree, so 1336 x 1336 pixels; gaze beyond is put on the
  edge. The trials of a session are joined, the first 120 s are kept. Sessions without any tracked gaze are left out,
  and of the others, ordered by participant and session, every second one is taken: 31.
- ``lund``: the 23 recordings on images and videos of Andersson et al. 2017, 500 Hz, 1024 x 768 pixels. Lost gaze at
  (0, 0), blinks by the label of expert RA, and gaze more than 50 pixels off the screen are missing.
- ``simulated``: 20 participants of our simulator, each before a scene of their own for 60 s, 60 Hz, 1280 x 720 pixels.

What the tracker lost is missing (NaN), never (0, 0), and its time stays: that is what a live mechanism would meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, screen
from gazeveil.lab.datasets.lund2013 import LUND_FOLDER
from gazeveil.lab.datasets.lund2013 import load as load_lund
from gazeveil.lab.datasets.vr_objects import VR_FOLDER, vr_sessions
from gazeveil.simulate import TRACKERS, Block, GazeStream, Population, scene

_OFF_SCREEN_PX = 50
_BLINK = 5

SIMULATED_PEOPLE, SIMULATED_SECONDS = 20, 60.0
_SIMULATED_SCREEN = screen(1280, 720, 518, 291, 600)


@dataclass(frozen=True, slots=True, eq=False)
class StreamSet:
    """Some streams on one viewing plane.

    Attributes:
        name: Short name: vr, lund or simulated.
        place: Where they were recorded.
        recordings: The streams.
    """

    name: str
    place: str
    recordings: tuple[Recording, ...]

    @property
    def title(self) -> str:
        """What it is, for tables."""
        left, top, right, bottom = self.plane.extent()
        return f"{self.place}, {len(self.recordings)} recordings, {right - left:g} x {bottom - top:g} {self.plane.unit}"

    @property
    def plane(self) -> Geometry:
        """The viewing plane of all of them."""
        return self.recordings[0].geometry

    def some(self, count: int) -> StreamSet:
        """Return the set with this many recordings at most, spread over the whole."""
        step = max(1, -(-len(self.recordings) // count))
        return replace(self, recordings=self.recordings[::step])


def stream_sets(data: Path | None, names: Sequence[str] = ("vr", "lund", "simulated")) -> list[StreamSet]:
    """Return the sets of those names that are there; the simulated one always is."""
    found = []
    if "vr" in names and data is not None and (data / VR_FOLDER).is_dir():
        sessions = vr_sessions(data / VR_FOLDER)
        found.append(StreamSet("vr", "headset", tuple(session.recording for session in sessions)))
    if "lund" in names and data is not None and (data / LUND_FOLDER).is_dir():
        found.append(StreamSet("lund", "laboratory", lund_recordings(data / LUND_FOLDER)))
    if "simulated" in names:
        found.append(StreamSet("simulated", "simulated", simulated_recordings()))
    if not found:
        raise InputError(f"none of {', '.join(names)} is there", hint="say where the data are with --data")
    return found


def lund_recordings(folder: Path) -> tuple[Recording, ...]:
    """Read the recordings on images and videos.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    return tuple(
        _on_screen(item.recording, item.labels["RA"] == _BLINK) for item in load_lund(folder) if item.stimuli != "dots"
    )


def _on_screen(recording: Recording, blink: NDArray[np.bool_]) -> Recording:
    left, top, right, bottom = recording.geometry.extent()
    with np.errstate(invalid="ignore"):
        near = (
            (recording.x > left - _OFF_SCREEN_PX)
            & (recording.x < right + _OFF_SCREEN_PX)
            & (recording.y > top - _OFF_SCREEN_PX)
            & (recording.y < bottom + _OFF_SCREEN_PX)
        )
    return replace(recording, valid=recording.tracked & near & ~blink)


def simulated_recordings(
    people: int = SIMULATED_PEOPLE, seconds: float = SIMULATED_SECONDS, seed: int = 6
) -> tuple[Recording, ...]:
    """Return the streams of simulated participants, each before another scene."""
    tracker = replace(TRACKERS["remote"], name="remote-60", rate_hz=60, geometry=_SIMULATED_SCREEN)
    recordings = []
    for number, person in enumerate(Population(seed).observers(people)):
        stream = GazeStream(person.on_day(1), scene(seed, number), tracker, seed=seed)
        blocks = list(islice(stream.blocks(1.0), round(seconds)))
        gaze = Block._make(np.concatenate(parts) for parts in zip(*blocks, strict=True))
        recordings.append(
            Recording(gaze.t, gaze.x, gaze.y, _SIMULATED_SCREEN, person.name, f"scene {number}", rate_hz=60)
        )
    return tuple(recordings)
