# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How commands talk to a running gateway: its address and token are in the policy."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.errors import GazeveilError, InputError
from gazeveil.gateway.policy import Policy

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The gateway's policy, a TOML file.")]

_TIMEOUT_S = 10


class NotRunning(GazeveilError):  # noqa: N818
    """No gateway answers at the policy's control address."""


class Refused(GazeveilError):  # noqa: N818
    """The running gateway refused."""


def ask(policy: Policy, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Ask the running gateway.

    Raises:
        NotRunning: If none answers.
        Refused: If it says no.
        InputError: If the token cannot be read.
    """
    if policy.control is None or policy.token_file is None:
        raise InputError("the policy has no control API", hint='add control = "127.0.0.1:7380" to its [gateway]')
    host, port = policy.control.host, policy.control.port
    try:
        token = policy.token_file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise InputError(
            f"cannot read the token in {policy.token_file}: {error.strerror}",
            hint="the gateway makes it when it starts: `gazeveil serve POLICY`",
        ) from error
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body or {}) if method == "POST" else None, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotRunning(
            f"no gateway answers at {host}:{port}", hint="start it with `gazeveil serve POLICY`"
        ) from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise Refused(str(told.get("message", "refused")), hint=str(told.get("hint", "")))
    return dict(told)
