# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are published as files: each behind a mechanism of its own, or all of them made anew together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from gazeveil.lab.baselines.recordings_together import DATASET_MECHANISMS
from gazeveil.lab.experiments.grid.contract import USES, Protected, Wanted, check_options
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.lab.experiments.grid.uses.live import Live


class Dataset(Live):
    """Veiled recordings."""

    def mechanisms(self) -> list[str]:
        """Return the names of mechanisms, and of what makes recordings anew."""
        return [*super().mechanisms(), *DATASET_MECHANISMS.names()]

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


USES.register("dataset")(Dataset())
