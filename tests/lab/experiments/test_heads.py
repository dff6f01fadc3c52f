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
    rows = attributes.measured(people, [("0.05", "2")], [("head",)])
    found = {(row.leaves, row.sees): row for row in rows}
    assert len(rows) == 3
    assert found[attributes.BARE, ("head",)].accuracy > 0.9
    beside = found[attributes.EYES_BARE_HEAD, ("head",)]
    assert (beside.accuracy, beside.off[1]) == (found[attributes.BARE, ("head",)].accuracy, 0.0)
    both = found[attributes.JOINT, ("head",)]
    assert both.accuracy < 0.75
    assert both.off[1] is not None
    assert both.off[1] > 10
    assert both.chance == 0.25
    assert both.to_dict()["sees"] == ("head",)
