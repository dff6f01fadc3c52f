# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Each participant's own feature series.

The mechanisms of `SERIES_MECHANISMS`, ``low-rank``, and what needs all participants.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from gazeveil.errors import UnknownName, closest
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.features.series_release import ParticipantRelease
from gazeveil.lab import load
from gazeveil.lab.baselines.k_same import DATASET_SERIES
from gazeveil.lab.experiments.grid import series_data
from gazeveil.lab.experiments.grid.contract import NONE, USES, Protected, Use, Wanted, check_options
from gazeveil.lab.experiments.grid.series_data import SeriesData

load()


class Features(Use):
    """Feature series."""

    sources = series_data.SOURCES

    def folder(self, data: Path | None, path: Path, people: int = 0) -> SeriesData:
        """Return the series of a corpus of one's own."""
        del data
        return series_data.of_corpus(path, people)

    def mechanisms(self) -> list[str]:
        """Return the names of mechanisms."""
        return [NONE, ParticipantSeries.name, *SERIES_MECHANISMS.names(unlisted=True), *DATASET_SERIES.names()]

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


USES.register("features")(Features())
