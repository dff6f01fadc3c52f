# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where sums over observers are computed: on this machine or on a cluster, with the same integers."""

from __future__ import annotations

from gazeveil.aggregate.engine import ENGINES, Engine


def engine_at(address: str = "local") -> Engine:
    """Return the engine at an address: ``local``, ``local[4]``-style Spark masters, ``spark://host:port``."""
    scheme = "local" if address == "local" else "spark"
    return ENGINES[scheme](address)
