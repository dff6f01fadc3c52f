# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How fast files are read: each format beside our Tobii Pro Lab reader, and tables beside pymovements.

The Pro Lab reader was the slowest of the readers that came first, and the aim for others is the speed that it had
then: for as many samples, and where a sample takes more bytes than in Pro Lab's tables, for as many bytes. It has
become twice as fast since (decision 131), so the aim is half of its speed now. pymovements knows no maker's table: it
is told which columns are which, and polars' CSV reader does the work. Ratios there are for the record. Two text formats
it takes apart with its own code, as we do: SMI's is here, EyeLink's in ``bench_eyelink``. Processor time of all threads
is measured, because it depends less on what else runs.
"""

from __future__ import annotations

import gc
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Row, busy, race
from benchmarks.reader_files import FILES, gazepoint_csv, smi_text, table, tobii_tsv
from gazeveil import read, screen

SAMPLES = 1_000_000
ROUNDS = 5
AIM = 0.5
"""The Pro Lab reader took 1.1 to 1.5 s when it became the aim, and takes 0.5 to 0.7 s now."""
PLANE = screen(1920, 1080)


def run() -> list[Row]:
    others = busy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export = tobii_tsv(folder, SAMPLES)
        rows = [_beside_ours(title, make(folder, SAMPLES), export, others) for title, make in FILES.items()]
        rows += [
            _beside_begaze(smi_text(folder, SAMPLES), others),
            _beside_table("CSV table (t, x, y)", table(folder, SAMPLES), others, "t", "s", ["x", "y"]),
            _beside_table(
                "Gazepoint CSV",
                gazepoint_csv(folder, SAMPLES),
                others,
                "TIME(2026/01/01 10:00:00.000)",
                "s",
                ["BPOGX", "BPOGY"],
            ),
            _beside_table(
                "Tobii Pro Lab TSV",
                export,
                others,
                "Recording timestamp [μs]",
                "us",
                ["Gaze point X [DACS px]", "Gaze point Y [DACS px]"],
                read_csv_kwargs={"separator": "\t"},
            ),
        ]
    return rows


def _beside_ours(title: str, path: Path, export: Path, others: str) -> Row:
    ours, peer = race(partial(_stream, path), partial(_stream, export), ROUNDS, clock=time.process_time)
    gc.collect()
    size = sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size
    longer = size / export.stat().st_size
    return Row(
        f"{title}, 1,000,000 samples",
        f"our Tobii Pro Lab reader, as many {'bytes' if longer > 1 else 'samples'}",
        ours,
        peer * max(longer, 1.0),
        target=AIM,
        work=SAMPLES,
        unit="samples",
        note=f"processor time; file of {size / 1e6:.0f} MB; for as many samples {peer / ours:.2f}x{others}",
    )


def _beside_begaze(path: Path, others: str) -> Row:
    import pymovements

    reader = partial(pymovements.gaze.from_begaze, path)
    return _beside_pymovements("SMI text", path, reader, "pymovements.gaze.from_begaze", 10.0, others)


def _beside_table(
    title: str, path: Path, others: str, time_column: str, unit: str, gaze: list[str], **more: Any
) -> Row:
    import pymovements

    reader = partial(
        pymovements.gaze.from_csv, path, time_column=time_column, time_unit=unit, pixel_columns=gaze, **more
    )
    return _beside_pymovements(
        title, path, reader, "pymovements.gaze.from_csv, told the columns", 0.0, f"; note only{others}"
    )


def _beside_pymovements(
    title: str, path: Path, reader: Callable[[], Any], peer_name: str, target: float, others: str
) -> Row:
    def theirs() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reader()

    _check_same(path, theirs)
    ours, peer = race(partial(_stream, path), theirs, ROUNDS, clock=time.process_time)
    gc.collect()
    return Row(
        f"{title}, 1,000,000 samples",
        peer_name,
        ours,
        peer,
        target=target,
        work=SAMPLES,
        unit="samples",
        note=f"processor time; same times, x and y{others}",
    )


def _stream(path: Path) -> int:
    from gazeveil.gaze.formats.base import ReadOptions
    from gazeveil.gaze.reading import ChunkStream

    stream = ChunkStream(path, ReadOptions(geometry=PLANE))
    for _ in stream:
        pass
    if stream.report.samples != SAMPLES:
        raise SystemExit(f"{path.name}: read {stream.report.samples:,} samples")
    return stream.report.samples


def _check_same(path: Path, theirs: Callable[[], Any]) -> None:
    """Stop if the two readers do not see the same gaze."""
    [recording] = read(path, geometry=PLANE).recordings
    samples = theirs().samples
    pixels = np.array(samples["pixel"].to_list(), dtype=float)
    same = np.array_equal(pixels, np.column_stack([recording.x, recording.y]))
    if not same or not np.allclose(samples["time"].to_numpy() / 1e3, recording.t, rtol=0, atol=1e-3):
        raise SystemExit(f"{path.name}: the readers see other gaze")
