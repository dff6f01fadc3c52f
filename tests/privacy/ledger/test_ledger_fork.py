# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A ledger that is carried over a fork loses no charge, locks nobody out, and hangs nowhere."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from gazeveil.errors import LedgerError
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.ledger import Ledger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

_HANGS_AFTER_S = 30


def forked(job: Callable[[], object]) -> int:
    """Start a job in a forked child, which is killed if it hangs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn where there are threads
        child = os.fork()
    if child == 0:
        signal.alarm(_HANGS_AFTER_S)
        try:
            job()
        except BaseException:  # noqa: BLE001  (the parent is told by the exit code)
            os._exit(1)
        os._exit(0)
    return child


def ended_well(child: int) -> bool:
    return os.waitpid(child, 0)[1] == 0


def test_a_child_charges_while_the_parent_lets_go(ledger: Ledger) -> None:
    """With memory of its parent's locks, SQLite would let the parent remove the log that the child writes to."""
    ledger.grant("study", PureDP(100))
    ledger.charge("study", PureDP(1))
    child_has_charged, parent_has_closed = os.pipe(), os.pipe()

    def job() -> None:
        ledger.charge("study", PureDP(1))
        os.write(child_has_charged[1], b"x")
        os.read(parent_has_closed[0], 1)
        for _ in range(3):
            ledger.charge("study", PureDP(1))

    child = forked(job)
    os.read(child_has_charged[0], 1)
    ledger.close()
    os.write(parent_has_closed[1], b"x")
    assert ended_well(child)
    for end in (*child_has_charged, *parent_has_closed):
        os.close(end)
    assert ledger.account("study").spent == {"epsilon": 5}
    assert ledger.verify().sound


def test_a_fork_in_the_middle_of_charges_by_another_thread(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(10**6))
    enough = threading.Event()
    charged = 0

    def charge() -> None:
        nonlocal charged
        while not enough.is_set():
            ledger.charge("study", PureDP(1))
            charged += 1

    busy = threading.Thread(target=charge)
    busy.start()
    try:
        children = [forked(lambda: ledger.charge("study", PureDP(1))) for _ in range(12)]
        assert [ended_well(child) for child in children] == [True] * 12
    finally:
        enough.set()
        busy.join()
    assert ledger.account("study").spent == {"epsilon": charged + 12}
    assert ledger.verify().sound


def test_a_child_that_was_forked_while_the_file_was_read_is_refused(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", PureDP(3))
        lines = ledger.lines()
        next(lines)  # a reader that is not done

        def job() -> None:
            for use in (lambda: ledger.charge("study", PureDP(1)), lambda: Ledger.open(tmp_path / "ledger.sqlite")):
                with pytest.raises(LedgerError, match="forked"):
                    use()

        assert ended_well(forked(job))
        assert list(lines) == []  # now it is done
        assert ended_well(forked(lambda: ledger.charge("study", PureDP(1))))
        assert ledger.account("study").spent == {"epsilon": 1}
