# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil doctor``: which trackers are here, which port is taken, which extra is missing, what a policy lacks."""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.errors import GazeveilError, OptionError
from gazeveil.gateway.client import ask
from gazeveil.terminal.printing import EXIT_FINDING, AsJson, command_app, print_json, print_table

if TYPE_CHECKING:
    from gazeveil.gateway.machine_checks import FoundTracker
    from gazeveil.gateway.policy.settings import Address, InletSetting, Policy, TrackerSetting

app = command_app()

EXTRAS = {
    "live": ("msgpack", "msgspec", "prometheus_client", "pylsl", "zmq", "starlette", "uvicorn", "websockets"),
    "plots": ("matplotlib",),
    "scene": ("cv2", "mss"),
    "onnx": ("onnxruntime",),
    "attacks": ("torch", "sklearn", "skimage", "pywt"),
    "spark": ("pyspark",),
    "postgres": ("psycopg",),
    "accounting": ("dp_accounting",),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One check."""

    what: str
    state: str
    """``ok``, ``found`` for a tracker, ``missing`` for what may be missing, ``open`` for a way round the gateway that
    is open to whoever runs this, or ``wrong``: what keeps the gateway from running, or an app's user from being kept
    out."""
    advice: str = ""


@app.command(epilog="Example: `gazeveil doctor policy.toml`")
def doctor(
    policy: Annotated[Path | None, typer.Argument(metavar="[POLICY]", help="Also look at this policy.")] = None,
    as_user: Annotated[
        str | None,
        typer.Option("--as-user", help="Only try, as this user, what apps could read without the gateway. Needs root."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the installation: extras, ports, trackers here, a policy, and ways round the gateway.

    Exit code 1 if something is wrong, or if --as-user finds a way round.
    """
    from gazeveil.gateway.machine_checks import POLICY, find_trackers
    from gazeveil.gateway.policy.settings import read_policy

    if as_user is not None:
        if policy is None:
            raise OptionError("--as-user needs a policy", hint="gazeveil doctor policy.toml --as-user NAME")
        findings = list(_ways(read_policy(policy), as_user))
    else:
        findings = [*_extras(), *(_policy(policy) if policy else _ports())]
    here = [] if policy else find_trackers()
    findings += [_tracker(one) for one in here]
    wrong = [one for one in findings if one.state == "wrong"]
    if as_json:
        values = {"healthy": not wrong, "findings": [asdict(one) for one in findings]}
        print_json(values if policy else values | {"trackers": [asdict(one) for one in here]})
    else:
        rows = [(one.what, one.state, one.advice) for one in findings]
        print_table("healthy" if not wrong else f"{len(wrong)} wrong", ["what", "state", "what to do"], rows)
        for source, part in {one.source: one.policy for one in here}.items():
            print(f"\nfor {source}, in {POLICY}:\n{part}", end="")
    if wrong:
        raise typer.Exit(EXIT_FINDING)


def _tracker(one: FoundTracker) -> Finding:
    from gazeveil.gateway.machine_checks import POLICY

    steps = [one.needs, f"write the part for {one.source} below into {POLICY}", *one.commands]
    return Finding(one.what, "found", "; ".join(step for step in steps if step))


def _ways(policy: Policy, as_user: str | None) -> Iterator[Finding]:
    """Try what an app could read without the gateway; whoever runs it may be allowed to, the apps' user is not."""
    from gazeveil.gateway.machine_checks import tried_bypasses

    states = {True: "open", False: "missing", None: "missing"}
    if as_user is not None:
        states = {True: "wrong", False: "ok", None: "wrong"}  # what was not tried is not closed
    for way in tried_bypasses(policy, as_user):
        yield Finding(way.what, states[way.is_open], way.meaning)


def _extras() -> Iterator[Finding]:
    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        advice = f"without {', '.join(missing)}: pip install 'gazeveil[{extra}]'" if missing else ""
        yield Finding(f"extra {extra}", "missing" if missing else "ok", advice)


def _ports() -> Iterator[Finding]:
    from gazeveil.gateway.protocol import PROTOCOLS

    for protocol in PROTOCOLS.values():
        if protocol.transport != "lsl":
            taken = _taken("127.0.0.1", protocol.port)
            advice = "an app cannot be served there; a tracker may listen there already" if taken else ""
            yield Finding(f"port {protocol.port} ({protocol.title})", "missing" if taken else "ok", advice)


def _policy(path: Path) -> Iterator[Finding]:
    from gazeveil.gateway.policy.settings import read_policy

    try:
        policy = read_policy(path)
    except GazeveilError as error:
        yield Finding(f"policy {path}", "wrong", f"{error.message} {error.hint}".strip())
        return
    yield Finding(f"policy {path}", "ok")
    for app_setting in policy.apps:
        if app_setting.listen is not None:
            yield _listener(f"app {app_setting.name}", app_setting.listen)
    for tracker in policy.trackers:
        for setting in (tracker, *tracker.sources):
            if setting.inlet is not None:
                yield _inlet(path, setting, setting.inlet)
    if policy.control is not None:
        yield _listener("control API", policy.control)
    yield from _ways(policy, None)
    for tracker in policy.trackers:
        if tracker.file is not None and not tracker.file.exists():
            yield Finding(f"recording {tracker.file}", "wrong", "there is no such file")
    yield from _ledger(policy)


def _inlet(path: Path, tracker: TrackerSetting, inlet: InletSetting) -> Finding:
    """Say what a sender must send; where the gateway runs, also why it gets nothing."""
    from gazeveil.gateway.tracker_fields import Fields

    words = "; ".join((tracker.fields or Fields()).in_words())
    finding = _listener(f"tracker {tracker.name}", inlet.listen)
    if finding.state == "ok":
        return replace(finding, advice=f"a sender shows the token in {inlet.token_file}, then: {words}")
    try:
        trackers = ask(path, "GET", "/v1/status")["trackers"]
        why = next(str(one["why"]) for one in trackers if one["name"] == tracker.name)
    except (GazeveilError, LookupError, StopIteration):
        return finding
    what = f"tracker {tracker.name} on {inlet.listen}, where the gateway runs"
    return Finding(what, "missing" if why else "ok", f"{why}. What it expects: {words}" if why else "")


def _listener(what: str, address: Address) -> Finding:
    if address.port and _taken(address.host, address.port):
        return Finding(f"{what} on {address}", "wrong", "the port is taken: is the gateway running already?")
    return Finding(f"{what} on {address}", "ok")


def _ledger(policy: Policy) -> Iterator[Finding]:
    if not policy.ledger or "://" in policy.ledger:
        return
    path = Path(policy.ledger)
    if not path.exists():
        writable = os.access(path.parent, os.W_OK)
        advice = "gazeveil serve --create-ledger makes it" if writable else f"{path.parent} cannot be written"
        yield Finding(f"ledger {path}", "missing" if writable else "wrong", advice)
    elif not os.access(path, os.R_OK | os.W_OK):
        yield Finding(f"ledger {path}", "wrong", "it cannot be read and written by you")
    else:
        yield Finding(f"ledger {path}", "ok")


def _taken(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0
