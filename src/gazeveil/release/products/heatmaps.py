# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The private heatmaps of many stimuli, released together under one guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.decoded_maps import MOST_SEPARATELY
from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.aggregate.strategy import Estimate, Strategy
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps, StudyEstimate, StudyPlan
from gazeveil.arrays import IntArray, Tell
from gazeveil.display import MOST_ROWS, a_few
from gazeveil.errors import OptionError
from gazeveil.exact import as_text, exact
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.release import plots
from gazeveil.release.binding import BoundCorpus
from gazeveil.release.calibrated import HEATMAPS, HEATMAPS_WITH_PICTURES, Curve
from gazeveil.release.fixations import engine_for
from gazeveil.release.forecast import Forecast
from gazeveil.release.heatmap_files import (
    MOST_DRAWN,
    PRIOR_MAPS,
    arrays_of_all,
    drawing_of,
    picture_of,
    said_of,
    table_of,
    write_map,
)
from gazeveil.release.method import Method
from gazeveil.release.plan import PRODUCTS, Domain
from gazeveil.release.products._common import Aggregate, check_delta, least, number_of
from gazeveil.release.products._strategy_method import joint_method, strategy_method
from gazeveil.release.sizing import with_usual_sizes
from gazeveil.release.study import Study, spelt
from gazeveil.release.study_files import file_name, file_names


@dataclass(frozen=True, slots=True, repr=False)
class HeatmapsMeasurement(Aggregate):
    """The heatmaps of some stimuli of a study."""

    product: ClassVar[str] = "heatmaps"
    files: ClassVar[str] = (
        "heatmaps.npz and heatmaps.parquet: the maps, the noise in them, their errors, hot spots, their mean, the prior"
    )
    proof: ClassVar[str] = "whole-studies"

    study: Study
    mechanism: PrivateHeatmaps
    stimuli: tuple[str, ...]

    @property
    def plan(self) -> StudyPlan | Strategy:
        """How kernel, noise and decoder go together; one heatmap of everything where the mean alone is asked for."""
        screen, number = self.study.one_screen(self.stimuli), number_of(self.study)
        if self.mechanism.mean_only:
            return self.mechanism.strategy_for(screen, number, self.study.neighbours, self.delta)
        return self.mechanism.plan_for(screen, self.stimuli, number, self.study.neighbours, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed for all maps together."""
        return self.plan.guarantee

    @property
    def domain(self) -> Domain:
        """The recordings of the stimuli."""
        return Domain(self.study, self.stimuli)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        spent = {"epsilon": as_text(exact(self.mechanism.epsilon)), "delta": as_text(self.delta)}
        named = {"mechanism": "private-heatmaps", "mean_only": self.mechanism.mean_only, "stimuli": list(self.stimuli)}
        return {**named, **spent, **self.plan.to_dict()}

    def forecast(self) -> Forecast | None:
        """Return how much maps are expected to show beyond the study's mean; nothing is known of the mean alone."""
        plan = self.plan
        if not isinstance(plan, StudyPlan):
            return None
        return _curve(plan).forecast(plan.carried())

    def method(self) -> Method:
        """Return how the maps protect."""
        plan = self.plan
        before = f"The gaze of each participant on {len(self.stimuli):,} stimuli became one gaze map per stimulus."
        after = "The heatmaps were estimated together from the noisy sum and a public prior of gaze maps."
        if said := sorted({picture.said_by for picture in self.mechanism.pictures.values()}):
            after = (
                f"{after} The prior of {len(self.mechanism.pictures):,} of them follows the stimulus "
                f"({', '.join(said)}); its centre was estimated from the noisy sum."
            )
        if not isinstance(plan, StudyPlan):
            return strategy_method(
                plan.to_dict(),
                self.study.neighbours,
                before="The gaze of each participant on all stimuli became one gaze map.",
                after="The mean heatmap was estimated from the noisy sum and a public prior of gaze maps.",
            )
        counted = sorted(plan.bounds, reverse=True)[: plan.most_stimuli]
        return joint_method(
            "whole-study",
            before=f"{before} At most {plan.most_stimuli:,} stimuli count for one participant.",
            after=after,
            length=math.isqrt(sum(bound * bound for bound in counted)),
            sigma=plan.sigma,
            neighbours=self.study.neighbours,
        )

    def alternatives(self) -> tuple[str, ...]:
        """Say how many stimuli of equal weight would not be too many, and that there is the mean."""
        plan = self.plan
        if not isinstance(plan, StudyPlan):
            return ()
        most = len(plan.stimuli)
        left_out = least(lambda out: _curve(plan).forecast(plan.equal(most - out).carried()).worth_it, 1, most - 2)
        fewer = () if left_out is None else (f"at most {most - left_out} stimuli",)
        return (*fewer, "the mean alone (--mean-only)")

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> IntArray:
        """Return the noisy sum."""
        return self.plan.measure(data.corpus, noise, engine_for(self.study, engine), tell)

    def decode(self, noisy: IntArray) -> StudyEstimate:
        """Return the heatmaps and their mean."""
        decoded = self.plan.decode(noisy)
        return StudyEstimate({}, decoded) if isinstance(decoded, Estimate) else decoded

    def write(self, value: StudyEstimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the maps and their pictures."""
        mean = value.mean
        arrays: dict[str, Any] = {"mean": mean.map, "mean_noise_sd": mean.noise_sd, "prior": mean.prior}
        if value.maps:
            (folder / "stimuli").mkdir()
            arrays["stimuli"] = np.array(list(value.maps))
            arrays |= arrays_of_all(list(value.maps.values()))
        np.savez(folder / "heatmaps.npz", **arrays)  # compressed, noise would be a twentieth smaller, and cost seconds
        if self.mechanism.pictures:  # with what they said the maps can be decoded again
            said = {file_name(name): each.values for name, each in self.mechanism.pictures.items()}
            np.savez_compressed(folder / PRIOR_MAPS, **said)  # type: ignore[arg-type]
        self.frame(value).write_parquet(folder / "heatmaps.parquet")
        screen = self.study.one_screen(self.stimuli)
        drawing = drawing_of(screen) if plots.available() else None
        write_map(mean, screen, folder, "mean", None, "private heatmap, mean over all stimuli", drawing=drawing)
        bare, files = len(value.maps) > MOST_DRAWN, file_names(value.maps)
        for done, (name, estimate) in enumerate(value.maps.items()):
            tell(done, len(value.maps))
            under = None if bare else picture_of(self.study.stimulus(name))
            write_map(estimate, screen, folder / "stimuli", files[name], under, name, bare=bare, drawing=drawing)
        followed = {name: value.maps[name].picture_share for name in self.mechanism.pictures if name in value.maps}
        about = {"data_share": {"mean": mean.data_share, "stimuli": _shares(value)}}
        return about | ({"picture_share": followed} if followed else {})

    def frame(self, value: StudyEstimate) -> pl.DataFrame:
        """Return the maps as a table, a row a cell; the stimulus of the mean is null."""
        maps = [table_of(estimate, stimulus=name) for name, estimate in value.maps.items()]
        tables = [table_of(value.mean, stimulus=None), *maps]  # the mean has no error bars of its own
        return pl.concat(tables, how="diagonal").select(max(tables, key=lambda table: table.width).columns)

    def picture(self, value: StudyEstimate) -> bytes:
        """Return the mean as a picture."""
        screen = self.study.one_screen(self.stimuli)
        return plots.map_picture(value.mean.map, screen, "private heatmap, mean over all stimuli")

    def summary(self, value: StudyEstimate) -> tuple[str, ...]:
        """Say how much of the maps is data."""
        mean = f"{value.mean.data_share:.0%} of the mean over stimuli comes from your data, the rest from the prior"
        shares = _shares(value)
        followed = [value.maps[name].picture_share for name in self.mechanism.pictures if name in value.maps]
        pictures = (
            (f"{np.mean(followed):.0%} of the prior behind the {len(followed):,} maps with a picture follows it",)
            if followed
            else ()
        )
        apart = [f"{name}: {share:.0%} of what sets it apart is data" for name, share in shares.items()]
        more = len(apart) - MOST_ROWS
        rest = (f"and {more:,} more: data_share in release.json",) if more > 0 else ()
        return (mean, *pictures, *apart[:MOST_ROWS], *rest)


def _curve(plan: StudyPlan) -> Curve:
    """Return what was measured: with pictures, where the picture model or a map speaks for every stimulus."""
    spoken_for = [name for name, said in plan.pictures if said.source != SPECTRAL]
    return HEATMAPS_WITH_PICTURES if len(spoken_for) == len(plan.stimuli) else HEATMAPS


def _shares(value: StudyEstimate) -> dict[str, float]:
    return {name: estimate.data_share for name, estimate in value.maps.items()}


def _said(study: Study, mechanism: PrivateHeatmaps, names: tuple[str, ...]) -> dict[str, Saliency]:
    """Return what pictures say that maps follow: those that were given, and those that the study declares."""
    given = {spelt(name): said for name, said in mechanism.pictures.items()}
    if unknown := sorted(set(given) - set(names)):
        raise OptionError(f"there are pictures for stimuli that are not released: {a_few(unknown)}")
    if mechanism.mean_only or len(names) > MOST_SEPARATELY:
        return {}
    if mechanism.picture_prior:
        found = {name: said_of(study.stimulus(name)) for name in names if name not in given}
        given |= {name: said for name, said in found.items() if said is not None}
    return given


@PRODUCTS.register(PrivateHeatmaps.product)
def prepare(study: Study, mechanism: PrivateHeatmaps, stimuli: Iterable[str] | None = None) -> HeatmapsMeasurement:
    """Plan the heatmaps of some stimuli of a study; by default of all."""
    wanted = [stimulus.name for stimulus in study.stimuli] if stimuli is None else list(stimuli)
    declared = {stimulus.name: stimulus for stimulus in study.stimuli}
    names = tuple((declared.get(spelt(name)) or study.stimulus(name)).name for name in wanted)
    if len(set(names)) < len(names):
        raise OptionError("a stimulus is listed twice")
    study = with_usual_sizes(study, names, partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    weights = {spelt(name): weight for name, weight in mechanism.weights.items()}
    mechanism = replace(mechanism, weights=weights, pictures=_said(study, mechanism, names))
    found = HeatmapsMeasurement(study, mechanism, names)
    check_delta(found.delta, study)
    found.recipe()  # refuses a plan that cannot be
    for name in names:
        picture_of(declared[name])  # refuses a picture that cannot be drawn over
    return found
