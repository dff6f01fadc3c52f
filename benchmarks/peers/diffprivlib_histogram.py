# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""diffprivlib's histogram2d: ``python diffprivlib_histogram.py GAZE.npz OUT.npz``."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from diffprivlib.tools import histogram2d


def main(source: str, target: str) -> None:
    gaze = np.load(source)
    rows, columns = (int(side) for side in gaze["shape"])
    width, height = (float(side) for side in gaze["plane"])
    each = int(gaze["samples"])
    told: dict[str, Any] = {}
    for name, epsilon in (("sample", 1.0), ("person", 1.0 / each)):
        maps, seconds = [], []
        for _ in range(int(gaze["repeats"]) + 1):
            start = time.perf_counter()
            counts, _, _ = histogram2d(
                gaze["x"], gaze["y"], epsilon=epsilon, bins=(columns, rows), range=[(0, width), (0, height)]
            )
            seconds.append(time.perf_counter() - start)
            maps.append(counts.T)
        told[name], told[f"{name}_s"] = np.array(maps[1:]), np.array(seconds[1:])
    np.savez(target, allow_pickle=False, **told)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
