# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A small release, charged, to look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gazeveil import Corpus, Ledger, Recording, screen, write_corpus
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.privacy.guarantee import ApproxDP
from gazeveil.release.release import Release
from tests.releasing import released

DESK = screen(1600, 1200, 400, 300, 600)
ACCOUNT = "study-7"


@dataclass(frozen=True)
class Charged:
    """A release and the ledger that paid for it."""

    release: Release
    ledger: Path


@pytest.fixture(scope="session")
def charged(tmp_path_factory: pytest.TempPathFactory) -> Charged:
    place = tmp_path_factory.mktemp("charged")
    rng = np.random.default_rng(5)
    recordings = [
        Recording(np.arange(40) / 60, rng.normal(500, 60, 40), rng.normal(400, 60, 40), DESK, f"p{k}", "a.png")
        for k in range(25)
    ]
    write_corpus(recordings, place / "study")
    mechanism = PrivateHeatmap(epsilon="1.5", strategy="bumps", cell_deg=4, blur_deg=4)
    with Ledger.open(place / "ledger.sqlite", create=True) as ledger:
        ledger.grant(ACCOUNT, ApproxDP(3, "1e-4"))
        made = released(mechanism, Corpus.open(place / "study"), ledger=ledger, account=ACCOUNT)
    return Charged(made, place / "ledger.sqlite")


@pytest.fixture(scope="session")
def saved(charged: Charged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the release; copy it before you change it."""
    return charged.release.save(tmp_path_factory.mktemp("saved") / "map")
