# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A participant withdraws: the file of the study is changed in place, so that its comments stay.

The change is made in the text. It counts only if the new text reads as the study without that participant; otherwise
the whole file is written anew, which loses comments.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from gazeveil.errors import FileFormatError
from gazeveil.files import replacing
from gazeveil.release.manifest import read_study, study_in, write_study
from gazeveil.release.study import Study, spelt

_HEADER = re.compile(r"^\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$", re.MULTILINE)
_TOKEN = re.compile(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[\],]""")


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What became of a study's file.

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
    """Return the text without a participant; None where it is written in a way that is not known here."""
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
