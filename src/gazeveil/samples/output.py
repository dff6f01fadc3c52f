# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The noisy gaze processor: what is made of veiled points before an app gets them (Kaleido 2021; erratum K10).

All of it is post-processing: it sees veiled points, device times and public numbers only, so the veil's guarantee
stays. All of it is causal. An app that needs no samples should get none: give it fixations, or the names of areas
looked at.
"""

from __future__ import annotations

from gazeveil.errors import GeometryError
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.events.base import Detector
from gazeveil.gaze.events.table import Event
from gazeveil.geometry import Geometry
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.mechanism import SampleMechanism, Veil

NOWHERE = ""
"""What is reported where no area is looked at."""


def processed(
    mechanism: SampleMechanism, *, edge: str | None = "clamp", smooth: SampleMechanism | None = None
) -> SampleMechanism:
    """Return a mechanism followed by smoothing and an edge rule.

    Args:
        mechanism: Any mechanism.
        edge: ``clamp`` or ``reflect`` at the edges of the space, or None to leave points where they are.
        smooth: A smoothing mechanism, for example ``KalmanSmoothing``; None for none.
    """
    from gazeveil.samples.mechanisms.chain import Chain  # noqa: PLC0415
    from gazeveil.samples.mechanisms.edge import EdgeRule  # noqa: PLC0415

    after = [smooth] if smooth is not None else []
    if edge is not None:
        after.append(EdgeRule(mechanism.space, rule=edge))
    first = mechanism.members if isinstance(mechanism, Chain) else (mechanism,)
    return Chain(mechanism.space, members=(*first, *after)) if after else mechanism


class FixationsOnly:
    """Fixations of a veiled stream instead of its samples.

    A fixation is reported when it is over. Whatever the veil, the app never gets a point of it before.
    """

    __slots__ = ("_stream", "veil")

    def __init__(self, veil: Veil, detector: Detector, geometry: Geometry) -> None:
        """Put a detector behind a veil.

        Args:
            veil: Where points come from.
            detector: What finds fixations in them.
            geometry: The viewing plane that the veil's space is on; it must know degrees.
        """
        _check_unit(veil, geometry)
        self.veil = veil
        self._stream = detector.start(geometry)

    @property
    def guarantee(self) -> Guarantee:
        """The veil's guarantee."""
        return self.veil.guarantee

    def push(self, t: float, x: float, y: float) -> list[Event]:
        """Take one raw sample and return the fixations that are over now."""
        veiled_x, veiled_y = self.veil.step(t, x, y)
        return _fixations(self._stream.push(t, veiled_x, veiled_y))

    def finish(self) -> list[Event]:
        """End the stream and return the fixation that was still open."""
        return _fixations(self._stream.finish())


class HitsOnly:
    """Names of the areas that a veiled stream is in, instead of its samples."""

    __slots__ = ("_areas", "veil")

    def __init__(self, veil: Veil, areas: AreasOfInterest) -> None:
        """Put areas behind a veil; they must be drawn in the unit of its space."""
        _check_unit(veil, areas.geometry)
        self.veil = veil
        self._areas = areas

    @property
    def guarantee(self) -> Guarantee:
        """The veil's guarantee."""
        return self.veil.guarantee

    def push(self, t: float, x: float, y: float) -> str:
        """Take one raw sample and return the name of the area that the veiled point is in, or `NOWHERE`."""
        index = int(self._areas.label(*self.veil.step(t, x, y)))
        return NOWHERE if index == self._areas.NOWHERE else self._areas.names[index]


def _fixations(events: list[Event]) -> list[Event]:
    return [event for event in events if event.kind == "fixation"]


def _check_unit(veil: Veil, geometry: Geometry) -> None:
    unit = veil.mechanism.space.unit
    if unit != str(geometry.unit):
        raise GeometryError(f"the veil works in {unit}, but the viewing plane is in {geometry.unit}")
