# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far a visual angle reaches in space; compiled into kernels."""

from __future__ import annotations

import math

NOISE_PER_DEGREE = math.pi / 180.0 * (1.0 + 2.0**-10)
"""How far apart the unit vectors of two directions a degree apart are at most, with ample room for rounding."""
