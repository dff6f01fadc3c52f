# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sinks that take one kind of veiled thing, the one their policy grants, and refuse the others.

So an app that may have only names of areas gets no points by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gazeveil.errors import PrivacyError
from gazeveil.gateway.protocol import Output, Shown, Sink
from gazeveil.gateway.sample import Veiled, VeiledFixation, VeiledHit, VeiledSample

CARRIES: Final[Mapping[Output, type[Veiled]]] = {
    "samples": VeiledSample,
    "fixations": VeiledFixation,
    "hits": VeiledHit,
}


class GradedSink(Sink):
    """A sink whose app gets samples, or fixations alone, but never both."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown)
        self._granted = CARRIES[shown.output]

    def regrade(self, shown: Shown) -> None:
        """Take another kind of veiled thing from now on, and no more of the old kind."""
        super().regrade(shown)
        self._granted = CARRIES[shown.output]

    def show(self, veiled: Veiled, now: float) -> None:
        """Queue one veiled thing, if the app asked for data.

        Raises:
            PrivacyError: If it is anything but what a veil made, or not what the app may have.
        """
        if type(veiled) is not self._granted:
            raise PrivacyError(f"an app that may have {self.shown.output} is not shown a {type(veiled).__name__}")
        if not self.ended:
            super().show(veiled, now)
