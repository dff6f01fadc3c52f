# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.gaze import schema
from gazeveil.gaze.events import Event, samples_within, table_of_events

spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10), st.sampled_from(["fixation", "saccade"])))


@settings(max_examples=100, deadline=None)
@given(spans=spans, times=st.lists(st.integers(-2, 55)))
def test_a_sample_is_covered_if_it_lies_within_some_event(spans: list[tuple[int, int, str]], times: list[int]) -> None:
    events = schema.event_table(
        pl.DataFrame(
            {
                "kind": [kind for _, _, kind in spans],
                "onset": [float(start) for start, _, _ in spans],
                "offset": [float(start + length) for start, length, _ in spans],
            },
            schema_overrides={"kind": pl.String, "onset": pl.Float64, "offset": pl.Float64},
        )
    )
    expected = [
        any(kind == "fixation" and start <= t <= start + length for start, length, kind in spans) for t in times
    ]
    assert samples_within(np.array(times, dtype=float), events, "fixation").tolist() == expected


def test_a_sample_without_a_time_is_covered_by_nothing() -> None:
    events = schema.event_table(pl.DataFrame({"kind": ["blink"], "onset": [0.0], "offset": [None]}))
    assert samples_within(np.array([np.nan, 0.0, 0.1]), events, "blink").tolist() == [False, True, False]


def test_a_list_of_events_becomes_a_table_with_nothing_where_nothing_applies() -> None:
    nan = float("nan")
    found = table_of_events(
        [Event("saccade", 0, 1, 2, 3, 4, 5, 6, 7), Event("fixation", 1, 2, 3, 4, nan, nan, nan, nan)], "me"
    )
    assert found.schema == pl.Schema(dict(schema.EVENTS))
    assert found.rows() == [
        ("saccade", "me", "both", 0, 1, 2, 3, 4, 5, 6, 7, None, None),
        ("fixation", "me", "both", 1, 2, 3, 4, None, None, None, None, None, None),
    ]
    assert table_of_events([], "me").equals(schema.no_events())
