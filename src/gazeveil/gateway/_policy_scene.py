# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a policy says about the scene: where it comes from, what it may change, and who follows it."""

from __future__ import annotations

from typing import Any

from gazeveil.errors import GazeveilError, closest
from gazeveil.gateway._hub_scene import Follow
from gazeveil.gateway.policy import AppSetting, Policy, SceneSetting, TrackerSetting
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.stream import StreamMechanism
from gazeveil.toml_table import File, Table, Where, told

SOURCES = ("video", "camera", "screen", "push")
RADII = ("small", "large")
TOKEN_FILE = "scene.token"  # noqa: S105  (a file's name)
_FASTEST_HZ = 8.0
"""The fastest that Kaleido looked at scenes."""
_MOST_PIXELS = 100_000


def scene_in(table: Table) -> SceneSetting | None:
    """Return where a tracker's scene comes from; None if its table does not say.

    Raises:
        FileFormatError: If that is wrong.
    """
    if "scene" not in table:
        return None
    scene = table.table("scene", expected='a scene, such as { source = "video", file = "film.mp4" }')
    source = scene.choice("source", SOURCES)
    own: dict[str, Any] = {}
    if source == "video":
        own["file"] = scene.readable("file")
        own["loop"] = scene.truth("loop", default=True)
    elif source == "camera":
        own["device"] = scene.whole("device", 0, 99, 0)
    elif source == "screen":
        own["region"] = _region(scene)
    else:
        own["token_file"] = scene.file.beside(scene.text("token_file", TOKEN_FILE))
    setting = SceneSetting(
        source,
        area=_area(scene),
        finder=_finder(scene),
        weights=scene.readable("weights") if "weights" in scene else None,
        updates_hz=scene.number("updates_hz", 0.1, _FASTEST_HZ, 2.0),
        gaze_dependent=_gaze_dependent(scene, source),
        **own,
    )
    scene.done()
    return setting


def follow_in(table: Table) -> str:
    """Return which radius of the scene an app follows; empty if none."""
    follow: str = table.choice("follow_scene", RADII, "")
    for key, beside in (("radius_at_most", ()), ("window_at_most", ("window_at_least",))):
        if key in table and not follow and not any(other in table for other in beside):
            known = " or ".join([*beside, "follow_scene"])
            raise table.wrong(key, f"no such limit, or {known} beside it", told(table.values[key]))
    return follow


def check_scenes(policy: Policy, file: File) -> None:
    """Refuse scenes that nobody can push to, or whose token is another's.

    Raises:
        FileFormatError: If there is one.
    """
    taken = {policy.token_file: "the control API"}
    for index, tracker in enumerate(policy.trackers):
        scene, where = tracker.scene, ("tracker", index, "scene")
        if scene is None or scene.token_file is None:
            continue
        if policy.control is None:
            raise file.wrong(
                where, "a control API that the scene is pushed to", "none", 'control = "127.0.0.1:7380" in [gateway]'
            )
        if scene.token_file in taken:
            raise file.wrong(
                (*where, "token_file"), "a token of its own", f"that of {taken[scene.token_file]}", "name another file"
            )
        taken[scene.token_file] = f"tracker {tracker.name!r}"


def check_follow(
    app: AppSetting, tracker: TrackerSetting, levels: list[SampleMechanism], file: File, where: Where
) -> None:
    """Refuse an app that follows a scene without limits, or with a veil that cannot.

    Raises:
        FileFormatError: If it does.
    """
    most = app.window_at_most
    if most is not None and app.window_at_least is not None and most < app.window_at_least:
        raise file.wrong((*where, "window_at_most"), "no less than window_at_least", f"{float(most):g}")
    if not app.follow_scene:
        return
    at = (*where, "follow_scene")
    if tracker.scene is None:
        raise file.wrong(at, f"a scene of tracker {tracker.name!r}", "none", 'scene = { source = "screen" } in it')
    for key, limit in (("radius_at_least", app.radius_at_least), ("window_at_least", app.window_at_least)):
        if limit is None:
            raise file.wrong(at, f"{key} beside it", "none", "say how small the scene may make it: add " + key)
    if not app.mechanism.can_change or not app.mechanism.guarantee.proven:
        why = app.mechanism.fixed or "it has no proof"
        raise file.wrong(at, "a veil whose guarantee can be changed", f"{app.mechanism.name}: {why}")
    if _has_tests(app.mechanism):
        raise file.wrong(
            at, "a veil that spends from one ledger", f"{app.mechanism.name}, whose tests have their own", "use clock"
        )
    for name in ("radius", "window"):
        least, most = getattr(app, f"{name}_at_least"), getattr(app, f"{name}_at_most")
        if most is not None and most < max(least, app.mechanism.knob[name]):
            expected = f"no less than {name}_at_least and the veil's own {name}"
            raise file.wrong((*where, f"{name}_at_most"), expected, f"{float(most):g}")
    for level in levels:
        follow = Follow.of(app, level, tracker.scene.trusted)
        if follow is not None:
            _check_range(follow, file, at)


def _has_tests(mechanism: SampleMechanism) -> bool:
    """Whether a veil, or a member of a chain, keeps a ledger for tests beside that for releases."""
    if isinstance(mechanism, StreamMechanism):
        return mechanism.plan().tests is not None
    return any(_has_tests(member) for member in getattr(mechanism, "members", ()))


def _check_range(follow: Follow, file: File, at: Where) -> None:
    try:
        for aim in (follow.least, follow.base, follow.most):
            follow.veil(aim).guarantee  # noqa: B018  (whatever cannot be promised is told now)
    except GazeveilError as error:
        raise file.because(at, "a veil from the smallest to the largest radius and window", error) from None


def _gaze_dependent(scene: Table, source: str) -> bool:
    """Return whether the scene depends on gaze; only a video surely does not, and what is pushed may always."""
    value = scene.truth("gaze_dependent", default=source != "video")
    if source == "push" and not value:
        raise scene.wrong(
            "gaze_dependent", "true: it is not known what an app bases its frames on", "false", "leave the field out"
        )
    return value


def _finder(scene: Table) -> str:
    from gazeveil.scene.regions import FINDERS  # noqa: PLC0415  (only where there is a scene)

    name: str = scene.text("finder", "image")
    if name not in FINDERS.names():
        raise scene.wrong("finder", "what finds regions", told(name), closest(name, FINDERS.names()))
    return name


def _region(scene: Table) -> tuple[int, int, int, int] | None:
    if "region" not in scene:
        return None
    value = scene.any("region")
    whole = isinstance(value, list) and len(value) == 4 and all(type(number) is int for number in value)
    if not whole or not all(0 <= number <= _MOST_PIXELS for number in value) or not (value[2] and value[3]):
        raise scene.wrong("region", "[left, top, width, height] in pixels of the screen", told(value))
    return value[0], value[1], value[2], value[3]


def _area(scene: Table) -> tuple[float, float, float, float]:
    value = scene.any("area", [0.0, 0.0, 1.0, 1.0])
    numbers = isinstance(value, list) and len(value) == 4 and all(type(number) in (int, float) for number in value)
    if not numbers or not (0 <= value[0] < value[2] <= 1 and 0 <= value[1] < value[3] <= 1):
        raise scene.wrong("area", "[left, top, right, bottom] in shares of the screen, 0 to 1", told(value))
    return float(value[0]), float(value[1]), float(value[2]), float(value[3])
