# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Baselines and mechanisms by one line of text: a name, and what differs from its defaults, as ``k-same-synth:k=8``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gazeveil.errors import OptionError, UnknownName, closest
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
from gazeveil.geometry import Geometry
from gazeveil.lab import load
from gazeveil.lab.as_published.wilson_presets import ALL_PRESETS, preset
from gazeveil.lab.baselines.k_same import DATASET_SERIES, DatasetSeries
from gazeveil.lab.baselines.recordings_together import DATASET_MECHANISMS, DatasetMechanism
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import space_of

load()

Made = TypeVar("Made")

NONE = "none"
SAMPLE_PEERS = (
    NONE,
    "k-same-synth:k=2",
    "k-same-synth:k=4",
    "k-same-synth:k=8",
    "event-synth:k=2",
    "event-synth:k=2,failing=release",
    "kalman:error=1,wander=4",
    "kalman:error=4,wander=4",
    "smoothing-low",
    "smoothing-high",
    "mpmu",
)
"""The papers' strengths, the mechanisms that newer work recommends, and one of ours to compare with."""
FEATURE_PEERS = (
    NONE,
    "k-same:k=2",
    "k-same:k=4",
    "k-same:k=8",
    "exponential-as-published:epsilon=100",
    "exponential-as-published:epsilon=20",
    "exponential-as-published:epsilon=2",
    "exponential:epsilon=100",
)
"""The papers' strengths, and the corrected form of Steil's mechanism, whose ε is for all that a participant releases.
"""


def sample_peer(text: str, plane: Geometry) -> DatasetMechanism | SampleMechanism | None:
    """Return a baseline for recordings, a mechanism or a preset, for gaze on a viewing plane; None for ``none``.

    Raises:
        UnknownName: If there is none of that name.
        OptionError: If it has no such parameter.
    """
    name, options = _parts(text)
    if name == NONE:
        return None
    if name in DATASET_MECHANISMS:
        return _made(DATASET_MECHANISMS[name], name, options)
    if name in ALL_PRESETS:
        return preset(name, space_of(plane), **options)
    if name in MECHANISMS:
        return _made(MECHANISMS[name], name, {"space": space_of(plane), **options})
    known = (*DATASET_MECHANISMS.names(), *MECHANISMS.names(unlisted=True), *ALL_PRESETS)
    raise UnknownName(f"no baseline or mechanism is called {name!r}", hint=closest(name, known))


def feature_peer(text: str, steps: int, features: int) -> DatasetSeries | SeriesMechanism | None:
    """Return a baseline or mechanism for series of this many steps and features; None for ``none``.

    Raises:
        UnknownName: If there is none of that name.
        OptionError: If it has no such parameter.
    """
    name, options = _parts(text)
    if name == NONE:
        return None
    given = {"steps": steps, "features": features, **options}
    if name in DATASET_SERIES:
        return _made(DATASET_SERIES[name], name, given)
    return _made(SERIES_MECHANISMS[name], name, given)


def _parts(text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.partition(":")
    options: dict[str, Any] = {}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise OptionError(f"expected NAME:key=value,key=value, found {text!r}")
        options[key.strip()] = _value(value.strip())
    return name.strip(), options


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _made(kind: Callable[..., Made], name: str, options: Mapping[str, Any]) -> Made:
    try:
        return kind(**options)
    except TypeError:
        raise OptionError(
            f"{name} does not take {', '.join(sorted(options))}", hint="see the reference for its parameters"
        ) from None
