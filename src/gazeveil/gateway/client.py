# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Requests to a running gateway, whose address, token and certificate are in its policy.

Where the gateway is encrypted, it must prove who it is before the token is sent: by the very certificate that the
policy names, by the certificate's fingerprint, or by a certificate authority.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import re
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gazeveil.errors import GazeveilError, InputError, OptionError

if TYPE_CHECKING:
    from gazeveil.gateway.policy.settings import ControlSetting

_TIMEOUT_S = 10
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (where a gateway listens that is asked on loopback)


class NotRunning(GazeveilError):  # noqa: N818
    """No gateway answers at the policy's control address."""


class Refused(GazeveilError):  # noqa: N818
    """The running gateway refused."""


class NotTrusted(GazeveilError):  # noqa: N818
    """What answers is not the gateway, or cannot prove it; the token was not sent."""


def ask(
    policy: Path,
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    *,
    ca: Path | None = None,
    fingerprint: str = "",
) -> dict[str, Any]:
    """Ask the running gateway of a policy.

    Raises:
        NotRunning: If none answers.
        NotTrusted: If it cannot prove who it is.
        Refused: If it says no.
        InputError: If the token or a certificate cannot be read.
    """
    from gazeveil.gateway.policy.settings import read_control  # noqa: PLC0415  (--help of a command that asks is fast)

    control = read_control(policy)
    try:
        token = control.token_file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise InputError(
            f"cannot read the token in {control.token_file}: {error.strerror}",
            hint="the gateway makes it when it starts: `gazeveil serve POLICY`",
        ) from error
    try:
        connection = _connected(control, ca, fingerprint)
        try:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body or {}) if method == "POST" else None, headers)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        finally:
            connection.close()
    except ssl.SSLError as error:
        raise NotTrusted(
            f"{control.address} cannot prove that it is the gateway: {error.reason or error}", hint=_HOW_TO_TRUST
        ) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotRunning(
            f"no gateway answers at {control.address}", hint="start it with `gazeveil serve POLICY`"
        ) from error
    if answer.status != http.client.OK:
        raise Refused(str(content.get("message", "refused")), hint=str(content.get("hint", "")))
    return dict(content)


_HOW_TO_TRUST = "name its certificate in the policy's control_tls, or use --ca or --fingerprint"


def _connected(control: ControlSetting, ca: Path | None, fingerprint: str) -> http.client.HTTPConnection:
    host, port = _EVERYWHERE.get(control.address.host, control.address.host), control.address.port
    if control.certificate is None and ca is None and not fingerprint:
        if not control.address.is_local:
            raise NotTrusted(
                f"{control.address} is another machine, and nothing says which certificate it has", hint=_HOW_TO_TRUST
            )
        return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    pinned = _digest(fingerprint) if fingerprint else "" if ca is not None else _digest_in(control.certificate)
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except OSError as error:
        raise InputError(f"{ca} holds no certificate", hint="it is a PEM file") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if pinned:  # the certificate itself is known, whoever signed it and whatever name it bears
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=context)
    connection.connect()
    shown = connection.sock.getpeercert(binary_form=True) or b""
    if pinned and not hmac.compare_digest(hashlib.sha256(shown).hexdigest(), pinned):
        connection.close()
        raise NotTrusted(f"{control.address} shows another certificate than the gateway's", hint=_HOW_TO_TRUST)
    return connection


def _digest(text: str) -> str:
    """Return a fingerprint as it is compared; colons and capitals are as you like."""
    found = re.sub("[: ]", "", text).lower().removeprefix("sha256")
    if re.fullmatch("[0-9a-f]{64}", found) is None:
        raise OptionError(
            "--fingerprint is the SHA-256 of a certificate, 64 hexadecimal digits",
            hint="openssl x509 -noout -fingerprint -sha256 -in cert.pem",
        )
    return found


def _digest_in(certificate: Path | None) -> str:
    try:
        text = "" if certificate is None else certificate.read_text(encoding="ascii")
        first = text[text.index("-----BEGIN CERTIFICATE-----") :].partition("-----END CERTIFICATE-----")
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert("".join(first[:2]))).hexdigest()
    except (OSError, ValueError) as error:
        raise InputError(f"{certificate} holds no certificate", hint="it is a PEM file") from error
