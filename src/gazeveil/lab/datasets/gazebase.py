# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""GazeBase and GazeBaseVR by the path of their folder: the recordings that recognisers of the literature train on.

- **GazeBase** (Griffith et al. 2021): 322 participants, 1000 Hz, up to nine rounds of two sessions, seven tasks.
- **GazeBaseVR** (Lohr et al. 2023): 407 participants, a headset at 250 Hz, three rounds.

Files may lie at any depth. They are read one after the other, by `gazeveil.gaze.formats.gazebase`, because all of them
do not fit into memory. The vertical sign stays as in the file: nothing we measure depends on it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze.formats.gazebase import GazeBaseName, parse_file_name
from gazeveil.gaze.reading import read
from gazeveil.gaze.recording import Recording


@dataclass(frozen=True, slots=True)
class GazeBaseFile:
    """One recording: where it is, and what its name tells."""

    path: Path
    name: GazeBaseName

    def recording(self) -> Recording:
        """Read the recording; its session is named by round and session, and the stimulus by its task.

        Raises:
            FileFormatError: If the file is not what its name says.
        """
        reading = read(self.path, format="gazebase")
        [recording] = reading.recordings
        steps_back = reading.report.time_backwards + reading.report.time_repeated
        if steps_back:
            raise FileFormatError(
                self.path,
                column="n",
                expected="times that grow",
                found=f"{steps_back:,} that do not",
                hint="was the file put together from two?",
            )
        if len(recording) < 2:
            raise FileFormatError(self.path, expected="two samples at least", found="one", hint="download it again")
        return replace(recording, trial="")


def gazebase_files(
    folder: Path, *, tasks: Collection[str] = (), rounds: Collection[int] = (), people: Collection[str] = ()
) -> tuple[GazeBaseFile, ...]:
    """Return the recordings under a folder, by participant, round, session and task; read none.

    Args:
        folder: Where GazeBase or GazeBaseVR was unpacked.
        tasks: Only these tasks; all if empty.
        rounds: Only these rounds; all if empty.
        people: Only these participants, as in the file names (``001``); all if empty.

    Raises:
        InputError: If there is no such folder, or no such recording in it.
    """
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", hint="unpack GazeBase or GazeBaseVR there")
    every = [GazeBaseFile(path, name) for path in folder.rglob("S_*.csv") if (name := parse_file_name(path.name))]
    if not every:
        raise InputError(
            f"{folder} holds no recording of GazeBase or GazeBaseVR",
            hint="expected names such as S_1001_S1_TEX.csv; GazeBase has one archive per participant",
        )
    chosen = [
        one
        for one in every
        if (not tasks or one.name.task in tasks)
        and (not rounds or one.name.round in rounds)
        and (not people or one.name.person in people)
    ]
    if not chosen:
        known = ", ".join(sorted({one.name.task for one in every}))
        raise InputError(f"none of the {len(every):,} recordings in {folder} was asked for", hint=f"tasks: {known}")
    return tuple(sorted(chosen, key=lambda one: (one.name.person, one.name.round, one.name.session, one.name.task)))
