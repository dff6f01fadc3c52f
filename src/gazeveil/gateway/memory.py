# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What people decided while a gateway ran, so that a restart does not undo it: knobs, switches, and who sits where.

It lies beside the policy as ``NAME.state.json``. It holds no gaze and nothing that was spent; the ledger has that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError
from gazeveil.files import replacing

_MOST_BYTES = 1 << 20


@dataclass(slots=True)
class Memory:
    """Decisions that outlive a process.

    Attributes:
        path: Where they are kept; None for a policy that is in no file: then nothing outlives.
        knobs: What every app's knob was turned to: a preset, and numbers that differ from it.
        off: Apps that are switched off.
        people: Who sits before which tracker.
    """

    path: Path | None = None
    knobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    off: list[str] = field(default_factory=list)
    people: dict[str, str] = field(default_factory=dict)

    @classmethod
    def beside(cls, policy: Path | None) -> Memory:
        """Return what was decided under a policy.

        Raises:
            FileFormatError: If the file is damaged: then nobody knows what was switched off, and nothing may start.
        """
        if policy is None:
            return cls()
        path = policy.with_name(policy.stem + ".state.json")
        try:
            with path.open("rb") as file:
                told = json.loads(file.read(_MOST_BYTES))
            knobs, off, people = told["knobs"], told["off"], told["people"]
            known = (
                all(isinstance(knob, dict) for knob in knobs.values())
                and all(isinstance(name, str) for name in (*off, *people.values()))
                and isinstance(off, list)
            )
        except FileNotFoundError:
            return cls(path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            known = False
        if not known:
            raise FileFormatError(
                path,
                expected="what was decided while the gateway ran",
                found="something else",
                hint="look what was switched off, then delete the file",
            )
        return cls(path, knobs, off, people)

    def turned(self, app: str, given: Mapping[str, Any]) -> None:
        """Keep where a knob was turned to.

        Raises:
            OutputError: If it cannot be kept.
        """
        before = {} if "preset" in given else self.knobs.get(app, {})
        self.knobs[app] = {**before, **given}
        self._keep()

    def switched(self, app: str, on: bool) -> None:
        """Keep whether an app is on."""
        self.off = sorted({*self.off} - {app} if on else {*self.off, app})
        self._keep()

    def sat_down(self, tracker: str, person: str) -> None:
        """Keep who sits where."""
        self.people[tracker] = person
        self._keep()

    def forget(self, *, knobs: set[str], off: set[str], people: set[str]) -> None:
        """Forget what the policy decides anew: knobs and switches of some apps, people before some trackers."""
        if not (knobs & {*self.knobs} or off & {*self.off} or people & {*self.people}):
            return
        self.knobs = {name: knob for name, knob in self.knobs.items() if name not in knobs}
        self.off = [name for name in self.off if name not in off]
        self.people = {name: person for name, person in self.people.items() if name not in people}
        self._keep()

    def _keep(self) -> None:
        if self.path is not None:
            told = {"knobs": self.knobs, "off": self.off, "people": self.people}
            with replacing(self.path) as file:
                file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
                file.chmod(0o600)
