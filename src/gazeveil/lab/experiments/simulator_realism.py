# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How like real eyes the simulated ones are: the same measures on open data sets and on simulated twins.

Each data set has a twin: simulated participants on the same viewing plane, through a tracker of the same rate, looking
for as long. Both go through the same measuring code. Where hand labels or a tracker's own fixations are at hand they
are used for the real side, and what the simulated eye truly did for the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.gaze.events import VelocityThreshold
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Unit, headset, screen
from gazeveil.lab.datasets import eyetribe, osie_fixations, vr_samples
from gazeveil.simulate import TRACKERS, Population, Region, RegionKind, SimulatedStudy, Stimulus, Tracker, record

_WINDOW = 128  # samples of a velocity spectrum


@dataclass(slots=True)
class Measures:
    """Numbers gathered under the names of what they measure."""

    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, *numbers: float) -> None:
        """Take in numbers of one measure."""
        self.values[name].extend(numbers)

    def of(self, name: str) -> FloatArray:
        """Return all finite numbers of one measure."""
        numbers = np.array(self.values.get(name, ()), dtype=np.float64)
        return numbers[np.isfinite(numbers)]


def ks_distance(one: FloatArray, other: FloatArray) -> float:
    """Return the largest gap between two empirical distribution functions (Kolmogorov and Smirnov)."""
    one, other = np.sort(one), np.sort(other)
    at = np.concatenate((one, other))
    below_one = np.searchsorted(one, at, side="right") / len(one)
    below_other = np.searchsorted(other, at, side="right") / len(other)
    return float(np.abs(below_one - below_other).max())


def compare(data_set: str, real: Measures, simulated: Measures, units: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one row per measure: quantiles of both sides and how far the distributions lie apart."""
    rows = []
    for measure, unit in units.items():
        sides = real.of(measure), simulated.of(measure)
        if not all(len(side) for side in sides):
            continue
        row: dict[str, Any] = {"data_set": data_set, "measure": measure, "unit": unit}
        for name, side in zip(("real", "simulated"), sides, strict=True):
            row[f"{name}_n"] = len(side)
            for percent in (10, 50, 90):
                row[f"{name}_{percent}"] = float(np.quantile(side, percent / 100))
        row["ks"] = ks_distance(*sides) if min(map(len, sides)) > 4 else float("nan")
        rows.append(row)
    return rows


def runs(labels: NDArray[Any]) -> Iterable[tuple[int, int, Any]]:
    """Yield begin, end and label of every stretch of equal labels."""
    edges = np.concatenate(([0], np.flatnonzero(labels[1:] != labels[:-1]) + 1, [len(labels)]))
    for begin, end in pairwise(edges.tolist()):
        yield begin, end, labels[begin]


def add_saccade(into: Measures, x: FloatArray, y: FloatArray, begin: int, end: int, rate: float) -> None:
    """Measure one saccade: how far, how long, and how fast at most, from the samples around it."""
    last = min(end, len(x) - 1)
    amplitude = float(np.hypot(x[last] - x[begin], y[last] - y[begin]))
    around = slice(max(begin - 3, 0), min(end + 3, len(x)))
    step = 2.0 / rate
    speed = np.hypot(x[around][2:] - x[around][:-2], y[around][2:] - y[around][:-2]) / step
    if not np.isfinite(amplitude) or not len(speed) or not np.isfinite(speed).all():
        return
    peak = float(speed.max())
    into.add("saccade amplitude", amplitude)
    into.add("saccade duration", 1000.0 * (end - begin) / rate)
    for low, high in ((0.5, 1.5), (2, 4), (5, 8), (10, 15)):
        if low <= amplitude < high:
            into.add(f"peak velocity, {low:g}-{high:g} deg", peak)


def add_settling(into: Measures, x: FloatArray, y: FloatArray, begin: int, end: int, rate: float) -> None:
    """Measure how far the gaze swings along a saccade of 3 to 12 degrees in the 32 ms after it."""
    swing, rest = round(0.032 * rate), round(0.08 * rate)
    dx, dy = x[end] - x[begin], y[end] - y[begin]
    amplitude = float(np.hypot(dx, dy))
    if 3 <= amplitude < 12:
        along = (x[end : end + rest] * dx + y[end : end + rest] * dy) / amplitude
        settled = along[round(0.05 * rate) :].mean()
        into.add("swing after a saccade, forth", float(along[:swing].max() - settled))
        into.add("swing after a saccade, back", float(along[:swing].min() - settled))


def add_steadiness(into: Measures, x: FloatArray, y: FloatArray) -> None:
    """Measure how the gaze trembles while it rests: from sample to sample, and altogether."""
    if len(x) < 8 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return
    steps = float(np.sqrt(np.mean(np.diff(x) ** 2 + np.diff(y) ** 2)))
    spread = float(np.sqrt(x.var() + y.var()))
    if spread > 0:
        into.add("RMS-S2S", steps)
        into.add("STD", spread)
        into.add("RMS-S2S / STD", steps / spread)


def add_spectrum(into: Measures, place: FloatArray, rate: float) -> None:
    """Measure how the velocity of resting gaze is spread over frequencies."""
    if len(place) <= _WINDOW or not np.isfinite(place).all():
        return
    velocity = np.diff(place[: _WINDOW + 1]) * rate
    power = np.abs(np.fft.rfft((velocity - velocity.mean()) * np.hanning(_WINDOW))) ** 2
    frequency = np.fft.rfftfreq(_WINDOW, 1.0 / rate)
    bands = [power[(frequency >= low) & (frequency < high)].mean() for low, high in ((4, 16), (16, 64), (64, 200))]
    if min(bands) > 0:
        into.add("velocity power, 16-64 Hz over 4-16 Hz", float(np.log10(bands[1] / bands[0])))
        into.add("velocity power, 64-200 Hz over 16-64 Hz", float(np.log10(bands[2] / bands[1])))
        middle = (frequency >= 4) & (frequency < 100)
        slope = np.polyfit(np.log10(frequency[middle]), np.log10(power[middle] + 1e-12), 1)[0]
        into.add("velocity spectrum slope, 4-100 Hz", float(slope))


# --- How like real eyes the simulated ones are: the same measures on open data sets and on simulated twins.


SEED = 2026

_LUND_SCREEN = screen(1024, 768, 380, 300, 670)
# taken as 33.7 x 25.3 degrees of visual angle; the data do not state it, and amplitudes scale with it
_OSIE_SCREEN = screen(800, 600, 345.3, 255.9, 570)
# the screen is not stated; 0.27 mm pixels are those of a usual 24-inch monitor; 600 mm as stated
_EYETRIBE_PIXEL_MM = 0.27
_HEADSET = headset(96, 72)
_STILL_HEAD_DEG = 0.5
# the task was to keep looking at the middle
_DOT = Stimulus("dot", (Region("dot", RegionKind.THING, "ellipse", 0.5, 0.5, 0.05, 0.08, 50.0),))

_LUND_TRACKER = Tracker("tower", rate_hz=500, geometry=_LUND_SCREEN, noise_deg=0.21, noise_type=0.12, accuracy_deg=0.5)

_FIXATION, _SACCADE, _OSCILLATION = 1, 2, 3


def run(data: Path, seed: int = SEED) -> list[dict[str, Any]]:
    """Compare simulated participants with every data set found under ``data``.

    Returns:
        One row per data set and measure: 10, 50 and 90 % quantiles of real and simulated, and the KS distance.

    Raises:
        InputError: If none of the data sets is there.
    """
    rows: list[dict[str, Any]] = []
    for file, judge in _JUDGES.items():
        if (data / file).exists():
            rows += judge(data / file, seed)
    if not rows:
        raise InputError(f"none of the data sets is in {data}", hint=f"expected at least one of {', '.join(_JUDGES)}")
    return rows


def to_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| data set | measure | unit | real 10 / 50 / 90 % | simulated 10 / 50 / 90 % | KS | n real | n simulated |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        real, simulated = (
            " / ".join(f"{row[f'{side}_{percent}']:.3g}" for percent in (10, 50, 90)) for side in ("real", "simulated")
        )
        distance = "" if np.isnan(row["ks"]) else f"{row['ks']:.2f}"
        lines.append(
            f"| {row['data_set']} | {row['measure']} | {row['unit']} | {real} | {simulated} | {distance} "
            f"| {row['real_n']:,} | {row['simulated_n']:,} |"
        )
    return "\n".join(lines)


# --- lund2013: 500 Hz, pictures, labelled by hand (Andersson et al. 2017) -------------------------------------------


def _lund(file: Path, seed: int) -> list[dict[str, Any]]:
    table = pl.read_parquet(file).filter(
        (pl.col("kind").cast(pl.String) == "img") & (pl.col("coder").cast(pl.String) == "RA")
    )
    real = Measures()
    for _, one in table.sort("i").group_by("user", "stimulus", maintain_order=True):
        x, y = _LUND_SCREEN.convert(one["x"].to_numpy(), one["y"].to_numpy(), Unit.DEGREE)
        labels = one["label"].to_numpy().copy()
        labels[labels == _OSCILLATION] = _FIXATION  # a fixation lasts from saccade to saccade
        _measure_labelled(real, x, y, labels, 500.0)
    simulated = Measures()
    twin = SimulatedStudy(observers=20, stimuli=2, sessions=1, tracker=_LUND_TRACKER, seconds=8, seed=seed)
    for recording in twin.recordings():
        degrees = recording.to(Unit.DEGREE)
        _measure_labelled(simulated, degrees.x, degrees.y, _true_labels(recording), 500.0)
    units = {
        "fixation duration": "ms",
        "saccade amplitude": "deg",
        "saccade duration": "ms",
        "peak velocity, 0.5-1.5 deg": "deg/s",
        "peak velocity, 2-4 deg": "deg/s",
        "peak velocity, 5-8 deg": "deg/s",
        "peak velocity, 10-15 deg": "deg/s",
        "swing after a saccade, forth": "deg",
        "swing after a saccade, back": "deg",
        "RMS-S2S": "deg",
        "STD": "deg",
        "RMS-S2S / STD": "",
        "velocity power, 16-64 Hz over 4-16 Hz": "log10",
        "velocity power, 64-200 Hz over 16-64 Hz": "log10",
        "velocity spectrum slope, 4-100 Hz": "",
    }
    return compare("lund2013", real, simulated, units)


def _true_labels(recording: Recording) -> FloatArray:
    """Label each sample with what the simulated eye truly did, as the hand labels do; -1 for lost samples."""
    labels = np.full(len(recording), _FIXATION)
    for onset, offset in recording.events.filter(pl.col("kind") == "saccade").select("onset", "offset").iter_rows():
        first, last = np.searchsorted(recording.t, (onset, offset))
        labels[first:last] = _SACCADE
    labels[~recording.tracked] = -1
    return labels


def _measure_labelled(into: Measures, x: FloatArray, y: FloatArray, labels: Any, rate: float) -> None:
    for begin, end, label in runs(labels):
        whole = begin > 0 and end < len(labels)
        if label == _FIXATION:
            if whole and {labels[begin - 1], labels[end]} == {_SACCADE}:
                into.add("fixation duration", 1000.0 * (end - begin) / rate)
            settled = slice(begin + 15, end - 5)  # 30 ms for the oscillation after the saccade
            if end - begin >= 50:
                add_steadiness(into, x[settled], y[settled])
                add_spectrum(into, x[settled], rate)
                add_spectrum(into, y[settled], rate)
        elif label == _SACCADE and whole:
            add_saccade(into, x, y, begin, end, rate)
            if end + 40 < len(labels) and (labels[end : end + 40] == _FIXATION).all():
                add_settling(into, x, y, begin, end, rate)


# --- OSIE: fixations of 15 people on 700 pictures, 3 s each (Xu et al. 2014) ---------------------------------------


def _osie(file: Path, seed: int) -> list[dict[str, Any]]:
    real, simulated = Measures(), Measures()
    table = osie_fixations(file).filter(pl.col("image") % 5 == 0).sort("user", "image", "fix")
    _measure_fixations(real, table.rename({"dur_ms": "duration"}), "user", "image")
    twin = SimulatedStudy(observers=15, stimuli=40, sessions=1, seconds=3, seed=seed, geometry=_OSIE_SCREEN)
    parts = []
    for recording in twin.recordings():
        rests = recording.events.filter(pl.col("kind") == "fixation").select("x", "y", "onset", "offset")
        # the last fixation is cut by the end of the picture, as in the data
        parts.append(rests.with_columns(user=pl.lit(recording.observer), image=pl.lit(recording.stimulus)))
    fixations = pl.concat(parts).with_columns(duration=1000.0 * (pl.col("offset") - pl.col("onset")))
    _measure_fixations(simulated, fixations, "user", "image")
    units = {
        "fixation duration": "ms",
        "saccade amplitude": "deg",
        "distance from the middle": "deg",
        "saccade direction, 0 across to 90 up or down": "deg",
        "a participant's mean fixation duration": "ms",
        "a participant's mean saccade amplitude": "deg",
    }
    return compare("osie", real, simulated, units)


def _measure_fixations(into: Measures, fixations: pl.DataFrame, who: str, what: str) -> None:
    """Measure fixations given in pixels of the OSIE screen, in the order they were made."""
    for _, one in fixations.group_by(who, maintain_order=True):
        durations = one["duration"].to_numpy()
        into.add("fixation duration", *durations.tolist())
        into.add("a participant's mean fixation duration", float(durations.mean()))
        amplitudes: list[float] = []
        for _, path in one.group_by(what, maintain_order=True):
            x, y = _OSIE_SCREEN.convert(path["x"].to_numpy(), path["y"].to_numpy(), Unit.DEGREE)
            dx, dy = np.diff(x), np.diff(y)
            amplitudes += np.hypot(dx, dy).tolist()
            into.add("saccade direction, 0 across to 90 up or down", *np.degrees(np.arctan2(abs(dy), abs(dx))).tolist())
            into.add("distance from the middle", *np.hypot(x, y)[1:].tolist())
        into.add("saccade amplitude", *amplitudes)
        into.add("a participant's mean saccade amplitude", float(np.mean(amplitudes)))


# --- VR objects: 90 Hz headset (Schuetz et al. 2024) ---------------------------------------------------------------


def _vr(file: Path, seed: int) -> list[dict[str, Any]]:
    real, simulated = Measures(), Measures()
    table = vr_samples(file.parent).filter((pl.col("trial") > 1) & (pl.col("trial") <= 6)).sort("t_ms")
    for (user, _, _), one in table.group_by("user", "session", "trial", maintain_order=True):
        recording, head = _vr_recording(str(user), one)
        _measure_headset(real, recording, head)
    twin = SimulatedStudy(observers=16, stimuli=5, sessions=2, tracker="headset", seconds=15, seed=seed)
    for recording in twin.recordings():
        _measure_headset(simulated, recording, np.zeros((len(recording), 2)))
    units = {
        "fixation duration (I-VT)": "ms",
        "saccade amplitude (I-VT)": "deg",
        "RMS-S2S": "deg",
        "STD": "deg",
        "RMS-S2S / STD": "",
        "gaze across": "deg",
        "gaze down": "deg",
        "pupil": "mm",
        "samples lost": "%",
        "length of a loss": "ms",
    }
    return compare("vr_objects_jov2024", real, simulated, units)


def _vr_recording(user: str, one: pl.DataFrame) -> tuple[Recording, FloatArray]:
    """Return one trial's gaze in the head, and the head's direction in degrees."""
    yaw, pitch = one["yaw"].to_numpy() / 100.0, one["pitch"].to_numpy() / 100.0
    lost = (yaw == 0) & (pitch == 0)
    pupil = one["pupil_l"].to_numpy() / 100.0
    # frames that repeat the sample before carry nothing new
    fresh = np.concatenate(([True], (np.diff(yaw) != 0) | (np.diff(pitch) != 0) | lost[1:]))
    head = np.column_stack((one["head_yaw"].to_numpy(), one["head_pitch"].to_numpy()))[fresh] / 5.0
    recording = Recording(
        one["t_ms"].to_numpy()[fresh] / 1000.0,
        yaw[fresh],
        -pitch[fresh],
        _HEADSET,
        user,
        valid=~lost[fresh],
        pupil=np.where(pupil > 0, pupil, np.nan)[fresh],
        rate_hz=90.0,
    )
    return recording, head


def _measure_headset(into: Measures, recording: Recording, head: FloatArray) -> None:
    tracked = recording.tracked
    if len(recording) < 90:
        return
    into.add("samples lost", 100.0 * float((~tracked).mean()))
    for begin, end, good in runs(tracked):
        if not good and begin > 0 and end < len(recording):
            into.add("length of a loss", 1000.0 * float(recording.t[end] - recording.t[begin]))
    into.add("gaze across", *recording.x[tracked][::20].tolist())
    into.add("gaze down", *recording.y[tracked][::20].tolist())
    if recording.pupil is not None:
        into.add("pupil", *recording.pupil[tracked][::20].tolist())
    found = VelocityThreshold(threshold=40.0, min_fixation=0.06, window=0.03).detect(recording)
    for kind, onset, offset, amplitude in found.select("kind", "onset", "offset", "amplitude").iter_rows():
        if kind == "fixation":
            into.add("fixation duration (I-VT)", 1000.0 * (offset - onset))
            first, last = np.searchsorted(recording.t, (onset + 0.02, offset - 0.02))
            # while the head turns, the eye turns against it; only a still head shows the tracker's own noise
            if last > first and np.ptp(head[first:last], axis=0).max() < _STILL_HEAD_DEG:
                add_steadiness(into, recording.x[first:last], recording.y[first:last])
        elif kind == "saccade" and amplitude is not None:
            into.add("saccade amplitude (I-VT)", amplitude)


# --- EyeTribe: 30 Hz remote tracker, gaze mostly held (Ziman et al.) ------------------------------------------------


def _eyetribe(file: Path, seed: int) -> list[dict[str, Any]]:
    real, simulated = Measures(), Measures()
    per_degree = 600.0 * np.tan(np.radians(1.0)) / _EYETRIBE_PIXEL_MM
    for run in eyetribe(file):
        if int(run.session) <= 2:
            _measure_remote(real, run.t, run.x / per_degree, run.y / per_degree, run.tracked)
    tracker = TRACKERS["remote"]
    for observer in Population(seed).observers(30):
        for session in (1, 2):
            recording = record(observer.on_day(session), _DOT, tracker, 120.0, tracker.geometry, session)
            degrees = recording.to(Unit.DEGREE)
            _measure_remote(simulated, degrees.t, degrees.x, degrees.y, recording.tracked)
    units = {
        "RMS-S2S": "deg",
        "STD": "deg",
        "RMS-S2S / STD": "",
        "time between samples": "ms",
        "samples lost": "%",
        "length of a loss": "ms",
    }
    return compare("eyetribe_contextlab", real, simulated, units)


def _measure_remote(into: Measures, t: FloatArray, x: FloatArray, y: FloatArray, tracked: Any) -> None:
    into.add("samples lost", 100.0 * float((~tracked).mean()))
    into.add("time between samples", *(1000.0 * np.diff(t)[::10]).tolist())
    for begin, end, good in runs(tracked):
        if not good and begin > 0 and end < len(t):
            into.add("length of a loss", 1000.0 * float(t[end] - t[begin]))
    for begin in range(0, len(t) - 10, 10):
        part = slice(begin, begin + 10)
        # a third of a second in which the eye rests: everything within 2 degrees
        if tracked[part].all() and np.ptp(x[part]) < 2 and np.ptp(y[part]) < 2:
            add_steadiness(into, x[part], y[part])


_JUDGES: Final[dict[str, Callable[[Path, int], list[dict[str, Any]]]]] = {
    "lund2013/lund2013.parquet": _lund,
    "osie/fixations.parquet": _osie,
    "vr_objects_jov2024/samples.parquet": _vr,
    "eyetribe_contextlab/eyetribe_runs.parquet": _eyetribe,
}
