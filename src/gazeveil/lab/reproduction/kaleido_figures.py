# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 13 and 15 of Kaleido (Li et al. 2021), measured again, for all ways to keep its guarantee.

RMSE in pixels, 20 repeats, four values of ε.

It drew floats, and had none of this package's code. To measure the same again is therefore a test of both.

Accuracy over the guarantee, for every proven way beside.

Figure 13 is the root mean square error of noisy gaze over ε, w and r, figure 15 the correlation of each participant's
noisy saliency map with the clean one. The paper prints no numbers; it states the shape, which `shape` checks: errors
fall with ε, rise with w, and are larger for the larger radius. Its recordings are not ours, and its radii come from
scenes; ours are 60 and 300 pixels.

All contenders are held to the same true guarantee. Kaleido as published does not keep it (erratum K1): its error bars
are there to compare, not to choose from.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.display import canvas
from gazeveil.errors import OptionError
from gazeveil.files import write_all
from gazeveil.lab import load
from gazeveil.lab.datasets import find_data
from gazeveil.lab.experiments.stream_errors import Point, Run, Setting, StreamSet, measure, settings, stream_sets
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Space, space_of

COLUMNS: Final = (
    "kaleido as published", "kaleido, scales corrected", "kaleido, tuned", "sparse vector", "budget absorption",
    "clock, no filter", "clock",
)  # fmt: skip
"""Which of our contenders each column of numbers is, after radius, window and ε; the last column is clock's standard
error over recordings."""

_VR = """
 60 0.5 0.5  857  829 349 313 330 379 296  6
 60 0.5   1  710  692 307 281 288 303 260  5
 60 0.5   2  454  522 262 256 261 239 216  5
 60 0.5   3  314  422 233 241 247 215 190  6
 60   1 0.5  921  905 368 337 352 444 330  7
 60   1   1  847  805 333 317 324 384 296  6
 60   1   2  697  665 300 292 310 303 256  6
 60   1   3  561  569 273 276 287 263 231  6
 60 1.5 0.5  944  940 374 350 378 479 347  8
 60 1.5   1  895  861 353 335 345 426 318  7
 60 1.5   2  795  744 314 312 329 354 282  6
 60 1.5   3  698  658 291 296 304 304 257  6
 60   2 0.5  966  959 378 364 370 498 356  8
 60   2   1  919  897 355 342 352 448 330  7
 60   2   2  848  796 333 322 341 385 297  6
 60   2   3  773  722 304 311 318 337 273  6
300 0.5 0.5  990  986 406 398 406 764 378  8
300 0.5   1  962  942 385 360 373 590 350  7
300 0.5   2  891  864 360 325 365 421 310  6
300 0.5   3  811  798 338 303 338 352 286  6
300   1 0.5  995 1005 411 394 413 785 391  8
300   1   1  987  978 400 372 385 625 366  7
300   1   2  959  928 375 346 367 477 339  7
300   1   3  923  883 359 332 346 421 324  7
300 1.5 0.5  997 1013 411 412 407 795 396  8
300 1.5   1  993  994 399 379 392 647 375  8
300 1.5   2  978  957 391 356 369 511 353  7
300 1.5   3  957  923 372 345 367 460 343  7
300   2 0.5  998 1018 413 403 413 802 400  8
300   2   1  995 1003 406 395 395 660 381  8
300   2   2  987  973 389 370 380 526 361  8
300   2   3  973  945 372 360 364 479 352  8
"""

_LUND = """
 60 0.5 0.5  587  588 252 231 245 301 220 10
 60 0.5   1  499  510 229 205 219 217 188  8
 60 0.5   2  303  404 194 188 187 181 156  6
 60 0.5   3  189  337 176 175 184 150 139  5
 60   1 0.5  621  625 259 246 254 341 241 12
 60   1   1  576  576 244 234 239 273 222 10
 60   1   2  475  501 221 215 225 216 189  8
 60   1   3  364  443 203 200 209 195 167  7
 60 1.5 0.5  637  646 262 252 261 368 247 13
 60 1.5   1  603  612 254 238 246 310 230 11
 60 1.5   2  545  562 234 227 230 244 206  9
 60 1.5   3  479  527 215 219 222 217 190  8
 60   2 0.5  654  657 263 258 261 384 254 13
 60   2   1  623  630 254 250 253 328 239 12
 60   2   2  580  592 243 235 247 272 216 10
 60   2   3  541  565 226 230 232 232 201  9
300 0.5 0.5  659  671 264 264 265 561 261 15
300 0.5   1  646  647 262 258 261 460 253 14
300 0.5   2  603  608 255 241 258 339 231 11
300 0.5   3  551  568 247 226 248 274 213  9
300   1 0.5  661  679 265 264 265 571 264 15
300   1   1  656  663 264 262 263 479 258 14
300   1   2  639  639 262 252 260 376 246 12
300   1   3  619  613 257 242 253 319 234 11
300 1.5 0.5  666  684 265 265 264 582 264 15
300 1.5   1  656  674 264 261 264 495 260 15
300 1.5   2  650  658 263 256 260 401 251 14
300 1.5   3  636  638 260 249 258 353 242 13
300   2 0.5  668  685 265 265 264 588 264 15
300   2   1  662  676 264 263 265 507 262 15
300   2   2  656  664 264 258 263 413 258 14
300   2   3  646  650 261 256 260 364 252 13
"""


def _read(text: str) -> Mapping[tuple[float, float, float], tuple[float, ...]]:
    rows = [tuple(map(float, line.split())) for line in text.strip().splitlines()]
    return MappingProxyType({(row[0], row[1], row[2]): row[3:] for row in rows})


MEASURED: Final[Mapping[str, Mapping[tuple[float, float, float], tuple[float, ...]]]] = MappingProxyType(
    {"vr": _read(_VR), "lund": _read(_LUND)}
)
"""By set, then by (radius, window, ε): the columns, then clock's standard error."""


# --- The ways to keep Kaleido's guarantee that are compared, by the name they have in tables.


load()

_PUBLISHED_THRESHOLD_PX = 200.0
"""How far gaze must move to be published; the paper gives no number (erratum K7), the study chose this one."""

_MOMENT_S = 1e-6
"""Mechanisms count time in microseconds."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A mechanism of the registry at a guarantee; a value, so that it can be sent to another process.

    Attributes:
        mechanism: Its name in the registry.
        options: Its parameters apart from the guarantee.
        late: By how many seconds its output looks back. Its output is then compared with gaze of that time.
        counts_samples: Whether its windows are this many samples of a nominal rate, which it must then be given.
        threshold_px: The distance worth publishing in pixels, for a mechanism that takes a share of the diagonal.
    """

    mechanism: str
    options: tuple[tuple[str, Any], ...] = ()
    late: float = 0.0
    counts_samples: bool = False
    threshold_px: float | None = None

    def at(self, space: Space, setting: Setting, rate: float = 60.0) -> SampleMechanism:
        """Return the mechanism itself."""
        parameters: dict[str, Any] = {name: getattr(setting, name) for name in ("epsilon", "window", "radius")}
        parameters |= dict(self.options)
        if self.counts_samples:
            parameters["rate_hz"] = round(rate)
        if self.threshold_px is not None:
            parameters["l_thresh"] = self.threshold_px / math.hypot(*space.size)
        return MECHANISMS[self.mechanism](space, **parameters)

    def __call__(self, space: Space, setting: Setting, rate: float) -> Run:
        """Return the mechanism as something to run over arrays."""
        mechanism, late = self.at(space, setting, rate), self.late

        def run(noise: NoiseSource, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
            shown = mechanism.start(noise).run(t, x, y)
            if not late:
                return shown
            # what is said of a moment is said that much later; the last moments keep the last answer
            answered = np.minimum(np.searchsorted(t, t + (late - _MOMENT_S)), len(t) - 1)
            return shown[0][answered], shown[1][answered]

        return run

    def is_sound(self, space: Space) -> bool:
        """Whether it guarantees anything."""
        return not isinstance(self.at(space, Setting(60.0, 1.0, 1.0)).guarantee, Unproven)


def _of(mechanism: str, *, late: float = 0.0, **options: Any) -> Registered:
    return Registered(mechanism, tuple(options.items()), late)


CONTENDERS: Final[Mapping[str, Registered]] = MappingProxyType(
    {
        "kaleido as published": Registered(
            "kaleido-as-published",
            (("l_thresh", _PUBLISHED_THRESHOLD_PX), ("h", 10), ("t_skip", "0.05")),
            counts_samples=True,
        ),
        "kaleido, scales corrected": Registered(
            "kaleido",
            (("filter", False), ("floor", 0), ("test_share", "0.1"), ("t_skip", "0.05")),
            threshold_px=_PUBLISHED_THRESHOLD_PX,
        ),
        "kaleido, tuned": _of("kaleido"),
        "sparse vector": _of("sparse-vector"),
        "budget absorption": _of("absorption"),
        "budget distribution": _of("distribution"),
        "clock, no filter": _of("clock", filter=False),
        "clock": _of("clock"),
        "clock, 0.1 s late": _of("clock", late=0.1, lag=0.1),
        "clock, 0.25 s late": _of("clock", late=0.25, lag=0.25),
    }
)
"""All ways: the paper's, the paper's with its noise corrected and nothing else, and those with a filter, ours last."""

UNFILTERED: Final[Mapping[str, Registered]] = MappingProxyType(
    {
        f"{name}, no filter": _of(CONTENDERS[name].mechanism, filter=False)
        for name in ("kaleido, tuned", "sparse vector", "budget absorption", "budget distribution")
    }
)
"""The contenders whose latest noisy point is held, instead of filtered."""


# --- Figures 13 and 15 of Kaleido (Li et al. 2021), measured again.


T = TypeVar("T")

FIGURES: Final[Mapping[int, str]] = {13: "rmse", 15: "cc"}
QUICK_REPEATS, QUICK_RECORDINGS = 5, 6
_BESIDE: Final = tuple((f"clock, {late} s late", COLUMNS.index("clock")) for late in ("0.1", "0.25"))
"""Mechanisms that the study has no column for, and the column they are set against."""


def reproduce(
    figure: int,
    out: Path | None = None,
    *,
    data: Path | None = None,
    repeats: int = 100,
    quick: bool = False,
    workers: int = 1,
    contenders: Mapping[str, Registered] = CONTENDERS,
    chosen: Sequence[Setting] | None = None,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Measure a figure; with a folder, draw it there and write its numbers beside, as JSON and as Markdown.

    Args:
        figure: 13 or 15.
        out: Where to write.
        data: The folder of the data sets; by default they are searched for, and without them only simulated streams
            are used.
        repeats: How often each mechanism runs over each stream.
        quick: Few recordings and at most 5 repeats, to see that it works.
        workers: How many processes.
        contenders: Which mechanisms.
        chosen: Which guarantees; all of the paper's by default.
        tell: Called with the progress.

    Raises:
        OptionError: If there is no such figure.
        OutputError: If the folder cannot be written; it then holds nothing half written.
    """
    if figure not in FIGURES:
        raise OptionError(f"figure {figure} is not measured here", hint="choose 13 (error) or 15 (saliency maps)")
    if out is not None:
        canvas()  # says at once, not after the work, that what draws is not installed
    found = find_data(data)
    sets = stream_sets(found)
    if quick:
        sets, repeats = [one.some(QUICK_RECORDINGS) for one in sets], min(repeats, QUICK_REPEATS)
    grid = settings() if chosen is None else list(chosen)
    points = measure(sets, contenders, grid, repeats=repeats, maps=figure == 15, workers=workers, tell=tell)
    told = to_json(figure, points, sets, contenders, repeats, whole=not quick)
    if out is None:
        return told
    from gazeveil.lab.experiments import plots  # noqa: PLC0415  (it draws what is made here)

    files = {
        f"figure-{figure}.png": plots.over_the_promise(points, figure, told["sets"]),
        f"figure-{figure}-veils.png": plots.veils_compared(points, figure, told["sets"]),
        f"figure-{figure}.json": (json.dumps(_without_nan(told), indent=1, ensure_ascii=False) + "\n").encode(),
        f"figure-{figure}.md": to_markdown(told).encode(),
    }
    return {**told, "files": write_all(out, files)}


def to_json(
    figure: int,
    points: Sequence[Point],
    sets: Sequence[StreamSet],
    contenders: Mapping[str, Registered],
    repeats: int,
    *,
    whole: bool = True,
) -> dict[str, Any]:
    """Return all numbers of a figure, and what follows from them, as plain values."""
    first = {one.name: next(point for point in points if point.streams == one.name) for one in sets}
    told: dict[str, Any] = {
        "paper": "Li et al. 2021 (Kaleido)",
        "figure": figure,
        "measure": FIGURES[figure],
        "repeats": repeats,
        "sets": [
            {
                "name": one.name,
                "title": one.title,
                "centre": first[one.name].centre,
                "own_mean": first[one.name].own_mean,
            }
            for one in sets
        ],
        "veils": [{"name": name, "sound": each.is_sound(space_of(sets[0].plane))} for name, each in contenders.items()],
        "shape": [shape(points, name, FIGURES[figure]) for name in contenders],
        "points": [point.to_dict() for point in points],
    }
    if figure == 13:
        told["summary"] = [summary(points, name) for name in contenders]
        told["against_the_study"] = against_the_study(points) if whole else []
    return told


def shape(points: Iterable[Point], veil: str, measured: str) -> dict[str, Any]:
    """Return in how many neighbouring pairs of settings the paper's three statements hold for one mechanism."""
    values = {(p.streams, p.setting): getattr(p, measured) for p in points if p.veil == veil}
    good = -1 if measured == "rmse" else 1
    told: dict[str, Any] = {"veil": veil}
    for name, wanted in (("epsilon", 1), ("window", -1), ("radius", -1)):
        pairs = list(neighbours(values, name))
        told[name] = sum(wanted * good * (high - low) > 0 for low, high in pairs)
        told[f"{name}_pairs"] = len(pairs)
    return told


def summary(points: Iterable[Point], veil: str) -> dict[str, Any]:
    """Return a mechanism's error relative to "always the centre": by radius, and in how many cells it is worse."""
    mine = [point for point in points if point.veil == veil]
    told: dict[str, Any] = {"veil": veil, "cells": len(mine)}
    for radius in sorted({point.setting.radius for point in mine}):
        told[f"r{radius:g}"] = float(np.mean([p.rmse / p.centre for p in mine if p.setting.radius == radius]))
    told["all"] = float(np.mean([point.rmse / point.centre for point in mine]))
    told["worse_than_centre"] = sum(point.rmse > point.centre for point in mine)
    return told


def against_the_study(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Return how our errors compare with those of the study that decided the design, set by set and veil by veil.

    ``within`` counts cells that differ by no more than the study's own standard error over recordings, which it gives
    for clock alone. ``better`` counts cells with a smaller error. ``gain`` is the mean share of the error that is
    saved.
    """
    rows = []
    for streams, cells in MEASURED.items():
        for veil, column in (*((name, COLUMNS.index(name)) for name in COLUMNS), *_BESIDE):
            pairs = [
                (point.rmse, theirs[column], theirs[-1])
                for point in points
                if point.streams == streams and point.veil == veil
                if (theirs := cells.get((point.setting.radius, point.setting.window, point.setting.epsilon)))
            ]
            if not pairs:
                continue
            ours, theirs_all, se = np.array(pairs).T
            rows.append(
                {
                    "streams": streams,
                    "veil": veil,
                    "cells": len(pairs),
                    "gain": float(np.mean(1 - ours / theirs_all)),
                    "least_gain": float(np.min(1 - ours / theirs_all)),
                    "better": int((ours < theirs_all).sum()),
                    "within": int((np.abs(ours - theirs_all) <= se).sum()),
                }
            )
    return rows


def to_markdown(told: Mapping[str, Any]) -> str:
    """Return the tables of a figure for a page of the docs."""
    measured, veils = told["measure"], [veil["name"] for veil in told["veils"]]
    digits, error = (0, "repeat_se") if measured == "rmse" else (2, "cc_se")
    lines = []
    if "summary" in told:
        radii = [key for key in told["summary"][0] if key.startswith("r")]
        lines += _table(
            ["mechanism", "proven", *(f"r = {key[1:]}" for key in radii), "all", "worse than the centre"],
            [
                [row["veil"], "yes" if veil["sound"] else "**no**", *(f"{row[key]:.3f}" for key in (*radii, "all")),
                 f"{row['worse_than_centre']} of {row['cells']}"]
                for row, veil in zip(told["summary"], told["veils"], strict=True)
            ],
        )  # fmt: skip
    for one in told["sets"]:
        lines.append(
            f"**{one['title']}.** Always the centre: {one['centre']:.0f} px; own mean: {one['own_mean']:.0f} px.\n"
        )
        cells = {
            (p["radius"], p["window"], p["epsilon"], p["veil"]): p
            for p in told["points"]
            if p["streams"] == one["name"]
        }
        promises = sorted({key[:3] for key in cells})
        lines += _table(
            ["r", "w", "ε", *veils],
            [
                [*(f"{number:g}" for number in promise),
                 *(_told(cells[*promise, veil][measured], cells[*promise, veil][error], digits) for veil in veils)]
                for promise in promises
            ],
        )  # fmt: skip
    return "\n".join(lines)


def neighbours(values: Mapping[tuple[str, Setting], T], name: str) -> Iterable[tuple[T, T]]:
    """Yield the values at neighbouring settings that differ in one parameter alone, the lower one first."""
    others = [other for other in ("radius", "window", "epsilon") if other != name]

    def fixed(key: tuple[str, Setting]) -> tuple[Any, ...]:
        return (key[0], *(getattr(key[1], other) for other in others))

    ordered = sorted(values, key=lambda key: (*fixed(key), getattr(key[1], name)))
    for one, other in pairwise(ordered):
        if fixed(one) == fixed(other):
            yield values[one], values[other]


def _told(value: float, error: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isnan(error) else f"{value:.{digits}f} ± {error:.{max(digits, 1)}f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [*("| " + " | ".join(line) + " |" for line in lines), ""]


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
