# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The recogniser of geometry: what it may look at, and what it makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks import RECOGNISERS, Trial
from gazeveil.lab.attacks.recognisers.geometry import GeometryOfEyes


def session(person: int, day: int, seed: int = 1) -> Trial:
    """Return thirty targets of somebody whose eyes are a millimetre further apart than the last one's."""
    rng = np.random.default_rng([person, day, seed])
    fields = {
        "error/left x": rng.normal(0, 1, 30),
        "noise/left x": rng.gamma(4, 0.02, 30),
        "eyes/ipd": 58.0 + person + 0.2 * rng.normal() + 0.01 * rng.normal(0, 1, 30),
    }
    x, y = rng.normal(0, 1, (2, 30))
    return Trial(f"p{person}", f"day {day}", "targets", np.arange(30.0), x, y, 1.0, fields=fields)


def known(days: int = 3) -> list[Trial]:
    return [session(person, day) for person in range(6) for day in range(days)]


def right(groups: tuple[str, ...]) -> float:
    gallery = GeometryOfEyes(groups).enrol(known())
    asked = [session(person, day, 2) for person in range(6) for day in (7, 8)]
    best = [gallery.people[int(gallery.windows(one.anonymous())[0].argmax())] for one in asked]
    return float(np.mean([name == one.person for name, one in zip(best, asked, strict=True)]))


def test_the_distance_of_the_eyes_names_people_and_chance_does_not() -> None:
    """Twelve questions, six people: by chance more than seven are right once in 1,500 times."""
    assert right(("eyes",)) == 1.0
    assert right(("error", "noise", "eyes")) >= 10 / 12
    assert right(("error", "noise")) <= 7 / 12


def test_behind_a_veil_there_are_no_fields() -> None:
    one = session(1, 1)
    assert one.anonymous().fields.keys() == one.first(10.0).fields.keys() == one.fields.keys()
    assert len(one.first(10.0).fields["eyes/ipd"]) == 10
    assert not one.with_gaze(one.x, one.y).fields
    with pytest.raises(InputError, match="different lengths"):
        Trial("ann", "1", "a", np.arange(3.0), np.zeros(3), np.zeros(3), 1.0, fields={"eyes/ipd": np.zeros(2)})


def test_trials_with_other_fields_are_no_reference_and_no_answer() -> None:
    gallery = GeometryOfEyes().enrol(known())
    bare = session(1, 7)
    assert gallery.windows(bare.with_gaze(bare.x, bare.y)).shape == (0, 6)
    with pytest.raises(InputError, match="different fields"):
        GeometryOfEyes().enrol([*known(), bare.with_gaze(bare.x, bare.y)])


def test_what_it_may_see_is_chosen() -> None:
    assert RECOGNISERS["geometry"] is GeometryOfEyes
    with pytest.raises(OptionError, match="no group"):
        GeometryOfEyes(("height",))
    with pytest.raises(OptionError, match="no fields"):
        GeometryOfEyes(())
