# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Published methods and baselines: found by name once the lab is loaded, and listed nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gazeveil.aggregate.liu.noisy_maps import NOISES
from gazeveil.aggregate.strategy import STRATEGIES
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.lab import load
from gazeveil.lab.as_published.sample_mechanisms import ALL_PRESETS
from gazeveil.release.plan import PRODUCTS
from gazeveil.samples import MECHANISMS
from gazeveil.samples.recipes import PRESETS

load()
ENTERED = [
    (NOISES, {"gaussian-as-published", "laplace-as-published"}),
    (PRODUCTS, {"unprotected-map"}),
    (STRATEGIES, {"hierarchical", "histogram"}),
    (MECHANISMS, {"kaleido-as-published"}),
]


@pytest.mark.parametrize(("registry", "names"), ENTERED, ids=lambda each: getattr(each, "kind", ""))
def test_what_the_lab_enters_is_found_and_not_listed(registry, names):
    assert set(registry.names(unlisted=True)) - set(registry.names()) == names
    assert all(registry[name] not in list(registry.values()) for name in names)
    assert all(name in registry for name in names)


def test_series_and_presets_as_published_are_not_listed():
    listed = {*SERIES_MECHANISMS.names(), *PRESETS}
    assert not any(name.endswith("as-published") for name in listed)
    assert len(set(ALL_PRESETS) - set(PRESETS)) == 4


def test_a_product_without_the_lab_says_what_a_published_method_is(tmp_path: Path) -> None:
    code = "from gazeveil.cli.main import run; import sys; sys.exit(run(sys.argv[1:]))"
    simulate = ["simulate", "--participants", "2", "--stimuli", "1", "--sessions", "1", "--seconds", "1", "--out"]
    veil = ["veil", str(tmp_path / "gaze"), "--no-ledger", "--out", str(tmp_path / "veiled"), "--mechanism"]
    subprocess.run([sys.executable, "-c", code, *simulate, str(tmp_path / "gaze")], check=True, capture_output=True)
    refused = subprocess.run(
        [sys.executable, "-c", code, *veil, "kaleido-as-published"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 3
    assert "it is a published method that the lab measures" in refused.stderr
