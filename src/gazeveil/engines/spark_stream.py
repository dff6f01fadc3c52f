# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The live mechanisms inside Spark Structured Streaming: one stream a participant, its state kept by Spark.

Spark repeats work: a batch whose executor died, or whose driver died before it was committed, runs again from the
state before it. If the repeated batch drew new noise, the same gaze would be shown under two noises and its budget
spent twice. So the noise of a batch follows from a secret key, the participant, the number of batches before, and a
digest of the batch's gaze, of the mechanism's state before it and of its parameters: the same batch gives the same
output, bit for bit, however often it runs, and anything else gives other noise. A day's budget is paid under the same
name that the noise has: what is shown again costs nothing, and what is shown under other noise is paid for again. It is
restored 24 hours after it was paid, by the ledger's time: devices' clocks do not matter.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import (
    BudgetExceeded,
    InputError,
    MissingExtra,
    OptionError,
    OutputError,
    PrivacyError,
)
from gazeveil.files import others_may_read
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.protection import WindowOfGaze
from gazeveil.samples.mechanism import LATEST, SampleMechanism, mechanism_from_dict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GAZE = "person string, t double, x double, y double"
"""Columns that go in, and that come out."""
STATE = "batches long, veil binary"
_KEY_BYTES = 32
_LONGEST_NAME = 200


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
        if others_may_read(path):
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
    """Veil one batch of one participant, and return it with the state after it.

    Args:
        mechanism: The mechanism.
        key: The secret that noise follows from.
        person: Whose gaze.
        batches: How many batches of this participant were before.
        state: The mechanism's state after them; None before the first.
        gaze: Rows of t, x and y; a batch has no order, so they are taken in that of their times.
    """
    gaze = _in_order(gaze)
    noise = NoiseSource.keyed(key, _label(mechanism, person, batches, state, gaze))
    veil = mechanism.start(noise) if state is None else mechanism.resume(state, noise)
    shown_x, shown_y = veil.run(*(np.ascontiguousarray(gaze[:, column]) for column in range(3)))
    return np.column_stack((gaze[:, 0], shown_x, shown_y)), veil.hand_over()


def _in_order(gaze: FloatArray) -> FloatArray:
    return np.ascontiguousarray(gaze[np.lexsort(gaze.T[::-1])], dtype="<f8")


def _label(mechanism: SampleMechanism, person: str, batches: int, state: bytes | None, gaze: FloatArray) -> str:
    """Name a batch by all that its output follows from, but for the key: no two batches may have one noise."""
    recipe = json.dumps(mechanism.to_dict(), sort_keys=True).encode()
    parts = (b"new" if state is None else b"old" + state, recipe, gaze.tobytes())
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{len(person)}:{person}/{batches}/{digest}"


@dataclass(frozen=True, slots=True)
class DayBudget:
    """What one participant may lose in any 24 hours, and how it is paid: batch by batch, in blocks of device time.

    The 24 hours are of the ledger's time, in which gaze is paid for and veiled, whenever it was recorded.

    Gaze is paid for before it enters the mechanism, so nothing that is shown later depends on gaze that nobody paid
    for. A charge has the name of its noise, so it counts once, however often a batch is repeated; but the same gaze
    under another noise, after a new start without the checkpoint, is paid for again.

    Attributes:
        budget: The budget of any 24 hours.
        ledger: Where it is kept; executors must reach it, so a ``postgresql://`` address, or a file on one machine.
        block_s: For how long at most is paid at once, in device time.
        dataset: Under which name in the ledger.
    """

    budget: GazeStreamDP
    ledger: str
    block_s: float = 60.0
    dataset: str = "stream"

    def check(self, guarantee: Guarantee) -> None:
        """Refuse a mechanism that a day's budget cannot pay for.

        Raises:
            PrivacyError: If it has no price.
            OptionError: If a block is shorter than its window.
        """
        if not isinstance(guarantee, GazeStreamDP):
            raise PrivacyError(f"a day's budget does not pay for {guarantee}")
        if not self.block_s >= float(guarantee.window):
            raise OptionError(f"a block is at least as long as a window ({guarantee.window} s), not {self.block_s!r} s")

    def price(self, guarantee: Guarantee, first: float, last: float) -> GazeStreamDP:
        """Return what gaze from one time to another costs: the windows that cover it, as a guarantee to the whole day.

        Raises:
            PrivacyError: If it has no price.
        """
        if not isinstance(guarantee, GazeStreamDP):
            raise PrivacyError(f"a day's budget does not pay for {guarantee}")
        whole, span = self.budget, Fraction(last) - Fraction(first) + Fraction(2, 10**6)  # veils round to microseconds
        windows = math.floor(span / guarantee.window) + 1
        unit = WindowOfGaze(windows * guarantee.window, whole.radius, whole.radius_unit)
        return GazeStreamDP(
            guarantee.restated(unit=unit).numbers()["epsilon"], whole.window, whole.radius, whole.radius_unit
        )

    def pay(
        self, ledger: Ledger, mechanism: SampleMechanism, person: str, times: tuple[float, float], name: str
    ) -> bool:
        """Pay for one participant's gaze from one time to another, once under one name; return whether it was paid.

        Raises:
            LedgerError: If the ledger cannot be used; then nothing may leave.
        """
        ledger.allow(self.dataset, self.budget, person=person, note="any 24 hours of gaze")
        try:
            ledger.charge(
                self.dataset,
                self.price(mechanism.guarantee, *times),
                person=person,
                recipe=mechanism.to_dict(),
                charge_id=name,
                lasts_s=0.0,
                within=self.budget.epsilon,
            )
        except BudgetExceeded:
            return False
        return True


@dataclass(frozen=True, slots=True)
class ParticipantStreams:
    """A mechanism for a streaming frame: call it with the frame of raw gaze, and it returns the frame of veiled gaze.

    Attributes:
        mechanism: The mechanism, the same for everyone; every participant has a stream of their own.
        key_file: Where the secret key lies on every executor.
        day: What a participant may lose in any 24 hours; None protects windows, but not days.
    """

    mechanism: SampleMechanism
    key_file: Path
    day: DayBudget | None = None

    def __post_init__(self) -> None:
        guarantee = self.mechanism.guarantee
        if not guarantee.proven:
            raise PrivacyError(
                f"{self.mechanism.name} guarantees nothing, so it is not run on a cluster",
                hint="choose a mechanism with a guarantee, for example clock",
            )
        if self.day is not None:
            self.day.check(guarantee)

    def __call__(self, gaze: DataFrame) -> DataFrame:
        """Return the veiled frame: participant, t, x, y; every other column stays behind.

        Raises:
            MissingExtra: If pandas or pyarrow is not there, which Spark hands rows over with.
            OptionError: If a column is missing.
        """
        try:
            import pandas as pd  # noqa: F401, PLC0415
            import pyarrow as pa  # noqa: F401, PLC0415
        except ModuleNotFoundError as error:
            raise MissingExtra(str(error.name), "spark", "a mechanism in Spark Structured Streaming") from error
        missing = [name for name in ("person", "t", "x", "y") if name not in gaze.columns]
        if missing:
            raise OptionError(f"the frame has no column {missing[0]!r}", hint=f"it needs {GAZE}")
        chosen = gaze.selectExpr(
            "cast(person as string) person", "cast(t as double) t", "cast(x as double) x", "cast(y as double) y"
        ).where("person is not null")
        work = BatchWork(self.mechanism.to_dict(), str(self.key_file), self.day)
        return chosen.groupBy("person").applyInPandasWithState(work, GAZE, STATE, "append", "NoTimeout")


@dataclass(frozen=True, slots=True)
class BatchWork:
    """What an executor does with one participant's rows of one batch."""

    recipe: dict[str, Any]
    key_file: str
    day: DayBudget | None = None

    def __call__(self, key: tuple[str], frames: Iterable[Any], state: Any) -> Iterator[Any]:
        """Veil one participant's rows; Spark calls it."""
        import pandas as pd  # noqa: PLC0415

        person = key[0]
        mechanism = mechanism_from_dict(self.recipe)
        rows = np.concatenate([frame[["t", "x", "y"]].to_numpy(np.float64) for frame in frames])
        rows = rows[np.abs(rows[:, 0]) <= LATEST]  # what has no time is dropped, or it would stop the query for good
        secret = key_in(self.key_file)
        batches, kept = state.get if state.exists else (0, None)
        after, shown = None if kept is None else bytes(kept), []
        with contextlib.ExitStack() as stack:
            ledger = None if self.day is None else stack.enter_context(Ledger.open(self.day.ledger))
            for piece in self._pieces(person, rows):
                if self.day is not None and ledger is not None:
                    label = _label(mechanism, person, batches, after, piece)
                    name = hmac.new(
                        secret, f"charge {len(self.day.dataset)}:{self.day.dataset}/{label}".encode(), hashlib.sha256
                    ).hexdigest()[:32]
                    if not self.day.pay(ledger, mechanism, person, (piece[0, 0], piece[-1, 0]), name):
                        continue
                veiled, after = one_batch(mechanism, secret, person, batches, after, piece)
                batches += 1
                shown.append(veiled)
        if shown:
            state.update((batches, after))
            left = np.concatenate(shown)
            yield pd.DataFrame({"person": person, "t": left[:, 0], "x": left[:, 1], "y": left[:, 2]})

    def _pieces(self, person: str, rows: FloatArray) -> Iterator[FloatArray]:
        """Yield a batch's rows in order; where a budget pays, cut at blocks."""
        if self.day is None:
            if len(rows):
                yield _in_order(rows)
            return
        if not (0 < len(person) <= _LONGEST_NAME and person.isprintable()):
            return  # such a name has no account, so nothing of it may leave
        rows = _in_order(rows)
        cuts = np.flatnonzero(np.diff(np.floor(rows[:, 0] / self.day.block_s)) != 0) + 1
        yield from (piece for piece in np.split(rows, cuts) if len(piece))
