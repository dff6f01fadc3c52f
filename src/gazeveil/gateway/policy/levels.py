# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Privacy levels: which veil an app may choose within its policy, and what the control page shows about each choice."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

from gazeveil.errors import OptionError, PrivacyError
from gazeveil.exact import Number, above_zero
from gazeveil.gateway.policy.settings import SCENE_WINDOW, AppSetting, TrackerSetting
from gazeveil.gateway.protocol import PROTOCOLS, Output
from gazeveil.gateway.veiling import LONGEST_WINDOW_S, OFF, mechanism_of, window_of
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples.identification import table
from gazeveil.samples.mechanism import PRIVACY_LEVEL, SampleMechanism
from gazeveil.samples.space import Space, read_length

AS_WRITTEN = "policy"
"""The name of the privacy level that the policy's own veil has."""


def chosen_veil(
    app: AppSetting,
    current: SampleMechanism,
    space: Space,
    *,
    preset: str | None = None,
    epsilon: Number | None = None,
    window: Number | None = None,
    radius: Number | None = None,
) -> SampleMechanism:
    """Return the veil of a requested privacy level.

    Args:
        app: The policy's setting, whose limits hold.
        current: The current veil.
        space: The tracker's space.
        preset: A preset that the policy allows, or ``policy`` for the policy's own veil.
        epsilon: Another ε.
        window: Another window.
        radius: Another radius with its unit; a number alone is in pixels.

    Raises:
        OptionError: If there is no such veil.
        PrivacyError: If the policy does not allow it.
    """
    length = None if radius is None else read_length(radius, space)
    numbers = {"epsilon": epsilon, "window": window, "radius": length}
    given = {name: above_zero(value, name) for name, value in numbers.items() if value is not None}
    if preset is None and not given:
        raise OptionError("give the new privacy level: a preset, or epsilon, window or radius")
    if app.follow_scene and (given.keys() & {"window", "radius"}):
        raise PrivacyError(
            f"the scene sets the radius and the window of {app.name!r}",
            hint="choose a preset or another epsilon; radius_at_least and window_at_least in the policy are its limits",
        )
    base = current if preset is None else level_named(app, preset, space)
    if not given:
        return base
    if not base.can_change:
        raise OptionError(f"the guarantee of the veil {base.name!r} cannot be changed: {base.fixed}")
    bounds = {"epsilon": app.epsilon_at_most, "window": app.window_at_least, "radius": app.radius_at_least}
    for name, value in given.items():
        bound = bounds[name]
        kind = "at_most" if name == "epsilon" else "at_least"
        if bound is None or (value > bound if name == "epsilon" else value < bound):
            limit = "" if bound is None else f" beyond {name}_{kind} = {float(bound):g}"
            raise PrivacyError(
                f"the policy does not let {app.name!r} change its {name}{limit}: {float(value):g} was asked for",
                hint=f"{name}_{kind} in the policy says how far it may be changed while the gateway runs",
            )
    longest = app.window_at_most or Fraction(LONGEST_WINDOW_S)
    if given.get("window", 0) > longest:  # a gateway that starts without its decisions is quiet for this long
        raise OptionError(f"a window can be set to at most {float(longest):g} s, not {float(given['window']):g} s")
    return base.with_guarantee(**given)


def longest_window(app: AppSetting, space: Space) -> float:
    """Return the longest window that an app's privacy levels or scene can ask for, in seconds; 0 if it has neither."""
    asked = [window_of(level_named(app, name, space).guarantee) for name in app.levels if name != OFF]
    if app.window_at_least is not None:
        longest = app.window_at_most or (SCENE_WINDOW if app.follow_scene else Fraction(LONGEST_WINDOW_S))
        asked += [window_of(GazeStreamDP(1, longest, 1)), window_of(app.mechanism.guarantee)]
    return max(asked, default=0.0)


def level_named(app: AppSetting, name: str, space: Space) -> SampleMechanism:
    """Return the veil of an app at a preset of its policy, or its own.

    Raises:
        PrivacyError: If the policy does not name the preset.
    """
    written = app.mechanism
    if name == AS_WRITTEN:
        return written
    if name not in app.levels:
        allowed = ", ".join((*app.levels, AS_WRITTEN))
        raise PrivacyError(f"the policy of {app.name!r} does not allow {name!r}", hint=f"it allows {allowed}")
    return preset_of(name, written, space)


def preset_of(name: str, written: SampleMechanism, space: Space) -> SampleMechanism:
    """Return the veil of a preset for an app whose policy has its own veil."""
    made = mechanism_of({"preset": name}, space)
    if type(made) is type(written) and made.can_change:
        # The policy's other parameters, such as a lag, stay, and so can the stream.
        return written.with_guarantee(**made.privacy_level)
    return made


def outputs_of(app: AppSetting, tracker: TrackerSetting) -> tuple[Output, ...]:
    """Return the outputs that may be chosen live for an app: the policy's, and what can be derived from it.

    Fixations and hits are found in samples. Hits are not found in fixations, so neither can replace the other.
    """
    protocol = PROTOCOLS[app.protocol]
    if app.output != "samples" or protocol.transport != "tcp":  # over ZeroMQ and LSL a stream keeps its kind
        return (app.output,)
    able = protocol.outputs
    found: list[Output] = ["samples"]
    if "fixations" in able and tracker.geometry.knows_degrees:
        found.append("fixations")
    if "hits" in able and app.areas is not None:
        found.append("hits")
    return tuple(found)


def reveals_less(output: Output, than: Output) -> bool:
    """Whether an output reveals at most as much as another; fixations and hits cannot be compared."""
    return than in (output, "samples")


def level_of(
    app: AppSetting, veil: SampleMechanism, space: Space, weaker_in_s: float, followed: SampleMechanism | None = None
) -> dict[str, Any] | None:
    """Return an app's privacy level and its range; None if it has none.

    Where radius and window follow the scene, ``followed`` is the veil at its current privacy level, and only ε can be
    changed.
    """
    if not veil.can_change and not app.levels:
        return None
    presets = _presets(app.levels, app.mechanism, space)
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
        "weaker_in_s": round(weaker_in_s, 2),
        "requested": now if weaker_in_s > 0 else None,
    }


@functools.lru_cache(maxsize=256)
def measured_identification(veil: SampleMechanism) -> dict[str, Any]:
    """Return how often participants were identified behind such a veil, as measured; numbers are None if nobody did."""
    found = table().look_up(veil)
    row = found.row
    known = found.relation != "no veil" or veil.name == OFF
    numbers: dict[str, Any] = {"identified": row.rate, "low": row.interval[0], "high": row.interval[1]}
    return {
        **(numbers if known else dict.fromkeys(numbers)),
        "chance": row.chance if known else None,
        "participants": row.people if known else None,
        "relation": found.relation,
        "words": found.warning(),
    }


def is_weaker(before: SampleMechanism, after: SampleMechanism) -> bool:
    """Whether ``after`` guarantees less than ``before`` in any number, or cannot be compared with it."""
    one, other = before.privacy_level, after.privacy_level
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
    """Return a veil's ε, window and radius as plain numbers; None for those that it does not have."""
    epsilon, window, radius = (_plain(veil.privacy_level.get(name)) for name in PRIVACY_LEVEL)
    return {"epsilon": epsilon, "window_s": window, "radius": radius}


def _plain(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
