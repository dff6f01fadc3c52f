# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Peers are judged: in three ways on gaze, in two on features, by names with parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import OptionError, UnknownName
from gazeveil.geometry import headset
from gazeveil.lab.as_published.feature_series import ExponentialAsPublished
from gazeveil.lab.attacks.contract import Gallery, Recogniser, Trial
from gazeveil.lab.baselines.event_synth import EventSynth
from gazeveil.lab.baselines.k_same import KSame
from gazeveil.lab.experiments import baselines_compared, plots
from gazeveil.lab.experiments.identification import IdentitySet
from gazeveil.samples.mechanisms.kalman import KalmanSmoothing
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK

PLANE = headset(50, 50)


@dataclass(frozen=True, slots=True)
class ByPlace(Recogniser):
    """Recognises people by where they look on average: fast, and easily fooled."""

    name: ClassVar[str] = "by place"

    @property
    def sees(self) -> frozenset[str]:
        return frozenset({"position"})

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        people = sorted({trial.person for trial in reference})
        means = [np.nanmean([np.nanmean(t.x) for t in reference if t.person == person]) for person in people]
        return _Means(tuple(people), np.array(means))


@dataclass(frozen=True, slots=True, eq=False)
class _Means(Gallery):
    names: tuple[str, ...]
    means: np.ndarray

    @property
    def people(self) -> tuple[str, ...]:
        return self.names

    def windows(self, query: Trial) -> np.ndarray:
        return np.asarray(-np.abs(np.nanmean(query.x) - self.means)[None])


@pytest.fixture(scope="module")
def four() -> IdentitySet:
    """Four people in two sessions, each looking at a place of their own and two that all look at."""
    rng, trials = np.random.default_rng(1), []
    for person in range(4):
        for session in ("1", "2"):
            places = np.repeat([[6.0 * person - 9, 0.0], [0.0, 5.0], [6.0 * person - 9, -5.0], [0.0, -5.0]], 50, axis=0)
            x, y = (places + rng.normal(0, 0.1, places.shape)).T
            trials.append(Trial(f"p{person}", session, "a", np.arange(200) / 100, x, y, 100.0))
    return IdentitySet("four", "four participants", "made up", PLANE, tuple(trials))


def test_three_ways_of_attack_meet_raw_and_protected_gaze(four: IdentitySet) -> None:
    rows = {
        row.peer: row
        for row in baselines_compared.measure_samples(four, ("none", "k-same-synth:k=4", "kalman"), (ByPlace(),))
    }
    found = {peer: {way: share[0] for way, share in row.identified["by place"].items()} for peer, row in rows.items()}
    assert found["none"] == {"linked": 1.0, "published": 1.0, "both": 1.0}
    assert found["kalman"]["linked"] == 1.0
    assert found["k-same-synth:k=4"]["linked"] <= 0.5  # all lie at one place, between two of the four participants
    assert found["k-same-synth:k=4"]["both"] < 1.0
    assert rows["none"].utilities["saliency_cc"] == pytest.approx(1.0)
    assert rows["none"].utilities["rmse_deg"] == 0.0
    assert rows["k-same-synth:k=4"].utilities["rmse_deg"] > 2
    assert "4-anonymity" in rows["k-same-synth:k=4"].claimed
    assert "Nothing is guaranteed" in rows["k-same-synth:k=4"].guarantee


def test_what_passed_the_test_of_deniability_is_told(four: IdentitySet) -> None:
    (row,) = baselines_compared.measure_samples(four, ("event-synth:k=2,attempts=2",))
    assert len(row.passed) == 2
    assert 0 <= row.passed[0] < 1


def people_and_documents() -> baselines_compared.SeriesSet:
    rng = np.random.default_rng(2)
    person, document = np.repeat(np.arange(6), 3), np.tile(np.arange(3), 6)
    values = 0.15 * person[:, None, None] + 0.02 * document[:, None, None] + 0.01 * rng.random((18, 40, 2))
    return baselines_compared.SeriesSet("toy", "six people", values, person, document, True)


def test_features_of_a_group_no_longer_say_who_it_is() -> None:
    pytest.importorskip("sklearn")
    peers = ("none", "k-same:k=6", "exponential-as-published:epsilon=1000")
    rows = baselines_compared.measure_features(people_and_documents(), peers, learners=("svm",))
    raw, shared, steil = (row.identified["svm"] for row in rows)
    assert raw["published"] == steil["published"] == 1.0
    assert shared["published"] <= 2 / 6
    assert rows[1].error > rows[2].error > 0
    assert rows[2].claimed.startswith("ε-differential privacy")
    assert "Nothing is guaranteed" in rows[2].guarantee
    assert plots.strongest(rows[0]) == 1.0


def test_a_name_may_bring_parameters() -> None:
    assert baselines_compared.sample_peer("none", PLANE) is None
    assert baselines_compared.sample_peer("event-synth:k=3,gamma=2.5", PLANE) == EventSynth(k=3, gamma=2.5)
    kalman = baselines_compared.sample_peer("kalman:error=1,wander=4", PLANE)
    assert isinstance(kalman, KalmanSmoothing)
    assert kalman.error == 1
    assert baselines_compared.feature_peer("k-same:k=2", 10, 3) == KSame(k=2, steps=10, features=3)
    steil = baselines_compared.feature_peer("exponential-as-published:epsilon=2", 10, 3)
    assert steil == ExponentialAsPublished(epsilon=2, steps=10, features=3)
    for peers, made in (
        (baselines_compared.SAMPLE_PEERS, lambda name: baselines_compared.sample_peer(name, PLANE)),
        (baselines_compared.FEATURE_PEERS, lambda name: baselines_compared.feature_peer(name, 10, 3)),
    ):
        assert [name for name in peers if made(name) is None] == ["none"]


def test_unknown_names_and_parameters_are_refused() -> None:
    for wrong in ("k-same-synth:k", "k-same-synth:size=3", "kalman:k=2"):
        with pytest.raises(OptionError):
            baselines_compared.sample_peer(wrong, PLANE)
    with pytest.raises(UnknownName, match="k-same-sinth"):
        baselines_compared.sample_peer("k-same-sinth", PLANE)
    with pytest.raises(UnknownName, match="k-some"):
        baselines_compared.feature_peer("k-some", 10, 3)


def test_the_command_writes_numbers_and_a_picture(
    four: IdentitySet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("gazeveil.lab.experiments.baselines_compared.simulated_people", lambda *_: four)
    arguments = [
        "lab",
        "experiment",
        "baselines",
        "--sets",
        "simulated",
        "--recognisers",
        "",
        "--baselines",
        "none k-same-synth:k=2",
    ]
    assert run([*arguments, "--out", str(tmp_path / "found"), "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert [row["peer"] for row in told["gaze"]] == ["none", "k-same-synth:k=2"]
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == ["baselines.json", "baselines.png"]
    assert run(arguments) == EXIT_OK
    assert "what is left of gaze" in capsys.readouterr().out
    assert run(["lab", "experiment", "baselines", "--sets", "nobody"]) == EXIT_INPUT
    missing = ["lab", "experiment", "baselines", "--sets", "vr", "--data", str(tmp_path / "nothing")]
    assert run(missing) == EXIT_INPUT
