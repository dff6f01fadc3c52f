# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a hub reports about itself: names, words, counts and guarantees, never gaze."""

from __future__ import annotations

import functools
import operator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gazeveil.errors import CannotCompose
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.protection import WindowOfGaze

State = Literal["flowing", "no listener", "silent", "ended", "off"]
LATCH_HINT = "put the ledger back, or `gazeveil ledger restore` it, then start the gateway again"
"""What to do when nothing leaves any more."""


@dataclass(frozen=True, slots=True)
class TrackerStatus:
    """One tracker.

    Attributes:
        name: Its name.
        protocol: How it is read.
        participant: Whose gaze it is.
        alive: Whether samples come.
        why: Why they do not; empty while they do.
        samples: How many came.
        guarantee: What all its apps together guarantee the participant, in words.
        clock_faults: What was odd about its clock.
        plane: How large the viewing plane of gaze is, and in which unit.
        raw_view: Whether the participant may look at raw gaze on the control page.
        scene: What was read from the scene, and what of it holds; None if nobody watches it.
    """

    name: str
    protocol: str
    participant: str
    alive: bool
    why: str
    samples: int
    guarantee: str
    clock_faults: dict[str, int]
    plane: dict[str, Any]
    raw_view: bool
    scene: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """One viewer group: one veil, and the apps that share it.

    Attributes:
        name: Its name in logs and notes.
        tracker: Whose gaze.
        participant: Whose budget pays.
        apps: The apps in it.
        veil: The mechanism in words.
        guarantee: What is guaranteed, in words.
        guarantee_values: The same as plain values.
        proven: Whether there is a guarantee.
        points: How many points left the veil.
        restarts: How often a new veil had to be started after an error.
        faults: What was odd about its samples.
        lease_s: How long the lease in use is.
        remaining: What was left of the ε of 24 hours after the last payment; None where nothing is charged.
        trouble: Why the last payment failed; empty if it did not.
    """

    name: str
    tracker: str
    participant: str
    apps: tuple[str, ...]
    veil: str
    guarantee: str
    guarantee_values: dict[str, Any]
    proven: bool
    points: int
    restarts: int
    faults: dict[str, int]
    lease_s: float
    remaining: float | None
    trouble: str


@dataclass(frozen=True, slots=True)
class AppStatus:
    """One app.

    Attributes:
        name: Its name.
        tracker: Whose gaze it gets.
        protocol: How it is sent.
        group: The viewer group it is in.
        output: Samples, fixations or hits.
        state: Whether it gets anything at present.
        why: Why not.
        shown: How many things it was shown.
        errors: How often it could not be shown one.
        proven: Whether its veil keeps a guarantee.
        guarantee: Which, in words.
        identification: How often participants were identified behind such a veil, as measured, in words.
        levels: The privacy levels that may be chosen live.
        veil: The mechanism's name.
        rule: The output that was chosen live; None where it is the policy's.
        outputs: What may be chosen.
        level: The privacy level and its range; None where there is none.
        recognised: The same as ``identification``, in numbers.
    """

    name: str
    tracker: str
    protocol: str
    group: str
    output: str
    state: State
    why: str
    shown: int
    errors: int
    proven: bool
    guarantee: str
    identification: str
    levels: tuple[str, ...]
    veil: str
    rule: str | None
    outputs: tuple[str, ...]
    level: dict[str, Any] | None
    recognised: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """A participant's budget of any 24 hours, as far as this gateway knows; the ledger knows for certain.

    Attributes:
        participant: Whose.
        epsilon_per_day: The policy's budget.
        radius: How far a point may have been.
        unit: What the radius is measured in.
        remaining: What was left after the last payment; None before the first.
        spent: Why nothing more is paid at present; empty while there is budget.
        back: What comes back next, and when; empty before the first payment.
    """

    participant: str
    epsilon_per_day: float
    radius: float
    unit: str
    remaining: float | None
    spent: str
    back: str = ""


@dataclass(frozen=True, slots=True)
class HubStatus:
    """The whole state; ``latched`` says why nothing leaves until the gateway is restarted, and is empty otherwise."""

    trackers: tuple[TrackerStatus, ...]
    groups: tuple[GroupStatus, ...]
    apps: tuple[AppStatus, ...]
    budgets: tuple[BudgetStatus, ...]
    latched: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as JSON knows them."""
        return asdict(self)


@functools.lru_cache(maxsize=256)
def guarantee_in_words(guarantee: Guarantee) -> str:
    """Return a guarantee in words; a hundred streams often share one."""
    return guarantee.in_words()


@functools.lru_cache(maxsize=256)
def joint_guarantee_in_words(guarantees: tuple[Guarantee, ...]) -> str:
    """Return in words what a participant is guaranteed if all apps share what they get: unequal veils add up."""
    windows = [guarantee.unit for guarantee in guarantees if isinstance(guarantee.unit, WindowOfGaze)]
    if not guarantees:
        return "Nothing is shown."
    try:
        if windows and all(guarantee.proven for guarantee in guarantees):
            widest = max(window.seconds for window in windows), max(window.radius for window in windows)
            heads = [window.head_radius for window in windows if window.head_radius is not None]
            unit = WindowOfGaze(*widest, windows[0].unit, max(heads) if len(heads) == len(windows) else None)
            guarantees = tuple(guarantee.restated(unit=unit) for guarantee in guarantees)
        return functools.reduce(operator.add, guarantees).in_words()
    except CannotCompose as error:
        return f"Nothing is guaranteed: {error.message}."
