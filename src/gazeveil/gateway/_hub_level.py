# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a page shows of an app beside its guarantee in words: the privacy level and its range, what may leave."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

from gazeveil.gateway._hub_knob import AS_WRITTEN, preset_of
from gazeveil.gateway.policy import AppSetting, TrackerSetting
from gazeveil.gateway.protocol import PROTOCOLS, Output
from gazeveil.gateway.veiling import LONGEST_WINDOW_S, OFF
from gazeveil.samples.identification import table
from gazeveil.samples.mechanism import PRIVACY_LEVEL, SampleMechanism
from gazeveil.samples.space import Space


def outputs_of(app: AppSetting, tracker: TrackerSetting) -> tuple[Output, ...]:
    """Return what may be chosen live for an app: what the policy gives, or something that follows from it.

    Fixations and hits are found in samples; hits are not found in fixations, so they would tell something else.
    """
    protocol = PROTOCOLS[app.protocol]
    if app.output != "samples" or protocol.transport != "tcp":  # over ZeroMQ and LSL a stream is of one kind for good
        return (app.output,)
    able = protocol.outputs
    found: list[Output] = ["samples"]
    if "fixations" in able and tracker.geometry.knows_degrees:
        found.append("fixations")
    if "hits" in able and app.areas is not None:
        found.append("hits")
    return tuple(found)


def tells_less(output: Output, than: Output) -> bool:
    """Whether an output says less than another, or the same; fixations and hits cannot be compared."""
    return than in (output, "samples")


def level_of(
    app: AppSetting, veil: SampleMechanism, space: Space, looser_in_s: float, followed: SampleMechanism | None = None
) -> dict[str, Any] | None:
    """Return an app's privacy level and its range; None if it has none.

    Where radius and window follow the scene, ``followed`` is the veil at its current privacy level, and only ε can be
    turned.
    """
    if not veil.can_change and not app.knob:
        return None
    presets = _presets(app.knob, app.mechanism, space)
    now = numbers_of(veil)
    return {
        "preset": next((name for name, made in presets if made == (followed or veil)), None),
        **now,
        "unit": space.unit,
        "presets": [{"name": name, **numbers_of(made)} for name, made in presets],
        "epsilon_at_most": _plain(app.epsilon_at_most),
        "window_at_least": None if followed else _plain(app.window_at_least),
        "window_at_most": None
        if followed or app.window_at_least is None
        else _plain(app.window_at_most) or LONGEST_WINDOW_S,
        "radius_at_least": None if followed else _plain(app.radius_at_least),
        "follows_scene": app.follow_scene if followed else None,
        "looser_in_s": round(looser_in_s, 2),
        "wished": now if looser_in_s > 0 else None,
    }


@functools.lru_cache(maxsize=256)
def recognised(veil: SampleMechanism) -> dict[str, Any]:
    """Return how often participants were identified behind such a veil, as measured.

    Without numbers if nobody measured.
    """
    found = table().look_up(veil)
    row = found.row
    known = found.relation != "no veil" or veil.name == OFF
    numbers: dict[str, Any] = {"identified": row.rate, "low": row.interval[0], "high": row.interval[1]}
    return {
        **(numbers if known else dict.fromkeys(numbers)),
        "chance": row.chance if known else None,
        "people": row.people if known else None,
        "relation": found.relation,
        "words": found.warning(),
    }


def looser(before: SampleMechanism, after: SampleMechanism) -> bool:
    """Whether a veil guarantees less than another in any of its numbers, or in none that can be compared."""
    one, other = before.knob, after.knob
    if not one or not other:
        return before != after
    return other["epsilon"] > one["epsilon"] or any(other[name] < one[name] for name in ("window", "radius"))


@functools.lru_cache(maxsize=256)
def _presets(names: tuple[str, ...], written: SampleMechanism, space: Space) -> tuple[tuple[str, SampleMechanism], ...]:
    made = [(name, preset_of(name, written, space)) for name in names]
    if all(one != written for _, one in made):
        made.append((AS_WRITTEN, written))
    return tuple(made)


def numbers_of(veil: SampleMechanism) -> dict[str, float | None]:
    """Return a veil's privacy level in plain numbers; None for those that it does not have."""
    epsilon, window, radius = (_plain(veil.knob.get(name)) for name in PRIVACY_LEVEL)
    return {"epsilon": epsilon, "window_s": window, "radius": radius}


def _plain(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
