# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens in files that only their owner may read."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from gazeveil.errors import InputError, OutputError
from gazeveil.files import others_may_read


def token_in(path: Path) -> str:
    """Return the token kept in a file, which only its owner may read; a new one is made if there is no file.

    Raises:
        InputError: If others may read the file, or it holds no token.
    """
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if others_may_read(path):
            raise InputError(f"others may read the token in {path}", hint=f"chmod 600 {path}") from None
        token = path.read_text(encoding="ascii", errors="replace").strip()
        if re.fullmatch(r"[A-Za-z0-9_-]{16,}", token) is None:
            raise InputError(f"{path} holds no token", hint="delete the file, and a new one is made") from None
        return token
    except OSError as error:
        raise OutputError(f"cannot keep a token in {path}: {error.strerror}") from error
    with os.fdopen(made, "w", encoding="ascii", newline="\n") as file:
        token = secrets.token_urlsafe(32)
        file.write(token + "\n")
        file.flush()
        os.fsync(made)
    return token
