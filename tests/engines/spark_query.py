# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A streaming query as a program of its own, so that a test can kill it: folder of gaze in, lines of veiled gaze out.

What left is appended batch by batch, also if the batch left before: the least that a sink promises.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from gazeveil import GazeStreamDP
from gazeveil.engines.spark import context_at
from gazeveil.engines.spark_stream import GAZE, DayBudget, ParticipantStreams
from gazeveil.samples import Screen
from gazeveil.samples.mechanisms.clock import Clock

FILES = 4
MECHANISM = Clock(Screen(1280, 720, 40.0), epsilon=Fraction(2), window=Fraction(1), radius=Fraction(50))


def main(folder: Path) -> None:
    from pyspark.sql import SparkSession

    context = context_at("local[1]")
    session = SparkSession(context)
    session.conf.set("spark.sql.shuffle.partitions", "1")
    out = folder / "left.jsonl"

    def leave(batch: Any, number: int) -> None:
        rows = [[row.person, row.t, row.x, row.y] for row in batch.collect()]
        with out.open("a") as file:
            file.write(json.dumps({"batch": number, "rows": sorted(rows)}) + "\n")
        (folder / f"left-{number}").touch()

    day = DayBudget(GazeStreamDP(48, 86400, 50, "px"), str(folder / "ledger.sqlite"), block_s=4.0)
    veiled = ParticipantStreams(MECHANISM, folder / "key", day)(
        session.readStream.schema(GAZE).option("maxFilesPerTrigger", 1).parquet(str(folder / "gaze"))
    )
    query = (
        veiled.writeStream.outputMode("append")
        .foreachBatch(leave)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    (folder / "done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
