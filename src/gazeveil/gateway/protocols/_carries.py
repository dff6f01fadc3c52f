# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which veiled things a sink takes: an app that may have only names of areas gets no points by mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gazeveil.gateway.protocol import Output
from gazeveil.gateway.sample import Veiled, VeiledFixation, VeiledHit, VeiledSample

CARRIES: Final[Mapping[Output, type[Veiled]]] = {
    "samples": VeiledSample,
    "fixations": VeiledFixation,
    "hits": VeiledHit,
}
