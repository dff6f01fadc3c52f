# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A private heatmap that moves: one map for each stretch of a stimulus's time, and videos."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.dynamic import DynamicHeatmap
from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.movie_plan import MovieEstimate, MoviePlan
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.release import plots
from gazeveil.release.binding import BoundCorpus
from gazeveil.release.calibrated import MOVIE
from gazeveil.release.fixations import engine_for
from gazeveil.release.forecast import Forecast
from gazeveil.release.heatmap_files import PRIOR_MAPS, drawing_of, picture_of, said_of, table_of, write_map
from gazeveil.release.method import Method
from gazeveil.release.plan import PRODUCTS
from gazeveil.release.products._common import OneStimulus, check_delta, number_of, one_stimulus
from gazeveil.release.products._strategy_method import joint_method
from gazeveil.release.sizing import with_usual_sizes
from gazeveil.release.study import Study
from gazeveil.release.video import Frames, write_videos
from gazeveil.types import IntArray, Tell


@dataclass(frozen=True, slots=True, repr=False)
class MovieMeasurement(OneStimulus):
    """The dynamic heatmap of one stimulus.

    Attributes:
        study: The declared study.
        mechanism: What may be spent, and how.
        stimulus: The name of the stimulus.
        speed: How fast videos run; 1 is real time.
    """

    product: ClassVar[str] = "movie"
    files: ClassVar[str] = "movie.npz and movie.parquet: a map for each bin of time, the noise in it, the mean"
    proof: ClassVar[str] = "whole-studies"

    study: Study
    mechanism: DynamicHeatmap
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
        return MOVIE.forecast(self.plan.carried())

    def alternatives(self) -> tuple[str, ...]:
        """Say that there is the mean over time."""
        return ("longer bins (--bin)", "one heatmap of the whole time")

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
        return f" The prior follows {what} ({', '.join(sorted({picture.said_by for picture in pictures}))})."

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> IntArray:
        """Return the noisy sum."""
        return self.plan.measure(data.corpus, noise, engine_for(self.study, engine), tell)

    def decode(self, noisy: IntArray) -> MovieEstimate:
        """Return the heatmap of each bin."""
        return self.plan.decode(noisy)

    def write(self, value: MovieEstimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the maps, a picture for each bin, and videos."""
        shown, drawn = self.shown, value.frames
        np.savez_compressed(
            folder / "movie.npz",
            maps=drawn.maps,
            noise_sd=drawn.noise_sd,
            edges=value.edges,
            mean=drawn.mean.map,
            prior=drawn.mean.prior,
            priors=np.empty(0) if drawn.priors is None else drawn.priors,
        )
        if self.mechanism.pictures:  # with what they said the maps can be decoded again
            said = {f"{number:04d}": picture.values for number, picture in enumerate(self.mechanism.pictures)}
            np.savez_compressed(folder / PRIOR_MAPS, **said)  # type: ignore[arg-type]
        self.frame(value).write_parquet(folder / "movie.parquet")
        if plots.available():
            picture, drawing = picture_of(shown), drawing_of(shown.screen)
            write_map(drawn.mean, shown.screen, folder, "mean", picture, "private heatmap, mean over time")
            (folder / "frames").mkdir()
            for number, (start, stop) in enumerate(_bins(value)):
                tell(number, len(drawn.maps))
                title = f"{start:g} to {stop:g} s"
                place, name = folder / "frames", f"{number:04d}"
                write_map(drawn.estimate(number), shown.screen, place, name, picture, title, drawing=drawing)
            write_videos(Frames.of(drawn.maps, value.edges, shown.screen, picture), folder, speed=self.speed)
        about: dict[str, Any] = {"data_share": {"mean": drawn.mean.data_share, "bins": drawn.data_share.tolist()}}
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
        """Return the mean over time as a picture."""
        title = f"private heatmap, mean over time: {self.stimulus}"
        return plots.map_picture(value.frames.mean.map, self.shown.screen, title)

    def summary(self, value: MovieEstimate) -> tuple[str, ...]:
        """Say how much of the course is data."""
        share = float(value.frames.data_share.mean())
        moments = f"{share:.0%} of what sets a moment apart from the mean is data, the rest is likely course"
        follows = f"{value.frames.picture_share:.0%} of the prior follows what was to be seen"
        return (moments, follows) if self.mechanism.pictures else (moments,)


def _bins(value: MovieEstimate) -> list[tuple[float, float]]:
    return list(zip(value.edges[:-1].tolist(), value.edges[1:].tolist(), strict=True))


@PRODUCTS.register(DynamicHeatmap.product)
def prepare(
    study: Study, mechanism: DynamicHeatmap, stimulus: str | None = None, speed: float = 1.0
) -> MovieMeasurement:
    """Plan the dynamic heatmap of one stimulus of a study."""
    if not (math.isfinite(speed) and speed > 0):
        raise OptionError(f"the speed of a movie must be a positive number, not {speed!r}")
    name = one_stimulus(study, stimulus, "movie")
    if not mechanism.pictures and mechanism.follow_declared:
        said = said_of(study.stimulus(name))
        mechanism = replace(mechanism, pictures=() if said is None else (said,))
    study = with_usual_sizes(study, [name], partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    found = MovieMeasurement(study, mechanism, name, speed)
    check_delta(found.delta, study)
    found.recipe()  # refuses a plan that cannot be
    picture_of(found.shown)  # refuses a picture that cannot be drawn over
    return found
