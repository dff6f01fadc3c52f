# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Apps and trackers on TCP; and what links to trackers and outlets for apps share on every transport.

An app that reads too slowly loses the oldest veiled samples, and is disconnected if it stops reading. A tracker that is
gone is called again and again. Nothing here interprets the bytes.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from gazeveil.errors import GazeveilError, InputError, WireError
from gazeveil.gateway.protocol import Protocol, Sink, Source, StreamFacts
from gazeveil.gateway.sample import RawSample, Veiled
from gazeveil.gateway.telemetry import Log, Meters, TrackerMeter, shortened

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0

Push = Callable[[list[RawSample], float], None]


class Link:
    """A link to one tracker.

    Args:
        name: The tracker's name in the policy.
        push: Called with samples and the time.
        lost: Called with the reason when there is no gaze.
        meter: The tracker's counts.
        log: The gateway's log.
    """

    def __init__(self, *, name: str, push: Push, lost: Callable[[str], None], meter: TrackerMeter, log: Log) -> None:
        self.name, self.push, self.lost, self.meter, self.log = name, push, lost, meter, log

    def take(self, samples: list[RawSample], now: float) -> None:
        """Count samples and pass them on; with the first ones the tracker counts as found."""
        if not self.meter.connected:
            self.meter.connected = True
            self.log("tracker found", tracker=self.name)
        self.meter.samples += len(samples)
        self.push(samples, now)

    def gone(self, why: str) -> None:
        """Report that there is no gaze any more."""
        self.meter.connected = False
        self.lost(why)

    def failed(self, error: GazeveilError) -> str:
        """Count an error, and return it in words."""
        self.meter.garbage += 1
        return f"{error.message} ({error.hint})" if error.hint else error.message


class CalledLink(Link, ABC):
    """A link that connects to the tracker, and connects again when it is gone."""

    async def run(self) -> None:
        """Keep the connection until it is cancelled."""
        pause = FIRST_PAUSE
        while True:
            before = self.meter.samples
            try:
                why = await self._listen()
            except GazeveilError as error:
                why = self.failed(error)
            self.gone(why)
            pause = FIRST_PAUSE if self.meter.samples > before else min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    @abstractmethod
    async def _listen(self) -> str:
        """Listen to the tracker until that is over; return why it is."""


# --- What the outlets of all transports share.


monotonic = time.monotonic


class CountedOutlet:
    """One app's outlet.

    Attributes:
        protocol: Its protocol.
        shown: The facts about the stream for apps that connect from now on.
        meter: Its counts.
        on_watched: Called with True when the first app asks for gaze, with False when the last one stops.
    """

    def __init__(self, protocol: Protocol, shown: StreamFacts, meters: Meters, log: Log) -> None:
        self.protocol, self.shown, self.log = protocol, shown, log
        self.meter = meters.apps[shown.name]
        self.on_watched: Callable[[bool], None] = lambda is_watched: None
        self._silent = True
        self._fresh = 0

    def flush(self, arrived: float) -> None:
        """Send what was shown, all at once; ``arrived`` is when the bytes came that it was made of."""
        if self._fresh:
            self._send_fresh()
            self.meter.latency.saw(monotonic() - arrived, self._fresh)
            self._fresh = 0

    def regrade(self, shown: StreamFacts) -> None:
        """Show another kind of output from now on; a transport that cannot is never asked to."""
        self.shown = shown

    def _send_fresh(self) -> None:
        """Send what was shown and is not sent yet; nothing where everything is sent at once."""


# --- TCP. `message_transports` does the same for ZeroMQ and LSL.


MOST_CONNECTIONS: Final = 64
"""Connections that one app may hold at once."""
MOST_FROM_ONE_MACHINE: Final = 16
"""How many of them may come from one other machine; apps on this machine share one address."""
MUTE_S: Final = 15.0
"""Seconds that a connection may take for its first complete request."""
HANDSHAKE_S: Final = 10.0
LAST_WORDS_S: Final = 5.0
"""Seconds that an app may take to read why its stream ended."""
MOST_WAITING: Final = 256
"""Veiled samples that wait for a slow reader before the oldest is dropped."""
BUFFER: Final = 1 << 16
STALLED_S: Final = 20.0
SILENT_TRACKER_S: Final = 2.0
"""Seconds without a byte after which a tracker counts as gone, and is called again."""
GOOD_BYE_S: Final = 0.2
"""Seconds that an app may take to read the last message when an outlet is closed."""
CALL_S: Final = 3.0
"""Seconds that a tracker may take to answer."""
_TICK_S: Final = 0.25


class AppOutlet(CountedOutlet):
    """One app's outlet: a listening port and its connections."""

    def __init__(self, protocol: Protocol, shown: StreamFacts, meters: Meters, log: Log) -> None:
        super().__init__(protocol, shown, meters, log)
        self._connections: set[_AppConnection] = set()
        self._present: tuple[_AppConnection, ...] = ()  # the same: one may leave while all are shown something
        self._server: asyncio.Server | None = None
        self._ended, self._stops = "", False

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        """Start to listen.

        Raises:
            InputError: If the port is taken or the address is not this machine's.
        """
        self._server = await listening(f"app {self.shown.name!r}", lambda: _AppConnection(self), host, port, tls)

    @property
    def is_watched(self) -> bool:
        """Whether anyone is connected who has asked for gaze."""
        return any(connection.listens for connection in self._connections)

    @property
    def port(self) -> int:
        """The port that apps connect to."""
        return port_of(self._server)

    def show(self, veiled: Veiled) -> None:
        """Give one veiled thing to every connection; it leaves with the next `flush`."""
        now = monotonic()
        self._silent, self._ended = False, ""
        self._fresh += bool(self._present)
        for connection in self._present:
            connection.show(veiled, now)

    def _send_fresh(self) -> None:
        for connection in self._present:
            connection.flush()

    def silence(self, why: str) -> None:
        """Report to every connection that there is no gaze at present; this undoes an end."""
        self._silent, self._ended = True, ""
        now = monotonic()
        for connection in tuple(self._connections):
            connection.say(lambda sink: sink.silence(now))

    def end(self, reason: str) -> None:
        """Report to every connection why nothing more comes, and close it."""
        self._ended = reason
        now = monotonic()
        for connection in tuple(self._connections):
            connection.say(lambda sink: self._send_end(sink, reason, now))

    def _send_end(self, sink: Sink, reason: str, now: float) -> None:
        (sink.stop if self._stops else sink.end)(reason, now)

    def regrade(self, shown: StreamFacts) -> None:
        """Show another kind of output from now on, to every connection."""
        super().regrade(shown)
        for connection in tuple(self._connections):
            connection.say(lambda sink: sink.regrade(shown))

    def tick(self, now: float) -> None:
        """Do what is due for every connection."""
        for connection in tuple(self._connections):
            connection.tick(now)

    async def close(self, reason: str, *, stops: bool = False) -> None:
        """Close the port and all connections; one that does not read the last message in time is aborted.

        Args:
            reason: The last message.
            stops: Whether that is because the gateway stops, so that apps may come again.
        """
        self._stops = stops
        self.on_watched = lambda is_watched: None
        if self._server is not None:
            self._server.close()
        self.end(reason)
        await asyncio.sleep(0)
        for connection in tuple(self._connections):
            connection.hang_up()
        until = monotonic() + GOOD_BYE_S
        while self._connections and monotonic() < until:  # noqa: ASYNC110  (they leave one by one)
            await asyncio.sleep(GOOD_BYE_S / 20)
        for connection in tuple(self._connections):
            connection.cut_off()
        await asyncio.sleep(0)
        self._connections.clear()
        self._present = ()
        self.meter.connections = self.meter.listeners = 0

    def _enter(self, connection: _AppConnection) -> bool:
        same = [other for other in self._connections if other.peer == connection.peer]
        crowds = [(self._connections, MOST_CONNECTIONS)]
        if not connection.is_local:
            crowds.append((set(same), MOST_FROM_ONE_MACHINE))
        for crowd, most in crowds:
            if len(crowd) >= most and not self._made_room(crowd):
                self.meter.refused += 1
                self.log("connection refused", app=self.shown.name, why="too many connections")
                return False
        self._connections.add(connection)
        self._counted()
        return True

    def _made_room(self, crowd: set[_AppConnection]) -> bool:
        """Close one connection that gets no gaze: one that never made a request first, then the longest idle."""
        idle = [connection for connection in crowd if connection.is_idle]
        if not idle:
            return False
        connection = min(idle, key=lambda one: (one.has_asked, one.since))
        connection.cut("connection gave way", "it asked for no gaze, and others want its place")
        self._leave(connection)
        return True

    def _leave(self, connection: _AppConnection) -> None:
        if connection in self._connections:
            self._connections.discard(connection)
            self._counted()

    def _counted(self) -> None:
        self._present = tuple(self._connections)
        meter, before = self.meter, self.meter.listeners
        meter.connections = len(self._connections)
        meter.listeners = sum(connection.listens for connection in self._connections)
        if bool(before) != bool(meter.listeners):
            self.on_watched(bool(meter.listeners))


class _AppConnection(asyncio.Protocol):
    """One connection of an app.

    Attributes:
        peer: The address that it comes from.
        since: When it last made a whole request; before the first, when it connected.
        has_asked: Whether it ever made one.
        listens: Whether it has asked for gaze.
    """

    def __init__(self, outlet: AppOutlet) -> None:
        self.outlet = outlet
        make = outlet.protocol.sink
        if make is None:
            raise InputError(f"{outlet.protocol.name} has no tracker side")
        self.sink: Sink = make(outlet.shown)
        self._transport: asyncio.Transport | None = None
        self._fresh = b""
        self._waiting: deque[bytes] = deque()
        self._paused_since = self._over_since = 0.0
        self.peer = ""
        self.since = 0.0
        self.has_asked = self.listens = False

    @property
    def is_local(self) -> bool:
        """Whether it comes from this machine."""
        return self.peer.startswith("127.") or self.peer in ("::1", "")

    @property
    def is_idle(self) -> bool:
        """Whether it gets no gaze: it did not ask for any, or does not read."""
        return not self.listens or bool(self._paused_since)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self.peer, self.since = str((transport.get_extra_info("peername") or ("",))[0]), monotonic()
        if self._transport is None or not self.outlet._enter(self):
            transport.abort()  # type: ignore[attr-defined]
            return
        _keep_alive(transport)
        self._transport.set_write_buffer_limits(high=BUFFER)
        now = monotonic()
        self.say(lambda sink: sink.connected(now))
        if self.outlet._ended:
            self.say(lambda sink: self.outlet._send_end(sink, self.outlet._ended, now))
        elif self.outlet._silent:
            self.say(lambda sink: sink.silence(now))

    def data_received(self, data: bytes) -> None:
        now = monotonic()
        if self.say(lambda sink: sink.received(data, now)):  # complete requests are answered, parts of them are not
            self.since, self.has_asked = now, True

    def show(self, veiled: Veiled, now: float) -> None:
        """Queue one veiled thing; if too many wait, drop the oldest."""
        transport = self._transport
        if transport is None or self.sink.ended:
            return
        try:
            self.sink.show(veiled, now)
            data = self.sink.data_to_send()
        except Exception as error:  # noqa: BLE001  (whatever a sink does wrong, this connection goes and no other)
            self.cut("sink failed", error)
            return
        if not data:
            return
        if not self._paused_since:
            self._fresh += data
        else:
            if len(self._waiting) >= MOST_WAITING:
                self._waiting.popleft()
                self.outlet.meter.dropped += 1
            self._waiting.append(data)
        self.outlet.meter.sent += 1

    def flush(self) -> None:
        """Send what was shown."""
        data, self._fresh = self._fresh, b""
        if data and self._transport is not None:
            self._transport.write(data)

    def say(self, what: Callable[[Sink], None]) -> bool:
        """Call the sink and send its answer; return whether there was one.

        Closes the connection if the app broke the protocol or the sink has ended.
        """
        self.flush()
        transport = self._transport
        if transport is None:
            return False
        try:
            what(self.sink)
            data = self.sink.data_to_send()
        except WireError as error:
            self.cut("garbage from app", error)
            return False
        except Exception as error:  # noqa: BLE001  (the same)
            self.cut("sink failed", error)
            return False
        if data:
            transport.write(data)
            if transport.get_write_buffer_size() > 16 * BUFFER:
                self.cut("app does not read its answers", None)
                return False
        if self.sink.ended and not self._over_since:
            self._over_since = monotonic()
            if self.sink.refused_origin:
                self.outlet.meter.refused_origins += 1
                self.outlet.log(
                    "origin refused", app=self.outlet.shown.name, origin=shortened(self.sink.refused_origin)
                )
            transport.close()
        self._update_listening()
        return bool(data)

    def tick(self, now: float) -> None:
        """Disconnect an app that stopped reading, does not read its last message, or never sent a request."""
        if self._paused_since and now - self._paused_since > STALLED_S:
            self.cut("app stalled", None)
        elif self._over_since and now - self._over_since > LAST_WORDS_S:
            self.cut_off()
        elif not self.listens and not self.has_asked and now - self.since > MUTE_S:
            self.cut("connection mute", f"no whole request in {MUTE_S:g} s")
        else:
            self.say(lambda sink: sink.tick(now))

    def pause_writing(self) -> None:
        self._paused_since = monotonic()

    def resume_writing(self) -> None:
        self._paused_since = 0.0
        while self._waiting and not self._paused_since and self._transport is not None:
            self._transport.write(self._waiting.popleft())

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._waiting.clear()
        self.outlet._leave(self)

    def hang_up(self) -> None:
        """Close, without waiting for an app that does not read."""
        if self._transport is not None:
            self._transport.close() if not self._paused_since else self._transport.abort()

    def cut_off(self) -> None:
        """Abort the connection, whatever waits to be sent."""
        if self._transport is not None:
            self._transport.abort()

    def cut(self, event: str, why: Exception | str | None) -> None:
        """Abort the connection, count and log that."""
        self.outlet.meter.refused += 1
        self.outlet.log(event, app=self.outlet.shown.name, why=why)
        self.cut_off()

    def _update_listening(self) -> None:
        if self.listens != self.sink.wants_gaze:
            self.listens = self.sink.wants_gaze
            self.outlet._counted()


class TrackerLink(CalledLink):
    """A link to a tracker on TCP."""

    def __init__(self, make: Callable[[], Source], host: str, port: int, **given: Any) -> None:
        super().__init__(**given)
        self._make, self._host, self._port = make, host, port

    async def _listen(self) -> str:
        try:
            return await self._follow()
        except TimeoutError:
            return "the tracker does not answer"
        except OSError as error:
            return error.strerror or type(error).__name__

    async def _follow(self) -> str:
        """Follow the tracker until that is over; return why it is."""
        connection = TrackerConnection(self)
        try:
            await self._call(connection, self._port)
            self.meter.connects += 1
            return await connection.over()
        finally:
            connection.close()

    async def _call(self, connection: TrackerConnection, port: int) -> None:
        async with asyncio.timeout(CALL_S):
            await asyncio.get_running_loop().create_connection(lambda: connection, self._host, port)


class TrackerConnection(asyncio.Protocol):
    """One connection to a tracker."""

    def __init__(self, link: TrackerLink) -> None:
        self._link = link
        self._source = link._make()
        self._transport: asyncio.Transport | None = None
        self._over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._last_data = monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet the tracker."""
        self._transport = transport  # type: ignore[assignment]
        _keep_alive(transport)
        self._last_data = monotonic()
        self._source.connected(self._last_data)
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        now = monotonic()
        self._take(lambda: self._source.received(data, now), now)

    def _take(self, read: Callable[[], list[RawSample]], now: float) -> None:
        self._last_data = now
        try:
            samples = read()
        except WireError as error:
            self._link.meter.garbage += 1
            self._end(error.message)
            return
        except Exception as error:  # noqa: BLE001  (a parser's fault must not stop the other streams)
            self._link.meter.garbage += 1
            self._link.log("source failed", tracker=self._link.name, why=error)
            self._end("the parser failed")
            return
        if samples:
            self._link.take(samples, now)
        self._flush()

    def eof_received(self) -> None:
        """Handle the end of the tracker's data."""
        self._end("the tracker hung up")

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the loss of the connection."""
        self._end("the connection broke" if exc else "the tracker hung up")

    async def over(self) -> str:
        """Keep the connection alive until it is over; return why it is."""
        self._tick()
        return await self._over

    def _tick(self) -> None:
        """Do what is due, four times a second. A task for each of a hundred trackers would cost too much."""
        if self._over.done():
            return
        now = monotonic()
        if now - self._last_data > SILENT_TRACKER_S:
            self._end("the tracker is silent")
            return
        try:
            self._source.tick(now)
            self._flush()
        except GazeveilError as error:
            self._end(error.message)
            return
        asyncio.get_running_loop().call_later(_TICK_S, self._tick)

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def _flush(self) -> None:
        if self._transport is not None and (data := self._source.data_to_send()):
            self._transport.write(data)

    def _end(self, why: str) -> None:
        if not self._over.done():
            self._over.set_result(why)
        self.close()


async def listening(
    who: str, make: Callable[[], asyncio.Protocol], host: str, port: int, tls: ssl.SSLContext | None
) -> asyncio.Server:
    """Return a server that listens.

    Raises:
        InputError: If the port is taken or the address is not this machine's.
    """
    wait = None if tls is None else HANDSHAKE_S
    try:
        return await asyncio.get_running_loop().create_server(make, host, port, ssl=tls, ssl_handshake_timeout=wait)
    except OSError as error:
        raise cannot_listen(who, host, port, error) from error


def cannot_listen(who: str, host: str, port: int, error: OSError) -> InputError:
    """Return the error for a port that is taken, or an address that is not this machine's."""
    return InputError(
        f"{who} cannot listen on {host}:{port}: {error.strerror or error}",
        hint="`gazeveil doctor POLICY` says which ports are taken",
    )


def port_of(server: asyncio.Server | None) -> int:
    """Return the port of a server; 0 while it does not listen."""
    return int(server.sockets[0].getsockname()[1]) if server and server.sockets else 0


def _keep_alive(transport: Any) -> None:
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
