# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What several products share."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from gazeveil.errors import OptionError
from gazeveil.privacy.exact import in_digits
from gazeveil.release.forecast import Forecast
from gazeveil.release.study import Study


class Expected(Protocol):
    """What a plan with a public design knows about its error."""

    @property
    def error(self) -> float:
        """The error to expect."""
        ...

    @property
    def interval(self) -> tuple[float, float]:
        """Between which errors 9 of 10 lie."""
        ...

    @property
    def floor(self) -> float:
        """The error of the public mean."""
        ...


def error_forecast(plan: Expected, source: str) -> Forecast:
    """Return the forecast of a plan with a public design: worth it if a tenth better than the public mean."""
    low, high = plan.interval
    return Forecast(
        measure="error",
        expected=plan.error,
        low=low,
        high=high,
        without_data=plan.floor,
        floor=0.9 * plan.floor,
        basis=f"how much the series of the design's public participants vary ({source})",
    )


def check_delta(delta: Fraction, study: Study | int) -> None:
    """Refuse a δ so large that publishing one participant's data as they are would keep the guarantee.

    Raises:
        OptionError: If δ is no smaller than one over the number of participants.
    """
    number = study if isinstance(study, int) else study.participants.number
    if number is not None and delta and delta * number >= 1:
        raise OptionError(
            f"delta {in_digits(delta)} is no smaller than one in {number:,} participants: such a guarantee is empty",
            hint="choose delta well below one over the number of participants, for example 1e-5",
        )
