# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature series as Bozkir 2020 and Steil 2019 evaluate them, kept for comparison: they guarantee nothing.

Bozkir: ε is the article's own number, for one feature and one chunk. What it leaves out: how far a series can change is
taken from the data themselves (erratum B1), chunks of one participant are paid for once (B2), the scale lacks a factor
√n (B4), the first element of a chunk of differences leaves in the clear (B6). Its search for the best number of bins is
`best_kept`, and looks at raw data (B7).

Steil (pseudo-code in David-John 2022): every value is moved by the exponential mechanism with quality -|r - x| on the
whole line: r has a density proportional to exp(-ε |r - x| / 2δ), where δ is how far the feature ranges in the data at
hand. That is Laplace noise of scale 2δ/ε, and is drawn exactly. The pseudo-code has the length of the series in its λ
and divides by it again, so it cancels: ε pays for one value of one feature, not for a participant. The corrected form
is `exponential`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.exact import exact, root_up, whole_number
from gazeveil.features import fourier
from gazeveil.features.fourier import ChunkedSeries
from gazeveil.features.series import SERIES_MECHANISMS, STEP, SeriesMechanism, checked
from gazeveil.noise import NoiseSource, add_laplace, from_lattice, to_lattice
from gazeveil.privacy.guarantee import Guarantee, Unproven

_LEAST = 2.0**-20
"""Where participants do not differ at all, the article would add no noise; a scale of nothing cannot be drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsPublished(ChunkedSeries):
    """What the published mechanisms share.

    Attributes:
        measures_people: Whether sensitivities are those between the participants at hand, as published, or those of the
            declared ranges (which repairs erratum B1 and none of the others).
    """

    has_differences: ClassVar[bool] = False
    errata: ClassVar[tuple[str, ...]] = ("B1", "B2", "B4", "B7")

    measures_people: bool = True

    def __post_init__(self) -> None:
        super(AsPublished, self).__post_init__()
        if exact(self.delta) or self.stretch is not None:
            raise OptionError("as published there is neither delta nor stretch")

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return Unproven(f"it is noised as published in Bozkir 2020 (errata {', '.join(self.errata)})", unit=self.unit)

    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that the noise would really guarantee if sensitivities were those of the declared ranges."""
        if self.has_differences:
            raise OptionError("a value that leaves in the clear has no ε")
        change = self.features * root_up(self.kept * self.touched(changed) * self.squared_change(changed))
        return change / Fraction(self._scale(math.sqrt(self.chunk), self.chunk))

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""
        return np.clip(self.unclipped(values, noise), 0.0, 1.0)

    def unclipped(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series as the article evaluates them: values may lie far outside their ranges.

        Raises:
            InputError: If there is one participant only, whom nothing could tell how much noise to draw.
        """
        table = np.ascontiguousarray(checked(values, self.steps, self.features).swapaxes(1, 2))
        if self.measures_people and len(table) < 2:
            raise InputError("as published, noise is as wide as participants differ: that takes at least two of them")
        return self.read([self._published(part, noise) for part in self._parts(table)]).swapaxes(1, 2)

    def read(self, measured: list[FloatArray]) -> FloatArray:
        """Return the series that noisy chunks stand for."""
        return np.concatenate([part.reshape(*part.shape[:-2], -1) for part in measured], axis=-1)

    def _published(self, chunks: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy chunks: participants by features by chunks by steps."""
        kept = min(self.kept, fourier.bin_count(chunks.shape[-1]))
        signal = np.diff(chunks, axis=-1, prepend=0.0) if self.has_differences else chunks
        steps = signal.shape[-1]
        parts = fourier.fourier_coordinates(signal, kept)
        noisy = np.empty_like(parts)
        for feature in range(signal.shape[1]):
            for chunk in range(signal.shape[2]):
                scale = self._scale(self._distance(signal[:, feature, chunk]), steps)
                whole = to_lattice(parts[:, feature, chunk], STEP)
                noisy[:, feature, chunk] = from_lattice(add_laplace(noise, whole, scale, STEP), STEP)
        out = fourier.series_of_coordinates(noisy, steps)
        if self.has_differences:
            out[..., 0] = chunks[..., 0]
            out = np.cumsum(out, axis=-1)
        return out

    def _scale(self, distance: float, steps: int) -> float:
        """Return the article's √k Δ₂ / ε for a transform without a factor, as this one, which has 1/√n, needs it."""
        return max(math.sqrt(self.kept) * distance / float(exact(self.epsilon)) / math.sqrt(steps), _LEAST)

    def _distance(self, rows: FloatArray) -> float:
        """Return the largest distance between two participants' rows, or that of the declared ranges."""
        if not self.measures_people:
            return math.sqrt(rows.shape[-1])
        squares = np.sum(np.square(rows), axis=1)
        return math.sqrt(max(0.0, float(np.max(squares[:, None] + squares - 2 * rows @ rows.T))))


@SERIES_MECHANISMS.add_unlisted("lpa-as-published")
@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceAsPublished(AsPublished):
    """Laplace noise on every step, of a scale that is the largest ℓ1 distance between two participants, over ε."""

    name: ClassVar[str] = "lpa-as-published"
    errata: ClassVar[tuple[str, ...]] = ("B1",)

    def _published(self, chunks: FloatArray, noise: NoiseSource) -> FloatArray:
        noisy = np.empty_like(chunks)
        for feature in range(chunks.shape[1]):
            rows = chunks[:, feature].reshape(len(chunks), -1)
            apart = float(self.steps)
            if self.measures_people:
                apart = max(float(np.max(np.sum(np.abs(rows - row), axis=1))) for row in rows)
            scale = max(apart / float(exact(self.epsilon)), _LEAST)
            whole = to_lattice(chunks[:, feature], STEP)
            noisy[:, feature] = from_lattice(add_laplace(noise, whole, scale, STEP), STEP)
        return noisy

    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that the noise would really guarantee if sensitivities were those of the declared ranges."""
        return exact(self.epsilon) * self.features * changed / self.steps


@SERIES_MECHANISMS.add_unlisted("fpa-as-published")
@dataclass(frozen=True, slots=True, kw_only=True)
class FourierAsPublished(AsPublished):
    """Fourier perturbation of the whole series without the factor √n."""

    name: ClassVar[str] = "fpa-as-published"
    errata: ClassVar[tuple[str, ...]] = ("B1", "B4", "B7")

    kept: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "chunk", self.steps)
        super(FourierAsPublished, self).__post_init__()


@SERIES_MECHANISMS.add_unlisted("c-fpa-as-published")
@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFourierAsPublished(AsPublished):
    """Fourier perturbation of chunks without the factor √n, paid for once."""

    name: ClassVar[str] = "c-fpa-as-published"

    chunk: int = 64
    kept: int = 2


@SERIES_MECHANISMS.add_unlisted("dc-fpa-as-published")
@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceFourierAsPublished(AsPublished):
    """Fourier perturbation of differences inside chunks; the first element of every chunk leaves in the clear."""

    name: ClassVar[str] = "dc-fpa-as-published"
    has_differences: ClassVar[bool] = True
    errata: ClassVar[tuple[str, ...]] = ("B1", "B2", "B4", "B6", "B7")

    chunk: int = 32
    kept: int = 2


def best_kept(mechanism: AsPublished, values: FloatArray, noise: NoiseSource, runs: int = 100) -> AsPublished:
    """Return a published mechanism with the number of bins that had the least error in noisy runs on the raw data.

    The choice depends on raw data and nobody pays for it (erratum B7), which is one more reason why it is unproven.
    """
    best, least = mechanism, math.inf
    for kept in _to_try(mechanism.chunk):
        trial = replace(mechanism, kept=kept)
        error = sum(float(np.mean(np.square(trial.perturb(values, noise) - values))) for _ in range(runs))
        if error < least:
            best, least = trial, error
    return best


def _to_try(chunk: int) -> list[int]:
    most = fourier.bin_count(chunk)
    return sorted({k for k in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64) if k < most} | {most})


# --- Steil's exponential mechanism as it is evaluated (Steil 2019; pseudo-code in David-John 2022), to compare with.


"""Where nobody differs, the paper would add no noise; a scale of nothing cannot be drawn."""


@SERIES_MECHANISMS.add_unlisted("exponential-as-published")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialAsPublished(SeriesMechanism):
    """Keeps every so-manieth step and moves each value on its own; in between, the value is repeated.

    Attributes:
        every: Which steps are kept: every tenth, as published.
        measures_people: Whether δ is the range of the participants at hand, as published, or the declared range.
    """

    name: ClassVar[str] = "exponential-as-published"

    every: int = 10
    measures_people: bool = True

    def __post_init__(self) -> None:
        super(ExponentialAsPublished, self).__post_init__()
        object.__setattr__(self, "every", whole_number(self.every, "every", at_least=1))
        if exact(self.delta) or self.stretch is not None:
            raise OptionError("as published there is neither delta nor stretch")

    @property
    def claimed(self) -> str:
        """What its authors state, in words."""
        return f"ε-differential privacy with ε = {float(self.epsilon):g} for every feature."

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return Unproven(
            "Steil's exponential mechanism as published: ranges come from the data themselves (B1), and every value of "
            "every feature spends another ε/2, so the claim for a feature covers only two values of it",
            unit=self.unit,
        )

    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that the noise would really guarantee if ranges were the declared ones."""
        return exact(self.epsilon) / 2 * self.features * -(-changed // self.every)

    def scale(self, apart: float = 1.0) -> float:
        """Return the scale of the noise on a feature that ranges over so much."""
        return max(2.0 * apart / float(exact(self.epsilon)), _LEAST)

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""
        return np.clip(self.unclipped(values, noise), 0.0, 1.0)

    def unclipped(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series as they are published: values may lie outside their ranges.

        Raises:
            InputError: If there is one participant only, whose own range would be all there is.
        """
        kept = checked(values, self.steps, self.features)[:, :: self.every]
        if self.measures_people and len(kept) < 2:
            raise InputError("as published, noise is as wide as participants range: that takes at least two of them")
        noisy = np.empty_like(kept)
        for feature in range(self.features):
            column = kept[:, :, feature]
            scale = self.scale(float(np.ptp(column)) if self.measures_people else 1.0)
            noisy[:, :, feature] = from_lattice(add_laplace(noise, to_lattice(column, STEP), scale, STEP), STEP)
        return np.repeat(noisy, self.every, axis=1)[:, : self.steps]
