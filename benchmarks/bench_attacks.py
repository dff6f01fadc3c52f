# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A whole judgement of the size of Wilson's table 3: 26 people, four trials of 90 s, all 12 pairs of trials.

Whole: Gaussian noise of 3 degrees on every query, wavelet denoising, embeddings of four EKYT networks (512 numbers) of
windows of 5 s that slide by 1 s, of queries and of the raw reference, the nearest of all reference windows, the vote,
and intervals over people. The aim is a minute on two cores, so the peer of that row is a minute. Networks have random
weights: they take as long as trained ones.

Matching: the one matrix product against comparing each query window with all reference windows by itself, as written
down in the paper (the peer has a share of the queries, and its time is scaled up).
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, busy, race, seconds
from gazeveil.lab.attacks.judging import Judge
from gazeveil.lab.attacks.matching import nearest_by_person
from gazeveil.lab.experiments.identification import PEOPLE, SECONDS, SESSIONS, simulated_people
from gazeveil.samples import Sphere
from gazeveil.samples.recipes import preset

MINUTE = 60.0
DIMENSIONS = 512
WINDOWS = 86
PEER_SHARE = 40

Array = NDArray[np.float64]


def random_model(folder: Path) -> Path:
    """Write a model of four networks that were never trained."""
    from gazeveil.lab.attacks.ekyt.files import Fold, Model
    from gazeveil.lab.attacks.ekyt.network import Embedder
    from gazeveil.lab.attacks.ekyt.windows import Scale

    folds = tuple(
        Fold({name: values.numpy() for name, values in Embedder(seed=seed).state_dict().items()}, Scale(0.0, 40.0))
        for seed in range(4)
    )
    Model(folds, 125.0, 5.0, {"data": "none"}).save(folder / "random.npz")
    return folder / "random.npz"


def whole() -> Row:
    import torch

    from gazeveil.lab.attacks.recognisers.ekyt import Ekyt
    from gazeveil.lab.attacks.threats.wavelet import WaveletDenoising

    torch.set_num_threads(2)
    whose = simulated_people()
    noise = preset("gaussian-high", Sphere())
    with tempfile.TemporaryDirectory() as folder:
        recogniser = Ekyt(model=random_model(Path(folder)))
        few = replace(whose, trials=whose.trials[:8])
        Judge(recogniser, few.trials, seconds=6.0, draws=2).judge(noise, WaveletDenoising())  # loads and compiles
        judge = Judge(recogniser, whose.trials, seconds=SECONDS)
        parts: dict[str, float] = {}
        stages = []
        parts["veil and wavelet"] = seconds(lambda: stages.append(judge.stage(noise, WaveletDenoising())))
        parts["embed, match and judge"] = seconds(lambda: judge.measure(stages[0]))
    took = sum(parts.values())
    note = ", ".join(f"{name} {part:.1f} s" for name, part in parts.items())
    return Row(
        f"wavelet, embed and match, {PEOPLE} people x {SESSIONS} x {SECONDS:g} s", "a minute", took, MINUTE, 1.0,
        PEOPLE * SESSIONS * WINDOWS, "windows", note + "; two threads" + busy(),
    )  # fmt: skip


def one_by_one(query: Array, reference: Array, owner: NDArray[np.int64], people: int) -> Array:
    """Compare each query window with every reference window by itself."""
    found = np.full((len(query), people), -np.inf)
    lengths = np.linalg.norm(reference, axis=1)
    for row, asked in enumerate(query):
        cosines = reference @ asked / (lengths * np.linalg.norm(asked))
        for person in range(people):
            found[row, person] = cosines[owner == person].max()
    return found


def matching() -> Row:
    rng = np.random.default_rng(5)
    owner = np.repeat(np.arange(PEOPLE), WINDOWS)
    query, reference = rng.normal(size=(2, len(owner), DIMENSIONS))
    few = query[::PEER_SHARE]
    if not np.allclose(nearest_by_person(few, reference, owner, PEOPLE), one_by_one(few, reference, owner, PEOPLE)):
        raise ValueError("the two disagree")
    ours, peer = race(
        lambda: nearest_by_person(query, reference, owner, PEOPLE),
        lambda: one_by_one(few, reference, owner, PEOPLE),
        rounds=3,
    )
    return Row(
        f"nearest of {len(owner):,} windows for {len(query):,}", "one window at a time", ours, peer * PEER_SHARE, 5.0,
        len(query), "windows", f"peer measured on every {PEER_SHARE}th window{busy()}",
    )  # fmt: skip


def run() -> list[Row]:
    return [whole(), matching()]
