# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gaze map after Liu et al. 2019: the mean map of one stimulus with noise in each cell."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu.mechanism import CAP_SHARE, LiuMap, PrivateCap
from gazeveil.aggregate.liu.noisy_maps import GaussianMap, NoisyMap
from gazeveil.arrays import FloatArray, Tell
from gazeveil.errors import OptionError
from gazeveil.exact import as_text, exact
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.release import visual_report
from gazeveil.release.data import BoundCorpus
from gazeveil.release.plan import PRODUCTS, Method
from gazeveil.release.product_base import StimulusMeasurement, assumed_participants, chosen_stimulus, with_usual_sizes
from gazeveil.release.study import Study


@dataclass(frozen=True, slots=True, eq=False)
class GazeMap:
    """A released gaze map.

    Attributes:
        map: The mean map: samples that a participant has in each cell.
        noise_sd: The standard deviation of the noise in each cell.
        cap: The most that one participant added to a cell; None for no bound.
    """

    map: FloatArray
    noise_sd: float
    cap: int | None

    def __repr__(self) -> str:
        rows, columns = self.map.shape
        return f"GazeMap({rows} × {columns} cells, noise of {self.noise_sd:.3g})"


@dataclass(frozen=True, slots=True, repr=False)
class GazeMapMeasurement(StimulusMeasurement):
    """A gaze map of one stimulus: how it is written and shown."""

    product: ClassVar[str] = "liu-map"
    files: ClassVar[str] = "map.npz and map.parquet: the mean gaze map and the noise in it"
    proof: ClassVar[str] = "liu-mechanisms"

    study: Study
    mechanism: Any
    stimulus: str

    @property
    def number(self) -> int:
        """How many participants there are; public."""
        return assumed_participants(self.study)

    def shaped(self, cells: FloatArray) -> FloatArray:
        """Return cells as rows and columns."""
        return cells.reshape(self.mechanism.rows, self.mechanism.columns)

    def write(self, value: GazeMap, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the map and its picture."""
        np.savez_compressed(folder / "map.npz", map=value.map, noise_sd=value.noise_sd)
        self.frame(value).write_parquet(folder / "map.parquet")
        if visual_report.available():
            (folder / "map.png").write_bytes(self.picture(value))
        return {"noise_sd": value.noise_sd, **({} if value.cap is None else {"cap": value.cap})}

    def frame(self, value: GazeMap) -> pl.DataFrame:
        """Return the map as a table, a row a cell."""
        row, column = np.divmod(np.arange(value.map.size), value.map.shape[1])
        return pl.DataFrame({"row": row, "column": column, "value": value.map.ravel()})

    def picture(self, value: GazeMap) -> bytes:
        """Return the map as a picture."""
        kind = "gaze map with noise" if value.noise_sd else "gaze map without noise, not protected"
        return visual_report.map_picture(value.map, self.shown.screen, f"{kind}: {self.stimulus}", scale="")


@dataclass(frozen=True, slots=True, repr=False)
class LiuMapMeasurement(GazeMapMeasurement):
    """The gaze map of one stimulus, with noise."""

    mechanism: LiuMap

    @property
    def delta(self) -> Fraction:
        """The δ that may be spent; Laplace noise spends none."""
        asked = self.mechanism.delta if self.mechanism.is_gaussian else 0
        return self.study.delta if asked is None else exact(asked)

    @property
    def made(self) -> NoisyMap | PrivateCap:
        """The noise for this study, or the choice of the cap that comes before it."""
        return self.mechanism.for_observers(self.number, self.shown.screen, self.delta)

    @property
    def noisy(self) -> NoisyMap:
        """The noise of the map; with a private choice of the cap, that of the smallest candidate."""
        return self._map_with(self.mechanism.cap or 1)

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed; a private choice of the cap and the map together."""
        made = self.made
        return made.guarantee + made.map_with(1).guarantee if isinstance(made, PrivateCap) else made.guarantee

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        spent = {"delta": as_text(self.delta), "stimulus": self.stimulus}
        return {**self.mechanism.to_dict(), **spent, "made": self.made.to_dict()}

    def warnings(self) -> tuple[str, ...]:
        """Warn as Liu's levels of privacy do, and of published noise that is too small."""
        guarantee = self.guarantee
        return (*self.noisy.warnings, *getattr(guarantee, "reasons", ()))

    def method(self) -> Method:
        """Return how the map protects."""
        mechanism, noisy = self.mechanism, self.noisy
        gaussian = isinstance(noisy, GaussianMap)
        cells = f"{mechanism.columns} × {mechanism.rows} cells"
        first = "" if mechanism.samples is None else f"the first {mechanism.samples:,} "
        bound = (
            f"at most {mechanism.cap:,} in a cell"
            if mechanism.cap is not None
            else f"at most as many in a cell as were chosen privately with a part of {CAP_SHARE} of ε"
        )
        spread = f"{noisy.noise_sd:.4g}" + ("" if mechanism.cap is not None else " or more, as the chosen cap needs")
        kind = "Gaussian noise" if gaussian else "Laplace noise"
        how = ", at the size published in [@liu2019]," if mechanism.noise.endswith("published") else ""
        sentence = (
            f"For each participant {first}gaze samples on the stimulus “{self.stimulus}” were counted in {cells}, "
            f"{bound} [@liu2019]. The sum over participants received {kind}{how} and was divided by the public number "
            f"of {self.number:,} participants. The noise in each cell of this mean has a standard deviation of "
            f"{spread}."
        )
        return Method(
            sentence=sentence,
            sources=("dwork2014", "liu2019", *(("balle2018",) if mechanism.noise == "gaussian" else ())),
            audit="liu-gaussian-map" if gaussian else "liu-laplace-map",
            samplers=("lattice-gaussian", "analytic-gaussian") if gaussian else ("lattice-laplace", "laplace"),
        )

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> tuple[int, FloatArray]:
        """Return the cap and the noisy sum."""
        made, corpus = self.made, data.corpus
        if isinstance(made, PrivateCap):
            return made.measure(self.mechanism.grid_on(self.shown.screen), corpus, noise, engine, tell)
        return made.cap, made.measure(corpus, noise, engine, tell)

    def decode(self, noisy: tuple[int, FloatArray]) -> GazeMap:
        """Return the mean map."""
        cap, total = noisy
        return GazeMap(self.shaped(total / self.number), self._map_with(cap).noise_sd, cap)

    def summary(self, value: GazeMap) -> tuple[str, ...]:
        """State which cap was chosen, and how large the noise is."""
        chosen = () if self.mechanism.cap is not None else (f"the cap that was chosen privately is {value.cap:,}",)
        return (*chosen, f"the noise in each cell has a standard deviation of {value.noise_sd:.3g} samples")

    def _map_with(self, cap: int) -> NoisyMap:
        made = self.made
        return made.map_with(cap) if isinstance(made, PrivateCap) else made


@PRODUCTS.register(LiuMap.product)
def prepare_liu_map(study: Study, mechanism: LiuMap, stimulus: str | None = None) -> LiuMapMeasurement:
    """Plan the gaze map of one stimulus of a study."""
    study, name = for_gaze_map(study, stimulus)
    found = LiuMapMeasurement(study, mechanism, name)
    made = found.made  # refuses a δ that guarantees nothing
    for cap in made.candidates if isinstance(made, PrivateCap) else (made.cap,):
        found._map_with(cap).check()
    return found


def for_gaze_map(study: Study, stimulus: str | None) -> tuple[Study, str]:
    """Return the study with the sizes that a gaze map needs, and its stimulus.

    Raises:
        OptionError: If the number of participants is a secret.
    """
    if study.participants.secret:
        raise OptionError(
            "Liu's gaze maps are for a public number of participants, and this study keeps it secret",
            hint="use PrivateHeatmap, which can count participants privately",
        )
    name = chosen_stimulus(study, stimulus, "gaze map")
    return with_usual_sizes(study, [name], partial(Grid, 1, 1)), name
