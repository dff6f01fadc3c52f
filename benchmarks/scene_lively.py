# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What following a lively scene costs: does the stream fall silent, how often does it change, how far off is it?

A simulated eye looks for ten minutes of stream time, on a clock that the program moves. The scene is cut every 2.3 s on
average (Kaleido 2021, section 7.2), each cut draws a radius between 40 and 300 px, and it is looked at twice a second.
``python -m benchmarks.scene_lively`` prints a table of docs/results.md.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.gateway import simulated_trackers
from gazeveil.gateway.hub.hub import Hub
from gazeveil.gateway.policy.scene import SceneReading
from gazeveil.gateway.policy.settings import AppSetting, Policy, SceneSetting, TrackerSetting
from gazeveil.gateway.sample import Veiled, VeiledSample
from gazeveil.gateway.veiling import mechanism_of
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.samples.stream import StreamVeil
from gazeveil.samples.stream_kernels import TICKS
from gazeveil.scene.context import window_of

MINUTES, RATE_HZ, CUT_S, LOOK_S = 10, 60.0, 2.3, 0.5
RADII = 40.0, 300.0
PLANE = screen(1920, 1080, 527, 296, 600)
LIMITS: dict[str, Any] = {
    "radius_at_least": Fraction(60),
    "window_at_least": Fraction(1),
    "window_at_most": Fraction(2),
}


class Seen:
    """An outlet that remembers points, and how often it was told of silence."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float, float]] = []
        self.silences = 0

    def show(self, veiled: Veiled) -> None:
        """Remember a point."""
        if isinstance(veiled, VeiledSample):
            self.points.append((veiled.t, veiled.x, veiled.y))

    def flush(self, arrived: float) -> None:
        """Nothing waits."""

    def silence(self, why: str) -> None:
        """Count it."""
        self.silences += 1

    def end(self, reason: str) -> None:
        """Count it."""
        self.silences += 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one stream was like."""

    shown: float
    silences: int
    changes: float
    releases: float
    radius: float
    window: float
    error: float


def measure(veil: dict[str, Any], cut_s: float | None, seed: int = 1) -> Outcome:
    """Let a simulated eye look at a scene that is cut so often, or behind a veil that follows none."""
    space = TrackerSetting("desk", "simulate", PLANE).space
    scene = SceneSetting("video", Path("film.mp4"), gaze_dependent=False)
    follow = {} if cut_s is None else {"follow_scene": "small", **LIMITS}
    app = AppSetting("game", "desk", "jsonlines", mechanism_of(veil, space), rate_hz=1000.0, **follow)
    policy = Policy((TrackerSetting("desk", "simulate", PLANE, scene=scene),), (app,))
    changes: list[str] = []
    hub = Hub(
        policy, noise=NoiseSource.secure(), now=0.0, wall=lambda: datetime.now(UTC),
        log=lambda event, **fields: changes.append(event) if event == "scene-followed" else None,
    )  # fmt: skip
    seen = Seen()
    hub.attach("game", seen)
    rng = np.random.default_rng(seed)
    raw: dict[float, tuple[float, float]] = {}
    had: list[tuple[float, float]] = []
    small, cut_at, look_at, lengths = 100.0, 0.0, 0.0, [CUT_S]
    end = 60.0 * MINUTES
    for sample in itertools.takewhile(
        lambda one: one.t < end, simulated_trackers.simulated(PLANE, seed=seed, rate_hz=RATE_HZ)
    ):
        now = sample.t
        if cut_s is not None and now >= cut_at:
            length = float(rng.exponential(cut_s))
            small, cut_at = float(np.exp(rng.uniform(*np.log(RADII)))), now + length
            lengths = [*lengths[-63:], length]
        if now >= look_at:
            look_at += LOOK_S
            hub.scene_read("desk", SceneReading(now, small, None, window_of(lengths, shortest=LOOK_S)), now)
            knob = hub.tracker_of("desk").groups[0].mechanism.privacy_level
            had.append((float(knob["radius"]), float(knob["window"])))
        hub.push("desk", [sample], now)
        if not round(now * RATE_HZ) % 5:
            hub.tick(now)
        raw[sample.t] = (sample.x, sample.y)
    points = np.array(seen.points)
    gaze = np.array([raw[t] for t in points[:, 0]])
    away = np.hypot(points[:, 1] - gaze[:, 0], points[:, 2] - gaze[:, 1])
    due = sum(t >= points[0, 0] for t in raw)
    veil_now = hub.tracker_of("desk").groups[0]._live
    if veil_now is not None and isinstance(veil_now.veil, StreamVeil):
        releases = int(veil_now.veil._clock[TICKS])
    else:  # the latest release is held
        releases = int(np.count_nonzero(np.any(np.diff(points[:, 1:], axis=0) != 0, axis=1)))
    radius, window = np.median(had, axis=0).tolist()
    return Outcome(
        len(points) / due,
        seen.silences - 2,  # before the first sample, and the quiet start
        len(changes) / MINUTES,
        releases / (points[-1, 0] - points[0, 0]),
        radius,
        window,
        float(np.nanmedian(away)),
    )


def main() -> None:
    """Print the table."""
    print(
        "| veil | scene | samples shown | silences | changes a minute | medians of radius and window "
        "| releases a second | median error |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in ("clock", "held-ticks"):
        veil = {"mechanism": name, "epsilon": "1.5", "window": "1.5", "radius": 90}
        for cut_s in (None, 30.0, CUT_S, 0.7):
            words = "not followed" if cut_s is None else f"cut every {cut_s:g} s"
            found = measure(veil, cut_s)
            fixed = measure({**veil, "radius": found.radius, "window": found.window}, None)
            print(
                f"| `{name}` | {words} | {found.shown:.1%} | {found.silences} | {found.changes:.1f} "
                f"| {found.radius:.0f} px, {found.window:g} s | {found.releases:.2f} ({fixed.releases:.2f}) "
                f"| {found.error:.0f} px ({fixed.error:.0f} px) |",
                flush=True,
            )
    print("In brackets: a veil that has these medians all the time.")


if __name__ == "__main__":
    main()
