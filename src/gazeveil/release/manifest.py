# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``study.toml``: the declaration of a study, read and written.

What is wrong is reported with file, line, field, what was expected and what was found. Unknown fields are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.files import replacing
from gazeveil.gaze.geometry import Geometry
from gazeveil.privacy.exact import as_text
from gazeveil.release.study import DELTA, Budget, Custody, Participants, Recordings, Stimulus, Study, spelt
from gazeveil.toml_lines import lines_of
from gazeveil.toml_table import File, Table, tables

FORMAT = "gazeveil-study"
VERSION = 1
MOST_PARTICIPANTS = 10_000_000
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def read_study(path: Path) -> Study:
    """Read a study from a TOML file; files that it names are relative to it, and must have the digests it says."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(
            path,
            expected="the TOML file of a study",
            found=str(error),
            hint="propose one with `gazeveil study init CORPUS --out study.toml`",
        ) from None
    file = File(path, lines_of(text))
    top = Table(file, (), values)
    top.choice("format", (FORMAT,))
    top.whole("version", VERSION, VERSION)
    name = top.name("name", "the study's name")
    screen = top.table("screen") if "screen" in top else None
    stimuli = [_stimulus(table, screen) for table in tables(file, {"stimuli": top.any("stimuli", [])}, "stimuli")]
    participants = _participants(top.table("participants", expected="who takes part: a table [participants]"))
    recordings = _recordings(top.table("recordings", {}))
    budget, custody = top.table("budget", {}), top.table("custody", {})
    ledger = budget.text("ledger", "")
    paid = Budget(ledger=_beside(file, ledger), account=budget.text("account", ""))
    held = Custody(**{key: custody.any(key, "") for key in ("holder", "place", "access", "until")})
    delta = top.fraction("delta", DELTA)
    for table in (top, budget, custody, *([] if screen is None else [screen])):
        table.done()
    try:
        return Study(
            name=name,
            participants=participants,
            stimuli=tuple(stimuli),
            recordings=recordings,
            delta=delta,
            budget=paid,
            custody=held,
        )
    except GazeveilError as error:
        raise file.because((), "a study", error) from None


def write_study(study: Study, path: Path, *, remarks: Mapping[str, str] | None = None, overwrite: bool = False) -> None:
    """Write a study; ``remarks`` are comments for the head of the file and for single tables, by their names."""
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(as_toml(study, path.parent, remarks or {}), encoding="utf-8")


def as_toml(study: Study, folder: Path, remarks: Mapping[str, str]) -> str:
    """Return a study as the text of its file in a folder."""
    people, recordings = study.participants, study.recordings
    screens = [stimulus.screen for stimulus in study.stimuli]
    common = max(screens, key=screens.count)
    who: dict[str, Any] = {} if people.roster is None else {"roster": list(people.roster)}
    who |= {} if people.roster is not None or people.number is None else {"number": people.number}
    who |= {"secret": True} if people.secret else {}
    who |= {"withdrawn": list(people.withdrawn)} if people.withdrawn else {}
    meant: dict[str, Any] = {"per_stimulus": recordings.per_stimulus}
    meant |= {"sessions": list(recordings.sessions)} if recordings.sessions else {}
    meant |= {} if recordings.rate_hz is None else {"rate_hz": recordings.rate_hz}
    meant |= {"pupil_unit": recordings.pupil_unit} if recordings.pupil_unit else {}
    parts = [
        _comment(remarks.get("", "")),
        _lines({"format": FORMAT, "version": VERSION, "name": study.name, "delta": as_text(study.delta)}),
        _section("participants", who, remarks),
        _section("recordings", meant, remarks),
    ]
    if recordings.groups:
        parts.append(_section("recordings.groups", recordings.groups, remarks))
    parts.append(_section("screen", common.to_dict(), remarks))
    parts += [_stimulus_text(stimulus, common, folder) for stimulus in study.stimuli]
    parts.append(
        _section("budget", {"ledger": study.budget.ledger, "account": study.budget.account}, remarks, blank=True)
    )
    custody = {key: getattr(study.custody, key) for key in ("holder", "place", "access", "until")}
    parts.append(_section("custody", custody, remarks, blank=True))
    return "\n".join(part for part in parts if part)


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def declared_file(path: Path) -> tuple[Path, str]:
    """Return a file with its digest, as a study declares it.

    Raises:
        FileFormatError: If it cannot be read.
    """
    try:
        return path, digest_of_file(path)
    except OSError as error:
        raise FileFormatError(path, expected="a file", found=error.strerror or str(error)) from None


def checked_file(declared: tuple[Path, str]) -> Path:
    """Return a declared file, if it is still the one that was declared.

    Raises:
        FileFormatError: If it is missing, or another one.
    """
    path, digest = declared
    try:
        found = digest_of_file(path)
    except OSError as error:
        raise FileFormatError(path, expected="the file that the study declares", found=error.strerror or "") from None
    if found != digest:
        raise FileFormatError(
            path,
            expected=f"the file that the study declares (SHA-256 {digest[:12]}…)",
            found=f"another one ({found[:12]}…)",
            hint="put the declared file back, or declare the new one",
        )
    return path


def _participants(table: Table) -> Participants:
    roster = table.names("roster") if "roster" in table else None
    number = table.whole("number", 1, MOST_PARTICIPANTS, None)
    secret = table.truth("secret", default=False)
    withdrawn = table.names("withdrawn")
    table.done()
    if roster is not None and len({spelt(name) for name in roster}) < len(roster):
        raise table.wrong("roster", "every participant once", "one who is named twice")
    try:
        return Participants(roster=roster, number=number, secret=secret, withdrawn=withdrawn)
    except GazeveilError as error:
        raise table.file.because(table.where, "who takes part", error) from None


def _recordings(table: Table) -> Recordings:
    groups = table.table("groups", {})
    found = Recordings(
        sessions=table.names("sessions"),
        per_stimulus=table.whole("per_stimulus", 1, 10_000, 1),
        rate_hz=table.number("rate_hz", 0.1, 100_000, None),
        pupil_unit=table.text("pupil_unit", ""),
        groups={spelt(who): groups.name(who, "the name of a group") for who in groups.values},
    )
    table.done()
    return found


def _stimulus(table: Table, common: Table | None) -> Stimulus:
    if "screen" not in table and common is None:
        raise table.wrong("screen", "a table [screen] for all stimuli, or one for this stimulus", "neither")
    screen = _screen(table.table("screen")) if "screen" in table or common is None else _screen(common)
    seconds = table.number("seconds", 0.001, 24 * 3600.0, None)
    found = Stimulus(
        name=spelt(table.name("name", "the stimulus's name in the recordings")),
        screen=screen,
        seconds=seconds,
        task=table.text("task", ""),
        picture=_file(table, "picture"),
        areas=_file(table, "areas"),
    )
    table.done()
    return found


def _screen(table: Table) -> Geometry:
    values = {key: table.any(key) for key in table.values}
    try:
        return Geometry.from_dict(values)
    except GazeveilError as error:
        raise table.file.because(table.where, "a screen or headset", error) from None


def _file(table: Table, key: str) -> tuple[Path, str] | None:
    digest = table.text(f"{key}_sha256", "")
    name = table.text(key, "")
    if not name:
        return None
    if not digest:
        raise table.wrong(f"{key}_sha256", "the SHA-256 of the file", "nothing", "see `sha256sum FILE`")
    return table.file.beside(name), digest.lower()


def _beside(file: File, ledger: str) -> str:
    return ledger if not ledger or "://" in ledger else str(file.beside(ledger))


def _stimulus_text(stimulus: Stimulus, common: Geometry, folder: Path) -> str:
    values: dict[str, Any] = {"name": stimulus.name}
    values |= {} if stimulus.seconds is None else {"seconds": stimulus.seconds}
    values |= {"task": stimulus.task} if stimulus.task else {}
    for key, declared in (("picture", stimulus.picture), ("areas", stimulus.areas)):
        if declared is not None:
            path = declared[0]
            near = path.relative_to(folder) if path.is_relative_to(folder) else path.resolve()
            values |= {key: near.as_posix(), f"{key}_sha256": declared[1]}
    text = _section("stimuli", values, {}, listed=True)
    return text if stimulus.screen == common else text + _section("stimuli.screen", stimulus.screen.to_dict(), {})


def _section(
    name: str, values: Mapping[str, Any], remarks: Mapping[str, str], *, listed: bool = False, blank: bool = False
) -> str:
    """Return one table; with ``blank``, fields without a value stand there as comments to be filled in."""
    head = f"[[{name}]]" if listed else f"[{name}]"
    return _comment(remarks.get(name, "")) + head + "\n" + _lines(values, blank=blank)


def _lines(values: Mapping[str, Any], *, blank: bool = False) -> str:
    lines = [f"{key if _PLAIN.fullmatch(key) else _value(key)} = {_value(value)}" for key, value in values.items()]
    empty = [blank and value == "" for value in values.values()]
    return "".join(f"# {line}\n" if no else f"{line}\n" for line, no in zip(lines, empty, strict=True))


def _comment(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def _value(value: Any) -> str:
    """Write a value as TOML, which takes JSON's texts, numbers, truths and lists as they are."""
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return json.dumps(value, ensure_ascii=False)
