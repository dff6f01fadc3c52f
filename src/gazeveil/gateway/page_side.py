# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the control page asks of a gateway beyond steering it: rules, tags, exports, live trails, and raw gaze.

Raw gaze is shown to the participant alone: the policy must allow it for the tracker, every view needs a capability that
works once and soon, and every view and every refusal is in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import Any, Final, cast, get_args

from gazeveil.errors import InputError, OutputError, PrivacyError
from gazeveil.gateway._hub_level import tells_less
from gazeveil.gateway._page_export import Export, exported
from gazeveil.gateway._page_keys import RAW_S, Keys
from gazeveil.gateway._page_trails import Trails
from gazeveil.gateway._page_undoing import Undo, Undoing
from gazeveil.gateway._ring import Ring
from gazeveil.gateway.hub import Hub
from gazeveil.gateway.logs import Log
from gazeveil.gateway.memory import Memory
from gazeveil.gateway.protocol import Output

__all__ = ["MOST_STREAMS", "PageSide", "Undo"]

MOST_STREAMS: Final = 4
"""Pages that look on at once."""
MOST_RAW: Final = 1024
"""Raw points that wait for a page; older ones go."""
MOST_TAGS, LONGEST_TAG = 16, 40

Keeping = Callable[[str], AbstractContextManager[None]]


class PageSide:
    """The page's side of a gateway.

    Args:
        hub: What it looks at.
        memory: What outlives a restart.
        log: Where views of raw gaze are reported.
        regrade: Is called when an app gets something else from now on.
        keeping: Says what holds now, if it cannot be kept.
        undo: What undoes veils for the participant's eyes.

    Attributes:
        closing: Whether all streams are to end.
    """

    def __init__(
        self,
        hub: Hub,
        memory: Memory,
        log: Log,
        *,
        regrade: Callable[[str], None],
        keeping: Keeping,
        undo: Undo | None = None,
    ) -> None:
        self._hub, self._memory, self._log = hub, memory, log
        self._regrade, self._keeping = regrade, keeping
        self._capabilities = Keys(RAW_S)
        self._open: list[Trails] = []
        self._views = count(1)
        self.undoing = Undoing(hub, undo, log)
        self.closing = False

    def rule(self, app: str, output: object) -> None:
        """Let an app have samples, fixations or hits; None for what the policy gives it.

        What tells less holds at once; what tells more only if it can be kept.

        Raises:
            UnknownName: If there is no such app.
            InputError: If there is no such output.
            PrivacyError: If the policy does not give it.
            OutputError: If it cannot be kept.
        """
        known = get_args(Output)
        if output is not None and output not in known:
            raise InputError(f"there is no output {output!r}", hint=f"known: {', '.join(known)}; null for the policy's")
        wish = cast("Output | None", output)
        less = tells_less(self._hub.allowed(app, wish), self._hub.seat_of(app).output)
        if less:
            self._choose(app, wish)
        kept = self._memory.rules
        try:
            with self._keeping(f"{app!r} gets {self._hub.seat_of(app).output}"):
                self._memory.ruled(app, wish)
        except OutputError:
            if not less:
                self._memory.rules = kept
            raise
        if not less:
            self._choose(app, wish)

    def _choose(self, app: str, output: Output | None) -> None:
        self._hub.rule(app, output)
        self._regrade(app)

    def restore(self, app: str, output: str) -> bool:
        """Let an app have what was decided before a restart; return whether the policy still allows it."""
        try:
            self._hub.rule(app, cast("Output", output))
        except PrivacyError as error:
            self._log("rule not restored", app=app, why=error, now="it is switched off")
            return False
        return True

    def tag(self, app: str, tags: object) -> None:
        """Put words to an app, by which participants find it.

        Raises:
            UnknownName: If there is no such app.
            InputError: If they are not a few short words.
            OutputError: If they cannot be kept.
        """
        self._hub.seat_of(app)
        if not isinstance(tags, list) or len(tags) > MOST_TAGS or not all(_is_tag(tag) for tag in tags):
            raise InputError(f"tags are up to {MOST_TAGS} texts of 1 to {LONGEST_TAG} printable letters")
        with self._keeping(f"{app!r} has other tags now"):
            self._memory.tagged(app, list(dict.fromkeys(tags)))

    def received(self, app: str, form: str) -> Callable[[], Export]:
        """Return what makes a file of what an app was shown lately; it may run in another thread.

        Raises:
            UnknownName: If there is no such app.
        """
        seat = self._hub.seat_of(app)
        things: Sequence[Any] = seat.received.since(0)
        plane = self._hub.policy.tracker(seat.setting.tracker).plane
        return lambda: exported(app, things, plane, form)

    def allow_raw(self, tracker: str) -> str:
        """Return a capability to see a tracker's raw gaze once, soon.

        Raises:
            UnknownName: If there is no such tracker.
            PrivacyError: If the policy does not allow it.
        """
        if not self._hub.policy.tracker(tracker).raw_view:
            self.refuse_raw(tracker, "the policy does not allow it")
            raise PrivacyError(
                f"raw gaze of {tracker!r} is not shown",
                hint="raw_view = true in its [[tracker]] allows the participant to look",
            )
        self._log("raw view granted", tracker=tracker)
        return self._capabilities.make(tracker)

    def refuse_raw(self, tracker: str, why: str) -> None:
        """Take note that someone was not shown raw gaze."""
        self._log("raw view refused", tracker=tracker, why=why)

    @property
    def is_full(self) -> bool:
        """Whether no other page may look on."""
        return len(self._open) >= MOST_STREAMS

    def look(self, tracker: str, capability: str | None) -> Trails:
        """Begin to look on; `leave` must follow.

        Raises:
            UnknownName: If there is no such tracker.
            PrivacyError: If the capability was used, is too old, or is for another tracker.
        """
        desk = self._hub.desk_of(tracker)
        raw = None
        if capability is not None:
            if not self._capabilities.take(capability, tracker) or not desk.setting.raw_view:
                self.refuse_raw(tracker, "the capability was used, is too old, or is for something else")
                raise PrivacyError("this capability was used, is too old, or is for something else")
            raw = desk.raw = desk.raw or Ring(MOST_RAW)
            self._log("raw view opened", tracker=tracker, view=next(self._views))
        trails = Trails(self._hub, tracker, self.undoing, raw)
        self._open.append(trails)
        self.undoing.watch(tracker)
        return trails

    def leave(self, trails: Trails) -> None:
        """Take note that a page is gone: raw gaze that nobody looks at is not kept."""
        self._open.remove(trails)
        self.undoing.leave(trails.tracker)
        if trails.raw is None:
            return
        self._log("raw view closed", tracker=trails.tracker, why=trails.over or "the page is gone")
        known = {tracker.name for tracker in self._hub.policy.trackers}
        if trails.tracker in known and not any(other.raw is trails.raw for other in self._open):
            desk = self._hub.desk_of(trails.tracker)
            if desk.raw is trails.raw:
                desk.raw = None

    async def close(self) -> None:
        """End all streams."""
        self.closing = True
        await self.undoing.close()


def _is_tag(tag: object) -> bool:
    return isinstance(tag, str) and 0 < len(tag) <= LONGEST_TAG and tag.isprintable() and tag == tag.strip()
