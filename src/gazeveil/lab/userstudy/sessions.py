# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What participants did, on disk: one file each, a line for each finished step, written through before it is confirmed.

Without consent there is no file. A line that a crash cut in two is left out when the file is read; its step was not
confirmed to the page, which sends it again.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gazeveil.errors import InputError, OutputError
from gazeveil.lab.userstudy.design import Step, UserStudy

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
FOLDER = "sessions"
_BINARY: int = getattr(os, "O_BINARY", 0)  # on Windows, or line ends are changed
SIMULATED = "simulated-"
"""How labels of simulated participants begin."""


@dataclass(frozen=True)
class Session:
    """One participant's session as it lies on disk."""

    participant: str
    number: int
    language: str
    done: dict[int, dict[str, Any]]
    """What came of each finished step, by its index."""


class Sessions:
    """All sessions of a study, in a folder beside its file."""

    def __init__(self, study: UserStudy) -> None:
        self.study = study
        self.folder = study.path.parent / FOLDER

    def find(self, participant: str) -> Session | None:
        """Return a participant's session, if they have begun one.

        Raises:
            InputError: If the label is none, or the session belongs to another version of the study.
        """
        path = self._path(participant)
        if not path.exists():
            return None
        whole = _whole_lines(path)
        if not whole:  # a crash came before its first line
            return None
        head, *lines = whole
        if head.get("study") != self.study.digest:
            raise InputError(
                f"the session of {participant} was begun with another version of {self.study.path.name}",
                hint="put the earlier file back, or begin a session under another label",
            )
        return Session(participant, head["number"], head["language"], {line["index"]: line for line in lines})

    def every(self) -> list[Session]:
        """Return all sessions, in the order in which they were begun."""
        labels = sorted(path.stem for path in self.folder.glob("*.jsonl")) if self.folder.is_dir() else []
        return sorted((found for label in labels if (found := self.find(label))), key=lambda one: one.number)

    def to_analyse(self) -> list[Session]:
        """Return all sessions, of participants or of simulated ones.

        Raises:
            InputError: If there are both: what is found about some would count for the others.
        """
        found = self.every()
        made_up = [one.participant for one in found if one.participant.startswith(SIMULATED)]
        if made_up and len(made_up) < len(found):
            raise InputError(
                f"{len(made_up)} of {len(found)} participants are simulated, for example {made_up[0]}",
                hint=f"move {self.folder / SIMULATED}*.jsonl to another folder",
            )
        return found

    def begin(self, participant: str, language: str) -> Session:
        """Begin a session of someone who consents, or go on with theirs."""
        if found := self.find(participant):
            return found
        number = max((one.number for one in self.every()), default=-1) + 1
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        head = {
            "participant": participant, "number": number, "language": language, "consent": True,
            "begun": datetime.now(UTC).isoformat(timespec="seconds"), "study": self.study.digest,
        }  # fmt: skip
        self._append(participant, head)
        return Session(participant, number, language, {})

    def current(self, session: Session) -> Step:
        """Return the first step that is not finished."""
        return next(
            step for step in self.study.steps(session.number) if step.kind == "done" or step.index not in session.done
        )

    def finish(self, session: Session, index: int, data: Mapping[str, Any]) -> Step:
        """Keep what came of a step, and return the next one. A step that was kept already is not kept twice.

        Raises:
            InputError: If it is not the step that the participant is at.
        """
        if index not in session.done:
            step = self.current(session)
            if step.index != index or step.kind == "done":
                raise InputError(f"step {index} is not the one to be done: that is step {step.index}")
            line = {**step.to_dict(), "data": dict(data)}
            self._append(session.participant, line)
            session.done[index] = line
        return self.current(session)

    def _path(self, participant: str) -> Path:
        if not LABEL.fullmatch(participant):
            raise InputError(
                f"{participant[:60]!r} is no label of a participant",
                hint="letters, digits, - and _, at most 40; no real names",
            )
        return self.folder / f"{participant}.jsonl"

    def _append(self, participant: str, line: Mapping[str, Any]) -> None:
        path = self._path(participant)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o600)
            try:
                size = os.fstat(file).st_size
                os.lseek(file, max(size - 1, 0), os.SEEK_SET)
                torn = size and os.read(file, 1) != b"\n"
                text = ("\n" if torn else "") + json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n"
                whole = text.encode()
                if os.write(file, whole) < len(whole):  # a disk that is full takes a part, and says nothing
                    raise OSError(errno.ENOSPC, "only a part was written")
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise OutputError(f"what was done cannot be kept in {path}: {error.strerror}") from error


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    found = []
    for text in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            found.append(line)
    if found and "number" not in found[0]:
        raise InputError(f"{path} is no session", hint="move it away, and begin again")
    return found
