# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Heatmaps: all strategies, Liu's maps with and without noise, and maps of a random selection."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu.mechanism import LiuMap
from gazeveil.aggregate.liu.noisy_maps import NOISES
from gazeveil.aggregate.strategy import STRATEGIES
from gazeveil.errors import UnknownName, closest
from gazeveil.lab import load
from gazeveil.lab.baselines import unprotected_maps
from gazeveil.lab.experiments.grid import map_data
from gazeveil.lab.experiments.grid.contract import NONE, USES, Protected, Use, Wanted, check_options
from gazeveil.lab.experiments.grid.map_data import MapData
from gazeveil.release.products import liu_map, maps

load()

SELECTION: Final = "random-selection"
_LIU: Final = {f"liu-{noise}": noise for noise in NOISES.names(unlisted=True)}


class Heatmaps(Use):
    """Maps of where participants looked."""

    sources = map_data.SOURCES

    def folder(self, data: Path | None, path: Path, people: int = 0) -> MapData:
        """Return the scenes of a corpus of one's own."""
        del data
        return map_data.of_corpus(path, people)

    def mechanisms(self) -> list[str]:
        """Return the names of ways to make a map."""
        return [NONE, SELECTION, "heatmap", *STRATEGIES.names(unlisted=True), *_LIU]

    def check(self, wanted: Wanted) -> tuple[Any, ...]:
        """Return what a map is made of."""
        name = wanted.name
        if name in (NONE, SELECTION):
            check_options(name, wanted.parameters, ("selected",) if name == SELECTION else ())
            return (unprotected_maps, liu_map)
        if name in _LIU:
            check_options(name, wanted.parameters, [one.name for one in fields(LiuMap) if one.name != "noise"])
            return (LiuMap, NOISES[_LIU[name]], liu_map)
        if name != "heatmap" and name not in STRATEGIES:
            raise UnknownName(f"no way to make a heatmap is called {name!r}", hint=closest(name, self.mechanisms()))
        known = [one.name for one in fields(PrivateHeatmap) if one.name not in ("strategy", "picture", "cell_deg")]
        check_options(name, wanted.parameters, known)
        strategies = [STRATEGIES[name]] if name in STRATEGIES else list(STRATEGIES)
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
        return map_data.liu_map(_LIU[wanted.name], data, given)
    strategy = "auto" if wanted.name == "heatmap" else wanted.name
    return PrivateHeatmap(**{"delta": "0.00001", **given}, strategy=strategy)


USES.register("heatmap")(Heatmaps())
