# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tumult Analytics' counts per cell with people protected: ``python tumult_histogram.py GAZE.npz OUT.npz``."""

from __future__ import annotations

import os
import sys
import time

import numpy as np


def main(source: str, target: str) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    gaze = np.load(source)
    rows, columns = (int(side) for side in gaze["shape"])
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.log.level": "ERROR"}
    builder = SparkSession.builder.master("local[*]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    table = spark.createDataFrame(
        pd.DataFrame({"observer": gaze["observer"].astype(str), "cell": gaze["cell"]})
    ).cache()
    table.count()
    keys = KeySet.from_dict({"cell": list(range(rows * columns))})
    query = QueryBuilder("gaze").enforce(MaxRowsPerID(int(gaze["samples"]))).groupby(keys).count()
    maps, seconds = [], []
    for _ in range(int(gaze["repeats"]) + 1):
        start = time.perf_counter()
        session = Session.from_dataframe(PureDPBudget(1), "gaze", table, protected_change=AddRowsWithID("observer"))
        found = session.evaluate(query, PureDPBudget(1)).toPandas()
        seconds.append(time.perf_counter() - start)
        counts = np.zeros(rows * columns)
        counts[found["cell"].to_numpy()] = found["count"].to_numpy()
        maps.append(counts.reshape(rows, columns))
    np.savez(target, person=np.array(maps[1:]), person_s=np.array(seconds[1:]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
