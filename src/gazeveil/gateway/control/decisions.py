# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What was decided while a gateway ran, kept in a file so that a restart does not undo it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from gazeveil.errors import FileFormatError, LedgerError, OutputError
from gazeveil.files import replacing
from gazeveil.privacy.ledger import state_folder
from gazeveil.privacy.ledger.anchor import STATE

_MOST_BYTES = 1 << 20
Kept = TypeVar("Kept")


@dataclass(slots=True)
class Decisions:
    """Decisions that outlive a process. Methods that change one raise `OutputError` if it cannot be written.

    Attributes:
        path: The file; None for a policy that is in no file: then nothing is kept.
        levels: The privacy level of each app: a preset, and numbers that differ from it.
        off: Apps that are switched off.
        participants: The participant at each tracker.
        rules: The outputs of apps, where they are not the policy's.
        tags: Words by which participants find apps.
        ledgers: The identity of the ledger that was paid from at each place: another one there is not trusted.
    """

    path: Path | None = None
    levels: dict[str, dict[str, Any]] = field(default_factory=dict)
    off: list[str] = field(default_factory=list)
    participants: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)
    ledgers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, policy: Path | None, file: Path | None = None, *, controlled: bool = True) -> Decisions:
        """Return what was decided under a policy, and make sure that more can be kept.

        An app that was switched off anywhere stays off: a folder may have become read-only since.

        Args:
            policy: The policy's file; None if it is in none.
            file: Where decisions are kept, if the policy says so.
            controlled: Whether there is a control API, so that there may be decisions to keep.

        Raises:
            FileFormatError: If a file cannot be read: then what was switched off is unknown, and nothing may start.
            OutputError: If decisions cannot be kept anywhere.
        """
        if policy is None:
            return cls()
        beside = policy.with_name(policy.stem + ".state.json")
        places = [file] if file is not None else [beside, _elsewhere(policy)]
        path = next((place for place in places if place is not None and _can_be_kept(place)), None)
        memory = cls(path or beside)
        for place in reversed(places):
            if place is not None:
                memory._read(place)
        if path is None and controlled:
            tried = " or ".join(str(place) for place in places if place is not None)
            raise OutputError(
                f"decisions such as `apps off` cannot be kept in {tried}, so a restart would undo them",
                hint='name a file in a folder that can be written: state_file = "…" in [gateway]',
            )
        return memory

    def _read(self, place: Path) -> None:
        """Add what a file holds; its privacy levels and participants override what was read before."""
        why = "something else"
        try:
            with place.open("rb") as opened:
                kept = json.loads(opened.read(_MOST_BYTES))
            levels, off, participants = kept["levels"], kept["off"], kept["participants"]
            ledgers, rules, tags = kept.get("ledgers", {}), kept.get("rules", {}), kept.get("tags", {})
            words = [word for some in tags.values() for word in some]
            texts = (*off, *participants.values(), *ledgers.values(), *rules.values(), *words)
            known = (
                all(isinstance(level, dict) for level in levels.values())
                and all(isinstance(text, str) for text in texts)
                and all(isinstance(some, list) for some in (off, *tags.values()))
            )
        except FileNotFoundError:
            return
        except OSError as error:
            known, why = False, f"a file that cannot be read ({error.strerror})"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            known = False
        if not known:
            raise FileFormatError(
                place,
                expected="what was decided while the gateway ran",
                found=why,
                hint="without it, what was switched off is unknown: make it readable, or look and then delete it",
            )
        self.levels |= levels
        self.off = sorted({*self.off, *off})
        self.participants |= participants
        self.rules |= rules
        self.tags |= tags
        self.ledgers |= ledgers

    def level_set(self, app: str, given: Mapping[str, Any]) -> None:
        """Keep the privacy level of an app."""
        before = {} if "preset" in given else self.levels.get(app, {})
        self.levels[app] = {**before, **given}
        self._keep()

    def switched(self, app: str, on: bool) -> None:
        """Keep whether an app is on. If that cannot be written, it stays off."""
        before, self.off = self.off, sorted({*self.off} - {app} if on else {*self.off, app})
        try:
            self._keep()
        except OutputError:
            self.off = sorted({*before, *self.off})
            raise

    def ruled(self, app: str, output: str | None) -> None:
        """Keep the output of an app; None for the policy's."""
        self.rules = {**_without(self.rules, {app}), **({} if output is None else {app: output})}
        self._keep()

    def tagged(self, app: str, tags: list[str]) -> None:
        """Keep an app's tags."""
        self.tags = {**_without(self.tags, {app}), **({app: tags} if tags else {})}
        self._keep()

    def ledger_at(self, place: str) -> str:
        """Return the identity of the ledger that was paid from at a path or address; empty if none was."""
        return self.ledgers.get(_place_of(place), "")

    def paid_from(self, place: str, identity: str) -> None:
        """Keep which ledger was paid from at a path or address."""
        if identity and self.ledger_at(place) != identity:
            self.ledgers[_place_of(place)] = identity
            self._keep()

    def participant_set(self, tracker: str, participant: str) -> None:
        """Keep the participant at a tracker."""
        self.participants[tracker] = participant
        self._keep()

    def forget(self, *, levels: set[str], off: set[str], participants: set[str]) -> None:
        """Drop decisions that a new policy overrides.

        Args:
            levels: Apps whose privacy level and output are the policy's again.
            off: Apps that are gone, with their switch and tags.
            participants: Trackers whose participant is the policy's again.
        """
        known = levels & {*self.levels, *self.rules} or off & {*self.off, *self.tags}
        if not known and not participants & {*self.participants}:
            return
        self.levels, self.rules = _without(self.levels, levels), _without(self.rules, levels)
        self.off, self.tags = [name for name in self.off if name not in off], _without(self.tags, off)
        self.participants = _without(self.participants, participants)
        self._keep()

    def _keep(self) -> None:
        if self.path is not None:
            kept = {name: value for name, value in asdict(self).items() if name != "path"}
            with replacing(self.path) as file:
                file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8", newline="\n")
                file.chmod(0o600)


@contextlib.contextmanager
def other_state_folder(folder: Path | str) -> Iterator[None]:
    """Use another folder as this machine's state folder within the block."""
    before = os.environ.get(STATE)
    os.environ[STATE] = str(folder)
    try:
        yield
    finally:
        os.environ.pop(STATE)
        if before is not None:
            os.environ[STATE] = before


def _without(kept: dict[str, Kept], names: set[str]) -> dict[str, Kept]:
    return {name: value for name, value in kept.items() if name not in names}


def _elsewhere(policy: Path) -> Path | None:
    """Return the place in this machine's state folder, named after the policy's file; None if there is no folder."""
    whole = str(policy.absolute())
    try:
        folder = state_folder()
    except LedgerError:
        return None
    return folder / "gateways" / f"{policy.stem}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}.state.json"


def _place_of(ledger: str) -> str:
    """Return a ledger's place as it is stored; an address may hold a password, so it is stored as a digest."""
    return hashlib.sha256(ledger.encode()).hexdigest() if "://" in ledger else str(Path(ledger).absolute())


def _can_be_kept(place: Path) -> bool:
    """Whether a file there can be replaced, by trying; a folder that is missing is made only when something is kept."""
    folder = place.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
