# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Two inputs that a guarantee calls neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two neighbouring inputs, in whatever form the mechanism takes them, and how they differ in words."""

    first: Any
    second: Any
    words: str = "two neighbouring inputs"
