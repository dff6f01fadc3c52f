# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The ways to keep Kaleido's guarantee that are compared, by the name they have in tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab import load
from gazeveil.lab.experiments.stream_grid import Run, Setting
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Space

load()

_PUBLISHED_THRESHOLD_PX = 200.0
"""How far gaze must move to be published; the paper gives no number (erratum K7), the study chose this one."""

_MOMENT_S = 1e-6
"""Mechanisms count time in microseconds."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A mechanism of the registry at a guarantee; a value, so that it can be sent to another process.

    Attributes:
        mechanism: Its name in the registry.
        options: Its parameters apart from the guarantee.
        late: By how many seconds its output looks back. Its output is then compared with gaze of that time.
        counts_samples: Whether its windows are this many samples of a nominal rate, which it must then be given.
        threshold_px: The distance worth publishing in pixels, for a mechanism that takes a share of the diagonal.
    """

    mechanism: str
    options: tuple[tuple[str, Any], ...] = ()
    late: float = 0.0
    counts_samples: bool = False
    threshold_px: float | None = None

    def at(self, space: Space, setting: Setting, rate: float = 60.0) -> SampleMechanism:
        """Return the mechanism itself."""
        parameters: dict[str, Any] = {name: getattr(setting, name) for name in ("epsilon", "window", "radius")}
        parameters |= dict(self.options)
        if self.counts_samples:
            parameters["rate_hz"] = round(rate)
        if self.threshold_px is not None:
            parameters["l_thresh"] = self.threshold_px / math.hypot(*space.size)
        return MECHANISMS[self.mechanism](space, **parameters)

    def __call__(self, space: Space, setting: Setting, rate: float) -> Run:
        """Return the mechanism as something to run over arrays."""
        mechanism, late = self.at(space, setting, rate), self.late

        def run(noise: NoiseSource, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
            shown = mechanism.start(noise).run(t, x, y)
            if not late:
                return shown
            # what is said of a moment is said that much later; the last moments keep the last answer
            answered = np.minimum(np.searchsorted(t, t + (late - _MOMENT_S)), len(t) - 1)
            return shown[0][answered], shown[1][answered]

        return run

    def is_sound(self, space: Space) -> bool:
        """Whether it guarantees anything."""
        return not isinstance(self.at(space, Setting(60.0, 1.0, 1.0)).guarantee, Unproven)


def _of(mechanism: str, *, late: float = 0.0, **options: Any) -> Registered:
    return Registered(mechanism, tuple(options.items()), late)


CONTENDERS: Final[Mapping[str, Registered]] = MappingProxyType(
    {
        "kaleido as published": Registered(
            "kaleido-as-published",
            (("l_thresh", _PUBLISHED_THRESHOLD_PX), ("h", 10), ("t_skip", "0.05")),
            counts_samples=True,
        ),
        "kaleido, scales corrected": Registered(
            "kaleido",
            (("filter", False), ("floor", 0), ("test_share", "0.1"), ("t_skip", "0.05")),
            threshold_px=_PUBLISHED_THRESHOLD_PX,
        ),
        "kaleido, tuned": _of("kaleido"),
        "sparse vector": _of("sparse-vector"),
        "budget absorption": _of("absorption"),
        "budget distribution": _of("distribution"),
        "clock, no filter": _of("clock", filter=False),
        "clock": _of("clock"),
        "clock, 0.1 s late": _of("clock", late=0.1, lag=0.1),
        "clock, 0.25 s late": _of("clock", late=0.25, lag=0.25),
    }
)
"""All ways: the paper's, the paper's with its noise corrected and nothing else, and those with a filter, ours last."""

UNFILTERED: Final[Mapping[str, Registered]] = MappingProxyType(
    {
        f"{name}, no filter": _of(CONTENDERS[name].mechanism, filter=False)
        for name in ("kaleido, tuned", "sparse vector", "budget absorption", "budget distribution")
    }
)
"""The contenders whose latest noisy point is held, instead of filtered."""
