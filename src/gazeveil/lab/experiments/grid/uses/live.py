# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that an app gets while someone looks: behind a mechanism, sample by sample."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from gazeveil.lab.experiments.grid import gaze_data
from gazeveil.lab.experiments.grid.contract import USES, Protected, Use, Wanted, check_options
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.lab.experiments.veils import kind_of, veil, veil_names


class Live(Use):
    """Mechanisms, live."""

    sources = gaze_data.SOURCES

    def folder(self, data: Path | None, path: Path, people: int = 0) -> GazeData:
        """Return the recordings of a corpus of one's own."""
        del data
        return gaze_data.of_corpus(path, people)

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


USES.register("live")(Live())
