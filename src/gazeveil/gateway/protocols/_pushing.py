# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a sender of gaze says, whatever carries its texts: the token first, then samples.

The first text is ``{"token": …}``, and the answer ``{"ok": true}``. Every further text is one sample
``{"t": seconds, "x": share, "y": share}`` or a list of them; ``null`` for both x and y where gaze is missing. Anything
else ends the conversation with a message that says what was expected, and never quotes what came.

A unit other than seconds would be noticed nowhere else, so the first samples are compared with the machine's clock, and
none is used before they fit.
"""

from __future__ import annotations

import hmac
import json
import math
from typing import Any, Final, NoReturn

from gazeveil.errors import WireError
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.protocol import Gate
from gazeveil.gateway.protocols._numbers import MOST_SECONDS
from gazeveil.gateway.sample import RawSample

MOST_SAMPLES: Final = 1024
"""In one text."""
MOST_A_SECOND: Final = 4_000
"""Samples or texts, whichever are more; for `BURST_S` more may come at once, after a network stood still."""
MOST_BYTES_A_SECOND: Final = 1 << 19
BURST_S: Final = 4.0
FURTHEST: Final = 1.0
"""By how much of the screen's size a point may lie beyond its edges."""
CHECKED_S: Final = 0.5
"""How long the first samples are compared with the machine's clock."""
CHECKED_SAMPLES: Final = 3
LEAST_PACE, MOST_PACE = 0.2, 5.0
"""Seconds of a sender's time that a second may last: a network that stalls looks like that, another unit does not."""
_UNITS: Final = (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))

BAD_DATA: Final = 1007
POLICY: Final = 1008
LATER: Final = 1013
"""Close codes of WebSocket, which say for any carrier of what kind a refusal is."""


class PushRefused(WireError):  # noqa: N818
    """A sender broke the rules.

    Attributes:
        kind: ``token``, ``sender``, ``rate``, ``time`` or ``samples``.
        code: The close code.
    """

    def __init__(self, kind: str, message: str, hint: str = "", code: int = BAD_DATA) -> None:
        super().__init__(message, hint=hint)
        self.kind, self.code = kind, code

    def told(self) -> str:
        """Return the text for the sender."""
        return json.dumps({"error": self.kind, "message": self.message, "hint": self.hint})


class Allowance:
    """So much a second, and what was not used for a few seconds."""

    __slots__ = ("_left", "_most", "_rate", "_seen")

    def __init__(self, rate: float, now: float) -> None:
        self._rate, self._most, self._left, self._seen = rate, rate * BURST_S, rate * BURST_S, now

    def spend(self, amount: float, now: float) -> bool:
        """Use some of it, and tell whether there was enough."""
        self._left = min(self._most, self._left + self._rate * max(now - self._seen, 0.0))
        self._seen = now
        self._left -= amount
        return self._left >= 0.0


class TimeBase:
    """Compares a sender's time with the machine's until they fit or do not.

    Attributes:
        fits: Whether they do; samples before that are not used.
    """

    __slots__ = ("_begun", "_first", "_seen", "fits")

    def __init__(self) -> None:
        self.fits = False
        self._begun = self._first = math.nan
        self._seen = 0

    def saw(self, t: float, samples: int, now: float) -> bool:
        """Take the last time of a text, and tell whether it fits.

        Raises:
            PushRefused: If the sender's time does not go on like seconds.
        """
        if math.isnan(self._begun):
            self._begun, self._first = now, t
        self._seen += samples
        passed = now - self._begun
        if passed < CHECKED_S or self._seen < CHECKED_SAMPLES:
            return False
        pace = (t - self._first) / passed
        if LEAST_PACE <= pace <= MOST_PACE:
            self.fits = True
            return True
        for unit, one in _UNITS:
            if LEAST_PACE <= pace / one <= MOST_PACE:
                raise PushRefused("time", f"t looks like {unit}", f"send seconds: divide t by {one:,.0f}")
        if pace <= 0.0:
            raise PushRefused("time", "t does not go on", "t is the time of the sample in seconds, and grows")
        raise PushRefused(
            "time",
            f"t goes on by {pace:.3g} seconds in one second",
            "send samples when they are made, with t in seconds",
        )


class Conversation:
    """One sender, from its first text to its last.

    Attributes:
        admitted: Whether it has shown the token and was let in.
        answer: What is to be answered to the last text; empty for nothing.
    """

    def __init__(self, plane: Plane, gate: Gate) -> None:
        self._plane, self._gate = plane, gate
        self._time = TimeBase()
        self._allowance: Allowance | None = None
        self.admitted = False
        self.answer = ""

    def heard(self, text: str, now: float) -> list[RawSample]:
        """Take one text and return the samples that may be used.

        Raises:
            PushRefused: If it is not what the rules say; the conversation is over.
        """
        self.answer = ""
        if not self.admitted:
            self._let_in(text)
            return []
        told = _parsed(text, "samples", _EXPECTED)
        samples = told if type(told) is list else [told]
        if not 1 <= len(samples) <= MOST_SAMPLES:
            raise PushRefused("samples", f"a list must have 1 to {MOST_SAMPLES:,} samples")
        if self._allowance is None:
            self._allowance = Allowance(MOST_A_SECOND, now)
        if not self._allowance.spend(len(samples), now):
            raise PushRefused("rate", f"more than {MOST_A_SECOND:,} samples a second", code=POLICY)
        found = [self._sample(one) for one in samples]
        return found if self._time.fits or self._time.saw(found[-1].t, len(found), now) else []

    def _let_in(self, text: str) -> None:
        told = _parsed(text, "token", _TOKEN_FIRST, POLICY)
        if type(told) is not dict or set(told) != {"token"} or type(told["token"]) is not str:
            raise PushRefused("token", _TOKEN_FIRST, _TOKEN_HINT, POLICY)
        if not hmac.compare_digest(told["token"].encode(errors="replace"), self._gate.token.encode()):
            raise PushRefused("token", "this is not the token", _TOKEN_HINT, POLICY)
        if why := self._gate.enter():
            raise PushRefused("sender", why, "one sender at a time: close the other one, or try again later", LATER)
        self.admitted = True
        self.answer = '{"ok": true}'

    def _sample(self, told: Any) -> RawSample:
        if type(told) is not dict or len(told) != 3 or not told.keys() >= _FIELDS:
            raise PushRefused("samples", "a sample must have t, x and y, and nothing else", _EXPECTED)
        t, x, y = told["t"], told["x"], told["y"]
        if not _is_number(t) or not -MOST_SECONDS <= t <= MOST_SECONDS:
            raise PushRefused("samples", "t must be a time in seconds", "divide milliseconds by 1,000")
        if x is None and y is None:
            return RawSample(float(t), math.nan, math.nan)
        for value in (x, y):
            if not _is_number(value) or not -FURTHEST <= value <= 1.0 + FURTHEST:
                raise PushRefused("samples", f"x and y must be from {-FURTHEST:g} to {1 + FURTHEST:g}", _EXPECTED)
        return RawSample(float(t), *self._plane.from_fraction(float(x), float(y)))


_FIELDS: Final = {"t", "x", "y"}
_EXPECTED: Final = "shares of the screen from its top left corner, 0 to 1 on it; null for both where gaze is missing"
_TOKEN_FIRST: Final = "the first message must be the token"  # noqa: S105  (words)
_TOKEN_HINT: Final = 'send {"token": "…"} first; it is in the token_file of the policy'  # noqa: S105  (words)


def _is_number(value: Any) -> bool:
    return type(value) is float or type(value) is int  # true and false are none


def _parsed(text: str, kind: str, hint: str, code: int = BAD_DATA) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise PushRefused(kind, "a message is not JSON", hint, code) from None


def _no_constant(_: str) -> NoReturn:
    raise ValueError("JSON has no such number")
