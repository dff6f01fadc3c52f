# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Units of protection: what they say, and which of them covers which."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from gazeveil.errors import OptionError
from gazeveil.privacy import (
    FeatureSeries,
    Observer,
    OneRecording,
    ProtectedUnit,
    StretchOfGaze,
    WindowOfGaze,
    unit_from_dict,
)
from gazeveil.privacy.protection import UNITS

ALL = [
    Observer(),
    OneRecording(),
    StretchOfGaze("0.5"),
    StretchOfGaze(0.1),
    WindowOfGaze(2, "1/3", "deg"),
    FeatureSeries(),
    FeatureSeries(64, ("blinks", "pupil")),
]


@pytest.mark.parametrize("unit", ALL, ids=repr)
def test_a_unit_survives_being_written_down(unit: ProtectedUnit) -> None:
    assert unit_from_dict(unit.to_dict()) == unit
    assert eval(repr(unit)) == unit
    assert hash(unit_from_dict(unit.to_dict())) == hash(unit)
    assert unit.in_words()


def test_every_unit_is_tried_here() -> None:
    assert {type(unit) for unit in ALL} == set(UNITS.values())


def test_units_say_what_they_protect() -> None:
    assert Observer().in_words() == "everything that one participant contributed"
    assert StretchOfGaze(1).in_words() == "any 1 second of one participant's gaze"
    assert WindowOfGaze("0.5", 60).in_words() == "where one participant looked during any 0.5 seconds, up to 60 px away"
    assert FeatureSeries(1, ["pupil"]).in_words() == "pupil of any 1 consecutive step of one participant's series"


def test_a_unit_is_a_value() -> None:
    assert StretchOfGaze("0.5") == StretchOfGaze(0.5) == StretchOfGaze(Fraction(1, 2))
    assert StretchOfGaze("0.1") != StretchOfGaze(0.1)  # the float is not one tenth
    assert FeatureSeries(2, ["b", "a", "b"]) == FeatureSeries(2, ["a", "b"])


@pytest.mark.parametrize(
    ("larger", "smaller", "steps"),
    [
        (Observer(), Observer(), 1),
        (Observer(), OneRecording(), 1),
        (Observer(), WindowOfGaze(100, 1000), 1),
        (Observer(), FeatureSeries(), 1),
        (OneRecording(), Observer(), None),
        (OneRecording(), StretchOfGaze(5), 1),
        (OneRecording(), FeatureSeries(), None),
        (StretchOfGaze(2), StretchOfGaze(5), 3),
        (StretchOfGaze(2), StretchOfGaze("0.1"), 1),
        (StretchOfGaze(2), WindowOfGaze(4, 60), 2),
        (StretchOfGaze(2), Observer(), None),
        (WindowOfGaze(1, 60), WindowOfGaze("2.5", 100), 6),
        (WindowOfGaze(1, 60), WindowOfGaze("0.5", 30), 1),
        (WindowOfGaze(1, 60), WindowOfGaze(1, 60, "deg"), None),
        (WindowOfGaze(1, 60), StretchOfGaze(1), None),
        (FeatureSeries(32), FeatureSeries(64), 2),
        (FeatureSeries(), FeatureSeries(64), 1),
        (FeatureSeries(32), FeatureSeries(), None),
        (FeatureSeries(32, ["a", "b"]), FeatureSeries(32, ["a"]), 1),
        (FeatureSeries(32, ["a"]), FeatureSeries(32, ["a", "b"]), None),
        (FeatureSeries(32, ["a"]), FeatureSeries(32), None),
        (FeatureSeries(32), StretchOfGaze(1), None),  # steps of a series are not gaze: erratum B10
    ],
)
def test_larger_units_cover_smaller_ones_in_so_many_steps(
    larger: ProtectedUnit, smaller: ProtectedUnit, steps: int | None
) -> None:
    assert larger.steps_to(smaller) == steps


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kind": "household"},
        {"kind": "observer", "age": 3},
        {"kind": "window-of-gaze", "seconds": "1"},
        {"kind": "window-of-gaze", "seconds": "1", "radius": "2", "unit": "inch"},
        {"kind": "stretch-of-gaze", "seconds": "0"},
        {"kind": "feature-series", "steps": 0, "features": []},
        {"kind": "feature-series", "steps": 1, "features": "pupil"},
        {"kind": ["observer"]},
    ],
)
def test_what_does_not_describe_a_unit_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        unit_from_dict(values)
