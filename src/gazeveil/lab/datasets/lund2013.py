# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The hand-labelled recordings of Andersson et al.

2017: 34 at 500 Hz, of participants looking at images, dots and videos.

Two experts, MN and RA, labelled every sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.datasets._tables import read_table

LUND_FOLDER: Final = "lund2013"
"""How its folder is called among the data sets."""
FILE: Final = "lund2013.parquet"
SCREEN: Final = screen(1024, 768, 380, 300, 670)
RATE: Final = 500.0
STIMULI: Final = ("img", "dots", "video")
CODERS: Final = ("MN", "RA")

_COLUMNS = ("source", "user", "stimulus", "kind", "coder", "i", "x", "y", "label")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A recording and what each expert said of each sample."""

    stimuli: str
    recording: Recording
    labels: Mapping[str, NDArray[np.int8]]


def load(folder: Path) -> list[Labelled]:
    """Read the hand-labelled recordings, with the file that Zemblys et al. 2018 corrected in place of the original.

    Gaze at exactly (0, 0) is how the tracker marks a lost eye. Where the experts' files differ in length by a few
    samples, the end that only one has is left out.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    path = Path(folder) / FILE
    table = read_table(
        path,
        _COLUMNS,
        hint="it is the labelled data of github.com/richardandersson/EyeMovementDetectorEvaluation as one table, "
        "described in the reference on events",
    )
    text = pl.col("source", "user", "stimulus", "kind", "coder").cast(pl.String)
    table = table.select(_COLUMNS).with_columns(text).sort("i", maintain_order=True)
    # sorted so that a corrected file, where there is one, comes first and is taken
    by_coder = table.sort(pl.col("source") == "article", maintain_order=True).partition_by(
        "kind", "user", "stimulus", "coder", "source", as_dict=True, maintain_order=True
    )
    recordings: dict[tuple[str, str, str], dict[str, pl.DataFrame]] = {}
    for (kind, user, stimulus, coder, _), part in by_coder.items():
        recordings.setdefault((str(kind), str(user), str(stimulus)), {}).setdefault(str(coder), part)
    return [_labelled(path, *key, parts) for key, parts in sorted(recordings.items(), key=lambda pair: pair[0])]


def _labelled(path: Path, stimuli: str, user: str, stimulus: str, parts: dict[str, pl.DataFrame]) -> Labelled:
    if set(parts) != set(CODERS) or stimuli not in STIMULI:
        raise FileFormatError(
            path,
            column="coder",
            expected=f"labels of {' and '.join(CODERS)} on {', '.join(STIMULI)}",
            found=f"{' and '.join(sorted(parts))} on {stimuli} for {user} {stimulus}",
        )
    length = min(len(part) for part in parts.values())
    gaze = parts[CODERS[0]].head(length)
    x, y = (gaze[name].cast(pl.Float64).to_numpy() for name in ("x", "y"))
    recording = Recording(
        gaze["i"].to_numpy() / RATE, x, y, SCREEN, user, stimulus, valid=(x != 0) | (y != 0), rate_hz=RATE
    )
    labels = {coder: part["label"].head(length).cast(pl.Int8).to_numpy() for coder, part in parts.items()}
    return Labelled(stimuli, recording, MappingProxyType(labels))
