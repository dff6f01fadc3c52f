# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One tracker in the hub: its clock, its current participant, and the viewer groups of its apps."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from gazeveil.errors import InternalError, OptionError
from gazeveil.gateway.hub.app_stream import NOT_ALLOWED, WAITING, AppStream, Log, Point, Ring
from gazeveil.gateway.hub.budget import GroupLeases
from gazeveil.gateway.hub.status import TrackerStatus, joint_guarantee_in_words
from gazeveil.gateway.hub.stream_clock import StreamClock
from gazeveil.gateway.hub.viewer_group import ViewerGroup
from gazeveil.gateway.policy.checks import forbidden
from gazeveil.gateway.policy.scene import STALE_S as SCENE_STALE_S
from gazeveil.gateway.policy.scene import SceneFollowing, SceneReading, SceneState
from gazeveil.gateway.policy.settings import Policy, TrackerSetting
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.veiling import window_of
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import guarantee_after_noise
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.toml_table import LONGEST_NAME

MUTE_S = 0.1
"""A tracker is silent after this many seconds, or three usual steps, without a sample. Some are in every blink."""
STALE_S = 0.5
"""Apps without a guarantee get no gaze after this many seconds without a sample."""
LONGEST_FILL_S = 2.0
"""Apps with a guarantee get no gaze after this many seconds. Until then they are shown what samples without gaze would
give them, and pay for it, since short silences reveal blinks. Longer silences are not hidden."""
SCENE_SILENT = f"nothing was read from the scene for {SCENE_STALE_S:g} s"


class TrackerStream:
    """A tracker, and the veils and apps behind it.

    Attributes:
        setting: What the policy says.
        participant: Whose gaze it is now.
        clock: Its stream time.
        groups: The viewer groups of its apps.
        past_window: The longest window of a closed veil: a new veil is quiet for at least as long.
        scene: What the participant looks at; None if nobody watches that.
        raw: Where raw gaze goes while the participant looks at it on the control page; None otherwise.
    """

    def __init__(
        self,
        setting: TrackerSetting,
        policy: Policy,
        *,
        noise: NoiseSource,
        wall: Callable[[], datetime],
        log: Log,
    ) -> None:
        self.setting, self.participant = setting, setting.participant
        self._policy, self._noise, self._wall, self._log = policy, noise, wall, log
        self.clock = StreamClock(setting.speed)
        self.groups: list[ViewerGroup] = []
        self.scene = _scene(setting)
        self.past_window = 0.0
        self.raw: Ring[Point] | None = None
        self._made = self._samples = 0
        self._seen = -math.inf
        self._why = WAITING

    @property
    def apps(self) -> list[AppStream]:
        """All its apps."""
        return [app for group in self.groups for app in group.apps]

    def push(self, samples: Sequence[RawSample], now: float) -> None:
        """Take samples."""
        self._seen = now
        self._why = ""
        self._samples += len(samples)
        at, filled, groups, seen = self.clock.at, self.clock.filled, self.groups, self.raw
        for raw in samples:
            t = at(raw.t, now)
            if t is None:
                continue
            if seen is not None:
                seen.add((t, raw.x, raw.y))
            for group in groups:
                if t > filled or not group.goes_on:
                    group.take(t, raw.x, raw.y, now, raw.head, raw.eyes)
        for group in groups:
            group.flush(now)

    def fill(self, now: float) -> None:
        """Continue with samples without gaze while the tracker is silent, for apps with a guarantee."""
        if not max(MUTE_S, 3.0 * self.clock.pace / self.setting.speed) < now - self._seen <= LONGEST_FILL_S:
            return
        groups = [group for group in self.groups if group.is_running and group.goes_on]
        if groups:
            for t in self.clock.fill(now):
                for group in groups:
                    group.take(t, math.nan, math.nan, now)
            for group in groups:
                group.flush(now)

    def lose(self, why: str) -> None:
        """Report to all apps that the tracker is gone."""
        self._seen = -math.inf
        if self._why != why:
            self._log("tracker-lost", tracker=self.setting.name, why=why)
        self._why = why
        for group in self.groups:
            group.silence(why)

    def tick(self, now: float) -> None:
        """Notice that no samples come, and let groups do what is due."""
        if not self._why and now - self._seen > STALE_S:
            self._why = f"no sample for {STALE_S:g} s"
            self._log("tracker-lost", tracker=self.setting.name, why=self._why)
        scene = self.scene
        if scene is not None and scene.is_stale(now):
            self.lose_scene(SCENE_SILENT, now)
        for group in self.groups:
            group.follow(self.clock.last, now)
            if self._seen > -math.inf and not self.serves(group, now):
                group.silence(f"no sample for {_patience(group):g} s")
            group.tick(now)
            group.flush(now)

    def scene_read(self, reading: SceneReading, now: float) -> None:
        """Take a reading of the scene; a late one changes nothing."""
        if self.scene is not None and self.scene.take(reading, now):
            for group in self.groups:
                group.update_from_scene(self.scene, self.clock.last, now)

    def lose_scene(self, why: str, now: float) -> None:
        """Handle the loss of the scene: radius and window are not lowered until it is watched again."""
        if self.scene is not None and self.scene.lost != why:
            self._log("scene-lost", tracker=self.setting.name, why=why)
            self.scene.lost = why
            for group in self.groups:
                group.update_from_scene(self.scene, self.clock.last, now)

    def level_of(self, app: AppStream) -> SampleMechanism:
        """Return an app's veil at its current privacy level, before the scene changes its radius and window."""
        group = self.group_of(app)
        return group.mechanism if group.follows is None else group.follows.level

    def serves(self, group: ViewerGroup, now: float) -> bool:
        """Whether a group has something to show: samples come, or came recently enough."""
        return now - self._seen <= _patience(group)

    def forbids(self, app: AppStream, mechanism: SampleMechanism) -> str:
        """Return why an app may not use a veil for the current participant; empty if it may."""
        guarantee = mechanism.guarantee
        kept = guarantee_after_noise(guarantee, self._noise) if mechanism.draws_noise else guarantee
        return forbidden(kept, allowed=app.setting.unproven, budget=self._policy.budget_of(self.participant))

    def place(self, app: AppStream, mechanism: SampleMechanism, now: float) -> None:
        """Put an app behind a veil, in the group that has an equal one if there is such a group."""
        scene = self.scene
        follows = None if scene is None else SceneFollowing.of(app.setting, mechanism, scene.trusted)
        if scene is None or follows is None:
            target = next((g for g in self.groups if g.follows is None and g.mechanism == mechanism), None)
        else:
            read = None if scene.lost else scene.reading
            mechanism = follows.veil(follows.base if read is None else follows.aim(read))
            target = next((group for group in self.groups if group.follows == follows), None)
        old = next((group for group in self.groups if app in group.apps), None)
        if old is not None and target is old:
            old.apps_changed()
            return
        t = self.clock.last
        if old is not None and target is None and len(old.apps) == 1 and old.mechanism.can_become(mechanism):
            old.become(mechanism, t, follows)
            self.check_guarantee(app)
            return
        quiet = 0.0
        if old is not None:
            app.window = max(app.window, old.window)
            quiet = max(app.window, window_of(mechanism.guarantee))
        if target is None:
            target = self._new_group(mechanism, quiet, follows)
        if old is not None:
            self.remove(app)
        target.join(app, t, now, quiet)
        self.check_guarantee(app)

    def remove(self, app: AppStream) -> None:
        """Remove an app; a group without apps is closed."""
        group = self.group_of(app)
        group.leave(app)
        if not group.apps:
            group.close()
            self.past_window = max(self.past_window, group.window)
            self.groups = [other for other in self.groups if other is not group]

    def group_of(self, app: AppStream) -> ViewerGroup:
        """Return the viewer group of an app."""
        for group in self.groups:
            if app in group.apps:
                return group
        raise InternalError("an app is in no viewer group")

    def check_guarantee(self, app: AppStream) -> None:
        """Check whether an app may use its veil for the current participant; end its stream if not."""
        group = self.group_of(app)
        before, app.refused = app.refused, self.forbids(app, group.mechanism)
        if app.refused:
            app.end(NOT_ALLOWED)
        elif before:
            app.reopen()
        group.apps_changed()

    def set_participant(self, participant: str) -> None:
        """Restart for another participant."""
        is_plain = participant.isprintable() and participant == participant.strip()
        if not is_plain or not 0 < len(participant) <= LONGEST_NAME:
            raise OptionError(
                f"a participant's name has 1 to {LONGEST_NAME} printable letters, and no blanks at its ends"
            )
        participant = unicodedata.normalize("NFC", participant)  # or one name typed on two machines is two accounts
        if participant == self.participant:
            return
        self.participant = participant
        self._forget()
        self._log("participant-changed", tracker=self.setting.name)
        self._restart()

    def longest_window(self) -> float:
        """Return the longest window that was ever guaranteed here."""
        return max([self.past_window, *(group.window for group in self.groups)])

    def apply_setting(self, setting: TrackerSetting, policy: Policy, now: float) -> None:
        """Follow a new policy; the hub places the apps after that."""
        before, old = self.setting, self._policy
        self.setting, self._policy = setting, policy
        if setting.participant != before.participant:
            self.participant = setting.participant
            self._forget()
        if setting != before:
            other = replace(setting, participant=before.participant) != before
            if setting.scene != before.scene:
                self.scene = _scene(setting)
                for app in self.apps:
                    self.place(app, self.level_of(app), now)
            if other:
                self.clock = StreamClock(setting.speed)
                for group in self.groups:
                    group.speed = setting.speed
            self._restart(other_clock=other)
        elif (old.budget_of(self.participant), old.lease_s) != (policy.budget_of(self.participant), policy.lease_s):
            for group in self.groups:
                group.new_leases()
                for app in group.apps:
                    self.check_guarantee(app)

    def status(self) -> TrackerStatus:
        """Return its state."""
        space = self.setting.space
        return TrackerStatus(
            self.setting.name,
            self.setting.protocol,
            self.participant,
            not self._why,
            self._why,
            self._samples,
            joint_guarantee_in_words(tuple(group.paid_guarantee for group in self.groups)),
            self.clock.faults._asdict(),
            {"width": space.size[0], "height": space.size[1], "unit": space.unit},
            self.setting.raw_view,
            None if self.scene is None else self._scene_status(self.scene),
        )

    def _scene_status(self, scene: SceneState) -> dict[str, Any]:
        """Return the state of the scene and of the apps that follow it, as plain values."""
        apps = {
            app.setting.name: {
                "radius": float(group.pace.applied.radius),
                "window_s": float(group.pace.applied.window),
                "why": scene.why(group.follows, group.pace),
                "radius_at_least": float(group.follows.least.radius),
                "window_at_least": float(group.follows.least.window),
            }
            for group in self.groups
            if group.follows is not None and group.pace is not None
            for app in group.apps
        }
        return scene.status() | {
            "unit": self.setting.space.unit,
            "applied": next(iter(apps.values()), None),
            "apps": apps,
        }

    def close(self) -> None:
        """Close all veils for good."""
        for group in self.groups:
            group.close()

    def _forget(self) -> None:
        """Drop everything that the current participant could see of the one before."""
        self.raw = None
        for app in self.apps:
            app.received.clear()

    def _restart(self, *, other_clock: bool = False) -> None:
        for group in self.groups:
            group.restart(other_clock=other_clock)
            for app in group.apps:
                self.check_guarantee(app)

    def _new_group(self, mechanism: SampleMechanism, quiet_s: float, follows: SceneFollowing | None) -> ViewerGroup:
        self._made += 1
        group = ViewerGroup(
            f"{self.setting.name}/{self._made}",
            mechanism,
            noise=self._noise,
            make_leases=self._leases_for,
            quiet_s=max(quiet_s, self.past_window),
            log=self._log,
            speed=self.setting.speed,
            follows=follows,
        )
        self.groups = [*self.groups, group]
        return group

    def _leases_for(self, group: str, guarantee: Guarantee, mechanism: SampleMechanism) -> GroupLeases:
        return GroupLeases(
            group,
            self.participant,
            guarantee,
            mechanism.to_dict(),
            budget=self._policy.budget_of(self.participant),
            lease_s=self._policy.lease_s,
            wall=self._wall,
        )


def _scene(setting: TrackerSetting) -> SceneState | None:
    return None if setting.scene is None else SceneState(setting.scene.source, setting.scene.trusted)


def _patience(group: ViewerGroup) -> float:
    return LONGEST_FILL_S if group.goes_on else STALE_S
