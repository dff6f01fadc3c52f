# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ledgers to test: in files, and on a real PostgreSQL server where the machine has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.postgres_server import Server, binaries, private_server
from gazeveil.privacy.ledger import Ledger
from tests.privacy.ledger.hours import OPEN, Machine


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    pytest.importorskip("psycopg")
    if binaries() is None:
        pytest.skip("no PostgreSQL server on this machine")
    with private_server() as server:
        yield server


@pytest.fixture(scope="session")
def _shared_database(postgres: Server) -> str:
    return postgres.fresh_database("shared")


@pytest.fixture
def database(_shared_database: str) -> str:
    """Return the address of a database without a ledger."""
    import psycopg

    with psycopg.connect(_shared_database) as connection:
        connection.execute("DROP SCHEMA IF EXISTS gazeveil CASCADE")
    return _shared_database


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger can be made, on each kind of store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.sqlite")
    return str(request.getfixturevalue("database"))


@pytest.fixture
def ledger(address: str) -> Iterator[Ledger]:
    with Ledger.open(address, create=True) as opened:
        yield opened


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine whose clocks only the test moves, with a ledger in a file."""
    return Machine(tmp_path / "ledger.sqlite")


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()
