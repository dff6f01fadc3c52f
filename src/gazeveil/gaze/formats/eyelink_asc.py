# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink ASC, into which the tracker's ``edf2asc`` converts its recordings.

A file is a preamble of ``**`` lines and then recording blocks, each from a line START to a line END; a block is a
trial. Within a block there are sample lines, which begin with a digit, and lines that begin with a keyword. Between
blocks there are messages and the reports of calibrations, which are free text.

This file walks over the lines: a compiled kernel runs over stretches of samples, `Blocks` takes in all other lines.

Two things may be stated later than they are needed: a trial's name, which experiments often send after the trial, and
whether pupils were recorded at all. Where a chunk must be handed on before that is known, the file is read ahead once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.errors import FileFormatError, InternalError
from gazeveil.gaze.fileio.eyelink import (
    BEGINNINGS,
    BOTH_EYES,
    ENDINGS,
    Blocks,
    Misfit,
    Names,
    Shape,
    Trial,
    eyelink_event_table,
    read_sample,
    shown,
)
from gazeveil.gaze.fileio.eyelink_writer import EyeLinkFile
from gazeveil.gaze.fileio.messages import may_be_named
from gazeveil.gaze.fileio.text import text_blocks
from gazeveil.gaze.fileio.writing import write_files
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format

_LOOKS_LIKE_ASC = re.compile(
    rb"^(?:\*\* CONVERTED FROM .*\.edf\b|\*\* .*EYELINK"
    rb"|START[ \t]+\d+(?:\.\d+)?[ \t].*(?:SAMPLES|EVENTS)|SAMPLES[ \t]+(?:GAZE|HREF|PUPIL)\b)",
    re.MULTILINE | re.IGNORECASE,
)
_SAMPLE_LINE = re.compile(rb"\d+(?:\.\d+)?(?:[ \t]+(?:-?\d+\.\d+|\.)){3,}[ \t]*(?:[A-Z.]{3,5}[ \t]*)?\r?\n")
_STRUCTURE = (b"START", b"END", b"SAMPLES")
_LINES_TO_DECIDE_BY = 5
_LINES_TO_NOTE = 4096
_BLOCK_BYTES = 2 << 20  # stays in a processor's cache
_MOST_ROWS = 1 << 20
_MOST_EVENTS = 50_000
_NO_EYE = 99


@file_format("eyelink-asc")
class EyeLinkAsc:
    """EyeLink recordings as text; blocks become trials, and the eyes may change from block to block."""

    title = "EyeLink ASC"
    suffixes = (".asc",)
    lost = ("session", "geometry")
    names_from_messages = True

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether there is a preamble or a block as EyeLink writes it, or an .asc file of nothing but samples."""
        if _LOOKS_LIKE_ASC.search(head):
            return True
        return ".asc" in path.suffixes and _SAMPLE_LINE.match(head.lstrip()) is not None

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the file's blocks as trials, chunk by chunk."""
        yield from _Reading(path, options, report).chunks()

    def write(self, chunks: Iterable[Chunk], path: Path) -> tuple[str, ...]:
        """Write a file for each participant, with a block for each recording."""
        return write_files(chunks, path, EyeLinkFile, self.lost)


class _Reading:
    """One file being read, with the samples that wait to become a chunk."""

    def __init__(self, path: Path, options: ReadOptions, report: ReadReport) -> None:
        from gazeveil.gaze.fileio import text_kernels  # noqa: PLC0415  (numba loads on use)

        self.kernels = text_kernels
        self.path, self.options, self.report = path, options, report
        self.blocks = Blocks(path, options, report)
        self.most_rows = min(options.chunk_rows, _MOST_ROWS)
        self.values = np.empty((1 + 3 * len(BOTH_EYES), self.most_rows))
        self.rows = 0
        self.noted = np.empty((_LINES_TO_NOTE, 5), dtype=np.int64)
        self.any_samples = False
        self.pupils: bool | None = None  # None: not known yet
        self.names: dict[int, Names] | None = None

    def chunks(self) -> Iterator[Chunk]:
        yield from self.read_all()
        if not self.any_samples:
            raise self._nothing_found()

    def read_all(self) -> Iterator[Chunk]:
        blocks = text_blocks(self.path, self.report, self.options.encoding, _BLOCK_BYTES, mend_last_line=False)
        for block in blocks:
            cut = block.data.rfind(b"\n") + 1
            whole, unfinished = block.data[:cut], block.data[cut:]
            yield from self._read_lines(whole, block.first_line)
            if unfinished:
                yield from self._read_unfinished(unfinished, block.first_line + whole.count(b"\n"))
        self.blocks.finish()
        yield from self._close_trial()

    def _read_lines(self, data: bytes, line: int) -> Iterator[Chunk]:
        """Let the kernel run over the samples, and look at every other line in between."""
        view = np.frombuffer(data, dtype=np.uint8)
        position = 0
        while position < len(view):
            shape, kept, room = self._how_to_read()
            # between blocks one line at a time, since any of them may begin the next trial
            noted = self.noted if self.blocks.recording else self.noted[:1]
            position, line, self.rows, notes, unread = self.kernels.read_lines(
                view, position, line, np.array(shape), kept, self.values, self.rows, room, noted
            )
            self.report.bad_lines += unread
            yield from self._look_at(data, noted[:notes].tolist())
            trial = self.blocks.trial
            if self.rows == self.most_rows or (trial is not None and len(trial.events) > _MOST_EVENTS):
                yield from self._flush()
            undecided = trial is None or (trial.layout is None and not trial.unreadable)
            if not undecided or not data[position : position + 1].isdigit():
                continue
            if not self.blocks.decide_layout(_sample_lines(data, position), line):
                position, line = data.index(b"\n", position) + 1, line + 1

    def _how_to_read(self) -> tuple[Shape, int, int]:
        """Return the shape of a sample line, how many of its numbers to keep, and up to which row to fill."""
        trial = self.blocks.trial
        if trial is not None and trial.layout is not None and not trial.unreadable:
            return trial.layout.shape, trial.layout.kept, self.most_rows
        if trial is not None and trial.unreadable:
            return Shape(0), 0, self.rows
        return Shape(1), 0, self.rows  # not known yet: without room, the kernel stops at the first sample

    def _look_at(self, data: bytes, noted: list[list[int]]) -> Iterator[Chunk]:
        dropped: list[int] = []
        for kind, start, end, line, row in noted:
            text = data[start:end]
            if kind == self.kernels.ODD_SAMPLE:
                if not self._read_with_care(text, line, row):
                    dropped.append(row)
                continue
            if text.startswith(BEGINNINGS):
                continue
            words = text.split()
            if not words:
                continue
            if self.blocks.closed_by(words):
                dropped = self._drop_rows(dropped)
                yield from self._close_trial()
            self.blocks.take(text, words, line)
        self._drop_rows(dropped)

    def _read_with_care(self, text: bytes, line: int, row: int) -> bool:
        """Read a sample line that is not plain; say whether it is a sample at all."""
        trial = self.blocks.trial
        if trial is None or trial.layout is None:
            raise InternalError("a sample line was read before its layout was known")
        values = read_sample(text, trial.layout)
        if isinstance(values, Misfit):
            self.report.bad(values.error(self.path, line))
            return False
        self.values[: len(values), row] = values
        return True

    def _drop_rows(self, dropped: list[int]) -> list[int]:
        if dropped:
            keep = np.ones(self.rows, dtype=np.bool_)
            keep[dropped] = False
            self.values[:, : keep.sum()] = self.values[:, : self.rows][:, keep]
            self.rows = int(keep.sum())
        return []

    def _read_unfinished(self, text: bytes, line: int) -> Iterator[Chunk]:
        """Read the last line of a file that does not end in a line feed: its last number may have lost digits."""
        trial = self.blocks.trial
        shape = trial.layout.shape if trial is not None and trial.layout is not None else None
        ends_in_flags = shape is not None and bool(shape.flags_length or shape.target_flags_length)
        keyword = text.split(None, 1)[:1]
        if (text[:1].isdigit() and not ends_in_flags) or (keyword and keyword[0] in (*ENDINGS, b"BUTTON", b"INPUT")):
            hint = "the file may be cut off: copy it again, or drop the line with --skip-bad"
            self.report.bad(
                Misfit(None, "a line end", f"the file's end after {shown(text)}").error(self.path, line, hint)
            )
            return
        yield from self._read_lines(text + b"\n", line)

    def _close_trial(self) -> Iterator[Chunk]:
        yield from self._flush(closing=True)
        self.blocks.close()

    def _flush(self, *, closing: bool = False) -> Iterator[Chunk]:
        """Hand on what there is of the current trial; before its first sample, events wait."""
        trial = self.blocks.trial
        if trial is not None and trial.layout is not None and trial.geometry is not None:
            if self.rows or trial.events:
                yield from self._hand_on(trial, closing)
            self.rows, trial.events = 0, []

    def _hand_on(self, trial: Trial, closing: bool) -> Iterator[Chunk]:
        if trial.geometry is None:
            raise InternalError("a trial without a screen has no samples")
        if trial.key is None:
            known = closing or (trial.stimulus.settled and trial.trial.settled)
            trial.key = self.blocks.key_of(trial, trial.names if known else self._names_ahead(trial))
        self.any_samples |= self.rows > 0
        samples, happened = self._samples(trial), eyelink_event_table(trial.events)
        yield Chunk(trial.key, samples, trial.geometry, happened, self.blocks.rate_hz, trial.pupil_unit)

    def _names_ahead(self, trial: Trial) -> Names:
        """Return the names of a trial once all its messages are read."""
        if self.names is None:
            self.names = _names_of_trials(self.path, self.options, self.blocks)
        return self.names.get(trial.number, trial.names)

    def _without_pupils(self, trial: Trial) -> bool:
        """Whether the pupil is 0 in the whole file, though there is gaze: then it was not recorded."""
        if self.pupils is None and trial.layout is not None:
            if self._any_pupil(trial):
                self.pupils = True
            elif self._any_gaze(trial):
                ahead = _PupilsAhead(self.path, self.options, ReadReport(skip_bad=True))
                self.pupils = any(True for _ in ahead.read_all())
                if not self.pupils:
                    self.report.remark("the pupil was not recorded (it is 0 throughout); gaze is kept")
        return self.pupils is False

    def _any_gaze(self, trial: Trial) -> bool:
        eyes = 0 if trial.layout is None else len(trial.layout.eyes)
        across, down = (np.isfinite(self.values[axis : 3 * eyes + 1 : 3, : self.rows]) for axis in (1, 2))
        return bool((across & down).any())

    def _any_pupil(self, trial: Trial) -> bool:
        eyes = 0 if trial.layout is None else len(trial.layout.eyes)
        return bool((self.values[3 : 3 * eyes + 1 : 3, : self.rows] > 0).any())

    def _samples(self, trial: Trial) -> pl.DataFrame:
        if trial.layout is None:
            raise InternalError("a trial without a layout has no samples")
        eyes = trial.layout.eyes
        chosen = -1
        if self.options.eye != "both" and eyes != ("",):
            chosen = eyes.index(self.options.eye) if self.options.eye in eyes else _NO_EYE
        gaze, valid = self.kernels.combine_raw_eyes(
            self.values, len(eyes), self.rows, trial.screen.left, trial.screen.top, chosen, self._without_pupils(trial)
        )
        columns = [pl.Series("t", self.values[0, : self.rows].copy())]
        for number, prefix in [(len(eyes), ""), *((number, f"{eye}_") for number, eye in enumerate(eyes) if eye)]:
            for axis, what in enumerate(("x", "y", "pupil")):
                columns.append(pl.Series(prefix + what, gaze[3 * number + axis], nan_to_null=True))
            columns.append(pl.Series(f"{prefix}valid", valid[number]))
        return pl.DataFrame(columns)

    def _nothing_found(self) -> FileFormatError:
        found = "none"
        if self.report.first_bad:
            found = f"none that can be read; the first of {self.report.bad_lines:,} bad lines: "
            found += self.report.first_bad[0].message
        hint = "if only events were converted, convert the recording with samples: edf2asc without -e"
        return FileFormatError(self.path, expected="samples", found=found, hint=hint)


class _NamesAhead(_Reading):
    """Skips all samples, to find the names of the trials."""

    def __init__(self, path: Path, options: ReadOptions, report: ReadReport) -> None:
        super().__init__(path, options, report)
        self.found: dict[int, Names] = {}

    def _how_to_read(self) -> tuple[Shape, int, int]:
        trial = self.blocks.trial
        if trial is not None and trial.layout is not None:
            return Shape(0), 0, self.rows
        return super()._how_to_read()

    def _close_trial(self) -> Iterator[Chunk]:
        trial = self.blocks.trial
        if trial is not None:
            self.found[trial.number] = trial.names
        yield from super()._close_trial()

    def _hand_on(self, trial: Trial, closing: bool) -> Iterator[Chunk]:
        yield from ()


class _PupilsAhead(_Reading):
    """Yields something for every stretch of samples that has a pupil."""

    def _hand_on(self, trial: Trial, closing: bool) -> Iterator[Chunk]:
        if self.rows and self._any_pupil(trial) and trial.geometry is not None:
            yield Chunk(self.options.key(self.path), pl.DataFrame(), trial.geometry)


def _names_of_trials(path: Path, options: ReadOptions, blocks: Blocks) -> dict[int, Names]:
    """Return the names of each trial of a file; nothing if by a quick check no message can name one."""
    report = ReadReport(skip_bad=True)
    lines = text_blocks(path, report, options.encoding, _BLOCK_BYTES)
    rules = (blocks.stimulus_rules, blocks.trial_rules)
    if not any(may_be_named(block.data, each) for block in lines for each in rules):
        return {}
    ahead = _NamesAhead(path, options, report)
    for _ in ahead.read_all():
        pass
    return ahead.found


def _sample_lines(data: bytes, position: int) -> list[bytes]:
    """Return the first few sample lines of a block from ``position`` on."""
    lines: list[bytes] = []
    while position < len(data) and len(lines) < _LINES_TO_DECIDE_BY:
        end = data.index(b"\n", position)
        text = data[position:end]
        if text[:1].isdigit():
            lines.append(text)
        elif text.startswith(_STRUCTURE):
            break
        position = end + 1
    return lines
