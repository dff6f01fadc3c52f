# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The network from veiled to raw gaze: windows, training, and blending windows of a query. Imports torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.attacks.contract import Exemplar, Trial
from gazeveil.lab.attacks.restoring import LEAST_SAMPLES, Gaze, unwound, without_gaps

if TYPE_CHECKING:
    from gazeveil.lab.attacks.threats.exemplars import ExemplarNetwork

_HELD_OUT = 5
"""Of how many participants one judges."""


def trained(attack: ExemplarNetwork, exemplars: Sequence[Exemplar], seed: int) -> Callable[[Trial], Gaze]:
    """Return the network as a function from a veiled trial to a guess of the raw one.

    Raises:
        InputError: If the exemplars have different rates, or no window is long enough.
    """
    rates = {exemplar.veiled.rate_hz for exemplar in exemplars}
    if len(rates) > 1:
        raise InputError(f"exemplars must have one rate, not {', '.join(f'{rate:g}' for rate in sorted(rates))} Hz")
    size = max(8, round(attack.seconds * rates.pop()))
    veiled, raw, there, aside = _windows(exemplars, size, attack.most_windows)
    centre = np.median(veiled, axis=2, keepdims=True)
    spread = float(np.std((raw - centre)[np.broadcast_to(there[:, None], raw.shape)])) or 1.0
    reach = 1.2 * float(np.quantile(np.abs(raw - centre), 0.999)) or 1.0
    given, wanted = (
        torch.from_numpy(((values - centre) / unit).astype(np.float32))
        for values, unit in ((veiled, spread), (raw, reach))
    )
    network = _train(attack, given, wanted, torch.from_numpy(there.astype(np.float32)), torch.from_numpy(aside), seed)
    return lambda trial: _guess(network, trial, size, spread, reach)


def _train(attack: ExemplarNetwork, given: Any, wanted: Any, weight: Any, held_out: Any, seed: int) -> Any:
    draw = torch.Generator().manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = _network(attack.channels, attack.kernel, draw).to(device)
    given, wanted, weight = (values.to(device) for values in (given, wanted, weight[:, None]))
    aside, rest = held_out.nonzero()[:, 0], (~held_out).nonzero()[:, 0]
    optimiser = torch.optim.Adam(network.parameters(), lr=attack.rate)
    steps = max(1, -(-len(rest) // attack.batch))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, attack.rate, total_steps=steps * attack.epochs + 1)
    best, kept = float("inf"), None
    for _ in range(attack.epochs):
        network.train()
        for chosen in rest[torch.randperm(len(rest), generator=draw)].split(attack.batch):
            optimiser.zero_grad()
            _loss(network, given[chosen], wanted[chosen], weight[chosen]).backward()
            optimiser.step()
            schedule.step()
        network.eval()
        with torch.no_grad():
            judged = aside if len(aside) else rest
            loss = sum(float(_loss(network, given[i], wanted[i], weight[i])) * len(i) for i in judged.split(64))
        if loss < best:
            best, kept = loss, {name: value.clone() for name, value in network.state_dict().items()}
    if kept is not None:
        network.load_state_dict(kept)
    return network.eval().cpu()


def _loss(network: Any, given: Any, wanted: Any, weight: Any) -> Any:
    return ((network(given) - wanted).square() * weight).sum() / (2.0 * weight.sum()).clamp_min(1.0)


def _network(channels: int, kernel: int, draw: Any) -> Any:
    widths = (2, channels, channels, channels, 2)
    layers: list[Any] = []
    for before, after in pairwise(widths):
        convolution = nn.Conv1d(before, after, kernel, padding="same", padding_mode="replicate")
        nn.init.xavier_normal_(convolution.weight, gain=0.3, generator=draw)
        nn.init.zeros_(convolution.bias)
        with torch.no_grad():
            convolution.weight[:2, :2, kernel // 2] += torch.eye(2)  # at first, the guess is what was veiled
        norm = nn.BatchNorm1d(after)
        nn.init.constant_(norm.weight, 0.5)  # where tanh is nearly straight
        layers += [convolution, norm, nn.Tanh()]
    return nn.Sequential(*layers)


def _windows(
    exemplars: Sequence[Exemplar], size: int, most: int
) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray]:
    """Return windows of veiled and raw gaze, each a fifth later than the last, where gaze was there, and which judge.

    No sample is both learnt from and judged by. Every fifth participant judges. Where there are fewer than five, the
    end of each exemplar does, if it is two windows long; a window that reaches across the border is left out.
    """
    everybody = sorted({exemplar.raw.person for exemplar in exemplars})
    judges = set(everybody[_HELD_OUT // 2 :: _HELD_OUT]) if len(everybody) >= _HELD_OUT else set()
    found: list[tuple[FloatArray, FloatArray, FloatArray, bool]] = []
    for exemplar in exemplars:
        sides, known = [], []
        for trial in (exemplar.veiled, exemplar.raw):
            there = np.isfinite(trial.x) & np.isfinite(trial.y)
            if np.count_nonzero(there) < LEAST_SAMPLES:
                break
            sides.append(np.stack([unwound(trial.x, there), without_gaps(trial.y, there)]))
            known.append(there)
        else:
            both, count = (known[0] & known[1]).astype(np.float64), sides[0].shape[1]
            ending = count - max(size, count // _HELD_OUT)
            border = ending if not judges and ending >= size else count
            for at in range(0, count - size + 1, max(1, size // 5)):
                if at + size <= border or at >= border:
                    veiled, raw = (side[:, at : at + size] for side in sides)
                    judging = exemplar.raw.person in judges or at >= border
                    found.append((veiled, raw, both[at : at + size], judging))
    if not found:
        raise InputError("no exemplar is as long as a window", hint="use longer exemplars or a shorter window")
    chosen = np.unique(np.linspace(0, len(found) - 1, min(most, len(found))).astype(np.int64))
    windows = [found[i] for i in chosen]
    judging_rows = np.array([judging for *_, judging in windows])
    if judging_rows.all():  # nobody else is long enough to learn from
        judging_rows[:] = False
    veiled, raw, there = (np.stack([window[part] for window in windows]) for part in range(3))
    return veiled, raw, there > 0, judging_rows


def _guess(network: Any, trial: Trial, size: int, spread: float, reach: float) -> Gaze:
    values = np.stack([trial.x, trial.y])
    count = values.shape[1]
    padded = np.pad(values, ((0, 0), (0, max(0, size - count))), mode="edge")
    last = padded.shape[1] - size
    starts = sorted({*range(0, last + 1, max(1, size // 2)), last})
    windows = np.stack([padded[:, at : at + size] for at in starts])
    centre = np.median(windows, axis=2, keepdims=True)
    with torch.no_grad():
        given = torch.from_numpy(((windows - centre) / spread).astype(np.float32))
        guesses = torch.cat([network(part) for part in given.split(64)]).numpy().astype(np.float64) * reach + centre
    fade = np.minimum(np.arange(1, size + 1), np.arange(size, 0, -1)).astype(np.float64)
    total, weight = np.zeros_like(padded), np.zeros(padded.shape[1])
    for at, guess in zip(starts, guesses, strict=True):
        total[:, at : at + size] += fade * guess
        weight[at : at + size] += fade
    x, y = (total / weight)[:, :count]
    return x, y
