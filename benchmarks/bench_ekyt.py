# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How fast EKYT embeds windows of 5 s that slide by 1 s, beside the plain network window by window, one thread each."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, race
from gazeveil.lab.attacks.ekyt.files import Fold, Model
from gazeveil.lab.attacks.ekyt.windows import Scale, windows
from gazeveil.simulate.population import Purpose, generator

_SAMPLES, _STEP, _SECONDS = 625, 125, 90


def run() -> list[Row]:
    import torch

    from gazeveil.lab.attacks.ekyt.network import Embedder, Ensemble

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        state = {name: values.numpy() for name, values in Embedder(seed=1).state_dict().items()}
        ensemble = Ensemble(Model((Fold(state, Scale(0.0, 40.0)),), 125.0, 5.0, {}))
        velocity = generator(1, Purpose.RECORDING, "bench").normal(0.0, 40.0, (2, 125 * _SECONDS)).astype(np.float32)
        cut = windows(velocity, _SAMPLES, _STEP)
        ours, plain = race(
            lambda: ensemble.embed_sliding(velocity, _SAMPLES, _STEP), lambda: ensemble.embed(cut), rounds=7
        )
    finally:
        torch.set_num_threads(before)
    note = "one network of the four; the same numbers up to rounding"
    return [Row("EKYT, 90 s in windows of 5 s by 1 s", "window by window", ours, plain, 1.5, len(cut), "windows", note)]
