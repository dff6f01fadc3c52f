# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful a veiled stream still is: metrics of a stream before and after its mechanism, by name and all in one.

**What is missing.** A sample is compared where both gave gaze. Where the tracker had lost the eye there is no truth, so
whatever the mechanism says there is neither right nor wrong. Where the mechanism gives nothing though there was gaze,
the sample is not compared either, but `Pair.answered` tells how many there were: a mechanism that is silent when it is
hard would look good otherwise. A metric without anything to measure is NaN, never 0.

Only compared samples are looked at; in degrees, so NaN where these are not known.

Each sample counts once, in cells of half a degree (64 across where degrees are not known), blurred by one degree (two
cells). Veiled points beyond the edge of the viewing plane are counted at the edge, where a user of the stream would see
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.aggregate.grid import Grid, render
from gazeveil.arrays import BoolArray, FloatArray, PlainRow
from gazeveil.errors import GeometryError, InputError
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.events import VelocityThreshold
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.lab.utility.label_agreement import AoiHits, aoi_hits
from gazeveil.lab.utility.releases import correlation, divergence
from gazeveil.registry import Registry

COLUMNS, ROWS = 4, 3
"""Where nobody drew areas of interest, the viewing plane is cut into this many."""


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A recording and the same recording veiled, sample by sample.

    Attributes:
        raw: What the tracker gave.
        veiled: What the mechanism made of it, on the same viewing plane and at the same times.
        aois: Areas of interest; without them, a viewing plane with edges is cut into 4 x 3.
        both: Where both have gaze.
    """

    raw: Recording
    veiled: Recording
    aois: AreasOfInterest | None = None
    both: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        if len(self.raw) != len(self.veiled) or not np.array_equal(self.raw.t, self.veiled.t, equal_nan=True):
            raise InputError(
                f"the veiled stream ({len(self.veiled):,} samples) does not run in step with the raw one "
                f"({len(self.raw):,} samples)",
                hint="compare a recording with its own veiled version, sample by sample",
            )
        object.__setattr__(self, "veiled", self.veiled.to(self.raw.geometry.unit))
        if self.veiled.geometry != self.raw.geometry:
            raise InputError(f"raw is {self.raw.geometry}, veiled is {self.veiled.geometry}: two viewing planes")
        if self.aois is None:
            object.__setattr__(self, "aois", even_areas(self.raw.geometry))
        object.__setattr__(self, "both", self.raw.tracked & self.veiled.tracked)

    @staticmethod
    def of(
        t: ArrayLike, raw: tuple[ArrayLike, ArrayLike], veiled: tuple[ArrayLike, ArrayLike], plane: Geometry
    ) -> Pair:
        """Return a pair of plain arrays: times, (x, y) before and (x, y) after, NaN where there is none."""
        one, other = (
            Recording(np.asarray(t), np.asarray(x), np.asarray(y), plane, observer="stream") for x, y in (raw, veiled)
        )
        return Pair(one, other)

    @property
    def answered(self) -> float:
        """Share of the samples with gaze for which the mechanism gave gaze too; NaN if there were none."""
        seen = int(self.raw.tracked.sum())
        return int(self.both.sum()) / seen if seen else math.nan

    def compared(self, unit: Unit | str) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return x and y before, then x and y after, of the samples that are compared."""
        before, after = (
            recording.geometry.convert(recording.x[self.both], recording.y[self.both], unit)
            for recording in (self.raw, self.veiled)
        )
        return *before, *after


StreamMetric = Callable[[Pair], float]

METRICS: Registry[StreamMetric] = Registry("stream metric")
"""What can be measured on a pair, by name: ``METRICS["rmse_px"](pair)``."""


def even_areas(plane: Geometry) -> AreasOfInterest | None:
    """Return the viewing plane cut into 4 x 3 areas; None if it has no edges."""
    try:
        left, top, right, bottom = plane.extent()
    except GeometryError:
        return None
    x, y = np.linspace(left, right, COLUMNS + 1), np.linspace(top, bottom, ROWS + 1)
    # the right and bottom edges of the plane belong to it, though no rectangle owns its own
    x[-1], y[-1] = np.nextafter(x[-1], np.inf), np.nextafter(y[-1], np.inf)
    return AreasOfInterest(
        tuple(
            Rectangle(
                f"row {row + 1}, column {column + 1}", *map(float, (x[column], y[row], x[column + 1], y[row + 1]))
            )
            for row in range(ROWS)
            for column in range(COLUMNS)
        ),
        plane,
    )


# --- Whether the veiled stream still says which area of interest is looked at (macro means over the areas looked at).


def hits_of(pair: Pair) -> AoiHits | None:
    """Return the hits of a pair, area by area; None if it has no areas."""
    if pair.aois is None:
        return None
    before, after = (pair.aois.hits(recording)[pair.both] for recording in (pair.raw, pair.veiled))
    return aoi_hits(before, after, len(pair.aois))


@METRICS.register("aoi_precision")
def aoi_precision(pair: Pair) -> float:
    """Return the mean over areas of the share of reported samples that are right."""
    return _mean(pair, "precision")


@METRICS.register("aoi_recall")
def aoi_recall(pair: Pair) -> float:
    """Return the mean over areas of the share of true samples that are reported."""
    return _mean(pair, "recall")


@METRICS.register("aoi_f1")
def aoi_f1(pair: Pair) -> float:
    """Return the mean over areas of F1."""
    return _mean(pair, "f1")


def _mean(pair: Pair, measure: str) -> float:
    hits = hits_of(pair)
    return math.nan if hits is None else hits.macro(measure)


# --- How far veiled gaze lies from the true gaze: root mean square over the compared samples.


@METRICS.register("rmse_px")
def rmse_px(pair: Pair) -> float:
    """Return the root mean square distance in pixels; NaN on a viewing plane without pixels."""
    if not pair.raw.geometry.knows_pixels:
        return math.nan
    x, y, veiled_x, veiled_y = pair.compared("px")
    return root_mean_square(np.hypot(veiled_x - x, veiled_y - y))


@METRICS.register("rmse_deg")
def rmse_deg(pair: Pair) -> float:
    """Return the root mean square angle between the two lines of sight, in degrees; NaN where angles are not known.

    It is the angle in space, so a headset's yaw may wrap, and near the poles yaw counts for little.
    """
    plane = pair.raw.geometry
    if not plane.knows_degrees:
        return math.nan
    x, y, veiled_x, veiled_y = pair.compared("deg")
    one, other = line_of_sight(plane, x, y), line_of_sight(plane, veiled_x, veiled_y)
    # the chord is exact where the cosine has lost all its digits
    half = np.linalg.norm(one - other, axis=0) / 2
    return root_mean_square(np.degrees(2 * np.arcsin(np.minimum(half, 1))))


@METRICS.register("centre_rmse_px")
def centre_rmse_px(pair: Pair) -> float:
    """Return the distance that "always the centre" would have: a mechanism above it is of no use by this measure."""
    if not pair.raw.geometry.knows_pixels:
        return math.nan
    x, y, _, _ = pair.compared("px")
    plane = pair.raw.geometry.in_unit("px")
    left, top, right, bottom = plane.extent()
    return root_mean_square(np.hypot(x - (left + right) / 2, y - (top + bottom) / 2))


def line_of_sight(plane: Geometry, right_deg: FloatArray, down_deg: FloatArray) -> FloatArray:
    """Return unit vectors (right, down, ahead), one column a sample.

    On a measured screen both angles are those of the point on the screen; in a headset they are yaw and pitch.
    """
    right, down = np.radians(right_deg), np.radians(down_deg)
    if plane.width_mm is not None and plane.distance_mm is not None:
        rays = np.stack([np.tan(right), np.tan(down), np.ones_like(right)])
        return np.asarray(rays / np.linalg.norm(rays, axis=0))
    return np.stack([np.sin(right) * np.cos(down), np.sin(down), np.cos(right) * np.cos(down)])


def root_mean_square(values: FloatArray) -> float:
    """Return the root of the mean square; NaN of nothing."""
    return math.sqrt(float(np.mean(np.square(values)))) if values.size else math.nan


# --- Whether fixations survive: how many a velocity-threshold detector finds before and after.


@METRICS.register("fixations")
def fixations(pair: Pair) -> float:
    """Return how many fixations the raw stream has."""
    return _count(pair, pair.raw)


@METRICS.register("veiled_fixations")
def veiled_fixations(pair: Pair) -> float:
    """Return how many fixations the detector finds in the veiled stream."""
    return _count(pair, pair.veiled)


@METRICS.register("fixation_count_error")
def fixation_count_error(pair: Pair) -> float:
    """Return the change in the number of fixations, relative to the true number; NaN if there was none."""
    before, after = fixations(pair), veiled_fixations(pair)
    return (after - before) / before if before else math.nan


def _count(pair: Pair, recording: Recording) -> float:
    if not recording.geometry.knows_degrees:
        return math.nan
    x, y = (np.where(pair.both, values, np.nan) for values in (recording.x, recording.y))
    compared = Recording(recording.t, x, y, recording.geometry, recording.observer)
    return float((VelocityThreshold().detect(compared)["kind"] == "fixation").sum())


# --- Whether a map of where a participant looked survives: the map of the veiled samples against that of the raw ones.


CELL_DEG = 0.5
BLUR_CELLS = 2.0
_COLUMNS = 64


@METRICS.register("saliency_cc")
def saliency_cc(pair: Pair) -> float:
    """Return the correlation of the two maps; NaN without samples or on a viewing plane without edges."""
    maps = saliency_maps(pair)
    return math.nan if maps is None else correlation(*maps)


@METRICS.register("saliency_kl")
def saliency_kl(pair: Pair) -> float:
    """Return the divergence of the raw map from the veiled one in nats; NaN as for the correlation."""
    maps = saliency_maps(pair)
    return math.nan if maps is None else divergence(*maps)


def saliency_maps(pair: Pair) -> tuple[FloatArray, FloatArray] | None:
    """Return the maps of the veiled and of the raw samples; None if there is nothing to draw."""
    grid = saliency_grid(pair.raw.geometry)
    if grid is None or not pair.both.any():
        return None
    x, y, veiled_x, veiled_y = pair.compared(grid.geometry.unit)
    return saliency_map(grid, veiled_x, veiled_y), saliency_map(grid, x, y)


def saliency_grid(plane: Geometry) -> Grid | None:
    """Return the cells of a viewing plane; None if it has no edges."""
    try:
        left, top, right, bottom = plane.extent()
    except GeometryError:
        return None
    if plane.knows_degrees:
        return Grid.of_degrees(plane, CELL_DEG)
    return Grid(_COLUMNS, max(1, round(_COLUMNS * (bottom - top) / (right - left))), plane)


def saliency_map(grid: Grid, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the blurred count of samples per cell; points beyond the edge count at the edge."""
    left, top, right, bottom = grid.geometry.extent()
    cells = grid.cells(np.clip(x, left, right), np.clip(y, top, bottom))
    counts = np.bincount(cells[cells >= 0], minlength=grid.size).reshape(grid.shape)
    return render(counts, BLUR_CELLS)


# --- What a mechanism does to time: how late it follows, and how much it trembles from sample to sample.


LONGEST_LAG_S = 2.0
_MOST_STEPS = 1 << 24
_MAX_STEP = 0.1
"""Seconds between two samples beyond which the step between them is no tremble."""


@METRICS.register("lag_s")
def lag_s(pair: Pair) -> float:
    """Return by how many seconds the veiled stream follows the raw one: where their correlation is highest.

    Both are put on an even clock of the raw stream's median step; gaps stay empty. Lags of 0 to 2 s are tried; NaN if
    either stands still, or if there is nothing to compare.
    """
    return _best_lag(pair)[0]


@METRICS.register("lag_correlation")
def lag_correlation(pair: Pair) -> float:
    """Return the correlation of the two streams at `lag_s`, both axes together."""
    return _best_lag(pair)[1]


@METRICS.register("jitter")
def jitter(pair: Pair) -> float:
    """Return the root mean square step of the veiled stream between samples (RMS-S2S), in the viewing plane's unit.

    Only steps between neighbouring samples that are both compared, at most 0.1 s apart, count; NaN if there are none.
    """
    return steps_of(pair, pair.veiled.x, pair.veiled.y)


@METRICS.register("raw_jitter")
def raw_jitter(pair: Pair) -> float:
    """Return the same of the raw stream, on the same steps."""
    return steps_of(pair, pair.raw.x, pair.raw.y)


def steps_of(pair: Pair, x: FloatArray, y: FloatArray) -> float:
    """Return the root mean square step of one of the two streams."""
    passed = np.diff(pair.raw.t)
    near = pair.both[1:] & pair.both[:-1] & (passed >= 0) & (passed <= _MAX_STEP + 1e-6)
    across = np.diff(x)[near]
    if pair.raw.geometry.unit is Unit.DEGREE:
        across = (across + 180) % 360 - 180
    return root_mean_square(np.hypot(across, np.diff(y)[near]))


def _best_lag(pair: Pair) -> tuple[float, float]:
    t = pair.raw.t[pair.both]
    forward = np.diff(t)
    forward = forward[forward > 0]
    if not forward.size:
        return math.nan, math.nan
    step = float(np.median(forward))
    place = np.round((t - t.min()) / step).astype(np.int64)
    length = int(place.max()) + 1
    if length > _MOST_STEPS:
        return math.nan, math.nan
    lags = min(round(LONGEST_LAG_S / step), length - 1) + 1
    size = 1 << (length + lags).bit_length()
    present = np.zeros(length)
    present[place] = 1.0
    covariance, raw_energy, veiled_energy = np.zeros(lags), np.zeros(lags), np.zeros(lags)
    for raw, veiled in ((pair.raw.x, pair.veiled.x), (pair.raw.y, pair.veiled.y)):
        one, other = (_centred(values[pair.both], place, length) for values in (raw, veiled))
        covariance += _products(one, other, size, lags)
        # only where both are there, so that gaps do not favour a lag
        raw_energy += _products(one * one, present, size, lags)
        veiled_energy += _products(present, other * other, size, lags)
    floor = 1e-9 * max(raw_energy[0], veiled_energy[0])
    if not (raw_energy[0] > floor and veiled_energy[0] > floor):
        return math.nan, math.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = covariance / np.sqrt(raw_energy * veiled_energy)
    correlation[(raw_energy <= floor) | (veiled_energy <= floor)] = -np.inf
    best = int(np.argmax(correlation))
    return best * step, float(np.clip(correlation[best], -1, 1))


def _centred(values: FloatArray, place: FloatArray, length: int) -> FloatArray:
    placed = np.zeros(length)
    centred = values - values.mean()
    placed[place] = centred if np.abs(centred).max() > 1e-9 * (1 + np.abs(values).max()) else 0.0
    return placed


def _products(early: FloatArray, late: FloatArray, size: int, lags: int) -> FloatArray:
    """Return the sum over i of early[i] * late[i + lag] for each lag."""
    spectrum = np.conj(np.fft.rfft(early, size)) * np.fft.rfft(late, size)
    return np.fft.irfft(spectrum, size)[:lags]


# --- All measures of one veiled stream in one value, and one row of a table.


@dataclass(frozen=True, slots=True)
class VeilError(PlainRow):
    """How far a veiled stream is from the raw one, by `METRICS`. NaN where a measure has no value.

    Beside them: how many samples were compared, and the share of those with gaze for which the mechanism gave gaze too.
    """

    samples: int
    answered: float
    rmse_px: float
    rmse_deg: float
    centre_rmse_px: float
    aoi_precision: float
    aoi_recall: float
    aoi_f1: float
    saliency_cc: float
    saliency_kl: float
    lag_s: float
    lag_correlation: float
    jitter: float
    raw_jitter: float
    fixations: float
    veiled_fixations: float
    fixation_count_error: float


def veil_error(raw: Recording, veiled: Recording, aois: AreasOfInterest | None = None) -> VeilError:
    """Compare a recording with its veiled version.

    Args:
        raw: As it came from the tracker.
        veiled: What a mechanism made of it, sample by sample.
        aois: Areas of interest; without them the viewing plane is cut into 4 x 3.

    Raises:
        InputError: If the two do not run in step, or lie on different viewing planes.
    """
    pair = Pair(raw, veiled, aois)
    measured = {name: METRICS[name](pair) for name in METRICS.names() if name in VeilError.__dataclass_fields__}
    return VeilError(samples=int(pair.both.sum()), answered=pair.answered, **measured)
