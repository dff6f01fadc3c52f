# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What can be audited: a mechanism, what it claims, and the neighbouring inputs to try it on.

A mechanism enters the list of ``gazeveil lab audit`` with a decorator on a function that builds its subject::

    @auditable("acme-noise")
    def acme_noise(epsilon: float = 1.0) -> Subject:
        "Counts with Acme's noise."
        return Subject(AcmeNoise(epsilon).run, PureDP(epsilon), (Pair(0, 1, "a count of 0 and a count of 1"),))

Packages above this one put such functions into a module called ``audited``, for example `gazeveil.samples.audited`;
the command finds it there. The parameters of the function are its options, given as ``--set epsilon=2``.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import OptionError
from gazeveil.noise.source import NoiseSource
from gazeveil.privacy._promise import Guarantee
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.registry import Registry

Mechanism = Callable[[Any, NoiseSource, int], NDArray[Any]]
"""Runs a mechanism on one input, this many trials with fresh noise each; returns a row of numbers for each trial."""

LogRatio = Callable[[NDArray[Any], Any, Any], NDArray[np.float64]]
"""How much likelier each row of outputs is on the first input than on the second, as a logarithm."""


class ExactLoss(Protocol):
    """The privacy loss of a mechanism, where it can be computed instead of sampled. Both answers are rounded down."""

    @property
    def words(self) -> str:
        """How it was computed, as the end of a sentence."""
        ...

    def epsilon_at(self, delta: float) -> float:
        """Return the least ε that is true at δ, or slightly less."""
        ...

    def delta_at(self, epsilon: float) -> float:
        """Return the least δ that is true at ε, or slightly less."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Something to audit.

    Attributes:
        run: Runs the mechanism. To use several processes it must be importable: a function of a module, or a method
            of a value that can be pickled.
        claim: What is guaranteed, or claimed.
        pairs: Neighbouring inputs to try; the worst for the mechanism are best. Never participants' data.
        log_ratio: The logarithm of the ratio of densities, where it is known: the sharpest event there is.
        exact: The loss itself, where it can be computed: then no sampling is needed.
    """

    run: Mechanism
    claim: Guarantee
    pairs: Sequence[Pair]
    log_ratio: LogRatio | None = None
    exact: ExactLoss | None = None

    def __post_init__(self) -> None:
        if not self.pairs:
            raise OptionError("an audit needs at least one pair of neighbouring inputs")


SubjectBuilder = Callable[..., Subject]

SUBJECTS: Registry[SubjectBuilder] = Registry("audit subject", package="gazeveil.privacy.audit.subjects")
"""Functions that build a subject, by name: ``SUBJECTS["lattice-laplace"](epsilon=2.0)``."""


def auditable(name: str) -> Callable[[SubjectBuilder], SubjectBuilder]:
    """Return a decorator that enters a function that builds a subject."""
    return SUBJECTS.register(name)


def about(builder: SubjectBuilder) -> str:
    """Return in one line what a subject is: the first line of its builder's docstring."""
    return (inspect.getdoc(builder) or "").split("\n", 1)[0]


def options_of(builder: SubjectBuilder) -> dict[str, Any]:
    """Return the options of a subject and their defaults."""
    return {name: option.default for name, option in inspect.signature(builder).parameters.items()}


def build(name: str, options: Mapping[str, str] | None = None) -> Subject:
    """Return the subject of that name, its options given as text.

    Raises:
        OptionError: If there is no such option, or its value cannot be read.
    """
    builder = SUBJECTS[name]
    kinds = typing.get_type_hints(builder)
    known = options_of(builder)
    values = {}
    for option, text in (options or {}).items():
        if option not in known:
            raise OptionError(f"{name} has no option {option!r}", hint=f"it has: {', '.join(known) or 'none'}")
        try:
            values[option] = kinds[option](text)
        except ValueError:
            raise OptionError(f"{option} must be of type {kinds[option].__name__}, not {text!r}") from None
    return builder(**values)
