# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The short way to a release for tests: the facts are read off the corpus, and no forecast refuses."""

from __future__ import annotations

from typing import Any

from gazeveil.gaze.corpus import Corpus
from gazeveil.release.plan import Plan
from gazeveil.release.release import Release
from gazeveil.release.study import Study


def planned(mechanism: Any, corpus: Corpus, *, number: int | None = None, secret: bool = False, **which: Any) -> Plan:
    """Plan a release from what a corpus holds."""
    return Study.observed_in(corpus, number=number, secret=secret).plan(mechanism, **which)


def released(
    mechanism: Any,
    corpus: Corpus,
    *,
    number: int | None = None,
    secret: bool = False,
    noise: Any = None,
    ledger: Any = None,
    account: str = "",
    engine: Any = "local",
    **which: Any,
) -> Release:
    """Release from what a corpus holds."""
    plan = planned(mechanism, corpus, number=number, secret=secret, **which)
    return plan.release(corpus, noise=noise, ledger=ledger, account=account, engine=engine, anyway=True)
