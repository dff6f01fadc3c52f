# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a guarantee protects, and how strongly: units of protection, neighbouring data sets, the scale of strength.

A guarantee protects a *unit*: all that one participant contributed, one recording, a stretch of gaze, a gaze path
within a radius. It says that the release looks almost the same whichever of two *neighbouring* inputs it was made from,
and neighbours differ in one unit. The larger the unit, the stronger the guarantee.

The scale goes by what ε means for a belief. Someone who was undecided about a participant (50 %) can become at most
e^ε / (1 + e^ε) sure, whatever else they know:

| ε up to | at most sure | called |
|---|---|---|
| 1 | 73.2 % | strong |
| 3 | 95.3 % | moderate |
| 10 | 99.996 % | weak |
| more | no practical limit | next to none |

The ε is that for replacing a participant's data by any other; a guarantee about taking part or not counts with twice
its ε. The lines are ours: no standard draws them. ε of several releases from the same data add up, so a strong
guarantee that is spent ten times is a weak one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, Final

from gazeveil.errors import OptionError, closest
from gazeveil.exact import Number, above_zero, as_source, as_text, in_digits, whole_number


class Neighbours(StrEnum):
    """How two data sets differ that must be hard to tell apart."""

    REPLACE_ONE = "replace-one"
    """One unit is replaced by any other; the number of units is public."""
    ADD_REMOVE = "add-remove"
    """One unit is there or not; the number of units is protected too."""


class ProtectedUnit(ABC):
    """What one guarantee protects."""

    __slots__ = ()
    kind: ClassVar[str]
    can_be_removed: ClassVar[bool] = False
    """Whether a data set without this unit is a data set at all, so that add/remove has a meaning."""

    @abstractmethod
    def in_words(self) -> str:
        """Say what is protected, as the object of a sentence."""

    @abstractmethod
    def steps_to(self, other: ProtectedUnit) -> int | None:
        """Return how many changes of this unit make up any change of ``other``; None if none do."""

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain values."""
        return {"kind": self.kind}


@dataclass(frozen=True, slots=True)
class Observer(ProtectedUnit):
    """All that one participant contributed: every recording, stimulus and sample."""

    kind: ClassVar[str] = "observer"
    can_be_removed: ClassVar[bool] = True

    def in_words(self) -> str:
        """Say what is protected, as the object of a sentence."""
        return "everything that one participant contributed"

    def steps_to(self, other: ProtectedUnit) -> int | None:
        """Return 1: whatever else is protected belongs to one participant."""
        return 1


@dataclass(frozen=True, slots=True)
class OneRecording(ProtectedUnit):
    """One recording: one participant, one stimulus, one trial."""

    kind: ClassVar[str] = "recording"
    can_be_removed: ClassVar[bool] = True

    def in_words(self) -> str:
        """Say what is protected, as the object of a sentence."""
        return "one recording of one participant"

    def steps_to(self, other: ProtectedUnit) -> int | None:
        """Return 1 for what lies within a recording."""
        return 1 if isinstance(other, OneRecording | StretchOfGaze | WindowOfGaze) else None


@dataclass(frozen=True, slots=True, init=False, repr=False)
class StretchOfGaze(ProtectedUnit):
    """Any stretch of raw gaze within one recording, replaced by any other gaze.

    Like a window, a stretch is closed: gaze at both of its ends belongs to it.

    Attributes:
        seconds: How long the stretch is.
    """

    kind: ClassVar[str] = "stretch-of-gaze"
    seconds: Fraction

    def __init__(self, seconds: Number) -> None:
        object.__setattr__(self, "seconds", above_zero(seconds, "seconds"))

    def __repr__(self) -> str:
        return f"StretchOfGaze({as_source(self.seconds)})"

    def in_words(self) -> str:
        """Say what is protected, as the object of a sentence."""
        return f"any {_seconds(self.seconds)} of one participant's gaze"

    def steps_to(self, other: ProtectedUnit) -> int | None:
        """Return how many stretches cover a longer one."""
        if isinstance(other, StretchOfGaze | WindowOfGaze):
            return math.ceil(other.seconds / self.seconds)
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain values."""
        return {"kind": self.kind, "seconds": as_text(self.seconds)}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class WindowOfGaze(ProtectedUnit):
    """Any stretch of gaze within one recording, each of its points moved by at most a radius (Kaleido, 2021).

    Time stamps are public. The window is closed: gaze at both of its ends belongs to it.

    Attributes:
        seconds: How long the window is.
        radius: How far each point may have been from where it was.
        unit: What the radius is measured in: px, deg or norm; m, cm or mm for points in a room.
        head_radius: By how many degrees the head may have pointed elsewhere, at the same samples; None if nothing is
            said about the head.
    """

    kind: ClassVar[str] = "window-of-gaze"
    seconds: Fraction
    radius: Fraction
    unit: str
    head_radius: Fraction | None

    def __init__(self, seconds: Number, radius: Number, unit: str = "px", head_radius: Number | None = None) -> None:
        if unit not in _SPACE:
            raise OptionError(f"the unit of a radius is px, deg, norm, m, cm or mm, not {unit!r}")
        object.__setattr__(self, "seconds", above_zero(seconds, "seconds"))
        object.__setattr__(self, "radius", above_zero(radius, "radius"))
        object.__setattr__(self, "unit", str(unit))
        head = None if head_radius is None else above_zero(head_radius, "head_radius")
        object.__setattr__(self, "head_radius", head)

    def __repr__(self) -> str:
        head = "" if self.head_radius is None else f", {as_source(self.head_radius)}"
        return f"WindowOfGaze({as_source(self.seconds)}, {as_source(self.radius)}, {self.unit!r}{head})"

    def in_words(self) -> str:
        """Say what is protected, as the object of a sentence."""
        during = f"during any {_seconds(self.seconds)}, up to {self.distance_in_words()} away"
        if self.head_radius is None:
            return f"where one participant looked {during}"
        return f"where one participant's gaze and head pointed {during}"

    def distance_in_words(self) -> str:
        """Say how far each point may have been from where it was."""
        gaze = f"{in_digits(self.radius, up=False)} {_SPACE[self.unit]}"
        if self.head_radius is None:
            return gaze
        return f"{gaze} for gaze and {in_digits(self.head_radius, up=False)} degrees for the head"

    def lasting(self, seconds: Number) -> WindowOfGaze:
        """Return the same distances over a window of another length."""
        return WindowOfGaze(seconds, self.radius, self.unit, self.head_radius)

    def steps_to(self, other: ProtectedUnit) -> int | None:
        """Return how many windows, one after the other, and steps of one radius make up a larger change."""
        if not isinstance(other, WindowOfGaze) or other.unit != self.unit:
            return None
        steps = math.ceil(other.radius / self.radius)
        if other.head_radius is not None:
            if self.head_radius is None:
                return None
            steps = max(steps, math.ceil(other.head_radius / self.head_radius))  # each step moves both
        return math.ceil(other.seconds / self.seconds) * steps

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain values."""
        return {
            "kind": self.kind,
            "seconds": as_text(self.seconds),
            "radius": as_text(self.radius),
            "unit": self.unit,
            **({} if self.head_radius is None else {"head_radius": as_text(self.head_radius)}),
        }


@dataclass(frozen=True, slots=True, init=False)
class FeatureSeries(ProtectedUnit):
    """One participant's series of eye-movement features, or any few consecutive steps of it.

    Steps of a feature series are not gaze: where feature windows overlap, a few steps hide little or nothing of the
    raw gaze (erratum B10). Guarantee a `StretchOfGaze` if raw gaze is what must be hidden.

    Attributes:
        steps: How many consecutive steps may change; None for the whole series.
        features: Which features change together; empty for all.
    """

    kind: ClassVar[str] = "feature-series"
    steps: int | None
    features: tuple[str, ...]

    def __init__(self, steps: int | None = None, features: Sequence[str] = ()) -> None:
        if isinstance(features, str) or not all(isinstance(name, str) for name in features):
            raise OptionError(f"features is a tuple of names, not {features!r}")
        object.__setattr__(self, "steps", None if steps is None else whole_number(steps, "steps", at_least=1))
        object.__setattr__(self, "features", tuple(sorted(set(features))))

    def in_words(self) -> str:
        """Say what is protected, as the object of a sentence."""
        which = f"{', '.join(self.features)} of" if self.features else "all features of"
        if self.steps is None:
            return f"{which} one participant's series"
        return f"{which} any {self.steps:,} consecutive step{'s' if self.steps > 1 else ''} of one participant's series"

    def steps_to(self, other: ProtectedUnit) -> int | None:
        """Return how many stretches of steps cover a longer one, if the features are covered."""
        if not isinstance(other, FeatureSeries):
            return None
        if self.features and not (other.features and set(other.features) <= set(self.features)):
            return None
        if self.steps is None:
            return 1
        return None if other.steps is None else -(-other.steps // self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain values."""
        return {"kind": self.kind, "steps": self.steps, "features": list(self.features)}


UNITS: dict[str, type[ProtectedUnit]] = {
    unit.kind: unit for unit in (Observer, OneRecording, StretchOfGaze, WindowOfGaze, FeatureSeries)
}
_SPACE = {"px": "px", "deg": "degrees", "norm": "of the screen's size", "m": "m", "cm": "cm", "mm": "mm"}


def unit_from_dict(values: Mapping[str, Any]) -> ProtectedUnit:
    """Return the unit that `ProtectedUnit.to_dict` wrote.

    Raises:
        OptionError: If the kind is unknown, or a value is missing, unknown or wrong.
    """
    given = dict(values)
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in UNITS:
        raise OptionError(f"no unit of protection is called {kind!r}", hint=closest(kind, UNITS))
    if isinstance(given.get("features"), list):
        given["features"] = tuple(given["features"])
    try:
        return UNITS[kind](**given)
    except TypeError:
        raise OptionError(f"the unit {kind!r} is not described by {', '.join(map(repr, given)) or 'nothing'}") from None


def _seconds(seconds: Fraction) -> str:
    return "1 second" if seconds == 1 else f"{in_digits(seconds, up=False)} seconds"


# --- How strong a guarantee is: one scale, for help texts, statements, warnings and advice alike.


class Strength(StrEnum):
    """A step of the scale."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"
    NEXT_TO_NONE = "next to none"

    @property
    def protects(self) -> bool:
        """Whether the guarantee is worth advising."""
        return self in (Strength.STRONG, Strength.MODERATE)


UP_TO: Final = ((Fraction(1), Strength.STRONG), (Fraction(3), Strength.MODERATE), (Fraction(10), Strength.WEAK))
"""The largest ε of each step but the last."""

MOST_ADVISED: Final = UP_TO[-1][0]
"""No advice, hint or forecast ever suggests an ε beyond this one."""

IN_SHORT: Final = "up to 1 is strong, up to 3 moderate, up to 10 weak, more protects next to nothing"
"""The scale in one line, for help texts."""


def strength_of(epsilon: Fraction, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Strength:
    """Return how strong a guarantee with this ε is; one about taking part or not counts with twice its ε."""
    counted = 2 * epsilon if neighbours is Neighbours.ADD_REMOVE else epsilon
    return next((strength for most, strength in UP_TO if counted <= most), Strength.NEXT_TO_NONE)
