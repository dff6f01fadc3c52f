# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the parts of a policy fit: names, ports, what protocols carry, head and eyes, guarantees, budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gazeveil.errors import GazeveilError, GeometryError
from gazeveil.gateway.policy.levels import AS_WRITTEN, level_named
from gazeveil.gateway.policy.scene import check_follow, check_scenes
from gazeveil.gateway.policy.settings import (
    REPLAY,
    SIMULATE,
    Address,
    AppSetting,
    BudgetSetting,
    InletSetting,
    Policy,
    TrackerSetting,
)
from gazeveil.gateway.protocol import PROTOCOLS, Gate, StreamFacts
from gazeveil.gateway.protocols.neon_phone import CAMERAS
from gazeveil.gateway.sample import HEAD, HEAD_AND_EYES, ORIGINS
from gazeveil.gateway.tracker_fields import Fields
from gazeveil.gateway.veiling import OFF, mechanism_of, veils_the_head
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.toml_table import File, Where

JOINT = 'veil = { mechanism = "eye-and-head", epsilon = "3", window = "2", radius = "5deg", head_radius = "10deg" }'
_MORE = {ORIGINS: ", and where it moves as the eyes turn, it shows gaze past the veil"}
ALLOW = 'unproven = "allow" says that it is meant'
_NAMING = ("lsl", "neon", "pupil")
"""Protocols in which streams, phones or surfaces have names."""
_ALL_HOSTS = ("0.0.0.0", "::")  # noqa: S104  (compared with, not bound)


def check(policy: Policy, file: File) -> None:
    """Refuse a policy whose parts do not fit.

    Raises:
        FileFormatError: If they do not.
    """
    for kind, needed in (("tracker", policy.trackers), ("app", policy.apps)):
        if not needed:
            raise file.wrong((), f"at least one [[{kind}]]", "none")
    check_names(policy.apps, "app", "name", file)
    check_names(policy.budgets, "budget", "participant", file)
    _check_ports(policy, file)
    _check_control(policy, file)
    check_scenes(policy, file)
    _check_inlets(policy, file)
    _check_demo_apps(policy, file)
    _check_glasses(policy, file)
    if policy.budgets and not policy.ledger:
        raise file.wrong(
            ("gateway", "ledger"), "a ledger that keeps the budgets", "nothing", 'ledger = "ledger.sqlite"'
        )
    for index, app in enumerate(policy.apps):
        _check_app(app, policy, file, ("app", index))


def forbidden(guarantee: Guarantee, *, allowed: bool, budget: BudgetSetting | None) -> str:
    """Return why a veil with a guarantee may not be used by an app under a budget; empty if it may."""
    if isinstance(guarantee, Unproven):
        if not allowed:
            return f"it guarantees nothing ({guarantee.reason}), and the app does not allow that"
        if budget is not None and not budget.unproven:
            return f"it guarantees nothing, and the budget of {budget.participant!r} does not allow that"
        return ""
    if budget is None:
        return ""
    if not isinstance(guarantee, GazeStreamDP):
        return "its guarantee is not about windows of gaze, so a day has no price"
    if guarantee.radius_unit != budget.unit:
        whose = f"the budget of {budget.participant!r}"
        return f"its radius is in {guarantee.radius_unit}, but {whose} counts in {budget.unit}"
    return ""


def check_names(settings: Sequence[Any], kind: str, field: str, file: File) -> None:
    """Refuse two things of one kind with one name.

    Raises:
        FileFormatError: If there are two.
    """
    seen: set[str] = set()
    for index, setting in enumerate(settings):
        name = getattr(setting, field)
        if name in seen:
            raise file.wrong((kind, index, field), f"another {field} for every {kind}", f"{name!r} for the second time")
        seen.add(name)


def _check_control(policy: Policy, file: File) -> None:
    """Refuse a control API that other machines reach unencrypted: whoever reads its token controls the gateway."""
    if policy.control_tls is not None and policy.control is None:
        raise file.wrong(("gateway", "control_tls"), "no certificate, or a control API", "a certificate alone")
    if policy.control is not None and not policy.control.is_local and policy.control_tls is None:
        raise file.wrong(
            ("gateway", "control"),
            "an address of this machine alone, or an encrypted control API",
            f"{policy.control}, which other machines reach, and no control_tls",
            'control = "127.0.0.1:7380"; or control_tls = { certificate = "cert.pem", key = "key.pem" }',
        )
    for index, tracker in enumerate(policy.trackers):
        if tracker.raw_view and policy.control is not None and not policy.control.is_local:
            raise file.wrong(
                ("tracker", index, "raw_view"),
                "a control page on this machine alone",
                f"one on {policy.control}, which other machines reach",
                'control = "127.0.0.1:7380"',
            )


def _check_demo_apps(policy: Policy, file: File) -> None:
    """Refuse demo apps that other machines reach, and those that could not read their app's stream."""
    if policy.demo_apps is not None and not policy.demo_apps.is_local:
        raise file.wrong(("gateway", "demo_apps"), "an address of this machine alone", str(policy.demo_apps))
    for index, app in enumerate(policy.apps):
        if app.demo_app and (app.protocol != "websocket" or app.tls is not None):
            raise file.wrong(
                ("app", index, "demo_app"),
                "no demo app, or the protocol websocket without tls",
                f"the protocol {app.protocol}",
            )


def _check_glasses(policy: Policy, file: File) -> None:
    """Refuse another viewing plane than the scene camera's for glasses: their gaze is in its picture."""
    for index, tracker in enumerate(policy.trackers):
        size = tracker.geometry.width_px, tracker.geometry.height_px
        if tracker.protocol == "neon" and tracker.geometry.knows_pixels and size not in CAMERAS.values():
            raise file.wrong(
                ("tracker", index, "screen"),
                "the pixels of the scene camera, in which gaze is counted",
                f"{size[0]:g} x {size[1]:g}",
                "1600 x 1200 for Neon, 1088 x 1080 for Invisible",
            )


def _check_inlets(policy: Policy, file: File) -> None:
    """Refuse inlets that other machines reach unencrypted, since they take raw gaze, and tokens used twice."""
    tokens = {policy.token_file: "the control API"} if policy.control is not None else {}
    for where, setting, _ in _inlets(policy):
        if (listener := PROTOCOLS[setting.protocol].listener) is not None:
            try:
                listener(setting.plane, Gate(""), setting.fields or Fields())  # says what must be installed
            except GeometryError as error:
                raise file.because((*where, "fields"), "a unit of this viewing plane", error) from None
    for where, setting, inlet in _inlets(policy):
        if not inlet.listen.is_local and inlet.tls is None:
            raise file.wrong(
                (*where, "listen"),
                "an address of this machine alone, or an encrypted one",
                f"{inlet.listen}, which other machines reach, and no tls",
                'listen = "127.0.0.1:7383"; or tls = { certificate = "cert.pem", key = "key.pem" }',
            )
        if other := tokens.get(inlet.token_file):
            raise file.wrong((*where, "token_file"), "a token of its own", f"that of {other}", "name another file")
        tokens[inlet.token_file] = f"tracker {setting.name!r}"


def _inlets(policy: Policy) -> Iterator[tuple[Where, TrackerSetting, InletSetting]]:
    """Yield every place where the gateway listens for gaze, by default or when that source is chosen."""
    for index, tracker in enumerate(policy.trackers):
        for setting in (tracker, *tracker.sources):
            if setting.inlet is not None:
                yield ("tracker", index), setting, setting.inlet


def _check_ports(policy: Policy, file: File) -> None:
    taken: list[tuple[str, Address]] = [
        (f"tracker {tracker.name!r}", tracker.address) for tracker in policy.trackers if tracker.address is not None
    ]
    asked: list[tuple[Where, str, Address | None]] = [
        (("gateway", "control"), "the control API", policy.control),
        (("gateway", "demo_apps"), "the demo apps", policy.demo_apps),
    ]
    asked += [((*where, "listen"), f"tracker {one.name!r}", inlet.listen) for where, one, inlet in _inlets(policy)]
    asked += [(("app", index, "listen"), f"app {app.name!r}", app.listen) for index, app in enumerate(policy.apps)]
    for where, who, address in asked:
        if address is None or address.port == 0:
            continue
        for other, theirs in taken:
            if theirs.port == address.port and _same_host(theirs.host, address.host):
                raise file.wrong(where, "a port of its own", f"{address}, where {other} is", "choose another port")
        taken.append((who, address))


def _same_host(one: str, other: str) -> bool:
    local = {"localhost": "127.0.0.1", "::1": "127.0.0.1"}
    one, other = local.get(one, one), local.get(other, other)
    return one == other or one in _ALL_HOSTS or other in _ALL_HOSTS


def _check_app(app: AppSetting, policy: Policy, file: File, where: Where) -> None:
    protocol, tracker = PROTOCOLS[app.protocol], policy.tracker(app.tracker)
    if app.output not in protocol.outputs:
        able = ", ".join(sorted(protocol.outputs))
        raise file.wrong(
            (*where, "output"), f"what {protocol.name} can carry ({able})", app.output, "jsonlines carries everything"
        )
    if app.tls is not None and protocol.name != "websocket":
        raise file.wrong((*where, "tls"), "no encryption, or the protocol websocket", f"the protocol {protocol.name}")
    if app.shown_as and protocol.name not in _NAMING:
        expected = f"no such name, or one of the protocols {', '.join(_NAMING)}"
        raise file.wrong((*where, "shown_as"), expected, f"the protocol {protocol.name}")
    if app.blank_pupils and (protocol.name, app.output) != ("pupil", "samples"):
        found = f"{app.output} of the protocol {protocol.name}"
        raise file.wrong((*where, "blank_pupils"), "no pupils, or samples of the protocol pupil", found)
    if protocol.name == "lsl" and [_stream(one) for one in policy.apps].count(_stream(app)) > 1:
        raise file.wrong(
            (*where, "shown_as"), "another name for every LSL stream", f"{app.shown_as or app.name!r} twice"
        )
    if app.output == "fixations" and not tracker.geometry.knows_degrees:
        raise file.wrong(
            (*where, "output"),
            "a tracker that knows degrees, since fixations are found in them",
            str(tracker.geometry),
            "give the screen's width_mm, height_mm and distance_mm",
        )
    _check_plane(app, tracker, file, where)
    budget = policy.budget_of(tracker.participant)
    if reason := forbidden(app.mechanism.guarantee, allowed=app.unproven, budget=budget):
        hint = "" if app.mechanism.guarantee.proven else 'unproven = "allow" says that this is meant'
        raise file.wrong((*where, "veil"), "a veil that may be used here", reason, hint)
    for name in app.levels:
        if name == OFF and not app.unproven:
            raise file.wrong(_levels(file, where), "a veil that stays on", '"off"', ALLOW)
        _check_preset(name, app, tracker, file, where)
    check_head_and_eyes(app, tracker, budget, file, where)
    levels = [level_named(app, name, tracker.space) for name in (AS_WRITTEN, *app.levels)]
    check_follow(app, tracker, levels, file, where)


def _levels(file: File, where: Where) -> Where:
    """Return the field that lists privacy levels."""
    field = (*where, "levels")
    return field if field in file.lines else where


def _stream(app: AppSetting) -> str:
    return (app.shown_as or app.name) if app.protocol == "lsl" else ""


def _check_preset(name: str, app: AppSetting, tracker: TrackerSetting, file: File, where: Where) -> None:
    try:
        guarantee = mechanism_of({"preset": name}, tracker.space).guarantee
    except GazeveilError as error:
        raise file.because(_levels(file, where), f"presets for {tracker.geometry}", error) from None
    if not guarantee.proven and not app.unproven:
        raise file.wrong(_levels(file, where), "presets with a guarantee", f"{name!r}", ALLOW)


def _check_plane(app: AppSetting, tracker: TrackerSetting, file: File, where: Where) -> None:
    """Refuse a protocol that cannot express this viewing plane: some count in pixels, and a headset has none."""
    if tracker.protocol not in (REPLAY, SIMULATE) and (source := PROTOCOLS[tracker.protocol].source) is not None:
        known = {} if tracker.fields is None else {"fields": tracker.fields}
        _try_plane(lambda: source(tracker.plane, **known), tracker.protocol, tracker, file, where)
    sink = PROTOCOLS[app.protocol].sink
    if sink is not None:
        shown = StreamFacts(tracker.plane, app.rate_hz, app.output, app.areas.names if app.areas else (), app.name)
        _try_plane(lambda: sink(shown), app.protocol, tracker, file, where)


def _try_plane(make: Any, protocol: str, tracker: TrackerSetting, file: File, where: Where) -> None:
    try:
        if PROTOCOLS[protocol].transport == "tcp":
            make()
    except GeometryError as error:
        raise file.because((*where, "protocol"), f"a protocol that can express {tracker.geometry}", error) from None


# --- Head and eyes beside gaze.


def check_head_and_eyes(
    app: AppSetting, tracker: TrackerSetting, budget: BudgetSetting | None, file: File, where: Where
) -> None:
    """Refuse what would leave beside gaze unveiled without leave, or could not leave at all.

    Raises:
        FileFormatError: If anything of it does not fit.
    """
    if not app.head_and_eyes:
        return
    at = (*where, "head_and_eyes")
    able = [one.name for one in PROTOCOLS.values() if one.head_and_eyes]
    if app.protocol not in able or app.output != "samples":
        raise file.wrong(at, f"samples in one of the protocols {', '.join(able)}", f"{app.output} in {app.protocol}")
    if HEAD in app.head_and_eyes and not veils_the_head(app.mechanism):
        raise file.wrong(at, "a veil for eyes and head together", f"the veil {app.mechanism.name}", JOINT)
    if HEAD in app.head_and_eyes and (app.levels or app.follow_scene):
        raise file.wrong(
            at,
            "one veil for eyes and head, which stays as it is",
            "a privacy level to choose, or a scene that is followed",
        )
    for name in app.head_and_eyes:
        if name == HEAD:
            continue
        if not app.unproven:
            raise file.wrong(at, "nothing that identifies participants and no veil hides", f"{name!r}", ALLOW)
        if budget is not None and not budget.unproven:
            raise file.wrong(at, f"what the budget of {budget.participant!r} allows", f"an unveiled {name!r}", ALLOW)
    kind = PROTOCOLS[tracker.protocol] if tracker.protocol in PROTOCOLS.names() else None
    if kind is None:
        return
    named = kind.fields and kind.transport == "tcp"
    known = set(tracker.fields.head_and_eyes if tracker.fields is not None else ()) if named else kind.knows
    for name in app.head_and_eyes:
        if name not in known and named:
            hint = f'{name} = "{name}" in [tracker.fields] names it'
            raise file.wrong(at, "what the tracker's fields name", f"{name!r}", hint)
        if name not in known:
            raise file.wrong(
                at, f"what is read of {kind.title} beside gaze", f"{name!r}", ", ".join(known) or "nothing is"
            )


def head_and_eyes_lines(app: AppSetting) -> list[str]:
    """Return what leaves beside gaze, one sentence a line."""
    return [
        f"beside gaze it gets {HEAD_AND_EYES[name]}, veiled together with gaze"
        if name == HEAD and app.mechanism.guarantee.proven
        else f"beside gaze it gets {HEAD_AND_EYES[name]} as it is: nothing is guaranteed for that{_MORE.get(name, '')}"
        for name in app.head_and_eyes
    ]


def head_and_eyes_sentences(app: AppSetting) -> list[str]:
    """Return the same as sentences, for the app and the participant."""
    return [f"{line[0].upper()}{line[1:]}." for line in head_and_eyes_lines(app)]
