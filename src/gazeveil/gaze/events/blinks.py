# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Blinks: what the tracker says, else losses of the eye that last as long as a blink does."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.errors import OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Recording

SHORTEST = 0.05
LONGEST = 0.5
SOURCE = "gap"
"""What the ``source`` column says of blinks that we found ourselves."""


def detect_blinks(
    recording: Recording, *, shortest: float = SHORTEST, longest: float = LONGEST, join: float = 0.0
) -> pl.DataFrame:
    """Return the blinks of a recording in `schema.EVENTS`.

    Blinks that came with the recording are returned as they are, per eye where the tracker says so. If there are
    none, a blink is a loss of gaze or pupil in both eyes that lasts as long as a blink does (see `find_gaps`).

    Args:
        recording: Any recording, in any unit.
        shortest: Seconds; anything shorter is a dropout of the tracker.
        longest: Seconds; anything longer is a loss of tracking, or someone closed their eyes.
        join: Losses that are at most this many seconds apart count as one.
    """
    told = recording.events.filter((pl.col("kind") == "blink") & (pl.col("source") == "tracker"))
    if len(told):
        return told
    return find_gaps(recording, shortest=shortest, longest=longest, join=join).filter(pl.col("kind") == "blink")


def find_gaps(
    recording: Recording, *, shortest: float = SHORTEST, longest: float = LONGEST, join: float = 0.0
) -> pl.DataFrame:
    """Return every loss of the eye in `schema.EVENTS`: kind ``blink`` if it lasts as long as one, else ``loss``.

    The eye is lost where gaze is not valid or, if there is a pupil channel that ever saw a pupil, where there is
    none. Onset and offset are the first and the last lost sample; how long a loss lasts is measured between the
    good samples around it, so a loss at either end of the recording, or at a time step that goes backwards, is
    never a blink.
    """
    if not 0 <= shortest <= longest or not join >= 0:
        raise OptionError(
            f"a blink lasts between shortest and longest seconds, not {shortest!r} and {longest!r} (join {join!r})"
        )
    recording.need_samples("finding blinks")
    first, last = _runs(~_seen(recording))
    t = np.concatenate([[np.nan], recording.t, [np.nan]])  # so that both ends have a neighbour of unknown time
    before, after = t[first], t[last + 2]
    monotonic = np.array(
        [bool((np.diff(t[i : j + 3]) >= 0).all()) for i, j in zip(first, last, strict=True)], dtype=bool
    )
    if join > 0 and len(first) > 1:
        close = np.append(False, (before[1:] - after[:-1] <= join) & monotonic[1:] & monotonic[:-1])
        starts = np.flatnonzero(~close)
        monotonic = np.logical_and.reduceat(monotonic, starts)
        ends = np.append(starts[1:], len(first)) - 1
        first, last, before, after = first[starts], last[ends], before[starts], after[ends]
    lasts = np.where(monotonic, after - before, np.nan)
    is_blink = (lasts >= shortest - 1e-6) & (lasts <= longest + 1e-6)
    table = pl.DataFrame({"onset": recording.t[first], "offset": recording.t[last], "blink": is_blink})
    kind = pl.when("blink").then(pl.lit("blink")).otherwise(pl.lit("loss"))
    return schema.event_table(
        table.with_columns(kind.alias("kind"), pl.lit(SOURCE).alias("source"), pl.lit("both").alias("eye"))
    )


def _seen(recording: Recording) -> NDArray[np.bool_]:
    seen = recording.tracked
    if recording.pupil is not None:
        pupil = recording.pupil > 0
        if pupil.any():
            seen = seen & pupil
    return seen


def _runs(flags: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last index of each run of true."""
    edges = np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
