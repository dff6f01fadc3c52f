# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a ledger can keep: names that every database can hold and every screen can show, and guarantees."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gazeveil.errors import OptionError
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.ledger.spending import is_writable

_LONGEST_NAME = 200


def check_names(dataset: str, person: str) -> None:
    """Make sure that there could be such an account.

    Raises:
        OptionError: If there could not.
    """
    checked(dataset, "name of a data set")
    if person:
        checked(person, "name of a participant")


def checked(name: str, what: str) -> str:
    """Return a name that can be kept.

    Raises:
        OptionError: If it cannot.
    """
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise OptionError(f"the {what} must be 1 to {_LONGEST_NAME} printable letters, not {name!r}")
    return name


@lru_cache(maxsize=256)
def written(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as plain values, if it is one that can be kept; whoever charges often charges the same.

    Raises:
        OptionError: If it is none, or its numbers are too long.
    """
    if not isinstance(guarantee, Guarantee):
        raise OptionError(f"a guarantee is needed, for instance PureDP(1), not {guarantee!r}")
    if not is_writable(guarantee):
        raise OptionError("the guarantee holds a fraction too long to be kept", hint="round it up to fewer digits")
    return guarantee.to_dict()
