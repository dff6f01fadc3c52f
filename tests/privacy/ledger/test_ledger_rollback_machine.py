# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Charges, crashes, copies and restores in any order: an old ledger is never accepted, a good one never refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gazeveil.errors import LedgerRolledBack
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.anchor import AnchorFile

DATASETS = st.sampled_from(["one", "two", "three"])


class RollbackMachine(RuleBasedStateMachine):
    """A ledger, copies of it, and a model of what its anchor must know: the newest event of each account."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.patched = pytest.MonkeyPatch()
        self.patched.setenv("GAZEVEIL_STATE", f"{self.folder.name}/state")
        self.path = Path(self.folder.name) / "ledger.sqlite"
        with Ledger.open(self.path, create=True) as ledger:
            ledger.grant("one", PureDP(1000))
        self.known = self.ends()
        self.copies = [self.path.read_bytes()]

    def ends(self) -> set[str]:
        with Ledger.open(self.path) as ledger:
            return {account.head for account in ledger.accounts()}

    def held(self) -> set[str]:
        with Ledger.open(self.path) as ledger:
            return {line.digest for line in ledger.lines()}

    @property
    def is_good(self) -> bool:
        return self.known <= self.held()

    def add(self, dataset: str) -> None:
        with Ledger.open(self.path) as ledger:
            if dataset in {account.dataset for account in ledger.accounts()}:
                ledger.charge(dataset, PureDP(1))
            else:
                ledger.grant(dataset, PureDP(1000))

    @rule(dataset=DATASETS)
    def add_an_event(self, dataset: str) -> None:
        if self.is_good:
            self.add(dataset)
            self.known = self.ends()
        else:
            before = self.path.read_bytes()
            with pytest.raises(LedgerRolledBack):
                self.add(dataset)
            assert self.path.read_bytes() == before

    @precondition(lambda self: self.is_good)
    @rule(dataset=DATASETS)
    def crash_between_event_and_anchor(self, dataset: str) -> None:
        with self.patched.context() as patched:
            patched.setattr(AnchorFile, "remember", lambda *_: None)
            self.add(dataset)

    @rule()
    def copy(self) -> None:
        self.copies.append(self.path.read_bytes())

    @rule(which=st.integers(min_value=0))
    def put_a_copy_back(self, which: int) -> None:
        self.path.write_bytes(self.copies[which % len(self.copies)])

    @rule()
    def restore(self) -> None:
        was_good = self.is_good
        with Ledger.open(self.path) as ledger:
            assert bool(ledger.restore("on purpose")) != was_good
        if not was_good:
            self.known = self.ends()

    @invariant()
    def verify_agrees(self) -> None:
        with Ledger.open(self.path) as ledger:
            assert ledger.verify().sound == self.is_good

    def teardown(self) -> None:
        self.patched.undo()
        self.folder.cleanup()


TestRollbackMachine = RollbackMachine.TestCase
TestRollbackMachine.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
