# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every preset by every measure: what an app that receives a veiled stream can still do with it.

Streams are taken in degrees. Measures are means over recordings and repeats; where one has no value (NaN), that
recording is left out of its mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gazeveil.arrays import Tell
from gazeveil.errors import OptionError
from gazeveil.lab.as_published.wilson_presets import ALL_PRESETS, preset
from gazeveil.lab.experiments.stream_data import StreamSet
from gazeveil.lab.utility.streams import VeilError, veil_error
from gazeveil.noise import NoiseSource
from gazeveil.samples.space import space_of

SHOWN = ("rmse_deg", "aoi_f1", "saliency_cc", "lag_s", "lag_correlation", "jitter", "fixation_count_error")
"""The measures of a table for participants."""


@dataclass(frozen=True, slots=True)
class PresetError:
    """The mean measures of one preset on one set.

    Attributes:
        streams: Name of the set.
        preset: Name of the preset; "none" is no mechanism at all.
        promise: What it guarantees, in words.
        measures: Means by the names of `VeilError`.
    """

    streams: str
    preset: str
    promise: str
    measures: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {"streams": self.streams, "preset": self.preset, "promise": self.promise, **self.measures}


def compare(
    sets: Sequence[StreamSet],
    presets: Sequence[str] = tuple(ALL_PRESETS),
    *,
    repeats: int = 1,
    seed: int = 1,
    tell: Tell | None = None,
) -> list[PresetError]:
    """Return the mean measures of presets on sets of streams, after a row for no mechanism at all."""
    if repeats < 1:
        raise OptionError(f"at least one repeat is needed, not {repeats}")
    rows, done, total = [], 0, len(sets) * (len(presets) + 1)
    for one in sets:
        recordings = [recording.to("deg") for recording in one.recordings]
        space = space_of(recordings[0].geometry)
        for name in ("none", *presets):
            mechanism = None if name == "none" else preset(name, space)
            errors = []
            for number, recording in enumerate(recordings):
                for repeat in range(repeats if mechanism is not None and mechanism.draws_noise else 1):
                    noise = NoiseSource.seeded(seed).spawn(f"{one.name}/{number}/{name}/{repeat}")
                    veiled = recording if mechanism is None else mechanism.apply(recording, noise)
                    errors.append(veil_error(recording, veiled))
            promise = "none" if mechanism is None else str(mechanism.guarantee)
            rows.append(PresetError(one.name, name, promise, _means(errors)))
            done += 1
            if tell is not None:
                tell(done, total)
    return rows


def _means(errors: Sequence[VeilError]) -> dict[str, float]:
    means = {}
    for name in VeilError.__dataclass_fields__:
        values = [value for error in errors if not math.isnan(value := getattr(error, name))]
        means[name] = math.fsum(values) / len(values) if values else math.nan
    return means
