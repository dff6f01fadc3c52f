# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a policy file into a `Policy`: each field by itself; `checks` compares them afterwards."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from gazeveil.errors import FileFormatError, GazeveilError, InputError, closest
from gazeveil.gateway.lsl_streams import DEFAULT_SESSION, SESSION_NAMES, is_session
from gazeveil.gateway.policy.checks import check, check_names
from gazeveil.gateway.policy.scene import follow_in, scene_in
from gazeveil.gateway.policy.settings import (
    DEMO_APPS,
    KINDS,
    LOOPBACK,
    MOUSE,
    PARTICIPANT,
    REPLAY,
    SIMULATE,
    Address,
    AppSetting,
    BudgetSetting,
    ControlSetting,
    InletSetting,
    Policy,
    Tls,
    TrackerSetting,
)
from gazeveil.gateway.protocol import PROTOCOLS, Protocol
from gazeveil.gateway.sample import HEAD_AND_EYES
from gazeveil.gateway.tracker_fields import ARRIVAL, DROP, REFUSE, TIME_NAME, TIMES, UNITS, Fields
from gazeveil.gateway.veiling import EDGES, OFF, mechanism_of
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.geometry import AXES, FRAMES, Geometry, Unit, headset, screen
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.recipes import PRESETS, from_recipe, read_recipe
from gazeveil.samples.space import FULL_TURN, Length, check_unit, read_length
from gazeveil.toml_table import File, Table, lines_of, tables, told

VERSION = 1
CONTROL_PORT, DEMO_APPS_PORT = 7380, 7384
TOKEN_FILE = "control.token"  # noqa: S105  (a file's name)
_MOST_BYTES = 1 << 20
_BUDGET_UNITS = ("px", "deg")
_SHORTEST_LEASE, _LONGEST_LEASE = 1.0, 600.0
_AT_LINE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


def policy_in(path: Path) -> Policy:
    """Return the policy in a file.

    Raises:
        FileFormatError: If anything in it is wrong.
    """
    file, values = _parsed(path)
    whole = Table(file, (), values)
    if (version := whole.whole("version", 0, 1 << 31)) != VERSION:
        raise whole.wrong("version", str(VERSION), str(version), "this gateway reads policies of version 1")
    gateway = whole.table("gateway", {})
    for key in ("tracker", "app", "budget"):
        whole.any(key, [])
    whole.done()
    trackers = [_tracker(table) for table in tables(file, values, "tracker")]
    check_names(trackers, "tracker", "name", file)
    budgets = [_budget(table, trackers) for table in tables(file, values, "budget")]
    apps = [_app(table, trackers) for table in tables(file, values, "app")]
    policy = _gateway(gateway, tuple(trackers), tuple(apps), tuple(budgets))
    check(policy, file)
    return policy


def control_in(path: Path) -> ControlSetting:
    """Return how to reach the gateway of a policy; only the table ``[gateway]`` is read.

    Raises:
        FileFormatError: If what is needed of it is wrong.
        InputError: If it has no control API.
    """
    file, values = _parsed(path)
    table = Table(file, ("gateway",), values.get("gateway", {}))
    if "control" not in table:
        raise InputError("the policy has no control API", hint='add control = "127.0.0.1:7380" to its [gateway]')
    certificate = table.table("control_tls").readable("certificate") if "control_tls" in table else None
    address = _address(table, "control", CONTROL_PORT, least=1)
    return ControlSetting(address, file.beside(table.text("token_file", TOKEN_FILE)), certificate)


def _parsed(path: Path) -> tuple[File, dict[str, Any]]:
    text = _text(path)
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        at = _AT_LINE.search(str(error))
        line = int(at[1]) if at and at[1] else len(text.splitlines()) or 1
        raise FileFormatError(path, line=line, expected="TOML", found=_AT_LINE.sub("", str(error)).strip()) from None
    return File(path, lines_of(text)), values


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise FileFormatError(path, expected="a policy", found=error.strerror or str(error)) from None
    if len(content) > _MOST_BYTES:
        raise FileFormatError(path, expected="a policy of at most 1 MiB", found="a larger file")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileFormatError(path, line=line, expected="UTF-8 text", found="bytes that are none") from None


def _gateway(
    table: Table,
    trackers: tuple[TrackerSetting, ...],
    apps: tuple[AppSetting, ...],
    budgets: tuple[BudgetSetting, ...],
) -> Policy:
    file = table.file
    ledger = table.text("ledger", "")
    if ledger and "://" not in ledger:
        ledger = str(file.beside(ledger))
    control = _address(table, "control", CONTROL_PORT) if "control" in table else None
    tls = _tls(table, "control_tls")
    token = table.text("token_file", TOKEN_FILE)
    state = file.beside(table.text("state_file")) if "state_file" in table else None
    lease = table.number("lease_s", _SHORTEST_LEASE, _LONGEST_LEASE, 10.0)
    session = _session(table, "lsl_session")
    demo_apps = _address(table, "demo_apps", DEMO_APPS_PORT) if "demo_apps" in table else None
    table.done()
    return Policy(
        trackers, apps, budgets, ledger, control, file.beside(token), lease, file.path,
        lsl_session=session, control_tls=tls, state_file=state, demo_apps=demo_apps,
    )  # fmt: skip


def _tracker(table: Table) -> TrackerSetting:
    name = table.name("name", "the tracker's name")
    protocol = table.choice("protocol", [REPLAY, SIMULATE, *PROTOCOLS.names()])
    kinds = _names(table, "sources", KINDS, "sources that can be chosen live")
    protocols = dict.fromkeys([protocol, *(KINDS[kind] for kind in kinds)])
    own = {each: _source(table, each, name) for each in protocols}
    if MOUSE in kinds:
        own[KINDS[MOUSE]]["mouse"] = True
    if "fields" in table:
        own[protocol]["fields"] = fields_in(table, protocol, kinds)
    participant = table.participant("whose gaze it is") if "participant" in table else PARTICIPANT
    raw_view = table.truth("raw_view", default=False)
    geometry = _geometry(table)
    if "fields" in table:
        check_frame(table, own[protocol]["fields"], geometry)
    bare = TrackerSetting(name, protocol, geometry, participant, raw_view=raw_view, scene=scene_in(table))
    table.done()
    others = tuple(replace(bare, protocol=each, **values) for each, values in own.items() if each != protocol)
    return replace(bare, sources=others, **own[protocol])


def _source(table: Table, protocol: str, name: str) -> dict[str, Any]:
    """Return the fields of a tracker that only this protocol has."""
    own: dict[str, Any] = {}
    if protocol == REPLAY:
        own["file"] = table.readable("file")
        own["speed"] = table.number("speed", 0.01, 1000.0, 1.0)
        own["loop"] = table.truth("loop", default=False)
    elif protocol == SIMULATE:
        own["seed"] = table.whole("seed", 0, 2**31 - 1, 1)
        own["rate_hz"] = table.number("rate_hz", 1.0, 10_000.0, 60.0)
    else:
        kind = PROTOCOLS[protocol]
        if kind.listener is not None:
            own["inlet"] = _inlet(table, kind, name)
        elif kind.source is None:
            raise table.wrong(
                "protocol", "a protocol that can be read", f"{protocol!r}, which can only be sent to apps"
            )
        elif kind.transport == "lsl":
            own["stream"] = table.text("stream", "")
            own["session"] = _session(table, "session")
        else:
            own["address"] = _address(table, "address", kind.port, least=1)
    return own


def _inlet(table: Table, protocol: Protocol, name: str) -> InletSetting:
    file = re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".token"
    return InletSetting(
        _address(table, "listen", protocol.port),
        table.file.beside(table.text("token_file", file)),
        table.names("origins") if protocol.name == "push" else (),
        table.truth("take_over", default=False),
        _tls(table, "tls"),
    )


def _geometry(table: Table) -> Geometry:
    if ("screen" in table) == ("headset" in table):
        raise table.wrong(
            "screen", "a screen or a headset", "both" if "screen" in table else "nothing",
            "screen = { width_px = 1920, height_px = 1080 }, or headset = { fov_x_deg = 100, fov_y_deg = 90 }",
        )  # fmt: skip
    size = table.table("screen" if "screen" in table else "headset")
    if "screen" in table:
        sides = [size.number(key, 1.0, 100_000.0) for key in ("width_px", "height_px")]
        lengths = [size.number(key, 1.0, 100_000.0, None) for key in ("width_mm", "height_mm", "distance_mm")]
    else:
        angles = [size.number(key, 1.0, most) for key, most in (("fov_x_deg", 360.0), ("fov_y_deg", 180.0))]
    size.done()
    try:
        return screen(*sides, *lengths) if "screen" in table else headset(*angles)
    except GazeveilError as error:
        raise size.file.because(size.where, "a viewing plane of gaze", error) from None


def _app(table: Table, trackers: list[TrackerSetting]) -> AppSetting:
    name = table.name("name", "the app's name")
    known = [tracker.name for tracker in trackers]
    tracker = next(t for t in trackers if t.name == table.choice("tracker", known)) if known else None
    if tracker is None:
        raise table.wrong("tracker", "a tracker of this policy", "none", "begin one with [[tracker]]")
    protocol = PROTOCOLS[table.choice("protocol", PROTOCOLS.names())]
    outputs = ("samples", "fixations", "hits")
    output = table.choice("output", outputs, "samples")
    if "areas" in table and output == "fixations":
        raise table.wrong("areas", "no areas", 'a file, but the output is "fixations"')
    mechanism, edge = _veil(table, tracker)
    setting = AppSetting(
        name,
        tracker.name,
        protocol.name,
        mechanism,
        listen=_listen(table, protocol),
        edge=edge,
        output=output,
        areas=_areas(table, tracker.geometry) if output == "hits" or "areas" in table else None,
        rate_hz=table.number("rate_hz", 0.1, 10_000.0, 60.0),
        levels=_levels(table),
        epsilon_at_most=table.fraction("epsilon_at_most", None),
        window_at_least=table.fraction("window_at_least", None),
        radius_at_least=_radius(table, "radius_at_least", tracker),
        unproven=table.allowed("unproven"),
        tls=_tls(table, "tls"),
        origins=table.names("origins"),
        follow_scene=follow_in(table),
        radius_at_most=_radius(table, "radius_at_most", tracker),
        window_at_most=table.fraction("window_at_most", None),
        demo_app=table.choice("demo_app", tuple(DEMO_APPS), ""),
        shown_as=table.name("shown_as", "the name of a stream or surface") if "shown_as" in table else "",
        blank_pupils=table.truth("blank_pupils", default=False),
        head_and_eyes=_names(table, "head_and_eyes", HEAD_AND_EYES, "what a tracker knows beside gaze"),
    )
    table.done()
    return setting


def _veil(table: Table, tracker: TrackerSetting) -> tuple[SampleMechanism, str]:
    example = 'veil = { preset = "mpmu" }'
    veil = table.table("veil", expected=f"a veil, such as {example}")
    given = dict(veil.values)
    edge = veil.choice("edge", EDGES, "clamp")
    given.pop("edge", None)
    kinds = [kind for kind in ("preset", "mechanism", "recipe") if kind in given]
    if len(kinds) != 1:
        raise table.wrong("veil", "one of preset, mechanism and recipe", told(dict(veil.values)), example)
    for text in kinds:
        veil.text(text)
    try:
        if "recipe" in given:
            values = read_recipe(veil.readable("recipe"))
            if rest := sorted(given.keys() - {"recipe"}):
                raise veil.wrong(rest[0], "nothing beside a recipe but edge", told(given[rest[0]]))
            mechanism = from_recipe(values, tracker.space)
        else:
            mechanism = mechanism_of(given, tracker.space)
        mechanism.guarantee  # noqa: B018  (what cannot be guaranteed is reported now)
    except FileFormatError as error:
        raise error if error.path == veil.file.path else veil.because("recipe", "a veil", error) from None
    except GazeveilError as error:
        raise table.because("veil", f"a veil for {tracker.geometry}", error) from None
    except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
        raise table.wrong("veil", f"a veil for {tracker.geometry}", str(error)) from None
    if mechanism.space != tracker.space:
        raise table.wrong("veil", f"a veil for {tracker.geometry}", f"one for {mechanism.space}", "leave the space out")
    return mechanism, edge


def _length(table: Table, key: str) -> Length:
    expected = "a number above 0 and its unit"
    value = table.any(key, expected=expected)
    try:
        length = Length.of(value, key)
    except GazeveilError as error:
        raise table.wrong(key, expected, told(value), error.hint) from None
    if not 0 < length.number <= 10**9:
        raise table.wrong(key, expected, told(value))
    return length


def _radius(table: Table, key: str, tracker: TrackerSetting) -> Fraction | None:
    if key not in table:
        return None
    length = _length(table, key)
    try:
        return read_length(length, tracker.space, key)
    except GazeveilError as error:
        raise table.because(key, f"a radius for {tracker.geometry}", error) from None


def _levels(table: Table) -> tuple[str, ...]:
    return _names(table, "levels", (*PRESETS, OFF), "names of presets")


def _names(table: Table, key: str, known: Iterable[str], expected: str) -> tuple[str, ...]:
    """Return a list of names, all of them known."""
    names, known = table.names(key), tuple(known)
    for name in names:
        if name not in known:
            raise table.wrong(key, expected, told(name), closest(name, known))
    return names


def _listen(table: Table, protocol: Protocol) -> Address | None:
    if protocol.sink is None:
        raise table.wrong("protocol", "a protocol that apps speak", f"{protocol.name!r}, which can only be read")
    return None if protocol.transport == "lsl" else _address(table, "listen", protocol.port)


def _areas(table: Table, geometry: Geometry) -> AreasOfInterest:
    path = table.readable("areas")
    try:
        areas = AreasOfInterest.from_json(path)
    except GazeveilError as error:
        raise table.because("areas", "a file of areas", error) from None
    if areas.geometry.unit is not geometry.unit:
        raise table.wrong("areas", f"areas in {geometry.unit}", f"areas in {areas.geometry.unit}")
    if geometry.unit is Unit.PIXEL and (areas.geometry.width_px, areas.geometry.height_px) != (
        geometry.width_px,
        geometry.height_px,
    ):
        raise table.wrong("areas", f"areas on {geometry}", f"areas on {areas.geometry}")
    return areas


def _tls(table: Table, key: str) -> Tls | None:
    if key not in table:
        return None
    files = table.table(key)
    tls = Tls(files.readable("certificate"), files.readable("key"))
    files.done()
    return tls


def _budget(table: Table, trackers: list[TrackerSetting]) -> BudgetSetting:
    participant = table.participant('whose budget it is, or "*" for all participants')
    epsilon, radius = table.fraction("epsilon_per_day"), _length(table, "radius")
    unit = table.choice("unit", _BUDGET_UNITS, radius.unit)
    if not unit:
        units = {str(tracker.geometry.unit) for tracker in trackers}
        own = {str(tracker.geometry.unit) for tracker in trackers if tracker.participant == participant} or units
        if len(own) > 1:
            raise table.wrong("unit", "the unit of its radius", f"nothing, but trackers in {' and '.join(sorted(own))}")
        unit = next(iter(own), "px")
        try:
            check_unit(radius, unit)
        except GazeveilError as error:
            raise table.because("radius", "a radius with its unit", error) from None
    if unit not in _BUDGET_UNITS or radius.unit not in ("", unit):
        raise table.wrong("radius", f"a radius in {' or '.join(_BUDGET_UNITS)}", f"{radius}, and unit {unit!r}")
    setting = BudgetSetting(participant, epsilon, radius.number, unit, table.allowed("unproven"))
    table.done()
    return setting


def _session(table: Table, key: str) -> str:
    name: str = table.text(key, DEFAULT_SESSION, f"an LSL session: {SESSION_NAMES}")
    if not is_session(name):
        raise table.wrong(key, f"an LSL session: {SESSION_NAMES}", told(name))
    return name


def _address(table: Table, key: str, port: int, *, least: int = 0) -> Address:
    """Return an address; by default on loopback, at the port of the protocol. 0 is any port that is free."""
    expected = f'"HOST:PORT", such as "{LOOPBACK}:{port}"'
    value = table.any(key, f"{LOOPBACK}:{port}", expected)
    if isinstance(value, int) and not isinstance(value, bool):
        value = f":{value}"
    match = (
        re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*)(?::(\d{1,5}))?", value) if isinstance(value, str) else None
    )
    if not match or not value:
        raise table.wrong(key, expected, told(value))
    number = int(match[2]) if match[2] else port
    if not least <= number <= 65_535:
        raise table.wrong(key, f"a port from {least} to 65535", told(value))
    return Address(match[1].strip("[]") or LOOPBACK, number)


# --- ``[tracker.fields]``.


_PART: Final = r"(?:0|[1-9]\d{0,3}|(?!\d+(?:\.|$))[^.\s]+)"
_PATH: Final = re.compile(rf"{_PART}(?:\.{_PART}){{0,7}}")
_LABEL: Final = re.compile(r".+")


def fields_in(table: Table, protocol: str, kinds: tuple[str, ...]) -> Fields:
    """Return the fields of a tracker.

    Raises:
        FileFormatError: If they are wrong, or this tracker has none.
    """
    able = [one.name for one in PROTOCOLS.values() if one.fields]
    if protocol not in able:
        raise table.wrong("fields", f"no fields, or one of the protocols {', '.join(able)}", f"the protocol {protocol}")
    if MOUSE in kinds:
        raise table.wrong("fields", "no fields beside the mouse, which is sent in its own words", "both")
    kind = PROTOCOLS[protocol]
    inner = table.table("fields")
    is_stream = kind.transport == "lsl"
    time, t, valid = ARRIVAL if is_stream else "s", "", ""
    if not is_stream:
        time = inner.choice("time", (*TIMES, ARRIVAL), "s")
        if time != ARRIVAL:
            t = _name(inner, "t", TIME_NAME)
        elif "t" in inner:
            raise inner.wrong("t", "no field for the time, since it is that of arrival", told(inner.values["t"]))
        valid = _name(inner, "valid", "")
    fields = Fields(
        t=t,
        valid=valid,
        time=time,
        others=inner.choice("others", (REFUSE, DROP), REFUSE) if kind.listener is not None else DROP,
        **_gaze(inner, _LABEL if is_stream else _PATH),
        **({} if is_stream else _vectors(inner)),
    )
    inner.done()
    names = sorted(fields.names)
    for one, other in pairwise(names):
        if other == one or other.startswith(f"{one}."):
            raise table.wrong("fields", "a field of its own for each", f"{one!r} and {other!r}")
    return fields


def check_frame(table: Table, fields: Fields, geometry: Geometry) -> None:
    """Refuse directions in the world's frame on a viewing plane that does not go all around.

    Raises:
        FileFormatError: If the viewing plane is smaller.
    """
    if fields.frame == "world" and geometry.fov_x_deg != FULL_TURN:
        raise table.wrong(
            "headset",
            "a field of 360 x 180 degrees, since directions in the world's frame go all around",
            str(geometry),
            "headset = { fov_x_deg = 360, fov_y_deg = 180 }",
        )


def _gaze(table: Table, form: re.Pattern[str]) -> dict[str, Any]:
    """Return the fields that hold gaze: two numbers, or one direction."""
    if "direction" not in table:
        return {
            "x": _name(table, "x", "x", form),
            "y": _name(table, "y", "y", form),
            "unit": table.choice("unit", tuple(UNITS), "norm"),
            "up": table.choice("y_grows", ("down", "up"), "down") == "up",
        }
    for key in ("x", "y", "unit", "y_grows"):
        if key in table:
            raise table.wrong(key, "no such field beside a direction, which has axes", told(table.values[key]))
    return {"unit": "deg"}


def _vectors(table: Table) -> dict[str, Any]:
    """Return the fields of headsets."""
    found = {key: _name(table, key, "") for key in ("direction", *HEAD_AND_EYES)}
    if any(found.values()):
        found["axes"] = table.choice("axes", tuple(AXES), "gazeveil")
    if found["direction"]:
        found["frame"] = table.choice("frame", tuple(FRAMES), "head")
    return found


def _name(table: Table, key: str, default: str, form: re.Pattern[str] = _PATH) -> str:
    expected = "the name of a field, such as gaze.x, or gaze.0 for the first of a list"
    name: str = table.text(key, default, expected)
    if key in table and (len(name) > 200 or not form.fullmatch(name)):
        raise table.wrong(key, expected, told(name))
    return name
