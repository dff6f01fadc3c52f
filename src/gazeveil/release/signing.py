# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Signed records: an Ed25519 signature over a record's digest, with key files in PEM as OpenSSL writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gazeveil.errors import FileFormatError, why

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "ed25519"
_HOW = "make one with `openssl genpkey -algorithm ed25519 -out key.pem`"


def private_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        FileFormatError: If there is none of that kind.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise FileFormatError(path, expected="an Ed25519 private key in PEM", found=why(error), hint=_HOW) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise FileFormatError(path, expected="an Ed25519 private key", found="another kind of key", hint=_HOW)
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key.

    Raises:
        FileFormatError: If there is none of that kind.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    hint = "write it with `openssl pkey -in key.pem -pubout -out key.pub.pem`"
    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, TypeError) as error:
        raise FileFormatError(path, expected="an Ed25519 public key in PEM", found=why(error), hint=hint) from None
    if not isinstance(key, Ed25519PublicKey):
        raise FileFormatError(path, expected="an Ed25519 public key", found="another kind of key", hint=hint)
    return key


def signature(key: Ed25519PrivateKey, digest: str) -> dict[str, str]:
    """Return the signature of a digest, with the public key that checks it."""
    raw = key.public_key().public_bytes_raw()
    return {"algorithm": ALGORITHM, "public_key": raw.hex(), "signature": key.sign(digest.encode()).hex()}


def is_signed(found: Any, digest: str, key: Ed25519PublicKey | None = None) -> bool:
    """Return whether a signature is one of a digest, by a given key, or else by the key that it names."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        named, signed = bytes.fromhex(found["public_key"]), bytes.fromhex(found["signature"])
        # Written in one way only: of two spellings one was not written by us.
        if found != {"algorithm": ALGORITHM, "public_key": named.hex(), "signature": signed.hex()}:
            return False
        if key is not None and named != key.public_bytes_raw():
            return False
        Ed25519PublicKey.from_public_bytes(named).verify(signed, digest.encode())
    except (KeyError, TypeError, ValueError, InvalidSignature):
        return False
    return True
