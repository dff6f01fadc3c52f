# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``beside`` of an app: what it gets of head and eyes beside gaze. Nothing, unless the policy says so and may."""

from __future__ import annotations

from gazeveil.gateway.policy import AppSetting, BudgetSetting, TrackerSetting
from gazeveil.gateway.protocol import PROTOCOLS
from gazeveil.gateway.sample import BESIDE, HEAD, ORIGINS
from gazeveil.gateway.veiling import veils_the_head
from gazeveil.toml_table import File, Where

JOINT = 'veil = { mechanism = "eye-and-head", epsilon = "3", window = "2", radius = "5deg", head_radius = "10deg" }'
_MORE = {ORIGINS: ", and where it moves as the eyes turn, it shows gaze past the veil"}
ALLOW = 'unproven = "allow" says that it is meant'


def check_beside(
    app: AppSetting, tracker: TrackerSetting, budget: BudgetSetting | None, file: File, where: Where
) -> None:
    """Refuse what would leave beside gaze unveiled without leave, or could not leave at all.

    Raises:
        FileFormatError: If anything of it does not fit.
    """
    if not app.beside:
        return
    at = (*where, "beside")
    able = [one.name for one in PROTOCOLS if one.beside]
    if app.protocol not in able or app.output != "samples":
        raise file.wrong(at, f"samples in one of the protocols {', '.join(able)}", f"{app.output} in {app.protocol}")
    if HEAD in app.beside and not veils_the_head(app.mechanism):
        raise file.wrong(at, "a veil for eyes and head together", f"the veil {app.mechanism.name}", JOINT)
    if HEAD in app.beside and (app.knob or app.follow_scene):
        raise file.wrong(
            at,
            "one veil for eyes and head, which stays as it is",
            "a privacy level to choose, or a scene that is followed",
        )
    for name in app.beside:
        if name == HEAD:
            continue
        if not app.unproven:
            raise file.wrong(at, "nothing that identifies participants and no veil hides", f"{name!r}", ALLOW)
        if budget is not None and not budget.unproven:
            raise file.wrong(at, f"what the budget of {budget.person!r} allows", f"an unveiled {name!r}", ALLOW)
    kind = PROTOCOLS[tracker.protocol] if tracker.protocol in PROTOCOLS.names() else None
    if kind is None:
        return
    named = kind.fields and kind.transport == "tcp"
    known = set(tracker.fields.beside if tracker.fields is not None else ()) if named else kind.knows
    for name in app.beside:
        if name not in known and named:
            hint = f'{name} = "{name}" in [tracker.fields] names it'
            raise file.wrong(at, "what the tracker's fields name", f"{name!r}", hint)
        if name not in known:
            raise file.wrong(
                at, f"what is read of {kind.title} beside gaze", f"{name!r}", ", ".join(known) or "nothing is"
            )


def in_words(app: AppSetting) -> list[str]:
    """Say what leaves beside gaze, one sentence a line."""
    return [
        f"beside gaze it gets {BESIDE[name]}, veiled together with gaze"
        if name == HEAD and app.mechanism.guarantee.proven
        else f"beside gaze it gets {BESIDE[name]} as it is: nothing is guaranteed for that{_MORE.get(name, '')}"
        for name in app.beside
    ]


def sentences(app: AppSetting) -> list[str]:
    """Say the same to the app, and to whoever sits before the tracker."""
    return [f"{line[0].upper()}{line[1:]}." for line in in_words(app)]
