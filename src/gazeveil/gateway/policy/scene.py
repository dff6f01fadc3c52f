# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Radius and window that follow the scene: the policy's settings, their checks, and what each reading asks for.

A reading never passes the policy's `radius_at_least` and `window_at_least`. One that an app pushed, or that depends on
where a participant looks, may only raise radius and window above the veil's own. Both are raised at once, and lowered
when nothing larger was asked for in `SETTLE_S` and in a window. Values come in few steps, rounded up, so that a lively
scene changes a veil seldom. Decision 146 and docs/proofs/gateway-budget.md say what this costs and why it holds.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, NamedTuple

from gazeveil.errors import GazeveilError, closest
from gazeveil.exact import decimal_up
from gazeveil.gateway.policy.settings import SCENE_WINDOW, AppSetting, Policy, SceneSetting, TrackerSetting
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.recipes import find_preset
from gazeveil.samples.stream import StreamMechanism
from gazeveil.toml_table import File, Table, Where, told

SETTLE_S = 5.0
"""Seconds, and at least a window, for which a smaller value must have been enough before a veil is lowered to it."""
LATE_S = 2.0
"""A reading that is older than this many seconds changes nothing."""
STALE_S = 5.0
"""A watched scene is lost after this many seconds without a reading."""

RADII = tuple(decimal_up(Fraction(2.0 ** (step / 4)), 3) for step in range(-48, 73))
"""The radii that a scene can ask for, in any unit: a fifth apart. What lies between is rounded up."""
WINDOWS = tuple(Fraction(text) for text in ("1/4", "1/2", "3/4", "1", "3/2", "2", "3", "4", "6", "8", "10"))
"""The windows, in seconds."""

RESTS_TRUSTED = (
    "Radius and window follow the scene, and are never smaller than these. This holds if what is shown does not depend "
    "on the participant's gaze, as the policy states."
)
RESTS = (
    "Radius and window follow the scene, which may depend on the participant's gaze: they are only raised, and "
    "never smaller than these. What the scene shows is not protected."
)
UNREAD = "nothing was read from the scene yet: radius and window are as the privacy level has them"
FOLLOWS = "as the scene asks"
HELD = f"held: the scene asked for more in the last {SETTLE_S:g} s"
ONLY_RAISED = "the privacy level's own: this scene may only raise them"
AT_LEAST = "the least that the policy allows"
AT_MOST = "the most that the policy allows"


@dataclass(frozen=True, slots=True)
class SceneReading:
    """What was read from a scene.

    Attributes:
        at: When its frame or its boxes were taken, on the machine's monotonic clock.
        small: The radius that hides where within a region someone looks, in the unit of the viewing plane; None if
            unknown.
        large: The radius that hides which region it is.
        window: How long scenes last, in seconds.
        details: Everything else: counts, regions and times, as plain values.
    """

    at: float
    small: float | None = None
    large: float | None = None
    window: float | None = None
    details: tuple[tuple[str, Any], ...] = ()


class RadiusAndWindow(NamedTuple):
    """A radius, in the unit of the viewing plane, and a window in seconds."""

    radius: Fraction
    window: Fraction

    def raised(self, other: RadiusAndWindow) -> RadiusAndWindow:
        """Return the larger of both, number by number."""
        return RadiusAndWindow(max(self.radius, other.radius), max(self.window, other.window))


@dataclass(frozen=True, slots=True)
class SceneFollowing:
    """How an app follows the scene; apps with equal ones share a veil.

    Attributes:
        level: The veil of the privacy level: its ε, and its radius and window where nothing was read from the scene.
        large: Whether it takes the large radius.
        least: The smallest radius and the shortest window that the scene may ask for: the policy's, or the level's own
            where the scene may only raise them.
        most: The largest radius and the longest window; the level's own are never too large.
    """

    level: SampleMechanism
    large: bool
    least: RadiusAndWindow
    most: RadiusAndWindow

    @classmethod
    def of(cls, app: AppSetting, level: SampleMechanism, trusted: bool) -> SceneFollowing | None:
        """Return how an app follows the scene at a privacy level; None if it does not, or the level has no numbers."""
        if not app.follow_scene or not level.can_change or app.radius_at_least is None or app.window_at_least is None:
            return None
        own = RadiusAndWindow(level.privacy_level["radius"], level.privacy_level["window"])
        # Kaleido's high privacy takes the large radius, whatever its app takes otherwise
        high = find_preset("hplu").mechanism_in(level.space).privacy_level["radius"]
        large = app.follow_scene == "large" or (level != app.mechanism and own.radius == high)
        least = RadiusAndWindow(app.radius_at_least, app.window_at_least)
        least = least if trusted else least.raised(own)
        widest = Fraction(math.ceil(math.hypot(*level.space.size)))
        most = RadiusAndWindow(app.radius_at_most or widest, app.window_at_most or SCENE_WINDOW)
        return cls(level, large, least, most.raised(own).raised(least))

    @property
    def base(self) -> RadiusAndWindow:
        """The level's own radius and window, or the least that the policy allows."""
        numbers = self.level.privacy_level
        return self.least.raised(RadiusAndWindow(numbers["radius"], numbers["window"]))

    @property
    def floor(self) -> SampleMechanism:
        """The veil that is kept whatever the scene does, and that is paid for."""
        return self.veil(self.least)

    def veil(self, aim: RadiusAndWindow) -> SampleMechanism:
        """Return the veil with another radius and window."""
        return _veil(self.level, aim)

    def aim(self, reading: SceneReading) -> RadiusAndWindow:
        """Return what a reading asks for, within what is allowed."""
        radius = reading.small
        if self.large:  # regions within one another have near centres
            radius = None if reading.large is None else max(reading.large, reading.small or 0.0)
        asked = RadiusAndWindow(
            _stepped(radius, RADII, self.base.radius),
            _stepped(reading.window, WINDOWS, self.base.window),
        )
        return RadiusAndWindow(
            *(min(value, most) for value, most in zip(asked.raised(self.least), self.most, strict=True))
        )


class FollowingPace:
    """When one veil follows: it is raised at once, lowered late, and changed at most once in each way in a window.

    Attributes:
        applied: What the veil has now.
        aim: What is asked for now.
    """

    __slots__ = ("_busy_until", "_past", "_was_raised", "aim", "applied")

    def __init__(self, applied: RadiusAndWindow) -> None:
        self.applied = self.aim = applied
        self._past: list[tuple[float, RadiusAndWindow]] = []
        self._busy_until, self._was_raised = -math.inf, False

    def ask(self, aim: RadiusAndWindow, now: float) -> None:
        """Set what is asked for from now on."""
        if aim != self.aim:
            self._past.append((now, self.aim))
            self.aim = aim

    def due(self, now: float) -> RadiusAndWindow | None:
        """Return what the veil is to have now; None if it stays as it is."""
        applied = self.applied
        if not self._past and self.aim == applied:
            return None
        settle = max(SETTLE_S, float(applied.window))
        self._past = [(until, aim) for until, aim in self._past if now - until < settle]
        wanted = reduce(RadiusAndWindow.raised, (aim for _, aim in self._past), self.aim)
        if wanted == applied:
            return None
        is_busy, raised = now <= self._busy_until, wanted.raised(applied)
        if raised == applied:
            return None if is_busy else wanted
        return None if is_busy and self._was_raised else raised

    def changed(self, aim: RadiusAndWindow, now: float) -> None:
        """Take note that the veil has another radius and window now."""
        self._was_raised = aim.raised(self.applied) != self.applied
        self._busy_until = max(self._busy_until, now + float(max(aim.window, self.applied.window)))
        self.applied = aim


class SceneState:
    """What is known of one tracker's scene.

    Attributes:
        source: Where it comes from: ``video``, ``camera``, ``screen`` or ``push``.
        trusted: Whether it may lower radius and window below the level's own.
        reading: The newest; None before the first.
        lost: Why there is none at present; empty while there is.
        late: How many readings came too late to change anything.
    """

    __slots__ = ("late", "lost", "reading", "source", "trusted")

    def __init__(self, source: str, trusted: bool) -> None:
        self.source, self.trusted = source, trusted
        self.reading: SceneReading | None = None
        self.lost = UNREAD
        self.late = 0

    def take(self, reading: SceneReading, now: float) -> bool:
        """Take a reading; return whether it counts: not if it is late, or older than one that was taken."""
        if not now - LATE_S <= reading.at <= now or (self.reading is not None and reading.at < self.reading.at):
            self.late += 1
            return False
        self.reading, self.lost = reading, ""
        return True

    def is_stale(self, now: float) -> bool:
        """Whether readings are overdue; pushed readings never are, since they only raise."""
        return self.source != "push" and not self.lost and self.reading is not None and now - self.reading.at > STALE_S

    def ask(self, follow: SceneFollowing, pace: FollowingPace, now: float) -> None:
        """Ask for what the scene needs of a veil; nothing lower than now while the scene is lost."""
        if self.reading is None:
            return
        pace.ask(pace.applied.raised(follow.base) if self.lost else follow.aim(self.reading), now)

    @property
    def rests_on(self) -> str:
        """The assumption that the guarantee of an app that follows it rests on, in words."""
        return RESTS_TRUSTED if self.trusted else RESTS

    def status(self) -> dict[str, Any]:
        """Return the state of the scene alone, as plain values."""
        reading = self.reading or SceneReading(0.0)
        return {
            "source": self.source,
            "trusted": self.trusted,
            "frame": None,
            "keyframes": 0,
            "regions": [],
            **dict(reading.details),
            "r_small": reading.small,
            "r_large": reading.large,
            "window_s": reading.window,
            "lost": self.lost,
            "late": self.late,
        }

    def why(self, follow: SceneFollowing, pace: FollowingPace) -> str:
        """Return in words why a veil has its radius and window."""
        if self.lost:
            return self.lost
        if pace.applied != pace.aim:
            return HELD
        if pace.applied == follow.least:
            return AT_LEAST if self.trusted else ONLY_RAISED
        return AT_MOST if pace.applied == follow.most else FOLLOWS


@lru_cache(maxsize=8192)
def _veil(level: SampleMechanism, aim: RadiusAndWindow) -> SampleMechanism:
    return level.with_guarantee(radius=aim.radius, window=aim.window)


def _stepped(value: float | None, steps: tuple[Fraction, ...], own: Fraction) -> Fraction:
    """Return the next larger step, the level's own value being one; that one also where nothing is known."""
    if value is None or not math.isfinite(value) or value <= 0.0:
        return own
    step = steps[min(bisect_left(steps, value, key=float), len(steps) - 1)]
    return own if value <= own < step else step


def steps_between(steps: tuple[Fraction, ...], least: Fraction, most: Fraction, own: Fraction) -> list[Fraction]:
    """Return the steps from the least to the most, the policy's own value among them."""
    return sorted({least, most, own, *(step for step in steps if least <= step <= most)})


# --- What a policy says about the scene: its source, what it may change, and which apps follow it.


SCENE_SOURCES = ("video", "camera", "screen", "push")
FOLLOW_CHOICES = ("small", "large")
TOKEN_FILE = "scene.token"  # noqa: S105  (a file's name)
_FASTEST_HZ = 8.0
"""The highest rate at which Kaleido read scenes."""
_MOST_PIXELS = 100_000


def scene_in(table: Table) -> SceneSetting | None:
    """Return where a tracker's scene comes from; None if its table does not say.

    Raises:
        FileFormatError: If that is wrong.
    """
    if "scene" not in table:
        return None
    scene = table.table("scene", expected='a scene, such as { source = "video", file = "film.mp4" }')
    source = scene.choice("source", SCENE_SOURCES)
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
    follow: str = table.choice("follow_scene", FOLLOW_CHOICES, "")
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
        if most is not None and most < max(least, app.mechanism.privacy_level[name]):
            expected = f"no less than {name}_at_least and the veil's own {name}"
            raise file.wrong((*where, f"{name}_at_most"), expected, f"{float(most):g}")
    for level in levels:
        follow = SceneFollowing.of(app, level, tracker.scene.trusted)
        if follow is not None:
            _check_range(follow, file, at)


def _has_tests(mechanism: SampleMechanism) -> bool:
    """Whether a veil, or a member of a chain, keeps a ledger for tests beside that for releases."""
    if isinstance(mechanism, StreamMechanism):
        return mechanism.plan().tests is not None
    return any(_has_tests(member) for member in getattr(mechanism, "members", ()))


def _check_range(follow: SceneFollowing, file: File, at: Where) -> None:
    try:
        for aim in (follow.least, follow.base, follow.most):
            follow.veil(aim).guarantee  # noqa: B018  (what cannot be guaranteed is reported now)
    except GazeveilError as error:
        raise file.because(at, "a veil from the smallest to the largest radius and window", error) from None


def _gaze_dependent(scene: Table, source: str) -> bool:
    """Return whether the scene depends on gaze: a video never does, pushed frames always may."""
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
