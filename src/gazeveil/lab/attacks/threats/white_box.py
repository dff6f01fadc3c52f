# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: veil the reference too, so that like is compared with like (Wilson 2024, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from zlib import crc32

from gazeveil.exact import whole_number
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import in_degrees, veiled_by
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism


@ATTACKS.register("white-box")
@dataclass(frozen=True, slots=True, kw_only=True)
class WhiteBox(Attack):
    """The query as it is; the reference behind the same mechanism, with noise of the attacker's own.

    Attributes:
        draws: How often each reference trial is veiled. The paper does it once; with several draws the recogniser
            also learns what varies with the noise alone.
    """

    name: ClassVar[str] = "white-box"
    threat_model: ClassVar[str] = "white box"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    draws: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", whole_number(self.draws, "draws", at_least=1))

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        return VeiledReference(in_degrees(knowledge.mechanism), self.draws, seed)


@dataclass(frozen=True, slots=True, eq=False)
class VeiledReference(Prepared):
    """Enrols what the mechanism makes of the reference in this many draws, with noise of the attacker's own."""

    mechanism: SampleMechanism
    draws: int
    seed: int

    def query(self, veiled: Trial) -> Trial:
        """Return the query as it is, without a name."""
        return veiled.anonymous()

    def reference(self, raw: Trial) -> Trial:
        """Return the trial behind the mechanism, once."""
        return self._draw(raw, 0)

    def references(self, raw: Trial) -> tuple[Trial, ...]:
        """Return the trial behind the mechanism, as often as asked; once if the mechanism draws no noise."""
        draws = self.draws if self.mechanism.draws_noise else 1
        return tuple(self._draw(raw, number) for number in range(draws))

    def _draw(self, raw: Trial, number: int) -> Trial:
        key = crc32(f"{raw.person}/{raw.session}/{raw.name}/{number}".encode())
        return veiled_by(self.mechanism, raw, NoiseSource.seeded((self.seed << 32) + key))
