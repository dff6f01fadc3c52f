# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Planning and refusing look at public facts alone: whoever reads data before the charge is caught (S5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import BudgetExceeded, ReleaseFailed
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.protection import WindowOfGaze
from gazeveil.release.plan import PRODUCTS, Plan
from tests.release import hostile
from tests.test_front_door import NAMES, plans


class Touched(Exception):  # noqa: N818
    """Somebody read a corpus, or drew noise."""


def _touched(*_: Any, **__: Any) -> Any:
    raise Touched


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus folder that exists and may not be looked into, and noise that may not be drawn."""
    folder = hostile.write_corpus_with("as_usual", tmp_path / "gaze")
    for name in ("open", "open_readable"):
        monkeypatch.setattr(Corpus, name, staticmethod(_touched))
    for name in ("words", "spawn"):
        monkeypatch.setattr(NoiseSource, name, _touched)
    return folder


def _ledger(tmp_path: Path, plan: Plan, *, enough: bool) -> Ledger:
    ledger = Ledger.open(tmp_path / f"ledger-{enough}.sqlite", create=True)
    ledger.grant("lab", plan.guarantee * (1 if enough else 0))
    return ledger


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_release_reads_no_data_and_draws_no_noise(name: str, trap: Path, tmp_path: Path) -> None:
    plan = plans()[name]
    with _ledger(tmp_path, plan, enough=False) as ledger, pytest.raises(BudgetExceeded):
        plan.release(trap, ledger=ledger, account="lab", anyway=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_trap_is_one_once_the_charge_is_paid(name: str, trap: Path, tmp_path: Path) -> None:
    plan = plans()[name]
    with _ledger(tmp_path, plan, enough=True) as ledger:
        with pytest.raises(ReleaseFailed) as failed:
            plan.release(trap, ledger=ledger, account="lab", anyway=True)
        assert isinstance(failed.value.__cause__, Touched)
        assert ledger.account("lab").totals.charges == 1  # the charge stands


def test_a_ledger_is_named_by_its_address_and_closed_before_data_are_read(
    trap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plans()["heatmap"]
    _ledger(tmp_path, plan, enough=True).close()
    order: list[str] = []
    close = Ledger.close

    def closing(ledger: Ledger) -> None:
        order.append("closed")
        close(ledger)

    def reading(*_: Any) -> Any:
        order.append("read")
        raise Touched

    monkeypatch.setattr(Ledger, "close", closing)
    monkeypatch.setattr(type(plan.measurement), "open", reading)
    with pytest.raises(ReleaseFailed):
        plan.release(trap, ledger=tmp_path / "ledger-True.sqlite", account="lab", anyway=True)
    assert order == ["closed", "read"]
    with Ledger.open(tmp_path / "ledger-True.sqlite") as ledger:
        assert ledger.account("lab").totals.charges == 1


def test_all_products_are_here() -> None:
    assert {plan.measurement.product for plan in plans().values()} == set(PRODUCTS.names())
    assert any(isinstance(plan.guarantee.unit, WindowOfGaze) for plan in plans().values())
