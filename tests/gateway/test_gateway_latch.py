# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway whose ledger is replaced, gone or rolled back lets nothing leave until it is started again."""

from __future__ import annotations

import asyncio
import fcntl
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gazeveil.cli.main import run as command
from gazeveil.errors import LedgerBusy, LedgerError, LedgerRolledBack
from gazeveil.gateway.hub.app_stream import LATCHED
from gazeveil.gateway.serve import Gateway
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.sqlite import SqliteStore
from tests.gateway.hub_bench import Bench, app, budget, policy, tracker
from tests.gateway.test_gateway_serve import is_gaze, lines_of, policy_text, running
from tests.ports import free_port

RULES = policy(app(), app("page", "lphu"), budget(140), lease_s=3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Ledger.open(tmp_path / "ledger.sqlite", create=True).close()
    return tmp_path / "ledger.sqlite"


def put_back(kept: Path, path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    shutil.copy(kept, path)


def replaced_by_an_old_copy(path: Path) -> None:
    put_back(path.with_name("kept.sqlite"), path)


def gone(path: Path) -> None:
    path.unlink()


def gone_with_all_beside_it(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def overwritten_in_place(path: Path) -> None:
    shutil.copyfile(path.with_name("kept.sqlite"), path)
    path.with_name(path.name + "-wal").write_bytes(b"")


@pytest.mark.parametrize("harm", [replaced_by_an_old_copy, gone])
def test_a_hub_whose_ledger_is_not_its_own_any_more_is_latched_for_good(
    path: Path, harm: Callable[[Path], None]
) -> None:
    with Ledger.open(path) as ledger:
        bench = Bench(RULES, ledger)
        bench.gaze(8)
        shutil.copy(path, path.with_name("kept.sqlite"))
        right = path.with_name("right.sqlite")
        path.rename(right)
        shutil.copy(right, path)
        harm(path)
        bench.gaze(8)
        assert "any more" in bench.hub.latched or "replaced" in bench.hub.latched
        assert bench.hub.status().to_dict()["latched"] == bench.hub.latched
        shown = {name: len(seen.shown) for name, seen in bench.seen.items()}
        assert all(shown.values())
        path.unlink(missing_ok=True)
        right.rename(path)  # even the right file does not open it again
        bench.hub.switch("game", False)
        bench.hub.switch("game", True)
        bench.hub.set_level("page", now=bench.now, preset="policy")
        bench.hub.set_participant("desk", "bo", bench.now)
        bench.hub.reload(
            policy(app(), app("page", "lphu"), app("third"), budget(140), tracker(participant="eve")), bench.now
        )
        bench.attach("third")
        bench.gaze(10)
    assert {name: len(seen.shown) for name, seen in bench.seen.items()} == {**shown, "third": 0}
    assert {seen.ended[-1] for seen in bench.seen.values()} == {LATCHED}
    assert {bench.state(name) for name in ("game", "page", "third")} == {"ended"}
    assert [event for event, _ in bench.logs].count("latched-shut") == 1


def test_five_copies_put_back_buy_nothing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        bench = Bench(RULES, ledger)
        bench.gaze(6)
    shutil.copy(path, path.with_name("kept.sqlite"))
    with Ledger.open(path) as ledger:
        bench = Bench(RULES, ledger)
        bench.gaze(400)  # the budget is spent now
        spent = ledger.accounts()[0].spent["epsilon"]
    assert 130 < spent <= 140
    for _ in range(5):
        put_back(path.with_name("kept.sqlite"), path)
        with Ledger.open(path) as ledger:  # a gateway that is started again
            bench = Bench(RULES, ledger)
            bench.gaze(20)
        assert isinstance(bench.outcomes[0], LedgerRolledBack)
        assert len(bench.outcomes) <= 2
        assert [seen.shown for seen in bench.seen.values()] == [[], []]


def test_a_restored_ledger_lets_a_gateway_that_is_started_again_go_on(path: Path) -> None:
    with Ledger.open(path) as ledger:
        Bench(RULES, ledger).gaze(6)
    shutil.copy(path, path.with_name("kept.sqlite"))
    with Ledger.open(path) as ledger:
        Bench(RULES, ledger).gaze(6)
    put_back(path.with_name("kept.sqlite"), path)
    with Ledger.open(path) as ledger:
        bench = Bench(RULES, ledger)
        bench.gaze(6)
        assert bench.hub.latched
        assert ledger.restore("the disk failed")
    with Ledger.open(path) as ledger:
        bench = Bench(RULES, ledger)
        bench.gaze(6)
        assert not bench.hub.latched
        assert len(bench.seen["game"].shown) > 0


@pytest.mark.parametrize("harm", [replaced_by_an_old_copy, overwritten_in_place, gone])
def test_a_running_gateway_latches_shut_and_says_so_once(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    port = free_port()
    ledger = tmp_path / "ledger.sqlite"

    async def run() -> None:
        async with running(tmp_path, policy_text(port)) as (gateway, log):
            assert await lines_of(port, is_gaze, 5)
            with Ledger.open(ledger) as book:
                first = book.accounts()[0].number
            shutil.copy(ledger, tmp_path / "kept.sqlite")
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.timeout(60):
                while _events(ledger) <= first + 1:
                    await reader.readline()
                harm(ledger)
                while json.loads(await reader.readline()).get("type") != "end":
                    pass
            writer.close()
            assert gateway.status()["latched"]
            assert b"gazeveil_latched 1.0" in gateway.exposition()[0]
            await gateway.reload()
            end = await lines_of(port, lambda told: told.get("type") == "end", 1)
            assert "cannot be trusted" in end[0]["reason"]
            assert log.getvalue().count("latched-shut") == 1
            assert "gazeveil ledger restore" in log.getvalue()

    asyncio.run(run())


async def says_loudly_that_it_is_shut(gateway: Gateway, port: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Look at everything that participants look at."""
    assert gateway.status()["latched"]
    assert b"gazeveil_latched 1.0" in gateway.exposition()[0]
    for words in (["apps", "list"], ["budget"]):
        assert await asyncio.to_thread(command, [*words, str(gateway.policy.path)]) == 0
        told = capsys.readouterr().out
        assert told.startswith("SHUT: ")
        assert "gazeveil ledger restore" in told
    where = gateway.policy.control
    assert where is not None
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
    assert b'"latched":true' in await reader.read()
    writer.close()
    end = await lines_of(port, lambda told: told.get("type") == "end", 1)
    assert "cannot be trusted" in end[0]["reason"]


def test_an_old_copy_put_back_five_times_buys_a_gateway_nothing_and_a_restore_opens_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    ledger, kept, text = tmp_path / "ledger.sqlite", tmp_path / "kept.sqlite", policy_text(port)

    async def run() -> None:
        async with running(tmp_path, text):
            assert await lines_of(port, is_gaze, 5)
        shutil.copy(ledger, kept)
        spent = _events(kept)
        async with running(tmp_path, text):
            assert await lines_of(port, is_gaze, 5)
        for _ in range(5):
            put_back(kept, ledger)
            async with running(tmp_path, text) as (gateway, log):
                await says_loudly_that_it_is_shut(gateway, port, capsys)
                assert log.getvalue().count("latched-shut") == 1
            assert _events(ledger) == spent
        assert command(["ledger", "restore", "--ledger", str(ledger), "--confirm", "--note", "the disk failed"]) == 0
        async with running(tmp_path, text) as (gateway, _):
            assert await lines_of(port, is_gaze, 5)
            assert not gateway.status()["latched"]

    asyncio.run(run())


def test_an_empty_ledger_in_place_of_the_one_that_was_paid_from_is_not_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, policy_text(port)):
            assert await lines_of(port, is_gaze, 5)
        gone_with_all_beside_it(tmp_path / "ledger.sqlite")
        async with running(tmp_path, policy_text(port)) as (gateway, log):  # with --create-ledger
            await says_loudly_that_it_is_shut(gateway, port, capsys)
            assert "is not the ledger that this gateway paid from" in log.getvalue()

    asyncio.run(run())


def test_a_new_ledger_is_made_at_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"

    async def run() -> None:
        async with running(tmp_path, policy_text(free_port())):
            assert ledger.exists(), "before anybody asked for gaze"
            assert ledger.stat().st_mode & 0o777 == 0o600
            with Ledger.open(ledger) as book:
                assert book.accounts() == []

    asyncio.run(run())


def test_a_new_ledger_that_cannot_be_made_is_an_error_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        (tmp_path / "ledger.sqlite").write_text("no ledger, but something else" * 100)
        with pytest.raises(LedgerError):
            async with running(tmp_path, policy_text(free_port())):
                raise AssertionError("it started")

    asyncio.run(run())


def _events(path: Path) -> int:
    with Ledger.open(path) as book:
        return sum(account.number for account in book.accounts())


def test_a_ledger_that_cannot_be_used_is_trouble_that_passes(path: Path) -> None:
    ledger = Ledger(SqliteStore(path, patience_s=0.01))
    bench = Bench(RULES, ledger)
    with path.with_name("ledger.sqlite.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        bench.gaze(6)
        assert type(bench.outcomes[-1]) is LedgerBusy
        assert (bench.hub.latched, bench.seen["game"].shown) == ("", [])
    bench.gaze(6)
    assert (bench.hub.latched, bench.seen["game"].ended) == ("", [])
    assert len(bench.seen["game"].shown) > 0
    ledger.close()


def test_a_spent_budget_ends_its_own_streams_alone(path: Path) -> None:
    two = tracker("couch", participant="bo")
    rules = policy(tracker(), two, app(), app("page", on="couch"), budget(5), budget(5000, participant="bo"), lease_s=3)
    with Ledger.open(path) as ledger:
        bench = Bench(rules, ledger)
        for _ in range(20):
            bench.gaze(0.5)
            bench.gaze(0.5, on="couch")
    assert bench.hub.latched == ""
    assert (bench.state("game"), bench.state("page")) == ("ended", "flowing")
