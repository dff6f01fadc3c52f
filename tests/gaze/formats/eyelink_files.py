# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink ASC files for the tests, made line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gazeveil import Recording, read
from gazeveil.gaze.reading import Reading

PREAMBLE = "** CONVERTED FROM ann.edf using edfapi 4.2\n** VERSION: EYELINK II 1\n**\n\n"
COORDS = "MSG\t990 GAZE_COORDS 0.00 0.00 1919.00 1079.00\n"
LEFT_SAMPLE = "{t}\t  {x}\t  {y}\t  441.0\t...\n"


def header(
    eyes: str = "LEFT", options: str = "", rate: str = "1000.00", kind: str = "GAZE", start: str = "1000"
) -> str:
    """The lines from START to SAMPLES."""
    both = "\t".join(eyes.split())
    return (
        f"START\t{start} \t{both}\tSAMPLES\tEVENTS\nPRESCALER\t1\nVPRESCALER\t1\nPUPIL\tAREA\n"
        f"EVENTS\tGAZE\t{both}\tRATE\t{rate}\tTRACKING\tCR\tFILTER\t2\n"
        f"SAMPLES\t{kind}\t{both}\tRATE\t{rate}\tTRACKING\tCR\tFILTER\t2{options}\n"
    )


def block(lines: str, eyes: str = "LEFT", options: str = "", **more: str) -> str:
    return header(eyes, options, **more) + lines + "END\t2000 \tSAMPLES\tEVENTS\tRES\t  47.75\t  45.92\n"


def samples(first: int = 1000, count: int = 3) -> str:
    return "".join(LEFT_SAMPLE.format(t=first + step, x=100.5 + step, y=200.5) for step in range(count))


def asc(folder: Path, text: str | bytes, name: str = "ann.asc") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read_text(folder: Path, text: str | bytes, **options: Any) -> Reading:
    return read(asc(folder, text), format="eyelink-asc", **options)


def only(reading: Reading) -> Recording:
    (recording,) = reading.recordings
    return recording


def same(values: Any, expected: list[float]) -> bool:
    return bool(np.array_equal(np.asarray(values), np.asarray(expected), equal_nan=True))
