# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, headset
from gazeveil.errors import OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.events import detect_blinks, find_gaps


def looking(seconds: float, *losses: tuple[float, float], **more: Any) -> Recording:
    t = np.arange(round(seconds * 1000)) / 1000
    valid = np.ones(len(t), dtype=bool)
    for start, stop in losses:
        valid[round(start * 1000) : round(stop * 1000)] = False
    return Recording(t, 0 * t, 0 * t, headset(), "a", valid=valid, **more)


def spans(events: pl.DataFrame) -> list[tuple[float, float]]:
    return [(row[0], row[1]) for row in events.select("onset", "offset").rows()]


def test_a_loss_as_long_as_a_blink_is_one() -> None:
    r = looking(3, (0.5, 0.52), (1, 1.15), (2, 2.7))
    blinks = detect_blinks(r)
    assert spans(blinks) == [(1.0, 1.149)]
    assert blinks.select("kind", "source", "eye").rows() == [("blink", "gap", "both")]
    assert blinks.schema == pl.Schema(dict(schema.EVENTS))
    gaps = find_gaps(r)
    assert gaps["kind"].to_list() == ["loss", "blink", "loss"]
    assert spans(gaps) == [(0.5, 0.519), (1.0, 1.149), (2.0, 2.699)]


def test_the_limits_can_be_moved_and_count_as_blinks_themselves() -> None:
    r = looking(3, (0.5, 0.549), (1, 1.499))
    assert len(detect_blinks(r)) == 2  # 50 and 500 ms between the good samples around
    assert spans(detect_blinks(r, shortest=0.06, longest=1)) == [(1.0, 1.498)]
    assert len(detect_blinks(r, longest=0.05)) == 1


def test_a_loss_at_either_end_or_where_time_goes_back_is_no_blink() -> None:
    r = looking(3, (0, 0.15), (2.85, 3))
    assert len(detect_blinks(r)) == 0
    assert len(find_gaps(r)) == 2
    t = looking(3).t.copy()
    t[1075:] -= 0.02
    broken = Recording(t, 0 * t, 0 * t, headset(), "a", valid=looking(3, (1, 1.15)).tracked)
    assert find_gaps(broken)["kind"].to_list() == ["loss"]


def test_flicker_within_a_blink_can_be_joined() -> None:
    r = looking(2, (1, 1.04), (1.05, 1.1), (1.5, 1.52))
    assert spans(detect_blinks(r)) == [(1.05, 1.099)]
    assert spans(detect_blinks(r, join=0.02)) == [(1.0, 1.099)]
    assert len(find_gaps(r, join=0.02)) == 2


def test_a_lost_pupil_is_a_lost_eye_unless_there_never_was_one() -> None:
    r = looking(2)
    pupil = np.full(len(r), 3.0)
    pupil[1000:1100] = 0.0
    assert spans(detect_blinks(looking(2, pupil=pupil))) == [(1.0, 1.099)]
    pupil[1000:1100] = np.nan
    assert spans(detect_blinks(looking(2, pupil=pupil))) == [(1.0, 1.099)]
    assert len(find_gaps(looking(2, pupil=np.zeros(len(r))))) == 0


def test_what_the_tracker_calls_a_blink_wins() -> None:
    told = schema.event_table(
        pl.DataFrame(
            {
                "kind": ["blink", "fixation", "blink"],
                "source": ["tracker", "tracker", "ours"],
                "eye": ["left", "left", "both"],
                "onset": [0.2, 0.3, 0.9],
                "offset": [0.25, 0.8, 1.0],
            }
        )
    )
    assert spans(detect_blinks(looking(2, (1, 1.1), events=told))) == [(0.2, 0.25)]


def test_of_nothing_there_is_nothing() -> None:
    empty = np.empty(0)
    for r in (Recording(empty, empty, empty, headset(), "a"), looking(1, (0, 1))):
        assert len(detect_blinks(r)) == 0


@pytest.mark.parametrize("wrong", [{"shortest": -1}, {"shortest": 1}, {"join": -0.1}, {"longest": float("nan")}])
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError, match="between shortest and longest"):
        detect_blinks(looking(1), **wrong)
