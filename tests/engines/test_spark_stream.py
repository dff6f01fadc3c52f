# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A veil inside Spark Structured Streaming: killed in the middle, it goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import GazeStreamDP, NoiseSource, PureDP
from gazeveil.engines.spark_stream import BatchWork, DayBudget, ParticipantStreams, key_in, one_batch
from gazeveil.errors import InputError, OptionError, PrivacyError
from gazeveil.privacy.ledger import Clock, Ledger
from gazeveil.samples import Screen, Veil
from gazeveil.samples.mechanisms.gaussian import GaussianNoise
from tests.engines.spark_query import FILES, MECHANISM

needs_spark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark runs on Java")
KEY = bytes(range(32))
DAY = 1_800_000_000.0  # a moment in 2027, on a whole day's block
PEOPLE = ("anna", "bo", "cem")


def gaze(seconds: tuple[float, float], person: int = 0, rate: float = 30.0) -> np.ndarray:
    t = DAY + np.arange(seconds[0], seconds[1], 1 / rate)
    rng = np.random.default_rng([person, int(seconds[0] * 10)])
    return np.column_stack((t, 600 + 50 * rng.standard_normal(len(t)), 300 + 50 * rng.standard_normal(len(t))))


def test_a_batch_that_runs_again_gives_the_same_output_bit_for_bit() -> None:
    first, state = one_batch(MECHANISM, KEY, "anna", 0, None, gaze((0, 3)))
    again, same = one_batch(MECHANISM, KEY, "anna", 0, None, gaze((0, 3))[::-1])
    assert np.array_equal(first, again)
    assert state == same
    second = [one_batch(MECHANISM, KEY, "anna", 1, state, gaze((3, 6)))[0] for _ in range(2)]
    assert np.array_equal(second[0], second[1])


@pytest.mark.parametrize("other", [{"key": bytes(32)}, {"person": "bo"}, {"batches": 1}, {"gaze": gaze((0, 3), 1)}])
def test_another_key_person_batch_or_gaze_has_other_noise(other: dict[str, Any]) -> None:
    given: dict[str, Any] = {"key": KEY, "person": "anna", "batches": 0, "gaze": gaze((0, 3))}
    shown = [
        one_batch(MECHANISM, one["key"], one["person"], one["batches"], None, one["gaze"])[0]
        for one in (given, given | other)
    ]
    assert not np.isin(shown[0][:, 1], shown[1][:, 1]).any()


def test_a_stream_in_batches_keeps_the_windows_of_a_stream_at_once() -> None:
    """What the veil spends is in its state, so the number of releases is the same however batches are cut."""
    whole, _ = one_batch(MECHANISM, KEY, "anna", 0, None, gaze((0, 20)))
    state, pieces = None, []
    for number, begin in enumerate(range(0, 20, 2)):
        rows = gaze((0, 20))
        rows = rows[(rows[:, 0] >= DAY + begin - 1e-9) & (rows[:, 0] < DAY + begin + 2 - 1e-9)]
        shown, state = one_batch(MECHANISM, KEY, "anna", number, state, rows)
        pieces.append(shown)
    held = replace(MECHANISM, filter=False)
    assert len(np.concatenate(pieces)) == len(whole)
    one = held.start(NoiseSource.seeded(1))
    many: Veil = held.start(NoiseSource.seeded(1))
    rows = gaze((0, 20))
    straight = np.column_stack(one.run(*rows.T.copy()))
    cut = []
    for part in np.array_split(rows, 7):
        cut.append(np.column_stack(many.run(*part.T.copy())))
        many = held.resume(many.hand_over(), NoiseSource.seeded(2))
    changes = [int((np.diff(shown[:, 0]) != 0).sum()) for shown in (straight, np.concatenate(cut))]
    assert changes[0] == changes[1]


def test_a_key_is_made_once_and_only_for_its_owner(tmp_path: Path) -> None:
    key = key_in(tmp_path / "key")
    assert len(key) == 32
    assert key_in(tmp_path / "key") == key
    (tmp_path / "key").chmod(0o640)
    with pytest.raises(InputError, match="others may read"):
        key_in(tmp_path / "key")
    (tmp_path / "key").write_bytes(b"short")
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(InputError, match="no key"):
        key_in(tmp_path / "key")


def test_only_veils_with_a_promise_that_a_day_can_pay_for_are_spread() -> None:
    day = DayBudget(GazeStreamDP(10, 86400, 50, "px"), "ledger.sqlite", block_s=0.5)
    with pytest.raises(PrivacyError, match="guarantees nothing"):
        ParticipantStreams(GaussianNoise(Screen(1280, 720, 40.0), sigma=1.0), Path("key"))
    with pytest.raises(OptionError, match="at least as long"):
        ParticipantStreams(MECHANISM, Path("key"), day)
    with pytest.raises(PrivacyError, match="does not pay"):
        day.check(PureDP(1))


def test_a_name_is_paid_once_and_a_spent_budget_pays_nothing(tmp_path: Path) -> None:
    day = DayBudget(GazeStreamDP(20, 86400, 50, "px"), str(tmp_path / "l"), block_s=4.0)
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        paid = [day.pay(ledger, MECHANISM, "anna", (28.0, 31.9), name) for name in ("a", "a", "a", "b", "c")]
        assert paid == [True, True, True, True, False]
        assert ledger.account("stream", "anna").spent["epsilon"] == 16
        assert day.pay(ledger, MECHANISM, "bo", (28.0, 31.9), "d")


@pytest.mark.parametrize("jump", [86_400.0, -86_400.0, 600.0])
def test_devices_clocks_earn_no_budget(tmp_path: Path, jump: float) -> None:
    """S4: the day came from the device's clock, so another date, or a midnight, brought another budget."""
    work, spent = working(tmp_path, epsilon=8.0)
    rows = gaze((0, 4))
    midnight = np.ceil(DAY / 86_400) * 86_400
    shown = [
        len(veiled(work, State(), np.column_stack((rows[:, 0] - DAY + begin, rows[:, 1:]))))
        for begin in (midnight - 300, midnight - 300 + jump, midnight - 300 + 2 * jump)
    ]
    assert shown == [len(rows), 0, 0]
    assert spent() == 8


def test_what_was_paid_comes_back_24_hours_later_by_the_ledgers_time(tmp_path: Path) -> None:
    day = DayBudget(GazeStreamDP(8, 86400, 50, "px"), str(tmp_path / "l"), block_s=4.0)
    moment, wall = [0.0], [1.8e9]
    clock = Clock(lambda: wall[0], lambda: moment[0])
    with Ledger.open(tmp_path / "l", create=True, clock=clock) as ledger:
        assert day.pay(ledger, MECHANISM, "anna", (0.0, 3.9), "a")
        wall[0] += 2 * 86_400
        assert not day.pay(ledger, MECHANISM, "anna", (0.0, 3.9), "b")
        moment[0] = 86_400
        assert not day.pay(ledger, MECHANISM, "anna", (4.0, 7.9), "c")
        moment[0] += 1_000
        assert day.pay(ledger, MECHANISM, "anna", (8.0, 11.9), "d")
        assert ledger.verify().sound


def test_a_smaller_budget_counts_at_once(tmp_path: Path) -> None:
    day = DayBudget(GazeStreamDP(20, 86400, 50, "px"), str(tmp_path / "l"), block_s=4.0)
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        assert day.pay(ledger, MECHANISM, "anna", (0.0, 3.9), "a")
        less = replace(day, budget=GazeStreamDP(15, 86400, 50, "px"))
        assert not less.pay(ledger, MECHANISM, "anna", (4.0, 7.9), "b")
        assert day.pay(ledger, MECHANISM, "anna", (4.0, 7.9), "c")


def test_a_price_covers_every_moment_with_windows() -> None:
    day = DayBudget(GazeStreamDP(20, 86400, 75, "px"), "l")
    spans = {0.0: 1, 0.999: 1, 1.0: 2, 3.5: 4, 59.9: 60}
    prices = {span: day.price(MECHANISM.guarantee, DAY, DAY + span).epsilon for span in spans}
    assert prices == {span: windows * 2 * 2 for span, windows in spans.items()}  # two steps of 50 reach 75


class State:
    """What Spark keeps of one person between batches."""

    def __init__(self) -> None:
        self.get: Any = None

    @property
    def exists(self) -> bool:
        return self.get is not None

    def update(self, new: Any) -> None:
        self.get = new


def veiled(work: BatchWork, state: State, rows: np.ndarray, person: str = "anna") -> np.ndarray:
    pd = pytest.importorskip("pandas")
    frames = list(work((person,), [pd.DataFrame(rows, columns=["t", "x", "y"])], state))
    return np.concatenate([frame[["t", "x", "y"]].to_numpy() for frame in frames]) if frames else np.empty((0, 3))


def working(folder: Path, epsilon: float = 1000.0) -> tuple[BatchWork, Callable[[], float]]:
    Ledger.open(folder / "l", create=True).close()
    day = DayBudget(GazeStreamDP(epsilon, 86400, 50, "px"), str(folder / "l"), block_s=4.0)

    def spent() -> float:
        with Ledger.open(folder / "l") as ledger:
            return float(ledger.account("stream", "anna").spent["epsilon"])

    return BatchWork(MECHANISM.to_dict(), str(folder / "key"), day), spent


def test_gaze_shown_again_is_free_and_gaze_shown_under_another_noise_is_paid_again(tmp_path: Path) -> None:
    work, spent = working(tmp_path)
    first = veiled(work, State(), gaze((0, 8)))
    assert spent() == 16
    assert np.array_equal(first, veiled(work, State(), gaze((0, 8))))
    assert spent() == 16
    state = State()  # the checkpoint is lost, and batches are cut elsewhere
    parts = [veiled(work, state, rows) for rows in np.array_split(gaze((0, 8)), [100])]
    # the noise of one tick can fall on the same point of the lattice by chance, that of most ticks cannot
    assert np.isin(np.concatenate(parts)[:, 1], first[:, 1]).mean() < 0.5
    assert spent() > 30


def test_more_budget_between_two_runs_of_a_batch_changes_nothing_that_was_shown(tmp_path: Path) -> None:
    work, _ = working(tmp_path, epsilon=8.0)
    first = veiled(work, State(), gaze((0, 8)))
    assert work.day is not None
    work = replace(work, day=replace(work.day, budget=GazeStreamDP(16, 86400, 50, "px")))
    again = veiled(work, State(), gaze((0, 8)))
    assert 0 < len(first) < len(again)
    assert np.array_equal(first, again[: len(first)])


def test_the_same_gaze_after_another_past_or_behind_another_veil_has_other_noise() -> None:
    _, one = one_batch(MECHANISM, KEY, "anna", 0, None, gaze((0, 3)))
    _, two = one_batch(MECHANISM, KEY, "anna", 0, None, gaze((0, 3), 1))
    held = replace(MECHANISM, filter=False)
    after = [one_batch(MECHANISM, KEY, "anna", 1, state, gaze((3, 6)))[0] for state in (one, two)]
    wider = replace(held, space=Screen(1281, 720, 40.0))
    beside = [one_batch(veil, KEY, "anna", 0, None, gaze((0, 3)))[0] for veil in (held, wider)]
    for pair in (after, beside):
        assert not np.isin(pair[0][:, 1], pair[1][:, 1]).any()


@pytest.mark.parametrize("t", [1e15, 1e300, -1e13, float("nan"), float("inf")])
def test_a_row_without_a_sane_time_does_not_stop_the_query(tmp_path: Path, t: float) -> None:
    work, _ = working(tmp_path)
    rows = np.vstack((gaze((0, 2)), [[t, 1.0, 2.0]]))
    assert len(veiled(work, State(), rows)) == len(rows) - 1
    assert len(veiled(replace(work, day=None), State(), gaze((0, 2)))) == len(rows) - 1


def test_a_person_whose_name_has_no_account_is_not_shown(tmp_path: Path) -> None:
    work, _ = working(tmp_path)
    assert [len(veiled(work, State(), gaze((0, 2)), name)) for name in ("", "a\nb", "x" * 201)] == [0, 0, 0]


def wait_for(condition: Any, process: subprocess.Popen[bytes], seconds: float, log: Path) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None or condition(), log.read_text()[-3000:]
        assert time.monotonic() < until, log.read_text()[-3000:]
        time.sleep(0.05)


@needs_spark
@pytest.mark.timeout(300)
def test_a_query_killed_in_the_middle_spends_nothing_twice(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")
    (tmp_path / "gaze").mkdir()
    Ledger.open(tmp_path / "ledger.sqlite", create=True).close()
    for number in range(FILES):
        frames = []
        for index, person in enumerate(PEOPLE):
            rows = gaze((4.0 * number, 4.0 * number + 4.0), index)
            frames.append(
                pl.DataFrame({"person": [person] * len(rows), "t": rows[:, 0], "x": rows[:, 1], "y": rows[:, 2]})
            )
        path = tmp_path / "gaze" / f"{number}.parquet"
        pl.concat(frames).sample(fraction=1.0, shuffle=True, seed=number).write_parquet(path)
        os.utime(path, (DAY + number, DAY + number))
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.engines.spark_query", str(tmp_path)]
    environment = os.environ | {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}  # for jobs of seconds

    def start(log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as file:
            return subprocess.Popen(
                command, cwd=root, stdout=file, stderr=file, start_new_session=True, env=environment
            )

    def kill(process: subprocess.Popen[bytes]) -> None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    first = start(tmp_path / "log-1")
    try:
        wait_for((tmp_path / "left-1").exists, first, 150, tmp_path / "log-1")
    finally:
        kill(first)
    # The last commit is taken back, as if the machine had died before it was on disk: batch 1 runs again.
    for number in (1,):
        for name in (f"{number}", f".{number}.crc"):
            (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)
    second = start(tmp_path / "log-2")
    try:
        wait_for((tmp_path / "done").exists, second, 150, tmp_path / "log-2")
    finally:
        kill(second)

    left = [json.loads(line) for line in (tmp_path / "left.jsonl").read_text().splitlines()]
    by_batch: dict[int, list[Any]] = {}
    for one in left:
        by_batch.setdefault(one["batch"], []).append(one["rows"])
    assert sorted(by_batch) == list(range(FILES))
    repeated = [number for number, times in by_batch.items() if len(times) > 1]
    assert repeated, "no batch ran twice, so the test shows nothing"
    assert all(times[0] == again for times in by_batch.values() for again in times[1:])

    key = (tmp_path / "key").read_bytes()
    for index, person in enumerate(PEOPLE):
        state, expected = None, []
        for number in range(FILES):
            shown, state = one_batch(
                MECHANISM, key, person, number, state, gaze((4.0 * number, 4.0 * number + 4.0), index)
            )
            expected += shown.tolist()
        seen = [row[1:] for number in sorted(by_batch) for row in by_batch[number][0] if row[0] == person]
        assert seen == expected, "the killed query shows something else than one that ran through"
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        for person in PEOPLE:
            account = ledger.account("stream", person)
            assert account.spent["epsilon"] == 8 * FILES, "every batch of four windows is paid once"
        assert ledger.verify().sound
