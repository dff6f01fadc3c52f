# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How often participants were identified behind a veil, as measured: one packaged table.

A guarantee about windows of gaze says nothing about who a participant is. What can be stated instead is what known
attackers achieved. Statements, the gateway and the advice of a plan look it up here, so they agree.

For a level that was not measured, the nearest measured one that is no stronger in any of its numbers is taken, and
named; where there is none, what was measured without a veil. No number is ever taken from a stronger level.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from gazeveil.errors import FileFormatError, GazeveilError, InputError
from gazeveil.files import replacing
from gazeveil.samples.mechanism import PRIVACY_LEVEL, SampleMechanism, mechanism_from_dict
from gazeveil.samples.mechanisms.chain import Chain
from gazeveil.samples.space import Sphere
from gazeveil.samples.stream import StreamMechanism

PACKAGED: Final = Path(__file__).with_name("identification.json")
_FORMAT: Final = "gazeveil-identification"
_LESS_IS_WEAKER: Final = {"gaussian": "sigma", "spatial": "factor", "smoothing": "window", "temporal": "keep_every"}
_ANY_RATE: Final = {"spatial"}
"""Mechanisms without a guarantee whose output does not depend on how many samples a second there are."""
_SAME_RATE: Final = 1.01
_ON_DIRECTIONS: Final = 1.5
"""Noise on directions has three dimensions, on a screen two: at the same guarantee, that on a screen hides less.

With ε half as large again, the part of the former that can be seen is smaller than the latter at any quantile.
"""

Relation = Literal["measured", "nearest", "no veil"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One measurement: how often an attacker identified participants behind a veil at one level.

    Attributes:
        veil: The veil as plain values (a recipe with its space); None for none.
        attack: What was done against the veil; empty for nothing.
        threat_model: What the attack is granted, in words.
        recogniser: Who tells participants apart.
        sees: What it looks at beside movement.
        decided: How it decides: by the windows' ``vote``, or by the highest ``mean score``.
        data: Whose gaze it is.
        people: How many participants; guessing is right once in this many attempts.
        chance: The share of attempts in which guessing is right.
        rate: The share of attempts in which the attacker was right.
        interval: Where that share lies with 95 % confidence, over participants resampled.
        seconds: How much gaze of a participant the attacker got from behind the veil.
        known: From how much gaze without a veil the attacker knew everyone, in words.
        rate_hz: How many samples a second there were, about.
        software: What measured it.
        date: When.
        command: How.
    """

    veil: dict[str, Any] | None
    attack: str
    threat_model: str
    recogniser: str
    sees: tuple[str, ...]
    decided: str
    data: str
    people: int
    chance: float
    rate: float
    interval: tuple[float, float]
    seconds: float
    known: str
    rate_hz: float
    software: str
    date: str
    command: str

    @property
    def mechanism(self) -> SampleMechanism | None:
        """The veil; None for none."""
        return None if self.veil is None else _mechanism(json.dumps(self.veil))

    @property
    def setting(self) -> tuple[Any, ...]:
        """What a measurement without a veil shares with one behind a veil."""
        return self.data, self.recogniser, self.sees, self.seconds, self.known

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(self) | {"sees": list(self.sees), "interval": list(self.interval)}

    def in_words(self) -> str:
        """Say what came out, but not behind which veil."""
        low, high = (f"{100 * end:.0f}" for end in self.interval)
        return (
            f"the strongest attacker that we tried knew {self.known} of each of {self.people} participants. It then "
            f"got {self.seconds:g} s of one of them, and identified them in {100 * self.rate:.0f} of 100 attempts "
            f"(95 % interval {low} to {high}; guessing is right in {100 * self.chance:.0f})"
        )


@dataclass(frozen=True, slots=True)
class Identification:
    """What is known about identification behind one veil.

    Attributes:
        relation: Whether this level was measured, the nearest that is no stronger, or only gaze without a veil.
        row: The strongest attacker there, chosen after the fact.
        bare: The same attacker without a veil, where that was measured.
        version: The version of the table.
    """

    relation: Relation
    row: Measured
    bare: Measured | None
    version: int

    def warning(self) -> str:
        """Say it where no statement says what is not protected."""
        return f"Who you are is not protected. {self.in_words()}"

    def in_words(self) -> str:
        """Say it in plain words, for a participant."""
        if self.relation == "no veil":
            said = (
                "How often participants are identified behind this mechanism at this level was not measured. In our "
                f"tests on raw gaze, {self.row.in_words()}."
            )
        else:
            where = "behind this mechanism at this level"
            if self.relation == "nearest":
                where = f"behind the nearest level measured that is no stronger, {_level_in_words(self.row)}"
            opening = "This level was not measured. In our tests" if self.relation == "nearest" else "In our tests"
            without = "" if self.bare is None else f" On raw gaze it was right in {100 * self.bare.rate:.0f}."
            said = f"{opening}, {where}, {self.row.in_words()}.{without}"
        return f"{said} This is what known attackers achieved, not a bound: others, or more gaze, may achieve more."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        bare = None if self.bare is None else self.bare.to_dict()
        return {"relation": self.relation, "row": self.row.to_dict(), "bare": bare, "version": self.version}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Identification:
        """Return what `to_dict` wrote.

        Raises:
            KeyError, TypeError, ValueError: If it is something else.
        """
        if values["relation"] not in ("measured", "nearest", "no veil"):
            raise ValueError("no such relation")
        bare = None if values["bare"] is None else _row(values["bare"])
        return Identification(values["relation"], _row(values["row"]), bare, int(values["version"]))


@dataclass(frozen=True, slots=True)
class IdentificationTable:
    """All measurements, and the table's version, which grows with every change."""

    version: int
    rows: tuple[Measured, ...]

    def look_up(self, mechanism: SampleMechanism, rate_hz: float | None = None) -> Identification:
        """Return what is known about a veil: the strongest attacker at this level, or at the nearest no stronger one.

        Args:
            mechanism: The veil.
            rate_hz: How many samples a second it gets; without it, veils that depend on it count as not measured.

        Raises:
            InputError: If the table holds nothing measured without a veil.
        """
        first = mechanism
        while isinstance(first, Chain):  # what comes after the first member protects no less
            first = first.members[0]
        levels: dict[float, list[Measured]] = {}
        for row in self.rows:
            far = math.inf if row.mechanism is None else _distance(row, row.mechanism, first, rate_hz)
            if row.mechanism is None or far < math.inf:
                levels.setdefault(far, []).append(row)
        if not levels:
            raise InputError("the table holds nothing that was measured on raw gaze")
        nearest = min(levels)
        row = max(levels[nearest], key=lambda each: each.rate)
        relation: Relation = "no veil" if nearest == math.inf else "nearest"
        if nearest == 0 and first is mechanism and _ticks(row.mechanism) == _ticks(first):
            relation = "measured"
        alike = [each for each in self.rows if each.veil is None and each.setting == row.setting]
        bare = max(alike, key=lambda each: each.rate, default=None) if relation != "no veil" else None
        return Identification(relation, row, bare, self.version)

    def worst(self, mechanisms: Iterable[SampleMechanism], rate_hz: float | None = None) -> Identification:
        """Return what is known about the weakest of some veils."""
        return max((self.look_up(each, rate_hz) for each in mechanisms), key=lambda found: found.row.rate)

    def with_rows(self, rows: Iterable[Measured]) -> IdentificationTable:
        """Return the table's next version; a row replaces an older one that was measured in the same way."""
        kept = {_key(row): row for row in (*self.rows, *rows)}
        return IdentificationTable(self.version + 1, tuple(sorted(kept.values(), key=_key)))

    def save(self, path: Path) -> None:
        """Write the table, one row a line."""
        lines = ",\n".join(json.dumps(row.to_dict(), ensure_ascii=False) for row in self.rows)
        with replacing(path) as file:
            file.write_text(
                f'{{"format": "{_FORMAT}", "version": {self.version}, "rows": [\n{lines}\n]}}\n',
                encoding="utf-8",
                newline="\n",
            )


@cache
def _mechanism(recipe: str) -> SampleMechanism:
    """Return the mechanism of a recipe; a gateway's status asks for all of them again and again."""
    return mechanism_from_dict(json.loads(recipe))


@cache
def table() -> IdentificationTable:
    """Return the packaged table."""
    return read_table(PACKAGED)


def read_table(path: Path) -> IdentificationTable:
    """Return a table from its file.

    Raises:
        FileFormatError: If it is not there, or a row is incomplete or contradicts itself.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["format"] != _FORMAT:
            raise ValueError(f"format {values['format']!r}")
        return IdentificationTable(int(values["version"]), tuple(_row(row) for row in values["rows"]))
    except (OSError, ValueError, KeyError, TypeError, GazeveilError) as error:
        raise FileFormatError(path, expected="a table of identification", found=str(error)) from None


def row_of(judged: Mapping[str, Any], *, software: str, date: str, command: str) -> Measured:
    """Return the row of one judgement, as ``gazeveil lab attack run --json`` prints it.

    The attacker decides as it does best, by vote or by mean score.

    Raises:
        InputError: If it is no judgement, or one of no certain length.
    """
    try:
        ways = {"vote": ("accuracy", "accuracy_interval"), "mean score": ("pooled_accuracy", "pooled_interval")}
        decided = max(ways, key=lambda way: float(judged[ways[way][0]]))
        rate, interval = (judged[name] for name in ways[decided])
        seconds, folds = judged["seconds"], int(judged["folds"])
        sessions = 1 if judged["enrolled"] == "one" else folds - 1
        return _row(
            {
                "veil": judged["recipe"],
                **{name: judged[name] for name in ("attack", "threat_model", "recogniser", "sees", "data", "people")},
                "decided": decided,
                "chance": judged["chance"],
                "rate": round(rate, 4),
                "interval": [math.floor(1e4 * interval[0]) / 1e4, math.ceil(1e4 * interval[1]) / 1e4],
                "seconds": seconds,
                "known": f"{seconds:g} s from {_sessions(sessions)}",
                "rate_hz": judged["rate_hz"],
                "software": software,
                "date": date,
                "command": command,
            }
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"this is no judgement with all that a row needs: {error}",
            hint="write one with: gazeveil lab attack run --seconds … --json",
        ) from None


def _distance(row: Measured, measured: SampleMechanism, wanted: SampleMechanism, rate_hz: float | None) -> float:
    """Return how far a measured level is below the wanted one; infinite if it is not comparable, or stronger."""
    any_rate = isinstance(wanted, StreamMechanism) or wanted.name in _ANY_RATE
    if not any_rate and (rate_hz is None or rate_hz > row.rate_hz * _SAME_RATE):  # more samples show more
        return math.inf
    far = levels_apart(measured, wanted)
    return math.inf if far is None else far


def levels_apart(measured: SampleMechanism, wanted: SampleMechanism) -> float | None:
    """Return how far a measured level is below the wanted one; None if any of its numbers is stronger, or they differ.

    A level that is 0 below is the same.
    """
    steps = _steps(measured, wanted)
    return None if steps is None else math.fsum(steps)


def _steps(measured: SampleMechanism, wanted: SampleMechanism) -> list[float] | None:
    """Return by how much each number of a level is weaker, as logarithms; None if any is stronger, or they differ."""
    if measured.space.axes != wanted.space.axes or _other_parameters(measured) != _other_parameters(wanted):
        return None
    try:
        pairs = zip(_numbers(measured), _numbers(wanted), strict=True)
        steps = [math.log(more / less) for less, more in pairs]
    except GazeveilError:  # a screen of unknown size: its pixels are no degrees
        return None
    near = [0.0 if abs(step) < 1e-6 else step for step in steps]
    return near if min(near, default=0.0) >= 0 else None


def _numbers(mechanism: SampleMechanism) -> tuple[float, ...]:
    """Return the numbers of a level, such that more of each protects more."""
    if isinstance(mechanism, StreamMechanism):
        radius = float(mechanism.radius) / mechanism.space.degrees(1.0)
        noise = _ON_DIRECTIONS if isinstance(mechanism.space, Sphere) else 1.0
        return noise / float(mechanism.epsilon), float(mechanism.window), radius
    name = _LESS_IS_WEAKER.get(mechanism.name)
    return () if name is None else (float(getattr(mechanism, name)),)


def _other_parameters(mechanism: SampleMechanism) -> dict[str, Any]:
    """Return all else that a mechanism is, which must be the same."""
    level = PRIVACY_LEVEL if isinstance(mechanism, StreamMechanism) else (_LESS_IS_WEAKER.get(mechanism.name, ""),)
    return {name: value for name, value in mechanism.to_dict().items() if name not in ("space", *level)}


def _ticks(mechanism: SampleMechanism | None) -> int | None:
    """Return among how many points a window's budget is shared, which follows from the size of the space as well."""
    return getattr(mechanism, "chosen_ticks", None)


def _level_in_words(row: Measured) -> str:
    mechanism = row.mechanism
    if isinstance(mechanism, StreamMechanism):
        epsilon, window, radius = (float(each) for each in (mechanism.epsilon, mechanism.window, mechanism.radius))
        return f"{mechanism.name} with ε = {epsilon:g} for {window:g} s and {radius:g} degrees of directions"
    return "no veil" if mechanism is None else mechanism.in_words()


def _row(values: Mapping[str, Any]) -> Measured:
    """Return a row, checked: every field is there, and the numbers do not contradict one another."""
    if values.keys() != {field.name for field in fields(Measured)}:
        odd = values.keys() ^ {field.name for field in fields(Measured)}
        raise ValueError(f"missing or unknown: {', '.join(sorted(odd))}")
    low, high = map(float, values["interval"])
    row = Measured(**{**values, "sees": tuple(values["sees"]), "interval": (low, high)})
    if not 0 <= low <= row.rate <= high <= 1 or not 0 < row.chance < 1:
        raise ValueError("rate, interval and chance are shares, and the interval holds the rate")
    if row.people < 2 or not row.seconds > 0 or not row.rate_hz > 0:
        raise ValueError("participants, seconds and samples a second are above 0")
    texts = ("data", "recogniser", "decided", "threat_model", "known", "software", "date", "command")
    if empty := [name for name in texts if not getattr(row, name).strip()]:
        raise ValueError(f"{empty[0]} is empty")
    if row.mechanism is not None and row.mechanism.space.unit != "deg":
        raise ValueError("measured mechanisms are in degrees")
    return row


def _key(row: Measured) -> str:
    """Return what was measured and how, as text that sorts."""
    how = [row.veil, *row.setting, row.attack]
    return json.dumps(how, sort_keys=True)


def _sessions(count: int) -> str:
    return "one other session" if count == 1 else f"each of {count} other sessions"
