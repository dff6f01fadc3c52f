# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths with their units: which fit where, what they come to, and that none is guessed."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from gazeveil import headset, normalised, screen
from gazeveil.errors import OptionError
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples import MECHANISMS, Room3D, Screen, Space, Sphere, space_of
from gazeveil.samples.mechanism import mechanism_from_dict
from gazeveil.samples.recipes import from_recipe, parameters, read_recipe
from gazeveil.samples.space import Length, read_length
from gazeveil.samples.veiled_recordings import VeiledRecordings

DESK = space_of(screen(1920, 1080, 527, 296, 600))
UNMEASURED = Screen(1280, 720)
FRACTIONS = Screen(1, 1, unit="norm")
ROOM = Room3D((0, 0, 0), (4000, 3000, 3000))
PROMISE = {"epsilon": "3", "window": "0.5"}


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("60px", 60, "px"),
        (" 60 PX ", 60, "px"),
        ("2deg", 2, "deg"),
        ("0.1°", Fraction(1, 10), "deg"),
        ("5%", 5, "%"),
        ("9/4deg", Fraction(9, 4), "deg"),
        ("1e-2m", Fraction(1, 100), "m"),
        ("0.05norm", Fraction(1, 20), "norm"),
        ("60", 60, ""),
        (60, 60, ""),
    ],
)
def test_a_length_is_a_number_and_its_unit(text: str | int, number: int | Fraction, unit: str) -> None:
    assert Length.of(text) == Length(Fraction(number), unit)


@pytest.mark.parametrize("text", ["", "px", "sixty px", "60 inch", "60pxdeg", "nan%", True, None, "1/0deg"])
def test_anything_else_is_refused_with_an_example(text: Any) -> None:
    with pytest.raises(OptionError, match="radius must be a"):
        Length.of(text)


@pytest.mark.parametrize(
    ("text", "space", "expected"),
    [
        ("60px", UNMEASURED, 60),
        ("60", UNMEASURED, 60),
        (60, UNMEASURED, 60),
        ("5%", UNMEASURED, 64),
        ("5%", FRACTIONS, Fraction(1, 20)),
        ("0.05norm", FRACTIONS, Fraction(1, 20)),
        ("2deg", Sphere(), 2),
        ("2.25°", Sphere(110, 100), Fraction(9, 4)),
        ("2cm", ROOM, 20),
        ("0.02m", ROOM, 20),
    ],
)
def test_a_unit_that_fits_is_taken_exactly(text: str, space: Space, expected: int | Fraction) -> None:
    assert read_length(text, space) == expected


def test_degrees_on_a_measured_screen_become_pixels_rounded_up() -> None:
    pixels, at_centre = read_length("2deg", DESK), 2 * Fraction(DESK.degrees(1))
    assert at_centre <= pixels < at_centre + Fraction(1, 100)
    assert (100 * pixels).denominator == 1
    with pytest.raises(OptionError, match="how large a degree is on this screen is not known") as refused:
        read_length("2deg", UNMEASURED)
    assert "--distance-mm" in refused.value.hint


@pytest.mark.parametrize(
    ("text", "space", "reading", "hint"),
    [
        ("60", Sphere(), "60 degrees", "60deg"),
        (2, Sphere(110, 100), "2 degrees", "2deg"),
        ("60", FRACTIONS, "6000% of the screen's width and height", "6000%"),
        (0.5, FRACTIONS, "50% of the screen", "50%"),
        ("60", ROOM, "60 mm", "60mm"),
    ],
)
def test_a_number_alone_is_refused_where_gaze_is_not_in_pixels(
    text: Any, space: Space, reading: str, hint: str
) -> None:
    with pytest.raises(OptionError, match="has no unit") as refused:
        read_length(text, space)
    assert f"it would mean {reading}" in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("text", "space", "example"),
    [
        ("60px", Sphere(), "2deg"),
        ("5%", Sphere(), "2deg"),
        ("60px", FRACTIONS, "5%"),
        ("20mm", UNMEASURED, "60px"),
        ("2deg", ROOM, "60mm"),
    ],
)
def test_a_unit_that_does_not_fit_is_refused_with_one_that_does(text: str, space: Space, example: str) -> None:
    with pytest.raises(OptionError, match=f"radius is {text}, but gaze is in") as refused:
        read_length(text, space)
    assert example in refused.value.hint


def test_degrees_on_a_plane_in_fractions_reach_as_far_along_both_axes() -> None:
    plane = space_of(normalised(1920, 1080, 530, 300, 600))
    radius = float(read_length("2deg", plane))
    along_height = 300 * radius / (600 * math.radians(1))
    along_width = 530 * radius / (600 * math.radians(1))
    assert 2 <= along_height < 2.01 < along_width


def test_degrees_on_fractions_of_unknown_size_are_refused_with_the_options_that_say_it() -> None:
    with pytest.raises(OptionError, match="how large a degree is on this screen is not known") as refused:
        read_length("2deg", FRACTIONS)
    assert "--size-mm" in refused.value.hint
    assert "5%" in refused.value.hint


@pytest.mark.parametrize(
    ("name", "space", "written", "radius"),
    [
        ("clock", UNMEASURED, "60px", "60 px"),
        ("clock", UNMEASURED, "5%", "64 px"),
        ("kaleido", Sphere(110, 100), "2.25deg", "2.25 deg"),
        ("clock", FRACTIONS, "5%", "0.05 norm"),
        ("held-ticks", ROOM, "2cm", "20 mm"),
    ],
)
def test_mechanisms_take_lengths_and_their_guarantee_has_the_unit(
    name: str, space: Space, written: str, radius: str
) -> None:
    mechanism = MECHANISMS[name](space, radius=written, **PROMISE)  # type: ignore[call-arg]
    number, unit = radius.split()
    assert mechanism.guarantee == GazeStreamDP(3, "0.5", number, unit)
    assert mechanism.to_dict()["radius"] == number + unit
    assert f"radius={number}{unit}" in mechanism.in_words()
    assert mechanism_from_dict(mechanism.to_dict()) == mechanism
    assert from_recipe(mechanism.to_dict(), space) == mechanism  # what a release says can be used again


def test_programs_that_know_the_space_may_give_numbers_in_its_unit() -> None:
    assert MECHANISMS["clock"](Sphere(), radius=2, **PROMISE).guarantee == GazeStreamDP(3, "0.5", 2, "deg")  # type: ignore[call-arg]


@pytest.mark.parametrize("where", [headset(), headset(100, 90), normalised()])
@pytest.mark.parametrize("how", [{"mechanism": "clock"}, {"preset": "lphu"}])
def test_veiled_recordings_refuse_a_radius_without_a_unit(where: Any, how: dict[str, Any]) -> None:
    given = PROMISE if "mechanism" in how else {}
    with pytest.raises(OptionError, match="has no unit"):
        VeiledRecordings(**how, parameters={**given, "radius": "2"}).on(where)
    assert VeiledRecordings(**how, parameters={**given, "radius": 60}).on(screen(1280, 720)).guarantee.proven


def test_recipes_in_files_have_units_in_every_member(tmp_path: Path) -> None:
    clock = {"mechanism": "clock", **PROMISE, "radius": "2deg"}
    path = tmp_path / "chain.json"
    path.write_text(json.dumps({"mechanism": "chain", "members": [clock, {"mechanism": "edge"}]}))
    assert str(from_recipe(read_recipe(path), Sphere()).to_dict()["members"][0]["radius"]) == "2deg"
    path.write_text(json.dumps({"mechanism": "chain", "members": [{**clock, "radius": 2}, {"mechanism": "edge"}]}))
    with pytest.raises(OptionError, match="it would mean 2 degrees"):
        from_recipe(read_recipe(path), Sphere())


def test_angles_may_be_written_as_such_and_as_nothing_else() -> None:
    assert MECHANISMS["gaussian"](DESK, **parameters("gaussian", {"sigma": "3deg"})).sigma == 3  # type: ignore[attr-defined]
    assert MECHANISMS["equalise"](DESK, radius="1.5deg").radius == 1.5  # type: ignore[attr-defined, call-arg]
    assert MECHANISMS["gaussian"](ROOM, sigma="3mm").sigma == 3  # type: ignore[attr-defined, call-arg]
    with pytest.raises(OptionError, match="sigma is in degrees here, not 60px"):
        MECHANISMS["gaussian"](DESK, sigma="60px")  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="sigma of gaussian must be a number"):
        parameters("gaussian", {"sigma": "60px"})


def test_a_radius_that_is_no_length_is_refused_before_any_gaze_is_read() -> None:
    with pytest.raises(OptionError, match="a number and its unit"):
        parameters("clock", {**PROMISE, "radius": "60 furlongs"})
