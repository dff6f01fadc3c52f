# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""BIDS eye tracking: ``…_recording-eye1_physio.tsv.gz`` with JSON sidecars, one file per eye, in a data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats import _bids_write
from gazeveil.gaze.formats._bids_names import DESCRIPTION, parse_bids_name, sidecar_of
from gazeveil.gaze.formats._bids_read import eyes_beside, read_recording
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format


@file_format("bids")
class Bids:
    """Reads one recording (all eyes of it) or a whole data set; writes a data set and checks it."""

    title = "BIDS eye tracking"
    suffixes = (".tsv.gz",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a data set, or a physiological recording that says it is eye tracking."""
        if path.is_dir():
            return (path / DESCRIPTION).is_file()
        return _is_eye_tracking(path)

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording that a file belongs to, or all recordings of a data set."""
        if not path.is_dir():
            yield from read_recording(eyes_beside(path), options, report)
            return
        files = [file for file in sorted(path.glob("sub-*/**/*_physio.tsv*")) if _is_eye_tracking(file)]
        if not files:
            raise FileFormatError(
                path,
                expected="eye tracking (…_physio.tsv.gz whose sidecar says PhysioType eyetrack)",
                found="a data set without",
            )
        done: set[Path] = set()
        for file in files:
            if file not in done:
                eyes = eyes_beside(file)
                done.update(eyes)
                yield from read_recording(eyes, options, report)

    write = staticmethod(_bids_write.write)


def _is_eye_tracking(path: Path) -> bool:
    name = parse_bids_name(path.name)
    if name is None or name.suffix != "physio" or name.extension not in {".tsv.gz", ".tsv"}:
        return False
    try:
        return bool(sidecar_of(path).get("PhysioType") == "eyetrack")
    except FileFormatError:
        return True  # a broken sidecar: reading it will say what is wrong
