# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From what the game wrote down to measures: one row for each number of each round and form.

A round is ``things`` (targets and distractors: what became of each) and ``gaze`` (time, x and y as the game received
them; null where there was none). Times are seconds since the round began, places are shares of the window.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.userstudy.forms import scores
from gazeveil.lab.userstudy.measures import COLUMNS
from gazeveil.lab.userstudy.sessions import Session

FARTHEST_M = 10.0
FATES = ("destroyed", "reached", "left")
"""What becomes of things: selected, arrived at the player, or still on their way when the round ended."""
NUMBERS = ("born", "ended", "distance", "x", "y", "size", "from_x", "from_y")
MOST_THINGS, MOST_SAMPLES = 2_000, 400_000
LARGEST = 1e9


def check_round(data: Mapping[str, Any]) -> None:
    """Refuse what is no round.

    Raises:
        InputError: If a part is missing or of another kind.
    """
    things, gaze = data.get("things"), data.get("gaze")
    if (
        not isinstance(things, list)
        or not isinstance(gaze, list)
        or len(things) > MOST_THINGS
        or len(gaze) > MOST_SAMPLES
    ):
        raise InputError("a round is a list of things and a list of gaze")
    for thing in things:
        if (
            not isinstance(thing, dict)
            or thing.get("kind") not in ("target", "distractor")
            or thing.get("fate") not in FATES
        ):
            raise InputError("a thing is a target or a distractor, and something became of it")
        if not all(_is_number(thing.get(name)) for name in NUMBERS):
            raise InputError(f"a thing has the numbers {', '.join(NUMBERS)}")
    for sample in gaze:
        if not isinstance(sample, list) or len(sample) != 3 or not _is_number(sample[0]):
            raise InputError("a sample of gaze is a time and a place, or a time and nothing")
        if not all(part is None or _is_number(part) for part in sample[1:]):
            raise InputError("a place of gaze is two numbers")


def _is_number(part: object) -> bool:
    """Whether it is a finite number; JSON also has whole numbers that are larger than any."""
    return isinstance(part, int | float) and not isinstance(part, bool) and abs(part) < LARGEST


Row = tuple[str, str, str, str, str, float]


def measures_of(sessions: Sequence[Session], more: Sequence[Row] = ()) -> pl.DataFrame:
    """Return all measures of sessions as a tidy table, after further rows. What was chosen freely is no condition."""
    rows: list[Row] = list(more)
    for session in sessions:
        for line in session.done.values():
            if not line.get("control") or "mechanism" not in line or line["kind"] in ("practice", "free"):
                continue
            found = round_measures(line["data"]) if line["kind"] == "trial" else _form_measures(line)
            label = session.participant, line["control"], line["mechanism"], line["strength"]
            rows += [(*label, name, value) for name, value in found.items()]
    schema = dict.fromkeys(COLUMNS[:-1], pl.String) | {"value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _form_measures(line: Mapping[str, Any]) -> dict[str, float]:
    return scores(line["form"], line["data"]["answers"]) if line["kind"] == "form" else {}


def round_measures(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the measures of one round; those for which there is nothing to measure are left out."""
    targets = [thing for thing in data["things"] if thing["kind"] == "target" and thing["fate"] != "left"]
    distractors = [thing for thing in data["things"] if thing["kind"] == "distractor" and thing["fate"] != "left"]
    hit = [thing for thing in targets if thing["fate"] == "destroyed"]
    found: dict[str, float] = {}
    if targets:
        found["destroyed"] = len(hit) / len(targets)
    if distractors:
        found["false-selections"] = sum(thing["fate"] == "destroyed" for thing in distractors) / len(distractors)
    if hit:
        found["distance"] = float(np.mean([thing["distance"] / FARTHEST_M for thing in hit]))
        found["selection-time"] = float(np.mean([thing["ended"] - thing["born"] for thing in hit]))
        if bits := [bit for thing in hit if (bit := _bits_a_second(thing)) is not None]:
            found["throughput"] = float(np.mean(bits))
        gaze = samples(data)
        if detours := [detour for thing in hit if (detour := _detour(thing, gaze)) is not None]:
            found["path"] = float(np.median(detours))
    return found


def samples(data: Mapping[str, Any]) -> FloatArray:
    """Return the gaze of a round as an array of (t, x, y), NaN where there was none."""
    rows = [[math.nan if part is None else float(part) for part in sample] for sample in data["gaze"]]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _bits_a_second(thing: Mapping[str, Any]) -> float | None:
    """Return index of difficulty over time for one target (ISO 9241-411), from where gaze was when it appeared."""
    way = math.hypot(thing["x"] - thing["from_x"], thing["y"] - thing["from_y"])
    time = thing["ended"] - thing["born"]
    return math.log2(way / thing["size"] + 1) / time if time > 0 and thing["size"] > 0 else None


def _detour(thing: Mapping[str, Any], gaze: FloatArray) -> float | None:
    """Return the length of gaze's path while a target was there, over the straight way to it."""
    within = gaze[(gaze[:, 0] >= thing["born"]) & (gaze[:, 0] <= thing["ended"]) & np.isfinite(gaze[:, 1])]
    straight = math.hypot(thing["x"] - thing["from_x"], thing["y"] - thing["from_y"])
    if len(within) < 2 or straight < thing["size"]:
        return None
    return float(np.hypot(*np.diff(within[:, 1:], axis=0).T).sum()) / straight
