# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How good a release will be, said before anything is spent, from public facts alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gazeveil.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What to expect of a release.

    Attributes:
        measure: What is expected: ``cc`` (correlation with the map without noise; higher is better) or ``error``
            (root mean square, as a part of the declared range or of the screen's width; lower is better).
        expected: The expected value for a typical study.
        low: The lower end of the interval that holds 9 of 10.
        high: Its upper end.
        without_data: The same measure for what could be published without any data: the prior, or the public mean.
        floor: The value that makes the release worth its budget; beyond it a release is refused.
        basis: What the forecast was calibrated on, in a sentence.
        each: What the interval holds 9 of 10 of: studies, or the maps or recordings of one.
        part_of: What an error is a part of.
        with_what: What a correlation is with.
    """

    measure: str
    expected: float
    low: float
    high: float
    without_data: float
    floor: float
    basis: str
    each: str = "studies"
    part_of: str = "the range"
    with_what: str = "the noise-free map"

    @property
    def worth_it(self) -> bool:
        """Whether the release is expected to say enough beyond what was known without the data."""
        return self.expected >= self.floor if self.measure == "cc" else self.expected <= self.floor

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self) -> str:
        """Say what to expect in one sentence."""
        named = {"cc": f"a correlation with {self.with_what}", "error": f"an error, as a part of {self.part_of},"}
        return (
            f"{named[self.measure]} of {self.expected:.2g} (9 of 10 {self.each}: {self.low:.2g} to {self.high:.2g}); "
            f"{self.without_data:.2g} without any data"
        )

    def check(self, hint: str = "") -> None:
        """Refuse what is not worth its budget.

        Raises:
            OptionError: If the release would say too little; nothing was spent.
        """
        if not self.worth_it:
            raise OptionError(
                f"this release would hardly be better than none: expected is {self.in_words()}; "
                f"at {'least' if self.measure == 'cc' else 'most'} {self.floor:.2g} is asked for. Nothing was spent.",
                hint=hint
                or "raise ε, release less at once, or add --anyway; `gazeveil plan` shows what would be enough",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as plain values."""
        return {**asdict(self), "worth_it": self.worth_it}
