# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Embeddings from a trained model: the folds' 128 numbers side by side, 512 for four of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError
from gazeveil.lab.attacks.ekyt._torch import torch
from gazeveil.lab.attacks.ekyt.network.checkpoint import Fold, Model
from gazeveil.lab.attacks.ekyt.network.layers import CHANNELS_OUT, EMBEDDING, DenseBlock, Embedder, MakeBlock
from gazeveil.lab.attacks.ekyt.network.preprocess import Floats, completed, usable, windows
from gazeveil.lab.attacks.ekyt.network.sliding import SHORTEST, sliding_averages

AT_ONCE: Final = 32
"""Windows that go through the network together; more would leave the caches."""


class Ensemble:
    """A model ready to embed windows."""

    def __init__(self, model: Model, device: str = "cpu", block: MakeBlock = DenseBlock) -> None:
        self.model = model
        self.device = torch.device(device)
        self._embedders = [_restored(fold, block).to(self.device) for fold in model.folds]

    def embed(self, velocity: Floats) -> NDArray[np.float32]:
        """Return one row of numbers for every window of raw velocities in deg/s (n, 2, samples), NaN where missing."""
        folds = len(self._embedders)
        result = np.empty((len(velocity), folds, EMBEDDING), dtype=np.float32)
        with torch.inference_mode():
            for begin in range(0, len(velocity), AT_ONCE):
                some = velocity[begin : begin + AT_ONCE]
                for number, (fold, embedder) in enumerate(zip(self.model.folds, self._embedders, strict=True)):
                    scaled = torch.from_numpy(fold.scale.apply(some)).to(self.device)
                    result[begin : begin + AT_ONCE, number] = embedder(scaled).cpu().numpy()
        return result.reshape(len(velocity), folds * EMBEDDING)

    def averages_sliding(self, velocity: Floats, samples: int, step: int) -> NDArray[np.float32]:
        """Return what the last layer sees: for every window that is at least half there, 258 numbers of each fold.

        Args:
            velocity: Raw velocities of a recording in deg/s (2, all samples), NaN where missing.
            samples: Length of a window.
            step: Samples from one window's start to the next one's.

        Returns:
            (windows, folds, 258).
        """
        there = usable(velocity, samples, step)
        if not there.any():
            return np.empty((0, len(self._embedders), CHANNELS_OUT), dtype=np.float32)
        overlap = step < samples and samples >= SHORTEST and self.device.type == "cpu"
        whole = completed(velocity, samples) if overlap else windows(velocity, samples, step)

        def of_one(fold: Fold, embedder: Any) -> NDArray[np.float32]:
            with torch.inference_mode():
                scaled = torch.from_numpy(fold.scale.apply(whole)).to(self.device)
                if overlap:
                    found: NDArray[np.float32] = sliding_averages(embedder.block, scaled, samples, step).numpy()[there]
                    return found
                return np.concatenate([embedder.block(some).cpu().numpy() for some in scaled.split(AT_ONCE)])

        return np.stack(list(_side_by_side(of_one, self.model.folds, self._embedders)), axis=1)

    def embed_sliding(self, velocity: Floats, samples: int, step: int) -> NDArray[np.float32]:
        """Return one row for every window of a recording that is at least half there.

        The same as `embed` of its `windows`, in less time where they overlap; it takes what `averages_sliding` does.
        """
        there = usable(velocity, samples, step)
        if not there.any():
            return np.empty((0, len(self._embedders) * EMBEDDING), dtype=np.float32)
        if step >= samples or samples < SHORTEST or self.device.type != "cpu":
            return self.embed(windows(velocity, samples, step))
        whole = completed(velocity, samples)

        def of_one(fold: Fold, embedder: Any) -> NDArray[np.float32]:
            with torch.inference_mode():
                averages = sliding_averages(embedder.block, torch.from_numpy(fold.scale.apply(whole)), samples, step)
                found: NDArray[np.float32] = embedder.embed(averages).numpy()[there]
            return found

        return np.concatenate(list(_side_by_side(of_one, self.model.folds, self._embedders)), axis=1)


def _side_by_side(work: Callable[..., Any], *given: Sequence[Any]) -> Iterator[Any]:
    """Do the same for several folds at once, one thread each: they share nothing, while one product's threads wait."""
    threads = torch.get_num_threads()
    return map(work, *given) if threads == 1 else _pool(threads, os.getpid()).map(work, *given)


@cache
def _pool(threads: int, _process: int) -> ThreadPoolExecutor:
    """Return the threads of this process; a forked child has none of its parent's."""
    return ThreadPoolExecutor(threads, "ekyt", initializer=torch.set_num_threads, initargs=(1,))


def unit_rows(embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows of length 1, whose products are cosines; a row of zeros stays one."""
    length = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return np.asarray(embeddings / np.where(length > 0, length, 1.0), dtype=np.float32)


def nearest_is_right(
    embeddings: NDArray[np.float32], labels: NDArray[np.int64], session: NDArray[np.int32]
) -> tuple[float, float]:
    """Return how often the nearest window of an earlier session is of the same participant, and the chance level.

    Windows of each participant's last session ask; those of all other sessions answer.
    """
    asks = session == session.max(initial=0)
    if asks.all() or not asks.any():
        return float("nan"), float("nan")
    unit = unit_rows(embeddings)
    nearest = np.argmax(unit[asks] @ unit[~asks].T, axis=1)
    return float(np.mean(labels[~asks][nearest] == labels[asks])), 1.0 / len(np.unique(labels[~asks]))


def _restored(fold: Fold, block: MakeBlock) -> Any:
    embedder = Embedder(block)
    try:
        embedder.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in fold.state.items()})
    except RuntimeError as error:
        raise InputError(f"the model's parameters do not fit the network: {str(error).splitlines()[-1]}") from error
    return embedder.eval()
