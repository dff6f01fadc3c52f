# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The first-run guide: what can be chosen, and a policy file made from the answers, which is read before it is sent."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gazeveil.errors import FileFormatError, GazeveilError, InputError
from gazeveil.exact import above_zero, as_text
from gazeveil.gateway.policy.levels import numbers_of
from gazeveil.gateway.policy.settings import SIMULATE, Policy, read_policy
from gazeveil.gateway.protocol import PROTOCOLS
from gazeveil.gateway.veiling import mechanism_of
from gazeveil.geometry import screen
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import Space, space_of

LEVELS: Final = ("lphu", "mpmu", "hplu")
_SIZE: Final = ("width_px", "height_px", "width_mm", "height_mm", "distance_mm")
_SIZES: Final = (
    ("24-inch screen", (1920, 1080, 531, 299, 600)),
    ("27-inch screen", (2560, 1440, 597, 336, 650)),
    ("15-inch laptop", (1920, 1080, 344, 194, 500)),
    ("13-inch laptop", (1920, 1200, 286, 179, 500)),
    ("scene camera of Neon", (1600, 1200, 1509, 955, 600)),  # 103 by 77 degrees
    ("scene camera of Invisible", (1088, 1080, 1043, 1043, 600)),  # 82 by 82 degrees
)
_KNOWN: Final = {
    "": ("tracker", "participant", "app", "level", "budget"),
    "tracker": ("name", "protocol", "address", "screen"),
    "app": ("name", "protocol", "listen", "output"),
    "screen": _SIZE,
}


def choices() -> dict[str, Any]:
    """Return what a guide can offer: trackers, apps, levels and screens."""
    space = space_of(screen(*_SIZES[0][1]))
    sources: list[dict[str, Any]] = [{"name": SIMULATE, "title": "Simulated eyes", "port": None}]
    sources += [
        {"name": one.name, "title": one.title, "port": one.port or None}
        for one in PROTOCOLS.values()
        if one.source is not None or one.listener is not None
    ]
    sinks = [
        {"name": one.name, "title": one.title, "port": one.port, "outputs": _in_order(one.outputs)}
        for one in PROTOCOLS.values()
        if one.sink is not None
    ]
    presets = [{"name": name, **numbers_of(_level(name, space))} for name in LEVELS]
    screens = [{"title": title, **dict(zip(_SIZE, size, strict=True))} for title, size in _SIZES]
    return {"sources": sources, "sinks": sinks, "presets": presets, "screens": screens}


def policy_from(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy file from answers: ``toml`` is its text, which passes `read_policy`, or ``problems`` say why not.

    Raises:
        InputError: If the answers are not what a guide asks for.
    """
    try:
        text = _text(_only("", answers))
        policy = _read(text)
    except FileFormatError as error:
        return {"toml": "", "problems": [f"expected {error.expected}, found {error.found}"]}
    except GazeveilError as error:
        return {"toml": "", "problems": ["; ".join(filter(None, (error.message, error.hint)))]}
    _check_same(policy, answers)
    return {"toml": text, "problems": []}


def _read(text: str) -> Policy:
    with tempfile.TemporaryDirectory(prefix="gazeveil-") as folder:
        path = Path(folder) / "policy.toml"
        path.write_text(text, encoding="utf-8", newline="\n")
        return read_policy(path)


def _check_same(policy: Policy, answers: Mapping[str, Any]) -> None:
    """Refuse a policy that does not say what was answered, whatever was in the answers."""
    (tracker,), (app,) = policy.trackers, policy.apps
    written = (tracker.name, tracker.protocol, app.name, app.protocol)
    meant = tuple(answers[part][name] for part in ("tracker", "app") for name in ("name", "protocol"))
    if written != meant or len(policy.budgets) != (answers.get("budget") is not None):
        raise InputError("the answers do not make a policy", hint="names are plain words")


def _text(answers: Mapping[str, Any]) -> str:
    tracker, app = _only("tracker", answers.get("tracker")), _only("app", answers.get("app"))
    size = {name: _number(value, name) for name, value in _only("screen", tracker.get("screen")).items()}
    level, budget = answers.get("level"), answers.get("budget")
    if level not in LEVELS:
        raise InputError(f"the level is one of {', '.join(LEVELS)}")
    lines = ["# Written by the guide of the control page. `gazeveil serve` runs it.", "version = 1", "", "[gateway]"]
    if budget is not None:
        lines.append('ledger = "ledger.sqlite"')
    lines += ['control = "127.0.0.1:7380"', 'token_file = "control.token"', "", "[[tracker]]"]
    lines += [f"{name} = {_quoted(tracker.get(name), f'tracker.{name}')}" for name in ("name", "protocol")]
    if tracker.get("address"):
        inlet = tracker["protocol"] in PROTOCOLS.names() and PROTOCOLS[tracker["protocol"]].listener is not None
        lines.append(f"{'listen' if inlet else 'address'} = {_quoted(tracker['address'], 'tracker.address')}")
    lines.append(f"participant = {_quoted(answers.get('participant'), 'participant')}")
    lines.append(f"screen = {{ {', '.join(f'{name} = {value!r}' for name, value in size.items())} }}")
    lines += ["", "[[app]]", f"name = {_quoted(app.get('name'), 'app.name')}"]
    lines.append(f"tracker = {_quoted(tracker['name'], '')}")
    lines.append(f"protocol = {_quoted(app.get('protocol'), 'app.protocol')}")
    if app.get("listen") is not None:
        lines.append(f'listen = "127.0.0.1:{_port(app["listen"])}"')
    if app.get("output", "samples") != "samples":
        lines.append(f"output = {_quoted(app['output'], 'app.output')}")
    space = space_of(screen(**size))
    numbers = [_level(name, space).privacy_level for name in LEVELS]
    lines += [f'veil = {{ preset = "{level}" }}', f"levels = {json.dumps(LEVELS)}"]
    lines.append(f'epsilon_at_most = "{as_text(max(one["epsilon"] for one in numbers))}"')
    lines.append(f'window_at_least = "{as_text(min(one["window"] for one in numbers))}"')
    lines.append(f'window_at_most = "{as_text(max(one["window"] for one in numbers))}"')
    lines.append(f'radius_at_least = "{as_text(min(one["radius"] for one in numbers))}px"')
    if budget is not None:
        radius = _level(level, space).privacy_level["radius"]
        lines += ["", "[[budget]]", f"participant = {_quoted(answers.get('participant'), 'participant')}"]
        lines += [f"epsilon_per_day = {_quoted(as_text(above_zero(budget, 'budget')), '')}"]
        lines += [f'radius = "{as_text(radius)}px"']
    return "\n".join(lines) + "\n"


def _only(part: str, given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or (unknown := sorted(given.keys() - set(_KNOWN[part]))):
        what = f"has no {unknown[0]!r}" if isinstance(given, Mapping) else "is missing"
        raise InputError(f"{part or 'a guide'} {what}", hint=f"known: {', '.join(_KNOWN[part])}")
    return given


def _quoted(value: object, name: str) -> str:
    """Return a text as TOML writes it."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise InputError(f"{name} must be a text of printable letters")
    return json.dumps(value, ensure_ascii=False)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} must be a number")
    return value


def _port(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 16:
        raise InputError("app.listen must be a port, from 1 to 65535")
    return value


def _level(name: str, space: Space) -> SampleMechanism:
    return mechanism_of({"preset": name}, space)


def _in_order(outputs: frozenset[str]) -> list[str]:
    """Return the outputs that need no more questions; hits need a file of areas."""
    return [output for output in ("samples", "fixations") if output in outputs]
