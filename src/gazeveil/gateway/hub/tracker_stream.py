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
"""Without a sample for so long, or for three times the usual, a tracker is silent. Some are in every blink."""
STALE_S = 0.5
"""Without a sample for so long, apps without a guarantee hear silence."""
LONGEST_FILL_S = 2.0
"""Without a sample for so long, apps with a guarantee do. Until then they are shown what samples without gaze would
give them, and pay for it: that a tracker is silent tells of blinks. That it is for longer is not hidden."""
SCENE_SILENT = f"nothing was read from the scene for {SCENE_STALE_S:g} s"


class TrackerStream:
    """A tracker and all that hangs on it.

    Attributes:
        setting: What the policy says.
        person: Who sits there now.
        clock: Its stream time.
        groups: The viewer groups of its apps.
        past_window: The longest window of a veil that is closed: whatever begins anew is quiet for as long.
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
        self.setting, self.person = setting, setting.person
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
    def seats(self) -> list[AppStream]:
        """All its apps."""
        return [seat for group in self.groups for seat in group.seats]

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
        """Go on without the tracker while it is silent, for apps with a guarantee, with samples without gaze."""
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
        """Tell all apps that the tracker is gone."""
        self._seen = -math.inf
        if self._why != why:
            self._log("tracker-lost", tracker=self.setting.name, why=why)
        self._why = why
        for group in self.groups:
            group.silence(why)

    def tick(self, now: float) -> None:
        """Notice that no samples come, and let groups do what time demands."""
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

    def see(self, reading: SceneReading, now: float) -> None:
        """Take what was read from the scene; what comes late changes nothing."""
        if self.scene is not None and self.scene.take(reading, now):
            for group in self.groups:
                group.look(self.scene, self.clock.last, now)

    def lose_scene(self, why: str, now: float) -> None:
        """Say that the scene is not watched any more: radius and window are not lowered until it is again."""
        if self.scene is not None and self.scene.lost != why:
            self._log("scene-lost", tracker=self.setting.name, why=why)
            self.scene.lost = why
            for group in self.groups:
                group.look(self.scene, self.clock.last, now)

    def level_of(self, seat: AppStream) -> SampleMechanism:
        """Return an app's veil at its current privacy level; its radius and window may be the scene's to set."""
        group = self.group_of(seat)
        return group.mechanism if group.follows is None else group.follows.level

    def serves(self, group: ViewerGroup, now: float) -> bool:
        """Whether a group has something to show: samples come, or came so lately that it goes on without."""
        return now - self._seen <= _patience(group)

    def forbids(self, seat: AppStream, mechanism: SampleMechanism) -> str:
        """Return why an app may not use a veil for the participant who sits here; empty if it may."""
        promise = mechanism.guarantee
        kept = guarantee_after_noise(promise, self._noise) if mechanism.draws_noise else promise
        return forbidden(kept, allowed=seat.setting.unproven, budget=self._policy.budget_of(self.person))

    def place(self, seat: AppStream, mechanism: SampleMechanism, now: float) -> None:
        """Put an app behind a veil: where there is an equal one, behind that."""
        scene = self.scene
        follows = None if scene is None else SceneFollowing.of(seat.setting, mechanism, scene.trusted)
        if scene is None or follows is None:
            target = next((g for g in self.groups if g.follows is None and g.mechanism == mechanism), None)
        else:
            read = None if scene.lost else scene.reading
            mechanism = follows.veil(follows.base if read is None else follows.aim(read))
            target = next((group for group in self.groups if group.follows == follows), None)
        old = next((group for group in self.groups if seat in group.seats), None)
        if old is not None and target is old:
            old.seats_changed()
            return
        t = self.clock.last
        if old is not None and target is None and len(old.seats) == 1 and old.mechanism.can_become(mechanism):
            old.become(mechanism, t, follows)
            self.examine(seat)
            return
        quiet = 0.0
        if old is not None:
            seat.window = max(seat.window, old.window)
            quiet = max(seat.window, window_of(mechanism.guarantee))
        if target is None:
            target = self._new_group(mechanism, quiet, follows)
        if old is not None:
            self.remove(seat)
        target.join(seat, t, now, quiet)
        self.examine(seat)

    def remove(self, seat: AppStream) -> None:
        """Let an app go; a group without apps is closed."""
        group = self.group_of(seat)
        group.leave(seat)
        if not group.seats:
            group.close()
            self.past_window = max(self.past_window, group.window)
            self.groups = [other for other in self.groups if other is not group]

    def group_of(self, seat: AppStream) -> ViewerGroup:
        """Return the viewer group of an app."""
        for group in self.groups:
            if seat in group.seats:
                return group
        raise InternalError("an app sits behind no veil")

    def examine(self, seat: AppStream) -> None:
        """See whether an app may have its veil for the participant who sits here; tell it if not."""
        group = self.group_of(seat)
        before, seat.refused = seat.refused, self.forbids(seat, group.mechanism)
        if seat.refused:
            seat.end(NOT_ALLOWED)
        elif before:
            seat.begin_anew()
        group.seats_changed()

    def seat_person(self, person: str) -> None:
        """Begin anew for another participant."""
        if not person or person != person.strip() or len(person) > LONGEST_NAME or not person.isprintable():
            raise OptionError(
                f"a participant's name has 1 to {LONGEST_NAME} printable letters, and no blanks at its ends"
            )
        person = unicodedata.normalize("NFC", person)  # or one name, typed on two machines, would be two accounts
        if person == self.person:
            return
        self.person = person
        self._forget()
        self._log("person-changed", tracker=self.setting.name)
        self._begin_anew()

    def longest_window(self) -> float:
        """Return the longest window that was ever guaranteed here."""
        return max([self.past_window, *(group.window for group in self.groups)])

    def obey(self, setting: TrackerSetting, policy: Policy, now: float) -> None:
        """Follow a new policy; apps are placed after that."""
        before, old = self.setting, self._policy
        self.setting, self._policy = setting, policy
        if setting.person != before.person:
            self.person = setting.person
            self._forget()
        if setting != before:
            other = replace(setting, person=before.person) != before
            if setting.scene != before.scene:
                self.scene = _scene(setting)
                for seat in self.seats:
                    self.place(seat, self.level_of(seat), now)
            if other:
                self.clock = StreamClock(setting.speed)
                for group in self.groups:
                    group.speed = setting.speed
            self._begin_anew(other_clock=other)
        elif (old.budget_of(self.person), old.lease_s) != (policy.budget_of(self.person), policy.lease_s):
            for group in self.groups:
                group.new_purse()
                for seat in group.seats:
                    self.examine(seat)

    def status(self) -> TrackerStatus:
        """Return what there is to tell."""
        space = self.setting.space
        return TrackerStatus(
            self.setting.name,
            self.setting.protocol,
            self.person,
            not self._why,
            self._why,
            self._samples,
            joint_guarantee_in_words(tuple(group.always for group in self.groups)),
            self.clock.faults._asdict(),
            {"width": space.size[0], "height": space.size[1], "unit": space.unit},
            self.setting.raw_view,
            None if self.scene is None else self._scene_status(self.scene),
        )

    def _scene_status(self, scene: SceneState) -> dict[str, Any]:
        """Return what there is to tell of the scene and of who follows it, as plain values."""
        apps = {
            seat.setting.name: {
                "radius": float(group.pace.applied.radius),
                "window_s": float(group.pace.applied.window),
                "why": scene.why(group.follows, group.pace),
                "radius_at_least": float(group.follows.least.radius),
                "window_at_least": float(group.follows.least.window),
            }
            for group in self.groups
            if group.follows is not None and group.pace is not None
            for seat in group.seats
        }
        return scene.status() | {
            "unit": self.setting.space.unit,
            "applied": next(iter(apps.values()), None),
            "apps": apps,
        }

    def close(self) -> None:
        """Shut all veils for good."""
        for group in self.groups:
            group.close()

    def _forget(self) -> None:
        """Keep nothing that the participant who sits here now could see of the one before."""
        self.raw = None
        for seat in self.seats:
            seat.received.clear()

    def _begin_anew(self, *, other_clock: bool = False) -> None:
        for group in self.groups:
            group.begin_anew(other_clock=other_clock)
            for seat in group.seats:
                self.examine(seat)

    def _new_group(self, mechanism: SampleMechanism, quiet_s: float, follows: SceneFollowing | None) -> ViewerGroup:
        self._made += 1
        group = ViewerGroup(
            f"{self.setting.name}/{self._made}",
            mechanism,
            noise=self._noise,
            make_purse=self._purse,
            quiet_s=max(quiet_s, self.past_window),
            log=self._log,
            speed=self.setting.speed,
            follows=follows,
        )
        self.groups = [*self.groups, group]
        return group

    def _purse(self, group: str, promise: Guarantee, mechanism: SampleMechanism) -> GroupLeases:
        return GroupLeases(
            group,
            self.person,
            promise,
            mechanism.to_dict(),
            budget=self._policy.budget_of(self.person),
            lease_s=self._policy.lease_s,
            wall=self._wall,
        )


def _scene(setting: TrackerSetting) -> SceneState | None:
    return None if setting.scene is None else SceneState(setting.scene.source, setting.scene.trusted)


def _patience(group: ViewerGroup) -> float:
    return LONGEST_FILL_S if group.goes_on else STALE_S
