# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful a veiled stream still is: `veil_error` for the summary, `METRICS` for one measure by name."""

from __future__ import annotations

from gazeveil.lab.utility.streams.pair import METRICS, Pair, StreamMetric
from gazeveil.lab.utility.streams.summary import VeilError, veil_error

__all__ = ["METRICS", "Pair", "StreamMetric", "VeilError", "veil_error"]
