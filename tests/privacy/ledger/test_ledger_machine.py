# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Any sequence of grants, charges and reopenings comes to what plain fractions come to."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gazeveil.errors import BudgetExceeded, LedgerError
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.ledger import Ledger

ACCOUNTS = st.sampled_from([("study", ""), ("study", "ann"), ("other", "")])
AMOUNTS = st.fractions(min_value=0, max_value=3, max_denominator=10**9)


class LedgerMachine(RuleBasedStateMachine):
    """A ledger beside a model of two dictionaries of fractions."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger.sqlite"
        self.ledger = Ledger.open(self.path, create=True)
        self.granted: dict[tuple[str, str], Fraction] = {}
        self.spent: dict[tuple[str, str], Fraction] = {}
        self.ids: dict[str, tuple[tuple[str, str], Fraction]] = {}

    @rule(account=ACCOUNTS, amount=AMOUNTS)
    def grant(self, account: tuple[str, str], amount: Fraction) -> None:
        self.ledger.grant(account[0], PureDP(amount), person=account[1])
        self.granted[account] = self.granted.get(account, Fraction(0)) + amount

    @rule(account=ACCOUNTS, amount=AMOUNTS, charge_id=st.sampled_from(["", "", "", "a", "b"]))
    def charge(self, account: tuple[str, str], amount: Fraction, charge_id: str) -> None:
        spent = self.spent.get(account, Fraction(0))
        try:
            receipt = self.ledger.charge(account[0], PureDP(amount), person=account[1], charge_id=charge_id)
        except BudgetExceeded as refused:
            missing = amount - (self.granted[account] - spent)
            assert missing > 0
            assert refused.difference == {"epsilon": PureDP(missing).to_dict()["epsilon"]}  # noqa: PT017
        except LedgerError:
            assert account not in self.granted or self.ids[charge_id] != (account, amount)
        else:
            if receipt.repeated:
                assert self.ids[charge_id] == (account, amount)
                return
            assert spent + amount <= self.granted[account]
            self.spent[account] = spent + amount
            if charge_id:
                self.ids[charge_id] = (account, amount)

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.path)

    @invariant()
    def agrees_with_the_model(self) -> None:
        accounts = {(account.dataset, account.person): account for account in self.ledger.accounts()}
        assert accounts.keys() == self.granted.keys()
        for key, account in accounts.items():
            assert account.spent["epsilon"] == self.spent.get(key, 0) <= self.granted[key]

    def teardown(self) -> None:
        found = self.ledger.verify()  # a replay of every event, compared with the running totals
        assert found.faults == ()
        self.ledger.close()
        self.folder.cleanup()


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
