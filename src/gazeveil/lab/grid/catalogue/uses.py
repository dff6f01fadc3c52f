# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What data are for: live gaze, recordings published as files, each participant's feature series, heatmaps.

The mechanisms of `SERIES_MECHANISMS`, ``low-rank``, and what needs all participants.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from gazeveil import ParticipantRelease, PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.liu.noisy_maps import NOISES
from gazeveil.aggregate.strategy import STRATEGIES
from gazeveil.errors import UnknownName, closest
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.lab import load
from gazeveil.lab.as_published import liu_maps
from gazeveil.lab.baselines import DATASET_MECHANISMS, DATASET_SERIES
from gazeveil.lab.experiments.named_mechanisms import kind_of, veil, veil_names
from gazeveil.lab.grid import data as sets
from gazeveil.lab.grid.contract import NONE, Protected, Use, Wanted, check_options
from gazeveil.lab.grid.data import GazeData, MapData, SeriesData
from gazeveil.release.products import liu_map, maps


class Live(Use):
    """Mechanisms, live."""

    sources = sets.GAZE_SOURCES

    def folder(self, data: Path | None, path: Path, people: int = 0) -> GazeData:
        """Return the recordings of a corpus of one's own."""
        del data
        return sets.gaze_of_corpus(path, people)

    def mechanisms(self) -> list[str]:
        """Return the names of mechanisms."""
        return veil_names()

    def check(self, wanted: Wanted) -> tuple[Any, ...]:
        """Return what a mechanism is made of."""
        kind = kind_of(wanted.name)
        known = [] if kind is None else [one.name for one in fields(kind) if one.name != "space"]
        check_options(wanted.name, wanted.parameters, known)
        return () if kind is None else (kind, veil)

    def make(self, wanted: Wanted, data: GazeData) -> Protected:
        """Return the mechanism on the viewing plane of some recordings."""
        made = veil(wanted.name, data.plane, wanted.parameters)
        return Protected.nothing() if made is None else Protected(made, made.guarantee, made.to_dict())


# --- Recordings that are published as files: each behind a mechanism of its own, or all of them made anew together.


class Dataset(Live):
    """Veiled recordings."""

    def mechanisms(self) -> list[str]:
        """Return the names of mechanisms, and of what makes recordings anew."""
        return [*super().mechanisms(), *sorted(DATASET_MECHANISMS)]

    def check(self, wanted: Wanted) -> tuple[Any, ...]:
        """Return what a mechanism is made of."""
        if wanted.name not in DATASET_MECHANISMS:
            return super().check(wanted)
        kind = DATASET_MECHANISMS[wanted.name]
        check_options(wanted.name, wanted.parameters, [one.name for one in fields(kind)])
        return (kind,)

    def make(self, wanted: Wanted, data: GazeData) -> Protected:
        """Return the mechanism for some recordings."""
        if wanted.name not in DATASET_MECHANISMS:
            return super().make(wanted, data)
        made = DATASET_MECHANISMS[wanted.name](**wanted.parameters)
        return Protected(made, made.guarantee, made.to_dict())


# --- Each participant's own feature series.


class Features(Use):
    """Feature series."""

    sources = sets.SERIES_SOURCES

    def folder(self, data: Path | None, path: Path, people: int = 0) -> SeriesData:
        """Return the series of a corpus of one's own."""
        del data
        return sets.series_of_corpus(path, people)

    def mechanisms(self) -> list[str]:
        """Return the names of mechanisms."""
        return [NONE, ParticipantSeries.name, *SERIES_MECHANISMS.names(unlisted=True), *sorted(DATASET_SERIES)]

    def check(self, wanted: Wanted) -> tuple[Any, ...]:
        """Return what a mechanism is made of."""
        if wanted.name == NONE:
            check_options(wanted.name, wanted.parameters)
            return ()
        if wanted.name not in self.mechanisms():
            raise UnknownName(
                f"no feature mechanism is called {wanted.name!r}",
                hint=closest(wanted.name, self.mechanisms()),
            )
        kind = _kind(wanted.name)
        decided = ("steps", "features", "design", "raw")
        check_options(wanted.name, wanted.parameters, [one.name for one in fields(kind) if one.name not in decided])
        return (kind, ParticipantRelease)

    def make(self, wanted: Wanted, data: SeriesData) -> Protected:
        """Return the mechanism for each of a participant's series; ε is for all of them together."""
        if wanted.name == NONE:
            return Protected.nothing()
        given: dict[str, Any] = dict(wanted.parameters)
        made: Any
        if wanted.name == ParticipantSeries.name:
            made = ParticipantSeries(**{"delta": "0.00001", **given}, design=data.design)
        else:
            _, steps, features = data.series.shape
            made = _kind(wanted.name)(steps=steps, features=features, **given)
        if not made.guarantee.proven:
            return Protected(made, made.guarantee, made.to_dict())
        release = ParticipantRelease(mechanism=made)
        return Protected(release.each(data.each), release.guarantee(data.each), release.to_dict(data.each))


def _kind(name: str) -> Any:
    if name == ParticipantSeries.name:
        return ParticipantSeries
    return SERIES_MECHANISMS[name] if name in SERIES_MECHANISMS else DATASET_SERIES[name]


# --- Heatmaps: all strategies, Liu's maps with and without noise, and maps of a random selection.


load()

SELECTION: Final = "random-selection"
_LIU: Final = {f"liu-{noise}": noise for noise in NOISES.names(unlisted=True)}


class Heatmaps(Use):
    """Maps of where participants looked."""

    sources = sets.MAP_SOURCES

    def folder(self, data: Path | None, path: Path, people: int = 0) -> MapData:
        """Return the scenes of a corpus of one's own."""
        del data
        return sets.maps_of_corpus(path, people)

    def mechanisms(self) -> list[str]:
        """Return the names of ways to make a map."""
        return [NONE, SELECTION, "heatmap", *STRATEGIES.names(unlisted=True), *_LIU]

    def check(self, wanted: Wanted) -> tuple[Any, ...]:
        """Return what a map is made of."""
        name = wanted.name
        if name in (NONE, SELECTION):
            check_options(name, wanted.parameters, ("selected",) if name == SELECTION else ())
            return (liu_maps, liu_map)
        if name in _LIU:
            check_options(name, wanted.parameters, [one.name for one in fields(LiuMap) if one.name != "noise"])
            return (LiuMap, NOISES[_LIU[name]], liu_map)
        if name != "heatmap" and name not in STRATEGIES:
            raise UnknownName(f"no way to make a heatmap is called {name!r}", hint=closest(name, self.mechanisms()))
        known = [one.name for one in fields(PrivateHeatmap) if one.name not in ("strategy", "picture", "cell_deg")]
        check_options(name, wanted.parameters, known)
        strategies = [STRATEGIES[name]] if name in STRATEGIES else list(STRATEGIES.values())
        return (PrivateHeatmap, maps, *strategies)

    def make(self, wanted: Wanted, data: MapData) -> Protected:
        """Return the map for some scenes."""
        made = _made(wanted, data)
        plan = data.plan(made)
        return Protected(made, plan.guarantee, plan.measurement.recipe())


def _made(wanted: Wanted, data: MapData) -> Any:
    given: dict[str, Any] = dict(wanted.parameters)
    if wanted.name == NONE:
        return data.cells()
    if wanted.name == SELECTION:
        return data.cells(int(given.get("selected", max(1, data.people // 2))))
    if wanted.name in _LIU:
        return sets.liu_map(_LIU[wanted.name], data, given)
    strategy = "auto" if wanted.name == "heatmap" else wanted.name
    return PrivateHeatmap(**{"delta": "0.00001", **given}, strategy=strategy)
