# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How features are made from a recording, as one frozen value, and the function that makes them.

Nothing here is read off a set of recordings, so no participant changes how another one's recording is processed. The
settings and the function pickle, so an engine can map it over recordings anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gazeveil.errors import InputError, OptionError
from gazeveil.features.bins import CHANNELS, BinRules, bin_ranges, extract_bins, usual_rules
from gazeveil.features.extraction import STEP_S, WINDOW_S, EventRules, QualityRules, extract
from gazeveil.features.feature_list import INFORMATIVE, NAMES, PUPIL_MM, declared_ranges
from gazeveil.features.ranges import Ranges
from gazeveil.features.table import BINS, WINDOWS, FeatureTable, Info
from gazeveil.gaze.recording import Recording

_MORE_S = 10.0
"""Seconds of gaze kept beyond the last window: an event that begins in it may end later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How features are made.

    Attributes:
        rules: What events are, for the 52 features in windows; or how bins are made.
        window: Seconds a row is about.
        step: Seconds from one row to the next.
        quality: Which windows are usable.
        rate_hz: The sampling rate; None for each recording's own.
        pupil_unit: The unit of pupil size; the pupil of a recording in another unit counts as missing.
    """

    rules: EventRules | BinRules
    window: float
    step: float
    quality: QualityRules = field(default_factory=QualityRules)
    rate_hz: float | None = None
    pupil_unit: str = ""

    def __post_init__(self) -> None:
        for name, value in (("window", self.window), ("step", self.step)):
            if not (math.isfinite(value) and value > 0):
                raise OptionError(f"{name} must be a number of seconds above 0, not {value!r}")

    @staticmethod
    def windows(
        *, degrees: bool, window: float = WINDOW_S, step: float = STEP_S, radius: float | None = None, **others: Any
    ) -> Settings:
        """Return settings for the 52 features in sliding windows."""
        rules = EventRules.in_degrees() if degrees else EventRules.in_fractions()
        rules = rules if radius is None else replace(rules, radius=radius)
        return Settings(rules=rules, window=window, step=step, **others)

    @staticmethod
    def bins(*, degrees: bool, width: float = 0.5, **others: Any) -> Settings:
        """Return settings for bins, which do not overlap and have a finite reach."""
        return Settings(rules=usual_rules(degrees=degrees, width=width), window=width, step=width, **others)

    @staticmethod
    def of(info: Info) -> Settings:
        """Return the settings that a table was made with.

        Raises:
            InputError: If its label does not say.
        """
        try:
            if info.kind == BINS:
                return Settings(
                    rules=BinRules(**info.settings), window=info.window, step=info.step, pupil_unit=info.pupil_unit
                )
            return Settings(
                rules=EventRules(**info.settings["rules"]),
                window=info.window,
                step=info.step,
                quality=QualityRules(**info.settings["quality"]),
                pupil_unit=info.pupil_unit,
            )
        except (TypeError, KeyError):
            raise InputError(
                f"the table does not say by which rules its {info.kind} were made",
                hint="make it with `gazeveil features extract`",
            ) from None

    @property
    def info(self) -> Info:
        """What all rows of a table made with these settings share."""
        shared = (self.window, self.step, str(self.rules.unit), self.pupil_unit)
        if isinstance(self.rules, BinRules):
            return Info(BINS, CHANNELS, *shared, self.rules.reach, self.rules.to_dict())
        values = {"rules": self.rules.to_dict(), "quality": self.quality.to_dict()}
        return Info(WINDOWS, NAMES, *shared, settings=values)

    def ranges(
        self,
        features: Sequence[str] | None = None,
        pupil_range: tuple[float, float] | None = None,
        *,
        every: bool = False,
    ) -> Ranges:
        """Return the declared ranges of some features; by default of all that vary, or of ``every`` one.

        Args:
            features: Which ones, in this order.
            pupil_range: Plausible pupil sizes; needed for pupil features where the unit is not mm.
            every: Also those that hardly vary.
        """
        pupil = pupil_range or (PUPIL_MM if self.pupil_unit == "mm" else None)
        if isinstance(self.rules, BinRules):
            found = bin_ranges(self.rules, pupil)
            return found if features is None else found.only(features)
        found = declared_ranges(window=self.window, unit=self.rules.unit, radius=self.rules.radius, pupil_range=pupil)
        usual = [name for name in found.names if every or name in INFORMATIVE]
        return found.only(usual if features is None else features)

    def steps_in(self, seconds: float) -> int:
        """Return how many rows a recording of this many seconds has.

        Raises:
            OptionError: If not even one fits.
        """
        if seconds < self.window - 1e-6:
            raise OptionError(f"a stimulus of {seconds:g} s is shorter than a window of {self.window:g} s")
        return int((seconds - self.window + 1e-6) / self.step) + 1


def extract_one(recording: Recording, settings: Settings, most: int | None = None) -> FeatureTable:
    """Return the features of one recording; with ``most``, of its first this many windows or bins.

    Raises:
        InputError: If the recording is too short, or its clock runs backwards.
    """
    if recording.pupil_unit != settings.pupil_unit:
        recording = replace(recording, pupil=None, pupil_unit=settings.pupil_unit)
    if settings.rate_hz is not None:
        recording = replace(recording, rate_hz=settings.rate_hz)
    if most is not None:
        known = recording.t[np.isfinite(recording.t)]
        last = settings.window + (most - 1) * settings.step + _MORE_S + (known[0] if len(known) else 0.0)
        recording = recording.take(recording.t <= last)
    if isinstance(settings.rules, BinRules):
        return extract_bins(recording, rules=settings.rules, most=most)
    return extract(
        recording,
        window=settings.window,
        step=settings.step,
        rules=settings.rules,
        quality=settings.quality,
        most=most,
    )
