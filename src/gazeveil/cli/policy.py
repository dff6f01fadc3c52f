# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil policy``: check a gateway's policy, show it in plain words, reload it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.files import replacing
from gazeveil.gateway.client import ask
from gazeveil.terminal.printing import AsJson, check_free, command_app, print_json

if TYPE_CHECKING:
    from gazeveil.gateway.policy.settings import AppSetting, Policy

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The gateway's policy, a TOML file.")]
Authority = Annotated[
    Path | None,
    typer.Option("--ca", envvar="GAZEVEIL_CONTROL_CA", help="Trust gateways that this authority (PEM) vouches for."),
]
Fingerprint = Annotated[
    str,
    typer.Option(
        "--fingerprint", envvar="GAZEVEIL_CONTROL_FINGERPRINT", help="Trust the certificate with this SHA-256."
    ),
]

app = command_app()

EXAMPLE = """\
# A gateway's policy. `gazeveil policy check` reads it; `gazeveil serve` runs it.
version = 1

[gateway]
ledger = "ledger.sqlite"
control = "127.0.0.1:7380"
token_file = "control.token"

[[tracker]]
name = "desk"
protocol = "simulate"     # or opengaze, eyetribe, pupil, neon, lsl, gazepointer, websocket, jsonlines, push, pushlines
participant = "anna"
screen = { width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }

[[app]]
name = "game"
tracker = "desk"
protocol = "eyetribe"
listen = "127.0.0.1:6555"
veil = { preset = "mpmu" }
levels = ["lphu", "mpmu", "hplu"]

[[app]]
name = "page"
tracker = "desk"
protocol = "websocket"
listen = "127.0.0.1:7381"
veil = { preset = "mpmu" }   # the same veil, so the same noise: two apps know no more than all its points

[[budget]]
participant = "anna"
epsilon_per_day = 20000
radius = "90px"
"""


@app.callback()
def policy() -> None:
    """Check a gateway's policy, or show it in plain words.

    A running gateway can be made to read it again.
    """


@app.command(epilog="Example: `gazeveil policy check policy.toml`")
def check(path: PolicyFile, as_json: AsJson = False) -> None:
    """Read a policy, and say what it guarantees to whom; what is wrong is reported with its line."""
    from gazeveil.gateway.policy.settings import read_policy

    read = read_policy(path)
    if as_json:
        print_json({"policy": path, "apps": [_plain(read, one) for one in read.apps], "in_words": in_words(read)})
        return
    for line in in_words(read):
        print(line)


@app.command(epilog="Example: `gazeveil policy example policy.toml`")
def example(
    path: PolicyFile,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a policy to begin with: a simulated tracker, two apps, one budget."""
    check_free(path, overwrite=overwrite)
    with replacing(path) as file:
        Path(file).write_text(EXAMPLE, encoding="utf-8", newline="\n")
    if as_json:
        print_json({"policy": path})
    else:
        print(f"wrote {path}\nnext: gazeveil serve {path} --create-ledger")


@app.command(epilog="Example: `gazeveil policy reload policy.toml`")
def reload(path: PolicyFile, ca: Authority = None, fingerprint: Fingerprint = "", as_json: AsJson = False) -> None:
    """Make the running gateway read its policy again; what did not change goes on undisturbed."""
    from gazeveil.gateway.policy.settings import read_policy

    read_policy(path)
    answer = ask(path, "POST", "/v1/policy/reload", ca=ca, fingerprint=fingerprint)
    if as_json:
        print_json(answer)
    else:
        print(f"the gateway runs {len(answer['apps'])} apps on {len(answer['trackers'])} trackers now")


def in_words(policy: Policy) -> list[str]:
    """Describe a policy, one line per app, tracker or budget."""
    from gazeveil.gateway.policy.checks import head_and_eyes_lines
    from gazeveil.gateway.tracker_fields import Fields
    from gazeveil.samples.identification import table

    lines = []
    for tracker in policy.trackers:
        where = f" at {tracker.address}" if tracker.address else ""
        where = f" to {tracker.inlet.listen}" if tracker.inlet else where
        lines.append(f"tracker {tracker.name}: {tracker.protocol}{where}, participant {tracker.participant}")
        if tracker.protocol == "lsl" and tracker.session == policy.lsl_session:
            lines.append("  apps that look for any stream of gaze may pick its raw one: give it a session of its own")
        if tracker.inlet is not None or tracker.fields is not None:
            lines += [f"  {line}" for line in (tracker.fields or Fields()).in_words()]
        if tracker.sources:
            lines.append(f"  its source may be chosen live: {', '.join(tracker.kinds)}; a restart returns to the first")
    for one in policy.apps:
        where = f" on {one.listen}" if one.listen else ""
        lines.append(f"app {one.name}: {one.output} of {one.tracker} over {one.protocol}{where}")
        lines.append(f"  veil: {one.mechanism.in_words()}; guarantee: {_promise(one)}")
        lines.append(f"  identity: {table().look_up(one.mechanism).warning()}")
        lines += [f"  {line}" for line in head_and_eyes_lines(one)]
        if one.protocol == "lsl":
            lines.append(
                "  LSL listens on all networks of this machine: a firewall decides who else can read the veiled stream"
            )
        shared = [other.name for other in policy.apps if other is not one and _same_noise(other, one)]
        if shared:
            lines.append(
                f"  shares its noise with {', '.join(shared)}: together they know no more than all points of one veil"
            )
    lines += [
        f"budget of {one.participant}: {one.guarantee}; what was spent comes back 24 hours later"
        for one in policy.budgets
    ]
    if policy.control is not None and not policy.control.is_local:
        lines.append(
            f"control on {policy.control}, encrypted: other machines that have the token can steer this gateway"
        )
    if not policy.budgets:
        lines.append("no budget: what windows add up to over a day is not limited")
    return lines


def _same_noise(one: AppSetting, other: AppSetting) -> bool:
    return (one.tracker, one.mechanism) == (other.tracker, other.mechanism)


def _promise(one: AppSetting) -> str:
    from gazeveil.privacy.guarantee import Unproven

    promise = one.mechanism.guarantee
    return f"NONE ({promise.reason})" if isinstance(promise, Unproven) else str(promise)


def _plain(policy: Policy, one: AppSetting) -> dict[str, Any]:
    from gazeveil.samples.identification import table

    return {
        "name": one.name,
        "tracker": one.tracker,
        "protocol": one.protocol,
        "listen": None if one.listen is None else str(one.listen),
        "output": one.output,
        "mechanism": one.mechanism.to_dict(),
        "guarantee": one.mechanism.guarantee.to_dict(),
        "identification": table().look_up(one.mechanism).to_dict(),
        "shares_noise_with": [other.name for other in policy.apps if other is not one and _same_noise(other, one)],
    }


def print_if_shut(answer: dict[str, Any]) -> None:
    """Print that the gateway is shut, if it is; before anything else."""
    from gazeveil.gateway.hub.status import LATCH_HINT

    if answer.get("latched"):
        print(f"SHUT: {answer['latched']}\nNothing leaves this gateway: {LATCH_HINT}.")
