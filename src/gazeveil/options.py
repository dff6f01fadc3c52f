# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Options of mechanisms, declared once: a dataclass's field has name, default and bounds, its docstring the help.

`setting` marks a field as an option. `check_settings` refuses what is out of bounds, `settings_of` reads the
declaration: the command line's options, their defaults and their help are made from it (``python -m tools.generate``).
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields
from numbers import Integral, Real
from typing import Any

from gazeveil.errors import OptionError

_KEY = "setting"
_KINDS = {"float": Real, "int": Integral}
_TEXTS = {"Number", "Fraction", "str", "Detector", "Eyes", "tuple[float, float]"}
"""Types that the command line reads as text."""


@dataclass(frozen=True, slots=True)
class Declared:
    """How an option may be set.

    Attributes:
        option: The option; empty for the field's own name.
        above: A bound that must be exceeded.
        least: The least value.
        most: The greatest value.
        below: A bound that must not be reached.
        names: The kind of names that it takes.
        metavar: How help writes its value, if not by its type.
    """

    option: str = ""
    above: float | None = None
    least: float | None = None
    most: float | None = None
    below: float | None = None
    names: str = ""
    metavar: str = ""

    def allows(self, value: Any) -> bool:
        """Whether a number is within the bounds."""
        return (
            not isinstance(value, bool)
            and math.isfinite(value)
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def bounds(self) -> str:
        """Return the bounds in words."""
        low = "a positive number" if self.above == 0 else "a number" if self.least is None else ""
        if self.least is not None:
            low = f"at least {self.least:,}"
        ends = [f"at most {self.most:,}"] if self.most is not None else []
        ends += [f"below {self.below:,}"] if self.below is not None else []
        return " and ".join([low, *ends])


@dataclass(frozen=True, slots=True)
class Setting:
    """One option of a mechanism.

    Attributes:
        name: The field.
        option: The option of the command line.
        type: ``text``, ``float``, ``int`` or ``bool``.
        words: What it means: the first sentence about it in its class's docstring.
        default: Its default; ``...`` if it must be given.
        names: The kind of names that it takes.
        metavar: How help writes its value, if not by its type.
    """

    name: str
    option: str
    type: str
    words: str
    default: Any = ...
    names: str = ""
    metavar: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the setting as plain values, without empty ones."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not ... and value != ""}


def setting(default: Any = MISSING, **declared: Any) -> Any:
    """Return a dataclass's field that users set; ``declared`` are fields of `Declared`."""
    return field(default=default, metadata={_KEY: Declared(**declared)})


def check_settings(mechanism: Any) -> None:
    """Check that the numbers of a mechanism are within their declared bounds.

    Raises:
        OptionError: If one is not; with what was expected and found, and what the setting means.
    """
    for each in fields(mechanism):
        declared, value = each.metadata.get(_KEY), getattr(mechanism, each.name)
        kind = _KINDS.get(str(each.type).removesuffix(" | None"))
        if declared is None or value is None or kind is None:
            continue
        if not isinstance(value, kind) or not declared.allows(value):
            whole = "a whole number, " if kind is Integral else ""
            raise OptionError(
                f"{each.name} must be {whole}{declared.bounds()}, not {value!r}",
                hint=f"{option_of(each)}: {words_of(type(mechanism)).get(each.name, '')}",
            )


def option_of(each: Any) -> str:
    """Return the option of a field."""
    declared = each.metadata[_KEY]
    return declared.option or f"--{each.name.replace('_', '-')}"


def words_of(kind: type) -> dict[str, str]:
    """Return the first sentence about each attribute in the docstrings of a class and its bases."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        section = re.search(r"^Attributes:\n(.*?)(?=^\S|\Z)", inspect.cleandoc(base.__doc__ or ""), re.M | re.S)
        for name, text in re.findall(r"^    (\w+): (.*(?:\n        .*)*)", section[1] if section else "", re.M):
            found[name] = re.split(r"(?<=\.)\s", " ".join(text.split()))[0]
    return found


def settings_of(kind: type) -> Iterator[Setting]:
    """Yield the options of a mechanism."""
    words = words_of(kind)
    for each in fields(kind):
        declared = each.metadata.get(_KEY)
        if declared is None:
            continue
        plain = str(each.type).removesuffix(" | None")
        yield Setting(
            each.name,
            option_of(each),
            "text" if plain in _TEXTS else plain,
            words[each.name],
            ... if each.default is MISSING else each.default,
            declared.names,
            declared.metavar,
        )
