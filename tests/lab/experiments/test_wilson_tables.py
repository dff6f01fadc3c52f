# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables 2, 3 and 5 and figure 2 of Wilson 2024 on few simulated people, with a recogniser of speeds alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import InputError, MissingExtra, OptionError, UnknownName
from gazeveil.geometry import headset
from gazeveil.lab.attacks import Attack, Gallery, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.contract import ATTACKS
from gazeveil.lab.attacks.matching import EmbeddedGallery
from gazeveil.lab.datasets import VR_FOLDER
from gazeveil.lab.experiments.identification import simulated_people, vr_people
from gazeveil.lab.reproduction import wilson_tables
from gazeveil.lab.reproduction.wilson_figures import Sweep, identification, reproduce
from gazeveil.lab.reproduction.wilson_tables import (
    VEILS,
    Plan,
    people_of,
    table_2,
    table_3,
    table_5,
    usefulness,
    veil,
)
from gazeveil.privacy.guarantee import Unproven
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.terminal.printing import EXIT_OK
from tests.lab.attacks.windows import windows

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / VR_FOLDER
ALLOWING = wilson_tables.recogniser_of
PLAN = Plan(recognisers=("speeds",), attacks=("mean", "absent", "choosy"), people=4, seconds=12, draws=20)


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
        cut = windows(trial, 5, 1, 60)
        if not len(cut):
            return np.empty((0, 6))
        speed = np.nan_to_num(np.abs(np.diff(cut, axis=2)))
        speeds = np.quantile(speed, [0.3, 0.6, 0.95], axis=2).transpose(1, 0, 2).reshape(len(cut), -1)
        return np.asarray(np.log(1e-3 + speeds))


class Averaging(Prepared):
    def query(self, veiled: Trial) -> Trial:
        x, y = (np.convolve(axis, np.ones(5) / 5, "same") for axis in (veiled.x, veiled.y))
        return veiled.with_gaze(x, y)


@dataclass(frozen=True)
class Mean(Attack):
    name: ClassVar[str] = "mean"
    threat_model: ClassVar[str] = "black box"

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        return Averaging()


@dataclass(frozen=True)
class Absent(Attack):
    name: ClassVar[str] = "absent"
    threat_model: ClassVar[str] = "black box"

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        raise MissingExtra("nothing", "attacks", "an attack that is not there")


@dataclass(frozen=True)
class Choosy(Mean):
    name: ClassVar[str] = "choosy"

    def fits(self, mechanism: SampleMechanism) -> bool:
        return mechanism.name == "smoothing"


@pytest.fixture(autouse=True)
def only_our_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing that learns, so that tests stay quick; and nothing kept from one test to the next."""
    known = {one.name: one for one in (Mean, Absent, Choosy)}
    monkeypatch.setattr(wilson_tables, "recogniser_of", lambda name: {"speeds": Speeds}[name]())
    monkeypatch.setattr(
        wilson_tables,
        "ATTACKS",
        type("Known", (), {"names": lambda _: list(known), "__getitem__": lambda _, name: known[name]})(),
    )
    for kept in (wilson_tables.people_of, wilson_tables.recognisers_of, wilson_tables.judges_of):
        kept.cache_clear()
    yield
    for kept in (wilson_tables.people_of, wilson_tables.recognisers_of, wilson_tables.judges_of):
        kept.cache_clear()


def test_table_2_has_a_row_for_every_length_beside_the_papers() -> None:
    heard: list[float] = []
    told = table_2(PLAN, lengths=(5.0, 10.0, 90.0), tell=lambda done, _: heard.append(done))
    assert [row["seconds"] for row in told["rows"]] == [5, 10]  # records of 12 s are not 90 s long
    assert [row["paper"] for row in told["rows"]] == [(0.2244, 0.2692), (0.1923, 0.2276)]
    assert all(row["unanswered"] == 0 and row["queries"] == 48 for row in told["rows"])
    assert [row["windows"] for row in told["rows"]] == [48, 48 * 6]
    assert "are simulated" in told["differs"]
    assert heard == [1, 2]
    json.dumps(told)


def test_table_3_has_every_veil_under_every_attack_that_fits_and_what_it_leaves() -> None:
    told = table_3(PLAN, veils=("none", "gaussian", "smoothing", "clock hplu"))
    cells = {(row["veil"], row["attack"]): row for row in told["rows"]}
    assert set(cells) == {
        ("none", ""), ("gaussian", ""), ("gaussian", "mean"), ("gaussian", "absent"), ("smoothing", ""),
        ("smoothing", "mean"), ("smoothing", "absent"), ("smoothing", "choosy"), ("clock hplu", ""),
        ("clock hplu", "mean"), ("clock hplu", "absent"),
    }  # fmt: skip
    assert "missing" in cells["gaussian", "absent"]
    assert cells["none", ""]["paper"] == 0.6731
    assert cells["none", ""]["accuracy"] > cells["none", ""]["chance"] == pytest.approx(0.25)
    assert cells["gaussian", "mean"]["threat_model"] == "black box"
    assert cells["clock hplu", ""]["promise"] != cells["gaussian", ""]["promise"]
    best = {row["veil"]: row for row in told["strongest"]}
    assert best["gaussian"]["accuracy"] == max(cells["gaussian", attack]["accuracy"] for attack in ("", "mean"))
    left = {row["veil"]: row for row in told["usefulness"]}
    assert left["none"]["rmse_deg"] == 0
    assert left["none"]["aoi_f1"] == 1
    assert left["clock hplu"]["rmse_deg"] > left["gaussian"]["rmse_deg"] > 3
    assert left["smoothing"]["lag_s"] > 0.3
    json.dumps(told)


def test_a_stopped_run_goes_on_and_what_was_measured_otherwise_is_measured_anew(tmp_path: Path) -> None:
    kept, veils = tmp_path / "results", ("none", "gaussian")
    heard: list[tuple[float, float | None]] = []

    def measure(plan: Plan = PLAN) -> tuple[dict[str, Any], int]:
        before = len(list(kept.glob("*"))) if kept.is_dir() else 0
        heard.clear()
        told = table_3(plan, veils=veils, keep=kept, tell=lambda done, total: heard.append((done, total)))
        return told, len(list(kept.glob("*"))) - before

    whole, measured = measure()
    assert measured == 6
    assert measure() == (json.loads(json.dumps(whole)), 0)
    assert heard[-1:] == [(6, 6)]
    last = max(kept.glob("*"))
    last.write_text(last.read_text()[:40])  # stopped while it was writing
    again, _ = measure()
    assert json.dumps(again["rows"]) == json.dumps(whole["rows"])
    assert heard[-2:] == [(5, 6), (6, 6)]
    assert measure(replace(PLAN, seed=2))[1] == 6
    assert measure(replace(PLAN, recognisers=("speeds",), draws=30))[1] == 6


def test_figure_2_follows_the_strength_for_every_recogniser(tmp_path: Path) -> None:
    few = {"gaussian": Sweep("σ", "gaussian", "sigma", (1, 20), 1, 3, random=True)}
    rows = identification(PLAN, sweeps=few)
    assert [(row.veil, row.strength) for row in rows] == [("none", 0), ("gaussian", 1), ("gaussian", 20)]
    assert rows[0].accuracy > rows[2].accuracy
    assert all(row.low <= row.accuracy <= row.high for row in rows)
    told = reproduce(2, tmp_path, data=None, sweeps=few, plan=PLAN)
    assert "privacy half alone" in told["note"]
    assert [row["setting"] for row in told["identification"]] == ["", "low", ""]
    assert (tmp_path / "figure-2.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "figure-2.json").read_text())["identification"] == told["identification"]
    with pytest.raises(InputError, match="need the recordings"):
        reproduce(2, data=None)


def test_table_5_measures_time_and_memory_of_every_veil() -> None:
    told = table_5(veils=("none", "smoothing", "clock mpmu"), steps=50, streams=3)
    none, smoothing, clock = told["rows"]
    assert none["step_us"] == none["memory_kb"] == 0
    assert 0 < smoothing["step_us"] <= smoothing["step_us_p99"]
    assert clock["memory_kb"] > 0
    assert smoothing["paper_fps"] == 70.94
    assert clock["paper_fps"] is None


def test_the_papers_veils_promise_nothing_and_ours_do() -> None:
    sound = {
        name for name in VEILS
        if (mechanism := veil(name, headset(50, 50))) is not None and not isinstance(mechanism.guarantee, Unproven)
    }  # fmt: skip
    assert sound == {name for name in VEILS if "mpmu" in name or "lphu" in name or "hplu" in name}
    assert veil("spatial-low", headset(50, 50)) is not None
    with pytest.raises(UnknownName, match="velvet"):
        veil("velvet", headset(50, 50))


def test_simulated_people_keep_their_eyes_over_days() -> None:
    whose = simulated_people(3, 2, 5)
    assert [(trial.person, trial.session) for trial in whose.trials][:3] == [
        ("p001", "1"),
        ("p001", "2"),
        ("p002", "1"),
    ]
    assert {trial.rate_hz for trial in whose.trials} == {72}
    assert "(the first 2)" in whose.some(2).title
    assert len(whose.some(2).trials) == 4


@pytest.mark.skipif(not DATA.is_dir(), reason="the recordings in a headset are not here")
def test_people_in_the_headset_have_their_sessions_and_rooms() -> None:
    whose = vr_people(DATA, 20)
    assert len({trial.person for trial in whose.trials}) == 16
    assert len(whose.trials) == len(whose.rooms) == 62
    assert all(20 < trial.t[-1] < 21.1 for trial in whose.trials)
    few = whose.some(2)
    left = usefulness(veil("gaussian", few.plane), few, 1)
    assert left["areas"] == "objects"
    assert 0.2 < left["aoi_f1"] < 0.9
    assert people_of(Plan(data=DATA, people=2, seconds=20)).trials[0].person == "user-06"


def test_the_command_prints_every_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wilson_tables, "QUICK_PEOPLE", 3)
    monkeypatch.setattr(wilson_tables, "QUICK_SECONDS", 7.0)
    command = [
        "lab",
        "reproduce",
        "wilson",
        "--quick",
        "--recognisers",
        "speeds",
        "--veils",
        "none; gaussian; clock lphu",
    ]
    assert run([*command, "--attacks", "mean,absent"]) == EXIT_OK
    told = capsys.readouterr().out
    for part in (
        "they differ from the paper's",
        "table 2",
        "table 3",
        "upper bound",
        "table 5",
        "figure 2",
        "[67.3 %]",
        "not installed",
    ):
        assert part in told
    assert run([*command, "--table", "3", "--json", "--out", "numbers"]) == EXIT_OK
    answer = json.loads(capsys.readouterr().out)
    assert {row["veil"] for row in answer["table_3"]["rows"]} == {"none", "gaussian", "clock lphu"}
    assert "table_2" not in answer
    assert run([*command, "--table", "2", "--markdown"]) == EXIT_OK
    assert "| the paper's EKYT, 26 participants | nothing | 27 |" in capsys.readouterr().out
    assert run([*command, "--table", "3", "--attacks", "mean,absent", "--markdown"]) == EXIT_OK
    told = capsys.readouterr().out
    assert "| `mean` | – |" in told  # nothing to attack where there is no veil
    assert "[67] |" in told
    assert run([*command, "--table", "5", "--markdown"]) == EXIT_OK
    assert "| gaussian | " in capsys.readouterr().out
    assert json.loads((tmp_path / "numbers" / "table-3.json").read_text())["usefulness"][0]["veil"] == "none"


def test_every_attack_that_the_paper_has_is_registered_under_the_name_the_table_uses() -> None:
    from gazeveil.lab.reproduction.wilson_tables import TABLE_3

    assert {attack for row in TABLE_3.values() for attack in row if attack} <= set(ATTACKS.names())


def test_a_recogniser_may_be_allowed_more_than_movement() -> None:
    allowed = ALLOWING("lda+pupil+position")
    assert allowed.sees == {"pupil", "position"}
    with pytest.raises(OptionError, match="movement alone"):
        ALLOWING("ekyt+pupil")
