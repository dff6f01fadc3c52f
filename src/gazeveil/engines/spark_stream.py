# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The same veils inside Spark Structured Streaming: one stream a person, its state kept by Spark between batches.

Spark repeats work: a batch whose executor died, or whose driver died before it was committed, runs again from the
state before it. If the repeated batch drew new noise, the same gaze would be shown under two noises and its budget
spent twice. So the noise of a batch follows from a secret key, the person, the number of batches before, and a digest
of the batch's gaze: the same batch gives the same output, bit for bit, however often it runs, and another batch gives
other noise. A day's budget is paid by blocks of device time whose charges have names, so each is paid once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gazeveil.errors import (
    BudgetExceeded,
    InputError,
    LedgerError,
    MissingExtra,
    OptionError,
    OutputError,
    PrivacyError,
)
from gazeveil.gaze.geometry import FloatArray
from gazeveil.gaze.recording import BoolArray
from gazeveil.noise import NoiseSource
from gazeveil.privacy.exact import exact
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.unit import WindowOfGaze
from gazeveil.samples.mechanism import SampleMechanism, mechanism_from_dict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GAZE = "person string, t double, x double, y double"
"""Columns that go in, and that come out."""
STATE = "batches long, veil binary"
_KEY_BYTES = 32


def key_in(path: Path | str) -> bytes:
    """Return the secret key kept in a file that only its owner may read; it is made if there is none.

    Every executor must find the same file under the same path.

    Raises:
        InputError: If others may read the file, or it holds no key.
        OutputError: If it cannot be made.
    """
    path = Path(path)
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(f"others may read the key in {path}", hint=f"chmod 600 {path}") from None
        key = path.read_bytes()
        if len(key) != _KEY_BYTES:
            raise InputError(f"{path} holds no key of {_KEY_BYTES} bytes") from None
        return key
    except OSError as error:
        raise OutputError(f"cannot keep a key in {path}: {error.strerror}") from error
    with os.fdopen(made, "wb") as file:
        key = os.urandom(_KEY_BYTES)
        file.write(key)
        file.flush()
        os.fsync(made)
    return key


def one_batch(
    mechanism: SampleMechanism, key: bytes, person: str, batches: int, state: bytes | None, gaze: FloatArray
) -> tuple[FloatArray, bytes]:
    """Veil one batch of one person, and return it with the state after it.

    Args:
        mechanism: The veil.
        key: The secret that noise follows from.
        person: Whose gaze.
        batches: How many batches of this person were before.
        state: The veil's state after them; None before the first.
        gaze: Rows of t, x and y; a batch has no order, so they are taken in that of their times.
    """
    gaze = np.ascontiguousarray(gaze[np.lexsort(gaze.T[::-1])], dtype="<f8")
    digest = hashlib.sha256(gaze.tobytes()).hexdigest()
    noise = NoiseSource.keyed(key, f"{len(person)}:{person}/{batches}/{digest}/{mechanism.in_words()}")
    veil = mechanism.start(noise) if state is None else mechanism.resume(state, noise)
    shown_x, shown_y = veil.run(*(np.ascontiguousarray(gaze[:, column]) for column in range(3)))
    return np.column_stack((gaze[:, 0], shown_x, shown_y)), veil.hand_over()


@dataclass(frozen=True, slots=True)
class DayBudget:
    """What one person may lose in a day, and how it is paid: by blocks of device time, each under its own name.

    A block is paid for before its gaze enters the veil, so nothing that is shown later depends on gaze that nobody
    paid for. A charge's name makes it count once, however often a batch is repeated.

    Attributes:
        budget: The budget of a day.
        ledger: Where it is kept; executors must reach it, so a ``postgresql://`` address, or a file on one machine.
        block_s: How long a block is. Device time must be seconds since 1970.
        dataset: Under which name in the ledger; the day is added.
    """

    budget: GazeStreamDP
    ledger: str
    block_s: float = 60.0
    dataset: str = "stream"

    def check(self, promise: Guarantee) -> None:
        """Refuse a veil that a day's budget cannot pay for.

        Raises:
            PrivacyError: If it has no price.
            OptionError: If a block is shorter than its window.
        """
        if not isinstance(promise, GazeStreamDP):
            raise PrivacyError(f"a day's budget does not pay for {promise}")
        if not self.block_s >= float(promise.window):
            raise OptionError(f"a block is at least as long as a window ({promise.window} s), not {self.block_s!r} s")

    def pay(self, ledger: Ledger, mechanism: SampleMechanism, person: str, block: int) -> bool:
        """Pay for one block of one person, once; return whether the budget allowed it.

        Raises:
            LedgerError: If the ledger cannot be used; then nothing may leave.
        """
        day, whole = datetime.fromtimestamp(block * self.block_s, UTC).date(), self.budget
        dataset = f"{self.dataset} {day.isoformat()}"
        unit = WindowOfGaze(exact(self.block_s), whole.radius, whole.radius_unit)
        epsilon = mechanism.guarantee.restated(unit=unit).numbers()["epsilon"]
        price = GazeStreamDP(epsilon, whole.window, whole.radius, whole.radius_unit)
        name = f"block {block}"
        try:
            _open_account(ledger, dataset, person, whole)
            ledger.charge(dataset, price, person=person, recipe=mechanism.to_dict(), charge_id=f"{person} {name}")
        except BudgetExceeded:
            return False
        return True


def _open_account(ledger: Ledger, dataset: str, person: str, budget: GazeStreamDP) -> None:
    with contextlib.suppress(LedgerError):
        if ledger.account(dataset, person).budget is not None:
            return
    try:
        ledger.grant(dataset, budget, person=person, note="a day of gaze", first=True)
    except LedgerError:
        if ledger.account(dataset, person).budget is None:  # nobody else was first either
            raise


@dataclass(frozen=True, slots=True)
class StreamOfPeople:
    """A veil for a streaming frame: call it with the frame of raw gaze, and it returns the frame of veiled gaze.

    Attributes:
        mechanism: The veil, the same for everybody; every person has a stream of their own.
        key_file: Where the secret key lies on every executor.
        day: What a person may lose in a day; None protects windows, but not days.
    """

    mechanism: SampleMechanism
    key_file: Path
    day: DayBudget | None = None

    def __post_init__(self) -> None:
        promise = self.mechanism.guarantee
        if not promise.proven:
            raise PrivacyError(
                f"{self.mechanism.name} promises nothing, so a cluster does not spread it",
                hint="choose a veil with a promise, for example clock",
            )
        if self.day is not None:
            self.day.check(promise)

    def __call__(self, gaze: DataFrame) -> DataFrame:
        """Return the veiled frame: person, t, x, y; every other column stays behind.

        Raises:
            MissingExtra: If pandas or pyarrow is not there, which Spark hands rows over with.
            OptionError: If a column is missing.
        """
        try:
            import pandas as pd  # noqa: F401, PLC0415
            import pyarrow as pa  # noqa: F401, PLC0415
        except ModuleNotFoundError as error:
            raise MissingExtra(str(error.name), "spark", "a veil in Spark Structured Streaming") from error
        missing = [name for name in ("person", "t", "x", "y") if name not in gaze.columns]
        if missing:
            raise OptionError(f"the frame has no column {missing[0]!r}", hint=f"it needs {GAZE}")
        chosen = gaze.selectExpr(
            "cast(person as string) person", "cast(t as double) t", "cast(x as double) x", "cast(y as double) y"
        )
        work = Work(self.mechanism.to_dict(), str(self.key_file), self.day)
        return chosen.groupBy("person").applyInPandasWithState(work, GAZE, STATE, "append", "NoTimeout")


@dataclass(frozen=True, slots=True)
class Work:
    """What an executor does with one person's rows of one batch."""

    recipe: dict[str, Any]
    key_file: str
    day: DayBudget | None = None

    def __call__(self, key: tuple[str], frames: Iterable[Any], state: Any) -> Iterator[Any]:
        """Veil one person's rows; Spark calls it."""
        import pandas as pd  # noqa: PLC0415

        person = key[0]
        mechanism = mechanism_from_dict(self.recipe)
        rows = np.concatenate([frame[["t", "x", "y"]].to_numpy(np.float64) for frame in frames])
        rows = rows[np.isfinite(rows[:, 0])]
        if self.day is not None:
            rows = rows[self._paid(self.day, mechanism, person, rows[:, 0])]
        if not len(rows):
            return
        batches, kept = state.get if state.exists else (0, None)
        before = None if kept is None else bytes(kept)
        shown, after = one_batch(mechanism, key_in(self.key_file), person, batches, before, rows)
        state.update((batches + 1, after))
        yield pd.DataFrame({"person": person, "t": shown[:, 0], "x": shown[:, 1], "y": shown[:, 2]})

    def _paid(self, day: DayBudget, mechanism: SampleMechanism, person: str, t: FloatArray) -> BoolArray:
        blocks = np.floor(t / day.block_s).astype(np.int64)
        with Ledger.open(day.ledger) as ledger:
            allowed = [block for block in np.unique(blocks).tolist() if day.pay(ledger, mechanism, person, block)]
        return np.isin(blocks, allowed)
