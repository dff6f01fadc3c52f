# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``[tracker.fields]`` of a policy: how a tracker calls and counts things."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final

from gazeveil.gateway.fields import ARRIVAL, DROP, REFUSE, TIME_NAME, TIMES, UNITS, Fields
from gazeveil.gateway.policy import MOUSE
from gazeveil.gateway.protocol import PROTOCOLS
from gazeveil.gateway.sample import BESIDE
from gazeveil.gaze.conventions import AXES, FRAMES
from gazeveil.geometry import Geometry
from gazeveil.samples.space import FULL_TURN
from gazeveil.toml_table import Table, told

_PART: Final = r"(?:0|[1-9]\d{0,3}|(?!\d+(?:\.|$))[^.\s]+)"
_PATH: Final = re.compile(rf"{_PART}(?:\.{_PART}){{0,7}}")
_LABEL: Final = re.compile(r".+")


def fields_in(table: Table, protocol: str, kinds: tuple[str, ...]) -> Fields:
    """Return the fields of a tracker.

    Raises:
        FileFormatError: If they are wrong, or this tracker has none.
    """
    able = [one.name for one in PROTOCOLS if one.fields]
    if protocol not in able:
        raise table.wrong("fields", f"no fields, or one of the protocols {', '.join(able)}", f"the protocol {protocol}")
    if MOUSE in kinds:
        raise table.wrong("fields", "no fields beside the mouse, which is sent in its own words", "both")
    kind = PROTOCOLS[protocol]
    inner = table.table("fields")
    is_stream = kind.transport == "lsl"
    time, t, valid = ARRIVAL if is_stream else "s", "", ""
    if not is_stream:
        time = inner.choice("time", (*TIMES, ARRIVAL), "s")
        if time != ARRIVAL:
            t = _name(inner, "t", TIME_NAME)
        elif "t" in inner:
            raise inner.wrong("t", "no field for the time, since it is that of arrival", told(inner.values["t"]))
        valid = _name(inner, "valid", "")
    fields = Fields(
        t=t,
        valid=valid,
        time=time,
        others=inner.choice("others", (REFUSE, DROP), REFUSE) if kind.listener is not None else DROP,
        **_gaze(inner, _LABEL if is_stream else _PATH),
        **({} if is_stream else _vectors(inner)),
    )
    inner.done()
    names = sorted(fields.names)
    for one, other in pairwise(names):
        if other == one or other.startswith(f"{one}."):
            raise table.wrong("fields", "a field of its own for each", f"{one!r} and {other!r}")
    return fields


def check_frame(table: Table, fields: Fields, geometry: Geometry) -> None:
    """Refuse directions in the world's frame on a viewing plane that does not go all around.

    Raises:
        FileFormatError: If the viewing plane is smaller.
    """
    if fields.frame == "world" and geometry.fov_x_deg != FULL_TURN:
        raise table.wrong(
            "headset",
            "a field of 360 x 180 degrees, since directions in the world's frame go all around",
            str(geometry),
            "headset = { fov_x_deg = 360, fov_y_deg = 180 }",
        )


def _gaze(table: Table, form: re.Pattern[str]) -> dict[str, Any]:
    """Return the fields that hold gaze: two numbers, or one direction."""
    if "direction" not in table:
        return {
            "x": _name(table, "x", "x", form),
            "y": _name(table, "y", "y", form),
            "unit": table.choice("unit", tuple(UNITS), "norm"),
            "up": table.choice("y_grows", ("down", "up"), "down") == "up",
        }
    for key in ("x", "y", "unit", "y_grows"):
        if key in table:
            raise table.wrong(key, "no such field beside a direction, which has axes", told(table.values[key]))
    return {"unit": "deg"}


def _vectors(table: Table) -> dict[str, Any]:
    """Return the fields of headsets."""
    found = {key: _name(table, key, "") for key in ("direction", *BESIDE)}
    if any(found.values()):
        found["axes"] = table.choice("axes", tuple(AXES), "gazeveil")
    if found["direction"]:
        found["frame"] = table.choice("frame", tuple(FRAMES), "head")
    return found


def _name(table: Table, key: str, default: str, form: re.Pattern[str] = _PATH) -> str:
    expected = "the name of a field, such as gaze.x, or gaze.0 for the first of a list"
    name: str = table.text(key, default, expected)
    if key in table and (len(name) > 200 or not form.fullmatch(name)):
        raise table.wrong(key, expected, told(name))
    return name
