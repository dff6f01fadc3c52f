# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil lab attack run`` on few people, with a recogniser of speeds alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.lab.attacks import Gallery, Recogniser, Trial
from gazeveil.lab.attacks.matching import EmbeddedGallery
from gazeveil.lab.commands import attack
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK
from tests.lab.attacks.windows import windows


@dataclass(frozen=True)
class Speeds(Recogniser):
    name: ClassVar[str] = "speeds"

    @property
    def sees(self) -> frozenset[str]:
        return frozenset()

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        return EmbeddedGallery(self.embed, reference)

    @staticmethod
    def embed(trial: Trial) -> np.ndarray:
        cut = np.nan_to_num(np.abs(np.diff(windows(trial, 5, 1, 60), axis=2)))
        return np.stack([cut.mean(axis=(1, 2)), cut.max(axis=(1, 2)), np.ones(len(cut))], axis=1)


@pytest.fixture
def speeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack, "_recogniser", lambda *_: Speeds())


@pytest.mark.usefixtures("speeds")
def test_simulated_people_are_judged_and_the_judgement_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "attack", "run", "--participants", "3", "--seconds", "6"]) == EXIT_OK
    told = capsys.readouterr().out
    assert "3, 4, 36" in told  # people, sessions, queries
    assert "speeds (sees beside velocity: nothing)" in told
    command = [
        "lab",
        "attack",
        "run",
        "--participants",
        "3",
        "--seconds",
        "6",
        "--preset",
        "mpmu",
        "--enrolled",
        "others",
        "--json",
    ]
    assert run(command) == EXIT_OK
    answer = json.loads(capsys.readouterr().out)
    assert answer["queries"] == 12
    assert answer["mechanism"].startswith("clock")
    assert "factor of at most" in answer["promise"]


@pytest.mark.usefixtures("speeds")
def test_a_corpus_of_ones_own_is_judged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    study = tmp_path / "study"
    command = [
        "simulate",
        "--out",
        str(study),
        "--participants",
        "2",
        "--stimuli",
        "1",
        "--sessions",
        "2",
        "--seconds",
        "6",
    ]
    assert run([*command, "--tracker", "headset"]) == EXIT_OK
    capsys.readouterr()
    assert run(["lab", "attack", "run", str(study), "--json"]) == EXIT_OK
    answer = json.loads(capsys.readouterr().out)
    assert (answer["people"], answer["folds"], answer["queries"], answer["data"]) == (2, 2, 4, "study")


def test_what_cannot_be_judged_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "attack", "run", "--attack", "wavelet"]) == EXIT_INPUT
    assert "needs a mechanism" in capsys.readouterr().err
    assert run(["lab", "attack", "run", "--preset", "mpmu", "--recipe", "veil.toml"]) == EXIT_INPUT
    assert "not both" in capsys.readouterr().err
    assert run(["lab", "attack", "run", "--preset", "mpmu", "--attack", "inverse-smoothing"]) == EXIT_INPUT
    assert "nothing to do against clock" in capsys.readouterr().err
    assert run(["lab", "attack", "run", "--preset", "mpmu", "--attack", "walvet"]) == EXIT_INPUT
    assert "did you mean 'wavelet'" in capsys.readouterr().err
    assert run(["lab", "attack", "run", "--recogniser", "lda", "--model", "model.npz"]) == EXIT_INPUT
    assert "lda has no option --model" in capsys.readouterr().err
