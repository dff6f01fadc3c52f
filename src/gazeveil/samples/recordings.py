# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whole recordings behind a veil: one veil and one noise for each recording, wherever it is computed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np

from gazeveil.display import brief
from gazeveil.errors import OptionError
from gazeveil.gaze.corpus_writer import chunk_of
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key, Recording
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.options import setting
from gazeveil.samples.apply import veiled
from gazeveil.samples.channels import Eyes, dropped_channels
from gazeveil.samples.mechanism import LATEST, MECHANISMS, Faults, SampleMechanism
from gazeveil.samples.mechanisms.edge import RULES
from gazeveil.samples.output import processed
from gazeveil.samples.presets import find_preset
from gazeveil.samples.recipe import from_recipe, with_lengths
from gazeveil.samples.space import space_of


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


class Veiled(NamedTuple):
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
class VeilOne:
    """Veils one recording; it pickles, so it runs wherever recordings are.

    Secure noise is resampled from the operating system for each recording, on the machine that veils it. Seeded noise
    follows from the seed and the recording's key, so that it is the same everywhere.
    """

    how: VeiledRecordings
    seed: int | None = None

    @staticmethod
    def with_noise(how: VeiledRecordings, noise: NoiseSource) -> VeilOne:
        """Return what veils recordings with noise as secure as a source's."""
        return VeilOne(how, None if noise.is_secure else noise.bits(63))

    def __call__(self, recording: Recording) -> Veiled:
        """Veil one recording; samples without a time are cut."""
        with np.errstate(all="ignore"):  # a warning would say that gaze is odd
            timed = np.isfinite(recording.t) & (np.abs(recording.t) <= LATEST)
            raw = recording if timed.all() else recording.take(timed)
            veil = self.how.on(raw.geometry).start(self._noise_for(raw.key))
            shown = veiled(raw, veil, eyes=self.how.eyes)
            across, down = shown.x - raw.x, shown.y - raw.y
            if period := veil.mechanism.space.period:
                across = across - period * np.floor(across / period + 0.5)
            squares = across**2 + down**2
        known = np.isfinite(squares)
        return Veiled(
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
