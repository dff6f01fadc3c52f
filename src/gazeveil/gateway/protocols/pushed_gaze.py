# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that a program pushes to the gateway, over any carrier of texts: token, samples, limits, refusals.

Samples that do not follow the policy are refused with the names of the policy, never with a quote of what came.

The first text is ``{"token": …}``, and the answer ``{"ok": true}``. Every further text is one sample
``{"t": seconds, "x": share, "y": share}`` or a list of them, with other names and units where the policy says so;
``null`` for both x and y where gaze is missing. Anything else ends the conversation with a message that says what was
expected.

Nothing else would notice another unit than the policy's, so the first samples are compared with the machine's clock
and with the viewing plane, and none is used before they fit.
"""

from __future__ import annotations

import hmac
import json
import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, NoReturn

from gazeveil.errors import GeometryError, WireError
from gazeveil.gateway.protocol import Gate, PushedSource, ViewingPlane
from gazeveil.gateway.protocols.json_gaze import (
    ABSENT,
    Headset,
    at,
    converters,
    has_others,
    path_of,
    paths_of,
    pointing,
    tree_of,
)
from gazeveil.gateway.sample import HEAD, IPD, ORIGINS, RawSample
from gazeveil.gateway.tracker_fields import ARRIVAL, DROP, TIMES, UNITS, Fields, coordinate, seconds

GOING_AWAY: Final = 1001
NOT_TEXT: Final = 1003
BAD_DATA: Final = 1007
POLICY: Final = 1008
LATER: Final = 1013
"""Close codes of WebSocket, which give the kind of a refusal for any carrier."""


class PushRefused(WireError):  # noqa: N818
    """A sender broke the rules.

    Attributes:
        kind: ``token``, ``sender``, ``rate``, ``time``, ``unit`` or ``samples``.
        code: The close code.
    """

    def __init__(self, kind: str, message: str, hint: str = "", code: int = BAD_DATA) -> None:
        super().__init__(message, hint=hint)
        self.kind, self.code = kind, code

    def text(self) -> str:
        """Return the text for the sender."""
        return refusal_text("error", self.kind, self.message, self.hint)


def refusal_text(what: str, kind: str, message: str, hint: str = "") -> str:
    """Return an ``error`` or a ``warning`` of a kind as a text for the sender."""
    return json.dumps({what: kind, "message": message, "hint": hint})


# --- From a sender's JSON to samples, by the policy's fields.


FURTHEST: Final = 1.0
"""By how much of the viewing plane's size a point may lie beyond its edges."""
CHECKED_S: Final = 0.5
"""Seconds for which the first samples are compared with the machine's clock and with the viewing plane."""
CHECKED_SAMPLES: Final = 3
WATCHED_S: Final = 5.0
"""Seconds for which points beyond the viewing plane are counted."""
LEAST_PACE, MOST_PACE = 0.2, 5.0
"""Allowed seconds of a sender's time per second: stalls of a network stay within, other units do not."""
IN_POLICY: Final = "in [tracker.fields] of the policy"


class CheckedSample(NamedTuple):
    """A sample, and how plausible it is.

    Attributes:
        sample: The sample.
        missing: Whether gaze is missing.
        on_plane: Whether the point is on the screen or in the field of view.
        tiny: Whether both numbers, as they came, are from 0 to 1.
    """

    sample: RawSample
    missing: bool = True
    on_plane: bool = False
    tiny: bool = False


class Reader:
    """Reads one sample at a time.

    Raises:
        GeometryError: If the viewing plane cannot hold gaze in the unit.
    """

    def __init__(self, plane: ViewingPlane, fields: Fields) -> None:
        self._fields, self._plane = fields, plane
        self._known = converters(plane)
        if fields.unit not in self._known:
            raise GeometryError(
                f"{plane.geometry} cannot hold gaze in {UNITS[fields.unit]}",
                hint="give the screen's width_mm, height_mm and distance_mm" if fields.unit == "deg" else "",
            )
        self._convert, self._height = self._known[fields.unit]
        self._at_t, self._at_valid = path_of(fields.t), path_of(fields.valid)
        self._at_gaze = [path_of(name) for name in fields.gaze]
        self._headset = Headset(fields)
        self._tree = tree_of(paths_of(fields))
        self._strict = fields.others != DROP
        self._expected = _expected(fields)

    def read(self, value: Any, now: float, *, first: bool) -> CheckedSample:
        """Return a sample, and how plausible it is.

        Args:
            value: The parsed sample.
            now: When.
            first: Whether it is one of the first: then the error names a more plausible unit.

        Raises:
            PushRefused: If it does not follow the policy.
        """
        if type(value) is not dict or (self._strict and has_others(self._without_geometry(value), self._tree)):
            raise self._wrong()
        t = at(value, self._at_t) if self._at_t else None
        valid = at(value, self._at_valid) if self._at_valid else None
        gaze = [at(value, path) for path in self._at_gaze]
        if ABSENT in (t, valid, *gaze):
            raise self._wrong()
        moment = now if self._fields.time == ARRIVAL else self._moment(t)
        if self._at_valid and type(valid) is not bool:
            raise PushRefused("samples", f"{self._fields.valid} must be true or false", self._expected)
        sample = RawSample(moment, math.nan, math.nan)
        if self._headset.reads:
            self._check_head_and_eyes(value, sample)
        if valid is False or all(one is None for one in gaze):
            return CheckedSample(sample)
        across, up_or_down = self._angles(gaze[0]) if self._fields.direction else map(coordinate, gaze)
        if self._fields.direction and math.isnan(across):
            return CheckedSample(sample)  # a vector without a length
        if math.isnan(across) or math.isnan(up_or_down):  # no number, or out of all proportion
            raise PushRefused("samples", f"{self._both} must be numbers, {self._bounds()}", self._expected)
        sample.x, sample.y = self._convert(across, self._height - up_or_down if self._fields.up else up_or_down)
        share = self._plane.to_fraction(sample.x, sample.y)
        if not all(-FURTHEST <= one <= 1.0 + FURTHEST for one in share):
            raise self._too_far(across, up_or_down, first=first)
        on_plane, tiny = _is_between_0_and_1(*share), _is_between_0_and_1(across, up_or_down)
        return CheckedSample(sample, missing=False, on_plane=on_plane, tiny=tiny and not self._fields.direction)

    def _without_geometry(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return a sample without the fields of head and eyes that the policy does not name: they are dropped."""
        dropped = self._headset.dropped & given.keys()
        return {key: value for key, value in given.items() if key not in dropped} if dropped else given

    def _check_head_and_eyes(self, value: dict[str, Any], sample: RawSample) -> None:
        try:
            sample.head, sample.eyes = self._headset.head(value), self._headset.eyes(value)
        except ValueError as error:
            what = str(error)
            name, form = self._fields.head_and_eyes[what], _FORMS[what]
            raise PushRefused("samples", f"{name} must be {form}", self._expected) from None

    def _angles(self, value: Any) -> tuple[float, float]:
        found = pointing(value, self._fields.axes)
        if found is None:
            raise PushRefused("samples", f"{self._fields.direction} must be {_FORMS['head']}", self._expected)
        return found

    @property
    def _both(self) -> str:
        return " and ".join(self._fields.gaze)

    def _moment(self, t: Any) -> float:
        second = self._fields.second
        moment = seconds(t, second)
        if moment is None:
            unit = TIMES[self._fields.time][0]
            raise PushRefused(
                "samples", f"{self._fields.t} must be a time in {unit}", f'or write time = "arrival" {IN_POLICY}'
            )
        return moment

    def _wrong(self) -> PushRefused:
        *most, last = self._fields.names
        names = f"{', '.join(most)} and {last}"
        more = ", and nothing else" if self._strict else ""
        return PushRefused("samples", f"a sample must have {names}{more}", self._expected)

    def _too_far(self, x: float, y: float, *, first: bool) -> PushRefused:
        if first and not self._fields.direction:
            for unit in ("px", "deg", "norm"):
                if unit != self._fields.unit and self._is_on_plane(x, y, unit):
                    return unit_refused(self._fields, unit)
        return PushRefused("samples", f"{self._both} must be {self._bounds()}", self._expected)

    def _bounds(self) -> str:
        if self._fields.unit == "norm":
            return f"from {-FURTHEST:g} to {1 + FURTHEST:g}"
        far = "no further beyond an edge than it is wide or high"
        return f"on {self._plane.geometry}, or {far}"

    def _is_on_plane(self, x: float, y: float, unit: str) -> bool:
        if unit not in self._known:
            return False
        convert, height = self._known[unit]
        return _is_between_0_and_1(*self._plane.to_fraction(*convert(x, height - y if self._fields.up else y)))


def unit_refused(fields: Fields, found: str) -> PushRefused:
    """Return the refusal of samples that seem to be in another unit."""
    message = f"{fields.x} and {fields.y} look like {UNITS[found]}, not {UNITS[fields.unit]}"
    return PushRefused("unit", message, f'write unit = "{found}" {IN_POLICY}, or send {UNITS[fields.unit]}')


def time_refused(fields: Fields, pace: float) -> PushRefused:
    """Return the refusal of a time that advances by ``pace`` declared seconds in one second."""
    unit, second = TIMES[fields.time]
    for name, (words, one) in TIMES.items():
        if LEAST_PACE <= pace * second / one <= MOST_PACE:
            hint = f'send {unit}, or write time = "{name}" {IN_POLICY}'
            return PushRefused("time", f"{fields.t} looks like {words}, not {unit}", hint)
    if pace <= 0.0:
        hint = f'{fields.t} is the time of the sample in {unit}, and grows; or write time = "arrival" {IN_POLICY}'
        return PushRefused("time", f"{fields.t} does not advance", hint)
    hint = f"send samples when they are made, with {fields.t} in {unit}"
    return PushRefused("time", f"{fields.t} advances by {pace:.3g} seconds in one second", hint)


_FORMS: Final = {
    HEAD: "null or a vector: a list of three numbers, or an object with x, y and z",
    ORIGINS: "null or two vectors in mm, in a list or as left and right",
    IPD: "null or a number of mm",
}


def _expected(fields: Fields) -> str:
    missing = fields.direction or f"both {fields.x} and {fields.y}"
    return "; ".join((*fields.in_words(), f"null for {missing} where gaze is missing"))


def _is_between_0_and_1(x: float, y: float) -> bool:
    return 0.0 <= x <= 1.0 and 0.0 <= y <= 1.0


# --- The conversation with a sender: the token first, then samples.


MOST_SAMPLES: Final = 1024
"""The most samples in one text."""
MOST_A_SECOND: Final = 4_000
"""The most samples or texts in a second; as many as in `BURST_S` may come at once after a network stalled."""
MOST_BYTES_A_SECOND: Final = 1 << 19
BURST_S: Final = 4.0


class Allowance:
    """A limit per second, which may be saved for a few seconds."""

    __slots__ = ("_left", "_most", "_rate", "_seen")

    def __init__(self, rate: float, now: float) -> None:
        self._rate, self._most, self._left, self._seen = rate, rate * BURST_S, rate * BURST_S, now

    def spend(self, amount: float, now: float) -> bool:
        """Use some of it; return whether there was enough."""
        self._left = min(self._most, self._left + self._rate * max(now - self._seen, 0.0))
        self._seen = now
        self._left -= amount
        return self._left >= 0.0


class FirstSamplesCheck:
    """Compares a sender's first samples with the machine's clock and with the viewing plane.

    Points that could be gaze are never refused: looking away must not decide whether a stream begins. Implausible ones
    cause a warning after `WATCHED_S`.

    Attributes:
        fits: Whether the samples fit; samples before that are not used.
        warning: What looks odd: a message and a hint; None until then.
    """

    __slots__ = ("_begun", "_fields", "_first", "_off", "_points", "_seen", "_tiny", "_watches", "fits", "warning")

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self.fits, self._watches = False, True
        self.warning: tuple[str, str] | None = None
        self._begun = self._first = math.nan
        self._seen = self._points = self._off = self._tiny = 0

    def saw(self, seen: list[CheckedSample], now: float) -> bool:
        """Take the samples of one text; return whether they may be used.

        Raises:
            PushRefused: If the time does not advance like seconds, or the points are in another unit.
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

    def __init__(self, plane: ViewingPlane, gate: Gate, fields: Fields) -> None:
        self._gate, self._fields = gate, fields
        self._reader = Reader(plane, fields)
        self._first_samples = FirstSamplesCheck(fields)
        self._allowance: Allowance | None = None
        self.admitted = False
        self.answer = self.remark = ""

    def take(self, text: str, now: float) -> list[RawSample]:
        """Take one text and return the samples that may be used.

        Raises:
            PushRefused: If it breaks the rules; the conversation is over.
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
        seen = [self._reader.read(one, now, first=not self._first_samples.fits) for one in samples]
        may_be_used = self._first_samples.saw(seen, now)
        if self._first_samples.warning is not None:
            self.remark, hint = self._first_samples.warning
            self._first_samples.warning = None
            self.answer = refusal_text("warning", "plane", self.remark, hint)
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


# --- What all carriers of texts share: time limits, and how a refusal is reported.


MOST_BYTES: Final = 1 << 16
"""The most bytes of one text."""
PATIENCE_S: Final = 5.0
"""Seconds within which a sender must show the token."""
PLAIN: Final = Fields()


class PushedTextSource(PushedSource):
    """One sender, whose texts are parsed from bytes."""

    def __init__(self, plane: ViewingPlane, gate: Gate, fields: Fields = PLAIN) -> None:
        super().__init__(plane, gate)
        self._conversation = Conversation(plane, gate, fields)
        self._allowance: Allowance | None = None
        self._deadline: float | None = None

    def connected(self, now: float) -> None:
        """Wait for the token, for a limited time."""
        self._deadline = now + PATIENCE_S
        self._allowance = Allowance(MOST_BYTES_A_SECOND, now)

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples that may be used.

        Raises:
            WireError: If the sender broke the rules. The reason for the sender is queued.
        """
        if self.ended:
            return []
        found: list[RawSample] = []
        try:
            if self._allowance is not None and not self._allowance.spend(len(data), now):
                raise PushRefused("rate", f"more than {MOST_BYTES_A_SECOND:,} bytes a second", code=POLICY)
            for text in self._texts_in(data):
                found += self._conversation.take(text, now)
                self.remark = self._conversation.remark or self.remark
                if self._conversation.answer:
                    self._say(self._conversation.answer)
        except PushRefused as error:
            self.admitted, self.refused_token = self._conversation.admitted, error.kind == "token"
            self._end(error.message, error.code, error.text())
            raise
        except WireError as error:
            self._end(error.message, BAD_DATA)  # unless the handshake failed, or its own close frame waits already
            raise
        self._texts_read(now)
        self.admitted = self._conversation.admitted
        return found

    def tick(self, now: float) -> None:
        """End a sender that shows no token in time; check that others are still there."""
        if self.ended or self._deadline is None or now < self._deadline:
            return
        if self.admitted:
            self._overdue(now)
        else:
            self.refused_token = True
            self._end(f"no token within {PATIENCE_S:g} seconds", POLICY)

    def close(self, reason: str, code: int = GOING_AWAY) -> None:
        """Report why, and close."""
        self._end(reason, code)

    @abstractmethod
    def _texts_in(self, data: bytes) -> Iterator[str]:
        """Yield the texts that are complete now."""

    @abstractmethod
    def _texts_read(self, now: float) -> None:
        """Called when all texts were read; `admitted` still has its value from before."""

    @abstractmethod
    def _overdue(self, now: float) -> None:
        """Called when the deadline of an admitted sender has passed."""

    @abstractmethod
    def _say(self, text: str) -> None:
        """Queue a text."""

    @abstractmethod
    def _end(self, reason: str, code: int, text: str = "") -> None:
        """Queue a last text and the carrier's close message, and set ``ended``."""


LEAVES: Final = {
    "ok": "That the token was right.",
    "error": "Of what kind a fault is; for the sender alone.",
    "warning": "Of what kind an oddity is; for the sender alone.",
    "message": "What it is, without what was sent.",
    "hint": "What to do about it.",
}
WITHHELD: Final = {
    "time and point of the sender": "Raw gaze: it goes into a veil and nowhere else.",
    "every other field": "Unknown; a message that has one is refused, or the field dropped if the policy says so.",
}
