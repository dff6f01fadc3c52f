# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whole recordings behind a mechanism: one veil with its own noise for each, and what becomes of every channel.

Every channel is veiled or dropped, never passed through unseen (erratum K9). The output is processed before an app gets
it (the noisy gaze processor of Kaleido 2021; erratum K10).

===========================  =============================================================================
channel                      in a veiled recording
===========================  =============================================================================
``t``                        as it was: device time is public in every guarantee of ours
``x``, ``y``                 the veiled point
``valid``                    whether the veil gave a point: computed from its output, not from the tracker's flag
``left``, ``right``          dropped; or, with ``eyes="same"``, both are the one veiled point
``pupil`` (combined, eyes)   dropped
``events``                   dropped: fixations, saccades, blinks and messages were found in raw gaze
``rate_hz``, ``geometry``    as they were: they describe the device
head, eye origins, ipd       recordings have none; live they are dropped unless an app's policy declares them
keys                         as they were: rename participants with other means if their names are secret
===========================  =============================================================================

Two eyes are never veiled one by one. Their noises would be independent, so their mean would have less of it than one
alone, and the guarantee would cost twice as much.

All of it is post-processing: it sees veiled points, device times and public numbers only, so the veil's guarantee
stays. All of it is causal. An app that needs no samples should get none: give it fixations, or the names of areas
looked at.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.display import brief
from gazeveil.errors import GeometryError, InputError, OptionError
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.events import Detector, Event
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Eye, Key, Recording
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.options import setting
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.mechanism import LATEST, MECHANISMS, Faults, SampleMechanism, Veil
from gazeveil.samples.mechanisms.edge import RULES
from gazeveil.samples.recipes import find_preset, from_recipe, with_lengths
from gazeveil.samples.space import space_of

Eyes = Literal["drop", "same"]


def veiled_channels(recording: Recording, x: FloatArray, y: FloatArray, *, eyes: Eyes = "drop") -> Recording:
    """Return a recording that carries the veiled point, and of the other channels only what the table allows.

    It is built from named parts, not copied and cleaned, so a channel that is added to recordings later is dropped
    until someone decides otherwise.

    Raises:
        OptionError: If ``eyes`` is neither drop nor same.
    """
    if eyes not in get_args(Eyes):
        raise OptionError(f"eyes must be {' or '.join(get_args(Eyes))}, not {eyes!r}")
    x.flags.writeable = y.flags.writeable = False
    both = Eye(x, y) if eyes == "same" else None
    return Recording(
        recording.t,
        x,
        y,
        recording.geometry,
        **recording.key._asdict(),
        left=both if recording.left is not None else None,
        right=both if recording.right is not None else None,
        rate_hz=recording.rate_hz,
    )


def dropped_channels(recording: Recording, *, eyes: Eyes = "drop") -> list[str]:
    """Return the channels that a recording has and its veiled version does not."""
    has = {
        "pupil": recording.pupil is not None,
        "events": len(recording.events) > 0,
        "left eye": recording.left is not None and eyes == "drop",
        "right eye": recording.right is not None and eyes == "drop",
        "left pupil": recording.left is not None and recording.left.pupil is not None,
        "right pupil": recording.right is not None and recording.right.pupil is not None,
        "validity": not bool(recording.tracked.all()),
    }
    return [name for name, there in has.items() if there]


# --- One recording: the same draws and the same output as sample by sample.


def veil_recording(recording: Recording, veil: Veil, *, eyes: Eyes = "drop") -> Recording:
    """Return the recording behind a veil, with the channels that `gazeveil.samples.veiled_recordings` allows.

    Raises:
        GeometryError: If the recording's unit is not that of the veil's space.
        InputError: If a time is not a number; the veil is shut and nothing comes out.
    """
    recording.need_samples("a veil")
    space = veil.mechanism.space
    if space.axes != 2 or str(recording.geometry.unit) != space.unit:
        raise GeometryError(
            f"the veil works in {space.unit} with {space.axes} axes, the recording is in {recording.geometry.unit}",
            hint="convert it with recording.to(unit), or make the veil with space_of(recording.geometry)",
        )
    if not np.all(np.isfinite(recording.t)):
        veil.close("a time stamp was not a number")
        raise InputError(
            f"{recording.time_faults.not_finite:,} samples of {recording.key} have no time",
            hint="drop them first with recording.take(numpy.isfinite(recording.t))",
        )
    x, y = veil.run(recording.t, recording.x, recording.y)
    return veiled_channels(recording, x, y, eyes=eyes)


# --- The noisy gaze processor: veiled points before an app gets them (Kaleido 2021; erratum K10).


NOWHERE = ""
"""What is reported when gaze is in no area."""


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


# --- Many recordings, wherever they are computed.


@dataclass(frozen=True, slots=True, kw_only=True)
class VeiledRecordings:
    """Release recordings behind a mechanism for streams: every sample a veiled point, every other channel dropped.

    The mechanism is given by its name, as a preset or as a recipe, one of them. It is made for each screen.

    Attributes:
        mechanism: Which mechanism, by its name; clock has a guarantee.
        preset: A setting of the papers by name, in place of a mechanism.
        recipe: The mechanism as plain values, for example a chain; without a space it takes the screen's.
        parameters: The parameters of the mechanism; those that change a preset.
        field: How far gaze in degrees reaches, across and down; 360x180 for directions in the world's frame. By default
            as far as the headset's field of view or, where none is declared, the field of the eyes.
        edge: What happens to points beyond the edges; by default they stay where they are.
        eyes: Single eyes: dropped, or the same veiled point for both.
    """

    product: ClassVar[str] = "veil"

    mechanism: str | None = setting(None, names="mechanism")
    preset: str | None = setting(None, names="preset")
    recipe: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    field: tuple[float, float] | None = setting(None, metavar="WxH")
    edge: str | None = setting(None, names="edge")
    eyes: Eyes = setting("drop", names="eyes")

    __repr__ = brief

    def __post_init__(self) -> None:
        if sum(choice is not None for choice in (self.mechanism, self.preset, self.recipe)) != 1:
            raise OptionError(
                "say which mechanism: by its name, a preset or a recipe, one of them",
                hint="for example --preset lphu, or --mechanism clock --epsilon 3 --window 0.5 --radius 60px",
            )
        if self.mechanism is not None:
            MECHANISMS[self.mechanism]  # an unknown name is refused
        if self.preset is not None:
            find_preset(self.preset)
        if self.recipe is not None and self.parameters:
            raise OptionError(f"a recipe holds all parameters; {', '.join(self.parameters)} cannot be given besides")
        if self.edge is not None and self.edge not in RULES:
            raise OptionError(f"edge must be {' or '.join(RULES)}, not {self.edge!r}", hint="see --edge")
        if self.eyes not in get_args(Eyes):
            raise OptionError(f"eyes must be {' or '.join(get_args(Eyes))}, not {self.eyes!r}", hint="see --eyes")

    def on(self, screen: Geometry) -> SampleMechanism:
        """Return the mechanism for gaze on a screen.

        Raises:
            OptionError: If it cannot be made of these parameters, or works in another unit.
            GeometryError: If there is a field, and gaze is not in degrees.
        """
        space = space_of(screen, self.field)
        if self.preset is not None:
            chosen = find_preset(self.preset)
            made = chosen.mechanism_in(space, **with_lengths(chosen.mechanism, self.parameters, space))
        else:
            made = from_recipe(self.recipe or {"mechanism": self.mechanism, **self.parameters}, space)
        if made.space.axes != space.axes or made.space.unit != space.unit:
            raise OptionError(
                f"the mechanism works in {made.space.unit} with {made.space.axes} axes, the gaze is in {space.unit}",
                hint="leave the space out of the recipe: it is that of the screen",
            )
        return made if self.edge is None else processed(made, edge=self.edge)


class VeiledRecording(NamedTuple):
    """A veiled recording, and what its holder may want to know. All but ``shown`` is computed from raw gaze.

    Attributes:
        shown: What may be released.
        squares: The sum of squared distances that points were moved by.
        moved: How many points that is about.
        faults: What was odd about the stream.
        dropped: The channels that were dropped.
        untimed: Samples that were cut because they have no time.
    """

    shown: Chunk
    squares: float
    moved: int
    faults: Faults
    dropped: tuple[str, ...]
    untimed: int


@dataclass(frozen=True, slots=True)
class VeilRecording:
    """Veils one recording; it pickles, so it runs wherever recordings are.

    Secure noise is resampled from the operating system for each recording, on the machine that veils it. Seeded noise
    follows from the seed and the recording's key, so that it is the same everywhere.
    """

    how: VeiledRecordings
    seed: int | None = None

    @staticmethod
    def with_noise(how: VeiledRecordings, noise: NoiseSource) -> VeilRecording:
        """Return what veils recordings with noise as secure as a source's."""
        return VeilRecording(how, None if noise.is_secure else noise.bits(63))

    def __call__(self, recording: Recording) -> VeiledRecording:
        """Veil one recording; samples without a time are cut."""
        with np.errstate(all="ignore"):  # a warning would say that gaze is odd
            timed = np.isfinite(recording.t) & (np.abs(recording.t) <= LATEST)
            raw = recording if timed.all() else recording.take(timed)
            veil = self.how.on(raw.geometry).start(self._noise_for(raw.key))
            shown = veil_recording(raw, veil, eyes=self.how.eyes)
            across, down = shown.x - raw.x, shown.y - raw.y
            if period := veil.mechanism.space.period:
                across = across - period * np.floor(across / period + 0.5)
            squares = across**2 + down**2
        known = np.isfinite(squares)
        return VeiledRecording(
            shown=chunk_of(shown),
            squares=float(np.sum(squares[known])),
            moved=int(np.count_nonzero(known)),
            faults=veil.faults,
            dropped=tuple(dropped_channels(recording, eyes=self.how.eyes)),
            untimed=len(recording) - len(raw),
        )

    def _noise_for(self, key: Key) -> NoiseSource:
        if self.seed is None:
            return NoiseSource.secure()
        return NoiseSource.seeded(self.seed).spawn(json.dumps(key))
