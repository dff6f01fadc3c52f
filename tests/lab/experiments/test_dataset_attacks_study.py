# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks on releases of the public path: they work where there is no noise, and stay within what is guaranteed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.arrays import WordArray
from gazeveil.cli.main import run
from gazeveil.errors import OptionError
from gazeveil.lab.bench.experiment import experiment
from gazeveil.lab.experiments import dataset_attacks
from gazeveil.lab.experiments.dataset_attacks import FoundMembership, attack
from gazeveil.noise import NoiseSource
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK

RELEASES = 24
"""Enough to prove an ε above 1 where every one is told apart."""


class Frozen(NoiseSource):
    """A source whose words are all the same: every release has the same noise, so nothing is hidden."""

    def words(self, count: int) -> WordArray:
        return np.full(count, 0x9E3779B97F4A7C15, np.uint64)

    def more(self) -> int:
        return 0x9E3779B97F4A7C15


@cache
def product_of(name: str, target: str) -> dataset_attacks.Product:
    (product,) = dataset_attacks.products(5, 1.0, target, names=(name,))
    return product


def attacked(name: str, target: str = "typical") -> FoundMembership:
    return attack(product_of(name, target), RELEASES)


def test_without_noise_the_target_is_always_found() -> None:
    found = attacked("map-without-noise")
    assert found.epsilon is None
    assert found.at_no_false == found.auc == found.advantage == 1.0
    assert found.proven > 1.0


def test_in_a_random_half_the_target_is_found_whenever_drawn() -> None:
    """Two of five are drawn, nobody is accused falsely. Of 24, 0 or over 20 are found once in 100,000 times."""
    assert 1 / RELEASES <= attacked("map-of-a-random-half", "extreme").at_no_false <= 20 / RELEASES


WITH_NOISE = [
    ("map-with-noise", "extreme"),
    ("area-orders", "typical"),
    ("own-series", "typical"),
    ("group-series", "typical"),
]


@pytest.mark.parametrize(("name", "target"), WITH_NOISE)
def test_with_noise_nothing_beyond_the_guarantee_is_proven(name: str, target: str) -> None:
    """What is proven is too large in 5 % of studies at most where the bound is tight, and far rarer here."""
    found = attacked(name, target)
    assert found.epsilon == 1.0
    assert found.within
    assert found.advantage < 0.9


@pytest.mark.parametrize(("name", "target"), [WITH_NOISE[0], WITH_NOISE[2]])
def test_if_the_noise_is_removed_the_same_attack_breaks_the_guarantee(
    name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoiseSource, "spawn", lambda self, label: Frozen(None, "none"))
    assert not attacked(name, target).within


def test_an_attack_on_heatmaps_stays_within_the_guarantee_and_not_without_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert attacked("heatmap", "extreme").within
    monkeypatch.setattr(NoiseSource, "spawn", lambda self, label: Frozen(None, "none"))
    gone = attacked("heatmap", "extreme")
    assert gone.at_no_false == 1.0
    assert not gone.within


def test_participants_are_got_back_without_noise_and_not_with_it() -> None:
    options = {"people": 6, "epsilon": 1.0, "repeats": 3, "movies": False, "seed": 1}
    rows = experiment("reconstruction").run(options)
    exact = {tuple(row.where.values()): row.value for row in rows if row.what == dataset_attacks.EXACTLY}
    guess = {tuple(row.where.values()): row.value for row in rows if row.what != dataset_attacks.EXACTLY}
    free = "gaze map", "without noise"
    assert (exact[free], round(guess[free], 9)) == (1.0, 1.0)
    assert guess["orders of areas", "without noise"] == 1.0
    assert 0 < exact["gaze map", "random half, without noise"] < 1
    for noisy in (("gaze map", "Gaussian noise"), ("gaze map", "heatmap")):
        assert guess[noisy] < guess[free] - 0.5
        assert not exact.get(noisy, 0.0) > 0
    assert exact["orders of areas", "noise"] == 0.0


def told(command: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run([*command, "--json"]) == EXIT_OK
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def test_the_commands_write_numbers_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path)]
    small = ["lab", "experiment", "membership", "--participants", "4", "--products", "map-without-noise,map-with-noise"]
    found = told([*small, "--releases", "8", *out], capsys)
    assert len([row for row in found["rows"] if row["what"] == "AUC"]) == 2
    assert max(row["value"] for row in found["rows"] if row["what"] == "targets found") == 1.0
    assert run([*small, "--releases", "8"]) == EXIT_OK
    assert "gaze map without noise" in capsys.readouterr().out
    found = told(
        ["lab", "experiment", "reconstruction", "--participants", "4", "--repeats", "1", "--no-movies", *out], capsys
    )
    assert found["files"] == ["reconstruction.json", "reconstruction.png"]
    assert all(
        (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in ("membership", "reconstruction")
    )
    assert run(["lab", "experiment", "membership", "--products", "moon"]) == EXIT_INPUT


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(OptionError, match="no target"):
        dataset_attacks.viewing(3, "average")
    with pytest.raises(OptionError, match="at least 8"):
        attack(dataset_attacks.products(3, 1.0, names=("map-without-noise",))[0], 2)
    with pytest.raises(OptionError, match="three participants"):
        dataset_attacks.reconstructions(2)
