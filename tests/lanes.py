# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests are slow: ``make test-room R=release`` leaves them out, so that a room is tested in less than a minute.

``slow.json`` beside this file names them, a whole file or a single test. ``python -m tests.lanes JUNIT.xml`` writes it
from a report of a whole run (``pytest --junitxml=JUNIT.xml``) on a quiet machine: in every room the longest tests
first, until the rest fits. A name that no test has any more fails `tests/test_house.py`.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).parent
TABLE = HERE / "slow.json"
ROOM_S = 50.0
"""Seconds that the quick tests of a room may take, one after the other; two processes share them, and start first."""


def slow() -> dict[str, list[str]]:
    """Return for each file the slow tests in it."""
    found: dict[str, list[str]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def durations(report: Path) -> dict[tuple[str, str], float]:
    """Return how long each test function took with all its parameters, by its file and name."""
    found: dict[tuple[str, str], float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        place = "/".join(str(case.get("classname")).split(".")[1:]) + ".py"
        if (HERE / place).exists():  # what a class holds, a state machine of hypothesis, is quick
            found[place, str(case.get("name")).split("[")[0]] += float(case.get("time") or 0)
    return found


def chosen(took: dict[tuple[str, str], float]) -> dict[str, list[str]]:
    """Return the slow tests: the longest of each room, until the others fit."""
    rooms: dict[str, list[tuple[float, str, str]]] = defaultdict(list)
    for (file, test), seconds in took.items():
        rooms[file.split("/")[0]].append((seconds, file, test))
    found: dict[str, list[str]] = defaultdict(list)
    for room, tests in rooms.items():
        left = sum(seconds for seconds, _, _ in tests)
        for seconds, file, test in sorted(tests, reverse=True):
            if left <= ROOM_S or room.endswith(".py"):
                break
            found[file].append(test)
            left -= seconds
    return {file: sorted(tests) for file, tests in sorted(found.items())}


if __name__ == "__main__":
    TABLE.write_text(json.dumps(chosen(durations(Path(sys.argv[1]))), indent=1) + "\n", encoding="utf-8")
    print(f"{sum(map(len, slow().values()))} slow tests in {len(slow())} files")
