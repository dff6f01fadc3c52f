# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a detector of eye movements is: a value of parameters that turns a recording into a table of events.

A new detector is one new file in this package::

    @detector
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Acme:
        name = "acme"

        threshold: float = 1.0

        def detect(self, recording: Recording) -> pl.DataFrame: ...
        def start(self, geometry: Geometry | None = None) -> Stream: ...
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

import polars as pl

from gazeveil.errors import OptionError
from gazeveil.gaze.events.online import Stream
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.registry import Registry


@runtime_checkable
class Detector(Protocol):
    """What every detector can do."""

    name: str

    def detect(self, recording: Recording) -> pl.DataFrame:
        """Return the events of a recording in `schema.EVENTS`, ordered by onset within each stretch."""
        ...

    def start(self, geometry: Geometry | None = None) -> Stream:
        """Return a detector for live samples that finds the same events."""
        ...


DETECTORS: Registry[Callable[..., Detector]] = Registry("event detector")
"""Detector classes by name: ``DETECTORS["ivt"](threshold=30).detect(recording)``."""

D = TypeVar("D", bound=type[Detector])


def detector(cls: D) -> D:
    """Enter a detector class under its ``name``."""
    DETECTORS.register(cls.name)(cls)
    return cls


def require(owner: object, name: str, *, at_least: float | None = None, above: float | None = None) -> None:
    """Check that a parameter is a finite number in range.

    Raises:
        OptionError: If it is not; the message names the parameter.
    """
    value = getattr(owner, name)
    wanted = f"at least {at_least:g}" if above is None else f"above {above:g}"
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or (above is not None and value <= above) or (at_least is not None and value < at_least):
        raise OptionError(f"{name} must be a number {wanted}, not {value!r}")
