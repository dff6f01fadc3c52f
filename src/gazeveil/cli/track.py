# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil track``: a real tracker for a gateway, or one without hardware, in any protocol, for tests."""

from __future__ import annotations

import signal
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.errors import InputError, OptionError
from gazeveil.gateway.lsl_streams import DEFAULT_SESSION, SESSION_NAMES, is_session
from gazeveil.gateway.telemetry import log_to
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import DistanceMm, SizeMm, width_and_height
from gazeveil.terminal.printing import AsJson, command_app, print_json

if TYPE_CHECKING:
    from gazeveil.gateway.policy.settings import Address, Policy
    from gazeveil.geometry import Geometry

app = command_app()


@app.command(epilog="Example: `gazeveil track --from tobii --to policy.toml`")
def track(
    source: Annotated[
        str | None, typer.Option("--from", metavar=NamesOf("bridge"), help="A tracker that is connected here.")
    ] = None,
    to: Annotated[Path | None, typer.Option("--to", help="For --from: the gateway's policy.")] = None,
    tracker: Annotated[str, typer.Option("--tracker", help="For --from: which tracker of the policy.")] = "",
    device: Annotated[str, typer.Option("--device", help="For --from: which device, address or log.")] = "",
    protocol: Annotated[
        str | None, typer.Option("--protocol", metavar=NamesOf("protocol"), help="Which tracker's protocol to speak.")
    ] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Simulated eyes look at a simulated scene.")] = False,
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Play this recording instead: it is shown raw.")
    ] = None,
    listen: Annotated[
        str | None, typer.Option("--listen", help="Address; by default the protocol's port here.")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", help="Samples a second.", min=1, max=1000)] = 60.0,
    speed: Annotated[float, typer.Option("--speed", help="How many times faster to replay.", min=0.01, max=100)] = 1.0,
    size: Annotated[str, typer.Option("--screen", help="Screen in pixels, or headset for degrees.")] = "1920x1080",
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    seed: Annotated[int, typer.Option("--seed", help="Which simulated participant.")] = 1,
    session: Annotated[str, typer.Option("--session", help="For LSL: the session to be in.")] = DEFAULT_SESSION,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Stop after this many seconds; runs on by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Send a real tracker's gaze to a gateway, or act as a tracker.

    --from reads a vendor's own interface and sends to the gateway of a policy. With --simulate or --replay it speaks a
    tracker's protocol, and nothing is protected.
    """
    import asyncio

    from gazeveil.gateway.protocol import PROTOCOLS

    if simulate + (replay is not None) + (source is not None) != 1:
        raise OptionError("say where gaze comes from: --from TRACKER, --simulate, or --replay FILE")
    if source is not None:
        _forward(source, to, tracker, device, seconds, as_json=as_json)
        return
    if protocol is None:
        raise OptionError("give the tracker's protocol", hint="for example --protocol opengaze")
    policy = _policy(protocol, _plane(size, size_mm, distance_mm), listen, replay, rate=rate, speed=speed, seed=seed)
    if not is_session(session):
        raise OptionError(f"--session must be {SESSION_NAMES}, not {session!r}")
    policy = replace(policy, lsl_session=session)
    where = policy.apps[0].listen
    served = f"{PROTOCOLS[protocol].title}{f' on {where}' if where else ''}"
    if not as_json:
        source = "simulated eyes" if replay is None else f"{replay}, UNVEILED"
        print(f"tracking: {source}; {served}; stop with Ctrl-C", flush=True)
    sent = asyncio.run(_run(policy, seconds))
    if as_json:
        print_json({"protocol": protocol, "listen": None if where is None else str(where), "sent": sent})


def _forward(source: str, to: Path | None, tracker: str, device: str, seconds: float | None, *, as_json: bool) -> None:
    """Send a real tracker's gaze to a gateway. It is never served as it is: there is no veil here."""
    from gazeveil.gateway.bridge import BRIDGES
    from gazeveil.gateway.forwarding import Forwarder, sender_in
    from gazeveil.gateway.policy.settings import read_policy

    kind = BRIDGES[source]
    if to is None:
        raise OptionError(
            f"say which gateway gets the gaze of {kind.title}: --to POLICY", hint=f"in the policy:\n{kind.in_policy()}"
        )
    setting = sender_in(read_policy(to), kind, tracker)
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    timer = threading.Timer(seconds if seconds is not None else threading.TIMEOUT_MAX, stop.set)
    timer.daemon = True
    timer.start()
    if not as_json:
        print(f"tracking: {kind.title}, sent to tracker {setting.name}; stop with Ctrl-C", flush=True)
    try:
        carried = Forwarder(kind, device, setting, log_to(), stop).run()
    finally:
        timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
    if as_json:
        print_json({"from": kind.name, "tracker": setting.name, **asdict(carried)})


def _policy(
    protocol: str, plane: Geometry, listen: str | None, replay: Path | None, *, rate: float, speed: float, seed: int
) -> Policy:
    """Return a gateway's policy with the veil off: whoever runs this shows gaze as it is."""
    from gazeveil.gateway.policy.settings import AppSetting, Policy, TrackerSetting
    from gazeveil.gateway.protocol import PROTOCOLS
    from gazeveil.gateway.veiling import NoVeil

    known = PROTOCOLS[protocol]
    if known.sink is None:
        raise OptionError(f"no app reads {protocol!r}", hint="gaze is sent to a gateway in it; choose another protocol")
    tracker = TrackerSetting(
        "eyes", "simulate" if replay is None else "replay", plane,
        file=replay, speed=speed, loop=True, seed=seed, rate_hz=rate,
    )  # fmt: skip
    address = None if known.transport == "lsl" else _address(listen, known.port)
    # Twice the rate, so that jitter never costs a sample.
    shown = AppSetting(
        "tracker", "eyes", protocol, NoVeil(tracker.space), address, edge="leave", rate_hz=2 * rate, unproven=True
    )
    return Policy((tracker,), (shown,))


async def _run(policy: Policy, seconds: float | None) -> int:
    import asyncio

    from gazeveil.gateway.serve import Gateway
    from gazeveil.process import STOP, called_on

    stop = asyncio.Event()
    if seconds is not None:
        asyncio.get_running_loop().call_later(seconds, stop.set)
    with called_on(dict.fromkeys(STOP, stop.set)):
        async with Gateway(policy, log_to()) as gateway:
            await stop.wait()
            return gateway.meters.apps["tracker"].sent


def _plane(text: str, size_mm: str | None, distance_mm: float | None) -> Geometry:
    from gazeveil.geometry import headset, screen, with_usual_screen

    if text == "headset":
        if size_mm is not None or distance_mm is not None:
            raise OptionError("a headset has no size in millimetres", hint="leave --size-mm and --distance-mm out")
        return headset(100, 90)
    across, times, down = text.partition("x")
    if not (times and across.isdigit() and down.isdigit() and 0 < int(across) < 10**5 and 0 < int(down) < 10**5):
        raise OptionError(f"--screen must be WIDTHxHEIGHT or headset, not {text!r}", hint="for example 1920x1080")
    return with_usual_screen(
        screen(int(across), int(down), *width_and_height(size_mm, "--size-mm", "530x300"), distance_mm)
    )


def _address(text: str | None, port: int) -> Address:
    from gazeveil.gateway.policy.settings import LOOPBACK, Address

    if text is None:
        return Address(LOOPBACK, port)
    host, _, number = text.rpartition(":")
    if not number.isdigit() or int(number) >= 1 << 16:
        raise InputError(f"--listen must be HOST:PORT, not {text!r}", hint=f"for example 127.0.0.1:{port}")
    return Address(host or LOOPBACK, int(number))
