# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The privacy level: which veil an app may choose while it runs, within what the policy allows."""

from __future__ import annotations

from fractions import Fraction

from gazeveil.errors import OptionError, PrivacyError
from gazeveil.exact import Number, above_zero
from gazeveil.gateway.policy import SCENE_WINDOW, AppSetting
from gazeveil.gateway.veiling import LONGEST_WINDOW_S, OFF, mechanism_of, window_of
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import Space, as_written

AS_WRITTEN = "policy"
"""Sets the privacy level back to what the policy says."""


def chosen(
    app: AppSetting,
    current: SampleMechanism,
    space: Space,
    *,
    preset: str | None = None,
    epsilon: Number | None = None,
    window: Number | None = None,
    radius: Number | None = None,
) -> SampleMechanism:
    """Return the veil that the chosen privacy level asks for.

    Args:
        app: What the policy says; its bounds hold.
        current: The veil as it is.
        space: Where gaze lives.
        preset: A preset that the policy names, or ``policy`` for its own veil.
        epsilon: Another ε.
        window: Another window.
        radius: Another radius, with its unit; a number alone is in pixels.

    Raises:
        OptionError: If the wish makes no sense.
        PrivacyError: If the policy does not allow it.
    """
    length = None if radius is None else as_written(radius, space)
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
        raise OptionError(f"the veil {base.name!r} cannot be turned: {base.fixed}")
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
    if given.get("window", 0) > longest:  # so long is a gateway quiet that starts and has forgotten the knob
        raise OptionError(f"a window cannot be turned to more than {float(longest):g} s")
    return base.with_promise(**given)


def longest_window(app: AppSetting, space: Space) -> float:
    """Return the longest window that an app's privacy level or scene can ask for, in seconds; 0 if it has neither."""
    asked = [window_of(level_named(app, name, space).guarantee) for name in app.knob if name != OFF]
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
    if name not in app.knob:
        allowed = ", ".join((*app.knob, AS_WRITTEN))
        raise PrivacyError(f"the policy of {app.name!r} does not allow {name!r}", hint=f"it allows {allowed}")
    return preset_of(name, written, space)


def preset_of(name: str, written: SampleMechanism, space: Space) -> SampleMechanism:
    """Return a preset as the privacy level of an app gives it, whose policy has written a veil."""
    made = mechanism_of({"preset": name}, space)
    if type(made) is type(written) and made.can_change:
        # What the policy says beyond the promise, such as a lag, stays; and so can the stream.
        return written.with_promise(**made.knob)
    return made
