# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are published as files: every recording behind a veil of its own."""

from __future__ import annotations

from gazeveil.experiments.grid.contract import USES
from gazeveil.experiments.grid.uses.live import Live


class Dataset(Live):
    """Veiled recordings."""


USES.register("dataset")(Dataset())
