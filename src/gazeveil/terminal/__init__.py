# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What commands of the product and of the lab share to talk to a terminal."""

from __future__ import annotations


class NamesOf(str):
    """In the place of an option's ``metavar``: the kind of thing whose names it takes, for help and completion."""

    __slots__ = ()
