# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The hub: raw samples in, veiled gaze out, payments on the side. No sockets, threads or clocks.

Apps with equal veils on one tracker are one viewer group: one veil, one noise, one lease. Everything fails closed:
without a lease, a veil or a tracker an app hears silence, and it recovers by itself when the cause is gone. One cause
stays: a ledger that was replaced, is gone or is an old copy. Then the hub is latched, and lets nothing through. What is
logged is an event's name and words of the policy, never gaze.
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
from gazeveil.gateway.policy.checks import beside_sentences
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
        follow = SceneFollowing.of(app, level, trusted)
        if follow is not None:
            for radius in steps_between(RADII, follow.least.radius, follow.most.radius, follow.base.radius):
                for window in steps_between(WINDOWS, follow.least.window, follow.most.window, follow.base.window):
                    follow.veil(RadiusAndWindow(radius, window))
            _change(follow.veil(follow.base), follow.floor)


@lru_cache(maxsize=64)
def _change(mechanism: SampleMechanism, wish: SampleMechanism) -> None:
    veil = mechanism.start(NoiseSource.seeded(0))  # thrown away: it never sees gaze
    veil.change(0.0, **wish.privacy_level)
    veil.close()


@lru_cache(maxsize=8)
def _fixate(geometry: Geometry) -> None:
    space = space_of(geometry)
    feed = feed_of("fixations", edge="clamp", rate_hz=60.0, space=space, geometry=geometry, areas=None)
    for number in range(40):  # two made-up fixations
        corner = space.low if number < 20 else space.high
        feed.give(number / 60, float(corner[0]), float(corner[1]), lambda shown: None)


# --- The middle of the gateway: raw samples in, veiled things out, payments on the side. No sockets, threads or clocks.


class Hub:
    """All trackers and apps of a policy. For one thread; only `Charge.pay` may run elsewhere.

    Who names an app or a tracker that the policy does not have gets an `UnknownName`, but for what comes from trackers.

    Attributes:
        policy: What it follows.
        latched: Why nothing leaves any more, until the gateway is started again; empty while things are well.
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
        """Begin, with every stream quiet.

        Args:
            policy: What to do.
            noise: Where the random words come from.
            now: Monotonic seconds of the machine, as in all methods.
            wall: Tells the date and time, with a time zone; for words alone, no budget goes by it.
            log: Called with an event's name and plain fields.
        """
        self.policy, self.latched = policy, ""
        self._noise, self._wall, self._log = noise, wall, log
        self._desks: dict[str, TrackerStream] = {}
        self._seats: dict[str, AppStream] = {}
        self._paying: dict[str, GroupLeases] = {}
        self._now = now
        self._longest = 0.0
        rehearse(policy)
        for tracker in policy.trackers:
            self._desks[tracker.name] = self._desk(tracker.name)
        for app in policy.apps:  # before a crash the knob may have stood anywhere
            desk = self._desks[app.tracker]
            desk.past_window = max(desk.past_window, longest_window(app, policy.tracker(app.tracker).space))
        for app in policy.apps:
            seat = self._seats[app.name] = AppStream(app, policy.tracker(app.tracker), log)
            self._desks[app.tracker].place(seat, app.mechanism, now)

    def attach(self, app: str, outlet: Outlet) -> None:
        """Show an app's veiled gaze at an outlet from now on; it gets the current state at once."""
        self.seat_of(app).attach(outlet)
        self._group(app).seats_changed()

    def watched(self, app: str, by_anybody: bool) -> None:
        """Say whether anyone asks for gaze at an app's outlet: what nobody sees is neither veiled nor paid for."""
        self.seat_of(app).watch(by_anybody)
        self._group(app).seats_changed()

    def push(self, tracker: str, samples: Sequence[RawSample], now: float) -> None:
        """Take samples of a tracker. Never raises because of what is in them."""
        self._now = now
        desk = self._desks.get(tracker)
        if desk is not None and not self.latched:
            desk.push(samples, now)

    def lost(self, tracker: str, why: str, now: float) -> None:
        """Say that a tracker is gone: its apps hear silence until samples come again."""
        desk = self._desks.get(tracker)
        if desk is not None:
            desk.lose(why)

    def see(self, tracker: str, reading: SceneReading, now: float) -> None:
        """Take what was read from a tracker's scene: veils that follow it may change, from their next sample on."""
        desk = self._desks.get(tracker)
        if desk is not None and not self.latched:
            desk.see(reading, now)

    def scene_lost(self, tracker: str, why: str, now: float) -> None:
        """Say that a tracker's scene is not watched any more: nothing is lowered until it is again."""
        desk = self._desks.get(tracker)
        if desk is not None and not self.latched:
            desk.lose_scene(why, now)

    def fill(self, now: float) -> None:
        """Go on for trackers that are silent, as if samples without gaze came. To be called many times a second."""
        if not self.latched:
            self._now = now
            for desk in self._desks.values():
                desk.fill(now)

    def tick(self, now: float) -> None:
        """Do what time demands. To be called a few times a second."""
        self._now = now
        if self.latched:
            self._end_all()
            return
        for desk in self._desks.values():
            desk.tick(now)

    def charges(self) -> list[LeaseCharge]:
        """Return the leases that are to be paid now, each once; every one must be `settled`."""
        due: list[LeaseCharge] = []
        now = self._now
        if self.latched:
            return due
        for desk in self._desks.values():
            for group in desk.groups:
                if group.is_running and desk.serves(group, now):
                    charge = group.purse.charge(now)
                    if charge is not None:
                        self._paying[charge.id] = group.purse
                        due.append(charge)
        return due

    def settled(self, charge: LeaseCharge, outcome: Receipt | GazeveilError, now: float) -> None:
        """Take the outcome of a payment: the receipt, or the error that `Charge.pay` raised."""
        purse = self._paying.pop(charge.id, None)
        if purse is None:
            return
        purse.settled(charge, outcome, now)
        if isinstance(outcome, LedgerRolledBack):
            self.latch(outcome)
        elif isinstance(outcome, GazeveilError):
            self._log("payment-failed", group=charge.group, person=charge.person, error=type(outcome).__name__)

    def turn(self, app: str, *, now: float, **wished: Any) -> None:
        """Change an app's privacy level, with the accounting of erratum K4; `chosen` says what can be wished for.

        Stricter holds at once, looser when windows are over.

        Raises:
            UnknownName: If there is no such app.
            OptionError: If the veil cannot be made.
            PrivacyError: If the policy or the budget does not allow it; everything stays as it was.
        """
        seat, group = self.seat_of(app), self._group(app)
        desk = self._desks[seat.setting.tracker]
        wish = chosen_veil(seat.setting, desk.level_of(seat), desk.setting.space, **wished)
        if reason := desk.forbids(seat, wish):
            raise PrivacyError(f"{wish.name} may not be used by {app!r}: {reason}")
        before, window = group.mechanism, max(group.window, seat.window)
        desk.place(seat, wish, now)
        after = self._group(app).mechanism
        if is_weaker(before, after):  # windows that began before the turn keep the old promise as well
            seat.looser_at = now + max(window, 0.0 if before.can_become(after) else window_of(after.guarantee))
        self._log("knob-turned", app=app, veil=after.in_words())

    def rule(self, app: str, output: Output | None) -> None:
        """Let an app have something else of its veiled points from now on; None for what the policy gives it.

        Raises:
            UnknownName: If there is no such app.
            PrivacyError: If it does not follow from what the policy gives, or the app's protocol cannot carry it.
        """
        seat = self.seat_of(app)
        seat.choose(self.allowed(app, output), self.policy.tracker(seat.setting.tracker))
        self._log("rule-changed", app=app, output=seat.output)

    def allowed(self, app: str, output: Output | None) -> Output:
        """Return what an app would get by a rule.

        Raises:
            UnknownName: If there is no such app.
            PrivacyError: If it may not have it.
        """
        setting = self.seat_of(app).setting
        allowed = outputs_of(setting, self.policy.tracker(setting.tracker))
        if output is not None and output not in allowed:
            raise PrivacyError(
                f"{app!r} cannot have {output}",
                hint=f"it may have: {', '.join(allowed)}; hits need areas in the policy",
            )
        return output or setting.output

    def switch(self, app: str, on: bool) -> None:
        """Switch an app on or off."""
        seat = self.seat_of(app)
        if seat.is_on == on:
            return
        if on:
            seat.is_on = True
            seat.begin_anew()
        else:
            seat.end(SWITCHED_OFF)
            seat.is_on = False
        self._group(app).seats_changed()

    def sit_down(self, tracker: str, person: str, now: float) -> None:
        """Say who sits before a tracker now: new veils, new leases, another budget."""
        self.policy.tracker(tracker)
        self._desks[tracker].seat_person(person)

    def use_source(self, setting: TrackerSetting, now: float) -> None:
        """Take a tracker's gaze from another source: new veils with their quiet time, the same budget."""
        self.policy.tracker(setting.name)
        trackers = tuple(setting if one.name == setting.name else one for one in self.policy.trackers)
        self.policy = replace(self.policy, trackers=trackers)
        self._desks[setting.name].obey(setting, self.policy, now)

    def reload(self, policy: Policy, now: float) -> None:
        """Follow another policy. What did not change goes on; what did begins anew with a quiet time."""
        self.policy = policy
        names = {app.name for app in policy.apps}
        self._longest = max([self._longest, *(desk.longest_window() for desk in self._desks.values())])
        for name in [name for name in self._seats if name not in names]:
            seat = self._seats.pop(name)
            seat.end("the policy has no such app any more")
            self._desks[seat.setting.tracker].remove(seat)
        kept: dict[str, TrackerStream] = {}
        for tracker in policy.trackers:
            desk = self._desks.get(tracker.name)
            if desk is None:  # perhaps a known tracker under another name
                desk = self._desk(tracker.name)
                desk.past_window = self._longest
            desk.obey(tracker, policy, now)
            kept[tracker.name] = desk
        gone = {name: desk for name, desk in self._desks.items() if name not in kept}
        for app in policy.apps:
            self._reseat(app.name, {**gone, **kept}, now)
        self._desks = kept
        for desk in gone.values():
            desk.close()
        self._log("policy-loaded", apps=len(policy.apps), trackers=len(policy.trackers))

    def desk_of(self, tracker: str) -> TrackerStream:
        """Return a tracker's place in the hub, for the control page."""
        self.policy.tracker(tracker)
        return self._desks[tracker]

    def seat_of(self, app: str) -> AppStream:
        """Return an app's place in the hub."""
        self.policy.app(app)
        return self._seats[app]

    def status(self) -> HubStatus:
        """Return everything there is to tell; nothing of it is gaze."""
        return HubStatus(
            tuple(desk.status() for desk in self._desks.values()),
            tuple(group.status(desk.setting.name) for desk in self._desks.values() for group in desk.groups),
            tuple(self._app_status(name) for name in self._seats),
            self._budgets(),
            self.latched,
        )

    def close(self) -> None:
        """Shut all veils for good."""
        for desk in self._desks.values():
            desk.close()

    def latch(self, cause: LedgerRolledBack) -> None:
        """Let nothing leave any more: what was spent is forgotten, so nobody can say what may still be spent."""
        if self.latched:
            return
        self.latched = cause.message
        self._log("latched-shut", why=cause.message, hint=LATCH_HINT)
        self.close()
        self._end_all()

    def _end_all(self) -> None:
        for seat in self._seats.values():
            if seat.is_on:
                seat.end(LATCHED)

    def _desk(self, name: str) -> TrackerStream:
        return TrackerStream(self.policy.tracker(name), self.policy, noise=self._noise, wall=self._wall, log=self._log)

    def _group(self, app: str) -> ViewerGroup:
        return self._desks[self._seats[app].setting.tracker].group_of(self._seats[app])

    def _reseat(self, name: str, desks: dict[str, TrackerStream], now: float) -> None:
        """Let an app follow the new policy: in its old group if nothing changed, else where it belongs now."""
        app, tracker = self.policy.app(name), self.policy.tracker(self.policy.app(name).tracker)
        seat = self._seats.get(name)
        if seat is None:
            seat = self._seats[name] = AppStream(app, tracker, self._log)
            desks[app.tracker].place(seat, app.mechanism, now)
        elif seat.setting != app:
            old = desks[seat.setting.tracker]
            seat.begin_anew()
            if seat.setting.tracker != app.tracker:
                old.remove(seat)
            seat.obey(app, tracker)
            desks[app.tracker].place(seat, app.mechanism, now)
        desks[app.tracker].examine(seat)

    def _app_status(self, name: str) -> AppStatus:
        seat, group = self._seats[name], self._group(name)
        setting, promise = seat.setting, group.always
        tracker, scene = self.policy.tracker(setting.tracker), self._desks[setting.tracker].scene
        words = guarantee_in_words(promise)
        if group.follows is not None and scene is not None:
            words = f"{words} {scene.rests_on}"
        words, identified = " ".join((words, *beside_sentences(setting))), measured_identification(group.mechanism)
        return AppStatus(
            name,
            setting.tracker,
            setting.protocol,
            group.name,
            seat.output,
            seat.state,
            self.latched or seat.refused or seat.why,
            seat.received.count,
            seat.errors,
            promise.proven,
            words,
            identified["words"],
            setting.knob,
            group.mechanism.name,
            seat.rule,
            outputs_of(setting, tracker),
            level_of(
                setting,
                group.mechanism,
                tracker.space,
                max(0.0, seat.looser_at - self._now),
                None if group.follows is None else group.follows.level,
            ),
            identified,
        )

    def _budgets(self) -> tuple[BudgetStatus, ...]:
        told: dict[str, BudgetStatus] = {}
        for desk in self._desks.values():
            for purse in (group.purse for group in desk.groups):
                budget, before = purse.budget, told.get(purse.person)
                if budget is None:
                    continue
                known = [] if before is None or before.remaining is None else [before.remaining]
                known += [] if purse.remaining is None else [float(purse.remaining)]
                told[purse.person] = BudgetStatus(
                    purse.person,
                    float(budget.epsilon_per_day),
                    float(budget.radius),
                    budget.unit,
                    min(known) if known else None,
                    purse.spent or (before.spent if before else ""),
                    purse.back or (before.back if before else ""),
                )
        return tuple(told.values())
