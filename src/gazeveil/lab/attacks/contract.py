# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all attackers share: trials, what a threat model grants, attacks on mechanisms, and recognisers of participants.

A judgement is a straight line: reference trials with names, query trials behind a mechanism; an attack prepares both
with what it was granted; a recogniser enrols the reference and says for every query who it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.registry import Registry
from gazeveil.samples.mechanism import SampleMechanism


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Gaze of one participant in one go, in degrees.

    Attributes:
        person: Who it is; an attack never gets to see it on a query.
        session: Which session; accuracy is measured across sessions or trials.
        name: Which trial of the session.
        t: Seconds, growing.
        x: Horizontal gaze in degrees; NaN where it is missing.
        y: Vertical gaze in degrees, downwards.
        pupil: Pupil size in the tracker's unit, or None where it is denied to the attacker.
        rate_hz: The nominal rate.
        fields: Whatever else a tracker gives with each sample, by group and name: ``eyes/ipd``, ``error/left x``. They
            are denied to an attacker behind a mechanism, as the pupil is.
    """

    person: str
    session: str
    name: str
    t: FloatArray
    x: FloatArray
    y: FloatArray
    rate_hz: float
    pupil: FloatArray | None = None
    fields: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = [self.x, self.y, *(() if self.pupil is None else (self.pupil,)), *self.fields.values()]
        if any(len(column) != len(self.t) for column in columns):
            raise InputError(f"the columns of a trial of {self.person!r} have different lengths")
        if not np.isfinite(self.rate_hz) or self.rate_hz <= 0:
            raise InputError(f"the rate must be above 0 Hz, not {self.rate_hz!r}")

    def with_gaze(self, x: FloatArray, y: FloatArray) -> Trial:
        """Return the trial with other gaze, without pupil and fields.

        What a mechanism lets out or an attack restores.
        """
        return Trial(self.person, self.session, self.name, self.t, x, y, self.rate_hz)

    def anonymous(self) -> Trial:
        """Return the trial without its participant's name: all that an attack may see of a query."""
        return replace(self, person="")

    def first(self, seconds: float) -> Trial:
        """Return the trial's first seconds."""
        keep = self.t < (self.t[0] if len(self.t) else 0.0) + seconds
        pupil = None if self.pupil is None else self.pupil[keep]
        fields = {name: values[keep] for name, values in self.fields.items()}
        return replace(self, t=self.t[keep], x=self.x[keep], y=self.y[keep], pupil=pupil, fields=fields)


class Grant(StrEnum):
    """What a threat model may grant to an attack beyond the veiled gaze itself."""

    MECHANISM = "mechanism"
    """The mechanism and its parameters, so also the right to run it."""
    EXEMPLARS = "exemplars"
    """Gaze of other participants before and behind the mechanism."""
    STATE = "state"
    """When the mechanism released what, as an app with the policy in hand can work out."""


@dataclass(frozen=True, slots=True, eq=False)
class Exemplar:
    """The same gaze before and behind the mechanism."""

    raw: Trial
    veiled: Trial


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """Everything there is to know about a mechanism; `granted` cuts it down to what a threat model grants."""

    mechanism: SampleMechanism | None = None
    exemplars: tuple[Exemplar, ...] | None = None
    state: Mapping[str, FloatArray] | None = None

    def granted(self, grants: frozenset[Grant]) -> Knowledge:
        """Return only what is granted.

        Raises:
            OptionError: If something is granted that is not there.
        """
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.name in grants}
        for name, value in kept.items():
            if value is None:
                raise OptionError(f"the attack needs the {name} of the mechanism, and none was given")
        return Knowledge(**kept)


class Prepared(ABC):
    """An attack that has learnt what it could, ready for queries."""

    @abstractmethod
    def query(self, veiled: Trial) -> Trial:
        """Return the attacker's best guess of the raw gaze (or what serves it better), without a name."""

    def reference(self, raw: Trial) -> Trial:
        """Return a reference trial as the attacker enrols it; by default as it is."""
        return raw

    def references(self, raw: Trial) -> tuple[Trial, ...]:
        """Return all that the attacker enrols for one reference trial: several where noise is drawn several times."""
        return (self.reference(raw),)

    def recogniser(self, given: Recogniser) -> Recogniser:
        """Return the recogniser as the attacker uses it: by default as given, otherwise trained on veiled gaze."""
        return given


class Attack(ABC):
    """A way to get past a mechanism: a frozen dataclass of parameters, nothing else.

    Attributes:
        name: By which it is found.
        threat_model: In words, as the tables print it: ``black box``, ``black box with exemplars``, ``white box``, …
        grants: What the threat model grants it; it never gets more.
    """

    name: ClassVar[str]
    threat_model: ClassVar[str]
    grants: ClassVar[frozenset[Grant]] = frozenset()

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether there is anything to do against such a mechanism.

        A table leaves the cell empty where there is not.
        """
        return True

    def prepare(self, knowledge: Knowledge, seed: int = 1) -> Prepared:
        """Learn what can be learnt before any query is seen."""
        return self._prepare(knowledge.granted(self.grants), seed)

    @abstractmethod
    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        """Learn from what was granted."""


class Gallery(ABC):
    """Enrolled participants, ready to be matched."""

    @property
    @abstractmethod
    def people(self) -> tuple[str, ...]:
        """Everyone who is enrolled, sorted."""

    @abstractmethod
    def windows(self, query: Trial) -> FloatArray:
        """Return a score for every window of a query (rows) and enrolled participant (columns), higher is likelier.

        No row at all if the trial has no usable window.
        """


class Recogniser(ABC):
    """A way to tell participants apart; a frozen dataclass of parameters, with a trained model behind it where needed.

    Attributes:
        name: By which it is found.
        sees: What it looks at beside velocities, for the tables: any of ``pupil``, ``position`` and ``geometry``.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def sees(self) -> frozenset[str]:
        """What it looks at beyond velocity: ``pupil``, ``position``, ``geometry``, or nothing."""

    @abstractmethod
    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Learn the participants of the reference trials. Nothing is learnt from queries."""

    def trained_on(self, strangers: Sequence[Trial], seed: int = 1) -> Recogniser:
        """Return the recogniser after its model was trained further on other participants; without a model, itself."""
        return self


ATTACKS: Registry[type[Attack]] = Registry("attack", "gazeveil.lab.attacks.threats")
RECOGNISERS: Registry[type[Recogniser]] = Registry("recogniser", "gazeveil.lab.attacks.recognisers")
