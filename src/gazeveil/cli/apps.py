# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil apps``: what every app of a running gateway gets, and its privacy level."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gazeveil.cli._program import product_settings
from gazeveil.cli.policy import Authority, Fingerprint, PolicyFile, print_if_shut
from gazeveil.gateway.client import ask
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import setting_option
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_table

_SET = product_settings("veil")

app = command_app()

AppName = Annotated[str, typer.Argument(metavar="APP", help="The app's name in the policy.")]


@app.callback()
def apps() -> None:
    """Show or change what the apps of a running gateway get."""


@app.command("list", epilog="Example: `gazeveil apps list policy.toml`")
def listing(policy: PolicyFile, ca: Authority = None, fingerprint: Fingerprint = "", as_json: AsJson = False) -> None:
    """Show every app: its guarantee, its state, its counts."""
    told = ask(policy, "GET", "/v1/apps", ca=ca, fingerprint=fingerprint)
    if as_json:
        print_json(told)
        return
    rows = [
        (one["name"], one["state"], one["why"], one["proven"], _connections(one), one["sent"], one["dropped"])
        for one in told["apps"]
    ]
    print_if_shut(told)
    print_table("Apps", ["app", "state", "why", "guarantee", "connections", "sent", "dropped"], rows)
    for one in told["apps"]:
        print(f"{one['name']}: {one['guarantee']} {one['identification']}")


@app.command(epilog="Example: `gazeveil apps turn policy.toml game --preset hplu`")
def turn(
    policy: PolicyFile,
    name: AppName,
    preset: Annotated[
        str | None,
        typer.Option("--preset", metavar=NamesOf("level"), help="A privacy level of the papers; off for no privacy."),
    ] = None,
    epsilon: Annotated[str | None, setting_option(_SET["--epsilon"])] = None,
    window: Annotated[str | None, setting_option(_SET["--window"])] = None,
    radius: Annotated[str | None, setting_option(_SET["--radius"])] = None,
    ca: Authority = None,
    fingerprint: Fingerprint = "",
    as_json: AsJson = False,
) -> None:
    """Change an app's privacy level, within what the policy allows; it changes for all apps that share its noise."""
    given = {"preset": preset, "epsilon": epsilon, "window": window, "radius": radius}
    body = {key: value for key, value in given.items() if value is not None}
    told = ask(policy, "POST", f"/v1/apps/{name}/level", body, ca=ca, fingerprint=fingerprint)
    _tell(told, as_json=as_json)


@app.command(epilog="Example: `gazeveil apps off policy.toml game`")
def off(
    policy: PolicyFile, name: AppName, ca: Authority = None, fingerprint: Fingerprint = "", as_json: AsJson = False
) -> None:
    """Switch an app off: nothing leaves to it any more."""
    told = ask(policy, "POST", f"/v1/apps/{name}/switch", {"on": False}, ca=ca, fingerprint=fingerprint)
    _tell(told, as_json=as_json)


@app.command(epilog="Example: `gazeveil apps on policy.toml game`")
def on(
    policy: PolicyFile, name: AppName, ca: Authority = None, fingerprint: Fingerprint = "", as_json: AsJson = False
) -> None:
    """Switch an app on again."""
    told = ask(policy, "POST", f"/v1/apps/{name}/switch", {"on": True}, ca=ca, fingerprint=fingerprint)
    _tell(told, as_json=as_json)


def _connections(one: dict[str, Any]) -> str:
    """Return how many connections there are; with ZeroMQ and LSL nobody but they knows."""
    from gazeveil.gateway.protocol import PROTOCOLS

    return str(one["connections"]) if PROTOCOLS[one["protocol"]].transport == "tcp" else "–"


def _tell(one: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(one)
    else:
        print(f"{one['name']}: {one['state']}, {one['guarantee']}")
