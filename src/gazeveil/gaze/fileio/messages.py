# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Messages in a recording: which stimulus and trial they name, and which recording they belong to.

A rule says which message holds the name: ``TRIAL_VAR image``, ``IMGLOAD``, ``VFRAME``, ``TRIALID`` or
``MSG beginning of the message``; ``none`` takes names from no message. It is written the same way everywhere
(``--stimulus-from``, ``--trial-from``, `ReadOptions`). This is the only place that knows how these messages look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from gazeveil.arrays import IntArray
from gazeveil.errors import OptionError
from gazeveil.gaze.fileio.row_assembly import placed_messages

RULES: Final = "'TRIAL_VAR name', 'IMGLOAD', 'VFRAME', 'TRIALID', 'MSG beginning', or 'none'"

_MAY_NAME = re.compile(r"(?:-?\d+[ \t]+)?(?:!V|DISPLAY ON|TRIALID)\b")
_OFFSET = re.compile(r"-?\d+[ \t]+(?=!V\b|DISPLAY\b|TRIALID\b)")
_IMAGE = re.compile(r"!V[ \t]+IMGLOAD[ \t]+\w+[ \t]+(.*\S)", re.DOTALL)
_NUMBERS_AFTER = re.compile(r"(?:[ \t]+-?\d+(?:\.\d+)?)*$")
_FRAME = re.compile(r"!V[ \t]+VFRAME(?:[ \t]+-?\d+(?:\.\d+)?){3}[ \t]+(.*\S)", re.DOTALL)
_VARIABLE = re.compile(r"!V[ \t]+TRIAL_VAR[ \t]+([^\s=]+)[\s=]*(.*)", re.DOTALL)
_MEDIA = re.compile(r"\.(?:png|jpe?g|bmp|gif|tiff?|webp|svg|mp4|avi|mov|mpe?g|wmv|mkv|webm|xvd)\b", re.IGNORECASE)
_NO_NAME = {"", ".", "na", "n/a", "nan", "none", "null", "undefined", "undefinednull"}

USUAL_VARIABLES: Final = (
    *(
        f"{what}{part}"
        for part in ("", "name", "file", "filename", "path", "id")
        for what in ("image", "img", "picture", "pic", "photo", "stimulus", "stim", "video", "movie", "scene")
    ),
    "trialimage",
    "trialstimulus",
    "currentimage",
)
"""Trial variables that name what was shown, in lower case and without marks between words; the first one counts."""


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which message holds a name.

    Attributes:
        kind: TRIAL_VAR, IMGLOAD, VFRAME, TRIALID or MSG.
        words: The variable of TRIAL_VAR, or how a message MSG begins.
    """

    kind: str
    words: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.words}".strip()

    def name_in(self, message: str) -> str:
        """Return the name that a message holds, or nothing."""
        offset = _OFFSET.match(message)
        text = message[offset.end() :] if offset else message
        if self.kind == "TRIAL_VAR":
            found = _VARIABLE.match(text)
            return a_name(found[2]) if found and found[1].lower() == self.words.lower() else ""
        if self.kind == "IMGLOAD":
            found = _IMAGE.match(text)
            return _last_part(_NUMBERS_AFTER.sub("", found[1])) if found else ""
        if self.kind == "VFRAME":
            found = _FRAME.match(text)
            return _last_part(found[1]) if found else ""
        beginning = self.words or self.kind
        after = text[len(beginning) :]
        if not text.startswith(beginning) or after[:1].isalnum() or after[:1] == "_":
            return ""
        return a_name(after.lstrip(" \t:="))


def a_name(text: str) -> str:
    """Return a name without blanks around it; nothing where a variable was left empty."""
    name = text.strip()
    return "" if name.lower() in _NO_NAME else name


def _last_part(path: str) -> str:
    return a_name(re.split(r"[\\/]", path.strip().strip("\"'"))[-1])


def rules_of(text: str | None) -> tuple[NameRule, ...] | None:
    """Read a user's rule; None where there is none, and no rule at all for ``none``.

    Raises:
        OptionError: If it is not one of `RULES`.
    """
    if text is None:
        return None
    kind, _, words = text.strip().partition(" ")
    kind, words = kind.upper().removeprefix("!"), words.strip()
    if kind == "V":
        return rules_of(words)
    if kind == "NONE" and not words:
        return ()
    takes_words = {"TRIAL_VAR": True, "MSG": True, "IMGLOAD": False, "VFRAME": False, "TRIALID": False}
    if kind not in takes_words or takes_words[kind] != bool(words):
        raise OptionError(f"a rule for names is one of {RULES}, not {text!r}", hint="for example 'TRIAL_VAR image'")
    return (NameRule(kind, words),)


def namer(rule: str | None, usual: Callable[[str], str]) -> Callable[[str], str]:
    """Return what finds the name in a message: a user's rule, or the format's usual way where there is none."""
    rules = rules_of(rule)
    if rules is None:
        return usual
    return lambda message: next((name for each in rules if (name := each.name_in(message))), "")


def media_in(message: str) -> str:
    """Return the message if it is the name of a picture or film, else nothing."""
    found = _MEDIA.search(message)
    return _last_part(message) if found and found.end() == len(message.rstrip()) else ""


class TrialName:
    """The name of one trial, from the messages that were read so far. The first name that a rule finds counts."""

    def __init__(self, rules: Sequence[NameRule] | None) -> None:
        """Begin a trial; without rules (None) names are taken from the usual messages."""
        self._rules = rules
        self._found: dict[int, str] = {}
        self._differ: set[int] = set()

    def read(self, message: str) -> None:
        """Read one message."""
        if self._rules is None:
            found = _usual_names_in(message)
        else:
            found = [(0, name) for rule in self._rules if (name := rule.name_in(message))]
        for place, name in found:
            if self._found.setdefault(place, name) != name:
                self._differ.add(place)

    @property
    def name(self) -> str:
        """The name that is trusted most, or nothing."""
        return self._found[min(self._found)] if self._found else ""

    @property
    def has_several(self) -> bool:
        """Whether later messages of the same kind gave other names."""
        return bool(self._found) and min(self._found) in self._differ

    @property
    def settled(self) -> bool:
        """Whether no later message can change the name."""
        return self._rules == () or 0 in self._found


def usual_variable(name: str) -> int | None:
    """Return the place of a variable among those that usually name what was shown; None if it is not one."""
    words = re.sub(r"[\W_]+", "", name).lower()
    return USUAL_VARIABLES.index(words) if words in USUAL_VARIABLES else None


def may_be_named(text: bytes, rules: Sequence[NameRule] | None) -> bool:
    """Whether lines of a file may hold a name by these rules: a quick check."""
    if rules is None:
        return any(mark in text for mark in (b"TRIAL_VAR", b"IMGLOAD", b"VFRAME", b"DISPLAY ON"))
    return any((rule.words if rule.kind == "MSG" else rule.kind).encode() in text for rule in rules)


def _usual_names_in(message: str) -> list[tuple[int, str]]:
    """Return the names that a message holds without a user's rule, each with its place in the order of trust."""
    if _MAY_NAME.match(message) is None:
        return []
    offset = _OFFSET.match(message)
    text = message[offset.end() :] if offset else message
    variable = _VARIABLE.match(text)
    if variable is not None:
        place, name = usual_variable(variable[1]), a_name(variable[2])
        return [(place, name)] if place is not None and name else []
    last = len(USUAL_VARIABLES)
    for place, rule in enumerate(
        (NameRule("IMGLOAD"), NameRule("VFRAME"), NameRule("MSG", "DISPLAY ON"), NameRule("TRIALID"))
    ):
        name = rule.name_in(text)
        if name and (rule.kind != "TRIALID" or _MEDIA.search(name)):
            return [(last + place, name)]
    return []


# --- Messages between the rows of a table: they become events of the recordings around them, name them, or begin new
# ones.


class Message(NamedTuple):
    """A message, its time, and its line in the file."""

    line: int
    time: float
    text: str


class MessageLabels(NamedTuple):
    """What messages say about the rows that follow: names, empty if there are none, and how often one began."""

    stimulus: str = ""
    trial: str = ""
    part: int = 0


class MessagesBetweenRows:
    """Follows the messages of a file batch by batch."""

    def __init__(
        self,
        stimulus: Callable[[str], str] = lambda text: "",
        trial: Callable[[str], str] = lambda text: "",
        begins: Callable[[str], bool] = lambda text: False,
    ) -> None:
        """Begin.

        Args:
            stimulus: Finds the stimulus that a message names, or nothing. It is shown until the next one.
            trial: Finds the trial that a message names, or nothing.
            begins: Whether a message begins a recording without naming it.
        """
        self._stimulus = stimulus
        self._trial = trial
        self._begins = begins
        self._now = MessageLabels()
        self._waiting: list[Message] = []
        self._seen_rows = False

    def place(self, messages: Sequence[Message], lines: IntArray) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the messages as events with ``at`` (as `Recorder.feed` takes them), and the labels of every row.

        A message that begins something belongs to what follows, others to the recording they stand in.
        """
        count = len(lines)
        placed = [(0, message.time, message.text) for message in self._waiting if count]
        waiting = [] if count else self._waiting
        begun_at = 0 if self._waiting or not self._seen_rows else -1
        labels, starts = [self._now], [0]
        for message in messages:
            row = int(np.searchsorted(lines, message.line))
            if self._read(message.text):
                labels.append(self._now)
                starts.append(row)
                begun_at = row
            if begun_at == row == count:
                waiting.append(message)
            else:
                placed.append((row if begun_at == row else row - 1, message.time, message.text))
        self._waiting = waiting
        self._seen_rows = self._seen_rows or count > 0
        lengths = np.diff([*starts, count])
        rows = pl.DataFrame(labels, schema=["stimulus", "trial", "part"], orient="row")
        return placed_messages(placed), rows[np.repeat(np.arange(len(labels)), lengths)]

    def remaining(self, messages: Sequence[Message] = ()) -> pl.DataFrame:
        """Return the messages after the last row."""
        return placed_messages([(-1, message.time, message.text) for message in [*self._waiting, *messages]])

    def _read(self, text: str) -> bool:
        """Take in a message; return whether it begins something."""
        stimulus, trial = self._stimulus(text), self._trial(text)
        if not (stimulus or trial or self._begins(text)):
            return False
        self._now = MessageLabels(stimulus or self._now.stimulus, trial or self._now.trial, self._now.part + 1)
        return True
