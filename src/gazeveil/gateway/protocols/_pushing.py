# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a sender of gaze says, whatever carries its texts: the token first, then samples.

The first text is ``{"token": …}``, and the answer ``{"ok": true}``. Every further text is one sample
``{"t": seconds, "x": share, "y": share}`` or a list of them, with other names and units where the policy says so;
``null`` for both x and y where gaze is missing. Anything else ends the conversation with a message that says what was
expected, and never quotes what came.

Another unit than the policy's would be noticed nowhere else, so the first samples are compared with the machine's clock
and with the viewing plane, and none is used before they fit.
"""

from __future__ import annotations

import hmac
import json
import math
from typing import Any, Final, NoReturn

from gazeveil.gateway.fields import ARRIVAL, Fields
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.protocol import Gate
from gazeveil.gateway.protocols._push_refusals import BAD_DATA, LATER, POLICY, PushRefused, told
from gazeveil.gateway.protocols._pushed_samples import (
    CHECKED_S,
    CHECKED_SAMPLES,
    IN_POLICY,
    LEAST_PACE,
    MOST_PACE,
    WATCHED_S,
    Reader,
    Seen,
    time_refused,
    unit_refused,
)
from gazeveil.gateway.sample import RawSample

MOST_SAMPLES: Final = 1024
"""In one text."""
MOST_A_SECOND: Final = 4_000
"""Samples or texts, whichever are more; for `BURST_S` more may come at once, after a network stood still."""
MOST_BYTES_A_SECOND: Final = 1 << 19
BURST_S: Final = 4.0


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


class FirstLook:
    """Compares a sender's first samples with the machine's clock and with the viewing plane until they fit or do not.

    What could be a participant's gaze is never refused: looking away must not show in whether a stream begins. It is
    told in a warning, after `WATCHED_S`.

    Attributes:
        fits: Whether they do; samples before that are not used.
        warning: What looks odd: a message and a hint; empty until then.
    """

    __slots__ = ("_begun", "_fields", "_first", "_off", "_points", "_seen", "_tiny", "_watches", "fits", "warning")

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self.fits, self._watches = False, True
        self.warning: tuple[str, str] | None = None
        self._begun = self._first = math.nan
        self._seen = self._points = self._off = self._tiny = 0

    def saw(self, seen: list[Seen], now: float) -> bool:
        """Take what one text held, and tell whether it may be used.

        Raises:
            PushRefused: If the time does not go on like seconds, or the points are in another unit.
        """
        if not self._watches:
            return True
        if math.isnan(self._begun):
            self._begun, self._first = now, seen[-1].sample.t
        self._seen += len(seen)
        for one in seen:
            if not one.missing:
                self._points += 1
                self._off += not one.on_plane
                self._tiny += one.tiny
        passed = now - self._begun
        if not self.fits and passed >= CHECKED_S and self._seen >= CHECKED_SAMPLES:
            self._check(seen[-1].sample.t, passed)
            self.fits = True
        if self.fits and passed >= WATCHED_S:
            self._watches = False
            self.warning = self._odd()
        return self.fits

    def _check(self, t: float, passed: float) -> None:
        pace = (t - self._first) / passed
        if self._fields.time != ARRIVAL and not LEAST_PACE <= pace <= MOST_PACE:
            raise time_refused(self._fields, pace)
        if self._fields.unit == "px" and self._points >= CHECKED_SAMPLES and self._tiny == self._points:
            raise unit_refused(self._fields, "norm")  # within one pixel at the corner: no eye rests there

    def _odd(self) -> tuple[str, str] | None:
        if self._points < CHECKED_SAMPLES:
            return None
        if 2 * self._off > self._points:
            return (
                f"most points of the first {WATCHED_S:g} seconds are beside the screen",
                f"are unit, and up or down, right {IN_POLICY}?",
            )
        if self._fields.unit == "deg" and self._tiny == self._points:
            return "all points are from 0 to 1, as shares would be", f'if they are, write unit = "norm" {IN_POLICY}'
        return None


class Conversation:
    """One sender, from its first text to its last.

    Attributes:
        admitted: Whether it has shown the token and was let in.
        answer: What is to be answered to the last text; empty for nothing.
        remark: What the sender was warned of, for the log; empty for nothing.
    """

    def __init__(self, plane: Plane, gate: Gate, fields: Fields) -> None:
        self._gate, self._fields = gate, fields
        self._reader = Reader(plane, fields)
        self._look = FirstLook(fields)
        self._allowance: Allowance | None = None
        self.admitted = False
        self.answer = self.remark = ""

    def heard(self, text: str, now: float) -> list[RawSample]:
        """Take one text and return the samples that may be used.

        Raises:
            PushRefused: If it is not what the rules say; the conversation is over.
        """
        self.answer = self.remark = ""
        if not self.admitted:
            self._let_in(text)
            return []
        parsed = _parsed(text, "samples", _NO_NAN)
        samples = parsed if type(parsed) is list else [parsed]
        if not 1 <= len(samples) <= MOST_SAMPLES:
            raise PushRefused("samples", f"a list must have 1 to {MOST_SAMPLES:,} samples")
        if self._allowance is None:
            self._allowance = Allowance(MOST_A_SECOND, now)
        if not self._allowance.spend(len(samples), now):
            raise PushRefused("rate", f"more than {MOST_A_SECOND:,} samples a second", code=POLICY)
        if len(samples) > 1 and self._fields.time == ARRIVAL:
            raise PushRefused("samples", "without a time, samples come one by one", f"or write time = … {IN_POLICY}")
        seen = [self._reader.read(one, now, first=not self._look.fits) for one in samples]
        may_be_used = self._look.saw(seen, now)
        if self._look.warning is not None:
            self.remark, hint = self._look.warning
            self._look.warning = None
            self.answer = told("warning", "plane", self.remark, hint)
        return [one.sample for one in seen] if may_be_used else []

    def _let_in(self, text: str) -> None:
        first = _parsed(text, "token", _TOKEN_FIRST, POLICY)
        if type(first) is not dict or set(first) != {"token"} or type(first["token"]) is not str:
            raise PushRefused("token", _TOKEN_FIRST, _TOKEN_HINT, POLICY)
        if not hmac.compare_digest(first["token"].encode(errors="replace"), self._gate.token.encode()):
            raise PushRefused("token", "this is not the token", _TOKEN_HINT, POLICY)
        if why := self._gate.enter():
            raise PushRefused("sender", why, "one sender at a time: close the other one, or try again later", LATER)
        self.admitted = True
        self.answer = '{"ok": true}'


_TOKEN_FIRST: Final = "the first message must be the token"  # noqa: S105  (words)
_NO_NAN: Final = "JSON has no NaN and no Infinity: send null where gaze is missing"
_TOKEN_HINT: Final = 'send {"token": "…"} first; it is in the token_file of the policy'  # noqa: S105  (words)


def _parsed(text: str, kind: str, hint: str, code: int = BAD_DATA) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise PushRefused(kind, "a message is not JSON", hint, code) from None


def _no_constant(_: str) -> NoReturn:
    raise ValueError("JSON has no such number")
