# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A running gateway: opens everything that a policy names, keeps it running, reports its status, never gaze.

Everything happens in one loop and one thread, except payments: a ledger may be slow, so a process of its own pays
(`gazeveil.gateway.hub.payments`), one lease ahead. A stream whose lease is not paid falls silent.

The demo is an ordinary gateway with the policy ``demo.toml``, in a folder that is removed at the end. Its budget is
made up, and nobody is recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Final

from gazeveil.errors import GazeveilError, InputError, LedgerError, LedgerRolledBack, OutputError, UnknownName, closest
from gazeveil.gateway import simulated_trackers
from gazeveil.gateway.connections import TrackerSources, open_listener, tls_of
from gazeveil.gateway.control.decisions import Decisions, other_state_folder
from gazeveil.gateway.control.page_view import PageView
from gazeveil.gateway.control.recovery import RecoveryProgram
from gazeveil.gateway.control.server import ControlServer, DemoAppServer
from gazeveil.gateway.hub.app_stream import AppListener
from gazeveil.gateway.hub.budget import LeaseCharge
from gazeveil.gateway.hub.hub import Hub, rehearse
from gazeveil.gateway.hub.payments import LedgerLocation, PaymentProcess, PaymentQueue
from gazeveil.gateway.policy.settings import AppSetting, Policy, read_policy, token_in
from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts
from gazeveil.gateway.scene_watcher import SceneWatcher, SceneWatchers
from gazeveil.gateway.telemetry import Limited, Log, Meters, exposition, shortened
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.geometry import Geometry, screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Receipt

_APP_COUNTS: Final = ("connections", "listeners", "refused_origins", "sent", "dropped", "refused")
_TRACKER_COUNTS: Final = ("connected", "samples", "connects", "refused", "refused_origins", "refused_tokens")


def status_of(hub: Hub, policy: Policy, meters: Meters, memory: Decisions, sources: TrackerSources) -> dict[str, Any]:
    """Return the state of everything; ``policy`` is the one in the file, whatever was chosen live."""
    status = hub.status().to_dict()
    participants = {tracker["name"]: tracker["participant"] for tracker in status["trackers"]}
    budgets = {budget["participant"]: budget for budget in status["budgets"]}
    for app in status["apps"]:
        meter = meters.apps[app["name"]]
        app |= {name: getattr(meter, name) for name in _APP_COUNTS}
        app |= {
            "tags": memory.tags.get(app["name"], []),
            "latency_ms": {name: meter.latency.share_ms(share) for name, share in (("p50", 0.5), ("p99", 0.99))},
            "budget": _budget_left(budgets.get(participants[app["tracker"]])),
        }
    for tracker in status["trackers"]:
        counts = meters.trackers[tracker["name"]]
        tracker |= {name: getattr(counts, name) for name in _TRACKER_COUNTS}
        tracker["source"] = sources.source_of(policy.tracker(tracker["name"]))
    status["control_refused"] = dict(meters.control_refused)
    status["state_file"] = None if memory.path is None else str(memory.path)
    return status


def _budget_left(budget: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the budget of the participant whose gaze an app gets; None where nothing is charged."""
    if budget is None:
        return None
    return {
        "left": budget["remaining"],
        "per_day": budget["epsilon_per_day"],
        "spent": budget["spent"],
        "back": budget["back"],
    }


# --- The gateway: the hub, outlets for apps, links to trackers, payments, and the control API.


_TICK_S = 0.02
_SLICES = 10
"""The number of ticks in which every app is ticked once."""


class Gateway:
    """A running policy. ``async with`` opens its ports, and closes them."""

    def __init__(
        self,
        policy: Policy,
        log: Log,
        *,
        create_ledger: bool = False,
        opened: Callable[[Policy], None] = lambda policy: None,
        undo: RecoveryProgram | None = None,
        demo: bool = False,
    ) -> None:
        """Prepare a gateway.

        Args:
            policy: What it follows.
            log: Where events are reported.
            create_ledger: Whether to create the ledger if there is none.
            opened: Called once all ports are open.
            undo: The program that shows on the page what veils give away.
            demo: Whether this is the demo, which the status says.
        """
        self._opened, self._demo = opened, demo
        self.policy, self.log = policy, Limited(log)
        self.meters = Meters()
        self.hub = Hub(
            policy,
            noise=NoiseSource.secure(),
            now=time.monotonic(),
            wall=lambda: datetime.now(UTC),
            log=self.log,
        )
        self.memory = Decisions.of(policy.path, policy.state_file, controlled=policy.control is not None)
        self.page = PageView(self.hub, self.memory, self.log, regrade=self._regrade, keeping=self._keeping, undo=undo)
        self._remember()
        self.outlets: dict[str, AppListener] = {}
        self.sources = TrackerSources(self.hub, self.meters, self.log)
        self.scenes = SceneWatchers(self.hub.scene_read, self.hub.scene_lost, self.log)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        known = self.memory.ledger_at(policy.ledger)
        where = LedgerLocation(policy.ledger, create_ledger, known, str(self.memory.path))
        self._payer = PaymentProcess(where, lambda what: self.log("ledger note", why=what))
        self._control: ControlServer | None = None
        self._demo_apps: DemoAppServer | None = None

    async def __aenter__(self) -> Gateway:
        try:
            for app in self.policy.apps:
                await self._open(app)
            where = self.policy.control
            if where is not None and self.policy.token_file is not None:
                tls = tls_of("the control API", self.policy.control_tls)
                self._control = ControlServer(self, where.host, where.port, token_in(self.policy.token_file), tls)
            if self.policy.demo_apps is not None:
                self._demo_apps = DemoAppServer(self.policy.demo_apps.port, self.policy.demo_apps.host)
            await self._look_at_ledger()
            if self._control is not None:
                self._control.start()
            await self.sources.follow(self.policy)
            await self.scenes.follow(self.policy)
            self._tasks["ticks"] = asyncio.create_task(self._tick())
        except BaseException:
            await self.close()
            raise
        self._opened(self.policy)
        self.log("gateway started", apps=len(self.policy.apps), trackers=len(self.policy.trackers))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End every app's stream and close everything."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
        await self.sources.close()
        await self.scenes.close()
        for outlet in self.outlets.values():
            await outlet.close("the gateway is shut down", stops=True)
        self.outlets.clear()
        for server in (self._control, self._demo_apps):
            if server is not None:
                await server.close()
        await self.page.close()
        self.hub.close()
        await self._payer.close()
        self.log.close()
        self.log("gateway stopped")

    # The control API

    def status(self) -> dict[str, Any]:
        """Return the state of everything; it holds no gaze."""
        status = status_of(self.hub, self.policy, self.meters, self.memory, self.sources)
        for app in status["apps"]:
            app["port"] = self.outlets[app["name"]].port if app["name"] in self.outlets else 0
        status["demo"] = self._demo
        status["demo_apps"] = [] if self._demo_apps is None else self._demo_apps.describe(self.policy, self.outlets)
        return status

    def watcher(self, tracker: str) -> SceneWatcher:
        """Return the watcher of a tracker's scene."""
        return self.scenes.of(tracker)

    def link(self) -> str:
        """Return a link that opens the control page once; empty where there is no control API."""
        return "" if self._control is None else self._control.link()

    def refused(self, why: str, value: str) -> None:
        """Count and log a request to the control API that was refused."""
        self.meters.control_refused[why] += 1
        self.log("control refused", why=why, value=shortened(value))

    def set_level(self, app: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Change an app's privacy level."""
        known = {"preset", "epsilon", "window", "radius"}
        if unknown := set(given) - known:
            raise UnknownName(
                f"a privacy level has no {sorted(unknown)[0]!r}", hint=closest(sorted(unknown)[0], sorted(known))
            )
        wanted = {name: value for name, value in given.items() if value is not None}
        self.hub.set_level(app, now=time.monotonic(), **wanted)
        self._report_guarantees()
        with self._keeping(f"the privacy level of {app!r} is being changed"):
            self.memory.level_set(app, wanted)
        return self.app(app)

    def switch(self, app: str, on: bool) -> dict[str, Any]:
        """Switch an app on or off. Off holds at once; on only if it can be kept."""
        self.policy.app(app)
        if not on:
            self.hub.switch(app, False)
        with self._keeping(f"{app!r} stays off" if on else f"{app!r} is off now"):
            self.memory.switched(app, on)
        self.hub.switch(app, on)
        return self.app(app)

    def set_participant(self, tracker: str, participant: str) -> dict[str, Any]:
        """Set the participant at a tracker."""
        self.hub.set_participant(tracker, participant, now=time.monotonic())
        with self._keeping("the participant was changed"):
            self.memory.participant_set(tracker, participant)
        return next(one for one in self.status()["trackers"] if one["name"] == tracker)

    async def use_source(self, tracker: str, kind: str) -> dict[str, Any]:
        """Use another source that the policy allows; see `TrackerSources.use`. A restart undoes it."""
        return await self.sources.use(self.policy.tracker(tracker), kind)

    async def reload(self) -> dict[str, Any]:
        """Read the policy file again; what did not change continues undisturbed."""
        if self.policy.path is None:
            raise InputError("this policy was not read from a file")
        changed = await asyncio.to_thread(read_policy, self.policy.path)
        await asyncio.to_thread(rehearse, changed)
        if changed.lsl_session != self.policy.lsl_session:
            raise InputError("another lsl_session takes a restart", hint="liblsl has one session as long as it runs")
        await self._change_to(changed)
        return self.status()

    @contextlib.contextmanager
    def _keeping(self, what: str) -> Iterator[None]:
        """Report that a decision cannot be kept, so that a restart would undo it."""
        try:
            yield
        except OutputError as error:
            self.log("decision not kept", what=what, why=error)
            raise OutputError(
                f"{what}, but decisions cannot be kept, so a restart undoes them: {error.message}", hint=error.hint
            ) from error

    def _remember(self) -> None:
        """Restore what was decided before a restart; what the policy no longer allows is dropped."""
        now = time.monotonic()
        for app in self.policy.apps:
            rule = self.memory.rules.get(app.name)
            if rule is not None and not self.page.restore(app.name, rule) and app.name not in self.memory.off:
                with contextlib.suppress(OutputError):  # it must not get more than was decided
                    self.memory.switched(app.name, False)
            if app.name in self.memory.off:
                self.hub.switch(app.name, False)
            if level := self.memory.levels.get(app.name):
                try:
                    self.hub.set_level(app.name, now=now, **level)
                except (GazeveilError, TypeError) as error:
                    self.log("privacy level not restored", app=app.name, why=error)
        for tracker in self.policy.trackers:
            if participant := self.memory.participants.get(tracker.name):
                self.hub.set_participant(tracker.name, participant, now=now)

    def exposition(self) -> tuple[bytes, str]:
        """Return the metrics as Prometheus reads them."""
        return exposition(self.meters, self.status())

    def app(self, name: str) -> dict[str, Any]:
        """Return one app's part of the status."""
        return next(one for one in self.status()["apps"] if one["name"] == name)

    def _regrade(self, name: str) -> None:
        """Show an app's connections its present output."""
        if name in self.outlets:
            self.outlets[name].regrade(self._shown(self.policy.app(name), self._guarantees()))

    def _report_guarantees(self) -> None:
        """Report the present guarantee to apps that connect from now on."""
        guarantees = self._guarantees()
        for app in self.policy.apps:
            if app.name in self.outlets:
                self.outlets[app.name].shown = self._shown(app, guarantees)

    # Outlets

    async def _open(self, app: AppSetting) -> None:
        protocol = PROTOCOLS[app.protocol]
        shown = self._shown(app, self._guarantees())
        outlet = self.outlets[app.name] = await open_listener(
            app, protocol, shown, self.meters, self.log, lsl_session=self.policy.lsl_session
        )
        outlet.on_watched = partial(self.hub.set_watched, app.name)
        outlet.on_watched(outlet.is_watched)
        self.hub.attach(app.name, outlet)

    def _guarantees(self) -> dict[str, str]:
        return {one.name: one.guarantee for one in self.hub.status().apps}

    def _shown(self, app: AppSetting, guarantees: Mapping[str, str]) -> StreamFacts:
        tracker = self.policy.tracker(app.tracker)
        output = self.hub.app_of(app.name).output
        areas = () if app.areas is None or output != "hits" else app.areas.names
        return StreamFacts(
            tracker.plane, app.rate_hz, output, areas, app.name,
            guarantee=guarantees[app.name], origins=app.origins, shown_as=app.shown_as, blank_pupils=app.blank_pupils,
        )  # fmt: skip

    # Time

    async def _tick(self) -> None:
        """Do what is due, a little at a time, so that no sample waits for all of it."""
        paying: asyncio.Task[None] | None = None
        due = PaymentQueue()
        now = time.monotonic()
        for turn in count():
            before = now
            await asyncio.sleep(_TICK_S)
            now = time.monotonic()
            try:
                if now - before < 3 * _TICK_S:  # else the loop was held up, and samples may wait to be read
                    self.hub.fill(now)
                if turn % 4 == 0:
                    self.hub.tick(now)
                    self.log.tick()
                elif turn % 4 == 2:
                    due.add(self.hub.charges())
                if (paying is None or paying.done()) and (together := due.next()):
                    paying = self._tasks["payments"] = asyncio.create_task(self._pay(together, due))
                for outlet in list(self.outlets.values())[turn % _SLICES :: _SLICES]:
                    outlet.tick(now)
            except Exception as error:  # noqa: BLE001  (without ticks no lease is renewed: that is silence, not a leak)
                self.meters.faults += 1
                self.log("tick failed", why=error)

    async def _pay(self, charges: list[LeaseCharge], queue: PaymentQueue) -> None:
        begun = time.monotonic()
        outcomes = await self._payer.pay(charges)
        queue.took(time.monotonic() - begun)
        for charge, outcome in zip(charges, outcomes, strict=True):
            if isinstance(outcome, Receipt):
                self.meters.payments += 1
                with contextlib.suppress(OutputError), self._keeping("this ledger is paid from now"):
                    self.memory.paid_from(self.policy.ledger, outcome.ledger)
            else:
                self.meters.payment_errors += 1
                if isinstance(outcome, LedgerError) and not isinstance(outcome, LedgerRolledBack):  # that one latches
                    self.log("ledger trouble", why=str(outcome))
            try:
                self.hub.settled(charge, outcome, time.monotonic())
            except Exception as error:  # noqa: BLE001  (one group's trouble, and the others are paid all the same)
                self.meters.faults += 1
                self.log("payment lost", group=charge.group, why=error)

    async def _look_at_ledger(self) -> None:
        """Open the ledger before any app asks for gaze: it is created now, and an old copy is noticed now.

        Raises:
            GazeveilError: If it is to be created, and cannot be.
        """
        if not self.policy.budgets:
            return
        try:
            await self._payer.open()
        except LedgerRolledBack as error:
            self.hub.latch(error)
        except GazeveilError as error:
            if self._payer.is_to_create:
                raise
            self.log("ledger trouble", why=str(error), hint=error.hint)

    async def _change_to(self, policy: Policy) -> None:
        before, self.policy = self.policy, policy
        used = self.sources.in_use(policy)
        self.hub.reload(used, time.monotonic())
        still = {app.name for app in policy.apps}
        present = {tracker.name: tracker.participant for tracker in policy.trackers}
        self.memory.forget(
            levels={app.name for app in before.apps if app not in policy.apps},
            off={app.name for app in before.apps if app.name not in still},
            participants={
                tracker.name for tracker in before.trackers if present.get(tracker.name) != tracker.participant
            },
        )
        for app in before.apps:
            if app not in policy.apps and app.name in self.outlets:
                await self.outlets.pop(app.name).close("the policy changed")
        closed: list[GazeveilError] = []
        for app in policy.apps:
            if app.name in self.outlets:
                self.hub.attach(app.name, self.outlets[app.name])
                continue
            try:
                await self._open(app)
            except GazeveilError as error:  # the others go on; the next reload tries it again
                closed.append(error)
        try:
            await self.sources.follow(used)
            await self.scenes.follow(used)
        except GazeveilError as error:
            closed.append(error)
        self._report_guarantees()
        self.log("policy changed", apps=len(policy.apps), trackers=len(policy.trackers))
        if closed:
            raise closed[0]


async def serve(
    policy: Path,
    log: Log,
    stop: asyncio.Event,
    *,
    again: asyncio.Event | None = None,
    create_ledger: bool = False,
    opened: Callable[[Policy], None] = lambda policy: None,
    linked: Callable[[str], None] = lambda link: None,
    undo: RecoveryProgram | None = None,
) -> None:
    """Run a gateway until ``stop``.

    ``again`` makes it read its policy again, ``linked`` is called with a link to the control page; see `Gateway` for
    the others.
    """
    async with Gateway(read_policy(policy), log, create_ledger=create_ledger, opened=opened, undo=undo) as gateway:
        if link := gateway.link():
            linked(link)
        again = again or asyncio.Event()
        gc.collect()
        gc.freeze()  # objects that live as long as the gateway need not be collected: no pauses
        while not stop.is_set():
            waits = [asyncio.ensure_future(stop.wait()), asyncio.ensure_future(again.wait())]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
            if again.is_set():
                again.clear()
                try:
                    await gateway.reload()
                except GazeveilError as error:
                    log("policy refused", why=error)


# --- The demo: simulated gaze, the mouse, a recording, and two demo apps. Nothing of it is kept.


_SCREEN = screen(1920, 1080, 527, 296, 600)
"""As in ``demo.toml``."""
_RECORDING_S, _RECORDING_SEED = 30.0, 2


@contextlib.contextmanager
def demo_folder() -> Iterator[Path]:
    """Make a folder with the demo's policy and what it names, and yield the policy's path; then remove it.

    Whatever a gateway keeps elsewhere on a machine is kept in it as well, as long as the block lasts.
    """
    with tempfile.TemporaryDirectory(prefix="gazeveil-demo-") as name:
        folder = Path(name)
        text = resources.files("gazeveil.gateway").joinpath("demo.toml").read_text(encoding="utf-8")
        (folder / "policy.toml").write_text(text, encoding="utf-8", newline="\n")
        (folder / "recording.csv").write_text(_recording(_SCREEN), encoding="utf-8", newline="\n")
        AreasOfInterest(demo_areas(_SCREEN), _SCREEN).to_json(folder / "targets.json")
        with other_state_folder(folder / "state"):  # the ledger's anchor would outlive the ledger
            yield folder / "policy.toml"


async def play_demo(
    policy: Path, log: Log, stop: asyncio.Event, opened: Callable[[Gateway], None], undo: RecoveryProgram | None = None
) -> None:
    """Run the demo until ``stop``; ``opened`` is called once it can be used; see `Gateway` for ``undo``."""
    async with Gateway(read_policy(policy), log, create_ledger=True, undo=undo, demo=True) as gateway:
        opened(gateway)
        await stop.wait()


def demo_areas(geometry: Geometry) -> tuple[Rectangle, ...]:
    """Return the nine targets of a demo app: three rows, above a line of words at the bottom."""
    width, height = float(geometry.width_px or 0), float(geometry.height_px or 0)
    across, down = 0.24 * width / 2, 0.22 * height / 2
    centres = [((column + 0.5) / 3 * width, 0.87 * (row + 0.5) / 3 * height) for row in range(3) for column in range(3)]
    return tuple(
        Rectangle(str(number), x - across, y - down, x + across, y + down)
        for number, (x, y) in enumerate(centres, start=1)
    )


def _recording(geometry: Geometry) -> str:
    """Return gaze of another simulated participant than the one who is simulated live."""
    gaze = takewhile(
        lambda sample: sample.t < _RECORDING_S, simulated_trackers.simulated(geometry, seed=_RECORDING_SEED)
    )
    rows = (f"{sample.t:.4f},{sample.x:.1f},{sample.y:.1f}" for sample in gaze)
    return "\n".join(["t,x,y", *rows, ""]).replace("nan", "")
