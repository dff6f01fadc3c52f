# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How well readouts predict pictures that they never saw: the correlation with where people looked."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import torch

from gazeveil.aggregate.saliency import shrunk
from gazeveil.experiments.picture_model.network import Frozen, Trained
from gazeveil.experiments.picture_model.pictures import Looked, PictureSet
from gazeveil.experiments.picture_model.training import log_centre
from gazeveil.types import FloatArray

SHAPE = (24, 32)


@dataclass(frozen=True, slots=True)
class Score:
    """Mean correlations over a set's held-out pictures.

    Attributes:
        set: Its name.
        pictures: How many.
        seen: Whether other pictures of the set were trained on.
        centre: Of the set's own centre alone.
        content: Of the content alone.
        common: Of the content times the mean centre of all trained sets.
        own: Of the content times the set's own centre.
    """

    set: str
    pictures: int
    seen: bool
    centre: float
    content: float
    common: float
    own: float

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return asdict(self)


def judge(
    network: Frozen, readouts: list[Trained], judged: PictureSet, trained: list[PictureSet], device: str
) -> Score:
    """Judge readouts by the pictures of a set that were held out, or by all if none was trained on."""
    seen = judged in trained
    pictures = judged.held_out if seen else (*judged.trained, *judged.held_out)
    own, common = judged.centre(), np.mean([each.centre() for each in trained], axis=0)
    weight = float(np.mean([float(each.centre) for each in readouts]))
    rows = [_scores(network, readouts, each, own, common, weight, device) for each in pictures]
    means = np.mean(rows, axis=0) if rows else np.full(4, np.nan)
    return Score(judged.name, len(pictures), seen, *(float(value) for value in means))


@torch.no_grad()
def _scores(
    network: Frozen,
    readouts: list[Trained],
    picture: Looked,
    own: FloatArray,
    common: FloatArray,
    weight: float,
    device: str,
) -> list[float]:
    shape = picture.looks.shape
    pixels = torch.from_numpy(picture.pixels.transpose(2, 0, 1).astype(np.float32))[None].to(device)
    features = network(pixels)
    content = torch.stack([_centred(each(features, shape)[0]) for each in readouts]).mean(0)
    logs = {name: log_centre(each, shape, device) for name, each in (("own", own), ("common", common))}
    guesses = [logs["own"], content, content + weight * logs["common"], content + weight * logs["own"]]
    truth = shrunk(picture.looks, *SHAPE)
    return [_correlation(each, truth) for each in guesses]


def _centred(values: torch.Tensor) -> torch.Tensor:
    return values - values.mean()


def _correlation(logs: torch.Tensor, truth: FloatArray) -> float:
    guess = shrunk(logs.flatten().softmax(0).view(logs.shape).cpu().numpy().astype(np.float64), *SHAPE)
    return float(np.corrcoef(guess.ravel(), truth.ravel())[0, 1])
