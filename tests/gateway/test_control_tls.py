# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A control API that other machines reach is encrypted, and commands send the token to nobody but the gateway."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import subprocess
from pathlib import Path

import pytest

from gazeveil.cli.main import run as command
from gazeveil.errors import FileFormatError
from gazeveil.gateway.policy.settings import Address, read_control, read_policy
from tests.gateway.test_gateway_serve import policy_text, running
from tests.ports import free_port

TLS = 'control_tls = { certificate = "cert.pem", key = "key.pem" }\n'


def certificate(folder: Path, name: str = "cert.pem", key: str = "key.pem", subject: str = "IP:127.0.0.1") -> Path:
    if subprocess.run(["openssl", "version"], capture_output=True, check=False).returncode:
        pytest.skip("openssl makes the certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=gateway",
         "-addext", f"subjectAltName={subject}", "-keyout", key, "-out", name],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder / name


def beyond_this_machine(text: str) -> str:
    return text.replace('control = "127.0.0.1:', 'control = "0.0.0.0:').replace("lease_s", f"{TLS}lease_s")


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.0.2.7", "gateway.lab"])
def test_a_control_api_beyond_this_machine_needs_encryption_and_both_commands_say_so(
    tmp_path: Path, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(policy_text(free_port()).replace('control = "127.0.0.1:', f'control = "{host}:'))
    with pytest.raises(FileFormatError) as caught:
        read_policy(path)
    assert caught.value.line == 4
    for words in (["policy", "check"], ["serve"]):
        assert command([*words, str(path)]) == 3
        told = capsys.readouterr()
        assert "which other machines reach, and no control_tls" in told.err
        assert told.out == ""


def test_addresses_of_this_machine_need_none(tmp_path: Path) -> None:
    assert all(Address(host, 1).is_local for host in ("127.0.0.1", "127.3.2.1", "::1", "localhost"))
    assert not any(Address(host, 1).is_local for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.evil"))
    path = tmp_path / "policy.toml"
    path.write_text(policy_text(free_port()))
    assert read_policy(path).control_tls is None


def test_an_encrypted_control_api_is_said_in_plain_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate(tmp_path)
    path = tmp_path / "policy.toml"
    path.write_text(beyond_this_machine(policy_text(free_port())))
    assert command(["policy", "check", str(path)]) == 0
    assert "encrypted: other machines" in capsys.readouterr().out


def test_commands_steer_an_encrypted_gateway_and_send_no_token_to_anybody_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cert, _ = certificate(tmp_path), certificate(tmp_path, "other.pem", "other.key")
    der = ssl.PEM_cert_to_DER_cert(cert.read_text())
    right = hashlib.sha256(der).hexdigest().upper()
    wrong = right.replace(right[0], "0" if right[0] != "0" else "1")
    path = tmp_path / "policy.toml"

    async def asked(*words: str) -> int:
        return await asyncio.to_thread(command, [*words])

    async def run() -> None:
        async with running(tmp_path, beyond_this_machine(policy_text(free_port()))) as (gateway, _):
            assert await asked("apps", "off", str(path), "game") == 0
            assert gateway.status()["apps"][0]["state"] == "off"
            # From elsewhere: the table alone, with another address for the same gateway.
            where = gateway.policy.control
            assert where is not None
            far = tmp_path / "far.toml"
            here = f'[gateway]\ncontrol = "127.0.0.1:{where.port}"\ntoken_file = "token"\n'
            far.write_text(here + 'control_tls = { certificate = "cert.pem" }\n')
            assert await asked("apps", "on", str(far), "game") == 0
            far.write_text(here)
            assert await asked("apps", "list", str(far), "--ca", str(cert)) == 0
            assert await asked("apps", "list", str(far), "--fingerprint", f"SHA256:{right[:2]}:{right[2:]}") == 0
            before = gateway.meters.control_refused.copy()
            capsys.readouterr()
            for trust in (["--ca", str(tmp_path / "other.pem")], ["--fingerprint", wrong]):
                assert await asked("apps", "off", str(far), "game", *trust) == 5
                assert "certificate" in capsys.readouterr().err
            far.write_text(here + 'control_tls = { certificate = "other.pem" }\n')
            assert await asked("apps", "off", str(far), "game") == 5
            assert "another certificate" in capsys.readouterr().err
            assert gateway.status()["apps"][0]["state"] != "off"
            assert gateway.meters.control_refused == before

    asyncio.run(run())


def test_no_token_is_sent_to_another_machine_in_the_clear(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "far.toml"
    path.write_text('[gateway]\ncontrol = "192.0.2.7:7380"\ntoken_file = "token"\n')
    (tmp_path / "token").write_text("a" * 20)
    assert command(["apps", "list", str(path)]) == 5
    assert "--fingerprint" in capsys.readouterr().err


def test_an_app_can_be_switched_off_while_the_rest_of_the_policy_is_broken(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, policy_text(free_port())) as (gateway, _):
            path = tmp_path / "policy.toml"
            path.write_text(path.read_text().replace('preset = "lphu"', 'preset = "lphx"'))
            assert await asyncio.to_thread(command, ["apps", "off", str(path), "game"]) == 0
            assert gateway.status()["apps"][0]["state"] == "off"

    asyncio.run(run())


def test_a_policy_without_a_control_api_says_how_to_add_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("version = 1\n")
    assert command(["apps", "list", str(path)]) == 3
    assert "add control" in capsys.readouterr().err
    path.write_text('[gateway]\ncontrol = "[::1]:7390"\n')
    assert read_control(path).address == Address("::1", 7390)
