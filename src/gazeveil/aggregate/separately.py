# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The maps of a study, each around what the study and its picture say: the decoder of single maps, given the mean.

`gazeveil.aggregate.joint_decoder` finds the mean over all maps, the least noisy of all. Each map is then decoded as
a single one is (`gazeveil.aggregate.decoder`), with models that vary around the study's mean and, where its picture is
known, models that vary around what the picture says: the content comes from the picture, the centre from the study as
far as its mean is known, and from the usual centres as far as it is not.

How likely models are beforehand is learnt from all maps at once. Pictures that gaze does not follow lose their weight
in the whole study if all of them are wrong, and in a single map if that one is. All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gazeveil.aggregate.decoder import Channel, Decoded, Decoder
from gazeveil.aggregate.joint_decoder import BROAD
from gazeveil.aggregate.measured import Center, Measured
from gazeveil.aggregate.models import (
    CENTRE_POWER,
    PICTURE_FLOOR,
    PICTURE_KINDS,
    PLAIN_KINDS,
    Model,
    Plane,
    mean_of,
    picture_weight,
    pictured_models,
)
from gazeveil.aggregate.prior import floored
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.blas import one_thread
from gazeveil.types import FloatArray

_GAINS = (0.75, 0.87, 1.0, 1.15, 1.3)
"""How gains of single maps may differ from that of the mean."""
_BEFORE = 1.0
"""What is believed about models beforehand counts as much as this many maps do."""
_ROUNDS = 20


@one_thread()
def decode_separately(
    plane: Plane, measured: Measured, center: Center, pictures: Mapping[int, Saliency]
) -> list[Decoded]:
    """Return the blurred maps on the working grid, one after the other.

    Args:
        plane: The working grid and the blur.
        measured: What was measured of all maps.
        center: The mean over all maps.
        pictures: What pictures say, by the place of the map among the measured ones.
    """
    decoders = _Decoders(plane, measured, center)
    alike: dict[str, list[int]] = {}  # maps whose models are believed alike learn from one another
    for place in range(len(measured.numbers)):
        alike.setdefault(pictures[place].source if place in pictures else "", []).append(place)
    found: dict[int, Decoded] = {}
    for places in alike.values():
        chances = [decoders.of(place, pictures.get(place)).chances(measured.numbers[place]) for place in places]
        before = decoders.weights(pictures.get(places[0]))
        learnt = _learnt(before, np.array(chances))
        for place in places:
            found[place] = decoders.of(place, pictures.get(place), learnt).decode(measured.numbers[place])
    return [found[place] for place in range(len(measured.numbers))]


class _Decoders:
    """What decodes each map of a study."""

    def __init__(self, plane: Plane, measured: Measured, center: Center) -> None:
        self._plane, self._measured, self._center = plane, measured, center
        self._features = plane.in_blurred(measured.features)
        wide = Plane(plane.grid, (plane.blur[0] * BROAD, plane.blur[1] * BROAD)).blurred(center.map)
        self._broad = wide / wide.max()
        mean = plane.blurred(center.map)
        self._plain = tuple(Model(mean, kind, 1 / len(PLAIN_KINDS), pictured=False) for kind in PLAIN_KINDS)
        self._seen = plane.project(self._plain, self._features)

    def weights(self, saliency: Saliency | None) -> FloatArray:
        """Return how likely the models of a map are before anything is learnt from the other maps."""
        return np.array([model.weight for model in self._models(saliency)])

    def of(self, place: int, saliency: Saliency | None, learnt: FloatArray | None = None) -> Decoder:
        """Return the decoder of a map, with what was learnt about its models."""
        models = self._models(saliency)
        seen = self._seen
        if saliency is not None:
            seen = seen.with_more(self._plane.project(models[len(self._plain) :], self._features))
        if learnt is not None:
            models = tuple(replace(model, weight=weight) for model, weight in zip(models, learnt, strict=True))
        channel = Channel(
            features=self._features,
            offset=np.zeros(self._plane.grid.size),
            gains=tuple(gain * self._center.gain for gain in _GAINS),
            observers=max(round(self._measured.observers), 1),
            noise_sd=float(self._measured.noise_sd[place]),
        )
        return Decoder(self._plane, models, channel, seen)

    def _models(self, saliency: Saliency | None) -> tuple[Model, ...]:
        """Return the models of a map, those that follow its picture last."""
        if saliency is None:
            return self._plain
        weight, known = picture_weight(saliency), self._center.data_share
        spectral = saliency.source == SPECTRAL
        own = floored(saliency.on(self._plane.grid) * self._broad**CENTRE_POWER, PICTURE_FLOOR)
        own = self._plane.blurred(own) if spectral else own  # a predicted map is blurred already
        usual = mean_of(pictured_models(self._plane, saliency))
        kinds = PLAIN_KINDS if spectral else PICTURE_KINDS
        return (
            *(replace(model, weight=model.weight * (1 - weight)) for model in self._plain),
            *(Model(own, kind, weight * known / len(kinds), pictured=True) for kind in kinds),
            *(Model(usual, kind, weight * (1 - known) / len(kinds), pictured=True) for kind in kinds),
        )


def _learnt(before: FloatArray, after: FloatArray) -> FloatArray:
    """Return how likely models are beforehand, learnt by expectation and maximisation in turns.

    Args:
        before: How likely they were taken to be.
        after: How likely that made them in each map, a row a map.
    """
    weights = before
    for _ in range(_ROUNDS):
        own = after * (weights / before)
        own /= own.sum(axis=1, keepdims=True)
        weights = (_BEFORE * before + own.sum(axis=0)) / (_BEFORE + len(after))
    return np.asarray(weights)
