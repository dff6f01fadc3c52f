# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A viewer group: the apps with equal veils on one tracker. One veil, one noise, one lease for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable

from gazeveil.gateway.hub.app_stream import AppStream, Log, Point, Ring
from gazeveil.gateway.hub.budget import GroupLeases
from gazeveil.gateway.hub.status import GroupStatus, guarantee_in_words
from gazeveil.gateway.policy.scene import FollowingPace, RadiusAndWindow, SceneFollowing, SceneState
from gazeveil.gateway.sample import EyeGeometry, Pointing
from gazeveil.gateway.veiling import LiveVeil, window_of
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import guarantee_after_noise
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.mechanism import SampleMechanism

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 2.0
"""Pauses in seconds before a veil that failed is replaced; they double."""

QUIET = "a new stream begins with a quiet time"
UNPAID = "waiting for the ledger"
BROKEN = "the veil met an error and is closed"

MakeGroupLeases = Callable[[str, Guarantee, SampleMechanism], GroupLeases]


class ViewerGroup:
    """Apps behind one veil.

    Attributes:
        name: For logs and notes.
        mechanism: The veil, at its current privacy level.
        leases: What pays for it.
        apps: Its apps.
        is_running: Whether there is anyone to show gaze to.
        goes_on: Whether it continues while the tracker is silent: with a guarantee, releases come on the public clock.
        speed: How many seconds of stream time a second of the machine's clock stands for.
        follows: How radius and window follow the scene; None if they do not.
        pace: What the scene asked for, and what of it holds.
        tap: A copy of the veil's points while the control page shows them; None otherwise, and whenever a veil begins.
        window: The longest window that was guaranteed lately, in seconds: whatever follows is quiet for as long.
    """

    __slots__ = (
        "_joining", "_live", "_log", "_make_leases", "_noise", "_pause", "_points", "_retry_at", "_running", "apps",
        "follows", "goes_on", "is_running", "leases", "mechanism", "name", "pace", "restarts", "speed", "tap", "window",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        mechanism: SampleMechanism,
        *,
        noise: NoiseSource,
        make_leases: MakeGroupLeases,
        quiet_s: float,
        log: Log,
        speed: float = 1.0,
        follows: SceneFollowing | None = None,
    ) -> None:
        """Start a group with a new veil, which is quiet for its window or for ``quiet_s``, whichever is longer."""
        self._follow(follows, mechanism)
        self.name, self.mechanism, self.speed = name, mechanism, speed
        self._noise, self._make_leases, self._log = noise, make_leases, log
        self.goes_on = self.guarantee.proven
        self.apps: list[AppStream] = []
        self.tap: Ring[Point] | None = None
        self._running: tuple[AppStream, ...] = ()
        self.is_running = False
        self._joining: list[tuple[AppStream, float, float]] = []
        self.window = max(quiet_s, _longest_of(mechanism, follows))
        self._live: LiveVeil | None = None
        self._retry_at, self._pause = -math.inf, FIRST_PAUSE_S
        self._points = self.restarts = 0
        self.leases = self._fresh_leases()
        self._start(now=-math.inf)

    @property
    def guarantee(self) -> Guarantee:
        """What its stream guarantees now, with this noise."""
        return self._guarantee_of(self.mechanism)

    @property
    def paid_guarantee(self) -> Guarantee:
        """What its stream guarantees whatever the scene does: the leases pay for this."""
        return self._guarantee_of(self._least)

    def take(
        self,
        t: float,
        x: float,
        y: float,
        now: float,
        head: Pointing | None = None,
        eyes: EyeGeometry | None = None,
    ) -> None:
        """Veil one sample and show it. On any error the veil is closed and nothing leaves."""
        live = self._live
        if live is None or not self.is_running:
            return
        try:
            point = live.pass_through(t, x, y, now, head)
            if point is None:
                if not self._opened(live, t, now):
                    return
                point = live.pass_through(t, x, y, now, head)
                if point is None:
                    return
        except Exception as error:  # noqa: BLE001  (whatever it is, the veil is closed)
            self._fail(error, now)
            return
        if self._joining:
            self._let_in(t, now)
        shown_x, shown_y = point
        if self.tap is not None:
            self.tap.add((t, shown_x, shown_y))
        for app in self._running:
            app.give(t, shown_x, shown_y, live.head, eyes)

    def flush(self, arrived: float) -> None:
        """Send what was shown: samples that came together leave together, so a slow reader catches up."""
        for app in self._running:
            outlet = app.outlet
            if outlet is not None:
                try:
                    outlet.flush(arrived)
                except Exception as error:  # noqa: BLE001  (whatever it is, it is one app's trouble)
                    app.failed(error)

    def tick(self, now: float) -> None:
        """Replace a veil that failed once the pause is over; ask a spent budget again when that is due."""
        if self._live is None and now >= self._retry_at:
            self._start(now)
        if self.leases.spent and not self.leases.is_spent(now):
            for app in self.apps:
                app.reopen()

    def join(self, app: AppStream, t: float | None, now: float, quiet_s: float = 0.0) -> None:
        """Add an app. One that comes from another veil first waits, on both clocks."""
        self.apps.append(app)
        if quiet_s > 0.0:
            self._joining.append((app, -math.inf if t is None else t + quiet_s, now + quiet_s))
            app.silence(QUIET)
        self.apps_changed()

    def leave(self, app: AppStream) -> None:
        """Remove an app."""
        self.apps.remove(app)
        self.apps_changed()

    def apps_changed(self) -> None:
        """Update which apps take part."""
        self._joining = [entry for entry in self._joining if entry[0] in self.apps]
        waiting = [entry[0] for entry in self._joining]
        self._running = tuple(app for app in self.apps if app.takes_part and app not in waiting)
        self.is_running = any(app.takes_part for app in self.apps)

    def restart(self, *, other_clock: bool = False) -> None:
        """Start a new veil and drop the lease: the participant or the tracker changed."""
        if other_clock:  # moments of the old clock mean nothing any more
            self._joining = [(app, -math.inf, until_now) for app, _, until_now in self._joining]
        self.close("a new stream begins")
        self.new_leases()
        self._start(now=-math.inf)

    def new_leases(self) -> None:
        """Start new leases: the guarantee or the budget changed. What was paid before is lost."""
        if self._live is not None:
            self._live.shut()
        self.leases = self._fresh_leases()
        for app in self.apps:
            app.reopen()

    def become(self, mechanism: SampleMechanism, t: float | None, follows: SceneFollowing | None = None) -> None:
        """Change the veil's privacy level (erratum K4), and pay for the new guarantee before anything else leaves.

        Raises:
            OptionError: If the veil cannot keep the new guarantee; everything stays as it was.
        """
        live, self.tap = self._live, None
        longest = max(self.window, _longest_of(mechanism, follows))
        if live is not None and t is not None:
            live.veil.change(t, **mechanism.privacy_level)
            live.be_quiet(longest)
        self.mechanism, self.window = mechanism, longest
        if live is None or t is None:
            self.close("the privacy level was changed")
            self._start(now=-math.inf)
        self._follow(follows, mechanism)
        self.new_leases()

    def update_from_scene(self, scene: SceneState, t: float | None, now: float) -> None:
        """Take what the scene asks for, and follow it if that is due."""
        if self.follows is not None and self.pace is not None:
            scene.ask(self.follows, self.pace, now)
            self.follow(t, now)

    def follow(self, t: float | None, now: float) -> None:
        """Follow what the scene asked for, if that is due (erratum K4).

        The lease stays valid: it paid for the smallest radius and window that the scene may ask for. So does the
        stream: its quiet start was as long as the longest window that the scene may ask for.
        """
        if self.follows is None or self.pace is None or (aim := self.pace.due(now)) is None:
            return
        live = self._live
        try:
            mechanism = self.follows.veil(aim)
            if live is not None and t is not None:
                live.veil.change(t, **mechanism.privacy_level)
            else:
                self.close("the scene changed")
        except Exception as error:  # noqa: BLE001  (whatever it is, the veil is closed)
            self._fail(error, now)
            return
        self.pace.changed(aim, now)
        self.mechanism, self.tap = mechanism, None
        if live is None or t is None:
            self._start(now)
        self._log("scene-followed", group=self.name, veil=mechanism.in_words())

    def silence(self, why: str) -> None:
        """Report to its apps that there is no gaze at present."""
        for app in self.apps:
            if app.takes_part:
                app.silence(why)

    def close(self, reason: str = "no one is watching any more") -> None:
        """Close the veil for good; a new one is needed to continue."""
        if self._live is not None:
            self._points += self._live.points
            self._live.close(reason)
        self._live = self.tap = None

    def status(self, tracker: str) -> GroupStatus:
        """Return its state."""
        guarantee, live = self.guarantee, self._live
        return GroupStatus(
            self.name,
            tracker,
            self.leases.participant,
            tuple(app.setting.name for app in self.apps),
            self.mechanism.in_words(),
            guarantee_in_words(guarantee),
            guarantee.to_dict(),
            guarantee.proven,
            self._points + (live.points if live is not None else 0),
            self.restarts,
            live.veil.faults._asdict() if live is not None else {},
            self.leases.seconds_paid,
            None if self.leases.remaining is None else float(self.leases.remaining),
            self.leases.trouble,
        )

    @property
    def _least(self) -> SampleMechanism:
        """The weakest veil that the scene may ask for."""
        return self.mechanism if self.follows is None else self.follows.floor

    def _guarantee_of(self, mechanism: SampleMechanism) -> Guarantee:
        guarantee = mechanism.guarantee
        return guarantee_after_noise(guarantee, self._noise) if mechanism.draws_noise else guarantee

    def _fresh_leases(self) -> GroupLeases:
        return self._make_leases(self.name, self.paid_guarantee, self._least)

    def _follow(self, follows: SceneFollowing | None, mechanism: SampleMechanism) -> None:
        self.follows, self.pace = follows, None
        if follows is not None:
            level = mechanism.privacy_level
            self.pace = FollowingPace(RadiusAndWindow(level["radius"], level["window"]))

    def _opened(self, live: LiveVeil, t: float, now: float) -> bool:
        """Open the veil if it is allowed and paid for; report why not otherwise."""
        if live.is_quiet(t, now):
            self.silence(QUIET)
            return False
        ends = self.leases.begin(t, now)
        if ends is not None:
            live.open_until(*ends)
            if live.points:  # it works, so the next error is a first one again
                self._pause = FIRST_PAUSE_S
            return True
        if self.leases.is_spent(now):
            for app in self.apps:
                if app.takes_part:
                    app.end(self.leases.spent)
        else:
            self.silence(UNPAID)
        return False

    def _let_in(self, t: float, now: float) -> None:
        ready = [app for app, until_t, until_now in self._joining if t > until_t and now > until_now]
        if ready:
            self._joining = [entry for entry in self._joining if entry[0] not in ready]
            self.apps_changed()

    def _fail(self, error: Exception, now: float) -> None:
        self._log("veil-closed", group=self.name, error=type(error).__name__)
        self.close(f"{type(error).__name__} in a live stream")
        self._retry_at = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)
        self.restarts += 1
        self.silence(BROKEN)

    def _start(self, now: float) -> None:
        try:
            self._live = LiveVeil(self.mechanism, self._noise, quiet_s=self.window, speed=self.speed)
        except Exception as error:  # noqa: BLE001  (a veil that cannot start is a veil that failed)
            self._fail(error, now)


def _longest_of(mechanism: SampleMechanism, follows: SceneFollowing | None) -> float:
    """Return the longest window of a veil, in seconds, and of what the scene may make of it."""
    most = 0.0 if follows is None else window_of(follows.veil(follows.most).guarantee)
    return max(window_of(mechanism.guarantee), most)
