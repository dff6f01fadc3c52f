# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What several products share."""

from __future__ import annotations

from fractions import Fraction

from gazeveil.errors import OptionError
from gazeveil.privacy.exact import in_digits
from gazeveil.release.study import Study


def check_delta(delta: Fraction, study: Study) -> None:
    """Refuse a δ so large that publishing one participant's data as they are would keep the guarantee.

    Raises:
        OptionError: If δ is no smaller than one over the number of participants.
    """
    number = study.participants.number
    if number is not None and delta and delta * number >= 1:
        raise OptionError(
            f"delta {in_digits(delta)} is no smaller than one in {number:,} participants: such a guarantee is empty",
            hint="choose delta well below one over the number of participants, for example 1e-5",
        )
