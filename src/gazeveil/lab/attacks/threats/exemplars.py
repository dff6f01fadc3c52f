# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Black box with exemplars: a network learns from other participants' gaze how to get back behind the mechanism.

Wilson 2024, section 5.2: four blocks of [convolution, batch normalisation, tanh], five seconds in and out. Channels,
kernels, loss and epochs are not given there (erratum W9); those here are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import InputError, OptionError, needing
from gazeveil.exact import whole_number
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared
from gazeveil.lab.attacks.restoring import Restoration


@ATTACKS.register("exemplars")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExemplarNetwork(Attack):
    """A small convolutional network from veiled to raw gaze, trained on the exemplars, loss: mean squared error.

    Each window is taken relative to the median of its veiled gaze, and in units of how far raw gaze gets from that
    among the exemplars, since tanh ends at ±1. Windows of a query overlap by half and are blended. Nothing of the query
    is learnt from. Every fifth participant of the exemplars is kept aside (of fewer than five, the end of each
    exemplar), and the epoch that is best there is taken.

    Attributes:
        seconds: How long a window is.
        channels: Of the inner convolutions.
        kernel: Samples that a convolution sees; odd.
        epochs: How often the exemplars are gone through.
        batch: Windows in a step.
        rate: The highest learning rate (Adam, one cycle).
        most_windows: No more windows than this are used, spread over all exemplars.
    """

    name: ClassVar[str] = "exemplars"
    threat_model: ClassVar[str] = "black box with exemplars"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.EXEMPLARS})

    seconds: float = 5.0
    channels: int = 24
    kernel: int = 9
    epochs: int = 15
    batch: int = 16
    rate: float = 0.02
    most_windows: int = 600

    def __post_init__(self) -> None:
        for field in ("channels", "kernel", "epochs", "batch", "most_windows"):
            object.__setattr__(self, field, whole_number(getattr(self, field), field, at_least=1))
        if self.kernel % 2 == 0:
            raise OptionError(f"kernel must be odd, not {self.kernel}")
        for field in ("seconds", "rate"):
            value = getattr(self, field)
            if not (math.isfinite(value) and value > 0):
                raise OptionError(f"{field} must be above 0, not {value!r}")

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        with needing("torch", "attacks", "the network that learns from exemplars"):
            from gazeveil.lab.attacks import restoring_network  # noqa: PLC0415  (torch loads on use)
        if not knowledge.exemplars:
            raise InputError("there are no exemplars to learn from")
        return Restoration(restoring_network.trained(self, knowledge.exemplars, seed))
