# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables: every entry within its bound, the walk equal to inversion in high precision, refinement forced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gazeveil.noise import NoiseSource
from gazeveil.noise.exact_rounding import GAUSSIAN, LAPLACE, MOST_ENTRIES, WIDTH, Law, Table, entries, table
from gazeveil.noise.lattice import _settle_by_table
from gazeveil.noise.sampling_kernels import UNDECIDED_BY_TABLE, walk

LAWS = [GAUSSIAN, LAPLACE]
SCALES = [Fraction(1, 10), Fraction(0.5), Fraction(1), Fraction(3.7), Fraction(50), Fraction(1000), Fraction(2999.7)]


@pytest.fixture(autouse=True)
def many_digits() -> None:
    mpmath.mp.prec = 250


def tail(law: Law, position: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(position / mpmath.sqrt(2)) if law is GAUSSIAN else mpmath.exp(-position)


def inverse_tail(law: Law, chance: mpmath.mpf) -> mpmath.mpf:
    """Where the tail has that chance; by another road than the tables take."""
    if law is LAPLACE:
        return -mpmath.log(chance)
    # Newton's method on log erfc, from the asymptotic start; erfinv of mpmath fails in the far tail.
    position = mpmath.sqrt(-2 * mpmath.log(chance)) if chance < mpmath.mpf("0.5") else mpmath.mpf(1 - chance)
    for _ in range(60):
        value = mpmath.erfc(position / mpmath.sqrt(2))
        slope = -mpmath.sqrt(2 / mpmath.pi) * mpmath.exp(-(position**2) / 2)
        change = value * mpmath.log(value / chance) / slope
        position -= change
        if abs(change) < mpmath.mpf(2) ** -120:
            break
    return position


def magnitude(law: Law, scale: Fraction, number: int, bits: int = 63) -> int | None:
    """Return what inversion gives for all uniform numbers with these leading bits, None if they differ."""
    steps = mpmath.mpf(scale.numerator) / scale.denominator
    most = mpmath.inf if number == 0 else inverse_tail(law, mpmath.ldexp(number, -bits)) * steps
    least = inverse_tail(law, mpmath.ldexp(number + 1, -bits)) * steps if number + 1 < 2**bits else mpmath.mpf(0)
    if most == mpmath.inf:
        return None
    low, high = int(mpmath.floor(least + 0.5)), int(mpmath.floor(most + 0.5))
    return low if low == high else None


def walked(boundaries: Table, words: NDArray[np.uint64]) -> NDArray[np.int64]:
    out = np.empty(len(words), np.int64)
    walk(words, boundaries.tails, boundaries.guide, boundaries.shift, boundaries.width, out)
    return out


@pytest.mark.parametrize(
    ("law", "scale"),
    [*((law, scale) for law in LAWS for scale in SCALES), (GAUSSIAN, Fraction(14_500)), (LAPLACE, Fraction(3190))],
    ids=lambda value: value.name if isinstance(value, Law) else str(float(value)),
)
def test_every_entry_is_below_the_truth_by_less_than_the_width(law: Law, scale: Fraction) -> None:
    assert entries(law, scale) <= MOST_ENTRIES
    tails = table(law, scale).tails
    steps = mpmath.mpf(scale.numerator) / scale.denominator
    chosen = {*range(min(len(tails), 40)), *range(max(0, len(tails) - 10), len(tails))}
    chosen |= set(range(0, len(tails), max(1, len(tails) // 150)))
    for m in sorted(chosen):
        truth = mpmath.ldexp(tail(law, (m + mpmath.mpf(0.5)) / steps), 63)
        assert 0 <= truth - int(tails[m]) <= WIDTH, m
    assert tails[-1] == 0
    assert np.all(np.diff(tails.astype(object)) <= 0)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("scale", SCALES, ids=float)
def test_the_walk_agrees_with_inversion_in_high_precision_on_the_same_bits(law: Law, scale: Fraction) -> None:
    boundaries = table(law, scale)
    edges = [int(edge) for edge in boundaries.tails[:: max(1, len(boundaries.tails) // 12)]]
    near_edges = [edge + shift for edge in edges for shift in (-2, -1, 0, 1, WIDTH - 1, WIDTH, WIDTH + 1)]
    numbers = [n for n in near_edges if 0 <= n < 2**63] + [2**63 - 1, 2**63 - 2]
    numbers += [word >> 1 for word in NoiseSource.seeded(1).words(60).tolist()]
    numbers += [word >> 40 for word in NoiseSource.seeded(2).words(20).tolist()]  # far tail
    for sign in (0, 1):
        samples = walked(boundaries, np.array([number << 1 | sign for number in numbers], np.uint64))
        for number, sample in zip(numbers, samples.tolist(), strict=True):
            expected = magnitude(law, scale, number)
            if sample == UNDECIDED_BY_TABLE:
                continue
            assert expected is not None, number
            assert sample == (-expected if sign else expected), number


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_undecided_words_are_few(law: Law) -> None:
    samples = walked(table(law, Fraction(50)), NoiseSource.seeded(3).words(200_000))
    assert not np.any(samples == UNDECIDED_BY_TABLE)


def test_a_word_that_is_all_zeros_goes_on_into_the_tail() -> None:
    boundaries = table(GAUSSIAN, Fraction(50))
    assert walked(boundaries, np.zeros(1, np.uint64))[0] == UNDECIDED_BY_TABLE
    far = boundaries.settle(0, lambda: 1 << 40, near=len(boundaries.tails) - 1)
    expected = magnitude(GAUSSIAN, Fraction(50), 1 << 40, 127)
    assert far == expected
    assert far > 50 * 10  # beyond the end of the table


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("near", [0, 3, 1000])
def test_settling_does_not_depend_on_where_it_starts(law: Law, near: int) -> None:
    boundaries = table(law, Fraction(3.7))
    for word in NoiseSource.seeded(4).words(50).tolist():
        number = word >> 1
        assert boundaries.settle(number, lambda: 0, near=near) == magnitude(law, boundaries.scale, number)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_forcing_refinement_changes_nothing_where_the_bits_decide(law: Law) -> None:
    honest = table(law, Fraction(50))
    timid = replace(honest, width=np.uint64(2**55))
    words = NoiseSource.seeded(5).words(4000)
    plain, forced = walked(honest, words), walked(timid, words)
    undecided = int(np.count_nonzero(forced == UNDECIDED_BY_TABLE))
    assert undecided > 1000
    _settle_by_table(timid, NoiseSource.seeded(6), words, forced)
    assert np.array_equal(plain, forced)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("known", [0, 1, 5])
def test_a_draw_that_starts_from_few_bits_has_the_same_law(law: Law, known: int) -> None:
    source = NoiseSource.seeded(7)
    boundaries = table(law, Fraction(1))

    def heads() -> Iterator[int]:
        while True:
            yield source.bits(known)

    samples = [boundaries.settle(head, source.more, known=known) for head, _ in zip(heads(), range(4000), strict=False)]
    chances = [1 - float(tail(law, mpmath.mpf(0.5)))]
    chances += [float(tail(law, mpmath.mpf(m) - 0.5) - tail(law, mpmath.mpf(m) + 0.5)) for m in range(1, 3)]
    chances.append(1 - sum(chances))
    counts = np.bincount(np.minimum(samples, 3), minlength=4)
    assert stats.chisquare(counts, np.array(chances) * len(samples)).pvalue > 1e-8


def test_every_bit_that_is_drawn_stays_a_leading_bit() -> None:
    drawn: list[int] = []

    def more() -> int:
        drawn.append(int(source.words(1)[0]))
        return drawn[-1]

    source = NoiseSource.seeded(8)
    boundaries = table(LAPLACE, Fraction(5))
    for _ in range(100):
        drawn.clear()
        sample = boundaries.settle(0, more, known=0)
        whole = 0
        for word in drawn:
            whole = whole << 64 | word
        assert sample == magnitude(LAPLACE, Fraction(5), whole, 64 * len(drawn))


def test_tables_are_built_once() -> None:
    assert table(GAUSSIAN, Fraction(50)) is table(GAUSSIAN, Fraction(100, 2))
