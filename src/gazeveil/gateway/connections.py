# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Opens outlets for apps and links to trackers, by transport; and changes a tracker's source on request.

Every tracker has one source at a time. The policy lists those that may be chosen live; a restart returns to the
policy's own.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gazeveil.errors import InputError, InternalError
from gazeveil.gateway import simulated_trackers
from gazeveil.gateway.hub.app_stream import AppListener
from gazeveil.gateway.hub.hub import Hub
from gazeveil.gateway.inlets import Inlet
from gazeveil.gateway.policy.settings import LOOPBACK, MOUSE, Address, AppSetting, Policy, Tls, TrackerSetting, token_in
from gazeveil.gateway.protocol import PROTOCOLS, Protocol, StreamFacts
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tcp import AppOutlet, TrackerLink
from gazeveil.gateway.telemetry import Log, Meters
from gazeveil.gateway.tracker_fields import Fields


async def open_listener(
    app: AppSetting, protocol: Protocol, shown: StreamFacts, meters: Meters, log: Log, *, lsl_session: str
) -> AppListener:
    """Open an app's outlet.

    Raises:
        InputError: If its port is taken, or its certificate cannot be used.
        MissingExtra: If the protocol needs a package that is not installed.
    """
    if protocol.transport == "tcp":
        listener = AppOutlet(protocol, shown, meters, log)
        await listener.listen(*host_and_port(app.listen), tls_of(f"app {app.name!r}", app.tls))
        return listener
    from gazeveil.gateway.message_transports import LslOutlet, PupilOutlet  # noqa: PLC0415  (zmq and liblsl load on use)

    outlet: PupilOutlet | LslOutlet
    if protocol.transport == "zmq":
        outlet = PupilOutlet(protocol, shown, meters, log)
    else:
        outlet = LslOutlet(protocol, shown, meters, log)
        outlet.session = lsl_session
    await outlet.listen(*host_and_port(app.listen))
    return outlet


def host_and_port(address: Address | None) -> tuple[str, int]:
    """Return the host and port of an address; without one, any free port of this machine."""
    return (LOOPBACK, 0) if address is None else (address.host, address.port)


def tls_of(who: str, tls: Tls | None) -> ssl.SSLContext | None:
    """Return the TLS context of a server.

    Raises:
        InputError: If certificate and key cannot be used.
    """
    if tls is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except OSError as error:
        raise InputError(
            f"{who} cannot use the certificate {tls.certificate} with the key {tls.key}",
            hint="both are PEM files, and the key belongs to the certificate",
        ) from error
    return context


# --- Sources of gaze: links to trackers, inlets for senders, recordings and simulated eyes.


_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0
"""Pauses in seconds before a link that failed is made again; they double."""


class TrackerSources:
    """The sources of all trackers."""

    def __init__(self, hub: Hub, meters: Meters, log: Log) -> None:
        self._hub, self._meters, self._log = hub, meters, log
        self._lsl_session = ""
        self._used: dict[str, TrackerSetting] = {}
        self._declared: dict[str, frozenset[str]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._inlets: dict[str, Inlet] = {}
        self._changing = asyncio.Lock()

    def in_use(self, policy: Policy) -> Policy:
        """Return a policy with the sources that were chosen live, where it still allows exactly these."""
        kept = [
            used if (used := self._used.get(tracker.name)) in tracker.sources else tracker
            for tracker in policy.trackers
        ]
        return replace(policy, trackers=tuple(kept))

    def source_of(self, tracker: TrackerSetting) -> dict[str, Any]:
        """Return which source a tracker of the policy has now, and which may be chosen."""
        used = self._used.get(tracker.name, tracker)
        return {"kind": used.kind, "choices": list(tracker.kinds)}

    async def follow(self, policy: Policy) -> None:
        """Follow the trackers of a policy; leave those that are gone or have changed.

        Raises:
            GazeveilError: If one that gaze is sent to cannot listen; all others are followed.
        """
        wanted = {tracker.name: tracker for tracker in policy.trackers}
        failed: list[Exception] = []
        async with self._changing:
            self._lsl_session = policy.lsl_session
            before, self._declared = self._declared, {name: policy.declared(name) for name in wanted}
            for name, used in tuple(self._used.items()):
                if wanted.get(name) != used or _head_and_eyes_read(used, before) != _head_and_eyes_read(
                    used, self._declared
                ):
                    await self._leave(name)
            for name, tracker in wanted.items():
                if name not in self._used:
                    try:
                        await self._begin(tracker)
                    except Exception as error:  # noqa: BLE001  (the others are followed all the same)
                        failed.append(error)
        if failed:
            raise failed[0]

    async def use(self, tracker: TrackerSetting, kind: str) -> dict[str, Any]:
        """Use another source for a tracker from now on; its veils restart, with their quiet time.

        Returns:
            The kind that is used now; if gaze is sent to the gateway, also the address and the token.

        Raises:
            UnknownName: If there is no such kind.
            PrivacyError: If the policy does not allow it.
            InputError: If it cannot be used; the tracker then has its own source again.
        """
        wanted, name = tracker.using(kind), tracker.name
        async with self._changing:
            if wanted != self._used.get(name):
                await self._change(tracker, wanted)
        answer: dict[str, Any] = {"kind": wanted.kind}
        if wanted.kind == MOUSE and wanted.inlet is not None:
            inlet = self._inlets[name]
            scheme = "ws" if wanted.inlet.tls is None else "wss"
            at = Address(wanted.inlet.listen.host, inlet.port).from_here
            answer |= {"url": f"{scheme}://{at}", "token": inlet.token}
        return answer

    async def close(self) -> None:
        """Leave all of them."""
        async with self._changing:
            for inlet in self._inlets.values():
                inlet.close("the gateway is shut down")
            for name in tuple(self._used):
                await self._leave(name)

    async def _change(self, tracker: TrackerSetting, wanted: TrackerSetting) -> None:
        name = tracker.name
        await self._leave(name)
        self._lost(name, "another source was chosen")
        self._hub.use_source(wanted, time.monotonic())
        try:
            await self._begin(wanted)
        except BaseException:
            self._hub.use_source(tracker, time.monotonic())
            await self._begin(tracker)
            raise
        self._log("source chosen", tracker=name, kind=wanted.kind)

    async def _begin(self, tracker: TrackerSetting) -> None:
        if tracker.inlet is not None:
            self._inlets[tracker.name] = await self._opened_inlet(tracker)
        self._used[tracker.name] = tracker
        self._tasks[tracker.name] = asyncio.create_task(self._guarded(tracker))

    async def _leave(self, name: str) -> None:
        self._used.pop(name, None)
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if (inlet := self._inlets.pop(name, None)) is not None:
            inlet.close("this source is not used any more")
        self._meters.trackers[name].connected = False

    async def _opened_inlet(self, tracker: TrackerSetting) -> Inlet:
        where, make = tracker.inlet, PROTOCOLS[tracker.protocol].listener
        if where is None or make is None:
            raise InternalError(f"{tracker.protocol} does not listen")
        inlet = Inlet(
            lambda gate: make(tracker.plane, gate, tracker.fields or Fields()),
            token=token_in(where.token_file),
            origins=where.origins,
            take_over=where.take_over,
            **self._given(tracker),
        )
        await inlet.open(where.listen.host, where.listen.port, tls_of(f"tracker {tracker.name!r}", where.tls))
        return inlet

    def _given(self, tracker: TrackerSetting) -> dict[str, Any]:
        return {
            "name": tracker.name,
            "push": partial(self._push, tracker.name),
            "lost": partial(self._lost, tracker.name),
            "meter": self._meters.trackers[tracker.name],
            "log": self._log,
        }

    def _link(self, tracker: TrackerSetting) -> Coroutine[Any, Any, None]:
        if tracker.protocol in ("simulate", "replay"):
            return self._play(tracker)
        if tracker.inlet is not None:
            return self._inlets[tracker.name].run()
        protocol = PROTOCOLS[tracker.protocol]
        if protocol.source is None:
            raise InternalError(f"{protocol.name} has no client side")
        known: dict[str, Any] = {} if tracker.fields is None else {"fields": tracker.fields}
        if head_and_eyes := _head_and_eyes_read(tracker, self._declared):
            known["head_and_eyes"] = head_and_eyes
        make, (host, port) = partial(protocol.source, tracker.plane, **known), host_and_port(tracker.address)
        given = self._given(tracker)
        if protocol.link == "rtsp":
            from gazeveil.gateway.neon_link import NeonLink  # noqa: PLC0415

            return NeonLink(make, host, port, **given).run()
        if protocol.transport == "tcp":
            return TrackerLink(make, host, port, **given).run()
        from gazeveil.gateway.message_transports import LslLink, PupilLink  # noqa: PLC0415

        if protocol.transport == "zmq":
            return PupilLink(make, host, port, **given).run()
        given |= {"session": tracker.session, "own_session": self._lsl_session}
        return LslLink(make, host, tracker.stream, **given).run()

    async def _play(self, tracker: TrackerSetting) -> None:
        geometry = tracker.plane.geometry
        if tracker.protocol == "simulate":
            samples = simulated_trackers.simulated(geometry, seed=tracker.seed, rate_hz=tracker.rate_hz)
        else:
            recording = await asyncio.to_thread(simulated_trackers.recording_of, str(tracker.file), geometry)
            samples = simulated_trackers.replayed(recording, loop=tracker.loop)
        self._meters.trackers[tracker.name].connected = True
        await simulated_trackers.play(
            simulated_trackers.moments(samples, speed=tracker.speed), partial(self._push, tracker.name)
        )
        self._lost(tracker.name, "the recording is over")

    async def _guarded(self, tracker: TrackerSetting) -> None:
        """Follow a tracker, and start again if that fails: one tracker's error must not stop it or the others."""
        pause = _FIRST_PAUSE_S
        while True:
            try:
                await self._link(tracker)
                return
            except Exception as error:  # noqa: BLE001
                self._meters.faults += 1
                self._lost(tracker.name, "the link failed")
                self._log("link failed", tracker=tracker.name, why=error)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _push(self, tracker: str, samples: list[RawSample], now: float) -> None:
        try:
            self._hub.push(tracker, samples, now)
        except Exception as error:  # noqa: BLE001  (fail closed: silence for this tracker, and the others go on)
            self._meters.faults += 1
            self._log("hub failed", tracker=tracker, why=error)
            self._hub.tracker_lost(tracker, "an error in the gateway", now)

    def _lost(self, tracker: str, why: str) -> None:
        self._meters.trackers[tracker].connected = False
        self._hub.tracker_lost(tracker, why, time.monotonic())


def _head_and_eyes_read(tracker: TrackerSetting, declared: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return what is read of head and eyes where that needs no fields: what the tracker's apps declare."""
    if tracker.protocol not in PROTOCOLS.names():
        return frozenset()
    return PROTOCOLS[tracker.protocol].knows & declared[tracker.name]
