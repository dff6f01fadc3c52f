# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How well readouts predict pictures that they never saw: the correlation with where participants looked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from gazeveil.aggregate.saliency import shrunk
from gazeveil.arrays import FloatArray, PlainRow
from gazeveil.lab.experiments.picture_model.network import Frozen, Trained
from gazeveil.lab.experiments.picture_model.pictures import Looked, PictureSet
from gazeveil.lab.experiments.picture_model.training import log_centre

SHAPE = (24, 32)


@dataclass(frozen=True, slots=True)
class Score(PlainRow):
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


def judged_pictures(judged: PictureSet, trained: list[PictureSet]) -> tuple[Looked, ...]:
    """Return the pictures that no readout saw: those held out, or all of a set that was not trained on."""
    return judged.held_out if judged in trained else (*judged.trained, *judged.held_out)


def judge(
    network: Frozen, readouts: list[Trained], judged: PictureSet, trained: list[PictureSet], device: str
) -> Score:
    """Judge readouts by the pictures of a set that they never saw."""
    pictures = judged_pictures(judged, trained)
    own, common = judged.centre(), np.mean([each.centre() for each in trained], axis=0)
    weight = float(np.mean([each.centre.item() for each in readouts]))
    rows = []
    for picture in pictures:
        shape = picture.looks.shape
        content = predicted(network, readouts, picture, device)
        at_own, at_common = (weight * log_centre(each, shape, device) for each in (own, common))
        truth = shrunk(picture.looks, *SHAPE)
        guesses = (at_own / weight, content, content + at_common, content + at_own)
        rows.append([_correlation(each, truth) for each in guesses])
    means = np.mean(rows, axis=0) if rows else np.full(4, np.nan)
    return Score(judged.name, len(pictures), judged in trained, *(float(value) for value in means))


def mean_score(parts: Sequence[Score]) -> Score:
    """Return the score of a set over all its pictures from scores of its parts."""
    if len(parts) == 1:
        return parts[0]
    counts = [each.pictures for each in parts]
    centre, content, common, own = np.average(
        [(each.centre, each.content, each.common, each.own) for each in parts], axis=0, weights=counts
    ).tolist()
    return replace(parts[0], pictures=sum(counts), centre=centre, content=content, common=common, own=own)


def contents(
    network: Frozen, readouts: list[Trained], judged: PictureSet, trained: list[PictureSet], device: str
) -> dict[str, FloatArray]:
    """Return the predicted content of the pictures of a set that readouts never saw, by "set/picture"."""
    return {
        f"{judged.name}/{picture.name}": np.exp(predicted(network, readouts, picture, device).cpu().numpy())
        for picture in judged_pictures(judged, trained)
    }


@torch.no_grad()
def predicted(network: Frozen, readouts: list[Trained], picture: Looked, device: str) -> torch.Tensor:
    """Return the content of a picture, in logarithms of mean 0: the mean of several readouts."""
    pixels = torch.from_numpy(picture.pixels.transpose(2, 0, 1).astype(np.float32))[None].to(device)
    features = network(pixels)
    logs = torch.stack([each(features, picture.looks.shape)[0] for each in readouts])
    return (logs - logs.mean((1, 2), keepdim=True)).mean(0)


def _correlation(logs: torch.Tensor, truth: FloatArray) -> float:
    guess = shrunk(logs.flatten().softmax(0).view(logs.shape).cpu().numpy().astype(np.float64), *SHAPE)
    return float(np.corrcoef(guess.ravel(), truth.ravel())[0, 1])
