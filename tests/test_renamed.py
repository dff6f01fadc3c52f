# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Old public names still work, and say what they are called now."""

from __future__ import annotations

import importlib

import pytest

import gazeveil

OLD = {
    "gazeveil.DynamicHeatmap": "gazeveil.HeatmapMovie",
    "gazeveil.OwnRelease": "gazeveil.ParticipantRelease",
    "gazeveil.OwnSeries": "gazeveil.ParticipantSeries",
    "gazeveil.aggregate.dynamic.DynamicHeatmap": "gazeveil.aggregate.movie.HeatmapMovie",
    "gazeveil.features.own.OwnSeries": "gazeveil.features.participant_series.ParticipantSeries",
    "gazeveil.features.own.RawGaze": "gazeveil.features.participant_series.RawGaze",
    "gazeveil.gaze.geometry.screen": "gazeveil.geometry.screen",
    "gazeveil.samples.Room": "gazeveil.samples.Room3D",
}


def found(name: str) -> object:
    module, _, what = name.rpartition(".")
    return getattr(importlib.import_module(module), what)


@pytest.mark.parametrize("old", OLD)
def test_an_old_name_is_the_new_thing_and_warns(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{old} is now {OLD[old]}; the old name goes with version 0.2") as told:
        assert found(old) is found(OLD[old])
    assert [one.filename for one in told] == [__file__], "the warning points at the line that uses the old name"


def test_old_names_are_not_offered() -> None:
    assert not {"DynamicHeatmap", "OwnRelease", "OwnSeries"} & {*gazeveil.__all__, *dir(gazeveil)}


@pytest.mark.parametrize("module", ["gazeveil.features.own", "gazeveil.aggregate.dynamic"])
def test_what_was_never_there_is_not_there_now(module: str) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        found(f"{module}.nothing")
