# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scores and seconds of the package multimatch-gaze: a file of scanpaths in, a file of what it found out."""

from __future__ import annotations

import sys
import time

import multimatch_gaze
import numpy as np

source, target = sys.argv[1:]
with np.load(source) as given:
    lengths, fixations, size, timed = given["lengths"], given["fixations"], given["size"], int(given["timed"])
paths = [
    np.rec.fromarrays(list(rows.T), dtype=[(name, "f8") for name in ("start_x", "start_y", "duration")])
    for rows in np.split(fixations, np.cumsum(lengths)[:-1])
]
scores, seconds = [], []
for one, other in zip(paths[::2], paths[1::2], strict=True):
    began = time.perf_counter()
    scores.append(multimatch_gaze.docomparison(one, other, size.tolist()))
    seconds.append(time.perf_counter() - began)
np.savez(target, scores=np.array(scores, dtype=np.float64), seconds=np.array(seconds[-timed:]))
