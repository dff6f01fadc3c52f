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
"""Pauses before a veil that failed is replaced; they double."""

QUIET = "a new stream begins with a quiet time"
UNPAID = "waiting for the ledger"
BROKEN = "the veil met an error and is closed"

MakeGroupLeases = Callable[[str, Guarantee, SampleMechanism], GroupLeases]


class ViewerGroup:
    """Apps behind one veil.

    Attributes:
        name: For logs and notes.
        mechanism: The veil, at its current privacy level.
        purse: What pays for it.
        seats: Its apps.
        is_running: Whether there is anyone to show gaze to.
        goes_on: Whether it goes on when the tracker is silent: with a guarantee, releases come on the public clock.
        speed: How many seconds of stream time a second of the machine's clock stands for.
        follows: How radius and window follow the scene; None if they do not.
        pace: What the scene asked for, and what of it holds.
        tap: Where the veil's points go as well while someone looks on; None otherwise, and whenever a veil begins.
        window: The longest window that was guaranteed lately, in seconds: how long whatever follows must be quiet.
    """

    __slots__ = (
        "_joining", "_live", "_log", "_make_purse", "_noise", "_pause", "_points", "_retry_at", "_running", "follows",
        "goes_on", "is_running", "mechanism", "name", "pace", "purse", "restarts", "seats", "speed", "tap", "window",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        mechanism: SampleMechanism,
        *,
        noise: NoiseSource,
        make_purse: MakeGroupLeases,
        quiet_s: float,
        log: Log,
        speed: float = 1.0,
        follows: SceneFollowing | None = None,
    ) -> None:
        """Begin a group with a new veil, which is quiet for its window or for ``quiet_s``, whichever is longer."""
        self._follow(follows, mechanism)
        self.name, self.mechanism, self.speed = name, mechanism, speed
        self._noise, self._make_purse, self._log = noise, make_purse, log
        self.goes_on = self.promise.proven
        self.seats: list[AppStream] = []
        self.tap: Ring[Point] | None = None
        self._running: tuple[AppStream, ...] = ()
        self.is_running = False
        self._joining: list[tuple[AppStream, float, float]] = []
        self.window = max(quiet_s, _longest_of(mechanism, follows))
        self._live: LiveVeil | None = None
        self._retry_at, self._pause = -math.inf, FIRST_PAUSE_S
        self._points = self.restarts = 0
        self.purse = self._made_purse()
        self._start(now=-math.inf)

    @property
    def promise(self) -> Guarantee:
        """What its stream guarantees now, with this noise."""
        return self._kept(self.mechanism)

    @property
    def always(self) -> Guarantee:
        """What its stream guarantees whatever the scene does; this is what is paid for."""
        return self._kept(self._least)

    def take(
        self,
        t: float,
        x: float,
        y: float,
        now: float,
        head: Pointing | None = None,
        eyes: EyeGeometry | None = None,
    ) -> None:
        """Veil one sample and show it; whatever goes wrong, nothing else leaves."""
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
        for seat in self._running:
            seat.give(t, shown_x, shown_y, live.head, eyes)

    def flush(self, arrived: float) -> None:
        """Let what was shown leave: what came together leaves together, so who is behind catches up."""
        for seat in self._running:
            outlet = seat.outlet
            if outlet is not None:
                try:
                    outlet.flush(arrived)
                except Exception as error:  # noqa: BLE001  (whatever it is, it is one app's trouble)
                    seat.failed(error)

    def tick(self, now: float) -> None:
        """Start a new veil, if one failed and the pause is over; ask a spent budget again, when it is time."""
        if self._live is None and now >= self._retry_at:
            self._start(now)
        if self.purse.spent and not self.purse.is_spent(now):
            for seat in self.seats:
                seat.begin_anew()

    def join(self, seat: AppStream, t: float | None, now: float, quiet_s: float = 0.0) -> None:
        """Take an app in. One that comes from another veil first waits, on both clocks."""
        self.seats.append(seat)
        if quiet_s > 0.0:
            self._joining.append((seat, -math.inf if t is None else t + quiet_s, now + quiet_s))
            seat.silence(QUIET)
        self.seats_changed()

    def leave(self, seat: AppStream) -> None:
        """Let an app go."""
        self.seats.remove(seat)
        self.seats_changed()

    def seats_changed(self) -> None:
        """See who takes part now."""
        self._joining = [entry for entry in self._joining if entry[0] in self.seats]
        waiting = [entry[0] for entry in self._joining]
        self._running = tuple(seat for seat in self.seats if seat.takes_part and seat not in waiting)
        self.is_running = any(seat.takes_part for seat in self.seats)

    def begin_anew(self, *, other_clock: bool = False) -> None:
        """Start a new veil and forget the lease: another participant sits there, or the tracker changed."""
        if other_clock:  # moments of the old clock mean nothing any more
            self._joining = [(seat, -math.inf, until_now) for seat, _, until_now in self._joining]
        self.close("a new stream begins")
        self.new_purse()
        self._start(now=-math.inf)

    def new_purse(self) -> None:
        """Pay anew: the guarantee or the budget changed. What was paid before is lost."""
        if self._live is not None:
            self._live.shut()
        self.purse = self._made_purse()
        for seat in self.seats:
            seat.begin_anew()

    def become(self, mechanism: SampleMechanism, t: float | None, follows: SceneFollowing | None = None) -> None:
        """Turn the veil's privacy level (erratum K4), and pay for the new guarantee before anything else leaves.

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
        self.new_purse()

    def look(self, scene: SceneState, t: float | None, now: float) -> None:
        """See what the scene asks for, and follow it if it is time."""
        if self.follows is not None and self.pace is not None:
            scene.ask(self.follows, self.pace, now)
            self.follow(t, now)

    def follow(self, t: float | None, now: float) -> None:
        """Follow what the scene asked for, if it is time (erratum K4).

        The lease goes on: it was paid for the least that the scene may ask for. So does the stream; the quiet start
        was as long as the longest window that it may ask for.
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
        """Tell its apps that there is no gaze at present."""
        for seat in self.seats:
            if seat.takes_part:
                seat.silence(why)

    def close(self, reason: str = "no one is watching any more") -> None:
        """Shut the veil for good; what goes on begins a new one."""
        if self._live is not None:
            self._points += self._live.points
            self._live.close(reason)
        self._live = self.tap = None

    def status(self, tracker: str) -> GroupStatus:
        """Return what there is to tell."""
        promise, live = self.promise, self._live
        return GroupStatus(
            self.name,
            tracker,
            self.purse.person,
            tuple(seat.setting.name for seat in self.seats),
            self.mechanism.in_words(),
            guarantee_in_words(promise),
            promise.to_dict(),
            promise.proven,
            self._points + (live.points if live is not None else 0),
            self.restarts,
            live.veil.faults._asdict() if live is not None else {},
            self.purse.seconds_paid,
            None if self.purse.remaining is None else float(self.purse.remaining),
            self.purse.trouble,
        )

    @property
    def _least(self) -> SampleMechanism:
        """The veil that is kept whatever the scene does."""
        return self.mechanism if self.follows is None else self.follows.floor

    def _kept(self, mechanism: SampleMechanism) -> Guarantee:
        promise = mechanism.guarantee
        return guarantee_after_noise(promise, self._noise) if mechanism.draws_noise else promise

    def _made_purse(self) -> GroupLeases:
        return self._make_purse(self.name, self.always, self._least)

    def _follow(self, follows: SceneFollowing | None, mechanism: SampleMechanism) -> None:
        self.follows, self.pace = follows, None
        if follows is not None:
            level = mechanism.privacy_level
            self.pace = FollowingPace(RadiusAndWindow(level["radius"], level["window"]))

    def _opened(self, live: LiveVeil, t: float, now: float) -> bool:
        """Open the veil if it may be; say why not if not."""
        if live.is_quiet(t, now):
            self.silence(QUIET)
            return False
        ends = self.purse.begin(t, now)
        if ends is not None:
            live.open_until(*ends)
            if live.points:  # it works, so the next error is a first one again
                self._pause = FIRST_PAUSE_S
            return True
        if self.purse.is_spent(now):
            for seat in self.seats:
                if seat.takes_part:
                    seat.end(self.purse.spent)
        else:
            self.silence(UNPAID)
        return False

    def _let_in(self, t: float, now: float) -> None:
        ready = [seat for seat, until_t, until_now in self._joining if t > until_t and now > until_now]
        if ready:
            self._joining = [entry for entry in self._joining if entry[0] not in ready]
            self.seats_changed()

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
