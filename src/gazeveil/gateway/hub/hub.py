# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The hub: raw samples in, veiled gaze out, payments on the side. It has no sockets, threads or clocks.

Apps with equal veils on one tracker form a viewer group: one veil, one noise, one lease. Everything fails closed:
without a lease, a veil or a tracker an app gets no gaze, and it recovers by itself when the cause is gone. One cause
is final: a ledger that was replaced, is gone or is an old copy. Then the hub is latched and lets nothing through until
the gateway is started again. Log lines hold names of events and words of the policy, never gaze.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from gazeveil.errors import GazeveilError, LedgerRolledBack, PrivacyError
from gazeveil.gateway.hub.app_stream import LATCHED, SWITCHED_OFF, AppStream, Log, Outlet
from gazeveil.gateway.hub.budget import GroupLeases, LeaseCharge
from gazeveil.gateway.hub.status import (
    LATCH_HINT,
    AppStatus,
    BudgetStatus,
    HubStatus,
    guarantee_in_words,
)
from gazeveil.gateway.hub.tracker_stream import TrackerStream
from gazeveil.gateway.hub.viewer_group import ViewerGroup
from gazeveil.gateway.policy.checks import head_and_eyes_sentences
from gazeveil.gateway.policy.levels import (
    AS_WRITTEN,
    chosen_veil,
    is_weaker,
    level_named,
    level_of,
    longest_window,
    measured_identification,
    outputs_of,
)
from gazeveil.gateway.policy.scene import RADII, WINDOWS, RadiusAndWindow, SceneFollowing, SceneReading, steps_between
from gazeveil.gateway.policy.settings import AppSetting, Policy, TrackerSetting
from gazeveil.gateway.protocol import Output
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.veiling import feed_of, window_of
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Receipt
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import space_of


class Hub:
    """All trackers and apps of a policy. For one thread; only `LeaseCharge.pay` may run elsewhere.

    Methods that take the name of an app or a tracker raise `UnknownName` if the policy has none of that name; what
    trackers and scenes report is ignored then.

    Attributes:
        policy: What it follows.
        latched: Why nothing leaves until the gateway is started again; empty while things are well.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        noise: NoiseSource,
        now: float,
        wall: Callable[[], datetime],
        log: Log,
    ) -> None:
        """Start with every stream quiet.

        Args:
            policy: What it follows.
            noise: Where the random words come from.
            now: Monotonic seconds of the machine, as in all methods.
            wall: Returns the date and time with a time zone; used in texts only, no budget depends on it.
            log: Called with an event's name and plain fields.
        """
        self.policy, self.latched = policy, ""
        self._noise, self._wall, self._log = noise, wall, log
        self._trackers: dict[str, TrackerStream] = {}
        self._apps: dict[str, AppStream] = {}
        self._paying: dict[str, GroupLeases] = {}
        self._now = now
        self._longest = 0.0
        rehearse(policy)
        for tracker in policy.trackers:
            self._trackers[tracker.name] = self._new_stream(tracker.name)
        for app in policy.apps:  # before a crash any privacy level may have been chosen
            stream = self._trackers[app.tracker]
            stream.past_window = max(stream.past_window, longest_window(app, policy.tracker(app.tracker).space))
        for app in policy.apps:
            app_stream = self._apps[app.name] = AppStream(app, policy.tracker(app.tracker), log)
            self._trackers[app.tracker].place(app_stream, app.mechanism, now)

    def attach(self, app: str, outlet: Outlet) -> None:
        """Send an app's veiled gaze to an outlet from now on; the outlet gets the current state at once."""
        self.app_of(app).attach(outlet)
        self._group(app).apps_changed()

    def set_watched(self, app: str, is_watched: bool) -> None:
        """Set whether anyone asks for gaze at an app's outlet: gaze that nobody sees is neither veiled nor paid for."""
        self.app_of(app).set_watched(is_watched)
        self._group(app).apps_changed()

    def push(self, tracker: str, samples: Sequence[RawSample], now: float) -> None:
        """Take samples of a tracker. Never raises because of their values."""
        self._now = now
        stream = self._trackers.get(tracker)
        if stream is not None and not self.latched:
            stream.push(samples, now)

    def tracker_lost(self, tracker: str, why: str, now: float) -> None:
        """Handle the loss of a tracker: its apps get no gaze until samples come again."""
        stream = self._trackers.get(tracker)
        if stream is not None:
            stream.lose(why)

    def scene_read(self, tracker: str, reading: SceneReading, now: float) -> None:
        """Take a reading of a tracker's scene: veils that follow it may change, from their next sample on."""
        stream = self._trackers.get(tracker)
        if stream is not None and not self.latched:
            stream.scene_read(reading, now)

    def scene_lost(self, tracker: str, why: str, now: float) -> None:
        """Handle the loss of a tracker's scene: radius and window are not lowered until it is watched again."""
        stream = self._trackers.get(tracker)
        if stream is not None and not self.latched:
            stream.lose_scene(why, now)

    def fill(self, now: float) -> None:
        """Continue for silent trackers as if samples without gaze came. To be called many times a second."""
        if not self.latched:
            self._now = now
            for stream in self._trackers.values():
                stream.fill(now)

    def tick(self, now: float) -> None:
        """Do what is due. To be called a few times a second."""
        self._now = now
        if self.latched:
            self._end_all()
            return
        for stream in self._trackers.values():
            stream.tick(now)

    def charges(self) -> list[LeaseCharge]:
        """Return the leases to pay now, each once; call `settled` for every one of them."""
        due: list[LeaseCharge] = []
        now = self._now
        if self.latched:
            return due
        for stream in self._trackers.values():
            for group in stream.groups:
                if group.is_running and stream.serves(group, now):
                    charge = group.leases.charge(now)
                    if charge is not None:
                        self._paying[charge.id] = group.leases
                        due.append(charge)
        return due

    def settled(self, charge: LeaseCharge, outcome: Receipt | GazeveilError, now: float) -> None:
        """Take the outcome of a payment: the receipt, or the error that `LeaseCharge.pay` raised."""
        leases = self._paying.pop(charge.id, None)
        if leases is None:
            return
        leases.settled(charge, outcome, now)
        if isinstance(outcome, LedgerRolledBack):
            self.latch(outcome)
        elif isinstance(outcome, GazeveilError):
            self._log(
                "payment-failed", group=charge.group, participant=charge.participant, error=type(outcome).__name__
            )

    def set_level(self, app: str, *, now: float, **requested: Any) -> None:
        """Change an app's privacy level, with the accounting of erratum K4; `chosen_veil` says what can be requested.

        A stronger level holds at once, a weaker one when the windows that began before are over.

        Raises:
            UnknownName: If there is no such app.
            OptionError: If the veil cannot be made.
            PrivacyError: If the policy or the budget does not allow it; everything stays as it was.
        """
        app_stream, group = self.app_of(app), self._group(app)
        stream = self._trackers[app_stream.setting.tracker]
        wish = chosen_veil(app_stream.setting, stream.level_of(app_stream), stream.setting.space, **requested)
        if reason := stream.forbids(app_stream, wish):
            raise PrivacyError(f"{wish.name} may not be used by {app!r}: {reason}")
        before, window = group.mechanism, max(group.window, app_stream.window)
        stream.place(app_stream, wish, now)
        after = self._group(app).mechanism
        if is_weaker(before, after):  # windows that began before the change keep the old guarantee as well
            app_stream.weaker_at = now + max(window, 0.0 if before.can_become(after) else window_of(after.guarantee))
        self._log("level-changed", app=app, veil=after.in_words())

    def rule(self, app: str, output: Output | None) -> None:
        """Change an app's output from now on; None for the policy's.

        Raises:
            UnknownName: If there is no such app.
            PrivacyError: If the output cannot be derived from the policy's, or the app's protocol cannot carry it.
        """
        app_stream = self.app_of(app)
        app_stream.choose_output(self.allowed(app, output), self.policy.tracker(app_stream.setting.tracker))
        self._log("rule-changed", app=app, output=app_stream.output)

    def allowed(self, app: str, output: Output | None) -> Output:
        """Return the output that an app would get; None stands for the policy's.

        Raises:
            UnknownName: If there is no such app.
            PrivacyError: If the policy does not allow it.
        """
        setting = self.app_of(app).setting
        allowed = outputs_of(setting, self.policy.tracker(setting.tracker))
        if output is not None and output not in allowed:
            raise PrivacyError(
                f"{app!r} cannot have {output}",
                hint=f"it may have: {', '.join(allowed)}; hits need areas in the policy",
            )
        return output or setting.output

    def switch(self, app: str, on: bool) -> None:
        """Switch an app on or off."""
        app_stream = self.app_of(app)
        if app_stream.is_on == on:
            return
        if on:
            app_stream.is_on = True
            app_stream.reopen()
        else:
            app_stream.end(SWITCHED_OFF)
            app_stream.is_on = False
        self._group(app).apps_changed()

    def set_participant(self, tracker: str, participant: str, now: float) -> None:
        """Set the participant at a tracker: new veils, new leases, another budget."""
        self.policy.tracker(tracker)
        self._trackers[tracker].set_participant(participant)

    def use_source(self, setting: TrackerSetting, now: float) -> None:
        """Use another source for a tracker's gaze: new veils with their quiet time, the same budget."""
        self.policy.tracker(setting.name)
        trackers = tuple(setting if one.name == setting.name else one for one in self.policy.trackers)
        self.policy = replace(self.policy, trackers=trackers)
        self._trackers[setting.name].apply_setting(setting, self.policy, now)

    def reload(self, policy: Policy, now: float) -> None:
        """Follow another policy. What did not change continues; what changed restarts with a quiet time."""
        self.policy = policy
        names = {app.name for app in policy.apps}
        self._longest = max([self._longest, *(stream.longest_window() for stream in self._trackers.values())])
        for name in [name for name in self._apps if name not in names]:
            app_stream = self._apps.pop(name)
            app_stream.end("the policy has no such app any more")
            self._trackers[app_stream.setting.tracker].remove(app_stream)
        kept: dict[str, TrackerStream] = {}
        for tracker in policy.trackers:
            stream = self._trackers.get(tracker.name)
            if stream is None:  # perhaps a known tracker under another name
                stream = self._new_stream(tracker.name)
                stream.past_window = self._longest
            stream.apply_setting(tracker, policy, now)
            kept[tracker.name] = stream
        gone = {name: stream for name, stream in self._trackers.items() if name not in kept}
        for app in policy.apps:
            self._replace_app(app.name, {**gone, **kept}, now)
        self._trackers = kept
        for stream in gone.values():
            stream.close()
        self._log("policy-loaded", apps=len(policy.apps), trackers=len(policy.trackers))

    def tracker_of(self, tracker: str) -> TrackerStream:
        """Return the stream of a tracker, for the control page."""
        self.policy.tracker(tracker)
        return self._trackers[tracker]

    def app_of(self, app: str) -> AppStream:
        """Return the stream of an app."""
        self.policy.app(app)
        return self._apps[app]

    def status(self) -> HubStatus:
        """Return the state of everything; it holds no gaze."""
        return HubStatus(
            tuple(stream.status() for stream in self._trackers.values()),
            tuple(group.status(stream.setting.name) for stream in self._trackers.values() for group in stream.groups),
            tuple(self._app_status(name) for name in self._apps),
            self._budgets(),
            self.latched,
        )

    def close(self) -> None:
        """Close all veils for good."""
        for stream in self._trackers.values():
            stream.close()

    def latch(self, cause: LedgerRolledBack) -> None:
        """Let nothing leave any more: the record of what was spent is lost, so what is left is unknown."""
        if self.latched:
            return
        self.latched = cause.message
        self._log("latched-shut", why=cause.message, hint=LATCH_HINT)
        self.close()
        self._end_all()

    def _end_all(self) -> None:
        for app_stream in self._apps.values():
            if app_stream.is_on:
                app_stream.end(LATCHED)

    def _new_stream(self, name: str) -> TrackerStream:
        return TrackerStream(self.policy.tracker(name), self.policy, noise=self._noise, wall=self._wall, log=self._log)

    def _group(self, app: str) -> ViewerGroup:
        return self._trackers[self._apps[app].setting.tracker].group_of(self._apps[app])

    def _replace_app(self, name: str, streams: dict[str, TrackerStream], now: float) -> None:
        """Move an app to where the new policy wants it; it stays in its group if nothing changed."""
        app, tracker = self.policy.app(name), self.policy.tracker(self.policy.app(name).tracker)
        app_stream = self._apps.get(name)
        if app_stream is None:
            app_stream = self._apps[name] = AppStream(app, tracker, self._log)
            streams[app.tracker].place(app_stream, app.mechanism, now)
        elif app_stream.setting != app:
            old = streams[app_stream.setting.tracker]
            app_stream.reopen()
            if app_stream.setting.tracker != app.tracker:
                old.remove(app_stream)
            app_stream.apply_setting(app, tracker)
            streams[app.tracker].place(app_stream, app.mechanism, now)
        streams[app.tracker].check_guarantee(app_stream)

    def _app_status(self, name: str) -> AppStatus:
        app_stream, group = self._apps[name], self._group(name)
        setting, guarantee = app_stream.setting, group.paid_guarantee
        tracker, scene = self.policy.tracker(setting.tracker), self._trackers[setting.tracker].scene
        words = guarantee_in_words(guarantee)
        if group.follows is not None and scene is not None:
            words = f"{words} {scene.rests_on}"
        words, identified = (
            " ".join((words, *head_and_eyes_sentences(setting))),
            measured_identification(group.mechanism),
        )
        return AppStatus(
            name,
            setting.tracker,
            setting.protocol,
            group.name,
            app_stream.output,
            app_stream.state,
            self.latched or app_stream.refused or app_stream.why,
            app_stream.received.count,
            app_stream.errors,
            guarantee.proven,
            words,
            identified["words"],
            setting.levels,
            group.mechanism.name,
            app_stream.rule,
            outputs_of(setting, tracker),
            level_of(
                setting,
                group.mechanism,
                tracker.space,
                max(0.0, app_stream.weaker_at - self._now),
                None if group.follows is None else group.follows.level,
            ),
            identified,
        )

    def _budgets(self) -> tuple[BudgetStatus, ...]:
        found: dict[str, BudgetStatus] = {}
        for stream in self._trackers.values():
            for leases in (group.leases for group in stream.groups):
                budget, before = leases.budget, found.get(leases.participant)
                if budget is None:
                    continue
                known = [] if before is None or before.remaining is None else [before.remaining]
                known += [] if leases.remaining is None else [float(leases.remaining)]
                found[leases.participant] = BudgetStatus(
                    leases.participant,
                    float(budget.epsilon_per_day),
                    float(budget.radius),
                    budget.unit,
                    min(known) if known else None,
                    leases.spent or (before.spent if before else ""),
                    leases.back or (before.back if before else ""),
                )
        return tuple(found.values())


def rehearse(policy: Policy) -> None:
    """Compile and cache what a policy can ask for: every veil of a scene, changes of privacy levels, fixations."""
    for app in policy.apps:
        tracker = policy.tracker(app.tracker)
        if app.follow_scene:
            _rehearse_scene(app, tracker)
        elif app.mechanism.can_change:
            _rehearse_change(app.mechanism, app.mechanism)
        if "fixations" in outputs_of(app, tracker):
            _rehearse_fixations(tracker.geometry)


def _rehearse_scene(app: AppSetting, tracker: TrackerSetting) -> None:
    trusted = tracker.scene is not None and tracker.scene.trusted
    for level in (level_named(app, name, tracker.space) for name in (AS_WRITTEN, *app.levels)):
        follow = SceneFollowing.of(app, level, trusted)
        if follow is not None:
            for radius in steps_between(RADII, follow.least.radius, follow.most.radius, follow.base.radius):
                for window in steps_between(WINDOWS, follow.least.window, follow.most.window, follow.base.window):
                    follow.veil(RadiusAndWindow(radius, window))
            _rehearse_change(follow.veil(follow.base), follow.floor)


@lru_cache(maxsize=64)
def _rehearse_change(mechanism: SampleMechanism, wish: SampleMechanism) -> None:
    veil = mechanism.start(NoiseSource.seeded(0))  # thrown away: it never sees gaze
    veil.change(0.0, **wish.privacy_level)
    veil.close()


@lru_cache(maxsize=8)
def _rehearse_fixations(geometry: Geometry) -> None:
    space = space_of(geometry)
    feed = feed_of("fixations", edge="clamp", rate_hz=60.0, space=space, geometry=geometry, areas=None)
    for number in range(40):  # two made-up fixations
        corner = space.low if number < 20 else space.high
        feed.give(number / 60, float(corner[0]), float(corner[1]), lambda shown: None)
