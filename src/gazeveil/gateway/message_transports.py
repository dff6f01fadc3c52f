# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Apps and trackers on ZeroMQ and the Lab Streaming Layer, which carry whole messages; see `tcp` for streams."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from gazeveil.errors import GazeveilError, InputError, needing
from gazeveil.gateway import lsl_streams as lsl_search
from gazeveil.gateway.lsl_streams import opened_on_this_machine
from gazeveil.gateway.protocol import Protocol, StreamFacts
from gazeveil.gateway.protocols.lsl import channels_of, liblsl
from gazeveil.gateway.sample import RawSample, Veiled
from gazeveil.gateway.tcp import LONGEST_PAUSE, SILENT_TRACKER_S, CalledLink, CountedOutlet, Link, cannot_listen
from gazeveil.gateway.telemetry import Log, Meters

MOST_QUEUED: Final = 256
"""Messages that wait for a slow reader; ZeroMQ and LSL drop more."""

HANDSHAKE_MS: Final = 5000
"""Milliseconds that ZeroMQ's own handshake may take."""

_MOST_SUBSCRIPTIONS: Final = 1000
"""Subscriptions that are read in one tick."""

monotonic = time.monotonic


class _Outlet(CountedOutlet, ABC):
    """What outlets of messages share: everything is sent at once, and a sink's error affects this app alone."""

    def __init__(self, protocol: Protocol, shown: StreamFacts, meters: Meters, log: Log) -> None:
        super().__init__(protocol, shown, meters, log)
        self.sink: Any = None
        self._make: Callable[[StreamFacts], Any] = lambda shown: None

    @property
    @abstractmethod
    def is_watched(self) -> bool:
        """Whether anyone listens."""

    def show(self, veiled: Veiled) -> None:
        """Send one veiled thing to all listeners; after an end a new sink is made."""
        self._silent = False
        if self.sink is None:
            return
        try:
            if self.sink.ended:
                self.sink = self._make(self.shown)
            self._send(self.sink.show(veiled, self._now()))
        except Exception as error:  # noqa: BLE001  (whatever a sink does wrong, this app goes silent and no other)
            self.meter.refused += 1
            self.log("sink failed", app=self.shown.name, why=error)
            return
        self.meter.sent += 1
        self._fresh += 1

    def silence(self, why: str) -> None:
        """Report that there is no gaze at present."""
        if not self._silent:
            self._silent = True
            if self.sink is not None and not self.sink.ended:
                self._send(self.sink.silence(self._now()))

    def end(self, reason: str) -> None:
        """Report why nothing more comes, as far as the protocol can."""
        if self.sink is not None and not self.sink.ended:
            self._send(self.sink.end(reason, self._now()))

    def _now(self) -> float:
        return monotonic()

    @abstractmethod
    def _send(self, what: Any) -> None:
        """Send what a sink made."""


class PupilOutlet(_Outlet):
    """An app that speaks Pupil Core's network API: a REP socket for requests, a PUB socket for data."""

    async def listen(self, host: str, port: int) -> None:
        """Open the ports; data ports are any free ones, as with the original."""
        zmq = _zmq()
        self._context = zmq.asyncio.Context()
        self._requests = self._context.socket(zmq.REP)
        self._plain = zmq.Context()
        self._data = self._plain.socket(zmq.XPUB)  # as PUB, and it reports subscriptions
        self._topics: set[bytes] = set()
        self._ignored = self._plain.socket(zmq.SUB)
        for one in (self._requests, self._data, self._ignored):
            one.setsockopt(zmq.LINGER, 100)
            one.setsockopt(zmq.SNDHWM, MOST_QUEUED)
            one.setsockopt(zmq.RCVHWM, MOST_QUEUED)
            one.setsockopt(zmq.MAXMSGSIZE, 1 << 20)
            one.setsockopt(zmq.HANDSHAKE_IVL, HANDSHAKE_MS)
        try:
            self._requests.bind(f"tcp://{host}:{port}")
        except zmq.ZMQError as error:
            await self._let_go()
            raise cannot_listen(f"app {self.shown.name!r}", host, port, error) from error
        self.port = _port_of(self._requests.getsockopt(zmq.LAST_ENDPOINT))
        sub_port = self._data.bind_to_random_port(f"tcp://{host}")
        pub_port = self._ignored.bind_to_random_port(f"tcp://{host}")
        if self.protocol.sink is None:
            raise InputError(f"{self.protocol.name} has no tracker side")
        make: Any = self.protocol.sink
        self._make = lambda shown: make(shown, sub_port, pub_port)
        self.sink = self._make(self.shown)
        self._again = zmq.Again
        self._noblock = zmq.NOBLOCK
        self._answering = asyncio.create_task(self._answer())

    @property
    def is_watched(self) -> bool:
        """Whether anyone has subscribed to gaze; subscribers of notices alone do not count."""
        return bool(self._topics)

    def tick(self, now: float) -> None:
        """Read new and ended subscriptions: a byte 1 or 0 and the topic, once for each topic."""
        was_watched = self.is_watched
        for _ in range(_MOST_SUBSCRIPTIONS):  # the rest next time
            try:
                frames = self._data.recv_multipart(flags=self._noblock)
            except self._again:
                break
            topic = frames[0][1:]
            if len(frames) == 1 and self.sink.carries(topic):  # more frames would be a client's own message
                if frames[0][:1] == b"\x01":
                    self._topics.add(topic)
                elif frames[0][:1] == b"\x00":
                    self._topics.discard(topic)
        if self.is_watched != was_watched:
            self.meter.listeners = int(self.is_watched)
            self.on_watched(self.is_watched)

    async def close(self, reason: str, *, stops: bool = False) -> None:
        """Report the end and close the ports."""
        self.end(reason)
        self._answering.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._answering
        await self._let_go()

    async def _answer(self) -> None:
        while True:
            frames = await self._requests.recv_multipart()
            try:
                answer, notices = self.sink.answer(frames, monotonic()), self.sink.notices()
            except Exception as error:  # noqa: BLE001  (every request is answered, or the socket is stuck for ever)
                self.meter.refused += 1
                self.log("garbage from app", app=self.shown.name, why=error)
                answer, notices = [b"error"], []
            await self._requests.send_multipart(answer)
            self._send(notices)

    def _send(self, what: Sequence[Sequence[bytes]]) -> None:
        for frames in what:
            try:
                self._data.send_multipart(frames, flags=self._noblock)
            except self._again:
                self.meter.dropped += 1

    async def _let_go(self) -> None:
        for one in (self._requests, self._data, self._ignored):
            one.close(100)
        self._context.destroy(linger=100)
        self._plain.destroy(linger=100)


class PupilLink(CalledLink):
    """A link to a tracker with Pupil Core's network API: asks for its data port and subscribes to gaze."""

    def __init__(self, make: Callable[[], Any], host: str, port: int, **given: Any) -> None:
        super().__init__(**given)
        self._make, self._host, self._port = make, host, port

    def failed(self, error: GazeveilError) -> str:
        """Count an error, and return it in words, without the hint."""
        super().failed(error)
        return error.message

    async def _listen(self) -> str:
        zmq = _zmq()
        source = self._make()
        context = zmq.asyncio.Context()
        try:
            request = context.socket(zmq.REQ)
            request.setsockopt(zmq.LINGER, 0)
            request.connect(f"tcp://{self._host}:{self._port}")
            for frames in source.requests():
                await request.send_multipart(frames)
                async with asyncio.timeout(SILENT_TRACKER_S):
                    answer = await request.recv_multipart()
                source.answered(answer)
            self.meter.connects += 1
            data = context.socket(zmq.SUB)
            data.setsockopt(zmq.LINGER, 0)
            data.setsockopt(zmq.MAXMSGSIZE, 1 << 20)
            data.connect(f"tcp://{self._host}:{source.sub_port}")
            for topic in source.subscriptions():
                data.setsockopt(zmq.SUBSCRIBE, topic)
            while True:
                async with asyncio.timeout(SILENT_TRACKER_S):  # wait_for() would forget that the task is cancelled
                    frames = await data.recv_multipart()
                now = monotonic()
                samples = source.message(frames, now)
                if samples:
                    self.take(samples, now)
        except TimeoutError:
            return "the tracker is silent"
        finally:
            context.destroy(linger=0)


class LslOutlet(_Outlet):
    """An app that listens on the Lab Streaming Layer: one stream, found by its name."""

    port = 0
    session = lsl_search.DEFAULT_SESSION
    """Where apps look for it; one for all streams of a process."""

    async def listen(self, host: str, port: int) -> None:
        """Open the stream: for this machine alone, unless the policy names another address."""
        pylsl = liblsl()
        _keep_to_this_machine(pylsl, host, self.session)
        if self.protocol.sink is None:
            raise InputError(f"{self.protocol.name} has no tracker side")
        self._pylsl = pylsl
        self._make = self.protocol.sink
        self.sink = self._make(self.shown)
        make = partial(pylsl.StreamOutlet, self.sink.description.info(), 0, 10)
        self._outlet, alone = opened_on_this_machine(make) if _is_this_machine(host) else (make(), True)
        if not alone:
            self.log("stream open to the network", app=self.shown.name, why="liblsl listens on every address here")
        self._uid = str(self._outlet.get_info().uid())
        lsl_search.OWN_STREAMS[self._uid] = self.shown.stream
        self._was_watched = False

    @property
    def is_watched(self) -> bool:
        """Whether anyone listens."""
        return bool(self._outlet is not None and self._outlet.have_consumers())

    def tick(self, now: float) -> None:
        """Report whether anyone listens."""
        if self.is_watched != self._was_watched:
            self._was_watched = self.is_watched
            self.meter.listeners = int(self._was_watched)
            self.on_watched(self._was_watched)

    async def close(self, reason: str, *, stops: bool = False) -> None:
        """Close the stream."""
        self.end(reason)
        self._outlet = None
        lsl_search.OWN_STREAMS.pop(self._uid, None)

    def _now(self) -> float:
        return float(self._pylsl.local_clock())

    def _send(self, what: tuple[list[Any], float] | None) -> None:
        if what is not None and self._outlet is not None:
            self._outlet.push_sample(*what)


class LslLink(Link):
    """A link to a tracker on the Lab Streaming Layer: finds its stream, reads it in a thread, and searches again."""

    def __init__(
        self,
        make: Callable[[], Any],
        host: str,
        stream: str,
        *,
        session: str = lsl_search.DEFAULT_SESSION,
        own_session: str = lsl_search.DEFAULT_SESSION,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self._make, self._host, self._stream = make, host, stream
        self._session, self._own_session = session, own_session
        self._stopped = False

    async def run(self) -> None:
        """Keep the stream until it is cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    why = await asyncio.to_thread(self._listen, loop)
                except GazeveilError as error:
                    why = self.failed(error)
                self.gone(why)
                await asyncio.sleep(LONGEST_PAUSE / 2)
        finally:
            self._stopped = True

    def _listen(self, loop: asyncio.AbstractEventLoop) -> str:
        pylsl = liblsl()
        _keep_to_this_machine(pylsl, self._host, self._own_session)
        source = self._make()
        found = pylsl.resolve_bypred(self._query(source.query), 1, 1.0)
        found = [info for info in found if lsl_search.is_the_trackers(info, self._stream)]
        if not found:
            return (
                f"no stream of gaze {f'called {self._stream!r} ' if self._stream else ''}in session {self._session!r}"
            )
        inlet = pylsl.StreamInlet(found[0], 10, recover=False)
        try:
            info = inlet.info(SILENT_TRACKER_S)
            source.described(channels_of(info), str(info.name()))
            self.meter.connects += 1
            last_data = monotonic()
            while not self._stopped:
                values, times = inlet.pull_chunk(timeout=0.1, min_samples=1)
                now = monotonic()
                if times:
                    last_data = now
                    taken = [source.sample(value, t) for value, t in zip(values, times, strict=True)]
                    samples = [sample for sample in taken if sample is not None]
                    if samples:
                        loop.call_soon_threadsafe(self.take, samples, now)
                elif now - last_data > SILENT_TRACKER_S:
                    return "the tracker is silent"
        except (pylsl.util.LostError, pylsl.util.TimeoutError, RuntimeError):
            return "the stream is lost"
        finally:
            inlet.close_stream()
        return "stopped"

    def take(self, samples: list[RawSample], now: float) -> None:
        """Take samples from the reading thread, unless the link was stopped."""
        if not self._stopped:
            super().take(samples, now)

    def _query(self, kind: str) -> str:
        query = lsl_search.stream_predicate(kind, self._stream)
        return query if self._session == self._own_session else lsl_search.in_session(query, self._session)


def _keep_to_this_machine(pylsl: Any, host: str, session: str) -> None:
    """Keep LSL off the network, unless an address beyond this machine is named; it is one setting for the process."""
    if _is_this_machine(host):
        pylsl.set_config_content(lsl_search.lsl_settings(session))


def _is_this_machine(host: str) -> bool:
    return not host or host == "localhost" or ipaddress.ip_address(host).is_loopback


def _port_of(endpoint: Any) -> int:
    text = endpoint.decode() if isinstance(endpoint, bytes) else str(endpoint)
    return int(text.rsplit(":", 1)[1].rstrip("\0"))


def _zmq() -> Any:
    with needing("pyzmq", "live", "Pupil Core's network API"):
        import zmq  # noqa: PLC0415
        import zmq.asyncio  # noqa: PLC0415
    return zmq
