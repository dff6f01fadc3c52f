# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Veiling many recordings chunk by chunk, in bounded memory: one veil per recording, one source of noise for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from gazeveil.errors import InputError
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.geometry import Geometry
from gazeveil.gaze.recording import Key, Recording
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.apply import veiled
from gazeveil.samples.channels import Eyes, dropped_channels
from gazeveil.samples.mechanism import Faults, SampleMechanism, Veil
from gazeveil.types import FloatArray

PREVIEW = 3000
"""How many samples of the first recording are kept for a picture."""


class Batch:
    """Veils recordings as they stream through, and counts.

    The counts and the preview are for whoever runs it. They are computed from raw gaze and are no part of a release.

    Attributes:
        mechanisms: The mechanism of every geometry that came through.
        samples: How many samples did.
        dropped: The channels that were dropped, in order of appearance.
        preview: t, raw x, raw y, veiled x, veiled y of the first recording's beginning.
    """

    def __init__(
        self,
        make: Callable[[Geometry], SampleMechanism],
        noise: NoiseSource,
        *,
        eyes: Eyes = "drop",
        before: Callable[[SampleMechanism, Guarantee], None] | None = None,
    ) -> None:
        """Make a batch.

        Args:
            make: Returns the mechanism for recordings of a geometry.
            noise: Where the random words come from.
            eyes: What becomes of the single eyes.
            before: Called with a mechanism and the promise it will keep, before the first sample goes through it; for
                example to charge a ledger. If it raises, nothing comes out.
        """
        self._make, self._noise, self._eyes, self._before = make, noise, eyes, before
        self._veil: Veil | None = None
        self._key: Key | None = None
        self._done: set[Key] = set()
        self._past = Faults()
        self._squares, self._compared = 0.0, 0
        self.mechanisms: dict[Geometry, SampleMechanism] = {}
        self.samples = 0
        self.dropped: list[str] = []
        self.preview: list[FloatArray] = []

    @property
    def recordings(self) -> int:
        """How many recordings came through."""
        return len(self._done)

    @property
    def faults(self) -> Faults:
        """What was odd about the streams, all together."""
        present = Faults() if self._veil is None else self._veil.faults
        return Faults(*(one + two for one, two in zip(self._past, present, strict=True)))

    @property
    def guarantees(self) -> list[Guarantee]:
        """The promises that were kept: one, unless recordings of several geometries came through."""
        veils = [mechanism.start(self._noise) for mechanism in self.mechanisms.values()]
        return list(dict.fromkeys(veil.guarantee for veil in veils))

    @property
    def moved(self) -> float:
        """How far points were moved, as the root of the mean square, in the unit of the gaze; NaN if none was."""
        return math.sqrt(self._squares / self._compared) if self._compared else math.nan

    def veil(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield every chunk veiled; chunks of one recording follow one another.

        Raises:
            InputError: If a recording comes twice, or has a time that is no number.
        """
        for chunk in chunks:
            raw = Recording.from_frame(
                chunk.samples, chunk.geometry, chunk.key, events=chunk.events, rate_hz=chunk.rate_hz
            )
            shown = veiled(raw, self._veil_of(chunk), eyes=self._eyes)
            self._count(raw, shown)
            yield Chunk(chunk.key, shown.to_frame(), chunk.geometry, rate_hz=chunk.rate_hz)

    def _veil_of(self, chunk: Chunk) -> Veil:
        if self._veil is not None and chunk.key == self._key:
            return self._veil
        if chunk.key in self._done:
            raise InputError(
                f"the recording {chunk.key} comes twice", hint="veil files one by one, or give them other labels"
            )
        self._past = self.faults
        if chunk.geometry not in self.mechanisms:
            self._add(chunk.geometry)
        self._veil = self.mechanisms[chunk.geometry].start(self._noise)
        self._key = chunk.key
        self._done.add(chunk.key)
        return self._veil

    def _add(self, geometry: Geometry) -> None:
        mechanism = self._make(geometry)
        if self._before is not None:
            self._before(mechanism, mechanism.start(self._noise).guarantee)
        self.mechanisms[geometry] = mechanism

    def _count(self, raw: Recording, shown: Recording) -> None:
        self.samples += len(raw)
        self.dropped += [name for name in dropped_channels(raw, eyes=self._eyes) if name not in self.dropped]
        across, down = shown.x - raw.x, shown.y - raw.y
        period = self.mechanisms[raw.geometry].space.period
        if period:
            across = across - period * np.floor(across / period + 0.5)
        both = np.isfinite(across) & np.isfinite(down)
        self._squares += float(np.sum(across[both] ** 2 + down[both] ** 2))
        self._compared += int(np.count_nonzero(both))
        if not self.preview:
            self.preview = [column[:PREVIEW].copy() for column in (raw.t, raw.x, raw.y, shown.x, shown.y)]
