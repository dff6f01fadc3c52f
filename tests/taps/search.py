# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The searches: canaries, raw points, names of fields off the list, and made-up fields that are not made up.

Points are looked for without regard to the protocol: two numbers that follow each other in text, or two doubles side
by side at any offset in either byte order, or two floats as networks order them, that are a raw point of the last three
seconds in any unit. How often that happens by chance is measured: pairs that come within 100 times the tolerance in
both coordinates are counted, and one in 10,000 of them would be a hit, because the last digits of raw gaze are random.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from gazeveil.gateway.protocol import PROTOCOLS
from tests.taps.raw import Canaries, Points

LOOSER = 100
"""How many times the tolerance a near miss may be off."""
BINARY_TOLERANCE = 1e-10
FLOAT_TOLERANCE = 1.3e-7
"""Of a float, relative: twice what rounding to one may cost."""
ONE_COORDINATE_TOLERANCE = 1e-14
"""Of a double by itself, relative: conversions between units cost a few bits."""
ONE_COORDINATE_LOOSER = 10_000

FURTHEST_APART = 64
"""Bytes between the two numbers of a point; no other number may be there."""

_DIGIT = re.compile(rb"\d")
_NUMBER = re.compile(rb"-?\d+\.(\d+)")
_VALUES = re.compile(rb'(\w+)="([^"]*)"|"(\w+)":\s*([^",{}\[\]]*)|<(\w+)>([^<]*)')
_ELEMENTS = re.compile(rb"<(\w+)[ >/]")
_PUPIL_PLACES = re.compile(rb'"pcenter":\{"x":([^,]*),"y":([^}]*)\}')
_PACKET = re.compile(rb"\$[\0\1](..)", re.DOTALL)
_OPEN_GAZE_ELEMENTS = {"REC", "ACK", "NACK", "CAL"}


@dataclass(slots=True)
class Found:
    """What a search found, and what it would have found by chance."""

    searched: int = 0
    pairs: int = 0
    canaries: int = 0
    raw_points: int = 0
    raw_coordinates: int = 0
    by_chance: float = 0.0
    off_list: set[str] = field(default_factory=set)
    not_made_up: set[str] = field(default_factory=set)

    def add(self, other: Found) -> None:
        self.searched += other.searched
        self.pairs += other.pairs
        self.canaries += other.canaries
        self.raw_points += other.raw_points
        self.raw_coordinates += other.raw_coordinates
        self.by_chance += other.by_chance
        self.off_list |= other.off_list
        self.not_made_up |= other.not_made_up

    @property
    def clean(self) -> bool:
        return not (self.canaries or self.raw_points or self.raw_coordinates or self.off_list or self.not_made_up)


def search(data: bytes, points: Points, canaries: Canaries, *, binary: bool, floats: bool = False) -> Found:
    """Search bytes for canaries and raw points; ``binary`` where numbers may be doubles, ``floats`` where floats."""
    found = Found(searched=len(data), canaries=_canaries(data, canaries), by_chance=canaries.chance(len(data)))
    _pairs(found, points, *_in_text(data))
    if binary and len(data) >= 17:
        for order in (">", "<"):
            _doubles(found, points, canaries, _every_number(data, f"{order}f8"))
    if floats and len(data) >= 9:
        _floats(found, points, canaries, _every_number(data, ">f4"))
    return found


def names(protocol: str, data: bytes) -> Found:
    """Search a protocol's text for fields that are not on its list, and for made-up ones with other values."""
    leaves = PROTOCOLS[protocol].leaves
    allowed = {name.rstrip("0123456789") for key in leaves for name in key.split(", ")} | set(leaves)
    zero = {name for name, reason in leaves.items() if reason.startswith("always 0")}
    found = Found()
    if protocol == "neon":
        data = _without_packets(data)
    for one, value, two, other, three, last in set(_VALUES.findall(data)):
        name, told = (one or two or three).decode(), value or other or last
        if name not in allowed and name.rstrip("0123456789") not in allowed:
            found.off_list.add(name)
        elif name in zero and _zero(told) is False:
            found.not_made_up.add(name)
    if protocol == "opengaze":
        found.off_list |= {name.decode() for name in _ELEMENTS.findall(data)} - _OPEN_GAZE_ELEMENTS
    if any(not _zero(x) or not _zero(y) for x, y in set(_PUPIL_PLACES.findall(data))):
        found.not_made_up.add("pcenter")
    return found


def _without_packets(data: bytes) -> bytes:
    """Return the text between packets: their bytes can look like ``<name>`` by chance, and are searched as numbers."""
    text, at = bytearray(), 0
    while begins := _PACKET.search(data, at):
        text += data[at : begins.start()] + b"\n"
        at = begins.end() + int.from_bytes(begins[1], "big")
    return bytes(text + data[at:])


def off_list(protocol: str, keys: Iterable[str]) -> Found:
    """Compare names of fields, already taken apart, with a protocol's list."""
    return Found(off_list=set(keys) - set(PROTOCOLS[protocol].leaves))


def _zero(text: bytes) -> bool | None:
    try:
        return float(text) == 0.0
    except ValueError:
        return None if not text else False


def _canaries(data: bytes, canaries: Canaries) -> int:
    digits, stem = canaries.texts()
    return data.replace(b".", b"").count(digits) + data.count(stem)


def _in_text(data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return every two numbers with a point that follow each other, once each, and how exactly they are told."""
    pairs = {
        (a[0], b[0], min(len(a[1]), len(b[1])))
        for a, b in pairwise(_NUMBER.finditer(data))
        if b.start() - a.end() <= FURTHEST_APART and not _DIGIT.search(data, a.end(), b.start())
    }
    told = [(float(a), float(b), places) for a, b, places in pairs if places >= 2 and len(a) < 30 > len(b)]
    table = np.array(told, dtype=float).reshape(-1, 3)
    return table[:, 0], table[:, 1], 0.5 * 10.0 ** -np.minimum(table[:, 2], 12.0) * (1 + 1e-6)


def _every_number(data: bytes, kind: str) -> np.ndarray:
    """Return the number that begins at each byte."""
    whole, size = np.frombuffer(data, dtype=np.uint8), np.dtype(kind).itemsize
    windows = np.lib.stride_tricks.as_strided(whole, (len(data) - size + 1, size), (1, 1))
    with np.errstate(invalid="ignore"):
        return np.ascontiguousarray(windows).view(kind).ravel().astype(float)


def _floats(found: Found, points: Points, canaries: Canaries, values: np.ndarray) -> None:
    looked_for = canaries.floats()
    found.canaries += int(np.count_nonzero(np.isin(values, looked_for.astype(float))))
    found.by_chance += len(values) * len(looked_for) / 2**32
    plausible = (np.abs(values) > 1e-3) & (np.abs(values) < 1e4)
    both = plausible[:-4] & plausible[4:]
    a, b = values[:-4][both], values[4:][both]
    _pairs(found, points, a, b, FLOAT_TOLERANCE * np.maximum(np.abs(a), np.abs(b)))


def _doubles(found: Found, points: Points, canaries: Canaries, values: np.ndarray) -> None:
    for least, most in canaries.doubles():
        found.canaries += int(np.count_nonzero((values >= least) & (values < most)))
    plausible = (np.abs(values) > 1e-3) & (np.abs(values) < 1e4)
    for apart in (8, 9):  # side by side, or with the byte between them that msgpack writes
        both = plausible[:-apart] & plausible[apart:]
        a, b = values[:-apart][both], values[apart:][both]
        _pairs(found, points, a, b, np.full(len(a), BINARY_TOLERANCE))
    alone, sorted_ = np.unique(values[plausible]), points.coordinates

    def within(tolerance: float) -> np.ndarray:
        off = np.abs(alone) * tolerance
        first: np.ndarray = np.searchsorted(sorted_, alone - off)
        return np.asarray(np.searchsorted(sorted_, alone + off, "right") - first)

    if len(alone) and len(sorted_):
        found.raw_coordinates += int(np.count_nonzero(within(ONE_COORDINATE_TOLERANCE)))
        found.by_chance += float(within(ONE_COORDINATE_TOLERANCE * ONE_COORDINATE_LOOSER).sum()) / ONE_COORDINATE_LOOSER


def _pairs(found: Found, points: Points, a: np.ndarray, b: np.ndarray, tolerance: np.ndarray) -> None:
    if not len(a):
        return
    found.pairs += len(a)
    hit = np.zeros(len(a), dtype=bool)
    for xs, ys, coarsest in points.units:
        fine = tolerance <= coarsest
        if not fine.any():
            continue
        first = np.searchsorted(xs, a - LOOSER * tolerance)
        count = (np.searchsorted(xs, a + LOOSER * tolerance, "right") - first) * fine
        pair = np.repeat(np.arange(len(a)), count)
        raw = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        off = np.maximum(np.abs(xs[raw] - a[pair]), np.abs(ys[raw] - b[pair]))
        found.by_chance += float(np.count_nonzero(off <= LOOSER * tolerance[pair])) / LOOSER**2
        hit[pair[off <= tolerance[pair]]] = True
    found.raw_points += int(np.count_nonzero(hit))
