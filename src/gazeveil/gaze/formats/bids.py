# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""BIDS eye tracking: ``…_recording-eye1_physio.tsv.gz`` with JSON sidecars, one file per eye, in a data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats import _bids_write
from gazeveil.gaze.formats._beside import add_bad_lines, aside
from gazeveil.gaze.formats._bids_names import DESCRIPTION, Sidecars
from gazeveil.gaze.formats._bids_read import by_recording, eyes_beside, is_eye_tracking, read_recording
from gazeveil.gaze.formats._bids_validate import validate
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format

__all__ = ["Bids", "validate"]


@file_format("bids")
class Bids:
    """Reads one recording (all eyes of it) or a whole data set; writes a data set and checks it."""

    title = "BIDS eye tracking"
    suffixes = (".tsv.gz",)
    lost = ()

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a data set, or a physiological recording that says it is eye tracking."""
        if path.is_dir():
            return (path / DESCRIPTION).is_file()
        return is_eye_tracking(path, Sidecars())

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording that a file belongs to, or all recordings of a data set."""
        sidecars = Sidecars()
        if not path.is_dir():
            yield from read_recording(eyes_beside(path), sidecars, options, report)
            return
        files = [file for file in sorted(path.glob("sub-*/**/*_physio.tsv*")) if is_eye_tracking(file, sidecars)]
        if not files:
            raise FileFormatError(
                path,
                expected="eye tracking (…_physio.tsv.gz whose sidecar says PhysioType eyetrack)",
                found="a data set without",
            )
        recordings = by_recording(files)
        for done, eyes in enumerate(recordings, start=1):
            own = aside(report)
            for chunk in read_recording(eyes, sidecars, options, own):
                report.rules_kept = own.rules_kept
                yield chunk
            add_bad_lines(report, own)
            report.fraction = done / len(recordings)

    def write(self, chunks: Iterable[Chunk], path: Path) -> tuple[str, ...]:
        """Write a data set; a derivative, if gaze is veiled."""
        _bids_write.write(chunks, path)
        return ()
