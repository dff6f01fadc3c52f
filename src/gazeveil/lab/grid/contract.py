# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a grid is made of: uses with their data and mechanisms, and families of measures.

A **use** says what is published: live gaze, recordings, feature series, heatmaps. It finds data and mechanisms by name.
A **family** knows measures by name: attacks by recognisers and threats, or metrics of usefulness. What registries of
mechanisms, attacks and metrics hold can be named in a grid without a change here. The package `catalogue` lists both.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from gazeveil.aggregate.engine import Engine
from gazeveil.errors import GazeveilError, InputError, OptionError
from gazeveil.lab.bench.experiment import Row
from gazeveil.privacy.guarantee import Guarantee, Unproven

Role = Literal["attack", "utility"]
Harm = Literal["", "reidentification", "linkage", "attribute", "membership", "reconstruction"]
NONE: Final = "none"
"""The mechanism that does nothing: data as they are."""


class DoesNotApply(GazeveilError):  # noqa: N818  (reads as what it is)
    """There is nothing to measure: the attack is of no use against this mechanism, or the data lack what it needs."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a measure found.

    Attributes:
        rows: The first is the one that curves and the leaderboard show.
        threat: What the attacker knows, in words; empty for utilities.
    """

    rows: tuple[Row, ...]
    threat: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Protected:
    """A mechanism that has met the data that it is for.

    Attributes:
        mechanism: The mechanism; None for data as they are.
        guarantee: What it guarantees.
        recipe: Name and parameters as plain values.
    """

    mechanism: Any
    guarantee: Guarantee
    recipe: Mapping[str, Any]

    @staticmethod
    def nothing() -> Protected:
        """Return what protects nothing."""
        return Protected(None, Unproven("data are as they are"), {"mechanism": NONE})


@dataclass(frozen=True, slots=True)
class Question:
    """A measure that was asked for by name.

    Attributes:
        harm: What an attack does to a participant; empty for utilities.
        ask: What measures it: data, mechanism, seed and engine in, numbers out.
        parts: Classes and functions whose source decides what comes out.
    """

    harm: Harm
    ask: Callable[[Any, Protected, int, Engine], Answer]
    parts: tuple[Any, ...] = ()


class Family(ABC):
    """Measures of one kind.

    Attributes:
        uses: For which uses they are.
        role: Whether they attack or measure what is left.
        options: What options they have; None if that depends on the measure, which then refuses others itself.
    """

    uses: ClassVar[frozenset[str]]
    role: ClassVar[Role]
    options: ClassVar[tuple[str, ...] | None] = ()

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names that can be asked for."""

    @abstractmethod
    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return the measure of a name that is known."""

    def knows(self, name: str) -> bool:
        """Whether a name is of this family."""
        return name in self.names()

    def find(self, name: str, options: Mapping[str, Any]) -> Question | None:
        """Return the measure of a name; None if it is not of this family.

        Raises:
            OptionError: If it has no such options.
        """
        if not self.knows(name):
            return None
        if self.options is not None:
            check_options(name, options, self.options)
        return self.question(name, options)


@dataclass(frozen=True, slots=True)
class Source:
    """Where data come from.

    Attributes:
        load: What reads or simulates them: ``load(data, **options)``, where ``data`` is the folder of data sets.
        file: The file or folder that they lie in, below that folder; empty for simulated ones.
    """

    load: Callable[..., Any]
    file: str = ""

    def options(self) -> list[str]:
        """Return the names of its options."""
        return list(inspect.signature(self.load).parameters)[1:]

    def path(self, data: Path | None) -> Path | None:
        """Return where they lie; None for simulated ones.

        Raises:
            InputError: If they are not there.
        """
        if not self.file:
            return None
        if data is None or not (data / self.file).exists():
            raise InputError(
                f"there is no {self.file} in {data or 'data/ or shared/data/ here or above'}",
                hint="say with --data which folder holds the data sets, or leave the part out",
            )
        return data / self.file


@dataclass(frozen=True, slots=True)
class Wanted:
    """A mechanism as a grid asks for it: its name, and parameters without those that the data decide."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


class Use(ABC):
    """What is published, and so which data and mechanisms there are.

    Attributes:
        sources: Data by name.
    """

    sources: ClassVar[Mapping[str, Source]]

    @abstractmethod
    def folder(self, data: Path | None, path: Path, people: int = 0) -> Any:
        """Return the data of a corpus of one's own, of this many participants at most."""

    @abstractmethod
    def mechanisms(self) -> list[str]:
        """Return the names of mechanisms."""

    @abstractmethod
    def check(self, wanted: Wanted) -> tuple[Any, ...]:
        """Return the classes and functions whose source decides what a mechanism does.

        Raises:
            UnknownName: If there is no such mechanism.
            OptionError: If it has no such parameter.
        """

    @abstractmethod
    def make(self, wanted: Wanted, data: Any) -> Protected:
        """Return the mechanism for some data."""


def check_options(name: str, options: Mapping[str, Any], known: tuple[str, ...] | list[str] = ()) -> None:
    """Refuse options that are not known; all of them where there are none.

    Raises:
        OptionError: If there is one.
    """
    if unknown := sorted(options.keys() - set(known)):
        raise OptionError(
            f"{name} has no option {unknown[0]!r}", hint=f"it has {', '.join(known)}" if known else "it has none"
        )
