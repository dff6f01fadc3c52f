# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A private heatmap that moves: one map for each stretch of a stimulus's time, and videos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.movie import HeatmapMovie, MovieEstimate, MoviePlan
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.aggregate.strategy import Estimate
from gazeveil.arrays import IntArray, Tell
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.release import plots
from gazeveil.release.binding import BoundCorpus
from gazeveil.release.calibrated import MOVIE, MOVIE_WITH_PICTURES, Curve
from gazeveil.release.documents import MOVIE_PARTS
from gazeveil.release.fixations import engine_for
from gazeveil.release.forecast import Forecast
from gazeveil.release.heatmap_files import (
    MOST_DRAWN,
    PRIOR_MAPS,
    arrays_of_all,
    drawing_of,
    picture_of,
    said_by_film,
    said_of,
    table_of,
    write_map,
    write_parts,
)
from gazeveil.release.method import Method
from gazeveil.release.plan import PRODUCTS
from gazeveil.release.products._common import OneStimulus, check_delta, number_of, one_stimulus
from gazeveil.release.products._strategy_method import joint_method
from gazeveil.release.shares import TOGETHER, Shares
from gazeveil.release.sizing import with_usual_sizes
from gazeveil.release.study import Stimulus, Study
from gazeveil.release.video import Frames, write_videos


@dataclass(frozen=True, slots=True, repr=False)
class MovieMeasurement(OneStimulus):
    """The dynamic heatmap of one stimulus.

    Attributes:
        speed: How fast videos run; 1 is real time.
    """

    product: ClassVar[str] = "movie"
    files: ClassVar[str] = (
        "movie.npz and movie.parquet: a map for each bin of time, its prior, the noise, hot spots, and 95 % intervals "
        "for the map of these participants without noise and for the population they stand for; the mean over time"
    )
    proof: ClassVar[str] = "whole-studies"

    study: Study
    mechanism: HeatmapMovie
    stimulus: str
    speed: float = 1.0

    @property
    def plan(self) -> MoviePlan:
        """How kernel, noise and decoder go together."""
        shown, number = self.shown, number_of(self.study)
        return self.mechanism.plan_for(shown.screen, shown.seconds, number, self.study.neighbours, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed for the whole course."""
        return self.plan.guarantee

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        return {"mechanism": "dynamic-heatmap", "stimulus": self.stimulus, **self.plan.to_dict()}

    def forecast(self) -> Forecast:
        """Return how much single moments are expected to show beyond the mean over time."""
        return curve_of(self.mechanism.pictures).forecast(self.plan.carried())

    def alternatives(self) -> tuple[str, ...]:
        """Say that there is the mean over time."""
        return ("longer bins (--bin-seconds)", "one heatmap of the whole time")

    def method(self) -> Method:
        """Return how the maps protect."""
        plan = self.plan
        return joint_method(
            "dynamic-heatmap",
            before=(
                f"The gaze of each participant on the stimulus “{self.stimulus}” became one gaze map for each bin of "
                f"{plan.bin_seconds:g} s, over {plan.duration:g} s, smoothed over bins by public weights."
            ),
            after="The maps were estimated together from the noisy sum and a public prior of gaze maps." + self._said(),
            length=plan.bound,
            sigma=plan.sigma,
            neighbours=self.study.neighbours,
        )

    def _said(self) -> str:
        pictures = self.mechanism.pictures
        if not pictures:
            return ""
        what = "the stimulus" if len(pictures) == 1 else "what was to be seen in each bin"
        return f" The prior follows {what} ({self._said_by})."

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> IntArray:
        """Return the noisy sum."""
        return self.plan.measure(data.corpus, noise, engine_for(self.study, engine), tell)

    def decode(self, noisy: IntArray) -> MovieEstimate:
        """Return the heatmap of each bin."""
        return self.plan.decode(noisy)

    def write(self, value: MovieEstimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the maps, a picture for each bin, and videos."""
        shown, drawn = self.shown, value.frames
        arrays = {**arrays_of_all(drawn.estimates), "edges": value.edges, "mean": drawn.mean.map}
        np.savez_compressed(folder / "movie.npz", prior=drawn.mean.prior, **arrays)  # type: ignore[arg-type]
        if self.mechanism.pictures:  # with what they said the maps can be decoded again
            said = {f"{number:04d}": picture.values for number, picture in enumerate(self.mechanism.pictures)}
            np.savez_compressed(folder / PRIOR_MAPS, **said)  # type: ignore[arg-type]
        self.frame(value).write_parquet(folder / "movie.parquet")
        if plots.available():
            picture, drawing = picture_of(shown), drawing_of(shown.screen)
            write_map(drawn.mean, shown.screen, folder, "mean", picture, "private heatmap, mean over time")
            write_parts(over_time(value), shown.screen, folder / MOVIE_PARTS, "private heatmaps, mean over time")
            (folder / "frames").mkdir()
            for number, (start, stop) in enumerate(_bins(value)):
                tell(number, len(drawn.maps))
                title = f"{start:g} to {stop:g} s"
                place, name, estimate = folder / "frames", f"{number:04d}", drawn.estimate(number)
                write_map(estimate, shown.screen, place, name, picture, title, drawing=drawing)
                if len(drawn.maps) <= MOST_DRAWN:
                    write_parts(estimate, shown.screen, place / f"{name}.parts.png", title)
            write_videos(Frames.of(drawn.maps, value.edges, shown.screen, picture), folder, speed=self.speed)
        each = self._shares(value)
        about: dict[str, Any] = {
            "data_share": {"mean": drawn.mean.data_share, "bins": drawn.data_share.tolist()},
            TOGETHER: Shares.on_average(each).to_dict(),
            "bins": [shares.to_dict() for shares in each],
        }
        return about | ({"picture_share": drawn.picture_share} if self.mechanism.pictures else {})

    def frame(self, value: MovieEstimate) -> pl.DataFrame:
        """Return the maps as a table, a row a cell, with the bin and its time."""
        tables = []
        for number, (start, stop) in enumerate(_bins(value)):
            times = {"bin": pl.lit(number), "start": pl.lit(start), "stop": pl.lit(stop)}
            table = table_of(value.frames.estimate(number))
            tables.append(table.with_columns(**times).select(*times, pl.exclude(*times)))
        return pl.concat(tables)

    def picture(self, value: MovieEstimate) -> bytes:
        """Return what the maps are made of, in the mean over time, as a picture."""
        mean, title = over_time(value), f"private heatmaps, mean over time: {self.stimulus}"
        return plots.parts_picture(mean.prior, mean.map, None, self.shown.screen, title)

    def summary(self, value: MovieEstimate) -> tuple[str, ...]:
        """Say how much of the course is data."""
        return Shares.on_average(self._shares(value)).in_words()

    def shares(self, value: Any) -> Shares | None:
        """Return how much of the maps is data, picture and prior; None for what someone made of them since."""
        return Shares.on_average(self._shares(value)) if isinstance(value, MovieEstimate) else None

    def _shares(self, value: MovieEstimate) -> list[Shares]:
        known = None if self.mechanism.pictures else value.frames.mean.map
        return [Shares.of(estimate, self._said_by, known) for estimate in value.frames.estimates]

    @property
    def _said_by(self) -> str:
        return ", ".join(sorted({picture.said_by for picture in self.mechanism.pictures}))


def curve_of(pictures: Sequence[Saliency]) -> Curve:
    """Return what was measured of movies: with pictures, where the picture model or a map speaks for each moment.

    One picture for all moments says nothing about what sets them apart.
    """
    moments = {picture.digest for picture in pictures if picture.source != SPECTRAL}
    return MOVIE_WITH_PICTURES if len(moments) > 1 and all(each.source != SPECTRAL for each in pictures) else MOVIE


def over_time(value: MovieEstimate) -> Estimate:
    """Return the mean over time of the maps and of their priors."""
    drawn = value.frames
    prior = drawn.mean.prior if drawn.priors is None else drawn.priors.mean(axis=0)
    return replace(drawn.mean, map=drawn.maps.mean(axis=0), prior=prior)


def _bins(value: MovieEstimate) -> list[tuple[float, float]]:
    return list(zip(value.edges[:-1].tolist(), value.edges[1:].tolist(), strict=True))


def _said(shown: Stimulus, mechanism: HeatmapMovie) -> tuple[Saliency, ...]:
    """Return what a study declares about gaze on a stimulus: its film bin by bin, else its map or picture."""
    if shown.film is not None:
        return said_by_film(shown.film, shown.screen, mechanism.middles(shown.seconds))
    said = said_of(shown)
    return () if said is None else (said,)


@PRODUCTS.register(HeatmapMovie.product)
def prepare(study: Study, mechanism: HeatmapMovie, stimulus: str | None = None, speed: float = 1.0) -> MovieMeasurement:
    """Plan the dynamic heatmap of one stimulus of a study."""
    if not (math.isfinite(speed) and speed > 0):
        raise OptionError(f"the speed of a movie must be a positive number, not {speed!r}")
    name = one_stimulus(study, stimulus, "movie")
    if not mechanism.pictures and mechanism.picture_prior:
        mechanism = replace(mechanism, pictures=_said(study.stimulus(name), mechanism))
    study = with_usual_sizes(study, [name], partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    found = MovieMeasurement(study, mechanism, name, speed)
    check_delta(found.delta, study)
    found.recipe()  # refuses a plan that cannot be
    picture_of(found.shown)  # refuses a picture that cannot be drawn over
    return found
