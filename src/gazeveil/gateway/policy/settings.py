# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A policy as plain values: trackers, apps, scenes, budgets, the control API; and tokens in files of their owner.

`read_policy` reads a TOML file and checks all that can be checked before a single socket is opened; errors name the
line. A policy is a value: two that are equal mean the same.
"""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gazeveil.errors import InputError, OutputError, PrivacyError, UnknownName, closest
from gazeveil.files import others_may_read
from gazeveil.gateway.lsl_streams import DEFAULT_SESSION
from gazeveil.gateway.tracker_fields import Fields
from gazeveil.privacy.guarantee import GazeStreamDP

if TYPE_CHECKING:
    from gazeveil.gateway.protocol import Output, ViewingPlane
    from gazeveil.gaze.aoi import AreasOfInterest
    from gazeveil.geometry import Geometry
    from gazeveil.samples.mechanism import SampleMechanism
    from gazeveil.samples.space import Space


DAY_S = 86_400
EVERY_PARTICIPANT = "*"
PARTICIPANT = "participant"
"""Who is at a tracker if the policy does not say."""
REPLAY, SIMULATE = "replay", "simulate"
"""Trackers without hardware, named like protocols."""
MOUSE, OWN = "mouse", "policy"
KINDS = {SIMULATE: SIMULATE, REPLAY: REPLAY, MOUSE: "push"}
"""Sources that can be chosen live, and their protocols; `OWN` is the policy's own."""
DEMO_APPS = {"dwell": "Targets: look to select", "reading": "Reading: the text scrolls along"}
"""Demo apps that the gateway can serve."""
LOOPBACK = "127.0.0.1"
SCENE_WINDOW = Fraction(2)
"""The longest window in seconds that a scene may ask for, if the policy does not say: Kaleido's longest."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def from_here(self) -> Address:
        """The address by which this machine reaches it; loopback if it listens on all addresses."""
        return Address({"0.0.0.0": LOOPBACK, "::": "::1"}.get(self.host, self.host), self.port)  # noqa: S104

    @property
    def is_local(self) -> bool:
        """Whether it is reached from this machine alone; a name other than ``localhost`` may be anywhere."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class Tls:
    """Files for an encrypted connection."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class SceneSetting:
    """What a tracker's participant looks at: its source, and how it is read.

    Attributes:
        source: ``video``, ``camera``, ``screen`` or ``push``.
        file: The video.
        loop: Whether a video begins again at its end.
        device: Which camera or screen.
        region: Which part of the screen is watched, in its pixels (left, top, width, height); None for all of it.
        area: Which part of the viewing plane the frame fills, in shares (left, top, right, bottom).
        finder: What finds regions of interest.
        weights: The file of its model, where it needs one.
        updates_hz: How often the scene is read.
        gaze_dependent: Whether it depends on where the participant looks; then it may only raise radius and window.
        token_file: The file of the token that senders of frames must show.
    """

    source: str
    file: Path | None = None
    loop: bool = True
    device: int = 0
    region: tuple[int, int, int, int] | None = None
    area: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    finder: str = "image"
    weights: Path | None = None
    updates_hz: float = 2.0
    gaze_dependent: bool = True
    token_file: Path | None = None

    @property
    def trusted(self) -> bool:
        """Whether it may lower radius and window below the veil's own, down to the least that the policy allows."""
        return self.source != "push" and not self.gaze_dependent


@dataclass(frozen=True, slots=True)
class InletSetting:
    """Where the gateway listens for gaze that is sent to it.

    Attributes:
        listen: Where.
        token_file: The file of the token that senders must show.
        origins: Web pages that may send, besides those of this machine.
        take_over: Whether a second sender replaces the first; otherwise it is refused.
        tls: Its certificate and key; needed where other machines reach it.
    """

    listen: Address
    token_file: Path
    origins: tuple[str, ...] = ()
    take_over: bool = False
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class TrackerSetting:
    """Where gaze comes from.

    Attributes:
        name: The name by which apps refer to it.
        protocol: A registered one, or ``replay``, or ``simulate``.
        geometry: The viewing plane of gaze.
        participant: Whose gaze it is and whose budget pays, until the control API says otherwise.
        address: Where the tracker listens; None for streams that are found by name, for files and for simulated eyes.
        stream: The name of an LSL stream; empty for the first stream of gaze.
        session: The LSL session that the stream is in.
        file: What is replayed.
        speed: How many times faster than it was recorded.
        loop: Whether a replay starts again at its end.
        seed: Of the simulated participant.
        rate_hz: Of the simulated tracker.
        scene: What the participant looks at; None if nobody watches that.
        inlet: Where the gateway listens, for trackers that send to it.
        sources: The same tracker with every other source that may be chosen live.
        raw_view: Whether the participant may see raw gaze on the control page of this machine.
        fields: Names and units of the tracker's fields, if the policy gives them.
        mouse: Whether the control page's mouse may be the sender, since the policy lists it.
    """

    name: str
    protocol: str
    geometry: Geometry
    participant: str = PARTICIPANT
    address: Address | None = None
    stream: str = ""
    session: str = DEFAULT_SESSION
    file: Path | None = None
    speed: float = 1.0
    loop: bool = False
    seed: int = 1
    rate_hz: float = 60.0
    scene: SceneSetting | None = None
    inlet: InletSetting | None = None
    sources: tuple[TrackerSetting, ...] = ()
    raw_view: bool = False
    fields: Fields | None = None
    mouse: bool = False

    @property
    def kind(self) -> str:
        """The name of its source where one is chosen."""
        if self.mouse:
            return MOUSE
        return self.protocol if self.protocol in (SIMULATE, REPLAY) else OWN

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every source that may be chosen, its own first."""
        return tuple(dict.fromkeys([self.kind, *(other.kind for other in self.sources)]))

    def using(self, kind: str) -> TrackerSetting:
        """Return the same tracker with another source.

        Raises:
            UnknownName: If there is no such source.
            PrivacyError: If the policy does not allow it.
        """
        if kind in (OWN, self.kind):
            return self
        for other in self.sources:
            if other.kind == kind:
                return other
        if kind not in KINDS:
            raise UnknownName(f"no source is called {kind!r}", hint=closest(kind, (OWN, *KINDS)))
        raise PrivacyError(
            f"the policy does not allow {kind!r} as source of {self.name!r}",
            hint=f'sources = ["{kind}"] in its [[tracker]] allows it',
        )

    @property
    def plane(self) -> ViewingPlane:
        """The viewing plane, for protocols."""
        from gazeveil.gateway.protocol import ViewingPlane  # noqa: PLC0415

        return ViewingPlane(self.geometry)

    @property
    def space(self) -> Space:
        """The space of gaze, for veils."""
        from gazeveil.samples.space import space_of  # noqa: PLC0415

        return space_of(self.geometry)


@dataclass(frozen=True, slots=True)
class AppSetting:
    """What one app gets.

    Attributes:
        name: For participants, logs and the control API.
        tracker: Which tracker's gaze.
        protocol: How it is sent.
        mechanism: The veil, in the tracker's space.
        listen: Where the app finds its tracker; None for streams that are found by name.
        edge: What happens to points beyond the edges: ``clamp``, ``reflect`` or ``leave``.
        output: Samples, or only fixations, or only names of areas.
        areas: The areas, where only their names are reported.
        rate_hz: How many samples a second it gets at most.
        levels: Privacy levels (presets) that may be chosen live; ``off`` switches the veil off.
        epsilon_at_most: The largest ε that may be chosen live; None if it stays as it is.
        window_at_least: The shortest window, likewise.
        radius_at_least: The smallest radius, likewise.
        unproven: Whether the policy explicitly allows a veil without a guarantee here.
        tls: For protocols that can be encrypted.
        origins: Web pages that may read the stream, besides those of this machine.
        follow_scene: Whether radius and window follow the scene: ``small`` or ``large`` for its radii; empty if not.
        radius_at_most: The largest radius that the scene may ask for; None for any.
        window_at_most: The longest window that they may ask for; None for two seconds of a scene, ten of a privacy
            level.
        demo_app: Which demo app reads the stream, if the gateway serves demo apps; empty for none.
        shown_as: What its LSL stream or Pupil surface is called; empty for its name.
        blank_pupils: Whether Pupil gaze comes with pupils in which every number is marked as not measured.
        head_and_eyes: What it gets beside gaze, of `gazeveil.gateway.sample.HEAD_AND_EYES`; all else is dropped.
    """

    name: str
    tracker: str
    protocol: str
    mechanism: SampleMechanism
    listen: Address | None = None
    edge: str = "clamp"
    output: Output = "samples"
    areas: AreasOfInterest | None = None
    rate_hz: float = 60.0
    levels: tuple[str, ...] = ()
    epsilon_at_most: Fraction | None = None
    window_at_least: Fraction | None = None
    radius_at_least: Fraction | None = None
    unproven: bool = False
    tls: Tls | None = None
    origins: tuple[str, ...] = ()
    follow_scene: str = ""
    radius_at_most: Fraction | None = None
    window_at_most: Fraction | None = None
    demo_app: str = ""
    shown_as: str = ""
    blank_pupils: bool = False
    head_and_eyes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetSetting:
    """The privacy budget of one participant for any 24 hours, over all apps.

    Attributes:
        participant: Whose; `EVERY_PARTICIPANT` for each participant without a budget of their own.
        epsilon_per_day: The loss that the gaze of any 24 hours may have.
        radius: How far each point of it may have been, in ``unit``.
        unit: What the radius is measured in.
        unproven: Whether veils without a guarantee may be used under this budget, which then guarantees nothing.
    """

    participant: str
    epsilon_per_day: Fraction
    radius: Fraction
    unit: str = "px"
    unproven: bool = False

    @property
    def guarantee(self) -> GazeStreamDP:
        """The guarantee to any 24 hours of gaze."""
        return GazeStreamDP(self.epsilon_per_day, DAY_S, self.radius, self.unit)


@dataclass(frozen=True, slots=True)
class Policy:
    """All that a gateway is to do.

    Attributes:
        trackers: Where gaze comes from.
        apps: Who gets what.
        budgets: Budgets for any 24 hours; participants without one are not charged.
        ledger: Where budgets are kept: a path, or a ``postgresql://`` address; empty where no budget needs one.
        control: Where the control API listens; None for none.
        control_tls: Its certificate and key; needed where other machines reach it.
        token_file: Where its token is kept.
        lease_s: For about how many seconds a viewer group pays ahead.
        path: The file it was read from.
        lsl_session: The LSL session in which apps look for their streams; one for all of them.
        state_file: Where decisions that outlive a restart are kept; None for the usual place (see `Decisions`).
        demo_apps: Where the demo apps are served, on this machine alone; None for nowhere.
    """

    trackers: tuple[TrackerSetting, ...]
    apps: tuple[AppSetting, ...]
    budgets: tuple[BudgetSetting, ...] = ()
    ledger: str = ""
    control: Address | None = None
    token_file: Path | None = None
    lease_s: float = 10.0
    path: Path | None = None
    lsl_session: str = DEFAULT_SESSION
    control_tls: Tls | None = None
    state_file: Path | None = None
    demo_apps: Address | None = None

    def declared(self, tracker: str) -> frozenset[str]:
        """Return what all apps of a tracker together get of head and eyes."""
        return frozenset(what for app in self.apps if app.tracker == tracker for what in app.head_and_eyes)

    def tracker(self, name: str) -> TrackerSetting:
        """Return a tracker by its name.

        Raises:
            UnknownName: If there is none.
        """
        return _named("tracker", name, self.trackers)

    def app(self, name: str) -> AppSetting:
        """Return an app by its name.

        Raises:
            UnknownName: If there is none.
        """
        return _named("app", name, self.apps)

    def budget_of(self, participant: str) -> BudgetSetting | None:
        """Return the budget that pays for a participant, if there is one."""
        own = [budget for budget in self.budgets if budget.participant == participant]
        return next(iter(own or [budget for budget in self.budgets if budget.participant == EVERY_PARTICIPANT]), None)


def read_policy(path: Path | str) -> Policy:
    """Return the policy in a TOML file, checked as a whole.

    Raises:
        FileFormatError: If anything in it is wrong; the message names the line.
        MissingExtra: If a protocol in it needs a package that is not installed.
    """
    from gazeveil.gateway.policy.reading import policy_in  # noqa: PLC0415  (reads into the classes above)

    return policy_in(Path(path))


@dataclass(frozen=True, slots=True)
class ControlSetting:
    """How to reach the control API of a running gateway.

    Attributes:
        address: Where it listens.
        token_file: Where its token is kept.
        certificate: The certificate that it must show; None where it is not encrypted.
    """

    address: Address
    token_file: Path
    certificate: Path | None = None


def read_control(path: Path | str) -> ControlSetting:
    """Return how to reach the gateway of a policy.

    Only the table ``[gateway]`` is read: an app can be switched off while the rest of the file is being changed, and
    from a machine that has nothing but this table.

    Raises:
        FileFormatError: If the table is wrong.
        InputError: If it has no control API.
    """
    from gazeveil.gateway.policy.reading import control_in  # noqa: PLC0415

    return control_in(Path(path))


Setting = TypeVar("Setting", TrackerSetting, AppSetting)


def _named(kind: str, name: str, among: tuple[Setting, ...]) -> Setting:
    for setting in among:
        if setting.name == name:
            return setting
    raise UnknownName(f"no {kind} is called {name!r}", hint=closest(name, [setting.name for setting in among]))


# --- Tokens in files that only their owner may read.


def token_in(path: Path) -> str:
    """Return the token kept in a file, which only its owner may read; a new one is made if there is no file.

    Raises:
        InputError: If others may read the file, or it holds no token.
    """
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if others_may_read(path):
            raise InputError(f"others may read the token in {path}", hint=f"chmod 600 {path}") from None
        token = path.read_text(encoding="ascii", errors="replace").strip()
        if re.fullmatch(r"[A-Za-z0-9_-]{16,}", token) is None:
            raise InputError(f"{path} holds no token", hint="delete the file, and a new one is made") from None
        return token
    except OSError as error:
        raise OutputError(f"cannot keep a token in {path}: {error.strerror}") from error
    with os.fdopen(made, "w", encoding="ascii", newline="\n") as file:
        token = secrets.token_urlsafe(32)
        file.write(token + "\n")
        file.flush()
        os.fsync(made)
    return token
