# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that need two ports get two."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Self

import pytest

from tests import ports


class Repeating:
    """A socket whose system hands out each port twice."""

    asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def bind(self, address: tuple[str, int]) -> None:
        assert address == ("127.0.0.1", 0)
        Repeating.asked += 1

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", 40_000 + (Repeating.asked + 1) // 2


def test_two_calls_get_two_ports_though_the_system_hands_one_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_GIVEN", set())
    monkeypatch.setattr(Repeating, "asked", 0)
    monkeypatch.setattr(socket, "socket", Repeating)
    assert [ports.free_port() for _ in range(3)] == [40_001, 40_002, 40_003]


def test_free_ports_come_from_one_place() -> None:
    tests = Path(__file__).parent
    own = [path.name for path in sorted(tests.rglob("*.py")) if "def free_port(" in path.read_text(encoding="utf-8")]
    assert own == ["ports.py", "test_ports.py"]
