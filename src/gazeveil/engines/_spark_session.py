# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Get hold of a Spark cluster, or say in bounded time why not."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import gazeveil
from gazeveil.errors import EngineError, InputError, OptionError, needing

if TYPE_CHECKING:
    from pyspark import SparkContext

LOOPBACK = "127.0.0.1"
KNOCK_S = 5.0
"""How long to wait for a master to answer at all."""

_ON_THIS_MACHINE = re.compile(
    r"local(\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\])?|local-cluster\[\s*[1-9]\d*\s*(,\s*[1-9]\d*\s*){2}\]"
)
_MASTERS = re.compile(r"spark://[^,/:\s]+:\d{1,5}(,[^,/:\s]+:\d{1,5})*")


def check_master(master: str) -> None:
    """Check that an address looks like a Spark master.

    Raises:
        OptionError: If it does not.
    """
    if not (_ON_THIS_MACHINE.fullmatch(master) or _MASTERS.fullmatch(master)):
        raise OptionError(
            f"{master!r} is no address of an engine",
            hint="use local, or a Spark master: local[*], local[4], local-cluster[2,1,1024], spark://host:7077",
        )


def context_at(master: str) -> SparkContext:
    """Return the Spark context of this process, started if need be; a process can have one at a time.

    Raises:
        MissingExtra: If pyspark is not installed.
        EngineError: If Java is missing, nobody answers at the address, or Spark does not start.
        InputError: If this process already uses another master.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark warns about a pandas that we do not use
        return _context_at(master)


def _context_at(master: str) -> SparkContext:
    with needing("pyspark", "spark", "the Spark engine"):
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
    from py4j.protocol import Py4JError  # noqa: PLC0415  (comes with pyspark)

    _check_java()
    our_address = LOOPBACK if _ON_THIS_MACHINE.fullmatch(master) else _knock(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if our_address == LOOPBACK:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)  # nothing of a cluster on this machine listens outside
    settings = {
        "spark.driver.host": our_address,
        "spark.driver.bindAddress": our_address,
        "spark.executorEnv.POLARS_MAX_THREADS": "1",  # a task has one core
        "spark.executorEnv.PYTHONPATH": _python_path(),
        "spark.io.encryption.enabled": "true",  # raw gaze that Spark puts on disk on its way
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    conf = SparkConf().setMaster(master).setAppName("gazeveil").setAll(list(settings.items()))
    try:
        context = SparkContext.getOrCreate(conf)
    except (Py4JError, PySparkException, OSError) as error:
        raise EngineError(
            f"Spark did not start at {master}: {first_line(error)}", hint="what Spark itself says is above"
        ) from error
    if context.master != master:
        raise InputError(
            f"this process already uses Spark at {context.master}, so it cannot use {master}",
            hint="stop that session first, or name the same master",
        )
    return context


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    if shutil.which(java) is None:
        raise EngineError(
            f"Spark runs on Java, and there is no {java}",
            hint="install Java 17 or newer and put it on PATH, or set JAVA_HOME",
        )


def _knock(master: str) -> str:
    """Return the address under which the first master that answers sees this machine."""
    for place in master.removeprefix("spark://").split(","):
        host, port = place.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=KNOCK_S) as line:
                return str(line.getsockname()[0])
        except (OSError, OverflowError) as error:
            reason = error
    raise EngineError(
        f"no Spark master answers at {master}: {first_line(reason)}",
        hint="check that the master runs, and that its address is the one its log names",
    ) from reason


def _python_path() -> str:
    """Return where workers on this machine find the gazeveil that this process runs."""
    ours = str(Path(gazeveil.__file__).parents[1])
    theirs = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join(dict.fromkeys(filter(None, [ours, *theirs.split(os.pathsep)])))
