# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What an app was shown lately, as a file that a participant can keep.

The numbers that its socket carried, no others.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gazeveil.errors import InputError, closest
from gazeveil.gateway._hub_seat import Received
from gazeveil.gateway.plane import Plane
from gazeveil.geometry import Unit

COLUMNS: Final = ("kind", "t", "x", "y", "duration", "area")
KINDS: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@dataclass(frozen=True, slots=True)
class Export:
    """A file.

    Attributes:
        name: How it is called.
        kind: Its media type.
        content: What is in it.
    """

    name: str
    kind: str
    content: bytes


def exported(app: str, things: Sequence[Received], plane: Plane, form: str) -> Export:
    """Return what an app was shown.

    Places are shares of the viewing plane, or degrees where the viewing plane is in degrees.

    Raises:
        InputError: If there is no such form.
    """
    if form not in KINDS:
        raise InputError(f"there is no format {form!r}", hint=closest(form, KINDS))
    unit = Unit.DEGREE if plane.geometry.unit is Unit.DEGREE else Unit.FRACTION
    rows = [_row(thing, plane, unit) for thing in things]
    if form == "json":
        text = json.dumps({"app": app, "unit": str(unit), "received": rows}, ensure_ascii=False)
    else:
        out = io.StringIO()
        writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = out.getvalue()
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", app).strip("-") or "app"
    return Export(f"{name}-received.{form}", KINDS[form], text.encode())


def _row(thing: Received, plane: Plane, unit: Unit) -> dict[str, Any]:
    if len(thing) == 2:
        return {"kind": "hit", "t": round(thing[0], 6), "area": thing[1] or None}
    x, y = (thing[1], thing[2]) if unit is Unit.DEGREE else plane.to_fraction(thing[1], thing[2])
    there = math.isfinite(x + y)
    row = {"t": round(thing[0], 6), "x": round(x, 6) if there else None, "y": round(y, 6) if there else None}
    if len(thing) == 3:
        return {"kind": "sample", **row}
    return {"kind": "fixation", **row, "duration": round(thing[3], 6)}
