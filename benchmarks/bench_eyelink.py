# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink ASC files: how fast binocular samples, events and messages are read, and in how much memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, race

SAMPLES = 1_000_000
TRIAL_SAMPLES = 20_000


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.asc"
        write_asc(path, SAMPLES)
        check_same(path)
        ours, peer = race(lambda: read_ours(path), lambda: read_peer(path), rounds=3, peer_rounds=2)
        return [
            Row(
                "EyeLink ASC, 1,000,000 binocular samples, all events and messages",
                "pymovements.gaze.from_asc (samples and events)",
                ours,
                peer,
                target=20,
                work=SAMPLES,
                unit="samples",
                note=f"same x and y in both; file of {path.stat().st_size / 1e6:.0f} MB; {memory_note(Path(folder))}",
            )
        ]


def read_ours(path: Path) -> int:
    from gazeveil.gaze.reading import ChunkStream

    stream = ChunkStream(path)
    for _ in stream:
        pass
    return stream.report.samples


def read_peer(path: Path) -> object:
    import pymovements

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pymovements.gaze.from_asc(path)


def check_same(path: Path) -> None:
    """Stop if the two readers do not see the same gaze."""
    from gazeveil import read

    gaze = read_peer(path)
    theirs = np.array(gaze.samples["pixel"].to_list())  # type: ignore[attr-defined]
    times = gaze.samples["time"].to_numpy()  # type: ignore[attr-defined]
    recordings = read(path).recordings
    eyes = [[getattr(getattr(item, eye), axis) for item in recordings] for eye in ("left", "right") for axis in "xy"]
    mine = np.stack([np.concatenate(parts) for parts in eyes], axis=1)
    theirs = theirs.astype(float)
    seen = ~np.isnan(mine)
    if len(mine) != SAMPLES or not np.array_equal(np.concatenate([item.t for item in recordings]), times / 1000):
        raise SystemExit("the readers see other times")
    # the peer keeps positions where there is no pupil; ours calls them missing, and there are none in this file
    if not np.array_equal(mine[seen], theirs[seen]) or not np.isnan(theirs[~seen]).all():
        raise SystemExit("the readers see other gaze")


def memory_note(folder: Path) -> str:
    """Return the peak memory of streaming the file, and one four times as large, each in a process of its own."""
    peaks = []
    for times in (1, 4):
        path = folder / f"times{times}.asc"
        write_asc(path, times * SAMPLES)
        code = "import sys; from benchmarks import bench_eyelink as b; b.read_ours(b.Path(sys.argv[1])); b.tell_peak()"
        told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
        peaks.append(float(told.stdout))
        path.unlink()
    return f"peak memory {peaks[0]:.0f} MiB, for a file 4x as large {peaks[1]:.0f} MiB"


def tell_peak() -> None:
    """Print this process's peak memory in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent process held when it started this one
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        print(int(peak.split()[1]) / 1024)
    else:
        unit = 2**20 if sys.platform == "darwin" else 1024
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def write_asc(path: Path, samples: int) -> None:
    """Write a recording with fixations, saccades and blinks of both eyes at 1000 Hz, in blocks of 20 s."""
    rng = np.random.default_rng(20260101)
    with path.open("w", newline="\n") as file:
        file.write("** CONVERTED FROM STUDY.EDF using edfapi\n** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED\n")
        file.write("** VERSION: EYELINK II 1\n** SOURCE: EYELINK CL\n**\n\nMSG\t100000 DISPLAY_COORDS 0 0 1919 1079\n")
        begin = 101_000
        for trial, first in enumerate(range(0, samples, TRIAL_SAMPLES), start=1):
            length = min(TRIAL_SAMPLES, samples - first)
            file.writelines(_block(rng, trial, begin, length))
            begin += length + 1_500


def _block(rng: np.random.Generator, trial: int, begin: int, length: int) -> Iterator[str]:
    yield f"MSG\t{begin - 20} TRIALID {trial}\nMSG\t{begin - 10} RECCFG CR 1000 2 1 LR\n"
    yield f"MSG\t{begin - 10} GAZE_COORDS 0.00 0.00 1919.00 1079.00\n"
    yield f"START\t{begin} \tLEFT\tRIGHT\tSAMPLES\tEVENTS\nPRESCALER\t1\nVPRESCALER\t1\nPUPIL\tAREA\n"
    yield "EVENTS\tGAZE\tLEFT\tRIGHT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2\n"
    yield "SAMPLES\tGAZE\tLEFT\tRIGHT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2\n"
    yield f"MSG\t{begin} !MODE RECORD CR 1000 2 1 LR\n"
    done = 0
    x, y = rng.uniform(200, 1700), rng.uniform(200, 900)
    while done < length:
        fixation = min(int(rng.gamma(5, 50)) + 60, length - done)
        yield from _fixation(rng, begin + done, fixation, x, y)
        done += fixation
        jump = min(int(rng.integers(20, 60)), length - done)
        to_x, to_y = rng.uniform(200, 1700), rng.uniform(200, 900)
        if jump:
            yield from _saccade(rng, begin + done, jump, (x, y, to_x, to_y))
        done, x, y = done + jump, to_x, to_y
        if rng.random() < 0.1:
            yield f"MSG\t{begin + done} !V TRIAL_VAR shown picture_{trial}.png\n"
    yield f"END\t{begin + length} \tSAMPLES\tEVENTS\tRES\t  47.75\t  45.92\n"
    yield f"MSG\t{begin + length + 5} TRIAL_RESULT 0\n"


def _fixation(rng: np.random.Generator, start: int, length: int, x: float, y: float) -> Iterator[str]:
    yield f"SFIX L   {start}\nSFIX R   {start}\n"
    yield from _samples(start, rng.normal([x, y, 900, x + 4, y + 1, 880], [1, 1, 5, 1, 1, 5], (length, 6)))
    for eye, at in (("L", x), ("R", x + 4)):
        yield f"EFIX {eye}   {start}\t{start + length - 1}\t{length}\t{at:7.1f}\t{y:7.1f}\t    890\n"


def _saccade(
    rng: np.random.Generator, start: int, length: int, path: tuple[float, float, float, float]
) -> Iterator[str]:
    x, y, to_x, to_y = path
    yield f"SSACC L  {start}\nSSACC R  {start}\n"
    if blink := length > 45:
        yield f"SBLINK L {start}\nSBLINK R {start}\n"
        yield from (f"{start + step}\t   .\t   .\t    0.0\t   .\t   .\t    0.0\t.C.C.\n" for step in range(length))
        yield from (f"EBLINK {eye} {start}\t{start + length - 1}\t{length}\n" for eye in "LR")
    else:
        way = np.linspace(0, 1, length)[:, None]
        middle = np.array([x, y, 900, x + 4, y + 1, 880]) + way * np.array([to_x - x, to_y - y, 0] * 2)
        yield from _samples(start, rng.normal(middle, 1))
    amplitude = np.hypot(to_x - x, to_y - y) / 47
    for eye in "LR":
        ends = f"{x:7.1f}\t{y:7.1f}\t{to_x:7.1f}\t{to_y:7.1f}\t{amplitude:7.2f}\t    {300 + blink:d}"
        yield f"ESACC {eye}  {start}\t{start + length - 1}\t{length}\t{ends}\n"


def _samples(start: int, values: np.ndarray) -> Iterator[str]:
    for step, (lx, ly, lp, rx, ry, rp) in enumerate(values.tolist()):
        yield f"{start + step}\t{lx:7.1f}\t{ly:7.1f}\t{lp:7.1f}\t{rx:7.1f}\t{ry:7.1f}\t{rp:7.1f}\t.....\n"
