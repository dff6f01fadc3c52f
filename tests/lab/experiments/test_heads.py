# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who is named from where the head points: made-up people whose heads hang and nod in ways of their own."""

from __future__ import annotations

import numpy as np

from gazeveil.lab.datasets import VrSession
from gazeveil.lab.experiments import attributes


def session(user: int, number: int) -> VrSession:
    rng = np.random.default_rng((user, number))
    t = np.arange(0, 30, 0.05)
    yaw, pitch, head_yaw, head_pitch = np.cumsum(rng.normal(0, 1, (4, len(t))), axis=1) * 0.1
    head_pitch *= 1 + 2 * user  # some nod more than others
    nothing = np.zeros(len(t), np.int64)
    yaw[10:20] = pitch[10:20] = np.nan
    return VrSession(user, number, t, nothing, yaw, pitch, head_yaw, head_pitch + 20 * user, nothing, ())


def test_a_bare_head_names_people_whatever_veil_is_on_the_eyes_and_a_veiled_one_does_not() -> None:
    """The veil for both is so strict that naming four people is guessing: of 16, 12 are right once in 30,000."""
    people = [session(user, number) for user in range(4) for number in range(4)]
    found = {
        (row.where["what leaves"], row.what): row
        for way in attributes.ways([("0.05", "2")])
        for row in attributes.named_by_head(people, way, [("head",)])
    }
    assert {leaves for leaves, _ in found} == {attributes.BARE, attributes.EYES_BARE_HEAD, attributes.JOINT}
    bare, beside = (found[leaves, "identified"] for leaves in (attributes.BARE, attributes.EYES_BARE_HEAD))
    assert bare.value > 0.9
    assert (beside.value, found[attributes.EYES_BARE_HEAD, "head off"].value) == (bare.value, 0.0)
    both = found[attributes.JOINT, "identified"]
    assert both.value < 0.75
    assert found[attributes.JOINT, "head off"].value > 10
    assert both.chance == 0.25
    assert both.to_dict()["sees"] == "head"
