# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where the windows lie, which of them can be used, and the 52 features in each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gazeveil.errors import InputError, OptionError
from gazeveil.features.eye_events import EyeEvents
from gazeveil.features.names import NAMES, SYMBOLS
from gazeveil.features.wordbook import letters, numbered
from gazeveil.types import FloatArray

_MOST = 1 << 24
"""More windows than any recording has: three months at two a second."""


@dataclass(frozen=True, slots=True)
class QualityRules:
    """Which windows are usable; in the others every feature is NaN.

    Attributes:
        min_covered: Least that the samples, at the recording's rate, cover of the window's length.
        max_covered: Most.
        max_errors: Share of samples without gaze, or off the viewing plane, that a window must stay below.
        min_samples: Fewest samples.
        max_repeats: Largest share of samples that repeat the one before exactly: a frozen tracker.
    """

    min_covered: float = 0.9
    max_covered: float = 1.1
    max_errors: float = 0.5
    min_samples: int = 5
    max_repeats: float = 0.66

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values."""
        return asdict(self)


def window_starts(t: FloatArray, rate: float, window: float, step: float, most: int | None = None) -> FloatArray:
    """Return where windows start: every ``step`` from the first sample on, as long as a whole window fits.

    With ``most``, no more windows than that: a clock that jumped by years must not ask for years of windows.

    A sample stands for one step of the tracker, so a recording of 900 samples at 30 Hz lasts 30 s; half a step is
    forgiven, because clocks jitter.

    Raises:
        OptionError: If window or step cannot be.
        InputError: If not even one window fits.
    """
    for name, value in (("window", window), ("step", step)):
        if not (np.isfinite(value) and value > 0):
            raise OptionError(f"{name} must be a number of seconds above 0, not {value!r}")
    lasts = float(t[-1] - t[0]) + 1.0 / rate if len(t) and np.isfinite(rate) else 0.0
    forgiven = 0.5 / rate + 1e-6
    if not lasts >= window - forgiven:
        raise InputError(
            f"the recording lasts {lasts:.2f} s, which is shorter than a window of {window:g} s",
            hint="choose a shorter window, or leave the recording out",
        )
    count = int(np.floor((lasts - window + forgiven) / step)) + 1
    count = count if most is None else min(count, most)
    starts = np.asarray(t[0] + np.arange(min(count, _MOST)) * step)
    if count > _MOST or (count > 1 and starts[-1] - starts[-2] <= 0.5 * step):
        raise InputError(
            f"the device's time goes from {t[0]:g} to {t[-1]:g} s: that is no clock of a recording",
            hint="mend the clock, or leave the recording out",
        )
    return starts


def window_features(
    events: EyeEvents, starts: FloatArray, window: float, rate: float, large_from: float, quality: QualityRules
) -> tuple[FloatArray, FloatArray]:
    """Return the features (windows x 52) and the quality (windows x 5: samples, covered, errors, repeats, usable)."""
    from gazeveil.features._window_kernels import slide  # noqa: PLC0415  (compiles)

    _, across, down, amplitude, _ = events.saccades
    words, different = numbered(letters(across, down, amplitude >= large_from))
    out, found = np.empty((len(starts), len(NAMES))), np.empty((len(starts), 5))
    limits = np.array([float(value) for value in asdict(quality).values()])
    slide(  # for whole numbers it would be compiled again
        starts, float(window), float(rate), limits, events.t, events.errors, events.repeats,
        np.vstack((events.fixations, events.fixations[1] - events.fixations[0])), events.saccades, events.blinks,
        large_from, words, different, SYMBOLS, found, out,
    )  # fmt: skip
    return out, found
