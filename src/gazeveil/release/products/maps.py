# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private heatmaps: of one stimulus, of many stimuli under one guarantee, and over time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.decoded_maps import MOST_SEPARATELY
from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import COUNT_SHARE, PrivateHeatmap
from gazeveil.aggregate.movie import HeatmapMovie, MovieEstimate, MoviePlan
from gazeveil.aggregate.saliency import PREDICTED, SPECTRAL, Saliency
from gazeveil.aggregate.strategy import Estimate, Strategy, Task, choose, explained
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps, StudyEstimate, StudyPlan
from gazeveil.arrays import IntArray, Tell, one_thread
from gazeveil.display import MOST_ROWS, a_few
from gazeveil.errors import OptionError
from gazeveil.exact import as_text, exact
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.protection import Neighbours
from gazeveil.release import visual_report
from gazeveil.release.data import BoundCorpus
from gazeveil.release.documents import MOVIE_PARTS, PARTS
from gazeveil.release.forecast import (
    HEATMAP,
    HEATMAP_WITH_PICTURE,
    HEATMAPS,
    HEATMAPS_WITH_PICTURES,
    MOVIE,
    MOVIE_WITH_PICTURES,
    PURE_HEATMAP,
    PURE_HEATMAP_WITH_PICTURE,
    Curve,
    Forecast,
    effective_participants,
)
from gazeveil.release.map_files import (
    MOST_DRAWN,
    PRIOR_MAPS,
    Frames,
    arrays_of,
    arrays_of_all,
    drawing_of,
    film_saliency,
    map_table,
    picture_of,
    stimulus_saliency,
    write_map_pictures,
    write_parts_picture,
    write_videos,
)
from gazeveil.release.plan import PRODUCTS, Domain, Method, engine_for
from gazeveil.release.product_base import (
    StimulusMeasurement,
    SumMeasurement,
    assumed_participants,
    check_delta,
    chosen_stimulus,
    smallest_number,
    with_usual_sizes,
)
from gazeveil.release.release import ALL_MAPS, Shares
from gazeveil.release.study import Stimulus, Study, file_name, file_names, spelt

# --- The heatmap of one stimulus.


PRIOR_MAP = "prior_map.npy"
"""The file with the saliency of the stimulus's picture, or with the user's own map."""
_OUT_OF_DOMAIN = (
    "part of the prior is what a model says about the picture. It was trained on photographs and may mislead on other "
    "pictures: see docs/reference/picture-model.md, and leave it out with --no-picture-prior"
)


@PRODUCTS.register(PrivateHeatmap.product)
def prepare_heatmap(study: Study, mechanism: PrivateHeatmap, stimulus: str | None = None) -> HeatmapMeasurement:
    """Plan the heatmap of one stimulus of a study."""
    name = chosen_stimulus(study, stimulus, "heatmap")
    if mechanism.picture is None and mechanism.picture_prior:
        mechanism = replace(mechanism, picture=stimulus_saliency(study.stimulus(name)))
    study = with_usual_sizes(study, [name], partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    found = HeatmapMeasurement(study, mechanism, name)
    check_delta(found.delta, study)
    if mechanism.strategy != "auto":
        found.recipe()  # refuses a strategy that cannot be
    picture_of(found.shown)  # refuses a picture that cannot be drawn over
    return found


@dataclass(frozen=True, slots=True, repr=False)
class HeatmapMeasurement(StimulusMeasurement):
    """The heatmap of one stimulus."""

    product: ClassVar[str] = "heatmap"
    files: ClassVar[str] = (
        "heatmap.npz and heatmap.parquet: the map, the prior, the noise, hot spots, and 95 % intervals for the map of "
        "these participants without noise and for the population they stand for"
    )
    proof: ClassVar[str] = "heatmap-strategies"

    study: Study
    mechanism: PrivateHeatmap
    stimulus: str

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed; the strategy's own where the number of participants is public."""
        if self.strategy is not None:
            return self.strategy.guarantee
        if self.delta:
            return ApproxDP(self.mechanism.epsilon, self.delta, neighbours=self.study.neighbours)
        return PureDP(self.mechanism.epsilon, neighbours=self.study.neighbours)

    @property
    def strategy(self) -> Strategy | None:
        """The strategy, where it is known beforehand: not if participants are counted privately first."""
        number = self.study.participants.number
        return None if number is None else self._strategy(number)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        strategy, asked = self.strategy, self.mechanism.to_dict()
        chosen = {"chosen": "after a private count"} if strategy is None else dict(strategy.to_dict())
        return {**asked, "delta": as_text(self.delta), "stimulus": self.stimulus, "strategy": chosen}

    def forecast(self) -> Forecast | None:
        """Return the correlation to expect; None where participants are counted privately first.

        It was measured for the strategy that ``auto`` takes.
        """
        number = self.study.participants.number
        if number is None or self.mechanism.strategy != "auto":
            return None
        return heatmap_forecast(self._task(number))

    def method(self) -> Method:
        """Return how the map protects."""
        maps = (
            f"The gaze of each participant on the stimulus “{self.stimulus}”, all recordings together, became one "
            "gaze map."
        )
        after = (
            "The heatmap was estimated from the noisy sum and a public prior of gaze maps, in cells of "
            f"{self.mechanism.cell_deg:g}°, and blurred with a Gaussian of {self.mechanism.blur_deg:g}° standard "
            "deviation."
        )
        if (picture := self.mechanism.picture) is not None:
            after = f"{after} Part of the prior follows the stimulus: {picture.said_by}."
        after = (
            f"{after} 95 % intervals are for the map of these participants without noise, and for the population they "
            "stand for. Hot spots are cells with more than four times the gaze of an even map; at most one in ten "
            "flagged cells is wrong if the model holds, more if gaze does not follow the picture or the prior."
        )
        strategy = self.strategy
        if strategy is None:
            counted = (
                f"A part of {COUNT_SHARE} of ε paid for counting the participants with Laplace noise; the bound and "
                "noise of the map follow from that count."
            )
            return Method(sentence=f"{maps} {counted} {after}", sources=("dwork2014", "liu2019"))
        return strategy_method(strategy.to_dict(), self.study.neighbours, before=maps, after=after)

    @one_thread()
    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> tuple[int, IntArray]:
        """Return how many participants the decoder should assume, and the noisy sum."""
        number = self.study.participants.number
        if number is None:
            number = self.mechanism.noisy_count(len(data.corpus.observers), noise)
        return number, self._strategy(number).measure(data.corpus, noise, engine_for(self.study, engine), tell)

    @one_thread()
    def decode(self, noisy: tuple[int, IntArray]) -> Estimate:
        """Return the heatmap."""
        number, sums = noisy
        return self._strategy(number).decode(sums)

    def write(self, value: Estimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the map, its pictures, and the saliency of the stimulus, with which the map can be decoded again."""
        np.savez_compressed(folder / "heatmap.npz", **arrays_of(value))  # type: ignore[arg-type]
        self.frame(value).write_parquet(folder / "heatmap.parquet")
        if (picture := self.mechanism.picture) is not None:
            np.save(folder / PRIOR_MAP, picture.values)
        title = f"private heatmap: {self.stimulus}"
        write_map_pictures(value, self.shown.screen, folder, "heatmap", picture_of(self.shown), title)
        write_parts_picture(value, self.shown.screen, folder / PARTS, title)
        return Shares.of(value, self._saliency_source).to_dict()

    def frame(self, value: Estimate) -> pl.DataFrame:
        """Return the map as a table, a row a cell."""
        return map_table(value)

    def picture(self, value: Estimate) -> bytes:
        """Return the map as a picture."""
        return visual_report.parts_picture(
            value.prior, value.map, value.hot_spots, self.shown.screen, f"private heatmap: {self.stimulus}"
        )

    def summary(self, value: Estimate) -> tuple[str, ...]:
        """Say how much of the map is data."""
        return Shares.of(value, self._saliency_source).in_words()

    def shares(self, value: Any) -> Shares | None:
        """Return how much of the map is data, picture and prior; None for a post-processed value."""
        return Shares.of(value, self._saliency_source) if isinstance(value, Estimate) else None

    @property
    def _saliency_source(self) -> str:
        picture = self.mechanism.picture
        return "" if picture is None else picture.said_by

    def warnings(self) -> tuple[str, ...]:
        """Warn of an ε that guarantees little, and that the picture model was trained on photographs."""
        about = (_OUT_OF_DOMAIN,) if self._saliency_source == PREDICTED else ()
        return (*super(HeatmapMeasurement, self).warnings(), *about)

    def preview(self) -> pl.DataFrame | None:
        """Return which designs were compared, how much each should explain, and which is chosen."""
        number = self.study.participants.number
        if number is None or self.mechanism.strategy != "auto":
            return None
        task = self._task(number)
        shares, chosen = explained(task), choose(task)
        return pl.DataFrame(
            {
                "design": list(shares),
                "explains_of_what_the_prior_leaves_open": [f"{share:.0%}" for share in shares.values()],
                "chosen": ["yes" if name == chosen else "" for name in shares],
            }
        )

    def _task(self, number: int) -> Task:
        return self.mechanism.task_for(self.shown.screen, number, self.study.neighbours, self.delta)

    @one_thread()
    def _strategy(self, number: int) -> Strategy:
        share = 1 - COUNT_SHARE if self.study.participants.number is None else Fraction(1)
        return self.mechanism.strategy_for(self.shown.screen, number, self.study.neighbours, self.delta, share=share)


def heatmap_forecast(task: Task) -> Forecast:
    """Return how good the map of a task will be, from public facts.

    A picture model, or a map of the user's own, has curves of its own. The spectral residual adds little, so the curves
    without a picture hold for it.
    """
    pictured = task.saliency is not None and task.saliency.source == PREDICTED
    if exact(task.delta) == 0:
        pure = PURE_HEATMAP_WITH_PICTURE if pictured else PURE_HEATMAP
        return pure.forecast(task.observers * float(task.epsilon))
    return (HEATMAP_WITH_PICTURE if pictured else HEATMAP).forecast(effective_participants(task))


# --- The heatmaps of many stimuli, under one guarantee.


@PRODUCTS.register(PrivateHeatmaps.product)
def prepare_heatmaps(
    study: Study, mechanism: PrivateHeatmaps, stimuli: Iterable[str] | None = None
) -> HeatmapsMeasurement:
    """Plan the heatmaps of some stimuli of a study; by default of all."""
    wanted = [stimulus.name for stimulus in study.stimuli] if stimuli is None else list(stimuli)
    declared = {stimulus.name: stimulus for stimulus in study.stimuli}
    names = tuple((declared.get(spelt(name)) or study.stimulus(name)).name for name in wanted)
    if len(set(names)) < len(names):
        raise OptionError("a stimulus is listed twice")
    study = with_usual_sizes(study, names, partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    weights = {spelt(name): weight for name, weight in mechanism.weights.items()}
    mechanism = replace(mechanism, weights=weights, pictures=_saliency_by_stimulus(study, mechanism, names))
    found = HeatmapsMeasurement(study, mechanism, names)
    check_delta(found.delta, study)
    found.recipe()  # refuses a plan that cannot be
    for name in names:
        picture_of(declared[name])  # refuses a picture that cannot be drawn over
    return found


@dataclass(frozen=True, slots=True, repr=False)
class HeatmapsMeasurement(SumMeasurement):
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
        """The plan of kernel, noise and decoder; that of one heatmap of everything where only the mean is released."""
        screen, number = self.study.one_screen(self.stimuli), assumed_participants(self.study)
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
        """Return how much maps are expected to show beyond the study's mean; None for the mean alone."""
        plan = self.plan
        if not isinstance(plan, StudyPlan):
            return None
        return _curve(plan).forecast(plan.expected_correlation())

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
        """Name how many stimuli of equal weight would be worth it, and the mean alone."""
        plan = self.plan
        if not isinstance(plan, StudyPlan):
            return ()
        most = len(plan.stimuli)
        left_out = smallest_number(
            lambda out: _curve(plan).forecast(plan.equal(most - out).expected_correlation()).worth_it, 1, most - 2
        )
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
        drawing = drawing_of(screen) if visual_report.available() else None
        write_map_pictures(
            mean, screen, folder, "mean", None, "private heatmap, mean over all stimuli", drawing=drawing
        )
        bare, files = len(value.maps) > MOST_DRAWN, file_names(value.maps)
        for done, (name, estimate) in enumerate(value.maps.items()):
            tell(done, len(value.maps))
            under = None if bare else picture_of(self.study.stimulus(name))
            write_map_pictures(
                estimate, screen, folder / "stimuli", files[name], under, name, bare=bare, drawing=drawing
            )
        followed = {name: value.maps[name].picture_share for name in self.mechanism.pictures if name in value.maps}
        about = {"data_share": {"mean": mean.data_share, "stimuli": _shares(value)}}
        return about | ({"picture_share": followed} if followed else {})

    def frame(self, value: StudyEstimate) -> pl.DataFrame:
        """Return the maps as a table, a row a cell; the stimulus of the mean is null."""
        maps = [map_table(estimate, stimulus=name) for name, estimate in value.maps.items()]
        tables = [map_table(value.mean, stimulus=None), *maps]  # the mean has no error bars of its own
        return pl.concat(tables, how="diagonal").select(max(tables, key=lambda table: table.width).columns)

    def picture(self, value: StudyEstimate) -> bytes:
        """Return the mean as a picture."""
        screen = self.study.one_screen(self.stimuli)
        return visual_report.map_picture(value.mean.map, screen, "private heatmap, mean over all stimuli")

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
    """Return the measured curve; that with pictures if the picture model or a map predicts gaze on every stimulus."""
    spoken_for = [name for name, said in plan.pictures if said.source != SPECTRAL]
    return HEATMAPS_WITH_PICTURES if len(spoken_for) == len(plan.stimuli) else HEATMAPS


def _shares(value: StudyEstimate) -> dict[str, float]:
    return {name: estimate.data_share for name, estimate in value.maps.items()}


def _saliency_by_stimulus(study: Study, mechanism: PrivateHeatmaps, names: tuple[str, ...]) -> dict[str, Saliency]:
    """Return the saliency of stimuli: of pictures that were given, and of those that the study declares."""
    given = {spelt(name): said for name, said in mechanism.pictures.items()}
    if unknown := sorted(set(given) - set(names)):
        raise OptionError(f"there are pictures for stimuli that are not released: {a_few(unknown)}")
    if mechanism.mean_only or len(names) > MOST_SEPARATELY:
        return {}
    if mechanism.picture_prior:
        found = {name: stimulus_saliency(study.stimulus(name)) for name in names if name not in given}
        given |= {name: said for name, said in found.items() if said is not None}
    return given


# --- Heatmaps over time: one map for each stretch of a stimulus's time, and videos.


@PRODUCTS.register(HeatmapMovie.product)
def prepare_movie(
    study: Study, mechanism: HeatmapMovie, stimulus: str | None = None, speed: float = 1.0
) -> MovieMeasurement:
    """Plan the dynamic heatmap of one stimulus of a study."""
    if not (math.isfinite(speed) and speed > 0):
        raise OptionError(f"the speed of a movie must be a positive number, not {speed!r}")
    name = chosen_stimulus(study, stimulus, "movie")
    if not mechanism.pictures and mechanism.picture_prior:
        mechanism = replace(mechanism, pictures=_saliency_of_film(study.stimulus(name), mechanism))
    study = with_usual_sizes(study, [name], partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    found = MovieMeasurement(study, mechanism, name, speed)
    check_delta(found.delta, study)
    found.recipe()  # refuses a plan that cannot be
    picture_of(found.shown)  # refuses a picture that cannot be drawn over
    return found


@dataclass(frozen=True, slots=True, repr=False)
class MovieMeasurement(StimulusMeasurement):
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
        """The plan of kernel, noise and decoder."""
        shown, number = self.shown, assumed_participants(self.study)
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
        return curve_of(self.mechanism.pictures).forecast(self.plan.expected_correlation())

    def alternatives(self) -> tuple[str, ...]:
        """Name longer bins, and one heatmap of the whole time."""
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
            after="The maps were estimated together from the noisy sum and a public prior of gaze maps."
            + self._saliency_sentence(),
            length=plan.bound,
            sigma=plan.sigma,
            neighbours=self.study.neighbours,
        )

    def _saliency_sentence(self) -> str:
        pictures = self.mechanism.pictures
        if not pictures:
            return ""
        what = "the stimulus" if len(pictures) == 1 else "what was to be seen in each bin"
        return f" The prior follows {what} ({self._saliency_source})."

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
        if visual_report.available():
            picture, drawing = picture_of(shown), drawing_of(shown.screen)
            write_map_pictures(drawn.mean, shown.screen, folder, "mean", picture, "private heatmap, mean over time")
            write_parts_picture(
                over_time(value), shown.screen, folder / MOVIE_PARTS, "private heatmaps, mean over time"
            )
            (folder / "frames").mkdir()
            for number, (start, stop) in enumerate(_bins(value)):
                tell(number, len(drawn.maps))
                title = f"{start:g} to {stop:g} s"
                place, name, estimate = folder / "frames", f"{number:04d}", drawn.estimate(number)
                write_map_pictures(estimate, shown.screen, place, name, picture, title, drawing=drawing)
                if len(drawn.maps) <= MOST_DRAWN:
                    write_parts_picture(estimate, shown.screen, place / f"{name}.parts.png", title)
            write_videos(Frames.of(drawn.maps, value.edges, shown.screen, picture), folder, speed=self.speed)
        each = self._shares(value)
        about: dict[str, Any] = {
            "data_share": {"mean": drawn.mean.data_share, "bins": drawn.data_share.tolist()},
            ALL_MAPS: Shares.on_average(each).to_dict(),
            "bins": [shares.to_dict() for shares in each],
        }
        return about | ({"picture_share": drawn.picture_share} if self.mechanism.pictures else {})

    def frame(self, value: MovieEstimate) -> pl.DataFrame:
        """Return the maps as a table, a row a cell, with the bin and its time."""
        tables = []
        for number, (start, stop) in enumerate(_bins(value)):
            times = {"bin": pl.lit(number), "start": pl.lit(start), "stop": pl.lit(stop)}
            table = map_table(value.frames.estimate(number))
            tables.append(table.with_columns(**times).select(*times, pl.exclude(*times)))
        return pl.concat(tables)

    def picture(self, value: MovieEstimate) -> bytes:
        """Return what the maps are made of, in the mean over time, as a picture."""
        mean, title = over_time(value), f"private heatmaps, mean over time: {self.stimulus}"
        return visual_report.parts_picture(mean.prior, mean.map, None, self.shown.screen, title)

    def summary(self, value: MovieEstimate) -> tuple[str, ...]:
        """Say how much of the course is data."""
        return Shares.on_average(self._shares(value)).in_words()

    def shares(self, value: Any) -> Shares | None:
        """Return how much of the maps is data, picture and prior; None for a post-processed value."""
        return Shares.on_average(self._shares(value)) if isinstance(value, MovieEstimate) else None

    def _shares(self, value: MovieEstimate) -> list[Shares]:
        known = None if self.mechanism.pictures else value.frames.mean.map
        return [Shares.of(estimate, self._saliency_source, known) for estimate in value.frames.estimates]

    @property
    def _saliency_source(self) -> str:
        return ", ".join(sorted({picture.said_by for picture in self.mechanism.pictures}))


def curve_of(pictures: Sequence[Saliency]) -> Curve:
    """Return the measured curve of movies; that with pictures if the picture model or a map predicts each moment.

    One picture for all moments does not predict how they differ.
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


def _saliency_of_film(shown: Stimulus, mechanism: HeatmapMovie) -> tuple[Saliency, ...]:
    """Return the saliency of a stimulus: of its film, bin by bin, else of its map or picture."""
    if shown.film is not None:
        return film_saliency(shown.film, shown.screen, mechanism.middles(shown.seconds))
    said = stimulus_saliency(shown)
    return () if said is None else (said,)


# --- How maps protect, for authors and reviewers.


_VECTORS = {
    "modes": (
        "The coordinates of the map along {modes} public modes, less the prior's mean, were clipped to a ball",
        True,
    ),
    "bumps": ("The map was seen through {bumps} overlapping Gaussian bumps and scaled to one length", False),
}
"""For each strategy, what it computes of one participant's map, and whether these numbers may be negative."""


def strategy_method(strategy: Mapping[str, Any], neighbours: Neighbours, *, before: str, after: str) -> Method:
    """Return how a heatmap strategy protects, from its description: bound, sensitivity, noise, what to cite.

    ``before`` states what was counted, ``after`` what was done with the noisy numbers.
    """
    name, bound = strategy["strategy"], strategy["bound"]
    vectors, signed = _VECTORS[name]
    replaced = ("2" if signed else "√2") if neighbours is Neighbours.REPLACE_ONE else "1"
    radial = "scale" in strategy
    if radial:
        noise = (
            "ℓ2-radial noise with density proportional to exp(−‖z‖₂/b), with a scale b of "
            f"{strategy['scale'] / bound:.4g} times that length"
        )
    else:
        noise = (
            "Gaussian noise, calibrated analytically [@balle2018], with a standard deviation of "
            f"{strategy['sigma'] / bound:.4g} times that length in every coordinate"
        )
    bounded = (
        f"{vectors.format(**strategy)}, in fixed-point integers whose Euclidean length never exceeds {bound:,}. "
        f"So the ℓ2 sensitivity of the sum over participants is {replaced} times that length. The sum received {noise}."
    )
    return Method(
        sentence=f"{before} {bounded} {after}",
        sources=(
            "dwork2014",
            "liu2019",
            *(() if radial else ("balle2018",)),
        ),
        audit=f"heatmap-{name}",
        samplers=("radial", "radial-calibration") if radial else ("lattice-gaussian", "analytic-gaussian"),
    )


def joint_method(audit: str, *, before: str, after: str, length: int, sigma: float, neighbours: Neighbours) -> Method:
    """Return how many maps under one noise protect, as `strategy_method` does.

    All numbers of one participant together never exceed the Euclidean ``length``.
    """
    times = "√2" if neighbours is Neighbours.REPLACE_ONE else "1"
    bounded = (
        "All maps of one participant, side by side and without negative entries, were bounded in fixed-point integers "
        f"to a Euclidean length of {length:,}. So the ℓ2 sensitivity of the sum over participants is {times} times "
        "that length. The sum received Gaussian noise once, calibrated analytically [@balle2018], with a standard "
        f"deviation of {sigma / length:.4g} times that length in every coordinate."
    )
    return Method(
        sentence=f"{before} {bounded} {after}",
        sources=("dwork2014", "liu2019", "balle2018"),
        audit=audit,
        samplers=("lattice-gaussian", "analytic-gaussian"),
    )
