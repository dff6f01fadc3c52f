# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The EyeTribe calibration that an app may ask for: the answers it expects, without a tracker behind them.

The tracker is calibrated elsewhere, by its owner, and stays so whatever an app asks. An app that goes through all its
points is told that each was met exactly: constants, and numbers that it sent itself.
"""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway.protocols._numbers import coordinate

MOST_POINTS: Final = 64

RESULT: Final = {"result": True, "deg": 0.0, "degl": 0.0, "degr": 0.0, "calibpoints": []}

Answer = dict[str, Any]


class Calibration:
    """How far an app has come.

    Attributes:
        running: Whether it has started and not ended.
    """

    def __init__(self) -> None:
        self.running = False
        self._wanted = 0
        self._points: list[tuple[float, float]] = []
        self._at = (0.0, 0.0)

    def answer(self, request: object, values: object) -> Answer | None:
        """Return status and values for a request, None for an unknown one."""
        if request == "start":
            return self._start(values)
        if request == "pointstart":
            return self._point(values)
        if request == "pointend":
            return self._met()
        if request in ("abort", "clear"):
            self.running = False
            return {"statuscode": 200}
        return None

    def _start(self, values: object) -> Answer:
        count = coordinate(values.get("pointcount")) if isinstance(values, dict) else 0.0
        if not 1 <= count <= MOST_POINTS:
            return _wrong(f"pointcount must be between 1 and {MOST_POINTS}")
        self.running, self._wanted, self._points = True, int(count), []
        return {"statuscode": 200}

    def _point(self, values: object) -> Answer:
        x, y = (coordinate(values.get(name)) if isinstance(values, dict) else 0.0 for name in ("x", "y"))
        if x != x or y != y:  # noqa: PLR0124  (NaN)
            return _wrong("x and y must be numbers")
        self._at = x, y
        return {"statuscode": 200}

    def _met(self) -> Answer:
        values: Answer = {}  # there even when empty: clients look into it for the result
        if self.running:
            self._points.append(self._at)
            if len(self._points) == self._wanted:
                self.running = False
                values["calibresult"] = {**RESULT, "calibpoints": [_exact(x, y) for x, y in self._points]}
        return {"statuscode": 200, "values": values}


def _wrong(why: str) -> Answer:
    return {"statuscode": 400, "values": {"statusmessage": why}}


def _exact(x: float, y: float) -> Answer:
    return {
        "state": 2,
        "cp": {"x": x, "y": y},
        "mecp": {"x": x, "y": y},
        "acd": {"ad": 0.0, "adl": 0.0, "adr": 0.0},
        "mepix": {"mep": 0.0, "mepl": 0.0, "mepr": 0.0},
        "asdp": {"asd": 0.0, "asdl": 0.0, "asdr": 0.0},
    }
