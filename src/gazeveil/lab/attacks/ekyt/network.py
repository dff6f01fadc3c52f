# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The network of Eye Know You Too, from windows of gaze to embeddings. Imports torch, or says which extra is missing.

Eight convolutions of 32 filters each see everything before them: 2, 34, 66, … channels go in, 258 come out. Every
convolution but the first is preceded by batch normalisation and ReLU. The last 258 channels are normalised, rectified,
averaged over time and mapped to 128 numbers. Nothing depends on the rate or on the length of a window.

Names in the state of an `Embedder` (123,040 parameters; ``i`` counts from 0):

====================================  ================  ==========================================================
``block.convolutions.{i}.weight``     (32, 2 + 32i, 3)  i = 0 … 7, dilation 1, 2, 4, 8, 16, 32, 64, 1, no bias
``block.norms.{i}.weight``, ``bias``  (34 + 32i,)       i = 0 … 7; norm i follows convolution i and sees all channels
                                                        so far; norm 7 (258 channels) precedes the average
``block.norms.{i}.running_mean``, …   (34 + 32i,)       also ``running_var`` and ``num_batches_tracked``
``embed.weight``, ``embed.bias``      (128, 258)        the embedding; it is not normalised
====================================  ================  ==========================================================

Channels are ordered input first, then each convolution's output in turn. Another block may be plugged in: a module
that maps (n, 2, samples) to the (n, 258) averages and has the same names under ``block.``.

A window's edges see zeros where the recording goes on, but only so far: through the convolutions of dilation 1, 2, 4, …
an edge reaches 1, 3, 7, …, 127, 128 samples into the window. Everything deeper inside is what the whole recording
gives. So the whole recording goes through the block once, and each window adds its two edges. With windows of 5 s that
slide by 1 s this is about half the work.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError, MissingExtra
from gazeveil.lab.attacks.ekyt.files import Fold, Model
from gazeveil.lab.attacks.ekyt.windows import Floats, completed, usable, windows

try:
    import torch as torch  # noqa: PLC0414  (who needs torch here takes it from this module)
except ImportError as missing:
    raise MissingExtra("torch", "attacks", "the EKYT network") from missing


# --- The network: one dense block of dilated convolutions, then 128 numbers that say whose eyes these are.


CHANNELS_IN: Final = 2
FILTERS: Final = 32
KERNEL: Final = 3
DILATIONS: Final = (1, 2, 4, 8, 16, 32, 64, 1)
CHANNELS_OUT: Final = CHANNELS_IN + FILTERS * len(DILATIONS)
EMBEDDING: Final = 128

MakeBlock = Callable[[], Any]
"""Makes a module from (n, 2, samples) to (n, 258) whose parameters have the names above."""


class DenseBlock(torch.nn.Module):  # type: ignore[misc]
    """The plain dense block with its last normalisation and the average over time."""

    def __init__(self) -> None:
        super().__init__()
        widths = [CHANNELS_IN + FILTERS * index for index in range(len(DILATIONS) + 1)]
        self.convolutions = torch.nn.ModuleList(
            torch.nn.Conv1d(width, FILTERS, KERNEL, padding=dilation, dilation=dilation, bias=False)
            for width, dilation in zip(widths[:-1], DILATIONS, strict=True)
        )
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(width) for width in widths[1:])

    def forward(self, windows: Any) -> Any:
        """Return the averages over time of the 258 rectified channels, one row per window."""
        channels = torch.cat((windows, self.convolutions[0](windows)), dim=1)
        for norm, convolution in zip(self.norms[:-1], self.convolutions[1:], strict=True):
            channels = torch.cat((channels, convolution(torch.relu(norm(channels)))), dim=1)
        return torch.relu(self.norms[-1](channels)).mean(dim=2)


class Embedder(torch.nn.Module):  # type: ignore[misc]
    """Windows of velocity (n, 2, samples) in, embeddings (n, 128) out."""

    def __init__(self, block: MakeBlock = DenseBlock, seed: int = 1) -> None:
        super().__init__()
        self.block = block()
        self.embed = torch.nn.Linear(CHANNELS_OUT, EMBEDDING)
        _initialise(self, torch.Generator().manual_seed(seed))

    def forward(self, windows: Any) -> Any:
        """Return the embeddings, not normalised."""
        return self.embed(self.block(windows))


class Classifier(torch.nn.Module):  # type: ignore[misc]
    """Embeddings in, one logit per training participant out; used in training only.

    Names in its state: ``norm.*`` (128 channels), ``linear.weight`` (classes, 128), ``linear.bias``.
    """

    def __init__(self, classes: int, seed: int = 1) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(EMBEDDING)
        self.linear = torch.nn.Linear(EMBEDDING, classes)
        _initialise(self, torch.Generator().manual_seed(seed))

    def forward(self, embeddings: Any) -> Any:
        """Return the logits."""
        return self.linear(torch.relu(self.norm(embeddings)))


def _initialise(module: Any, generator: Any) -> None:
    """Kaiming-normal convolutions; linear weights as PyTorch draws them, biases 0; batch norms start at 1 and 0.

    Parameters are visited by name, so that a block of another make with the same names starts from the same numbers.
    """
    for name, parameter in sorted(module.named_parameters()):
        with torch.no_grad():
            if parameter.dim() == 3:
                torch.nn.init.kaiming_normal_(parameter, generator=generator)
            elif parameter.dim() == 2:
                torch.nn.init.kaiming_uniform_(parameter, a=math.sqrt(5.0), generator=generator)
            else:
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)


# --- Windows that overlap, embedded together: what they share is computed once, and the result is the same.


REACH: Final = tuple(accumulate(DILATIONS))
"""How far an edge is felt after each convolution."""
STRIP: Final = max(reach + dilation for reach, dilation in zip(REACH, DILATIONS, strict=True))
"""How many samples from the edge the convolutions look at to work it out."""
SHORTEST: Final = STRIP + REACH[-1]
"""Windows must be this long, so that one edge is not felt at the other."""


EDGES_AT_ONCE: Final = 12
"""Windows whose edges are worked out together; more would leave the caches."""


def sliding_averages(block: Any, recording: Any, samples: int, step: int) -> Any:
    """Return what the block gives for all windows of a recording.

    Args:
        block: A block with the names of `DenseBlock`, in evaluation mode.
        recording: Scaled velocities (2, all samples), at least one window of them.
        samples: How long a window is; at least `SHORTEST`.
        step: Samples from one window's start to the next one's.

    Returns:
        (windows, 258) averages.
    """
    norms = [_line(norm) for norm in block.norms]
    taps = [convolution.weight.unbind(2) for convolution in block.convolutions]
    channels = recording.new_empty((CHANNELS_OUT, 1, recording.shape[1]))
    channels[:CHANNELS_IN, 0] = recording
    _fill(channels, [torch.cat(three) for three in taps], norms, [channels.shape[2]] * len(taps))
    channels = channels[:, 0]
    deep = _rectified(channels, norms[-1])[:, REACH[-1] : recording.shape[1] - REACH[-1]]
    sums = deep.unfold(1, samples - 2 * REACH[-1], step).sum(dim=2)
    windows = sums.shape[1]
    sums += _edge_sums(channels.unfold(1, STRIP, step)[:, :windows], taps, norms)
    # the end of a window is the beginning of the window that runs backwards, and the last of them comes first
    left_over = (recording.shape[1] - samples) % step
    ends = channels.flip(1)[:, left_over:].unfold(1, STRIP, step)[:, :windows]
    sums += _edge_sums(ends, [three[::-1] for three in taps], norms).flip(1)
    return sums.T / samples


def _edge_sums(edges: Any, taps: list[Any], norms: list[tuple[Any, Any]]) -> Any:
    """Return for all windows the sums over those of their first samples that feel the edge."""
    weights = [torch.cat(three) for three in taps]
    sums = []
    for some in edges.split(EDGES_AT_ONCE, dim=1):
        strips = some.contiguous()
        _fill(strips, weights, norms, REACH)
        felt = _rectified(strips[:, :, : REACH[-1]].flatten(1), norms[-1])
        sums.append(felt.unflatten(1, (-1, REACH[-1])).sum(dim=2))
    return torch.cat(sums, dim=1)


def _fill(channels: Any, taps: list[Any], norms: list[tuple[Any, Any]], reaches: Sequence[int]) -> None:
    """Run all convolutions over stretches (258, n, samples) and put what they give for their first samples into place.

    Left of a stretch there are zeros. Each convolution is one product with its three taps side by side, added up with
    the taps' delays.
    """
    for number, (weights, dilation, reach) in enumerate(zip(taps, DILATIONS, reaches, strict=True)):
        width = CHANNELS_IN + FILTERS * number
        seen = channels[:width, :, : reach + dilation]
        stretches, samples = seen.shape[1:]
        seen = seen.flatten(1) if number == 0 else _rectified(seen.flatten(1), norms[number - 1])
        early, now, late = (weights @ seen).view(3, FILTERS, stretches, samples)
        made = now[:, :, :reach]
        made[:, :, dilation:] += early[:, :, : reach - dilation]
        made[:, :, : samples - dilation] += late[:, :, dilation : dilation + reach]
        channels[width : width + FILTERS, :, :reach] = made


def _line(norm: Any) -> tuple[Any, Any]:
    """Return a trained normalisation as what it is: a factor and an offset for every channel."""
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return factor[:, None], (norm.bias - norm.running_mean * factor)[:, None]


def _rectified(channels: Any, line: tuple[Any, Any]) -> Any:
    return torch.addcmul(line[1], channels, line[0]).relu_()


# --- Embeddings from a trained model: the folds' 128 numbers side by side, 512 for four of them.


WINDOWS_AT_ONCE: Final = 32
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
            for begin in range(0, len(velocity), WINDOWS_AT_ONCE):
                some = velocity[begin : begin + WINDOWS_AT_ONCE]
                for number, (fold, embedder) in enumerate(zip(self.model.folds, self._embedders, strict=True)):
                    scaled = torch.from_numpy(fold.scale.apply(some)).to(self.device)
                    result[begin : begin + WINDOWS_AT_ONCE, number] = embedder(scaled).cpu().numpy()
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
                return np.concatenate([embedder.block(some).cpu().numpy() for some in scaled.split(WINDOWS_AT_ONCE)])

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
