# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``study.toml``: the declaration of a study, read, written, and changed in place when a participant withdraws.

Errors name file, line, field, what was expected and what was found. Unknown fields are refused.

`withdraw` edits the text. The edit counts only if the new text reads as the study without that participant; otherwise
the whole file is rewritten, which loses comments.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError, GazeveilError, InputError, InternalError, why
from gazeveil.exact import as_text
from gazeveil.features.external_tables import ExternalFeatures
from gazeveil.features.ranges import Range, Ranges
from gazeveil.files import replacing
from gazeveil.geometry import Geometry, Unit
from gazeveil.release.study import DELTA, Budget, Custody, Participants, Recordings, Stimulus, Study, spelt
from gazeveil.toml_table import File, Table, lines_of, tables, told

FORMAT = "gazeveil-study"
VERSION = 1
MOST_PARTICIPANTS = 10_000_000
LONGEST_STIMULUS = 240
_WIDTH = 100
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def read_study(path: Path) -> Study:
    """Read a study from a TOML file; files that it names are relative to it, and must have the digests it says."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _no_study(path, why(error)) from None
    return study_in(text, path)


def write_study(study: Study, path: Path, *, remarks: Mapping[str, str] | None = None, overwrite: bool = False) -> None:
    """Write a study; ``remarks`` are comments for the head of the file (""), tables and ``stimuli.NAME``.

    Raises:
        InputError: If a name in it cannot be written, for example one with a line break.
        OutputError: If the file cannot be written, or is there and may not be replaced.
    """
    study = replace(  # what is assumed is not declared
        study, stimuli=tuple(replace(each, screen=each.declared_screen, assumed=()) for each in study.stimuli)
    )
    text = as_toml(study, path.parent, remarks or {})
    try:
        found = study_in(text, path)
    except FileFormatError as error:
        raise InputError(f"the study cannot be declared in a file: {error.expected}, found {error.found}") from None
    if with_whole_paths(found) != replace(with_whole_paths(study), observed=frozenset()):
        raise InternalError("the file of a study would say something else than the study")
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def study_in(text: str, path: Path) -> Study:
    """Return the study that a text declares; ``path`` is where it stands, for the files that it names.

    Raises:
        FileFormatError: If it declares none.
    """
    try:
        values = tomllib.loads(text)
    except ValueError as error:
        raise _no_study(path, why(error)) from None
    file = File(path, lines_of(text))
    top = Table(file, (), values)
    top.choice("format", (FORMAT,))
    top.whole("version", VERSION, VERSION)
    name = top.name("name", "the study's name")
    screen = top.table("screen") if "screen" in top else None
    features = features_in(top.table("features")) if "features" in top else None
    stimuli = [_stimulus(table, screen) for table in tables(file, {"stimuli": top.any("stimuli", [])}, "stimuli")]
    if features is not None and not stimuli and screen is None:
        stimuli = [Stimulus(name="", screen=Geometry(Unit.FRACTION))]  # no gaze is read, so no screen is needed
    participants = _participants(top.table("participants", expected="who takes part: a table [participants]"))
    recordings = _recordings(top.table("recordings", {}))
    budget, custody = top.table("budget", {}), top.table("custody", {})
    ledger = budget.text("ledger", "")
    paid = Budget(ledger=_beside(file, ledger), account=budget.text("account", ""))
    held = Custody(**{key: custody.text(key, "") for key in ("holder", "place", "access", "until")})
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
            features=features,
        )
    except GazeveilError as error:
        raise file.because((), "a study", error) from None


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
    meant |= {} if recordings.fixations is None else {"fixations": list(recordings.fixations)}
    parts = [
        _comment(remarks.get("", "")),
        _lines({"format": FORMAT, "version": VERSION, "name": study.name, "delta": as_text(study.delta)}),
        _section("participants", who, remarks),
        _section("recordings", meant, remarks),
    ]
    if recordings.groups:
        parts.append(_section("recordings.groups", recordings.groups, remarks))
    parts.append(_section("screen", common.to_dict(), remarks))
    parts += [_stimulus_text(stimulus, common, folder, remarks) for stimulus in study.stimuli]
    ledger = study.budget.ledger
    near = ledger if not ledger or "://" in ledger else _near(Path(ledger), folder)
    parts.append(_section("budget", {"ledger": near, "account": study.budget.account}, remarks, blank=True))
    if study.features is not None:
        parts += features_text(study.features, partial(_section, remarks=remarks))
    custody = {key: getattr(study.custody, key) for key in ("holder", "place", "access", "until")}
    parts.append(_section("custody", custody, remarks, blank=True))
    return "\n".join(part for part in parts if part)


def with_whole_paths(study: Study) -> Study:
    """Return a study with absolute paths of files and ledger, so that equal studies are equal values."""
    stimuli = tuple(
        replace(each, **{what: (_whole(path), digest) for what, (path, digest) in each.files().items()})  # type: ignore[arg-type]
        for each in study.stimuli
    )
    ledger = study.budget.ledger
    whole = ledger if not ledger or "://" in ledger else str(_whole(Path(ledger)))
    return replace(study, stimuli=stimuli, budget=replace(study.budget, ledger=whole))


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
        return _whole(path), digest_of_file(path)
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


def _whole(path: Path) -> Path:
    """Return an absolute path; links stay, so that the files can move together."""
    return Path(os.path.abspath(path))  # noqa: PTH100  (resolve would follow links)


def _no_study(path: Path, found: str) -> FileFormatError:
    return FileFormatError(
        path,
        expected="the TOML file of a study",
        found=found,
        hint="propose one with `gazeveil study init CORPUS --out study.toml`",
    )


# --- Reading the tables.


def _participants(table: Table) -> Participants:
    roster = _names(table, "roster") if "roster" in table else None
    number = table.whole("number", 1, MOST_PARTICIPANTS, None)
    secret = table.truth("secret", default=False)
    withdrawn = _names(table, "withdrawn")
    table.done()
    if roster is not None and len({spelt(name) for name in roster}) < len(roster):
        raise table.wrong("roster", "every participant once", "one who is listed twice")
    try:
        return Participants(roster=roster, number=number, secret=secret, withdrawn=withdrawn)
    except GazeveilError as error:
        raise table.file.because(table.where, "who takes part", error) from None


def _names(table: Table, key: str) -> tuple[str, ...]:
    names = table.names(key)
    for name in names:
        if not name.strip() or not name.isprintable():
            raise table.wrong(key, "names of printable letters, without line breaks", told(name))
    return names


def _recordings(table: Table) -> Recordings:
    groups = table.table("groups", {})
    values: dict[str, Any] = {
        "sessions": _names(table, "sessions"),
        "per_stimulus": table.whole("per_stimulus", 1, 10_000, 1),
        "rate_hz": table.number("rate_hz", 0.1, 100_000, None),
        "pupil_unit": table.text("pupil_unit", ""),
        "groups": {spelt(who): groups.name(who, "the name of a group") for who in groups.values},
        "fixations": table.names("fixations") if "fixations" in table else None,
    }
    table.done()
    try:
        return Recordings(**values)
    except GazeveilError as error:
        raise table.file.because(table.where, "what was recorded", error) from None


def _stimulus(table: Table, common: Table | None) -> Stimulus:
    if "screen" not in table and common is None:
        raise table.wrong("screen", "a table [screen] for all stimuli, or one for this stimulus", "neither")
    screen = _screen(table.table("screen")) if "screen" in table or common is None else _screen(common)
    seconds = table.number("seconds", 0.001, 24 * 3600.0, None)
    found = Stimulus(
        name=_stimulus_name(table),
        screen=screen,
        seconds=seconds,
        task=table.text("task", ""),
        picture=_file(table, "picture"),
        areas=_file(table, "areas"),
        prior=_file(table, "prior"),
        film=_file(table, "film"),
    )
    table.done()
    return found


def _stimulus_name(table: Table) -> str:
    """Return a stimulus's name: any printable text that recordings can have, and none where they name no stimulus."""
    expected = f"the stimulus's name in the recordings, a text of at most {LONGEST_STIMULUS} printable letters"
    name = table.any("name", expected=expected)
    if not isinstance(name, str) or len(name) > LONGEST_STIMULUS or not (name.isprintable() or not name):
        raise table.wrong("name", expected, told(name))
    return name


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
    return _whole(table.file.beside(name)), digest.lower()


def _beside(file: File, ledger: str) -> str:
    return ledger if not ledger or "://" in ledger else str(_whole(file.beside(ledger)))


# --- Writing the tables.


def _near(path: Path, folder: Path) -> str:
    """Return a path as a file in a folder states it: relative if it lies in that folder, else absolute."""
    whole, base = _whole(path), _whole(folder)
    near = (whole.relative_to(base) if whole.is_relative_to(base) else whole).as_posix()
    return f"./{near}" if near.startswith("~") else near


def _stimulus_text(stimulus: Stimulus, common: Geometry, folder: Path, remarks: Mapping[str, str]) -> str:
    values: dict[str, Any] = {"name": stimulus.name}
    values |= {} if stimulus.seconds is None else {"seconds": stimulus.seconds}
    values |= {"task": stimulus.task} if stimulus.task else {}
    for key, (path, digest) in stimulus.files().items():
        values |= {key: _near(path, folder), f"{key}_sha256": digest}
    text = _section("stimuli", values, {"stimuli": remarks.get(f"stimuli.{stimulus.name}", "")}, listed=True)
    return text if stimulus.screen == common else text + _section("stimuli.screen", stimulus.screen.to_dict(), {})


def _section(
    name: str, values: Mapping[str, Any], remarks: Mapping[str, str], *, listed: bool = False, blank: bool = False
) -> str:
    """Return one table; with ``blank``, fields without a value become comments to be filled in."""
    head = f"[[{name}]]" if listed else f"[{name}]"
    return _comment(remarks.get(name, "")) + head + "\n" + _lines(values, blank=blank)


def _lines(values: Mapping[str, Any], *, blank: bool = False) -> str:
    lines = [f"{key if _PLAIN.fullmatch(key) else _value(key)} = {_value(value)}" for key, value in values.items()]
    empty = [blank and value == "" for value in values.values()]
    return "".join(f"# {line}\n" if no else f"{line}\n" for line, no in zip(lines, empty, strict=True))


def _comment(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def _listed(items: list[str]) -> str:
    """Write a list, on several lines where it is long."""
    if sum(len(item) + 2 for item in items) <= _WIDTH:
        return "[" + ", ".join(items) + "]"
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) + 6 > _WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return "[\n" + "".join(f"    {line}\n" for line in lines) + "]"


def _value(value: Any) -> str:
    """Write a value as TOML, which takes JSON's texts, numbers, truths and lists as they are."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return _listed([_value(item) for item in value])
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- ``[features]``: a table of features from elsewhere.


MOST_ROWS = 1_000_000
_COLUMNS = ("participant", "stimulus", "session", "order")
_EXPECTED = "a range: [low, high], or { low = …, high = …, log = true }"


def features_in(table: Table) -> ExternalFeatures:
    """Return what the table ``[features]`` declares about a table of features from elsewhere.

    Raises:
        FileFormatError: If it declares something else.
    """
    ranges = table.table("ranges", expected="the range of every feature: a table [features.ranges]")
    found = {name: _range(ranges, name) for name in ranges.values}
    ranges.done()
    columns = {key: table.text(key, "") for key in _COLUMNS if key in table}
    more = {key: table.text(key, "") for key in ("source", "learnt_from")}
    rows = table.whole("rows", 1, MOST_ROWS, 1)
    table.done()
    try:
        return ExternalFeatures(declared=Ranges.of(found), rows=rows, **columns, **more)
    except GazeveilError as error:
        raise table.file.because(table.where, "a table of features", error) from None


def features_text(features: ExternalFeatures, section: Callable[..., str]) -> list[str]:
    """Return the tables that declare it, each written by ``section(name, values)``."""
    columns = {key: value for key in _COLUMNS if (value := getattr(features, key))}
    more = {key: value for key in ("source", "learnt_from") if (value := getattr(features, key))}
    ranges = {name: _written(item) for name, item in features.declared}
    return [section("features", {**columns, "rows": features.rows, **more}), section("features.ranges", ranges)]


def features_as_toml(features: ExternalFeatures) -> str:
    """Return the part of a study's file that declares a table of features from elsewhere."""
    return "\n".join(features_text(features, partial(_section, remarks={})))


def _range(ranges: Table, name: str) -> Range:
    value = ranges.any(name)
    if isinstance(value, list):
        if len(value) != 2:
            raise ranges.wrong(name, _EXPECTED, told(value))
        value = {"low": value[0], "high": value[1]}
    if not isinstance(value, dict) or not {"low", "high"} <= value.keys() <= {"low", "high", "log", "why"}:
        raise ranges.wrong(name, _EXPECTED, told(value))
    numbers = all(isinstance(value[end], int | float) and not isinstance(value[end], bool) for end in ("low", "high"))
    log, why = value.get("log", False), value.get("why", "")
    if not numbers or not isinstance(log, bool) or not isinstance(why, str):
        raise ranges.wrong(name, _EXPECTED, told(value))
    try:
        return Range(float(value["low"]), float(value["high"]), why, log)
    except GazeveilError as error:
        raise ranges.because(name, _EXPECTED, error) from None


def _written(item: Range) -> list[float] | dict[str, Any]:
    if not item.log and not item.why:
        return [item.low, item.high]
    more: dict[str, Any] = {"log": True} if item.log else {}
    return {"low": item.low, "high": item.high, **more, **({"why": item.why} if item.why else {})}


# --- Withdrawal: the file is changed in place, so that its comments stay.


_HEADER = re.compile(r"^\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$", re.MULTILINE)
_TOKEN = re.compile(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[\],]""")


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """The result of a withdrawal.

    Attributes:
        study: The study, without the participant.
        comments_kept: Whether comments and layout of the file stayed.
    """

    study: Study
    comments_kept: bool


def withdraw(path: Path, participant: str) -> Withdrawal:
    """Take a participant out of a declared study, for all further releases. The file is there whole at every moment.

    Raises:
        FileFormatError: If the file declares no study.
        InputError: If they are not in the roster, or withdrew before.
    """
    study = read_study(path).withdraw(participant)
    text = path.read_text(encoding="utf-8")
    edited = _edited(text, spelt(participant), study)
    if edited is None or not _declares(edited, path, study):
        write_study(study, path, overwrite=True)
        return Withdrawal(study, comments_kept="#" not in text)
    with replacing(path) as temporary:
        temporary.write_text(edited, encoding="utf-8", newline="\n")
    return Withdrawal(study, comments_kept=True)


def _declares(text: str, path: Path, study: Study) -> bool:
    try:
        return study_in(text, path) == study
    except FileFormatError:
        return False


def _edited(text: str, gone: str, study: Study) -> str | None:
    """Return the text without a participant; None if the text has a form that cannot be edited here."""
    table = _table(text, "participants")
    if table is None:
        return None
    section = text[table]
    if study.participants.roster is not None:
        section = _without(section, "roster", gone)
        if "number" in (declared := tomllib.loads(section).get("participants", {})):
            section = _with_number(section, int(declared["number"]) - 1)
    elif study.participants.number is not None:
        section = _with_number(section, study.participants.number)
    section = _with(section, "withdrawn", gone)
    text = text[: table.start] + section + text[table.stop :]
    groups = _table(text, "recordings.groups")
    if groups is None:
        return text
    kept = [line for line in text[groups].splitlines(keepends=True) if not _is_key(line, gone)]
    return text[: groups.start] + "".join(kept) + text[groups.stop :]


def _table(text: str, name: str) -> slice | None:
    """Return where a table stands, from its header to the next one."""
    headers = list(_HEADER.finditer(text))
    for index, header in enumerate(headers):
        if re.sub(r"\s", "", header[1]) == name:
            return slice(header.start(), headers[index + 1].start() if index + 1 < len(headers) else len(text))
    return None


def _list(section: str, key: str) -> tuple[list[re.Match[str]], int] | None:
    """Return the texts in a list and where the list ends."""
    begin = re.search(rf"^[ \t]*{key}[ \t]*=[ \t]*\[", section, re.MULTILINE)
    if begin is None:
        return None
    texts: list[re.Match[str]] = []
    for token in _TOKEN.finditer(section, begin.end()):
        if token[0] == "]":
            return texts, token.start()
        if token[0][0] in "\"'":
            texts.append(token)
    return None


def _without(section: str, key: str, gone: str) -> str:
    """Return a table without a name in one of its lists."""
    found = _list(section, key)
    for token in found[0] if found else ():
        if spelt(str(tomllib.loads(f"name = {token[0]}")["name"])) == gone:
            after = re.compile(r"[ \t]*,[ \t]*").match(section, token.end())
            if after is not None:
                return section[: token.start()] + section[after.end() :]
            before = section[: token.start()].rstrip().removesuffix(",")
            return before + section[token.end() :]
    return section


def _with(section: str, key: str, name: str) -> str:
    """Return a table with one name more in one of its lists."""
    written = json.dumps(name, ensure_ascii=False)
    found = _list(section, key)
    if found is None:
        body = section.rstrip()
        return f"{body}\n{key} = [{written}]\n{section[len(body) :].removeprefix(chr(10))}"
    texts, end = found
    if not texts:
        return section[:end] + written + section[end:]
    at = texts[-1].end()
    return f"{section[:at]}, {written}{section[at:]}"


def _with_number(section: str, number: int) -> str:
    return re.sub(r"^([ \t]*number[ \t]*=[ \t]*)[0-9_]+", rf"\g<1>{number}", section, count=1, flags=re.MULTILINE)


def _is_key(line: str, name: str) -> bool:
    try:
        return any(spelt(key) == name for key in tomllib.loads(line))
    except tomllib.TOMLDecodeError:
        return False
