# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Durable charges per second, beside a bare INSERT and commit with the same durability on the same disk."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from benchmarks.harness import Row
from benchmarks.postgres_server import binaries, private_server
from gazeveil.privacy.guarantee import ApproxDP, PureDP
from gazeveil.privacy.ledger import Ledger

ROUNDS = 9
CHARGES = 400
"""How many each round makes, over all processes."""
PAYLOAD = "x" * 600
"""About as long as an event."""


Job: TypeAlias = Callable[[str], Iterator[None]]
"""Does one thing at every step; is given an address and, after a bar, an account."""


class Round(NamedTuple):
    """How long all took together, and how long each had to wait."""

    seconds: float
    waits: list[float]


class Peer(NamedTuple):
    """What a charge is compared with, by how many processes and over how many accounts, and how near we aim."""

    name: str
    job: Job
    processes: int
    accounts: int
    target: float = 0.5


def run() -> list[Row]:
    rows = []
    # Beside this file, because a temporary folder may be in memory, where durability costs nothing.
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent, prefix=".ledger-") as folder:
        os.environ["GAZEVEIL_STATE"] = f"{folder}/state"  # the anchor on the same disk
        peers = [Peer("bare INSERT + commit", _insert_sqlite, 1, 1), Peer("bare INSERT + commit", _insert_sqlite, 8, 1)]
        rows += _compare("SQLite", f"{folder}/ledger.sqlite", f"{folder}/bare.sqlite", peers)
        if binaries() is not None:
            with private_server() as server:
                # Charges to one account queue up, each with a round trip between reading and writing. So does the peer
                # on one row, though without reading; and the aim is lower.
                peers = [
                    Peer("bare INSERT + commit", _insert_postgres, 1, 1),
                    Peer("bare INSERT + commit", _insert_postgres, 8, 8),
                    Peer("bare UPDATE of one row + commit", _update_postgres, 8, 1, target=0.1),
                ]
                rows += _compare("PostgreSQL", server.fresh_database("ours"), server.fresh_database("bare"), peers)
    return rows


def _compare(store: str, ours: str, bare: str, peers: list[Peer]) -> list[Row]:
    with Ledger.open(ours, create=True) as ledger:
        for account in range(8):
            ledger.grant(f"study-{account}", ApproxDP(10**6, "1e-3"))
    _prepare(bare)
    return [_race(store, ours, bare, peer) for peer in peers]


def _race(store: str, ours: str, bare: str, peer: Peer) -> Row:
    with (
        _crowd(_charge, ours, peer.processes, peer.accounts) as our_crowd,
        _crowd(peer.job, bare, peer.processes, peer.accounts) as peer_crowd,
    ):
        our_crowd(), peer_crowd()  # to warm up
        rounds = [(our_crowd(), peer_crowd()) for _ in range(ROUNDS)]
    who = "1 process" if peer.processes == 1 else f"{peer.processes} processes"
    where = "one account" if peer.accounts == 1 else f"{peer.accounts} accounts"
    return Row(
        name=f"durable charge, {store}, {who}, {where}",
        peer=peer.name,
        ours_s=statistics.median(one.seconds for one, _ in rounds),
        peer_s=statistics.median(one.seconds for _, one in rounds),
        target=peer.target,
        work=CHARGES,
        unit="charges",
        note=f"ours {_waits([one for one, _ in rounds])}; peer {_waits([one for _, one in rounds])}",
    )


def _waits(rounds: list[Round]) -> str:
    ordered = sorted(wait for one in rounds for wait in one.waits)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return f"p50 {1000 * p50:.2f} ms, p99 {1000 * p99:.2f} ms, slowest {1000 * ordered[-1]:.0f} ms"


@contextmanager
def _crowd(job: Job, address: str, processes: int, accounts: int) -> Iterator[Callable[[], Round]]:
    """Start processes that wait for the word; give a function that lets them all do one round."""
    spawn = multiprocessing.get_context("spawn")
    pipes, workers = [], []
    for number in range(processes):
        here, there = spawn.Pipe()
        name = f"{address}|study-{number % accounts}"
        workers.append(spawn.Process(target=_work, args=(there, job, name, CHARGES // processes), daemon=True))
        workers[-1].start()
        pipes.append(here)
    for pipe in pipes:
        pipe.recv()

    def one_round() -> Round:
        begin = time.perf_counter()
        for pipe in pipes:
            pipe.send("go")
        waits = [wait for pipe in pipes for wait in pipe.recv()]
        return Round(time.perf_counter() - begin, waits)

    try:
        yield one_round
    finally:
        for pipe in pipes:
            pipe.send(None)
        for worker in workers:
            worker.join(30)


def _work(pipe: Connection, job: Job, name: str, count: int) -> None:
    steps = job(name)
    next(steps)
    pipe.send("ready")
    while pipe.recv():
        waits = []
        for _ in range(count):
            begin = time.perf_counter()
            next(steps)
            waits.append(time.perf_counter() - begin)
        pipe.send(waits)


def _charge(name: str) -> Iterator[None]:
    address, _, dataset = name.rpartition("|")
    promise, recipe = PureDP("0.001"), {"mechanism": "gaze-map", "cap": 3, "sigma": 12.5}
    with Ledger.open(address) as ledger:
        while True:
            yield
            ledger.charge(dataset, promise, recipe=recipe, note="heatmap")


def _prepare(address: str) -> None:
    if address.startswith("postgresql://"):
        import psycopg

        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event text)")
            connection.execute("CREATE TABLE balance (spent bigint)")
            connection.execute("INSERT INTO balance VALUES (0)")
        return
    with closing(sqlite3.connect(address)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, event TEXT)")


def _insert_sqlite(name: str) -> Iterator[None]:
    with closing(sqlite3.connect(name.rpartition("|")[0], isolation_level=None, timeout=60)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        while True:
            yield
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO bare (event) VALUES (?)", (PAYLOAD,))
            connection.execute("COMMIT")


def _insert_postgres(name: str) -> Iterator[None]:
    yield from _repeat_on_postgres(name, "INSERT INTO bare (event) VALUES (%s)", (PAYLOAD,))


def _update_postgres(name: str) -> Iterator[None]:
    yield from _repeat_on_postgres(name, "UPDATE balance SET spent = spent + %s", (1,))


def _repeat_on_postgres(name: str, statement: str, values: tuple[object, ...]) -> Iterator[None]:
    import psycopg

    connection: Any
    with psycopg.connect(name.rpartition("|")[0], autocommit=True) as connection:
        while True:
            yield
            connection.execute(statement, values)
