# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Opens the doors of apps: TCP, ZeroMQ or LSL, encrypted where the policy says so."""

from __future__ import annotations

import ssl

from gazeveil.errors import InputError
from gazeveil.gateway._hub_seat import Door
from gazeveil.gateway.logs import Log
from gazeveil.gateway.meters import Meters
from gazeveil.gateway.policy import LOOPBACK, Address, AppSetting, Tls
from gazeveil.gateway.protocol import Protocol, Shown
from gazeveil.gateway.sockets import AppOutlet


async def opened_door(
    app: AppSetting, protocol: Protocol, shown: Shown, meters: Meters, log: Log, *, lsl_session: str
) -> Door:
    """Open an app's door.

    Raises:
        InputError: If its port is taken, or its certificate cannot be used.
        MissingExtra: If the protocol needs a package that is not installed.
    """
    if protocol.transport == "tcp":
        door = AppOutlet(protocol, shown, meters, log)
        await door.listen(*host_and_port(app.listen), tls_of(f"app {app.name!r}", app.tls))
        return door
    from gazeveil.gateway.messages import LslOutlet, PupilOutlet  # noqa: PLC0415  (zmq and liblsl load on use)

    outlet: PupilOutlet | LslOutlet
    if protocol.transport == "zmq":
        outlet = PupilOutlet(protocol, shown, meters, log)
    else:
        outlet = LslOutlet(protocol, shown, meters, log)
        outlet.session = lsl_session
    await outlet.listen(*host_and_port(app.listen))
    return outlet


def host_and_port(address: Address | None) -> tuple[str, int]:
    """Return where an address is; where there is none, any free port of this machine."""
    return (LOOPBACK, 0) if address is None else (address.host, address.port)


def tls_of(who: str, tls: Tls | None) -> ssl.SSLContext | None:
    """Return what encrypts a server's connections.

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
