# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share: a state folder of their own, so that none writes into anybody's home."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_UNIX = re.compile(r"\b(fcntl|resource|pwd|os\.(fork|mkfifo|nice|geteuid|getuid)|SIG(HUP|KILL|STOP))\b|/proc/|/dev/")
"""What tests speak of that are about Unix: Windows leaves their files out."""


@pytest.fixture(scope="session", autouse=True)
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GAZEVEIL_STATE", str(tmp_path_factory.mktemp("state")))
        yield


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if os.name != "nt" or collection_path.suffix != ".py" or collection_path == Path(__file__):
        return None
    return _UNIX.search(collection_path.read_text(encoding="utf-8")) is not None or None
