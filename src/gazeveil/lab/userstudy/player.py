# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A made-up participant who plays a game of gaze: eyes, decisions, a hand, and opinions.

What is modelled: things are noticed late, the eyes jump with a latency and a duration that grows with the distance
(Bahill et al. 1975), they tremble, the tracker is off by a constant error and noise, and a player who sees the cursor
beside a target looks a little the other way. Nobody is asked: answers to forms follow from how often the player
succeeded.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

WIDE_DEG = 47.4
"""Degrees across of a screen 527 mm wide at 600 mm."""


@dataclass(frozen=True)
class Scene:
    """What the player sees: places in shares of the window."""

    playing: bool
    control: str
    point: tuple[float, float] | None
    """A point to look at in the accuracy check."""
    things: tuple[Mapping[str, Any], ...]
    cursor: tuple[float, float] | None
    tall: float

    @classmethod
    def of(cls, seen: Mapping[str, Any]) -> Scene:
        """Return the scene that a page describes."""
        point, cursor = (tuple(seen[name]) if seen.get(name) else None for name in ("check", "cursor"))
        return cls(bool(seen["playing"]), seen["control"], point, tuple(seen["things"]), cursor, float(seen["tall"]))


class Player:
    """One made-up participant; the same seed is the same participant."""

    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng([seed, 18])
        draw = self._draw
        self.reaction_s = float(draw.uniform(0.16, 0.26))
        self.press_s = float(draw.uniform(0.08, 0.16))
        self.patience_s = float(draw.uniform(1.2, 2.2))
        self.error = draw.normal(0, 0.35, 2) / WIDE_DEG
        self.noise = float(draw.uniform(0.1, 0.3)) / WIDE_DEG
        self.distraction = float(draw.uniform(0.02, 0.1))
        self.correction = float(draw.uniform(0.1, 0.4))
        self.strictness = float(draw.normal(0, 0.5))
        self._eye = np.array([0.5, 0.5])
        self._from = self._to = self._eye
        self._jump: tuple[float, float] | None = None
        self._seen: deque[tuple[float, Scene]] = deque()
        self._goal: int | None = None
        self._since = 0.0
        self._given_up: set[int] = set()
        self._pressing: float | None = None
        self._aside = np.zeros(2)

    def begin(self) -> None:
        """Forget the last round."""
        self._goal, self._given_up, self._pressing, self._aside = None, set(), None, np.zeros(2)
        self._seen.clear()

    def look(self, now: float, scene: Scene) -> tuple[tuple[float, float], bool]:
        """Return where the tracker sees gaze now, in shares of the window, and whether the player presses the key."""
        self._seen.append((now, scene))
        while len(self._seen) > 1 and self._seen[1][0] <= now - self.reaction_s:
            self._seen.popleft()
        noticed = self._seen[0][1]
        wanted = self._decide(now, noticed)
        self._move(now, wanted, scene.tall)
        press = self._pressing is not None and now >= self._pressing
        if press:
            self._pressing = None
            self._since = now
        trembled = self._eye + self.error + self._draw.normal(0, self.noise, 2)
        return (float(trembled[0]), float(trembled[1])), press

    def _decide(self, now: float, scene: Scene) -> np.ndarray:
        if scene.point is not None:
            return np.array(scene.point)
        things = {thing["number"]: thing for thing in scene.things}
        if self._goal is not None and (self._goal not in things or now - self._since > self.patience_s):
            if self._goal in things:
                self._given_up.add(self._goal)
            self._goal, self._aside, self._pressing = None, np.zeros(2), None
        if self._goal is None and things:
            self._goal, self._since = self._choose(list(things.values())), now
        thing = things.get(self._goal) if self._goal is not None else None
        if thing is None:
            return self._to
        place = np.array([thing["x"], thing["y"]])
        self._react(now, scene, thing, place)
        return place + self._aside

    def _choose(self, things: Sequence[Mapping[str, Any]]) -> int | None:
        targets = [thing for thing in things if thing["kind"] == "target" and thing["number"] not in self._given_up]
        others = [thing for thing in things if thing["kind"] != "target"]
        if others and self._draw.random() < self.distraction:
            return int(others[int(self._draw.integers(len(others)))]["number"])
        if not targets:
            self._given_up.clear()
            return None
        return int(min(targets, key=lambda thing: thing["distance"])["number"])

    def _react(self, now: float, scene: Scene, thing: Mapping[str, Any], place: np.ndarray) -> None:
        """See where the cursor is: press if it is on the target, and look the other way if it stands beside it."""
        if scene.cursor is None or now - self._since < 2 * self.reaction_s:
            return
        off = np.array(scene.cursor) - place
        inside = math.hypot(off[0], off[1] * scene.tall) <= thing["radius"]
        if scene.control == "key" and thing["kind"] == "target" and inside and self._pressing is None:
            self._pressing = now + self.press_s
        if not inside:
            self._aside = np.clip(self._aside - self.correction * 0.1 * off, -0.08, 0.08)

    def _move(self, now: float, wanted: np.ndarray, tall: float) -> None:
        if self._jump is not None:
            began, lasts = self._jump
            share = min(1.0, (now - began) / lasts)
            self._eye = self._from + (self._to - self._from) * (3 * share**2 - 2 * share**3)
            if share >= 1:
                self._jump = None
            return
        way = wanted - self._eye
        degrees = math.hypot(way[0], way[1] * tall) * WIDE_DEG
        if degrees > 1.0:
            short = 1 - 0.08 * self._draw.random()  # eyes tend to fall short
            self._from, self._to = self._eye, self._eye + way * short
            self._jump = (now, 0.021 + 0.0022 * degrees)
        else:
            self._eye = self._eye + 0.1 * way + self._draw.normal(0, 0.02 / WIDE_DEG, 2)

    def answers(self, points: int, items: int, success: float) -> list[int]:
        """Return made-up answers on a scale from 1 to ``points``, higher the better it went."""
        liking = 1 + (points - 1) * np.clip(0.15 + 0.75 * success, 0, 1) - self.strictness * points / 7
        drawn = np.rint(liking + self._draw.normal(0, points / 14, items))
        return [int(answer) for answer in np.clip(drawn, 1, points)]
