# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is compiled, loaded or calibrated when it is first asked for is asked for before gaze comes: no sample waits."""

from __future__ import annotations

from functools import lru_cache

from gazeveil.gateway._hub_knob import AS_WRITTEN, level_named
from gazeveil.gateway._hub_level import outputs_of
from gazeveil.gateway._hub_scene import RADII, WINDOWS, Aim, Follow, between
from gazeveil.gateway.policy import AppSetting, Policy, TrackerSetting
from gazeveil.gateway.veiling import feed_of
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import space_of


def rehearse(policy: Policy) -> None:
    """Make every veil that a scene can ask for, try every privacy level, and find fixations if an app may ask."""
    for app in policy.apps:
        tracker = policy.tracker(app.tracker)
        if app.follow_scene:
            _follow(app, tracker)
        elif app.mechanism.can_change:
            _change(app.mechanism, app.mechanism)
        if "fixations" in outputs_of(app, tracker):
            _fixate(tracker.geometry)


def _follow(app: AppSetting, tracker: TrackerSetting) -> None:
    trusted = tracker.scene is not None and tracker.scene.trusted
    for level in (level_named(app, name, tracker.space) for name in (AS_WRITTEN, *app.knob)):
        follow = Follow.of(app, level, trusted)
        if follow is not None:
            for radius in between(RADII, follow.least.radius, follow.most.radius, follow.base.radius):
                for window in between(WINDOWS, follow.least.window, follow.most.window, follow.base.window):
                    follow.veil(Aim(radius, window))
            _change(follow.veil(follow.base), follow.floor)


@lru_cache(maxsize=64)
def _change(mechanism: SampleMechanism, wish: SampleMechanism) -> None:
    veil = mechanism.start(NoiseSource.seeded(0))  # thrown away: it never sees gaze
    veil.change(0.0, **wish.knob)
    veil.close()


@lru_cache(maxsize=8)
def _fixate(geometry: Geometry) -> None:
    space = space_of(geometry)
    feed = feed_of("fixations", edge="clamp", rate_hz=60.0, space=space, geometry=geometry, areas=None)
    for number in range(40):  # two made-up fixations
        corner = space.low if number < 20 else space.high
        feed.give(number / 60, float(corner[0]), float(corner[1]), lambda shown: None)
