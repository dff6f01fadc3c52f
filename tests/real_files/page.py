# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the set shows, as Markdown: format x files x parsed x equal, the refusals, and where the files come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from tests.real_files.checking import Outcome

_LONGEST = 300
_INTRODUCTION = """\
# Real files

Files that laboratories and makers of software have published, read by gazeveil and compared sample by sample with a
plain parse of the same file (`csv`, `json`, `str.split`, numpy; it shares no code with the readers): how many samples,
their times, x and y, and where gaze is lost. The plain parse applies each format's documented rule for lost gaze, so
it shows that files are parsed rightly, not that the rule is right. Pupils, events and messages are not compared.

The files are not part of the project. `tests/real_files/sources.toml` lists where each comes from. With clones of
those repositories in `CLONES/OWNER+NAME`, this page is written by

```text
python -m tests.real_files FOLDER --collect CLONES --write docs/reference/real-files.md
```
"""


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the table by format; refused files are counted under none."""
    lines = [
        "| format | repositories | real files | parsed | values equal | samples |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    kinds = sorted({each.format for each in outcomes}, key=lambda kind: (not kind, kind))
    rows = [(kind or "refused", [each for each in outcomes if each.format == kind]) for kind in kinds]
    for name, files in [*rows, ("**all**", list(outcomes))]:
        parsed = [each for each in files if not each.refusal]
        cells = (
            len({each.repository for each in files}),
            len(files),
            len(parsed),
            sum(each.equal is True for each in parsed),
            sum(each.samples for each in parsed),
        )
        lines.append(f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return "\n".join(lines)


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the whole page."""
    parts = [_INTRODUCTION, table(outcomes), ""]
    different = [each for each in outcomes if each.equal is False]
    if different:
        parts += ["## Values that differ", "", *_listed(different), ""]
    unchecked = [each for each in outcomes if not each.refusal and each.equal is None]
    if unchecked:
        parts += ["## Parsed, without a plain parse to compare with", "", *_listed(unchecked), ""]
    parts += ["## Refused, and what was said", "", "A file is refused rather than guessed at.", ""]
    parts += ["| file | message |", "|---|---|", *_refusals(each for each in outcomes if each.refusal), ""]
    parts += ["## Where the files come from", "", "| repository | commit | files | parsed | values equal |"]
    parts += ["|---|---|---:|---:|---:|", *_origins(outcomes), ""]
    return "\n".join(parts)


def _listed(outcomes: Iterable[Outcome]) -> list[str]:
    return [f"- {each.repository}: `{each.path}` ({each.format})" for each in outcomes]


def _refusals(outcomes: Iterable[Outcome]) -> list[str]:
    return [f"| {each.repository}: `{each.path}` | {_cell(each.refusal)} |" for each in outcomes]


def _origins(outcomes: Sequence[Outcome]) -> list[str]:
    lines = []
    by_name = sorted(outcomes, key=lambda each: (each.repository.lower(), each.commit))
    for (name, commit), group in groupby(by_name, key=lambda each: (each.repository, each.commit)):
        files = list(group)
        parsed = sum(not each.refusal for each in files)
        equal = sum(each.equal is True for each in files)
        lines.append(f"| {name} | {commit[:12]} | {len(files)} | {parsed} | {equal} |")
    return lines


def _cell(text: str) -> str:
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
