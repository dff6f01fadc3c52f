# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which windows go together: 16 participants of 16 windows each a batch, and folds of participants for the four models.

What an epoch draws depends on the seed and on the epoch's number alone, so that a resumed run goes on as it would have.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError
from gazeveil.lab.attacks.ekyt._torch import torch

CLASSES: Final = 16
EACH: Final = 16


def epoch_batches(
    labels: NDArray[np.int64], seed: int, epoch: int, classes: int = CLASSES, each: int = EACH
) -> NDArray[np.int64]:
    """Return the window numbers of one epoch's batches, (batches, classes times each).

    A participant with fewer than ``each`` windows has some of them twice. There are as many batches as the windows
    would fill, and at least one. With fewer participants than ``classes`` a batch is smaller.
    """
    people, counts = np.unique(labels, return_counts=True)
    if len(people) < 2:
        raise InputError("telling participants apart takes at least two of them")
    classes = min(classes, len(people))
    generator = torch.Generator().manual_seed(_mixed(seed, epoch))
    batches = max(1, len(labels) // (classes * each))
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    chosen = np.empty((batches, classes, each), dtype=np.int64)
    for batch in chosen:
        drawn = torch.randperm(len(people), generator=generator)[:classes].tolist()
        for row, person in zip(batch, drawn, strict=True):
            row[:] = order[starts[person] + _pick(int(counts[person]), each, generator)]
    return chosen.reshape(batches, classes * each)


def balanced_folds(labels: NDArray[np.int64], folds: int) -> list[list[int]]:
    """Return the participants of each fold: nobody in two, and folds of about the same number of windows."""
    people, counts = np.unique(labels, return_counts=True)
    if not 1 <= folds <= len(people):
        raise InputError(f"{len(people)} participants cannot be dealt into {folds} folds")
    dealt: list[list[int]] = [[] for _ in range(folds)]
    filled = [0] * folds
    for index in np.argsort(-counts, kind="stable"):
        fold = min(range(folds), key=lambda number: (filled[number], len(dealt[number]), number))
        dealt[fold].append(int(people[index]))
        filled[fold] += int(counts[index])
    return [sorted(fold) for fold in dealt]


def _pick(count: int, each: int, generator: Any) -> NDArray[np.int64]:
    if count >= each:
        return np.asarray(torch.randperm(count, generator=generator)[:each].numpy())
    return np.asarray(torch.randint(count, (each,), generator=generator).numpy())


def _mixed(seed: int, epoch: int) -> int:
    """Return a seed of its own for every epoch."""
    return int.from_bytes(sha256(f"{seed} {epoch}".encode()).digest()[:7])
