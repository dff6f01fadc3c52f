# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The nearest of many directions, compiled. Imported on use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.kernel_compiler import kernel


@kernel()
def nearest(known: FloatArray, asked: FloatArray) -> NDArray[np.int64]:
    """Return for each unit vector the number of the known one at the least angle, the first of equals."""
    found = np.zeros(len(asked), np.int64)
    for i in range(len(asked)):
        x, y, z = asked[i, 0], asked[i, 1], asked[i, 2]
        best = -2.0
        for j in range(len(known)):
            cosine = x * known[j, 0] + y * known[j, 1] + z * known[j, 2]
            if cosine > best:
                best = cosine
                found[i] = j
    return found
