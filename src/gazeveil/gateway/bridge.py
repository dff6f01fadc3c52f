# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What every bridge offers: a tracker behind its vendor's own interface, as plain samples.

A bridge runs in a process of its own, beside the gateway (`gazeveil.gateway.forwarding`), so that a vendor's library
cannot affect the process that veils. One file in `gazeveil.gateway.bridges` is one bridge.
"""

from __future__ import annotations

import ctypes.util
import importlib
import importlib.util
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gazeveil.errors import MissingExtra, WireError
from gazeveil.gateway.protocol import ViewingPlane
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.telemetry import shortened
from gazeveil.gateway.tracker_fields import Fields, coordinate, seconds
from gazeveil.registry import Registry

MOST_AT_ONCE = 4096
"""Samples that one poll returns at most: a vendor's queue may be long after a pause."""

Point = tuple[float, float]
NOWHERE: Point = (math.nan, math.nan)


class Bridge(ABC):
    """An open connection to a tracker. It is polled by one thread."""

    @abstractmethod
    def poll(self) -> list[RawSample]:
        """Return the samples that came since the last time, without waiting for more.

        Times are seconds of the device's clock. Points are in the unit of the kind, y downwards, NaN where no eye has
        gaze; of two eyes it is the mean.

        Raises:
            WireError: If the tracker is gone or breaks its protocol; close it, and open it again.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection. Never raises."""


@dataclass(frozen=True, slots=True)
class BridgeKind:
    """One vendor's interface.

    Attributes:
        name: Its name for ``gazeveil track --from``.
        title: For participants.
        unit: What points are in, one of `gazeveil.gateway.tracker_fields.UNITS`.
        open: Opens it from a device in words (empty for the usual one) and a viewing plane.
            Raises `WireError` where it may come later, any other `GazeveilError` where trying again is useless.
        device: What ``--device`` means.
        withheld: What the interface also offers and a bridge drops, with the reason.
        knows: What it can read of head and eyes; it is sent only if the policy's fields name it.
        module: The vendor's package; empty if none is needed.
        library: The vendor's library; empty if none is needed.
        install: How to get either; empty if none is needed.
    """

    name: str
    title: str
    unit: str
    open: Callable[[str, ViewingPlane], Bridge]
    device: str
    withheld: Mapping[str, str] = field(default_factory=dict)
    module: str = ""
    library: str = ""
    install: str = ""
    knows: frozenset[str] = frozenset()

    @property
    def is_installed(self) -> bool:
        """Whether the package or library it needs is installed; neither is run."""
        if self.library:
            return ctypes.util.find_library(self.library) is not None
        try:
            return not self.module or importlib.util.find_spec(self.module) is not None
        except (ImportError, ValueError):
            return False

    @property
    def fields(self) -> Fields:
        """The fields that the policy must declare for a tracker that this bridge sends to."""
        return Fields(unit=self.unit)

    def in_policy(self) -> str:
        """Return the part of a policy that accepts it."""
        plane = "screen = { width_px = 1920, height_px = 1080 }"
        if self.unit == "deg":
            plane = "headset = { fov_x_deg = 100, fov_y_deg = 90 }"
        unit = "" if self.unit == Fields().unit else f'fields = {{ unit = "{self.unit}" }}\n'
        return f'[[tracker]]\nname = "desk"\nprotocol = "pushlines"\n{unit}{plane}\n'


BRIDGES: Registry[BridgeKind] = Registry("bridge", "gazeveil.gateway.bridges")


def vendors(module: str, title: str, install: str) -> Any:
    """Return a vendor's package, which is imported on use.

    Raises:
        MissingExtra: If it is not installed, or does not load here.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(module, "", title, hint=install) from error
    except (OSError, RuntimeError) as error:  # a library of the package that does not load
        why = shortened(str(error))
        raise MissingExtra(module, "", title, hint=f"it is installed and does not load ({why}); {install}") from error


def mean_of(left: Point, right: Point) -> Point:
    """Return where two eyes look; where one does if the other is missing."""
    if math.isnan(left[0] + left[1]):
        return right if not math.isnan(right[0] + right[1]) else NOWHERE
    if math.isnan(right[0] + right[1]):
        return left
    return (left[0] + right[0]) / 2.0, (left[1] + right[1]) / 2.0


def point_of(value: object) -> Point:
    """Return a point of a vendor's interface; NaN for anything that is no pair of numbers."""
    if isinstance(value, tuple | list) and len(value) == 2:
        x, y = coordinate(value[0]), coordinate(value[1])
        if not math.isnan(x + y):
            return x, y
    return NOWHERE


def moment_of(title: str, value: object, second: float = 1.0) -> float:
    """Return the time of a sample in seconds; ``second`` is how many units of ``value`` make one.

    Raises:
        WireError: If it is no time.
    """
    moment = seconds(value, second)
    if moment is None:
        raise WireError(f"{title}: a sample has no time")
    return moment


def refused(title: str, error: Exception) -> WireError:
    """Return the error for a vendor's interface that did not open, with its own words, which are about the device."""
    return WireError(f"{title}: {shortened(str(error)) or type(error).__name__}")


def broken(title: str, error: Exception) -> WireError:
    """Return the error for a vendor's interface that failed while samples came: its words may hold one of them."""
    return WireError(f"{title}: the vendor's interface failed with {type(error).__name__}")
