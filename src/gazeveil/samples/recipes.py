# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from what a user writes: the papers' settings by name, ``key=value`` pairs, or a file.

``lphu``, ``mpmu`` and ``hplu`` are Kaleido's (low, medium, high privacy; erratum K11), with our ``clock`` instead of
its algorithm. The paper takes the radius from the scene. Without a scene ours is public: 60 and 300 px on a screen
1280 px wide, and in proportion on others; 2.25 and 11.25 degrees where gaze is in degrees.

``…-low`` and ``…-high`` are Wilson's strengths of section 4; its temporal downsampling was not used there, so
``temporal-high`` is the strongest that it measured (K = 30), ``temporal-low`` is ours.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, get_type_hints

from gazeveil.errors import FileFormatError, OptionError, UnknownName, closest
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, mechanism_from_dict
from gazeveil.samples.space import Length, Space, Sphere, read_length, space_from_dict

WIDTH = 1280.0
PER_DEGREE = 80 / 3
SMALL, LARGE = 60.0, 300.0
"""Radii in pixels of a screen `WIDTH` wide, with `PER_DEGREE` pixels to a degree."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A mechanism's name and parameters; ``radius`` is in pixels of a screen `WIDTH` wide."""

    mechanism: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    radius: float | None = None

    def mechanism_in(self, space: Space, **changes: Any) -> SampleMechanism:
        """Return the mechanism in a space; ``changes`` win over the preset's own parameters."""
        given = {**self.parameters, **changes}
        if self.radius is not None:
            per_unit = PER_DEGREE if isinstance(space, Sphere) else WIDTH / space.size[0]
            given.setdefault("radius", self.radius / per_unit)
        return MECHANISMS[self.mechanism](space, **given)


PRESETS: dict[str, Preset] = {
    "lphu": Preset("clock", {"epsilon": 3, "window": "0.5"}, SMALL),
    "mpmu": Preset("clock", {"epsilon": "1.5", "window": "1.5"}, SMALL),
    "hplu": Preset("clock", {"epsilon": "0.5", "window": 2}, LARGE),
    "gaussian-low": Preset("gaussian", {"sigma": 1.0}),
    "gaussian-high": Preset("gaussian", {"sigma": 3.0}),
    "temporal-low": Preset("temporal", {"keep_every": 5}),
    "temporal-high": Preset("temporal", {"keep_every": 30}),
    "spatial-low": Preset("spatial", {"factor": 48.0}),
    "spatial-high": Preset("spatial", {"factor": 144.0}),
    "smoothing-low": Preset("smoothing", {"window": 50}),
    "smoothing-high": Preset("smoothing", {"window": 150}),
}


def find_preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises:
        UnknownName: If there is no such preset.
    """
    if name not in PRESETS:
        raise UnknownName(f"no preset is called {name!r}", hint=closest(name, PRESETS))
    return PRESETS[name]


def preset(name: str, space: Space, **changes: Any) -> SampleMechanism:
    """Return the mechanism of a preset in a space; ``changes`` win over the preset's own parameters.

    Raises:
        UnknownName: If there is no such preset.
    """
    return find_preset(name).mechanism_in(space, **changes)


# --- ``key=value`` pairs, and files that leave the space open.


_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def parameters(name: str, texts: Mapping[str, str], *, complete: bool = True) -> dict[str, Any]:
    """Return a mechanism's parameters from text, each read as its field's type.

    If ``complete``, all that have no default must be there.

    Raises:
        OptionError: If one is unknown, missing or not of its type.
    """
    kind = MECHANISMS[name]
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind) if field.name != "space"}
    if unknown := sorted(texts.keys() - known.keys()):
        raise OptionError(f"{name} has no parameter {unknown[0]!r}", hint=closest(unknown[0], sorted(known)))
    missing = [
        key
        for key, field in known.items()
        if key not in texts and field.default is MISSING and field.default_factory is MISSING
    ]
    if missing and complete:
        raise OptionError(
            f"{name} needs {', '.join(missing)}", hint=f"give --set {missing[0]}=… or an option of its own"
        )
    return {key: _value(name, key, text, hints[key]) for key, text in texts.items()}


def read_recipe(path: Path) -> dict[str, Any]:
    """Return a mechanism as plain values from a JSON or TOML file.

    Raises:
        FileFormatError: If the file is not there, or neither JSON nor TOML, or no mechanism.
    """
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(path, expected="a mechanism as JSON or TOML", found=str(error)) from None
    if not isinstance(values, dict) or not isinstance(values.get("mechanism"), str):
        raise FileFormatError(
            path, expected="a mechanism as JSON or TOML", found="no key 'mechanism'", hint='mechanism = "spatial", …'
        )
    return values


def from_recipe(values: Mapping[str, Any], space: Space) -> SampleMechanism:
    """Return the mechanism that a recipe describes, in a space; a space that the recipe names itself stays.

    Raises:
        OptionError: If the values do not describe a mechanism.
    """
    return mechanism_from_dict(_with_space(values, space.to_dict()))


def with_lengths(name: str, values: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """Return a mechanism's parameters with the lengths that a user wrote, in the unit of a space.

    Raises:
        OptionError: If a length has no unit, or one that does not fit.
    """
    in_own_unit = get_type_hints(MECHANISMS[name]).get("radius") is Fraction  # others are angles everywhere
    written = {"radius": read_length(values["radius"], space)} if in_own_unit and "radius" in values else {}
    return {**values, **written}


def _with_space(values: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, Any]:
    filled = {"space": dict(space), **values}
    if isinstance(filled.get("mechanism"), str) and isinstance(filled["space"], Mapping):
        filled = with_lengths(filled["mechanism"], filled, space_from_dict(filled["space"]))
    members = filled.get("members")
    if isinstance(members, list | tuple):
        filled["members"] = [
            _with_space(member, space) if isinstance(member, Mapping) else member for member in members
        ]
    return filled


def _value(name: str, key: str, text: str, hint: Any) -> Any:
    try:
        if hint is bool:
            return _TRUTH[text.lower()]
        if hint is int:
            return int(text)
        if hint is float:
            return text if text.endswith("deg") else float(text)
    except (KeyError, ValueError):
        expected = {bool: "true or false", int: "a whole number", float: "a number"}[hint]
        raise OptionError(f"{key} of {name} must be {expected}, not {text!r}") from None
    if key == "radius":
        Length.of(text)  # whether the unit fits is known once the space is
    if hint is str or hint is Fraction:  # exact numbers are read from text
        return text
    raise OptionError(f"{key} of {name} cannot be given on the command line", hint="write it to a file, see --recipe")
