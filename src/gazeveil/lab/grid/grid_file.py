# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""grid.toml: which mechanisms at which levels, by which measures, on which data, with which seeds.

Every name is looked up before any work begins, so a slip of the pen costs seconds and not a night.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError, GazeveilError, UnknownName
from gazeveil.lab.grid.catalogue import FAMILIES, USES
from gazeveil.lab.grid.contract import Question, Role, Wanted, check_options
from gazeveil.toml_table import File, Table, lines_of, tables

_LONGEST_S = 86_400.0
_ROLES: tuple[Role, ...] = ("attack", "utility")
_PLURAL = {"attack": "attacks", "utility": "utilities"}


@dataclass(frozen=True, slots=True)
class Level:
    """One mechanism at one level.

    Attributes:
        label: What tables call the mechanism.
        level: What was swept, in words; empty if nothing was.
        strength: The first number that was swept.
        wanted: The mechanism.
    """

    label: str
    level: str
    strength: float | None
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Asked:
    """One measure, with its options."""

    role: Role
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What tables call it."""
        given = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}({given})" if given else self.name


@dataclass(frozen=True, slots=True)
class Part:
    """One use on one set of data.

    Attributes:
        use: What is published.
        corpus: The name of the data, or the folder of a corpus.
        options: Options of the data.
        levels: The mechanisms.
        measures: The attacks and utilities.
        seeds: From which all noise follows.
    """

    use: str
    corpus: str
    options: Mapping[str, Any]
    levels: tuple[Level, ...]
    measures: tuple[Asked, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """All that is asked.

    Attributes:
        name: Of the run.
        limit_s: How long one cell may take.
        parts: What to measure.
        code: Files of one's own that register mechanisms, attacks or metrics.
        text: The file as it was.
    """

    name: str
    limit_s: float
    parts: tuple[Part, ...]
    code: tuple[Path, ...] = ()
    text: str = ""


def read_grid(path: Path, code: Sequence[Path] = ()) -> Grid:
    """Read a grid.

    Args:
        path: The file.
        code: More files of one's own, beside those that it names.

    Raises:
        FileFormatError: If it is no grid, or names what is not there.
    """
    from gazeveil.lab.grid.running import load_code  # noqa: PLC0415  (only where somebody has code)

    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(path, expected="a grid as TOML", found=str(error)) from None
    file = File(path, lines_of(text))
    whole = Table(file, (), values)
    whole.any("part", [])
    own = (*(file.beside(name) for name in whole.names("with")), *code)
    load_code(own)
    seeds = _seeds(whole, (1,))
    parts = tuple(_part(each, seeds) for each in tables(file, values, "part"))
    if not parts:
        raise file.wrong((), "at least one [[part]]", "none", 'begin one with [[part]] and use = "live"')
    name = whole.text("name", path.stem)
    limit_s = whole.number("limit_s", 0.01, _LONGEST_S, 3600.0)
    whole.done()
    return Grid(name, limit_s, parts, tuple(one.resolve() for one in own), text)


def question_of(use: str, asked: Asked) -> Question:
    """Return what answers a measure.

    Raises:
        UnknownName: If no family knows it.
        OptionError: If it has no such options.
    """
    families = [family for family in FAMILIES if use in family.uses and family.role == asked.role]
    for family in families:
        if (found := family.find(asked.name, asked.options)) is not None:
            return found
    known = [name for family in families for name in family.names()]
    close = difflib.get_close_matches(asked.name, known, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    plain = [name for name in known if "+" not in name]
    more = "; attacks on mechanisms follow a plus, as in lda+white-box" if len(plain) < len(known) else ""
    raise UnknownName(
        f"no {asked.role} for {use} is called {asked.name!r}", hint=f"{guess}known: {', '.join(plain)}{more}"
    )


def _part(table: Table, seeds: tuple[int, ...]) -> Part:
    use = table.choice("use", sorted(USES))
    corpus = table.text("corpus", expected="the name of a set of data, or the folder of a corpus")
    measures = tuple(_asked(table, use, role, entry) for role in _ROLES for entry in table.any(_PLURAL[role], []))
    mechanisms = table.table("mechanisms", expected="a table of mechanisms, such as none = {}")
    levels = tuple(level for label in mechanisms.values for level in _levels(mechanisms, use, label))
    if not measures or not levels:
        lacking = "mechanisms" if measures else "attacks"
        raise table.wrong(lacking, "at least one of them", "none")
    own_seeds = _seeds(table, seeds)
    known = {"use", "corpus", "attacks", "utilities", "mechanisms", "seeds"}
    options = {key: table.any(key) for key in table.values if key not in known}
    folder = table.file.beside(corpus)
    sources = USES[use].sources
    if corpus not in sources and not folder.is_dir():
        close = difflib.get_close_matches(corpus, sorted(sources), n=1)
        guess = f"did you mean {close[0]!r}? " if close else ""
        expected = f"one of {', '.join(sorted(sources))}, or a folder"
        raise table.wrong("corpus", expected, repr(corpus), f"{guess}folders are found from where {table.file.path} is")
    name = corpus if corpus in sources else str(folder.resolve())
    try:
        check_options(corpus, options, sources[corpus].options() if corpus in sources else ["people"])
    except GazeveilError as error:
        raise table.because("corpus", "options of the data", error) from None
    return Part(use, name, options, levels, measures, own_seeds)


def _asked(table: Table, use: str, role: Role, entry: object) -> Asked:
    match entry:
        case str():
            asked = Asked(role, entry)
        case {"name": str(name), **options}:
            asked = Asked(role, name, {str(key): value for key, value in options.items()})
        case _:
            raise table.wrong(
                _PLURAL[role], 'names, or tables such as { name = "membership", releases = 100 }', repr(entry)
            )
    try:
        question_of(use, asked)
    except GazeveilError as error:
        raise table.because(_PLURAL[role], f"known {_PLURAL[role]}", error) from None
    return asked


def _levels(mechanisms: Table, use: str, label: str) -> Iterator[Level]:
    given = dict(mechanisms.table(label).values)
    name = given.pop("mechanism", label)
    swept = {key: value for key, value in given.items() if isinstance(value, list) and key != "members"}
    for chosen in product(*swept.values()):
        each = dict(zip(swept, chosen, strict=True))
        wanted = Wanted(str(name), {**given, **each})
        try:
            USES[use].check(wanted)
        except GazeveilError as error:
            raise mechanisms.because(label, "a mechanism that is known", error) from None
        words = ", ".join(f"{key}={value}" for key, value in each.items())
        numbers = [number for value in chosen if (number := _number(value)) is not None]
        yield Level(label, words, numbers[0] if numbers else None, wanted)


def _number(value: object) -> float | None:
    try:
        return float(str(value).removesuffix("deg").removesuffix("px"))
    except ValueError:
        return None


def _seeds(table: Table, default: tuple[int, ...]) -> tuple[int, ...]:
    given = table.any("seeds", list(default))
    if not isinstance(given, list) or not given or not all(type(seed) is int and seed >= 0 for seed in given):
        raise table.wrong("seeds", "whole numbers from 0 up, such as [1, 2, 3]", json.dumps(given, default=str))
    return tuple(given)
