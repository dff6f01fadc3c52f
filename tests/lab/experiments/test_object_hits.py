# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.datasets import VR_FOLDER, VrSession, vr_sessions
from gazeveil.lab.experiments.stream_errors import (
    Run,
    agreement_held_out,
    agreement_of_raw,
    objects_hit,
    score,
    world_directions,
)
from gazeveil.lab.reproduction.wilson_figures import SWEEPS, Sweep, held_out, reproduce, retention
from gazeveil.noise import NoiseSource

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / VR_FOLDER
COUNT = 400


def room(seed: int = 1) -> VrSession:
    """Objects are 20-degree bands of yaw in the world, the head wanders, the eyes jump about; the last band is none."""
    rng = np.random.default_rng(seed)
    head = 30 * np.sin(np.arange(COUNT) / 40)
    yaw = rng.uniform(-20, 20, COUNT)
    band = np.floor((head + yaw + 60) / 20).astype(np.int64)
    yaw[::50] = np.nan
    return VrSession(
        user=1,
        session=1,
        t=np.arange(COUNT) / 90,
        trial=np.repeat([1, 2], COUNT // 2),
        yaw=yaw,
        pitch=np.where(np.isnan(yaw), np.nan, 0.0),
        head_yaw=head,
        head_pitch=np.zeros(COUNT),
        hit=np.where(band > 4, -1, band),
        objects=tuple("abcde"),
    )


def test_head_and_gaze_add_up_to_a_direction_in_the_world() -> None:
    one = replace(room(), head_yaw=np.full(COUNT, 90.0), head_pitch=np.full(COUNT, 0.0))
    assert world_directions(one, np.zeros(COUNT), np.zeros(COUNT))[0].tolist() == pytest.approx([1, 0, 0], abs=1e-6)
    down = replace(one, head_yaw=np.zeros(COUNT), head_pitch=np.full(COUNT, 30.0))
    straight = world_directions(down, np.zeros(COUNT), np.full(COUNT, 60.0))[0]
    assert straight.tolist() == pytest.approx([0, 1, 0], abs=1e-6)  # both down: straight down
    level = world_directions(down, np.zeros(COUNT), np.full(COUNT, -30.0))[0]
    assert level.tolist() == pytest.approx([0, 0, 1], abs=1e-6)


def test_true_gaze_hits_what_it_hit() -> None:
    session = room()
    seen = np.isfinite(session.yaw)
    assert np.array_equal(objects_hit(session, session.yaw, session.pitch)[seen], session.hit[seen])
    assert agreement_of_raw(session).weighted() == 1
    assert 0.8 < agreement_held_out(session).weighted() < 1
    assert (objects_hit(session, session.yaw, session.pitch)[~seen] == -1).all()


def test_a_small_shift_keeps_most_hits_and_a_band_loses_them() -> None:
    session = room()
    near, far = (score(session, session.yaw + shift, session.pitch).weighted() for shift in (2.0, 20.0))
    assert near > 0.8
    assert far < 0.2


def test_a_veil_that_stays_silent_hits_nothing() -> None:
    session = room()
    nothing = np.full(COUNT, np.nan)
    assert score(session, nothing, nothing).weighted("recall") == 0


def test_another_trial_is_another_map() -> None:
    session = room()
    swapped = replace(session, hit=np.where((session.trial == 2) & (session.hit >= 0), 4 - session.hit, session.hit))
    assert agreement_of_raw(swapped).weighted() == 1
    one_map = replace(swapped, trial=np.ones(COUNT, dtype=np.int64))
    assert agreement_held_out(one_map).weighted() < agreement_held_out(swapped).weighted()


@pytest.mark.skipif(not DATA.is_dir(), reason="the recordings in a headset are not here")
def test_raw_gaze_of_real_sessions_scores_near_one() -> None:
    sessions = vr_sessions(DATA)[::8]
    assert all(agreement_of_raw(session).weighted() > 0.99 for session in sessions)
    assert held_out(sessions).f1 > 0.65


def shifting(name: str, strength: float) -> Run:
    """A stand-in: it shifts by the strength, or by noise of that size."""

    def run(noise: NoiseSource, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        sign = 1.0 if name == "still" or noise.bits(1) else -1.0
        return x + sign * strength, y

    return run


def test_retention_falls_with_strength_and_starts_at_no_veil() -> None:
    sweeps = {
        "still": Sweep("s", "s", "s", (1.0, 10.0, 20.0), None, None),
        "random": Sweep("s", "s", "s", (1.0, 20.0), 1.0, 20.0, random=True),
    }
    told: list[float] = []
    rows = retention(
        [room(1), room(2)], repeats=3, make=shifting, sweeps=sweeps, tell=lambda done, total: told.append(done)
    )
    assert [(row.veil, row.strength) for row in rows] == [
        ("none", 0), ("still", 1), ("still", 10), ("still", 20), ("random", 1), ("random", 20),
    ]  # fmt: skip
    assert rows[0].f1 == 1
    assert rows[1].f1 > rows[2].f1 > rows[3].f1
    assert rows[4].f1 > rows[5].f1
    assert all(row.se >= 0 and row.sessions == 2 for row in rows)
    assert told == [1, 2, 3, 4, 5]
    assert rows[1].to_dict()["veil"] == "still"


@pytest.mark.skipif(not DATA.is_dir(), reason="the recordings in a headset are not here")
def test_the_papers_veils_lose_hits_with_strength_and_the_figure_is_written(tmp_path: Path) -> None:
    few = {name: replace(sweep, strengths=(sweep.low or 5, sweep.high or 15)) for name, sweep in SWEEPS.items()}
    told = reproduce(2, tmp_path, data=DATA, quick=True, sweeps=few)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(told["files"])
    assert (tmp_path / "figure-2-utility.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "figure-2-utility.json").read_text())["rows"] == told["rows"]
    f1 = {(row["veil"], row["strength"]): row["f1"] for row in told["rows"]}
    for name, sweep in few.items():
        curve = [f1[name, strength] for strength in sweep.strengths]
        assert curve == sorted(curve, reverse=True)
        assert 0.99 < f1["none", 0] > curve[0] > curve[-1] + 0.05
    assert f1["spatial, centred", 48] > f1["spatial", 48]  # W4
    settings = {(row["veil"], row["strength"]): row["setting"] for row in told["rows"]}
    assert (settings["smoothing", 50], settings["smoothing", 150], settings["temporal", 5]) == ("low", "high", "")


def test_another_figure_is_refused() -> None:
    with pytest.raises(OptionError, match="figure 3"):
        reproduce(3, data=DATA)


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(OptionError, match="session"):
        retention([], make=shifting)
